//! The files of a dry tree that may say something of Argo CD.

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use inputs::InputsDir;

/// How many directories are walked, and how deep.
const DIRECTORIES_MAX: usize = 20_000;
const DEPTH_MAX: usize = 16;

/// The files of a tree with such names, but for those of inputs.
pub(super) fn files(view: &View<'_>, inputs: &InputsDir, is_wanted: fn(&str) -> bool) -> Vec<RepoPath> {
    let mut found = Vec::new();
    let mut waiting = vec![(RepoPath::root(), 0)];
    let mut directories = 0;
    while let Some((dir, depth)) = waiting.pop() {
        directories += 1;
        if directories > DIRECTORIES_MAX || inputs.has(&dir) {
            continue;
        }
        let Ok(entries) = view.list(&dir) else { continue };
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            match entry.kind {
                Kind::Directory if depth < DEPTH_MAX => waiting.push((path, depth + 1)),
                Kind::File if is_wanted(&entry.name) => found.push(path),
                Kind::File | Kind::Directory | Kind::Link | Kind::Submodule => {}
            }
        }
    }
    found
}
