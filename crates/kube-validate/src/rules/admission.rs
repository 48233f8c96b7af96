//! Webhooks and policies of admission.
//!
//! Reference: kubernetes 1.36 pkg/apis/admissionregistration/validation/validation.go.

use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::cel::{self, Names};
use crate::fields::{get, has, items, list, map, set, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

pub(super) fn webhook(_: &Context<'_>, webhook: &Mapping, out: &mut Findings) {
    let name = text(webhook, "name");
    if !name.is_empty() {
        name_of("name", names::subdomain, name, ".name", out);
        if name.split('.').count() < 3 {
            out.invalid(".name", "name", "must have three labels at least, as `a.example.com`");
        }
    }
    let versions = list(webhook, "admissionReviewVersions");
    if !versions.is_empty() && !versions.iter().any(|version| matches!(version.as_str(), Some("v1" | "v1beta1"))) {
        out.invalid(".admissionReviewVersions", "enum", "must have `v1` or `v1beta1`");
    }
    for (index, version) in versions.iter().enumerate() {
        let version = version.as_str().unwrap_or_default();
        name_of("name", names::label_1035, version, format_args!(".admissionReviewVersions[{index}]"), out);
    }
    conditions(webhook, &Names::new(OBJECTS), out);
}

/// What expressions of admission may name.
const OBJECTS: &[&str] = &["object", "oldObject", "request", "authorizer", "namespaceObject", "variables"];

fn conditions(object: &Mapping, names: &Names<'_>, out: &mut Findings) {
    for (index, condition) in items(object, "matchConditions") {
        names.check(text(condition, "expression"), &format!(".matchConditions[{index}].expression"), out);
        let name = text(condition, "name");
        if !name.is_empty() {
            name_of("name", names::qualified, name, format_args!(".matchConditions[{index}].name"), out);
        }
    }
}

pub(super) fn client(_: &Context<'_>, client: &Mapping, out: &mut Findings) {
    if set(client, &["service", "url"]).len() != 1 {
        out.required("", "must have one of `service`, `url`");
    }
    let url = text(client, "url");
    if !url.is_empty() {
        match go_std::url::Url::parse(url.as_bytes()) {
            Ok(_) if !url.starts_with("https://") => out.invalid(".url", "url", "must begin with `https://`"),
            Ok(parsed) if parsed.hostname().is_empty() => out.invalid(".url", "url", "must have a host"),
            Ok(_) if url.contains(['?', '#', '@']) => {
                out.invalid(".url", "url", "must have no user, query or fragment")
            }
            Ok(_) => {}
            Err(_) => out.invalid(".url", "url", "is not a URL"),
        }
    }
    let Some(service) = map(client, "service") else { return };
    if let Some(path) = get(service, "path").and_then(Value::as_str) {
        let path = path.trim_end_matches('/');
        if !path.is_empty() && (!path.starts_with('/') || path.contains("//")) {
            out.invalid(".service.path", "path", "must begin with `/`, and have no empty part");
        }
    }
}

const OPERATIONS: &[&str] = &["CREATE", "UPDATE", "DELETE", "CONNECT", "*"];

pub(super) fn rule(_: &Context<'_>, rule: &Mapping, out: &mut Findings) {
    for field in ["apiGroups", "apiVersions", "operations", "resources"] {
        let all = list(rule, field);
        if all.is_empty() {
            out.required(&format!(".{field}"), "must be set");
        }
        if all.len() > 1 && all.iter().any(|each| each.as_str() == Some("*")) && field != "resources" {
            out.invalid(&format!(".{field}"), "wildcard", "must have `*` alone");
        }
    }
    for (index, operation) in list(rule, "operations").iter().enumerate() {
        let operation = operation.as_str().unwrap_or_default();
        if !OPERATIONS.contains(&operation) {
            out.within(format_args!(".operations[{index}]"), |out| crate::walk::not_one_of(OPERATIONS, operation, out));
        }
    }
    for field in ["apiVersions", "resources"] {
        for (index, _) in
            list(rule, field).iter().enumerate().filter(|(_, each)| matches!(each.as_str(), None | Some("")))
        {
            out.required(&format!(".{field}[{index}]"), "must be set");
        }
    }
    resources(&list(rule, "resources").iter().filter_map(Value::as_str).collect::<Vec<_>>(), out);
}

fn resources(all: &[&str], out: &mut Findings) {
    for (index, each) in all.iter().enumerate() {
        let at = format!(".resources[{index}]");
        let Some((resource, sub)) = each.split_once('/') else {
            if *each == "*" && all.iter().any(|other| *other != "*" && !other.contains('/')) {
                out.invalid(&at, "wildcard", "must be alone beside subresources");
            }
            continue;
        };
        let covered = |by: &str| all.iter().any(|other| *other == by && by != *each);
        if covered(&format!("{resource}/*")) || covered(&format!("*/{sub}")) || covered("*/*") {
            out.invalid(&at, "wildcard", format!("{} is there already by a `*`", shown(each)));
        }
    }
    if all.contains(&"*/*") && all.len() > 1 {
        out.invalid(".resources", "wildcard", "must have `*/*` alone");
    }
}

fn is_identifier(text: &str) -> bool {
    let is_start = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    is_start && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !cel::KEYWORDS.contains(&text)
}

pub(super) fn policy(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    if !has(spec, "matchConstraints") {
        out.required(".matchConstraints", "must be set");
    } else if map(spec, "matchConstraints").is_some_and(|constraints| list(constraints, "resourceRules").is_empty()) {
        out.required(".matchConstraints.resourceRules", "must be set");
    }
    let names = match has(spec, "paramKind") {
        true => Names::new(&[OBJECTS, &["params"]].concat()),
        false => Names::new(OBJECTS),
    };
    let mut seen: Vec<&str> = Vec::new();
    for (index, variable) in items(spec, "variables") {
        let at = format!(".variables[{index}].expression");
        names.with_variables(&seen).check(text(variable, "expression"), &at, out);
        let (at, name) = (format!(".variables[{index}].name"), text(variable, "name"));
        if !name.is_empty() && !is_identifier(name) {
            out.invalid(&at, "identifier", format!("is {}, which is not an identifier of CEL", shown(name)));
        }
        if seen.contains(&name) {
            out.refuse(&at, "duplicate", Reason::Duplicate, "is there already");
        }
        seen.push(name);
    }
    if context.kind == "ValidatingAdmissionPolicy"
        && list(spec, "validations").is_empty()
        && list(spec, "auditAnnotations").is_empty()
    {
        out.required(".validations", "must be set, or `auditAnnotations`");
    }
    if context.kind == "MutatingAdmissionPolicy" && list(spec, "mutations").is_empty() {
        out.required(".mutations", "must be set");
    }
    for (index, annotation) in items(spec, "auditAnnotations") {
        let key = text(annotation, "key");
        if !key.is_empty() {
            name_of("annotation-key", names::qualified, key, format_args!(".auditAnnotations[{index}].key"), out);
        }
    }
    if let Some(kind) = map(spec, "paramKind") {
        for field in ["apiVersion", "kind"].into_iter().filter(|field| text(kind, field).is_empty()) {
            out.required(&format!(".paramKind.{field}"), "must be set");
        }
    }
    conditions(spec, &names, out);
    expressions(spec, &names.with_variables(&seen), out);
}

/// Expressions of a policy beside its variables and conditions.
fn expressions(spec: &Mapping, names: &Names<'_>, out: &mut Findings) {
    const PARTS: &[(&str, &[&str])] = &[
        ("validations", &["expression", "messageExpression"]),
        ("auditAnnotations", &["valueExpression"]),
        ("mutations", &["applyConfiguration", "jsonPatch"]),
    ];
    for (part, fields) in PARTS {
        for (index, each) in items(spec, part) {
            for field in *fields {
                let at = format!(".{part}[{index}].{field}");
                match map(each, field) {
                    Some(inner) => names.check(text(inner, "expression"), &format!("{at}.expression"), out),
                    None => names.check(text(each, field), &at, out),
                }
            }
        }
    }
}

pub(super) fn mutation(_: &Context<'_>, mutation: &Mapping, out: &mut Findings) {
    let (kind, own) = match text(mutation, "patchType") {
        "ApplyConfiguration" => ("ApplyConfiguration", "applyConfiguration"),
        "JSONPatch" => ("JSONPatch", "jsonPatch"),
        _ => return,
    };
    if !has(mutation, own) {
        out.required(&format!(".{own}"), format!("must be set where `patchType` is {kind}"));
    }
}

pub(super) fn binding(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let actions: Vec<&str> = list(spec, "validationActions").iter().filter_map(Value::as_str).collect();
    if actions.is_empty() {
        out.required(".validationActions", "must be set");
    }
    if actions.contains(&"Deny") && actions.contains(&"Warn") {
        out.invalid(".validationActions", "one-of", "must not have both Deny and Warn");
    }
    if let Some(parameters) = map(spec, "paramRef") {
        let count = usize::from(!text(parameters, "name").is_empty()) + usize::from(has(parameters, "selector"));
        if count != 1 {
            out.refuse(".paramRef", "one-of", Reason::Forbidden, "must have one of `name`, `selector`");
        }
        if !has(parameters, "parameterNotFoundAction") {
            out.required(".paramRef.parameterNotFoundAction", "must be set");
        }
    }
}
