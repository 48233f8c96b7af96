//! For each hydrated Application, the plain `source` or `sources` that it needs without hydration.

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{Mapping, Value};
use serde::Serialize;

use crate::argo::{Application, BranchName, Profile, Tool, source};
use crate::hydrate::copies::copies;
use crate::hydrate::dry_tree::DryTrees;
use crate::owners::error::HydrateError;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::repo::ObjectBuffer;

/// An Application that is hydrated, with what its specification has for sources where nothing is.
#[derive(Debug)]
pub(crate) struct Repointed {
    /// The Application.
    pub application: Application,
    /// `source`, or `sources`, of `spec`: the whole of it.
    pub spec: Mapping,
    /// Whether the branch that is deployed exists.
    pub is_made: bool,
}

/// The Applications that are hydrated from the dry branches, with their sources.
///
/// Errors: the world failed.
pub(crate) fn repointed(setup: &Setup<'_>) -> Result<Vec<Repointed>, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let mut trees = DryTrees::default();
    let heads = found.heads();
    let is_made = |branch: &BranchName| found.tip(branch).is_some();
    let mut repointed = Vec::new();
    for head in &heads {
        let tree = trees.read(head.tip, head, &heads, &found)?;
        let files = trees.files(tree.tree, setup.repository);
        let profile = found.policy.settings.profile.into();
        for application in tree.hydrated() {
            let spec = spec(application, &View::new(&*files), profile);
            let is_made = is_made(&application.sync_branch);
            repointed.push(Repointed { application: (**application).clone(), spec, is_made });
        }
    }
    Ok(repointed)
}

/// The copies that Argo CD follows in place of the Applications of a dry branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CopiesToLeave {
    /// Their branch.
    pub branch: String,
    /// Their directories.
    pub paths: Vec<RepoPath>,
}

/// The copies on the branch of the setting `applicationsTo`; none when there are none.
///
/// Errors: the world failed.
pub(crate) fn copies_to_leave(setup: &Setup<'_>) -> Result<Option<CopiesToLeave>, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let Some(branch) = found.policy.settings.applications_to.clone() else { return Ok(None) };
    let Some(tip) = found.tip(&branch).filter(|_| found.is_for_copies(&branch).unwrap_or(false)) else {
        return Ok(None);
    };
    let paths: Vec<RepoPath> = copies(found.buffer.commit(tip)?.tree, &found.buffer)?.into_keys().collect();
    Ok((!paths.is_empty()).then(|| CopiesToLeave { branch: branch.to_string(), paths }))
}

fn spec(application: &Application, view: &View<'_>, profile: Profile) -> Mapping {
    let mut sources = application.all_sources().map(|source| source.to_value());
    if !application.sources.is_empty() {
        return Mapping::from([("sources".to_owned(), Value::Sequence(sources.collect()))]);
    }
    let mut only = sources.next().unwrap_or_default();
    if let Value::Mapping(entries) = &mut only
        && is_called_by_helm(application, view, profile)
    {
        let empty = || Value::Mapping(Mapping::new());
        if let Value::Mapping(helm) = entries.entry("helm".to_owned()).or_insert_with(empty) {
            helm.insert("releaseName".to_owned(), Value::from("release-name"));
        }
    }
    Mapping::from([("source".to_owned(), only)])
}

/// Whether its release has the name that Helm gives it: Argo CD would give it that of the Application.
fn is_called_by_helm(application: &Application, view: &View<'_>, profile: Profile) -> bool {
    let tool = source(view, application, profile).map(|source| source.tool);
    let is_unnamed = matches!(tool, Ok(Tool::Helm(helm)) if helm.release_name.is_none());
    is_unnamed && application.profile(profile) == Profile::Proposal
}
