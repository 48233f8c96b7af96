//! The Applications that a changed AppProject is for.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{content, identity};
use crate::argo::{AppName, Application, BranchName};
use crate::diff::OfProject;
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::state::Run;
use crate::manifest::{Source, read};
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::repo::{ObjectBuffer, ObjectId};

/// How many bytes of manifests are looked at.
const BYTES_MAX: usize = 16 << 20;

/// The branches whose AppProjects change, and those that each branch has.
#[derive(Debug, Default)]
pub(super) struct Projects {
    /// The trees of branches after the change.
    trees: BTreeMap<BranchName, ObjectId>,
    /// The names of the projects that are objects of a branch, before or after.
    of_branches: BTreeMap<BranchName, BTreeSet<String>>,
    changed: BTreeSet<BranchName>,
}

impl Projects {
    /// Those of a run, compared with what `base` answers. It also reads the dry commits of branches whose AppProjects change.
    pub(super) fn read(
        run: &mut Run<'_>,
        base: &dyn Fn(&Branch) -> Option<Option<ObjectId>>,
    ) -> Result<Self, HydrateError> {
        let mut projects = Self::default();
        let mut tips = BTreeSet::new();
        for (name, branch) in &run.branches {
            let Some(after) = branch.tip.as_ref().map(|tip| tip.tree) else { continue };
            projects.trees.insert(name.clone(), after);
            let Some(Some(before)) = base(branch) else { continue };
            let buffer = &run.found.buffer;
            let before = buffer.commit(before)?.tree;
            let mut left = BYTES_MAX;
            if before != after && !named_in(buffer, (before, after), &mut left)?.is_empty() {
                projects.changed.insert(name.clone());
                tips.insert((branch.dry_tip, branch.dry_branch.clone()));
            }
        }
        if projects.changed.is_empty() {
            return Ok(projects);
        }
        let mut left = BYTES_MAX;
        let buffer = &run.found.buffer;
        for (name, tree) in &projects.trees {
            let named = named_in(buffer, (buffer.empty_tree_id(), *tree), &mut left)?;
            projects.of_branches.insert(name.clone(), named);
        }
        let heads = run.found.heads();
        for (tip, dry_branch) in tips {
            if let Some(head) = heads.iter().find(|head| head.branch == dry_branch) {
                run.tree(tip, head, &heads)?;
            }
        }
        Ok(projects)
    }

    /// The Applications that the AppProjects of a branch may be for, hydrated or not: its own, and those of branches that have no
    /// such project and no Application of the name. They are all of one Argo CD, as far as that can be known.
    pub(super) fn applications(
        &self,
        branch: &BranchName,
        tree: Option<&DryTree>,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Vec<OfProject>, HydrateError> {
        let Some(tree) = tree.filter(|_| self.changed.contains(branch)) else { return Ok(Vec::new()) };
        let mut names: BTreeMap<&AppName, BTreeSet<&BranchName>> = BTreeMap::new();
        for one in tree.all() {
            names.entry(&one.name).or_default().insert(one.environment_branch());
        }
        let is_of_it = |one: &Application| {
            let to = one.environment_branch();
            let has_own = || self.of_branches.get(to).is_some_and(|projects| projects.contains(&one.project));
            to == branch || names.get(&one.name).is_some_and(|of| of.len() == 1) && !has_own()
        };
        let (mut found, mut left) = (Vec::new(), BYTES_MAX);
        // Those that are not hydrated are of their project too; of copies of one, the first counts.
        let mut seen = BTreeSet::new();
        for one in tree.all().filter(|one| is_of_it(one) && seen.insert(identity(one))) {
            let file = format!("{}/{MANIFEST}", one.sync_path);
            let tree = self.trees.get(one.environment_branch()).copied();
            let entry = tree.map(|tree| buffer.entry(tree, &file)).transpose()?.flatten();
            let manifest = content(entry, buffer)?.filter(|text| text.len() <= left);
            left -= manifest.as_ref().map_or(0, Vec::len);
            let sources = one.all_sources().map(|source| source.repo_url.clone()).collect();
            found.push(OfProject { application: Arc::new(one.deployed.object()), sources, manifest });
        }
        Ok(found)
    }
}

/// Whether a manifest may have an AppProject, from the text that each has.
pub(super) fn may_have_project(manifest: &[u8]) -> bool {
    const KIND: &[u8] = b"kind: AppProject";
    manifest.windows(KIND.len()).any(|window| window == KIND)
}

/// The AppProjects in the manifests that differ between two trees, on either side.
fn named_in(
    buffer: &ObjectBuffer<'_>,
    (before, after): (ObjectId, ObjectId),
    left: &mut usize,
) -> Result<BTreeSet<String>, HydrateError> {
    let mut names = BTreeSet::new();
    for change in buffer.diff_trees(before, after)? {
        if !change.path.ends_with(MANIFEST) {
            continue;
        }
        for entry in [change.old, change.new] {
            let Some(text) = content(entry, buffer)?.filter(|text| text.len() <= *left) else { continue };
            *left -= text.len();
            if may_have_project(&text) {
                let objects = read(&text, Source::Output("the environment branch")).unwrap_or_default();
                let projects = objects.iter().filter(|object| object.kind() == "AppProject");
                names.extend(projects.map(|project| project.name().to_owned()));
            }
        }
    }
    Ok(names)
}
