//! Services, Ingresses, NetworkPolicies.
//!
//! Reference: kubernetes 1.36 pkg/apis/core/validation/validation.go `ValidateService`, pkg/apis/networking/validation.

use go_yaml::{Mapping, Value};

use super::{Context, between, name_of};
use crate::fields::{get, has, int, items, list, map, set, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

pub(super) fn service(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let kind = match text(spec, "type") {
        "" => "ClusterIP",
        kind => kind,
    };
    let ip = text(spec, "clusterIP");
    let is_headless = ip == "None";
    if kind != "ExternalName" && !is_headless && list(spec, "ports").is_empty() {
        out.required(".ports", "must be set");
    }
    cluster_ips(context, spec, kind, ip, out);
    if kind == "ExternalName" {
        let name = text(spec, "externalName").trim_end_matches('.');
        if name.is_empty() {
            out.required(".externalName", "must be set where `type` is ExternalName");
        } else {
            name_of("name", names::subdomain, name, ".externalName", out);
        }
    }
    ports(spec, kind, out);
    external(spec, kind, out);
}

fn cluster_ips(context: &Context<'_>, spec: &Mapping, kind: &str, ip: &str, out: &mut Findings) {
    let is_external = kind == "ExternalName";
    let is_wrong = if context.minor >= 36 { names::ip } else { names::sloppy_ip };
    if is_external && (!ip.is_empty() || !list(spec, "clusterIPs").is_empty()) {
        out.refuse(".clusterIPs", "forbidden", Reason::Forbidden, "must not be set where `type` is ExternalName");
        return;
    }
    if ip == "None" && kind != "ClusterIP" {
        out.invalid(".clusterIP", "cluster-ip", format!("must not be None where `type` is {kind}"));
    }
    if !matches!(ip, "" | "None") {
        name_of("ip", is_wrong, ip, ".clusterIP", out);
    }
    let all = list(spec, "clusterIPs");
    for (index, each) in all.iter().enumerate() {
        let each = each.as_str().unwrap_or_default();
        if !(each == "None" && index == 0) {
            name_of("ip", is_wrong, each, format_args!(".clusterIPs[{index}]"), out);
        }
    }
    if let Some(first) = all.first().and_then(Value::as_str)
        && !ip.is_empty()
        && first != ip
    {
        out.invalid(".clusterIPs", "cluster-ip", "must begin with `clusterIP`");
    }
    if all.len() > 2 {
        out.invalid(".clusterIPs", "cluster-ip", "must be two at most");
    }
}

fn ports(spec: &Mapping, kind: &str, out: &mut Findings) {
    let count = list(spec, "ports").len();
    let mut seen: Vec<(i64, &str)> = Vec::new();
    let mut nodes: Vec<(i64, &str)> = Vec::new();
    for (index, port) in items(spec, "ports") {
        out.within(format_args!(".ports[{index}]"), |out| {
            let name = text(port, "name");
            if name.is_empty() {
                if count > 1 {
                    out.required(".name", "must be set where there are several ports");
                }
            } else {
                name_of("name", names::label, name, ".name", out);
            }
            let protocol = match text(port, "protocol") {
                "" => "TCP",
                protocol => protocol,
            };
            out.within(".port", |out| between(int(port, "port").unwrap_or(0), 1, 65535, out));
            if let Some(number) = int(port, "port").filter(|number| seen.contains(&(*number, protocol))) {
                out.refuse(
                    "",
                    "duplicate-port",
                    Reason::Duplicate,
                    format!("is {protocol} {number}, which is there already"),
                );
            }
            seen.push((int(port, "port").unwrap_or(0), protocol));
            if let Some(node) = int(port, "nodePort").filter(|node| *node != 0) {
                if kind == "ClusterIP" || kind == "ExternalName" {
                    let text = format!("must not be set where `type` is {kind}");
                    out.refuse(".nodePort", "forbidden", Reason::Forbidden, text);
                }
                if nodes.contains(&(node, protocol)) {
                    out.refuse(".nodePort", "duplicate-port", Reason::Duplicate, "is there already");
                }
                nodes.push((node, protocol));
            }
            match get(port, "targetPort") {
                Some(Value::Int(0)) => {}
                Some(Value::String(text)) if text.is_empty() => {}
                Some(value) => number_or_name(value, ".targetPort", out),
                None => {}
            }
        });
    }
}

pub(super) fn number_or_name(value: &Value, at: &str, out: &mut Findings) {
    out.within(at, |out| match value {
        Value::Int(number) => between(*number, 1, 65535, out),
        Value::String(name) => name_of("port-name", names::port, name, "", out),
        _ => {}
    });
}

fn external(spec: &Mapping, kind: &str, out: &mut Findings) {
    let is_balanced = kind == "LoadBalancer";
    let is_reached = is_balanced || kind == "NodePort" || !list(spec, "externalIPs").is_empty();
    let policy = text(spec, "externalTrafficPolicy");
    if !policy.is_empty() && !is_reached {
        out.invalid(".externalTrafficPolicy", "one-of", "must be set for Services that are reached from outside only");
    }
    if int(spec, "healthCheckNodePort").is_some_and(|port| port != 0) && !(is_balanced && policy == "Local") {
        let text = "must be set where `type` is LoadBalancer and `externalTrafficPolicy` is Local only";
        out.invalid(".healthCheckNodePort", "one-of", text);
    }
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if has(spec, field) && !is_balanced {
            let text = "must be set where `type` is LoadBalancer only";
            out.refuse(&format!(".{field}"), "forbidden", Reason::Forbidden, text);
        }
    }
    let ranges = list(spec, "loadBalancerSourceRanges");
    if !ranges.is_empty() && !is_balanced {
        out.refuse(
            ".loadBalancerSourceRanges",
            "forbidden",
            Reason::Forbidden,
            "must be set where `type` is LoadBalancer only",
        );
    }
    for (index, range) in ranges.iter().enumerate() {
        let range = range.as_str().unwrap_or_default();
        name_of("cidr", names::cidr, range.trim(), format_args!(".loadBalancerSourceRanges[{index}]"), out);
    }
    let seconds = crate::fields::at(spec, &["sessionAffinityConfig", "clientIP"]);
    if text(spec, "sessionAffinity") != "ClientIP" && has(spec, "sessionAffinityConfig") {
        let text = "must be set where `sessionAffinity` is ClientIP only";
        out.refuse(".sessionAffinityConfig", "forbidden", Reason::Forbidden, text);
    } else if let Some(seconds) = seconds.and_then(|client| int(client, "timeoutSeconds")) {
        out.within(".sessionAffinityConfig.clientIP.timeoutSeconds", |out| between(seconds, 1, 86400, out));
    }
}

pub(super) fn ingress(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if !has(spec, "defaultBackend") && list(spec, "rules").is_empty() {
        out.invalid("", "one-of", "must have `defaultBackend` or `rules`");
    }
    if let Some(class) = get(spec, "ingressClassName").and_then(Value::as_str) {
        name_of("name", names::subdomain, class, ".ingressClassName", out);
    }
    for (index, rule) in items(spec, "rules") {
        host(text(rule, "host"), &format!(".rules[{index}].host"), out);
        if let Some(http) = map(rule, "http")
            && list(http, "paths").is_empty()
        {
            out.required(&format!(".rules[{index}].http.paths"), "must be set");
        }
    }
    for (index, tls) in items(spec, "tls") {
        for (at, each) in list(tls, "hosts").iter().enumerate() {
            let each = each.as_str().unwrap_or_default();
            name_of("host", names::wildcard, each, format_args!(".tls[{index}].hosts[{at}]"), out);
        }
    }
}

fn host(host: &str, at: &str, out: &mut Findings) {
    if host.is_empty() {
        return;
    }
    if names::sloppy_ip(host).is_none() {
        out.invalid(at, "host", "must be a name, not an address");
    }
    if let Some((scheme, _)) = host.split_once("://") {
        return out.invalid(at, "host", format!("is {}, and must be a name without `{scheme}://`", shown(host)));
    }
    name_of("host", names::wildcard, host, at, out);
}

const NOT_IN_PATHS: &[&str] = &["//", "/./", "/../", "%2f", "%2F"];

pub(super) fn ingress_path(_: &Context<'_>, path: &Mapping, out: &mut Findings) {
    let (kind, value) = (text(path, "pathType"), text(path, "path"));
    match kind {
        "Exact" | "Prefix" => {}
        "ImplementationSpecific" if !value.is_empty() => {}
        _ => return,
    }
    if !value.starts_with('/') {
        return out.invalid(".path", "ingress-path", format!("is {}, and must begin with `/`", shown(value)));
    }
    if kind == "ImplementationSpecific" {
        return;
    }
    let ends = ["/..", "/."].iter().find(|end| value.ends_with(**end));
    if let Some(part) = NOT_IN_PATHS.iter().find(|part| value.contains(**part)).or(ends) {
        out.invalid(".path", "ingress-path", format!("must not contain `{part}`"));
    }
}

pub(super) fn backend(context: &Context<'_>, backend: &Mapping, out: &mut Findings) {
    match set(backend, &["service", "resource"]).len() {
        0 => out.required("", "must have one of `service`, `resource`"),
        1 => {}
        _ => out.invalid("", "one-of", "must not have both `service` and `resource`"),
    }
    let Some(service) = map(backend, "service") else { return };
    let name = text(service, "name");
    if !name.is_empty() {
        let is_wrong = if context.minor >= 36 { names::label } else { names::label_1035 };
        name_of("name", is_wrong, name, ".service.name", out);
    }
    let empty = Mapping::new();
    let port = map(service, "port").unwrap_or(&empty);
    let (name, number) = (text(port, "name"), int(port, "number").unwrap_or(0));
    match (name, number) {
        ("", 0) => out.required(".service.port", "must have `name` or `number`"),
        ("", number) => out.within(".service.port.number", |out| between(number, 1, 65535, out)),
        (name, 0) => name_of("port-name", names::port, name, ".service.port.name", out),
        _ => out.invalid(".service.port", "one-of", "must not have both `name` and `number`"),
    }
}

pub(super) fn policy_port(_: &Context<'_>, port: &Mapping, out: &mut Findings) {
    let value = get(port, "port");
    let range = value.and_then(Value::as_str).and_then(|text| text.split_once('-'));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some((start, end)) = range.filter(|(start, end)| is_number(start) && is_number(end)) {
        let text = format!("is `{start}-{end}`: a range is `port: {start}` and `endPort: {end}`");
        return out.invalid(".port", "port-name", text);
    }
    if let Some(value) = value {
        number_or_name(value, ".port", out);
    }
    let Some(end) = int(port, "endPort") else { return };
    match value {
        None => out.required(".port", "must be set where `endPort` is"),
        Some(Value::Int(start)) if end < *start => out.invalid(".endPort", "range", "must not be less than `port`"),
        Some(Value::Int(_)) => out.within(".endPort", |out| between(end, 1, 65535, out)),
        Some(_) => out.invalid(".endPort", "one-of", "must not be set where `port` is a name"),
    }
}

pub(super) fn policy_peer(_: &Context<'_>, peer: &Mapping, out: &mut Findings) {
    match (set(peer, &["podSelector", "namespaceSelector", "ipBlock"]).len(), has(peer, "ipBlock")) {
        (0, _) => out.required("", "must have one of `podSelector`, `namespaceSelector`, `ipBlock`"),
        (2.., true) => out.refuse("", "forbidden", Reason::Forbidden, "must not have a selector beside `ipBlock`"),
        _ => {}
    }
}

pub(super) fn ip_block(context: &Context<'_>, block: &Mapping, out: &mut Findings) {
    let cidr = text(block, "cidr");
    let is_wrong: fn(&str) -> names::Wrong = if context.minor >= 36 { names::strict_cidr } else { names::cidr };
    if !cidr.is_empty() {
        name_of("cidr", is_wrong, cidr, ".cidr", out);
    }
    for (index, except) in list(block, "except").iter().enumerate() {
        let except = except.as_str().unwrap_or_default();
        let at = format!(".except[{index}]");
        name_of("cidr", is_wrong, except, &at, out);
        if names::cidr(except).is_none() && names::cidr(cidr).is_none() && !is_inside(except, cidr) {
            out.invalid(&at, "cidr", format!("must be a part of {}", shown(cidr)));
        }
    }
}

/// Whether a network is a part of another that is larger.
fn is_inside(inner: &str, outer: &str) -> bool {
    let parse = |text: &str| -> Option<(std::net::IpAddr, u32)> {
        let (address, length) = text.split_once('/')?;
        Some((address.parse().ok()?, length.parse().ok()?))
    };
    match (parse(inner), parse(outer)) {
        (Some((std::net::IpAddr::V4(inner), deep)), Some((std::net::IpAddr::V4(outer), length))) => {
            let mask = u32::MAX.checked_shl(32 - length).unwrap_or(0);
            deep > length && u32::from(inner) & mask == u32::from(outer) & mask
        }
        (Some((std::net::IpAddr::V6(inner), deep)), Some((std::net::IpAddr::V6(outer), length))) => {
            let mask = u128::MAX.checked_shl(128 - length).unwrap_or(0);
            deep > length && u128::from(inner) & mask == u128::from(outer) & mask
        }
        _ => false,
    }
}

pub(super) fn policy(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if list(spec, "policyTypes").len() > 2 {
        out.invalid(".policyTypes", "too-many", "must be two at most");
    }
}

/// What an IngressClass is configured by.
pub(super) fn class_parameters(_: &Context<'_>, parameters: &Mapping, out: &mut Findings) {
    let namespace = text(parameters, "namespace");
    match text(parameters, "scope") {
        "Namespace" if namespace.is_empty() => out.required(".namespace", "must be set where `scope` is Namespace"),
        "Namespace" => name_of("name", names::label, namespace, ".namespace", out),
        _ if has(parameters, "namespace") => {
            out.refuse(".namespace", "forbidden", Reason::Forbidden, "must be set where `scope` is Namespace only");
        }
        _ => {}
    }
}
