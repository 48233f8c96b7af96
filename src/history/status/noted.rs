//! Notes of branches in a clone: anyone may have written them at a host without hooks.
//!
//! A note legitimately names a newer dry commit than the one that the branch was made from: what came between changed nothing
//! of it. Whether that is so is found out by making it.

use std::collections::{BTreeMap, BTreeSet};

use crate::argo::BranchName;
use crate::hydrate::survey::Named;
use crate::metadata::{Source, read_note};
use crate::owners::error::HydrateError;
use crate::owners::files::METADATA;
use crate::owners::ledger::Ledger;
use crate::owners::revisions::Follows;
use crate::owners::setup::{Setup, Wake};
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::provenance;
use crate::preview::{Against, PreviewedBranch, preview};
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
        let Some(changed) = changed_by(dry_branch, noted, setup) else { continue };
        refuted.extend(branches.into_iter().filter(|(branch, _)| changed.contains(branch)));
    }
    Ok(refuted)
}

/// What tags lead to that branches show by their notes alone, where they do: their files are of another dry commit, and hydrating that one
/// changes nothing.
///
/// Errors: the repository cannot be read.
pub(super) fn borne_out(
    names: &BTreeMap<BranchName, Named>,
    setup: &Setup<'_>,
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
) -> Result<BTreeMap<BranchName, Source>, HydrateError> {
    let mut noted: BTreeMap<BranchName, BTreeMap<BranchName, Source>> = BTreeMap::new();
    if found.setup.place.are_guarded() {
        return Ok(BTreeMap::new());
    }
    for (branch, named) in names.iter().filter(|(_, named)| named.is_environment) {
        let (Some(tip), Some(revision)) = (found.tip(branch), &named.revision) else { continue };
        let shown = found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)?.source;
        let Follows::Source(source) = found.follows(branch, revision, None, shown.as_ref()) else { continue };
        let note = ledger.notes.get(tip, &found.buffer).ok().flatten().and_then(|text| read_note(&text));
        if shown.as_ref() != Some(&source) && note.and_then(|note| note.source()).as_ref() == Some(&source) {
            noted.entry(named.dry_branch.clone()).or_default().insert(branch.clone(), source);
        }
    }
    let mut borne_out = BTreeMap::new();
    for (dry_branch, mut sources) in noted {
        let Some(tip) = found.tip(&dry_branch) else { continue };
        let Some(changed) = changed_by(dry_branch, tip, setup) else { continue };
        sources.retain(|branch, _| !changed.contains(branch));
        borne_out.extend(sources);
    }
    Ok(borne_out)
}

/// The branches that show a dry commit which their dry branch has no more, as after a commit that was amended, and that have what its tip
/// gives; each with that tip.
///
/// Errors: the repository cannot be read.
pub(super) fn rewound(
    names: &BTreeMap<BranchName, Named>,
    setup: &Setup<'_>,
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
) -> Result<BTreeMap<BranchName, ObjectId>, HydrateError> {
    let mut by_dry: BTreeMap<(BranchName, ObjectId), BTreeSet<BranchName>> = BTreeMap::new();
    if found.setup.place.are_guarded() {
        return Ok(BTreeMap::new());
    }
    let repository = setup.repository;
    for (branch, named) in names.iter().filter(|(_, named)| named.is_environment && named.revision.is_none()) {
        let (Some(tip), Some(dry_tip)) = (found.tip(branch), found.tip(&named.dry_branch)) else { continue };
        let standing = found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)?;
        let is_gone = |dry: &ObjectId| repository.has(*dry) && !repository.is_ancestor(*dry, dry_tip);
        if standing.source.is_none() && standing.dry.as_ref().is_some_and(is_gone) {
            by_dry.entry((named.dry_branch.clone(), dry_tip)).or_default().insert(branch.clone());
        }
    }
    let mut rewound = BTreeMap::new();
    for ((branch, tip), branches) in by_dry {
        let setup = Setup { place: setup.place.clone(), wake: Wake::Commit { branch, tip }, ..*setup };
        let Ok(preview) = preview(&setup, &Against::Branches) else { continue };
        let is_same = |one: &PreviewedBranch| {
            let is_whole = one.mistakes.is_empty() && one.failures.is_empty() && one.behind.is_empty();
            is_whole && one.paths.is_empty() && branches.contains(&one.branch)
        };
        let same = preview.environments.into_iter().filter(|one| is_same(one));
        rewound.extend(same.map(|one| (one.branch, tip)));
    }
    Ok(rewound)
}

/// The branches of which a dry commit would change something; none where that cannot be found out here.
fn changed_by(dry_branch: BranchName, tip: ObjectId, setup: &Setup<'_>) -> Option<BTreeSet<BranchName>> {
    let wake = Wake::Commit { branch: dry_branch, tip };
    let setup = Setup { place: setup.place.clone(), wake, ..*setup };
    let environments = preview(&setup, &Against::Branches).ok()?.environments;
    let changed = environments.into_iter().filter(|environment| !environment.paths.is_empty());
    Some(changed.map(|environment| environment.branch).collect())
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
