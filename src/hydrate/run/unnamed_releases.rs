//! Charts that a branch gets for the first time, and that are rendered as a release without a name of its own.

use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;

use super::branch::Branch;
use super::output::Output;
use crate::application::Application;
use crate::git::Error;
use crate::hydrate::files::MANIFEST;
use crate::hydrate::snapshot::Snapshot;

/// How many Applications are named.
const NAMES_MAX: usize = 4;

/// Those whose objects get the name `release-name`, and that the branch does not have yet: later it is what runs.
pub(super) fn new<'o>(
    outputs: impl Iterator<Item = (&'o Application, &'o Output)>,
    branch: &Branch,
    found: &Snapshot<'_>,
) -> Result<Vec<Application>, Error> {
    let tree = branch.tip.as_ref().map(|tip| found.tree_of(tip.tree));
    let mut new = Vec::new();
    for (application, _) in outputs.filter(|(_, output)| output.is_unnamed_release) {
        let there = match (&tree, application.sync_path.child(MANIFEST)) {
            (Some(tree), Ok(path)) => tree.entry(&path)?,
            _ => None,
        };
        if there.is_none() {
            new.push(application.clone());
        }
    }
    Ok(new)
}

/// One warning of all of them; none where there are none.
pub(super) fn warning(unnamed: &[Application]) -> Option<Diagnostic> {
    let [first, others @ ..] = unnamed else { return None };
    let place = first.places.dry_path.clone();
    if others.is_empty() {
        return Some(first.tells(first.unnamed_release(place)));
    }
    let names = listed(unnamed.iter().map(|application| format!("`{}`", application.name)), NAMES_MAX);
    let text = format!("{names} set no release name, so Helm uses `release-name` for each");
    Some(Diagnostic::warning(text).at(place).hint("set `helm.releaseName` in each drySource"))
}
