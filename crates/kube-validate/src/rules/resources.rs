//! Amounts of resources: of containers, of claims, of quotas and limits.
//!
//! Reference: kubernetes 1.36 pkg/apis/core/validation/validation.go `ValidateContainerResourceRequirements`,
//! `ValidateResourceQuotaSpec`, `ValidateLimitRange`.

use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::fields::{items, list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;
use crate::quantity::Quantity;

const OF_CONTAINERS: &[&str] = &["cpu", "memory", "ephemeral-storage"];

fn amounts<'v>(object: &'v Mapping, field: &str) -> impl Iterator<Item = (&'v str, Quantity)> {
    let all = map(object, field).into_iter().flatten();
    all.filter_map(|(name, value)| Some((name.as_str(), amount_of(value)?)))
}

/// What a server makes of an amount: a null is nothing, and what is less than a thousandth is one.
fn amount_of(value: &Value) -> Option<Quantity> {
    let amount = if value.is_null() { Quantity::of(&Value::Int(0)) } else { Quantity::of(value) };
    amount.map(Quantity::in_thousandths)
}

fn is_of_containers(name: &str) -> bool {
    OF_CONTAINERS.contains(&name) || name.starts_with("hugepages-")
}

/// Devices and the like, whose requests and limits are equal integers.
fn is_extended(name: &str) -> bool {
    name.contains('/')
        && !name.split('/').next().unwrap_or_default().ends_with("kubernetes.io")
        && !name.starts_with("requests.")
}

fn resource_name(name: &str, at: &str, is_standard: fn(&str) -> bool, out: &mut Findings) {
    name_of("resource-name", names::qualified, name, at, out);
    if !name.contains('/') && !is_standard(name) {
        out.invalid(
            at,
            "resource-name",
            format!("is {}, which is not a resource here; others have a domain before a `/`", shown(name)),
        );
    }
}

/// Requests and limits of a container, or of a Pod.
pub(super) fn requirements(_: &Context<'_>, resources: &Mapping, out: &mut Findings) {
    let limits: Vec<_> = amounts(resources, "limits").collect();
    let limit = |name: &str| limits.iter().find(|(limit, _)| *limit == name).map(|(_, amount)| *amount);
    for field in ["limits", "requests"] {
        for (name, amount) in amounts(resources, field) {
            let at = format!(".{field}[{name}]");
            resource_name(name, &at, is_of_containers, out);
            if amount.is_negative() {
                out.invalid(&at, "range", "must not be negative");
            }
            if is_extended(name) && !amount.is_whole() {
                out.invalid(&at, "quantity", "must be an integer");
            }
        }
    }
    for (name, amount) in amounts(resources, "requests") {
        let at = format!(".requests[{name}]");
        let must_equal = is_extended(name) || name.starts_with("hugepages-");
        match limit(name) {
            Some(limit) if must_equal && amount != limit => {
                out.invalid(&at, "requests-above-limits", "must be equal to the limit")
            }
            Some(limit) if amount > limit => {
                out.invalid(&at, "requests-above-limits", "must be no more than the limit")
            }
            None if must_equal => out.required(&format!(".limits[{name}]"), "must be set where a request is"),
            _ => {}
        }
    }
    let has_any = |is: fn(&str) -> bool| {
        ["limits", "requests"].iter().any(|field| amounts(resources, field).any(|(name, _)| is(name)))
    };
    if has_any(|name| name.starts_with("hugepages-")) && !has_any(|name| matches!(name, "cpu" | "memory")) {
        out.refuse("", "hugepages", Reason::Forbidden, "must have cpu or memory beside huge pages");
    }
}

/// The storage that a claim asks for.
pub(super) fn claim(claim: &Mapping, out: &mut Findings) {
    let empty = Mapping::new();
    let resources = map(claim, "resources").unwrap_or(&empty);
    match map(resources, "requests").and_then(|requests| requests.get("storage")).map(amount_of) {
        None => out.required(".resources[storage]", "must be set in `requests`"),
        Some(Some(amount)) if amount.is_negative() || amount.is_zero() => {
            out.invalid(".resources.requests[storage]", "range", "must be greater than 0");
        }
        Some(_) => {}
    }
    for field in ["limits", "requests"] {
        for (name, _) in amounts(resources, field) {
            name_of("resource-name", names::qualified, name, format_args!(".resources.{field}[{name}]"), out);
        }
    }
}

const COUNTED: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "storage",
    "pods",
    "services",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
];

fn is_of_quotas(name: &str) -> bool {
    COUNTED.contains(&name)
        || name.starts_with("hugepages-")
        || name.starts_with("requests.hugepages-")
        || name.starts_with("count/")
}

/// Whether only whole numbers of it make sense.
fn is_count(name: &str) -> bool {
    matches!(
        name,
        "pods"
            | "services"
            | "replicationcontrollers"
            | "resourcequotas"
            | "secrets"
            | "configmaps"
            | "persistentvolumeclaims"
            | "services.nodeports"
            | "services.loadbalancers"
    ) || name.starts_with("count/")
        || is_extended(name)
}

const SCOPES: &[&str] = &[
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
];

pub(super) fn quota(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    for (name, amount) in amounts(spec, "hard") {
        let at = format!(".hard[{name}]");
        resource_name(name, &at, is_of_quotas, out);
        if amount.is_negative() {
            out.invalid(&at, "range", "must not be negative");
        }
        if is_count(name) && !amount.is_whole() {
            out.invalid(&at, "quantity", "must be an integer");
        }
    }
    let hard: Vec<&str> = amounts(spec, "hard").map(|(name, _)| name).collect();
    let scopes: Vec<&str> = list(spec, "scopes").iter().map(|scope| scope.as_str().unwrap_or_default()).collect();
    for (index, scope) in scopes.iter().enumerate() {
        scope_of(context, scope, &format!(".scopes[{index}]"), &hard, out);
    }
    for pair in [["Terminating", "NotTerminating"], ["BestEffort", "NotBestEffort"]] {
        if pair.iter().all(|scope| scopes.contains(scope)) {
            out.invalid(".scopes", "scope", format!("must not have both {} and {}", pair[0], pair[1]));
        }
    }
    let selector = map(spec, "scopeSelector");
    for (index, each) in selector.into_iter().flat_map(|selector| items(selector, "matchExpressions")) {
        let at = format!(".scopeSelector.matchExpressions[{index}]");
        let (scope, operator, values) = (text(each, "scopeName"), text(each, "operator"), list(each, "values").len());
        scope_of(context, scope, &format!("{at}.scopeName"), &hard, out);
        match operator {
            "In" | "NotIn" if values == 0 => out.required(&format!("{at}.values"), "must be set for In and NotIn"),
            "Exists" | "DoesNotExist" if values > 0 => {
                out.invalid(&format!("{at}.values"), "scope", "must not be set for Exists and DoesNotExist")
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => out.invalid(&format!("{at}.operator"), "scope", "must be In, NotIn, Exists or DoesNotExist"),
        }
        if !matches!(scope, "PriorityClass" | "VolumeAttributesClass") && operator != "Exists" {
            out.invalid(&format!("{at}.operator"), "scope", format!("must be Exists for {}", shown(scope)));
        }
    }
}

const OF_BEST_EFFORT: &[&str] = &["pods"];
const OF_PODS: &[&str] = &["pods", "cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

fn scope_of(context: &Context<'_>, scope: &str, at: &str, hard: &[&str], out: &mut Findings) {
    if !SCOPES.contains(&scope) || scope == "VolumeAttributesClass" && context.minor < 34 {
        return out.invalid(at, "scope", format!("is {}, which is not a scope", shown(scope)));
    }
    let fitting = match scope {
        "BestEffort" => OF_BEST_EFFORT,
        "Terminating" | "NotTerminating" | "NotBestEffort" | "PriorityClass" => OF_PODS,
        _ => return,
    };
    if hard.iter().any(|name| COUNTED.contains(name) && !fitting.contains(name)) {
        out.invalid(at, "scope", "is not a scope of a resource in `hard`");
    }
}

/// The limits of one type of object.
pub(super) fn limits(_: &Context<'_>, limits: &Mapping, out: &mut Findings) {
    let kind = text(limits, "type");
    if kind == "Pod" {
        for field in ["default", "defaultRequest"] {
            if map(limits, field).is_some_and(|values| !values.is_empty()) {
                out.refuse(&format!(".{field}"), "forbidden", Reason::Forbidden, "must not be set for Pods");
            }
        }
    }
    let is_standard: fn(&str) -> bool = if kind == "PersistentVolumeClaim" { |_| true } else { is_of_containers };
    let value =
        |field: &str, name: &str| amounts(limits, field).find(|(each, _)| *each == name).map(|(_, amount)| amount);
    for field in ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"] {
        for (name, _) in amounts(limits, field) {
            let at = format!(".{field}[{name}]");
            name_of("resource-name", names::qualified, name, &at, out);
            if matches!(kind, "Pod" | "Container") && field != "maxLimitRequestRatio" {
                resource_name(name, &at, is_standard, out);
            }
        }
    }
    const ORDER: [(&str, &str); 6] = [
        ("min", "max"),
        ("min", "defaultRequest"),
        ("defaultRequest", "max"),
        ("defaultRequest", "default"),
        ("min", "default"),
        ("default", "max"),
    ];
    for (less, more) in ORDER {
        for (name, low) in amounts(limits, less) {
            if value(more, name).is_some_and(|high| low > high) {
                out.invalid(&format!(".{less}[{name}]"), "limit-range", format!("must be no more than `{more}`"));
            }
        }
    }
    for (name, ratio) in amounts(limits, "maxLimitRequestRatio") {
        let at = format!(".maxLimitRequestRatio[{name}]");
        if ratio.is_below_one() {
            out.invalid(&at, "limit-range", "must be at least 1");
        }
    }
    if kind == "PersistentVolumeClaim" && value("min", "storage").is_none() && value("max", "storage").is_none() {
        out.required(".min[storage]", "must be set, or `max`, for a PersistentVolumeClaim");
    }
}
