//! What a server publishes of its renders, so that a clone need not repeat them.
//!
//! It is a ref for each dry branch, named by a digest: branches come and go, and no name may be in the way of another. No
//! history is kept, and the server never reads it. A clone [takes over](super::taken_over) what agrees with what it has, so
//! it does no harm that it grows old; it is written again when about a quarter of it did.

use sha2::{Digest, Sha256};

use super::state::Run;
use crate::application::BranchName;
use crate::cache::{Head, Published};
use crate::git::{Error, Expected, Mode, NewCommit, ObjectId, RefEdit, Repository, TreeEdit};
use crate::hydrate::setup::Wake;
use crate::hydrate::snapshot::Snapshot;
use crate::settings::RendererName;

/// What the names of the refs begin with.
pub(super) const BELOW: &str = "refs/hydrate/reads/";

/// The file in the tree of such a ref.
pub(super) const FILE: &str = "reads";

/// Fewer Applications are rendered sooner than all of this pays.
const APPLICATIONS_MIN: usize = 64;

/// What share of the Applications has to be rendered anew for it to be published again: one in so many.
const SHARE: u64 = 4;

/// The git config that turns it off, on a server and in a clone.
const WANTED: &str = "hydrate.sharedCache";

/// Whether anything is published, or taken over, here.
pub(super) fn is_wanted(repository: &Repository, found: &Snapshot<'_>) -> bool {
    let is_native = found.policy.settings.renderer == RendererName::Native;
    is_native && repository.config_bool(WANTED).unwrap_or(true)
}

/// The ref of a dry branch.
pub(super) fn ref_name(dry_branch: &BranchName) -> String {
    let digest = Sha256::digest(dry_branch.as_str());
    let digits: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{BELOW}{digits}")
}

/// The refs that publish what this run leaves for the next, where it is due. It counts as published then.
pub(super) fn edits(run: &mut Run<'_>) -> Result<Vec<RefEdit>, Error> {
    let found = &run.found;
    if !publishes(found) {
        return Ok(Vec::new());
    }
    let date = run.ledger.newest_dry.unwrap_or_default();
    let mut edits = Vec::new();
    for (branch, publication) in run.memory.publish(|branch, head| is_due(branch, head, found)) {
        let context = found.policy.shared_context(branch);
        let Some(bytes) = Published::written(&context, || publication.records()) else { continue };
        let blob = found.buffer.write_blob(&bytes)?;
        let edit = [(FILE.to_owned(), TreeEdit::Put(Mode::File, blob))].into();
        let signature = found.policy.writer.signature(date, None);
        let new = found.buffer.write_commit(&NewCommit {
            tree: found.buffer.edit_tree(found.buffer.empty_tree_id(), &edit)?,
            parents: Vec::new(),
            author: signature.clone(),
            committer: signature,
            message: "Reads recorded by git-hydrate\n".to_owned(),
        })?;
        edits.extend(moved(ref_name(branch), Some(new), found));
    }
    if !edits.is_empty() || found.setup.wake == Wake::Everything {
        edits.extend(abandoned(found));
    }
    Ok(edits)
}

/// Whether this is a server that publishes.
fn publishes(found: &Snapshot<'_>) -> bool {
    let refs = &found.setup.refs;
    let is_server = refs.is_in_place() && refs.believes_records;
    is_server && is_wanted(found.setup.repository, found) && !is_obstructed(found)
}

/// Whether a run that makes up for what was missed finds that nothing is published of a dry branch.
pub(super) fn is_lost(found: &Snapshot<'_>, dry_branch: &BranchName) -> bool {
    found.setup.wake == Wake::Everything && publishes(found) && found.refs.get(&ref_name(dry_branch)).is_none()
}

fn is_due(branch: &BranchName, head: &Head, found: &Snapshot<'_>) -> bool {
    let is_old = head.unpublished.saturating_mul(SHARE) >= head.applications as u64;
    let is_broken = found.refs.is_broken(&ref_name(branch));
    head.applications >= APPLICATIONS_MIN && !is_broken && (is_old || is_lost(found, branch))
}

fn moved(name: String, new: Option<ObjectId>, found: &Snapshot<'_>) -> Option<RefEdit> {
    let old = found.refs.get(&name);
    (old != new).then(|| RefEdit { name, new, expected: Expected::from(old) })
}

/// Whether somebody made a ref beside which git cannot make ours.
fn is_obstructed(found: &Snapshot<'_>) -> bool {
    found.refs.get(BELOW.trim_end_matches('/')).is_some() || found.refs.below(BELOW).any(|(name, _)| name.contains('/'))
}

/// The refs of dry branches that there are no more.
fn abandoned(found: &Snapshot<'_>) -> Vec<RefEdit> {
    let here = found.every_dry_branch().into_iter().filter(|branch| found.tip(branch).is_some());
    let here: Vec<String> = here.map(|branch| ref_name(&branch)).collect();
    let names = found.refs.below(BELOW).map(|(name, _)| format!("{BELOW}{name}"));
    names.filter(|name| !here.contains(name)).filter_map(|name| moved(name, None, found)).collect()
}
