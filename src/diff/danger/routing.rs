//! Requests that no rule, no port or no Pod takes any more: by the order of rules, by labels of subsets, by names of ports.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::endpoints::{has_selector, service_of};
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, Thing, pods, word};
use crate::manifest::Manifest;

/// What becomes of requests by the change of one object.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found: Vec<Danger> = Vec::new();
    match (new.home_group(), new.kind()) {
        ("networking.istio.io", "VirtualService") => found.extend(shadowed(old, new)),
        ("networking.istio.io", "DestinationRule") => found.extend(unlabelled(old, new, around)),
        ("gateway.networking.k8s.io", "HTTPRoute") => found.extend(looping(old, new, around)),
        ("", "Service") => {
            found.extend(misnamed(old, new, around));
            found.extend(masked(old, new, around));
        }
        ("", "Endpoints") | ("discovery.k8s.io", "EndpointSlice") => found.extend(misnamed(old, new, around)),
        _ => {}
    }
    found
}

/// The rules of a VirtualService that no request reaches, since one before them takes all of theirs.
///
/// Reference: istio.io docs/reference/config/networking/virtual-service, `http`: "The first rule matching an incoming request is used."
fn shadowed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let was = unreached(old);
    let path = unreached(new).into_iter().find(|path| !was.contains(path) && reached(old).contains(path))?;
    let text = format!("a rule before the one for {path} takes all its requests: they go elsewhere");
    Some(Danger::said(Severity::Outage, "pathGone", text, "keep rules for longer paths before those for shorter ones"))
}

/// What a match takes: the start of its paths, or one path, and whether it is for all of these.
fn taken(rule: &Value) -> Vec<(String, bool)> {
    let matches = items(rule, &["match"]);
    if matches.is_empty() {
        return vec![("/".to_owned(), true)];
    }
    let one = |one: &Value| {
        let fields = one.as_mapping().map_or(0, go_yaml::Mapping::len);
        let has_name = usize::from(one.get("name").is_some());
        match (word(one, &["uri", "prefix"]), word(one, &["uri", "exact"])) {
            ("", "") => (String::new(), false),
            ("", exact) => (exact.to_owned(), false),
            (prefix, _) => (prefix.to_owned(), fields - has_name == 1),
        }
    };
    matches.iter().map(one).filter(|(path, _)| !path.is_empty()).collect()
}

fn reached(service: &Manifest) -> BTreeSet<String> {
    let all = items(service.object(), &["spec", "http"]).iter().flat_map(taken).map(|(path, _)| path);
    let unreached = unreached(service);
    all.filter(|path| !unreached.contains(path)).collect()
}

fn unreached(service: &Manifest) -> BTreeSet<String> {
    let mut before: Vec<(String, Option<Value>)> = Vec::new();
    let mut found = BTreeSet::new();
    for rule in items(service.object(), &["spec", "http"]) {
        let all = taken(rule);
        let route = rule.get("route").cloned();
        for (path, _) in &all {
            let takes = |(start, of): &&(String, Option<Value>)| path.starts_with(start.as_str()) && *of != route;
            found.extend(before.iter().find(takes).map(|_| path.clone()));
        }
        before.extend(all.into_iter().filter(|(_, is_all)| *is_all).map(|(path, _)| (path, route.clone())));
    }
    found
}

/// A subset whose labels no Pod of its Service has any more.
///
/// Reference: istio.io docs/reference/config/networking/destination-rule, `Subset`.
fn unlabelled<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let name = |rule: &'a Manifest| word(rule.object(), &["spec", "host"]).split('.').next().unwrap_or_default();
    let served = |placed: Placed<'a>, side: &Side<'a>| -> Vec<Placed<'a>> {
        let host = name(placed.manifest);
        let services = side.of_kind("Service", placed.namespace).filter(|one| one.manifest.name() == host);
        services.flat_map(|service| side.served_by(service)).collect()
    };
    let count = |subset: &Value, all: &[Placed<'a>]| {
        let wanted = subset.get("labels").and_then(Value::as_mapping);
        let has = |one: &&Placed<'a>| {
            let labels = pods::labels(one.manifest);
            wanted.into_iter().flatten().all(|(key, value)| labels.is_some_and(|labels| labels.get(key) == Some(value)))
        };
        all.iter().filter(has).count()
    };
    let before = served(around.before(old), &around.model.before);
    let after = served(around.after(new), &around.model.after);
    let is_lost = |subset: &&Value| {
        let mut was = items(old.object(), &["spec", "subsets"]).iter();
        let was = was.find(|was| word(was, &["name"]) == word(subset, &["name"]));
        was.is_some_and(|was| count(was, &before) > 0) && count(subset, &after) == 0
    };
    let subset = items(new.object(), &["spec", "subsets"]).iter().find(is_lost).filter(|_| !after.is_empty())?;
    let name = word(subset, &["name"]);
    let text = format!("no Pod has the labels of subset `{name}`: requests that are sent to it fail");
    Some(Danger::said(Severity::Outage, "noSubset", text, "keep labels that its Pods have"))
}

/// A redirect to HTTPS that HTTPS is redirected by as well.
///
/// Reference: gateway-api guides/http-redirect-rewrite, "HTTP-to-HTTPS redirects": attached to the HTTP listener alone.
fn looping<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let loops = |route: Placed<'a>, side: &Side<'a>| {
        let object = route.manifest.object();
        let redirects = |rule: &Value| {
            items(rule, &["filters"]).iter().any(|filter| {
                let to = |key: &str| filter.at(&["requestRedirect", key]).is_some();
                word(filter, &["requestRedirect", "scheme"]) == "https"
                    && !["hostname", "port", "path"].iter().any(|key| to(key))
            })
        };
        let is_https = |parent: &Value| {
            let section = word(parent, &["sectionName"]);
            let namespace = match word(parent, &["namespace"]) {
                "" => route.namespace,
                namespace => namespace,
            };
            let gateways =
                side.of_kind("Gateway", namespace).filter(|one| one.manifest.name() == word(parent, &["name"]));
            let listeners = gateways.flat_map(|one| items(one.manifest.object(), &["spec", "listeners"]));
            let is_port = |one: &Value| parent.get("port").is_none_or(|port| one.get("port") == Some(port));
            listeners.into_iter().filter(|one| is_port(one)).any(|one| {
                (section.is_empty() || word(one, &["name"]) == section) && word(one, &["protocol"]) == "HTTPS"
            })
        };
        items(object, &["spec", "rules"]).iter().any(redirects)
            && items(object, &["spec", "parentRefs"]).iter().any(is_https)
    };
    let is_new = loops(around.after(new), &around.model.after) && !loops(around.before(old), &around.model.before);
    is_new.then(|| {
        let text = "its redirect to HTTPS is for the HTTPS listener as well: requests are sent to where they came from, for ever".to_owned();
        Danger::said(Severity::Outage, "looping", text, "keep `sectionName` of the HTTP listener")
    })
}

/// Endpoints that are written by hand, and whose port has another name than that of their Service.
///
/// Reference: kubernetes API EndpointPort `name`: it has to be that of the port of the Service.
fn misnamed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let service = if new.kind() == "Service" { new.name() } else { service_of(new)? };
    let lost = |side: &Side<'a>, namespace: &str| -> Option<String> {
        let known = side.of_kind("Service", namespace).find(|one| one.manifest.name() == service)?;
        if has_selector(known.manifest) {
            return None;
        }
        let is_of = |one: &&Placed<'_>| one.namespace == namespace && service_of(one.manifest) == Some(service);
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for one in side.all().iter().filter(is_of) {
            let object = one.manifest.object();
            let subsets = items(object, &["subsets"]).iter().flat_map(|subset| items(subset, &["ports"]));
            names.extend(items(object, &["ports"]).iter().chain(subsets).map(|port| word(port, &["name"])));
        }
        let mut ports = items(known.manifest.object(), &["spec", "ports"]).iter().map(|port| word(port, &["name"]));
        ports.find(|name| !names.is_empty() && !names.contains(name)).map(str::to_owned)
    };
    let port = lost(&around.model.after, around.after(new).namespace)?;
    let was = lost(&around.model.before, around.before(old).namespace);
    was.is_none().then(|| {
        let text = format!("port `{port}` of Service {service} has no endpoints: theirs have other names");
        Danger::said(Severity::Outage, "unselected", text, "keep the name of the port in both")
    })
}

/// A Service behind which clients are judged by their addresses, and that hides these from now on.
///
/// Reference: kubernetes docs/tasks/access-application-cluster/create-external-load-balancer, "Preserving the client source IP".
fn masked<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_local = |service: &Manifest| word(service.object(), &["spec", "externalTrafficPolicy"]) == "Local";
    let judges = |one: &Manifest| {
        let keys = ["whitelist-source-range", "allowlist-source-range", "denylist-source-range"];
        let annotated = |key: &&str| {
            !word(one.object(), &["metadata", "annotations", &format!("nginx.ingress.kubernetes.io/{key}")]).is_empty()
        };
        one.kind() == "Ingress" && keys.iter().any(annotated)
            || one.kind() == "Middleware"
                && ["ipAllowList", "ipWhiteList"].iter().any(|key| one.object().at(&["spec", key]).is_some())
    };
    let is_judged = || around.model.after.all().iter().any(|one| judges(one.manifest));
    // Lists of addresses are those of Ingresses: what other load balancers hide is not compared with them.
    let selected = new.object().at(&["spec", "selector"]).and_then(Value::as_mapping);
    let labels = selected.into_iter().flatten().filter_map(|(_, value)| value.as_str());
    let mut names = labels.chain([new.name()]);
    let is_controller = names.any(|name| ["ingress", "nginx", "traefik"].iter().any(|one| name.contains(one)));
    (is_controller && is_local(old) && !is_local(new) && is_judged()).then(|| {
        let text = "`externalTrafficPolicy: Cluster`: its Pods see addresses of nodes in place of those of clients, and lists of addresses refuse, or let in, others than are meant".to_owned();
        Danger::said(Severity::Outage, "masked", text, "keep `Local` while clients are judged by their addresses")
    })
}

/// A policy by which backends are asked over TLS, and that goes while what it is for stays.
///
/// Reference: gateway-api api-types/backendtlspolicy: without it, a Gateway speaks plain text to its backends.
pub(super) fn untrusted<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let is_it = (old.home_group(), old.kind()) == ("gateway.networking.k8s.io", "BackendTLSPolicy");
    let namespace = around.before(old).namespace;
    let names: Vec<&str> =
        items(old.object(), &["spec", "targetRefs"]).iter().map(|one| word(one, &["name"])).collect();
    let named = |policy: &Manifest| {
        policy.kind() == old.kind()
            && items(policy.object(), &["spec", "targetRefs"]).iter().any(|one| names.contains(&word(one, &["name"])))
    };
    let is_taken_over = || around.model.after.all().iter().any(|one| named(one.manifest));
    let stays = |name: &&&str| {
        around.model.after.provides(&Thing {
            kind: "Service",
            namespace: namespace.to_owned(),
            name: (**name).to_owned(),
        })
    };
    let service = names.iter().find(stays).filter(|_| is_it && pruning.removes() && !is_taken_over())?;
    let text = format!("removed: Service {service} is asked in plain text, and it takes TLS");
    Some(Danger::said(Severity::Outage, "plainText", text, "keep it while the backend takes TLS").pruned(pruning))
}
