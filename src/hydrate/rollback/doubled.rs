//! Objects that would come back beside another Application which has them now.

use std::collections::HashSet;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, shell_word};
use dry_files::path::RepoPath;

use super::copied::Planned;
use super::of_branch;
use crate::argo::{Application, BranchName};
use crate::hydrate::make::manifest_of::manifest_of;
use crate::manifest::{self, Key, Source};
use crate::owners::snapshot::Snapshot;
use crate::render;
use crate::repo::{Commit, Error, ObjectId};

/// The manifest of an Application.
struct Text<'a> {
    application: &'a Application,
    path: &'a RepoPath,
    bytes: Vec<u8>,
}

impl<'a> Text<'a> {
    fn read(
        application: &'a Application,
        path: &'a RepoPath,
        blob: ObjectId,
        found: &Snapshot<'_>,
    ) -> Result<Self, Error> {
        Ok(Self { application, path, bytes: found.buffer.blob(blob)? })
    }

    fn keys(&self) -> Vec<Key> {
        let manifests = manifest::read(&self.bytes, Source::File(self.path));
        manifests.map(|manifests| render::objects(self.application, &manifests)).unwrap_or_default()
    }

    fn has_one_of(&self, names: &HashSet<String>) -> bool {
        names.iter().any(|name| memchr::memmem::find(&self.bytes, name.as_bytes()).is_some())
    }
}

/// Why what goes back of a branch may not: it has an object that an Application has now whose files stay. Argo CD would apply the one
/// and the other in turn, and the next dry commit would be refused. `now` are the Applications of the branch, whose tip is `tip`.
pub(super) fn doubled(
    name: &BranchName,
    planned: &Planned,
    now: &[Arc<Application>],
    tip: &Commit,
    found: &Snapshot<'_>,
) -> Result<Option<Diagnostic>, Error> {
    let here = found.tree_of(tip.tree);
    let mut coming = Vec::new();
    for (path, copied) in planned.paths.iter().filter(|(_, copied)| copied.is_changed) {
        coming.push(Text::read(&copied.application, path, copied.manifest, found)?);
    }
    let mut staying = Vec::new();
    for application in now.iter().filter(|_| !coming.is_empty()) {
        let path = &application.sync_path;
        let stays = !planned.paths.contains_key(path) && !planned.vacated.contains(path);
        if let Some(blob) = manifest_of(&here, path)?.filter(|_| stays) {
            staying.push(Text::read(application, path, blob, found)?);
        }
    }
    // Of the many, only those are read that have a name of the few.
    let (few, many) = if coming.len() < staying.len() { (&coming, &mut staying) } else { (&staying, &mut coming) };
    let names: HashSet<String> = few.iter().flat_map(Text::keys).map(|key| key.name).collect();
    many.retain(|text| text.has_one_of(&names));
    for text in &coming {
        let before = match manifest_of(&here, text.path)? {
            Some(blob) => Text::read(text.application, text.path, blob, found)?.keys(),
            None => Vec::new(),
        };
        let mut keys = text.keys();
        keys.retain(|key| !before.contains(key));
        for other in &staying {
            let theirs = other.keys();
            let both = [(text.application, &keys[..]), (other.application, &theirs[..])];
            if !render::conflicts(&both).is_empty() {
                let key = keys.iter().find(|key| theirs.contains(key)).map(Key::to_string).unwrap_or_default();
                return Ok(Some(mistake(name, (text.application, other.application), &key)));
            }
        }
    }
    Ok(None)
}

fn mistake(name: &BranchName, (coming, staying): (&Application, &Application), key: &str) -> Diagnostic {
    let text = format!("`{}` would come back with {key}, which `{}` has now", coming.name, staying.name);
    let [branch, gone] = [name.as_str(), coming.name.as_str()].map(shell_word);
    let hint = format!(
        "in a clone, a commit of the dry branch brings it back in the place of the other: git hydrate rollback {branch} --dry \
         --application {gone} --shared --reason …"
    );
    of_branch(name, &text).hint(hint)
}
