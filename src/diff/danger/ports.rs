//! Ports that are asked for and not there.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::{name, service_type, services};
use super::text::verb;
use super::{Around, Danger, Severity, backends, items};
use crate::diff::model::pods::{containers, has_port, protocol, spec};
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

/// Probes that ask another number than before, or that number still, which the container no longer lists: what listens without
/// being listed is not known.
///
/// Reference: kubernetes API Container `ports`: not listing a port does not keep it from being reached.
pub(super) fn unlisted(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let listed = |container: &Value, port: i64| {
        items(container, &["ports"]).iter().any(|one| number(one, &["containerPort"]) == Some(port))
    };
    let mut found = Vec::new();
    for (name, container) in spec(new).into_iter().flat_map(containers) {
        let Some((_, was)) = spec(old).into_iter().flat_map(containers).find(|(of, _)| *of == name) else { continue };
        let mut asked = BTreeSet::new();
        for probe in ["readinessProbe", "livenessProbe", "startupProbe"] {
            for handler in ["httpGet", "tcpSocket", "grpc"] {
                let port = |of: &Value| number(of, &[probe, handler, "port"]);
                let Some(now) = port(container).filter(|now| !listed(container, *now)) else { continue };
                let was_listed = port(was).is_some_and(|port| listed(was, port));
                if was_listed && !items(container, &["ports"]).is_empty() {
                    asked.insert(now);
                }
            }
        }
        found.extend(asked.into_iter().map(|port| {
            let text = format!("a probe of `{name}` asks port {port}, which it does not list: where nothing listens there, the probe fails");
            Danger::said(Severity::Other, "noPort", text, "check that the container listens on the port")
        }));
    }
    found
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
    // Nothing uses a port that comes with it.
    let was = ports(old);
    let is_served = |target: &str| {
        let all = ports(new).into_iter().filter(|port| port.target == target);
        all.into_iter().any(|port| was.iter().any(|one| one.place() == port.place()))
    };
    let mut lacking = lacking_targets(service, &around.model.before).into_iter();
    let target = lacking.find(|one| !known.contains(&one.as_str()) && is_served(one))?;
    (!is_moved).then(|| {
        let text = format!(
            "leads to port `{target}`, which none of the Pods that run now has: it has no endpoints until new ones are ready"
        );
        Danger::said(Severity::Outage, "noPort", text, "keep the name of the port, or the number as its target")
    })
}

/// A ServiceMonitor whose Services are there without the labels by which it chose them.
///
/// Reference: prometheus-operator docs/api-reference/api, ServiceMonitorSpec `selector`.
pub(super) fn unselected<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let old = old.filter(|_| (new.home_group(), new.kind()) == ("monitoring.coreos.com", "ServiceMonitor"))?;
    let (before, after) = (&around.model.before, &around.model.after);
    let is_left = || selected_services(around.before(old), before).any(|service| after.find(service).is_some());
    let is_lost = selected_services(around.after(new), after).next().is_none() && is_left();
    is_lost.then(|| {
        let text = "selects none of its Services any more: it reads nothing".to_owned();
        Danger::said(Severity::Other, "unselected", text, "check the labels of the Services that it shall read")
    })
}

/// The Services that a ServiceMonitor chooses of its namespace; none where it looks elsewhere too.
fn selected_services<'a>(monitor: Placed<'a>, side: &Side<'a>) -> impl Iterator<Item = Placed<'a>> {
    let object = monitor.manifest.object();
    let selector = object.at(&["spec", "selector"]).filter(|_| object.at(&["spec", "namespaceSelector"]).is_none());
    let labels =
        |service: &Placed<'a>| service.manifest.object().at(&["metadata", "labels"]).and_then(Value::as_mapping);
    let services = side.of_kind("Service", monitor.namespace);
    services
        .filter(move |service| selector.is_some_and(|selector| chooses(selector, labels(service))))
        .collect::<Vec<_>>()
        .into_iter()
}

/// A ServiceMonitor or PodMonitor that reads a port which nothing has that it selects.
///
/// Reference: prometheus-operator docs/api-reference/api, Endpoint: `port` is the name of a port of the Service.
pub(super) fn monitored<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if new.home_group() != "monitoring.coreos.com" || !matches!(new.kind(), "ServiceMonitor" | "PodMonitor") {
        return Vec::new();
    }
    let was = old.map(|old| unmonitored(around.before(old), &around.model.before)).unwrap_or_default();
    let danger = |port: &&str| {
        let what = if new.kind() == "PodMonitor" { "Pods" } else { "Services" };
        let text = format!("reads port `{port}`, which none of the {what} has that it selects: it reads nothing");
        Danger::said(Severity::Other, "noPort", text, "check the names of the ports of what it selects")
    };
    let now = unmonitored(around.after(new), &around.model.after);
    now.iter().filter(|port| !was.contains(port)).map(danger).collect()
}

fn unmonitored<'a>(monitor: Placed<'a>, side: &Side<'a>) -> Vec<&'a str> {
    let object = monitor.manifest.object();
    if monitor.manifest.kind() == "PodMonitor" {
        return unread(monitor, side);
    }
    let ports: Vec<&str> = selected_services(monitor, side)
        .flat_map(|service| items(service.manifest.object(), &["spec", "ports"]))
        .map(|port| word(port, &["name"]))
        .collect();
    let read = items(object, &["spec", "endpoints"]).iter().filter_map(|endpoint| endpoint.get("port")?.as_str());
    read.filter(|port| !ports.is_empty() && !ports.contains(port)).collect()
}

/// The ports that a PodMonitor reads and that no container has of the Pods which it chooses, where it chooses any that are known.
fn unread<'a>(monitor: Placed<'a>, side: &Side<'a>) -> Vec<&'a str> {
    let object = monitor.manifest.object();
    let selector = object.at(&["spec", "selector"]).filter(|_| object.at(&["spec", "namespaceSelector"]).is_none());
    let pods: Vec<&Value> = side.selected(monitor.namespace, selector).filter_map(|one| spec(one.manifest)).collect();
    let read = items(object, &["spec", "podMetricsEndpoints"]).iter().filter_map(|endpoint| endpoint.get("port"));
    let is_lacking = |port: &&Value| !pods.is_empty() && !pods.iter().any(|pods| has_port(pods, port));
    read.filter(|port| port.as_str().is_some()).filter(is_lacking).filter_map(Value::as_str).collect()
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

/// Ports of a Service that go, and names of ports by which routes beside it still lead to them. A headless one leads to its Pods by DNS
/// alone, whichever ports it lists.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "Headless Services", "Protocols for Services".
pub(super) fn gone<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let Some((old, new)) = services(Some(old), Some(new)) else { return Vec::new() };
    let is_elsewhere = word(new.object(), &["spec", "type"]) == "ExternalName";
    let is_headless = word(old.object(), &["spec", "clusterIP"]) == "None";
    if is_elsewhere {
        return Vec::new();
    }
    let (was, now) = (ports(old), ports(new));
    let gone = was.iter().filter(|port| !is_headless && !now.iter().any(|one| one.place() == port.place()));
    let danger = |port: &Port<'_>| {
        let is_other = now.iter().any(|one| one.number == port.number);
        let protocol = if is_other { format!("/{}", port.protocol) } else { String::new() };
        let text = format!("port {}{protocol} removed: who connects to it is refused", port.number);
        Danger::said(Severity::Outage, "portGone", text, "keep the old port beside the new one until nothing uses it")
    };
    let mut found: Vec<Danger> = gone.map(danger).collect();
    let placed = around.after(new);
    let is_there = |port: &Port<'_>| now.iter().any(|one| one.place() == port.place());
    let is_named = |name: &str| name.is_empty() || now.iter().any(|one| one.name == name);
    for port in was.iter().filter(|port| is_there(port) && !is_named(port.name)) {
        let users: BTreeSet<String> = backends::by_name(placed, port.name, &around.model.after).map(name).collect();
        if !users.is_empty() {
            let (lead, users) = (format!("lead{}", verb(users.len())), listed(users, NAMED_MAX));
            let text =
                format!("no port has the name `{}` any more, by which {users} {lead} to it: requests fail", port.name);
            found.push(Danger::said(Severity::Outage, "noPort", text, "keep the name, or change it in both"));
        }
    }
    found
}

/// How many routes are named.
const NAMED_MAX: usize = 4;

/// A port of a Service.
struct Port<'m> {
    name: &'m str,
    number: i64,
    protocol: &'m str,
    /// `targetPort`, where it is a text.
    target: &'m str,
}

impl Port<'_> {
    /// What a Service knows it by.
    fn place(&self) -> (i64, &str) {
        (self.number, self.protocol)
    }
}

fn ports(service: &Manifest) -> Vec<Port<'_>> {
    let all = items(service.object(), &["spec", "ports"]).iter();
    all.filter_map(|one| {
        let number = number(one, &["port"])?;
        let (name, target) = (word(one, &["name"]), word(one, &["targetPort"]));
        Some(Port { name, number, protocol: protocol(one), target })
    })
    .collect()
}

/// The ports that nodes may have for Services, where the API server is not started with others.
const NODE_PORTS: std::ops::RangeInclusive<i64> = 30_000..=32_767;

/// A port of the nodes that the API server does not give, as far as no Service has one that is outside of the range.
///
/// Reference: kubernetes docs/concepts/services-networking/service, "type: NodePort": `--service-node-port-range`.
pub(super) fn out_of_range<'a>(new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let outside = |service: &Manifest| {
        let has = matches!(service_type(service), "NodePort" | "LoadBalancer") && service.home_group().is_empty();
        let ports = items(service.object(), &["spec", "ports"]).iter().filter_map(|port| number(port, &["nodePort"]));
        ports.into_iter().find(|port| has && *port != 0 && !NODE_PORTS.contains(port))
    };
    let port = outside(new).filter(|_| new.kind() == "Service")?;
    let is_known = around.model.before.listed("Service").any(|one| outside(one.manifest).is_some());
    (!is_known).then(|| {
        let text = format!(
            "the API server refuses it, so the sync fails: `nodePort: {port}` is outside of 30000-32767, its range by default"
        );
        // Where it is started with another range, all else comes of it.
        Danger::said(Severity::Refused, "outOfRange", text, "keep the port within the range of the API server")
    })
}
