//! The working tree as a commit of its own.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use super::process::checked;
use super::{Doing as _, Error, Git, NewCommit, ObjectBuffer, ObjectId, Repository, Signature, object_id};

/// Who makes the commit of a working tree, whoever the user is: the same files give the same commit.
const NOBODY: (&str, &str) = ("git-hydrate", "git-hydrate@localhost");

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
        let git = Git::new(self.git_dir());
        let run = |args: &[&OsStr]| -> Result<String, Error> {
            let mut command = git.command();
            command.current_dir(&worktree).arg("--work-tree").arg(&worktree).env("GIT_INDEX_FILE", &index);
            // No hook of the user's is meant, and nothing is to be said of line ends.
            command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.safecrlf=false", "-c", "gc.auto=0"]);
            let output = command.args(args).output().doing(|| "starting git".to_owned())?;
            checked("in the working tree", output).map(|text| String::from_utf8_lossy(&text).trim().to_owned())
        };
        run(&["add".as_ref(), "--all".as_ref()])?;
        let tree = run(&["write-tree".as_ref()])?;
        let head = self.rev_parse("HEAD").ok().map(|head| self.commit(head)).transpose()?;
        let tree = object_id(&tree).ok_or_else(|| Error::message("git write-tree: no tree"))?;
        if let Some(head) = head.as_ref().filter(|head| head.tree == tree) {
            return Ok(head.id);
        }
        let seconds = head.as_ref().map_or(0, |head| head.committer.seconds);
        let nobody = Signature { name: NOBODY.0.to_owned(), email: NOBODY.1.to_owned(), seconds, offset: 0 };
        let buffer = ObjectBuffer::new(self);
        let commit = buffer.write_commit(&NewCommit {
            tree,
            parents: head.iter().map(|head| head.id).collect(),
            author: nobody.clone(),
            committer: nobody,
            message: "The working tree\n".to_owned(),
        })?;
        buffer.flush_loose()?;
        Ok(commit)
    }
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
