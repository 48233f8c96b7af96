//! From which commit on something of a branch is what it is now.

use dry_files::path::RepoPath;

use super::document::documents;
use super::object::Object;
use crate::diff::{self, Line as DiffLine};
use crate::history::log::{dry_of, is_of_others};
use crate::history::verify::Line;
use crate::owners::files::METADATA;
use crate::owners::standing::shown_by;
use crate::repo::{Commit, Error, Mode, ObjectBuffer, ObjectId};

/// What must be the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wanted {
    /// The whole file.
    File,
    /// One object of it.
    Object(Object),
    /// A field of an object with all below it, by its path, and the line that it begins in.
    Field(u32, String, Object),
    /// One line of it, and the object that it belongs to.
    Line(u32, Option<Object>),
}

/// The commit that changed it last.
#[derive(Debug, Clone)]
pub(super) struct LastChange {
    pub commit: Commit,
    /// The dry commit that it was made from.
    pub dry: Option<ObjectId>,
    /// The dry commit behind the commit below it.
    pub dry_before: Option<ObjectId>,
    /// Whether somebody else than hydration made it.
    pub is_of_others: bool,
}

/// Walks down a line of commits while a file, or what is wanted of it, stays the same.
///
/// A line of text is followed by what a diff says of it, within its object where that is known: as `git blame` does, but
/// an object that moves inside of the file takes its lines along.
pub(super) fn find(
    buffer: &ObjectBuffer<'_>,
    line: &Line,
    path: &RepoPath,
    wanted: &Wanted,
) -> Result<LastChange, Error> {
    let mut wanted = wanted.clone();
    let mut here = buffer.commit(line.tip)?;
    let mut blob = content(buffer, here.tree, path)?;
    loop {
        let parent = here.parents.first().filter(|parent| buffer.repository().has(**parent));
        let parent = parent.map(|parent| buffer.commit(*parent)).transpose()?;
        let before = parent.as_ref().map_or(Ok(None), |parent| content(buffer, parent.tree, path))?;
        let below = if before == blob { Some(wanted.clone()) } else { step(buffer, blob, before, &wanted)? };
        match (parent, below) {
            (Some(parent), Some(below)) => (here, blob, wanted) = (parent, before, below),
            (parent, _) => {
                let dry = dry_of(buffer, &here, parent.as_ref())?;
                let is_of_others = is_of_others(buffer, &here, parent.as_ref())?;
                let dry_before = parent.map_or(Ok(None), |parent| last_dry(buffer, &parent, path))?;
                return Ok(LastChange { commit: here, dry, dry_before, is_of_others });
            }
        }
    }
}

fn content(buffer: &ObjectBuffer<'_>, tree: ObjectId, path: &RepoPath) -> Result<Option<ObjectId>, Error> {
    Ok(match buffer.entry(tree, path.as_str())? {
        Some((Mode::File | Mode::Executable, blob)) => Some(blob),
        _ => None,
    })
}

/// The dry commit that a branch was hydrated from when it ended with this commit, as it shows at `path`.
fn last_dry(buffer: &ObjectBuffer<'_>, commit: &Commit, path: &RepoPath) -> Result<Option<ObjectId>, Error> {
    let metadata = format!("{}/{METADATA}", path.parent().unwrap_or_default());
    let trailers = shown_by(commit, &metadata, buffer)?;
    Ok(trailers.map(|trailers| trailers.dry_commit))
}

/// What is wanted of the version below; none when it is not there as it is here.
fn step(
    buffer: &ObjectBuffer<'_>,
    now: Option<ObjectId>,
    before: Option<ObjectId>,
    wanted: &Wanted,
) -> Result<Option<Wanted>, Error> {
    let (Some(now_id), Some(before_id)) = (now, before) else { return Ok(None) };
    let text = |blob| buffer.blob(blob).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let (now, before) = (text(now_id)?, text(before_id)?);
    let part = |text: &str, object: &Object| {
        let found = documents(text).into_iter().find(|document| document.object().as_ref() == Some(object));
        found.map(|document| (document.line, document.text.to_owned()))
    };
    let lines_of = |text: &str, (object, field): (&Object, &str)| {
        let found = documents(text).into_iter().find(|document| document.object().as_ref() == Some(object));
        found.and_then(|document| document.lines_of(field).map(str::to_owned))
    };
    Ok(match wanted {
        Wanted::File => None,
        Wanted::Field(number, field, object) => match lines_of(&now, (object, field.as_str())) {
            // It is all on its line.
            None => return step(buffer, Some(now_id), Some(before_id), &Wanted::Line(*number, Some(object.clone()))),
            Some(now) => {
                lines_of(&before, (object, field.as_str())).filter(|before| *before == now).map(|_| wanted.clone())
            }
        },
        Wanted::Object(object) => match (part(&now, object), part(&before, object)) {
            (Some((_, now)), Some((_, before))) if now == before => Some(wanted.clone()),
            _ => None,
        },
        Wanted::Line(number, Some(object)) => match (part(&now, object), part(&before, object)) {
            (Some((start, now)), Some((start_before, before))) => {
                let below = follow(&before, &now, number - start);
                below.map(|index| Wanted::Line(start_before + index, Some(object.clone())))
            }
            _ => None,
        },
        Wanted::Line(number, None) => follow(&before, &now, number - 1).map(|index| Wanted::Line(index + 1, None)),
    })
}

/// Where a line of the new text is in the old one, both counted from 0; none when it is new.
fn follow(old: &str, new: &str, index: u32) -> Option<u32> {
    let (mut old_at, mut new_at) = (0, 0);
    for line in diff::lines(old, new) {
        match line {
            DiffLine::Same(_) if new_at == index => return Some(old_at),
            DiffLine::Same(_) => (old_at, new_at) = (old_at + 1, new_at + 1),
            DiffLine::Added(_) if new_at == index => return None,
            DiffLine::Added(_) => new_at += 1,
            DiffLine::Removed(_) => old_at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_followed_down() {
        let (old, new) = ("a\nb\nc\nd\n", "x\na\nb\nC\nd\n");
        let found: Vec<Option<u32>> = (0..5).map(|index| follow(old, new, index)).collect();
        assert_eq!(found, [None, Some(0), Some(1), None, Some(3)]);
    }
}
