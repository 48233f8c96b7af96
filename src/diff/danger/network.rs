//! Who may connect: NetworkPolicies, and Services that can be reached from outside.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::{Mapping, Value};

use super::around::{name, service_type, services};
use super::direction::{DIRECTIONS, Direction};
use super::{Around, Danger, Severity, What, endpoints, isolation, items, peers, ranges};
use crate::diff::model::{Placed, covers, word};
use crate::manifest::Manifest;

/// How many workloads are named.
const NAMED_MAX: usize = 4;

/// A NetworkPolicy that goes, that lets everything through, or nothing.
///
/// Reference: kubernetes docs/concepts/services-networking/network-policies: policies add up, and Pods that none selects
/// are not isolated.
pub(super) fn policy<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Vec<Danger> {
    let is_policy =
        |manifest: &&'a Manifest| manifest.kind() == "NetworkPolicy" && manifest.home_group() == "networking.k8s.io";
    let (old, new) = (old.filter(is_policy), new.filter(is_policy));
    let mut found: Vec<Danger> = match (old, new) {
        (Some(old), None) => removed(old, around).into_iter().collect(),
        (old, Some(new)) => {
            let changes = DIRECTIONS.iter().filter_map(|direction| direction.change(old, new, around));
            changes.chain(old.and_then(|old| left_out(old, new, around))).collect()
        }
        (None, None) => return Vec::new(),
    };
    found.extend(isolation::starved(old, new, around));
    found.extend(isolation::unnamed(old, new, around));
    found.extend(isolation::elsewhere(new, around));
    found
}

/// A Service that sends requests to Pods that are not ready from now on. One without an address of its own is for finding Pods.
///
/// Reference: kubernetes API ServiceSpec `publishNotReadyAddresses`.
pub(super) fn unready(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (old, new) = services(Some(old), Some(new))?;
    let is_open = |service: &Manifest| {
        service.object().at(&["spec", "publishNotReadyAddresses"]).and_then(Value::as_bool) == Some(true)
    };
    let is_headless = word(new.object(), &["spec", "clusterIP"]) == "None";
    (is_open(new) && !is_open(old) && !is_headless).then(|| {
        let text = "`publishNotReadyAddresses: true`: Pods get requests that are not ready to answer them".to_owned();
        Danger::said(
            Severity::Other,
            "unready",
            text,
            "keep it to Services without a cluster IP, for Pods that look for each other",
        )
    })
}

fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let placed = around.before(old);
    let selector = |policy: &'_ Manifest| policy.object().at(&["spec", "podSelector"]).cloned();
    let pods = selector(old);
    let pruning = around.pruning.of(old);
    let is_taken_over =
        around.others("NetworkPolicy", placed).any(|other| covers(pods.as_ref(), selector(other).as_ref()));
    let is_lost = pruning.removes() && !is_taken_over && !around.are_pods_gone(placed.namespace, pods.as_ref());
    let loss = "removed: connections that it kept from its Pods are allowed";
    is_lost.then(|| Danger::new(Severity::Security, What::Unprotected { loss }).pruned(pruning))
}

/// Pods that a policy chose, that are still there, and that neither it nor another one chooses now.
fn left_out<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let everything = Value::Mapping(Mapping::new());
    let selector = |policy: &'a Manifest| policy.object().at(&["spec", "podSelector"]).cloned();
    let [was, now] = [old, new].map(|policy| selector(policy).unwrap_or_else(|| everything.clone()));
    let namespace = around.after(new).namespace;
    let restricts = |direction: &Direction| direction.isolates(old) && !direction.is_open(old);
    if around.before(old).namespace != namespace || !DIRECTIONS.iter().any(restricts) {
        return None;
    }
    let left = around.left_out(namespace, &was, &now);
    if left.is_empty() {
        return None;
    }
    let is_left = |workload: &Placed<'a>| !around.model.after.is_restricted(*workload);
    let names: BTreeSet<String> = left.into_iter().filter(is_left).map(name).collect();
    (!names.is_empty()).then(|| {
        let text = format!(
            "no longer selects the Pods of {}: connections that it kept from them are allowed",
            listed(names, NAMED_MAX)
        );
        Danger::said(Severity::Security, "unprotected", text, "keep a policy that selects them")
    })
}

impl Direction {
    fn change<'a>(&self, old: Option<&Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
        let was_blocking = old.is_some_and(|old| self.blocks(old));
        if self.blocks(new) && !was_blocking && !around.is_new {
            let placed = around.after(new);
            let selector = new.object().at(&["spec", "podSelector"]);
            if around.model.after.selected(placed.namespace, selector).next().is_some() {
                // Which of them get nothing is known.
                return None;
            }
            let mut others = around.others("NetworkPolicy", placed);
            let is_allowed = others.any(|other| !items(other.object(), &["spec", self.rules]).is_empty());
            let blocked = match self.name {
                "Ingress" => "no connection to its Pods gets through, unless another policy allows it",
                _ => "no connection from its Pods gets through, DNS included, unless another policy allows it",
            };
            let what = What::Blocking { blocked: blocked.to_owned() };
            return (!is_allowed).then(|| Danger::new(Severity::Outage, what));
        }
        let old = old.filter(|old| self.isolates(old) && !self.is_open(old))?;
        let gains = |is: fn(&Value) -> bool| self.has_peer(new, is) && !self.has_peer(old, is);
        if !self.isolates(new) {
            let loss = match self.name {
                "Ingress" => "it no longer isolates its Pods: everybody may connect to them",
                _ => "it no longer isolates its Pods: they may connect to everything",
            };
            let is_lost = !self.is_isolated_otherwise(new, around);
            return is_lost.then(|| self.unprotected(loss));
        }
        let is_wider = || {
            let [was, now] = [old, new].map(|policy| items(policy.object(), &["spec", self.rules]));
            peers::widened(was, now, self.peers)
        };
        let loss = match self.name {
            "Ingress" if self.is_open(new) => "everybody may connect to its Pods",
            "Ingress" if gains(is_every_address) => "every address may connect to its Pods",
            "Ingress" if gains(is_every_namespace) => "all Pods of all namespaces may connect to its Pods",
            "Ingress" if is_wider() => {
                "a rule lets more connect to its Pods than the rule did that it takes the place of"
            }
            "Ingress" => return None,
            _ if self.is_open(new) => "its Pods may connect to everything",
            _ if gains(is_every_address) => "its Pods may connect to every address",
            _ if is_wider() => "a rule lets its Pods connect to more than the rule did that it takes the place of",
            _ => return None,
        };
        Some(self.unprotected(loss))
    }

    fn unprotected(&self, loss: &str) -> Danger {
        let advice = match self.name {
            "Ingress" => "name those who may connect",
            _ => "name what they may connect to",
        };
        Danger::said(Severity::Security, "unprotected", loss.to_owned(), advice)
    }

    /// Whether another policy isolates the Pods of one in this direction.
    fn is_isolated_otherwise<'a>(&self, policy: &'a Manifest, around: &Around<'a>) -> bool {
        let selector = |policy: &'a Manifest| policy.object().at(&["spec", "podSelector"]);
        let mut others = around.others("NetworkPolicy", around.after(policy));
        others.any(|other| self.isolates(other) && covers(selector(policy), selector(other)))
    }

    fn has_peer(&self, policy: &Manifest, is: fn(&Value) -> bool) -> bool {
        let rules = items(policy.object(), &["spec", self.rules]).iter();
        rules.flat_map(|rule| items(rule, &[self.peers])).any(is)
    }
}

fn is_every_address(peer: &Value) -> bool {
    let range = peer.at(&["ipBlock", "cidr"]).and_then(Value::as_str);
    range.is_some_and(|range| range.trim().ends_with("/0")) && items(peer, &["ipBlock", "except"]).is_empty()
}

/// An empty selector of namespaces chooses all, and without one of Pods all of their Pods.
fn is_every_namespace(peer: &Value) -> bool {
    let is_empty = |key| peer.get(key).and_then(Value::as_mapping).is_some_and(Mapping::is_empty);
    is_empty("namespaceSelector") && (peer.get("podSelector").is_none() || is_empty("podSelector"))
}

/// A Service that chooses none of the Pods that it chose, by another selector or by labels that its Pods lose. Those that run have
/// their labels until they are replaced.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "Services in Kubernetes".
pub(super) fn unselected<'a>(
    old: Option<&'a Manifest>,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Option<Danger> {
    let (old, new) = services(old, new)?;
    if let Some(danger) = loses_selector(old, new, around) {
        return Some(danger);
    }
    let selector = |service: &'_ Manifest| {
        let labels = service.object().at(&["spec", "selector"]).filter(|labels| labels.as_mapping().is_some())?;
        Some(Value::Mapping(Mapping::from([("matchLabels".to_owned(), labels.clone())])))
    };
    let (before, after) = (selector(old)?, selector(new)?);
    let (Placed { namespace: home, .. }, Placed { namespace, .. }) = (around.before(old), around.after(new));
    let chose_some = around.model.before.selected(home, Some(&before)).next().is_some();
    let chooses_running = around.model.before.selected(namespace, Some(&after)).next().is_some();
    let is_lasting = around.model.after.selected(namespace, Some(&after)).next().is_none();
    // Pods that lose a label under a selector that stays.
    let loses_all = || is_lasting && !around.left_out(namespace, &before, &after).is_empty();
    if home == namespace && before == after && loses_all() {
        return Some(Danger::new(Severity::Outage, What::Unselected { is_lasting }));
    }
    let is_lost = home == namespace && before != after && chose_some && !chooses_running;
    // What goes together with its Service is not missed.
    let goes_too = is_lasting && around.are_pods_gone(namespace, Some(&before));
    (is_lost && !goes_too).then(|| Danger::new(Severity::Outage, What::Unselected { is_lasting }))
}

/// A Service whose endpoints nothing keeps up to date any more, where none come with the change.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "Services without selectors"; 1.34
/// pkg/controller/endpointslice/endpointslice_controller.go `syncService`, which returns early for one.
fn loses_selector<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let namespace = around.after(new).namespace;
    let is_of =
        |one: &Placed<'_>| one.namespace == namespace && endpoints::service_of(one.manifest) == Some(new.name());
    let has_endpoints = || around.model.after.all().iter().any(is_of);
    let loses = endpoints::has_selector(old) && !endpoints::has_selector(new);
    let is_lost = service_type(new) != "ExternalName" && loses && !has_endpoints();
    let text = "has no selector any more: its endpoints stay as they are now, also when their Pods are gone";
    is_lost.then(|| {
        let advice = "keep the selector, or add an EndpointSlice of its own in this change";
        Danger::said(Severity::Outage, "unselected", text.to_owned(), advice)
    })
}

/// Annotations by which clouds keep a load balancer inside of their network, each with its value.
const INTERNAL: [(&str, &str); 9] = [
    ("networking.gke.io/load-balancer-type", "Internal"),
    ("cloud.google.com/load-balancer-type", "Internal"),
    ("service.beta.kubernetes.io/aws-load-balancer-internal", "true"),
    ("service.beta.kubernetes.io/aws-load-balancer-scheme", "internal"),
    ("service.beta.kubernetes.io/azure-load-balancer-internal", "true"),
    ("service.beta.kubernetes.io/openstack-internal-load-balancer", "true"),
    ("service.kubernetes.io/qcloud-loadbalancer-internal-subnetid", ""),
    ("service.beta.kubernetes.io/alibaba-cloud-loadbalancer-address-type", "intranet"),
    ("service.kubernetes.io/ibm-load-balancer-cloud-provider-ip-type", "private"),
];

/// A Service that can be reached from more places than before.
pub(super) fn exposed(old: Option<&Manifest>, new: Option<&Manifest>) -> Option<Danger> {
    let service = |manifest: &&Manifest| manifest.kind() == "Service" && manifest.home_group().is_empty();
    let (old, new) = (old.filter(service), new.filter(service)?);
    let (before, after) = (old.map_or(Reach::Inside, Reach::of), Reach::of(new));
    let how = match after {
        _ if after <= before => return None,
        Reach::Inside => return None,
        Reach::Nodes => "can be reached on a port of every node (NodePort)".to_owned(),
        Reach::Outside => "can be reached from outside of the cluster (externalIPs)".to_owned(),
        Reach::Ranges => {
            "can be reached from outside of the cluster (LoadBalancer), from the ranges that it names".to_owned()
        }
        Reach::Everybody => "can be reached by everybody who reaches its load balancer (LoadBalancer)".to_owned(),
    };
    Some(Danger::new(Severity::Security, What::Exposed { how }))
}

/// A Service or an Ingress that those of a tailnet reach from now on, or everybody by its funnel.
///
/// Reference: tailscale.com/kb/1439/kubernetes-operator-cluster-ingress: the annotation `tailscale.com/expose`, or a load balancer of
/// the class `tailscale`; `tailscale.com/funnel` of an Ingress.
pub(super) fn tailnet(old: Option<&Manifest>, new: Option<&Manifest>) -> Option<Danger> {
    let new = new?;
    let (is_reached, how, advice): (fn(&Manifest) -> bool, _, _) = match (new.home_group(), new.kind()) {
        ("", "Service") => {
            (is_on_tailnet, "can be reached from the tailnet (Tailscale)", "check who is on the tailnet, and its rules")
        }
        ("networking.k8s.io", "Ingress") => (
            is_funnelled,
            "can be reached by everybody on the internet (Tailscale Funnel)",
            "check that it is meant for everybody",
        ),
        _ => return None,
    };
    let is_new = is_reached(new) && !old.is_some_and(is_reached);
    is_new.then(|| Danger::said(Severity::Security, "exposed", how.to_owned(), advice))
}

fn is_on_tailnet(service: &Manifest) -> bool {
    has_annotation(service, "tailscale.com/expose", "true") || is_of_tailscale(service)
}

fn is_of_tailscale(service: &Manifest) -> bool {
    service_type(service) == "LoadBalancer" && word(service.object(), &["spec", "loadBalancerClass"]) == "tailscale"
}

fn is_funnelled(ingress: &Manifest) -> bool {
    has_annotation(ingress, "tailscale.com/funnel", "true")
}

/// Whether an annotation keeps the load balancer of a Service inside of its network.
pub(super) fn is_internal(service: &Manifest) -> bool {
    INTERNAL.iter().any(|(key, value)| has_annotation(service, key, value))
}

/// From where a Service can be reached, the least first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    Inside,
    Nodes,
    Outside,
    Ranges,
    Everybody,
}

/// Whether a Service has an annotation with this value, or with any where that is empty.
fn has_annotation(service: &Manifest, key: &str, value: &str) -> bool {
    match service.object().at(&["metadata", "annotations", key]) {
        Some(Value::String(text)) => value.is_empty() || text.eq_ignore_ascii_case(value),
        Some(Value::Bool(flag)) => *flag && value == "true",
        _ => false,
    }
}

impl Reach {
    fn of(service: &Manifest) -> Self {
        let named = items(service.object(), &["spec", "loadBalancerSourceRanges"]);
        let is_everybody = || ranges::are_all(named.iter().filter_map(Value::as_str));
        match service_type(service) {
            "LoadBalancer" if is_internal(service) || is_of_tailscale(service) => Reach::Inside,
            "LoadBalancer" if named.is_empty() || is_everybody() => Reach::Everybody,
            "LoadBalancer" => Reach::Ranges,
            _ if !items(service.object(), &["spec", "externalIPs"]).is_empty() => Reach::Outside,
            "NodePort" => Reach::Nodes,
            _ => Reach::Inside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_without_types_isolates_by_its_rules() {
        let policy = |spec: &str| {
            let text =
                format!("apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {{name: a}}\nspec: {spec}\n");
            let manifests = crate::manifest::read(text.as_bytes(), crate::manifest::Source::Output("a test"));
            manifests.expect("YAML").remove(0)
        };
        let [ingress, egress] = &DIRECTIONS;
        let rows = [
            ("{podSelector: {}}", true, false),
            ("{podSelector: {}, egress: [{}]}", true, true),
            ("{podSelector: {}, policyTypes: [Egress]}", false, true),
        ];
        for (spec, in_, out) in rows {
            assert_eq!((ingress.isolates(&policy(spec)), egress.isolates(&policy(spec))), (in_, out), "{spec}");
        }
    }
}
