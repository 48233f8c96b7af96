//! Requests that are sent to others as well, and headers that are no longer taken from them.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{Around, Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many names are listed.
const NAMED_MAX: usize = 4;

pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found: Vec<Danger> = mirrored(old, new, around).into_iter().collect();
    found.extend(unstripped(old, new));
    found
}

/// Copies of requests that go to another Service from now on, with all that is in them.
///
/// Reference: gateway-api HTTPRouteFilter `requestMirror`; istio.io docs/reference/config/networking/virtual-service, HTTPRoute
/// `mirror`, `mirrors`: answers of a mirror are thrown away.
fn mirrored<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let home = around.after(new).namespace;
    let (was, now) = (mirrors(old, around.before(old).namespace), mirrors(new, home));
    let comes: BTreeSet<&(String, bool)> = now.difference(&was).collect();
    if comes.is_empty() {
        return None;
    }
    let is_outside = comes.iter().any(|(_, is_outside)| *is_outside);
    let names = listed(comes.into_iter().map(|(name, _)| name.as_str()), NAMED_MAX);
    let text =
        format!("copies of its requests go to {names} as well, with all that is in them; what writes is done twice");
    let severity = if is_outside { Severity::Security } else { Severity::Other };
    Some(Danger::said(severity, "traffic", text, "check that it may see what clients send, and that it writes nowhere"))
}

/// What gets copies of requests, and whether that is outside of the namespace.
fn mirrors(route: &Manifest, home: &str) -> BTreeSet<(String, bool)> {
    match (route.home_group(), route.kind()) {
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute") => {
            let rules = items(route.object(), &["spec", "rules"]).iter();
            let filters = rules.flat_map(|rule| {
                let of_backends = items(rule, &["backendRefs"]).iter().flat_map(|one| items(one, &["filters"]));
                items(rule, &["filters"]).iter().chain(of_backends)
            });
            let backends = filters.filter_map(|filter| filter.at(&["requestMirror", "backendRef"]));
            let named = |backend: &Value| {
                let (namespace, name) = (word(backend, &["namespace"]), word(backend, &["name"]));
                let is_outside = !namespace.is_empty() && namespace != home;
                (
                    format!("Service {}{name}", if is_outside { format!("{namespace}/") } else { String::new() }),
                    is_outside,
                )
            };
            backends.map(named).collect()
        }
        ("networking.istio.io", "VirtualService") => {
            let rules = items(route.object(), &["spec", "http"]).iter();
            let hosts = rules.flat_map(|rule| {
                let several = items(rule, &["mirrors"]).iter().map(|one| word(one, &["destination", "host"]));
                std::iter::once(word(rule, &["mirror", "host"])).chain(several)
            });
            let own = format!(".{home}.svc.cluster.local");
            let is_outside = |host: &str| host.contains('.') && !host.ends_with(&own);
            hosts.filter(|host| !host.is_empty()).map(|host| (host.to_owned(), is_outside(host))).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Headers of clients that a route took away, or set, and that reach Pods as they come from now on.
///
/// Reference: gateway-api HTTPHeaderFilter `remove`, `set`; istio.io docs/reference/config/networking/virtual-service, Headers.
fn unstripped(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (was, now) = (stripped(old), stripped(new));
    let gone: BTreeSet<&String> = was.difference(&now).collect();
    let stays = rules(old) == rules(new);
    (!gone.is_empty() && stays).then(|| {
        let names = listed(gone.into_iter().map(|name| format!("`{name}`")), NAMED_MAX);
        let text = format!("Pods get {names} as clients send it: it was taken from requests, or set");
        Danger::said(Severity::Security, "unheaded", text, "keep it while Pods trust the header")
    })
}

fn rules(route: &Manifest) -> usize {
    let key = if route.kind() == "VirtualService" { "http" } else { "rules" };
    items(route.object(), &["spec", key]).len()
}

/// Names of headers, each with the place of its rule.
fn stripped(route: &Manifest) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |names: &mut dyn Iterator<Item = &str>| found.extend(names.map(str::to_ascii_lowercase));
    match (route.home_group(), route.kind()) {
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute") => {
            let rules = items(route.object(), &["spec", "rules"]).iter();
            for filter in rules.flat_map(|rule| items(rule, &["filters"])) {
                let of = |key| items(filter, &["requestHeaderModifier", key]).iter();
                add(&mut of("remove").filter_map(Value::as_str));
                add(&mut of("set").map(|one| word(one, &["name"])));
            }
        }
        ("networking.istio.io", "VirtualService") => {
            for rule in items(route.object(), &["spec", "http"]) {
                add(&mut items(rule, &["headers", "request", "remove"]).iter().filter_map(Value::as_str));
                let set = rule.at(&["headers", "request", "set"]).and_then(Value::as_mapping);
                add(&mut set.into_iter().flat_map(|set| set.keys().map(String::as_str)));
            }
        }
        _ => {}
    }
    found
}
