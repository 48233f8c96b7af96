//! What a run moved, as pushes.

use serde::Serialize;

use super::Error;
use super::copy::Copy;
use crate::repo::{self, ObjectId};

/// A ref of the remote that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefMove {
    /// Its full name.
    #[serde(rename = "ref")]
    pub name: String,
    /// The commit at the remote; none for a new ref.
    #[serde(serialize_with = "id", skip_serializing_if = "Option::is_none")]
    pub old: Option<ObjectId>,
    /// The commit after the move.
    #[serde(serialize_with = "id_of")]
    pub new: ObjectId,
}

fn id<S: serde::Serializer>(id: &Option<ObjectId>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&id.map(|id| id.to_string()).unwrap_or_default())
}

fn id_of<S: serde::Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl RefMove {
    /// Whether it is a branch.
    pub(crate) fn is_branch(&self) -> bool {
        self.name.starts_with("refs/heads/")
    }
}

/// What differs between a copy and its remote, by name.
///
/// Errors: a branch would lose commits.
pub(super) fn between(copy: &Copy) -> Result<Vec<RefMove>, Error> {
    let now = copy.repository.refs()?;
    let moves: Vec<RefMove> = now
        .iter()
        .filter(|(name, id)| *name != "refs/HEAD" && copy.there.get(name) != Some(*id))
        .map(|(name, new)| RefMove { name: name.to_owned(), old: copy.there.get(name), new })
        .collect();
    let rewinds = |it: &&RefMove| it.is_branch() && it.old.is_some_and(|old| !copy.repository.is_ancestor(old, it.new));
    match moves.iter().find(rewinds) {
        Some(it) => Err(repo::Error::message(format!("{} would lose commits, so nothing was pushed", it.name)).into()),
        None => Ok(moves),
    }
}

/// The moves that the remote can make, and for one that it cannot the ref that is in its way.
pub(super) fn possible(moves: Vec<RefMove>, copy: &Copy) -> (Vec<RefMove>, Option<(RefMove, String)>) {
    let is_below = |name: &str, dir: &str| name.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'));
    let in_its_way = |it: &RefMove| {
        copy.in_the_way.iter().find(|other| is_below(&it.name, other) || is_below(other, &it.name)).cloned()
    };
    let (blocked, possible): (Vec<_>, Vec<_>) = moves.into_iter().partition(|it| in_its_way(it).is_some());
    let blocked = blocked.into_iter().find_map(|it| in_its_way(&it).map(|other| (it, other)));
    (possible, blocked)
}
