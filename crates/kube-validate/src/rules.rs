//! What a server refuses beyond what its schemas say: one table, asked at each type of the API that a row is of.
//!
//! Types are those of the API, so that a row counts wherever the type is: a container is one in a Pod, in a Deployment and in a
//! CronJob. A row holds since a minor version, until one, or always.

mod access;
mod admission;
mod autoscaling;
mod core;
mod crd;
mod job;
mod metadata;
mod names;
mod network;
mod pod;
mod pod_parts;
mod resources;
mod storage;
mod table;
mod warnings;
mod workload;

use std::collections::HashMap;
use std::sync::LazyLock;

use go_yaml::{Mapping, Value};

use crate::fields::{get, has};
use crate::finding::{Findings, Reason, shown};
use crate::names::Wrong;
use crate::walk::not_one_of;

pub(crate) use self::core::{is_field_path, template_labels};
pub(crate) use metadata::{labels_and_annotations, metadata};

/// The names of all warnings.
pub(crate) const WARNINGS: &[(&str, &str)] = warnings::NAMES;

/// What a rule may ask of beside the value that it judges.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'c> {
    pub(crate) minor: u8,
    pub(crate) group: &'c str,
    pub(crate) kind: &'c str,
    pub(crate) root: &'c Mapping,
}

/// What must hold of a field.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// It is set, and is not an empty text, list or mapping.
    Required,
    /// A text, if it is there and not empty, is one of these.
    OneOf(&'static [&'static str]),
    /// A text, if it is there, is one of these; an empty one is not.
    Exactly(&'static [&'static str]),
    /// Each text of a list is one of these.
    EachOf(&'static [&'static str]),
    /// A number, if it is there.
    Between(i64, i64),
    /// A text, if it is not empty.
    Text(&'static str, fn(&str) -> Wrong),
    /// A text, if it is there, empty or not.
    Any(&'static str, fn(&str) -> Wrong),
    /// Each text of a list.
    Each(&'static str, fn(&str) -> Wrong),
    /// Each key of a mapping.
    Keys(&'static str, fn(&str) -> Wrong),
    /// Each value of a mapping.
    Values(&'static str, fn(&str) -> Wrong),
    /// The items of a list differ in this field, where they have it.
    Unique(&'static str),
    /// One of the fields that are named is set; more are not.
    One(&'static [&'static str]),
    /// No more than one of these is set.
    OneAtMost(&'static [&'static str]),
    /// The object as a whole; the field is not used.
    Whole(fn(&Context<'_>, &Mapping, &mut Findings)),
}

/// A rule: the type that it is of, the field, what must hold, and the first and the last minor in which it does.
pub(crate) struct Row {
    of: &'static str,
    field: &'static str,
    check: Check,
    since: u8,
    until: u8,
}

impl Row {
    /// The rule, from a minor on.
    const fn since(self, minor: u8) -> Self {
        Self { since: minor, ..self }
    }

    /// The rule, up to a minor.
    const fn until(self, minor: u8) -> Self {
        Self { until: minor, ..self }
    }

    fn holds_in(&self, minor: u8) -> bool {
        (self.since..=self.until).contains(&minor)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}.{}", self.of, self.field)
    }
}

const fn row(of: &'static str, field: &'static str, check: Check) -> Row {
    Row { of, field, check, since: 0, until: u8::MAX }
}

/// Fields that the schema requires and a server does without: what is not set is an empty text or list to it, and may be one.
pub(crate) const NOT_REQUIRED: &[(&str, &str)] = table::NOT_REQUIRED;
/// Fields of objects that are refused where they are not set, though an object without fields would be taken.
pub(crate) const REQUIRED: &[(&str, &str)] = table::REQUIRED;
/// Fields whose values the schema lists and a server does not look at.
pub(crate) const ANY_TEXT: &[(&str, &str)] = table::ANY_TEXT;

/// The rules of a type.
pub(crate) fn rows_of(name: &str) -> &'static [&'static Row] {
    static BY_TYPE: LazyLock<HashMap<&str, Vec<&Row>>> = LazyLock::new(|| {
        let mut by_type: HashMap<&str, Vec<&Row>> = HashMap::new();
        for row in table::ROWS.iter().chain(warnings::ROWS) {
            by_type.entry(row.of).or_default().push(row);
        }
        by_type
    });
    BY_TYPE.get(name).map(Vec::as_slice).unwrap_or_default()
}

/// The types that rows are of.
#[cfg(test)]
pub(crate) fn types() -> impl Iterator<Item = (&'static str, &'static str)> {
    table::ROWS.iter().chain(warnings::ROWS).map(|row| (row.of, row.field))
}

pub(crate) fn judge(rows: &[&Row], context: &Context<'_>, object: &Mapping, out: &mut Findings) {
    for row in rows.iter().filter(|row| row.holds_in(context.minor)) {
        match row.check {
            Check::Whole(look) => look(context, object, out),
            Check::One(fields) => one(object, fields, out),
            Check::OneAtMost(fields) => one_at_most(object, fields, out),
            check if row.field.is_empty() => field(check, object, "", out),
            check => out.within_field(row.field, |out| field(check, object, row.field, out)),
        }
    }
}

fn field(check: Check, object: &Mapping, name: &str, out: &mut Findings) {
    let value = get(object, name);
    match (check, value) {
        (Check::Required, value) => {
            let is_empty = match value {
                None => true,
                Some(Value::String(text)) => text.is_empty(),
                Some(Value::Sequence(items)) => items.is_empty(),
                Some(Value::Mapping(entries)) => entries.is_empty(),
                Some(_) => false,
            };
            if is_empty {
                out.required("", "must be set");
            }
        }
        (Check::OneOf(all), Some(Value::String(text))) if !text.is_empty() && !all.contains(&text.as_str()) => {
            not_one_of(all, text, out);
        }
        (Check::Exactly(all), Some(Value::String(text))) if !all.contains(&text.as_str()) => not_one_of(all, text, out),
        (Check::EachOf(all), Some(Value::Sequence(items))) => {
            for (index, text) in texts(items).filter(|(_, text)| !all.contains(text)) {
                out.within_item(index, |out| not_one_of(all, text, out));
            }
        }
        (Check::Between(least, most), Some(Value::Int(number))) => between(*number, least, most, out),
        (Check::Text(rule, is_wrong), Some(Value::String(text))) if !text.is_empty() => {
            name_of(rule, is_wrong, text, "", out)
        }
        (Check::Any(rule, is_wrong), Some(Value::String(text))) => name_of(rule, is_wrong, text, "", out),
        (Check::Each(rule, is_wrong), Some(Value::Sequence(items))) => {
            for (index, text) in texts(items) {
                name_of(rule, is_wrong, text, format_args!("[{index}]"), out);
            }
        }
        (Check::Keys(rule, is_wrong), Some(Value::Mapping(entries))) => {
            for key in entries.keys() {
                name_of(rule, is_wrong, key, format_args!("[{key}]"), out);
            }
        }
        (Check::Values(rule, is_wrong), Some(Value::Mapping(entries))) => {
            for (key, value) in entries.iter().filter_map(|(key, value)| Some((key, value.as_str()?))) {
                name_of(rule, is_wrong, value, format_args!("[{key}]"), out);
            }
        }
        (Check::Unique(key), Some(Value::Sequence(items))) => unique(items, key, out),
        _ => {}
    }
}

/// The texts of a list, each with its index; a null is an empty one.
fn texts(items: &[Value]) -> impl Iterator<Item = (usize, &str)> {
    items.iter().enumerate().filter_map(|(index, item)| match item {
        Value::Null => Some((index, "")),
        item => Some((index, item.as_str()?)),
    })
}

pub(crate) fn between(number: i64, least: i64, most: i64, out: &mut Findings) {
    if (least..=most).contains(&number) {
        return;
    }
    let bounds = if most == MAX { format!("at least {least}") } else { format!("between {least} and {most}") };
    out.invalid("", "range", format!("is {number}, and must be {bounds}"));
}

/// No upper bound but that of the type.
pub(crate) const MAX: i64 = i64::MAX;

pub(crate) fn name_of(
    rule: &'static str,
    is_wrong: fn(&str) -> Wrong,
    text: &str,
    at: impl std::fmt::Display,
    out: &mut Findings,
) {
    if let Some(wrong) = is_wrong(text) {
        out.invalid(&at.to_string(), rule, format!("is {}: {wrong}", shown(text)));
    }
}

/// Judges a key of the mapping `at`.
pub(crate) fn key_of(rule: &'static str, is_wrong: fn(&str) -> Wrong, key: &str, at: &str, out: &mut Findings) {
    if let Some(wrong) = is_wrong(key) {
        out.invalid_key(at, rule, key, wrong);
    }
}

fn unique(items: &[Value], key: &str, out: &mut Findings) {
    let mut seen: Vec<&str> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(name) = item.get(key).and_then(Value::as_str).filter(|name| !name.is_empty()) else { continue };
        if seen.contains(&name) {
            out.refuse(
                &format!("[{index}].{key}"),
                "duplicate",
                Reason::Duplicate,
                format!("is {}, which is there already", shown(name)),
            );
        }
        seen.push(name);
    }
}

fn listed(fields: &[&str]) -> String {
    fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", ")
}

fn one(object: &Mapping, fields: &[&str], out: &mut Findings) {
    if !fields.iter().any(|field| has(object, field)) {
        out.required("", format!("must have one of {}", listed(fields)));
    }
    one_at_most(object, fields, out);
}

fn one_at_most(object: &Mapping, fields: &[&str], out: &mut Findings) {
    for field in crate::fields::set(object, fields).iter().skip(1) {
        let message = format!("must not be set beside another of {}", listed(fields));
        out.refuse(&format!(".{field}"), "one-of", Reason::Forbidden, message);
    }
}
