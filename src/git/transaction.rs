use std::fmt::Write as _;

use super::{Error, ObjectId, Repository};

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
    if edits.is_empty() {
        return Ok(());
    }
    repository.check_writable()?;
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
    input.push_str("prepare\ncommit\n");
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
    match repository.git().output_of(&args, input.as_bytes()) {
        Ok(output) if output.ends_with(b"commit: ok\n") => Ok(()),
        Ok(_) => Err(Error::message("git update-ref ended before its commit").into()),
        Err(error) => {
            let text = error.chain();
            let raced = ["but expected", "reference already exists", "unable to resolve reference"];
            if raced.iter().any(|phrase| text.contains(phrase)) {
                Err(TransactionError::Raced(text))
            } else {
                Err(error.into())
            }
        }
    }
}
