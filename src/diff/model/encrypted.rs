//! Which hosts are served over HTTPS.

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::domain::is_for;
use super::{Placed, Side, gateways, ingress_class, items, number, word};

/// How many listeners or entry points are named.
const NAMED_MAX: usize = 4;

/// Whether an object serves a host over HTTPS; none where that is not known.
///
/// Reference: kubernetes docs/concepts/services-networking/ingress, "TLS"; doc.traefik.io
/// reference/routing-configuration/kubernetes/crd/http/ingressroute (`tls`; its chart gives it to the entry point `websecure`);
/// gateway-api Listener `protocol`.
pub(in crate::diff) fn encrypts(of: Placed<'_>, host: &str, side: Option<&Side<'_>>) -> Option<bool> {
    let object = of.manifest.object();
    let is_there = |path: &[&str]| object.at(path).is_some_and(|value| !value.is_null());
    match (of.manifest.home_group(), of.manifest.kind()) {
        ("networking.k8s.io", "Ingress") => ingress(object, host),
        ("traefik.io" | "traefik.containo.us", "IngressRoute") => {
            is_there(&["spec", "tls"]).then_some(true).or_else(|| any(entry_points(object).map(by_name)))
        }
        ("route.openshift.io", "Route") => Some(is_there(&["spec", "tls"])),
        ("gateway.networking.k8s.io", "TLSRoute") => Some(true),
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute") => {
            let parents = items(object, &["spec", "parentRefs"]).iter();
            any(parents.map(|parent| by_parent(parent, of.namespace, host, side)))
        }
        _ => None,
    }
}

/// By which listeners or entry points an object is served, in brackets; nothing where it names none.
pub(in crate::diff) fn served_by(of: Placed<'_>) -> String {
    let object = of.manifest.object();
    let sections = items(object, &["spec", "parentRefs"]).iter().map(|parent| word(parent, &["sectionName"]));
    let names: Vec<&str> = entry_points(object).chain(sections).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { String::new() } else { format!(" ({})", listed(names, NAMED_MAX)) }
}

fn entry_points(object: &Value) -> impl Iterator<Item = &str> {
    items(object, &["spec", "entryPoints"]).iter().filter_map(Value::as_str)
}

/// Whether some are; none where that is not known of any, or there are none.
fn any(all: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut found = None;
    let mut is_open = false;
    for one in all {
        is_open |= one.is_none();
        found = Some(found.unwrap_or_default() || one == Some(true));
    }
    found.filter(|is| *is || !is_open)
}

/// What the name of a listener or an entry point says.
fn by_name(name: &str) -> Option<bool> {
    let name = name.to_lowercase();
    match name.as_str() {
        "web" | "http" => Some(false),
        _ => ["https", "secure", "tls"].iter().any(|part| name.contains(part)).then_some(true),
    }
}

fn by_parent(parent: &Value, home: &str, host: &str, side: Option<&Side<'_>>) -> Option<bool> {
    let namespace = match word(parent, &["namespace"]) {
        "" => home,
        namespace => namespace,
    };
    let (name, section) = (word(parent, &["name"]), word(parent, &["sectionName"]));
    let mut gateways = side.into_iter().flat_map(|side| side.of_kind("Gateway", namespace)).map(|one| one.manifest);
    let known = gateways.find(|one| gateways::is_gateway(one) && one.name() == name);
    match (known, number(parent, &["port"])) {
        (Some(gateway), _) => {
            let mut listeners = gateways::listeners(gateway, section).peekable();
            // What a listener that is not there would have been is not known.
            listeners.peek()?;
            let mut taking = listeners.filter(|listener| gateways::meets(listener, host));
            Some(taking.any(|listener| matches!(word(listener, &["protocol"]), "HTTPS" | "TLS")))
        }
        (None, Some(443)) => Some(true),
        (None, Some(80)) => Some(false),
        (None, _) => by_name(section),
    }
}

/// Words in annotations by which controllers get a certificate in other ways than by `tls`.
const HINTS: [&str; 4] = ["cert", "ssl", "tls", "https"];

fn ingress(object: &Value, host: &str) -> Option<bool> {
    let is_of = |tls: &Value| {
        let mut hosts = items(tls, &["hosts"]).iter().filter_map(Value::as_str).peekable();
        hosts.peek().is_none() || hosts.any(|one| is_for(one, false, host))
    };
    if items(object, &["spec", "tls"]).iter().any(is_of) {
        return Some(true);
    }
    let annotations = object.at(&["metadata", "annotations"]).and_then(Value::as_mapping);
    let mut texts = annotations.into_iter().flatten().flat_map(|(key, value)| [key.as_str(), word(value, &[])]);
    let is_hinted = texts.any(|text| HINTS.iter().any(|hint| text.to_lowercase().contains(hint)));
    // These have certificates of their own.
    let is_own = ["tailscale", "cloudflare"].iter().any(|class| ingress_class(object).contains(class));
    (!is_hinted && !is_own).then_some(false)
}
