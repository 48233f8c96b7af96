//! One try: everything is decided and made in memory, then written, then the refs move.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::branch::{self, Branch};
use super::branch_records::{BranchRecords, Engines, RECORDS_REF};
use super::dry_branches::DryBranches;
use super::failed_render::{FailedBranch, FailedRenders};
use super::failures::{FAILURES_REF, Failures};
use super::heads::{self, DryHead};
use super::memory::Memory;
use super::report::Report;
use super::rules::Rules;
use super::standing::Standing;
use super::stopped::Stopped;
use super::{HydrateError, Setup, Wake};
use crate::application::{Application, BranchName};
use crate::diag::{Diagnostic, shell_word};
use crate::git::{self, Notes, ObjectBuffer, ObjectId, RefEdit, Refs, Transaction, object_id};
use crate::metadata::{ENGINE_REVISION, NOTES_REF, Time};
use crate::plan::Discovery;
use crate::settings::{History, Settings};

mod dry_commit;
mod dry_tree;
mod learnt;
mod losses;
mod other_branches;
mod records;
mod refs;
mod rendering;
mod unproven;
mod untouched;

pub(super) use dry_tree::DryTree;
use learnt::Learnt;
use records::Records;

/// How many commits a dry branch may be ahead of an environment branch; beyond them only its tip is hydrated.
pub(super) const BACKLOG_MAX: usize = 100_000;

/// How many dry trees a run without an end keeps: each is asked for again right after it was read.
const TREES_MAX: usize = 8;

/// What a run made in memory.
pub(super) struct Rehearsal<'a> {
    pub buffer: ObjectBuffer<'a>,
    pub branches: BTreeMap<BranchName, Branch>,
    pub report: Report,
    /// The dry commits that were looked at.
    pub trees: HashMap<ObjectId, Rc<DryTree>>,
}

/// A hydration that only has to be written: objects in memory, and the refs that shall move.
pub(super) struct Prepared<'a> {
    pub buffer: ObjectBuffer<'a>,
    /// The refs that it was made for.
    pub refs: Refs,
    pub edits: Vec<RefEdit>,
    pub branches: BTreeMap<BranchName, Branch>,
    pub report: Report,
    /// The dry commits that were looked at.
    pub trees: HashMap<ObjectId, Rc<DryTree>>,
    /// The dry branches that are looked at whatever is pushed.
    pub dry_branches: BTreeSet<BranchName>,
    pub settings: Settings,
    /// What it leaves for the next run, once the refs have moved.
    pub memory: Option<Memory>,
    /// Whether an Application was not rendered because somebody had no time to wait for it.
    pub is_cut_off: bool,
}

/// The refs that a run moves at its end.
enum Moves<'a> {
    /// It moves none, or those that somebody else asked for.
    None,
    /// Those of the branches that it hydrates, if it finds any.
    Wanted,
    /// They will move, and git waits to be told which.
    Expected(Transaction<'a>),
}

/// Whether the branches of a place that keeps no settings were hydrated with those that its first hydration found.
fn began_here(owned: &BranchRecords, buffer: &ObjectBuffer<'_>) -> bool {
    let settings = owned.iter().find_map(|(_, record)| record.settings);
    settings.is_some_and(|id| Rules::at(Some(id), buffer).is_ok_and(|rules| rules.makes == Some(true)))
}

/// What a repository asks for.
#[derive(Debug)]
pub struct Survey {
    /// The branches that its Applications name, those that are deployed and those for staging.
    pub branches: BTreeSet<BranchName>,
    /// Its Applications that are hydrated, each with its dry branch.
    pub applications: Vec<(BranchName, Application)>,
    /// Its settings.
    pub settings: Settings,
}

/// A branch that Applications name.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// Their dry branch.
    pub dry_branch: BranchName,
    /// Whether hydration writes it; else it is the sync branch of a staging branch.
    pub is_environment: bool,
}

/// One try of [`super::hydrate`].
pub(super) struct Run<'a> {
    pub setup: &'a Setup<'a>,
    buffer: ObjectBuffer<'a>,
    refs: Refs,
    pub rules: Rules,
    pub environments: BTreeMap<BranchName, BranchName>,
    /// The dry branches, the default one first.
    dry_branches: Vec<BranchName>,
    /// What it found out that is a setting from now on.
    learnt: Learnt,
    /// The records of the branches that hydration made.
    pub owned: BranchRecords,
    /// Whether nothing was hydrated before there was the setting `madeApplications`.
    is_new: bool,
    /// How many of them there were when the run began.
    older: usize,
    notes: Notes,
    pub failures: Failures,
    records: Records,
    discovery: Discovery,
    trees: HashMap<ObjectId, Rc<DryTree>>,
    pub branches: BTreeMap<BranchName, Branch>,
    pub report: Report,
    /// What earlier runs found out; none where all of it shall be found out again.
    pub memory: Option<Memory>,
    /// What did not render in this run.
    failed: Rc<FailedRenders>,
    /// Whether what reached a limit of this machine in an earlier run is tried again.
    pub retry: bool,
    /// Dry trees: what differs from them is rendered first.
    urgent_since: Vec<ObjectId>,
    /// Whether an Application was not rendered because somebody had no time to wait for it.
    pub is_cut_off: bool,
    newest_dry: Option<Time>,
    moves: Moves<'a>,
}

impl<'a> Run<'a> {
    /// Reads what the repository says now.
    pub fn new(setup: &'a Setup<'a>) -> Result<Self, Stopped> {
        Self::over(setup, ObjectBuffer::new(setup.repository))
    }

    /// The same with a buffer that may hold objects of another run already.
    pub fn over(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Self, Stopped> {
        let refs = setup.repository.refs()?;
        let rules = Rules::read(&refs, &buffer)?;
        let mut records = Records::default();
        let notes = records.read(NOTES_REF, &refs, |tip| {
            let tree = tip.map(|tip| buffer.commit(tip)).transpose()?.map(|commit| commit.tree);
            Notes::open(tree, &buffer)
        });
        let mut notes = notes.map_or_else(|| Notes::open(None, &buffer), Ok)?;
        let (owned, fault) = heads::records(&setup.refs, &refs, &mut notes, &buffer)?;
        if let Some(fault) = fault {
            records.give_up(RECORDS_REF, &fault);
        }
        let environments = heads::environments(&setup.refs, &refs, &owned);
        let is_new = owned.is_empty() || (!setup.refs.is_in_place() && began_here(&owned, &buffer));
        let rules = rules.in_repository(is_new);
        let (dry_branches, set) = DryBranches::find(&setup.wake, &setup.refs, &refs, &rules.settings, &owned);
        let failures = records.read(FAILURES_REF, &refs, |tip| Failures::read(&buffer, tip)).unwrap_or_default();
        Ok(Self {
            setup,
            buffer,
            refs,
            rules,
            environments,
            dry_branches,
            learnt: Learnt::new(set),
            older: owned.iter().count(),
            is_new,
            owned,
            notes,
            failures,
            records,
            discovery: Discovery::default(),
            trees: HashMap::new(),
            branches: BTreeMap::new(),
            report: Report::default(),
            memory: None,
            failed: Rc::default(),
            retry: false,
            urgent_since: Vec::new(),
            is_cut_off: false,
            newest_dry: None,
            moves: Moves::None,
        })
    }

    /// The same with what failed in an earlier try.
    pub fn knowing(self, failed: &Rc<FailedRenders>) -> Self {
        Self { failed: failed.clone(), ..self }
    }

    /// The same, and with `retry` what reached a limit of this machine in an earlier run is tried again.
    pub fn retrying(self, retry: bool) -> Self {
        Self { retry, ..self }
    }

    /// The same, where what differs from these dry trees is rendered first.
    pub fn beginning_with(self, urgent_since: Vec<ObjectId>) -> Self {
        Self { urgent_since, ..self }
    }

    /// Hydrates all dry branches that the wake-up is about and moves the refs.
    pub fn finish(mut self, trust_cache: bool) -> Result<Report, Stopped> {
        self.moves = Moves::Wanted;
        if self.was_pushed_to() {
            self.expect_moves()?;
        }
        self.memory = Memory::new(self.setup.repository, trust_cache);
        self.hydrate_heads()?;
        self.finish_with_refs()
    }

    /// The same without writing anything.
    pub fn prepare(mut self, trust_cache: bool) -> Result<Prepared<'a>, Stopped> {
        self.memory = Memory::new(self.setup.repository, trust_cache);
        self.hydrate_heads()?;
        let edits = self.ref_edits()?;
        self.note_changes();
        let dry_branches = self.heads_of(&Wake::Pushed(Vec::new())).into_iter().map(|head| head.branch).collect();
        let Self { buffer, refs, branches, report, trees, rules, memory, is_cut_off, .. } = self;
        let settings = rules.settings;
        Ok(Prepared { buffer, refs, edits, branches, report, trees, dry_branches, settings, memory, is_cut_off })
    }

    /// Hydrates the tips alone and moves nothing: what it made stands in the buffer.
    pub fn rehearse(mut self) -> Result<Rehearsal<'a>, Stopped> {
        self.rules.settings.history = History::Tip;
        self.memory = Memory::new(self.setup.repository, false);
        self.hydrate_heads()?;
        let Self { buffer, branches, report, trees, .. } = self;
        Ok(Rehearsal { buffer, branches, report, trees })
    }

    /// What the dry branches ask for, without rendering anything.
    pub fn survey(mut self) -> Result<Survey, Stopped> {
        let heads = self.heads();
        let (mut branches, mut applications) = (BTreeSet::new(), Vec::new());
        for head in &heads {
            let tree = self.dry_tree(head.tip, head, &heads)?;
            for application in tree.hydrated() {
                branches.extend([application.environment_branch().clone(), application.sync_branch.clone()]);
                applications.push((head.branch.clone(), application.clone()));
            }
        }
        Ok(Survey { branches, applications, settings: self.rules.settings })
    }

    /// The branches that the Applications at the tips of the dry branches name, without rendering anything.
    pub fn named(&mut self) -> Result<BTreeMap<BranchName, Named>, Stopped> {
        let heads = self.heads();
        let mut found = BTreeMap::new();
        for head in &heads {
            let tree = self.dry_tree(head.tip, head, &heads)?;
            let named = |is_environment| Named { dry_branch: head.branch.clone(), is_environment };
            for application in tree.hydrated() {
                found.entry(application.sync_branch.clone()).or_insert(named(false));
            }
            for application in tree.hydrated() {
                found.insert(application.environment_branch().clone(), named(true));
            }
        }
        Ok(found)
    }

    /// How a branch stands whose tip is `tip`.
    pub fn standing(
        &mut self,
        branch: &BranchName,
        tip: ObjectId,
        dry_branch: &BranchName,
    ) -> Result<Standing, git::Error> {
        Standing::read(branch, tip, dry_branch, &self.rules.settings, &self.owned, &mut self.notes, &self.buffer)
    }

    /// The branches that the Applications of the dry branches name and may name, each with its dry branch.
    pub fn destinations(mut self) -> Result<BTreeMap<BranchName, BranchName>, Stopped> {
        self.memory = Memory::new(self.setup.repository, true);
        let heads = self.heads();
        let mut found = BTreeMap::new();
        for head in &heads {
            let known = self.recall(head).filter(|state| object_id(&state.head.dry_commit) == Some(head.tip));
            let names = match known {
                Some(state) => state.head.destinations,
                None => self.dry_tree(head.tip, head, &heads)?.branch_names().1,
            };
            let names = names.iter().filter_map(|name| BranchName::new(name).ok());
            let names = names.filter(|name| self.rules.allowed.matches(name.as_str()));
            found.extend(names.map(|name| (name, head.branch.clone())));
        }
        Ok(found)
    }

    /// The branch that `HEAD` means in an Application: the first dry branch that exists.
    pub(super) fn default_branch(&self) -> Option<&BranchName> {
        let exists = |branch: &&BranchName| self.setup.refs.tip(&self.refs, branch).is_some();
        self.dry_branches.iter().find(exists).or(self.dry_branches.first())
    }

    fn heads(&self) -> Vec<DryHead> {
        self.heads_of(&self.setup.wake)
    }

    fn heads_of(&self, wake: &Wake) -> Vec<DryHead> {
        heads::heads(wake, &self.setup.refs, &self.refs, &self.dry_branches, &self.environments)
    }

    /// Whether something was pushed to a branch that others are hydrated from.
    fn was_pushed_to(&self) -> bool {
        let Wake::Pushed(pushed) = &self.setup.wake else { return false };
        let is_known = |branch: &String| self.dry_branches.iter().any(|dry_branch| dry_branch.as_str() == branch);
        !self.environments.is_empty() && pushed.iter().any(is_known)
    }

    fn hydrate_heads(&mut self) -> Result<(), Stopped> {
        let heads = self.readable_heads();
        self.learn(&heads)?;
        self.warn_of_other_branches(&heads)?;
        for head in &heads {
            if !self.advance(head, &heads)? {
                self.hydrate_head(head, &heads)?;
            }
        }
        Ok(())
    }

    /// The dry branches that the wake-up asks for. One that nobody can read is told, and holds back no other.
    fn readable_heads(&mut self) -> Vec<DryHead> {
        let (heads, unreadable): (Vec<_>, Vec<_>) =
            self.heads().into_iter().partition(|head| self.buffer.commit(head.tip).is_ok());
        let unreadable = unreadable.into_iter().map(|head| head.branch);
        let known = self.environments.values().chain(&self.dry_branches).cloned();
        let broken = known.filter(|branch| self.refs.is_broken(&format!("{}{branch}", self.setup.refs.read)));
        let branches: BTreeSet<BranchName> = unreadable.chain(broken).collect();
        self.report.problems.extend(branches.into_iter().map(|branch| {
            Diagnostic::error(format!(
                "`{}{branch}` cannot be read, so nothing is hydrated from it",
                self.setup.refs.read
            ))
            .hint("`git hydrate doctor` on the server tells how to mend it")
        }));
        heads
    }

    /// Moves the refs of all branches that were opened and tells what became of them.
    pub fn finish_with_refs(mut self) -> Result<Report, Stopped> {
        self.move_refs()?;
        if let Some(memory) = self.memory.take() {
            memory.write();
        }
        self.report.warnings.extend(self.records.faults());
        self.note_changes();
        self.report.branches = self.branches.into_values().map(Branch::into_report).collect();
        Ok(self.report)
    }

    /// Writes what the repository needs before its first push: its dry branches where they can be found, and records of
    /// what earlier versions made.
    pub fn settle(mut self) -> Result<Report, Stopped> {
        if !self.dry_branches.is_empty() {
            let heads = self.heads();
            self.learn_whatever_is_hydrated(&heads)?;
        }
        self.finish_with_refs()
    }

    /// Notes what the run did beside hydrating.
    fn note_changes(&mut self) {
        let starts_records = self.refs.get(RECORDS_REF).is_none() && self.records.holds(RECORDS_REF);
        if starts_records && self.older > 0 && self.setup.refs.records {
            let what = if self.older == 1 { "1 branch".to_owned() } else { format!("{} branches", self.older) };
            let note = format!("{what} hydrated by an earlier version now recorded in {RECORDS_REF}");
            self.report.notes.push(note);
        }
        let mut upgraded: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for branch in self.branches.values() {
            if let Some(before) = branch.engine_before() {
                upgraded.entry(before).or_default().push(branch.name.as_str());
            }
        }
        for (before, branches) in upgraded {
            let branches = branches.join(", ");
            self.report.notes.push(format!(
                "engine revision {ENGINE_REVISION} renders what changes from now on, in place of {before}: {branches}"
            ));
        }
    }

    /// Takes a branch up whose commits are made.
    pub fn add(&mut self, name: BranchName, branch: Branch) {
        self.branches.insert(name, branch);
    }

    /// What was made so far, and the repository below.
    pub fn buffer(&self) -> &ObjectBuffer<'a> {
        &self.buffer
    }

    /// The tip of a branch.
    pub fn tip(&self, branch: &BranchName) -> Option<ObjectId> {
        self.setup.refs.tip(&self.refs, branch)
    }

    /// The notes as they are in the repository; none when there are none at all.
    pub fn recorded_notes(&self) -> Result<Option<Notes>, git::Error> {
        let Some(tip) = self.refs.get(NOTES_REF) else { return Ok(None) };
        Notes::open(Some(self.buffer.commit(tip)?.tree), &self.buffer).map(Some)
    }

    /// Whether the repository has records of branches, and is not told by notes or commits alone.
    pub fn has_records(&self) -> bool {
        self.refs.get(RECORDS_REF).is_some()
    }

    /// Which revision of the engine made which commit.
    pub fn engines(&self) -> Result<Engines, git::Error> {
        Engines::read(self.refs.get(RECORDS_REF), &self.buffer)
    }

    /// Goes on with the rules of other settings.
    pub fn use_settings(&mut self, id: Option<ObjectId>) -> Result<(), HydrateError> {
        self.rules = Rules::at(id, &self.buffer)?;
        self.trees.clear();
        Ok(())
    }

    /// Hydrates one dry commit onto a branch as it once was; only the buffer knows.
    pub fn replay(&mut self, branch: Branch, dry: ObjectId) -> Result<Branch, Stopped> {
        let head = DryHead { branch: branch.dry_branch.clone(), tip: dry };
        let heads = std::slice::from_ref(&head);
        let tree = self.dry_tree(dry, &head, heads)?;
        let name = branch.name.clone();
        self.branches.insert(name.clone(), branch);
        let untried = self.untried(dry, vec![name.clone()], &head);
        self.hydrate_commit(&head, dry, &tree, &untried, heads)?;
        Ok(self.branches.remove(&name).expect("a dry commit takes no branch away"))
    }

    /// Forgets what was made and found, so that a long history takes no more memory than a short one.
    pub fn forget(&mut self) {
        self.buffer.clear();
        self.failures = Failures::default();
        if self.trees.len() > TREES_MAX {
            self.trees.clear();
        }
    }

    /// Brings all environment branches of one dry branch up to its tip.
    fn hydrate_head(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<(), Stopped> {
        let tree = self.dry_tree(head.tip, head, heads)?;
        let mut names: BTreeSet<BranchName> =
            tree.hydrated().map(|application| application.environment_branch().clone()).collect();
        let recorded = self.environments.iter().filter(|(_, dry_branch)| **dry_branch == head.branch);
        names.extend(recorded.map(|(branch, _)| branch.clone()));
        let mut backlog: BTreeMap<BranchName, Vec<ObjectId>> = BTreeMap::new();
        let mut passed_over = BTreeMap::new();
        for name in names {
            if let Some(mistake) = self.of_another_dry_branch(&name, head, heads, &tree) {
                self.report.problems.push(mistake);
                continue;
            }
            let branch = self.open_branch(&name, head, &tree)?;
            let commits = self.backlog(&branch, head)?;
            passed_over.insert(name.clone(), self.passed_over(&branch, &commits));
            backlog.insert(name.clone(), commits);
            self.branches.insert(name, branch);
        }
        if tree.is_open() {
            for name in backlog.keys() {
                self.before(name, head, heads)?;
            }
        }
        self.note_silence(&tree, head);
        let mut warnings = self.report_problems(&tree, &backlog);
        let unused = self.unused_active_paths(heads)?;
        self.report.warnings.extend(unused.iter().cloned());
        warnings.extend(unused);
        let longest = backlog.values().max_by_key(|commits| commits.len()).cloned().unwrap_or_default();
        if !longest.is_empty() {
            self.expect_moves()?;
        }
        for (index, dry) in longest.iter().enumerate() {
            if index > 0 && (self.setup.out_of_time)() {
                self.report.unfinished = true;
                break;
            }
            let left = longest.len() - index;
            let wanting = backlog.iter().filter(|(name, commits)| commits.len() >= left && self.is_open(name));
            let wanting = wanting.filter(|(name, _)| !passed_over[*name].contains(dry));
            let wanting: Vec<BranchName> = wanting.map(|(name, _)| name.clone()).collect();
            let wanting = self.untried(*dry, wanting, head);
            if !wanting.is_empty() {
                let tree = self.dry_tree(*dry, head, heads)?;
                self.hydrate_commit(head, *dry, &tree, &wanting, heads)?;
            }
        }
        self.failures.keep_only(&head.branch, |branch| backlog.keys().any(|name| name.as_str() == branch));
        self.keep_all(head, heads, &tree, &backlog, warnings);
        Ok(())
    }

    /// A branch that another dry branch writes is its alone: what this one asks of it is a mistake here, not there.
    fn of_another_dry_branch(
        &self,
        name: &BranchName,
        head: &DryHead,
        heads: &[DryHead],
        tree: &DryTree,
    ) -> Option<Diagnostic> {
        let opened = self.branches.get(name).map(|branch| &branch.dry_branch);
        let owner = opened.or(self.environments.get(name)).filter(|owner| **owner != head.branch)?;
        let is_shared = !self.rules.settings.active_paths(name).is_empty();
        if is_shared || !heads.iter().any(|other| other.branch == *owner) {
            return None;
        }
        let place = tree.applications(name).next()?.places.environment_branch().clone();
        Some(branch::written_from(name, owner, &head.branch).at(place))
    }

    /// Notes that a push to a dry branch asks for nothing to be hydrated, where nothing else would be said.
    fn note_silence(&mut self, tree: &DryTree, head: &DryHead) {
        let Wake::Pushed(pushed) = &self.setup.wake else { return };
        let is_pushed = pushed.iter().any(|branch| branch == head.branch.as_str());
        if is_pushed
            && tree.is_empty()
            && !tree.has_makers()
            && !self.environments.values().any(|dry_branch| *dry_branch == head.branch)
        {
            let text = format!("nothing to hydrate: `{}` has no Application with `spec.sourceHydrator`", head.branch);
            self.report.notes.push(text);
        }
    }

    /// Warns of keys of the setting `activePaths` that no Application writes to.
    fn unused_active_paths(&mut self, heads: &[DryHead]) -> Result<Vec<Diagnostic>, Stopped> {
        let mut unused: BTreeSet<BranchName> = self.rules.settings.active_paths.keys().cloned().collect();
        for head in heads {
            if unused.is_empty() {
                break;
            }
            for application in self.dry_tree(head.tip, head, heads)?.hydrated() {
                unused.remove(&application.sync_branch);
            }
        }
        let warning = |branch: &BranchName| {
            let text = format!(
                "the setting `activePaths` names `{branch}`, which no Application has as `syncSource.targetBranch`"
            );
            Diagnostic::warning(text).hint(format!(
                "on the server: git hydrate config unset {}",
                shell_word(&format!("activePaths.{branch}"))
            ))
        };
        Ok(unused.iter().map(warning).collect())
    }

    fn is_open(&self, name: &BranchName) -> bool {
        self.branches.get(name).is_some_and(|branch| !branch.closed)
    }

    /// What the repository knows of an environment branch, and whether we may write it.
    fn open_branch(&mut self, name: &BranchName, head: &DryHead, tree: &DryTree) -> Result<Branch, Stopped> {
        let sync = tree.applications(name).next().map_or(name, |application| &application.sync_branch);
        let mut branch = self.open(name, sync, head)?;
        branch.applications = tree.applications(name).count();
        self.judge(&mut branch, head, tree.applications(name));
        Ok(branch)
    }

    /// What the repository knows of an environment branch that is hydrated from `head`.
    pub fn open(&mut self, name: &BranchName, sync: &BranchName, head: &DryHead) -> Result<Branch, Stopped> {
        let branch = Branch::open(
            name,
            sync,
            head,
            &self.setup.refs,
            &self.refs,
            &self.rules.settings,
            &self.owned,
            &mut self.notes,
            &self.buffer,
        )?;
        if let Some(id) = branch.settings.filter(|id| self.buffer.commit(*id).is_err()) {
            return Err(HydrateError::SettingsMissing { id, branch: name.clone() }.into());
        }
        Ok(branch)
    }

    /// Whether hydration may write the branch; `applications` are those that write to it.
    pub fn judge<'t>(&self, branch: &mut Branch, head: &DryHead, applications: impl Iterator<Item = &'t Application>) {
        let checked_out = self.setup.refs.records && self.setup.repository.checked_out(branch.name.as_str());
        branch.judge(head, applications, checked_out, &self.rules.settings, &self.buffer);
    }

    /// The dry commits that the branch lacks, oldest first: a suffix of the first-parent line up to the tip.
    pub(super) fn backlog(&self, branch: &Branch, head: &DryHead) -> Result<Vec<ObjectId>, Stopped> {
        if branch.closed {
            return Ok(Vec::new());
        }
        let repository = self.setup.repository;
        let line = match branch.dry.filter(|dry| repository.has(*dry)) {
            Some(dry) => repository.first_parents(dry, head.tip, BACKLOG_MAX)?,
            None => None,
        };
        let settings_changed = branch.settings != self.rules.id;
        let moved = self.setup.refs.records && branch.was_moved();
        Ok(match line {
            // A new branch, or a dry branch that was rewound.
            None => vec![head.tip],
            Some(line) if line.is_empty() && (settings_changed || moved) => vec![head.tip],
            Some(line) => match self.rules.settings.history {
                History::Every => line,
                History::Tip => line.last().copied().into_iter().collect(),
            },
        })
    }

    /// Whether other settings than `before` hold now, as far as they can change what is hydrated.
    pub fn settings_changed(&self, before: Option<ObjectId>) -> Result<bool, HydrateError> {
        if before == self.rules.id {
            return Ok(false);
        }
        let before = Rules::at(before, &self.buffer)?.settings;
        Ok(!before.makes_the_same_as(&self.rules.settings))
    }

    /// The dry commits of a backlog that were tried in vain and are passed over without a word: the record of failures has
    /// no room for all of them, and of those that reached a limit this machine keeps the last.
    fn passed_over(&self, branch: &Branch, commits: &[ObjectId]) -> BTreeSet<ObjectId> {
        let is_known = |dry: &ObjectId| self.known_failure(&branch.name, *dry).is_some();
        let oldest = commits.iter().position(is_known).filter(|_| self.failures.is_full(&branch.name));
        let limited = self.recalled_limit(branch).map(|(last, _)| last);
        let limited = limited.and_then(|last| commits.iter().position(|dry| *dry == last));
        let tried = &commits[..oldest.max(limited).unwrap_or(0)];
        tried.iter().filter(|dry| !is_known(dry)).copied().collect()
    }

    /// The limit that a branch is known to reach at this dry commit.
    fn known_limit(&self, name: &BranchName, dry: ObjectId) -> Option<FailedBranch> {
        let (last, stuck) = self.recalled_limit(self.branches.get(name)?)?;
        (last == dry).then(|| FailedBranch::carried(stuck))
    }

    /// The URL of this repository, as the first Application of a branch names it.
    pub fn repo_url<'u>(&'u self, first: Option<&'u Application>) -> &'u str {
        let first = first.map(|application| application.dry.repo_url.as_str());
        first.or(self.rules.settings.repo_urls.first().map(String::as_str)).unwrap_or_default()
    }

    /// What is wrong or odd at the tip and belongs to no environment branch that can be told.
    /// Answers what is odd.
    fn report_problems(&mut self, tree: &DryTree, backlog: &BTreeMap<BranchName, Vec<ObjectId>>) -> Vec<Diagnostic> {
        let fed = |feeds: &dyn Fn(&DryTree, &BranchName) -> bool| {
            backlog.keys().any(|name| {
                let before = self.branches.get(name).and_then(|branch| branch.dry).and_then(|dry| self.trees.get(&dry));
                before.is_some_and(|before| feeds(before, name))
            })
        };
        let (mut problems, warnings) = tree.problems(|name| backlog.contains_key(name), fed);
        self.report.problems.append(&mut problems);
        self.report.warnings.extend(warnings.iter().cloned());
        warnings
    }
}
