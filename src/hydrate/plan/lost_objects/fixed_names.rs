//! Files that a tool looks for by a fixed name, and that have nearly that name now: without it a kustomization is a directory of plain
//! files, and a chart has no values of its own. Both render, as something else.

use super::renames::is_left_out;
use crate::argo::near;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use kustomize_build::FILE_NAMES;

/// The names of one file each, of which a tool takes the first.
const FIXED: [&[&str]; 2] = [&FILE_NAMES, &["values.yaml"]];

/// A file of a fixed name that a directory had, its name where the directory is now, and the new file there that is probably meant to
/// be it.
pub(super) fn renamed(
    (dir, now): (&RepoPath, &RepoPath),
    (old, new): (&View<'_>, &View<'_>),
) -> Option<(RepoPath, RepoPath, RepoPath)> {
    let is_file = |view: &View<'_>, path: &RepoPath| matches!(view.kind(path), Ok(Some(Kind::File)));
    FIXED.into_iter().find_map(|names| {
        let former = names.iter().filter_map(|name| dir.child(name).ok()).find(|path| is_file(old, path))?;
        let stem = former.file_name().unwrap_or_default();
        let there = now.child(stem).ok()?;
        if names.iter().filter_map(|name| now.child(name).ok()).any(|path| is_file(new, &path)) {
            return None;
        }
        let content = old.content_id(&former).ok()?;
        let entries = new.list(now).ok()?;
        let is_it = |name: &str, path: &RepoPath| {
            let is_like =
                near(name, names).is_some() || name.starts_with(stem) || new.content_id(path).ok() == Some(content);
            is_like && !is_left_out(name) && !is_file(old, path)
        };
        let files = entries.iter().filter(|entry| entry.kind == Kind::File);
        let mut files = files.filter_map(|entry| Some((entry.name.as_str(), now.child(&entry.name).ok()?)));
        let (_, found) = files.find(|(name, path)| is_it(name, path))?;
        Some((former, there, found))
    })
}
