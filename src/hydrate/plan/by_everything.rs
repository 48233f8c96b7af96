//! Plans from one dry commit to the next by a look at everything: all Applications, judged together.
//!
//! What the cache knows spares renders here too, and nothing else.

mod remarks;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, clipped};
use dry_files::path::RepoPath;

use super::covered::covered;
use super::handed_over;
use super::known;
use super::moved_applications::{self, Departures, moved_from};
use super::moved_applications::{Astray, astray, off_their_tag};
use super::shared::{path_of_another, taken_path};
use super::skipped::leaving;
use super::skipped::{Left, LeftBehind};
use super::sources::{by_source, checked, waiting};
use super::unproven::unproven;
use super::unshown::unshown;
use super::{Failing, Hydration, Plan, Rendered, Stage, Step, Task, Work};
use crate::argo::{Application, BranchName, Identity, SeedIdentities};
use crate::discover::{self, Removal, Why};
use crate::hydrate::dry_tree::{DryTree, Former, Mistaken, destination};
use crate::hydrate::failed_render::FailedBranch;
use crate::hydrate::make::branch::{Branch, written_from};
use crate::hydrate::memory::{Overview, recalled_limit};
use crate::hydrate::state::{Moved, Run};
use crate::hydrate::stopped::Stopped;
use crate::known::{Encoded, State};
use crate::metadata::{Behind, DryCommit, allowed_removals};
use crate::owners::heads::DryHead;
use crate::owners::revisions::Follows;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::rolled_back_to;
use crate::repo::ObjectId;
use crate::settings::Held;
use remarks::{at_other_places, mistakes_of_frozen, note_silence, promoted_no_more, report_problems, unused_settings};

/// A dry branch of which everything is looked at.
#[derive(Debug)]
pub(crate) struct ByEverything {
    /// The tip of the dry branch.
    tree: Rc<DryTree>,
    /// The dry commits that each environment branch lacks, oldest first.
    backlog: BTreeMap<BranchName, Vec<ObjectId>>,
    /// The dry commits that were tried in vain and are passed over without a word.
    passed_over: BTreeMap<BranchName, BTreeSet<ObjectId>>,
    /// What earlier runs knew.
    earlier: Option<State>,
    /// What was rendered of the tip.
    rendered: BTreeMap<Identity, Encoded>,
    /// What is odd.
    warnings: Vec<Diagnostic>,
    /// What is wrong and belongs to no environment branch.
    problems: Vec<Diagnostic>,
    /// The Applications that leave branches.
    departures: Departures,
}

impl ByEverything {
    /// Opens the environment branches of a dry branch, and says what is wrong or odd at its tip.
    pub(crate) fn open(
        earlier: Option<State>,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Self, Stopped> {
        let tree = run.tree(head.tip, head, heads)?;
        let named = tree.hydrated().map(|application| application.environment_branch());
        let names: BTreeSet<&BranchName> = named.chain(run.found.hydrated_from(&head.branch)).collect();
        // What was an environment branch and is an active one now stays as it is.
        let names = names.into_iter().filter(|name| !tree.is_active(name));
        // A dry branch is a mistake of the Applications that name it, and no branch that stays behind.
        let names = names.filter(|name| !heads.iter().any(|head| head.branch == **name));
        let names: Vec<BranchName> = names.cloned().collect();
        let (mut backlog, mut passed_over) = (BTreeMap::new(), BTreeMap::new());
        for name in names {
            // So is the branch of copies.
            if run.found.is_for_copies(&name)? {
                continue;
            }
            if handed_over::leaves(&name, run, head, heads)? {
                continue;
            }
            handed_over::take(&name, run, head, heads)?;
            if let Some(mistake) = of_another_dry_branch(&name, run, head, heads, &tree) {
                run.report.problems.push(mistake);
                continue;
            }
            let mut branch = open(&name, run, (head, heads), &tree)?;
            let first = tree.applications(&name).next();
            run.report.warnings.extend(first.and_then(|first| promoted_no_more(&name, first, &run.found)));
            if let Some(revision) = tree.revision(&name) {
                let named = tree.applications(&name).find(|one| one.has_own_source()).map(|one| &**one);
                branch.follows = run.found.follows(&name, revision, named, branch.source.as_ref());
            }
            branch.give_way(run.branches.values(), first.map(|first| &**first), &run.found);
            if let Some(mistake) = taken_path(&name, &tree, run, head, heads)? {
                branch.close(mistake);
            }
            if let Some(earlier) = run.branches.remove(&name) {
                branch.go_on_from(earlier, &run.found.policy.settings);
            }
            let commits = branch.backlog(head, &run.found)?;
            passed_over.insert(name.clone(), passed(&branch, &commits, earlier.as_ref(), run));
            backlog.insert(name.clone(), commits);
            run.branches.insert(name, branch);
        }
        let mut formers = Vec::new();
        if tree.is_open() {
            for name in backlog.keys() {
                let dry = run.branches.get(name).and_then(|branch| branch.dry);
                formers.push(run.former(name, dry, head, heads)?);
            }
        }
        note_silence(run, &tree, head);
        let (problems, mut warnings) = report_problems(run, &tree, &backlog, &formers);
        let held = mistakes_of_frozen(run, &tree, backlog.keys(), (head, heads))?;
        run.report.warnings.extend(held.iter().cloned());
        warnings.extend(held);
        let unused = unused_settings(run, heads)?;
        run.report.warnings.extend(unused.iter().cloned());
        warnings.extend(unused);
        let departures = Departures::find(backlog.keys(), &tree, run, (head, heads))?;
        let rendered = BTreeMap::new();
        Ok(Self { tree, backlog, passed_over, earlier, rendered, warnings, problems, departures })
    }

    /// The dry commits to plan, oldest first.
    pub(crate) fn commits(&self) -> Vec<ObjectId> {
        self.backlog.values().max_by_key(|commits| commits.len()).cloned().unwrap_or_default()
    }

    /// The branches that want one dry commit, of which there are `left` to plan with itself: those together whose sources are in one
    /// tree, those of the dry branch first.
    pub(crate) fn wanting(&self, dry: ObjectId, left: usize, run: &Run<'_>) -> Vec<Vec<BranchName>> {
        let is_open = |name: &BranchName| run.branches.get(name).is_some_and(|branch| !branch.closed);
        let is_passed = |name: &BranchName| self.passed_over.get(name).is_some_and(|passed| passed.contains(&dry));
        let wanting = self.backlog.iter().filter(|(name, commits)| commits.len() >= left && is_open(name));
        let wanting = wanting.map(|(name, _)| name).filter(|name| !is_passed(name)).cloned();
        by_source(wanting, run)
    }

    /// Plans one dry commit for branches that want it.
    pub(crate) fn plan(
        &self,
        dry: ObjectId,
        wanting: Vec<BranchName>,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Plan, Stopped> {
        plan(dry, wanting, self.earlier.as_ref(), run, head, heads)
    }

    /// Plans the tip for branches that show it already.
    pub(crate) fn plan_again(
        &self,
        names: Vec<BranchName>,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Plan, Stopped> {
        plan(head.tip, names, self.earlier.as_ref(), run, head, heads)
    }

    /// The environment branches.
    pub(crate) fn branches(&self) -> impl Iterator<Item = &BranchName> {
        self.backlog.keys()
    }

    /// What is odd at the tip, for every run that looks at it to report.
    pub(crate) fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Notes what else is wrong and was reported, for every run that looks at less to report.
    pub(crate) fn note_problems(&mut self, problems: Vec<Diagnostic>) {
        self.problems.extend(problems);
    }

    /// Takes in what was rendered.
    pub(crate) fn take(&mut self, rendered: Rendered) {
        if rendered.dry.definition() != rendered.head.tip {
            return;
        }
        for step in rendered.branches.into_values() {
            let Step::Hydrate(hydration) = step else { continue };
            for done in hydration.work {
                let identity = done.application.identity();
                let record = match done.result {
                    Ok(output) => Some(output.record),
                    Err(failed) => failed.record(&done.application),
                };
                self.rendered.extend(record.map(|record| (identity, record)));
            }
        }
    }

    /// Takes in what is known of the Applications of branches that were at the tip already: together with what was rendered,
    /// it may be all that the next run has to know.
    fn recall_others(&mut self, run: &mut Run<'_>, head: &DryHead) {
        let Some(earlier) = &self.earlier else { return };
        let is_news = !self.rendered.is_empty() || earlier.head.branches.is_none();
        let is_there = |branch: &Branch| !branch.is_frozen() && branch.has_reached(head.tip);
        let is_rendered = |one: &Application| self.rendered.contains_key(&one.identity());
        let others = self.tree.hydrated().filter(|application| {
            let branch = run.branches.get(application.environment_branch());
            branch.is_some_and(is_there) && !is_rendered(application)
        });
        let others: Vec<Arc<Application>> = others.filter(|_| is_news).cloned().collect();
        if others.is_empty() {
            return;
        }
        // What others follow is looked at each time.
        let is_of_dry = |one: &Arc<Application>| self.tree.revision(one.environment_branch()).is_none();
        let others = others.into_iter().filter(is_of_dry).collect();
        let files = run.files(self.tree.tree);
        for Work { application, task } in
            known::work(others, &files, self.earlier.as_ref(), &run.memory, &run.found, &run.branches)
        {
            if let Task::Known(output) = task {
                self.rendered.insert(application.identity(), output.record);
            }
        }
    }

    /// Warns of Applications that leave a branch for one that does not take them.
    pub(crate) fn warn_of_departures(
        &self,
        run: &mut Run<'_>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<(), Stopped> {
        let warnings = self.departures.warnings(run, (head, heads))?;
        run.report.warnings.extend(warnings.iter().cloned());
        run.departures.extend(warnings);
        Ok(())
    }

    /// Leaves for the next run what is known now.
    pub(crate) fn finish(mut self, run: &mut Run<'_>, head: &DryHead, heads: &[DryHead]) -> Result<(), Stopped> {
        self.recall_others(run, head);
        self.warn_of_departures(run, (head, heads))?;
        let unshown = unshown(self.backlog.keys(), &self.tree, run, (head, heads))?;
        let Self { tree, backlog, earlier, rendered, warnings, problems, .. } = self;
        run.ledger.failures.keep_only(&head.branch, |branch| backlog.contains_key(branch));
        let names = backlog.keys().collect();
        let overview = Overview { head, heads, tree: &tree, names, rendered, earlier, warnings, problems, unshown };
        run.memory.keep_all(overview, &run.found, &run.branches);
        Ok(())
    }
}

/// Plans one dry commit for branches that lack it, whose sources are in one tree.
pub(crate) fn plan(
    dry: ObjectId,
    wanting: Vec<BranchName>,
    earlier: Option<&State>,
    run: &mut Run<'_>,
    head: &DryHead,
    heads: &[DryHead],
) -> Result<Plan, Stopped> {
    let mut failing = BTreeMap::new();
    let mut untried = Vec::new();
    for name in wanting {
        match tried(&name, dry, earlier, run) {
            Some(why) => drop(failing.insert(name, why)),
            None => untried.push(name),
        }
    }
    if untried.is_empty() {
        let commit = run.found.setup.repository.commit(dry)?;
        let branches = failing.into_iter().map(|(name, why)| (name, Step::Fail(why))).collect();
        let (head, dry, beside) = (head.clone(), DryCommit::new(&commit), Vec::new());
        let identities = SeedIdentities::new();
        return Ok(Stage { head, dry, tree: commit.tree, branches, beside, identities });
    }
    let tree = run.tree(dry, head, heads)?;
    // On the way from one tag to another, or to or from one, there is nothing to hydrate but the last.
    untried.retain(|name| {
        let follows = run.branches.get(name).map(|branch| &branch.follows);
        tree.revision(name).is_none() || follows != Some(&Follows::Branch)
    });
    let source = untried.first().and_then(|name| run.branches.get(name)?.follows.source().cloned());
    let (shown, sources) = match &source {
        None => (tree.commit.clone(), tree.tree),
        Some(source) => {
            let commit = DryCommit::new(&run.found.setup.repository.commit(source.commit)?);
            (commit.of_source(source, dry), run.found.dry_tree(source.commit)?)
        }
    };
    let mut hydrations: BTreeMap<BranchName, Hydration<Work>> = BTreeMap::new();
    let mut applications: Vec<Arc<Application>> = Vec::new();
    for name in untried {
        match asked(&name, &tree, run, head, heads)? {
            Ok(hydration) => {
                let is_rendered = |application: &&Arc<Application>| !hydration.leaving().has(application);
                applications.extend(tree.applications(&name).filter(is_rendered).cloned());
                hydrations.insert(name, hydration);
            }
            Err(why) => drop(failing.insert(name, why)),
        }
    }
    let wanted: BTreeSet<Identity> = applications.iter().map(|application| application.identity()).collect();
    let moved = || hydrations.values().flat_map(|hydration| &hydration.moved);
    // Whether a new branch takes one depends on what else is there.
    let there: BTreeSet<&BranchName> = moved().map(|application| application.environment_branch()).collect();
    let there = there.into_iter().filter(|branch| !hydrations.contains_key(*branch));
    let mut named = wanted.clone();
    let besides = moved().chain(there.flat_map(|branch| tree.applications(branch)));
    applications.extend(besides.filter(|one| named.insert(one.identity())).cloned());
    let identities = run.planned_identities(hydrations.keys(), &tree, (head, heads))?;
    let files = run.files(sources);
    let mut beside = Vec::new();
    for work in known::work(applications, &files, earlier, &run.memory, &run.found, &run.branches) {
        match hydrations.get_mut(work.application.environment_branch()) {
            Some(hydration) if wanted.contains(&work.application.identity()) => hydration.work.push(work),
            Some(_) | None => beside.push(work),
        }
    }
    for hydration in hydrations.values_mut() {
        hydration.work.sort_by(|one, other| one.application.rank().cmp(&other.application.rank()));
    }
    let hydrations = hydrations.into_iter().map(|(name, hydration)| (name, Step::Hydrate(hydration)));
    let failing = failing.into_iter().map(|(name, why)| (name, Step::Fail(why)));
    let branches = hydrations.chain(failing).collect();
    Ok(Stage { head: head.clone(), dry: shown, tree: sources, branches, beside, identities })
}

/// What an earlier run found out of a dry commit that it tried to hydrate onto a branch.
fn tried(name: &BranchName, dry: ObjectId, earlier: Option<&State>, run: &Run<'_>) -> Option<Failing> {
    let branch = run.branches.get(name)?;
    // Tags move without a dry commit.
    if run.memory.retry || branch.follows != Follows::Branch {
        return None;
    }
    if let Some(failure) = run.ledger.known_failure(name, dry, run.found.policy.id) {
        return Some(Failing::Recorded(failure.diagnostics.clone()));
    }
    let state = earlier?;
    let (last, stuck) = recalled_limit(state, branch, run.found.inputs.id().as_deref())?;
    (last == dry).then(|| Failing::Limited(FailedBranch::carried(stuck)))
}

/// What a dry commit asks of a branch, without the Applications; or everything that is wrong before they are rendered.
fn asked(
    name: &BranchName,
    tree: &DryTree,
    run: &mut Run<'_>,
    head: &DryHead,
    heads: &[DryHead],
) -> Result<Result<Hydration<Work>, Failing>, Stopped> {
    let dry = run.branches.get(name).and_then(|branch| branch.dry);
    let former = run.former(name, dry, head, heads)?;
    if let Some(mistake) = path_of_another(name, tree, &former, run, head)? {
        return Ok(Err(Failing::Taken(mistake)));
    }
    let follows = run.branches.get(name).map(|branch| branch.follows.clone()).unwrap_or_default();
    let of_source = follows.source().map(|source| run.found.setup.repository.commit(source.commit)).transpose()?;
    let allows = |message: &str| allowed_removals(message).contains(name.as_str());
    let allows_losses = tree.allows_removal(name) || of_source.is_some_and(|commit| allows(&commit.message));
    // Where sources are of a tag, an Application that stays behind would be of two dry commits.
    let leaves_failed =
        run.found.policy.settings.on_failure.of(name) == Held::Application && follows == Follows::Branch;
    let mistakes = tree.mistakes(name, &former);
    let mistaken = if leaves_failed { tree.mistaken(name, &former) } else { None };
    let mistaken = match mistaken {
        Some(mistaken) => mistaken,
        None if mistakes.is_empty() => Mistaken::default(),
        None => return Ok(Err(Failing::Lasting(mistakes))),
    };
    if let Some(mistake) = checked(follows, name, tree) {
        return Ok(Err(Failing::Mistakes(vec![mistake])));
    }
    // What refs decide is found out anew each time, and not recorded.
    if let Some(mistake) = off_their_tag(name, tree, run, heads)?.into_iter().next() {
        return Ok(Err(Failing::Taken(mistake)));
    }
    let held = (&run.found, run.moved == Moved::NotMade);
    if let Some(mistake) = moved_applications::held_elsewhere(name, tree, &former, held) {
        return Ok(Err(Failing::Taken(mistake)));
    }
    let limits = tree.limits(&former);
    let unknown = match limits.is_empty() {
        true => unproven(name, tree, &former, run)?,
        false => Some(FailedBranch { limits, ..FailedBranch::default() }),
    };
    if let Some(unknown) = unknown {
        return Ok(Err(Failing::Renders(unknown)));
    }
    let removals = removals(name, tree, &former, &mistaken, &run.found);
    let emptied = tree.emptied_sets(name, &former);
    for emptied in &emptied {
        if !run.report.warnings.contains(emptied) {
            run.report.warnings.push(emptied.clone());
        }
    }
    let is_nothing = removals.as_ref().is_ok_and(Vec::is_empty);
    let mut unread = if is_nothing { Vec::new() } else { tree.unread(name, &former, &mistaken.files) };
    // What other dry branches have, and settings that are others by now, are found out anew each time.
    let mut lasts = emptied.is_empty();
    if !is_nothing {
        let Astray { mistakes, rests_on_others } = astray(name, tree, &former, run, heads)?;
        let covered = covered(name, tree, &former, run);
        lasts &= !rests_on_others && covered.is_empty();
        unread.extend(at_other_places(mistakes, &unread).into_iter().chain(covered));
    }
    let failing = |mistakes| if lasts { Failing::Lasting(mistakes) } else { Failing::Mistakes(mistakes) };
    let removals = match removals {
        // What is wrong there may be the very Application that seems to have left.
        _ if !unread.is_empty() => return Ok(Err(failing(unread))),
        Ok(removals) => removals,
        Err(diagnostic) => return Ok(Err(failing(vec![diagnostic]))),
    };
    let first = tree.applications(name).find(|application| application.has_own_source());
    let repo_url = run.found.repo_url(first.map(|first| &**first)).to_owned();
    let is_as_made = match run.branches.get(name) {
        Some(branch) => {
            let is_copied = match &branch.tip {
                Some(tip) => rolled_back_to(name, tip, &run.found.buffer)?.is_some(),
                None => false,
            };
            !is_copied
                && branch.holds_what_was_made()
                && !run.found.settings_changed(branch.settings, (name, &branch.sync))?
        }
        None => false,
    };
    let before = former.tree.clone().filter(|_| is_as_made);
    let shown = run.branches.get(name).and_then(|branch| branch.source.as_ref()).map(|source| source.commit);
    let shown = shown.filter(|shown| run.found.setup.repository.has(*shown));
    let before_tree = shown.map(|shown| run.found.dry_tree(shown)).transpose()?;
    let moved = moved_from(name, tree, &former);
    if let Some(waiting) = waiting(name, &moved, tree, run, (head, heads))?.into_iter().next() {
        return Ok(Err(Failing::Taken(waiting)));
    }
    let sync = run.branches.get(name).map_or(name, |branch| &branch.sync);
    let holds = run.found.hold(name, sync).iter().filter(|hold| !hold.is_whole()).collect::<Vec<_>>();
    let paused =
        moved_applications::paused(name, &moved, &|application| holds.iter().any(|hold| hold.has(application)));
    if !paused.is_empty() {
        return Ok(Err(failing(paused)));
    }
    let leaving = match leaving(name, tree, (former, mistaken), leaves_failed, run, (head, heads))? {
        Ok(leaving) => leaving,
        Err(mistakes) => return Ok(Err(failing(mistakes))),
    };
    Ok(Ok(Hydration {
        removals,
        limits_losses: !allows_losses,
        before,
        before_tree,
        leaving: Some(Rc::new(leaving)),
        moved: moved.into_iter().filter(|one| tree.revision(name) == tree.revision(one.environment_branch())).collect(),
        ..Hydration::of(repo_url, Vec::new(), 0)
    }))
}

fn removals(
    name: &BranchName,
    tree: &DryTree,
    former: &Former,
    mistaken: &Mistaken,
    found: &Snapshot<'_>,
) -> Result<Vec<Removal>, Diagnostic> {
    let Some(settings) = former.tree.as_ref().map(|former| former.settings) else { return Ok(Vec::new()) };
    let limit = found.policy.settings.removal_limit;
    let allowed = tree.allows_removal(name);
    let (mut before, mut now) = (former.destinations(), tree.destinations(name));
    now.extend(mistaken.unread.iter().map(|application| destination(application)));
    let promoted: BTreeSet<&RepoPath> = tree.promoted(name).collect();
    before.retain(|destination| !promoted.contains(&destination.path));
    let judged = discover::removals(name, &before, &now, 0, (limit.share, limit.at_least), allowed);
    let (mistake, removals) = match judged {
        Ok(removals) => return Ok(removals),
        Err(refused) => refused,
    };
    let paths: Vec<&RepoPath> = removals.iter().map(|removal| &removal.path).collect();
    let moved = moved_from(name, tree, former);
    // A branch that others write too was not misspelt.
    let goes = |one: &Arc<Application>| moved.iter().any(|moved| Arc::ptr_eq(moved, one));
    let has_no_other = |branch: &&BranchName| tree.applications(branch).all(goes);
    let now_on: BTreeSet<BranchName> =
        moved.iter().map(|application| application.environment_branch()).filter(has_no_other).cloned().collect();
    let is_corrected = now_on.iter().any(|other| found.is_younger(name, other));
    let diagnostic = mistake.diagnostic(&paths, &Why { by_settings: settings != tree.settings, now_on, is_corrected });
    Err(match diagnostic.hint.clone().filter(|_| !tree.allowed_removals.is_empty()) {
        None => diagnostic,
        Some(hint) => diagnostic.hint(format!("its trailer allows {}; {hint}", some_of(&tree.allowed_removals))),
    })
}

/// The first names, each as far as it may be a branch's, and a mark if there are more.
fn some_of(names: &BTreeSet<String>) -> String {
    const SHOWN_MAX: usize = 5;
    let shown = names.iter().take(SHOWN_MAX).map(|name| clipped(name.clone()));
    let more = (names.len() > SHOWN_MAX).then(|| "…".to_owned());
    shown.chain(more).collect::<Vec<_>>().join(", ")
}

/// A branch that another dry branch writes is its alone: what this one asks of it is a mistake here, not there.
fn of_another_dry_branch(
    name: &BranchName,
    run: &Run<'_>,
    head: &DryHead,
    heads: &[DryHead],
    tree: &DryTree,
) -> Option<Diagnostic> {
    let opened = run.branches.get(name).map(|branch| &branch.dry_branch);
    let owner = opened.or(run.found.environments.get(name)).filter(|owner| **owner != head.branch)?;
    let is_shared = run.found.policy.settings.is_shared(name);
    let is_away = !heads.iter().any(|other| other.branch == *owner);
    if is_shared
        || run.found.handed_over.contains(name)
        || (is_away && (run.found.tip(owner).is_some() || run.found.has_left(owner)))
    {
        return None;
    }
    let place = tree.applications(name).next()?.places.environment_branch().clone();
    Some(written_from(name, owner, &head.branch, &run.found).at(place))
}

/// What the repository knows of an environment branch, and whether we may write it.
fn open(
    name: &BranchName,
    run: &mut Run<'_>,
    (head, heads): (&DryHead, &[DryHead]),
    tree: &DryTree,
) -> Result<Branch, Stopped> {
    let sync = tree.applications(name).next().map_or(name, |application| &application.sync_branch);
    let mut branch = run.open(name, sync, head)?;
    if !run.found.setup.place.are_guarded() {
        branch = at_what_is_borne_out(branch, run, (head, heads))?;
    }
    branch.applications = tree.applications(name).count();
    branch.judge(head, tree.applications(name).map(|application| &**application), &run.found);
    branch.left = left_before(&branch, tree, run)?;
    Ok(branch)
}

/// Resets a branch to the dry commit in its own metadata if a note or record names one that fed other paths: hydration
/// would have made a commit of that one.
fn at_what_is_borne_out(
    mut branch: Branch,
    run: &mut Run<'_>,
    (head, heads): (&DryHead, &[DryHead]),
) -> Result<Branch, Stopped> {
    let metadata = branch.tip_metadata(&run.found.buffer)?;
    let made_from = metadata.dry_commit;
    if made_from.is_none() || made_from == branch.dry {
        return Ok(branch);
    }
    let fed = (&branch.name, branch.settings, &metadata.behind[..]);
    let paths = |former: Former| former.applications.iter().map(|app| app.sync_path.clone()).collect();
    let then: BTreeSet<RepoPath> = paths(run.fed_by(fed, made_from, (head, heads))?);
    if then != paths(run.fed_by(fed, branch.dry, (head, heads))?) {
        branch.dry = made_from;
    }
    Ok(branch)
}

/// What stayed behind when the branch was hydrated last.
fn left_before(branch: &Branch, tree: &DryTree, run: &Run<'_>) -> Result<LeftBehind, Stopped> {
    let (Some(dry), false) = (branch.dry, branch.unreadable()) else { return Ok(LeftBehind::default()) };
    let mut paths = Vec::new();
    for Behind { path, dry_commit } in &branch.tip_metadata(&run.found.buffer)?.behind {
        let application = tree.applications(&branch.name).find(|application| application.sync_path == *path);
        paths.push(Left {
            path: path.clone(),
            objects: None,
            dry_commit: *dry_commit,
            application: application.map(|application| application.name.clone()),
            paused_at: application.and_then(|application| application.places.paused.clone()),
            parent: None,
            is_paused: match application {
                Some(application) => application.paused || run.found.is_held(&branch.name, application),
                None => !run.found.hold(&branch.name, &branch.sync).is_empty(),
            },
        });
    }
    Ok(LeftBehind { paths, mistakes: run.ledger.left_behind(&branch.name, dry), renders: Vec::new() })
}

/// The dry commits of a backlog that were tried in vain and are passed over without a word: the record of failures has
/// no room for all of them, and of those that reached a limit this machine keeps the last.
fn passed(branch: &Branch, commits: &[ObjectId], earlier: Option<&State>, run: &Run<'_>) -> BTreeSet<ObjectId> {
    let is_known = |dry: &ObjectId| run.ledger.known_failure(&branch.name, *dry, run.found.policy.id).is_some();
    let oldest = commits.iter().position(is_known).filter(|_| run.ledger.failures.is_full(&branch.name));
    let limited = earlier
        .filter(|_| !run.memory.retry)
        .and_then(|state| recalled_limit(state, branch, run.found.inputs.id().as_deref()));
    let limited = limited.and_then(|(last, _)| commits.iter().position(|dry| *dry == last));
    let tried = &commits[..oldest.max(limited).unwrap_or(0)];
    tried.iter().filter(|dry| !is_known(dry)).copied().collect()
}
