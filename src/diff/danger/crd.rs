//! Versions of custom resources.

use super::{Danger, Severity, What, items};
use crate::manifest::Manifest;
use crate::yaml::Value;

/// The versions that are gone, or no longer served.
///
/// Reference: kubernetes docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning.
pub(super) fn versions_gone(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if old.kind() != "CustomResourceDefinition" {
        return Vec::new();
    }
    let versions = |manifest: &Manifest| -> Vec<(String, bool)> {
        let of = |version: &Value| {
            let served = version.get("served").and_then(Value::as_bool) != Some(false);
            Some((version.get("name")?.as_str()?.to_owned(), served))
        };
        items(manifest.object(), &["spec", "versions"]).iter().filter_map(of).collect()
    };
    let now = versions(new);
    let gone =
        versions(old).into_iter().filter_map(|(version, served)| match now.iter().find(|(name, _)| *name == version) {
            None => Some(What::VersionGone { version, is_there: false }),
            Some((_, false)) if served => Some(What::VersionGone { version, is_there: true }),
            Some(_) => None,
        });
    gone.map(|what| Danger::new(Severity::Outage, what)).collect()
}
