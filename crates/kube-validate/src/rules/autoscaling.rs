//! HorizontalPodAutoscalers.
//!
//! Reference: kubernetes 1.36 pkg/apis/autoscaling/validation/validation.go.

use go_yaml::{Mapping, Value};

use super::{Context, between, name_of};
use crate::fields::{get, has, int, items, map, text};
use crate::finding::Findings;
use crate::names;
use crate::quantity::Quantity;

pub(super) fn spec(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let (least, most) = (int(spec, "minReplicas"), int(spec, "maxReplicas").unwrap_or(0));
    if most < 1 {
        out.invalid(".maxReplicas", "range", "must be at least 1");
    }
    if least.is_some_and(|least| least > most) {
        out.invalid(".maxReplicas", "range", "must not be less than `minReplicas`");
    }
    if let Some(least) = least {
        out.within(".minReplicas", |out| between(least, 0, super::MAX, out));
        let scales_to_zero =
            items(spec, "metrics").any(|(_, metric)| matches!(text(metric, "type"), "Object" | "External"));
        if least == 0 && context.minor < 36 {
            out.invalid(".minReplicas", "range", "must be at least 1 before Kubernetes 1.36");
        } else if least == 0 && !scales_to_zero {
            out.invalid(".minReplicas", "range", "must be at least 1 without a metric of type Object or External");
        }
    }
    if let Some(behavior) = map(spec, "behavior") {
        for direction in ["scaleUp", "scaleDown"] {
            if let Some(rules) = map(behavior, direction) {
                out.within(format_args!(".behavior.{direction}"), |out| scaling(rules, out));
            }
        }
    }
}

fn scaling(rules: &Mapping, out: &mut Findings) {
    if rules.get("policies").is_some_and(|policies| policies.as_sequence().is_some_and(<[Value]>::is_empty)) {
        out.required(".policies", "must have one at least");
    }
    if let Some(tolerance) = get(rules, "tolerance").and_then(Quantity::of)
        && tolerance.is_negative()
    {
        out.invalid(".tolerance", "range", "must not be negative");
    }
}

/// Something that is scaled, or whose metric counts.
pub(super) fn target(_: &Context<'_>, reference: &Mapping, out: &mut Findings) {
    for field in ["kind", "name"] {
        let value = text(reference, field);
        if !value.is_empty() {
            name_of("name", names::path_segment, value, format_args!(".{field}"), out);
        }
    }
}

pub(super) fn scale_target(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let Some(target) = map(spec, "scaleTargetRef") else { return };
    let version = text(target, "apiVersion");
    let is_wrong = version.is_empty() && text(target, "kind") != "ReplicationController"
        || !version.is_empty() && !version.contains('/') && version != "v1"
        || version.split('/').count() > 2
        || version.starts_with('/');
    if is_wrong {
        out.invalid(".scaleTargetRef.apiVersion", "target", "must have a group and a version, as `apps/v1`");
    }
}

const SOURCES: &[(&str, &str)] = &[
    ("ContainerResource", "containerResource"),
    ("External", "external"),
    ("Object", "object"),
    ("Pods", "pods"),
    ("Resource", "resource"),
];

pub(super) fn metric(_: &Context<'_>, metric: &Mapping, out: &mut Findings) {
    let kind = text(metric, "type");
    if kind.is_empty() {
        return;
    }
    let own = SOURCES.iter().find(|(name, _)| *name == kind).map(|(_, field)| *field);
    let Some(own) = own else {
        let names: Vec<&str> = SOURCES.iter().map(|(name, _)| *name).collect();
        return out.within(".type", |out| crate::walk::not_one_of(&names, kind, out));
    };
    if !has(metric, own) {
        out.required(&format!(".{own}"), format!("must be set where `type` is {kind}"));
    }
    for (_, field) in SOURCES.iter().filter(|(_, field)| *field != own && has(metric, field)) {
        let reason = crate::finding::Reason::Forbidden;
        out.refuse(&format!(".{field}"), "one-of", reason, format!("must not be set where `type` is {kind}"));
    }
    let Some(source) = map(metric, own) else { return };
    out.within(format_args!(".{own}"), |out| {
        let Some(target) = map(source, "target") else { return };
        self::target_values(kind, target, out);
        let name = map(source, "metric").map(|metric| text(metric, "name")).unwrap_or_default();
        if !name.is_empty() {
            name_of("name", names::path_segment, name, ".metric.name", out);
        }
    });
}

fn target_values(kind: &str, target: &Mapping, out: &mut Findings) {
    const KINDS: &[&str] = &["Utilization", "Value", "AverageValue"];
    out.within(".target", |out| {
        let of = text(target, "type");
        if !of.is_empty() && !KINDS.contains(&of) {
            out.within(".type", |out| crate::walk::not_one_of(KINDS, of, out));
        }
        for field in ["value", "averageValue"] {
            let amount = get(target, field).and_then(Quantity::of);
            if amount.is_some_and(|amount| amount.is_negative() || amount.is_zero()) {
                out.invalid(&format!(".{field}"), "range", "must be greater than 0");
            }
        }
        let utilization = int(target, "averageUtilization");
        if utilization.is_some_and(|percent| percent < 1) {
            out.invalid(".averageUtilization", "range", "must be greater than 0");
        }
        let (value, average) = (has(target, "value"), has(target, "averageValue"));
        match kind {
            "Pods" if !average => out.required(".averageValue", "must be set for metrics of Pods"),
            "Object" | "External" => {
                if !value && !average {
                    out.required(".averageValue", "must be set, or `value`");
                }
                if value && average && kind == "External" {
                    out.invalid(".value", "one-of", "must not be set beside `averageValue`");
                }
            }
            "Resource" | "ContainerResource" => {
                if utilization.is_none() && !average {
                    out.required(".averageUtilization", "must be set, or `averageValue`");
                }
                if utilization.is_some() && average {
                    out.invalid(".averageValue", "one-of", "must not be set beside `averageUtilization`");
                }
            }
            _ => {}
        }
    });
}
