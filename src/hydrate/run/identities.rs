//! What Applications draw their random values for: an identity belongs to one Application of one dry branch.
//!
//! An Application draws for its name on the branch where it drew first, wherever it goes later. That name is not always its
//! alone. Dry branches may share a branch, or come to one that another dry branch left; so all but the first dry branch add their
//! own name. And on one dry branch an Application may come where another one of its name left, which took its identity along; it
//! gets the name of the dry branch too, and a number where that is taken.
//!
//! What is not the name on the branch is in the trailers of the hydrated commit, so that the same follows from the commits alone:
//! on the server, in a clone, in a worker that believes no records, and when the commit is made again. An Application has moved
//! when it is new on its branch and gone from one that it was on. One draws first when it draws, and its branch says nothing of
//! it. Before there were such trailers, it may have drawn already, and goes on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::moved_applications::{Name, name_of};
use super::plan::{Done, Rendered};
use super::rendered::render_again;
use super::state::Run;
use super::stopped::Stopped;
use crate::application::{Application, BranchName, HeldIdentities, HeldIdentity, SeedIdentities, SeedIdentity};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::heads::DryHead;
use crate::hydrate::policy::Policy;
use crate::hydrate::seed_identities::recorded_on;
use dry_files::path::RepoPath;

/// An Application that left a branch.
struct Departed {
    branch: BranchName,
    application: Arc<Application>,
    /// What it draws for, where the branch says so.
    identity: Option<SeedIdentity>,
}

/// What the branches say that Applications draw for, with the branch that does, by what is their name where they drew first.
type Holders = BTreeMap<String, Vec<(BranchName, HeldIdentity)>>;

/// An Application that draws, or wants to.
struct Drawing<'a> {
    dry_branch: &'a BranchName,
    application: &'a Application,
}

impl Run<'_> {
    /// What Applications of a dry branch draw for on these branches, where that is known before they are rendered: they drew in
    /// an earlier dry commit, or move in this one.
    pub(super) fn planned_identities<'n>(
        &mut self,
        names: impl Iterator<Item = &'n BranchName>,
        tree: &DryTree,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<SeedIdentities, Stopped> {
        if self.found.policy.settings.nondeterministic.is_empty() {
            return Ok(SeedIdentities::new());
        }
        if let Some(claimed) = &self.claimed {
            return Ok(claimed.clone());
        }
        let mut identities = self.known_identities(&head.branch);
        let mut arrived: Vec<Arc<Application>> = Vec::new();
        for name in names {
            let dry = self.branches.get(name).and_then(|branch| branch.dry);
            let former = self.former(name, dry, head, heads)?;
            let before: BTreeSet<Name> = former.applications.iter().map(|one| name_of(one)).collect();
            arrived.extend(tree.applications(name).filter(|one| !before.contains(&name_of(one))).cloned());
        }
        if arrived.is_empty() {
            return Ok(identities);
        }
        let departed = self.departed(tree, (head, heads))?;
        let holders = self.holders()?;
        let mut taken: BTreeSet<SeedIdentity> = BTreeSet::new();
        for application in arrived {
            let new = SeedIdentity::of(&application);
            let brought = match departed.get(&name_of(&application)) {
                Some(departed) => self.brought(departed, head)?,
                None => None,
            };
            let drawing = Drawing { dry_branch: &head.branch, application: &application };
            let is_there = |branch: &BranchName| has(tree.applications(branch), &application);
            // One of the same name that was here before, where none is elsewhere by now.
            let known = identities.remove(&new);
            for identity in brought.into_iter().chain(known) {
                let is_free = !taken.contains(&identity) && !self.is_held(&identity, &drawing, &holders, &is_there);
                if is_free && taken.insert(identity.clone()) {
                    identities.insert(new, identity);
                    break;
                }
            }
        }
        Ok(identities)
    }

    /// What Applications of a dry branch draw for by what branches say.
    pub(super) fn known_identities(&self, dry_branch: &BranchName) -> SeedIdentities {
        self.branches.values().flat_map(|branch| branch.identities.of(dry_branch)).collect()
    }

    /// The same, where those that drew for the first time draw for what is their own.
    pub(super) fn with_own_identities(&mut self, mut rendered: Rendered) -> Result<Rendered, Stopped> {
        let firsts = if self.claimed.is_some() { Vec::new() } else { self.first_draws(&rendered) };
        let mut given = SeedIdentities::new();
        let holders = if firsts.is_empty() { Holders::new() } else { self.holders()? };
        for application in firsts {
            let own = self.own_identity(&application, &rendered, &holders)?;
            given.extend(own.map(|own| (SeedIdentity::of(&application), own)));
        }
        if given.is_empty() {
            return Ok(rendered);
        }
        let which: BTreeSet<SeedIdentity> = given.keys().cloned().collect();
        rendered.identities.extend(given);
        let files = self.files(rendered.tree);
        Ok(render_again(rendered, &which, &files, &self.found, &self.memory)?)
    }

    /// The Applications that were rendered now and drew for their name on their branch, unless it is known that they did before.
    fn first_draws(&self, rendered: &Rendered) -> Vec<Arc<Application>> {
        let mut firsts = Vec::new();
        for (name, hydration) in rendered.hydrations() {
            let is_shared = !self.is_alone_on(name);
            let branch = self.branches.get(name).filter(|branch| !is_shared && branch.settings == self.found.policy.id);
            let drawn =
                branch.filter(|_| self.found.setup.refs.believes_records).and_then(|branch| branch.drawn.as_ref());
            let drawn = drawn.into_iter().flat_map(|drawn| drawn.values());
            let drawn: BTreeSet<&SeedIdentity> = drawn.map(|drawn| &drawn.identity).collect();
            let is_known = |plain: &SeedIdentity| drawn.contains(plain) || rendered.identities.contains_key(plain);
            let here = hydration.work.iter().filter_map(drew_here);
            firsts.extend(here.filter(|application| !is_known(&SeedIdentity::of(application))));
        }
        firsts
    }

    /// What an Application draws for that drew for its name on its branch; none where it may.
    fn own_identity(
        &mut self,
        application: &Application,
        rendered: &Rendered,
        holders: &Holders,
    ) -> Result<Option<SeedIdentity>, Stopped> {
        let (head, dry) = (&rendered.head, rendered.dry.id);
        let (plain, branch) = (SeedIdentity::of(application), application.environment_branch());
        let drawing = Drawing { dry_branch: &head.branch, application };
        let heads = self.found.heads();
        // Most are held by no other Application, and no tree is read for them.
        let mut there = BTreeSet::new();
        for (name, _) in holders.get(plain.plain()).into_iter().flatten() {
            let is_now = has(self.tree(dry, head, &heads)?.applications(name), application);
            let former = self.former_on(name, (head, &heads))?;
            if is_now || has(former.applications.iter(), application) {
                there.insert(name.clone());
            }
        }
        let is_there = |branch: &BranchName| there.contains(branch);
        let is_taken = |identity: &SeedIdentity| self.is_held(identity, &drawing, holders, &is_there);
        let is_plain = self.gives_plain(&head.branch) && !is_taken(&plain);
        if is_plain && self.is_alone_on(branch) {
            return Ok(None);
        }
        let numbers = 1..;
        let mut own = numbers.map(|number| plain.own_of(&head.branch, number));
        let own = own.find(|identity| !is_taken(identity));
        let former = self.former_on(branch, (head, &heads))?;
        let paths = former.applications.iter().filter(|one| name_of(one) == name_of(application));
        let paths: BTreeSet<RepoPath> = paths.map(|one| one.sync_path.clone()).collect();
        let drew = self.drew(branch, head, &plain, &paths)?;
        // Where its values change all the same, it draws for what is its own.
        let goes_on = drew.itself && !self.has_another_seed(branch, &plain);
        Ok(own.filter(|_| !goes_on && (!is_plain || drew.another)))
    }

    /// Whether what a branch was hydrated with gave an identity other values than it has now.
    fn has_another_seed(&self, branch: &BranchName, identity: &SeedIdentity) -> bool {
        let now = &self.found.policy;
        let before = self.branches.get(branch).and_then(|branch| branch.settings).filter(|id| now.id != Some(*id));
        let before = before.and_then(|id| Policy::at(Some(id), &self.found.buffer).ok());
        before.is_some_and(|before| !before.settings.seeds.are_same_for(&now.settings.seeds, identity))
    }

    /// What an Application brings along that left a branch.
    fn brought(&mut self, departed: &Departed, head: &DryHead) -> Result<Option<SeedIdentity>, Stopped> {
        let Departed { branch, application, identity } = departed;
        if identity.is_some() {
            return Ok(identity.clone());
        }
        let plain = SeedIdentity::of(application).on(branch);
        let is_its = self.gives_plain(&head.branch) && self.is_alone_on(branch);
        let paths = BTreeSet::from([application.sync_path.clone()]);
        // Else it may be that of another one, which drew there for its name.
        let is_its = is_its || self.drew(branch, head, &plain, &paths)?.itself;
        Ok(Some(plain).filter(|_| is_its))
    }

    /// The Applications that were on a branch of the dry branch and are not there in `tree`. Of one that left several branches,
    /// the first counts.
    fn departed(
        &mut self,
        tree: &DryTree,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<BTreeMap<Name, Departed>, Stopped> {
        let mut departed = BTreeMap::new();
        for name in self.branches_of(head) {
            let former = self.former_on(&name, (head, heads))?;
            let identities = self.held_on(&name)?.of(&head.branch);
            let here: BTreeSet<Name> = tree.applications(&name).map(|one| name_of(one)).collect();
            for one in former.applications.iter().filter(|one| !here.contains(&name_of(one))) {
                let identity = identities.get(&SeedIdentity::of(one).on(&name)).cloned();
                let left = Departed { branch: name.clone(), application: one.clone(), identity };
                departed.entry(name_of(one)).or_insert(left);
            }
        }
        Ok(departed)
    }

    /// What of the dry branch fed a branch when it was hydrated last.
    fn former_on(&mut self, name: &BranchName, (head, heads): (&DryHead, &[DryHead])) -> Result<Former, Stopped> {
        if let Some(branch) = self.branches.get(name) {
            let dry = branch.dry;
            return Ok(self.former(name, dry, head, heads)?);
        }
        let branch = self.open(name, name, head)?;
        Ok(self.fed_by((name, branch.settings, &[]), branch.dry, (head, heads))?)
    }

    /// What all branches say.
    fn holders(&self) -> Result<Holders, Stopped> {
        let mut holders = Holders::new();
        let names: BTreeSet<&BranchName> = self.found.environments.keys().chain(self.branches.keys()).collect();
        for name in names {
            for held in self.held_on(name)?.iter() {
                holders.entry(held.identity.plain().to_owned()).or_default().push((name.clone(), held));
            }
        }
        Ok(holders)
    }

    fn held_on(&self, name: &BranchName) -> Result<HeldIdentities, Stopped> {
        match (self.branches.get(name), self.found.records.get(name)) {
            (Some(branch), _) => Ok(branch.identities.clone()),
            (None, Some(record)) => Ok(recorded_on(name, record, !self.is_alone_on(name), &self.found.buffer)?),
            (None, None) => Ok(HeldIdentities::default()),
        }
    }

    /// Whether another Application has an identity: of another dry branch, wherever it was last, or on a branch where it is.
    fn is_held(
        &self,
        identity: &SeedIdentity,
        drawing: &Drawing<'_>,
        holders: &Holders,
        is_there: &dyn Fn(&BranchName) -> bool,
    ) -> bool {
        let here = drawing.application.environment_branch();
        let holding = holders.get(identity.plain()).into_iter().flatten();
        let mut holding = holding.filter(|(_, held)| held.identity == *identity);
        let is_other =
            |held: &HeldIdentity| held.dry_branch != *drawing.dry_branch && !self.found.has_left(&held.dry_branch);
        holding.any(|(branch, held)| is_other(held) || (branch != here && is_there(branch)))
    }

    /// Whether Applications of a dry branch draw for their name alone: they do on the first one of the setting, and on the only one.
    fn gives_plain(&self, dry_branch: &BranchName) -> bool {
        let is_certain = self.found.has_dry_branches || self.found.dry_branches.len() < 2;
        is_certain && self.found.dry_branches.first().is_none_or(|first| first == dry_branch)
    }

    /// Whether no other dry branch writes a branch.
    fn is_alone_on(&self, branch: &BranchName) -> bool {
        self.found.policy.settings.active_paths(branch).is_empty()
    }

    /// Who drew for the name of an Application on its branch, which has written `paths` there.
    fn drew(
        &mut self,
        branch: &BranchName,
        head: &DryHead,
        plain: &SeedIdentity,
        paths: &BTreeSet<RepoPath>,
    ) -> Result<Drew, Stopped> {
        let is_alone = self.is_alone_on(branch);
        let mut drew = Drew::default();
        for (path, drawn) in self.drawn_on(branch, head)? {
            if drawn.identity == *plain {
                let is_its = is_alone || paths.contains(&path);
                drew.itself |= is_its;
                drew.another |= !is_its;
            }
        }
        Ok(drew)
    }
}

/// Who drew for a name.
#[derive(Debug, Default)]
struct Drew {
    itself: bool,
    another: bool,
}

/// The Application, where it was rendered now and drew for its name on its branch.
fn drew_here(done: &Done) -> Option<Arc<Application>> {
    let output = done.result.as_ref().ok().filter(|output| output.is_fresh)?;
    let drawn = output.drawn.as_ref()?;
    (drawn.identity == SeedIdentity::of(&done.application)).then(|| done.application.clone())
}

fn has<'a>(mut applications: impl Iterator<Item = &'a Arc<Application>>, application: &Application) -> bool {
    applications.any(|one| name_of(one) == name_of(application))
}
