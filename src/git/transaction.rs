use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use super::{Doing as _, Error, ObjectId, Repository, stale};

/// What a ref must be for its edit to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// There is no such ref.
    Absent,
    /// It points at this object.
    Is(ObjectId),
}

impl From<Option<ObjectId>> for Expected {
    fn from(id: Option<ObjectId>) -> Self {
        id.map_or(Expected::Absent, Expected::Is)
    }
}

/// One ref of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefEdit {
    /// The full name.
    pub name: String,
    /// What it shall point at; none deletes it.
    pub new: Option<ObjectId>,
    /// What it points at now.
    pub expected: Expected,
}

/// Why no ref moved.
#[derive(Debug, thiserror::Error)]
pub enum TransactionError {
    /// Somebody else moved one of the refs, or holds its lock: look again, then try again.
    #[error("another process moved a ref: {0}")]
    Raced(String),
    /// git refused or failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Moves all refs or none, in the order given, each only if it is what `edits` expects.
///
/// On the files backend a kill in the midst leaves a prefix of `edits` moved, so the order must make every prefix a
/// valid state. `message` is for the reflogs.
///
/// Reference: git 2.47 builtin/update-ref.c. Success is its `commit: ok`, never its exit status: an input that ends
/// after `prepare` is an abort that exits 0.
pub fn update_refs(repository: &Repository, edits: &[RefEdit], message: &str) -> Result<(), TransactionError> {
    repository.check_writable()?;
    stale::clear(repository);
    if edits.is_empty() {
        return Ok(());
    }
    let null = repository.null_id();
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
    input.push_str("prepare\n");
    // A dead process cannot hold these locks long: wait for the living instead of failing at once.
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
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(|error| Error::new("starting git", error))?;
    let (outcome, complaint) = converse(repository, child, &input, edits)?;
    let raced = ["but expected", "reference already exists", "unable to resolve reference"];
    match outcome {
        Outcome::Committed => Ok(()),
        Outcome::Failed(_) if raced.iter().any(|phrase| complaint.contains(phrase)) => {
            Err(TransactionError::Raced(complaint))
        }
        Outcome::Failed(status) => {
            if status.signal().is_some() {
                stale::clear(repository);
            }
            Err(Error::new(format!("git update-ref: {status}"), explained(&complaint)).into())
        }
    }
}

/// How long git may take to get hold of all locks. It waits for the living itself, and not as long.
const PATIENCE: Duration = Duration::from_secs(60);

enum Outcome {
    Committed,
    Failed(ExitStatus),
}

/// Has git prepare the transaction, records the locks that it holds then, and has it commit. Answers how that ended, with
/// what git complained of.
fn converse(
    repository: &Repository,
    mut child: Child,
    input: &str,
    edits: &[RefEdit],
) -> Result<(Outcome, String), Error> {
    let (mut stdin, stdout) = (child.stdin.take().expect("stdin is piped"), child.stdout.take().expect("so is stdout"));
    let mut stderr = child.stderr.take().expect("so is stderr");
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let (say, answers) = mpsc::channel();
    std::thread::scope(|scope| {
        scope.spawn(move || lines.for_each(|line| drop(say.send(line))));
        let complaint = scope.spawn(move || {
            let mut bytes = Vec::new();
            drop(stderr.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).trim().to_owned()
        });
        // A git that stops reading has failed, which its complaint tells better than a broken pipe. One that still reads
        // waits for the rest, so nobody may wait for its answer.
        let sent = stdin.write_all(input.as_bytes()).is_ok();
        let is_prepared = || loop {
            match answers.recv_timeout(PATIENCE) {
                Ok(answer) if answer == "prepare: ok" => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        };
        let prepared = sent && is_prepared();
        let recorded = prepared.then(|| stale::record(repository, child.id(), edits)).transpose();
        if let Ok(Some(_)) = &recorded {
            drop(stdin.write_all(b"commit\n"));
        }
        // At the end of its input, git drops what is not committed.
        drop(stdin);
        let committed = answers.iter().any(|answer| answer == "commit: ok");
        let status = child.wait().doing(|| "waiting for git update-ref".to_owned())?;
        let complaint = complaint.join().unwrap_or_default();
        let recorded = recorded?;
        if status.signal().is_some()
            && let Some(recorded) = recorded
        {
            recorded.leave();
        }
        Ok((if committed { Outcome::Committed } else { Outcome::Failed(status) }, complaint))
    })
}

/// git's complaint, and what to do about a lock in its way.
fn explained(complaint: &str) -> String {
    let lock = complaint.split('\'').find(|word| word.ends_with(".lock"));
    match lock.filter(|_| complaint.contains("File exists")) {
        Some(lock) => format!("{complaint}\nif no git is at work there, an admin removes it: rm '{lock}'"),
        None => complaint.to_owned(),
    }
}
