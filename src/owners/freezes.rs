//! Which branches were frozen when, as the history of the settings has it: nothing else records it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde::Deserialize;

use crate::argo::BranchName;
use crate::metadata::Time;
use crate::repo::{Commit, Error, Mode, ObjectBuffer, ObjectId};
use crate::settings::{FILE_BYTES_MAX, Frozen, HOLD_FILE, Holds, SETTINGS_FILE, SettingsFiles, reader};

/// How far back the settings are looked at.
const SETTINGS_MAX: usize = 1000;

/// What commits of the settings say, each read once.
#[derive(Debug, Default)]
pub(crate) struct Freezes(RefCell<HashMap<ObjectId, Option<Rc<Past>>>>);

/// What one commit of the settings says.
#[derive(Debug)]
struct Past {
    frozen: Frozen,
    holds: Holds,
    date: Time,
    parent: Option<ObjectId>,
}

impl Freezes {
    /// Whether settings after `before`, up to `tip`, freeze a branch, be it over or not.
    pub(crate) fn since(
        &self,
        tip: ObjectId,
        before: Option<ObjectId>,
        branch: &BranchName,
        buffer: &ObjectBuffer<'_>,
    ) -> bool {
        let after = self.line(tip, buffer).take_while(|(id, _)| Some(*id) != before);
        after.into_iter().any(|(_, past)| past.frozen.names(branch))
    }

    /// The date of the first of the settings up to `tip` that freeze a branch one after the other.
    pub(crate) fn start(&self, tip: ObjectId, branch: &BranchName, buffer: &ObjectBuffer<'_>) -> Option<Time> {
        let frozen = self.line(tip, buffer).take_while(|(_, past)| past.frozen.names(branch));
        frozen.last().map(|(_, past)| past.date)
    }

    /// The date of the first of the settings up to `tip` that hold something of a branch as the newest do, one after the other.
    pub(crate) fn start_of_hold(&self, tip: ObjectId, branch: &BranchName, buffer: &ObjectBuffer<'_>) -> Option<Time> {
        let now = self.past(tip, buffer)?.holds.of_branch(branch).to_vec();
        let held = self.line(tip, buffer).take_while(|(_, past)| past.holds.of_branch(branch) == now);
        let held = held.filter(|_| !now.is_empty());
        held.last().map(|(_, past)| past.date)
    }

    /// The settings from `tip` on, the newest first, as far as they can be read.
    fn line<'f>(
        &'f self,
        tip: ObjectId,
        buffer: &'f ObjectBuffer<'_>,
    ) -> impl Iterator<Item = (ObjectId, Rc<Past>)> + 'f {
        let with_id = move |id: ObjectId| Some((id, self.past(id, buffer)?));
        let next = move |(_, past): &(ObjectId, Rc<Past>)| past.parent.and_then(with_id);
        std::iter::successors(with_id(tip), next).take(SETTINGS_MAX)
    }

    fn past(&self, id: ObjectId, buffer: &ObjectBuffer<'_>) -> Option<Rc<Past>> {
        if let Some(known) = self.0.borrow().get(&id) {
            return known.clone();
        }
        let past = Past::read(id, buffer).ok().map(Rc::new);
        self.0.borrow_mut().insert(id, past.clone());
        past
    }
}

impl Past {
    /// Settings that cannot be read now freeze nothing.
    fn read(id: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<Self, Error> {
        let Commit { tree, parents, committer, .. } = buffer.commit(id)?;
        let text = match buffer.entry(tree, SETTINGS_FILE)? {
            Some((Mode::File | Mode::Executable, blob)) if buffer.size(blob)? <= FILE_BYTES_MAX => buffer.blob(blob)?,
            _ => Vec::new(),
        };
        let read =
            std::str::from_utf8(&text).ok().and_then(|text| reader::read(text).ok()?.decode::<Option<Key>>().ok()?);
        let parent = parents.first().copied().filter(|parent| buffer.repository().has(*parent));
        let held = match buffer.entry(tree, HOLD_FILE)? {
            Some((Mode::File | Mode::Executable, blob)) if buffer.size(blob)? <= FILE_BYTES_MAX => buffer.blob(blob)?,
            _ => Vec::new(),
        };
        let holds = Holds::read(&SettingsFiles::from([(HOLD_FILE.to_owned(), held)])).unwrap_or_default();
        Ok(Self { frozen: read.unwrap_or_default().frozen, holds, date: Time::of(&committer), parent })
    }
}

/// The one key of the settings that counts here, whatever other versions knew beside it.
#[derive(Debug, Default, Deserialize)]
struct Key {
    #[serde(default)]
    frozen: Frozen,
}
