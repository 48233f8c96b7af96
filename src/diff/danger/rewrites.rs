//! What a controller does to requests on their way to Pods, and does no more: paths that are rewritten, the protocol that Pods speak.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{Placed, Side, Thing, ingress_class, ingress_service, word};
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
    // Another controller has annotations of its own.
    let is_other = new.kind() == "Ingress" && ingress_class(old.object()) != ingress_class(new.object());
    let kept = kept(old, new, around);
    if kept.is_empty() || is_other {
        return Vec::new();
    }
    match (new.home_group(), new.kind()) {
        ("networking.k8s.io", "Ingress") => {
            let changed = ANNOTATIONS.iter().filter_map(|row| annotated(old, new, row, &kept));
            changed.chain(smaller(old, new)).chain(unredirected(old, new)).chain(snippet(old, new, around)).collect()
        }
        ("gateway.networking.k8s.io", "HTTPRoute") => filtered(old, new).into_iter().collect(),
        ("networking.istio.io", "VirtualService") => rewritten(old, new).into_iter().collect(),
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

fn nginx<'m>(ingress: &'m Manifest, key: &str) -> &'m str {
    word(ingress.object(), &["metadata", "annotations", &format!("nginx.ingress.kubernetes.io/{key}")])
}

/// Requests with more content than nginx takes from now on.
///
/// Reference: kubernetes.github.io/ingress-nginx user-guide/nginx-configuration/annotations, "Custom max body size"; configmap,
/// `proxy-body-size`: 1m by default, 0 for no limit.
fn smaller(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let size = |ingress: &Manifest| -> Option<f64> {
        let text = nginx(ingress, "proxy-body-size").to_lowercase();
        if text.is_empty() {
            return Some(1_048_576.0);
        }
        let (count, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let count: f64 = count.parse().ok()?;
        let factor = match unit {
            "" => 1.0,
            "k" => 1024.0,
            "m" => 1_048_576.0,
            "g" => 1_073_741_824.0,
            _ => return None,
        };
        Some(if count == 0.0 { f64::INFINITY } else { count * factor })
    };
    let shown = |ingress: &Manifest| match nginx(ingress, "proxy-body-size") {
        "" => "1m, the default".to_owned(),
        text => text.to_owned(),
    };
    (size(new)? < size(old)?).then(|| {
        let text = format!("`proxy-body-size` {} → {}: larger uploads are refused", shown(old), shown(new));
        Danger::said(Severity::Other, "rewritten", text, "compare with what clients send")
    })
}

/// Requests in plain text that are answered, where they were sent to HTTPS.
///
/// Reference: kubernetes.github.io/ingress-nginx user-guide/nginx-configuration/annotations, "Server-side HTTPS enforcement through
/// redirect": where there is TLS, it is so by default.
fn unredirected(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let redirects = |ingress: &Manifest| {
        let has_tls = !items(ingress.object(), &["spec", "tls"]).is_empty();
        nginx(ingress, "force-ssl-redirect") == "true" || has_tls && nginx(ingress, "ssl-redirect") != "false"
    };
    let has_tls = |ingress: &Manifest| !items(ingress.object(), &["spec", "tls"]).is_empty();
    let is_off = nginx(new, "ssl-redirect") == "false" || nginx(old, "force-ssl-redirect") == "true";
    (is_off && has_tls(old) == has_tls(new) && redirects(old) && !redirects(new)).then(|| {
        let text = "plain HTTP is answered, and no longer sent to HTTPS".to_owned();
        Danger::said(Severity::Other, "plainText", text, "keep the redirect where something secret is sent")
    })
}

/// Code of nginx in an annotation, which is refused unless the controller is set to take it.
///
/// Reference: kubernetes.github.io/ingress-nginx user-guide/nginx-configuration/configmap, `allow-snippet-annotations`: false by default.
fn snippet<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let snippets = ["configuration-snippet", "server-snippet", "auth-snippet", "stream-snippet"];
    let has = |ingress: &Manifest| snippets.iter().any(|key| !nginx(ingress, key).is_empty());
    let is_known = around.model.before.all().iter().any(|one| one.manifest.kind() == "Ingress" && has(one.manifest));
    (has(new) && !has(old) && !is_known).then(|| {
        let text =
            "has code of nginx in an annotation: unless `allow-snippet-annotations` is set, its webhook refuses it"
                .to_owned();
        Danger::said(
            Severity::Other,
            "snippet",
            text,
            "check that the controller takes it, and who may write such code",
        )
    })
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

/// Rules of a VirtualService that rewrite no more, or otherwise.
///
/// Reference: istio.io docs/reference/config/networking/virtual-service, `HTTPRewrite`.
fn rewritten(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let now = items(new.object(), &["spec", "http"]);
    let is_changed = |was: &Value| {
        let rewrite = |rule: &'_ Value| rule.get("rewrite").filter(|one| !one.is_null()).cloned();
        let is_same = |rule: &&Value| ["match", "route"].iter().all(|key| rule.get(key) == was.get(key));
        rewrite(was).is_some() && now.iter().find(is_same).is_some_and(|rule| rewrite(rule) != rewrite(was))
    };
    items(old.object(), &["spec", "http"]).iter().any(is_changed).then(|| {
        let text = "`rewrite` is another one, or none: its Pods get other paths than before".to_owned();
        Danger::said(Severity::Other, "rewritten", text, "check that its Pods answer what they get then")
    })
}

/// The paths that lead where they led before, to Pods whose containers are the same but for their images.
fn kept<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> BTreeSet<String> {
    if matches!(new.kind(), "HTTPRoute" | "VirtualService") {
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

/// Paths of a route that were served to all, and that are served to requests with some header, query or method alone.
///
/// Reference: gateway-api HTTPRouteMatch, istio.io docs/reference/config/networking/virtual-service, HTTPMatchRequest: all conditions of a
/// match have to be met.
pub(super) fn conditioned<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (rules, list, hosts) = match (new.home_group(), new.kind()) {
        ("gateway.networking.k8s.io", "HTTPRoute") => ("rules", "matches", "hostnames"),
        ("networking.istio.io", "VirtualService") => ("http", "match", "hosts"),
        _ => return None,
    };
    let path = |one: &Value| {
        let texts = ["prefix", "exact"].map(|sort| word(one, &["uri", sort])).concat();
        match word(one, &["path", "value"]) {
            "" if texts.is_empty() => "/".to_owned(),
            "" => texts,
            path => path.to_owned(),
        }
    };
    let is_open = |one: &&Value| {
        let fields =
            ["headers", "queryParams", "method", "withoutHeaders", "sourceLabels", "sourceNamespace", "scheme"];
        fields.iter().all(|key| one.get(key).is_none_or(Value::is_null))
    };
    let matches = |route: &'_ Manifest| -> Vec<Value> {
        let rules = items(route.object(), &["spec", rules]).iter();
        let all = rules.flat_map(|rule| match items(rule, &[list]) {
            [] => vec![Value::Mapping(go_yaml::Mapping::new())],
            some => some.to_vec(),
        });
        all.filter(|one| word(one, &["uri", "regex"]).is_empty()).collect()
    };
    let open = |route: &Manifest| -> BTreeSet<String> { matches(route).iter().filter(is_open).map(path).collect() };
    let closed: BTreeSet<String> = matches(new).iter().filter(|one| !is_open(one)).map(path).collect();
    let others = around.model.after.all().iter().map(|one| one.manifest).filter(|one| one.kind() == new.kind());
    let names = |route: &'_ Manifest| items(route.object(), &["spec", hosts]).to_vec();
    let is_beside = |other: &&Manifest| {
        let (own, of_other) = (names(new), names(other));
        own.is_empty() || of_other.is_empty() || own.iter().any(|host| of_other.contains(host))
    };
    let served: BTreeSet<String> = others.filter(is_beside).flat_map(open).collect();
    let is_lost = |path: &&String| closed.contains(*path) && !served.iter().any(|one| path.starts_with(one.as_str()));
    let lost = open(old).iter().find(is_lost)?.clone();
    let text = format!("{lost} is served to requests with some header, query or method alone: others get no answer");
    Some(Danger::said(Severity::Outage, "pathGone", text, "keep a rule for all other requests"))
}
