//! Where a hook goes, so that one that is there already is still run.

use std::fs;
use std::path::{Path, PathBuf};

use dry_files::diag::shell_path;
use dry_files::regular;

use super::config::Config;
use super::hook::{Hook, Owner};
use super::{Error, Io as _, Version};
use crate::repo::Repository;

/// The name of our script among those of others.
const NAME: &str = "hydrate";

/// Where a hook goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// The file that git runs.
    File(PathBuf),
    /// A file of its own beside those of others, in a directory that a forge or a script runs through.
    Beside(PathBuf),
    /// git's configuration, where hooks do not get into each other's way.
    Config,
    /// None that is ours to touch: why, and what an admin may do.
    Nowhere {
        /// Why.
        reason: String,
        /// What to do.
        advice: String,
    },
}

impl Place {
    /// Finds the place of `hook`.
    pub(super) fn of(hook: &Hook, repository: &Repository, config: &Config, git: Version) -> Result<Self, Error> {
        // More than one git may serve the repository, and not all of them may be new enough.
        let in_config =
            git >= Version::WITH_CONFIG_HOOKS && repository.config_bool("hydrate.configHooks") != Some(false);
        let dirs = Directories::of(hook, repository)?;
        let own = dirs.file.parent().is_some_and(|dir| is_below(dir, repository.common_dir()));
        let there = content(&dirs.file)?;
        let runs_through = there.as_ref().is_some_and(|text| String::from_utf8_lossy(text).contains(".d"));
        if is_gitlab(repository, config) {
            return Ok(Self::Beside(dirs.gitlab));
        }
        if own && runs_through && dirs.beside.parent().is_some_and(Path::is_dir) {
            return Ok(Self::Beside(dirs.beside));
        }
        if in_config {
            return Ok(Self::Config);
        }
        let print = format!("git hydrate install --print {} ", hook.name);
        if repository.common_dir().join("gl-conf").exists() {
            return Ok(Self::Nowhere {
                reason: format!("gitolite keeps the hooks of this repository, so its {} is left alone", hook.name),
                advice: format!(
                    "in ~/.gitolite.rc set LOCAL_CODE to a directory and enable 'repo-specific-hooks'; then \
                     mkdir -p LOCAL_CODE/hooks/repo-specific, {print}>\
                     LOCAL_CODE/hooks/repo-specific/hydrate-{0}, chmod +x it, add `option hook.{0} = hydrate-{0}` to the \
                     repository in gitolite.conf and push gitolite-admin, or run: gitolite setup",
                    hook.name
                ),
            });
        }
        if !own {
            return Ok(Self::Nowhere {
                reason: format!("hooks are taken from {}, which other repositories may use too", dirs.dir().display()),
                advice: format!(
                    "{}, or add to {} what this prints: {print}",
                    own_hooks(repository),
                    dirs.file.display()
                ),
            });
        }
        match there.as_deref().map(Owner::of) {
            Some(Owner::Manager(name)) => Ok(Self::Nowhere {
                reason: format!("{} was written by {name}, which may overwrite it", dirs.file.display()),
                advice: format!("have {name} run, with the hook's input: git-hydrate hook {}", hook.name),
            }),
            _ => Ok(Self::File(dirs.file)),
        }
    }

    /// All places where `hook` may have been put, now or by another version of us.
    pub(super) fn all(hook: &Hook, repository: &Repository) -> Result<Vec<Self>, Error> {
        let dirs = Directories::of(hook, repository)?;
        let mut places = vec![Self::Beside(dirs.gitlab), Self::Beside(dirs.beside), Self::Config];
        if dirs.file.parent().is_some_and(|dir| is_below(dir, repository.common_dir())) {
            places.push(Self::File(dirs.file));
        }
        Ok(places)
    }
}

/// The files that could be a hook of one repository.
struct Directories {
    file: PathBuf,
    beside: PathBuf,
    gitlab: PathBuf,
}

impl Directories {
    fn of(hook: &Hook, repository: &Repository) -> Result<Self, Error> {
        let hooks = hooks_dir(hook, repository)?;
        let several = format!("{}.d", hook.name);
        Ok(Self {
            file: hooks.join(hook.name),
            beside: hooks.join(&several).join(NAME),
            gitlab: repository.common_dir().join("custom_hooks").join(several).join(NAME),
        })
    }

    fn dir(&self) -> &Path {
        self.file.parent().unwrap_or(&self.file)
    }
}

/// The command by which a repository has hooks of its own, wherever `core.hooksPath` was set.
fn own_hooks(repository: &Repository) -> String {
    let dir = repository.common_dir();
    let git = format!("git -C {} config", shell_path(dir));
    match repository.git().output(&["config", "--local", "--get", "core.hooksPath"]) {
        Ok(_) => format!("{git} --unset core.hooksPath"),
        Err(_) => format!("{git} core.hooksPath {}", shell_path(&dir.join("hooks"))),
    }
}

/// Whether the repository is one of GitLab, where hooks of admins have a directory of their own.
pub(super) fn is_gitlab(repository: &Repository, config: &Config) -> bool {
    !config.get("gitlab.fullpath").is_empty() || repository.common_dir().join("custom_hooks").is_dir()
}

/// The directory that git looks for `hook` in.
pub(super) fn hooks_dir(hook: &Hook, repository: &Repository) -> Result<PathBuf, Error> {
    let answer = repository.git().output(&["rev-parse", "--git-path", "hooks"])?;
    // A relative `core.hooksPath` starts where git runs the hook: those of a server run in the git directory.
    let worktree = repository.worktree().filter(|_| hook.is_client());
    let start = worktree.as_deref().unwrap_or(repository.common_dir());
    Ok(start.join(String::from_utf8_lossy(&answer).trim_end_matches('\n')))
}

/// How large a hook may be that is looked at, in bytes: it may be a program.
const HOOK_BYTES_MAX: u64 = 1 << 30;

/// The content of a hook; none when there is no such file. A link is followed; one that leads nowhere is empty.
pub(super) fn content(path: &Path) -> Result<Option<Vec<u8>>, Error> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(None);
    }
    match regular::read_linked(path, HOOK_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Some(Vec::new())),
        result => result.doing(|| format!("reading {}", path.display())).map(Some),
    }
}

/// Whether `dir` is in `top` once links are followed. A directory that is still to be made is judged by its parents.
fn is_below(dir: &Path, top: &Path) -> bool {
    let real = dir.ancestors().find_map(|there| there.canonicalize().ok());
    real.is_some_and(|real| real.starts_with(top))
}
