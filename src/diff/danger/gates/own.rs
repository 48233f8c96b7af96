//! Webhooks that are asked about the Pods that answer them, and those whose certificate the API server does not trust any more.

use go_yaml::{Mapping, Value};

use super::super::{Around, Danger, Severity, items};
use super::webhooks::{are_webhooks, fails_closed, is_for_all, of_both};
use crate::diff::model::{Placed, Side, chooses, pods, word};
use crate::manifest::Manifest;

/// The label that each namespace has.
const NAME: &str = "kubernetes.io/metadata.name";

/// A webhook that fails closed and is asked about Pods of its own namespace from now on: once they are all gone, none is made.
///
/// Reference: kubernetes docs/concepts/cluster-administration/admission-webhooks-good-practices, "Avoid dependency loops".
pub(super) fn asked<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !are_webhooks(new) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, was, webhook) in of_both(old, new) {
        // Of one that is for all namespaces from now on, or fails closed, it is said already.
        let is_said = !fails_closed(was) || is_for_all(webhook) && !is_for_all(was);
        let is_asked = asks_itself(webhook, &around.model.after) == Some(true);
        if !is_said && is_asked && asks_itself(was, &around.model.before) == Some(false) {
            let namespace = word(webhook, &["clientConfig", "service", "namespace"]);
            let text = format!(
                "{name} is asked about Pods of its own namespace {namespace} from now on, and fails closed: once none of them answers, none can be made"
            );
            let advice = "keep its own namespace out of it by `namespaceSelector`";
            found.push(Danger::said(Severity::Outage, "gate", text, advice));
        }
    }
    found
}

/// A webhook that comes, fails closed and is asked about Pods of its own namespace.
pub(in crate::diff::danger) fn anew<'a>(
    old: Option<&'a Manifest>,
    new: &'a Manifest,
    around: &Around<'a>,
) -> Option<Danger> {
    if old.is_some() || around.counterpart.is_some() || !are_webhooks(new) {
        return None;
    }
    // The Pods that answer have to be known: others may be kept out by what is set elsewhere.
    let answers = |webhook: &Value| {
        let service = |key| word(webhook, &["clientConfig", "service", key]);
        let mut services = around.model.after.of_kind("Service", service("namespace"));
        services.any(|one| one.manifest.name() == service("name") && !around.model.after.served_by(one).is_empty())
    };
    let mut webhooks = items(new.object(), &["webhooks"]).iter();
    let webhook = webhooks.find(|one| asks_itself(one, &around.model.after) == Some(true) && answers(one))?;
    let namespace = word(webhook, &["clientConfig", "service", "namespace"]);
    let text = format!(
        "{} is asked about Pods of its own namespace {namespace}, and fails closed: once none of them answers, none can be made",
        word(webhook, &["name"])
    );
    let advice = "keep its own namespace out of it by `namespaceSelector`";
    Some(Danger::said(Severity::Outage, "gate", text, advice))
}

/// Whether a webhook is asked before Pods are made that answer it; none where that is not known.
fn asks_itself(webhook: &Value, side: &Side<'_>) -> Option<bool> {
    let service = |key| word(webhook, &["clientConfig", "service", key]);
    let has = |rule: &Value, key: &str, wanted: &[&str]| {
        items(rule, &[key]).iter().filter_map(Value::as_str).any(|one| wanted.contains(&one))
    };
    let is_for_pods = |rule: &Value| {
        has(rule, "apiGroups", &["", "*"])
            && has(rule, "resources", &["pods", "*", "*/*"])
            && has(rule, "operations", &["CREATE", "*"])
    };
    if service("name").is_empty() || !fails_closed(webhook) || !items(webhook, &["rules"]).iter().any(is_for_pods) {
        return Some(false);
    }
    if !items(webhook, &["matchConditions"]).is_empty() {
        return None;
    }
    let namespace = service("namespace");
    let is_space = |one: &Placed<'_>| one.manifest.name() == namespace;
    let space = side.listed("Namespace").find(is_space);
    let labels = space.and_then(|one| one.manifest.object().at(&["metadata", "labels"])).and_then(Value::as_mapping);
    let mut known = labels.cloned().unwrap_or_default();
    known.insert(NAME.to_owned(), Value::from(namespace));
    let selector = webhook.get("namespaceSelector").cloned().unwrap_or_default();
    if space.is_none() && !asks_for(&selector).iter().all(|key| key == NAME) {
        return None;
    }
    if !chooses(&selector, Some(&known)) {
        return Some(false);
    }
    let selector = webhook.get("objectSelector").cloned().unwrap_or_default();
    if asks_for(&selector).is_empty() {
        return Some(true);
    }
    let is_it = |one: &Placed<'_>| one.manifest.name() == service("name");
    let asked = side.of_kind("Service", namespace).find(is_it)?;
    let answering = side.served_by(asked);
    let is_chosen = |one: &Placed<'_>| chooses(&selector, pods::labels(one.manifest));
    (!answering.is_empty()).then(|| answering.iter().any(is_chosen))
}

/// The labels that a selector asks for.
fn asks_for(selector: &Value) -> Vec<String> {
    let labels = selector.get("matchLabels").and_then(Value::as_mapping).into_iter().flat_map(Mapping::keys).cloned();
    let keys = items(selector, &["matchExpressions"]).iter().map(|one| word(one, &["key"]).to_owned());
    labels.chain(keys).collect()
}

/// Annotations by which a controller sets `caBundle`.
///
/// Reference: cert-manager.io docs/concepts/ca-injector; docs.openshift.com service serving certificates.
const INJECTED: [&str; 6] = [
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "certmanager.k8s.io/inject-ca-from",
    "service.beta.openshift.io/inject-cabundle",
    "service.alpha.openshift.io/inject-cabundle",
];

/// What the API server asks over TLS by a Service, and whose `caBundle` nothing sets any more.
///
/// Reference: kubernetes docs/reference/access-authn-authz/extensible-admission-controllers, "Service reference": `caBundle` is what the
/// certificate is checked with.
pub(super) fn untrusted<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let annotated = |object: &Manifest| {
        INJECTED.iter().any(|key| !word(object.object(), &["metadata", "annotations", key]).is_empty())
    };
    let (was, now) = (clients(old), clients(new));
    let is_given = |client: &Value| !matches!(word(client, &["caBundle"]), "" | "Cg==" | "XG4=");
    let by_service = |client: &Value| client.get("service").is_some_and(|service| !service.is_null());
    let is_lost = |client: &&&Value| by_service(client) && !is_given(client);
    let lacking = now.iter().filter(is_lost).count();
    let lacked = was.iter().filter(is_lost).count();
    let why = match (annotated(old), annotated(new)) {
        (_, true) => return None,
        (true, false) if lacking > 0 => {
            "nothing here sets `caBundle` any more: once its certificate is another one, and its controller does not set it"
        }
        (false, false) if lacking > lacked && was.len() == now.len() => {
            "`caBundle` removed: unless its controller sets it"
        }
        _ => return None,
    };
    let field: &[&str] = if are_webhooks(new) { &["webhooks"] } else { &["spec"] };
    (!around.ignores(new, field)).then(|| {
        let text = format!("{why}, the API server does not trust who answers");
        let advice = "keep what injects it, such as `cert-manager.io/inject-ca-from`";
        Danger::said(Severity::Other, "untrusted", text, advice)
    })
}

/// Whom the API server asks, with what it trusts.
fn clients(object: &Manifest) -> Vec<&Value> {
    let value = object.object();
    match (object.home_group(), object.kind()) {
        ("admissionregistration.k8s.io", _) if are_webhooks(object) => {
            items(value, &["webhooks"]).iter().filter_map(|one| one.get("clientConfig")).collect()
        }
        ("apiregistration.k8s.io", "APIService") => {
            let is_open = value.at(&["spec", "insecureSkipTLSVerify"]).and_then(Value::as_bool) == Some(true);
            value.get("spec").filter(|_| !is_open).into_iter().collect()
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            value.at(&["spec", "conversion", "webhook", "clientConfig"]).into_iter().collect()
        }
        _ => Vec::new(),
    }
}
