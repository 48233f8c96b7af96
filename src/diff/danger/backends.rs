//! Ports of Services that routes name and that the Services do not have.

use go_yaml::Value;

use super::around::service_type;
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, number, word};
use crate::manifest::Manifest;

/// A route to a port that its Service does not have. Where the Service loses the port, that is said of the Service.
///
/// Reference: kubernetes docs/concepts/services-networking/ingress, "The Ingress resource"; gateway-api docs, HTTPRoute,
/// `BackendRefs`.
pub(super) fn lacking<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let namespace = around.after(new).namespace;
    let lacks = |side: &Side<'_>, (name, port): &(&str, &Value)| {
        let service = side.of_kind("Service", namespace).find(|one| one.manifest.name() == *name);
        service.map(|service| !has(service.manifest, port))
    };
    let was = old.map(backends).unwrap_or_default();
    let is_lost = |one: &(&str, &Value)| {
        let [before, after] = [&around.model.before, &around.model.after].map(|side| lacks(side, one));
        after == Some(true) && before != Some(false) && !(before == Some(true) && was.contains(one))
    };
    let danger = |(service, port): (&str, &Value)| {
        let port = match port {
            Value::Int(number) => number.to_string(),
            port => format!("`{}`", port.as_str().unwrap_or_default()),
        };
        let text = format!("leads to port {port} of Service {service}, which has no such port: requests fail");
        Danger::said(Severity::Outage, "noPort", text, "name a port that the Service has")
    };
    backends(new).into_iter().filter(is_lost).map(danger).collect()
}

/// Whether a Service has a port of this name or number. One of type ExternalName leads elsewhere, to any port.
fn has(service: &Manifest, port: &Value) -> bool {
    let is_it = |one: &Value| match port {
        Value::String(name) => word(one, &["name"]) == name,
        port => one.get("port") == Some(port),
    };
    service_type(service) == "ExternalName" || items(service.object(), &["spec", "ports"]).iter().any(is_it)
}

/// The routes beside a Service that lead to a port of it by its name.
pub(super) fn by_name<'s>(service: Placed<'s>, port: &str, side: &'s Side<'s>) -> impl Iterator<Item = Placed<'s>> {
    let leads = move |route: &Placed<'s>| {
        let mut all = backends(route.manifest).into_iter();
        all.any(|(name, of)| name == service.manifest.name() && of.as_str() == Some(port))
    };
    side.all().iter().copied().filter(move |one| one.namespace == service.namespace && leads(one))
}

/// The Services that a route names, each with a port.
fn backends<'m>(route: &'m Manifest) -> Vec<(&'m str, &'m Value)> {
    let object = route.object();
    match (route.home_group(), route.kind()) {
        ("networking.k8s.io", "Ingress") => {
            let rules = items(object, &["spec", "rules"]).iter();
            let paths = rules.flat_map(|rule| items(rule, &["http", "paths"])).filter_map(|path| path.get("backend"));
            let all = paths.chain(object.at(&["spec", "defaultBackend"]));
            let named = |backend: &'m Value| Some((backend.at(&["service", "name"])?.as_str()?, port_of(backend)?));
            all.filter_map(named).collect()
        }
        ("traefik.io" | "traefik.containo.us", "IngressRoute") => {
            let services = items(object, &["spec", "routes"]).iter().flat_map(|route| items(route, &["services"]));
            let is_plain =
                |one: &&Value| matches!(word(one, &["kind"]), "" | "Service") && one.get("namespace").is_none();
            services.filter(is_plain).filter_map(|one| Some((one.get("name")?.as_str()?, one.get("port")?))).collect()
        }
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute") => {
            let refs = items(object, &["spec", "rules"]).iter().flat_map(|rule| items(rule, &["backendRefs"]));
            let is_plain =
                |one: &&Value| matches!(word(one, &["kind"]), "" | "Service") && one.get("namespace").is_none();
            refs.filter(is_plain).filter_map(|one| Some((one.get("name")?.as_str()?, one.get("port")?))).collect()
        }
        _ => Vec::new(),
    }
}

/// The port of a backend of an Ingress: a number or a name.
fn port_of(backend: &Value) -> Option<&Value> {
    ["number", "name"].into_iter().find_map(|key| backend.at(&["service", "port", key]))
}

/// A port of a Service that the API server asks.
#[derive(PartialEq)]
struct Asked<'m> {
    namespace: &'m str,
    service: &'m str,
    port: i64,
    /// Whether requests are let in while it does not answer.
    is_optional: bool,
}

impl<'m> Asked<'m> {
    fn new(reference: &'m Value, is_optional: bool) -> Self {
        let part = |key| word(reference, &[key]);
        let port = number(reference, &["port"]).unwrap_or(443);
        Self { namespace: part("namespace"), service: part("name"), port, is_optional }
    }
}

/// Whom the API server asks for an object: 443 is the port where none is named.
///
/// Reference: kubernetes API ServiceReference of admissionregistration, apiregistration and apiextensions.
fn asked(object: &Manifest) -> Vec<Asked<'_>> {
    let value = object.object();
    let path: &[&str] = match (object.home_group(), object.kind()) {
        ("admissionregistration.k8s.io", _) => {
            let webhooks = items(value, &["webhooks"]).iter();
            let services = webhooks.filter_map(|one| {
                Some(Asked::new(one.at(&["clientConfig", "service"])?, word(one, &["failurePolicy"]) == "Ignore"))
            });
            return services.collect();
        }
        ("apiregistration.k8s.io", "APIService") => &["spec", "service"],
        ("apiextensions.k8s.io", _) => &["spec", "conversion", "webhook", "clientConfig", "service"],
        _ => return Vec::new(),
    };
    value.at(path).filter(|one| one.as_mapping().is_some()).map(|one| Asked::new(one, false)).into_iter().collect()
}

/// A port that the API server asks and that the Service does not have.
pub(super) fn unanswered<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let lacks = |side: &Side<'_>, one: &Asked<'_>| {
        let service = side.of_kind("Service", one.namespace).find(|service| service.manifest.name() == one.service);
        service.is_some_and(|service| !has(service.manifest, &Value::Int(one.port)))
    };
    let was = old.map(asked).unwrap_or_default();
    let is_new = |one: &Asked<'_>| !(was.contains(one) && lacks(&around.model.before, one));
    let lost = asked(new).into_iter().filter(|one| lacks(&around.model.after, one) && is_new(one));
    let danger = |one: Asked<'_>| {
        let (severity, effect) = match one.is_optional {
            false => (Severity::Outage, "it gets no answer, and refuses what it would have to ask for"),
            true => (Severity::Security, "it gets no answer, and lets in what it would have to ask for"),
        };
        let text = format!("asks port {} of Service {}, which has no such port: {effect}", one.port, one.service);
        Danger::said(severity, "noPort", text, "name a port that the Service has")
    };
    let mut found: Vec<Danger> = lost.map(danger).collect();
    found.dedup();
    found
}
