//! What a destination has.

use std::collections::BTreeMap;

use super::Outgoing;
use super::access::{Failure, short};
use super::wanted::Want;
use crate::metadata::NOTES_REF;
use crate::repo::{ObjectId, Repository, object_id, taken_for};
use crate::tell::worker::deliver::complaint;

/// The branches and the notes of a destination, by full name.
pub(super) struct There(BTreeMap<String, ObjectId>);

/// How a branch of a destination gets to where it was hydrated.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// It is there.
    None,
    /// It is behind, or missing.
    Forward(Option<ObjectId>),
    /// A promoter moved it: what is there counts.
    Theirs(ObjectId),
    /// Somebody else wrote it.
    Diverged(ObjectId),
}

impl There {
    pub(super) fn read(outgoing: &Outgoing) -> Result<Self, Failure> {
        let output = outgoing.access.run(&outgoing.repository, outgoing.until, |command| {
            command.args(["ls-remote", "--quiet", "--", &outgoing.access.url, "refs/heads/*", NOTES_REF]);
        })?;
        if !output.status.success() {
            return Err(Failure::Away(short(&complaint(&output))));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let of_line = |line: &str| {
            let (id, name) = line.split_once('\t')?;
            Some((name.to_owned(), object_id(id)?))
        };
        Ok(Self(text.lines().filter_map(of_line).collect()))
    }

    /// What a ref points at.
    pub(super) fn get(&self, name: &str) -> Option<ObjectId> {
        self.0.get(name).copied()
    }

    /// The refs that git takes for others of these when somebody pushes those.
    pub(super) fn taken_for_others(&self) -> Vec<String> {
        let is_taken = |there: &&String| taken_for(there).iter().any(|name| self.0.contains_key(*name));
        self.0.keys().filter(is_taken).cloned().collect()
    }

    /// A branch beside which git cannot have the one of this full name: one would be a directory of the other.
    pub(super) fn in_the_way(&self, name: &str) -> Option<&str> {
        let above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
        let mut above = above.filter_map(|dir| self.0.get_key_value(dir).map(|(dir, _)| dir.as_str()));
        let below = format!("{name}/");
        let first = || self.0.range(below.clone()..).next().map(|(other, _)| other.as_str());
        above.next().or_else(|| first().filter(|other| other.starts_with(&below)))
    }

    pub(super) fn way(&self, name: &str, want: &Want, repository: &Repository) -> Way {
        match self.get(name) {
            None => Way::Forward(None),
            Some(there) if there == want.tip => Way::None,
            Some(there) if want.is_promoted => Way::Theirs(there),
            Some(there) if repository.has(there) && repository.is_ancestor(there, want.tip) => {
                Way::Forward(Some(there))
            }
            Some(there) => Way::Diverged(there),
        }
    }
}
