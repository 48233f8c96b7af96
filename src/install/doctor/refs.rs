//! Whether the refs that hydration reads point at commits that are there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dry_files::diag::more::listed;
use dry_files::diag::{shell_path, shell_word};
use dry_files::regular;

use super::Doctor;
use crate::history::{BranchState, BranchStatus};
use crate::install::guard::REPLACE;
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::{BranchRecords, RECORDS_REF, hydrated_below};
use crate::owners::failures::FAILURES_REF;
use crate::repo::{
    Error, ObjectBuffer, ObjectId, Refs, hiding, object_id, said_of_hiding, said_of_taken_in, taken_for,
};
use crate::settings::SETTINGS_REF;

/// How much of a reflog's end is searched for a commit that is there.
const REFLOG_LINES_MAX: usize = 1000;

/// How many branches are named.
const NAMED_MAX: usize = 8;

/// How large a reflog may be to be looked at, in bytes.
const REFLOG_BYTES_MAX: u64 = 256 << 20;

impl Doctor<'_> {
    /// Refs that a power failure or an edit by hand broke: git keeps them, and refuses to write most of them.
    pub(super) fn refs(&mut self) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let buffer = ObjectBuffer::new(self.repository);
        let top = self.repository.common_dir();
        for name in refs.broken().filter(|name| is_ours(name)) {
            let file = top.join(name);
            let after = self.restore(name, &refs, &buffer);
            self.bad(format!("{name} is not a valid ref"), format!("rm {} && {after}", shell_path(&file)));
        }
        for (name, tip) in refs.below("refs/").filter(|(name, _)| is_ours(&format!("refs/{name}"))) {
            if let Err(error) = buffer.commit(tip) {
                let name = format!("refs/{name}");
                let remedy = self.restore(&name, &refs, &buffer);
                self.bad(format!("{name} cannot be read: {}", dry_files::diag::chain(&error)), remedy);
            }
        }
        Ok(())
    }

    /// Refs that git takes for a branch of hydration, or for one that it is hydrated from.
    pub(super) fn hidden_branches(&mut self, statuses: &[BranchStatus]) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let names = statuses.iter().flat_map(|status| [status.branch.as_str(), status.dry_branch.as_str()]);
        for branch in names.filter(|name| !name.is_empty()).collect::<BTreeSet<&str>>() {
            for name in hiding(branch, None, &refs) {
                let remedy = format!("{} update-ref -d {}", self.git_command(), shell_word(&name));
                self.bad(said_of_hiding(&name, branch), remedy);
            }
        }
        Ok(())
    }

    /// Refs by which a push of others by name is refused.
    pub(super) fn ambiguous_refs(&mut self) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let names: Vec<String> = refs.below("refs/").map(|(name, _)| format!("refs/{name}")).collect();
        let is_taken = |name: &&str| taken_for(name).iter().any(|other| refs.get(other).is_some());
        let found: Vec<&str> = names.iter().map(String::as_str).filter(is_taken).collect();
        if let Some((what, names)) = said_of_taken_in("the repository", &found) {
            let git = self.git_command();
            let commands: Vec<String> = names.iter().map(|name| format!("{git} update-ref -d {name}")).collect();
            self.bad(what, commands.join(" && "));
        }
        Ok(())
    }

    /// Settings that branches say they were hydrated with, where nothing else is left that names them: without them a branch that
    /// is adopted is hydrated with other tools, and nothing that was frozen or held is.
    pub(super) fn lost_settings(&mut self, statuses: &[BranchStatus]) -> Result<(), Error> {
        let (refs, buffer) = (self.repository.refs()?, ObjectBuffer::new(self.repository));
        let there = refs.get(SETTINGS_REF);
        let is_had = |id: &ObjectId| there.is_some_and(|there| self.repository.is_ancestor(*id, there));
        let mut lost = BTreeMap::<ObjectId, Vec<&str>>::new();
        for status in statuses.iter().filter(|status| status.state == BranchState::NotHydrated) {
            let named = object_id(&status.tip).and_then(|tip| hydrated_below(tip, &buffer));
            let named = named.filter(|(_, trailers)| trailers.branch.as_str() == status.branch);
            if let Some(id) = named.and_then(|(_, trailers)| trailers.settings_commit).filter(|id| !is_had(id)) {
                lost.entry(id).or_default().push(&status.branch);
            }
        }
        // The newest have those before them: one command is enough.
        let is_here = |id: &ObjectId| buffer.commit(*id).is_ok() && self.repository.has(*id);
        let older = |id: ObjectId, newer: ObjectId| id != newer && self.repository.is_ancestor(id, newer);
        let here: Vec<ObjectId> = lost.keys().copied().filter(is_here).collect();
        for id in &here {
            if let Some(newer) =
                here.iter().find(|newer| older(*id, **newer) && !here.iter().any(|newest| older(**newer, *newest)))
                && let Some(branches) = lost.remove(id)
            {
                lost.entry(*newer).or_default().extend(branches);
            }
        }
        for (id, branches) in lost {
            let git = self.git_command();
            let (verb, names) = (if branches.len() == 1 { "names" } else { "name" }, listed(branches, NAMED_MAX));
            let what = format!("{names} {verb} settings that {SETTINGS_REF} does not have: {id} (Hydrate-Settings)");
            let remedy = match here.contains(&id) {
                true => format!("before you adopt them: {git} update-ref {SETTINGS_REF} {id}"),
                false => format!(
                    "before you adopt them, import an export, {git} hydrate config import DIRECTORY, or set anew what was set, such \
                     as tools, frozen, hold and validate: {git} hydrate config edit"
                ),
            };
            self.bad(what, remedy);
        }
        Ok(())
    }

    /// Objects that git shows other content for, or commits other parents, than hydration reads.
    pub(super) fn replacements(&mut self) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let top = self.repository.common_dir();
        let git = self.git_command();
        let replace = format!("{REPLACE}/");
        let replaced: Vec<(&str, ObjectId)> = refs.below(&replace).collect();
        if let Some((id, other)) = replaced.first() {
            let count = match replaced.len() {
                1 => "1 object is".to_owned(),
                count => format!("{count} objects are"),
            };
            let what = format!("{count} replaced below {REPLACE}: git shows {other} for {id}, hydration reads {id}");
            let remedy = format!("{git} replace -l --format=long; to delete one: {git} replace -d {id}");
            self.advise(what, remedy);
        }
        if std::fs::metadata(top.join("info/grafts")).is_ok_and(|file| file.len() > 0) {
            let what = "info/grafts gives commits other parents: git follows it, hydration does not";
            self.advise(what, format!("look at it; if nothing needs it: rm {}", shell_path(&top.join("info/grafts"))));
        }
        Ok(())
    }

    /// The command that brings a ref back to the newest commit in its reflog that is there, or else takes it away: what
    /// hydration wrote it makes again.
    fn restore(&self, name: &str, refs: &Refs, buffer: &ObjectBuffer<'_>) -> String {
        let (top, git, name_word) = (self.repository.common_dir(), self.git_command(), shell_word(name));
        let mut good = newest(&top.join("logs").join(name), |id| buffer.commit(id).is_ok());
        if good.is_none() && name == SETTINGS_REF {
            good = self.recorded_settings(refs, buffer);
        }
        match good {
            Some(id) => format!("{git} update-ref {name_word} {id} && {git} hydrate catch-up"),
            None if refs.is_broken(name) => format!("{git} hydrate catch-up"),
            None => format!("{git} update-ref -d {name_word} && {git} hydrate catch-up"),
        }
    }

    /// The newest commit of settings that the records of branches name.
    fn recorded_settings(&self, refs: &Refs, buffer: &ObjectBuffer<'_>) -> Option<ObjectId> {
        let records = BranchRecords::read(refs.get(RECORDS_REF)?, buffer).ok()?;
        records.newest_settings(self.repository).map(|(id, _)| id)
    }
}

/// Whether hydration cannot do without a ref.
fn is_ours(name: &str) -> bool {
    name.starts_with("refs/heads/") || [NOTES_REF, FAILURES_REF, RECORDS_REF, SETTINGS_REF].contains(&name)
}

/// The newest id in a reflog that is good.
fn newest(reflog: &Path, is_good: impl Fn(ObjectId) -> bool) -> Option<ObjectId> {
    let text = String::from_utf8(regular::read_linked(reflog, REFLOG_BYTES_MAX).ok()?).ok()?;
    let ids = text.lines().rev().take(REFLOG_LINES_MAX).filter_map(|line| object_id(line.split(' ').nth(1)?));
    ids.into_iter().find(|id| is_good(*id))
}
