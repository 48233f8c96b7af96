//! The moves that the platform is still to be notified of, in order.
//!
//! The file `hydrate/telling` of the git directory has them as JSON, each in the name of who pushed its dry commit. The process of
//! that push tells it ([`Part::hook`]); one that ends before leaves it to others, in the same name. Those of one branch start in
//! their order, and may overlap. Where the file is lost, [`super::known`] shows what is missing, without names.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::caller::Caller;
use super::known::{self, Known};
use crate::hydrate::DryPoint;
use crate::repo::{ObjectId, Repository, object_id};

/// How often a move is tried: then it holds up those behind it no longer.
const TRIES_MAX: u32 = 3;

/// A move of a branch, of which the platform is notified by one line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
    /// A number that no other has.
    pub number: u64,
    /// The full name of the branch.
    #[serde(rename = "ref")]
    pub name: String,
    /// The commit before; none for a new branch.
    pub old: Option<String>,
    /// The commit after.
    pub new: String,
    /// The dry commit that it comes of, where one is known.
    pub dry: Option<DryPoint>,
    /// Who pushed that; none while it is not known.
    pub caller: Option<Caller>,
    /// The process that notifies of it, or is to; none where there is none yet.
    pub hook: Option<String>,
    /// Until when the hook of an unknown pusher is waited for, in seconds since 1970.
    pub until: i64,
    /// How often it failed.
    pub tries: u32,
    /// How far it is.
    pub state: State,
}

/// How far the notification of a move is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    /// To be started.
    #[default]
    Waiting,
    /// Its process has started.
    Started,
    /// The platform knows, but not yet of one before it.
    Told,
}

impl Part {
    /// `<old> <new> <ref>`, as git gives it to a hook.
    pub(super) fn text(&self) -> String {
        let zeros = || "0".repeat(self.new.len());
        format!("{} {} {}\n", self.old.clone().unwrap_or_else(zeros), self.new, self.name)
    }

    fn is_waiting(&self) -> bool {
        self.state == State::Waiting
    }

    /// Gives it back to whom it may concern.
    fn leave(&mut self) {
        (self.state, self.hook) = (State::Waiting, None);
    }
}

/// What can be done now with the moves that have no process.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Notify of these, in this name.
    Tell(Vec<Part>, Caller),
    /// Wait: others start something before it, or their pusher's hook is on its way.
    Wait,
    /// Nothing.
    Nothing,
}

/// The moves, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Queue {
    parts: Vec<Part>,
}

/// The file.
pub(super) const FILE: &str = "telling";

impl Queue {
    /// As it was written last; empty where it cannot be read.
    pub(super) fn read(repository: &Repository) -> std::io::Result<Self> {
        Ok(serde_json::from_slice(&known::read(repository, FILE)?).unwrap_or_default())
    }

    /// Writes it, in one step.
    pub(super) fn write(&self, repository: &Repository) -> std::io::Result<()> {
        let path = repository.common_dir().join("hydrate").join(FILE);
        if self.parts.is_empty() {
            return known::remove(&path).map(drop);
        }
        let text = serde_json::to_vec(self).map_err(std::io::Error::other)?;
        known::write(repository, FILE, &text)
    }

    /// Adds a move behind the others.
    pub(super) fn push(&mut self, part: Part) {
        let number = self.parts.iter().map(|part| part.number + 1).max().unwrap_or_default();
        self.parts.push(Part { number, ..part });
    }

    /// Where the platform knows a branch to be once the queue is empty; none where the queue has nothing of it.
    pub(super) fn position(&self, name: &str) -> Option<ObjectId> {
        let last = self.parts.iter().rev().find(|part| part.name == name)?;
        object_id(&last.new)
    }

    /// Takes away the moves that the platform need not be notified of any more.
    pub(super) fn retain(&mut self, keep: impl Fn(&Part) -> bool) {
        self.parts.retain(keep);
    }

    /// Gives moves without a process to the process `hook`, which runs for `caller`, where `is_its` says so of a move.
    pub(super) fn claim(&mut self, hook: &str, caller: Option<&Caller>, is_its: impl Fn(&Part) -> bool) {
        let is_open = |part: &&mut Part| part.is_waiting() && part.hook.is_none();
        for part in self.parts.iter_mut().filter(is_open) {
            let is_named_so = part.caller.is_none() || part.caller.as_ref() == caller;
            if is_named_so && is_its(part) {
                (part.hook, part.caller) = (Some(hook.to_owned()), caller.cloned());
            }
        }
    }

    /// Leaves to others what processes have that ended.
    pub(super) fn leave_of_dead(&mut self, is_alive: impl Fn(&str) -> bool) {
        for part in &mut self.parts {
            if part.state != State::Told && part.hook.as_deref().is_some_and(|hook| !is_alive(hook)) {
                part.leave();
            }
        }
    }

    /// Leaves to others what a process has not started. Answers whether there is any.
    pub(super) fn leave_of(&mut self, hook: &str) -> bool {
        let mine = self.parts.iter_mut().filter(|part| part.is_waiting() && part.hook.as_deref() == Some(hook));
        mine.map(Part::leave).count() > 0
    }

    /// Whether there are moves without a process.
    pub(super) fn has_left(&self) -> bool {
        self.parts.iter().any(|part| part.is_waiting() && part.hook.is_none())
    }

    /// The branches that the platform does not know as they are and that no process notifies of, by full name.
    pub(super) fn left(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter(|part| part.is_waiting() && part.hook.is_none()).map(|part| part.name.as_str())
    }

    /// Whether the moves of its branch before this one have started.
    fn may_start(&self, place: usize) -> bool {
        let (before, rest) = self.parts.split_at(place);
        let Some(part) = rest.first() else { return false };
        part.is_waiting() && !before.iter().any(|other| other.is_waiting() && other.name == part.name)
    }

    /// Starts those of a process that may start, at most so many and one of each branch.
    pub(super) fn start(&mut self, hook: &str, lines_max: usize) -> Vec<Part> {
        self.start_all(hook, lines_max, |part| part.hook.as_deref() == Some(hook))
    }

    fn start_all(&mut self, hook: &str, lines_max: usize, wanted: impl Fn(&Part) -> bool) -> Vec<Part> {
        let (mut seen, mut started) = (BTreeSet::new(), Vec::new());
        for part in self.parts.iter_mut().filter(|part| part.is_waiting()) {
            let is_first = seen.insert(part.name.clone());
            if is_first && wanted(part) && started.len() < lines_max {
                (part.state, part.hook) = (State::Started, Some(hook.to_owned()));
                started.push(part.clone());
            }
        }
        started
    }

    /// Starts, as the process `hook`, moves without a process that are in one name: that of their pusher, or `fallback` for
    /// those whose pusher is not known and not waited for at the time `now`.
    pub(super) fn start_left(
        &mut self,
        hook: &str,
        lines_max: usize,
        (fallback, now): (Option<&Caller>, i64),
        failed: &[u64],
    ) -> Left {
        let named = |part: &Part| match &part.caller {
            Some(caller) => Some(caller.clone()),
            None => fallback.filter(|_| part.until <= now).cloned(),
        };
        let is_open = |part: &Part| part.is_waiting() && part.hook.is_none() && !failed.contains(&part.number);
        // Not what failed, or what has a pusher who will stay unknown.
        let will_start = |part: &&Part| {
            let is_named = part.hook.is_some() || named(part).is_some() || part.until > now;
            is_named && !failed.contains(&part.number)
        };
        let mut waits = false;
        for (place, part) in self.parts.iter().enumerate().filter(|(_, part)| is_open(part)) {
            if let Some(caller) = named(part).filter(|_| self.may_start(place)) {
                let one = |part: &Part| is_open(part) && named(part).as_ref() == Some(&caller);
                return Left::Tell(self.start_all(hook, lines_max, one), caller);
            }
            let up_to = self.parts.iter().take(place + 1);
            let mut up_to = up_to.filter(|other| other.is_waiting() && other.name == part.name);
            waits |= up_to.all(|other| will_start(&other));
        }
        if waits { Left::Wait } else { Left::Nothing }
    }

    /// Notes how the notification of these ended.
    pub(super) fn finish(&mut self, started: &[Part], is_told: bool) {
        for one in started {
            let mut all = self.parts.iter_mut().enumerate();
            let Some((place, part)) = all.find(|(_, part)| part.number == one.number) else { continue };
            if is_told {
                part.state = State::Told;
                continue;
            }
            part.leave();
            part.tries += 1;
            let (name, is_given_up) = (part.name.clone(), part.tries >= TRIES_MAX);
            // The platform is notified again of what came after it, so that it ends with the newest.
            for later in self.parts.iter_mut().skip(place + 1) {
                if later.name == name && later.state == State::Told {
                    later.leave();
                }
            }
            if is_given_up {
                self.parts.remove(place);
            }
        }
    }

    /// Takes away the moves that the platform knows, and notes what it knows by them.
    pub(super) fn settle(&mut self, known: &mut Known) {
        let mut open: Vec<String> = Vec::new();
        self.parts.retain(|part| {
            let is_settled = part.state == State::Told && !open.contains(&part.name);
            match (is_settled, object_id(&part.new)) {
                (true, Some(id)) => known.set(&part.name, id),
                (true, None) => {}
                (false, _) => open.push(part.name.clone()),
            }
            !is_settled
        });
    }
}

#[cfg(test)]
mod tests;
