//! Hosts that a Gateway of Istio takes requests to, and those that VirtualServices serve by it.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::NAMED_MAX;
use crate::diff::danger::around::name;
use crate::diff::danger::{Around, Danger, Severity, What, items};
use crate::diff::model::{Placed, Side, Through, is_for, istio_gateways, public_hosts, word};
use crate::manifest::Manifest;

fn is_gateway(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("networking.istio.io", "Gateway")
}

/// Hosts that VirtualServices serve and that none of their Gateways takes any more.
///
/// Reference: istio.io docs/reference/config/networking/gateway, Server `hosts`: a VirtualService has to have a host in common, and be
/// in the namespace that is before it, where `.` is that of the Gateway and `*` any.
pub(in crate::diff::danger) fn unserved<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if !is_gateway(old) || !is_gateway(new) {
        return Vec::new();
    }
    let own = [around.after(new).namespace, new.name()];
    let mut lost: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for service in around.model.after.listed("VirtualService") {
        let gateways = istio_gateways(service);
        let is_of = gateways.iter().any(|[namespace, name]| [namespace.as_str(), name.as_str()] == own);
        let before = around.model.before.find(service);
        for host in items(service.manifest.object(), &["spec", "hosts"]).iter().filter_map(Value::as_str) {
            let taken =
                |side: &Side<'a>, of: Placed<'a>| istio_gateways(of).iter().any(|one| takes(side, one, of, host));
            let was = before.is_some_and(|before| taken(&around.model.before, before));
            if is_of && was && !taken(&around.model.after, service) {
                lost.entry(host).or_default().insert(name(service));
            }
        }
    }
    let danger = |(host, services): (&str, BTreeSet<String>)| {
        let serves = if services.len() == 1 { "serves" } else { "serve" };
        let names = listed(services, NAMED_MAX);
        let text = format!("no server takes requests to {host} any more, which {names} {serves}");
        Danger::said(Severity::Outage, "hostGone", text, "keep a server for the host")
    };
    lost.into_iter().map(danger).collect()
}

/// Hosts of a VirtualService that are no longer served to the outside: it names no Gateway any more, not the host, or goes.
///
/// Reference: istio.io docs/reference/config/networking/virtual-service, `gateways`: without any, or with `mesh` alone, it is for requests
/// inside of the mesh.
pub(in crate::diff::danger) fn unrouted<'a>(
    old: &'a Manifest,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Vec<Danger> {
    let pruning = around.pruning.of(old);
    if new.is_none() && !pruning.removes() {
        return Vec::new();
    }
    let through = Through::istio();
    let hosts = public_hosts(around.before(old)).into_iter().filter(|host| *host != "*");
    let gone: BTreeSet<&str> = hosts.filter(|host| !around.model.after.serves(host, Some(&through))).collect();
    let danger = |host: &str| {
        let danger = Danger::new(Severity::Outage, What::HostGone { host: host.to_owned() });
        if new.is_none() { danger.pruned(pruning) } else { danger }
    };
    gone.into_iter().map(danger).collect()
}

/// Pods that reach nothing any more but what the mesh knows.
///
/// Reference: istio.io docs/reference/config/networking/sidecar, `OutboundTrafficPolicy`: `REGISTRY_ONLY` drops what is to other hosts.
pub(in crate::diff::danger) fn registered(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("networking.istio.io", "Sidecar");
    let mode = |object: &Manifest| word(object.object(), &["spec", "outboundTrafficPolicy", "mode"]) == "REGISTRY_ONLY";
    (is_it && mode(new) && !mode(old)).then(|| {
        let text = "`REGISTRY_ONLY`: requests to hosts that are no Service and no ServiceEntry fail".to_owned();
        Danger::said(Severity::Other, "unresolved", text, "check that each host that Pods ask has a ServiceEntry")
    })
}

/// Whether a Gateway takes requests to a host for a VirtualService, or may: it may not be known.
fn takes(side: &Side<'_>, [namespace, name]: &[String; 2], service: Placed<'_>, host: &str) -> bool {
    let mut gateways = side.of_kind("Gateway", namespace).map(|one| one.manifest);
    let Some(gateway) = gateways.find(|one| is_gateway(one) && one.name() == name) else { return true };
    let servers = items(gateway.object(), &["spec", "servers"]).iter();
    let mut hosts = servers.flat_map(|server| items(server, &["hosts"])).filter_map(Value::as_str);
    hosts.any(|own| {
        let (place, own) = own.split_once('/').unwrap_or(("*", own));
        let is_place = match place {
            "*" => true,
            "." => service.namespace == namespace,
            place => place == service.namespace,
        };
        is_place && (is_for(own, true, host) || is_for(host, true, own))
    })
}
