//! What a remote leaves unprotected, as far as it can be seen from a clone.
//!
//! A remote says which refs it has, and, when a push begins, which of them it would let move: a push that would change nothing,
//! and is a dry run, shows that without a hook or a rule being asked. Rules of a forge are judged when a push arrives, so
//! they cannot be seen from here: what git itself does not protect is named with what the admin has to do.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;

use super::{Doctor, Finding};
use crate::history::BranchStatus;
use crate::install::Error;
use crate::metadata::NOTES_REF;
use crate::owners::policy::files_of;
use crate::repo::{self, ObjectBuffer, ObjectId, PushedRefs};
use crate::settings::{SETTINGS_REF, Settings};
use dry_files::diag::more::listed;
use dry_files::diag::{printable, shell_word};

/// How many branches are named.
const NAMES_MAX: usize = 8;

/// What git says where a remote cannot move several refs at once.
const NOT_ATOMIC: &str = "does not support --atomic push";

/// A forge, by the host in the remote's URL, and where its admin protects branches.
///
/// Reference: the documentation of each: rulesets, protected branches, branch restrictions, branch policies.
const FORGES: [(&str, &str, &str); 7] = [
    (
        "github",
        "GitHub",
        "Settings, Rules, Rulesets: restrict updates and deletions, with the job's app or deploy key as bypass",
    ),
    (
        "gitlab",
        "GitLab",
        "Settings, Repository, Protected branches: allowed to push is the job's token alone, no force push",
    ),
    ("codeberg", "Forgejo", "Settings, Branches: a protection rule with the job's account in the push allowlist"),
    ("forgejo", "Forgejo", "Settings, Branches: a protection rule with the job's account in the push allowlist"),
    ("gitea", "Gitea", "Settings, Branches: a protection rule with the job's account in the push allowlist"),
    ("bitbucket", "Bitbucket", "Repository settings, Branch restrictions: write access for the job's account alone"),
    ("azure", "Azure DevOps", "Branch security: Contribute and Force push denied to all but the job's account"),
];

/// What came of a job that pushes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Rehearsal {
    /// The refs that it would push, by name.
    pub moves: Vec<String>,
    /// The branches that do not hydrate, and why.
    pub failures: Vec<(String, String)>,
    /// Why it would push nothing, or not all, and what to do.
    pub problem: Option<(String, Option<String>)>,
    /// Whether that is because it is not given which settings count, beside those of [`SETTINGS_REF`].
    pub lacks_settings: bool,
}

impl Rehearsal {
    /// Whether the job would do nothing, and nothing is wrong.
    fn is_quiet(&self) -> bool {
        self.moves.is_empty() && self.failures.is_empty() && self.problem.is_none()
    }
}

/// Which refs of a remote a push could move.
#[derive(Debug, Default, PartialEq, Eq)]
struct Probe {
    /// Those that git would let it move.
    open: BTreeSet<String>,
    /// Those that are hidden from pushes.
    hidden: BTreeSet<String>,
    /// What git says when nothing can be pushed at all.
    refused: Option<String>,
    is_atomic: bool,
}

impl Probe {
    /// Whether records and notes are hidden, as an installation on a server has it.
    fn is_of_server(&self) -> bool {
        self.hidden.contains(NOTES_REF) || self.hidden.iter().any(|name| name.starts_with("refs/hydrate/"))
    }
}

impl Doctor<'_> {
    /// Looks at a remote of a clone whose environment branches are as `statuses` says. `settings_ref` names the ref whose
    /// settings a job uses, and `rehearsal` is what came of one.
    pub(crate) fn remote(
        mut self,
        remote: &str,
        statuses: &[BranchStatus],
        (settings_ref, rehearsal): (Option<&str>, Rehearsal),
    ) -> Result<Vec<Finding>, Error> {
        self.git_version();
        let there = match self.listed(remote) {
            Ok(there) => there,
            Err(error) => {
                let remedy = format!("git ls-remote {}", shell_word(remote));
                self.bad(format!("{remote} cannot be read: {error}"), remedy);
                return Ok(self.findings);
            }
        };
        self.good(format!("{remote} can be read: {} refs", there.len()));
        let environments: BTreeSet<&str> = statuses.iter().map(|status| status.branch.as_str()).collect();
        let dry: BTreeSet<&str> = statuses.iter().map(|status| status.dry_branch.as_str()).collect();
        let settings = settings_ref.map(full_ref_name);
        let probe = self.probe(remote, &there)?;
        match &probe.refused {
            Some(why) => {
                let remedy = "a job that hydrates needs an account that may push; what follows is for that one";
                self.advise(format!("this account cannot push to {remote}: {why}"), remedy);
            }
            None if !probe.is_atomic => {
                let remedy = "nothing is lost: the next git hydrate push goes on where one ended half way";
                self.advise(format!("{remote} cannot move several refs at once"), remedy);
            }
            None => self.good(format!("this account can push to {remote}, several refs at once")),
        }
        self.environments(remote, &environments, (&there, &probe));
        self.dry_and_settings(remote, &dry, settings.as_deref(), (&there, &probe));
        self.records(remote, (&there, &probe));
        self.taken_for_others(remote, &there);
        self.hiding(remote, &environments.union(&dry).copied().collect(), &there);
        self.changed_by_others(remote, statuses);
        match probe.is_of_server() && !rehearsal.is_quiet() && self.lacks_url(&there) {
            true => self.bad(
                format!("the settings of {remote} do not name its URL, so its hooks do not know which Applications are its own"),
                "in that repository: git hydrate config set repoURL URL, then git hydrate catch-up",
            ),
            false => self.rehearsed(remote, rehearsal, &probe),
        }
        Ok(self.findings)
    }

    /// The refs of a remote, by full name.
    fn listed(&self, remote: &str) -> Result<BTreeMap<String, String>, repo::Error> {
        let listing = self.repository.git().output(&["ls-remote", "--refs", "--", remote])?;
        let listing = String::from_utf8_lossy(&listing).into_owned();
        let line = |line: &str| line.split_once('\t').map(|(id, name)| (name.to_owned(), id.to_owned()));
        Ok(listing.lines().filter_map(line).collect())
    }

    /// Begins a push that would leave every branch, note and record as it is, and does not make it.
    fn probe(&self, remote: &str, there: &BTreeMap<String, String>) -> Result<Probe, Error> {
        let is_asked =
            |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/hydrate/") || name == NOTES_REF;
        // Expected values are for ends of names too.
        let is_plain = |name: &str| is_asked(name) && repo::taken_for(name).is_empty();
        let of_line = |(name, id): (&'_ String, &String)| {
            let id = repo::object_id(id).filter(|id| self.repository.has(*id))?;
            is_plain(name).then(|| (name.clone(), id))
        };
        let asked: Vec<(String, ObjectId)> = there.iter().filter_map(of_line).collect();
        if asked.is_empty() {
            return Ok(Probe { is_atomic: true, ..Probe::default() });
        }
        let first = self.push_dry(remote, &asked, true)?;
        if String::from_utf8_lossy(&first.stderr).contains(NOT_ATOMIC) {
            return Ok(Probe { is_atomic: false, ..read(&self.push_dry(remote, &asked, false)?) });
        }
        Ok(Probe { is_atomic: true, ..read(&first) })
    }

    /// `git push --dry-run` of refs to where they are.
    fn push_dry(&self, remote: &str, refs: &[(String, ObjectId)], is_atomic: bool) -> Result<Output, repo::Error> {
        let pushed = PushedRefs::new(self.repository, refs.iter().map(|(name, id)| (name.as_str(), *id)))?;
        let mut command = self.repository.git().command();
        pushed.choose(&mut command);
        command.args(["push", "--dry-run", "--porcelain", "--no-verify", "--no-follow-tags"]);
        command.arg("--recurse-submodules=no");
        if is_atomic {
            command.arg("--atomic");
        }
        command.args(refs.iter().map(|(name, id)| format!("--force-with-lease={name}:{id}")));
        command.arg("--").arg(remote).arg(PushedRefs::REFSPEC);
        command.output().map_err(|error| repo::Error::new("starting git", error))
    }

    /// Whether anyone but hydration may move what is deployed.
    fn environments(
        &mut self,
        remote: &str,
        environments: &BTreeSet<&str>,
        (there, probe): (&BTreeMap<String, String>, &Probe),
    ) {
        if environments.is_empty() {
            self.advise(
                format!("no Application of {remote} is hydrated, so there is no environment branch to protect"),
                "git hydrate check",
            );
            return;
        }
        let is_hidden = |name: &&&str| probe.hidden.contains(&format!("refs/heads/{name}"));
        let hidden: Vec<&str> = environments.iter().filter(is_hidden).copied().collect();
        if !hidden.is_empty() {
            self.good(format!("{remote} hides {} from pushes (receive.hideRefs)", names(&hidden)));
        }
        let open: Vec<&str> = environments.iter().filter(|name| !is_hidden(name)).copied().collect();
        if open.is_empty() {
            return;
        }
        // Branches that were made after the installation are guarded by its hook alone.
        if probe.is_of_server() {
            let what = format!("git-hydrate is installed in {remote}: its hook guards {}", names(&open));
            self.good(format!("{what} (in that repository, git hydrate doctor tests it)"));
            return;
        }
        let new = open.iter().filter(|name| !there.contains_key(&format!("refs/heads/{name}"))).count();
        let new = if new == 0 { String::new() } else { format!(" ({new} not made yet)") };
        let what = format!(
            "{}{new}: git does not keep anybody who can push to {remote} from moving them, and a rule of the platform \
             cannot be seen from here",
            names(&open)
        );
        let remedy = format!("let the job's account alone push to {}: {}", pattern(&open), self.protection(remote));
        self.advise(what, remedy);
    }

    /// Who decides what is hydrated.
    fn dry_and_settings(
        &mut self,
        remote: &str,
        dry: &BTreeSet<&str>,
        settings: Option<&str>,
        (there, probe): (&BTreeMap<String, String>, &Probe),
    ) {
        let dry: Vec<&str> = dry.iter().copied().filter(|name| !name.is_empty()).collect();
        if !dry.is_empty() {
            let what = format!("{}: who may push to it decides what is deployed", names(&dry));
            match probe.is_of_server() {
                // Its hooks are all that this program can do for it.
                true => self.good(what),
                false => self.advise(what, format!("have changes of it reviewed: {}", self.protection(remote))),
            }
        }
        match settings {
            _ if probe.hidden.contains(SETTINGS_REF) => {}
            // Others than those that it finds out by itself keep it from pushing, which it says.
            None => self.good("no settings are named (hydrate.settingsRef): a job uses what it finds out by itself"),
            Some(SETTINGS_REF) => {
                let what = format!("the settings are {SETTINGS_REF} of {remote}, which anyone who can push may write");
                self.advise(what, "name a protected branch: git config hydrate.settingsRef BRANCH");
            }
            Some(name) if !there.contains_key(name) => {
                let what = format!("hydrate.settingsRef names {}, which {remote} does not have", printable(name));
                self.bad(what, "git config hydrate.settingsRef BRANCH");
            }
            Some(name) => {
                let name = printable(name.strip_prefix("refs/heads/").unwrap_or(name)).to_string();
                let remedy =
                    format!("let those alone push to it who may change what is deployed: {}", self.protection(remote));
                self.advise(
                    format!("the settings are those of {name}: anyone who may push to it can change what is deployed"),
                    remedy,
                );
            }
        }
    }

    /// Records and notes, which no forge protects. Settings have a finding of their own.
    fn records(&mut self, remote: &str, (there, probe): (&BTreeMap<String, String>, &Probe)) {
        let ours = |name: &&String| (name.starts_with("refs/hydrate/") && *name != SETTINGS_REF) || *name == NOTES_REF;
        let found: Vec<&String> = there.keys().filter(ours).collect();
        if found.is_empty() {
            return;
        }
        match found.iter().all(|name| probe.hidden.contains(*name)) {
            true => self.good(format!("{remote} hides records and notes from pushes")),
            false => self.good(
                "anyone who can push may write records and notes; git hydrate push takes nothing from them that the \
                 branches do not bear out",
            ),
        }
    }

    /// Refs by which a push of others by name is refused; hydration's own pushes name none.
    fn taken_for_others(&mut self, remote: &str, there: &BTreeMap<String, String>) {
        let is_taken = |name: &&String| repo::taken_for(name).iter().any(|other| there.contains_key(*other));
        let found: Vec<&str> = there.keys().filter(is_taken).map(String::as_str).collect();
        if let Some((what, remedy)) = repo::said_of_taken(remote, &found) {
            self.bad(what, remedy);
        }
    }

    /// Refs that git takes for a branch that is deployed, or that others are hydrated from, when somebody looks at it.
    fn hiding(&mut self, remote: &str, branches: &BTreeSet<&str>, there: &BTreeMap<String, String>) {
        for name in there.keys() {
            if let Some(branch) = repo::hidden_by(name).into_iter().find(|branch| branches.contains(branch)) {
                let remedy = format!("git push {} --delete {}", shell_word(remote), shell_word(name));
                self.bad(format!("{remote}: {}", repo::said_of_hiding(&printable(name), branch)), remedy);
            }
        }
    }

    /// What others did to the branches.
    fn changed_by_others(&mut self, remote: &str, statuses: &[BranchStatus]) {
        for status in statuses.iter().filter(|status| !status.changed_by_others.is_empty()) {
            let at = status.tip.get(..7).unwrap_or_default();
            let what = format!("{} of {remote} is at {at}, which hydration did not make", printable(&status.branch));
            let verify = || format!("git hydrate verify {}", shell_word(&status.branch));
            self.bad(what, status.taking_back(remote).unwrap_or_else(verify));
        }
    }

    /// Whether the settings of a remote, as far as they are here, do not say which URLs are its own.
    fn lacks_url(&self, there: &BTreeMap<String, String>) -> bool {
        let buffer = ObjectBuffer::new(self.repository);
        let id = there.get(SETTINGS_REF).and_then(|id| repo::object_id(id));
        match id {
            None => true,
            Some(id) => files_of(Some(id), &buffer)
                .is_ok_and(|(_, files)| Settings::read(&files).is_ok_and(|settings| settings.repo_urls.is_empty())),
        }
    }

    /// What a job would do now.
    fn rehearsed(&mut self, remote: &str, rehearsal: Rehearsal, probe: &Probe) {
        if rehearsal.lacks_settings && probe.is_of_server() {
            self.good(format!("the hooks of {remote} hydrate by the settings of {SETTINGS_REF}: no job is needed"));
        } else if let Some((what, remedy)) = rehearsal.problem {
            match remedy {
                Some(remedy) => self.bad(what, remedy),
                None => self.bad(what, format!("git hydrate push --dry-run {}", shell_word(remote))),
            }
        }
        for (branch, why) in &rehearsal.failures {
            let what = format!("{} does not hydrate: {}", printable(branch), printable(why));
            self.bad(what, "git hydrate status");
        }
        let moves: Vec<&str> = rehearsal.moves.iter().map(String::as_str).collect();
        let shown: Vec<&str> = moves.iter().map(|name| name.strip_prefix("refs/heads/").unwrap_or(name)).collect();
        if moves.is_empty() {
            return;
        }
        match moves.iter().any(|name| probe.hidden.contains(*name)) {
            true => self.bad(
                format!("{} not up to date, and {remote} hides refs from pushes: its hooks did not run, or failed", are(&shown)),
                "in that repository: git hydrate doctor and git hydrate status say why, git hydrate install --server puts the \
                 hooks back, git hydrate uninstall lets git hydrate push write",
            ),
            false => {
                let remedy = format!("git hydrate push {}", shell_word(remote));
                self.advise(format!("{} not up to date", are(&shown)), remedy);
            }
        }
    }

    /// What the admin does for a branch.
    fn protection(&self, remote: &str) -> String {
        let url = self.config.get(&format!("remote.{remote}.url")).first().cloned().unwrap_or_default();
        match forge(&url) {
            Some((name, how)) => format!("on {name}: {how}"),
            None => {
                "where hooks can run, on the server: git hydrate install --server REPO.git; else by a rule of the platform for these \
                 branches"
                    .to_owned()
            }
        }
    }
}

/// The forge that a URL leads to, as far as its host is called after one.
fn forge(url: &str) -> Option<(&'static str, &'static str)> {
    let rest = match url.split_once("://") {
        Some((_, rest)) => rest,
        None if url.starts_with(['/', '.']) => return None,
        None => url,
    };
    let authority = rest.split(['/', '?']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = host.split(':').next()?.to_ascii_lowercase();
    let found = FORGES.iter().find(|(word, _, _)| host.split(['.', '-']).any(|part| part == *word));
    found.map(|(_, name, how)| (*name, *how))
}

/// `refs/heads/main` of `main`.
fn full_ref_name(name: &str) -> String {
    if name.starts_with("refs/") { name.to_owned() } else { format!("refs/heads/{name}") }
}

/// What a dry run of a push says.
fn read(output: &Output) -> Probe {
    let mut probe = Probe::default();
    let text = String::from_utf8_lossy(&output.stdout);
    for line in text.lines() {
        let Some((sign, rest)) = line.split_once('\t') else { continue };
        let Some((refspec, reason)) = rest.split_once('\t') else { continue };
        let Some((_, name)) = refspec.split_once(':') else { continue };
        match sign {
            "=" => drop(probe.open.insert(name.to_owned())),
            "!" if reason.contains("stale info") => drop(probe.hidden.insert(name.to_owned())),
            // It was not looked at, since another one is hidden.
            _ => {}
        }
    }
    if !output.status.success() && probe.open.is_empty() && probe.hidden.is_empty() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        let line = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("git push --dry-run fails");
        probe.refused = Some(printable(line).to_string());
    }
    probe
}

/// `environments/dev, environments/prod`, the first of them.
fn names(branches: &[&str]) -> String {
    listed(branches.iter().map(|name| printable(name)), NAMES_MAX)
}

fn are(branches: &[&str]) -> String {
    format!("{} {}", names(branches), if branches.len() == 1 { "is" } else { "are" })
}

/// `environments/*` where they all are in one directory, else their names.
fn pattern(branches: &[&str]) -> String {
    let dirs: BTreeSet<Option<&str>> = branches.iter().map(|name| name.rsplit_once('/').map(|(dir, _)| dir)).collect();
    match dirs.first() {
        Some(Some(dir)) if dirs.len() == 1 => format!("{}/*", printable(dir)),
        _ => names(branches),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_known_by_their_host() {
        let rows = [
            ("https://github.com/shop/config.git", Some("GitHub")),
            ("git@github.com:shop/config.git", Some("GitHub")),
            ("ssh://git@gitlab.example.com:2222/shop/config.git", Some("GitLab")),
            ("https://user:word@gitea.example.com/a/b", Some("Gitea")),
            ("https://codeberg.org/a/b", Some("Forgejo")),
            ("https://dev.azure.com/a/_git/b", Some("Azure DevOps")),
            ("https://git.example.com/github/config.git", None),
            ("/srv/git/github.com/config.git", None),
            ("https://mygithub.example.com/a", None),
            ("", None),
        ];
        for (url, expected) in rows {
            assert_eq!(forge(url).map(|(name, _)| name), expected, "{url}");
        }
    }

    #[test]
    fn branches_are_named_by_their_directory() {
        assert_eq!(pattern(&["environments/dev", "environments/prod"]), "environments/*");
        assert_eq!(pattern(&["environments/dev", "prod"]), "environments/dev, prod");
        assert_eq!(pattern(&["dev"]), "dev");
    }
}
