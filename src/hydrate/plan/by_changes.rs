//! Plans from one dry commit to the next by what the cache knows of the first.
//!
//! When a state says that the branches of a dry branch were left whole by an earlier dry commit, an Application changes
//! only with its document, with something that its render looked at, or with the commit itself if its result names that.
//! All others render to the same, and their files are on the branch as they would be written: their README and
//! metadata are remade only when settings, document or manifest change.
//!
//! What is broken costs the others nothing. A branch stays where it is by an Application that does not render, or by documents
//! that are wrong; an Application stays alone where the setting `onFailure` says so, or because it is paused. As long as nothing
//! changes that this rests on, it is so at each further dry commit, and is said again.
//!
//! Applications that come, go or move are [judged](super::beside) beside what the state knows of all others, and what makes
//! Applications is [expanded again](super::remade) where something differs that it looked at.
//!
//! Only the plain cases are planned here. Whatever is odd or wrong is left to the look at
//! [everything](super::by_everything) of this dry branch, which judges all of it anew; the run starts over then, and finds what it
//! would have found at once.

mod files;
mod frozen;
mod opening;
mod rendered;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use dry_files::path::RepoPath;
use dry_files::view::{Kind, Reads, View};

use super::beside::{Beside, Joined};
use super::known;
use super::remade::Remaking;
use super::since::Since;
use super::skipped::LeftBehind;
use super::touched::Touched;
use super::untouched_inputs;
use super::{Failing, Hydration, Plan, Rendered, Stage, Step, Task, Why, Work};
use crate::argo::set::Only;
use crate::argo::{self, AppName, BranchName, SeedIdentities, SeedIdentity};
use crate::discover::{Changes, Removal};
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::documents::Documents;
use crate::hydrate::memory::stuck;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::known::{Branch as KnownBranch, Encoded, FailureKind, LACKING_MAX, Record, State, Stuck};
use crate::metadata::{DryCommit, allowed_removals};
use crate::owners::error::HydrateError;
use crate::owners::heads::DryHead;
use crate::owners::making::Making;
use crate::repo::ObjectId;
use crate::repo::TreeFiles;

use super::lost_objects::lacks;
use files::{compare_file, is_unrecognized, patches_are_plain};
use opening::{recall_failures, start};
use rendered::{Judging, may_leave};

/// A dry branch whose branches are where the cache says.
#[derive(Debug)]
pub(crate) struct ByChanges {
    /// What is known of the dry commit that was planned last, or that the state was found with.
    state: State,
    /// The dry commits to plan, oldest first.
    pub commits: Vec<ObjectId>,
    /// The dry commits that branches lack which stayed behind the one that the state was found with.
    lacking: BTreeMap<BranchName, Vec<ObjectId>>,
    /// The tree of the dry commit that was planned last.
    tree: ObjectId,
    /// The dry commit that was taken in last.
    reached: Option<ObjectId>,
    /// The failures of the last one that the cache can keep.
    failures: Vec<Encoded>,
    /// Whether Applications came or went in the dry commit that was planned last.
    has_joined: bool,
    /// Whether that commit was not rendered, so that nothing is known of those that came.
    is_presumed: bool,
    /// Whether Applications went from one branch to another in the dry commit that was planned last.
    has_moved: bool,
    /// Which Applications went from which branch in that commit.
    went: Vec<(BranchName, AppName)>,
    /// Which paths of which branch came in it.
    came: Vec<(BranchName, RepoPath)>,
    /// What changed since the state was found.
    since: Since,
}

impl ByChanges {
    /// Opens the environment branches of a dry branch, and says what is wrong or odd as before; gives the state back, and nothing
    /// was done, when it knows too little.
    pub(crate) fn open(
        state: State,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Result<Self, State>, Stopped> {
        // What found no room is tried again, whatever changed.
        let has_room_now = state.head.stuck.iter().any(|stuck| stuck.no_room);
        if has_room_now || !run.memory.is_start(&state, head, heads, &run.found) {
            return Ok(Err(state));
        }
        let Some((known, commits, branches, lacking)) = start(&state, run, head)? else { return Ok(Err(state)) };
        // Another dry branch that shares it may have reached a dry commit that asks for no hydrated one.
        let is_as_found =
            |branch: &Branch| branch.is_as_found() && branch.records(&run.found.policy.settings).is_empty();
        let is_changed = |name: &BranchName| run.branches.get(name).is_some_and(|branch| !is_as_found(branch));
        if branches.keys().any(is_changed) {
            return Ok(Err(state));
        }
        run.branches.extend(branches);
        run.as_before.extend(state.head.as_before().cloned());
        run.report.warnings.extend(state.head.warnings.iter().cloned());
        run.report.problems.extend(state.head.problems.iter().cloned());
        let stuck: HashMap<&str, &Stuck> = state.head.stuck.iter().map(|stuck| (&*stuck.name, stuck)).collect();
        for (name, lacking) in &lacking {
            recall_failures((&state, stuck.get(name.as_str()).copied()), name, lacking, &commits, run, head);
        }
        let tree = run.found.dry_tree(known)?;
        let (reached, failures) = (None, Vec::new());
        Ok(Ok(Self {
            state,
            commits,
            lacking,
            tree,
            reached,
            failures,
            has_joined: false,
            is_presumed: false,
            has_moved: false,
            went: Vec::new(),
            came: Vec::new(),
            since: Since::nothing(known),
        }))
    }

    /// Plans one dry commit, after the one that was planned before.
    pub(crate) fn plan(
        &mut self,
        dry: ObjectId,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Plan, Stopped> {
        let commit = run.found.setup.repository.commit(dry)?;
        let tree = run.found.dry_tree(dry)?;
        let (old, new) = (run.files(self.tree), run.files(tree));
        let changes = Changes::between(&*old, &*new, &run.found.policy.plain)
            .map_err(HydrateError::tree(dry))?
            .ok_or(Stopped::NotPlain)?;
        if self.is_presumed || !self.is_plain_change(&changes, &View::new(&*new), run)? {
            return Err(Stopped::NotPlain);
        }
        let touched = self.touched(&changes, (&*old, &*new), run, (head, dry))?;
        let sources = touched.work.values().flat_map(|(application, _)| application.all_sources());
        let own = sources.filter(|source| source.input.is_none());
        if run.found.follows_one_of(own.map(|source| &*source.target_revision), &head.branch) {
            return Err(Stopped::NotPlain);
        }
        let (allowed, known) = (allowed_removals(&commit.message), run.known_identities(&head.branch));
        if !self.is_plain((&changes, &touched), &allowed, &known, run)? {
            return Err(Stopped::NotPlain);
        }
        if is_unrecognized(&touched, (&*old, &*new), &run.found.policy)? {
            return Err(Stopped::NotPlain);
        }
        self.since.note_touched(&touched);
        self.note_frozen(&touched);
        let mut inputs = untouched_inputs::of_branches(&self.state, &touched)?;
        let mut joined = self.join(&touched, run, (head, heads), (&*new, allowed.clone()))?;
        self.has_joined = !joined.is_empty();
        self.has_moved = touched.has_moved();
        let came = touched.coming().map(|one| (one.environment_branch().clone(), one.sync_path.clone()));
        self.came = came.collect();
        self.went = touched.gone.values().map(|record| (record.branch.clone(), record.name.clone())).collect();
        self.tree = tree;
        let view = View::new(&*new);
        let mut by_branch: BTreeMap<BranchName, Vec<Work>> = BTreeMap::new();
        for (application, why) in touched.work.into_values() {
            let failed = known::failure(&application, None, &run.memory, &view);
            let task = failed.map_or(Task::Render(why), Task::Fails);
            by_branch.entry(application.environment_branch().clone()).or_default().push(Work { application, task });
        }
        for work in by_branch.values_mut() {
            work.sort_by(|one, other| one.application.rank().cmp(&other.application.rank()));
        }
        let mut branches = BTreeMap::new();
        for known in self.state.head.branches.iter().flatten() {
            let name = BranchName::read(&known.name).map_err(|_| Stopped::Unknown)?;
            let joined = joined.remove(&name).unwrap_or_default();
            let work = by_branch.remove(&name).unwrap_or_default();
            let step = moving_step(known, &name, work, joined.removals, &allowed, run).ok_or(Stopped::NotPlain)?;
            let inputs = untouched_inputs::take(&mut inputs, &name);
            branches.insert(name, Step::Hydrate(Hydration { inputs, ..step }));
        }
        for stuck in &self.state.head.stuck {
            let name = BranchName::read(&stuck.name).map_err(|_| Stopped::Unknown)?;
            let work = by_branch.remove(&name).unwrap_or_default();
            if self.lacking.get(&name).is_none_or(|lacking| lacking.contains(&dry)) {
                let step = stuck_step(stuck, &name, work, run);
                branches.insert(name, step);
            } else if !work.is_empty() {
                return Err(Stopped::NotPlain);
            }
        }
        let (head, dry, identities) = (head.clone(), DryCommit::new(&commit), known);
        Ok(Stage { head, dry, tree, branches, beside: Vec::new(), identities })
    }

    /// Whether what differs between two dry trees has to do with Applications and what they read alone.
    fn is_plain_change(&mut self, changes: &Changes, view: &View<'_>, run: &Run<'_>) -> Result<bool, Stopped> {
        let is_wrong = self.state.head.wrong_files.iter().any(|file| changes.paths.contains(file));
        let makes = |file: &argo::File| !file.sets.is_empty();
        let sets_differ = changes.files.iter().any(|(before, after)| before.iter().chain(after).any(makes));
        let is_odd = is_wrong || sets_differ || changes.may_change_clusters;
        Ok(!is_odd && patches_are_plain(&mut self.state, changes, view, &run.found.policy.plain)?)
    }

    /// Whether nothing has to be found out of Applications that are not touched.
    fn is_plain(
        &self,
        (changes, touched): (&Changes, &Touched),
        allowed: &BTreeSet<String>,
        known: &SeedIdentities,
        run: &Run<'_>,
    ) -> Result<bool, Stopped> {
        let State { head, .. } = &self.state;
        let (comes, goes) = (touched.coming().next().is_some(), !touched.gone.is_empty());
        // What one limit for all of them did not let through may go through now. What the time was over for before it had read
        // its files may read any that differs.
        let has_work = !touched.work.is_empty() || goes;
        let is_let_through =
            |stuck: &Stuck| (stuck.of_commit && !changes.paths.is_empty()) || (stuck.no_room && has_work);
        let may_go_through = head.stuck.iter().any(is_let_through);
        // What holds a branch may be what the dry commit allows.
        let is_allowed = head.stuck.iter().any(|stuck| allowed.contains(&stuck.name));
        // What moves draws for the branch that it was on, and what comes where another one left may not.
        let takes = touched.coming().any(|one| known.contains_key(&SeedIdentity::of(one)));
        let draws = touched.has_moved() || (comes && goes) || takes;
        let may_draw = draws && !run.found.policy.settings.nondeterministic.is_empty();
        // What is held stays, whatever becomes of its document.
        let is_held = touched.has_held(&run.found);
        // What it renders to may be why the branch stays that it left.
        let has_left = || touched.work.values().any(|(application, _)| head.moved.contains(&application.name));
        let is_odd = may_go_through || is_allowed || may_draw || is_held || (goes && head.is_wrong()) || has_left();
        Ok(!is_odd && !touched.concerns_stuck(&self.state)?)
    }

    /// Whether the set of Applications is unchanged: each was there before, on the same branch, and none was made anew.
    pub(crate) fn has_same_applications(&self) -> bool {
        self.since.has_same_applications()
    }

    /// Whether what was rendered is plain too. Errors: it is not.
    pub(crate) fn check(&mut self, rendered: &Rendered, run: &Run<'_>) -> Result<(), Stopped> {
        self.failures = failures(rendered)?;
        // The branch that it left may have to keep it.
        let is_kept = self.has_moved && rendered.work().any(|done| done.result.is_err());
        // What is lost of one that left may be what one that came lacks.
        let is_kept = is_kept || (self.has_joined && rendered.work().any(lacks));
        match !is_kept && (Judging { state: &self.state, rendered, run }).is_plain()? {
            true => Ok(()),
            false => Err(Stopped::NotPlain),
        }
    }

    /// The manifests of Applications of a branch that define kinds of an API group, but for those that were rendered again. None
    /// where the cache is damaged: they only help to judge objects.
    pub(crate) fn definitions(&self, branch: &BranchName, group: &str, rendered: &Rendered) -> Vec<ObjectId> {
        let is_again = |record: &Record| rendered.work().any(|done| record.is_of(&done.application));
        let mut known = self.state.definers(branch, group).unwrap_or_default();
        known.retain(|record| record.branch == *branch && !is_again(record));
        known.iter().filter_map(|record| ObjectId::try_from(record.manifest.as_bytes()).ok()).collect()
    }

    /// Takes in what was rendered, and what became of the branches of `run`.
    pub(crate) fn take(&mut self, rendered: Rendered, run: &Run<'_>) -> Result<(), Stopped> {
        let dry = rendered.dry.id;
        for step in rendered.branches.into_values() {
            let Step::Hydrate(hydration) = step else { continue };
            for output in hydration.work.into_iter().filter_map(|done| done.result.ok()) {
                self.state.put(output.record)?;
            }
        }
        for record in std::mem::take(&mut self.failures) {
            self.state.put(record)?;
        }
        self.sort_out(&run.branches, dry);
        self.reached = Some(dry);
        Ok(())
    }

    /// Goes on as if the dry commit that was planned last had been rendered.
    pub(crate) fn presume(&mut self, branches: &BTreeMap<BranchName, Branch>, dry: ObjectId) {
        self.is_presumed = self.has_joined;
        self.sort_out(branches, dry);
    }

    /// Moves the branches that failed at `dry` to those that stay behind.
    fn sort_out(&mut self, branches: &BTreeMap<BranchName, Branch>, dry: ObjectId) {
        let Some(known) = self.state.head.branches.take() else { return };
        let found = |branch: &KnownBranch| branches.get(branch.name.as_str());
        let (mut moving, mut staying) = (Vec::new(), Vec::new());
        for branch in known {
            let came = self.came.iter().filter(|(name, _)| name.as_str() == branch.name);
            let lacking: BTreeSet<RepoPath> = came.map(|(_, path)| path.clone()).collect();
            // What was left alone has paths that it does not show either.
            let lacking = Some(lacking).filter(|lacking| branch.left.is_none() && lacking.len() <= LACKING_MAX);
            match found(&branch).and_then(|branch| stuck(branch, dry, lacking)) {
                Some(stuck) => staying.push(stuck),
                None => moving.push(branch),
            }
        }
        // What went from a branch that stays behind is on it still.
        let stays = |branch: &BranchName| staying.iter().any(|stuck: &Stuck| stuck.name == branch.as_str());
        let kept = self.went.iter().filter(|(branch, _)| stays(branch)).map(|(_, name)| name.clone());
        self.state.head.unrecorded.extend(kept);
        self.state.head.branches = Some(moving);
        self.state.head.stuck.extend::<Vec<Stuck>>(staying);
    }

    /// Leaves for the next run what is known now.
    pub(crate) fn finish(self, run: &mut Run<'_>, head: &DryHead) {
        let Self { state, reached, since, .. } = self;
        run.since.insert(head.branch.clone(), since);
        if let Some(reached) = reached {
            run.memory.keep(state, head, reached, &run.found, &run.branches);
        }
    }

    /// The Applications that a dry commit touches.
    fn touched(
        &mut self,
        changes: &Changes,
        (old, new): (&TreeFiles<'_>, &TreeFiles<'_>),
        run: &Run<'_>,
        (head, dry): (&DryHead, ObjectId),
    ) -> Result<Touched, Stopped> {
        let found = &run.found;
        let view = View::new(new);
        let only = Only::new(&changes.paths);
        let state = &mut self.state;
        let clusters = found.policy.clusters(&view);
        let mut touched = Touched::default();
        let mut written = Vec::new();
        for (before, after) in &changes.files {
            let applications = compare_file(state, before.as_ref(), after.as_ref(), &clusters, found, &mut touched)?;
            written.extend(applications);
            self.since.note_former(before.iter().flat_map(argo::File::applications));
        }
        self.since.note_documents(&written);
        let mut differing = Vec::new();
        let mut documents = Documents::of(&view, &found.policy.plain);
        for record in state.readers(&changes.paths, &changes.directories)? {
            if touched.has(&record.identity()) {
                continue;
            }
            let reads = record.reads.iter().filter(|((path, _), _)| only.has(path));
            let reads: Reads = reads.map(|(read, seen)| (read.clone(), *seen)).collect();
            let difference = view.first_difference(&reads).map_err(|_| Stopped::NotPlain)?;
            if !record.is_of_application() {
                if difference.is_some() || record.names_the_commit {
                    differing.push(record);
                }
                continue;
            }
            // It is not rendered before its branch is corrected, whatever it reads.
            if state.head.is_held(&record.branch) {
                continue;
            }
            // Without the setting, every directory that an Application names proves which repository this is.
            let proof = found.policy.settings.repo_urls.is_empty();
            if proof && !matches!(view.kind(&record.dry_path), Ok(Some(Kind::Directory))) {
                return Err(Stopped::NotPlain);
            }
            let why = match difference {
                Some(path) => Why::Read(path.clone()),
                None if record.names_the_commit => Why::NamesTheCommit,
                None => continue,
            };
            touched.render(clusters.known(&*documents.application(&record)?), why);
        }
        let id = dry.to_string();
        let failed = Some(run.trees.failed.by(&found.policy, found.setup.renderers, found.setup.repository));
        let making = Making { failed, ..found.policy.making(found.setup.renderers, &id) };
        let makers = found.policy.makers(Some(&head.branch), found.default_branch());
        let (files, only, clusters) = (new, &only, &clusters);
        let touched_now = &mut touched;
        let mut remaking = Remaking { state, touched: touched_now, old, files, only, clusters, makers, making, found };
        remaking.expand(differing, written)?;
        Ok(touched)
    }

    /// Notes that Applications came and went; answers what becomes of their branches.
    fn join(
        &mut self,
        touched: &Touched,
        run: &mut Run<'_>,
        (head, heads): (&DryHead, &[DryHead]),
        (files, allowed): (&TreeFiles<'_>, BTreeSet<String>),
    ) -> Result<BTreeMap<BranchName, Joined>, Stopped> {
        let all = self.state.head.applications + touched.coming().count();
        self.state.head.applications = all.checked_sub(touched.gone.len()).ok_or(Stopped::Unknown)?;
        let (state, found, branches) = (&self.state, &run.found, &run.branches);
        let joined = Beside { state, touched, found, head, heads, branches, files, allowed }.judge()?;
        for (file, index) in touched.gone.keys() {
            self.state.remove(file, *index)?;
        }
        for application in touched.coming() {
            let (name, path) = (application.environment_branch(), &application.sync_path);
            let is_rendered = self.state.head.staying(name).is_none_or(|staying| staying.is_rendered);
            self.state.head.unrecorded.extend((!is_rendered).then(|| application.name.clone()));
            self.state.head.note_lacking(name, path);
        }
        for (name, Joined { applications, .. }) in &joined {
            self.state.head.note_count(name, *applications);
            run.branches.get_mut(name).into_iter().for_each(|branch| branch.applications = *applications);
        }
        Ok(joined)
    }
}

/// What is done on a branch that goes on; none where more is to be known of it.
fn moving_step(
    known: &KnownBranch,
    name: &BranchName,
    work: Vec<Work>,
    removals: Vec<Removal>,
    allowed: &BTreeSet<String>,
    run: &Run<'_>,
) -> Option<Hydration<Work>> {
    let stays = known.left.as_ref().map(|left| Rc::new(LeftBehind::recalled(left)));
    let is_left = |work: &Work| stays.as_ref().is_some_and(|stays| stays.has(&work.application.sync_path));
    let is_allowed = stays.is_some() && allowed.contains(name.as_str());
    let fails = |work: &Work| matches!(work.task, Task::Fails(_));
    // One that stays may have among its objects what would go.
    let may_keep = stays.is_some() && !removals.is_empty();
    if is_allowed || may_keep || work.iter().any(is_left) || (may_leave(name, run) && work.iter().any(fails)) {
        return None;
    }
    let here = known.left.iter().flat_map(|left| &left.paths).filter(|path| path.is_read).count();
    let untouched = known.applications.saturating_sub(work.len() + here);
    Some(Hydration { removals, stays, ..Hydration::of(known.repo_url.clone(), work, untouched) })
}

/// What is done on a branch that stays behind: its failure is reported again, as long as what is rendered adds nothing to it.
fn stuck_step(stuck: &Stuck, name: &BranchName, work: Vec<Work>, run: &Run<'_>) -> Step<Work> {
    if stuck.of_documents {
        return Step::Fail(Failing::Lasting(stuck.mistakes.clone()));
    }
    // One that failed in this very run is reported with its renders.
    let failed = run.branches.get(name).and_then(|branch| branch.failed().cloned());
    let failed = failed.unwrap_or_else(|| FailedBranch::carried(stuck));
    if work.is_empty() {
        return Step::Fail(Failing::Renders(failed));
    }
    let untouched = stuck.applications.saturating_sub(work.len());
    Step::Hydrate(Hydration { stuck: Some(Rc::new(failed)), ..Hydration::of(String::new(), work, untouched) })
}

/// What the cache keeps of the Applications that did not render. One of which it can keep nothing is left to the look at
/// everything, unless it was only cut off.
fn failures(rendered: &Rendered) -> Result<Vec<Encoded>, Stopped> {
    let mut records = Vec::new();
    for done in rendered.hydrations().flat_map(|(_, hydration)| &hydration.work) {
        if let Err(failed) = &done.result
            && failed.kind != FailureKind::CutOff
        {
            records.push(failed.record(&done.application).ok_or(Stopped::NotPlain)?);
        }
    }
    Ok(records)
}
