//! Changes that may do harm: what is lost with an object, what the API server will refuse, who may do more than before.

mod immutable;
mod rights;

use super::pair::text;
use crate::manifest::Manifest;
use crate::yaml::Value;

/// A change that somebody should have a second look at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Danger {
    /// An object goes, and more with it than itself.
    Removed {
        /// What goes with it.
        loss: &'static str,
    },
    /// A field changed that the API server does not let anybody change.
    Immutable {
        /// The field.
        field: String,
        /// Whether the object is to be deleted and made again on sync, as an annotation of it says.
        replaced: bool,
    },
    /// A version of a custom resource is no longer there.
    VersionGone {
        /// The version.
        version: String,
    },
    /// Somebody may do more than before.
    Widened {
        /// What, or who: at least one.
        grants: Vec<String>,
    },
    /// Nothing runs any more.
    ScaledToZero {
        /// How many replicas there were.
        from: i64,
    },
}

impl Danger {
    /// The word by which programs know it.
    pub fn kind(&self) -> &'static str {
        match self {
            Danger::Removed { .. } => "removed",
            Danger::Immutable { .. } => "immutable",
            Danger::VersionGone { .. } => "versionGone",
            Danger::Widened { .. } => "widened",
            Danger::ScaledToZero { .. } => "scaledToZero",
        }
    }
}

/// How many rights are named; the rest is counted.
const GRANTS_SHOWN: usize = 4;

/// What happens, to follow the name of the object and a colon.
impl std::fmt::Display for Danger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Danger::Removed { loss } => write!(f, "removed, {loss}"),
            Danger::Immutable { field, replaced: false } => {
                write!(f, "`{field}` cannot be changed: the sync fails unless the object is deleted first")
            }
            Danger::Immutable { field, replaced: true } => {
                write!(f, "`{field}` cannot be changed: the object is deleted and created again")
            }
            Danger::VersionGone { version } => {
                write!(f, "version {version} is removed: objects that are stored in it cannot be read")
            }
            Danger::Widened { grants } => {
                let shown = grants.iter().take(GRANTS_SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
                write!(f, "grants additional permissions: {shown}")?;
                match grants.len().saturating_sub(GRANTS_SHOWN) {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            Danger::ScaledToZero { from } => write!(f, "replicas {from} → 0: nothing runs"),
        }
    }
}

/// What may do harm in the change of one object.
pub(super) fn dangers(old: Option<&Manifest>, new: Option<&Manifest>) -> Vec<Danger> {
    let mut found = Vec::new();
    match (old, new) {
        (Some(old), None) => found.extend(removed(old)),
        (Some(old), Some(new)) => {
            found.extend(immutable::changed(old, new));
            found.extend(versions_gone(old, new));
            found.extend(scaled_to_zero(old, new));
        }
        (None, _) => {}
    }
    let grants = new.map(|new| rights::widened(old, new)).unwrap_or_default();
    if !grants.is_empty() {
        found.push(Danger::Widened { grants });
    }
    found
}

/// What is lost with an object, unless an annotation keeps Argo CD from removing it.
fn removed(old: &Manifest) -> Option<Danger> {
    if has_sync_option(old, "Prune=false") {
        return None;
    }
    let loss = match (old.group(), old.kind()) {
        ("", "Namespace") => "with everything in it",
        ("apiextensions.k8s.io", "CustomResourceDefinition") => "with all objects of its kind",
        ("", "PersistentVolumeClaim") => "with its data, unless the volume is retained",
        ("", "PersistentVolume") => "so its data may be lost",
        ("apps", "StatefulSet") => "its Pods are deleted; its volume claims stay unless it says otherwise",
        _ => return None,
    };
    Some(Danger::Removed { loss })
}

fn versions_gone(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if old.kind() != "CustomResourceDefinition" {
        return Vec::new();
    }
    let versions = |manifest: &Manifest| -> Vec<String> {
        let versions = manifest.object().at(&["spec", "versions"]).and_then(Value::as_sequence).unwrap_or_default();
        let name = |version: &Value| version.get("name").and_then(Value::as_str).map(str::to_owned);
        versions.iter().filter_map(name).collect()
    };
    let now = versions(new);
    let gone = versions(old).into_iter().filter(|version| !now.contains(version));
    gone.map(|version| Danger::VersionGone { version }).collect()
}

/// Workloads that run one replica when they do not say how many.
const REPLICATED: [&str; 4] = ["Deployment", "StatefulSet", "ReplicaSet", "Rollout"];

fn scaled_to_zero(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let replicas = |manifest: &Manifest| match manifest.object().at(&["spec", "replicas"]) {
        Some(Value::Int(replicas)) => Some(*replicas),
        None => REPLICATED.contains(&manifest.kind()).then_some(1),
        Some(_) => None,
    };
    match (replicas(old)?, replicas(new)?) {
        (from @ 1.., 0) => Some(Danger::ScaledToZero { from }),
        _ => None,
    }
}

/// Whether an object has an option of Argo CD in its annotation.
///
/// Reference: argo-cd 3 gitops-engine/pkg/sync/resource/annotations.go: options between commas, blanks around them.
fn has_sync_option(manifest: &Manifest, option: &str) -> bool {
    let options = text(manifest, &["metadata", "annotations", "argocd.argoproj.io/sync-options"]);
    options.split(',').any(|word| word.trim() == option)
}
