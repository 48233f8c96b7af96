//! Notes of branches in a clone: anyone may have written them at a host without hooks.
//!
//! A note legitimately names a newer dry commit than the one that the branch was made from: what came between changed nothing
//! of it. Whether that is so is found out by making it.

use std::collections::BTreeMap;

use crate::argo::BranchName;
use crate::hydrate::survey::Named;
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::ledger::Ledger;
use crate::owners::setup::{Setup, Wake};
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::provenance;
use crate::preview::{Against, preview};
use crate::repo::ObjectId;

/// The branches that do not have what their notes say, each with the dry commit that it was made from. A note is believed
/// where that cannot be found out here.
///
/// Errors: the repository cannot be read.
pub(super) fn refuted(
    names: &BTreeMap<BranchName, Named>,
    setup: &Setup<'_>,
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
) -> Result<BTreeMap<BranchName, ObjectId>, HydrateError> {
    let mut refuted = BTreeMap::new();
    for ((dry_branch, noted), branches) in unproven(names, found, ledger)? {
        let wake = Wake::Commit { branch: dry_branch, tip: noted };
        let setup = Setup { place: setup.place.clone(), wake, ..*setup };
        let Ok(preview) = preview(&setup, &Against::Branches) else { continue };
        let differs =
            |branch: &BranchName| preview.environments.iter().any(|one| one.branch == *branch && !one.paths.is_empty());
        refuted.extend(branches.into_iter().filter(|(branch, _)| differs(branch)));
    }
    Ok(refuted)
}

/// The dry commits that notes name and the files of the branches do not, each with those branches and what they were made
/// from.
type Unproven = BTreeMap<(BranchName, ObjectId), BTreeMap<BranchName, ObjectId>>;

fn unproven(
    names: &BTreeMap<BranchName, Named>,
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
) -> Result<Unproven, HydrateError> {
    let mut unproven = Unproven::new();
    if found.setup.place.are_guarded() {
        return Ok(unproven);
    }
    for (branch, named) in names.iter().filter(|(_, named)| named.is_environment) {
        let Some(tip) = found.tip(branch) else { continue };
        let standing = found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)?;
        // What a tag led to is found out from the tag.
        if standing.source.is_some() {
            continue;
        }
        let made_from = provenance(&found.buffer, standing.tip.tree, METADATA)?.and_then(|found| found.dry_commit);
        if let (Some(dry), Some(made_from), Some(_)) = (standing.dry, made_from, standing.record())
            && dry != made_from
        {
            let key = (named.dry_branch.clone(), dry);
            unproven.entry(key).or_default().insert(branch.clone(), made_from);
        }
    }
    Ok(unproven)
}
