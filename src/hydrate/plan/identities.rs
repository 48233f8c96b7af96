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

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::moved_applications::{Name, name_of};
use super::{Done, Rendered};
use crate::argo::{Application, BranchName, DrawnPaths, HeldIdentities, HeldIdentity, SeedIdentities, SeedIdentity};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::make::rendered::render_again;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::owners::policy::Policy;
use crate::owners::seed_identities::recorded_on;
use dry_files::path::RepoPath;

/// An Application that left a branch.
struct Departed {
    branch: BranchName,
    application: Arc<Application>,
    /// The identity that the Application draws for, where the branch says so.
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
    pub(crate) fn planned_identities<'n>(
        &mut self,
        names: impl Iterator<Item = &'n BranchName>,
        tree: &DryTree,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<SeedIdentities, Stopped> {
        if self.found.policy.settings.nondeterministic.is_empty() {
            return Ok(SeedIdentities::new());
        }
        if let Some(claimed) = &self.claimed {
            return Ok(claimed.identities.clone());
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
        let mut pasts = Pasts::default();
        for application in arrived {
            let new = SeedIdentity::of(&application);
            let brought = match departed.get(&name_of(&application)) {
                Some(departed) => self.brought(departed, &mut pasts, (head, heads))?,
                None => None,
            };
            let drawing = Drawing { dry_branch: &head.branch, application: &application };
            let is_held = |identity: &SeedIdentity| {
                let holding = holders.get(identity.plain()).into_iter().flatten();
                let mut holding = holding.filter(|(_, held)| held.identity == *identity);
                holding.any(|(branch, held)| {
                    let is_now_there = || has(tree.applications(branch), &application);
                    self.is_of_another(&drawing, (branch, held), is_now_there)
                })
            };
            // One of the same name that was here before, where none is elsewhere by now.
            let known = identities.remove(&new);
            for identity in brought.into_iter().chain(known) {
                let is_free = !taken.contains(&identity) && !is_held(&identity);
                if is_free && taken.insert(identity.clone()) {
                    identities.insert(new, identity);
                    break;
                }
            }
        }
        Ok(identities)
    }

    /// What Applications of a dry branch draw for by what branches say.
    pub(crate) fn known_identities(&self, dry_branch: &BranchName) -> SeedIdentities {
        self.branches.values().flat_map(|branch| branch.identities.of(dry_branch)).collect()
    }

    /// Gives Applications that drew for the first time identities of their own, and renders again those whose identity
    /// is another one then.
    pub(crate) fn with_own_identities(&mut self, mut rendered: Rendered) -> Result<Rendered, Stopped> {
        let firsts = if self.claimed.is_some() { Vec::new() } else { self.first_draws(&rendered) };
        if firsts.is_empty() {
            return Ok(rendered);
        }
        let mut given = SeedIdentities::new();
        let (holders, heads) = (self.holders()?, self.found.heads());
        let tree = self.tree(rendered.dry.definition(), &rendered.head, &heads)?;
        let mut pasts = Pasts::default();
        for application in firsts {
            let first = self.first_draw(&application, &tree, &holders, &mut pasts, (&rendered.head, &heads))?;
            given.extend(first.own().map(|own| (first.plain, own)));
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
            let is_shared = self.found.policy.settings.is_shared(name);
            let branch = self.branches.get(name).filter(|branch| !is_shared && branch.settings == self.found.policy.id);
            let drawn =
                branch.filter(|_| self.found.setup.place.believes_records()).and_then(|branch| branch.drawn.as_ref());
            let drawn = drawn.into_iter().flat_map(|drawn| drawn.values());
            let drawn: BTreeSet<&SeedIdentity> = drawn.map(|drawn| &drawn.identity).collect();
            let is_known = |plain: &SeedIdentity| drawn.contains(plain) || rendered.identities.contains_key(plain);
            let here = hydration.work.iter().filter_map(drew_here);
            firsts.extend(here.filter(|application| !is_known(&SeedIdentity::of(application))));
        }
        firsts
    }

    /// What there is to know of an Application that drew for its name on its branch.
    fn first_draw<'h>(
        &mut self,
        application: &Application,
        tree: &DryTree,
        holders: &Holders,
        pasts: &mut Pasts,
        (head, heads): (&'h DryHead, &[DryHead]),
    ) -> Result<FirstDraw<'h>, Stopped> {
        let (plain, branch) = (SeedIdentity::of(application), application.environment_branch());
        let drawing = Drawing { dry_branch: &head.branch, application };
        let mut taken = BTreeSet::new();
        // Most are held by no other Application, and nothing is asked of other branches.
        for (name, held) in holders.get(plain.plain()).into_iter().flatten() {
            let was_there = pasts.of(self, name, (head, heads))?.paths.contains_key(&name_of(application));
            let is_or_was_there = || was_there || has(tree.applications(name), application);
            if self.is_of_another(&drawing, (name, held), is_or_was_there) {
                taken.insert(held.identity.clone());
            }
        }
        let is_plain = self.gives_plain(&head.branch) && !taken.contains(&plain);
        let mut first =
            FirstDraw { dry_branch: &head.branch, plain, taken, is_plain, another_drew: false, goes_on: false };
        // There, no other Application drew for it.
        if !is_plain || self.found.policy.settings.is_shared(branch) {
            let past = pasts.of(self, branch, (head, heads))?;
            let paths = past.paths.get(&name_of(application)).cloned().unwrap_or_default();
            let drew = past.drew(self, &first.plain, &paths, (branch, head))?;
            first.another_drew = drew.another;
            // Where its values change all the same, it draws for what is its own.
            first.goes_on = drew.itself && !past.has_another_seed(&self.found.policy, &first.plain);
        }
        Ok(first)
    }

    /// What an Application brings along that left a branch.
    fn brought(
        &mut self,
        departed: &Departed,
        pasts: &mut Pasts,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<Option<SeedIdentity>, Stopped> {
        let Departed { branch, application, identity } = departed;
        if identity.is_some() {
            return Ok(identity.clone());
        }
        let plain = SeedIdentity::of(application).on(branch);
        let is_its = self.gives_plain(&head.branch) && !self.found.policy.settings.is_shared(branch);
        let paths = BTreeSet::from([application.sync_path.clone()]);
        // Else it may be that of another one, which drew there for its name.
        let past = pasts.of(self, branch, (head, heads))?;
        let is_its = is_its || past.drew(self, &plain, &paths, (branch, head))?.itself;
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
            (None, Some(record)) => Ok(recorded_on(name, record, &self.found.buffer)?),
            (None, None) => Ok(HeldIdentities::default()),
        }
    }

    /// Whether what a branch says is said of another Application: of another dry branch, wherever it was last, or one of this name
    /// on another branch, `if_there`.
    fn is_of_another(
        &self,
        drawing: &Drawing<'_>,
        (branch, held): (&BranchName, &HeldIdentity),
        if_there: impl FnOnce() -> bool,
    ) -> bool {
        let is_other = held.dry_branch != *drawing.dry_branch && !self.found.has_left(&held.dry_branch);
        is_other || (branch != drawing.application.environment_branch() && if_there())
    }

    /// Whether Applications of a dry branch draw for their name alone: they do on the first one of the setting, and on the only one.
    fn gives_plain(&self, dry_branch: &BranchName) -> bool {
        let is_certain = self.found.has_dry_branches || self.found.dry_branches.len() < 2;
        is_certain && self.found.dry_branches.first().is_none_or(|first| first == dry_branch)
    }
}

/// An Application that drew for its name on its branch, and what says whether it may.
struct FirstDraw<'h> {
    dry_branch: &'h BranchName,
    /// Its name on its branch.
    plain: SeedIdentity,
    /// The identities of this name that other Applications have.
    taken: BTreeSet<SeedIdentity>,
    /// Whether its dry branch gives names alone, and no other one has this name.
    is_plain: bool,
    /// Whether another Application drew for the name there before.
    another_drew: bool,
    /// Whether it drew for the name before, and its values stay.
    goes_on: bool,
}

impl FirstDraw<'_> {
    /// The identity to draw for in place of the name; none where the Application may draw for its name.
    fn own(&self) -> Option<SeedIdentity> {
        let may = self.goes_on || (self.is_plain && !self.another_drew);
        let numbers = if may { 0..0 } else { 1..usize::MAX };
        let mut own = numbers.map(|number| self.plain.own_of(self.dry_branch, number));
        own.find(|identity| !self.taken.contains(identity))
    }
}

/// What a dry branch had on branches before the dry commit that is looked at: found out once for all of its Applications.
#[derive(Default)]
struct Pasts(BTreeMap<BranchName, Past>);

/// What a dry branch had on one branch.
struct Past {
    /// The paths of its Applications.
    paths: BTreeMap<Name, BTreeSet<RepoPath>>,
    /// The settings that the branch was hydrated with, where those of now are others.
    policy: Option<Policy>,
    /// The paths that drew, by what for; looked at when it is asked for.
    drew: Option<BTreeMap<SeedIdentity, BTreeSet<RepoPath>>>,
}

impl Pasts {
    fn of(
        &mut self,
        run: &mut Run<'_>,
        name: &BranchName,
        (head, heads): (&DryHead, &[DryHead]),
    ) -> Result<&mut Past, Stopped> {
        let there = match self.0.entry(name.clone()) {
            Entry::Occupied(known) => return Ok(known.into_mut()),
            Entry::Vacant(there) => there,
        };
        let mut paths: BTreeMap<Name, BTreeSet<RepoPath>> = BTreeMap::new();
        for application in &run.former_on(name, (head, heads))?.applications {
            paths.entry(name_of(application)).or_default().insert(application.sync_path.clone());
        }
        let now = run.found.policy.id;
        let before = run.branches.get(name).and_then(|branch| branch.settings).filter(|id| now != Some(*id));
        let policy = before.and_then(|id| Policy::at(Some(id), &run.found.buffer).ok());
        Ok(there.insert(Past { paths, policy, drew: None }))
    }
}

impl Past {
    /// Who drew for the name of an Application on this branch, which has written `paths` there.
    fn drew(
        &mut self,
        run: &mut Run<'_>,
        plain: &SeedIdentity,
        paths: &BTreeSet<RepoPath>,
        (branch, head): (&BranchName, &DryHead),
    ) -> Result<Drew, Stopped> {
        let drew = match &mut self.drew {
            Some(drew) => drew,
            none => none.insert(by_identity(run.drawn_on(branch, head)?)),
        };
        let Some(drew) = drew.get(plain) else { return Ok(Drew::default()) };
        let is_alone = !run.found.policy.settings.is_shared(branch);
        let is_its = |path: &RepoPath| is_alone || paths.contains(path);
        Ok(Drew { itself: drew.iter().any(is_its), another: !drew.iter().all(is_its) })
    }

    /// Whether what the branch was hydrated with gave an identity other values than it has now.
    fn has_another_seed(&self, now: &Policy, identity: &SeedIdentity) -> bool {
        let before = self.policy.as_ref();
        before.is_some_and(|before| !before.settings.seeds.are_same_for(&now.settings.seeds, identity))
    }
}

fn by_identity(drawn: DrawnPaths) -> BTreeMap<SeedIdentity, BTreeSet<RepoPath>> {
    let mut paths: BTreeMap<SeedIdentity, BTreeSet<RepoPath>> = BTreeMap::new();
    for (path, drawn) in drawn {
        paths.entry(drawn.identity).or_default().insert(path);
    }
    paths
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
