//! Selectors, ConfigMaps, Secrets, Services' siblings: the rest of the core group.

use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::fields::{get, has, is_true, items, list, map, set, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;
use crate::walk::bytes;

/// `metadata.labels['key']`, or one of `fields`.
pub(crate) fn is_field_path(path: &str, fields: &[&str]) -> bool {
    let subscript = |field: &str| path.strip_prefix(field)?.strip_prefix("['")?.strip_suffix("']");
    if let Some(key) = subscript("metadata.labels")
        .or_else(|| subscript("metadata.annotations").filter(|key| *key == key.to_lowercase()))
    {
        return names::qualified(key).is_none();
    }
    if let Some(key) = subscript("metadata.annotations") {
        return names::annotation(key).is_none();
    }
    fields.contains(&path)
}

/// Labels and annotations of what is made of a template.
pub(crate) fn template_labels(_: &Context<'_>, template: &Mapping, out: &mut Findings) {
    if let Some(metadata) = map(template, "metadata") {
        out.within(".metadata", |out| super::metadata::labels_and_annotations(metadata, out));
    }
}

/// A requirement of a selector of labels.
pub(super) fn requirement(_: &Context<'_>, requirement: &Mapping, out: &mut Findings) {
    let values = list(requirement, "values");
    match text(requirement, "operator") {
        "In" | "NotIn" => {
            if values.is_empty() {
                out.required(".values", "must be set for In and NotIn");
            }
        }
        "Exists" | "DoesNotExist" => {
            if !values.is_empty() {
                out.refuse(".values", "forbidden", Reason::Forbidden, "must not be set for Exists and DoesNotExist");
            }
        }
        "" => {}
        other => out.invalid(
            ".operator",
            "selector",
            format!("is {}, and must be In, NotIn, Exists or DoesNotExist", shown(other)),
        ),
    }
}

const DATA_MAX: usize = 1 << 20;

pub(super) fn config_map(_: &Context<'_>, object: &Mapping, out: &mut Findings) {
    let empty = Mapping::new();
    let (data, binary) = (map(object, "data").unwrap_or(&empty), map(object, "binaryData").unwrap_or(&empty));
    for key in data.keys().filter(|key| binary.contains_key(*key)) {
        out.invalid(&format!(".data[{key}]"), "duplicate", "is in `binaryData` too");
    }
    let size = |value: &Value| value.as_str().map_or(0, str::len);
    let binary_size = |value: &Value| value.as_str().and_then(bytes).map_or(0, |bytes| bytes.len());
    if data.values().map(size).sum::<usize>() + binary.values().map(binary_size).sum::<usize>() > DATA_MAX {
        out.invalid(".data", "too-long", "must be no more than 1 MiB in all");
    }
}

/// What Secrets of a type must have.
const SECRETS: &[(&str, &[&str])] = &[
    ("kubernetes.io/dockercfg", &[".dockercfg"]),
    ("kubernetes.io/dockerconfigjson", &[".dockerconfigjson"]),
    ("kubernetes.io/ssh-auth", &["ssh-privatekey"]),
    ("kubernetes.io/tls", &["tls.crt", "tls.key"]),
];
const ACCOUNT: &str = "kubernetes.io/service-account.name";

pub(super) fn secret(_: &Context<'_>, object: &Mapping, out: &mut Findings) {
    let empty = Mapping::new();
    let data = map(object, "data").unwrap_or(&empty);
    let texts = map(object, "stringData").unwrap_or(&empty);
    let value = |key: &str| -> Option<Vec<u8>> {
        let plain = texts.get(key).and_then(Value::as_str).map(|text| text.as_bytes().to_vec());
        plain.or_else(|| data.get(key).map(|value| value.as_str().and_then(bytes).unwrap_or_default()))
    };
    let sizes = data.values().filter_map(Value::as_str).map(str::len).sum::<usize>() / 4 * 3;
    if sizes > DATA_MAX {
        out.invalid(".data", "too-long", "must be no more than 1 MiB in all");
    }
    let kind = text(object, "type");
    for key in SECRETS.iter().filter(|(name, _)| *name == kind).flat_map(|(_, keys)| *keys) {
        let at = format!(".data[{key}]");
        match value(key) {
            None => out.required(&at, format!("must be set in a Secret of type {kind}")),
            Some(bytes) if key.starts_with('.') => {
                let is_json = go_yaml::json::decode(&bytes, &go_yaml::Limits::default()).is_ok();
                if !is_json {
                    out.invalid(&at, "secret", "must be JSON");
                }
            }
            Some(_) => {}
        }
    }
    if kind == "kubernetes.io/basic-auth" && value("username").is_none() && value("password").is_none() {
        out.required(".data[username]", "must be set, or `password`, in a Secret of type kubernetes.io/basic-auth");
    }
    let account =
        map(object, "metadata").and_then(|metadata| map(metadata, "annotations")).map(|all| text(all, ACCOUNT));
    if kind == "kubernetes.io/service-account-token" && account.unwrap_or_default().is_empty() {
        out.required(&format!(".metadata.annotations[{ACCOUNT}]"), "must be set in a Secret of this type");
    }
}

pub(super) fn endpoints(_: &Context<'_>, object: &Mapping, out: &mut Findings) {
    for (index, subset) in items(object, "subsets") {
        out.within(format_args!(".subsets[{index}]"), |out| {
            if list(subset, "addresses").is_empty() && list(subset, "notReadyAddresses").is_empty() {
                out.required("", "must have `addresses` or `notReadyAddresses`");
            }
            let ports = list(subset, "ports").len();
            for (at, port) in items(subset, "ports") {
                if ports > 1 && text(port, "name").is_empty() {
                    out.required(&format!(".ports[{at}].name"), "must be set where there are several ports");
                }
            }
        });
    }
}

pub(super) fn endpoint_slice(_: &Context<'_>, object: &Mapping, out: &mut Findings) {
    let kind = text(object, "addressType");
    let is_wrong: fn(&str) -> bool = match kind {
        "IPv4" => |text| text.contains(':') || names::address(text).is_none(),
        "IPv6" => |text| !text.contains(':') || names::address(text).is_none(),
        "FQDN" => |text| names::subdomain(text).is_some(),
        _ => return,
    };
    for (index, endpoint) in items(object, "endpoints") {
        let addresses = list(endpoint, "addresses");
        if addresses.is_empty() {
            out.required(&format!(".endpoints[{index}].addresses"), "must be set");
        }
        for (at, address) in
            addresses.iter().enumerate().filter(|(_, address)| is_wrong(address.as_str().unwrap_or_default()))
        {
            let text =
                format!("is {}, which is not a valid {kind} address", shown(address.as_str().unwrap_or_default()));
            out.invalid(&format!(".endpoints[{index}].addresses[{at}]"), "address", text);
        }
        for (at, address) in addresses.iter().enumerate().filter(|_| kind != "FQDN") {
            let at = format!(".endpoints[{index}].addresses[{at}]");
            name_of("address", names::ordinary_ip, address.as_str().unwrap_or_default(), at, out);
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, port) in items(object, "ports") {
        let name = text(port, "name");
        if seen.contains(&name) {
            out.refuse(&format!(".ports[{index}].name"), "duplicate", Reason::Duplicate, "is there already");
        }
        seen.push(name);
    }
}

pub(super) fn event(_: &Context<'_>, event: &Mapping, out: &mut Findings) {
    let involved = map(event, "involvedObject").map(|object| text(object, "namespace")).unwrap_or_default();
    let own = map(event, "metadata").map(|metadata| text(metadata, "namespace")).unwrap_or_default();
    let own = if own.is_empty() { "default" } else { own };
    let is_same = involved == own || involved.is_empty() && own == "default";
    if !is_same {
        out.invalid(".involvedObject.namespace", "event", "must be the namespace of the Event");
    }
}

pub(super) fn node(_: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let mut seen: Vec<(&str, &str)> = Vec::new();
    for (index, taint) in items(spec, "taints") {
        let pair = (text(taint, "key"), text(taint, "effect"));
        if seen.contains(&pair) {
            out.refuse(
                &format!(".taints[{index}]"),
                "duplicate",
                Reason::Duplicate,
                "its `key` and `effect` are there already",
            );
        }
        seen.push(pair);
        name_of("label-value", names::label_value, text(taint, "value"), format_args!(".taints[{index}].value"), out);
    }
}

pub(super) fn priority_class(context: &Context<'_>, class: &Mapping, out: &mut Findings) {
    let name = map(context.root, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    let is_system = matches!(name, "system-node-critical" | "system-cluster-critical");
    if name.starts_with("system-") && !is_system {
        out.refuse(".metadata.name", "reserved", Reason::Forbidden, "must not begin with `system-`");
    }
    if crate::fields::int(class, "value").is_some_and(|value| value > 1_000_000_000) && !is_system {
        out.refuse(".value", "range", Reason::Forbidden, "must be no more than 1000000000");
    }
}

pub(super) fn revision(_: &Context<'_>, revision: &Mapping, out: &mut Findings) {
    if !has(revision, "data") {
        out.required(".data", "must be set");
    }
    if let Some(data) = get(revision, "data").filter(|data| data.as_mapping().is_none()) {
        crate::walk::mistyped("a mapping", data, out);
    }
}

pub(super) fn flow_schema(_: &Context<'_>, schema: &Mapping, out: &mut Findings) {
    let Some(spec) = map(schema, "spec") else { return };
    for (index, rule) in items(spec, "rules") {
        out.within(format_args!(".spec.rules[{index}]"), |out| {
            if list(rule, "subjects").is_empty() {
                out.required(".subjects", "must be set");
            }
            if set(rule, &["resourceRules", "nonResourceRules"]).is_empty() {
                out.required("", "must have `resourceRules` or `nonResourceRules`");
            }
            for (at, each) in items(rule, "resourceRules") {
                out.within(format_args!(".resourceRules[{at}]"), |out| {
                    for field in
                        ["verbs", "apiGroups", "resources"].into_iter().filter(|field| list(each, field).is_empty())
                    {
                        out.required(&format!(".{field}"), "must be set");
                    }
                    if list(each, "namespaces").is_empty() && !is_true(each, "clusterScope") {
                        out.required(".namespaces", "must be set, or `clusterScope`");
                    }
                    for (index, namespace) in list(each, "namespaces").iter().enumerate() {
                        let name = namespace.as_str().unwrap_or_default();
                        if name != "*" {
                            name_of("name", names::label, name, format_args!(".namespaces[{index}]"), out);
                        }
                    }
                });
            }
        });
    }
}
