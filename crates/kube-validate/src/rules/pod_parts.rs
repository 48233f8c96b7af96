//! Parts of containers: probes, environment, security; and where Pods may run.
//!
//! Reference: kubernetes 1.36 pkg/apis/core/validation/validation.go.

use go_yaml::{Mapping, Value};

use super::{Context, between, is_field_path, name_of};
use crate::fields::{get, has, int, is_true, items, list, map, set, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;
use crate::quantity::Quantity;

const HANDLERS: &[&str] = &["exec", "httpGet", "tcpSocket", "grpc"];

pub(super) fn container(context: &Context<'_>, container: &Mapping, out: &mut Findings) {
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(probe) = map(container, field) else { continue };
        out.within(format_args!(".{field}"), |out| {
            super::one(probe, HANDLERS, out);
            if field != "readinessProbe" && int(probe, "successThreshold").is_some_and(|count| count > 1) {
                out.invalid(".successThreshold", "probe", "must be 1");
            }
            match int(probe, "terminationGracePeriodSeconds") {
                Some(_) if field == "readinessProbe" => {
                    out.invalid(".terminationGracePeriodSeconds", "probe", "must not be set for readiness probes");
                }
                Some(seconds) if seconds <= 0 => {
                    out.invalid(".terminationGracePeriodSeconds", "range", "must be greater than 0")
                }
                _ => {}
            }
        });
    }
    let image = text(container, "image");
    if context.kind == "Pod" && image.trim() != image {
        out.invalid(".image", "image", "must not begin or end with a blank");
    }
}

/// A number or a name of a port.
pub(super) fn port(_: &Context<'_>, action: &Mapping, out: &mut Findings) {
    out.within(".port", |out| match get(action, "port") {
        Some(Value::Int(number)) => between(*number, 1, 65535, out),
        Some(Value::String(name)) => name_of("port-name", names::port, name, "", out),
        _ => out.required("", "must be set"),
    });
}

const SOURCES: &[&str] = &["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];

pub(super) fn env(context: &Context<'_>, env: &Mapping, out: &mut Findings) {
    let name = text(env, "name");
    let is_wrong = if context.minor >= 32 { names::env } else { names::strict_env };
    if !name.is_empty() {
        name_of("env-name", is_wrong, name, ".name", out);
    }
    let Some(from) = map(env, "valueFrom") else { return };
    if !text(env, "value").is_empty() {
        out.invalid(".valueFrom", "one-of", "must not be set beside `value`");
    }
    // Files were switched on in 1.35, and what names one is dropped before.
    let sources =
        if context.minor >= 35 { SOURCES } else { SOURCES.split_last().map_or(SOURCES, |(_, others)| others) };
    out.within(".valueFrom", |out| super::one(from, sources, out));
}

const ENV_FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];
const FILE_FIELDS: &[&str] =
    &["metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"];
const ENV_RESOURCES: &[&str] = &["cpu", "memory", "ephemeral-storage"];

/// A variable or a file that a field of the Pod gives.
pub(super) fn field_source(_: &Context<'_>, source: &Mapping, out: &mut Findings) {
    sources(source, ENV_FIELDS, out);
}

pub(super) fn file_source(_: &Context<'_>, file: &Mapping, out: &mut Findings) {
    sources(file, FILE_FIELDS, out);
    if map(file, "resourceFieldRef").is_some_and(|source| text(source, "containerName").is_empty()) {
        out.required(".resourceFieldRef.containerName", "must be set in a volume");
    }
    match (has(file, "fieldRef"), has(file, "resourceFieldRef")) {
        (false, false) => out.required(".fieldRef", "must be set, or `resourceFieldRef`"),
        (true, true) => out.invalid("", "one-of", "must not have both `fieldRef` and `resourceFieldRef`"),
        _ => {}
    }
    if let Some(mode) = int(file, "mode") {
        out.within(".mode", |out| between(mode, 0, 0o777, out));
    }
}

fn sources(source: &Mapping, fields: &[&str], out: &mut Findings) {
    if let Some(path) = map(source, "fieldRef").map(|field| text(field, "fieldPath")).filter(|path| !path.is_empty())
        && !is_field_path(path, fields)
    {
        out.invalid(
            ".fieldRef.fieldPath",
            "field-path",
            format!("is {}, which is not a field that a container may read", shown(path)),
        );
    }
    let Some(resource) = map(source, "resourceFieldRef") else { return };
    let name = text(resource, "resource");
    let of = name.strip_prefix("limits.").or_else(|| name.strip_prefix("requests."));
    if !name.is_empty() && !of.is_some_and(|of| ENV_RESOURCES.contains(&of) || of.starts_with("hugepages-")) {
        let text = format!("is {}, and must be a limit or request of cpu, memory or ephemeral-storage", shown(name));
        out.refuse(".resourceFieldRef.resource", "enum", Reason::NotSupported, text);
    }
    let divisor = get(resource, "divisor").map(|divisor| (divisor, Quantity::of(divisor)));
    if let (Some(of), Some((divisor, Some(amount)))) = (of, divisor)
        && !amount.is_zero()
        && !is_divisor(of, divisor)
    {
        out.invalid(".resourceFieldRef.divisor", "divisor", format!("is not one that {of} may have"));
    }
}

fn is_divisor(of: &str, divisor: &Value) -> bool {
    let among = |all: &[&str]| all.iter().any(|each| Quantity::of(&Value::from(*each)) == Quantity::of(divisor));
    if of == "cpu" {
        among(&["1m", "1"])
    } else {
        among(&["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"])
    }
}

pub(super) fn env_from(_: &Context<'_>, source: &Mapping, out: &mut Findings) {
    match set(source, &["configMapRef", "secretRef"]).len() {
        0 => out.invalid("", "one-of", "must have one of `configMapRef`, `secretRef`"),
        1 => {}
        _ => out.invalid("", "one-of", "must not have both `configMapRef` and `secretRef`"),
    }
}

pub(super) fn security(_: &Context<'_>, security: &Mapping, out: &mut Findings) {
    if get(security, "allowPrivilegeEscalation").and_then(Value::as_bool) != Some(false) {
        return;
    }
    let added = map(security, "capabilities").map(|all| list(all, "add")).unwrap_or_default();
    if is_true(security, "privileged") || added.iter().any(|each| matches!(each.as_str(), Some("CAP_SYS_ADMIN"))) {
        let text = "must not be false for a privileged container, or one with CAP_SYS_ADMIN";
        out.invalid(".allowPrivilegeEscalation", "privilege", text);
    }
}

/// A profile of seccomp or AppArmor.
pub(super) fn profile(_: &Context<'_>, profile: &Mapping, out: &mut Findings) {
    let (kind, name) = (text(profile, "type"), text(profile, "localhostProfile"));
    match (kind, has(profile, "localhostProfile")) {
        ("Localhost", _) if name.is_empty() => {
            out.required(".localhostProfile", "must be set where `type` is Localhost")
        }
        ("Localhost", _) => name_of("path", names::local_path, name, ".localhostProfile", out),
        (_, true) => out.invalid(".localhostProfile", "profile", "must not be set where `type` is not Localhost"),
        _ => {}
    }
}

pub(super) fn toleration(_: &Context<'_>, toleration: &Mapping, out: &mut Findings) {
    let (key, operator, value) = (text(toleration, "key"), text(toleration, "operator"), text(toleration, "value"));
    if key.is_empty() && operator != "Exists" {
        out.invalid(".operator", "toleration", "must be Exists where there is no `key`");
    }
    if has(toleration, "tolerationSeconds") && text(toleration, "effect") != "NoExecute" {
        out.invalid(".effect", "toleration", "must be NoExecute where `tolerationSeconds` is set");
    }
    match operator {
        "" | "Equal" => name_of("label-value", names::label_value, value, ".value", out),
        "Exists" if !value.is_empty() => {
            out.invalid(".operator", "toleration", "must not be Exists where `value` is set")
        }
        _ => {}
    }
}

pub(super) fn affinity_term(_: &Context<'_>, term: &Mapping, out: &mut Findings) {
    for field in ["matchLabelKeys", "mismatchLabelKeys"] {
        if !list(term, field).is_empty() && !has(term, "labelSelector") {
            let text = "must not be set without `labelSelector`";
            out.refuse(&format!(".{field}"), "forbidden", Reason::Forbidden, text);
        }
    }
}

pub(super) fn spread(_: &Context<'_>, pod: &Mapping, out: &mut Findings) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (index, spread) in items(pod, "topologySpreadConstraints") {
        out.within(format_args!(".topologySpreadConstraints[{index}]"), |out| {
            let pair = (text(spread, "topologyKey"), text(spread, "whenUnsatisfiable"));
            if seen.contains(&pair) {
                out.refuse(
                    "",
                    "duplicate",
                    Reason::Duplicate,
                    "its `topologyKey` and `whenUnsatisfiable` are there already",
                );
            }
            seen.push(pair);
            if has(spread, "minDomains") && pair.1 != "DoNotSchedule" {
                out.invalid(".minDomains", "spread", "must be set with DoNotSchedule only");
            }
            if !list(spread, "matchLabelKeys").is_empty() && !has(spread, "labelSelector") {
                let text = "must not be set without `labelSelector`";
                out.refuse(".matchLabelKeys", "forbidden", Reason::Forbidden, text);
            }
        });
    }
}

/// A requirement of a selector of nodes.
pub(super) fn node_requirement(_: &Context<'_>, requirement: &Mapping, out: &mut Findings) {
    let values = list(requirement, "values").len();
    match text(requirement, "operator") {
        "In" | "NotIn" if values == 0 => out.required(".values", "must be set for In and NotIn"),
        "Exists" | "DoesNotExist" if values > 0 => {
            out.refuse(".values", "forbidden", Reason::Forbidden, "must not be set for Exists and DoesNotExist");
        }
        "Gt" | "Lt" if values != 1 => out.required(".values", "must be one value for Gt and Lt"),
        _ => {}
    }
}
