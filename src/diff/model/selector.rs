//! Label selectors, and the Pods that they choose.

use go_yaml::{Mapping, Value};

use super::{items, pods, word};
use crate::manifest::Manifest;

/// Whether a label selector chooses the Pods of a workload. One with an operator that is not known chooses none.
pub(in crate::diff) fn selects(selector: &Value, workload: &Manifest) -> bool {
    chooses(selector, pods::template_labels(workload))
}

/// Whether a label selector chooses what has these labels.
pub(in crate::diff) fn chooses(selector: &Value, labels: Option<&Mapping>) -> bool {
    let none = Mapping::new();
    let labels = labels.unwrap_or(&none);
    let wanted = selector.get("matchLabels").and_then(Value::as_mapping).unwrap_or(&none);
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
        && items(selector, &["matchExpressions"]).iter().all(|expression| is_met(expression, labels))
}

fn is_met(expression: &Value, labels: &Mapping) -> bool {
    let label = labels.get(word(expression, &["key"]));
    let is_among = label.is_some_and(|label| items(expression, &["values"]).contains(label));
    match word(expression, &["operator"]) {
        "In" => is_among,
        "NotIn" => !is_among,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

/// The selector by which a Service or a NetworkPolicy chooses Pods, as a label selector; none for one that chooses none.
pub(super) fn of(object: &Manifest) -> Option<Value> {
    match object.kind() {
        "NetworkPolicy" => {
            let selector = object.object().at(&["spec", "podSelector"]).cloned();
            Some(selector.unwrap_or_else(|| Value::Mapping(Mapping::new())))
        }
        _ => of_service(object),
    }
}

/// The selector of a Service as a label selector; none for a Service that selects no Pods.
pub(super) fn of_service(service: &Manifest) -> Option<Value> {
    let is_elsewhere = word(service.object(), &["spec", "type"]) == "ExternalName";
    plain(service).filter(|_| !is_elsewhere)
}

/// The selector of a workload as a label selector: that of a ReplicationController is one of labels alone.
pub(in crate::diff) fn of_workload(workload: &Manifest) -> Option<Value> {
    match (workload.home_group(), workload.kind()) {
        ("", "ReplicationController") => plain(workload),
        _ => workload.object().at(&["spec", "selector"]).cloned(),
    }
}

/// A selector that is a mapping of labels, as a label selector; none where it is empty.
fn plain(object: &Manifest) -> Option<Value> {
    let labels = object.object().at(&["spec", "selector"])?;
    let is_empty = labels.as_mapping().is_none_or(Mapping::is_empty);
    (!is_empty).then(|| Value::Mapping(Mapping::from([("matchLabels".to_owned(), labels.clone())])))
}

/// Whether two selectors are the same, or the second chooses all Pods.
pub(in crate::diff) fn covers(selector: Option<&Value>, other: Option<&Value>) -> bool {
    let is_empty = |value: &Value| value.as_mapping().is_some_and(|mapping| mapping.values().all(is_nothing));
    selector == other || other.is_some_and(is_empty)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Mapping(mapping) => mapping.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        value => value.is_null(),
    }
}
