//! The working tree as a commit of its own.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;

use super::process::checked;
use super::{Doing as _, Error, Git, NewCommit, ObjectBuffer, ObjectId, Repository, Signature, object_id};

/// Who makes the commit of a working tree, whatever user runs this: the same files give the same commit.
const AUTHOR: (&str, &str) = ("git-hydrate", "git-hydrate@localhost");

impl Repository {
    /// The files of the working tree as a commit on top of `HEAD`: what is tracked, as edited, and what is neither
    /// tracked nor ignored. `HEAD`'s own commit when nothing differs.
    ///
    /// No ref and no index is written; the objects are left to git's next `gc`.
    ///
    /// # Errors
    ///
    /// There is no working tree, or git cannot read it.
    pub fn snapshot(&self) -> Result<ObjectId, Error> {
        let Some(worktree) = self.worktree() else {
            return Err(Error::message("a bare repository has no working tree"));
        };
        let doing = || "reading the working tree".to_owned();
        let scratch = tempfile::Builder::new().prefix("hydrate-").tempdir_in(self.git_dir()).doing(doing)?;
        let index = scratch.path().join("index");
        // A copy knows which files git has seen already, so only edited ones are read.
        match copy_with_time(&self.git_dir().join("index"), &index) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error).doing(doing),
            _ => {}
        }
        let git = || git_with_index(self.git_dir(), &worktree, &index);
        run(git().args(["add", "--all"]))?;
        let tree = run(git().arg("write-tree"))?;
        let head = self.rev_parse("HEAD").ok().map(|head| self.commit(head)).transpose()?;
        let tree = object_id(&tree).ok_or_else(|| Error::message("git write-tree: no tree"))?;
        if let Some(head) = head.as_ref().filter(|head| head.tree == tree) {
            return Ok(head.id);
        }
        let seconds = head.as_ref().map_or(0, |head| head.committer.seconds);
        let author = Signature { name: AUTHOR.0.to_owned(), email: AUTHOR.1.to_owned(), seconds, offset: 0 };
        let buffer = ObjectBuffer::new(self);
        let commit = buffer.write_commit(&NewCommit {
            tree,
            parents: head.iter().map(|head| head.id).collect(),
            author: author.clone(),
            committer: author,
            message: "The working tree\n".to_owned(),
        })?;
        buffer.flush_loose()?;
        Ok(commit)
    }
}

/// A git command in the working tree that uses another index.
fn git_with_index(git_dir: &Path, worktree: &Path, index: &Path) -> Command {
    let mut command = Git::new(git_dir).command();
    command.current_dir(worktree).arg("--work-tree").arg(worktree).env("GIT_INDEX_FILE", index);
    // No hook of the user is to run, and no warning about line endings to be printed.
    command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "gc.auto=0"]);
    command
}

fn run(git: &mut Command) -> Result<String, Error> {
    let output = git.output().doing(|| "starting git".to_owned())?;
    checked("in the working tree", output).map(|text| String::from_utf8_lossy(&text).trim().to_owned())
}

/// Copies an index with the time of its last change.
///
/// Git trusts what an index says of a file only when that file is older than the index, by the second ("racy Git"). A
/// copy with a newer time would hide an edit that keeps the size within the second of the last `git add`.
fn copy_with_time(from: &Path, to: &Path) -> io::Result<()> {
    let mut from = File::open(from)?;
    let mut to = File::create(to)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(from.metadata()?.modified()?)
}
