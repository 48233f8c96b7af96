//! One try at hydrating: what it found, and what it made so far.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::branch::Branch;
use super::commits::{Becomes, Commits};
use super::memory::{Attempt, Memory};
use super::moves::Start;
use super::plan::Failing;
use super::stopped::Stopped;
use crate::application::BranchName;
use crate::git::{ObjectBuffer, ObjectId};
use crate::hydrate::dry_tree::{DryTree, DryTrees};
use crate::hydrate::error::HydrateError;
use crate::hydrate::failures::Failures;
use crate::hydrate::heads::DryHead;
use crate::hydrate::ledger::Ledger;
use crate::hydrate::report::Report;
use crate::hydrate::rules::Rules;
use crate::hydrate::setup::Setup;
use crate::hydrate::snapshot::Snapshot;
use crate::view::TreeFiles;

/// How many dry trees a run without an end keeps: each is asked for again right after it was read.
const TREES_MAX: usize = 8;

/// One try at hydrating.
pub struct Run<'a> {
    /// The repository as it was.
    pub found: Snapshot<'a>,
    /// Notes and failures, as they shall be.
    pub ledger: Ledger,
    /// The dry commits that were looked at.
    pub trees: DryTrees<'a>,
    /// What earlier runs found out, and what is left for the next.
    pub memory: Memory,
    /// The environment branches, as they shall be.
    pub branches: BTreeMap<BranchName, Branch>,
    /// What is told beside the branches.
    pub report: Report,
    /// The settings with what was found out, where that is new.
    pub learnt: Option<ObjectId>,
    /// Dry trees: what differs from them is rendered first.
    pub urgent_since: Vec<ObjectId>,
    /// Whether refs shall move.
    pub start: Start<'a>,
}

impl<'a> Run<'a> {
    /// Reads what the repository says now.
    pub fn new(setup: &'a Setup<'a>) -> Result<Self, HydrateError> {
        Self::over(setup, ObjectBuffer::new(setup.repository))
    }

    /// The same with a buffer that may hold objects of another run already.
    pub fn over(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Self, HydrateError> {
        let (found, ledger) = Snapshot::read(setup, buffer)?;
        Ok(Self {
            found,
            ledger,
            trees: DryTrees::default(),
            memory: Memory::default(),
            branches: BTreeMap::new(),
            report: Report::default(),
            learnt: None,
            urgent_since: Vec::new(),
            start: Start::Never,
        })
    }

    /// The same with what earlier runs and tries found out.
    pub fn recalling(self, attempt: &Attempt) -> Self {
        let memory = Memory::new(self.found.setup.repository, attempt);
        Self { memory, urgent_since: attempt.urgent_since.clone(), ..self }
    }

    /// What the repository knows of an environment branch that is hydrated from `head`.
    pub fn open(&mut self, name: &BranchName, sync: &BranchName, head: &DryHead) -> Result<Branch, HydrateError> {
        Branch::open(name, sync, head, &self.found, &mut self.ledger.notes)
    }

    /// The Applications of a dry commit, taken for one of the dry branch `head`.
    pub fn tree(&mut self, dry: ObjectId, head: &DryHead, heads: &[DryHead]) -> Result<Rc<DryTree>, HydrateError> {
        self.trees.read(dry, head, heads, &self.found)
    }

    /// The files of a dry tree.
    pub fn files(&mut self, tree: ObjectId) -> Rc<TreeFiles<'a>> {
        self.trees.files(tree, self.found.setup.repository)
    }

    /// The dry commit that a branch was hydrated from last.
    pub fn before(
        &mut self,
        name: &BranchName,
        head: &DryHead,
        heads: &[DryHead],
    ) -> Result<Option<Rc<DryTree>>, HydrateError> {
        let branch = self.branches.get(name);
        let dry = branch.and_then(|branch| branch.dry).filter(|dry| self.found.setup.repository.has(*dry));
        let Some(dry) = dry else { return Ok(None) };
        // What rules led there is what left, when they lead elsewhere now.
        let settings = branch.and_then(|branch| branch.settings);
        let former = Rules::at(settings, &self.found.buffer).ok().filter(|_| settings != self.found.rules.id);
        match former.filter(|former| former.plain != self.found.rules.plain) {
            Some(former) => self.trees.read_by(&former.plain, dry, head, heads, &self.found).map(Some),
            None => self.tree(dry, head, heads).map(Some),
        }
    }

    /// Goes on with other settings.
    pub fn use_settings(&mut self, id: Option<ObjectId>) -> Result<(), HydrateError> {
        self.found.rules = Rules::at(id, &self.found.buffer)?;
        self.trees.clear();
        Ok(())
    }

    /// Forgets what was made and found, so that a long history takes no more memory than a short one.
    pub fn forget(&mut self) {
        self.found.buffer.clear();
        self.ledger.failures = Failures::default();
        if self.trees.len() > TREES_MAX {
            self.trees.clear();
        }
    }

    /// Refs will move: git starts while the rest is found out.
    pub fn expect_moves(&mut self) -> Result<(), Stopped> {
        Ok(self.start.begin(self.found.setup.repository)?)
    }

    /// Takes over what became of the branches by a dry commit.
    pub fn take(&mut self, commits: Commits) {
        let Commits { head, dry, branches, warnings } = commits;
        for (name, becomes) in branches {
            let Some(branch) = self.branches.get_mut(&name) else { continue };
            match becomes {
                Becomes::Hydrated(made) => {
                    branch.take(*made, dry.id, self.found.rules.id);
                    self.ledger.reached(&name, branch.tip.as_ref().map(|tip| tip.id), &dry, &self.found.buffer);
                }
                Becomes::Failed(failing) => self.fail(&name, &head, dry.id, failing),
            }
        }
        self.report.warnings.extend(warnings);
    }

    /// Notes that a branch is not hydrated from a dry commit.
    ///
    /// Limits are not recorded in the repository: on another machine, or on another day, it may go well.
    pub fn fail(&mut self, name: &BranchName, head: &DryHead, dry: ObjectId, failing: Failing) {
        let Some(branch) = self.branches.get_mut(name) else { return };
        let settings = self.found.rules.id;
        let diagnostics = failing.diagnostics();
        match failing {
            Failing::Mistakes(mistakes) => {
                self.ledger.record_failure(name, head, dry, settings, mistakes);
                branch.fail(dry, diagnostics, false);
            }
            Failing::Recorded(_) => branch.fail(dry, diagnostics, true),
            Failing::Limited(failed) => {
                branch.fail(dry, diagnostics, true);
                branch.failed = Some(failed);
            }
            Failing::Renders(failed) => {
                if !failed.mistakes.is_empty() {
                    self.ledger.record_failure(name, head, dry, settings, failed.mistakes.clone());
                }
                self.memory.is_cut_off |= failed.is_cut_off();
                branch.fail(dry, diagnostics, false);
                branch.failed = Some(failed);
            }
        }
    }
}
