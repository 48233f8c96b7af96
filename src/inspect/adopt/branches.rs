//! Applications of other dry branches: whether they hydrate from there.
//!
//! An Application is hydrated from the tree of the branch that its `targetRevision` names, and where that tree has it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::super::check::{Judged, Tree, judged_by};
use super::units::attempt;
use super::{Draft, hydrated};
use crate::argo::{AppName, Application, BranchName, Standing};
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::render::Renderers;
use crate::repo::TreeFiles;

/// Another dry branch, and the Applications here that are of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OtherBranch {
    /// The branch.
    pub branch: String,
    /// How many Applications are of it.
    pub applications: usize,
    /// How many of them its own tree has, and hydrate; none when it is not in this clone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hydrate: Option<usize>,
    /// Whether the setting `dryBranches` lacks it, so that nothing is hydrated from it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// How many branches are looked at.
const BRANCHES_MAX: usize = 16;

/// Who an Application is, wherever it is.
type Id = (Option<AppName>, AppName);

fn id(application: &Application) -> Id {
    (application.namespace.clone(), application.name.clone())
}

/// The other branches that Applications name, those with most of them first.
///
/// Errors: the world failed.
pub(super) fn of(
    draft: &Draft,
    judged: &Judged,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<Vec<OtherBranch>, HydrateError> {
    let mut named: BTreeMap<BranchName, BTreeSet<Id>> = BTreeMap::new();
    let standings = judged.verdict.standings.iter().zip(&judged.discovered.applications);
    for (_, application) in standings.filter(|(standing, _)| **standing == Standing::OtherBranch) {
        if let Some(branch) = judged.branch_of(application) {
            named.entry(branch).or_default().insert(id(application));
        }
    }
    let dry = draft.settings()?.dry_branches;
    let mut found = Vec::new();
    for (branch, applications) in named.into_iter().take(BRANCHES_MAX) {
        let hydrate = from_its_tree(&branch, &applications, draft, tree, renderers)?;
        let (applications, left_out) = (applications.len(), !dry.contains(&branch));
        found.push(OtherBranch { branch: branch.to_string(), applications, hydrate, left_out });
    }
    found.sort_by_key(|one| std::cmp::Reverse(one.applications));
    Ok(found)
}

/// How many of the Applications hydrate from the tip of their branch; none when that is not here.
fn from_its_tree(
    branch: &BranchName,
    applications: &BTreeSet<Id>,
    draft: &Draft,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<Option<usize>, HydrateError> {
    in_its_tree(branch, draft, tree, renderers, |judged, tree| rendering(applications, judged, tree, renderers))
}

/// How many of the Applications hydrate from a tree.
fn rendering(
    applications: &BTreeSet<Id>,
    judged: &Judged,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<usize, HydrateError> {
    let there = right(judged, applications);
    let context = render_context(&judged.policy.settings, tree.files, &tree.dry_commit);
    let results = attempt(&there, &context, renderers, &|_| {})?;
    Ok(results.iter().filter(|result| result.is_ok()).count())
}

/// What `look` finds in the tree at the tip of a branch; none when that is not here.
pub(super) fn in_its_tree<R>(
    branch: &BranchName,
    draft: &Draft,
    tree: &Tree<'_>,
    renderers: &Renderers,
    look: impl FnOnce(&Judged, &Tree<'_>) -> Result<R, HydrateError>,
) -> Result<Option<R>, HydrateError> {
    let Some((repository, names)) = tree.repository else { return Ok(None) };
    let tip = names.tip(&repository.refs()?, branch).and_then(|tip| repository.commit(tip).ok());
    let Some(tip) = tip else { return Ok(None) };
    let files = TreeFiles::new(repository, tip.tree);
    let tree = Tree {
        files: &files,
        repository: tree.repository,
        dry_branch: Some(branch.clone()),
        dry_commit: tip.id.to_string(),
    };
    let judged = judged_by(draft.policy()?, &tree, renderers)?;
    look(&judged, &tree).map(Some)
}

/// Those of the Applications that are hydrated from a tree and have no mistake.
fn right<'j>(judged: &'j Judged, applications: &BTreeSet<Id>) -> Vec<&'j Application> {
    let errors = judged.verdict.findings.iter().filter(|finding| finding.diagnostic.is_error());
    let wrong: BTreeSet<usize> = errors.flat_map(|finding| finding.applications.iter().copied()).collect();
    let right = hydrated(judged).into_iter().filter(|(index, _)| !wrong.contains(index));
    right.map(|(_, application)| application).filter(|application| applications.contains(&id(application))).collect()
}
