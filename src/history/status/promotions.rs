//! What was promoted to a sync branch, beside its staging branches.

use serde::Serialize;

use super::BEHIND_MAX;
use crate::argo::{BranchName, directory_promoted_from};
use crate::hydrate::survey::Named;
use crate::metadata::{PROMOTIONS_REF, restored_from};
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::ledger::Ledger;
use crate::owners::promoted::last_changed;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::provenance;
use crate::repo::{Error, Notes, ObjectId};

/// A staging branch beside the branch that it is promoted to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Promotion {
    /// The staging branch.
    pub branch: String,
    /// The dry commit that it is hydrated from, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_sha: Option<String>,
    /// How many dry commits it is ahead of what was promoted; none when that is not known, or nothing was promoted yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ahead: Option<usize>,
    /// The commit that the sync branch was restored to since the last promotion, as GitOps Promoter says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_to: Option<String>,
}

/// The staging branches of the sync branch `branch`, whose newest commit is `tip` and shows `promoted`.
pub(super) fn of(
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
    (branch, tip): (&BranchName, ObjectId),
    named: &Named,
    promoted: Option<ObjectId>,
) -> Result<Vec<Promotion>, HydrateError> {
    let repository = found.setup.repository;
    let mut all = Vec::new();
    for staging in &named.staging {
        let staged = match found.tip(staging) {
            Some(tip) => found.standing(staging, tip, &named.dry_branch, &mut ledger.notes)?.dry,
            None => None,
        };
        let directory = directory_promoted_from(staging, branch);
        let shown = match directory {
            Some(dir) => shown_in(found, tip, dir)?,
            None => promoted,
        };
        let ahead = match (shown, staged.filter(|dry| repository.has(*dry))) {
            (Some(promoted), Some(staged)) => repository.first_parents(promoted, staged, BEHIND_MAX)?,
            _ => None,
        };
        all.push(Promotion {
            branch: staging.to_string(),
            dry_sha: staged.map(|staged| staged.to_string()),
            ahead: ahead.map(|line| line.len()),
            restored_to: restored_to(found, tip, directory.unwrap_or_default())?,
        });
    }
    Ok(all)
}

/// The commit that what is in a directory was restored to; none where something was promoted to it since.
fn restored_to(found: &Snapshot<'_>, tip: ObjectId, dir: &str) -> Result<Option<String>, Error> {
    let buffer = &found.buffer;
    let by = last_changed(tip, &metadata_in(dir), buffer)?;
    let notes = found.refs.get(PROMOTIONS_REF).map(|tip| buffer.commit(tip)).transpose()?;
    let note = match notes {
        Some(notes) => Notes::open(Some(notes.tree), buffer)?.get(by.id, buffer)?,
        None => None,
    };
    Ok(restored_from(&by.message, note.as_deref()))
}

/// The dry commit that was promoted to a sync branch last, if it is here. Of one that is promoted by directory, that is the newest of
/// its directories.
pub(super) fn shown(found: &Snapshot<'_>, branch: &BranchName, tip: ObjectId) -> Result<Option<ObjectId>, Error> {
    let mut newest = shown_in(found, tip, "")?;
    for dir in found.policy.settings.active_paths(branch) {
        if let Some(dry) = shown_in(found, tip, dir.as_str())?
            && newest.is_none_or(|newest| found.setup.repository.is_ancestor(newest, dry))
        {
            newest = Some(dry);
        }
    }
    Ok(newest)
}

/// The dry commit that the metadata in a directory of a commit names, if it is here.
fn shown_in(found: &Snapshot<'_>, tip: ObjectId, dir: &str) -> Result<Option<ObjectId>, Error> {
    let recorded = provenance(&found.buffer, found.buffer.commit(tip)?.tree, &metadata_in(dir))?;
    Ok(recorded.and_then(|recorded| recorded.dry_commit).filter(|dry| found.setup.repository.has(*dry)))
}

/// The metadata of a directory, or of the root without a name.
fn metadata_in(dir: &str) -> String {
    if dir.is_empty() { METADATA.to_owned() } else { format!("{dir}/{METADATA}") }
}
