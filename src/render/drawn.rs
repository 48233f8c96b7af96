//! Which objects of an Application show what random functions gave.

use std::collections::BTreeMap;

use crate::argo::Drawn;
use crate::manifest::Manifest;

/// The objects of a render that another one, which drew something else, has not: Secrets first, then by name.
pub(super) fn differing(manifests: &[Manifest], others: &[Manifest]) -> Vec<String> {
    let found: Vec<&Manifest> = match manifests.len() == others.len() {
        // A name may be drawn too.
        true => manifests.iter().zip(others).filter(|(one, other)| one != other).map(|(one, _)| one).collect(),
        false => {
            let others: BTreeMap<_, &Manifest> = others.iter().map(|other| (name(other), other)).collect();
            manifests.iter().filter(|one| others.get(&name(one)) != Some(one)).collect()
        }
    };
    sorted(found.into_iter().map(label).collect())
}

/// What all sources of an Application drew.
pub(super) fn together(one: Option<Drawn>, other: Option<Drawn>) -> Option<Drawn> {
    match (one, other) {
        // Of one it is not known, so of all.
        (Some(one), Some(other)) if one.objects.is_empty() || other.objects.is_empty() => {
            Some(Drawn { objects: Vec::new(), ..one })
        }
        (Some(one), Some(other)) => Some(Drawn { objects: sorted([one.objects, other.objects].concat()), ..one }),
        (one, other) => one.or(other),
    }
}

fn name(manifest: &Manifest) -> (&str, &str, &str, &str) {
    (manifest.group(), manifest.kind(), manifest.namespace(), manifest.name())
}

fn label(manifest: &Manifest) -> String {
    match manifest.namespace() {
        "" => format!("{} {}", manifest.kind(), manifest.name()),
        namespace => format!("{} {namespace}/{}", manifest.kind(), manifest.name()),
    }
}

fn sorted(mut labels: Vec<String>) -> Vec<String> {
    labels.sort_by_cached_key(|label| (!label.starts_with("Secret "), label.clone()));
    labels.dedup();
    labels
}
