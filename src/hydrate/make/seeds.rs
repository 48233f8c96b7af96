//! Random values of Applications: which have some, whose anybody can compute, and who may draw at all.
//!
//! Without a seed, an Application that drew when its branch was hydrated last goes on, and another one is refused. The record of
//! the branch says who drew; where it does not, or is not believed, what the branch shows is rendered again.

use std::collections::{BTreeMap, BTreeSet};

use super::branch::Branch;
use crate::argo::{Application, BranchName, Drawn, DrawnPaths, HeldIdentities, HeldIdentity, SeedIdentity};
use crate::discover::Removal;
use crate::hydrate::failed_render::FailedRender;
use crate::hydrate::plan::skipped::LeftBehind;
use crate::hydrate::plan::{Done, Hydration, Rendered, Step};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::owners::policy::{Policy, render_context};
use crate::owners::public_seeds::{refused, seed_is_missing, warning};
use crate::render::{self, Failure, Turn, Unrendered};
use crate::settings::{Seeds, Settings};
use dry_files::diag::Diagnostic;
use dry_files::view::View;

impl Branch {
    /// The identities of Applications here, once those of `drawn` are on the branch.
    pub(crate) fn identities_with<'d>(&self, drawn: impl Iterator<Item = &'d Drawn>) -> HeldIdentities {
        let mut identities = self.identities.clone();
        for Drawn { identity, .. } in drawn {
            let held = HeldIdentity { dry_branch: self.dry_branch.clone(), identity: identity.clone() };
            identities.note(held, &self.name);
        }
        identities
    }

    /// Which Applications of the branch have random values, after a hydration; none when that is not known.
    pub(crate) fn drawn_after(
        &self,
        hydration: &Hydration<Done>,
        left: &LeftBehind,
        removals: &[Removal],
        settings: &Settings,
    ) -> Option<DrawnPaths> {
        let is_shared = settings.is_shared(&self.name);
        let is_whole = hydration.untouched == 0 && left.paths.is_empty() && !is_shared;
        let is_asked = !settings.nondeterministic.is_empty() || self.drawn.is_some();
        let mut drawn = match is_whole && is_asked {
            true => DrawnPaths::new(),
            false => self.drawn.clone()?,
        };
        follow(&mut drawn, hydration, removals);
        Some(drawn)
    }

    /// Which Applications of the dry branch have random values, after a hydration; none where that was not looked at.
    pub(crate) fn seen_after(&self, hydration: &Hydration<Done>, removals: &[Removal]) -> Option<DrawnPaths> {
        let mut seen = self.seen.clone()?;
        follow(&mut seen, hydration, removals);
        Some(seen)
    }
}

fn follow(drawn: &mut DrawnPaths, hydration: &Hydration<Done>, removals: &[Removal]) {
    for removal in removals {
        drawn.remove(&removal.path);
    }
    for (application, output) in hydration.outputs() {
        match &output.drawn {
            Some(found) => drop(drawn.insert(application.sync_path.clone(), found.clone())),
            None => drop(drawn.remove(&application.sync_path)),
        }
    }
}

impl Run<'_> {
    /// The branches that were hydrated from a dry branch, or are in this run.
    pub(crate) fn branches_of(&self, head: &DryHead) -> BTreeSet<BranchName> {
        let here = self.branches.iter().filter(|(_, branch)| branch.dry_branch == head.branch).map(|(name, _)| name);
        let shared = self.found.records.iter().filter(|(_, record)| record.others.contains_key(&head.branch));
        let shared = shared.map(|(name, _)| name).filter(|name| self.found.tip(name).is_some());
        here.chain(self.found.hydrated_from(&head.branch)).chain(shared).cloned().collect()
    }

    /// Makes mistakes of the renders whose random values anybody could compute, unless their Applications had such values when
    /// their branches were hydrated last. Of one whose values were secret then, they are a mistake all the same.
    ///
    /// What a hydrated commit was made of was allowed then, but for what stayed behind.
    pub(crate) fn refuse_public(&mut self, rendered: &mut Rendered) -> Result<(), Stopped> {
        let seeds = self.found.policy.settings.seeds.clone();
        if seeds.is_set() || self.claimed.as_ref().is_some_and(|claimed| claimed.behind.is_empty()) {
            return Ok(());
        }
        let is_public = |done: &Done| {
            let fresh = done.result.as_ref().ok().filter(|output| output.is_fresh);
            fresh.and_then(|output| output.drawn.as_ref()).is_some_and(|drawn| seeds.is_public(&drawn.identity))
        };
        if !rendered.work().any(is_public) {
            return Ok(());
        }
        if self.claimed.is_some() {
            return self.refuse_behind(rendered, is_public);
        }
        let known = self.drew_before(&rendered.head)?;
        let earlier = self.seeds_before(&rendered.head);
        let was_secret = |identity: &SeedIdentity| earlier.iter().any(|seeds| !seeds.is_public(identity));
        let place = self.found.setup.place.clone();
        let files = self.files(rendered.tree);
        let view = View::new(&*files);
        let hydrations = rendered.branches.values_mut().flat_map(work_of);
        for done in hydrations.chain(&mut rendered.beside).filter(|done| is_public(done)) {
            let drawn = done.result.as_ref().ok().and_then(|output| output.drawn.as_ref());
            let Some(identity) = drawn.map(|drawn| &drawn.identity) else { continue };
            let mistake = match known.contains(identity) {
                true if was_secret(identity) => seed_is_missing(&done.application, &place),
                true => continue,
                false => refused(&done.application, &place),
            };
            fail(done, mistake, &view)?;
        }
        Ok(())
    }

    /// Makes mistakes of the renders that were mistakes when the hydrated commit was made, as it says.
    fn refuse_behind(&mut self, rendered: &mut Rendered, is_public: impl Fn(&Done) -> bool) -> Result<(), Stopped> {
        let files = self.files(rendered.tree);
        let view = View::new(&*files);
        let (Some(claimed), place) = (&self.claimed, &self.found.setup.place) else { return Ok(()) };
        for done in rendered.branches.values_mut().flat_map(work_of).filter(|done| is_public(done)) {
            if claimed.behind.contains(&done.application.sync_path) {
                fail(done, refused(&done.application, place), &view)?;
            }
        }
        Ok(())
    }

    /// What the branches of a dry branch drew from when they were hydrated last, as far as those settings are here.
    fn seeds_before(&self, head: &DryHead) -> Vec<Seeds> {
        let settings = |name: &BranchName| {
            let of_run = self.branches.get(name).and_then(|branch| branch.settings);
            of_run.or_else(|| self.found.records.get(name).and_then(|record| record.settings))
        };
        let ids: BTreeSet<_> = self.branches_of(head).iter().filter_map(settings).collect();
        let policies = ids.into_iter().filter_map(|id| Policy::at(Some(id), &self.found.buffer).ok());
        policies.map(|policy| policy.settings.seeds).filter(Seeds::is_set).collect()
    }

    /// What the Applications draw for that had random values when the branches of a dry branch were hydrated last.
    fn drew_before(&mut self, head: &DryHead) -> Result<BTreeSet<SeedIdentity>, Stopped> {
        let mut known = BTreeSet::new();
        for name in self.branches_of(head) {
            known.extend(self.drawn_on(&name, head)?.into_values().map(|drawn| drawn.identity));
        }
        Ok(known)
    }

    /// Which Applications had random values when a branch of a dry branch was hydrated last. Of a branch that others share, it may
    /// be what this dry branch has there.
    ///
    /// What a branch shows is looked at once for each dry branch.
    pub(crate) fn drawn_on(&mut self, name: &BranchName, head: &DryHead) -> Result<DrawnPaths, Stopped> {
        let Some(mut branch) = self.branches.remove(name) else { return self.drawn_elsewhere(name, head) };
        let drawn = match self.said(&branch) {
            Some(drawn) => Ok(drawn),
            None => self.look_at(&branch).inspect(|seen| branch.seen = Some(seen.clone())),
        };
        if !self.found.policy.settings.is_shared(name) {
            branch.drawn = drawn.as_ref().ok().cloned().or(branch.drawn);
        }
        self.branches.insert(name.clone(), branch);
        drawn
    }

    /// Which Applications had random values on a branch that nothing is written to until now.
    fn drawn_elsewhere(&mut self, name: &BranchName, head: &DryHead) -> Result<DrawnPaths, Stopped> {
        let key = (name.clone(), head.branch.clone());
        if let Some(seen) = self.seen_elsewhere.get(&key) {
            return Ok(seen.clone());
        }
        let branch = self.open(name, name, head)?;
        let drawn = match self.said(&branch) {
            Some(drawn) => drawn,
            None => self.look_at(&branch)?,
        };
        self.seen_elsewhere.insert(key, drawn.clone());
        Ok(drawn)
    }

    /// What is known without a look.
    fn said(&self, branch: &Branch) -> Option<DrawnPaths> {
        let recorded = branch.drawn.as_ref().filter(|_| self.found.setup.place.believes_records());
        recorded.or(branch.seen.as_ref()).cloned()
    }

    /// Which Applications have random values in what a branch shows: it is rendered again.
    ///
    /// One that does not render counts as one that has some, in objects that are not known: it is on the branch all the same.
    pub(crate) fn look_at(&mut self, branch: &Branch) -> Result<DrawnPaths, Stopped> {
        let former = Policy::at(branch.settings, &self.found.buffer).ok();
        let settings = former.map_or_else(|| self.found.policy.settings.clone(), |former| former.settings);
        if settings.nondeterministic.is_empty() || branch.unreadable() {
            return Ok(DrawnPaths::new());
        }
        let behind = branch.tip_metadata(&self.found.buffer)?.behind.clone();
        let head = DryHead { branch: branch.dry_branch.clone(), tip: branch.dry_tip };
        let heads = self.found.heads();
        let former = self.fed_by((&branch.name, branch.settings, &behind), branch.dry, (&head, &heads))?;
        let Some(tree) = &former.tree else { return Ok(DrawnPaths::new()) };
        let shown = branch.source.as_ref().map(|source| source.commit);
        let sources = shown.map(|shown| self.found.dry_tree(shown)).transpose()?.unwrap_or(tree.tree);
        let files = self.files(sources);
        let id = shown.unwrap_or(tree.commit.id).to_string();
        let identities = branch.identities.of(&branch.dry_branch);
        let context = render::Context { identities: &identities, ..render_context(&settings, &*files, &id) };
        let applications: Vec<&Application> = former.applications.iter().map(|application| &**application).collect();
        let take = |_: &Application, rendered: render::Rendered| Ok(rendered.drawn);
        let renderers = self.found.setup.renderers;
        let results = renderers.render_into(&applications, &context, &|_| Turn::Usual, &take, &|_| ());
        let mut drawn = DrawnPaths::new();
        for (application, result) in applications.into_iter().zip(results) {
            let new = SeedIdentity::of(application);
            let unknown = || Drawn { identity: identities.get(&new).cloned().unwrap_or(new), objects: Vec::new() };
            let found = result.unwrap_or_else(|_| Some(unknown()));
            drawn.extend(found.map(|found| (application.sync_path.clone(), found)));
        }
        Ok(drawn)
    }

    /// Finds out which Applications have random values that anybody can compute, for the records, and warns of them.
    pub(crate) fn tell_of_public(&mut self) -> Result<(), Stopped> {
        if self.found.policy.settings.nondeterministic.is_empty() {
            return Ok(());
        }
        let unknown = |branch: &&Branch| branch.drawn.is_none() && branch.dry.is_some();
        let names: Vec<BranchName> = self.branches.values().filter(unknown).map(|branch| branch.name.clone()).collect();
        for name in names {
            let Some(mut branch) = self.branches.remove(&name) else { continue };
            let drawn = self.look_at(&branch);
            branch.drawn = drawn.as_ref().ok().cloned();
            self.branches.insert(name, branch);
            drawn?;
        }
        let mut all: BTreeMap<BranchName, DrawnPaths> = BTreeMap::new();
        for (name, record) in self.found.records.iter().filter(|(name, _)| self.found.tip(name).is_some()) {
            all.extend(record.drawn.clone().map(|drawn| (name.clone(), drawn)));
        }
        for (name, branch) in &self.branches {
            all.extend(branch.drawn.clone().map(|drawn| (name.clone(), drawn)));
        }
        self.report.warnings.extend(warning(&all, &self.found.policy.settings, &self.found.setup.place));
        Ok(())
    }
}

/// Makes a mistake of a render, which depends on more than what it read.
pub(crate) fn fail(done: &mut Done, mistake: Diagnostic, view: &View<'_>) -> Result<(), Stopped> {
    let record = done.result.as_ref().ok().and_then(|output| output.record.decode());
    let reads = record.map(|record| record.reads).unwrap_or_default();
    let unrendered = Unrendered { failure: Failure::mistake(mistake), reads, repeats: false, follows: true };
    done.result = Err(FailedRender::new(&done.application, unrendered, view)?);
    Ok(())
}

fn work_of(step: &mut Step<Done>) -> &mut [Done] {
    match step {
        Step::Hydrate(hydration) => &mut hydration.work,
        Step::Fail(_) => &mut [],
    }
}
