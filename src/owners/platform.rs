//! Platforms that host repositories, and hear of moved branches by hooks of their own.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::repo::Repository;
use dry_files::diag::shell_word;

/// The script of Gitea and Forgejo for post-receive, from the git directory on.
///
/// Reference: Gitea 1.25 modules/gitrepo/hooks.go `createDelegateHooks`.
pub(crate) const GITEA: &str = "hooks/post-receive.d/gitea";

/// Whether a platform hosts the repository that learns of branches from hooks of its own.
pub(crate) fn has_platform(repository: &Repository) -> bool {
    let is_off = repository.config_bool("hydrate.tell") == Some(false);
    let is_told = repository.config("hydrate.tell").is_some_and(|command| !command.is_empty());
    !is_off && (is_told || is_executable(&repository.common_dir().join(GITEA)))
}

/// What makes a platform hear anew of a branch that an admin moved, behind the command that moved it; nothing without a platform. The
/// command begins with `git`, or with the one that names the repository.
pub(crate) fn telling_again(repository: &Repository, git: &str, branch: &str) -> String {
    match has_platform(repository) {
        true => format!(" && {git} hydrate tell --again {}", shell_word(branch)),
        false => String::new(),
    }
}

/// Whether a file is a program.
pub(crate) fn is_executable(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}
