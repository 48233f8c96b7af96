//! Routes that listeners take from which namespaces, and of which kinds.
//!
//! Reference: gateway-api `AllowedRoutes`: of its own namespace alone where nothing is said; `kinds` are those of the protocol where
//! nothing is said; a route that no listener takes is not attached.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::super::around::name;
use super::super::{Around, Danger, Severity, items};
use super::{NAMED_MAX, is_route};
use crate::diff::model::gateways::{is_gateway, listeners};
use crate::diff::model::{Placed, Side, Through, chooses, number, word};
use crate::manifest::Manifest;

/// Routes that a Gateway took and takes no longer, and a route that asks one which takes none of its namespace or kind.
pub(in crate::diff::danger) fn refused<'a>(
    old: Option<&'a Manifest>,
    new: &'a Manifest,
    around: &Around<'a>,
) -> Vec<Danger> {
    let [before, after] = [&around.model.before, &around.model.after];
    if is_route(new) {
        let route = around.after(new);
        let was = old.map(|old| around.before(old));
        let named = was.map(parents).unwrap_or_default();
        let is_moved = was.is_some_and(|was| was.namespace != route.namespace);
        let is_lost = |parent: &&[String; 3]| {
            (is_moved || !named.contains(*parent)) && takes(after, parent, route) == Some(false)
        };
        let text = |[namespace, gateway, _]: &[String; 3]| {
            format!(
                "no listener of Gateway {namespace}/{gateway} takes a {} of namespace {}: it serves nothing by it",
                new.kind(),
                route.namespace
            )
        };
        let advice =
            "keep a Gateway that takes routes of this namespace, or let the listener take them: `allowedRoutes`";
        let danger = |text| Danger::said(Severity::Outage, "noListener", text, advice);
        return parents(route).iter().filter(is_lost).map(|parent| danger(text(parent))).collect();
    }
    let Some(old) = old.filter(|old| is_gateway(old) && is_gateway(new)) else { return Vec::new() };
    let home = around.after(new).namespace;
    if around.before(old).namespace != home {
        return Vec::new();
    }
    let is_own = |parent: &&[String; 3]| (parent[0].as_str(), parent[1].as_str()) == (home, new.name());
    let is_lost = |route: &&Placed<'a>| {
        let all = parents(**route);
        let own: Vec<&[String; 3]> = all.iter().filter(is_own).collect();
        let was = own.iter().any(|parent| takes(before, parent, **route) == Some(true));
        was && own.iter().all(|parent| takes(after, parent, **route) == Some(false))
    };
    let routes = after.all().iter().filter(|one| is_route(one.manifest) && before.find(**one).is_some());
    let names: BTreeSet<String> = routes.filter(is_lost).map(|route| name(*route)).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let serves = if names.len() == 1 { "it serves" } else { "they serve" };
    let names = listed(names, NAMED_MAX);
    let text = format!("no listener takes {names} any more (`allowedRoutes`): {serves} nothing by this Gateway");
    vec![Danger::said(Severity::Outage, "noListener", text, "keep `allowedRoutes` for the routes that are attached")]
}

fn parents(route: Placed<'_>) -> BTreeSet<[String; 3]> {
    match Through::of(route) {
        Some(Through::Gateways(parents)) => parents,
        _ => BTreeSet::new(),
    }
}

/// Whether some listener takes a route; none where that is not known, or the Gateway lacks the listener.
fn takes(side: &Side<'_>, [namespace, gateway, section]: &[String; 3], route: Placed<'_>) -> Option<bool> {
    let gateways = side.of_kind("Gateway", namespace).filter(|one| is_gateway(one.manifest));
    let gateway = gateways.into_iter().find(|one| one.manifest.name() == gateway)?;
    let mut all = listeners(gateway.manifest, section).peekable();
    all.peek()?;
    let mut is_known = true;
    for listener in all {
        match admits(side, listener, gateway.namespace, route) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(false)
}

fn admits(side: &Side<'_>, listener: &Value, home: &str, route: Placed<'_>) -> Option<bool> {
    if !is_of_kind(listener, route.manifest) {
        return Some(false);
    }
    match word(listener, &["allowedRoutes", "namespaces", "from"]) {
        "All" => Some(true),
        // A namespace that is not known may be this one.
        "" | "Same" => (route.namespace.is_empty() == home.is_empty()).then_some(route.namespace == home),
        "None" => Some(false),
        "Selector" => {
            let selector = listener.at(&["allowedRoutes", "namespaces", "selector"])?;
            let mut spaces = side.listed("Namespace").map(|one| one.manifest);
            let space = spaces.find(|one| one.name() == route.namespace);
            let labels = space.and_then(|one| one.object().at(&["metadata", "labels"])).and_then(Value::as_mapping);
            let mut labels = labels.cloned().unwrap_or_default();
            labels.insert("kubernetes.io/metadata.name".to_owned(), Value::from(route.namespace));
            let is_chosen = chooses(selector, Some(&labels));
            // Labels that are not in git may be there.
            (is_chosen || space.is_some()).then_some(is_chosen)
        }
        _ => None,
    }
}

/// Whether a listener is for the kind of a route.
fn is_of_kind(listener: &Value, route: &Manifest) -> bool {
    let kinds = items(listener, &["allowedRoutes", "kinds"]);
    if !kinds.is_empty() {
        return kinds.iter().any(|one| word(one, &["kind"]) == route.kind());
    }
    match word(listener, &["protocol"]) {
        "HTTP" | "HTTPS" => matches!(route.kind(), "HTTPRoute" | "GRPCRoute"),
        "TLS" => matches!(route.kind(), "TLSRoute" | "TCPRoute"),
        "TCP" => route.kind() == "TCPRoute",
        "UDP" => route.kind() == "UDPRoute",
        _ => true,
    }
}

/// What a ReferenceGrant allowed that nothing allows any more, and that objects here do.
///
/// Reference: gateway-api `ReferenceGrant`: "implementations MUST respond to the removal of a grant by revoking the access".
pub(in crate::diff::danger) fn revoked<'a>(
    old: &'a Manifest,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Option<Danger> {
    if (old.home_group(), old.kind()) != ("gateway.networking.k8s.io", "ReferenceGrant") {
        return None;
    }
    let pruning = around.pruning.of(old);
    let home = around.before(old).namespace;
    let after = &around.model.after;
    // Others of the namespace may be in Applications that do not change.
    if new.is_none() && !pruning.removes() || after.has_beside("ReferenceGrant", home) {
        return None;
    }
    let is_lost = |one: &Placed<'a>, reference: &Reference<'a>| {
        reference.namespace == home
            && grants(old, *one, reference)
            && !after.of_kind("ReferenceGrant", home).any(|grant| grants(grant.manifest, *one, reference))
    };
    let mut lost: BTreeSet<String> = BTreeSet::new();
    let mut effect = "requests fail";
    for one in after.all() {
        let Some(to) = references(one.manifest).into_iter().find(|reference| is_lost(one, reference)) else { continue };
        lost.insert(format!("{} of namespace {} names {} {}", name(*one), one.namespace, to.kind, to.name));
        if to.kind == "Secret" {
            effect = "no certificate is served, or requests fail";
        }
    }
    (!lost.is_empty()).then(|| {
        let start = if new.is_none() { "removed, and " } else { "" };
        let text = format!("{start}{}, which nothing allows any more: {effect}", listed(lost, NAMED_MAX));
        let danger = Danger::said(Severity::Outage, "ungranted", text, "keep the grant until nothing needs it");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}

/// Something of another namespace that an object names.
struct Reference<'m> {
    namespace: &'m str,
    group: &'m str,
    kind: &'m str,
    name: &'m str,
}

/// The backends of a route, and the certificates of a Gateway, that are in another namespace.
fn references(object: &Manifest) -> Vec<Reference<'_>> {
    let value = object.object();
    let (all, kind): (Vec<&Value>, _) = match () {
        () if is_route(object) => {
            let rules = items(value, &["spec", "rules"]).iter();
            (rules.flat_map(|rule| items(rule, &["backendRefs"])).collect(), "Service")
        }
        () if is_gateway(object) => {
            let all = items(value, &["spec", "listeners"]).iter();
            (all.flat_map(|one| items(one, &["tls", "certificateRefs"])).collect(), "Secret")
        }
        () => return Vec::new(),
    };
    let reference = |one: &'_ &Value| !word(one, &["namespace"]).is_empty();
    let named = all.into_iter().filter(reference);
    named
        .map(|one| Reference {
            namespace: word(one, &["namespace"]),
            group: word(one, &["group"]),
            kind: if word(one, &["kind"]).is_empty() { kind } else { word(one, &["kind"]) },
            name: word(one, &["name"]),
        })
        .collect()
}

fn grants(grant: &Manifest, from: Placed<'_>, to: &Reference<'_>) -> bool {
    let is_from = |one: &Value| {
        word(one, &["group"]) == from.manifest.home_group()
            && word(one, &["kind"]) == from.manifest.kind()
            && word(one, &["namespace"]) == from.namespace
    };
    let is_to = |one: &Value| {
        word(one, &["group"]) == to.group
            && word(one, &["kind"]) == to.kind
            && matches!(word(one, &["name"]), name if name.is_empty() || name == to.name)
    };
    items(grant.object(), &["spec", "from"]).iter().any(is_from)
        && items(grant.object(), &["spec", "to"]).iter().any(is_to)
}

/// The number of matches by a prefix of paths in a rule, and of all of its matches.
fn prefixes(rule: &Value) -> (usize, usize) {
    let matches = items(rule, &["matches"]);
    let is_prefix =
        |one: &&Value| matches!(word(one, &["path", "type"]), "" | "PathPrefix") && one.get("path").is_some();
    (matches.iter().filter(is_prefix).count(), matches.len())
}

/// What the CustomResourceDefinition of HTTPRoutes refuses.
///
/// Reference: gateway-api apis/v1/httproute_types.go, the rules `XValidation` of `HTTPRouteRule` and its filters.
pub(in crate::diff::danger) fn invalid(route: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rule in items(route, &["spec", "rules"]) {
        let backends = items(rule, &["backendRefs"]);
        let of_backends = backends.iter().map(|one| items(one, &["filters"]));
        for filters in of_backends.chain([items(rule, &["filters"])]) {
            let count = |sort: &str| filters.iter().filter(|filter| word(filter, &["type"]) == sort).count();
            if count("RequestRedirect") > 0 && count("URLRewrite") > 0 {
                found.insert("`RequestRedirect` and `URLRewrite` exclude each other in one list of filters".to_owned());
            }
            for sort in ["RequestHeaderModifier", "ResponseHeaderModifier", "RequestRedirect", "URLRewrite"] {
                if count(sort) > 1 {
                    found.insert(format!("the filter `{sort}` is there twice in one list of filters"));
                }
            }
            for (sort, key) in [("RequestRedirect", "requestRedirect"), ("URLRewrite", "urlRewrite")] {
                let replaces = |filter: &Value| {
                    word(filter, &["type"]) == sort && filter.at(&[key, "path", "replacePrefixMatch"]).is_some()
                };
                if filters.iter().any(replaces) && prefixes(rule) != (1, 1) {
                    found.insert(format!(
                        "`replacePrefixMatch` of `{sort}` needs one match by `PathPrefix` and no other"
                    ));
                }
            }
        }
        let redirects = items(rule, &["filters"]).iter().any(|filter| word(filter, &["type"]) == "RequestRedirect");
        if redirects && !backends.is_empty() {
            found.insert("a rule with `RequestRedirect` has no `backendRefs`".to_owned());
        }
        let lacks_port = |one: &Value| {
            word(one, &["group"]).is_empty()
                && matches!(word(one, &["kind"]), "" | "Service")
                && number(one, &["port"]).is_none()
        };
        for one in backends.iter().filter(|one| lacks_port(one)) {
            found.insert(format!("the backend {} has no `port`", word(one, &["name"])));
        }
    }
    found
}
