//! What a repository lacks of the one that it was before it was moved.
//!
//! An import of a platform brings branches and tags, a mirror brings all refs. Neither brings git config, hooks, or reflogs.

mod refs;

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::Doctor;
use crate::install::Error;
use crate::install::config::Config;
use crate::owners::platform::is_executable;
use crate::repo::Repository;
use dry_files::diag::{shell_path, shell_word};
use dry_files::regular;

/// The keys of git config that decide how a server receives, serves and hydrates.
const SECTIONS: [&str; 9] =
    ["hydrate.", "hydrate-check.", "hydrate-plugin.", "receive.", "transfer.", "uploadpack.", "http.", "hook.", "gc."];

/// What `install` writes itself, and counts as its own.
const INSTALLED: &str = "hydrate.installed";

/// How many names a finding shows.
const NAMES_MAX: usize = 5;

/// How large a reflog may be to be looked at, in bytes.
const REFLOG_BYTES_MAX: u64 = 256 << 20;

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
        self.former_refs(former)?;
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
        self.urls(former)?;
        Ok(self)
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

    /// `rollback --to TIME` reads the reflogs, and so does an admin who looks for who moved a branch. A fetch of branches begins
    /// files of its own here, before whose lines those of the former place belong.
    fn former_reflogs(&mut self, former: &Repository) -> Result<(), Error> {
        let below = |repository: &Repository| repository.common_dir().join("logs/refs/heads");
        let (old, new) = (below(former), below(self.repository));
        let names = former.refs()?;
        let missing: Vec<&str> = names
            .below("refs/heads/")
            .map(|(name, _)| name)
            .filter(|name| lacks_lines(&old.join(name), &new.join(name)))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let what = format!("the reflogs of {} are not here: they say who moved a branch, and when", shown(&missing));
        let (old, new) = (shell_path(&old), shell_path(&new));
        // Of a branch that was forced, they name commits that no fetch brings: `git fsck` calls such entries invalid.
        let expire = format!("{} reflog expire --all --expire=never --stale-fix", self.git_command());
        let remedy = format!(
            "find {old} -type f | while IFS= read -r log; do to={new}/\"${{log#{old}/}}\"; mkdir -p \"${{to%/*}}\"; touch \"$to\"; \
             grep -qxFf \"$to\" \"$log\" || {{ cat \"$log\" \"$to\" >\"$to.before\" && mv \"$to.before\" \"$to\"; }}; done; {expire}"
        );
        self.advise(what, remedy);
        Ok(())
    }
}

/// Whether a reflog has no line of another one.
fn lacks_lines(old: &Path, new: &Path) -> bool {
    let read = |file: &Path| regular::read_linked(file, REFLOG_BYTES_MAX).unwrap_or_default();
    let (old, new) = (read(old), read(new));
    let here: HashSet<&[u8]> = lines(&new).collect();
    let mut there = lines(&old).peekable();
    there.peek().is_some() && !there.any(|line| here.contains(line))
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

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
