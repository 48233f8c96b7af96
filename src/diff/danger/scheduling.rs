//! Pods that no node takes, as far as the Pods beside them and their own words tell.

use go_yaml::{Mapping, Value};

use super::availability::fewest;
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{Placed, Side, selects, word};
use crate::manifest::Manifest;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";

/// A workload whose new Pods stay pending.
pub(super) fn impossible<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let text = alone(old, new, around).into_iter().chain(contradicting(old, new)).chain(crowded(old, new, around));
    let danger = |text| {
        let advice = "keep what it asks for to what there is";
        Danger::said(Severity::Outage, "unschedulable", text, advice)
    };
    text.map(danger).collect()
}

/// The selectors of Pods of its namespace beside which alone a workload may run.
fn selectors(workload: &Manifest) -> Vec<&Value> {
    let terms = spec(workload).map(|pods| items(pods, &["affinity", "podAffinity", REQUIRED])).unwrap_or_default();
    let elsewhere = ["namespaces", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"];
    let is_plain = |term: &&Value| elsewhere.iter().all(|key| term.get(key).is_none());
    terms.iter().filter(is_plain).filter_map(|term| term.get("labelSelector")).collect()
}

/// A required affinity that no Pod meets any more. One that Pods of git have never met may be for those that an operator makes.
///
/// Reference: kubernetes docs/concepts/scheduling-eviction/assign-pod-node, "Inter-pod affinity and anti-affinity".
fn alone<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<String> {
    let (before, after) = (&around.model.before, &around.model.after);
    let (home, namespace) = (around.before(old).namespace, around.after(new).namespace);
    if !around.model.is_whole {
        return None;
    }
    let was: Vec<&Value> = selectors(old).into_iter().filter(|one| before.has_pods(home, one)).collect();
    let now = selectors(new);
    let keys = |selector: &Value| -> Vec<String> {
        let labels = selector.get("matchLabels").and_then(Value::as_mapping);
        labels.into_iter().flat_map(Mapping::keys).cloned().collect()
    };
    let was_met = |selector: &Value| {
        let replaces = |one: &&&Value| !now.contains(*one) && !keys(one).is_empty() && keys(one) == keys(selector);
        was.contains(&selector) || was.iter().any(|one| replaces(&one))
    };
    let lost = now.iter().find(|one| was_met(one) && !after.has_pods(namespace, one))?;
    Some(format!(
        "asks for Pods with {} beside its own, and none has these labels: new Pods stay pending",
        labels(lost)
    ))
}

/// `app=cache,tier=a`; what else a selector has is left out.
fn labels(selector: &Value) -> String {
    let labels = selector.get("matchLabels").and_then(Value::as_mapping);
    let text = |(key, value): (&String, &Value)| format!("{key}={}", value.as_str().unwrap_or_default());
    let all: Vec<String> = labels.into_iter().flat_map(Mapping::iter).map(text).collect();
    if all.is_empty() { "labels by its expressions".to_owned() } else { all.join(",") }
}

/// Several Pods that ask for one node, and each for one without the others.
///
/// Reference: kubernetes docs/concepts/scheduling-eviction/assign-pod-node, "Inter-pod affinity and anti-affinity".
fn crowded<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<String> {
    let is_it = |one: Placed<'a>, side: &Side<'a>| {
        let Some(pods) = spec(one.manifest) else { return false };
        let is_of_one = pods.at(&["nodeSelector", HOST]).is_some();
        let is_away = |term: &Value| {
            let selector = term.get("labelSelector").cloned().unwrap_or_default();
            word(term, &["topologyKey"]) == HOST && selects(&selector, one.manifest)
        };
        let terms = items(pods, &["affinity", "podAntiAffinity", REQUIRED]);
        is_of_one && terms.iter().any(is_away) && fewest(one, side).is_some_and(|count| count > 1)
    };
    let is_new = is_it(around.after(new), &around.model.after) && !is_it(around.before(old), &around.model.before);
    is_new.then(|| "asks for one node, and each Pod for one without the others: all but one stay pending".to_owned())
}

const HOST: &str = "kubernetes.io/hostname";

/// A label of nodes that a workload asks for and leaves out at once.
///
/// Reference: kubernetes docs/concepts/scheduling-eviction/assign-pod-node: both `nodeSelector` and `nodeAffinity` have to be met, one of
/// its terms, and all expressions of that.
fn contradicting(old: &Manifest, new: &Manifest) -> Option<String> {
    let label = contradiction(spec(new)?)?;
    spec(old).and_then(contradiction).is_none().then(|| {
        format!("asks for nodes with {label}, which its affinity leaves out: no node is both, so new Pods stay pending")
    })
}

fn contradiction(pods: &Value) -> Option<String> {
    let wanted = pods.get("nodeSelector").and_then(Value::as_mapping)?;
    let terms = items(pods, &["affinity", "nodeAffinity", REQUIRED, "nodeSelectorTerms"]);
    let leaves_out = |expression: &Value| {
        let value = wanted.get(word(expression, &["key"]))?;
        let is_among = items(expression, &["values"]).contains(value);
        let is_out = match word(expression, &["operator"]) {
            "In" => !is_among,
            "NotIn" => is_among,
            "DoesNotExist" => true,
            _ => false,
        };
        is_out.then(|| format!("{}={}", word(expression, &["key"]), value.as_str().unwrap_or_default()))
    };
    let out: Vec<Option<String>> =
        terms.iter().map(|term| items(term, &["matchExpressions"]).iter().find_map(leaves_out)).collect();
    out.into_iter().collect::<Option<Vec<String>>>()?.into_iter().next()
}
