//! Images of containers.

use go_yaml::Value;

use super::{Danger, Severity, What, before};
use crate::diff::Image;
use crate::diff::model::pods::{containers, spec};
use crate::manifest::Manifest;

/// Images without a version that were not so before.
///
/// Reference: kubernetes docs/concepts/containers/images: no tag is `latest`.
pub(super) fn floating_images(old: Option<&Manifest>, new: &Manifest) -> Vec<Danger> {
    let floats = |image: &str| matches!(Image::parse(image).version, "" | "latest");
    let image =
        |container: &'_ Value| container.get("image").and_then(Value::as_str).unwrap_or_default().trim().to_owned();
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
