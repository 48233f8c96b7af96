//! What is known in two ways is said in one: of what an API server refuses that it is a danger of the object, and no warning beside
//! that; of an Application that goes how many objects go with it, and not again of the object that its parent has of it.

use std::collections::{BTreeMap, BTreeSet};

use super::EnvironmentDiff;
use crate::diff::{Change, ObjectName};
use crate::preview::Refusal;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// Makes dangers of what an API server refuses objects for, with the place, and drops the warnings of which nothing is left. An
/// object that comes from another Application keeps its warning: there it may have been refused for the same.
pub(super) fn refusals(environments: &mut [EnvironmentDiff], warnings: &mut Vec<Diagnostic>, refusals: &[Refusal]) {
    let said: Vec<&Refusal> = refusals.iter().filter(|refusal| warnings.contains(&refusal.diagnostic)).collect();
    for environment in environments.iter_mut() {
        let branch = environment.branch.branch.as_str();
        for application in &mut environment.applications {
            for object in application.objects.iter_mut().filter(|object| object.moved_from.is_none()) {
                let is_of = |(of, path, name): &(String, RepoPath, ObjectName)| {
                    of == branch && *path == application.path && *name == object.object
                };
                let of_it = said.iter().filter(|refusal| refusal.objects.iter().any(is_of));
                let texts: Vec<String> = of_it.map(|refusal| text(refusal)).collect();
                if !texts.is_empty() {
                    object.set_refused(&texts);
                }
            }
        }
    }
    let is_told = |refusal: &&&Refusal| {
        let is_of = |(of, path, name): &(String, RepoPath, ObjectName)| {
            let environment = environments.iter().find(|environment| environment.branch.branch.as_str() == of);
            let mut applications = environment.iter().flat_map(|environment| &environment.applications);
            let application = applications.find(|application| application.path == *path);
            let mut objects = application.iter().flat_map(|application| &application.objects);
            objects.any(|object| object.object == *name && object.moved_from.is_none())
        };
        refusal.objects.iter().all(is_of)
    };
    let told: Vec<&Diagnostic> = said.iter().filter(is_told).map(|refusal| &refusal.diagnostic).collect();
    warnings.retain(|warning| !told.contains(&warning));
}

/// The objects of a branch that an API server refuses, by their paths.
pub(super) fn refused(branch: &str, refusals: &[Refusal]) -> BTreeMap<RepoPath, BTreeSet<ObjectName>> {
    let mut refused: BTreeMap<RepoPath, BTreeSet<ObjectName>> = BTreeMap::new();
    for (_, path, name) in refusals.iter().flat_map(|refusal| &refusal.objects).filter(|(of, ..)| of == branch) {
        refused.entry(path.clone()).or_default().insert(name.clone());
    }
    refused
}

/// Drops what is said of Applications as objects of their parents that go, where it is said of what they deploy.
pub(super) fn applications(environments: &mut [EnvironmentDiff]) {
    let all = environments.iter().flat_map(|environment| &environment.applications);
    let going: BTreeSet<String> = all.filter_map(|one| Some(one.goes.as_ref()?.0.name.clone())).collect();
    let objects = environments.iter_mut().flat_map(|environment| &mut environment.applications);
    let objects = objects.flat_map(|application| &mut application.objects);
    for object in objects.filter(|one| one.change == Change::Removed && one.object.is_application()) {
        if going.contains(&object.object.name) {
            object.dangers.retain(|danger| danger.kind() != "removed");
        }
    }
}

/// `Kubernetes 1.36 refuses it, so the sync fails: `spec.x` must be y (apps/web/dev/flow.yaml:1)`.
fn text(refusal: &Refusal) -> String {
    match &refusal.diagnostic.span {
        Some(span) if span.line > 0 => format!("{} ({}:{})", refusal.what, span.path, span.line),
        Some(span) => format!("{} ({})", refusal.what, span.path),
        None => refusal.what.clone(),
    }
}
