//! The recorded inputs that the Applications of a branch use which a dry commit does not touch.

use std::collections::BTreeMap;

use super::touched::Touched;
use crate::argo::{BranchName, Identity};
use crate::hydrate::stopped::Stopped;
use crate::known::{State, UsedInputs, used_inputs};

/// Of what each branch used, what it uses still whatever becomes of the Applications that are touched. Only what one of these
/// used can have lost its last user.
pub(super) fn of_branches(state: &State, touched: &Touched) -> Result<BTreeMap<String, UsedInputs>, Stopped> {
    let mut all = BTreeMap::new();
    let known: Vec<_> = state.head.branches.iter().flatten().filter(|known| !known.inputs.is_empty()).collect();
    if known.is_empty() {
        return Ok(all);
    }
    let mut doubtful = UsedInputs::new();
    for (file, index) in touched.work.keys().chain(touched.gone.keys()) {
        let record = state.one(file, *index)?;
        doubtful.extend(record.map(|record| used_inputs(&record.reads)).unwrap_or_default());
    }
    for branch in known {
        let mut inputs = branch.inputs.clone();
        for path in doubtful.keys().filter(|path| branch.inputs.contains_key(*path)) {
            if !is_used(path, &branch.name, state, touched)? {
                inputs.remove(path);
            }
        }
        all.insert(branch.name.clone(), inputs);
    }
    Ok(all)
}

fn is_used(path: &dry_files::path::RepoPath, branch: &str, state: &State, touched: &Touched) -> Result<bool, Stopped> {
    let is_other = |identity: &Identity| !touched.has(identity);
    let readers = state.readers([path], [])?;
    let mut readers = readers.iter().filter(|record| record.is_of_application() && record.branch.as_str() == branch);
    let reads =
        |record: &crate::known::Record| record.failure.is_none() && used_inputs(&record.reads).contains_key(path);
    Ok(readers.any(|record| is_other(&record.identity()) && reads(record)))
}

/// The name of a branch among them.
pub(super) fn take(all: &mut BTreeMap<String, UsedInputs>, name: &BranchName) -> UsedInputs {
    all.remove(name.as_str()).unwrap_or_default()
}
