//! Questions about a repository are answered as the git of its platform would: Gitea and Forgejo have theirs read neither the
//! configuration of the machine nor that of the user, but a file of their own.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::install::{GITEA, is_executable};

/// What keeps git from the configuration of the machine.
///
/// Reference: Gitea 1.24 modules/git/command.go `CommonGitCmdEnvs`.
const NO_SYSTEM: &str = "GIT_CONFIG_NOSYSTEM";

/// Goes on as the git of the platform would, where one hosts a repository and this process does not do so yet: it begins anew, with
/// the same arguments.
///
/// Errors: this program cannot be started again.
pub(super) fn go_on_as_its_git(git_dir: &Path) -> anyhow::Result<()> {
    if std::env::var_os(NO_SYSTEM).is_some() || !is_executable(&git_dir.join(GITEA)) {
        return Ok(());
    }
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command.args(std::env::args_os().skip(1)).env(NO_SYSTEM, "1");
    if let Some(config) = its_config(git_dir) {
        command.env("GIT_CONFIG_GLOBAL", config);
    }
    Err(command.exec()).context("starting this program again")
}

/// The file with the keys of `[git.config]` of `app.ini`: `home/.gitconfig` in the directory of the platform's data, which is above the
/// repositories or beside them. One of another user is left alone.
///
/// Reference: Gitea 1.24 modules/git/git.go `HomeDir`, modules/setting/git.go `HomePath`.
fn its_config(git_dir: &Path) -> Option<PathBuf> {
    let git_dir = git_dir.canonicalize().ok()?;
    let dirs = git_dir.ancestors().skip(1);
    let files = dirs.flat_map(|dir| ["home", "data/home", "gitea/home"].map(|home| dir.join(home).join(".gitconfig")));
    // That of an account is not the platform's: the directory of its data lies above. Configuration names programs that are run, so
    // that of another user, who may write beside the repository, counts as little as it does for git.
    files.into_iter().find(|file| is_trusted(file) && !is_of_account(file))
}

/// Whether there is a file of this user, or of root.
fn is_trusted(file: &Path) -> bool {
    let owner = file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.uid());
    owner.is_some_and(|owner| owner == 0 || owner == rustix::process::geteuid().as_raw())
}

/// Whether a file is the configuration of the user who asks.
fn is_of_account(file: &Path) -> bool {
    std::env::var_os("HOME").is_some_and(|home| Path::new(&home).join(".gitconfig") == *file)
}
