//! Which parents of a commit lead to what hydration recorded. A merge may have any commit as its first parent, so the
//! first-parent line alone proves nothing.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::metadata::Trailers;
use crate::owners::branch_records::Engines;
use crate::owners::standing::nearest;
use crate::repo::{Commit, Error, ObjectBuffer, ObjectId};

/// What is known of the commits of a repository.
#[derive(Default)]
pub(super) struct Ancestry {
    leads: RefCell<HashMap<ObjectId, bool>>,
}

impl Ancestry {
    /// Whether a commit is recorded, or has one among its ancestors. Each commit is read once.
    pub(super) fn leads_to_ours(&self, id: ObjectId, engines: &Engines, buffer: &ObjectBuffer<'_>) -> bool {
        let mut leads = self.leads.borrow_mut();
        let mut open = vec![(id, false)];
        while let Some((here, is_done)) = open.pop() {
            if leads.get(&here).is_some_and(|known| !is_done || *known) {
                continue;
            }
            if engines.is_recorded(here) {
                leads.insert(here, true);
                continue;
            }
            let parents = buffer.commit(here).map(|commit| commit.parents).unwrap_or_default();
            if is_done {
                let is_ours = parents.iter().any(|parent| leads.get(parent) == Some(&true));
                leads.insert(here, is_ours);
            } else {
                leads.insert(here, false);
                open.push((here, true));
                open.extend(parents.into_iter().map(|parent| (parent, false)));
            }
        }
        leads.get(&id) == Some(&true)
    }

    /// The parents of a commit that are here and lead to what hydration made, as it recorded or, where it recorded none of
    /// them, as their commits say.
    pub(super) fn our_parents(
        &self,
        commit: &Commit,
        engines: &Engines,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Vec<ObjectId>, Error> {
        let repository = buffer.repository();
        let here: Vec<ObjectId> = commit.parents.iter().copied().filter(|parent| repository.has(*parent)).collect();
        if here.len() < 2 {
            return Ok(here);
        }
        let mut ours: Vec<ObjectId> =
            here.iter().copied().filter(|parent| self.leads_to_ours(*parent, engines, buffer)).collect();
        if ours.is_empty() {
            for parent in here {
                if nearest(&buffer.commit(parent)?, buffer, |_| true)?.is_some() {
                    ours.push(parent);
                }
            }
        }
        Ok(ours)
    }

    /// The parent that a commit continues: the first that leads to what hydration made, else the first of all.
    pub(super) fn parent(
        &self,
        commit: &Commit,
        engines: &Engines,
        buffer: &ObjectBuffer<'_>,
    ) -> Result<Option<ObjectId>, Error> {
        let ours = self.our_parents(commit, engines, buffer)?.into_iter().next();
        let first = commit.parents.first().copied().filter(|first| buffer.repository().has(*first));
        Ok(ours.or(first))
    }

    /// The nearest commit of hydration from `tip` on, itself included, that is wanted.
    pub(super) fn nearest(
        &self,
        tip: &Commit,
        engines: &Engines,
        buffer: &ObjectBuffer<'_>,
        wanted: impl Fn(&Commit, &Trailers) -> bool,
    ) -> Result<Option<(Commit, Trailers)>, Error> {
        let mut here = tip.clone();
        loop {
            if let Some(trailers) = Trailers::read(&here.message).filter(|trailers| wanted(&here, trailers)) {
                return Ok(Some((here, trailers)));
            }
            let Some(parent) = self.parent(&here, engines, buffer)? else { return Ok(None) };
            here = buffer.commit(parent)?;
        }
    }
}
