//! Istio: who may ask what, subsets that requests go to, and TLS.

mod requests;
mod served;
mod tls;

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::around::name;
use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, covers, selects, word};
use crate::manifest::Manifest;

pub(super) use served::{registered, unrouted, unserved};
pub(super) use tls::{is_strict_still, tls};

/// How many workloads are named.
const NAMED_MAX: usize = 4;

fn is_policy(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("security.istio.io", "AuthorizationPolicy")
}

/// The action of a policy: ALLOW when it has none.
fn action(policy: &Manifest) -> &str {
    match word(policy.object(), &["spec", "action"]) {
        "" => "ALLOW",
        action => action,
    }
}

fn rules(policy: &Manifest) -> &[Value] {
    items(policy.object(), &["spec", "rules"])
}

/// The labels of the Pods that a policy is for, as a label selector; all of the namespace where it names none.
fn selector(policy: &Manifest) -> Value {
    let nothing = || Value::Mapping(Mapping::new());
    let labels = policy.object().at(&["spec", "selector", "matchLabels"]).cloned();
    Value::Mapping(Mapping::from([("matchLabels".to_owned(), labels.unwrap_or_else(nothing))]))
}

/// An AuthorizationPolicy that goes, that lets more through, or nothing.
///
/// Reference: istio.io docs/reference/config/security/authorization-policy: a request is denied where some ALLOW policy is for the
/// workload and none matches; one without rules matches nothing, one with an empty rule everything.
pub(super) fn policy<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Vec<Danger> {
    let Some(old) = old.filter(|old| is_policy(old)) else { return Vec::new() };
    match new {
        None => removed(old, around).into_iter().collect(),
        Some(new) if is_policy(new) => {
            let found = changed(old, new, around).into_iter();
            found.chain(left_out(old, new, around)).collect()
        }
        Some(_) => Vec::new(),
    }
}

/// Whether a policy keeps requests away.
fn restricts(policy: &Manifest) -> bool {
    match action(policy) {
        "ALLOW" => !is_open(policy),
        "DENY" | "CUSTOM" => !rules(policy).is_empty(),
        _ => false,
    }
}

/// Whether some rule is for requests from anyone.
fn is_open(policy: &Manifest) -> bool {
    rules(policy).iter().any(|rule| items(rule, &["from"]).is_empty() && items(rule, &["when"]).is_empty())
}

/// Whether some source is anyone who has an identity, or an address.
fn has_any_source(policy: &Manifest) -> bool {
    let sources = rules(policy).iter().flat_map(|rule| items(rule, &["from"])).filter_map(|from| from.get("source"));
    let lists = ["principals", "requestPrincipals", "namespaces", "ipBlocks", "remoteIpBlocks"];
    let mut named = sources.flat_map(|source| lists.iter().flat_map(|list| items(source, &[list])));
    named.any(|one| one.as_str().is_some_and(|one| one == "*" || one.ends_with("/0")))
}

fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let security = |text: &str| {
        Danger::said(Severity::Security, "unprotected", text.to_owned(), "check that it still names those who may ask")
    };
    match (action(old), action(new)) {
        ("ALLOW", "ALLOW") if rules(new).is_empty() && !rules(old).is_empty() => {
            let mut others = around.others("AuthorizationPolicy", around.after(new));
            let is_allowed = others.any(|other| action(other) == "ALLOW" && !rules(other).is_empty());
            let text = "has no rules any more: it allows nothing, so all requests to its Pods are denied";
            let advice = "keep the rules of those who may ask";
            (!is_allowed).then(|| Danger::said(Severity::Outage, "blocking", text.to_owned(), advice))
        }
        ("ALLOW", "ALLOW") if is_open(new) && !is_open(old) => {
            Some(security("a rule names no source any more: everybody may send its requests"))
        }
        ("ALLOW", "ALLOW") if has_any_source(new) && !has_any_source(old) => {
            Some(security("a rule allows every source"))
        }
        ("DENY", "DENY") if rules(new).is_empty() && !rules(old).is_empty() => {
            Some(security("has no rules any more: it denies nothing"))
        }
        ("ALLOW", "DENY") => {
            Some(security("ALLOW → DENY: those whom it allowed are denied, and it keeps no others away"))
        }
        ("DENY" | "CUSTOM", to) if to != action(old) && restricts(old) => {
            Some(security("no longer keeps away those whom it did"))
        }
        ("ALLOW", "ALLOW") | ("DENY", "DENY") => requests::let_through(old, new, around),
        ("ALLOW", "AUDIT") if restricts(old) => Some(security("only records requests, and keeps none away")),
        _ => None,
    }
}

fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let placed = around.before(old);
    let pods = selector(old);
    let pruning = around.pruning.of(old);
    let mut others = around.others("AuthorizationPolicy", placed).filter(|other| restricts(other));
    let is_taken_over = others.any(|other| covers(pods.get("matchLabels"), selector(other).get("matchLabels")));
    let is_lost =
        restricts(old) && pruning.removes() && !is_taken_over && !around.are_pods_gone(placed.namespace, Some(&pods));
    let text = "removed: requests that it kept from its Pods are allowed";
    let advice = "keep a policy that names those who may ask";
    is_lost.then(|| Danger::said(Severity::Security, "unprotected", text.to_owned(), advice).pruned(pruning))
}

/// Pods that a policy was for, that are still there, and that neither it nor another one is for now.
fn left_out<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (was, now) = (selector(old), selector(new));
    let namespace = around.after(new).namespace;
    if around.before(old).namespace != namespace || !restricts(old) {
        return None;
    }
    let left = around.left_out(namespace, &was, &now);
    if left.is_empty() {
        return None;
    }
    let others = around.others("AuthorizationPolicy", around.after(new)).filter(|other| restricts(other));
    let others: Vec<Value> = others.map(selector).collect();
    let is_chosen = |workload: &Placed<'_>| others.iter().any(|other| selects(other, workload.manifest));
    let names: BTreeSet<String> = left.into_iter().filter(|workload| !is_chosen(workload)).map(name).collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "no longer selects the Pods of {}: requests that it kept from them are allowed",
            listed(names, NAMED_MAX)
        );
        Danger::said(Severity::Security, "unprotected", text, "keep a policy that selects them")
    })
}

/// A subset that requests go to, and that the DestinationRule of its host does not have. Where that loses the subset, it is said of
/// it.
///
/// Reference: istio.io docs/ops/common-problems/network-issues, "503 errors after setting destination rule".
pub(super) fn subsets<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let advice = "keep the subset in the DestinationRule, or add it there in a commit before this one";
    let danger = |text| Danger::said(Severity::Outage, "noSubset", text, advice);
    match (new.home_group(), new.kind()) {
        ("networking.istio.io", "VirtualService") => {
            let was = old.map(|old| lacking(around.before(old), &around.model.before)).unwrap_or_default();
            let named = old.map(|old| destinations(around.before(old))).unwrap_or_default();
            let now = lacking(around.after(new), &around.model.after);
            let is_new = |one: &&Destination| !was.contains(one) && !named.contains(one);
            let text = |one: &Destination| {
                format!("leads to subset `{}` of {}, which no DestinationRule has: requests fail", one.subset, one.host)
            };
            now.iter().filter(is_new).map(|one| danger(text(one))).collect()
        }
        ("networking.istio.io", "DestinationRule") => {
            let Some(old) = old else { return Vec::new() };
            let placed = around.after(new);
            let host = full(word(new.object(), &["spec", "host"]), placed.namespace);
            let (before, after) = (subset_names(old), subset_names(new));
            let services = around.model.after.of_kind("VirtualService", placed.namespace);
            let mut gone: BTreeSet<String> = BTreeSet::new();
            for one in services.flat_map(destinations) {
                let is_gone =
                    one.host == host && before.contains(&one.subset.as_str()) && !after.contains(&one.subset.as_str());
                if is_gone && !is_known(&one, &around.model.after, placed.namespace) {
                    gone.insert(one.subset);
                }
            }
            let text =
                |subset: String| format!("subset `{subset}` removed, and requests are still sent to it: they fail");
            gone.into_iter().map(|subset| danger(text(subset))).collect()
        }
        _ => Vec::new(),
    }
}

/// A subset of a host.
#[derive(PartialEq)]
struct Destination {
    host: String,
    subset: String,
}

/// The subsets that a VirtualService leads to.
fn destinations(service: Placed<'_>) -> Vec<Destination> {
    let object = service.manifest.object();
    let sorts = ["http", "tcp", "tls"].into_iter().flat_map(|sort| items(object, &["spec", sort]));
    let routes = sorts.flat_map(|rule| items(rule, &["route"])).filter_map(|route| route.get("destination"));
    let destination = |one: &Value| Destination {
        host: full(word(one, &["host"]), service.namespace),
        subset: word(one, &["subset"]).to_owned(),
    };
    routes.map(destination).filter(|one| !one.subset.is_empty()).collect()
}

/// Those that no rule has, where there are rules for the host.
fn lacking(service: Placed<'_>, side: &Side<'_>) -> Vec<Destination> {
    let has_rule = |one: &Destination| rules_of(one, side, service.namespace).next().is_some();
    let all = destinations(service).into_iter();
    all.filter(|one| has_rule(one) && !is_known(one, side, service.namespace)).collect()
}

fn is_known(one: &Destination, side: &Side<'_>, namespace: &str) -> bool {
    rules_of(one, side, namespace).any(|rule| subset_names(rule).contains(&one.subset.as_str()))
}

fn rules_of<'s>(one: &Destination, side: &Side<'s>, namespace: &str) -> impl Iterator<Item = &'s Manifest> {
    let rules = side.of_kind("DestinationRule", namespace).map(move |rule| (rule.namespace, rule.manifest));
    rules
        .filter(move |(home, rule)| full(word(rule.object(), &["spec", "host"]), home) == one.host)
        .map(|(_, rule)| rule)
}

/// The labels of the Pods of a host's subset; none where they are not known.
pub(super) fn subset_labels([host, subset]: [&str; 2], namespace: &str, side: &Side<'_>) -> Option<Vec<String>> {
    let one = Destination { host: full(host, namespace), subset: subset.to_owned() };
    let mut subsets = rules_of(&one, side, namespace).flat_map(|rule| items(rule.object(), &["spec", "subsets"]));
    let subset = subsets.find(|known| word(known, &["name"]) == subset)?;
    let mut labels = Vec::new();
    for (key, value) in subset.get("labels")?.as_mapping()? {
        labels.push(format!("{key}={}", value.as_str()?));
    }
    labels.sort();
    Some(labels)
}

fn subset_names(rule: &Manifest) -> Vec<&str> {
    items(rule.object(), &["spec", "subsets"]).iter().map(|subset| word(subset, &["name"])).collect()
}

/// A host by its whole name: `web` of namespace `shop` is `web.shop.svc.cluster.local`.
fn full(host: &str, namespace: &str) -> String {
    if host.contains('.') { host.to_owned() } else { format!("{host}.{namespace}.svc.cluster.local") }
}
