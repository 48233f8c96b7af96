//! The `git` program, started with nothing of the environment that would lead it elsewhere.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::Builder;

use super::{Doing as _, Error};

/// The `git` program at work on one repository, whatever repository the environment names. It reads each object by its
/// own id: replacements below `refs/replace/` do not count.
#[derive(Debug, Clone)]
pub struct Git {
    git_dir: PathBuf,
}

/// What would lead git to another repository, or into a quarantine; `git rev-parse --local-env-vars` lists them.
const LOCAL_VARIABLES: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_OBJECT_DIRECTORY",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_REPLACE_REF_BASE",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_QUARANTINE_PATH",
];

impl Git {
    /// A git for the repository whose git directory is `git_dir`.
    pub fn new(git_dir: &Path) -> Self {
        Self { git_dir: git_dir.to_path_buf() }
    }

    /// A command that is ready for its arguments.
    pub fn command(&self) -> Command {
        let mut command = Command::new("git");
        for name in LOCAL_VARIABLES {
            command.env_remove(name);
        }
        // A user who can push can push a replacement for any object.
        command.env("GIT_NO_REPLACE_OBJECTS", "1");
        command.arg("--git-dir").arg(&self.git_dir).env("LC_ALL", "C").stdin(Stdio::null());
        command
    }

    /// What the command prints; an error with what it complains of when it fails.
    pub fn output<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, Error> {
        let mut command = self.command();
        command.args(args);
        let output = command.output().doing(|| "starting git".to_owned())?;
        checked(&describe(args), output)
    }

    /// What the command prints, with what it complains of although it succeeds.
    pub(super) fn output_and_complaints<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<(Vec<u8>, String), Error> {
        let mut command = self.command();
        command.args(args);
        let output = command.output().doing(|| "starting git".to_owned())?;
        let complaints = String::from_utf8_lossy(&output.stderr).into_owned();
        Ok((checked(&describe(args), output)?, complaints))
    }

    /// What the command prints with `input` on its standard input.
    pub fn output_of<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Vec<u8>, Error> {
        let mut command = self.command();
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().doing(|| "starting git".to_owned())?;
        let mut stdin = child.stdin.take().expect("stdin is piped");
        let output = std::thread::scope(|scope| {
            // A git that stops reading has failed, which its exit status shows better than a broken pipe.
            let feeding = Builder::new().spawn_scoped(scope, move || drop(stdin.write_all(input)));
            // Without the thread, git reads the end of its input at once: what it makes of that does not count.
            let output = child.wait_with_output();
            feeding.and(output)
        });
        checked(&describe(args), output.doing(|| "starting git".to_owned())?)
    }
}

fn describe<S: AsRef<OsStr>>(args: &[S]) -> String {
    args.iter().map(|arg| arg.as_ref().to_string_lossy()).collect::<Vec<_>>().join(" ")
}

pub(super) fn checked(command: &str, output: Output) -> Result<Vec<u8>, Error> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    // ssh ends its lines as terminals do.
    let complaint = String::from_utf8_lossy(&output.stderr).replace('\r', "").trim().to_owned();
    Err(Error::new(format!("git {command}: {}", output.status), complaint))
}
