//! CRDs of the dry tree that the setting `crds` names.

use super::policy::Policy;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Files, Kind, View};

/// Longer files are passed over: the largest CRDs that are published have less.
const FILE_BYTES_MAX: u64 = 8 << 20;

/// So many files are looked at.
const FILES_MAX: usize = 10_000;

/// How many bytes of texts are kept for one group.
const BYTES_MAX: usize = 64 << 20;

impl Policy {
    /// What the setting names and is there, as it is.
    pub(crate) fn crds_named(&self, files: &dyn Files) -> Vec<(&RepoPath, Kind, ContentId)> {
        let view = View::with_limit(files, FILE_BYTES_MAX);
        let named = self.settings.crds.iter().filter_map(|path| {
            view.kind(path).ok()??;
            let (_, kind, id) = view.resolve(path).ok()?;
            Some((path, kind, id))
        });
        named.collect()
    }

    /// The texts of files that name an API group, and whether all could be read. What cannot is passed over.
    pub(crate) fn crds(&self, files: &dyn Files, group: &str) -> (Vec<Vec<u8>>, bool) {
        let view = View::with_limit(files, FILE_BYTES_MAX);
        let mut texts = Vec::new();
        let mut are_read = true;
        let (mut bytes, mut count) = (0, 0);
        let mut paths: Vec<RepoPath> = self.settings.crds.iter().rev().cloned().collect();
        while let Some(path) = paths.pop() {
            count += 1;
            if count > FILES_MAX || bytes > BYTES_MAX {
                break;
            }
            match view.kind(&path) {
                Ok(Some(Kind::Directory)) => match below(&view, &path) {
                    Some(all) => paths.extend(all),
                    None => are_read = false,
                },
                Ok(Some(Kind::File)) => {
                    let Ok(blob) = view.read(&path) else {
                        are_read = false;
                        continue;
                    };
                    if memchr::memmem::find(&blob.data, group.as_bytes()).is_some() {
                        bytes += blob.data.len();
                        texts.push(blob.data.to_vec());
                    }
                }
                Ok(_) => {}
                Err(_) => are_read = false,
            }
        }
        (texts, are_read)
    }
}

/// What is in a directory, the last name first; none where it cannot be read.
fn below(view: &View<'_>, dir: &RepoPath) -> Option<Vec<RepoPath>> {
    let entries = view.list(dir).ok()?;
    let is_followed = |kind: Kind| matches!(kind, Kind::Directory | Kind::File);
    let names = entries.iter().rev().filter(|entry| is_followed(entry.kind));
    Some(names.filter_map(|entry| dir.child(&entry.name).ok()).collect())
}
