//! Bare repositories that are not used unless they are named: one that is among the files of a clone has a configuration that
//! its pusher wrote.

use std::ffi::OsStr;
use std::path::Path;

use gix::config::Source;

use super::Error;

/// The key by which a user says that.
pub(super) const KEY: &str = "safe.bareRepository";

/// An error, in git's words, when the search from `start` ended at a git directory that it was inside of, and bare repositories
/// are to be named. Both paths are without symbolic links.
///
/// Reference: git 2.47 setup.c `setup_git_directory_gently_1`.
pub(super) fn check(repository: &gix::Repository, start: &Path, git_dir: &Path) -> Result<(), Error> {
    if !start.starts_with(git_dir) || is_of_worktree(git_dir) || !must_be_named(repository) {
        return Ok(());
    }
    Err(Error::message(format!(
        "cannot use bare repository '{}' (safe.bareRepository is 'explicit')\nhint: to use it: git --git-dir={} hydrate …",
        git_dir.display(),
        dry_files::diag::shell_path(git_dir)
    )))
}

/// Whether a worktree has its git directory here: git never adds a file of that name to a commit.
///
/// Reference: git 2.47 setup.c `is_implicit_bare_repo`.
fn is_of_worktree(git_dir: &Path) -> bool {
    let names: Vec<_> = git_dir.iter().collect();
    let is_below =
        |pair: &[&OsStr]| matches!(pair, [git, of] if *git == ".git" && (*of == "worktrees" || *of == "modules"));
    git_dir.ends_with(".git") || names.windows(2).any(is_below)
}

/// What the machine, the user and the command line say, never the repository itself: any value but `all` protects.
fn must_be_named(repository: &gix::Repository) -> bool {
    let is_protected = |meta: &gix::config::file::Metadata| !matches!(meta.source, Source::Local | Source::Worktree);
    let value = repository.config_snapshot().plumbing().string_filter(KEY, is_protected);
    value.is_some_and(|value| !value.eq_ignore_ascii_case(b"all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_directory_of_a_worktree_needs_no_name() {
        let rows = [
            ("/w/.git", true),
            ("/w/.git/worktrees/a", true),
            ("/w/.git/modules/lib", true),
            ("/w/charts/web", false),
            ("/w/charts/web.git", false),
            ("/w/.git/other", false),
            ("/w/x.git/worktrees/a", false),
        ];
        for (path, expected) in rows {
            assert_eq!(is_of_worktree(Path::new(path)), expected, "{path}");
        }
    }
}
