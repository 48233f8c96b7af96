//! Monitors and rules that Prometheus no longer reads, by their labels.
//!
//! Reference: prometheus-operator/prometheus-operator Documentation/api-reference/api.md `ruleSelector`, `serviceMonitorSelector`: an empty
//! one is for all, none is for nothing; `…NamespaceSelector`: without one, the namespace of the object alone.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::name;
use super::{Around, Danger, Severity, alertmanager, items};
use crate::diff::model::{Placed, Side, chooses, word};
use crate::manifest::Manifest;

/// How many objects are named.
const NAMED_MAX: usize = 4;

/// Kinds that others choose by labels: the kind, and the start of the selectors.
const CHOSEN: [(&str, &str); 6] = [
    ("ServiceMonitor", "serviceMonitor"),
    ("PodMonitor", "podMonitor"),
    ("Probe", "probe"),
    ("ScrapeConfig", "scrapeConfig"),
    ("PrometheusRule", "rule"),
    ("AlertmanagerConfig", "alertmanagerConfig"),
];

fn start(object: &Manifest) -> Option<&'static str> {
    let is_it = |(kind, _): &&(&str, &str)| object.home_group() == GROUP && object.kind() == *kind;
    CHOSEN.iter().find(is_it).map(|(_, start)| *start)
}

const GROUP: &str = "monitoring.coreos.com";

/// Whether a Prometheus, or what is like it, chooses an object; none where the labels of its namespace are not known.
fn reads(reader: Placed<'_>, object: Placed<'_>, side: &Side<'_>) -> Option<bool> {
    let start = start(object.manifest)?;
    let spec = reader.manifest.object().get("spec");
    let part = |end: &str| spec.and_then(|spec| spec.get(&format!("{start}{end}"))).filter(|value| !value.is_null());
    let labels = object.manifest.object().at(&["metadata", "labels"]).and_then(Value::as_mapping);
    if !part("Selector").is_some_and(|selector| chooses(selector, labels)) {
        return Some(false);
    }
    let Some(selector) = part("NamespaceSelector") else { return Some(reader.namespace == object.namespace) };
    let is_all = selector.as_mapping().is_some_and(go_yaml::Mapping::is_empty);
    if is_all {
        return Some(true);
    }
    let space = side.listed("Namespace").find(|one| one.manifest.name() == object.namespace)?;
    let mut labels =
        space.manifest.object().at(&["metadata", "labels"]).and_then(Value::as_mapping).cloned().unwrap_or_default();
    labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(object.namespace));
    Some(chooses(selector, Some(&labels)))
}

/// The objects that choose others, those beside included.
fn readers<'s>(side: &'s Side<'_>) -> Vec<Placed<'s>> {
    let own = side.all().iter().copied().filter(|one| is_reader(one.manifest));
    own.chain(side.beside_of(GROUP).filter(|one| is_reader(one.manifest))).collect()
}

fn is_reader(object: &Manifest) -> bool {
    object.home_group() == GROUP
        && matches!(object.kind(), "Prometheus" | "PrometheusAgent" | "ThanosRuler" | "Alertmanager")
}

/// A monitor or a rule that was read, and that nothing reads any more.
pub(super) fn unread<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if is_reader(new) {
        return reads_less(old, new, around);
    }
    start(new)?;
    let labels = |object: &'a Manifest| object.object().at(&["metadata", "labels"]);
    if labels(old) == labels(new) {
        return None;
    }
    let (was, now) = (around.before(old), around.after(new));
    let (before, after) = (&around.model.before, &around.model.after);
    let was_read = readers(before).into_iter().any(|reader| reads(reader, was, before) == Some(true));
    let is_read = readers(after).into_iter().any(|reader| reads(reader, now, after) != Some(false));
    (was_read && !is_read).then(|| {
        let (does, advice) = effect(new.kind());
        let text = format!("no longer has the labels by which it was chosen: {does}");
        Danger::said(Severity::Other, "alertGone", text, advice)
    })
}

fn effect(kind: &str) -> (&'static str, &'static str) {
    let advice = "keep the labels by which it is chosen";
    match kind {
        "PrometheusRule" => ("none of its alerts is raised any more", advice),
        "AlertmanagerConfig" => ("none of its receivers gets alerts any more", advice),
        _ => ("what it is for is not read any more", advice),
    }
}

/// A Prometheus that no longer chooses what it chose.
fn reads_less<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (was, now) = (around.before(old), around.after(new));
    let (before, after) = (&around.model.before, &around.model.after);
    let objects = after.all().iter().copied().chain(after.beside_of(GROUP));
    let others: Vec<Placed<'_>> = readers(after);
    let is_lost = |one: &Placed<'_>| {
        let labels = |object: Placed<'_>| object.manifest.object().at(&["metadata", "labels"]).cloned();
        // Of one that has other labels it is said itself.
        let is_same = before.find(*one).is_none_or(|was| labels(was) == labels(*one));
        is_same
            && start(one.manifest).is_some()
            && reads(was, *one, before) == Some(true)
            && reads(now, *one, after) == Some(false)
            && !others.iter().any(|other| reads(*other, *one, after) != Some(false))
    };
    let names: BTreeSet<String> = objects.filter(is_lost).map(name).collect();
    (!names.is_empty()).then(|| {
        let text = format!("no longer chooses {}: nothing else does", listed(names, NAMED_MAX));
        Danger::said(Severity::Other, "alertGone", text, "keep the selector for what it shall read")
    })
}

/// Alerts that somebody got, and that no one gets any more.
///
/// Reference: prometheus.io docs, alerting/configuration, `route`: a receiver without any integration sends nothing.
pub(super) fn unsent(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == (GROUP, "AlertmanagerConfig");
    if !is_it || alertmanager::names_none(old, new) {
        return None;
    }
    let (was, now) = (sent(old), sent(new));
    let lost = |(route, receiver): &(&String, &String)| {
        now.get(*route).is_some_and(|to| to.is_empty() && !receiver.is_empty())
    };
    let gone: BTreeSet<&str> = was.iter().filter(lost).map(|(_, receiver)| receiver.as_str()).collect();
    (!gone.is_empty()).then(|| {
        let text =
            format!("alerts of a route no longer reach {}: its receiver sends them nowhere", listed(gone, NAMED_MAX));
        Danger::said(Severity::Other, "alertGone", text, "check that somebody gets them in another way")
    })
}

/// Each route by what it is for, with its receiver where that sends alerts somewhere.
fn sent(config: &Manifest) -> BTreeMap<String, String> {
    let spec = config.object().get("spec").cloned().unwrap_or_default();
    let sends = |receiver: &&Value| {
        let mut fields = receiver.as_mapping().into_iter().flatten();
        fields.any(|(key, value)| key.ends_with("Configs") && value.as_sequence().is_some_and(|all| !all.is_empty()))
    };
    let sending: BTreeSet<&str> =
        items(&spec, &["receivers"]).iter().filter(sends).map(|one| word(one, &["name"])).collect();
    let mut found = BTreeMap::new();
    routes(spec.get("route"), "", "", &sending, &mut found);
    found
}

fn routes(
    route: Option<&Value>,
    above: &str,
    inherited: &str,
    sending: &BTreeSet<&str>,
    found: &mut BTreeMap<String, String>,
) {
    let Some(route) = route else { return };
    let place = format!("{above}/{:?}", route.get("matchers"));
    let receiver = match word(route, &["receiver"]) {
        "" => inherited,
        name => name,
    };
    let sent = if sending.contains(receiver) { receiver } else { "" };
    found.insert(place.clone(), sent.to_owned());
    items(route, &["routes"]).iter().for_each(|one| routes(Some(one), &place, receiver, sending, found));
}
