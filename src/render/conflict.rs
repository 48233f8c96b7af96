//! Objects that two Applications of one environment branch both render, and those that one renders more than once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::argo::{Application, BranchName};
use crate::manifest::{Key, Manifest, is_cluster_kind};
use dry_files::diag::Diagnostic;
use dry_files::diag::more::and_more_in_brackets;

/// Every object that an earlier one of the Applications renders too, by cluster, group, kind, namespace and name.
///
/// Two clusters have objects of their own, and so have the clusters of two instances: an environment of several regions may render
/// the same into each. So do two Applications that name no cluster, as far as anyone can tell: an unknown destination equals no other.
/// An object without a namespace is in that of its Application's destination, unless its kind is known to have none. In
/// the order of the Applications; each pair of them is reported once, by the number of the later one, with the first such object and
/// how many more there are.
pub(super) fn find(rendered: &[(&Application, &[Key])]) -> Vec<(usize, Diagnostic)> {
    let clusters: Vec<_> = rendered.iter().map(|(application, _)| application.object_cluster()).collect();
    let mut owners: HashMap<(&str, &Key), usize> = HashMap::new();
    let mut conflicts: BTreeMap<(usize, usize), Vec<&Key>> = BTreeMap::new();
    for (index, ((_, keys), cluster)) in rendered.iter().zip(&clusters).enumerate() {
        let Some(cluster) = cluster.as_deref() else { continue };
        for key in *keys {
            let owner = *owners.entry((cluster, key)).or_insert(index);
            if owner != index {
                conflicts.entry((index, owner)).or_default().push(key);
            }
        }
    }
    let mut diagnostics = Vec::with_capacity(conflicts.len());
    for ((index, owner), keys) in conflicts {
        if let (Some((application, _)), Some((other, _))) = (rendered.get(index), rendered.get(owner)) {
            diagnostics.extend(diagnostic(application, other, &keys).map(|diagnostic| (index, diagnostic)));
        }
    }
    diagnostics
}

const OVERWRITE: &str = "they would overwrite each other in the cluster: render it from one of them only";

/// `keys` are the objects that both render; none when there are none.
fn diagnostic(application: &Application, other: &Application, keys: &[&Key]) -> Option<Diagnostic> {
    let first = keys.first()?;
    let more = and_more_in_brackets(keys.len() - 1);
    let text = format!("`{}` and `{}` both render {first}{more}", other.name, application.name);
    let beside = format!("`{}` is at {}", other.name, other.places.name);
    let diagnostic = Diagnostic::error(text).at(application.places.name.clone()).label(beside);
    Some(diagnostic.hint(OVERWRITE))
}

/// The mistake of an Application that renders objects of an Application of another dry branch: nothing is quoted of
/// that.
pub(super) fn of_another(
    application: &Application,
    (other, dry_branch): (&Application, &BranchName),
    keys: &[&Key],
) -> Option<Diagnostic> {
    let first = keys.first()?;
    let more = and_more_in_brackets(keys.len() - 1);
    let text = format!("`{}` of `{dry_branch}` and `{}` both render {first}{more}", other.name, application.name);
    let beside = format!("`{}` is at {} of `{dry_branch}`", other.name, other.places.name);
    let diagnostic = Diagnostic::error(text).at(application.places.name.clone()).label(beside);
    Some(application.tells(diagnostic.hint(OVERWRITE)))
}

/// A warning of objects that one Application renders more than once: its manifests have all of them, and a cluster gets one.
///
/// Reference: Argo CD 3 controller/state.go `DeduplicateTargetObjects`, which warns of a repeated resource and keeps the last.
pub(super) fn repeated(application: &Application, objects: &[Key]) -> Option<Diagnostic> {
    let mut seen = HashSet::new();
    let again: BTreeSet<&Key> = objects.iter().filter(|key| !seen.insert(*key)).collect();
    let first = again.first()?;
    let more = and_more_in_brackets(again.len() - 1);
    let text =
        format!("`{}` renders {first} more than once{more}: the last one counts in the cluster", application.name);
    Some(application.tells(Diagnostic::warning(text).at(application.places.dry_path.clone())))
}

/// The identity of an object once it is where its Application deploys to: one of a kind that has no namespace loses what is
/// written.
///
/// Reference: Argo CD 3 controller/state.go `DeduplicateTargetObjects`.
pub(super) fn key(manifest: &Manifest, application: &Application) -> Option<Key> {
    let mut key = manifest.key()?;
    if is_cluster_kind(&key.group, &key.kind) {
        key.namespace.clear();
    } else if key.namespace.is_empty() {
        key.namespace = application.destination_namespace.clone().unwrap_or_default();
    }
    Some(key)
}
