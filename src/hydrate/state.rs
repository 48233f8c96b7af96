//! One try at hydrating: what it found, and what it made so far.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use super::make::branch::Branch;
use super::make::commits::{Becomes, Commits};
use super::memory::{Attempt, Memory};
use super::moves::Start;
use super::plan::Failing;
use super::plan::since::Since;
use super::plan::unrecognized::Looked;
use super::stopped::Stopped;
use crate::argo::{Application, BranchName, DrawnPaths, SeedIdentities};
use crate::hydrate::dry_tree::{DryTree, DryTrees, Former};
use crate::hydrate::report::Report;
use crate::hydrate::whose::{About, DryPoint};
use crate::metadata::Behind;
use crate::owners::error::HydrateError;
use crate::owners::failures::Failures;
use crate::owners::heads::DryHead;
use crate::owners::ledger::Ledger;
use crate::owners::policy::Policy;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::rolled_back_to;
use crate::repo::TreeFiles;
use crate::repo::{ObjectBuffer, ObjectId, Refs};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use inputs::Wanted;

/// How many dry trees a run without an end keeps: each is asked for again right after it was read.
const TREES_MAX: usize = 8;

/// Whether an Application that names another branch now has moved there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Moved {
    /// Where the other branch is a dry one and its tip has the Application.
    #[default]
    Judged,
    /// Yes, and so has one that is pinned: a hydrated commit was made without it.
    Made,
    /// No: no hydrated commit was made of it.
    NotMade,
}

/// What a preview looks at.
#[derive(Debug)]
pub(crate) enum Previewed {
    /// All that the dry commit has.
    Everything,
    /// What differs from the dry commit that the branches show, and nothing else.
    SinceBase {
        /// The Applications that it looked at: no manifest of another one changes.
        looked_at: Vec<Arc<Application>>,
    },
}

/// One try at hydrating.
pub(crate) struct Run<'a> {
    /// The repository as it was.
    pub found: Snapshot<'a>,
    /// Notes and failures, as they shall be.
    pub ledger: Ledger,
    /// The dry commits that were looked at.
    pub trees: DryTrees<'a>,
    /// The settings that branches were hydrated with, where others find other Applications; each is read once.
    former: HashMap<Option<ObjectId>, Option<Rc<Policy>>>,
    /// What earlier runs found out, and what is left for the next.
    pub memory: Memory,
    /// The environment branches, as they shall be.
    pub branches: BTreeMap<BranchName, Branch>,
    /// What the dry branches changed that were planned by that alone.
    pub since: BTreeMap<BranchName, Since>,
    /// What was wrong or odd before, and is so still: nothing changed that it rests on.
    pub as_before: Vec<Diagnostic>,
    /// What is reported beside the branches.
    pub report: Report,
    /// The branches of which earlier runs reported that no Application names them.
    unnamed_before: BTreeSet<BranchName>,
    /// The warnings in `report` of Applications that leave a branch for one that does not take them.
    pub departures: Vec<Diagnostic>,
    /// Whether refs shall move.
    pub start: Start<'a>,
    /// Set for a preview, with what it looks at: of such a run, only render results are kept, for the next preview.
    pub preview: Option<Previewed>,
    /// Whether Applications that name another branch have moved there.
    pub moved: Moved,
    /// What the hydrated commit that is made again says of itself; none where none is made again.
    pub claimed: Option<Claimed>,
    /// Inputs that can be fetched, each for a dry branch, and that were not tried.
    pub wanted: BTreeSet<(Wanted, BranchName)>,
    /// What was looked at in two dry trees for documents that are gone.
    pub looked_at: BTreeMap<(ObjectId, ObjectId), Looked>,
    /// What dry branches have that has random values on branches which are not among `branches`.
    pub seen_elsewhere: BTreeMap<(BranchName, BranchName), DrawnPaths>,
}

/// What a hydrated commit says of itself.
#[derive(Debug, Default)]
pub(crate) struct Claimed {
    /// What Applications draw for on its branch.
    pub identities: SeedIdentities,
    /// The paths that do not show its dry commit.
    pub behind: BTreeSet<RepoPath>,
}

impl<'a> Run<'a> {
    /// Reads what the repository says now.
    pub(crate) fn new(setup: &'a Setup<'a>) -> Result<Self, HydrateError> {
        Self::over(setup, ObjectBuffer::new(setup.repository))
    }

    /// Reads what the repository says now, over a buffer that may contain objects of another run already.
    pub(crate) fn over(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Self, HydrateError> {
        Ok(Self::begin(Snapshot::read(setup, buffer)?))
    }

    /// Reads what the repository says by refs that were read already.
    pub(crate) fn of(setup: &'a Setup<'a>, refs: Refs) -> Result<Self, HydrateError> {
        Ok(Self::begin(Snapshot::of(setup, refs, ObjectBuffer::new(setup.repository))?))
    }

    fn begin((found, ledger): (Snapshot<'a>, Ledger)) -> Self {
        let unnamed_before = ledger.failures.unnamed().collect();
        let mut report = Report::default();
        for failure in ledger.failures.branches().flat_map(|(_, failures)| failures) {
            let known = report.whose.known.entry(failure.dry_branch.clone()).or_default();
            known.insert(failure.dry_sha.clone());
        }
        Self {
            found,
            ledger,
            unnamed_before,
            trees: DryTrees::default(),
            former: HashMap::new(),
            memory: Memory::default(),
            branches: BTreeMap::new(),
            since: BTreeMap::new(),
            as_before: Vec::new(),
            report,
            departures: Vec::new(),
            start: Start::Never,
            preview: None,
            moved: Moved::default(),
            claimed: None,
            wanted: BTreeSet::new(),
            looked_at: BTreeMap::new(),
            seen_elsewhere: BTreeMap::new(),
        }
    }

    /// Adds what earlier runs and tries found out.
    pub(crate) fn recalling(mut self, attempt: &Attempt) -> Self {
        self.trees.failed = attempt.failed_makers.clone();
        let memory = Memory::new(self.found.setup.repository, attempt);
        if attempt.retry {
            self.trees.failed.retry();
            self.trees.unsearched.retry();
        }
        Self { memory, ..self }
    }

    /// What the repository knows of an environment branch that is hydrated from `head`.
    pub(crate) fn open(
        &mut self,
        name: &BranchName,
        sync: &BranchName,
        head: &DryHead,
    ) -> Result<Branch, HydrateError> {
        Branch::open(name, sync, head, &self.found, &mut self.ledger.notes)
    }

    /// The Applications of a dry commit, taken for one of the dry branch `head`.
    pub(crate) fn tree(
        &mut self,
        dry: ObjectId,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Rc<DryTree>, HydrateError> {
        self.trees.read(dry, head, heads, &self.found)
    }

    /// The files of a dry tree.
    pub(crate) fn files(&mut self, tree: ObjectId) -> Rc<TreeFiles<'a>> {
        self.trees.files(tree, self.found.setup.repository)
    }

    /// What fed a branch when it was hydrated from `dry`; none when that is not here.
    ///
    /// What stayed behind since is recorded in the newest commit of the branch.
    pub(crate) fn former(
        &mut self,
        name: &BranchName,
        dry: Option<ObjectId>,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Former, HydrateError> {
        let branch = self.branches.get(name);
        let settings = branch.and_then(|branch| branch.settings);
        let tip = branch.and_then(|branch| branch.tip.clone());
        let rolled_back = tip.as_ref().map(|tip| rolled_back_to(name, tip, &self.found.buffer)).transpose()?.flatten();
        let rolled_back = rolled_back.filter(|(_, shown)| dry == Some(*shown));
        let metadata = branch.map(|branch| branch.tip_metadata(&self.found.buffer)).transpose()?;
        let behind = metadata.map(|metadata| metadata.behind.clone()).unwrap_or_default();
        let renamed = branch.and_then(|branch| branch.renamed_from.clone());
        let former = renamed.map(|branch| DryHead { branch, tip: head.tip });
        let head = former.as_ref().unwrap_or(head);
        match (tip, rolled_back) {
            (Some(tip), Some((rollback, _))) => {
                self.fed_before_rollback((name, settings), rollback, &tip, (head, heads))
            }
            (Some(tip), None) => self.fed_until((name, settings, &behind), dry, &tip, (head, heads)),
            (None, _) => self.fed_by((name, settings, &behind), dry, (head, heads)),
        }
    }

    /// What fed a branch that was hydrated with `settings`, and on which `behind` had stayed.
    pub(crate) fn fed_by(
        &mut self,
        (name, settings, behind): (&BranchName, Option<ObjectId>, &[Behind]),
        dry: Option<ObjectId>,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Former, HydrateError> {
        let repository = self.found.setup.repository;
        let dry = dry.filter(|dry| repository.has(*dry));
        let tree = dry.map(|dry| self.tree_before(settings, dry, head, heads)).transpose()?;
        let is_there = |app: &&Arc<Application>| behind.iter().all(|behind| behind.path != app.sync_path);
        let applications = tree.iter().flat_map(|tree| tree.applications(name)).filter(is_there);
        let mut applications: Vec<Arc<Application>> = applications.cloned().collect();
        for Behind { path, dry_commit } in behind {
            let Some(dry) = dry_commit.filter(|dry| repository.has(*dry)) else { continue };
            let then = self.tree_before(settings, dry, head, heads)?;
            applications.extend(then.applications(name).find(|app| app.sync_path == *path).cloned());
        }
        Ok(Former { tree, applications })
    }

    /// The Applications of a dry commit by the settings that a branch was hydrated with: they decide what was on it.
    fn tree_before(
        &mut self,
        settings: Option<ObjectId>,
        dry: ObjectId,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Rc<DryTree>, HydrateError> {
        match self.former_policy(settings) {
            Some(former) => self.trees.read_by(&former, dry, head, heads, &self.found),
            // The same commit is read for the dry branch of now too.
            None if self.found.has_left(&head.branch) => {
                self.trees.read_by(&self.found.policy, dry, head, heads, &self.found)
            }
            None => self.tree(dry, head, heads),
        }
    }

    /// Settings by which other Applications were found than by those of now; none when the same ones are, or when they cannot
    /// be read.
    fn former_policy(&mut self, settings: Option<ObjectId>) -> Option<Rc<Policy>> {
        let Snapshot { policy, buffer, .. } = &self.found;
        if settings == policy.id {
            return None;
        }
        let read = || {
            let former = Policy::at(settings, buffer).ok()?.making_as(policy);
            (!former.finds_as(policy)).then(|| Rc::new(former))
        };
        self.former.entry(settings).or_insert_with(read).clone()
    }

    /// Goes on with other settings.
    pub(crate) fn use_settings(&mut self, id: Option<ObjectId>) -> Result<(), HydrateError> {
        self.found.policy = Policy::at(id, &self.found.buffer)?;
        self.former.clear();
        self.seen_elsewhere.clear();
        self.trees.clear();
        Ok(())
    }

    /// Goes on with what is recorded of inputs, or without.
    pub(crate) fn show_inputs(&mut self, is_shown: bool) {
        if self.found.inputs.show(is_shown) {
            self.trees.clear();
            self.looked_at.clear();
        }
    }

    /// Whether it goes by what differs from the dry commit that the branches show, and by nothing else.
    pub(crate) fn starts_at_base(&self) -> bool {
        matches!(self.preview, Some(Previewed::SinceBase { .. }))
    }

    /// Forgets what was made and found, so that a long history takes no more memory than a short one.
    pub(crate) fn forget(&mut self) {
        self.found.buffer.clear();
        self.forget_failures();
        if self.trees.len() > TREES_MAX {
            self.trees.clear();
        }
    }

    /// Forgets which dry commits did not hydrate.
    pub(crate) fn forget_failures(&mut self) {
        self.ledger.failures = Failures::default();
    }

    /// Refs will move: git starts while the rest is found out.
    pub(crate) fn expect_moves(&mut self) -> Result<(), Stopped> {
        Ok(self.start.begin(self.found.setup.repository, self.found.setup.pusher)?)
    }

    /// Takes over what became of the branches by a dry commit.
    pub(crate) fn take(&mut self, commits: Commits) {
        let Commits { head, dry, branches, warnings } = commits;
        let definition = dry.definition();
        for (name, becomes) in branches {
            let Some(branch) = self.branches.get_mut(&name) else { continue };
            match becomes {
                Becomes::Hydrated(made) => {
                    branch.take(*made, &dry, self.found.policy.id);
                    let is_shared = self.found.policy.settings.is_shared(&name);
                    let shared = Some(&head.branch).filter(|_| is_shared);
                    let tip = branch.tip.as_ref().map(|tip| tip.id);
                    self.ledger.reached(&name, tip, &dry, shared, &self.found.buffer);
                    let behind = branch.left.failed();
                    if !behind.is_empty() {
                        let (settings, mistakes) = (self.found.policy.id, branch.left.diagnostics());
                        self.ledger.record_failure(&name, &head, definition, settings, mistakes, behind);
                    }
                    self.note_judged(&name, &head, definition, None);
                }
                Becomes::Failed(failing) => self.fail(&name, &head, definition, failing),
            }
        }
        let said = self.report.said();
        self.report.warnings.extend(warnings);
        self.report.is_about(said, &About::Made(DryPoint::new(&head.branch, definition)));
    }

    /// Notes that a branch is not hydrated from a dry commit.
    ///
    /// Limits are not recorded in the repository: on another machine, or on another day, it may go well.
    pub(crate) fn fail(&mut self, name: &BranchName, head: &DryHead, dry: ObjectId, failing: Failing) {
        self.note_wanted(&failing, &head.branch);
        let Some(branch) = self.branches.get_mut(name) else { return };
        let settings = self.found.policy.id;
        let diagnostics = failing.diagnostics();
        let judged = diagnostics.clone();
        match failing {
            Failing::Mistakes(mistakes) => {
                self.ledger.record_failure(name, head, dry, settings, mistakes, Vec::new());
                branch.fail(dry, diagnostics, false);
            }
            Failing::Lasting(mistakes) => {
                self.ledger.record_failure(name, head, dry, settings, mistakes, Vec::new());
                branch.fail(dry, diagnostics, false);
                branch.fail_until_changed();
            }
            Failing::Taken(_) => branch.fail(dry, diagnostics, false),
            Failing::Recorded(_) => branch.fail(dry, diagnostics, true),
            Failing::Limited(failed) => {
                self.ledger.note_limit(name, head, dry, settings, judged.clone());
                branch.fail(dry, diagnostics, true);
                branch.fail_by(failed);
            }
            Failing::Renders(failed) => {
                match failed.mistakes.is_empty() {
                    true => self.ledger.note_limit(name, head, dry, settings, judged.clone()),
                    false => self.ledger.record_failure(name, head, dry, settings, failed.mistakes.clone(), Vec::new()),
                }
                if failed.renders.iter().any(|render| !render.follows) {
                    self.ledger.note_programs(name, dry);
                }
                self.memory.is_cut_off |= failed.is_cut_off();
                branch.fail(dry, diagnostics, false);
                branch.fail_by(failed);
            }
        }
        if self.was_unnamed(name, head)
            && let Some(branch) = self.branches.get_mut(name)
        {
            branch.note_unnamed();
        }
        self.note_judged(name, head, dry, Some(judged));
    }

    /// Whether an earlier run reported that no Application names a branch. What a clone fetched of that counts where the dry
    /// branch of the remote has none that does.
    fn was_unnamed(&mut self, name: &BranchName, head: &DryHead) -> bool {
        if !self.unnamed_before.contains(name) {
            return false;
        }
        if self.ledger.believes_failures {
            return true;
        }
        let Some(tip) = self.found.tip(&head.branch) else { return false };
        let there = self.tree(tip, head, std::slice::from_ref(head));
        there.is_ok_and(|there| !there.is_open() && there.is_sound() && there.applications(name).next().is_none())
    }
}
