//! The objects that a branch has and that its Applications render no more.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::argo::{Application, BranchName};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::plan::{Done, Hydration, Rendered};
use crate::manifest::{self, Key, Source};
use crate::owners::files::MANIFEST;
use crate::owners::snapshot::Snapshot;
use crate::repo::publish::HydratedTree;
use crate::repo::{Error, ObjectBuffer, ObjectId};
use dry_files::view::Reads;

/// What one Application renders no more.
#[derive(Debug)]
pub(crate) struct Missing {
    pub branch: BranchName,
    pub application: Arc<Application>,
    pub objects: Vec<Key>,
    /// What its render looked at.
    pub reads: Reads,
    /// The branch that has them.
    pub from: BranchName,
    /// What had them there, where that is not the Application of that name or path.
    pub former: Option<Arc<Application>>,
}

/// What the Applications of a dry commit render no more; what another one of the same branch renders now is not missing.
pub(super) fn missing(
    rendered: &Rendered,
    branches: &BTreeMap<BranchName, Branch>,
    found: &Snapshot<'_>,
) -> Result<Vec<Missing>, Error> {
    let mut missing = Vec::new();
    for (name, hydration) in rendered.hydrations() {
        let Some(branch) = branches.get(name).filter(|branch| branch.dry.is_some()) else { continue };
        let Some(tip) = &branch.tip else { continue };
        let tree = found.tree_of(tip.tree);
        let mut all: Option<Vec<Vec<u8>>> = None;
        for done in &hydration.work {
            let Some((old, new)) = manifests(done, hydration, &tree)? else { continue };
            // What cannot be read is written anew.
            let (Ok(old), Ok(new)) = (found.buffer.blob(old), found.buffer.blob(new)) else { continue };
            if missing_in(&old, &[&new]).is_empty() {
                continue;
            }
            if all.is_none() {
                let outputs = hydration.outputs().map(|(_, output)| found.buffer.blob(output.manifest));
                all = Some(outputs.collect::<Result<_, _>>()?);
            }
            let all: Vec<&[u8]> = all.iter().flatten().map(Vec::as_slice).collect();
            let objects = missing_in(&old, &all);
            let reads = done.result.as_ref().ok().and_then(|output| output.record.decode()).map(|record| record.reads);
            if let Some(reads) = reads.filter(|_| !objects.is_empty()) {
                let (branch, from, application) = (name.clone(), name.clone(), done.application.clone());
                missing.push(Missing { branch, application, objects, reads, from, former: None });
            }
        }
    }
    Ok(missing)
}

/// The manifest that an Application has on its branch and the new one, where these differ. An Application that moves
/// brings the manifest of its old path.
fn manifests(
    done: &Done,
    hydration: &Hydration<Done>,
    tree: &HydratedTree<'_>,
) -> Result<Option<(ObjectId, ObjectId)>, Error> {
    let (Ok(output), application) = (&done.result, &done.application) else { return Ok(None) };
    let moved = || hydration.removals.iter().find(|removal| removal.application == application.name);
    let old = match manifest_of(tree, &application.sync_path)? {
        None => moved().map(|removal| manifest_of(tree, &removal.path)).transpose()?.flatten(),
        old => old,
    };
    Ok(old.filter(|old| *old != output.manifest).map(|old| (old, output.manifest)))
}

/// Whether two `manifest.yaml` have the same objects, so that either makes what another Application lost as missing as the other.
///
/// Errors: one of them cannot be read.
pub(crate) fn have_same_objects(one: ObjectId, other: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<bool, Error> {
    let (one, other) = (buffer.blob(one)?, buffer.blob(other)?);
    Ok(missing_in(&one, &[&other]).is_empty() && missing_in(&other, &[&one]).is_empty())
}

/// The objects of a `manifest.yaml` that no text of `new` has. An object whose name only has another hash of its
/// content is not missing.
pub fn missing_in(old: &[u8], new: &[&[u8]]) -> Vec<Key> {
    let there: HashSet<Head<'_>> = new.iter().flat_map(|text| heads(text)).collect();
    if heads(old).iter().all(|head| there.contains(head)) {
        return Vec::new();
    }
    let now: BTreeSet<Key> = new.iter().flat_map(|text| keys(text)).collect();
    let before: BTreeSet<Key> = keys(old).into_iter().collect();
    let hashed: BTreeSet<Key> = now.difference(&before).filter_map(without_hash).collect();
    let is_gone = |key: &&Key| without_hash(key).is_none_or(|key| !hashed.contains(&key));
    before.difference(&now).filter(is_gone).cloned().collect()
}

fn keys(text: &[u8]) -> Vec<Key> {
    let manifests = manifest::read(text, Source::Output(MANIFEST)).unwrap_or_default();
    manifests.iter().filter_map(manifest::Manifest::typed_identity).collect()
}

/// The lines of a document that say which object it is, as we write them.
type Head<'t> = [&'t [u8]; 5];

const NO_HEAD: Head<'static> = [&[]; 5];

/// Those of all documents: equal texts have equal objects.
fn heads(text: &[u8]) -> Vec<Head<'_>> {
    let mut found = Vec::new();
    let (mut head, mut field): (Head<'_>, &[u8]) = (NO_HEAD, b"");
    for line in text.split(|&byte| byte == b'\n').chain([&b"---"[..]]) {
        if line.starts_with(b"---") {
            found.push(head);
            (head, field) = (NO_HEAD, b"");
            continue;
        }
        if !line.starts_with(b" ") {
            field = line;
        }
        let is_of_metadata = field == b"metadata:";
        let rows: [(&[u8], bool); 5] = [
            (b"apiVersion:", true),
            (b"kind:", true),
            (b"  generateName:", is_of_metadata),
            (b"  name:", is_of_metadata),
            (b"  namespace:", is_of_metadata),
        ];
        for (slot, (prefix, counts)) in head.iter_mut().zip(rows) {
            if counts && line.starts_with(prefix) {
                *slot = line;
            }
        }
    }
    found
}

/// How many characters Kustomize puts behind the names of what it generates.
const HASH_CHARS: usize = 10;

/// What is generated from its content, without the hash of that.
fn without_hash(key: &Key) -> Option<Key> {
    let (name, hash) = key.name.rsplit_once('-')?;
    let is_hash =
        hash.len() == HASH_CHARS && hash.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase());
    let is_generated = key.group.is_empty() && matches!(key.kind.as_str(), "ConfigMap" | "Secret");
    (is_hash && is_generated).then(|| Key { name: name.to_owned(), ..key.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, name: &str) -> String {
        format!("apiVersion: v1\nkind: {kind}\nmetadata:\n  labels:\n    name: x\n  name: {name}\nspec:\n  name: y\n")
    }

    #[test]
    fn what_is_there_no_more() {
        let all = |objects: &[String]| objects.join("---\n");
        let a = || object("ConfigMap", "a");
        let job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: job-\n";
        let rows: &[(&str, String, String, &[&str])] = &[
            ("nothing", all(&[a()]), all(&[a(), object("Pod", "b")]), &[]),
            ("one", all(&[a(), object("Pod", "b")]), all(&[a()]), &["Pod b"]),
            ("all", all(&[a(), object("Pod", "b")]), String::new(), &["ConfigMap a", "Pod b"]),
            ("another kind", a(), object("Secret", "a"), &["ConfigMap a"]),
            ("another version", job.to_owned(), job.replace("v1", "v1beta1"), &[]),
            ("another group", job.to_owned(), job.replace("batch", "jobs"), &["Job.batch job-*"]),
            ("another hash", object("ConfigMap", "a-5kd7f8tbmk"), object("ConfigMap", "a-9bmk5kd7f8"), &[]),
            (
                "a hash of another",
                object("ConfigMap", "a-5kd7f8tbmk"),
                object("ConfigMap", "b-9bmk5kd7f8"),
                &["ConfigMap a-5kd7f8tbmk"],
            ),
        ];
        for (rule, old, new, expected) in rows {
            let found: Vec<String> =
                missing_in(old.as_bytes(), &[new.as_bytes()]).iter().map(ToString::to_string).collect();
            assert_eq!(found, *expected, "{rule}");
        }
    }
}
