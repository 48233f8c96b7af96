//! What a controller does to requests on their way to Pods, and does no more: paths that are rewritten, the protocol that Pods speak.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{Placed, Side, Thing, ingress_service, word};
use crate::manifest::Manifest;

/// Annotations of Ingresses by which Pods get other requests: the key, what it is without it, and what is so for Pods that need it.
///
/// Reference: kubernetes.github.io/ingress-nginx user-guide/nginx-configuration/annotations, `rewrite-target`, `backend-protocol`,
/// `ssl-passthrough`; haproxy-ingress.github.io docs/configuration/keys; kubernetes-sigs.github.io aws-load-balancer-controller
/// guide/ingress/annotations, `backend-protocol`.
const ANNOTATIONS: [(&str, &str, Change); 9] = [
    ("nginx.ingress.kubernetes.io/rewrite-target", "", Change::Path),
    ("ingress.kubernetes.io/rewrite-target", "", Change::Path),
    ("haproxy-ingress.github.io/rewrite-target", "", Change::Path),
    ("haproxy.org/path-rewrite", "", Change::Path),
    ("nginx.org/rewrites", "", Change::Path),
    ("nginx.ingress.kubernetes.io/backend-protocol", "HTTP", Change::Protocol),
    ("haproxy-ingress.github.io/backend-protocol", "HTTP", Change::Protocol),
    ("alb.ingress.kubernetes.io/backend-protocol", "HTTP", Change::Protocol),
    ("nginx.ingress.kubernetes.io/ssl-passthrough", "false", Change::Passthrough),
];

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Path,
    Protocol,
    Passthrough,
}

/// An Ingress or a route by which the same Pods get other requests for what it matched before.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let kept = kept(old, new, around);
    if kept.is_empty() {
        return Vec::new();
    }
    match (new.home_group(), new.kind()) {
        ("networking.k8s.io", "Ingress") => {
            ANNOTATIONS.iter().filter_map(|row| annotated(old, new, row, &kept)).collect()
        }
        ("gateway.networking.k8s.io", "HTTPRoute") => filtered(old, new).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn annotated(
    old: &Manifest,
    new: &Manifest,
    (key, default, change): &(&str, &str, Change),
    kept: &BTreeSet<String>,
) -> Option<Danger> {
    let value = |object: &Manifest| match word(object.object(), &["metadata", "annotations", key]) {
        "" => (*default).to_owned(),
        text if *change == Change::Path => text.to_owned(),
        text => text.to_uppercase(),
    };
    let (from, to) = (value(old), value(new));
    let default = if *change == Change::Path { String::new() } else { default.to_uppercase() };
    // A path that is what it is rewritten to is left as it is.
    let does = |rewritten: &str| !rewritten.is_empty() && kept.iter().any(|path| path.as_str() != rewritten);
    if from == to || *change == Change::Path && !(does(&from) || does(&to)) {
        return None;
    }
    let short = key.rsplit('/').next().unwrap_or(key);
    let was = if from == default { "none".to_owned() } else { format!("`{from}`") };
    let is = if to == default { "none".to_owned() } else { format!("`{to}`") };
    let effect = match change {
        // What gets another path from now on may be made for it.
        Change::Path if from.is_empty() => return None,
        Change::Path => "its Pods get other paths than before",
        Change::Protocol => "its Pods are asked by another protocol, on the port that they had",
        Change::Passthrough if to == default => {
            "the controller answers with a certificate of its own, and sends plain text to its Pods"
        }
        Change::Passthrough => return None,
    };
    let text = format!("`{short}` {was} → {is}: {effect}");
    Some(Danger::said(Severity::Other, "rewritten", text, "check that its Pods answer what they get then"))
}

/// Rules that lose the filter that rewrote their paths or hosts, or get another one, while all else is as it was.
///
/// Reference: gateway-api HTTPRouteFilter `urlRewrite`.
fn filtered(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let rules = |route: &'_ Manifest| items(route.object(), &["spec", "rules"]).to_vec();
    let rewrite = |rule: &'_ Value| {
        items(rule, &["filters"])
            .iter()
            .find(|one| word(one, &["type"]) == "URLRewrite")
            .and_then(|one| one.get("urlRewrite"))
            .cloned()
    };
    let now = rules(new);
    let is_changed = |was: &Value| {
        let is_same = |rule: &&Value| ["matches", "backendRefs"].iter().all(|key| rule.get(key) == was.get(key));
        rewrite(was).is_some() && now.iter().find(is_same).is_some_and(|rule| rewrite(rule) != rewrite(was))
    };
    rules(old).iter().any(is_changed).then(|| {
        let text = "`urlRewrite` is another one, or none: its Pods get other paths than before".to_owned();
        Danger::said(Severity::Other, "rewritten", text, "check that its Pods answer what they get then")
    })
}

/// The paths that lead where they led before, to Pods whose containers are the same but for their images.
fn kept<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> BTreeSet<String> {
    if new.kind() == "HTTPRoute" {
        return BTreeSet::from([String::new()]);
    }
    let all = |ingress: &Manifest| -> BTreeSet<(String, String, String)> {
        let rules = items(ingress.object(), &["spec", "rules"]).iter();
        let paths = rules.flat_map(|rule| items(rule, &["http", "paths"]));
        let path = |one: &Value| {
            let port = one.at(&["backend", "service", "port"]).map(|port| format!("{port:?}")).unwrap_or_default();
            (word(one, &["path"]).to_owned(), ingress_service(one.get("backend")).to_owned(), port)
        };
        paths.map(path).collect()
    };
    let (was, now) = (all(old), all(new));
    let namespace = around.after(new).namespace;
    let is_same = |service: &str| {
        answering(&around.model.before, namespace, service) == answering(&around.model.after, namespace, service)
    };
    was.intersection(&now).filter(|(_, service, _)| is_same(service)).map(|(path, ..)| path.clone()).collect()
}

/// What answers behind a Service: its ports, and the containers but for their images.
fn answering(side: &Side<'_>, namespace: &str, service: &str) -> Vec<Value> {
    let thing = Thing { kind: "Service", namespace: namespace.to_owned(), name: service.to_owned() };
    let services: Vec<Placed<'_>> = side.makers(&thing).to_vec();
    let mut found = Vec::new();
    for one in services {
        found.extend(one.manifest.object().at(&["spec", "ports"]).cloned());
        for workload in side.served_by(one) {
            let containers = spec(workload.manifest).map(|pods| items(pods, &["containers"])).unwrap_or_default();
            for container in containers {
                let mut fields = container.as_mapping().cloned().unwrap_or_default();
                ["image", "resources"].iter().for_each(|key| drop(fields.remove(*key)));
                found.push(Value::Mapping(fields));
            }
        }
    }
    found
}
