//! What is known in two ways is said in one: of what an API server refuses that it is a danger of the object, and no warning beside
//! that; of an Application what it does to what it deploys, and not again of the object that its parent has of it.

use std::collections::{BTreeMap, BTreeSet};

use super::{ApplicationDiff, EnvironmentDiff};
use crate::diff::{Change, ObjectDiff, ObjectName, is_said_of_application};
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

/// Drops what is said of Applications as objects of their parents, and of sets, where it is said of what they deploy.
pub(super) fn applications(environments: &mut [EnvironmentDiff]) {
    let shown: Vec<Shown> = environments.iter().enumerate().flat_map(|(number, one)| Shown::all(number, one)).collect();
    for (number, environment) in environments.iter_mut().enumerate() {
        for application in &mut environment.applications {
            let of_itself = application.itself.clone();
            let own = application.objects.iter().rposition(|object| Some(&object.object) == of_itself.as_ref());
            for (index, object) in application.objects.iter_mut().enumerate() {
                if Some(index) != own {
                    drop_shown(object, number, &shown);
                }
            }
        }
    }
}

/// An Application that is shown with what it deploys.
struct Shown {
    environment: usize,
    /// As an object, which may name no namespace.
    name: String,
    namespace: String,
    made_by: Option<String>,
    /// Whether it goes.
    goes: bool,
    /// Whether it is listed as an object.
    is_object: bool,
}

impl Shown {
    fn all(environment: usize, of: &EnvironmentDiff) -> Vec<Self> {
        let shown = |application: &ApplicationDiff| {
            let itself = application.itself.as_ref();
            Some(Self {
                environment,
                name: application.name.as_ref()?.to_string(),
                namespace: itself.map(|itself| itself.namespace.clone()).unwrap_or_default(),
                made_by: application.made_by.clone(),
                goes: application.change == Change::Removed,
                is_object: itself.is_some(),
            })
        };
        of.applications.iter().filter_map(shown).collect()
    }

    fn is(&self, object: &ObjectName) -> bool {
        let is_of = |namespace: &str| namespace.is_empty() || namespace == object.namespace;
        self.name == object.name && (object.namespace.is_empty() || is_of(&self.namespace))
    }
}

/// What is said of sets whose Applications are not rendered here.
const OF_SETS: [&str; 2] = ["clustersChosen", "applicationsRenamed"];

/// Drops the dangers of an object of an environment that are shown elsewhere: in that environment, else in the only one that shows any.
fn drop_shown(object: &mut ObjectDiff, environment: usize, shown: &[Shown]) {
    if object.object.is_application() {
        let mut of_it: Vec<&Shown> = shown.iter().filter(|shown| shown.is(&object.object)).collect();
        if of_it.iter().any(|shown| shown.environment == environment) {
            of_it.retain(|shown| shown.environment == environment);
        } else if of_it.len() > 1 {
            of_it.clear();
        }
        let goes = of_it.iter().any(|shown| shown.goes);
        let is_object = of_it.iter().any(|shown| shown.is_object && !shown.goes);
        object.dangers.retain(|danger| {
            let is_shown = match danger.kind() {
                "removed" | "applicationOrphaned" => goes && object.change == Change::Removed,
                "releaseRenamed" => !of_it.is_empty(),
                _ => is_object && is_said_of_application(danger),
            };
            !is_shown
        });
    } else if object.object.kind == "ApplicationSet" {
        let maker = format!("ApplicationSet `{}` ", object.object.name);
        let makes = |shown: &&Shown| shown.made_by.as_ref().is_some_and(|by| by.starts_with(&maker));
        let is_made = shown.iter().any(|shown| makes(&shown));
        object
            .dangers
            .retain(|danger| !is_made || !is_said_of_application(danger) && !OF_SETS.contains(&danger.kind()));
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
