//! Applications that render no object: what a new one is told, and why one that had some has none.

use super::branch::Branch;
use super::manifest_of::{manifest_of, tree_before};
use super::output::Output;
use crate::argo::Application;
use crate::owners::snapshot::Snapshot;
use crate::render::{self, Nothing};
use crate::repo::TreeFiles;
use crate::repo::{Error, ObjectId};
use dry_files::diag::Diagnostic;
use dry_files::view::View;

/// A warning of each that a branch does not have yet.
pub(crate) fn warnings<'o>(
    outputs: impl Iterator<Item = (&'o Application, &'o Output)>,
    branch: &Branch,
    dry: ObjectId,
    found: &Snapshot<'_>,
) -> Result<Vec<Diagnostic>, Error> {
    let tree = tree_before(branch, found);
    let mut warnings = Vec::new();
    for (application, _) in outputs.filter(|(_, output)| output.count == Some(0)) {
        let there = tree.as_ref().map(|tree| manifest_of(tree, &application.sync_path)).transpose()?.flatten();
        if there.is_none() {
            let warning = why(application, dry, found)?.warning(application);
            warnings.push(warning.of(application.name.as_str()));
        }
    }
    Ok(warnings)
}

/// The mistake of an Application that would lose all of its objects, with its place and the reason; what allows it comes last.
pub(crate) fn explained(
    mistake: Diagnostic,
    application: &Application,
    dry: ObjectId,
    found: &Snapshot<'_>,
) -> Result<Diagnostic, Error> {
    let Nothing { reason, cure } = why(application, dry, found)?;
    let hints: Vec<String> = cure.into_iter().chain(mistake.hint.clone()).collect();
    let mistake = mistake.at(application.places.dry_path.clone()).label(reason).hint(hints.join("; "));
    Ok(application.tells(mistake))
}

fn why(application: &Application, dry: ObjectId, found: &Snapshot<'_>) -> Result<Nothing, Error> {
    let repository = found.setup.repository;
    let files = TreeFiles::new(repository, found.dry_tree(dry)?);
    Ok(render::why_nothing(application, &View::new(&files), found.policy.settings.profile.into()))
}
