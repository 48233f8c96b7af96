//! The way from what a repository says to the refs that move: plan, render, make commits, dry commit by dry commit.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;

use super::deleted;
use super::failed_render::{FailedBranch, FailedRender};
use super::learn::learn;
use super::make::branch::Branch;
use super::make::commits::{Becomes, Commits};
use super::make::definitions::KnownDefinitions;
use super::make::refused::{Judging, Refused};
use super::make::rendered::render;
use super::make::{ineffective, objects};
use super::moves::{Moves, Start};
use super::other_branches::{warn_of_missing_dry_branches, warn_of_odd_promotions, warn_of_other_branches};
use super::plan::by_changes::ByChanges;
use super::plan::by_everything::{self, ByEverything};
use super::plan::lost_objects;
use super::plan::moved_applications::on_no_branch;
use super::plan::shared::in_order;
use super::plan::{Failing, Hydration, Plan, Rendered, Step, Work};
use super::rollback::moving_held;
use super::state::{Previewed, Run};
use super::stopped::Stopped;
use crate::argo::BranchName;
use crate::hydrate::report::Report;
use crate::hydrate::whose::{About, DryPoint};
use crate::metadata::{ENGINE_REVISION, misspelt_removal, unknown_removal};
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::repo::ObjectId;
use crate::settings::History;

/// How many branches a note names.
const NAMES_MAX: usize = 5;

/// How a dry branch is planned.
enum Planner {
    /// By what changed since the cache was written.
    Changes(Box<ByChanges>),
    /// By a look at everything.
    Everything(Box<ByEverything>),
}

impl Planner {
    fn open(run: &mut Run<'_>, head: &DryHead, heads: &[DryHead]) -> Result<Self, Stopped> {
        if run.starts_at_base() {
            let base = run.memory.recall_base(head, &run.found).ok_or(Stopped::NotPlain)?;
            let planner = ByChanges::open(base, run, head, heads)?.map_err(|_| Stopped::NotPlain)?;
            return Ok(Self::Changes(Box::new(planner)));
        }
        let earlier = match run.memory.recall(head, &run.found) {
            Some(state) => match ByChanges::open(state, run, head, heads)? {
                Ok(by_changes) => return Ok(Self::Changes(Box::new(by_changes))),
                Err(state) => Some(state),
            },
            None => None,
        };
        // Without branches to move, all that counts is what was rendered last.
        let previewed = if run.preview.is_some() { run.memory.recall_results(head, &run.found) } else { None };
        Ok(Self::Everything(Box::new(ByEverything::open(previewed.or(earlier), run, head, heads)?)))
    }

    /// The dry commits to plan, oldest first.
    fn commits(&self) -> Vec<ObjectId> {
        match self {
            Self::Changes(planner) => planner.commits.clone(),
            Self::Everything(planner) => planner.commits(),
        }
    }

    /// The branches that want one of them, of which there are `left` with itself: each list is planned, rendered and committed
    /// before the next one, since its sources are in one tree.
    fn wanting(&self, dry: ObjectId, left: usize, run: &Run<'_>) -> Vec<Vec<BranchName>> {
        match self {
            // All that it knows.
            Self::Changes(_) => vec![Vec::new()],
            Self::Everything(planner) => planner.wanting(dry, left, run),
        }
    }

    /// Plans one of them, for branches that want it.
    fn plan(
        &mut self,
        dry: ObjectId,
        wanting: Vec<BranchName>,
        run: &mut Run<'_>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Plan, Stopped> {
        match self {
            Self::Changes(planner) => planner.plan(dry, run, head, heads),
            Self::Everything(planner) => planner.plan(dry, wanting, run, head, heads),
        }
    }

    fn looks_at_everything(&self) -> bool {
        self.by_changes().is_none()
    }

    fn by_changes(&self) -> Option<&ByChanges> {
        match self {
            Self::Changes(planner) => Some(planner),
            Self::Everything(_) => None,
        }
    }

    /// Whether the set of Applications is known to be unchanged.
    fn has_same_applications(&self) -> bool {
        match self {
            Self::Changes(planner) => planner.has_same_applications(),
            Self::Everything(_) => false,
        }
    }

    /// Whether what was rendered may go on to be commits. Errors: the plan was made of too little.
    fn check(&mut self, rendered: &Rendered, run: &Run<'_>) -> Result<(), Stopped> {
        match self {
            Self::Changes(planner) => planner.check(rendered, run),
            Self::Everything(_) => Ok(()),
        }
    }

    /// The manifests of Applications of a branch that define kinds of an API group, beside those that were planned.
    fn definitions(&self, branch: &BranchName, group: &str, rendered: &Rendered) -> Vec<ObjectId> {
        match self {
            Self::Changes(planner) => planner.definitions(branch, group, rendered),
            // All of a branch are planned.
            Self::Everything(_) => Vec::new(),
        }
    }

    /// Takes in what was rendered, once the branches of `run` show it.
    fn take(&mut self, rendered: Rendered, run: &Run<'_>) -> Result<(), Stopped> {
        match self {
            Self::Changes(planner) => planner.take(rendered, run),
            Self::Everything(planner) => {
                planner.take(rendered);
                Ok(())
            }
        }
    }

    /// Presumes that `dry` was hydrated, where nothing is rendered.
    fn presume(&mut self, dry: ObjectId, run: &Run<'_>) {
        match self {
            Self::Changes(planner) => planner.presume(&run.branches, dry),
            Self::Everything(_) => {}
        }
    }

    fn finish(self, run: &mut Run<'_>, head: &DryHead, heads: &[DryHead]) -> Result<(), Stopped> {
        match self {
            Self::Changes(planner) => {
                planner.finish(run, head);
                Ok(())
            }
            Self::Everything(planner) => planner.finish(run, head, heads),
        }
    }
}

impl Run<'_> {
    /// Hydrates all dry branches that the wake-up asks for, in memory.
    pub(crate) fn hydrate(&mut self) -> Result<(), Stopped> {
        let heads = self.prepare()?;
        for head in &in_order(&heads, self)? {
            let said = self.report.said();
            self.hydrate_head(head, &heads).map_err(|stopped| stopped.of(&head.branch))?;
            self.report.is_about(said, &About::Dry(DryPoint::new(&head.branch, head.tip)));
        }
        let said = self.report.said();
        warn_of_odd_promotions(self)?;
        self.warn_of_holds();
        deleted::warn(self);
        self.report.is_about(said, &About::Push);
        let said = self.report.said();
        self.copy_applications(&heads)?;
        self.report.is_about(said, &About::Together);
        Ok(())
    }

    /// Hydrates the tips alone, whatever the setting `history` says.
    pub(crate) fn hydrate_tips(&mut self) -> Result<(), Stopped> {
        self.found.policy.settings.history = History::Tip;
        self.hydrate()
    }

    /// Plans what hydrating would do, and renders nothing.
    ///
    /// Where a dry branch has several commits to hydrate, all but the first plan rest on what is only presumed: that the
    /// commits before it hydrate, and that their renders look at what they looked at before.
    pub(crate) fn plans(&mut self) -> Result<Vec<Plan>, Stopped> {
        let heads = self.prepare()?;
        let mut plans = Vec::new();
        for head in &in_order(&heads, self)? {
            plans.extend(self.plans_of(head, &heads).map_err(|stopped| stopped.of(&head.branch))?);
        }
        Ok(plans)
    }

    fn plans_of(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<Vec<Plan>, Stopped> {
        let mut plans = Vec::new();
        let mut planner = Planner::open(self, head, heads)?;
        let commits = planner.commits();
        for (index, dry) in commits.iter().enumerate() {
            for wanting in planner.wanting(*dry, commits.len() - index, self) {
                let plan = planner.plan(*dry, wanting, self, head, heads)?;
                self.take(presumed(&plan));
                planner.presume(*dry, self);
                plans.push(plan);
            }
        }
        planner.finish(self, head, heads)?;
        Ok(plans)
    }

    /// Opens all environment branches, and finds out what is wrong before anything is rendered.
    pub(crate) fn survey(&mut self) -> Result<(), Stopped> {
        let heads = self.prepare()?;
        for head in &in_order(&heads, self)? {
            ByEverything::open(None, self, head, &heads)?.warn_of_departures(self, (head, &heads))?;
        }
        let failures = self.ledger.failures.branches();
        let failed = failures.filter_map(|(branch, _)| BranchName::read(branch).ok()).collect();
        let strays = on_no_branch(&failed, self, &heads)?;
        self.departures.extend(strays);
        Ok(())
    }

    /// The dry branches to hydrate, with what has to be found out before.
    pub(crate) fn prepare(&mut self) -> Result<Vec<DryHead>, Stopped> {
        self.found.check_settings_ref()?;
        let heads = self.readable_heads();
        learn(self, &heads)?;
        let said = self.report.said();
        warn_of_other_branches(self, &heads)?;
        self.report.is_about(said, &About::Push);
        warn_of_missing_dry_branches(self);
        Ok(heads)
    }

    fn hydrate_head(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<(), Stopped> {
        self.found.buffer.grow_anew();
        let mut planner = Planner::open(self, head, heads)?;
        let before = self.tip_before(head);
        if let Planner::Everything(planner) = &mut planner {
            planner.note_problems(self.roll_back(head, heads)?);
        }
        let commits = planner.commits();
        let mut refused = Refused::default();
        for (index, dry) in commits.iter().enumerate() {
            if index > 0 && (self.found.setup.out_of_time)() {
                self.report.unfinished = true;
                break;
            }
            self.expect_moves()?;
            for wanting in planner.wanting(*dry, commits.len() - index, self) {
                let plan = planner.plan(*dry, wanting, self, head, heads)?;
                self.hydrate_planned(plan, &mut planner, &mut refused, heads)?;
            }
        }
        self.memory.keep_excerpts(refused.take_excerpts());
        if self.preview.is_none() {
            self.report.warnings.extend(refused.ineffective(&self.branches, &self.found)?);
        }
        let (refusals, checked) = refused.warnings(&self.branches, &self.found)?;
        self.report.warnings.extend(checked);
        self.report.warnings.extend(refusals.iter().map(|refusal| refusal.diagnostic.clone()));
        self.report.refusals.extend(refusals.into_iter().filter(|refusal| !refusal.objects.is_empty()));
        let held = self.touched_of_held(before, planner.by_changes(), (head, heads))?;
        planner.finish(self, head, heads)?;
        held.map_or(Ok(()), |held| self.warn_of_held(held, head))
    }

    /// Renders what was planned, and makes the commits.
    fn hydrate_planned(
        &mut self,
        plan: Plan,
        planner: &mut Planner,
        refused: &mut Refused,
        heads: &[DryHead],
    ) -> Result<(), Stopped> {
        self.warn_of_trailers(&plan)?;
        if let Some(Previewed::SinceBase { looked_at }) = &mut self.preview {
            // Whose the paths of Applications were that come or go, only a look at everything shows.
            planner.has_same_applications().then_some(()).ok_or(Stopped::NotPlain)?;
            looked_at.extend(plan.work().map(|work| work.application.clone()));
        }
        let mut rendered = self.render(plan)?;
        lost_objects::hold(&mut rendered, self, heads)?;
        let is_taken = self.hold_taken_objects(&mut rendered, heads)?;
        planner.check(&rendered, self)?;
        if is_taken && !planner.looks_at_everything() {
            return Err(Stopped::NotPlain);
        }
        let known = |branch: &BranchName, group: &str| planner.definitions(branch, group, &rendered);
        self.commit(&rendered, Some((refused, &known)))?;
        let (moving, head) = (moving_held(&rendered, &self.found), rendered.head.clone());
        planner.take(rendered, self)?;
        self.follow_moves(&moving, (&head, heads))
    }

    /// Warns of a line in the message of a dry commit that was meant to allow a removal.
    fn warn_of_trailers(&mut self, plan: &Plan) -> Result<(), Stopped> {
        let is_recorded = |step: &Step<Work>| matches!(step, Step::Fail(Failing::Recorded(_)));
        if plan.branches.values().all(is_recorded) {
            return Ok(());
        }
        let message = self.found.buffer.commit(plan.dry.id)?.message;
        let known = self.branches.keys().chain(self.found.environments.keys()).chain(plan.branches.keys());
        let known = known.chain(&self.found.policy.settings.applications_to).map(BranchName::as_str).collect();
        let warning = misspelt_removal(&message).or_else(|| unknown_removal(&message, &known));
        let warning = warning.filter(|warning| !self.report.warnings.contains(warning));
        self.report.warnings.extend(warning);
        Ok(())
    }

    pub(crate) fn render(&mut self, plan: Plan) -> Result<Rendered, Stopped> {
        let files = self.files(plan.tree);
        let rendered = render(plan, &files, &self.found, &self.memory)?;
        let mut rendered = self.with_own_identities(rendered)?;
        self.note_waits(&mut rendered)?;
        self.note_unread(&mut rendered);
        self.refuse_namesakes(&mut rendered)?;
        self.refuse_public(&mut rendered)?;
        Ok(rendered)
    }

    /// Makes the commits. What an API server would refuse is taken down in `judged`, which finds CRDs of Applications that are
    /// not planned; without it nothing is judged.
    pub(crate) fn commit(
        &mut self,
        rendered: &Rendered,
        judged: Option<(&mut Refused, KnownDefinitions<'_>)>,
    ) -> Result<(), Stopped> {
        let judging =
            judged.map(|(refused, known)| Judging::new(refused, rendered, &self.found, known, self.memory.cache()));
        let mut commits = Commits::of(rendered, &self.found, &self.branches, judging)?;
        if self.preview.is_some() {
            commits.warnings.extend(ineffective::warnings(rendered, &self.found, &self.branches)?);
        }
        self.take(commits);
        Ok(())
    }

    /// Hydrates one dry commit onto a branch as it once was; only the buffer knows. `judges_losses` as those did who did it.
    pub(crate) fn replay(&mut self, branch: Branch, dry: ObjectId, judges_losses: bool) -> Result<Branch, Stopped> {
        let head = DryHead { branch: branch.dry_branch.clone(), tip: dry };
        let name = branch.name.clone();
        self.branches.insert(name.clone(), branch);
        let plan = by_everything::plan(dry, vec![name.clone()], None, self, &head, std::slice::from_ref(&head))?;
        let mut rendered = self.render(plan)?;
        if judges_losses {
            lost_objects::hold(&mut rendered, self, std::slice::from_ref(&head))?;
        }
        self.commit(&rendered, None)?;
        Ok(self.branches.remove(&name).expect("a dry commit takes no branch away"))
    }

    /// The dry branches that the wake-up asks for. One that cannot be read is reported, and holds back no other.
    fn readable_heads(&mut self) -> Vec<DryHead> {
        let found = &self.found;
        let (heads, unreadable): (Vec<_>, Vec<_>) =
            found.heads().into_iter().partition(|head| found.buffer.commit(head.tip).is_ok());
        let unreadable = unreadable.into_iter().map(|head| head.branch);
        let known = found.environments.values().chain(&found.dry_branches).cloned();
        let broken = known.filter(|branch| found.refs.is_broken(&found.setup.place.read_name(branch)));
        let branches: BTreeSet<BranchName> = unreadable.chain(broken).collect();
        for branch in branches {
            let text = format!("`{}{branch}` cannot be read, so nothing is hydrated from it", found.setup.place.read);
            let hint = "`git hydrate doctor` on the server explains how to fix it";
            self.report.problems.push(Diagnostic::error(text).hint(hint));
        }
        heads
    }

    /// The refs that shall move.
    pub(crate) fn moves(&mut self) -> Result<Moves, Stopped> {
        Ok(Moves::of(&self.found, &mut self.ledger, &self.branches)?)
    }

    /// Moves the refs and reports what became of the branches.
    pub(crate) fn finish(mut self) -> Result<Report, Stopped> {
        self.count_objects()?;
        let moves = self.moves()?;
        // Packing takes memory of its own, and what was read is not needed any more.
        let trees = std::mem::take(&mut self.trees);
        trees.barren.write(self.found.setup.repository);
        trees.unsearched.write(self.found.setup.repository);
        trees.failed.write(self.found.setup.repository);
        drop(trees);
        moves.carry_out(&self.found, std::mem::replace(&mut self.start, Start::Never))?;
        self.report.left_alone = self.ledger.faults.names().collect();
        self.report.warnings.extend(self.ledger.faults.warnings(self.found.setup.place.are_guarded()));
        self.note_changes();
        let mut report = self.take_report();
        report.warnings.extend(self.memory.write());
        Ok(report)
    }

    /// Finds out what of the objects of each branch changed, as long as what was made is in memory.
    pub(crate) fn count_objects(&mut self) -> Result<(), Stopped> {
        for branch in self.branches.values_mut() {
            branch.note_objects(objects::changed(branch, &self.found)?);
        }
        Ok(())
    }

    /// Notes what the run did beside hydrating.
    pub(crate) fn note_changes(&mut self) {
        let found = &self.found;
        let starts_records = !found.has_records() && self.ledger.faults.allows(RECORDS_REF);
        let older = found.records.iter().count();
        let place = &found.setup.place;
        if starts_records && older > 0 && place.keeps_records() && place.believes_records() {
            let what = if older == 1 { "1 branch".to_owned() } else { format!("{older} branches") };
            let note = format!("{what} hydrated by an earlier version: now recorded in {RECORDS_REF}");
            self.report.notes.push(note);
        }
        let mut started: BTreeMap<(&str, ObjectId, DryPoint), Vec<&str>> = BTreeMap::new();
        for (name, branch) in self.branches.iter().filter(|(name, branch)| branch.sync != **name) {
            if let Some(id) = branch.started(&branch.sync) {
                started.entry((branch.sync.as_str(), id, branch.dry_point())).or_default().push(name.as_str());
            }
        }
        for ((sync, id, dry), staging) in started {
            let verb = if staging.len() == 1 { "is" } else { "are" };
            let (id, staging) = (id.to_hex_with_len(7), staging.join(", "));
            let text = format!("{sync} is new at {id} and empty, until {staging} {verb} promoted to it");
            self.report.started.push(sync.to_owned());
            self.report.note(&About::Dry(dry), text);
        }
        for (dry, text) in self.rewound() {
            self.report.note(&About::Dry(dry), text);
        }
        let mut upgraded: BTreeMap<(u32, DryPoint), Vec<&str>> = BTreeMap::new();
        for branch in self.branches.values() {
            if let Some(before) = branch.engine_before() {
                upgraded.entry((before, branch.dry_point())).or_default().push(branch.name.as_str());
            }
        }
        for ((before, dry), branches) in upgraded {
            let branches = branches.join(", ");
            let text = format!(
                "engine revision {ENGINE_REVISION} renders what changes from now on, in place of {before}: {branches}"
            );
            self.report.note(&About::Dry(dry), text);
        }
    }
}

impl Run<'_> {
    /// A note of each dry branch that no longer has what branches were hydrated from: they go where it went.
    fn rewound(&self) -> Vec<(DryPoint, String)> {
        let repository = self.found.setup.repository;
        let mut followed: BTreeMap<(&BranchName, ObjectId, ObjectId), Vec<&str>> = BTreeMap::new();
        for branch in self.branches.values().filter(|branch| branch.is_hydrated() && branch.renamed_from.is_none()) {
            if let Some(before) = branch.dry_before().filter(|before| *before != branch.dry_tip)
                && branch.dry == Some(branch.dry_tip)
            {
                followed.entry((&branch.dry_branch, before, branch.dry_tip)).or_default().push(branch.name.as_str());
            }
        }
        let is_gone = |before: ObjectId, tip: ObjectId| {
            let is_on_line = repository.first_parents(before, tip, BACKLOG_MAX).is_ok_and(|line| line.is_some());
            !is_on_line && repository.has(before) && !repository.is_ancestor(before, tip)
        };
        let mut notes = Vec::new();
        for ((dry_branch, before, tip), names) in followed {
            if is_gone(before, tip) {
                let dry = DryPoint::new(dry_branch, tip);
                let (before, tip) = (before.to_hex_with_len(7), tip.to_hex_with_len(7));
                let named = listed(&names, NAMES_MAX);
                let verb = if names.len() == 1 { "shows" } else { "show" };
                notes.push((dry, format!("{dry_branch} no longer has {before}: {named} now {verb} {tip}")));
            }
        }
        notes
    }
}

/// What becomes of the branches when every render goes well that is not known to fail.
fn presumed(plan: &Plan) -> Commits {
    let branches = plan.branches.iter().map(|(name, step)| (name.clone(), becomes(step))).collect();
    Commits { head: plan.head.clone(), dry: plan.dry.clone(), branches, warnings: Vec::new() }
}

fn becomes(step: &Step<Work>) -> Becomes {
    match step {
        Step::Fail(failing) => Becomes::Failed(failing.clone()),
        Step::Hydrate(hydration) => match known_to_fail(hydration) {
            Some(failed) => Becomes::Failed(Failing::Renders(failed)),
            None => Becomes::Hydrated(Default::default()),
        },
    }
}

fn known_to_fail(hydration: &Hydration<Work>) -> Option<FailedBranch> {
    if let Some(failed) = &hydration.stuck {
        return Some((**failed).clone());
    }
    let failed = hydration.work.iter().filter_map(|work| work.task.failed());
    let leaves = |failed: &FailedRender| hydration.leaving().leaves_failed && failed.is_of_dry_commit();
    FailedBranch::of(failed.filter(|failed| !leaves(failed)).cloned().collect())
}
