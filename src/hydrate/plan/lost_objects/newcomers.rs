//! Applications that come to a branch in place of one that leaves: on another branch before, or with another name and another path.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::missing::{Missing, missing_in};
use crate::argo::{AppName, Application, BranchName, Identity};
use crate::discover::Removal;
use crate::hydrate::failed_render::FailureKind;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::plan::moved_files::MovedFiles;
use crate::hydrate::plan::{Done, Hydration, Rendered};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::repo::ObjectId;

/// What such Applications do not render of what the former ones had.
pub(super) fn missing(rendered: &Rendered, run: &mut Run<'_>, heads: &[DryHead]) -> Result<Vec<Missing>, Stopped> {
    let mut missing = Vec::new();
    let leaving = || rendered.hydrations().filter(|(_, hydration)| !hydration.removals.is_empty());
    if leaving().next().is_none() {
        return Ok(missing);
    }
    let mut by_name: BTreeMap<&AppName, Vec<&Done>> = BTreeMap::new();
    for done in rendered.work().filter(|done| done.result.is_ok()) {
        by_name.entry(&done.application.name).or_default().push(done);
    }
    for (from, hydration) in leaving() {
        let came = newcomers(hydration, run)?;
        let moved: BTreeSet<Identity> = hydration.moved.iter().map(|application| application.identity()).collect();
        let mut former = Former::default();
        for removal in &hydration.removals {
            let of_name = by_name.get(&removal.application).map_or(&[][..], Vec::as_slice);
            let is_here = |done: &Done| done.application.environment_branch() == from;
            if of_name.iter().any(|done| is_here(done)) {
                continue;
            }
            // What is hydrated to its branch for the first time is one that moved.
            let mut elsewhere = of_name.iter().find(|done| moved.contains(&done.application.identity())).copied();
            for done in of_name.iter().filter(|_| moved.is_empty()) {
                elsewhere = if elsewhere.is_none() && is_new(done, run)? { Some(done) } else { elsewhere };
            }
            if elsewhere.is_none() && came.is_empty() {
                continue;
            }
            let Some((manifest, application)) = former.of(from, removal, rendered, run, heads)? else { continue };
            let successor = match elsewhere {
                Some(done) => Some(done),
                None => former.successor(&application, &came, (from, rendered), run)?,
            };
            if let Some(done) = successor {
                missing.extend(compared((from, manifest, application), done, rendered, run));
            }
        }
    }
    Ok(missing)
}

/// What an Application lacks of what the one had in whose place it came.
fn compared(
    (from, manifest, former): (&BranchName, ObjectId, Arc<Application>),
    done: &Done,
    rendered: &Rendered,
    run: &Run<'_>,
) -> Option<Missing> {
    let name = done.application.environment_branch();
    let buffer = &run.found.buffer;
    let old = buffer.blob(manifest).ok()?;
    let is_there = |other: &&Done| [name, from].contains(&other.application.environment_branch());
    let outputs = rendered.work().filter(is_there).filter_map(|done| done.result.as_ref().ok());
    let outputs: Vec<Vec<u8>> = outputs.filter_map(|output| buffer.blob(output.manifest).ok()).collect();
    let objects = missing_in(&old, &outputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let reads = done.result.as_ref().ok()?.record.decode()?.reads;
    let (branch, from, application) = (name.clone(), from.clone(), done.application.clone());
    (!objects.is_empty()).then_some(Missing { branch, application, objects, reads, from, former: Some(former) })
}

/// The Applications of a branch that has no manifests yet where they write them.
fn newcomers<'h>(hydration: &'h Hydration<Done>, run: &Run<'_>) -> Result<Vec<&'h Done>, Stopped> {
    let mut came = Vec::new();
    for done in hydration.work.iter().filter(|done| done.result.is_ok()) {
        if is_new(done, run)? {
            came.push(done);
        }
    }
    Ok(came)
}

/// Whether the branch of an Application has no manifests where it writes them.
fn is_new(done: &Done, run: &Run<'_>) -> Result<bool, Stopped> {
    let branch = run.branches.get(done.application.environment_branch());
    let Some(tip) = branch.and_then(|branch| branch.tip.as_ref()) else { return Ok(true) };
    Ok(manifest_of(&run.found.tree_of(tip.tree), &done.application.sync_path)?.is_none())
}

/// What fed a branch, once that is asked for.
#[derive(Default)]
struct Former {
    applications: Option<Vec<Arc<Application>>>,
    moved: Option<MovedFiles>,
}

impl Former {
    /// The manifest of what left, and the Application that it was.
    fn of(
        &mut self,
        from: &BranchName,
        removal: &Removal,
        rendered: &Rendered,
        run: &mut Run<'_>,
        heads: &[DryHead],
    ) -> Result<Option<(ObjectId, Arc<Application>)>, Stopped> {
        let Some(branch) = run.branches.get(from) else { return Ok(None) };
        let (Some(dry), Some(tip), None) = (branch.dry, branch.tip.as_ref().map(|tip| tip.tree), &branch.source) else {
            return Ok(None);
        };
        let Some(manifest) = manifest_of(&run.found.tree_of(tip), &removal.path)? else { return Ok(None) };
        if self.applications.is_none() {
            self.applications = Some(run.former(from, Some(dry), &rendered.head, heads)?.applications);
        }
        let former = self.applications.iter().flatten().find(|former| former.sync_path == removal.path);
        Ok(former.map(|former| (manifest, former.clone())))
    }

    /// Which of those that came has the source of one that left, wherever its directory is now.
    fn successor<'d>(
        &mut self,
        former: &Application,
        came: &[&'d Done],
        (from, rendered): (&BranchName, &Rendered),
        run: &mut Run<'_>,
    ) -> Result<Option<&'d Done>, Stopped> {
        if !former.has_own_source() {
            return Ok(None);
        }
        let of = |path| came.iter().find(|done| done.application.has_own_source() && done.application.dry.path == path);
        if let Some(done) = of(former.dry.path.clone()) {
            return Ok(Some(*done));
        }
        let Some(dry) = run.branches.get(from).and_then(|branch| branch.dry) else { return Ok(None) };
        if self.moved.is_none() {
            let before = run.found.dry_tree(dry)?;
            let (old, new) = (run.files(before), run.files(rendered.tree));
            self.moved = Some(MovedFiles::between(&*old, &*new));
        }
        let now = self.moved.as_ref().and_then(|moved| moved.directory(&former.dry.path));
        Ok(now.and_then(of).copied())
    }
}

/// Whether an Application renders without objects that somebody wants.
pub(crate) fn lacks(done: &Done) -> bool {
    done.result.as_ref().is_err_and(|failed| failed.kind == FailureKind::LostObjects)
}
