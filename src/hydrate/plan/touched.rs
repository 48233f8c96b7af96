//! What a dry commit touches of the Applications that a state knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Why;
use crate::argo::parent::Parent;
use crate::argo::{Application, BranchName, By, Identity, makers_of};
use crate::hydrate::stopped::Stopped;
use crate::known::{About, Basis, Record, State, Stuck};
use crate::owners::snapshot::Snapshot;

/// Applications that may render to something else, and those that are no more what they were.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// What is to be rendered, and why.
    pub work: BTreeMap<Identity, (Arc<Application>, Why)>,
    /// The Applications of `work` that are new, or wrote elsewhere.
    coming: BTreeSet<Identity>,
    /// The records of Applications that are gone, or wrote elsewhere.
    pub gone: BTreeMap<Identity, Record>,
    /// Whether something that makes Applications was asked again what it makes.
    pub asks_makers: bool,
    /// What was taken in since somebody asked.
    fresh: Vec<Identity>,
}

impl Touched {
    /// Whether it is known already that an Application is to be rendered, or is gone.
    pub(crate) fn has(&self, identity: &Identity) -> bool {
        self.work.contains_key(identity) || self.gone.contains_key(identity)
    }

    /// The Applications that were not there, or wrote elsewhere.
    pub(crate) fn coming(&self) -> impl Iterator<Item = &Arc<Application>> {
        self.coming.iter().filter_map(|identity| self.work.get(identity)).map(|(application, _)| application)
    }

    /// Whether an Application is among them that its branch holds as it is.
    pub(crate) fn has_held(&self, found: &Snapshot<'_>) -> bool {
        let mut work = self.work.values();
        let is_held = |(one, _): &(Arc<Application>, Why)| found.is_held(one.environment_branch(), one);
        let mut gone = self.gone.values();
        work.any(is_held)
            || gone.any(|record| found.holds.of_branch(&record.branch).iter().any(|hold| !hold.is_whole()))
    }

    /// What was taken in since this was asked last.
    pub(crate) fn take_fresh(&mut self) -> Vec<Identity> {
        std::mem::take(&mut self.fresh)
    }

    /// Notes that an Application has to be rendered.
    pub(crate) fn render(&mut self, application: Application, why: Why) {
        let identity = application.identity();
        self.fresh.push(identity.clone());
        self.work.insert(identity, (Arc::new(application), why));
    }

    /// Compares an Application with its record; an Application without a record is new.
    ///
    /// Errors: it is paused, it stays behind, or its branch by more than renders, its objects go to another cluster, or it is elsewhere and makes
    /// others.
    pub(crate) fn compare(
        &mut self,
        application: Application,
        record: Option<Record>,
        state: &mut State,
    ) -> Result<(), Stopped> {
        if application.paused {
            return Err(Stopped::NotPlain);
        }
        let identity = application.identity();
        let Some(record) = record else {
            self.coming.insert(identity);
            self.render(application, Why::New);
            return Ok(());
        };
        // What is said of its branch names lines that may be others now.
        if is_stuck(state, &record.branch, |stuck| stuck.basis == Basis::All) {
            return Err(Stopped::NotPlain);
        }
        if state.head.leaves(&record.branch, &record.sync_path) {
            return Err(Stopped::NotPlain);
        }
        let is_same = record.fingerprint == application.fingerprint();
        let is_of_branch = record.branch == *application.environment_branch();
        if record.placement != application.placement() {
            if is_of_branch && record.sync_path == application.sync_path && is_same {
                return Err(Stopped::NotPlain);
            }
            let why = if is_same && is_of_branch { Why::NotThere } else { Why::Document };
            self.coming.insert(identity.clone());
            self.gone.insert(identity, record);
            self.render(application, why);
        } else if !is_same {
            self.render(application, Why::Document);
        } else if record.about != About::of(&application) {
            // What it makes names the place where it is.
            let maker = Record::index_of_maker(Parent::of(&application).ordinal());
            if state.one(&application.file, maker)?.is_some() {
                return Err(Stopped::NotPlain);
            }
            state.put(Record { about: About::of(&application), ..record }.encode())?;
            if let Some((known, _)) = self.work.get_mut(&identity) {
                *known = Arc::new(application);
            }
        }
        Ok(())
    }

    /// Notes that the Application of a record is gone. Errors: it is of a branch that stays behind.
    pub(crate) fn leave(&mut self, record: Record, state: &State) -> Result<(), Stopped> {
        if is_stuck(state, &record.branch, |_| true) {
            return Err(Stopped::NotPlain);
        }
        let identity = record.identity();
        self.work.remove(&identity);
        self.fresh.push(identity.clone());
        self.gone.insert(identity, record);
        Ok(())
    }

    /// Whether an Application went from one branch to another.
    pub(crate) fn has_moved(&self) -> bool {
        let gone = self.gone.values().map(|record| (&record.name, (&record.namespace, &record.branch)));
        let gone: BTreeMap<_, _> = gone.collect();
        self.coming().any(|application| {
            let before = gone.get(&application.name);
            before.is_some_and(|before| *before != (&application.namespace, application.environment_branch()))
        })
    }

    /// Whether a gone Application made others, as far as the state knows.
    pub(crate) fn lacks_maker(&self, state: &State) -> Result<bool, Stopped> {
        for (identity, record) in &self.gone {
            let ordinal = ordinal_of(record).ok_or(Stopped::Unknown)?;
            let now = self.work.get(identity).map(|(application, _)| Parent::of(application).ordinal());
            if now != Some(ordinal) && state.one(&record.file, Record::index_of_maker(ordinal))?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether something of it may be why a branch stays behind, or may add to that.
    pub(crate) fn concerns_stuck(&self, state: &State) -> Result<bool, Stopped> {
        let goes = self.gone.values().any(|record| is_stuck(state, &record.branch, |_| true));
        let comes = self.coming().any(|one| is_stuck(state, one.environment_branch(), |stuck| stuck.lacking.is_none()));
        if goes || comes {
            return Ok(true);
        }
        for (identity, (application, _)) in &self.work {
            let branch = application.environment_branch();
            if !is_stuck(state, branch, |_| true) || self.coming.contains(identity) {
                continue;
            }
            let record = state.one(&identity.0, identity.1)?.ok_or(Stopped::NotPlain)?;
            if record.failure.is_some() || is_stuck(state, branch, |stuck| stuck.basis == Basis::All) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Whether a branch stays behind already, in a way that `counts`.
fn is_stuck(state: &State, branch: &BranchName, counts: impl Fn(&Stuck) -> bool) -> bool {
    state.head.stuck.iter().any(|stuck| stuck.name == branch.as_str() && counts(stuck))
}

/// The number of the Application of a record among the makers of its file.
fn ordinal_of(record: &Record) -> Option<usize> {
    let above = match &record.about {
        About::Written => Vec::new(),
        About::Made(text) => makers_of(text)?,
        About::Maker(_) => return None,
    };
    let namespace = record.namespace.as_ref().map(ToString::to_string);
    let by = By::Application { namespace, name: record.name.to_string() };
    Some(Parent::ordinal_of(&by, &above))
}
