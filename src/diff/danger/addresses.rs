//! Addresses that Services and Gateways ask for by fields and annotations, and names that are kept in DNS for them.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::{service_type, services};
use super::{Around, Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many addresses are named.
const NAMED_MAX: usize = 4;

/// Annotations by which a Service asks for addresses, with commas between them.
///
/// Reference: metallb.io usage, "Requesting specific IPs"; docs.cilium.io network/lb-ipam, "Requesting IPs"; kube-vip.io
/// docs/usage/kubernetes-services.
const ASKED: [&str; 7] = [
    "metallb.universe.tf/loadBalancerIPs",
    "metallb.io/loadBalancerIPs",
    "lbipam.cilium.io/ips",
    "io.cilium/lb-ipam-ips",
    "kube-vip.io/loadbalancerIPs",
    "service.beta.kubernetes.io/aws-load-balancer-eip-allocations",
    "service.beta.kubernetes.io/azure-load-balancer-ipv4",
];

/// What becomes of the addresses that the load balancer of a Service asked for; none where it asks for all of them still.
pub(super) fn balanced(old: &Manifest, new: &Manifest) -> Option<String> {
    let (was, now) = (asked(old), asked(new));
    let gone: BTreeSet<&str> = was.difference(&now).copied().collect();
    if gone.is_empty() {
        return None;
    }
    let gone = listed(gone, NAMED_MAX);
    Some(match now.is_empty() {
        true => format!("its load balancer asks for {gone} no longer: it may get another address"),
        false => format!("its load balancer gets {} in place of {gone}", listed(now, NAMED_MAX)),
    })
}

pub(super) fn asked(service: &Manifest) -> BTreeSet<&str> {
    let object = service.object();
    let annotations = ASKED.iter().map(|key| word(object, &["metadata", "annotations", key]));
    let all = annotations.chain([word(object, &["spec", "loadBalancerIP"])]);
    all.flat_map(|text| text.split(',')).map(str::trim).filter(|address| !address.is_empty()).collect()
}

/// Addresses of nodes that a Service no longer takes requests to, and those that a Gateway no longer asks for.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "External IPs"; gateway-api Gateway `spec.addresses`.
pub(super) fn gone(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let (field, wanted): (&str, &[&str]) = match (new.home_group(), new.kind()) {
        ("", "Service") => {
            let (_, new) = services(Some(old), Some(new))?;
            // Where a load balancer comes in place of them, its address is the new one.
            (if service_type(new) == "ExternalName" { return None } else { "externalIPs" }, &["spec", "externalIPs"])
        }
        ("gateway.networking.k8s.io", "Gateway") => ("addresses", &["spec", "addresses"]),
        _ => return None,
    };
    let all = |object: &'_ Manifest| -> BTreeSet<String> {
        let text = |one: &Value| one.as_str().unwrap_or_else(|| word(one, &["value"])).to_owned();
        items(object.object(), wanted).iter().map(text).filter(|address| !address.is_empty()).collect()
    };
    let (was, now) = (all(old), all(new));
    let gone: BTreeSet<&String> = was.difference(&now).collect();
    (!gone.is_empty()).then(|| {
        let text = format!("`{field}`: {} removed: who connects to it is refused", listed(gone, NAMED_MAX));
        let advice = "keep the address beside the new one until nothing uses it";
        Danger::said(Severity::Outage, "elsewhere", text, advice)
    })
}

/// A Service or a Route of Knative that is served inside of the cluster alone from now on.
///
/// Reference: knative.dev docs/serving/services/private-services: the label `networking.knative.dev/visibility: cluster-local`.
pub(super) fn unpublished(old: &Manifest, new: &Manifest) -> Option<Danger> {
    if new.home_group() != "serving.knative.dev" || !matches!(new.kind(), "Service" | "Route") {
        return None;
    }
    let is_local = |object: &Manifest| {
        let label = |key| word(object.object(), &["metadata", "labels", key]) == "cluster-local";
        label("networking.knative.dev/visibility") || label("serving.knative.dev/visibility")
    };
    match (is_local(old), is_local(new)) {
        (false, true) => {
            let text = "`cluster-local`: its host is no longer served outside of the cluster".to_owned();
            let advice = "check that no one uses the host, or redirect it first";
            Some(Danger::said(Severity::Outage, "hostGone", text, advice))
        }
        (true, false) => {
            let text = "can be reached from outside of the cluster: `cluster-local` removed".to_owned();
            Some(Danger::said(Severity::Security, "exposed", text, "keep the label to keep it inside"))
        }
        _ => None,
    }
}

/// The names that are kept in DNS for what has this annotation, with commas between them.
///
/// Reference: kubernetes-sigs/external-dns docs/annotations/annotations.md.
const RECORDED: &str = "external-dns.alpha.kubernetes.io/hostname";

/// Names whose records go with the annotation of an object that stays, where no other object has them.
pub(super) fn unrecorded<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let (was, now) = (recorded(old), recorded(new));
    let is_kept = |name: &&str| {
        let mut others = around.model.after.all().iter();
        around.model.after.serves(name, None) || others.any(|one| recorded(one.manifest).contains(name))
    };
    let gone = was.difference(&now).filter(|name| !is_kept(name));
    let danger = |name: &&str| {
        let text = format!("external-dns is not asked for {name} any more: its record goes");
        Danger::said(Severity::Outage, "hostGone", text, "check that no one uses the host, or redirect it first")
    };
    gone.map(danger).collect()
}

fn recorded(object: &Manifest) -> BTreeSet<&str> {
    let names = word(object.object(), &["metadata", "annotations", RECORDED]).split(',');
    names.map(str::trim).filter(|name| !name.is_empty()).collect()
}
