//! Whether hydrated history is what hydration makes: each commit is made again and its id compared.
//!
//! A hydrated commit is a function of its parent, its dry commit and branch, the settings, and the engine. So anyone who has
//! the dry commits can tell whether anybody changed what is in an environment branch, without trusting the server
//! that keeps it.
//!
//! Commits on top of one that differs are judged by what it should have been, so that only what was changed is named.

mod ancestry;
mod branches;
mod compare;
mod fault;
mod notes;
mod promoted;
mod remake;
mod rollback;
mod settings;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use crate::argo::BranchName;
use crate::hydrate::make::branch::initial;
use crate::hydrate::state::{Claimed, Run};
use crate::hydrate::stopped::Stopped;
use crate::metadata::{DryCommit, ENGINE_REVISION, Origin, PROMOTIONS_REF, Trailers, restored_from};
use crate::owners::branch_records::Engines;
use crate::owners::error::HydrateError;
use crate::owners::ours::our_changes;
use crate::owners::setup::Setup;
use crate::repo::{Commit, Error, Notes, ObjectId, Repository};
use crate::settings::RendererName;

use ancestry::Ancestry;
use branches::{several, unpromoted};
use fault::Seen;
use promoted::Promotions;
use remake::Remade;

pub(crate) use branches::audited;
pub(crate) use branches::lines;
pub(crate) use branches::strayed;

pub(crate) use fault::{Fault, Finding, Line, Verified};

/// Makes the hydrated commits of `lines` again and compares. Nothing is written; [`Setup::wake`] is ignored.
///
/// `renderer` renders in place of the one that the settings name.
pub(crate) fn verify(
    setup: &Setup<'_>,
    lines: Vec<Line>,
    renderer: Option<RendererName>,
) -> Result<Vec<Verified>, HydrateError> {
    let verified = Verifier::new(setup, renderer).and_then(|mut verifier| verifier.lines(lines));
    // Nothing is moved, so no one can be in the way.
    verified.map_err(Stopped::into_error)
}

struct Verifier<'a> {
    run: Run<'a>,
    renderer: Option<RendererName>,
    notes: Option<Notes>,
    /// Those of a promoter.
    promoted: RefCell<Option<Notes>>,
    engines: Engines,
    /// The settings as they are now.
    settings_now: Option<ObjectId>,
    /// Whether this repository has had the settings that commits name.
    had_settings: HashMap<ObjectId, bool>,
    /// Commits that were looked at, with the name of the first line that they are on.
    seen: HashMap<ObjectId, (Rc<str>, Seen)>,
    /// What commits that differ should have been.
    repaired: HashMap<ObjectId, Commit>,
    promotions: Promotions,
    /// The branches that nothing is promoted to: what others commit there is hydration's by no means.
    unpromoted: BTreeSet<String>,
    ancestry: Ancestry,
}

/// A hydrated commit and what it says of itself.
struct Hydrated {
    commit: Commit,
    trailers: Trailers,
}

impl Hydrated {
    /// Whether the same settings and engine made both, and the same Applications were held.
    fn is_made_as(&self, other: &Self) -> bool {
        let by = |one: &Self| (one.trailers.settings_commit, one.trailers.engine, one.trailers.held.clone());
        by(self) == by(other)
    }
}

impl<'a> Verifier<'a> {
    fn new(setup: &'a Setup<'a>, renderer: Option<RendererName>) -> Result<Self, Stopped> {
        let mut run = Run::new(setup)?;
        run.found.trusts_programs = renderer.is_some();
        run.claimed = Some(Claimed::default());
        let notes = run.found.recorded_notes()?;
        let promoted = run.found.refs.get(PROMOTIONS_REF).and_then(|tip| run.found.buffer.commit(tip).ok());
        let promoted = promoted.and_then(|notes| Notes::open(Some(notes.tree), &run.found.buffer).ok());
        let promoted = RefCell::new(promoted);
        let engines = run.found.engines()?;
        let settings_now = run.found.policy.id;
        let all = lines(setup.repository, &setup.place)?;
        let promotions = Promotions::new(all, engines.made().collect(), several(&run.found)?);
        let unpromoted = unpromoted(&run.found)?;
        let ancestry = Ancestry::default();
        let (had_settings, seen, repaired) = (HashMap::new(), HashMap::new(), HashMap::new());
        Ok(Self {
            run,
            renderer,
            notes,
            promoted,
            engines,
            settings_now,
            had_settings,
            seen,
            repaired,
            promotions,
            unpromoted,
            ancestry,
        })
    }

    /// Verifies lines, and the lines that were merged into them.
    fn lines(&mut self, lines: Vec<Line>) -> Result<Vec<Verified>, Stopped> {
        let mut lines = VecDeque::from(lines);
        let mut verified: Vec<Verified> = Vec::new();
        while let Some(line) = lines.pop_front() {
            let (found, merged) = self.line(&line)?;
            match verified.iter_mut().find(|verified| verified.branch == found.branch) {
                // What was merged into the branch.
                Some(branch) => branch.add(found),
                None => verified.push(found),
            }
            lines.extend(merged);
        }
        Ok(verified)
    }

    fn repository(&self) -> &'a Repository {
        self.run.found.buffer.repository()
    }

    /// Verifies one line, and answers the lines that were merged into it.
    fn line(&mut self, line: &Line) -> Result<(Verified, Vec<Line>), Stopped> {
        let mut verified = Verified {
            branch: line.name.clone(),
            tip: line.tip.to_string(),
            equal: 0,
            inheriting: 0,
            others: 0,
            findings: Vec::new(),
        };
        self.run.forget();
        let name: Rc<str> = Rc::from(line.name.as_str());
        let mut merged = Vec::new();
        let mut hydrated: Vec<Hydrated> = Vec::new();
        for id in self.commits(line)? {
            let commit = self.repository().commit(id)?;
            let trailers = Trailers::read(&commit.message);
            if let Some((other, seen)) = self.seen.get(&id) {
                // A branch that was cut from another one has its commits too.
                if *other != name && line.after.is_none() {
                    verified.count(seen);
                }
                hydrated.extend(trailers.map(|trailers| Hydrated { commit, trailers }));
                continue;
            }
            let seen = match trailers.filter(|trailers| !self.is_copied(&commit, trailers, line)) {
                None => {
                    let is_above = !hydrated.is_empty() || line.after.is_some();
                    self.of_others(&commit, line, is_above, &mut merged)?
                }
                Some(trailers) => {
                    let this = Hydrated { commit, trailers };
                    let seen = self.hydrated(&this)?;
                    hydrated.push(this);
                    seen
                }
            };
            verified.count(&seen);
            self.seen.insert(id, (name.clone(), seen));
        }
        self.notes(&hydrated, &mut verified)?;
        Ok((verified, merged))
    }

    /// Whether a commit is a copy of a hydrated one of another branch, as a promotion by rebase or squash leaves it: it is of others,
    /// and judged by what it shows.
    fn is_copied(&self, commit: &Commit, trailers: &Trailers, line: &Line) -> bool {
        let is_here = BranchName::read(&line.name).is_ok_and(|name| {
            name != trailers.branch
                && self.run.found.tip(&name).is_some()
                && self.run.found.records.get(&name).is_some()
        });
        let is_known = self.engines.is_recorded(commit.id) || self.engines.is_older(commit.id, self.repository());
        let is_copy = is_here && line.after.is_none() || self.is_restoring(commit);
        is_copy && !is_known && !commit.parents.is_empty()
    }

    /// Whether a commit says that it restores another one, whose trailers it has then.
    fn is_restoring(&self, commit: &Commit) -> bool {
        let mut notes = self.promoted.borrow_mut();
        let note = notes.as_mut().and_then(|notes| notes.get(commit.id, &self.run.found.buffer).ok().flatten());
        restored_from(&commit.message, note.as_deref()).is_some()
    }

    /// What a commit of others is, and what it merged.
    fn of_others(
        &mut self,
        commit: &Commit,
        line: &Line,
        is_above: bool,
        merged: &mut Vec<Line>,
    ) -> Result<Seen, Stopped> {
        // What stood there before hydration came is not its business.
        if !is_above && !self.is_on_ours(commit) {
            return Ok(Seen::Other);
        }
        let paths = self.foreign(commit, line, merged)?;
        Ok(match paths.is_empty() {
            true => Seen::Other,
            false => Seen::wrong(commit.id, None, [Fault::Foreign { paths }]),
        })
    }

    /// What a hydrated commit is.
    fn hydrated(&mut self, this: &Hydrated) -> Result<Seen, Stopped> {
        let id = this.commit.id;
        let inherited = this.commit.parents.first().is_some_and(|parent| self.repaired.contains_key(parent));
        let seen = match self.commit(this)? {
            faults if !faults.is_empty() => Seen::wrong(id, Some(this.trailers.dry_commit), faults),
            _ if inherited && self.repaired.contains_key(&id) => Seen::Inheriting,
            _ => Seen::Equal,
        };
        // The commit above it may have to be made on what it should have been.
        if !self.repaired.contains_key(&id) {
            self.run.forget();
        }
        Ok(seen)
    }

    /// The commits of a line, oldest first. What was merged into it ends where another line went on from.
    fn commits(&self, line: &Line) -> Result<Vec<ObjectId>, Error> {
        let (mut commits, mut here) = (Vec::new(), Some(line.tip));
        let is_judged = |id: &ObjectId| line.after.is_some() && self.seen.contains_key(id);
        while let Some(id) = here.filter(|id| Some(*id) != line.after && !is_judged(id)) {
            commits.push(id);
            let buffer = &self.run.found.buffer;
            here = self.ancestry.parent(&buffer.commit(id)?, &self.engines, buffer)?;
        }
        commits.reverse();
        Ok(commits)
    }

    /// Whether a commit is on top of one that hydration recorded.
    fn is_on_ours(&self, commit: &Commit) -> bool {
        let buffer = &self.run.found.buffer;
        commit.parents.iter().any(|parent| self.ancestry.leads_to_ours(*parent, &self.engines, buffer))
    }

    /// The files of hydration that a commit of somebody else changes. A merge may bring in hydrated commits, which are
    /// verified as a line of their own.
    fn foreign(&self, commit: &Commit, line: &Line, merged: &mut Vec<Line>) -> Result<Vec<String>, Stopped> {
        let buffer = &self.run.found.buffer;
        let ours = self.ancestry.our_parents(commit, &self.engines, buffer)?;
        let Some((main, others)) = ours.split_first() else { return Ok(Vec::new()) };
        if self.unpromoted.contains(&line.name) {
            let before = buffer.commit(*main)?.tree;
            return Ok(our_changes(before, commit.tree, &[before, commit.tree], buffer)?);
        }
        merged.extend(others.iter().map(|other| Line { name: line.name.clone(), tip: *other, after: Some(*main) }));
        let parents = ours.iter().map(|parent| buffer.commit(*parent)).collect::<Result<Vec<_>, _>>()?;
        let owners: Vec<ObjectId> = parents.iter().chain([commit]).map(|commit| commit.tree).collect();
        let mut paths = Vec::new();
        for parent in &parents {
            let changes = our_changes(parent.tree, commit.tree, &owners, buffer)?;
            // What the line has below it is judged there.
            let is_continued = || parent.id == *main && commit.parents.first() == Some(main);
            if changes.is_empty() && (is_continued() || self.is_as_made(parent, &owners)?) {
                return Ok(Vec::new());
            }
            if paths.is_empty() {
                paths = changes;
            }
        }
        if !paths.is_empty() && self.is_put_together(line, commit, &parents, &paths)? {
            return Ok(Vec::new());
        }
        // A promoter that squashes leaves no parent that shows what it promotes.
        if let Some(promoted) = self.promotions.find(&self.run.found.policy.settings, line, commit, &paths, buffer)? {
            merged.push(Line { name: line.name.clone(), ..promoted });
            paths.clear();
        }
        Ok(paths)
    }

    /// Whether a merge has each directory that is promoted by itself as one of its parents has it, and so each file beside these: a promoter
    /// merges the branch into the staging branch of one directory where they conflict.
    fn is_put_together(
        &self,
        line: &Line,
        commit: &Commit,
        parents: &[Commit],
        paths: &[String],
    ) -> Result<bool, Error> {
        let Ok(branch) = BranchName::read(&line.name) else { return Ok(false) };
        let active = self.run.found.policy.settings.active_paths(&branch);
        if active.is_empty() || parents.len() < 2 {
            return Ok(false);
        }
        let is_below = |path: &str, dir: &str| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
        let part =
            |path: &str| active.iter().map(|dir| dir.as_str()).find(|dir| is_below(path, dir)).map(str::to_owned);
        let parts: BTreeSet<String> = paths.iter().map(|path| part(path).unwrap_or_else(|| path.clone())).collect();
        let buffer = &self.run.found.buffer;
        for part in &parts {
            let here = buffer.entry(commit.tree, part)?;
            let mut is_of_parent = false;
            for parent in parents {
                is_of_parent |= buffer.entry(parent.tree, part)? == here;
            }
            if !is_of_parent {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a commit has all files of hydration as the nearest hydrated commit below it has them.
    fn is_as_made(&self, commit: &Commit, owners: &[ObjectId]) -> Result<bool, Error> {
        let buffer = &self.run.found.buffer;
        let Some((made, _)) = self.ancestry.nearest(commit, &self.engines, buffer, |_, _| true)? else {
            return Ok(false);
        };
        Ok(our_changes(made.tree, commit.tree, owners, buffer)?.is_empty())
    }

    /// The faults of one hydrated commit; none when it is equal, or differs only in what it inherits.
    fn commit(&mut self, this: &Hydrated) -> Result<Vec<Fault>, Stopped> {
        let mut faults = self.differences(this)?;
        faults.extend(self.strange_settings(this));
        Ok(faults)
    }

    /// What of one hydrated commit is not what hydration makes.
    fn differences(&mut self, this: &Hydrated) -> Result<Vec<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        if let Some(gone) = self.gone(trailers) {
            return Ok(vec![gone]);
        }
        self.use_settings(trailers.settings_commit)?;
        // One that says nothing of recorded inputs was made without them.
        self.run.show_inputs(trailers.inputs.is_some());
        self.run.found.policy.writer.date_as(trailers.engine);
        let Some(parent) = commit.parents.first() else {
            let dry = DryCommit::new(&self.repository().commit(trailers.dry_commit)?);
            let dry = match trailers.source() {
                Some(source) => dry.of_source(&source, trailers.definition()),
                None => dry,
            };
            let origin = Origin { repo_url: "", branch: &trailers.dry_branch, commit: &dry };
            let made = initial(&self.run.found.buffer, &self.run.found.policy, &trailers.branch, &origin)?;
            let made = self.of_revision(made, trailers)?;
            return Ok(self.faults(this, &made, None)?);
        };
        if !self.repository().has(*parent) {
            return Ok(vec![Fault::Gone { what: "its parent", id: parent.to_string() }]);
        }
        let parent = self.repository().commit(*parent)?;
        if self.is_of_copies(trailers)? {
            return self.copies(this, &parent);
        }
        self.use_holds(trailers);
        if let Some(rollback) = trailers.rollback {
            return self.rollback(this, rollback, &parent);
        }
        let (made, skipped) = self.remake(&parent, this)?;
        if let Remade::Commit(made) = &made
            && made.id == commit.id
        {
            return Ok(skipped.into_iter().collect());
        }
        // Judged by what its parent should have been, it may be right.
        let (made, skipped) = match self.repaired.get(&parent.id).cloned() {
            Some(base) => {
                let base = Commit { tree: base.tree, committer: base.committer, ..parent.clone() };
                self.remake(&base, this)?
            }
            None => (made, skipped),
        };
        let mut faults: Vec<Fault> = skipped.into_iter().collect();
        match made {
            Remade::Commit(made) if made.id == commit.id => {}
            Remade::Commit(made) => {
                let found = self.faults(this, &made, Some(&parent))?;
                // A commit that is missing below is not a parent either.
                let is_reported = |fault: &Fault| *fault == Fault::Parents && !faults.is_empty();
                faults.extend(found.into_iter().filter(|fault| !is_reported(fault)).collect::<Vec<_>>());
            }
            Remade::Fault(_) if self.is_of_other_revision(this) => {
                return Ok(vec![Fault::OtherRevision { revision: trailers.engine }]);
            }
            Remade::Fault(fault) => faults.push(fault),
        }
        Ok(faults)
    }

    /// Whether a commit is one of copies, by the settings that it was made with.
    fn is_of_copies(&mut self, trailers: &Trailers) -> Result<bool, HydrateError> {
        if self.gone(trailers).is_some() {
            return Ok(false);
        }
        self.use_settings(trailers.settings_commit)?;
        Ok(self.run.found.policy.settings.applications_to.as_ref() == Some(&trailers.branch))
    }

    /// What is wrong with one commit of copies.
    fn copies(&mut self, this: &Hydrated, parent: &Commit) -> Result<Vec<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        let base = match self.repaired.get(&parent.id) {
            Some(repaired) => Commit { tree: repaired.tree, committer: repaired.committer.clone(), ..parent.clone() },
            None => parent.clone(),
        };
        match self.run.copy_again(commit, &base, trailers)? {
            Ok(Some(made)) => {
                let made = self.of_revision(made, trailers)?;
                Ok(self.faults(this, &made, Some(parent))?)
            }
            Ok(None) => Ok(vec![Fault::Needless]),
            Err(id) => Ok(vec![Fault::Gone { what: "a commit that its copies follow", id: id.to_string() }]),
        }
    }

    fn gone(&self, trailers: &Trailers) -> Option<Fault> {
        let gone = |what, id: ObjectId| (!self.repository().has(id)).then(|| Fault::Gone { what, id: id.to_string() });
        let settings = trailers.settings_commit.and_then(|id| gone("the commit of its settings", id));
        let defined = || gone("the dry commit of its Applications", trailers.definition());
        gone("its dry commit", trailers.dry_commit).or_else(defined).or(settings)
    }

    fn use_settings(&mut self, id: Option<ObjectId>) -> Result<(), HydrateError> {
        if self.run.found.policy.id != id {
            self.run.use_settings(id)?;
        }
        self.run.found.policy.writer.date_as(ENGINE_REVISION);
        if let Some(renderer) = self.renderer {
            self.run.found.policy.settings.renderer = renderer;
        }
        Ok(())
    }
}

impl Verified {
    fn find(&mut self, commit: ObjectId, dry: Option<ObjectId>, faults: impl IntoIterator<Item = Fault>) {
        self.findings.extend(faults.into_iter().map(|fault| Finding::new(commit, dry, fault)));
    }
}
