//! What a repository says when an operation begins: read once, so that all that follows rests on one moment.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use dry_files::diag::printable;
use dry_files::path::RepoPath;

use super::branch_records::{self, BranchRecords, Engines, RECORDS_REF};
use super::claims;
use super::deployed;
use super::dry_branches::DryBranches;
use super::error::HydrateError;
use super::failures::{FAILURES_REF, Failures};
use super::files::METADATA;
use super::freezes::Freezes;
use super::heads::{self, DryHead};
use super::ledger::{Faults, Ledger};
use super::policy::{self, Policy};
use super::recorded::Record;
use super::setup::{Setup, Wake};
use super::standing::Standing;
use crate::argo::{Application, BranchName, Context};
use crate::metadata::{Followed, NOTES_REF, Time};
use crate::repo::publish::{HydratedTree, Listings};
use crate::repo::{self, LOCK_SECONDS, Notes, ObjectBuffer, ObjectId, Refs};
use crate::settings::{Freeze, Hold, Holds, SETTINGS_REF};

/// Where hydration left a branch that somebody deleted since.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deleted {
    /// The commit that it ended with.
    pub tip: ObjectId,
    /// Whether that is still in the repository, so that the branch can go on from there.
    pub is_here: bool,
}

/// A repository as it was found, and a buffer over it that takes what is made.
pub(crate) struct Snapshot<'a> {
    pub setup: &'a Setup<'a>,
    pub buffer: ObjectBuffer<'a>,
    listings: Listings,
    pub refs: Refs,
    pub policy: Policy,
    /// What is held, by branch.
    pub holds: Holds,
    /// The blob that says so.
    pub holds_id: Option<ObjectId>,
    /// The branches that hydration writes and that exist, each with its dry branch.
    pub environments: BTreeMap<BranchName, BranchName>,
    /// The dry branches, the default one first.
    pub dry_branches: Vec<BranchName>,
    /// Whether the setting `dryBranches` names them.
    pub has_dry_branches: bool,
    /// The environment branches that the dry branches which they were hydrated from hand over to the one that is looked at.
    pub handed_over: BTreeSet<BranchName>,
    /// The records of the branches that hydration made.
    pub records: BranchRecords,
    /// The inputs that were fetched for it.
    pub inputs: Record,
    /// Whether nothing was hydrated before there was the setting `madeApplications`.
    pub is_new: bool,
    /// Whether a branch that was frozen gets a commit for each dry commit all the same.
    pub wants_every: bool,
    /// Whether what a program does not render follows from the dry commit, as it does where programs render in place of our
    /// engines, to compare with them.
    pub trusts_programs: bool,
    /// The trees that branches without a tip here are compared with.
    pub compared: BTreeMap<BranchName, ObjectId>,
    freezes: Freezes,
    /// Which commits refs lead to.
    pub(super) reachable: RefCell<HashMap<ObjectId, bool>>,
}

impl<'a> Snapshot<'a> {
    /// Reads a repository, and beside it what hydration keeps in refs that are not branches. The buffer may contain objects
    /// of another run already.
    ///
    /// Errors: what hydration cannot do without. Notes, failures and records that cannot be read are faults of the ledger.
    pub(crate) fn read(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<(Self, Ledger), HydrateError> {
        Self::of(setup, setup.repository.refs()?, buffer)
    }

    /// Reads a repository as [`Self::read`] does, by refs that were read already.
    pub(crate) fn of(
        setup: &'a Setup<'a>,
        mut refs: Refs,
        buffer: ObjectBuffer<'a>,
    ) -> Result<(Self, Ledger), HydrateError> {
        refs.remove(&branch_records::gone(&setup.place, &refs, &buffer));
        let policy = Policy::read(&refs, &buffer)?;
        let (holds, holds_id) = policy::holds(&refs, &buffer)?;
        let mut faults = Faults::default();
        let notes = faults.read(NOTES_REF, &refs, |tip| {
            let tree = tip.map(|tip| buffer.commit(tip)).transpose()?.map(|commit| commit.tree);
            Notes::open(tree, &buffer)
        });
        let mut notes = notes.map_or_else(|| Notes::open(None, &buffer), Ok)?;
        let (records, fault) = heads::records(&setup.place, &refs, (&policy.settings, policy.id), &mut notes, &buffer)?;
        if let Some(fault) = fault {
            faults.give_up(RECORDS_REF, &fault);
        }
        let copies = policy.settings.applications_to.as_ref();
        let environments = heads::environments(&setup.place, &refs, &records, copies);
        // A worker says the same each time, whatever the remote kept of it.
        let is_new = records.is_empty()
            || !setup.place.believes_records()
            || (!setup.place.is_in_place() && began_here(&records, environments.keys(), &buffer));
        let policy = policy.in_repository(is_new);
        let (dry_branches, has_dry_branches) =
            DryBranches::find(&setup.wake, &setup.place, &refs, &policy.settings, &records);
        let failures = faults.read(FAILURES_REF, &refs, |tip| Failures::read(&buffer, tip)).unwrap_or_default();
        let inputs = Record::read(&setup.place, &refs, policy.plain.inputs(), setup.repository)?;
        let listings = Listings::default();
        let found = Self {
            setup,
            buffer,
            listings,
            refs,
            policy,
            holds: holds.clone(),
            holds_id,
            environments,
            dry_branches,
            has_dry_branches,
            handed_over: BTreeSet::new(),
            records,
            inputs,
            is_new,
            wants_every: false,
            trusts_programs: false,
            compared: BTreeMap::new(),
            freezes: Freezes::default(),
            reachable: RefCell::default(),
        };
        let mut ledger = Ledger::new(notes, failures, faults, setup.renderers.programs(), holds);
        ledger.believes_failures = setup.place.are_guarded();
        Ok((found, ledger))
    }

    /// That the ref of the settings is gone although branches were hydrated with settings that are here: without them
    /// others would be found, and what is frozen would move.
    ///
    /// Errors: [`HydrateError::SettingsLost`].
    pub(crate) fn check_settings_ref(&self) -> Result<(), HydrateError> {
        let place = &self.setup.place;
        let is_certain = place.is_of_server() && place.believes_records() && self.has_records();
        if !is_certain || self.refs.get(SETTINGS_REF).is_some() || self.refs.is_broken(SETTINGS_REF) {
            return Ok(());
        }
        match self.records.newest_settings(self.setup.repository) {
            Some((id, branch)) => {
                let holds = self.records.holds_again(&self.buffer);
                Err(HydrateError::SettingsLost { id, branch: branch.clone(), holds })
            }
            None => Ok(()),
        }
    }

    /// The tree of a dry commit, with the inputs that were fetched for it.
    pub(crate) fn dry_tree(&self, dry: ObjectId) -> Result<ObjectId, repo::Error> {
        self.inputs.join(self.setup.repository.commit(dry)?.tree, self.setup.repository)
    }

    /// A tree of a hydrated branch.
    pub(crate) fn tree_of(&self, tree: ObjectId) -> HydratedTree<'_> {
        HydratedTree::new(&self.buffer, &self.listings, tree)
    }

    /// The tip of a branch.
    pub(crate) fn tip(&self, branch: &BranchName) -> Option<ObjectId> {
        self.setup.place.tip(&self.refs, branch)
    }

    /// Where hydration left a branch that is not there any more, as its record says where no push gets at records. Another dry branch
    /// than `dry_branch` may take its name. One that is promoted to `sync` counts only where the two have a history in common.
    pub(crate) fn deleted(&self, branch: &BranchName, sync: &BranchName, dry_branch: &BranchName) -> Option<Deleted> {
        let record = self.records.get(branch).filter(|record| !record.initial && self.setup.place.are_guarded())?;
        if record.dry_branch != *dry_branch && !record.others.contains_key(dry_branch) {
            return None;
        }
        let is_related = |deployed| self.setup.repository.are_related(record.tip, deployed);
        let deployed = self.tip(sync).or_else(|| deployed::last_seen(sync, &self.refs));
        if branch != sync && !deployed.is_some_and(is_related) {
            return None;
        }
        let is_here = self.buffer.commit(record.tip).is_ok_and(|commit| self.setup.repository.has(commit.tree));
        Some(Deleted { tip: record.tip, is_here })
    }

    /// Whether a branch is the one for copies of Applications, and has nothing else yet.
    pub(crate) fn is_for_copies(&self, branch: &BranchName) -> Result<bool, repo::Error> {
        if self.policy.settings.applications_to.as_ref() != Some(branch) {
            return Ok(false);
        }
        let (Some(tip), Ok(metadata)) = (self.tip(branch), RepoPath::new(METADATA)) else { return Ok(true) };
        let text = self.tree_of(self.buffer.commit(tip)?.tree).file(&metadata)?;
        Ok(text.is_some_and(|text| Followed::read(&text).is_some()))
    }

    /// How a branch is whose tip is `tip`.
    pub(crate) fn standing(
        &self,
        branch: &BranchName,
        tip: ObjectId,
        dry_branch: &BranchName,
        notes: &mut Notes,
    ) -> Result<Standing, repo::Error> {
        let standing =
            Standing::read(branch, tip, dry_branch, &self.policy.settings, &self.records, notes, &self.buffer)?;
        match self.setup.place.are_guarded() {
            true => Ok(standing),
            false if self.setup.place.is_in_place() => claims::borne_out(standing, &self.buffer),
            false => {
                let dry_tip = self.setup.place.tip(&self.refs, dry_branch);
                claims::borne_out_in_clone(standing, dry_tip, &self.buffer)
            }
        }
    }

    /// Why a branch of these cannot move: a git that died left its lock. None where that is too young to tell.
    pub(crate) fn lock_left_on(&self, branches: &[&BranchName]) -> Option<String> {
        let before = self.setup.now?.saturating_sub(LOCK_SECONDS);
        let lock =
            |branch: &&BranchName| self.setup.repository.lock_left_on(&self.setup.place.write_name(branch), before);
        let path = branches.iter().find_map(lock)?;
        Some(format!("a git process left the lock `{}`, so the branch cannot move", printable(&path.to_string_lossy())))
    }

    /// What keeps a branch from getting commits now. One whose sync branch is frozen and still to be started is so too.
    pub(crate) fn frozen(&self, branch: &BranchName, sync: &BranchName) -> Option<Freeze> {
        self.frozen_at(branch, sync, self.setup.now?)
    }

    /// What keeps a branch from getting commits at a time, in seconds since 1970.
    pub(crate) fn frozen_at(&self, branch: &BranchName, sync: &BranchName, now: i64) -> Option<Freeze> {
        if let Some(hold) = self.hold(branch, sync).iter().find(|hold| hold.is_whole()) {
            return Some(hold.freeze());
        }
        let of = |name: &BranchName| self.policy.settings.frozen.of(name, now);
        of(branch).or_else(|| of(sync).filter(|_| sync != branch && self.tip(sync).is_none()))
    }

    /// What is held of a branch. Nothing is of one that a promoter reads: it would take the branch at its word.
    pub(crate) fn hold(&self, branch: &BranchName, sync: &BranchName) -> &[Hold] {
        let settings = &self.policy.settings;
        let is_promoted = sync != branch || settings.is_shared(branch);
        let has_copies = settings.applications_to.as_ref() == Some(branch);
        if is_promoted || has_copies { &[] } else { self.holds.of_branch(branch) }
    }

    /// The other branch of which an Application of `branch` is held, where that is on no such branch any more: `is_on` says so.
    pub(crate) fn held_elsewhere(
        &self,
        (branch, application): (&BranchName, &Application),
        is_on: impl Fn(&BranchName) -> bool,
    ) -> Option<&BranchName> {
        let others = self.holds.iter().filter(|(other, _)| *other != branch && !is_on(other));
        let is_held = |(other, holds): &(&BranchName, &[Hold])| {
            let is_promoted = self.policy.settings.is_shared(other) || !self.environments.contains_key(*other);
            !is_promoted && holds.iter().any(|hold| !hold.is_whole() && hold.has(application))
        };
        others.into_iter().find(is_held).map(|(other, _)| other)
    }

    /// Whether an Application stays as `branch` has it, while others of the branch do not.
    pub(crate) fn is_held(&self, branch: &BranchName, application: &Application) -> bool {
        let is_promoted = application.sync_branch != *branch || self.policy.settings.is_shared(branch);
        let mut holds = self.holds.of_branch(branch).iter().filter(|hold| !is_promoted && !hold.is_whole());
        holds.any(|hold| hold.has(application))
    }

    /// Whether a branch that was hydrated with the settings `before` was frozen at some time since.
    pub(crate) fn was_frozen(&self, branch: &BranchName, before: Option<ObjectId>) -> bool {
        let settings = self.refs.get(SETTINGS_REF).filter(|_| before != self.policy.id);
        settings.is_some_and(|tip| self.freezes.since(tip, before, branch, &self.buffer))
    }

    /// The date of the settings since which a branch is held or frozen without a break.
    pub(crate) fn frozen_since(&self, branch: &BranchName) -> Option<Time> {
        let settings = self.refs.get(SETTINGS_REF)?;
        let held = self.freezes.start_of_hold(settings, branch, &self.buffer);
        held.or_else(|| self.freezes.start(settings, branch, &self.buffer))
    }

    /// Whether both branches are there, and the first is new beside the other.
    pub(crate) fn is_younger(&self, branch: &BranchName, other: &BranchName) -> bool {
        let tips = self.tip(branch).zip(self.tip(other));
        tips.is_some_and(|(own, other)| self.setup.repository.is_younger(own, other).unwrap_or(false))
    }

    /// The branch that `HEAD` means in an Application: the first dry branch that exists.
    pub(crate) fn default_branch(&self) -> Option<&BranchName> {
        let exists = |branch: &&BranchName| self.tip(branch).is_some();
        self.dry_branches.iter().find(exists).or(self.dry_branches.first())
    }

    /// The branch that `HEAD` means in the tree of a dry branch: one that is gone was the default branch itself, by the
    /// settings or as far as anybody can tell now.
    pub(crate) fn default_branch_for<'b>(&'b self, dry_branch: &'b BranchName) -> Option<&'b BranchName> {
        let is_first = self.policy.settings.dry_branches.first() == Some(dry_branch);
        // A branch that a preview is of need not be published yet: it is new, and not gone.
        let is_new = matches!(&self.setup.wake, Wake::Commit { branch, .. } if branch == dry_branch);
        let was_default = (self.has_left(dry_branch) && !is_new) || (is_first && self.tip(dry_branch).is_none());
        if was_default { Some(dry_branch) } else { self.default_branch() }
    }

    /// The dry branches that the wake-up asks for, with their tips.
    pub(crate) fn heads(&self) -> Vec<DryHead> {
        self.heads_of(&self.setup.wake)
    }

    /// The dry branches that are looked at whatever is pushed.
    pub(crate) fn every_dry_branch(&self) -> BTreeSet<BranchName> {
        self.heads_of(&Wake::Pushed(Vec::new())).into_iter().map(|head| head.branch).collect()
    }

    fn heads_of(&self, wake: &Wake) -> Vec<DryHead> {
        heads::heads(wake, &self.setup.place, &self.refs, &self.dry_branches, &self.environments)
    }

    /// Whether a dry branch is gone and leaves its environment branches to others: it does not exist, and the settings do
    /// not name it any more. Deleting a branch decides nothing.
    pub(crate) fn has_left(&self, dry_branch: &BranchName) -> bool {
        let named = &self.policy.settings.dry_branches;
        let is_unnamed = !named.contains(dry_branch) && (!named.is_empty() || self.setup.place.believes_commits());
        is_unnamed && self.tip(dry_branch).is_none()
    }

    /// Whether something was pushed to a branch that others are hydrated from.
    pub(crate) fn was_pushed_to(&self) -> bool {
        let Wake::Pushed(pushed) = &self.setup.wake else { return false };
        let is_known = |branch: &String| self.dry_branches.iter().any(|dry_branch| dry_branch.as_str() == branch);
        !self.environments.is_empty() && pushed.iter().any(is_known)
    }

    /// The environment branches that were hydrated from a dry branch, those included that it shares with others and that another
    /// one was hydrated onto last.
    pub(crate) fn hydrated_from(&self, dry_branch: &BranchName) -> impl Iterator<Item = &BranchName> {
        let of_it = move |(branch, last): &(&BranchName, &BranchName)| {
            let is_among = || self.records.get(branch).is_some_and(|record| record.others.contains_key(dry_branch));
            *last == dry_branch || (self.policy.settings.is_shared(branch) && is_among())
        };
        self.environments.iter().filter(of_it).map(|(branch, _)| branch)
    }

    /// Whether hydration writes a branch, or did until the branch went away.
    pub(crate) fn is_hydrated(&self, branch: &BranchName) -> bool {
        self.environments.contains_key(branch) || self.records.get(branch).is_some()
    }

    /// The notes as they are in the repository; none when there are none at all.
    pub(crate) fn recorded_notes(&self) -> Result<Option<Notes>, repo::Error> {
        let Some(tip) = self.refs.get(NOTES_REF) else { return Ok(None) };
        Notes::open(Some(self.buffer.commit(tip)?.tree), &self.buffer).map(Some)
    }

    /// Whether the repository has records of branches, and is not known by notes or commits alone.
    pub(crate) fn has_records(&self) -> bool {
        self.refs.get(RECORDS_REF).is_some()
    }

    /// Which revision of the engine made which commit.
    pub(crate) fn engines(&self) -> Result<Engines, repo::Error> {
        Engines::read(self.refs.get(RECORDS_REF), &self.buffer)
    }

    /// Whether other settings than `before` apply now, as far as they can change what is hydrated onto a branch.
    pub(crate) fn settings_changed(
        &self,
        before: Option<ObjectId>,
        branch: (&BranchName, &BranchName),
    ) -> Result<bool, HydrateError> {
        if before == self.policy.id {
            return Ok(false);
        }
        let before = Policy::at(before, &self.buffer)?.settings;
        Ok(!before.makes_the_same_as(&self.policy.settings, branch))
    }

    /// The URL of this repository, as the first Application of a branch names it.
    pub(crate) fn repo_url<'u>(&'u self, first: Option<&'u Application>) -> &'u str {
        let first = first.map(|application| application.dry.repo_url.as_str());
        first.or(self.policy.settings.repo_urls.first().map(String::as_str)).unwrap_or_default()
    }

    /// What the rules over all Applications need to know beside them, by the settings of now or other ones.
    pub(crate) fn with_context<T>(
        &self,
        policy: &Policy,
        head: &DryHead,
        heads: &[DryHead],
        is_directory: &dyn Fn(&RepoPath) -> bool,
        judge: impl FnOnce(&Context<'_>) -> T,
    ) -> T {
        let branches = self.setup.place.branches(&self.refs).map(|(branch, _)| branch);
        judge(&Context {
            dry_branch: &head.branch,
            head_branch: self.default_branch_for(&head.branch),
            dry_branches: &heads.iter().map(|head| head.branch.clone()).collect(),
            branches: &branches.collect(),
            repo_urls: &policy.settings.repo_urls,
            allowed: &policy.allowed,
            copies: policy.settings.applications_to.as_ref(),
            is_directory,
            follows: policy.follows,
            is_tag: &|name| self.refs.get(&format!("refs/tags/{}", name.trim_start_matches("refs/tags/"))).is_some(),
            is_shared: &|branch| policy.settings.is_shared(branch),
        })
    }
}

/// Whether the branches of a place that keeps no settings were hydrated with those that its first hydration found.
fn began_here<'b>(
    records: &BranchRecords,
    mut branches: impl Iterator<Item = &'b BranchName>,
    buffer: &ObjectBuffer<'_>,
) -> bool {
    let settings = branches.find_map(|branch| records.get(branch)?.settings);
    settings.is_some_and(|id| Policy::at(Some(id), buffer).is_ok_and(|policy| policy.makes == Some(true)))
}
