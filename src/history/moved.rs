//! When the commits of a branch came to it, and by whose push, as the reflogs of a server say.
//!
//! A hydrated commit has the date of its dry commit, so that it is the same wherever it is made. When it was deployed is in no
//! commit.

use std::collections::HashMap;

use serde::Serialize;

use crate::hydrate::pusher_of;
use crate::metadata::Time;
use crate::repo::{Error, ObjectId, Repository, object_id};

/// How many moves of a branch are read.
const MOVES_MAX: usize = 10_000;

/// When a branch moved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Moved {
    /// As RFC 3339.
    pub at: String,
    /// In seconds since 1970.
    #[serde(skip)]
    pub seconds: i64,
    /// Whose push the hydration was run for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The moves of one branch by the commit that it moved to.
#[derive(Debug, Default)]
pub(super) struct Moves {
    by_tip: HashMap<ObjectId, Moved>,
    /// What the branch moved to first, as far as that is known: what is below was there before.
    oldest: Option<ObjectId>,
    /// The move that brought the commit which was asked for last.
    last: Option<Moved>,
}

impl Moves {
    /// Those of a ref, by its full name; none where it has no reflog.
    pub(super) fn read(repository: &Repository, name: &str) -> Result<Self, Error> {
        let limit = format!("--max-count={MOVES_MAX}");
        // `%gd` is `NAME@{SECONDS ZONE}` by this date.
        let args = [
            "log",
            "--walk-reflogs",
            "--date=raw",
            "--format=%H%x00%gd%x00%gs",
            &limit,
            "--end-of-options",
            name,
            "--",
        ];
        let text = repository.git().output(&args)?;
        let mut moves = Self::default();
        for line in String::from_utf8_lossy(&text).lines() {
            let Some((tip, moved)) = entry(line) else { continue };
            moves.oldest = Some(tip);
            // The newest one came first: the branch may have been there before.
            moves.by_tip.entry(tip).or_insert(moved);
        }
        Ok(moves)
    }

    /// What brought a commit, while those of the branch are asked for from its tip down: its own move, or that of the commit
    /// above.
    pub(super) fn of(&mut self, commit: ObjectId) -> Option<Moved> {
        if let Some(moved) = self.by_tip.get(&commit) {
            self.last = Some(moved.clone());
        }
        let moved = self.last.clone();
        if self.oldest == Some(commit) {
            self.last = None;
        }
        moved
    }
}

/// `ID\0NAME@{SECONDS ZONE}\0WHAT`.
fn entry(line: &str) -> Option<(ObjectId, Moved)> {
    let mut fields = line.splitn(3, '\0');
    let (tip, selector, what) = (object_id(fields.next()?)?, fields.next()?, fields.next()?);
    let (_, date) = selector.strip_suffix('}')?.rsplit_once("@{")?;
    let (seconds, zone) = date.split_once(' ')?;
    let (seconds, zone): (i64, i16) = (seconds.parse().ok()?, zone.parse().ok()?);
    let at = Time::new(seconds, zone / 100 * 60 + zone % 100).rfc3339();
    Some((tip, Moved { at, seconds, by: pusher_of(what).map(str::to_owned) }))
}
