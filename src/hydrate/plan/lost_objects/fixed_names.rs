//! Files that a tool looks for by a fixed name, and that have nearly that name now: without it a kustomization is a directory of plain
//! files, and a chart has no values of its own. Both render, as something else.

use super::renames::is_left_out;
use crate::argo::near;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use kustomize_build::FILE_NAMES;

/// The names of one file each, of which a tool takes the first.
const FIXED: [&[&str]; 2] = [&FILE_NAMES, &["values.yaml"]];

/// A file of a fixed name that a directory had, and the new file beside it that is probably meant to be it.
pub(super) fn renamed(dir: &RepoPath, (old, new): (&View<'_>, &View<'_>)) -> Option<(RepoPath, RepoPath)> {
    let is_file = |view: &View<'_>, path: &RepoPath| matches!(view.kind(path), Ok(Some(Kind::File)));
    FIXED.into_iter().find_map(|names| {
        let in_dir = || names.iter().filter_map(|name| dir.child(name).ok());
        let former = in_dir().find(|path| is_file(old, path))?;
        if in_dir().any(|path| is_file(new, &path)) {
            return None;
        }
        let content = old.content_id(&former).ok()?;
        let entries = new.list(dir).ok()?;
        let is_it = |name: &str, path: &RepoPath| {
            let stem = former.file_name().unwrap_or_default();
            let is_like =
                near(name, names).is_some() || name.starts_with(stem) || new.content_id(path).ok() == Some(content);
            is_like && !is_left_out(name) && !is_file(old, path)
        };
        let files = entries.iter().filter(|entry| entry.kind == Kind::File);
        let mut files = files.filter_map(|entry| Some((entry.name.as_str(), dir.child(&entry.name).ok()?)));
        let (_, now) = files.find(|(name, path)| is_it(name, path))?;
        Some((former, now))
    })
}
