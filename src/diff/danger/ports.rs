//! Ports that are asked for and not there.

use go_yaml::Value;

use super::around::services;
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::{containers, has_port, spec};
use crate::diff::model::{Placed, Side, chooses, number, word};
use crate::manifest::Manifest;

/// Probes that ask a named port which their container does not have.
///
/// Reference: kubernetes pkg/kubelet/prober: a name is looked up in the ports of the container.
pub(super) fn probed(old: Option<&Manifest>, new: &Manifest) -> Vec<Danger> {
    let was = old.map(lacking_probes).unwrap_or_default();
    let now = lacking_probes(new).into_iter().filter(|lacking| !was.contains(lacking));
    let danger = |(container, port): (String, String)| {
        let text = format!("a probe of `{container}` asks port `{port}`, which it does not have: the probe fails");
        Danger::said(Severity::Outage, "noPort", text, "name a port of the container, or a number")
    };
    now.map(danger).collect()
}

fn lacking_probes(workload: &Manifest) -> Vec<(String, String)> {
    let mut lacking = Vec::new();
    for (name, container) in spec(workload).into_iter().flat_map(containers) {
        let probes = ["readinessProbe", "livenessProbe", "startupProbe"].into_iter();
        let handlers = probes.flat_map(|probe| ["httpGet", "tcpSocket"].map(|handler| [probe, handler, "port"]));
        for port in handlers.filter_map(|path| container.at(&path)?.as_str()) {
            let is_there = items(container, &["ports"]).iter().any(|declared| word(declared, &["name"]) == port);
            if !is_there && port.parse::<u16>().is_err() {
                lacking.push((name.to_owned(), port.to_owned()));
            }
        }
    }
    lacking.sort();
    lacking.dedup();
    lacking
}

/// A Service whose named target none of the Pods has that it selects.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "Port definitions".
pub(super) fn targets<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if (new.home_group(), new.kind()) != ("", "Service") {
        return Vec::new();
    }
    let was = old.map(|old| lacking_targets(around.before(old), &around.model.before)).unwrap_or_default();
    let now = lacking_targets(around.after(new), &around.model.after);
    let danger = |target: &String| {
        let text = format!("leads to port `{target}`, which no container of its Pods has: it has no endpoints");
        Danger::said(Severity::Outage, "noPort", text, "name a port that the containers have")
    };
    let found: Vec<Danger> = now.iter().filter(|target| !was.contains(target)).map(danger).collect();
    if found.is_empty() { old.and_then(|old| unready(old, new, around)).into_iter().collect() } else { found }
}

/// A Service whose named target the Pods that run do not have, only those that come.
fn unready<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let service = around.after(new);
    let is_moved = around.before(old).namespace != service.namespace;
    let known: Vec<&str> = named_targets(old).into_iter().filter_map(Value::as_str).collect();
    let target =
        lacking_targets(service, &around.model.before).into_iter().find(|one| !known.contains(&one.as_str()))?;
    (!is_moved).then(|| {
        let text = format!(
            "leads to port `{target}`, which none of the Pods that run now has: it has no endpoints until new ones are ready"
        );
        Danger::said(Severity::Outage, "noPort", text, "keep the name of the port, or the number as its target")
    })
}

/// A ServiceMonitor that reads a port which none of the Services has that it selects.
///
/// Reference: prometheus-operator docs/api-reference/api, Endpoint: `port` is the name of a port of the Service.
pub(super) fn monitored<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if (new.home_group(), new.kind()) != ("monitoring.coreos.com", "ServiceMonitor") {
        return Vec::new();
    }
    let was = old.map(|old| unmonitored(around.before(old), &around.model.before)).unwrap_or_default();
    let danger = |port: &&str| {
        let text = format!("reads port `{port}`, which none of the Services has that it selects: it reads nothing");
        Danger::said(Severity::Other, "noPort", text, "check the names of the ports of its Services")
    };
    let now = unmonitored(around.after(new), &around.model.after);
    now.iter().filter(|port| !was.contains(port)).map(danger).collect()
}

fn unmonitored<'a>(monitor: Placed<'a>, side: &Side<'a>) -> Vec<&'a str> {
    let object = monitor.manifest.object();
    let Some(selector) = object.at(&["spec", "selector"]) else { return Vec::new() };
    if object.at(&["spec", "namespaceSelector"]).is_some() {
        return Vec::new();
    }
    let labels =
        |service: &Placed<'a>| service.manifest.object().at(&["metadata", "labels"]).and_then(Value::as_mapping);
    let services = side.of_kind("Service", monitor.namespace).filter(|service| chooses(selector, labels(service)));
    let ports: Vec<&str> = services
        .flat_map(|service| items(service.manifest.object(), &["spec", "ports"]))
        .map(|port| word(port, &["name"]))
        .collect();
    let read = items(object, &["spec", "endpoints"]).iter().filter_map(|endpoint| endpoint.get("port")?.as_str());
    read.filter(|port| !ports.is_empty() && !ports.contains(port)).collect()
}

fn named_targets(service: &Manifest) -> Vec<&Value> {
    let is_name = |target: &&Value| target.as_str().is_some_and(|text| text.parse::<u16>().is_err());
    let ports = items(service.object(), &["spec", "ports"]).iter();
    ports.filter_map(|port| port.get("targetPort")).filter(is_name).collect()
}

/// Named targets that no workload has which the Service selects, where it selects any.
fn lacking_targets(service: Placed<'_>, side: &Side<'_>) -> Vec<String> {
    let named = named_targets(service.manifest);
    if named.is_empty() {
        return Vec::new();
    }
    let pods: Vec<&Value> = side.served_by(service).iter().filter_map(|workload| spec(workload.manifest)).collect();
    let is_lacking = |target: &&Value| !pods.is_empty() && !pods.iter().any(|pods| has_port(pods, target));
    named.into_iter().filter(is_lacking).filter_map(|target| target.as_str().map(str::to_owned)).collect()
}

/// Ports of a Service that go. A headless one leads to its Pods by DNS alone, whichever ports it lists.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "Headless Services".
pub(super) fn gone(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let Some((old, new)) = services(Some(old), Some(new)) else { return Vec::new() };
    let is_elsewhere = word(new.object(), &["spec", "type"]) == "ExternalName";
    let is_headless = word(old.object(), &["spec", "clusterIP"]) == "None";
    let ports = |service: &'_ Manifest| -> Vec<i64> {
        items(service.object(), &["spec", "ports"]).iter().filter_map(|port| number(port, &["port"])).collect()
    };
    let now = ports(new);
    let gone = ports(old).into_iter().filter(|port| !is_elsewhere && !is_headless && !now.contains(port));
    let danger = |port: i64| {
        let text = format!("port {port} removed: who connects to it is refused");
        Danger::said(Severity::Outage, "portGone", text, "keep the old port beside the new one until nothing uses it")
    };
    gone.map(danger).collect()
}
