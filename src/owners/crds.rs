//! CRDs of the dry tree that the setting `crds` names.

use super::policy::Policy;
use dry_files::path::RepoPath;
use dry_files::view::{Files, Kind, View};

/// Longer files are passed over: the largest CRDs that are published have less.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// So many files are looked at.
const FILES_MAX: usize = 10_000;

/// How many bytes of texts are kept for one group.
const BYTES_MAX: usize = 64 << 20;

impl Policy {
    /// The texts of files that name an API group. What cannot be read is passed over.
    pub(crate) fn crds(&self, files: &dyn Files, group: &str) -> Vec<Vec<u8>> {
        let view = View::with_limit(files, FILE_BYTES_MAX);
        let mut texts = Vec::new();
        let (mut bytes, mut count) = (0, 0);
        let mut paths: Vec<RepoPath> = self.settings.crds.iter().rev().cloned().collect();
        while let Some(path) = paths.pop() {
            count += 1;
            if count > FILES_MAX || bytes > BYTES_MAX {
                break;
            }
            match view.kind(&path) {
                Ok(Some(Kind::Directory)) => paths.extend(below(&view, &path)),
                Ok(Some(Kind::File)) => {
                    let Ok(blob) = view.read(&path) else { continue };
                    if memchr::memmem::find(&blob.data, group.as_bytes()).is_some() {
                        bytes += blob.data.len();
                        texts.push(blob.data.to_vec());
                    }
                }
                _ => {}
            }
        }
        texts
    }
}

/// What is in a directory, the last name first.
fn below(view: &View<'_>, dir: &RepoPath) -> Vec<RepoPath> {
    let Ok(entries) = view.list(dir) else { return Vec::new() };
    let is_followed = |kind: Kind| matches!(kind, Kind::Directory | Kind::File);
    let names = entries.iter().rev().filter(|entry| is_followed(entry.kind));
    names.filter_map(|entry| dir.child(&entry.name).ok()).collect()
}
