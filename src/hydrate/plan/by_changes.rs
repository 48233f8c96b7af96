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
//! Applications that come, go or move are [judged](super::joining) beside what the state knows of all others, and what makes
//! Applications is [expanded again](super::remade) where something differs that it looked at.
//!
//! Only the plain cases are planned here. Whatever is odd or wrong is left to the look at
//! [everything](super::by_everything), which judges all of it anew; the run starts over then, and finds what it would have
//! found at once.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{Files, Kind, Reads, View};

use super::joining::{Joined, Joining};
use super::known;
use super::remade::Remaking;
use super::since::Since;
use super::skipped::LeftBehind;
use super::touched::Touched;
use super::unrecognized::{GoneDocuments, Looked};
use super::untouched_inputs;
use super::{Done, Failing, Hydration, Plan, Rendered, Stage, Step, Task, Why, Work};
use crate::argo::set::Only;
use crate::argo::{self, Application, BranchName, RuleSet, SeedIdentity, makers_of};
use crate::discover::{Changes, Lists};
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::commits::conflicts;
use crate::hydrate::make::documents::Documents;
use crate::hydrate::make::losses::losses;
use crate::hydrate::make::output::PathOutput;
use crate::hydrate::memory::{is_as_left, stuck};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::known::{About, Branch as KnownBranch, Encoded, FailureKind, Frozen, Record, State, Stuck};
use crate::metadata::{DryCommit, allowed_removals};
use crate::owners::error::HydrateError;
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::owners::making::Making;
use crate::owners::snapshot::Snapshot;
use crate::repo::TreeFiles;
use crate::repo::{ObjectId, object_id};
use crate::settings::{Held, History};

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
    /// What changed since the state was found.
    since: Since,
}

impl ByChanges {
    /// Opens the environment branches of a dry branch; gives the state back, and nothing was done, when it knows too
    /// little.
    pub(crate) fn open(
        state: State,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Result<Self, State>, Stopped> {
        if !run.memory.is_start(&state, head, heads, &run.found) {
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
        if self.is_presumed {
            return Err(Stopped::Unknown);
        }
        let commit = run.found.setup.repository.commit(dry)?;
        let tree = run.found.dry_tree(dry)?;
        let (old, new) = (run.files(self.tree), run.files(tree));
        let changes = Changes::between(&*old, &*new, &run.found.policy.plain)
            .map_err(HydrateError::tree(dry))?
            .ok_or(Stopped::Unknown)?;
        let touched = self.touched(&changes, (&*old, &*new), run, (head, dry))?;
        // What one limit for all of them did not let through may go through now.
        let is_nothing = touched.work.is_empty() && touched.gone.is_empty();
        if self.state.head.stuck.iter().any(|stuck| stuck.of_commit) && !is_nothing {
            return Err(Stopped::Unknown);
        }
        // What is held stays, whatever becomes of its document.
        if touched.has_held(&run.found) {
            return Err(Stopped::Unknown);
        }
        if is_unrecognized(&touched, &*old, &*new)? {
            return Err(Stopped::Unknown);
        }
        // What moves draws for the branch that it was on, and what comes where another one left may not: a look at everything
        // finds that.
        let may_move = touched.has_moved() || (touched.coming().next().is_some() && !touched.gone.is_empty());
        let known = run.known_identities(&head.branch);
        let takes = touched.coming().any(|one| known.contains_key(&SeedIdentity::of(one)));
        if (may_move || takes) && !run.found.policy.settings.nondeterministic.is_empty() {
            return Err(Stopped::Unknown);
        }
        let allowed = allowed_removals(&commit.message);
        // What holds a branch may be what it allows.
        if self.state.head.stuck.iter().any(|stuck| allowed.contains(&stuck.name)) {
            return Err(Stopped::Unknown);
        }
        if self.state.head.is_wrong() && (touched.coming().next().is_some() || !touched.gone.is_empty()) {
            return Err(Stopped::Unknown);
        }
        self.since.note_touched(&touched);
        let mut inputs = untouched_inputs::of_branches(&self.state, &touched)?;
        let mut joined = self.join(&touched, run, (head, heads), allowed.clone())?;
        self.has_joined = !joined.is_empty();
        self.has_moved = touched.has_moved();
        self.tree = tree;
        let view = View::new(&*new);
        let mut by_branch: BTreeMap<BranchName, Vec<Work>> = BTreeMap::new();
        for (application, why) in touched.work.into_values() {
            let failed = known::failure(&application, None, &run.memory, &view);
            let task = failed.map_or(Task::Render(why), Task::Fails);
            by_branch.entry(application.environment_branch().clone()).or_default().push(Work { application, task });
        }
        let mut branches = BTreeMap::new();
        for KnownBranch { name, repo_url, applications, left, .. } in self.state.head.branches.iter().flatten() {
            let Ok(name) = BranchName::read(name) else { return Err(Stopped::Unknown) };
            let mut work = by_branch.remove(&name).unwrap_or_default();
            if may_leave(&name, run) && work.iter().any(|work| matches!(work.task, Task::Fails(_))) {
                return Err(Stopped::Unknown);
            }
            work.sort_by(|one, other| one.application.rank().cmp(&other.application.rank()));
            let stays = left.as_ref().map(|left| Rc::new(LeftBehind::recalled(left)));
            if let Some(stays) = &stays
                && (allowed.contains(name.as_str()) || work.iter().any(|work| stays.has(&work.application.sync_path)))
            {
                return Err(Stopped::Unknown);
            }
            let here = left.as_ref().map_or(0, |left| left.paths.iter().filter(|path| path.is_read).count());
            let untouched = applications.saturating_sub(work.len() + here);
            let removals = joined.remove(&name).unwrap_or_default().removals;
            let inputs = untouched_inputs::take(&mut inputs, &name);
            let hydration = Hydration { removals, stays, inputs, ..Hydration::of(repo_url.clone(), work, untouched) };
            branches.insert(name, Step::Hydrate(hydration));
        }
        for stuck in &self.state.head.stuck {
            let Ok(name) = BranchName::read(&stuck.name) else { return Err(Stopped::Unknown) };
            if self.lacking.get(&name).is_none_or(|lacking| lacking.contains(&dry)) {
                // One that failed in this very run is reported with its renders.
                let failed = run.branches.get(&name).and_then(|branch| branch.failed().cloned());
                let failing = match stuck.of_documents {
                    true => Failing::Lasting(stuck.mistakes.clone()),
                    false => Failing::Renders(failed.unwrap_or_else(|| FailedBranch::carried(stuck))),
                };
                branches.insert(name, Step::Fail(failing));
            }
        }
        let (head, dry, identities) = (head.clone(), DryCommit::new(&commit), known);
        Ok(Stage { head, dry, tree, branches, beside: Vec::new(), identities })
    }

    /// Whether the set of Applications is unchanged: each was there before, on the same branch, and none was made anew.
    pub(crate) fn has_same_applications(&self) -> bool {
        !self.has_joined && !self.has_moved && !self.since.is_more
    }

    /// Whether what was rendered is plain too. Errors: it is not.
    pub(crate) fn check(&mut self, rendered: &Rendered, run: &Run<'_>) -> Result<(), Stopped> {
        self.failures = failures(rendered)?;
        // The branch that it left may have to keep it.
        if self.has_moved && rendered.work().any(|done| done.result.is_err()) {
            return Err(Stopped::Unknown);
        }
        if rendered.hydrations().any(|(name, hydration)| may_leave(name, run) && hydration.failed().next().is_some()) {
            return Err(Stopped::Unknown);
        }
        let whole = || rendered.hydrations().filter(|(_, hydration)| hydration.failed().next().is_none());
        let again: BTreeSet<(&RepoPath, usize)> = rendered
            .hydrations()
            .flat_map(|(_, hydration)| &hydration.work)
            .map(|done| (&done.application.file, done.application.index))
            .collect();
        for (name, hydration) in whole() {
            self.check_objects(name, hydration, &again)?;
        }
        for (name, hydration) in whole() {
            let paths: Vec<PathOutput<'_>> =
                hydration.outputs().map(|(application, output)| output.at(application)).collect();
            let branch = run.branches.get(name).ok_or(Stopped::Unknown)?;
            if losses(branch, &paths, &hydration.removals, &|_| false, &run.found)?.is_some() {
                return Err(Stopped::Unknown);
            }
        }
        Ok(())
    }

    /// No object may be rendered by two Applications of a branch; `again` are all Applications that were rendered again.
    fn check_objects(
        &self,
        branch: &BranchName,
        hydration: &Hydration<Done>,
        again: &BTreeSet<(&RepoPath, usize)>,
    ) -> Result<(), Stopped> {
        for (application, output) in hydration.outputs() {
            // Objects of a cluster that is not known are shared with no other.
            let Some(cluster) = application.destination_cluster.as_deref() else { continue };
            let owners = self.state.owners(branch, Some(cluster), &output.objects)?;
            if owners.iter().any(|owner| !again.contains(&(&owner.file, owner.index))) {
                return Err(Stopped::Unknown);
            }
            let stays = hydration.stays.iter().flat_map(|stays| &stays.paths).filter_map(|left| left.objects.as_ref());
            let mut keys = stays.filter(|left| left.cluster.as_deref() == Some(cluster)).flat_map(|left| &left.keys);
            if keys.any(|key| output.objects.contains(key)) {
                return Err(Stopped::Unknown);
            }
        }
        if conflicts(hydration).is_empty() { Ok(()) } else { Err(Stopped::Unknown) }
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
            match found(&branch).and_then(|branch| stuck(branch, dry)) {
                Some(stuck) => staying.push(stuck),
                None => moving.push(branch),
            }
        }
        self.state.head.branches = Some(moving);
        self.state.head.stuck.extend::<Vec<Stuck>>(staying);
    }

    /// Says what is odd, and leaves for the next run what is known now.
    pub(crate) fn finish(self, run: &mut Run<'_>, head: &DryHead) {
        let Self { state, reached, since, .. } = self;
        run.since.insert(head.branch.clone(), since);
        run.report.warnings.extend(state.head.warnings.iter().cloned());
        run.report.problems.extend(state.head.problems.iter().cloned());
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
        if state.head.wrong_files.iter().any(|file| changes.paths.contains(file)) {
            return Err(Stopped::Unknown);
        }
        check_patches(state, changes, &view, &found.policy.plain)?;
        let clusters = found.policy.clusters(&view);
        let makes = |file: &argo::File| !file.sets.is_empty();
        let sets_differ = changes.files.iter().any(|(before, after)| before.iter().chain(after).any(makes));
        if sets_differ || changes.may_change_clusters {
            return Err(Stopped::Unknown);
        }
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
            if touched.has(&(record.file.clone(), record.index)) {
                continue;
            }
            let reads = record.reads.iter().filter(|((path, _), _)| only.has(path));
            let reads: Reads = reads.map(|(read, seen)| (read.clone(), *seen)).collect();
            let difference = view.first_difference(&reads).map_err(|_| Stopped::Unknown)?;
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
                return Err(Stopped::Unknown);
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
        touched.check_not_stuck(&self.state)?;
        Ok(touched)
    }

    /// Notes that Applications came and went; answers what becomes of their branches.
    fn join(
        &mut self,
        touched: &Touched,
        run: &mut Run<'_>,
        (head, heads): (&DryHead, &[DryHead]),
        allowed: BTreeSet<String>,
    ) -> Result<BTreeMap<BranchName, Joined>, Stopped> {
        let all = self.state.head.applications + touched.coming().count();
        self.state.head.applications = all.checked_sub(touched.gone.len()).ok_or(Stopped::Unknown)?;
        let (state, found, branches) = (&self.state, &run.found, &run.branches);
        let joined = Joining { state, touched, found, head, heads, branches, allowed }.judge()?;
        for (file, index) in touched.gone.keys() {
            self.state.remove(file, *index)?;
        }
        for known in self.state.head.branches.iter_mut().flatten() {
            let Some(Joined { applications, .. }) = joined.get(known.name.as_str()) else { continue };
            known.applications = *applications;
            if let Some(branch) = run.branches.get_mut(known.name.as_str()) {
                branch.applications = *applications;
            }
        }
        Ok(joined)
    }
}

/// The dry commit that a state is of, those that follow, the branches, and the dry commits that those lack which stayed
/// behind.
type Start = (ObjectId, Vec<ObjectId>, BTreeMap<BranchName, Branch>, BTreeMap<BranchName, Vec<ObjectId>>);

/// Where to go on; none when the branches are elsewhere by now, or a dry commit is known to fail.
fn start(state: &State, run: &mut Run<'_>, head: &DryHead) -> Result<Option<Start>, Stopped> {
    let Some(known) = object_id(&state.head.dry_commit) else { return Ok(None) };
    let Some(commits) = line(known, &run.found, head)? else { return Ok(None) };
    let Some(mut branches) = open_known(state, known, run, head)? else { return Ok(None) };
    let Some(stuck) = open_stuck(state, run, head)? else { return Ok(None) };
    let mut lacking = BTreeMap::new();
    for (name, branch) in stuck {
        lacking.insert(name.clone(), branch.backlog(head, &run.found)?);
        branches.insert(name, branch);
    }
    let Some(frozen) = open_frozen(state, run, head)? else { return Ok(None) };
    branches.extend(frozen);
    let all_are_there = run.found.hydrated_from(&head.branch).all(|name| branches.contains_key(name));
    let known_failure = |name, dry| run.ledger.known_failure(name, dry, run.found.policy.id);
    let fails = branches.keys().any(|name| commits.iter().any(|dry| known_failure(name, *dry).is_some()));
    Ok((all_are_there && !fails).then_some((known, commits, branches, lacking)))
}

/// Tells what is known of the dry commits that a branch lacks and that earlier runs tried.
fn recall_failures(
    (state, stuck): (&State, Option<&Stuck>),
    name: &BranchName,
    lacking: &[ObjectId],
    commits: &[ObjectId],
    run: &mut Run<'_>,
    head: &DryHead,
) {
    for dry in lacking.iter().filter(|dry| !commits.contains(dry)) {
        if let Some(failure) = run.ledger.known_failure(name, *dry, run.found.policy.id) {
            let failing = Failing::Recorded(failure.diagnostics.clone());
            run.fail(name, head, *dry, failing);
        } else if let Some(stuck) = stuck.filter(|_| object_id(&state.head.dry_commit) == Some(*dry)) {
            run.fail(name, head, *dry, Failing::Limited(FailedBranch::carried(stuck)));
        }
    }
}

/// The dry commits after `known` up to the tip; none when the dry branch was rewound.
fn line(known: ObjectId, found: &Snapshot<'_>, head: &DryHead) -> Result<Option<Vec<ObjectId>>, Stopped> {
    let repository = found.setup.repository;
    if !repository.has(known) {
        return Ok(None);
    }
    let Some(line) = repository.first_parents(known, head.tip, BACKLOG_MAX)? else { return Ok(None) };
    Ok(Some(match found.policy.settings.history {
        History::Every => line,
        History::Tip => line.last().copied().into_iter().collect(),
    }))
}

/// The environment branches that were hydrated from `known`, if they are where the state says.
fn open_known(
    state: &State,
    known: ObjectId,
    run: &mut Run<'_>,
    head: &DryHead,
) -> Result<Option<BTreeMap<BranchName, Branch>>, Stopped> {
    let mut branches = BTreeMap::new();
    for KnownBranch { name, sync, tip, applications, left, inputs, .. } in state.head.branches.iter().flatten() {
        let (Ok(name), Ok(sync)) = (BranchName::read(name), BranchName::read(sync)) else { return Ok(None) };
        let mut branch = run.open(&name, &sync, head)?;
        branch.applications = *applications;
        branch.inputs.clone_from(inputs);
        if let Some(left) = left {
            branch.left = LeftBehind::before(left, run.ledger.left_behind(&name, known));
        }
        branch.goes_along_with(run.branches.get(&name));
        branch.judge(head, std::iter::empty(), &run.found);
        let is_there = branch.tip.as_ref().is_some_and(|found| Some(found.id) == object_id(tip));
        let refs = &run.found.setup.place;
        let lacks_note = refs.keeps_records() && refs.is_of_server() && branch.was_moved();
        // A state is of the settings of now. On a server, the record says so too.
        let is_recorded = !refs.is_of_server() || branch.settings == run.found.policy.id;
        let is_at = is_there && branch.dry == Some(known) && is_recorded;
        // Whether one that was deleted is there again depends on whether Applications ask for it.
        if !is_at || branch.closed || lacks_note || branch.deleted().is_some() {
            return Ok(None);
        }
        branches.insert(name, branch);
    }
    Ok(Some(branches))
}

/// Those that stayed behind, if they are where the state says.
fn open_stuck(
    state: &State,
    run: &mut Run<'_>,
    head: &DryHead,
) -> Result<Option<BTreeMap<BranchName, Branch>>, Stopped> {
    let mut branches = BTreeMap::new();
    for stuck in &state.head.stuck {
        let (Ok(name), Ok(sync)) = (BranchName::read(&stuck.name), BranchName::read(&stuck.sync)) else {
            return Ok(None);
        };
        let mut branch = run.open(&name, &sync, head)?;
        branch.applications = stuck.applications;
        branch.goes_along_with(run.branches.get(&name));
        branch.judge(head, std::iter::empty(), &run.found);
        if branch.closed || branch.deleted().is_some() || !is_as_left(stuck, &branch) {
            return Ok(None);
        }
        branches.insert(name, branch);
    }
    Ok(Some(branches))
}

/// Those that are frozen.
fn open_frozen(
    state: &State,
    run: &mut Run<'_>,
    head: &DryHead,
) -> Result<Option<BTreeMap<BranchName, Branch>>, Stopped> {
    let mut branches = BTreeMap::new();
    for Frozen { name, sync, applications } in &state.head.frozen {
        let (Ok(name), Ok(sync)) = (BranchName::read(name), BranchName::read(sync)) else { return Ok(None) };
        let mut branch = run.open(&name, &sync, head)?;
        branch.applications = *applications;
        branch.goes_along_with(run.branches.get(&name));
        branch.judge(head, std::iter::empty(), &run.found);
        let is_left = run.found.setup.leaves(&name, &sync);
        let hold = run.found.hold(&name, &sync).iter().find(|hold| hold.is_whole() && !is_left);
        let is_elsewhere = hold.map_or(Ok(false), |hold| branch.is_elsewhere(hold, &run.found))?;
        if !branch.is_frozen() || is_elsewhere {
            return Ok(None);
        }
        branches.insert(name, branch);
    }
    Ok(Some(branches))
}

/// Compares the Applications of a changed file with the records of those that it had before; answers those that it has
/// now.
fn compare_file(
    state: &mut State,
    before: Option<&argo::File>,
    after: Option<&argo::File>,
    clusters: &Lists,
    found: &Snapshot<'_>,
    touched: &mut Touched,
) -> Result<Vec<Application>, Stopped> {
    let Some(file) = before.or(after) else { return Ok(Vec::new()) };
    let count = |file: Option<&argo::File>| file.map_or(0, |file| file.documents.len());
    let documents = (state.head.documents + count(after)).checked_sub(count(before));
    state.head.documents = documents.ok_or(Stopped::Unknown)?;
    if state.head.documents > found.policy.settings.limits.applications {
        return Err(Stopped::Unknown);
    }
    if !found.policy.applications.matches(file.path.as_str()) {
        return Ok(Vec::new());
    }
    let known_fields = &found.policy.settings.known_fields;
    let sides = || before.into_iter().chain(after);
    let is_sound = sides().flat_map(argo::File::all_diagnostics).all(|diagnostic| diagnostic.is_of_field(known_fields));
    // An unknown field in another file is reported as before, whatever this one says.
    let is_apart = |warning: &Diagnostic| warning.unknown_field.is_some();
    let records = state.of_file(&file.path)?.into_iter().filter(|record| record.about == About::Written);
    let mut records: BTreeMap<usize, Record> = records.map(|record| (record.index, record)).collect();
    let are_known = before
        .into_iter()
        .flat_map(argo::File::applications)
        .all(|application| records.contains_key(&application.index));
    let is_odd = !is_sound || state.is_patch(&file.path)? || !state.head.warnings.iter().all(is_apart);
    if is_odd || !are_known || records.len() != count(before) {
        return Err(Stopped::Unknown);
    }
    let mut written = Vec::new();
    for application in after.into_iter().flat_map(argo::File::applications) {
        let record = records.remove(&application.index);
        let application = clusters.known(application);
        touched.compare(application.clone(), record, state)?;
        written.push(application);
    }
    for record in records.into_values() {
        touched.leave(record, state)?;
    }
    match after.is_none_or(|after| written.len() == after.documents.len()) {
        true => Ok(written),
        false => Err(Stopped::Unknown),
    }
}

/// Whether the document of an Application that is gone may be there still, as something else.
fn is_unrecognized(touched: &Touched, old: &dyn Files, new: &dyn Files) -> Result<bool, Stopped> {
    let mut documents = GoneDocuments::default();
    for record in touched.gone.values() {
        let makers = match &record.about {
            About::Made(text) => makers_of(text).ok_or(Stopped::Unknown)?,
            About::Written | About::Maker(_) => Vec::new(),
        };
        documents.add(&record.file, record.name.as_str(), &makers);
    }
    Ok(!documents.unrecognized(old, new, &mut Looked::default()).is_empty())
}

/// No file may have become an Application, or stopped being one, because a kustomization names it as a patch.
fn check_patches(state: &mut State, changes: &Changes, view: &View<'_>, rules: &RuleSet) -> Result<(), Stopped> {
    for path in changes.patches.union(&changes.unpatched) {
        let is_patch = changes.patches.contains(path);
        if is_patch && state.is_patch(path)? {
            continue;
        }
        let is_application = |content: &[u8]| argo::may_hold_applications(path) && argo::is_marked(content, rules);
        if view.read(path).is_ok_and(|blob| is_application(&blob.data)) {
            return Err(Stopped::Unknown);
        }
        if is_patch {
            state.add_patch(path.clone());
        }
    }
    Ok(())
}

/// Whether an Application that fails is left behind on a branch, which is not plain.
fn may_leave(name: &BranchName, run: &Run<'_>) -> bool {
    run.found.policy.settings.on_failure.of(name) == Held::Application
}

/// What the cache keeps of the Applications that did not render. One of which it can keep nothing is left to the look at
/// everything, unless it was only cut off.
fn failures(rendered: &Rendered) -> Result<Vec<Encoded>, Stopped> {
    let mut records = Vec::new();
    for done in rendered.hydrations().flat_map(|(_, hydration)| &hydration.work) {
        if let Err(failed) = &done.result
            && failed.kind != FailureKind::CutOff
        {
            records.push(failed.record(&done.application).ok_or(Stopped::Unknown)?);
        }
    }
    Ok(records)
}
