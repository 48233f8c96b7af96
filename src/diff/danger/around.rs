//! The objects beside the one that changed: what protects it, and what takes its place.

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::{Pruning, items, text};
use crate::manifest::Manifest;

/// What is known beside one object. Only objects of destination paths that change are.
#[derive(Debug)]
pub(in crate::diff) struct Around<'a> {
    /// What becomes of objects that are no longer in git.
    pub pruning: Pruning,
    /// Whether its Application had no objects before.
    pub is_new: bool,
    /// Whether another Application had it before.
    pub is_handed_over: bool,
    index: &'a Index<'a>,
}

/// The objects before and after that rules ask for.
#[derive(Debug, Default)]
pub(in crate::diff) struct Index<'a> {
    before: Side<'a>,
    after: Side<'a>,
}

#[derive(Debug, Default)]
struct Side<'a> {
    workloads: Vec<&'a Manifest>,
    policies: Vec<&'a Manifest>,
    budgets: Vec<&'a Manifest>,
    hosts: BTreeSet<&'a str>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(old: impl Iterator<Item = &'a Manifest>, new: impl Iterator<Item = &'a Manifest>) -> Self {
        Self { before: Side::new(old), after: Side::new(new) }
    }
}

impl<'a> Side<'a> {
    fn new(manifests: impl Iterator<Item = &'a Manifest>) -> Self {
        let mut side = Self::default();
        for manifest in manifests {
            match (manifest.group(), manifest.kind()) {
                ("apps", _) | ("argoproj.io", "Rollout") => side.workloads.push(manifest),
                ("networking.k8s.io", "NetworkPolicy") => side.policies.push(manifest),
                ("policy", "PodDisruptionBudget") => side.budgets.push(manifest),
                _ => {}
            }
            side.hosts.extend(hosts(manifest));
        }
        side
    }

    fn selected(&self, namespace: &str, selector: Option<&Value>) -> impl Iterator<Item = &'a Manifest> {
        let is_selected = move |workload: &&Manifest| {
            workload.namespace() == namespace && selector.is_some_and(|selector| selects(selector, workload))
        };
        self.workloads.iter().copied().filter(is_selected)
    }
}

impl<'a> Around<'a> {
    pub(crate) fn new(pruning: Pruning, is_new: bool, index: &'a Index<'a>) -> Self {
        Self { pruning, is_new, is_handed_over: false, index }
    }

    /// Whether some object serves the host after the change.
    pub(crate) fn serves(&self, host: &str) -> bool {
        self.index.after.hosts.contains(host)
    }

    /// The workloads after the change whose Pods a selector chooses.
    pub(crate) fn selected(&self, namespace: &str, selector: Option<&Value>) -> impl Iterator<Item = &'a Manifest> {
        self.index.after.selected(namespace, selector)
    }

    /// The workloads before the change whose Pods a selector chooses.
    pub(crate) fn selected_before(
        &self,
        namespace: &str,
        selector: Option<&Value>,
    ) -> impl Iterator<Item = &'a Manifest> {
        self.index.before.selected(namespace, selector)
    }

    /// Whether the Pods that a selector chooses are gone too.
    pub(crate) fn are_pods_gone(&self, namespace: &str, selector: Option<&Value>) -> bool {
        let mut before = self.selected_before(namespace, selector);
        before.next().is_some() && self.selected(namespace, selector).next().is_none()
    }

    /// The NetworkPolicies of a namespace after the change, but one.
    pub(crate) fn other_policies(&self, of: &Manifest) -> impl Iterator<Item = &'a Manifest> {
        others(&self.index.after.policies, of)
    }

    /// The PodDisruptionBudgets of a namespace after the change, but one.
    pub(crate) fn other_budgets(&self, of: &Manifest) -> impl Iterator<Item = &'a Manifest> {
        others(&self.index.after.budgets, of)
    }
}

fn others<'a>(manifests: &[&'a Manifest], of: &Manifest) -> impl Iterator<Item = &'a Manifest> {
    let place = |manifest: &Manifest| (manifest.namespace().to_owned(), manifest.name().to_owned());
    let (namespace, name) = place(of);
    manifests.iter().copied().filter(move |other| other.namespace() == namespace && other.name() != name)
}

/// Whether a label selector chooses the Pods of a workload. One with an operator that is not known chooses none.
pub(super) fn selects(selector: &Value, workload: &Manifest) -> bool {
    let none = Mapping::new();
    let labels = workload.object().at(&["spec", "template", "metadata", "labels"]).and_then(Value::as_mapping);
    let labels = labels.unwrap_or(&none);
    let wanted = selector.get("matchLabels").and_then(Value::as_mapping).unwrap_or(&none);
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
        && items(selector, &["matchExpressions"]).iter().all(|expression| is_met(expression, labels))
}

fn is_met(expression: &Value, labels: &Mapping) -> bool {
    let word = |key| expression.get(key).and_then(Value::as_str).unwrap_or_default();
    let label = labels.get(word("key"));
    let is_among = label.is_some_and(|label| items(expression, &["values"]).contains(label));
    match word("operator") {
        "In" => is_among,
        "NotIn" => !is_among,
        "Exists" => label.is_some(),
        "DoesNotExist" => label.is_none(),
        _ => false,
    }
}

/// Whether two selectors are the same, or the second chooses all Pods.
pub(super) fn covers(selector: Option<&Value>, other: Option<&Value>) -> bool {
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

/// The type of a Service; ClusterIP when it has none.
pub(super) fn service_type(service: &Manifest) -> &str {
    match text(service, &["spec", "type"]) {
        "" => "ClusterIP",
        sort => sort,
    }
}

/// The hosts that an object serves: those of an Ingress, a route of the Gateway API, a Route of OpenShift.
pub(super) fn hosts(manifest: &Manifest) -> Vec<&str> {
    let object = manifest.object();
    match (manifest.group(), manifest.kind()) {
        ("networking.k8s.io" | "extensions", "Ingress") => {
            let rules = items(object, &["spec", "rules"]).iter();
            rules.filter_map(|rule| rule.get("host").and_then(Value::as_str)).collect()
        }
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute" | "TLSRoute") => {
            items(object, &["spec", "hostnames"]).iter().filter_map(Value::as_str).collect()
        }
        ("route.openshift.io", "Route") => Some(text(manifest, &["spec", "host"])).into_iter().collect(),
        _ => Vec::new(),
    }
}
