//! Which commit of a branch somebody means who wants it back.

use super::log::{Count, Entry, History, RolledBack, Selection};
use super::moved::Moves;
use super::verify::Line;
use crate::argo::BranchName;
use crate::metadata::{Time, Trailers, went_back};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::standing::line;
use crate::repo::{Commit, Error, ObjectBuffer, ObjectId, Repository, object_id};

/// What somebody says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Back {
    /// So many commits of hydration before the one that the branch shows.
    Steps(usize),
    /// A hydrated commit, or a dry one: what the branch showed of it.
    Commit(ObjectId),
    /// What the branch showed then, in seconds since 1970: by when a server moved it, as far as its reflog says so; else by the
    /// dates of dry commits.
    Until(i64),
}

/// The commit to go back to of a branch at `place` whose newest commit is `tip`; none where it has no such commit.
///
/// Errors: the repository.
pub(crate) fn back(
    repository: &Repository,
    place: &Place,
    (branch, tip): (&BranchName, ObjectId),
    wanted: Back,
) -> Result<Option<ObjectId>, Error> {
    let buffer = ObjectBuffer::new(repository);
    let tip = buffer.commit(tip)?;
    let mut own = hydrated(&tip, branch, &buffer)?.into_iter();
    Ok(match wanted {
        Back::Steps(steps) => {
            let Some((newest, trailers)) = own.next() else { return Ok(None) };
            // One that went back shows what it went back to.
            let shown = trailers.whole_rollback().map_or(newest.id, |rollback| rollback.to);
            let from = [newest].into_iter().chain(own.map(|(commit, _)| commit)).skip_while(|one| one.id != shown);
            from.map(|commit| commit.id).nth(steps)
        }
        Back::Commit(id) => {
            let mut own: Vec<(Commit, Trailers)> = own.collect();
            if own.iter().any(|(commit, _)| commit.id == id) {
                return Ok(Some(id));
            }
            // A commit of rollbacks shows an older dry commit than those below it.
            own.retain(|(_, trailers)| trailers.rollback.is_none());
            let shows = |(_, trailers): &&(Commit, Trailers)| repository.is_ancestor(trailers.dry_commit, id);
            let is_dry = own.iter().any(|(_, trailers)| {
                repository.has(trailers.dry_commit) && repository.are_related(trailers.dry_commit, id)
            });
            // Tags move back and forth between dry commits of which one is before the other.
            let is_itself = |(_, trailers): &&(Commit, Trailers)| trailers.dry_commit == id;
            let found = own.iter().find(is_itself).or_else(|| own.iter().filter(|_| is_dry).find(shows));
            found.map(|(commit, _)| commit.id)
        }
        Back::Until(seconds) => {
            let mut moves = match place.is_of_clone() {
                true => Moves::default(),
                false => Moves::read(repository, &place.read_name(branch))?,
            };
            let mut own = own.map(|(commit, _)| commit.id).peekable();
            for commit in line(&tip, &buffer) {
                let commit = commit?;
                let moved = moves.of(commit.id).map(|moved| moved.seconds);
                let is_own = own.next_if_eq(&commit.id).is_some();
                if is_own && moved.unwrap_or_else(|| Time::of(&commit.committer).seconds()) <= seconds {
                    return Ok(Some(commit.id));
                }
            }
            None
        }
    })
}

/// The commit before the last one that changed an object of a branch whose newest commit is `tip`, or one of these Applications of
/// it, `NAME` or `NAMESPACE/NAME`. None where nothing was there before. What went back counts as what it went to, be it by a commit of
/// the dry branch.
///
/// Errors: the repository.
pub(crate) fn before_change(
    repository: &Repository,
    place: &Place,
    (branch, tip): (&BranchName, ObjectId),
    applications: &[String],
) -> Result<Option<ObjectId>, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let own: Vec<ObjectId> = {
        let own = hydrated(&buffer.commit(tip)?, branch, &buffer)?;
        own.into_iter().map(|(commit, _)| commit.id).collect()
    };
    let names: Vec<String> = applications.iter().map(|name| last_part(name).to_owned()).collect();
    let mut from = own.first().copied();
    while let Some(tip) = from {
        let selection = Selection { applications: names.clone(), ..Selection::default() };
        let line = Line { name: branch.to_string(), tip, after: None };
        let history = History::open(repository, place, vec![line], selection)?.counting(Count::Any);
        let is_meant = |to: &RolledBack| {
            let mut copied = to.applications.iter().map(|name| last_part(name));
            to.applications.is_empty() || copied.any(|copied| names.iter().any(|name| name == copied))
        };
        let counts = |entry: &Entry| entry.is_change() || entry.rollback.as_ref().is_some_and(is_meant);
        let mut changes =
            history.filter(|entry| entry.as_ref().map_or(true, |entry| entry.id.is_some() && counts(entry)));
        let Some(last) = changes.next().transpose()? else { return Ok(None) };
        let id = last.id.as_deref().and_then(object_id);
        let mut below = own.iter().copied().skip_while(|own| Some(*own) != id).skip(1);
        let by_dry_commit = || {
            let dry = buffer.commit(object_id(&last.dry.as_ref()?.sha)?).ok()?;
            let (to, applications) = went_back(&dry.message).filter(|(to, _)| own.contains(to))?;
            Some(RolledBack { to: to.to_string(), held_by: String::new(), reason: String::new(), applications })
        };
        from = match last.rollback.clone().or_else(by_dry_commit) {
            Some(to) if is_meant(&to) => object_id(&to.to).filter(|to| below.any(|own| own == *to)),
            // What single Applications went back from is not a place of the branch.
            Some(_) if names.is_empty() => below.next(),
            _ => return Ok(below.next()),
        };
    }
    Ok(None)
}

fn last_part(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, name)| name)
}

/// The commits that hydration made on a branch, the newest first, without the one that started it.
fn hydrated(tip: &Commit, branch: &BranchName, buffer: &ObjectBuffer<'_>) -> Result<Vec<(Commit, Trailers)>, Error> {
    let mut found = Vec::new();
    for commit in line(tip, buffer) {
        let commit = commit?;
        if let Some(trailers) = Trailers::read(&commit.message).filter(|trailers| trailers.branch == *branch)
            && commit.tree != buffer.empty_tree_id()
        {
            found.push((commit, trailers));
        }
    }
    Ok(found)
}
