//! An object against the schema of its CustomResourceDefinition.
//!
//! As a server does it: unknown fields first, then defaults, then the schema with its choices. Expressions are in [`crate::cel`].
//!
//! Reference: apiextensions-apiserver 0.36 pkg/apiserver/schema, kube-openapi pkg/validation/validate.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use go_std::regexp::Regex;
use go_yaml::{Mapping, Value};

use crate::effort::of_text;
use crate::fields::{get, int, is_true, list, map, text};
use crate::finding::{Findings, Reason, shown};
use crate::walk::{mistyped, not_one_of, unknown};
use crate::{formats, names};

/// Patterns that were compiled already.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    compiled: RefCell<HashMap<String, Option<Rc<Regex>>>>,
}

/// What it takes to compile a byte of a pattern, and to begin a search.
const COMPILE: u64 = 64;
const SEARCH: u64 = 4;
/// How many steps of a search are one of ours.
const SEARCHED: u64 = 8;

impl Patterns {
    /// Whether a text has the pattern; what does not compile is not judged.
    fn is_match(&self, pattern: &str, text: &str, out: &mut Findings) -> bool {
        let Some(regex) = self.compiled(pattern, out) else { return true };
        if !out.take(SEARCH) {
            return true;
        }
        let most = out.left().saturating_mul(SEARCHED);
        let mut left = most;
        let take = |steps: usize| {
            left = left.checked_sub(steps as u64).ok_or(())?;
            Ok::<(), ()>(())
        };
        let found = regex.is_match(text.as_bytes(), take);
        let is_done = out.take(if found.is_ok() { (most - left) / SEARCHED } else { u64::MAX });
        found.unwrap_or(true) || !is_done
    }

    fn compiled(&self, pattern: &str, out: &mut Findings) -> Option<Rc<Regex>> {
        if let Some(known) = self.compiled.borrow().get(pattern) {
            return known.clone();
        }
        if !out.take(COMPILE.saturating_mul(pattern.len() as u64)) {
            return None;
        }
        let compiled = Regex::new(pattern.as_bytes()).ok().map(Rc::new);
        self.compiled.borrow_mut().insert(pattern.to_owned(), compiled.clone());
        compiled
    }
}

/// How many values these are, with what is in them.
pub(crate) fn size<'v>(values: impl Iterator<Item = &'v Value>) -> u64 {
    values
        .map(|value| match value {
            Value::Sequence(items) => 1 + size(items.iter()),
            Value::Mapping(entries) => 1 + size(entries.values()),
            Value::String(text) => of_text(text),
            _ => 1,
        })
        .sum()
}

/// Fields that every object has, of which no schema of a CRD speaks.
const OF_OBJECTS: &[&str] = &["apiVersion", "kind", "metadata"];

/// What judges the metadata of an object.
pub(crate) type Metadata<'m> = &'m dyn Fn(&Value, &mut Findings);

/// Fields that the schema has not.
///
/// `metadata` judges that of an object inside of this one.
pub(crate) fn unknown_fields(
    schema: &Mapping,
    value: &Value,
    is_root: bool,
    metadata: Metadata<'_>,
    out: &mut Findings,
) {
    let is_embedded = is_true(schema, "x-kubernetes-embedded-resource");
    if is_embedded && let Some(inner) = value.get("metadata").filter(|inner| !inner.is_null()) {
        out.within(".metadata", |out| metadata(inner, out));
    }
    let is_object = is_root || is_embedded;
    match value {
        Value::Mapping(entries) => {
            let properties = map(schema, "properties");
            let others = get(schema, "additionalProperties");
            for (key, value) in entries {
                if is_object && OF_OBJECTS.contains(&key.as_str()) {
                    continue;
                }
                let property = properties.and_then(|all| map(all, key)).or_else(|| others.and_then(Value::as_mapping));
                match property {
                    Some(schema) => {
                        out.within(format_args!(".{key}"), |out| unknown_fields(schema, value, false, metadata, out))
                    }
                    None if is_true(schema, "x-kubernetes-preserve-unknown-fields")
                        || others.and_then(Value::as_bool) == Some(true) => {}
                    None => unknown(properties.into_iter().flat_map(Mapping::keys).map(String::as_str), key, out),
                }
            }
        }
        Value::Sequence(items) => {
            let Some(schema) = map(schema, "items") else { return };
            for (index, item) in items.iter().enumerate() {
                out.within_item(index, |out| unknown_fields(schema, item, false, metadata, out));
            }
        }
        _ => {}
    }
}

/// Sets what is not set, or null where it may not be, to its default.
pub(crate) fn set_defaults(schema: &Mapping, value: &mut Value, depth: u32, out: &mut Findings) {
    if depth == 0 || !out.take(1) {
        return;
    }
    match value {
        Value::Mapping(entries) => {
            for (key, property) in map(schema, "properties").into_iter().flatten() {
                if !out.take(1) {
                    return;
                }
                let Some(property) = property.as_mapping() else { continue };
                let is_nothing = entries.get(key).is_none_or(|value| value.is_null() && !is_true(property, "nullable"));
                match get(property, "default") {
                    Some(default) if is_nothing && out.take(size([default].into_iter())) => {
                        entries.insert(key.clone(), default.clone());
                    }
                    // A null that may not be is a field that is not set.
                    None if is_nothing => {
                        entries.remove(key);
                    }
                    _ => {}
                }
                if let Some(value) = entries.get_mut(key) {
                    set_defaults(property, value, depth - 1, out);
                }
            }
            let Some(others) = map(schema, "additionalProperties") else { return };
            if !is_true(others, "nullable") {
                match get(others, "default") {
                    Some(default) => {
                        let size = size([default].into_iter());
                        for value in entries.values_mut().filter(|value| value.is_null() && out.take(size)) {
                            *value = default.clone();
                        }
                    }
                    None => entries.retain(|_, value| !value.is_null()),
                }
            }
            entries.values_mut().for_each(|value| set_defaults(others, value, depth - 1, out));
        }
        Value::Sequence(items) => {
            let Some(schema) = map(schema, "items") else { return };
            items.iter_mut().for_each(|item| set_defaults(schema, item, depth - 1, out));
        }
        _ => {}
    }
}

/// Whether a value is what it was, so that a server takes it whatever its schema says now.
///
/// Reference: apiextensions-apiserver 0.36 pkg/apiserver/validation/ratcheting.go; kubernetes
/// docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions, "Validation ratcheting".
pub(crate) fn is_as_before(value: &Value, old: Option<&Value>, out: &mut Findings) -> bool {
    old.is_some_and(|old| out.take(size([value].into_iter())) && old == value)
}

/// The keys by which a server knows the items of a list; none for a list of another sort.
pub(crate) fn keys(schema: &Mapping) -> Vec<&str> {
    let is_map = text(schema, "x-kubernetes-list-type") == "map";
    list(schema, "x-kubernetes-list-map-keys").iter().filter(|_| is_map).filter_map(Value::as_str).collect()
}

/// The item of a list that has the keys of another one.
pub(crate) fn item_before<'v>(
    keys: &[&str],
    item: &Value,
    old: Option<&'v Value>,
    out: &mut Findings,
) -> Option<&'v Value> {
    let before = old.filter(|_| !keys.is_empty())?.as_sequence()?;
    let is_same = |before: &&Value| keys.iter().all(|key| before.get(key) == item.get(key));
    let steps = (before.len() as u64).saturating_mul(keys.len() as u64);
    if out.take(steps) { before.iter().find(is_same) } else { None }
}

/// A value against a schema and all choices in it. Parts that are as they were in `old` hold.
pub(crate) fn value(schema: &Mapping, value: &Value, old: Option<&Value>, patterns: &Patterns, out: &mut Findings) {
    if !out.take(1) || (value.is_null() && is_true(schema, "nullable")) || is_as_before(value, old, out) {
        return;
    }
    if let Some(wanted) = wrong_type(schema, value) {
        return mistyped(&wanted, value, out);
    }
    enumeration(schema, value, out);
    match value {
        Value::String(value) => strings(schema, value, patterns, out),
        Value::Int(_) | Value::Uint(_) | Value::Float(_) => numbers(schema, value, out),
        Value::Sequence(items) => sequence(schema, items, old, patterns, out),
        Value::Mapping(entries) => mapping(schema, entries, old, patterns, out),
        Value::Null | Value::Bool(_) => {}
    }
    choices(schema, value, patterns, out);
}

fn wrong_type(schema: &Mapping, value: &Value) -> Option<String> {
    let is_integer = |value: &Value| match value {
        Value::Int(_) | Value::Uint(_) => true,
        Value::Float(number) => number.fract() == 0.0,
        _ => false,
    };
    if is_true(schema, "x-kubernetes-int-or-string") {
        return (!is_integer(value) && value.as_str().is_none()).then(|| "an integer or a string".to_owned());
    }
    let kind = text(schema, "type");
    let (is_right, wanted) = match kind {
        "string" => (value.as_str().is_some(), "a string"),
        "integer" => (is_integer(value), "an integer"),
        "number" => (matches!(value, Value::Int(_) | Value::Uint(_) | Value::Float(_)), "a number"),
        "boolean" => (value.as_bool().is_some(), "true or false"),
        "array" => (value.as_sequence().is_some(), "a list"),
        "object" => (value.as_mapping().is_some(), "a mapping"),
        _ => return None,
    };
    (!is_right).then(|| wanted.to_owned())
}

fn enumeration(schema: &Mapping, value: &Value, out: &mut Findings) {
    let all = list(schema, "enum");
    if all.is_empty() || !out.take(size(all.iter())) || all.iter().any(|each| is_equal(each, value)) {
        return;
    }
    match value {
        Value::String(text) => not_one_of(&all.iter().filter_map(Value::as_str).collect::<Vec<_>>(), text, out),
        _ => out.refuse("", "enum", Reason::NotSupported, "is none of the values that may be"),
    }
}

/// Whether two values are one, where 1 is 1.0.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (number(one), number(other)) {
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        #[expect(
            clippy::cast_precision_loss,
            reason = "bounds of schemas are compared as a server compares them, as floats"
        )]
        Value::Int(number) => Some(*number as f64),
        #[expect(
            clippy::cast_precision_loss,
            reason = "bounds of schemas are compared as a server compares them, as floats"
        )]
        Value::Uint(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

fn strings(schema: &Mapping, value: &str, patterns: &Patterns, out: &mut Findings) {
    if !out.take(of_text(value)) {
        return;
    }
    let length = i64::try_from(value.chars().count()).unwrap_or(i64::MAX);
    bounds(schema, ("minLength", "maxLength"), length, "characters", out);
    let pattern = text(schema, "pattern");
    if !pattern.is_empty() && !patterns.is_match(pattern, value, out) {
        out.invalid("", "pattern", format!("is {}, and must match {}", shown(value), shown(pattern)));
    }
    let format = text(schema, "format");
    // A text of an integer or string has no format.
    if !is_true(schema, "x-kubernetes-int-or-string") && !formats::has(format, value) {
        out.refuse("", "format", Reason::Type, format!("is {}, which is not of the format {format}", shown(value)));
    }
}

fn bounds(schema: &Mapping, (least, most): (&str, &str), count: i64, what: &str, out: &mut Findings) {
    if let Some(least) = int(schema, least).filter(|least| count < *least) {
        out.invalid("", "length", format!("has {count} {what}, and must have {least} at least"));
    }
    if let Some(most) = int(schema, most).filter(|most| count > *most) {
        out.invalid("", "length", format!("has {count} {what}, and must have {most} at most"));
    }
}

fn numbers(schema: &Mapping, value: &Value, out: &mut Findings) {
    let Some(number) = number(value) else { return };
    let is_in_format = match text(schema, "format") {
        "int32" if text(schema, "type") == "integer" => {
            number.abs() <= f64::from(i32::MAX) || number == f64::from(i32::MIN)
        }
        "int64" => !matches!(value, Value::Uint(_)),
        _ => true,
    };
    if !is_in_format {
        out.refuse(
            "",
            "format",
            Reason::Type,
            format!("is {number}, which is not of the format {}", text(schema, "format")),
        );
    }
    if let Some(least) = get(schema, "minimum").and_then(self::number)
        && (number < least || number == least && is_true(schema, "exclusiveMinimum"))
    {
        out.invalid("", "range", format!("is {number}, and must be at least {least}, or more where that is excluded"));
    }
    if let Some(most) = get(schema, "maximum").and_then(self::number)
        && (number > most || number == most && is_true(schema, "exclusiveMaximum"))
    {
        out.invalid("", "range", format!("is {number}, and must be at most {most}, or less where that is excluded"));
    }
    if let Some(factor) = get(schema, "multipleOf").and_then(self::number)
        && !is_multiple(value, number, factor)
    {
        out.invalid("", "range", format!("is {number}, and must be a multiple of {factor}"));
    }
}

/// A server cuts the factor of an integer to an integer, so that no integer is a multiple of a quarter.
fn is_multiple(value: &Value, number: f64, factor: f64) -> bool {
    let factor = if matches!(value, Value::Float(_)) { factor } else { factor.trunc() };
    factor > 0.0 && (number / factor).fract() == 0.0
}

fn sequence(schema: &Mapping, items: &[Value], old: Option<&Value>, patterns: &Patterns, out: &mut Findings) {
    bounds(schema, ("minItems", "maxItems"), i64::try_from(items.len()).unwrap_or(i64::MAX), "items", out);
    let known = self::keys(schema);
    if let Some(schema) = map(schema, "items") {
        for (index, item) in items.iter().enumerate() {
            let old = item_before(&known, item, old, out);
            out.within_item(index, |out| value(schema, item, old, patterns, out));
        }
    }
    let keys: Vec<&str> = list(schema, "x-kubernetes-list-map-keys").iter().filter_map(Value::as_str).collect();
    let is_set = text(schema, "x-kubernetes-list-type") == "set" || is_true(schema, "uniqueItems");
    if !is_set && text(schema, "x-kubernetes-list-type") != "map" {
        return;
    }
    if !out.take(size(items.iter())) {
        return;
    }
    let mut seen: std::collections::HashSet<String> = std::collections::HashSet::new();
    for (index, item) in items.iter().enumerate() {
        let key = if is_set {
            item.clone()
        } else {
            Value::Sequence(keys.iter().map(|key| item.get(key).cloned().unwrap_or_default()).collect())
        };
        if !seen.insert(go_yaml::json::encode(&key, go_yaml::json::Options::default())) {
            out.refuse(&format!("[{index}]"), "duplicate", Reason::Duplicate, "is in the list already");
        }
    }
}

fn mapping(schema: &Mapping, entries: &Mapping, old: Option<&Value>, patterns: &Patterns, out: &mut Findings) {
    bounds(schema, ("minProperties", "maxProperties"), i64::try_from(entries.len()).unwrap_or(i64::MAX), "fields", out);
    if !out.take(list(schema, "required").len() as u64) {
        return;
    }
    for field in list(schema, "required").iter().filter_map(Value::as_str).filter(|field| !entries.contains_key(*field))
    {
        out.required(&format!(".{field}"), "must be set");
    }
    let properties = map(schema, "properties");
    let others = map(schema, "additionalProperties");
    for (key, entry) in entries {
        if let Some(schema) = properties.and_then(|all| map(all, key)).or(others) {
            let old = old.and_then(|old| old.get(key));
            out.within(format_args!(".{key}"), |out| value(schema, entry, old, patterns, out));
        }
    }
    if is_true(schema, "x-kubernetes-embedded-resource") {
        embedded(entries, out);
    }
}

/// An object inside of another.
fn embedded(object: &Mapping, out: &mut Findings) {
    for field in ["apiVersion", "kind"].into_iter().filter(|field| text(object, field).is_empty()) {
        if object.get(field).is_none_or(|value| value.is_null() || value.as_str().is_some()) {
            out.required(&format!(".{field}"), "must be set");
        } else {
            out.refuse(&format!(".{field}"), "type", Reason::Type, "must be a string");
        }
    }
    if text(object, "apiVersion").split('/').count() > 2 {
        out.invalid(".apiVersion", "group-version", "must be a group and a version");
    }
    let kind = text(object, "kind");
    if !kind.is_empty() && names::label_1035(&kind.to_lowercase()).is_some() {
        out.invalid(".kind", "name", format!("is {}, which is not a name of a kind", shown(kind)));
    }
    if let Some(metadata) = map(object, "metadata") {
        out.within(".metadata", |out| crate::rules::labels_and_annotations(metadata, out));
    }
}

fn choices(schema: &Mapping, value: &Value, patterns: &Patterns, out: &mut Findings) {
    let schemas = |field: &str| list(schema, field).iter().filter_map(Value::as_mapping).collect::<Vec<_>>();
    if !out.take(["allOf", "anyOf", "oneOf"].iter().map(|field| list(schema, field).len() as u64).sum()) {
        return;
    }
    for each in schemas("allOf") {
        self::value(each, value, None, patterns, out);
    }
    let any = schemas("anyOf");
    if !any.is_empty() && !any.iter().any(|each| out.is_clean(|out| self::value(each, value, None, patterns, out))) {
        out.invalid("", "any-of", "meets none of the schemas of `anyOf`");
    }
    let one = schemas("oneOf");
    if !one.is_empty() {
        let met = one.iter().filter(|each| out.is_clean(|out| self::value(each, value, None, patterns, out))).count();
        if met != 1 {
            out.invalid("", "one-of", format!("meets {met} of the schemas of `oneOf`, and must meet one"));
        }
    }
    if let Some(not) = map(schema, "not")
        && out.is_clean(|out| self::value(not, value, None, patterns, out))
    {
        out.invalid("", "not", "meets the schema of `not`");
    }
}
