//! From a hydrated object or line back to where it comes from: the Application, what its render read, and the dry commit
//! that last changed it.

mod document;
mod kind;
mod last_change;
mod object;
mod origin;

use dry_files::path::RepoPath;
use serde::Serialize;

use super::log::Dry;
use super::verify::Line;
use crate::diff;
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::render::Renderers;
use crate::repo::{Commit, Error, Mode, ObjectBuffer, ObjectId, Repository, TreeChange};
use document::{Document, documents};
use last_change::{LastChange, Wanted};
use origin::origin;

pub(crate) use crate::render::trial::SourceLine;
pub(crate) use kind::KindName;
pub(crate) use object::Object;
pub(crate) use origin::DryOrigin;

/// What is to be explained, on one line of commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    /// The branch, and its commits.
    pub line: Line,
    /// The file.
    pub path: RepoPath,
    /// A line of it, 1-based; none for the file as a whole.
    pub number: Option<u32>,
    /// How much is meant by the line.
    pub extent: Extent,
}

/// How much is meant by a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Extent {
    /// No more than it.
    Line,
    /// The field that begins in it, with all below: by its path, as [`line_of_field`] takes it.
    Field(String),
    /// The object that it belongs to.
    Object,
}

/// Where something hydrated comes from. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explanation {
    /// The branch, or what else the line of commits was called.
    pub branch: String,
    /// The file.
    pub path: String,
    /// The line, or the first one of the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The object; none for a file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<Object>,
    /// The field that the line belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What renders it; none when that cannot be determined.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<DryOrigin>,
    /// The commit from which on it is what it is now.
    pub changed: Changed,
}

/// A commit that changed something, and what is behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Changed {
    /// The commit of the branch.
    pub id: String,
    /// The first line of its message.
    pub subject: String,
    /// The dry commit that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry: Option<Dry>,
    /// Itself with its author, where somebody else than hydration made it: no dry file says what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by_others: Option<Dry>,
    /// The files that the dry commit changed, of those that the render read.
    pub files: Vec<String>,
    /// Where in these files, as far as that is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<ChangedLine>,
}

/// The line of a dry file that made a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ChangedLine {
    /// The file.
    pub path: String,
    /// 1-based, in the dry commit.
    pub line: u32,
}

/// An object of an environment branch, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The line of commits that it is at the tip of.
    pub line: Line,
    /// The file.
    pub path: RepoPath,
    /// Its first line.
    pub number: u32,
    /// What it is.
    pub object: Object,
}

/// Why nothing can be explained.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ExplainError {
    /// There is no such file.
    #[error("`{branch}` has no `{path}`")]
    NoFile {
        /// The branch.
        branch: String,
        /// The path.
        path: RepoPath,
        /// The manifests that it has.
        known: Vec<RepoPath>,
    },
    /// The file is shorter.
    #[error("`{path}` has {lines} lines")]
    NoLine {
        /// The file.
        path: RepoPath,
        /// How many lines it has.
        lines: usize,
    },
    /// The repository could not be read, or a machine of this kind cannot render.
    #[error(transparent)]
    Failed(#[from] HydrateError),
}

impl From<Error> for ExplainError {
    fn from(error: Error) -> Self {
        Self::Failed(error.into())
    }
}

/// All objects at the tips of some lines that `wanted` takes, in the order of lines, paths and files.
pub(crate) fn objects(
    repository: &Repository,
    lines: &[Line],
    wanted: &dyn Fn(&Object) -> bool,
) -> Result<Vec<Candidate>, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let mut found = Vec::new();
    for line in lines {
        let tree = buffer.commit(line.tip)?.tree;
        for (path, blob) in manifests(&buffer, tree)? {
            let text = buffer.blob(blob)?;
            for document in documents(&String::from_utf8_lossy(&text)) {
                let Some(object) = document.object().filter(|object| wanted(object)) else { continue };
                found.push(Candidate { line: line.clone(), path: path.clone(), number: document.line, object });
            }
        }
    }
    Ok(found)
}

/// The `manifest.yaml` files of a tree.
fn manifests(buffer: &ObjectBuffer<'_>, tree: ObjectId) -> Result<Vec<(RepoPath, ObjectId)>, Error> {
    let mut manifests = Vec::new();
    for change in buffer.diff_trees(buffer.empty_tree_id(), tree)? {
        let Some((Mode::File | Mode::Executable, blob)) = change.new else { continue };
        let Ok(path) = RepoPath::new(&change.path) else { continue };
        if path.file_name() == Some(MANIFEST) {
            manifests.push((path, blob));
        }
    }
    Ok(manifests)
}

/// Tells where a file, an object or a line of an environment branch comes from.
///
/// The path may be a directory with a `manifest.yaml`.
pub(crate) fn explain(
    repository: &Repository,
    renderers: &Renderers,
    subject: &Subject,
) -> Result<Explanation, ExplainError> {
    let buffer = ObjectBuffer::new(repository);
    let tip = buffer.commit(subject.line.tip)?;
    let (path, blob) = file(&buffer, tip.tree, subject)?;
    let text = String::from_utf8_lossy(&buffer.blob(blob)?).into_owned();
    let lines = text.lines().count();
    if subject.number.is_some_and(|number| number == 0 || number as usize > lines) {
        return Err(ExplainError::NoLine { path, lines });
    }
    let document = match subject.number {
        Some(number) if path.file_name() == Some(MANIFEST) => {
            documents(&text).into_iter().rfind(|document| document.line <= number)
        }
        _ => None,
    };
    let object = document.as_ref().and_then(Document::object);
    let field = match (&document, subject.number, &subject.extent) {
        (Some(document), Some(number), Extent::Line) => document.field(number),
        (Some(document), _, Extent::Field(field)) => document.find(field).ok().map(|found| found.path),
        _ => None,
    };
    let wanted = match (subject.number, &object, &field) {
        (None, _, _) => Wanted::File,
        (Some(_), Some(object), _) if subject.extent == Extent::Object => Wanted::Object(object.clone()),
        (Some(number), Some(object), Some(field)) if subject.extent != Extent::Line => {
            Wanted::Field(number, field.to_string(), object.clone())
        }
        (Some(number), object, _) => Wanted::Line(number, object.clone()),
    };
    let last = last_change::find(&buffer, &subject.line, &path, &wanted)?;
    let rendered = field.as_ref().filter(|_| !last.is_of_others);
    let origin = origin(&buffer, renderers, subject, &path, (object.as_ref(), rendered))?;
    let line = subject.number.and_then(|number| text.lines().nth(number as usize - 1));
    let value = line.filter(|_| subject.extent != Extent::Object).and_then(value_of);
    let changed = changed(&buffer, &last, origin.as_ref(), value)?;
    Ok(Explanation {
        branch: subject.line.name.clone(),
        path: path.to_string(),
        line: subject.number,
        object,
        field: field.map(|field| field.to_string()),
        origin,
        changed,
    })
}

/// The line of a field of an object, from the start of its file, by what [`Explanation::field`] calls it, also with the numbers
/// of items. Without it, the fields of the object.
pub(crate) fn line_of_field(
    repository: &Repository,
    candidate: &Candidate,
    field: &str,
) -> Result<Result<u32, Vec<String>>, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let tree = buffer.commit(candidate.line.tip)?.tree;
    let Some((_, blob)) = buffer.entry(tree, candidate.path.as_str())? else { return Ok(Err(Vec::new())) };
    let text = buffer.blob(blob)?;
    let text = String::from_utf8_lossy(&text);
    let document = documents(&text).into_iter().find(|document| document.line == candidate.number);
    Ok(document.map_or_else(|| Err(Vec::new()), |document| document.find(field).map(|found| found.line)))
}

/// The file that is meant, and its content.
fn file(buffer: &ObjectBuffer<'_>, tree: ObjectId, subject: &Subject) -> Result<(RepoPath, ObjectId), ExplainError> {
    let entry = |path: &RepoPath| buffer.entry(tree, path.as_str());
    let below = subject.path.child(MANIFEST).ok();
    for path in [Some(&subject.path), below.as_ref()].into_iter().flatten() {
        if let Some((Mode::File | Mode::Executable, blob)) = entry(path)? {
            return Ok((path.clone(), blob));
        }
    }
    let known = manifests(buffer, tree)?.into_iter().map(|(path, _)| path).collect();
    Err(ExplainError::NoFile { branch: subject.line.name.clone(), path: subject.path.clone(), known })
}

/// What is behind the commit that changed it. `value` is what the line that is explained says.
fn changed(
    buffer: &ObjectBuffer<'_>,
    last: &LastChange,
    origin: Option<&DryOrigin>,
    value: Option<&str>,
) -> Result<Changed, Error> {
    let repository = buffer.repository();
    let mut dry = last.dry.and_then(|dry| repository.commit(dry).ok());
    let (mut files, mut places) = (Vec::new(), Vec::new());
    if let (Some(commit), Some(origin)) = (&dry, origin) {
        let parent = repository.first_parent(commit.id)?;
        let mut changes = read_changes(buffer, parent, commit, origin)?;
        // Of commits that are pushed together, or did not render, an earlier one may have made the change.
        let before = last.dry_before.filter(|before| *before != commit.id && repository.has(*before));
        if let Some(before) = before.filter(|_| changes.is_empty()) {
            changes = read_changes(buffer, Some(before), commit, origin)?;
        } else if changes.is_empty()
            && let Some((earlier, of_earlier)) = earlier_change(buffer, parent, origin, value)?
        {
            (dry, changes) = (Some(earlier), of_earlier);
        }
        for change in changes {
            places.extend(changed_line(buffer, &change, value)?);
            files.push(change.path);
        }
    }
    let dry = dry.as_ref().map(Dry::of).or_else(|| last.dry.map(|id| Dry::unknown(&id.to_string())));
    let subject = crate::metadata::DryCommit::new(&last.commit).subject;
    let made_by_others = last.is_of_others.then(|| Dry::of(&last.commit));
    Ok(Changed { id: last.commit.id.to_string(), subject, dry, made_by_others, files, places })
}

/// How many commits are looked at to find the one that a branch which begins later shows.
const EARLIER_MAX: usize = 500;

/// The last commit, from `commit` down, that changed what a render read, and if possible a line with `value`: a branch that is
/// made anew begins with all that its dry commit has.
fn earlier_change(
    buffer: &ObjectBuffer<'_>,
    commit: Option<ObjectId>,
    origin: &DryOrigin,
    value: Option<&str>,
) -> Result<Option<(Commit, Vec<TreeChange>)>, Error> {
    let repository = buffer.repository();
    let (mut next, mut last) = (commit, None);
    for _ in 0..EARLIER_MAX {
        let Some(id) = next.filter(|id| repository.has(*id)) else { break };
        let commit = repository.commit(id)?;
        next = repository.first_parent(id)?;
        let changes = read_changes(buffer, next, &commit, origin)?;
        let mut has_line = value.is_none();
        for change in &changes {
            has_line = has_line || added_lines(buffer, change)?.iter().any(|(_, text)| value_of(text) == value);
        }
        if !changes.is_empty() && has_line {
            return Ok(Some((commit, changes)));
        }
        // The first commit of all has what no other changed.
        if last.is_none() && (!changes.is_empty() || next.is_none()) {
            last = Some((commit, changes));
        }
    }
    Ok(last)
}

/// What differs between two dry commits, of what a render read; nothing for the first commit of all.
fn read_changes(
    buffer: &ObjectBuffer<'_>,
    before: Option<ObjectId>,
    dry: &Commit,
    origin: &DryOrigin,
) -> Result<Vec<TreeChange>, Error> {
    let Some(before) = before else { return Ok(Vec::new()) };
    let is_read = |path: &str| {
        origin.file == path
            || origin.reads.iter().any(|read| path.strip_prefix(read.as_str()).is_some_and(is_at_or_below))
    };
    let mut changes = buffer.diff_trees(buffer.commit(before)?.tree, dry.tree)?;
    changes.retain(|change| is_read(&change.path));
    Ok(changes)
}

/// The one line of a file that a change wrote; of several the one with the value. None when there is no such line, or
/// more than one.
fn changed_line(
    buffer: &ObjectBuffer<'_>,
    change: &TreeChange,
    value: Option<&str>,
) -> Result<Option<ChangedLine>, Error> {
    if change.old.is_none() {
        return Ok(None);
    }
    let mut added = added_lines(buffer, change)?;
    if let (Some(value), true) = (value, added.len() > 1) {
        added.retain(|(_, text)| value_of(text) == Some(value));
    }
    Ok(match added[..] {
        [(line, _)] => Some(ChangedLine { path: change.path.clone(), line }),
        _ => None,
    })
}

/// The content of a file; nothing where there is none.
fn text(entry: Option<(Mode, ObjectId)>, buffer: &ObjectBuffer<'_>) -> Result<Vec<u8>, Error> {
    match entry {
        Some((Mode::File | Mode::Executable, blob)) => buffer.blob(blob),
        Some(_) | None => Ok(Vec::new()),
    }
}

/// The lines that a change wrote, each with its number; all of a file that is new.
fn added_lines(buffer: &ObjectBuffer<'_>, change: &TreeChange) -> Result<Vec<(u32, String)>, Error> {
    let (old, new) = (text(change.old, buffer)?, text(change.new, buffer)?);
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let (mut number, mut added) = (0, Vec::new());
    for line in diff::lines(&old, &new) {
        match line {
            diff::Line::Same(_) => number += 1,
            diff::Line::Removed(_) => {}
            diff::Line::Added(text) => {
                number += 1;
                added.push((number, text.to_owned()));
            }
        }
    }
    Ok(added)
}

/// The scalar at the end of a line of YAML, without quotes; none when it begins a mapping, a list or a block of text.
fn value_of(line: &str) -> Option<&str> {
    let line = line.trim();
    let item = line.strip_prefix("- ").unwrap_or(line);
    let value = item.split_once(": ").map_or(item, |(_, value)| value).trim().trim_matches(['"', '\'']);
    (!value.is_empty() && !value.ends_with(':') && !value.starts_with(['|', '>', '#'])).then_some(value)
}

fn is_at_or_below(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('/')
}
