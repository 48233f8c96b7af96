//! Webhooks of admission: those that fail closed, that are asked about less, and that go.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::super::{Around, Danger, Severity, items};
use super::NAMED_MAX;
use crate::diff::model::{Side, Thing, word};
use crate::manifest::Manifest;

pub(super) fn are_webhooks(object: &Manifest) -> bool {
    object.home_group() == "admissionregistration.k8s.io" && object.kind().ends_with("WebhookConfiguration")
}

/// The webhooks that there were already, by name: as they were, and as they are.
pub(super) fn of_both<'a>(
    old: &'a Manifest,
    new: &'a Manifest,
) -> impl Iterator<Item = (&'a str, &'a Value, &'a Value)> {
    items(new.object(), &["webhooks"]).iter().filter_map(|webhook| {
        let name = word(webhook, &["name"]);
        let was = items(old.object(), &["webhooks"]).iter().find(|was| word(was, &["name"]) == name)?;
        Some((name, was, webhook))
    })
}

/// Webhooks that fail closed, or for more than before.
///
/// Reference: kubernetes docs/reference/access-authn-authz/extensible-admission-controllers: `Fail` is the default, and no
/// selector is for all namespaces.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if !are_webhooks(new) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, was, webhook) in of_both(old, new) {
        if new.kind() == "ValidatingWebhookConfiguration" {
            found.extend(asked_less(was, webhook, name));
        }
        if !fails_closed(webhook) {
            continue;
        }
        let all = if is_for_all(webhook) { ", in all namespaces" } else { "" };
        let danger = |text| {
            Danger::said(
                Severity::Outage,
                "gate",
                text,
                "keep `failurePolicy: Ignore` and a `namespaceSelector` until it is known to answer",
            )
        };
        if !fails_closed(was) {
            found.push(danger(format!(
                "`failurePolicy: Fail` of {name}: while it does not answer, the API server refuses all that it is asked about{all}"
            )));
        } else if is_for_all(webhook) && !is_for_all(was) {
            found.push(danger(format!(
                "{name} is for all namespaces now: while it does not answer, the API server refuses what it is asked about in all of them, `kube-system` too"
            )));
        }
    }
    found
}

/// A webhook that refuses, and is asked about less than before, or heeded less.
///
/// Reference: kubernetes docs/reference/access-authn-authz/extensible-admission-controllers, "Matching requests: rules", "Failure policy".
fn asked_less(was: &Value, now: &Value, name: &str) -> Vec<Danger> {
    let operations = |webhook: &'_ Value| -> BTreeSet<String> {
        let all = items(webhook, &["rules"]).iter().flat_map(|rule| items(rule, &["operations"]));
        let all = all.filter_map(Value::as_str).flat_map(|operation| match operation {
            "*" => ["CREATE", "UPDATE", "DELETE", "CONNECT"].map(str::to_owned).to_vec(),
            one => vec![one.to_owned()],
        });
        all.collect()
    };
    let mut found = Vec::new();
    let mut ungated = |text| {
        found.push(Danger::said(Severity::Security, "ungated", text, "keep it refusing what must not run"));
    };
    if fails_closed(was) && !fails_closed(now) {
        ungated(format!("`failurePolicy: Ignore` of {name}: while it does not answer, what it refuses is let in"));
    }
    let (before, after) = (operations(was), operations(now));
    let gone: Vec<&String> = before.difference(&after).collect();
    if !gone.is_empty() {
        let gone = listed(gone, NAMED_MAX);
        ungated(format!("{name} is no longer asked about {gone}: what it refuses of that is let in"));
    }
    found
}

pub(super) fn fails_closed(webhook: &Value) -> bool {
    word(webhook, &["failurePolicy"]) != "Ignore"
}

/// Whether no selector leaves any object out.
pub(super) fn is_for_all(webhook: &Value) -> bool {
    let is_open = |key| match webhook.get(key).and_then(Value::as_mapping) {
        Some(selector) => selector.values().all(|part| {
            part.as_mapping().is_some_and(Mapping::is_empty) || part.as_sequence().is_some_and(<[Value]>::is_empty)
        }),
        None => true,
    };
    is_open("namespaceSelector") && is_open("objectSelector")
}

/// Webhooks that are no longer asked, and that none is asked in place of.
///
/// Reference: kubernetes docs/reference/access-authn-authz/extensible-admission-controllers: what is configured is asked.
pub(in crate::diff::danger) fn gone<'a>(
    old: &'a Manifest,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    if !are_webhooks(old) || new.is_none() && !pruning.removes() {
        return None;
    }
    let now = around.model.after.all().iter().map(|one| one.manifest).filter(|one| one.kind() == old.kind());
    let now: Vec<&Value> = now.flat_map(|one| items(one.object(), &["webhooks"])).collect();
    let is_asked = |webhook: &Value| {
        now.iter().any(|one| {
            word(one, &["name"]) == word(webhook, &["name"]) || asks(one).is_some() && asks(one) == asks(webhook)
        })
    };
    let lost = items(old.object(), &["webhooks"]).iter();
    let lost = lost.filter(|webhook| !is_asked(webhook) && !goes_with_kinds(webhook, around));
    let names: BTreeSet<&str> = lost.map(|webhook| word(webhook, &["name"])).collect();
    (!names.is_empty()).then(|| {
        let start = if new.is_none() { "removed: " } else { "" };
        let effect = match old.kind() {
            "ValidatingWebhookConfiguration" => "what it refuses is let in",
            _ => "objects stay as they come, without what it sets",
        };
        let text = format!("{start}nothing asks {} any more: {effect}", listed(names, NAMED_MAX));
        let danger = Danger::said(Severity::Security, "ungated", text, "keep it, or what does its work elsewhere");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}

/// Whom a webhook asks: a URL, or a path of a Service.
fn asks(webhook: &Value) -> Option<[&str; 3]> {
    let service = |key| word(webhook, &["clientConfig", "service", key]);
    match (word(webhook, &["clientConfig", "url"]), service("name")) {
        ("", "") => None,
        ("", name) => Some([service("namespace"), name, service("path")]),
        (url, _) => Some([url, "", ""]),
    }
}

/// Whether a webhook is for custom kinds alone that go too, or whose operator goes.
fn goes_with_kinds(webhook: &Value, around: &Around<'_>) -> bool {
    let (before, after) = (&around.model.before, &around.model.after);
    let groups = items(webhook, &["rules"]).iter().flat_map(|rule| items(rule, &["apiGroups"]));
    let groups: BTreeSet<&str> = groups.filter_map(Value::as_str).collect();
    let is_custom = |group: &&str| group.contains('.') && !group.ends_with(".k8s.io");
    let service = |key| word(webhook, &["clientConfig", "service", key]).to_owned();
    let service = Thing { kind: "Service", namespace: service("namespace"), name: service("name") };
    let operator_goes = before.provides(&service) && !after.provides(&service);
    let is_defined = |side: &Side<'_>, group: &str| {
        side.provided("CustomResourceDefinition", "")
            .any(|one| one.name.split_once('.').is_some_and(|(_, of)| of == group))
    };
    let goes = |group: &&str| operator_goes || is_defined(before, group) && !is_defined(after, group);
    !groups.is_empty() && groups.iter().all(|group| is_custom(group) && goes(group))
}
