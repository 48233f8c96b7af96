//! What a repository lacks of the one that it was before it was moved.
//!
//! An import of a platform brings branches and tags, a mirror brings all refs. Neither brings git config, hooks, or reflogs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::Doctor;
use crate::install::Error;
use crate::install::config::Config;
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::owners::platform::is_executable;
use crate::repo::{ObjectBuffer, ObjectId, Refs, Repository, object_id};
use crate::settings::SETTINGS_REF;
use dry_files::diag::{shell_path, shell_word};

/// The keys of git config that decide how a server receives, serves and hydrates.
const SECTIONS: [&str; 9] =
    ["hydrate.", "hydrate-check.", "hydrate-plugin.", "receive.", "transfer.", "uploadpack.", "http.", "hook.", "gc."];

/// What `install` writes itself, and counts as its own.
const INSTALLED: &str = "hydrate.installed";

/// How many names a finding shows.
const NAMES_MAX: usize = 5;

/// Where a repository was before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Former<'a> {
    /// Its path or URL, as git takes it.
    pub address: &'a str,
    /// The repository itself, if it is on this machine.
    pub repository: Option<&'a Repository>,
}

impl Doctor<'_> {
    /// Compares refs, and on the same machine git config, hooks and reflogs too, with those of the former place.
    pub(crate) fn after_move(mut self, former: Former<'_>) -> Result<Self, Error> {
        let before = self.findings.len();
        self.former_refs(former.address)?;
        if let Some(repository) = former.repository {
            self.former_keys(repository)?;
            self.former_hooks(repository);
            self.former_reflogs(repository)?;
        }
        if self.findings.len() == before {
            self.good(format!("all that {} has is here", former.address));
        }
        if former.repository.is_none() {
            let what = format!("git config, hooks and reflogs of {} cannot be compared from here", former.address);
            self.advise(what, "copy what begins with `hydrate` and `receive` from its file `config`");
        }
        let what = "Applications name a repository by its URL, which is another one after a move";
        self.advise(what, format!("unless it is listed: {} hydrate config add repoURL URL", self.git_command()));
        Ok(self)
    }

    fn former_refs(&mut self, address: &str) -> Result<(), Error> {
        let listing = self.repository.git().output(&["ls-remote", "--refs", "--", address])?;
        let listing = String::from_utf8_lossy(&listing).into_owned();
        let theirs: Vec<(&str, ObjectId)> = listing
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter_map(|(id, name)| Some((name, object_id(id)?)))
            .collect();
        let here = self.repository.refs()?;
        for family in FAMILIES {
            self.missing_refs(address, family, &theirs, &here);
        }
        // What hydration wrote there follows here from what was pushed.
        let buffer = ObjectBuffer::new(self.repository);
        let records = here.get(RECORDS_REF).and_then(|tip| BranchRecords::read(tip, &buffer).ok()).unwrap_or_default();
        let hydrated: BTreeSet<String> =
            records.iter().filter(|(_, record)| !record.initial).map(|(branch, _)| branch.ref_name()).collect();
        let is_pushed =
            |name: &str| name.starts_with("refs/heads/") && !hydrated.contains(name) || name == SETTINGS_REF;
        for (name, id) in theirs.into_iter().filter(|(name, _)| is_pushed(name)) {
            self.moved_on(address, name, id, &here);
        }
        Ok(())
    }

    fn missing_refs(&mut self, address: &str, family: &Family, theirs: &[(&str, ObjectId)], here: &Refs) {
        let names: Vec<&str> =
            theirs.iter().map(|(name, _)| *name).filter(|name| family.has(name) && here.get(name).is_none()).collect();
        if names.is_empty() {
            return;
        }
        let what = match names.len() {
            1 => format!("{} is not here: {}", names[0], family.means),
            count => format!("{count} refs are not here, {}: {}", shown(&names), family.means),
        };
        let refspecs: Vec<String> = family.prefixes.iter().map(|it| shell_word(&format!("{it}*:{it}*"))).collect();
        let git = self.git_command();
        self.bad(what, format!("{git} fetch {} {}", shell_word(address), refspecs.join(" ")));
    }

    /// A ref that was pushed to at the former place after the move.
    fn moved_on(&mut self, address: &str, name: &str, theirs: ObjectId, here: &Refs) {
        let Some(ours) = here.get(name).filter(|ours| *ours != theirs) else { return };
        if self.repository.has(theirs) && self.repository.is_ancestor(theirs, ours) {
            return;
        }
        let at = |id: ObjectId| id.to_string()[..7].to_owned();
        let what =
            format!("{name} is at {} here, and at {} in {address}, which is not behind it", at(ours), at(theirs));
        let (git, address, plain, name) = (self.git_command(), shell_word(address), name, shell_word(name));
        let bring =
            format!("{git} fetch {address} {} && {git} hydrate catch-up", shell_word(&format!("{plain}:{plain}")));
        let look = format!("{git} fetch {address} {name} && {git} log --oneline --left-right {name}...FETCH_HEAD");
        self.bad(what, format!("{bring}; if git rejects that, both were pushed to: {look}"));
    }

    fn former_keys(&mut self, former: &Repository) -> Result<(), Error> {
        let theirs = Config::read(former)?;
        let names = theirs
            .names()
            .filter(|name| *name != INSTALLED && SECTIONS.iter().any(|section| name.starts_with(section)));
        // `install` sets these anew, in their order.
        let installed: Vec<(&str, &str)> =
            theirs.get(INSTALLED).iter().filter_map(|entry| entry.split_once('=')).collect();
        let is_installed = |name: &str, value: &str| {
            installed.iter().any(|(key, set)| key.eq_ignore_ascii_case(name) && *set == value)
        };
        for name in names {
            let (here, there) = (self.config.get(name), theirs.get(name));
            if there.iter().all(|value| here.contains(value) || is_installed(name, value)) {
                continue;
            }
            let what = match here.is_empty() {
                true => format!("git config has no {name}"),
                false => format!("git config has another {name}"),
            };
            let (old, git, key) = (shell_path(former.common_dir()), self.git_command(), shell_word(name));
            let remedy = match there.len() {
                1 => format!("{git} config {key} \"$(git -C {old} config {key})\""),
                _ => format!(
                    "git -C {old} config --get-all {key} | while read -r value; do {git} config --add {key} \"$value\"; done"
                ),
            };
            self.bad(what, remedy);
        }
        Ok(())
    }

    /// Hooks of others: ours are found by the checks of hooks.
    fn former_hooks(&mut self, former: &Repository) {
        let (old, new) = (former.common_dir().join("hooks"), self.repository.common_dir().join("hooks"));
        for file in programs(&old) {
            let Ok(name) = file.strip_prefix(&old) else { continue };
            if fs::symlink_metadata(new.join(name)).is_ok() {
                continue;
            }
            let to = new.join(name);
            let into = to.parent().unwrap_or(&new);
            let remedy = format!("mkdir -p {} && cp -a {} {}", shell_path(into), shell_path(&file), shell_path(&to));
            self.advise(format!("hooks/{} is not here", name.display()), remedy);
        }
    }

    /// `rollback --to TIME` reads the reflogs, and so does an admin who looks for who moved a branch.
    fn former_reflogs(&mut self, former: &Repository) -> Result<(), Error> {
        let (old, new) =
            (former.common_dir().join("logs/refs/heads"), self.repository.common_dir().join("logs/refs/heads"));
        let names = former.refs()?;
        let missing: Vec<&str> = names
            .below("refs/heads/")
            .map(|(name, _)| name)
            .filter(|name| old.join(name).is_file() && !new.join(name).is_file())
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let what = format!("the reflogs of {} are not here: they say who moved a branch, and when", shown(&missing));
        let top = self.repository.common_dir();
        let logs = shell_path(&top.join("logs")).to_string();
        let copy = format!("cp -R -n {}/. {logs}", shell_path(&former.common_dir().join("logs")));
        // Of a branch that was forced, they name commits that no fetch brings: `git fsck` calls such entries invalid.
        let expire = format!("{} reflog expire --all --expire=never --stale-fix", self.git_command());
        self.advise(what, format!("mkdir -p {logs} && {copy} && {expire}"));
        Ok(())
    }
}

/// Refs that are fetched by one command.
struct Family {
    /// What their names begin with.
    prefixes: &'static [&'static str],
    /// What is lost without them.
    means: &'static str,
}

impl Family {
    fn has(&self, name: &str) -> bool {
        self.prefixes.iter().any(|prefix| name.starts_with(prefix))
    }
}

/// What hydration reads, what people push.
const FAMILIES: &[Family] = &[
    Family {
        prefixes: &["refs/hydrate/", "refs/notes/hydrator."],
        means: "settings, records and notes, without which hydration does not know its own branches",
    },
    Family { prefixes: &["refs/heads/", "refs/tags/"], means: "what was pushed" },
];

/// The first of some names.
fn shown(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMES_MAX)].join(", ");
    if names.len() > NAMES_MAX { format!("{first}, …") } else { first }
}

/// The programs in a directory of hooks, and in the directories in it.
fn programs(dir: &Path) -> BTreeSet<PathBuf> {
    let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries(dir)
        .flat_map(|path| if path.is_dir() { entries(&path).collect() } else { vec![path] })
        .filter(|path| path.extension().is_none_or(|extension| extension != "sample") && is_executable(path))
        .collect()
}
