//! Services of Knative: what its webhook refuses.

use go_yaml::Value;

use super::{Danger, Severity, items};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

fn is_service(object: &Manifest) -> bool {
    object.home_group() == "serving.knative.dev" && matches!(object.kind(), "Service" | "Configuration")
}

/// Shares of requests that are not all of them, and a revision whose name is not that of its Service.
///
/// Reference: knative/serving pkg/apis/serving/v1/route_validation.go `validateTrafficList`; revision_validation.go
/// `validateRevisionName`: the name has to begin with that of its Service and a dash.
pub(super) fn reasons(object: &Manifest) -> Vec<String> {
    let traffic = items(object.object(), &["spec", "traffic"]);
    let mut found = Vec::new();
    let is_routed = matches!(object.kind(), "Service" | "Route") && object.home_group() == "serving.knative.dev";
    let sum: i64 = traffic.iter().filter_map(|one| number(one, &["percent"])).sum();
    if is_routed && !traffic.is_empty() && sum != 100 {
        found.push(format!("`percent` of `traffic` is {sum} in all, and must be 100"));
    }
    let name = word(object.object(), &["spec", "template", "metadata", "name"]);
    if is_service(object) && !name.is_empty() && !name.starts_with(&format!("{}-", object.name())) {
        found.push(format!("`template.metadata.name: {name}` does not begin with `{}-`", object.name()));
    }
    found
}

/// A template that changes and keeps the name of its revision.
///
/// Reference: knative/serving pkg/apis/serving/v1/revision_validation.go `VerifyNameChange`.
pub(super) fn renamed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let template = |object: &'_ Manifest| object.object().at(&["spec", "template"]).cloned().unwrap_or_default();
    let name = |template: &Value| word(template, &["metadata", "name"]).to_owned();
    let (was, now) = (template(old), template(new));
    let is_kept = is_service(new) && !name(&now).is_empty() && name(&was) == name(&now) && was != now;
    is_kept.then(|| {
        let text = format!(
            "the template changes and keeps the revision `{}`: Knative refuses it, so the sync fails",
            name(&now)
        );
        Danger::said(Severity::Refused, "invalid", text, "keep no name for revisions, or give each another one")
    })
}
