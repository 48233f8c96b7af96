//! Where requests go: hosts, paths, and what share of them each backend gets.

use std::collections::BTreeMap;

use go_yaml::Value;

use super::{Placed, items, number, word};
use crate::manifest::Manifest;

/// One rule of an object that routes: what it matches, and who gets which share of it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::diff) struct Route {
    /// `shop.example.com/api`; what else it matches comes behind.
    pub matches: String,
    /// By which gateways, or which class of Ingress controllers, in order.
    pub through: Vec<String>,
    /// The backends with their shares, in percent; without any, nothing answers.
    pub shares: BTreeMap<String, f64>,
    /// Whether it is for the paths below too.
    pub has_subpaths: bool,
    /// Whether there are backends, none of which gets a share.
    pub is_dead: bool,
}

/// The hosts that an object serves: those of an Ingress, a route of the Gateway API, a Route of OpenShift.
pub(in crate::diff) fn hosts(manifest: &Manifest) -> Vec<&str> {
    let object = manifest.object();
    match (manifest.home_group(), manifest.kind()) {
        ("networking.k8s.io", "Ingress") => {
            let rules = items(object, &["spec", "rules"]).iter();
            rules.filter_map(|rule| rule.get("host").and_then(Value::as_str)).collect()
        }
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute" | "TLSRoute") => {
            items(object, &["spec", "hostnames"]).iter().filter_map(Value::as_str).collect()
        }
        ("route.openshift.io", "Route") => Some(word(object, &["spec", "host"])).into_iter().collect(),
        ("traefik.io" | "traefik.containo.us", "IngressRoute") => {
            let rules = items(object, &["spec", "routes"]).iter().map(|route| word(route, &["match"]));
            rules.flat_map(matched_hosts).collect()
        }
        _ => Vec::new(),
    }
}

/// The hosts of a rule of Traefik: ``Host(`a`, `b`) && PathPrefix(`/`)``. One that is negated is none.
///
/// Reference: doc.traefik.io reference/routing-configuration/http/routing/rules-and-priority.
fn matched_hosts(rule: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = rule;
    while let Some((before, after)) = rest.split_once("Host(") {
        let (hosts, after) = after.split_once(')').unwrap_or((after, ""));
        if !before.trim_end().ends_with('!') {
            found.extend(hosts.split(',').map(|host| host.trim().trim_matches(['`', '"', '\''])));
        }
        rest = after;
    }
    found
}

/// The rules of an object that routes; none for any other.
pub(in crate::diff) fn routes(of: Placed<'_>) -> Vec<Route> {
    let object = of.manifest.object();
    match (of.manifest.home_group(), of.manifest.kind()) {
        ("networking.k8s.io", "Ingress") => ingress(object),
        ("gateway.networking.k8s.io", "HTTPRoute" | "GRPCRoute") => {
            let hosts = items(object, &["spec", "hostnames"]).iter().filter_map(Value::as_str).collect::<Vec<_>>();
            let from = From { namespace: of.namespace, hosts: hosts.join(", "), through: parents(of) };
            let rules = items(object, &["spec", "rules"]).iter().enumerate();
            rules.map(|(index, rule)| gateway(&from, index, rule)).collect()
        }
        ("networking.istio.io", "VirtualService") => {
            let hosts = items(object, &["spec", "hosts"]).iter().filter_map(Value::as_str).collect::<Vec<_>>();
            let mut through: Vec<String> =
                items(object, &["spec", "gateways"]).iter().filter_map(Value::as_str).map(str::to_owned).collect();
            through.sort();
            let from = From { namespace: of.namespace, hosts: hosts.join(", "), through };
            let rules = items(object, &["spec", "http"]).iter().enumerate();
            rules.map(|(index, rule)| istio(&from, index, rule)).collect()
        }
        _ => Vec::new(),
    }
}

/// Where the requests of a rule come from.
struct From<'f> {
    namespace: &'f str,
    hosts: String,
    through: Vec<String>,
}

/// The gateways of a route, each with its namespace and listener.
fn parents(of: Placed<'_>) -> Vec<String> {
    let parent = |parent: &Value| {
        let namespace = match word(parent, &["namespace"]) {
            "" => of.namespace,
            namespace => namespace,
        };
        format!("{namespace}/{}/{}", word(parent, &["name"]), word(parent, &["sectionName"]))
    };
    let mut all: Vec<String> = items(of.manifest.object(), &["spec", "parentRefs"]).iter().map(parent).collect();
    all.sort();
    all
}

/// The class of an Ingress, by its field or by the annotation that was before it.
pub(in crate::diff) fn ingress_class(object: &Value) -> &str {
    match word(object, &["spec", "ingressClassName"]) {
        "" => word(object, &["metadata", "annotations", "kubernetes.io/ingress.class"]),
        class => class,
    }
}

/// The name of the Service that an Ingress leads to. `extensions/v1beta1` and `networking.k8s.io/v1beta1` write it otherwise.
pub(in crate::diff) fn ingress_service(backend: Option<&Value>) -> &str {
    let Some(backend) = backend else { return "" };
    match word(backend, &["service", "name"]) {
        "" => word(backend, &["serviceName"]),
        name => name,
    }
}

fn ingress(object: &Value) -> Vec<Route> {
    let mut routes = Vec::new();
    let through = vec![ingress_class(object).to_owned()];
    for rule in items(object, &["spec", "rules"]) {
        let host = match word(rule, &["host"]) {
            "" => "*",
            host => host,
        };
        for path in items(rule, &["http", "paths"]) {
            let resource = word(path, &["backend", "resource", "name"]);
            let backend = format!("{}{resource}", ingress_service(path.get("backend")));
            let shares = BTreeMap::from([(backend, 100.0)]);
            let has_subpaths = word(path, &["pathType"]) != "Exact";
            let matches = format!("{host}{}", word(path, &["path"]));
            routes.push(Route { matches, through: through.clone(), shares, has_subpaths, is_dead: false });
        }
    }
    routes
}

/// A rule without a name or path is known by its place.
fn gateway(from: &From<'_>, index: usize, rule: &Value) -> Route {
    let path = |one: &Value| word(one, &["path", "value"]).to_owned();
    let paths: Vec<String> = items(rule, &["matches"]).iter().map(path).filter(|path| !path.is_empty()).collect();
    let backend = |backend: &Value| (word(backend, &["name"]).to_owned(), weight(backend));
    let backends = items(rule, &["backendRefs"]);
    let shares = shares(backends.iter().map(backend));
    let is_exact = |one: &Value| word(one, &["path", "type"]) == "Exact";
    let matched_by = items(rule, &["matches"]);
    Route {
        matches: matched(&from.hosts, (word(rule, &["name"]), index), &paths),
        through: from.through.clone(),
        has_subpaths: matched_by.is_empty() || !matched_by.iter().all(is_exact),
        is_dead: !backends.is_empty() && shares.is_empty(),
        shares,
    }
}

/// Reference: istio.io docs/reference/config/networking/virtual-service, Destination `host`: a short name is one of the rule's namespace.
fn istio(from: &From<'_>, index: usize, rule: &Value) -> Route {
    let own = format!(".{}.svc.cluster.local", from.namespace);
    let path = |one: &Value| ["prefix", "exact", "regex"].map(|sort| word(one, &["uri", sort])).concat();
    let paths: Vec<String> = items(rule, &["match"]).iter().map(path).filter(|path| !path.is_empty()).collect();
    let routes = items(rule, &["route"]);
    let backend = |route: &Value| {
        let part = |key| word(route, &["destination", key]);
        let subset = match part("subset") {
            "" => String::new(),
            subset => format!(" subset {subset}"),
        };
        // A single destination gets all, with or without a weight.
        let weight = if routes.len() == 1 { 1.0 } else { number(route, &["weight"]).unwrap_or_default() as f64 };
        let host = part("host");
        (format!("{}{subset}", host.strip_suffix(&own).unwrap_or(host)), weight)
    };
    let shares = shares(routes.iter().map(backend));
    let is_exact = |one: &Value| one.at(&["uri", "exact"]).is_some();
    let matched_by = items(rule, &["match"]);
    Route {
        matches: matched(&from.hosts, (word(rule, &["name"]), index), &paths),
        through: from.through.clone(),
        has_subpaths: matched_by.is_empty() || !matched_by.iter().all(is_exact),
        is_dead: !routes.is_empty() && shares.is_empty(),
        shares,
    }
}

fn matched(hosts: &str, (name, index): (&str, usize), paths: &[String]) -> String {
    match (paths, name) {
        ([], "") if index == 0 => hosts.to_owned(),
        ([], "") => format!("{hosts} (rule {})", index + 1),
        ([], name) => format!("{hosts} ({name})"),
        (paths, _) => format!("{hosts}{}", paths.join(", ")),
    }
}

/// Reference: gateway-api BackendRef: a backend without a weight has 1.
fn weight(backend: &Value) -> f64 {
    number(backend, &["weight"]).unwrap_or(1) as f64
}

fn shares(weights: impl Iterator<Item = (String, f64)>) -> BTreeMap<String, f64> {
    let mut shares = BTreeMap::new();
    for (backend, weight) in weights {
        *shares.entry(backend).or_insert(0.0) += weight;
    }
    let sum: f64 = shares.values().sum();
    shares.retain(|_, weight| *weight > 0.0);
    shares.values_mut().for_each(|weight| *weight *= 100.0 / sum);
    shares
}
