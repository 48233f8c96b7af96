//! A commit whose files were copied: what an admin asked for is what it says, and that is made once more.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::{Hydrated, Verifier};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::rollback::RolledBack;
use crate::hydrate::stopped::Stopped;
use crate::metadata::{Rollback, Trailers, reason_of};
use crate::owners::heads::DryHead;
use crate::owners::seed_identities::identities_at;
use crate::repo::{Commit, ObjectId};
use crate::settings::{Hold, Holds};

impl Verifier<'_> {
    /// What is wrong with a rollback.
    pub(super) fn rollback(
        &mut self,
        this: &Hydrated,
        Rollback { to, held_by }: Rollback,
        parent: &Commit,
    ) -> Result<Vec<Fault>, Stopped> {
        let Hydrated { commit, trailers } = this;
        for (what, id) in [("the commit that it goes back to", to), ("the dry commit that it is held against", held_by)]
        {
            if !self.repository().has(id) {
                return Ok(vec![Fault::Gone { what, id: id.to_string() }]);
            }
        }
        if !self.is_ours(to, trailers)? || !self.repository().is_ancestor(to, parent.id) {
            return Ok(vec![Fault::RollbackTo { id: to.to_string() }]);
        }
        if !self.is_known(commit.id) {
            return Ok(vec![Fault::Unrecorded]);
        }
        let base = match self.repaired.get(&parent.id) {
            Some(repaired) => Commit { tree: repaired.tree, committer: repaired.committer.clone(), ..parent.clone() },
            None => parent.clone(),
        };
        let name = &trailers.branch;
        let head = DryHead { branch: trailers.dry_branch.clone(), tip: trailers.definition() };
        let is_its = |_: &Commit, other: &Trailers| other.branch == *name;
        let before = self.ancestry.nearest(parent, &self.engines, &self.run.found.buffer, is_its)?;
        // It showed what a rollback of all of it had copied, as long as it is held against the same.
        let copied =
            before.as_ref().filter(|(_, before)| before.whole_rollback().is_some_and(|it| it.held_by == held_by));
        let copied = copied.map(|(_, before)| before.definition()).filter(|_| trailers.held.is_empty());
        let source = before.as_ref().and_then(|(_, before)| before.source());
        let settings = before.and_then(|(_, before)| before.settings_commit);
        let settings = settings.filter(|id| self.repository().has(*id));
        let dry = if trailers.held.is_empty() { held_by } else { trailers.definition() };
        let dry = copied.unwrap_or(dry);
        let identities = identities_at(parent, name, &self.run.found.buffer)?;
        let branch = Branch::resume(name, &head, base, Some(dry), settings).drawing_for(identities);
        let branch = branch.showing(if trailers.held.is_empty() { source } else { trailers.source() });
        self.run.branches = BTreeMap::from([(name.clone(), branch)]);
        let hold = Hold {
            at: to,
            reason: reason_of(&commit.message).to_owned(),
            applications: trailers.copied().to_vec(),
            with: trailers.brought_back().to_vec(),
            until: None,
            allow_removal: true,
        };
        self.use_holds(trailers);
        let made = self.run.rolled_back(name, &hold, (&head, std::slice::from_ref(&head)))?;
        self.run.branches.clear();
        match made {
            Ok(RolledBack { copied: Some(copied), .. }) => {
                let made = self.of_revision(copied.commit, trailers)?;
                Ok(self.faults(this, &made, Some(parent))?)
            }
            Ok(_) => Ok(vec![Fault::Needless]),
            Err(mistake) => Ok(vec![Fault::Unhydratable { message: mistake.message }]),
        }
    }

    /// Whether a commit was hydrated onto the branch of `trailers`.
    fn is_ours(&self, id: ObjectId, trailers: &Trailers) -> Result<bool, Stopped> {
        let made = Trailers::read(&self.repository().commit(id)?.message);
        Ok(made.is_some_and(|made| made.branch == trailers.branch) && self.is_known(id))
    }

    fn is_known(&self, id: ObjectId) -> bool {
        self.engines.is_recorded(id) || self.engines.is_older(id, self.repository())
    }

    /// Holds what a commit says that it was made with.
    pub(super) fn use_holds(&mut self, trailers: &Trailers) {
        let mut holds = Holds::default();
        holds.set(trailers.branch.clone(), held(trailers).into_iter().collect());
        self.run.found.holds = holds;
    }
}

/// What was held alone of a branch when a commit was made.
fn held(trailers: &Trailers) -> Option<Hold> {
    let Trailers { held, dry_commit, .. } = trailers;
    (!held.is_empty()).then(|| Hold {
        at: *dry_commit,
        reason: String::new(),
        applications: held.clone(),
        with: Vec::new(),
        until: None,
        allow_removal: false,
    })
}
