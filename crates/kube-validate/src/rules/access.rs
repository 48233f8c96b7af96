//! Roles, bindings and service accounts.
//!
//! Reference: kubernetes 1.36 pkg/apis/rbac/validation/validation.go.

use go_yaml::Mapping;

use super::{Context, name_of};
use crate::fields::{list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn rule(context: &Context<'_>, rule: &Mapping, out: &mut Findings) {
    if list(rule, "verbs").is_empty() {
        out.required(".verbs", "must have one at least");
    }
    let urls = list(rule, "nonResourceURLs").len();
    if urls > 0 {
        if context.kind == "Role" {
            out.invalid(".nonResourceURLs", "rbac", "must not be set in a Role, which is of a namespace");
        }
        if ["apiGroups", "resources", "resourceNames"].iter().any(|field| !list(rule, field).is_empty()) {
            out.invalid(".nonResourceURLs", "one-of", "must not be set beside resources");
        }
        return;
    }
    for field in ["apiGroups", "resources"].into_iter().filter(|field| list(rule, field).is_empty()) {
        out.required(&format!(".{field}"), "must have one at least");
    }
}

pub(super) fn role_ref(context: &Context<'_>, reference: &Mapping, out: &mut Findings) {
    let group = text(reference, "apiGroup");
    if !matches!(group, "" | GROUP) {
        let text = format!("is {}, and must be `{GROUP}`", shown(group));
        out.refuse(".apiGroup", "enum", Reason::NotSupported, text);
    }
    let kinds: &[&str] = if context.kind == "RoleBinding" { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&text(reference, "kind")) {
        out.within(".kind", |out| crate::walk::not_one_of(kinds, text(reference, "kind"), out));
    }
    let name = text(reference, "name");
    if !name.is_empty() {
        name_of("name", names::path_segment, name, ".name", out);
    }
}

pub(super) fn subject(context: &Context<'_>, subject: &Mapping, out: &mut Findings) {
    let (kind, group, name) = (text(subject, "kind"), text(subject, "apiGroup"), text(subject, "name"));
    let of = match kind {
        "ServiceAccount" => "",
        "User" | "Group" => GROUP,
        _ => {
            return out.within(".kind", |out| crate::walk::not_one_of(&["ServiceAccount", "User", "Group"], kind, out));
        }
    };
    if !group.is_empty() && group != of {
        out.refuse(
            ".apiGroup",
            "enum",
            Reason::NotSupported,
            format!("is {}, and must be {}", shown(group), shown(of)),
        );
    }
    if kind == "ServiceAccount" {
        if !name.is_empty() {
            name_of("name", names::subdomain, name, ".name", out);
        }
        if context.kind == "ClusterRoleBinding" && text(subject, "namespace").is_empty() {
            out.required(".namespace", "must be set for a ServiceAccount");
        }
    }
}

pub(super) fn api_service(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let name = map(context.root, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    let (group, version) = (text(spec, "group"), text(spec, "version"));
    if name != format!("{version}.{group}") {
        out.invalid(".version", "name", format!("the name must be version and group: `{version}.{group}`"));
    }
    if group.is_empty() {
        out.required(".group", "must be set");
    } else {
        name_of("name", names::subdomain, group, ".group", out);
    }
    if !version.is_empty() {
        name_of("name", names::label_1035, version, ".version", out);
    }
    let Some(service) = map(spec, "service") else {
        if crate::fields::has(spec, "caBundle") || crate::fields::is_true(spec, "insecureSkipTLSVerify") {
            out.invalid("", "one-of", "must have `service` where it has a certificate");
        }
        return;
    };
    for field in ["name", "namespace"].into_iter().filter(|field| text(service, field).is_empty()) {
        out.required(&format!(".service.{field}"), "must be set");
    }
    let has_bundle = !text(spec, "caBundle").is_empty();
    if crate::fields::is_true(spec, "insecureSkipTLSVerify") && has_bundle {
        out.invalid(".insecureSkipTLSVerify", "one-of", "must not be true beside `caBundle`");
    }
}
