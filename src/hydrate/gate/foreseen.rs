//! A hydration that was made before its push was accepted, handed over to the hook that runs after it.
//!
//! It says which refs move, and applies to exactly one state of all refs: the one that the push leaves when git takes it as
//! it is. In any other state it is ignored, so it may be lost, or be of another push, without harm.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use dry_files::regular;
use serde::{Deserialize, Serialize};

use crate::hydrate::moves::reflog;
use crate::hydrate::report::Report;
use crate::hydrate::whose::Whose;
use crate::owners::error::HydrateError;
use crate::repo::{
    Error, Expected, ObjectBuffer, Quarantine, RefEdit, Refs, Repository, TransactionError, object_id, update_refs,
};

/// What makes the bytes of hydrated commits and the words of reports.
const MAKER: &str = concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION"));

/// More than this is not taken, in bytes: the hydration is made again then.
const BYTES_MAX: u64 = 256 << 20;

/// What was made, all ids in hexadecimal.
#[derive(Debug, Serialize, Deserialize)]
struct Foreseen {
    maker: String,
    /// The refs that it applies to.
    refs: String,
    /// The pack with the new objects, when there are any.
    pack: Option<String>,
    /// Name, new id and expected id of each ref that moves, in their order.
    edits: Vec<(String, Option<String>, Option<String>)>,
    report: Report,
    /// Whose the report is.
    whose: Whose,
}

fn file(repository: &Repository) -> PathBuf {
    repository.common_dir().join("hydrate.foreseen")
}

/// Hands over what was made for just these refs: the objects go where those of the push are.
pub(super) fn hand_over(
    quarantine: &Quarantine,
    buffer: &ObjectBuffer<'_>,
    refs: &Refs,
    edits: &[RefEdit],
    mut report: Report,
) -> Result<(), HydrateError> {
    let (repository, refs) = (buffer.repository(), refs.fingerprint());
    let pack = if buffer.is_empty() { None } else { Some(buffer.flush_quarantined(quarantine)?.to_string()) };
    let edits = edits.iter().map(recorded).collect();
    let whose = std::mem::take(&mut report.whose);
    let text = serde_json::to_vec(&Foreseen { maker: MAKER.to_owned(), refs, pack, edits, report, whose });
    let text = text.expect("a record of texts and numbers is JSON");
    let path = file(repository);
    write(&path, &text, repository).map_err(|error| Error::new(format!("writing {}", path.display()), error).into())
}

fn write(path: &Path, text: &[u8], repository: &Repository) -> io::Result<()> {
    let mut new = tempfile::NamedTempFile::new_in(repository.common_dir())?;
    new.write_all(text)?;
    new.persist(path).map(drop).map_err(|error| error.error)
}

/// Moves the refs as foreseen, if all refs are as foreseen. The caller holds the repository's lock.
///
/// None, and nothing has moved, when there is no such hydration or it is of another state.
/// `refs` are those that it has read since, `pusher` is for the reflogs.
pub(crate) fn fulfil(
    repository: &Repository,
    refs: &Refs,
    pusher: Option<&str>,
) -> Result<Option<Report>, HydrateError> {
    let path = file(repository);
    let Ok(text) = regular::read(&path, BYTES_MAX) else { return Ok(None) };
    drop(std::fs::remove_file(&path));
    let Ok(foreseen) = serde_json::from_slice::<Foreseen>(&text) else { return Ok(None) };
    let kept = match foreseen.pack.as_deref().map(object_id) {
        None => None,
        Some(Some(pack)) => match repository.keep_pack(pack)? {
            Some(kept) => Some(kept),
            None => return Ok(None),
        },
        Some(None) => return Ok(None),
    };
    repository.let_go_of_packs(None);
    if foreseen.maker != MAKER || foreseen.refs != refs.fingerprint() {
        return Ok(None);
    }
    let Some(edits) = foreseen.edits.iter().map(edit).collect::<Option<Vec<_>>>() else { return Ok(None) };
    let moved = update_refs(repository, &edits, &reflog(pusher));
    drop(kept);
    match moved {
        Ok(()) => Ok(Some(Report { whose: foreseen.whose, ..foreseen.report })),
        Err(TransactionError::Raced(_)) => Ok(None),
        Err(TransactionError::Failed(error)) => Err(error.into()),
    }
}

fn recorded(edit: &RefEdit) -> (String, Option<String>, Option<String>) {
    let expected = match edit.expected {
        Expected::Absent => None,
        Expected::Is(id) => Some(id.to_string()),
    };
    (edit.name.clone(), edit.new.map(|id| id.to_string()), expected)
}

fn edit((name, new, expected): &(String, Option<String>, Option<String>)) -> Option<RefEdit> {
    let id = |text: &Option<String>| text.as_deref().map_or(Some(None), |text| object_id(text).map(Some));
    Some(RefEdit { name: name.clone(), new: id(new)?, expected: Expected::from(id(expected)?) })
}
