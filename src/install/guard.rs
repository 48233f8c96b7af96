//! What closes hydrated branches to pushes: the switch of our pre-receive hook, and git's own list of hidden refs, which
//! is effective also while the hook is missing.

use std::collections::BTreeSet;

use dry_files::diag::shell_path;

use super::forge::{GITEA, unguarded_pages, without_promoter};
use super::{Error, Installer, State, is_executable};
use crate::argo::BranchName;
use crate::hydrate::Access;
use crate::metadata::NOTES_REF;
use crate::repo::is_hidden;
use crate::settings::SETTINGS_REF;

/// The switch.
pub(super) const GUARD: &str = "hydrate.guard";

/// The list.
pub(super) const HIDE: &str = "receive.hideRefs";

/// Where git looks for other objects in place of those that are asked for.
pub(super) const REPLACE: &str = "refs/replace";

/// What is known to be hydration's, beside its records.
#[derive(Debug, Clone, Default)]
pub(crate) struct Owned {
    /// The branches that it writes.
    pub branches: BTreeSet<BranchName>,
    /// Those of them that are promoted to, or from: who pushes there is told how to become a promoter, which git would not do.
    pub promoted: BTreeSet<BranchName>,
    /// Those that are promoted to.
    pub deployed: BTreeSet<BranchName>,
    /// The patterns of the setting `branches`.
    pub patterns: Vec<String>,
    /// The branches that are pushed to.
    pub dry_branches: Vec<BranchName>,
}

impl Owned {
    /// The refs, and directories of refs, that the patterns name literally and that contain no dry branch.
    fn directories(&self) -> impl Iterator<Item = String> {
        let has_dry =
            |name: &String| self.dry_branches.iter().any(|dry| is_hidden(&dry.ref_name(), std::slice::from_ref(name)));
        self.patterns.iter().filter_map(|pattern| literal_ref(pattern)).filter(move |name| !has_dry(name))
    }
}

/// The ref, or the directory of refs, that a pattern of branches names literally, but for a last `*` or `**`.
fn literal_ref(pattern: &str) -> Option<String> {
    let name = match pattern.find(['*', '?', '[', '\\']) {
        Some(wild) if matches!(&pattern[wild..], "*" | "**") => pattern[..wild].strip_suffix('/')?,
        Some(_) => return None,
        None => pattern.trim_end_matches('/'),
    };
    let is_plain = !name.is_empty() && !name.starts_with(['!', '/']) && !name.contains(':');
    is_plain.then(|| format!("refs/heads/{name}"))
}

/// The values of [`HIDE`] that refuse pushes to what is hydration's alone.
pub(super) fn hidden(access: &Access, owned: &Owned) -> Vec<String> {
    let mut values = [NOTES_REF, "refs/hydrate", REPLACE].map(str::to_owned).to_vec();
    if !access.settings_pushers.is_empty() {
        values.push(format!("!{SETTINGS_REF}"));
    }
    // Below a directory, a promoter may have to push.
    let directories: Vec<String> = owned.directories().filter(|_| access.promoters.is_empty()).collect();
    let is_closed = |branch: &&BranchName| {
        branch.destination().is_none() && access.is_closed(branch) && !owned.promoted.contains(*branch)
    };
    let closed = owned.branches.iter().filter(is_closed);
    let closed = closed.map(BranchName::ref_name);
    values.extend(closed.filter(|name| !is_hidden(name, &directories)));
    values.extend(directories);
    values
}

impl Installer<'_> {
    /// What the switch does, with the hooks that there are.
    fn guarded_by(&self) -> &'static str {
        match self.refused.contains(&"pre-receive") {
            false => "pushes to hydrated branches are refused",
            true => "pushes to hydrated branches are refused once a pre-receive hook runs git-hydrate",
        }
    }

    /// Closes what hydration owns: pushes to some refs are always refused, to the rest by our hook.
    pub(crate) fn guard(&mut self, access: &Access, owned: &Owned) -> Result<(), Error> {
        if is_executable(&self.repository.common_dir().join(GITEA)) {
            let (what, how) = unguarded_pages(&owned.branches);
            self.advise(State::Note, what, how);
        }
        if self.repository.config(GUARD).is_none() {
            self.config.lend(GUARD, "true")?;
            self.step(State::Done, format!("{GUARD} = true: {}", self.guarded_by()));
        }
        // What was lent just now is not read yet.
        if self.repository.config(GUARD).is_some() && !self.repository.config_protects(GUARD) {
            self.step(State::Note, format!("{GUARD} = false: anyone who can push can rewrite hydrated branches"));
            return Ok(());
        }
        let wanted = hidden(access, owned);
        if self.config.replace_lent(HIDE, &wanted)? {
            self.step(State::Done, format!("{HIDE} = {}: git itself refuses pushes there", wanted.join(", ")));
        }
        let dir = shell_path(self.repository.common_dir());
        let git = format!("git -C {dir}");
        let install = format!("git hydrate install --server {dir}");
        let closed = without_promoter(access, (&owned.deployed, &owned.promoted), (&git, &install));
        let is_open = closed.is_empty();
        closed.into_iter().for_each(|(what, commands)| self.advise(State::Note, what, commands));
        if !is_open {
            return Ok(());
        }
        if !access.promoters.is_empty() && !access.is_variable_set {
            let what = "hydrate.promoter has no effect: hydrate.pusherVariable, which names who pushes, is not set";
            self.advise(State::Note, what, format!("{git} config hydrate.pusherVariable VARIABLE"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_push_finds_the_branch_open() {
        let branches: BTreeSet<_> = ["dev", "prod"].map(|name| BranchName::new(name).expect("a name")).into();
        let records = ["refs/notes/hydrator.metadata", "refs/hydrate", "refs/replace"].map(str::to_owned);
        let no_one = Access::default();
        let closed = ["refs/heads/dev", "refs/heads/prod"].map(str::to_owned);
        let owned = Owned { branches, ..Owned::default() };
        assert_eq!(hidden(&no_one, &owned), [&records[..], &closed[..]].concat());
        let promoted = crate::argo::Patterns::new(["prod"]).expect("a pattern");
        let names = vec!["bot".to_owned()];
        let some = Access { promoters: names.clone(), promoted, settings_pushers: names, ..Access::default() };
        let expected = ["!refs/hydrate/config", "refs/heads/dev"].map(str::to_owned);
        assert_eq!(hidden(&some, &owned), [&records[..], &expected[..]].concat());
    }

    #[test]
    fn a_directory_that_is_given_to_hydration_is_closed_as_a_whole() {
        let name = |text: &str| BranchName::new(text).expect("a name");
        let rows: [(&str, &str, &[&str]); 6] = [
            ("environments/*", "main", &["refs/heads/environments"]),
            ("env/prod-*", "main", &["refs/heads/environments/dev"]),
            ("prod", "main", &["refs/heads/prod", "refs/heads/environments/dev"]),
            ("environments/*", "environments/main", &["refs/heads/environments/dev"]),
            ("*", "main", &["refs/heads/environments/dev"]),
            ("!environments/x", "main", &["refs/heads/environments/dev"]),
        ];
        for (pattern, dry_branch, expected) in rows {
            let owned = Owned {
                branches: [name("environments/dev")].into(),
                promoted: BTreeSet::new(),
                deployed: BTreeSet::new(),
                patterns: vec![pattern.to_owned()],
                dry_branches: vec![name(dry_branch)],
            };
            let mut found = hidden(&Access::default(), &owned).split_off(3);
            let mut expected: Vec<String> = expected.iter().map(|name| (*name).to_owned()).collect();
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "{pattern}");
        }
    }
}
