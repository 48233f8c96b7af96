//! CustomResourceDefinitions as objects.
//!
//! Reference: apiextensions-apiserver 0.36 pkg/apis/apiextensions/validation/validation.go.

use go_std::regexp::Regex;
use go_yaml::{Mapping, Value};

use super::{Context, name_of};
use crate::cel::Names;
use crate::custom::{self, Patterns};
use crate::fields::{get, has, is_true, items, list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::names;

pub(super) fn spec(context: &Context<'_>, spec: &Mapping, out: &mut Findings) {
    let empty = Mapping::new();
    let kinds = map(spec, "names").unwrap_or(&empty);
    let (group, plural) = (text(spec, "group"), text(kinds, "plural"));
    let name = map(context.root, "metadata").map(|metadata| text(metadata, "name")).unwrap_or_default();
    if name != format!("{plural}.{group}") {
        out.invalid(
            ".names.plural",
            "name",
            format!("must be the first part of the name, which must be `{plural}.{group}`"),
        );
    }
    if !group.is_empty() {
        name_of("name", names::subdomain, group, ".group", out);
        if group.split('.').count() < 2 {
            out.invalid(".group", "name", "must be a domain with a dot");
        }
    }
    kind_names(kinds, out);
    versions(spec, out);
    if text(context.root, "apiVersion").ends_with("/v1") && is_true(spec, "preserveUnknownFields") {
        out.invalid(".preserveUnknownFields", "crd", "must not be true: use x-kubernetes-preserve-unknown-fields");
    }
    if let Some(conversion) = map(spec, "conversion") {
        let is_webhook = text(conversion, "strategy") == "Webhook";
        match (is_webhook, map(conversion, "webhook")) {
            (true, None) => out.required(".conversion.webhook", "must be set where `strategy` is Webhook"),
            (true, Some(webhook)) if !has(webhook, "clientConfig") => {
                out.required(".conversion.webhook.clientConfig", "must be set");
            }
            (false, Some(_)) => {
                out.refuse(
                    ".conversion.webhook",
                    "forbidden",
                    Reason::Forbidden,
                    "must not be set where `strategy` is None",
                );
            }
            _ => {}
        }
    }
}

fn kind_names(kinds: &Mapping, out: &mut Findings) {
    for field in ["plural", "singular"] {
        let value = text(kinds, field);
        if !value.is_empty() {
            name_of("name", names::label_1035, value, format_args!(".names.{field}"), out);
        }
    }
    for field in ["kind", "listKind"] {
        let value = text(kinds, field).to_lowercase();
        if !value.is_empty() {
            name_of("name", names::label_1035, &value, format_args!(".names.{field}"), out);
        }
    }
    if !text(kinds, "kind").is_empty() && text(kinds, "kind") == text(kinds, "listKind") {
        out.invalid(".names.listKind", "name", "must not be that of `kind`");
    }
    for field in ["shortNames", "categories"] {
        for (index, value) in list(kinds, field).iter().enumerate() {
            name_of(
                "name",
                names::label_1035,
                value.as_str().unwrap_or_default(),
                format_args!(".names.{field}[{index}]"),
                out,
            );
        }
    }
}

fn versions(spec: &Mapping, out: &mut Findings) {
    let stored = items(spec, "versions").filter(|(_, version)| is_true(version, "storage")).count();
    if stored != 1 {
        out.invalid(".versions", "storage-version", "must have one with `storage: true`");
    }
    let mut seen: Vec<&str> = Vec::new();
    for (index, version) in items(spec, "versions") {
        out.within(format_args!(".versions[{index}]"), |out| {
            let name = text(version, "name");
            name_of("name", names::label_1035, name, ".name", out);
            if seen.contains(&name) {
                out.invalid(".name", "duplicate", "is there already");
            }
            seen.push(name);
            columns(version, out);
            match crate::fields::at(version, &["schema", "openAPIV3Schema"]) {
                None => out.required(".schema.openAPIV3Schema", "must be set"),
                Some(schema) => out.within(".schema.openAPIV3Schema", |out| root_schema(schema, out)),
            }
        });
    }
}

const COLUMNS: &[&str] = &["integer", "number", "string", "boolean", "date"];
const COLUMN_FORMATS: &[&str] = &["int32", "int64", "float", "double", "byte", "date", "date-time", "password"];

fn columns(version: &Mapping, out: &mut Findings) {
    for (index, column) in items(version, "additionalPrinterColumns") {
        out.within(format_args!(".additionalPrinterColumns[{index}]"), |out| {
            let kind = text(column, "type");
            if !kind.is_empty() && !COLUMNS.contains(&kind) {
                out.within(".type", |out| crate::walk::not_one_of(COLUMNS, kind, out));
            }
            let format = text(column, "format");
            if !format.is_empty() && !COLUMN_FORMATS.contains(&format) {
                out.invalid(".format", "enum", format!("is {}, which is not a format of a column", shown(format)));
            }
            let path = text(column, "jsonPath");
            if !path.is_empty() && !path.starts_with(['.', '[']) {
                out.invalid(".jsonPath", "json-path", "must begin with `.`");
            }
        });
    }
    for path in ["specReplicasPath", "statusReplicasPath"] {
        let Some(scale) = crate::fields::at(version, &["subresources", "scale"]) else { return };
        let value = text(scale, path);
        let root = if path.starts_with("spec") { ".spec." } else { ".status." };
        if !value.is_empty() && !value.starts_with(root) {
            out.invalid(&format!(".subresources.scale.{path}"), "json-path", format!("must begin with `{root}`"));
        }
    }
}

fn root_schema(schema: &Mapping, out: &mut Findings) {
    if text(schema, "type") != "object" && has(schema, "type") {
        out.invalid(".type", "crd-schema", "must be `object` at the root");
    }
    if is_true(schema, "nullable") {
        out.refuse(".nullable", "crd-schema", Reason::Forbidden, "must not be true at the root");
    }
    let metadata = map(schema, "properties").and_then(|all| map(all, "metadata"));
    if let Some(metadata) = metadata {
        let is_named = |(name, _): &(&String, &Value)| matches!(name.as_str(), "name" | "generateName");
        let others = map(metadata, "properties").into_iter().flatten().filter(|each| !is_named(each)).count();
        let other_keys = metadata.keys().any(|key| !matches!(key.as_str(), "type" | "properties" | "description"));
        if others > 0 || other_keys {
            let text = "must be `type: object`, with `name` and `generateName` alone";
            out.refuse(".properties[metadata]", "crd-schema", Reason::Forbidden, text);
        }
    }
    structural(schema, true, out);
}

const TYPES: &[&str] = &["array", "boolean", "integer", "number", "object", "string"];

/// What a schema must be so that a server knows every field: types everywhere, and none inside of a choice.
fn structural(schema: &Mapping, is_root: bool, out: &mut Findings) {
    let kind = text(schema, "type");
    let is_free =
        is_true(schema, "x-kubernetes-int-or-string") || is_true(schema, "x-kubernetes-preserve-unknown-fields");
    if kind.is_empty() && !is_free {
        out.required(".type", "must be set");
    }
    if !kind.is_empty() && !TYPES.contains(&kind) {
        out.within(".type", |out| crate::walk::not_one_of(TYPES, kind, out));
    }
    if is_true(schema, "x-kubernetes-embedded-resource") && kind != "object" {
        out.invalid(".type", "crd-schema", "must be `object` for x-kubernetes-embedded-resource");
    }
    if is_true(schema, "x-kubernetes-embedded-resource")
        && !is_free
        && map(schema, "properties").is_none_or(Mapping::is_empty)
    {
        out.required(".properties", "must be set, or x-kubernetes-preserve-unknown-fields");
    }
    limits(schema, out);
    list_type(schema, out);
    validations(schema, out);
    if kind == "array" && !has(schema, "items") {
        out.required(".items", "must be set");
    }
    if has(schema, "properties") && has(schema, "additionalProperties") {
        out.refuse(".additionalProperties", "crd-schema", Reason::Forbidden, "must not be set beside `properties`");
    }
    if is_root && has(schema, "additionalProperties") {
        out.refuse(".additionalProperties", "crd-schema", Reason::Forbidden, "must not be set at the root");
    }
    for choice in ["allOf", "anyOf", "oneOf"] {
        for (index, each) in items(schema, choice) {
            out.within(format_args!(".{choice}[{index}]"), |out| value_schema(schema, each, out));
        }
    }
    if let Some(not) = map(schema, "not") {
        out.within(".not", |out| value_schema(schema, not, out));
    }
    default(schema, out);
    for (name, each) in
        map(schema, "properties").into_iter().flatten().filter_map(|(name, each)| Some((name, each.as_mapping()?)))
    {
        if is_root && name == "metadata" {
            continue;
        }
        out.within(format_args!(".properties[{name}]"), |out| structural(each, false, out));
    }
    for field in ["items", "additionalProperties"] {
        if let Some(each) = map(schema, field) {
            out.within(format_args!(".{field}"), |out| structural(each, false, out));
        }
    }
}

/// What a schema inside of a choice must not have.
fn value_schema(owner: &Mapping, schema: &Mapping, out: &mut Findings) {
    let is_int_or_text = is_true(owner, "x-kubernetes-int-or-string");
    for field in [
        "description",
        "default",
        "nullable",
        "title",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-int-or-string",
    ] {
        if has(schema, field) {
            out.refuse(&format!(".{field}"), "crd-schema", Reason::Forbidden, "must not be set inside of a choice");
        }
    }
    if has(schema, "type") && !is_int_or_text {
        out.refuse(".type", "crd-schema", Reason::Forbidden, "must not be set inside of a choice");
    }
    if has(schema, "additionalProperties") {
        out.refuse(".additionalProperties", "crd-schema", Reason::Forbidden, "must not be set inside of a choice");
    }
    limits(schema, out);
    let empty = Mapping::new();
    let own = map(owner, "properties").unwrap_or(&empty);
    for (name, each) in
        map(schema, "properties").into_iter().flatten().filter_map(|(name, each)| Some((name, each.as_mapping()?)))
    {
        out.within(format_args!(".properties[{name}]"), |out| match map(own, name) {
            Some(own) => value_schema(own, each, out),
            None if has(owner, "additionalProperties") => {}
            None => out.required("", "must be among the properties outside of the choice"),
        });
    }
    if let (Some(items), Some(own)) = (map(schema, "items"), map(owner, "items")) {
        out.within(".items", |out| value_schema(own, items, out));
    }
    for choice in ["allOf", "anyOf", "oneOf"] {
        for (index, each) in items(schema, choice) {
            out.within(format_args!(".{choice}[{index}]"), |out| value_schema(owner, each, out));
        }
    }
}

fn validations(schema: &Mapping, out: &mut Findings) {
    for (index, rule) in items(schema, "x-kubernetes-validations") {
        let names = Names::of_schema(schema);
        for field in ["rule", "messageExpression"] {
            names.check(text(rule, field), &format!(".x-kubernetes-validations[{index}].{field}"), out);
        }
    }
}

fn limits(schema: &Mapping, out: &mut Findings) {
    if let Some(pattern) = get(schema, "pattern").and_then(Value::as_str)
        && Regex::check(pattern.as_bytes()).is_err()
    {
        out.invalid(".pattern", "pattern", "is not a regular expression of RE2, as a server has them");
    }
    if is_true(schema, "uniqueItems") {
        out.refuse(".uniqueItems", "crd-schema", Reason::Forbidden, "must not be true: use x-kubernetes-list-type");
    }
    for field in [
        "dependencies",
        "deprecated",
        "discriminator",
        "id",
        "readOnly",
        "writeOnly",
        "$ref",
        "definitions",
        "patternProperties",
    ] {
        if has(schema, field) {
            out.refuse(&format!(".{field}"), "crd-schema", Reason::Forbidden, "must not be set");
        }
    }
    if get(schema, "additionalProperties").and_then(Value::as_bool) == Some(false) {
        out.refuse(".additionalProperties", "crd-schema", Reason::Forbidden, "must not be false");
    }
    if get(schema, "items").is_some_and(|items| items.as_sequence().is_some()) {
        out.refuse(".items", "crd-schema", Reason::Forbidden, "must be one schema");
    }
}

fn list_type(schema: &Mapping, out: &mut Findings) {
    let Some(kind) = get(schema, "x-kubernetes-list-type").and_then(Value::as_str) else {
        if !list(schema, "x-kubernetes-list-map-keys").is_empty() {
            out.refuse(
                ".x-kubernetes-list-map-keys",
                "crd-schema",
                Reason::Forbidden,
                "is for x-kubernetes-list-type: map only",
            );
        }
        return;
    };
    const KINDS: &[&str] = &["atomic", "set", "map"];
    if !KINDS.contains(&kind) {
        out.within(".x-kubernetes-list-type", |out| crate::walk::not_one_of(KINDS, kind, out));
    }
    if text(schema, "type") != "array" {
        out.invalid(".type", "crd-schema", "must be `array` where x-kubernetes-list-type is set");
    }
    let keys = list(schema, "x-kubernetes-list-map-keys");
    if kind == "map" && keys.is_empty() {
        out.required(".x-kubernetes-list-map-keys", "must be set where x-kubernetes-list-type is map");
    }
    let Some(items) = map(schema, "items") else { return };
    for key in keys.iter().filter_map(Value::as_str) {
        let property = map(items, "properties").and_then(|all| map(all, key));
        let is_required = list(items, "required").iter().any(|each| each.as_str() == Some(key));
        match property {
            None => out.invalid(
                ".x-kubernetes-list-map-keys",
                "crd-schema",
                format!("{} is not a property of the items", shown(key)),
            ),
            Some(property) if !is_required && !has(property, "default") => {
                out.required(&format!(".items.properties[{key}].default"), "must be set, or the key be required");
            }
            Some(_) => {}
        }
    }
}

fn default(schema: &Mapping, out: &mut Findings) {
    let Some(value) = get(schema, "default") else { return };
    let patterns = Patterns::default();
    out.within(".default", |out| custom::value(schema, value, None, &patterns, out));
}
