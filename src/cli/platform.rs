//! Questions about a repository are answered as the git of its hooks would. Gitea and Forgejo have theirs read neither the
//! configuration of the machine nor that of the user who asks, but a file of their own. Elsewhere pushes arrive as the owner of
//! the repository, whose configuration is not that of an admin with another account.

mod app_ini;

use std::fs::Metadata;
use std::io::Write as _;
use std::os::fd::IntoRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use dry_files::regular;

use crate::install::{GITEA, KeysOf, is_executable};
use crate::repo::{Repository, Shared};

/// What keeps git from the configuration of the machine.
///
/// Reference: Gitea 1.24 modules/git/command.go `CommonGitCmdEnvs`.
const NO_SYSTEM: &str = "GIT_CONFIG_NOSYSTEM";

/// The file that git reads as that of the user.
const GLOBAL: &str = "GIT_CONFIG_GLOBAL";

/// Set by us where git reads no file of a user, since that of the hooks is not known.
const UNREAD: &str = "GIT_HYDRATE_UNREAD";

/// How large the files of a platform may be that are read.
const BYTES_MAX: u64 = 1 << 20;

/// Goes on as the git of the hooks of repositories would, where this process does not do so yet: it begins anew, with the same
/// arguments.
///
/// Errors: this program cannot be started again.
pub(super) fn go_on_as_git_of_hooks(repositories: &[Repository]) -> anyhow::Result<()> {
    let is_set = |name| std::env::var_os(name).is_some();
    let of_platform = repositories.iter().find(|one| is_of_platform(one));
    if is_set(UNREAD) || (of_platform.is_some() && is_set(NO_SYSTEM)) {
        return Ok(());
    }
    let mut command = Command::new(std::env::current_exe().context("finding this program")?);
    command.args(std::env::args_os().skip(1));
    match of_platform {
        Some(_) => drop(command.env(NO_SYSTEM, "1")),
        None if is_set(GLOBAL) || !repositories.iter().any(is_foreign) => return Ok(()),
        None => {}
    }
    // An admin may name it.
    if !is_set(GLOBAL) {
        match of_platform.and_then(|repository| its_config(repository.common_dir())) {
            Some(config) => command.env(GLOBAL, config),
            None => command.env(GLOBAL, that_trusts(repositories)?).env(UNREAD, "1"),
        };
    }
    Err(command.exec()).context("starting this program again")
}

/// A file for git with nothing but that it reads repositories of other users, as it did by a file that it reads no more. It is gone
/// when this process ends, and with it those that it starts.
fn that_trusts(repositories: &[Repository]) -> anyhow::Result<PathBuf> {
    let mut file = tempfile::tempfile().context("making a file")?;
    for repository in repositories {
        let path = repository.common_dir().display().to_string();
        writeln!(file, "[safe]\n\tdirectory = \"{}\"", path.replace('\\', "\\\\").replace('"', "\\\""))?;
    }
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).context("keeping a file open")?;
    Ok(PathBuf::from(format!("/proc/self/fd/{}", file.into_raw_fd())))
}

/// Whose keys this process reads beside those of the repository.
pub(super) fn keys_of(repository: &Repository) -> KeysOf {
    match (std::env::var_os(UNREAD).is_some(), is_of_platform(repository)) {
        (true, true) => KeysOf::UnknownPlatform,
        (true, false) => KeysOf::NoUser,
        (false, true) => KeysOf::Platform,
        (false, false) => KeysOf::User,
    }
}

fn is_of_platform(repository: &Repository) -> bool {
    is_executable(&repository.common_dir().join(GITEA))
}

/// Whether pushes arrive as another user than the one who asks, or the configuration that git reads is of another one.
fn is_foreign(repository: &Repository) -> bool {
    let (user, owner) = (rustix::process::geteuid().as_raw(), owner(repository.common_dir()));
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".gitconfig"));
    let of_home = home.and_then(|file| owner_of_file(&file));
    let is_shared = repository.shared() != Shared::Umask;
    (owner.is_some_and(|owner| owner != user) && !is_shared) || of_home.is_some_and(|of| of != 0 && of != user)
}

/// The file with the keys of `[git.config]` of `app.ini`: `.gitconfig` in the home of the platform's git. `app.ini` says where
/// that is, else it is `home` in the directory of the platform's data, which is above the repositories or beside them.
fn its_config(git_dir: &Path) -> Option<PathBuf> {
    let git_dir = git_dir.canonicalize().ok()?;
    if let Some(home) = home_of_git(&git_dir) {
        return Some(home.join(".gitconfig")).filter(|file| is_trusted(file));
    }
    let dirs = git_dir.ancestors().skip(1);
    let files = dirs.flat_map(|dir| ["home", "data/home", "gitea/home"].map(|home| dir.join(home).join(".gitconfig")));
    let files: Vec<PathBuf> = files.filter(|file| is_trusted(file)).collect();
    // The home of an account may have such a place and name.
    files.iter().find(|file| is_written_by_platform(file)).or(files.first()).cloned()
}

fn home_of_git(git_dir: &Path) -> Option<PathBuf> {
    let app_ini = app_ini::named_by(&text(&git_dir.join(GITEA))?)?;
    app_ini::home_of_git(&text(&app_ini)?)
}

fn text(file: &Path) -> Option<String> {
    regular::read(file, BYTES_MAX).ok().map(|text| String::from_utf8_lossy(&text).into_owned())
}

/// Whether a file has what the platform writes into that of its git whenever it starts.
///
/// Reference: Gitea 1.24 modules/git/config.go `syncGitConfig`, Forgejo modules/git/git.go `syncGitConfig`.
fn is_written_by_platform(file: &Path) -> bool {
    text(file).is_some_and(|text| text.to_lowercase().contains("procreceiverefs"))
}

/// Whether there is a file of this user, or of root. Configuration names programs that are run, so that of another user, who may
/// write beside the repository, counts as little as it does for git.
fn is_trusted(file: &Path) -> bool {
    owner_of_file(file).is_some_and(|owner| owner == 0 || owner == rustix::process::geteuid().as_raw())
}

fn owner_of_file(file: &Path) -> Option<u32> {
    file.metadata().ok().filter(Metadata::is_file).map(|metadata| metadata.uid())
}

fn owner(directory: &Path) -> Option<u32> {
    directory.metadata().ok().map(|metadata| metadata.uid())
}
