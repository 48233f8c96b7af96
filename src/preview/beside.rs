//! The manifests of Applications that do not change, where some that change names what may be in them.

use std::collections::BTreeSet;

use super::projects::may_have_project;
use super::{Owners, PreviewedPath, content};
use crate::diff::Beside;
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::repo::{ObjectBuffer, ObjectId};
use dry_files::path::RepoPath;

/// How many bytes of them are looked at: those of some 2,000 Applications.
const BYTES_MAX: usize = 16 << 20;

/// Keys by which objects name others, serve hosts, or choose nodes. An item of a list has none.
const NAMING: [&str; 10] = [
    "name",
    "namespace",
    "claimName",
    "secretName",
    "serviceAccountName",
    "serviceName",
    "host",
    "nodeSelector",
    "tolerations",
    "taints",
];

/// What a manifest has whose objects choose others by labels or kinds.
const CHOOSING: [&str; 4] = ["monitoring.coreos.com/", "karpenter.sh/", "resource.exclusions:", "resource.inclusions:"];

/// A manifest, with the namespace of objects that name none.
pub(super) type Placed = (Vec<u8>, Option<String>);

/// Those of a branch that has the tree `new`, and those `kept` that it would have beside them.
pub(super) fn beside(
    buffer: &ObjectBuffer<'_>,
    (new, kept): (ObjectId, Vec<Placed>),
    paths: &[PreviewedPath],
    owners: &Owners<'_>,
) -> Result<Beside, HydrateError> {
    if !paths.iter().any(names_another) {
        return Ok(Beside::default());
    }
    let changed: BTreeSet<&RepoPath> = paths.iter().map(|path| &path.path).collect();
    let (mut manifests, mut left) = (kept, BYTES_MAX);
    for file in buffer.diff_trees(buffer.empty_tree_id(), new)? {
        let Some(path) = file.path.strip_suffix(MANIFEST).and_then(|path| path.strip_suffix('/')) else { continue };
        let Ok(path) = RepoPath::new(path) else { continue };
        if changed.contains(&path) {
            continue;
        }
        let Some(text) = content(file.new, buffer)? else { continue };
        let Some(rest) = left.checked_sub(text.len()) else { return Ok(Beside::new(manifests, true)) };
        left = rest;
        let namespace = owners.of(&path).and_then(|application| application.destination_namespace.clone());
        manifests.push((text, namespace));
    }
    Ok(Beside::new(manifests, false))
}

/// Whether the manifests of a path before and after differ in a line that may name something.
fn names_another(path: &PreviewedPath) -> bool {
    let (Some(old), Some(new)) = (&path.old, &path.new) else { return true };
    let has = |part: &&[u8]| [old, new].iter().any(|text| text.windows(part.len()).any(|window| window == *part));
    // An AppProject is judged by the Applications among the objects.
    if may_have_project(old) || CHOOSING.iter().any(|part| has(&part.as_bytes())) {
        return true;
    }
    let [old, new]: [BTreeSet<&[u8]>; 2] = [old, new].map(|text| text.split(|byte| *byte == b'\n').collect());
    old.symmetric_difference(&new).any(|line| is_naming(line))
}

fn is_naming(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    let item = line.strip_prefix(b"- ");
    match line.iter().position(|byte| *byte == b':') {
        Some(at) => {
            let key = item.unwrap_or(line).get(..at - item.map_or(0, |_| 2)).unwrap_or_default();
            NAMING.iter().any(|naming| naming.as_bytes() == key)
        }
        None => item.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_name_something_by_its_key() {
        let rows = [
            ("      claimName: data", true),
            ("  - name: web", true),
            ("- shop.example.com", true),
            ("  host: shop.example.com", true),
            ("  replicas: 3", false),
            ("  - image: web:2", false),
            ("    image: registry.example.com/name:2", false),
        ];
        for (line, expected) in rows {
            assert_eq!(is_naming(line.as_bytes()), expected, "{line}");
        }
    }
}
