//! The Pods that an object makes.

use go_yaml::Value;

use super::{Danger, Severity, What, items};
use crate::diff::Image;
use crate::manifest::Manifest;

/// Where the specification of Pods is, by group and kind.
const SPECS: [(&str, &str, &[&str]); 10] = [
    ("", "Pod", &["spec"]),
    ("", "ReplicationController", &["spec", "template", "spec"]),
    ("apps", "Deployment", &["spec", "template", "spec"]),
    ("apps", "StatefulSet", &["spec", "template", "spec"]),
    ("apps", "DaemonSet", &["spec", "template", "spec"]),
    ("apps", "ReplicaSet", &["spec", "template", "spec"]),
    ("argoproj.io", "Rollout", &["spec", "template", "spec"]),
    ("batch", "Job", &["spec", "template", "spec"]),
    ("batch", "CronJob", &["spec", "jobTemplate", "spec", "template", "spec"]),
    ("", "PodTemplate", &["template", "spec"]),
];

/// The specification of the Pods that an object makes; none for one that makes none.
pub(super) fn spec(manifest: &Manifest) -> Option<&Value> {
    let (.., path) = SPECS.iter().find(|(group, kind, _)| (*group, *kind) == (manifest.group(), manifest.kind()))?;
    manifest.object().at(path)
}

/// The containers of Pods with their names, those that start them included.
pub(super) fn containers(spec: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let lists = ["initContainers", "containers", "ephemeralContainers"];
    let all = lists.into_iter().flat_map(|list| items(spec, &[list]));
    all.map(|container| (container.get("name").and_then(Value::as_str).unwrap_or_default(), container))
}

/// The container of this name before.
pub(super) fn before<'a>(old: Option<&'a Manifest>, name: &str) -> Option<&'a Value> {
    containers(spec(old?)?).find(|(before, _)| *before == name).map(|(_, container)| container)
}

/// Images without a version that were not so before.
///
/// Reference: kubernetes docs/concepts/containers/images: no tag is `latest`.
pub(super) fn floating_images(old: Option<&Manifest>, new: &Manifest) -> Vec<Danger> {
    let floats = |image: &str| matches!(Image::parse(image).version, "" | "latest");
    let image = |container: &'_ Value| container.get("image").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut images = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(containers) {
        let now = image(container);
        let was = before(old, name).is_some_and(|before| floats(&image(before)));
        if !now.is_empty() && floats(&now) && !was && !images.contains(&now) {
            images.push(now);
        }
    }
    images.into_iter().map(|image| Danger::new(Severity::Other, What::FloatingImage { image })).collect()
}
