//! From one dry commit to the next by what the cache knows of the first.
//!
//! When a state says that the branches of a dry branch were left whole by an earlier dry commit, an Application changes
//! only with its document, with something that its render looked at, or with the commit itself if its result names that.
//! All others render to the same, and their files stand in the branch as they would be written: their README and
//! metadata are remade only when settings, document or manifest change.
//!
//! A branch with an Application that does not render stays where it is, as it does without the cache. As long as nothing
//! changes that one of its Applications rests on, each further dry commit fails by the same; so it costs the others nothing.
//!
//! Only the plain cases are handled here. Whatever is new, gone, moved, odd or wrong is left to the run without a cache,
//! which judges everything anew; it starts over then, and finds what it would have found at once.

mod remade;

use std::collections::{BTreeMap, BTreeSet};

use super::branch::{Branch, PathOutput};
use super::failed_render::{FailedBranch, FailedRender};
use super::heads::DryHead;
use super::memory::stuck;
use super::output::Output;
use super::run::{BACKLOG_MAX, Run};
use super::{HydrateError, Stopped};
use crate::application::parent::Reach;
use crate::application::{self, Application, BranchName};
use crate::cache::{self, About, Record, State, Stuck};
use crate::diag::Diagnostic;
use crate::git::{ObjectId, object_id};
use crate::metadata::DryCommit;
use crate::path::RepoPath;
use crate::plan::Changes;
use crate::render;
use crate::settings::History;
use crate::view::{Kind, TreeFiles, View};

/// The file and the index of an Application.
type Identity = (RepoPath, usize);

/// An Application, and what it renders to.
type Rendered<'a> = (&'a Application, Result<Output, FailedRender>);

/// Where to go on.
struct Start {
    /// The dry commit that the state tells of.
    known: ObjectId,
    /// Those that follow.
    commits: Vec<ObjectId>,
    /// The branches as they stand.
    branches: BTreeMap<BranchName, Branch>,
    /// The dry commits that branches lack which stayed behind `known`.
    lacking: BTreeMap<BranchName, Vec<ObjectId>>,
}

impl Run<'_> {
    /// Brings all environment branches of a dry branch up to its tip; false when the cache knows too little, and
    /// nothing was done.
    pub(super) fn advance(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<bool, Stopped> {
        let Some(mut state) = self.recall(head) else { return Ok(false) };
        let start = if self.is_start(&state, head, heads) { self.start(&state, head)? } else { None };
        let Some(Start { known, commits, branches, lacking }) = start else {
            if let Some(memory) = &mut self.memory {
                memory.recalled = Some(state);
            }
            return Ok(false);
        };
        self.branches.extend(branches);
        for (name, lacking) in &lacking {
            self.recall_failures(&state, name, lacking, &commits, head);
        }
        let (mut reached, mut tree) = (known, self.setup.repository.commit(known)?.tree);
        for (index, dry) in commits.into_iter().enumerate() {
            if index > 0 && (self.setup.out_of_time)() {
                self.report.unfinished = true;
                break;
            }
            tree = self.step(&mut state, tree, dry, head, &lacking)?;
            reached = dry;
        }
        self.report.warnings.extend(state.head.warnings.iter().cloned());
        if reached != known {
            self.keep(state, head, reached);
        }
        Ok(true)
    }

    /// The dry commit that the state tells of, those that follow, and the branches; none when the branches stand
    /// elsewhere by now, or a dry commit is known to fail.
    fn start(&mut self, state: &State, head: &DryHead) -> Result<Option<Start>, Stopped> {
        let Some(known) = object_id(&state.head.dry_commit) else { return Ok(None) };
        let Some(commits) = self.line(known, head)? else { return Ok(None) };
        let Some(mut branches) = self.open_known(state, known, head)? else { return Ok(None) };
        let Some(stuck) = self.open_stuck(state, head)? else { return Ok(None) };
        let mut lacking = BTreeMap::new();
        for (name, branch) in stuck {
            lacking.insert(name.clone(), self.backlog(&branch, head)?);
            branches.insert(name, branch);
        }
        let mut recorded = self.environments.iter().filter(|(_, dry_branch)| **dry_branch == head.branch);
        let all_are_there = recorded.all(|(name, _)| branches.contains_key(name));
        let fails = branches.keys().any(|name| commits.iter().any(|dry| self.known_failure(name, *dry).is_some()));
        Ok((all_are_there && !fails).then_some(Start { known, commits, branches, lacking }))
    }

    /// Tells what is known of the dry commits that a branch lacks and that earlier runs tried.
    fn recall_failures(
        &mut self,
        state: &State,
        name: &BranchName,
        lacking: &[ObjectId],
        commits: &[ObjectId],
        head: &DryHead,
    ) {
        let stuck = state.head.stuck.iter().find(|stuck| stuck.name == name.as_str());
        for dry in lacking.iter().filter(|dry| !commits.contains(dry)) {
            if let Some(diagnostics) = self.known_failure(name, *dry).map(|failure| failure.diagnostics.clone()) {
                self.fail(name, head, *dry, diagnostics, true);
            } else if let (Some(stuck), Some(branch)) = (stuck, self.branches.get_mut(name))
                && object_id(&state.head.dry_commit) == Some(*dry)
            {
                let failed = FailedBranch::carried(stuck);
                branch.fail(*dry, failed.diagnostics(), true);
                branch.failed = Some(failed);
            }
        }
    }

    /// The dry commits after `known` up to the tip; none when the dry branch was rewound.
    fn line(&self, known: ObjectId, head: &DryHead) -> Result<Option<Vec<ObjectId>>, Stopped> {
        let repository = self.setup.repository;
        if !repository.has(known) {
            return Ok(None);
        }
        let line = repository.first_parents(known, head.tip, BACKLOG_MAX)?;
        Ok(line.map(|line| match self.rules.settings.history {
            History::Every => line,
            History::Tip => line.last().copied().into_iter().collect(),
        }))
    }

    /// The environment branches that were hydrated from `known`, if they stand where the state says.
    fn open_known(
        &mut self,
        state: &State,
        known: ObjectId,
        head: &DryHead,
    ) -> Result<Option<BTreeMap<BranchName, Branch>>, Stopped> {
        let mut branches = BTreeMap::new();
        for cache::Branch { name, sync, tip, applications, .. } in state.head.branches.iter().flatten() {
            let (Ok(name), Ok(sync)) = (BranchName::new(name), BranchName::new(sync)) else { return Ok(None) };
            let mut branch = self.open(&name, &sync, head)?;
            branch.applications = *applications;
            self.judge(&mut branch, head, std::iter::empty());
            let stands = branch.tip.as_ref().is_some_and(|found| Some(found.id) == object_id(tip));
            let lacks_note = self.setup.refs.records && branch.was_moved();
            let is_at = stands && branch.dry == Some(known) && branch.settings == self.rules.id;
            if !is_at || branch.closed || lacks_note {
                return Ok(None);
            }
            branches.insert(name, branch);
        }
        Ok(Some(branches))
    }

    /// Those that stayed behind, if they stand where the state says.
    fn open_stuck(&mut self, state: &State, head: &DryHead) -> Result<Option<BTreeMap<BranchName, Branch>>, Stopped> {
        let mut branches = BTreeMap::new();
        for stuck in &state.head.stuck {
            let (Ok(name), Ok(sync)) = (BranchName::new(&stuck.name), BranchName::new(&stuck.sync)) else {
                return Ok(None);
            };
            let mut branch = self.open(&name, &sync, head)?;
            branch.applications = stuck.applications;
            self.judge(&mut branch, head, std::iter::empty());
            if branch.closed || !Self::is_as_left(stuck, &branch) {
                return Ok(None);
            }
            branches.insert(name, branch);
        }
        Ok(Some(branches))
    }

    /// One dry commit, after that with the tree `before`; answers its tree. `lacking` has the dry commits that branches
    /// lack which stayed behind before this run.
    fn step(
        &mut self,
        state: &mut State,
        before: ObjectId,
        dry: ObjectId,
        head: &DryHead,
        lacking: &BTreeMap<BranchName, Vec<ObjectId>>,
    ) -> Result<ObjectId, Stopped> {
        self.expect_moves()?;
        let repository = self.setup.repository;
        let commit = repository.commit(dry)?;
        let (old, new) = (TreeFiles::new(repository, before), TreeFiles::new(repository, commit.tree));
        let unreadable = |why: String| HydrateError::Machine(format!("reading the tree of {dry}: {why}"));
        let changes = Changes::between(&old, &new).map_err(unreadable)?.ok_or(Stopped::Unknown)?;
        let applications = self.touched(state, &changes, &new, (head, dry))?;
        // What one limit for all of them did not let through may go through now.
        if state.head.stuck.iter().any(|stuck| stuck.of_commit) && !applications.is_empty() {
            return Err(Stopped::Unknown);
        }
        let each: Vec<&Application> = applications.iter().collect();
        let results = self.render(&each, &new, dry)?;
        let mut rendered: Vec<Rendered<'_>> = applications.iter().zip(results).collect();
        let records = records(&mut rendered)?;
        let mut failed = failed_branches(&rendered);
        rendered.retain(|(application, _)| !failed.contains_key(application.environment_branch()));
        let outputs: Vec<(&Application, &Output)> =
            rendered.iter().filter_map(|(application, result)| Some((*application, result.as_ref().ok()?))).collect();
        check_objects(state, &applications, &outputs)?;
        let dry_commit = DryCommit::new(&commit);
        for cache::Branch { name, repo_url, .. } in state.head.branches.clone().unwrap_or_default() {
            let Ok(name) = BranchName::new(&name) else { return Err(Stopped::Unknown) };
            if let Some(failed) = failed.remove(&name) {
                self.fail_by_renders(&name, head, dry, failed);
                continue;
            }
            let on_branch = outputs.iter().filter(|(app, _)| *app.environment_branch() == name);
            let paths: Vec<PathOutput<'_>> = on_branch.map(|(application, output)| output.at(application)).collect();
            if self.losses(&self.branches[&name], &paths, &[], &|_| false)?.is_some() {
                return Err(Stopped::Unknown);
            }
            let mut branch = self.branches.remove(&name).expect("every branch of the state was opened");
            self.write(&mut branch, &dry_commit, &repo_url, &paths, &[], &|_| false)?;
            self.branches.insert(name, branch);
        }
        for stuck in state.head.stuck.clone() {
            let Ok(name) = BranchName::new(&stuck.name) else { return Err(Stopped::Unknown) };
            if lacking.get(&name).is_none_or(|lacking| lacking.contains(&dry)) {
                // One that failed in this very run is told with its renders.
                let failed = self.branches.get(&name).and_then(|branch| branch.failed.clone());
                let failed = failed.unwrap_or_else(|| FailedBranch::carried(&stuck));
                self.fail_by_renders(&name, head, dry, failed);
            }
        }
        self.buffer().release();
        for record in records {
            state.put(record)?;
        }
        self.sort_out(state, dry);
        Ok(commit.tree)
    }

    /// Moves the branches of a state that failed at `dry` to those that stay behind.
    fn sort_out(&self, state: &mut State, dry: ObjectId) {
        let Some(branches) = state.head.branches.take() else { return };
        let found = |branch: &cache::Branch| self.branches.values().find(|one| one.name.as_str() == branch.name);
        let (mut moving, mut staying) = (Vec::new(), Vec::new());
        for branch in branches {
            match found(&branch).and_then(|branch| stuck(branch, dry)) {
                Some(stuck) => staying.push(stuck),
                None => moving.push(branch),
            }
        }
        state.head.branches = Some(moving);
        state.head.stuck.extend::<Vec<Stuck>>(staying);
    }

    /// The Applications that may render to something else than before, in the order of their files.
    fn touched(
        &self,
        state: &mut State,
        changes: &Changes,
        new: &TreeFiles<'_>,
        at: (&DryHead, ObjectId),
    ) -> Result<Vec<Application>, Stopped> {
        let view = View::new(new);
        self.check_patches(state, changes, &view)?;
        let clusters = self.rules.clusters(&view);
        let makes = |file: &application::File| !file.sets.is_empty();
        let sets_differ = changes.files.iter().any(|(before, after)| before.iter().chain(after).any(makes));
        if sets_differ || changes.may_change_clusters {
            return Err(Stopped::Unknown);
        }
        let mut touched: BTreeMap<Identity, Application> = BTreeMap::new();
        let mut same: BTreeSet<Identity> = BTreeSet::new();
        for (before, after) in &changes.files {
            for (application, record) in self.pairs(state, before.as_ref(), after.as_ref())? {
                // What is said of it names lines of this file.
                if is_stuck(state, application.environment_branch()) {
                    return Err(Stopped::Unknown);
                }
                let identity = (application.file.clone(), application.index);
                let application = &clusters.known(application);
                if record.fingerprint == application.fingerprint() {
                    same.insert(identity);
                } else {
                    touched.insert(identity, application.clone());
                }
            }
        }
        let mut makers = Vec::new();
        for record in state.readers(&changes.paths)? {
            let identity = (record.file.clone(), record.index);
            if touched.contains_key(&identity) {
                continue;
            }
            let confirmed = view.confirms(&record.reads).map_err(|_| Stopped::Unknown)?;
            if record.about == About::Maker {
                if !confirmed || record.names_the_commit {
                    makers.push(record);
                }
                continue;
            }
            // Without the setting, every directory that an Application names proves which repository this is.
            let proof = self.rules.settings.repo_urls.is_empty();
            if proof && !matches!(view.kind(&record.dry_path), Ok(Some(Kind::Directory))) {
                return Err(Stopped::Unknown);
            }
            if record.names_the_commit || !confirmed {
                touched.insert(identity, clusters.known(&application_of(&record, &view)?));
            }
        }
        for maker in makers {
            for application in self.made_again(state, &maker, &clusters, new, at)? {
                touched.insert((application.file.clone(), application.index), application);
            }
        }
        if touched.values().any(|application| is_stuck(state, application.environment_branch())) {
            return Err(Stopped::Unknown);
        }
        // What was touched may make others now.
        let mut reach = Reach::default();
        let mut may_make = |application: &Application| reach.may_make(application, new);
        if self.rules.makes == Some(true) && touched.values().any(&mut may_make) {
            return Err(Stopped::Unknown);
        }
        Ok(touched.into_values().collect())
    }

    /// The Applications of a changed file, each with its record. Only what they render may have changed.
    fn pairs<'f>(
        &self,
        state: &State,
        before: Option<&application::File>,
        after: Option<&'f application::File>,
    ) -> Result<Vec<(&'f Application, Record)>, Stopped> {
        let Some(file) = before.or(after) else { return Ok(Vec::new()) };
        if !self.rules.applications.matches(file.path.as_str()) {
            return Ok(Vec::new());
        }
        let known_fields = &self.rules.settings.known_fields;
        let sound = |file: &application::File| file.all_diagnostics().all(|told| told.is_of_field(known_fields));
        // An unknown field in another file is told as before, whatever this one says.
        let is_apart = |warning: &Diagnostic| warning.unknown_field.is_some();
        let (Some(before), Some(after)) = (before, after) else { return Err(Stopped::Unknown) };
        let mut records = state.of_file(&file.path)?;
        let counts = [before.applications().count(), after.applications().count(), records.len()];
        let odd =
            !sound(before) || !sound(after) || state.is_patch(&file.path)? || !state.head.warnings.iter().all(is_apart);
        if odd || counts != [after.documents.len(); 3] {
            return Err(Stopped::Unknown);
        }
        let mut pairs = Vec::new();
        for application in after.applications() {
            let found = records.iter().position(|record| record.is_of(application)).ok_or(Stopped::Unknown)?;
            let record = records.swap_remove(found);
            if record.placement != application.placement() {
                return Err(Stopped::Unknown);
            }
            pairs.push((application, record));
        }
        Ok(pairs)
    }

    /// No file may have become an Application, or stopped being one, because a kustomization names it as a patch.
    fn check_patches(&self, state: &mut State, changes: &Changes, view: &View<'_>) -> Result<(), Stopped> {
        for path in changes.patches.union(&changes.unpatched) {
            let is_patch = changes.patches.contains(path);
            if is_patch && state.is_patch(path)? {
                continue;
            }
            let is_application = |content: &[u8]| {
                application::may_hold_applications(path) && application::read(path, content).holds_source_hydrator
            };
            if view.read(path).is_ok_and(|blob| is_application(&blob.data)) {
                return Err(Stopped::Unknown);
            }
            if is_patch {
                state.add_patch(path.clone());
            }
        }
        Ok(())
    }
}

/// The Application of a record whose file did not change.
fn application_of(record: &Record, view: &View<'_>) -> Result<Application, Stopped> {
    let rendered = match &record.about {
        About::Made(text) => Application::remade(None, text),
        About::Written | About::Maker => None,
    };
    let read = || {
        let content = view.read(&record.file).ok()?;
        let file = application::read(&record.file, &content.data);
        match &record.about {
            About::Written => file.applications().find(|application| record.is_of(application)).cloned(),
            About::Made(text) => Application::remade(Some(&file), text).map(|made| (*made).clone()),
            About::Maker => None,
        }
    };
    let found = rendered.map(|made| (*made).clone()).or_else(read);
    found.filter(|found| found.placement() == record.placement).ok_or(Stopped::Unknown)
}

/// Whether a branch stayed behind already.
fn is_stuck(state: &State, name: &BranchName) -> bool {
    state.head.stuck.iter().any(|stuck| stuck.name == name.as_str())
}

/// What the cache keeps of the Applications that were rendered. One of which it can keep nothing is left to the run
/// without it, unless it was only cut off.
fn records(rendered: &mut [Rendered<'_>]) -> Result<Vec<cache::Encoded>, Stopped> {
    let mut records = Vec::new();
    for (application, result) in rendered {
        match result {
            Ok(output) => records.push(std::mem::take(&mut output.record)),
            Err(failed) if failed.kind == cache::FailureKind::CutOff => {}
            Err(failed) => records.push(failed.record(application).ok_or(Stopped::Unknown)?),
        }
    }
    Ok(records)
}

/// The branches with an Application that did not render.
fn failed_branches(rendered: &[Rendered<'_>]) -> BTreeMap<BranchName, FailedBranch> {
    let mut failed: BTreeMap<BranchName, Vec<FailedRender>> = BTreeMap::new();
    for (application, result) in rendered {
        if let Err(render) = result {
            failed.entry(application.environment_branch().clone()).or_default().push(render.clone());
        }
    }
    failed.into_iter().filter_map(|(name, renders)| Some((name, FailedBranch::of(renders)?))).collect()
}

/// No object may be rendered by two Applications of a branch. `applications` are all that were rendered again, `outputs`
/// those of branches of which none failed.
fn check_objects(
    state: &State,
    applications: &[Application],
    outputs: &[(&Application, &Output)],
) -> Result<(), Stopped> {
    let rendered: BTreeSet<(&RepoPath, usize)> = applications.iter().map(|app| (&app.file, app.index)).collect();
    let mut by_branch: BTreeMap<&BranchName, Vec<(&Application, &[crate::manifest::Key])>> = BTreeMap::new();
    for (application, output) in outputs {
        let branch = application.environment_branch();
        by_branch.entry(branch).or_default().push((application, &output.objects));
        // Objects of a cluster that is not known belong to nobody else.
        let Some(cluster) = application.destination_cluster.as_deref() else { continue };
        for key in &output.objects {
            let owners = state.owners(branch, Some(cluster), key)?;
            if owners.iter().any(|owner| !rendered.contains(&(&owner.file, owner.index))) {
                return Err(Stopped::Unknown);
            }
        }
    }
    let conflicts = by_branch.values().any(|objects| !render::conflicts(objects).is_empty());
    if conflicts { Err(Stopped::Unknown) } else { Ok(()) }
}
