//! Why a directory of manifests has no object.

use std::collections::VecDeque;

use super::{EXTENSIONS, SKIP_MARKER, contains, has_extension};
use crate::argo;
use dry_files::path::RepoPath;
use dry_files::view::{Entry, Kind, View};

/// How many files are looked into.
const FILES_MAX: usize = 100;

/// How many directories below another one are.
const DIRECTORIES_MAX: usize = 100;

/// The reason, and what to do about it where that is plain. What cannot be read is passed over.
pub(crate) fn why_nothing(view: &View<'_>, dir: &RepoPath, options: &argo::Directory) -> (String, Option<String>) {
    let entries = view.list(dir).unwrap_or_default();
    let files: Vec<RepoPath> = paths(dir, &entries, Kind::File).filter(has_extension).collect();
    if files.is_empty() && options.recurse {
        return (format!("no file here or below ends in {}", extensions()), None);
    }
    if files.is_empty() && !options.disable_extension_filter {
        let below = paths(dir, &entries, Kind::Directory).find(|below| has_files(view, below));
        if let Some(below) = below {
            let cure = "set `directory.recurse: true` in the drySource, or name one of them in `path`";
            return (format!("it has manifests in subdirectories only, such as `{below}`"), Some(cure.to_owned()));
        }
        let other = paths(dir, &entries, Kind::File).next();
        let other = other.map(|other| format!("; it has `{other}`")).unwrap_or_default();
        return (format!("no file here ends in {}{other}", extensions()), None);
    }
    if options.include.is_some() || options.exclude.is_some() {
        return ("no file that `directory.include` and `directory.exclude` let through has an object".to_owned(), None);
    }
    let is_skipped = |path: &RepoPath| view.read(path).is_ok_and(|blob| contains(&blob.data, SKIP_MARKER));
    if !files.is_empty() && files.iter().take(FILES_MAX).all(is_skipped) {
        return (format!("each file here has the comment `{SKIP_MARKER}`"), None);
    }
    ("no file here has an object".to_owned(), None)
}

/// `.yaml, .yml, .json or .jsonnet`
fn extensions() -> String {
    let [others @ .., last] = EXTENSIONS.map(|extension| format!(".{extension}"));
    format!("{} or {last}", others.join(", "))
}

/// Whether a directory has manifests, or one below it, of those that are near.
fn has_files(view: &View<'_>, dir: &RepoPath) -> bool {
    let mut left = VecDeque::from([dir.clone()]);
    for _ in 0..DIRECTORIES_MAX {
        let Some(dir) = left.pop_front() else { return false };
        let entries = view.list(&dir).unwrap_or_default();
        if paths(&dir, &entries, Kind::File).any(|path| has_extension(&path)) {
            return true;
        }
        left.extend(paths(&dir, &entries, Kind::Directory));
    }
    false
}

/// The paths of what is of one kind.
fn paths<'e>(dir: &'e RepoPath, entries: &'e [Entry], kind: Kind) -> impl Iterator<Item = RepoPath> + 'e {
    entries.iter().filter(move |entry| entry.kind == kind).filter_map(|entry| dir.child(&entry.name).ok())
}
