//! From one dry commit to the next by what the cache knows of the first.
//!
//! When a state says that the branches of a dry branch were left whole by an earlier dry commit, an Application changes
//! only with its document, with something that its render looked at, or with the commit itself if its result names that.
//! All others render to the same, and their files stand in the branch as they would be written: their README and
//! metadata are remade only when settings, document or manifest change.
//!
//! Only the plain cases are handled here. Whatever is new, gone, moved, odd or wrong is left to the run without a cache,
//! which judges everything anew; it starts over then, and finds what it would have found at once.

use std::collections::{BTreeMap, BTreeSet};

use super::branch::{Branch, PathOutput};
use super::heads::DryHead;
use super::output::Output;
use super::run::{BACKLOG_MAX, Run};
use super::{HydrateError, Stopped};
use crate::application::{self, Application, BranchName};
use crate::cache::{self, Record, State};
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

/// Where to go on: a dry commit, those that follow, and the branches as they stand.
type Start = (ObjectId, Vec<ObjectId>, BTreeMap<BranchName, Branch>);

impl Run<'_> {
    /// Brings all environment branches of a dry branch up to its tip; false when the cache knows too little, and
    /// nothing was done.
    pub(super) fn advance(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<bool, Stopped> {
        let Some(mut state) = self.recall(head) else { return Ok(false) };
        let start = if self.is_start(&state, head, heads) { self.start(&state, head)? } else { None };
        let Some((known, commits, branches)) = start else {
            if let Some(memory) = &mut self.memory {
                memory.recalled = Some(state);
            }
            return Ok(false);
        };
        let names: Vec<BranchName> = branches.keys().cloned().collect();
        self.branches.extend(branches);
        let (mut reached, mut tree) = (known, self.setup.repository.commit(known)?.tree);
        for (index, dry) in commits.into_iter().enumerate() {
            if index > 0 && (self.setup.out_of_time)() {
                self.report.unfinished = true;
                break;
            }
            tree = self.step(&mut state, tree, dry, &names)?;
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
        let Some(branches) = self.open_known(state, known, head)? else { return Ok(None) };
        let fails = branches.keys().any(|name| commits.iter().any(|dry| self.known_failure(name, *dry).is_some()));
        Ok((!fails).then_some((known, commits, branches)))
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

    /// The environment branches, if they stand where the state says, and no other one belongs to the dry branch.
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
            if !stands || branch.closed || branch.dry != Some(known) || branch.settings != self.rules.id {
                return Ok(None);
            }
            branches.insert(name, branch);
        }
        let mut recorded = self.environments.iter().filter(|(_, dry_branch)| **dry_branch == head.branch);
        Ok(recorded.all(|(name, _)| branches.contains_key(name)).then_some(branches))
    }

    /// One dry commit, after that with the tree `before`; answers its tree.
    fn step(
        &mut self,
        state: &mut State,
        before: ObjectId,
        dry: ObjectId,
        names: &[BranchName],
    ) -> Result<ObjectId, Stopped> {
        self.expect_moves()?;
        let repository = self.setup.repository;
        let commit = repository.commit(dry)?;
        let (old, new) = (TreeFiles::new(repository, before), TreeFiles::new(repository, commit.tree));
        let unreadable = |why: String| HydrateError::Machine(format!("reading the tree of {dry}: {why}"));
        let changes = Changes::between(&old, &new).map_err(unreadable)?.ok_or(Stopped::Unknown)?;
        let applications = self.touched(state, &changes, &new)?;
        let each: Vec<&Application> = applications.iter().collect();
        let mut outputs = Vec::new();
        for result in self.render(&each, &new, dry) {
            outputs.push(result.map_err(|failure| match failure {
                render::Failure::Mistakes(_) => Stopped::Unknown,
                render::Failure::World(error) if error.is_limit() => Stopped::Unknown,
                render::Failure::World(error) => Stopped::Failed(HydrateError::Machine(error.to_string())),
            })?);
        }
        check_objects(state, &applications, &outputs)?;
        let dry_commit = DryCommit::new(&commit);
        for name in names {
            let on_branch = applications.iter().zip(&outputs).filter(|(app, _)| app.environment_branch() == name);
            let paths: Vec<PathOutput<'_>> = on_branch.map(|(application, output)| output.at(application)).collect();
            let known = state.head.branches.iter().flatten().find(|branch| branch.name == name.as_str());
            let repo_url = known.map(|branch| branch.repo_url.clone()).unwrap_or_default();
            if self.losses(&self.branches[name], &paths, &[], &|_| false)?.is_some() {
                return Err(Stopped::Unknown);
            }
            let mut branch = self.branches.remove(name).expect("every branch of the state was opened");
            self.write(&mut branch, &dry_commit, &repo_url, &paths, &[], &|_| false)?;
            self.branches.insert(name.clone(), branch);
        }
        self.buffer().release();
        for output in outputs {
            state.put(output.record)?;
        }
        Ok(commit.tree)
    }

    /// The Applications that may render to something else than before, in the order of their files.
    fn touched(&self, state: &mut State, changes: &Changes, new: &TreeFiles<'_>) -> Result<Vec<Application>, Stopped> {
        let view = View::new(new);
        self.check_patches(state, changes, &view)?;
        let mut touched: BTreeMap<Identity, Application> = BTreeMap::new();
        let mut same: BTreeSet<Identity> = BTreeSet::new();
        for (before, after) in &changes.files {
            for (application, record) in self.pairs(state, before.as_ref(), after.as_ref())? {
                let identity = (application.file.clone(), application.index);
                if record.fingerprint == application.fingerprint() {
                    same.insert(identity);
                } else {
                    touched.insert(identity, application.clone());
                }
            }
        }
        for record in state.readers(&changes.paths)? {
            let identity = (record.file.clone(), record.index);
            if touched.contains_key(&identity) {
                continue;
            }
            // Without the setting, every directory that an Application names proves which repository this is.
            let proof = self.rules.settings.repo_urls.is_empty();
            if proof && !matches!(view.kind(&record.dry_path), Ok(Some(Kind::Directory))) {
                return Err(Stopped::Unknown);
            }
            if record.names_the_commit || !view.confirms(&record.reads).map_err(|_| Stopped::Unknown)? {
                touched.insert(identity, application_of(&record, &view)?);
            }
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
    let content = view.read(&record.file).map_err(|_| Stopped::Unknown)?;
    let file = application::read(&record.file, &content.data);
    let found = file.applications().find(|application| record.is_of(application)).cloned();
    found.filter(|found| found.placement() == record.placement).ok_or(Stopped::Unknown)
}

/// No object may be rendered by two Applications of a branch.
fn check_objects(state: &State, applications: &[Application], outputs: &[Output]) -> Result<(), Stopped> {
    let rendered: BTreeSet<(&RepoPath, usize)> = applications.iter().map(|app| (&app.file, app.index)).collect();
    let mut by_branch: BTreeMap<&BranchName, Vec<(&Application, &[crate::manifest::Key])>> = BTreeMap::new();
    for (application, output) in applications.iter().zip(outputs) {
        let branch = application.environment_branch();
        by_branch.entry(branch).or_default().push((application, &output.objects));
        for key in &output.objects {
            let owners = state.owners(branch, application.destination_cluster.as_deref(), key)?;
            if owners.iter().any(|owner| !rendered.contains(&(&owner.file, owner.index))) {
                return Err(Stopped::Unknown);
            }
        }
    }
    let conflicts = by_branch.values().any(|objects| !render::conflicts(objects).is_empty());
    if conflicts { Err(Stopped::Unknown) } else { Ok(()) }
}
