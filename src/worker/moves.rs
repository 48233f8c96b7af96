//! What a run moved, as pushes.

use serde::Serialize;

use super::Error;
use super::copy::Copy;
use crate::git::{self, ObjectId, Repository};

/// A ref of the remote that moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefMove {
    /// Its full name.
    #[serde(rename = "ref")]
    pub name: String,
    /// What it is there; none when it is not there.
    #[serde(serialize_with = "id", skip_serializing_if = "Option::is_none")]
    pub old: Option<ObjectId>,
    /// What it shall be.
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
        Some(it) => Err(git::Error::message(format!("{} would lose commits, so nothing was pushed", it.name)).into()),
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

/// The pushes that bring these moves: branches first, `commits` of each at a time and `refs` of them, then all else. What is
/// in one push moves together, so after each of them the next run makes the same again.
pub(super) fn in_pushes(
    moves: &[RefMove],
    (refs, commits): (Option<usize>, Option<usize>),
    repository: &Repository,
) -> Result<Vec<Vec<RefMove>>, git::Error> {
    let (branches, kept): (Vec<&RefMove>, Vec<&RefMove>) = moves.iter().partition(|it| it.is_branch());
    let mut rounds: Vec<Vec<RefMove>> = Vec::new();
    for it in branches {
        for (round, part) in in_parts(it, commits, repository)?.into_iter().rev().enumerate() {
            // Counted from the last one, so that all branches end together.
            match rounds.get_mut(round) {
                Some(parts) => parts.push(part),
                None => rounds.push(vec![part]),
            }
        }
    }
    rounds.reverse();
    let refs = refs.unwrap_or(usize::MAX).max(1);
    let mut pushes: Vec<Vec<RefMove>> =
        rounds.iter().flat_map(|round| round.chunks(refs.min(round.len())).map(<[RefMove]>::to_vec)).collect();
    let is_split = rounds.last().is_some_and(|last| last.len() > refs);
    match pushes.last_mut().filter(|_| !is_split) {
        Some(last) => last.extend(kept.into_iter().cloned()),
        None if kept.is_empty() => {}
        None => pushes.push(kept.into_iter().cloned().collect()),
    }
    Ok(pushes)
}

/// The way of a branch from commit to commit, so many at a time.
fn in_parts(it: &RefMove, commits: Option<usize>, repository: &Repository) -> Result<Vec<RefMove>, git::Error> {
    let (Some(commits), Some(old)) = (commits, it.old) else { return Ok(vec![it.clone()]) };
    let Some(line) = repository.first_parents(old, it.new, usize::MAX)? else { return Ok(vec![it.clone()]) };
    let mut here = old;
    let parts = line.chunks(commits.max(1)).filter_map(<[ObjectId]>::last).map(|new| {
        let old = std::mem::replace(&mut here, *new);
        RefMove { name: it.name.clone(), old: Some(old), new: *new }
    });
    Ok(parts.collect())
}
