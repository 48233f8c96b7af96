//! Inputs of a push that git has not accepted yet.
//!
//! Their record is made where git keeps the objects of the push, so it goes when git refuses that. The hook that runs after the push
//! finds out by a file beside the repository that it is there, and makes it the record: nothing is fetched twice. That file is of
//! one push, and says what all refs of it became; it may be lost, or be of another push, without harm.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dry_files::regular;
use serde::{Deserialize, Serialize};

use super::{Taken, server};
use crate::hydrate::RefUpdate;
use crate::owners::error::HydrateError;
use crate::owners::recorded::{self, INPUTS_REF};
use crate::repo::{Error, ObjectId, Quarantine, Repository, TransactionError, object_id};

/// How large the file may be, in bytes.
const BYTES_MAX: u64 = 16 << 20;

/// What was fetched for a push, all ids in hexadecimal.
#[derive(Debug, Serialize, Deserialize)]
struct Fetched {
    /// The name and new id of each ref of the push, in their order.
    refs: Vec<(String, Option<String>)>,
    /// The packs with the new objects.
    packs: Vec<String>,
    /// The record before the push; none where there is none.
    old: Option<String>,
    /// The record with what was fetched.
    new: String,
}

/// What is fetched for a push before git accepts it.
pub(crate) struct Early<'q> {
    quarantine: &'q Quarantine,
    updates: &'q [RefUpdate],
    packs: Vec<ObjectId>,
    /// The commit of the record with what was fetched; none where nothing was.
    pub record: Option<ObjectId>,
}

impl<'q> Early<'q> {
    /// Nothing is fetched yet for the push of these refs.
    pub(crate) fn new(quarantine: &'q Quarantine, updates: &'q [RefUpdate]) -> Self {
        Self { quarantine, updates, packs: Vec::new(), record: None }
    }

    /// Records inputs with the push. `after` is the repository as the push would leave it, with what was fetched before.
    pub(super) fn record(&mut self, after: &Repository, more: &[Taken]) -> Result<(), HydrateError> {
        if let Some((new, pack)) = recorded::record_quarantined(after, self.quarantine, more, &server())? {
            self.packs.push(pack);
            self.record = Some(new);
        }
        Ok(())
    }

    /// Hands what was fetched over to the hook that runs after the push. `before` is the repository without the push.
    pub(crate) fn hand_over(&self, before: &Repository) -> Result<(), HydrateError> {
        let Some(new) = self.record else { return Ok(()) };
        let fetched = Fetched {
            refs: refs(self.updates),
            packs: self.packs.iter().map(ToString::to_string).collect(),
            old: before.refs()?.get(INPUTS_REF).map(|old| old.to_string()),
            new: new.to_string(),
        };
        let (path, text) = (file(before), serde_json::to_vec(&fetched).unwrap_or_default());
        write(&path, &text).map_err(|error| Error::new(format!("writing {}", path.display()), error).into())
    }
}

/// Makes what was fetched for an accepted push the record. It is left alone where the push was another one, or the record has moved
/// since: what is missing then is fetched again.
pub(crate) fn accept_early(repository: &Repository, updates: &[RefUpdate]) -> Result<(), Error> {
    let path = file(repository);
    let Ok(text) = regular::read(&path, BYTES_MAX) else { return Ok(()) };
    let Some(fetched) = serde_json::from_slice::<Fetched>(&text).ok().filter(|it| it.refs == refs(updates)) else {
        return Ok(());
    };
    drop(std::fs::remove_file(&path));
    let mut kept = Vec::new();
    for pack in &fetched.packs {
        let Some(pack) = object_id(pack) else { return Ok(()) };
        // One that git took away would not be missed before somebody reads the record.
        let Some(pack) = repository.keep_pack(pack)? else { return Ok(()) };
        kept.push(pack);
    }
    let old = fetched.old.as_deref().map(object_id);
    let (Some(new), false) = (object_id(&fetched.new), old == Some(None)) else { return Ok(()) };
    match recorded::accept(repository, old.flatten(), new) {
        Ok(()) | Err(TransactionError::Raced(_)) => Ok(()),
        Err(TransactionError::Failed(error)) => Err(error),
    }
}

fn refs(updates: &[RefUpdate]) -> Vec<(String, Option<String>)> {
    updates.iter().map(|update| (update.name.clone(), update.new.map(|id| id.to_string()))).collect()
}

fn file(repository: &Repository) -> PathBuf {
    repository.common_dir().join("hydrate.fetched")
}

fn write(path: &Path, text: &[u8]) -> io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    new.write_all(text)?;
    new.persist(path).map(drop).map_err(|error| error.error)
}
