//! How a commit differs from what hydration makes.

use super::fault::Fault;
use super::{Hydrated, Verifier};
use crate::metadata::ENGINE_REVISION;
use crate::repo::{Commit, Error, ObjectId};

impl<'a> Verifier<'a> {
    /// Whether another revision of the engine made a commit: its record says so, or, where it is older than the records,
    /// its note shows that hydration made it. What it says of itself proves nothing.
    pub(super) fn is_of_other_revision(&mut self, this: &Hydrated) -> bool {
        let Hydrated { commit, trailers } = this;
        if trailers.engine == ENGINE_REVISION {
            return false;
        }
        match self.engines.of(commit.id) {
            Some(engine) => engine == trailers.engine,
            None => self.engines.is_older(commit.id, self.repository()) && self.is_noted(commit.id),
        }
    }

    fn is_noted(&mut self, commit: ObjectId) -> bool {
        let buffer = &self.run.found.buffer;
        self.notes.as_mut().is_some_and(|notes| notes.get(commit, buffer).is_ok_and(|note| note.is_some()))
    }

    /// How a commit differs from what hydration makes, without what it inherits from its parent.
    pub(super) fn faults(
        &mut self,
        this: &Hydrated,
        made: &Commit,
        parent: Option<&Commit>,
    ) -> Result<Vec<Fault>, Error> {
        let Hydrated { commit, trailers } = this;
        if commit.id == made.id {
            return Ok(Vec::new());
        }
        // What another revision made is not at fault, so the commits above it rest on it as it is.
        if self.is_of_other_revision(this) {
            return Ok(vec![Fault::OtherRevision { revision: trailers.engine }]);
        }
        let inherited = parent.and_then(|parent| Some((parent.tree, self.repaired.get(&parent.id)?.tree)));
        self.repaired.insert(commit.id, made.clone());
        let buffer = &self.run.found.buffer;
        let mut faults = Vec::new();
        for change in buffer.diff_trees(made.tree, commit.tree)? {
            if let Some((tree, repaired)) = inherited {
                let below = buffer.entry(tree, &change.path)?;
                if below == change.new && below != buffer.entry(repaired, &change.path)? {
                    continue;
                }
            }
            let path = change.path;
            match (change.old, change.new) {
                (None, _) => faults.push(Fault::Extra { path }),
                (_, None) => faults.push(Fault::Missing { path }),
                (Some((_, old)), Some((_, new))) if old != new => faults.push(Fault::Content { path }),
                _ => faults.push(Fault::Mode { path }),
            }
        }
        let who =
            |commit: &Commit| [&commit.author, &commit.committer].map(|who| (who.name.clone(), who.email.clone()));
        let when = |commit: &Commit| [&commit.author, &commit.committer].map(|who| (who.seconds, who.offset));
        let same_tree = commit.tree == made.tree;
        for (differs, fault) in [
            (commit.parents != made.parents, Fault::Parents),
            (commit.message != made.message, Fault::Message),
            (who(commit) != who(made), Fault::Identity),
            (when(commit) != when(made), Fault::Date),
        ] {
            if differs {
                faults.push(fault);
            }
        }
        if faults.is_empty() && same_tree {
            faults.push(Fault::Headers);
        }
        Ok(faults)
    }
}
