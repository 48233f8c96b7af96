//! Services of Knative: what its webhook refuses.

use std::collections::{BTreeMap, BTreeSet};

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

/// Requests that go to another revision.
///
/// Reference: knative.dev docs/serving/traffic-management: without `traffic`, all go to the latest.
pub(super) fn shifted(old: &Manifest, new: &Manifest) -> Option<Danger> {
    if !is_service(new) || new.kind() != "Service" {
        return None;
    }
    let shares = |service: &Manifest| -> BTreeMap<String, i64> {
        let mut found = BTreeMap::new();
        for one in items(service.object(), &["spec", "traffic"]) {
            let name = match word(one, &["revisionName"]) {
                "" => "the latest",
                name => name,
            };
            *found.entry(name.to_owned()).or_insert(0) += number(one, &["percent"]).unwrap_or(0);
        }
        if found.is_empty() {
            found.insert("the latest".to_owned(), 100);
        }
        found
    };
    let (was, now) = (shares(old), shares(new));
    let names: BTreeSet<&String> = was.keys().chain(now.keys()).collect();
    let get = |all: &BTreeMap<String, i64>, name: &String| all.get(name).copied().unwrap_or_default();
    let shifts = names.into_iter().filter(|name| get(&was, name) != get(&now, name));
    let shifts: Vec<String> =
        shifts.map(|name| format!("{name} {}% → {}%", get(&was, name), get(&now, name))).collect();
    (!shifts.is_empty()).then(|| {
        let text = format!("requests go to other revisions: {}", shifts.join(", "));
        Danger::said(Severity::Other, "traffic", text, "check that those who get more can serve it")
    })
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
