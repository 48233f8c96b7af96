//! Copies of hydrated Applications that any Argo CD follows, on the branch of the setting `applicationsTo`.
//!
//! A copy is a function of what is deployed: of the tip of the sync branch, the dry commit that it shows, and the settings. It
//! appears once the path of the Application is on the sync branch, and goes in a run after that in which the path has gone. So what failed, is paused
//! or frozen keeps its copy as it is, and what is promoted later gets it later. The branch is made last, on what all others
//! have become; it is recorded, noted and guarded as they are.
//!
//! What a hydrated Application renders has no copy here: its manifests contain it ([`Copies`](crate::owners::copier::Copies)).

mod astray;
mod branch;
mod changed;
mod known;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use super::make::branch as environment;
use super::make::branch::Branch;
use super::plan::Failing;
use super::state::Run;
use super::stopped::Stopped;
use crate::argo::set::ARGOCD_NAMESPACE;
use crate::argo::{AppName, BranchName};
use crate::discover::{self, Destination, Why};
use crate::hydrate::whose::About;
use crate::metadata::{DryCommit, Followed, Hydrated, Origin, Trailers, allowed_removals};
use crate::owners::error::HydrateError;
use crate::owners::files::{MANIFEST, METADATA};
use crate::owners::heads::{BACKLOG_MAX, DryHead};
use crate::repo::{Commit, ObjectId};
pub(crate) use branch::copies;
use branch::{Changes, There};
use wanted::{Wanted, directory_of, directory_of_set, wanted};

const CHOOSE: &str = "choose a branch of its own: git hydrate config set applicationsTo BRANCH";

impl Run<'_> {
    /// Brings the branch of copies up to what the others have become.
    pub(crate) fn copy_applications(&mut self, heads: &[DryHead]) -> Result<(), Stopped> {
        let Some(name) = self.found.policy.settings.applications_to.clone() else { return Ok(()) };
        let default = self.found.default_branch();
        let head = heads.iter().find(|head| default == Some(&head.branch)).or(heads.first());
        let Some(head) = head.cloned() else { return Ok(()) };
        if let Some(mistake) = self.cannot_copy_to(&name)? {
            self.report.problems.push(mistake);
            return Ok(());
        }
        let mut branch = self.open(&name, &name, &head)?;
        branch.judge(&head, std::iter::empty(), &self.found);
        if branch.closed {
            self.branches.insert(name, branch);
            return Ok(());
        }
        let followed = self.followed();
        let branch = match self.copy_changed(branch, &head, &followed, heads)? {
            Some(branch) => branch,
            None => return Ok(()),
        };
        let mut wanted = wanted(self, &followed, heads)?;
        self.report.warnings.extend(wanted.warnings.iter().cloned());
        let tree = branch.tip.as_ref().map(|tip| tip.tree);
        let there = tree.map(|tree| branch::copies(tree, &self.found.buffer)).transpose()?.unwrap_or_default();
        wanted.keep(&there);
        for dir in self.bound(&there, &wanted, &followed)? {
            wanted.hold(&dir);
        }
        for (mistake, dry_branch) in wanted.mistakes(&there) {
            let said = self.report.said();
            self.report.problems.push(mistake);
            self.report.is_about(said, &About::Branches(vec![dry_branch.to_string()]));
        }
        if there.is_empty() && wanted.copies.is_empty() {
            return Ok(());
        }
        let removed = self.removed(&there, &wanted, heads)?;
        let dry_before = branch.dry;
        self.branches.insert(name.clone(), branch);
        if let Err(mistake) = self.may_remove(&name, &there, &removed, &wanted, dry_before, &head)? {
            self.fail(&name, &head, head.tip, Failing::Mistakes(vec![mistake]));
            return Ok(());
        }
        let changes = Changes { written: wanted.copies.iter().collect(), removed: removed.iter().collect() };
        self.commit_copies(&name, &head, &followed, &changes, There::Listed(&there))?;
        let gone: Vec<&RepoPath> = removed.iter().collect();
        if known::is_settled(&there, &gone, &wanted) {
            let earlier = wanted.earlier.iter().map(ToString::to_string).collect();
            let are_rendered = !wanted.rendered.is_empty();
            known::keep(self, &name, (&followed, heads), (earlier, are_rendered, wanted.warnings));
        }
        Ok(())
    }

    /// The copies that would come to lead to what another dry branch hydrates, although what they lead to is there and only not
    /// followed now, since it is frozen or fails: a name is that of the dry branch that had it first.
    fn bound(
        &self,
        there: &BTreeMap<RepoPath, Vec<Hydrated>>,
        wanted: &Wanted,
        followed: &[Followed],
    ) -> Result<BTreeSet<RepoPath>, HydrateError> {
        let mut bound = BTreeSet::new();
        for (dir, before, after) in wanted.moving(there) {
            let is_followed = |branch: &BranchName| followed.iter().any(|one| one.branch == *branch);
            for (branch, path) in before.iter().filter(|(branch, _)| !is_followed(branch)) {
                let theirs = after.first().map(|(branch, _)| self.dry_branch_of(branch));
                let tips: Vec<ObjectId> = self.tip_of(branch).into_iter().collect();
                if theirs != Some(self.dry_branch_of(branch)) && self.is_at(&tips, path)? {
                    bound.insert(dir.clone());
                }
            }
        }
        Ok(bound)
    }

    /// The dry branch from which a branch, or what is promoted to it, is hydrated.
    fn dry_branch_of(&self, branch: &BranchName) -> Option<&BranchName> {
        let mut all = self.branches.values();
        all.find(|one| one.name == *branch || one.sync == *branch).map(|one| &one.dry_branch)
    }

    /// Makes again only the copies that changed since the last run, where that is known; gives the branch back, and nothing was
    /// done, where all are to be made again.
    fn copy_changed(
        &mut self,
        branch: Branch,
        head: &DryHead,
        followed: &[Followed],
        heads: &[DryHead],
    ) -> Result<Option<Branch>, Stopped> {
        let known = known::known(self, &branch, heads);
        // What follows may leave something better.
        self.memory.keep_copies(None, &self.found);
        let Some((known, tree)) = known.zip(branch.tip.as_ref().map(|tip| tip.tree)) else { return Ok(Some(branch)) };
        let Some(changed) = changed::changed(self, &known, tree, (followed, heads))? else { return Ok(Some(branch)) };
        let name = branch.name.clone();
        self.branches.insert(name.clone(), branch);
        self.report.warnings.extend(known.warnings.iter().cloned());
        if changed.is_empty() {
            self.reach_with_copies(&name, head, environment::BranchUpdate::default(), known.count)?;
        } else {
            let changes = Changes { written: changed.iter().collect(), removed: BTreeSet::new() };
            self.commit_copies(&name, head, followed, &changes, There::Counted(known.count))?;
        }
        known::keep(self, &name, (followed, heads), (known.earlier, known.are_rendered, known.warnings));
        Ok(None)
    }

    /// Why no copies can be written to a branch; none when they can.
    fn cannot_copy_to(&self, name: &BranchName) -> Result<Option<Diagnostic>, Stopped> {
        let is_written = |branch: &Branch| branch.name == *name || branch.sync == *name;
        let refs = self.found.refs.below(&self.found.setup.place.write);
        let mut there = refs.filter_map(|(name, _)| BranchName::new(name).ok());
        if let Some(other) = there.find(|other| other.conflicts_with(name)) {
            let text =
                format!("the setting `applicationsTo` is `{name}`, which git cannot have beside the branch `{other}`");
            return Ok(Some(Diagnostic::error(text).hint(CHOOSE)));
        }
        let why = if self.found.dry_branches.contains(name) {
            "which is a dry branch"
        } else if self.branches.values().any(is_written) && !self.found.is_for_copies(name)? {
            "which Applications are hydrated to"
        } else if !self.found.policy.allowed.matches(name.as_str()) {
            "which the setting `branches` does not allow"
        } else {
            return Ok(None);
        };
        Ok(Some(Diagnostic::error(format!("the setting `applicationsTo` is `{name}`, {why}")).hint(CHOOSE)))
    }

    /// The commits that copies follow now: those of hydrated branches that are not frozen, and those that these are promoted
    /// to. Of a branch that fails with new settings, none: its copies would be made with settings that may be wrong.
    fn followed(&self) -> Vec<Followed> {
        let frozen = self.frozen_branches();
        let mut followed = BTreeMap::new();
        let now = self.found.policy.id;
        let is_held = |branch: &Branch| branch.failure().is_some() && branch.settings != now;
        for branch in self.branches.values().filter(|branch| !frozen.contains(&branch.name) && !is_held(branch)) {
            let Some((tip, dry)) = branch.shown().filter(|_| !frozen.contains(&branch.sync)) else { continue };
            let dry = Some((branch.dry_branch.clone(), dry));
            followed.insert(branch.name.clone(), Followed { branch: branch.name.clone(), commit: tip, dry });
            if let Some(commit) = self.tip_of(&branch.sync).filter(|_| branch.sync != branch.name) {
                let sync = Followed { branch: branch.sync.clone(), commit, dry: None };
                followed.entry(branch.sync.clone()).or_insert(sync);
            }
        }
        followed.into_values().collect()
    }

    /// The branches that are frozen, and those that they are promoted to.
    fn frozen_branches(&self) -> BTreeSet<BranchName> {
        let is_frozen = |branch: &&Branch| {
            let names = [&branch.name, &branch.sync];
            branch.is_frozen() || names.iter().any(|name| self.found.frozen(name, name).is_some())
        };
        let frozen = self.branches.values().filter(is_frozen);
        frozen.flat_map(|branch| [branch.name.clone(), branch.sync.clone()]).collect()
    }

    /// The newest commit of a branch, with those of this run.
    fn tip_of(&self, name: &BranchName) -> Option<ObjectId> {
        let made = self.branches.get(name).and_then(|branch| branch.tip.as_ref()).map(|tip| tip.id);
        let started = || self.branches.values().find_map(|branch| branch.started(name));
        made.or_else(|| self.found.tip(name)).or_else(started)
    }

    /// The copies that go: others took their place; or their paths are gone, and were so before this run, and no Application of
    /// theirs is to be hydrated elsewhere.
    fn removed(
        &mut self,
        there: &BTreeMap<RepoPath, Vec<Hydrated>>,
        wanted: &Wanted,
        heads: &[DryHead],
    ) -> Result<BTreeSet<RepoPath>, Stopped> {
        let frozen = self.frozen_branches();
        let (mut gone, mut replaced) = (BTreeSet::new(), BTreeSet::new());
        for (dir, leads_to) in there {
            if wanted.copies.contains_key(dir) || wanted.unsettled.contains(dir) {
                continue;
            }
            let mut is_kept = false;
            for (branch, path) in leads_to {
                let tips = [self.tip_of(branch), self.found.tip(branch)];
                let tips: Vec<ObjectId> = tips.into_iter().flatten().collect();
                is_kept |= frozen.contains(branch) || self.is_at(&tips, path)?;
            }
            if wanted.replaces(dir, leads_to) {
                replaced.insert(dir.clone());
            } else if !is_kept {
                gone.insert(dir.clone());
            }
        }
        if !gone.is_empty() {
            let asked = self.asked(heads)?;
            gone.retain(|dir| !asked.contains(dir));
        }
        gone.extend(replaced);
        Ok(gone)
    }

    /// Whether one of these commits has manifests at a path.
    fn is_at(&self, tips: &[ObjectId], path: &RepoPath) -> Result<bool, HydrateError> {
        let Ok(manifest) = path.child(MANIFEST) else { return Ok(false) };
        for tip in tips {
            let tree = self.found.buffer.commit(*tip)?.tree;
            if self.found.tree_of(tree).entry(&manifest)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The directories of copies of what the dry branches ask to be hydrated.
    fn asked(&mut self, heads: &[DryHead]) -> Result<BTreeSet<RepoPath>, Stopped> {
        let settings = &self.found.policy.settings;
        let namespace = settings.argocd_namespace.clone().unwrap_or_else(|| ARGOCD_NAMESPACE.to_owned());
        let mut asked = BTreeSet::new();
        for head in heads {
            for application in self.tree(head.tip, head, heads)?.hydrated() {
                let set = directory_of_set(application, &namespace);
                asked.extend(directory_of(application, &namespace).into_iter().chain(set));
            }
        }
        Ok(asked)
    }

    /// Whether so many copies may go: by the removal limit, and by what the dry commits since the last say.
    fn may_remove(
        &self,
        name: &BranchName,
        there: &BTreeMap<RepoPath, Vec<Hydrated>>,
        removed: &BTreeSet<RepoPath>,
        wanted: &Wanted,
        dry_before: Option<ObjectId>,
        head: &DryHead,
    ) -> Result<Result<(), Diagnostic>, Stopped> {
        if removed.is_empty() {
            return Ok(Ok(()));
        }
        let before: BTreeSet<Destination> = there.keys().filter_map(destination).collect();
        let left = there.keys().filter(|dir| !removed.contains(*dir)).chain(wanted.copies.keys());
        let now: BTreeSet<Destination> = left.filter_map(destination).collect();
        let limit = self.found.policy.settings.removal_limit;
        let allowed = self.allows_removal(name, dry_before, head)?;
        let removals = discover::removals(name, &before, &now, 0, (limit.share, limit.at_least), allowed);
        Ok(removals.map(drop).map_err(|(mistake, removals)| {
            let paths: Vec<&RepoPath> = removals.iter().map(|removal| &removal.path).collect();
            mistake.diagnostic(&paths, &Why::default())
        }))
    }

    /// Whether the dry commit that the branch of copies shows, or one since then, allows the branch to lose many
    /// copies.
    fn allows_removal(&self, name: &BranchName, before: Option<ObjectId>, head: &DryHead) -> Result<bool, Stopped> {
        let repository = self.found.setup.repository;
        let before = before.filter(|dry| repository.has(*dry));
        let since = before.map(|dry| repository.first_parents(dry, head.tip, BACKLOG_MAX)).transpose()?.flatten();
        for dry in since.unwrap_or_default().into_iter().chain(before).chain([head.tip]) {
            let message = repository.commit(dry)?.message;
            if allowed_removals(&message).contains(name.as_str()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn commit_copies(
        &mut self,
        name: &BranchName,
        head: &DryHead,
        followed: &[Followed],
        changes: &Changes<'_>,
        there: There<'_>,
    ) -> Result<(), Stopped> {
        let Some(branch) = self.branches.get(name) else { return Ok(()) };
        let dry = DryCommit::new(&self.found.setup.repository.commit(head.tip)?);
        let origin = Origin { repo_url: self.found.repo_url(None), branch: &head.branch, commit: &dry };
        let made = branch::commit(&self.found, name, branch.tip.as_ref(), &origin, followed, changes, there)?;
        let made = match made {
            Ok(made) => made,
            Err(mistake) => {
                self.fail(name, head, head.tip, Failing::Mistakes(vec![mistake]));
                return Ok(());
            }
        };
        let removed = changes.removed.iter().map(|dir| (*dir).clone()).collect();
        let count = made.as_ref().map_or(there.count(), |made| made.count);
        let mut update = environment::BranchUpdate::default();
        if let Some(made) = made {
            (update.commit, update.changed, update.removed) = (Some(made.commit), made.changed, removed);
        }
        self.reach_with_copies(name, head, update, count)
    }

    /// Notes that the branch shows the tip of a dry branch, with so many copies.
    fn reach_with_copies(
        &mut self,
        name: &BranchName,
        head: &DryHead,
        made: environment::BranchUpdate,
        count: usize,
    ) -> Result<(), Stopped> {
        let dry = DryCommit::new(&self.found.setup.repository.commit(head.tip)?);
        let settings = self.found.policy.id;
        let Some(branch) = self.branches.get_mut(name) else { return Ok(()) };
        branch.take(made, &dry, settings);
        branch.applications = count;
        self.ledger.failures.forget(name);
        self.ledger.reached(name, branch.tip.as_ref().map(|tip| tip.id), &dry, None, &self.found.buffer);
        self.note_judged(name, head, dry.id, None);
        Ok(())
    }

    /// Makes a commit of copies again on its parent, from the commits that it says that it follows; none when they ask for none.
    /// Within, the commit that is not on the branch that it is said to be of.
    pub(crate) fn copy_again(
        &mut self,
        commit: &Commit,
        parent: &Commit,
        trailers: &Trailers,
    ) -> Result<Result<Option<Commit>, ObjectId>, Stopped> {
        let file = self.found.tree_of(commit.tree).file(&RepoPath::new(METADATA).unwrap_or_default())?;
        let followed = file.and_then(|text| Followed::read(&text)).unwrap_or_default();
        if let Some(stray) = followed.iter().find(|one| !self.is_of_branch(one)) {
            return Ok(Err(stray.commit));
        }
        let head = DryHead { branch: trailers.dry_branch.clone(), tip: trailers.dry_commit };
        let others = followed.iter().filter_map(|one| one.dry.clone()).map(|(branch, tip)| DryHead { branch, tip });
        let others = others.filter(|other| other.branch != head.branch);
        let heads: BTreeMap<BranchName, DryHead> =
            others.chain([head.clone()]).map(|head| (head.branch.clone(), head)).collect();
        let heads: Vec<DryHead> = heads.into_values().collect();
        let mut wanted = wanted(self, &followed, &heads)?;
        let [before, after] = [parent, commit].map(|commit| branch::copies(commit.tree, &self.found.buffer));
        let (before, after) = (before?, after?);
        wanted.keep(&before);
        let tips: BTreeMap<&BranchName, ObjectId> = followed.iter().map(|one| (&one.branch, one.commit)).collect();
        // What they led to was not followed then, and they stayed.
        let is_open = |leads_to: &[Hydrated]| leads_to.iter().all(|(branch, _)| tips.contains_key(branch));
        let moving = wanted
            .moving(&before)
            .filter(|(dir, leads_to, _)| !is_open(leads_to) && after.get(*dir) == before.get(*dir));
        let bound: Vec<RepoPath> = moving.map(|(dir, ..)| dir.clone()).collect();
        bound.iter().for_each(|dir| wanted.hold(dir));
        let mut removed = BTreeSet::new();
        for (dir, leads_to) in before.iter().filter(|(dir, _)| !after.contains_key(*dir)) {
            let mut is_there = false;
            for (branch, path) in leads_to {
                is_there |= self.is_at(tips.get(branch).map_or(&[][..], std::slice::from_ref), path)?;
            }
            if !is_there || wanted.replaces(dir, leads_to) {
                removed.insert(dir);
            }
        }
        let dry = DryCommit::new(&self.found.setup.repository.commit(head.tip)?);
        let origin = Origin { repo_url: self.found.repo_url(None), branch: &head.branch, commit: &dry };
        let changes = Changes { written: wanted.copies.iter().collect(), removed };
        let is_first = parent.parents.is_empty() && parent.tree == self.found.buffer.empty_tree_id();
        let tip = Some(parent).filter(|_| !is_first);
        let made =
            branch::commit(&self.found, &trailers.branch, tip, &origin, &followed, &changes, There::Listed(&before))?;
        Ok(Ok(made.ok().flatten().map(|made| made.commit)))
    }

    /// Whether a commit is on the branch that it is said to be of, and the dry commit on its dry branch.
    fn is_of_branch(&self, one: &Followed) -> bool {
        let repository = self.found.setup.repository;
        let is_on = |branch: &BranchName, id: ObjectId| {
            repository.has(id) && self.found.tip(branch).is_none_or(|tip| tip == id || repository.is_ancestor(id, tip))
        };
        is_on(&one.branch, one.commit) && one.dry.as_ref().is_none_or(|(branch, dry)| is_on(branch, *dry))
    }
}

/// Where a copy is, as if an Application had written it; none for a directory that no copy has.
fn destination(dir: &RepoPath) -> Option<Destination> {
    let name = AppName::new(dir.file_name().unwrap_or_default()).ok()?;
    let application = (AppName::new(&dir.parent()?.as_str().replace('/', "-")).ok(), name);
    Some(Destination { path: dir.clone(), application, file: dir.clone(), maker: None })
}
