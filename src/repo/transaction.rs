//! Moves several refs at once, or none: `git update-ref --stdin`.

use std::fmt::Write as _;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::{Doing as _, Error, Expected, RefEdit, Repository, stale};

/// Why no ref moved.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// Another process moved one of the refs, or holds its lock: look again, then try again.
    #[error("another process moved a ref: {0}")]
    Raced(String),
    /// git refused or failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Moves all refs or none: see [`Transaction::commit`]. `message` is for the reflogs.
pub fn update_refs(repository: &Repository, edits: &[RefEdit], message: &str) -> Result<(), TransactionError> {
    repository.check_writable()?;
    stale::clear(repository);
    if edits.is_empty() {
        return Ok(());
    }
    Transaction::begin(repository, message)?.commit(edits)
}

/// A git that waits for the refs to move. It holds no lock until then, and nothing happens when this is dropped.
pub(crate) struct Transaction<'a> {
    repository: &'a Repository,
    git: Child,
    stdin: Option<ChildStdin>,
    answers: mpsc::Receiver<String>,
    complaint: Option<JoinHandle<String>>,
}

/// How long git may take to get hold of all locks. It waits for living processes itself, and not as long.
const PATIENCE: Duration = Duration::from_secs(60);

impl<'a> Transaction<'a> {
    /// Starts git. `message` is for the reflogs.
    pub(crate) fn begin(repository: &'a Repository, message: &str) -> Result<Self, Error> {
        repository.check_writable()?;
        // A dead process cannot hold these locks long: wait for living ones instead of failing at once.
        let args = [
            "-c",
            "core.filesRefLockTimeout=5000",
            "-c",
            "reftable.lockTimeout=5000",
            "-c",
            "core.packedRefsTimeout=5000",
            "update-ref",
            "--no-deref",
            "-m",
            message,
            "--stdin",
        ];
        let mut command = repository.git().command();
        // A reflog says when a ref moved, whatever date a commit has.
        command.env_remove("GIT_COMMITTER_DATE");
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut git = command.spawn().map_err(|error| Error::new("starting git", error))?;
        let stdout = git.stdout.take().expect("stdout is piped");
        let stderr = git.stderr.take().expect("so is stderr");
        let (say, answers) = mpsc::channel();
        let mut transaction = Self { repository, stdin: git.stdin.take(), git, answers, complaint: None };
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        spawn(move || lines.for_each(|line| drop(say.send(line))))?;
        transaction.complaint = Some(spawn(move || read_complaint(stderr))?);
        Ok(transaction)
    }

    /// Moves all refs or none, in the order given, each only if it is what `edits` expects.
    ///
    /// On the files backend a kill in the midst leaves a prefix of `edits` moved, so the order must make every prefix a
    /// valid state.
    ///
    /// Reference: git 2.47 builtin/update-ref.c. Success is its `commit: ok`, never its exit status: an input that ends
    /// after `prepare` is an abort that exits 0.
    pub(crate) fn commit(mut self, edits: &[RefEdit]) -> Result<(), TransactionError> {
        stale::clear(self.repository);
        let placed = self.repository.place().map(|place| placed(edits, place));
        let edits = placed.as_deref().unwrap_or(edits);
        let (outcome, complaint) = self.converse(&self.input(edits), edits)?;
        let raced = ["but expected", "reference already exists", "unable to resolve reference"];
        match outcome {
            Outcome::Committed => Ok(()),
            Outcome::Failed(_) if raced.iter().any(|phrase| complaint.contains(phrase)) => {
                Err(TransactionError::Raced(complaint))
            }
            Outcome::Failed(status) => {
                if status.signal().is_some() {
                    stale::clear(self.repository);
                }
                let is_denied = complaint.contains("Permission denied");
                let complaint = explained(&complaint);
                let error = match status.success() {
                    true => Error::message(format!("git update-ref committed nothing: {complaint}")),
                    false if is_denied => Error::new(
                        format!("git update-ref: {status}"),
                        io::Error::new(ErrorKind::PermissionDenied, complaint),
                    ),
                    false => Error::new(format!("git update-ref: {status}"), complaint),
                };
                Err(error.into())
            }
        }
    }

    /// What git gets up to the point where it holds all locks.
    fn input(&self, edits: &[RefEdit]) -> String {
        let null = self.repository.null_id();
        let mut input = String::from("start\n");
        for RefEdit { name, new, expected } in edits {
            let old = match expected {
                Expected::Absent => null,
                Expected::Is(id) => *id,
            };
            let line = match new {
                Some(new) => writeln!(input, "update {name} {new} {old}"),
                None => writeln!(input, "delete {name} {old}"),
            };
            line.expect("writing to a string never fails");
        }
        input + "prepare\n"
    }

    /// Records the locks that git is about to take, has it prepare the transaction, records those that it holds then, and has
    /// it commit. Answers how that ended, with what git complained of.
    fn converse(&mut self, input: &str, edits: &[RefEdit]) -> Result<(Outcome, String), Error> {
        let mut stdin = self.stdin.take().expect("a transaction is committed once");
        // A git that stops reading has failed, which its complaint explains better than a broken pipe. One that still reads
        // waits for the rest, so its answer must not be waited for.
        let wanted = stale::record_wanted(self.repository, self.git.id(), edits);
        let sent = wanted.is_ok() && stdin.write_all(input.as_bytes()).is_ok();
        let prepared = sent && self.is_prepared();
        let recorded = match wanted {
            Ok(wanted) if prepared => {
                wanted.leave();
                stale::record_held(self.repository, self.git.id(), edits)
            }
            wanted => wanted,
        };
        if prepared && recorded.is_ok() {
            drop(stdin.write_all(b"commit\n"));
        }
        // At the end of its input, git drops what is not committed.
        drop(stdin);
        let committed = self.answers.iter().any(|answer| answer == "commit: ok");
        let status = self.git.wait().doing(|| "waiting for git update-ref".to_owned())?;
        let complaint = self.complaint.take().map(JoinHandle::join).transpose().ok().flatten().unwrap_or_default();
        let recorded = recorded?;
        if status.signal().is_some() {
            recorded.leave();
        }
        Ok((if committed { Outcome::Committed } else { Outcome::Failed(status) }, complaint))
    }

    /// Waits until git has prepared the transaction, or answers no more.
    fn is_prepared(&self) -> bool {
        loop {
            match self.answers.recv_timeout(PATIENCE) {
                Ok(answer) if answer == "prepare: ok" => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

fn read_complaint(mut stderr: impl Read) -> String {
    let mut bytes = Vec::new();
    drop(stderr.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

/// The edits for refs that are below `place`.
fn placed(edits: &[RefEdit], place: &str) -> Vec<RefEdit> {
    let placed = |edit: &RefEdit| {
        let rest = edit.name.strip_prefix("refs/").unwrap_or(&edit.name);
        RefEdit { name: format!("{place}{rest}"), ..edit.clone() }
    };
    edits.iter().map(placed).collect()
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // At the end of its input git ends, with nothing done; then it is waited for, so that it does not stay a zombie.
        drop(self.stdin.take());
        drop(self.git.wait());
    }
}

enum Outcome {
    Committed,
    Failed(ExitStatus),
}

fn spawn<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<JoinHandle<T>, Error> {
    Builder::new().spawn(work).doing(|| "starting a thread".to_owned())
}

/// git's complaint, and what to do about a lock in its way.
fn explained(complaint: &str) -> String {
    let lock = complaint.split('\'').find(|word| word.ends_with(".lock"));
    match lock.filter(|_| complaint.contains("File exists")) {
        // What git says next is for a user in a working tree.
        Some(lock) => {
            let what = complaint.split("\n\n").next().unwrap_or_default();
            format!("{what}\nif no git process is running there, an admin removes it: rm '{lock}'")
        }
        None => complaint.to_owned(),
    }
}
