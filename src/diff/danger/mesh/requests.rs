//! Istio: requests that an AuthorizationPolicy lets through from now on by a rule that it had.
//!
//! Reference: istio.io docs/reference/config/security/authorization-policy: a rule is for the requests of one of its sources, by one of
//! its operations, that meet all of its conditions; each field is met by one of its values, and one of `not…` by none of them.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::{NAMED_MAX, action, selector};
use crate::diff::danger::{Around, Danger, Severity, items, ranges};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// How many combinations of values are compared.
const UNITS_MAX: usize = 1_000;

/// What a rule asks of a field.
#[derive(Clone)]
struct Asked<'m> {
    /// As it is written where it is not a condition.
    field: &'m str,
    /// Whether none of the values may be met.
    is_not: bool,
    values: Vec<&'m str>,
}

/// What is asked of requests; all of it together.
type Asks<'m> = Vec<Asked<'m>>;

/// Conditions that are fields of a source or an operation as well.
const FIELDS: [(&str, &str); 6] = [
    ("source.ip", "ipBlocks"),
    ("remote.ip", "remoteIpBlocks"),
    ("source.namespace", "namespaces"),
    ("source.principal", "principals"),
    ("request.auth.principal", "requestPrincipals"),
    ("destination.port", "ports"),
];

/// The fields of whom requests are from.
const SOURCES: [&str; 6] =
    ["ipBlocks", "remoteIpBlocks", "namespaces", "principals", "requestPrincipals", "serviceAccounts"];

fn texts(list: &Value) -> Vec<&str> {
    list.as_sequence().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// What a source or an operation asks.
fn fields(of: Option<&Value>) -> Asks<'_> {
    let fields = of.and_then(Value::as_mapping).into_iter().flatten();
    let fields = fields.map(|(key, list)| (key.as_str(), texts(list))).filter(|(_, values)| !values.is_empty());
    fields.map(|(key, values)| Asked { field: plain(key), is_not: key.starts_with("not"), values }).collect()
}

/// The field that `not…` is about.
fn plain(key: &str) -> &str {
    let known = SOURCES.iter().chain(&["hosts", "ports", "methods", "paths"]);
    let is_it = |field: &&&str| key.strip_prefix("not").is_some_and(|rest| rest.eq_ignore_ascii_case(field));
    known.into_iter().find(is_it).copied().unwrap_or(key)
}

fn condition(when: &Value) -> Asks<'_> {
    let key = word(when, &["key"]);
    let field = FIELDS.iter().find(|(one, _)| *one == key).map_or(key, |(_, field)| field);
    let of = |list, is_not| {
        let values = when.get(list).map(texts).unwrap_or_default();
        (!values.is_empty()).then_some(Asked { field, is_not, values })
    };
    [of("values", false), of("notValues", true)].into_iter().flatten().collect()
}

/// All that the rules of a policy are for.
fn asks(policy: &Manifest) -> Vec<Asks<'_>> {
    let mut found = Vec::new();
    for rule in super::rules(policy) {
        let of = |list, part| -> Vec<Asks<'_>> {
            match items(rule, &[list]) {
                [] => vec![Vec::new()],
                all => all.iter().map(|one| fields(one.get(part))).collect(),
            }
        };
        let when: Asks<'_> = items(rule, &["when"]).iter().flat_map(condition).collect();
        for source in of("from", "source") {
            for operation in of("to", "operation") {
                found.push([source.clone(), operation, when.clone()].concat());
            }
        }
    }
    found
}

/// For each combination of values on its own; none where there are too many.
fn units<'m>(all: &[Asks<'m>]) -> Option<Vec<Asks<'m>>> {
    let mut found = Vec::new();
    for asks in all {
        let mut units: Vec<Asks<'m>> = vec![Vec::new()];
        for asked in asks {
            let each: Vec<Asked<'m>> = match asked.is_not {
                true => vec![asked.clone()],
                false => asked.values.iter().map(|value| Asked { values: vec![value], ..asked.clone() }).collect(),
            };
            units = units
                .iter()
                .flat_map(|unit| each.iter().map(|one| [unit.as_slice(), std::slice::from_ref(one)].concat()))
                .collect();
            if units.len() + found.len() > UNITS_MAX {
                return None;
            }
        }
        found.extend(units);
    }
    Some(found)
}

/// Whether one value of a field is for all that another one is for. What is not sure counts as it is asked: `unsure`.
fn covers(field: &str, one: &str, other: &str, unsure: bool) -> bool {
    if matches!(field, "ipBlocks" | "remoteIpBlocks") {
        return ranges::cover([one], other);
    }
    if one == other || one == "*" {
        return true;
    }
    let (one, other) = (one.replace("{**}", "*"), other.replace("{**}", "*"));
    match (one.strip_suffix('*'), one.strip_prefix('*')) {
        _ if one.contains('{') || other.contains('{') && !one.ends_with('*') => unsure,
        (Some(start), _) => !other.starts_with('*') && other.starts_with(start),
        (None, Some(end)) => !other.ends_with('*') && other.ends_with(end),
        (None, None) => false,
    }
}

/// Whether requests that meet one asked for are sure to meet another, as far as one field of it goes.
fn meets(unit: &Asks<'_>, asked: &Asked<'_>) -> bool {
    let field = asked.field;
    let mut same = unit.iter().filter(|one| one.field == field);
    let by = |one: &Asked<'_>| match (one.is_not, asked.is_not) {
        (false, false) => one.values.iter().all(|value| {
            let of_ranges = || ranges::cover(asked.values.iter().copied(), value);
            asked.values.iter().any(|wide| covers(field, wide, value, true)) || of_ranges()
        }),
        (true, true) => asked.values.iter().all(|value| {
            let of_ranges = || ranges::cover(one.values.iter().copied(), value);
            one.values.iter().any(|wide| covers(field, wide, value, true)) || of_ranges()
        }),
        // What is asked for is none of those that must not be.
        (false, true) => one.values.iter().all(|value| {
            let meet = |not: &&str| covers(field, not, value, false) || covers(field, value, not, false);
            !asked.values.iter().any(meet)
        }),
        (true, false) => false,
    };
    same.any(by) || is_account(unit, asked)
}

/// Accounts are written in several ways, of which one says the namespace as well: who asks by another one is not compared.
fn is_account(unit: &Asks<'_>, asked: &Asked<'_>) -> bool {
    let kinds = ["namespaces", "principals", "serviceAccounts"];
    let has_same = unit.iter().any(|one| one.field == asked.field && !one.is_not);
    !asked.is_not
        && kinds.contains(&asked.field)
        && !has_same
        && unit.iter().any(|one| !one.is_not && kinds.contains(&one.field))
}

/// Whether some of those whom one is for may be those whom another is for.
fn is_of_same_sources(unit: &Asks<'_>, other: &Asks<'_>) -> bool {
    let positive = |asked: &&Asked<'_>| !asked.is_not && SOURCES.contains(&asked.field);
    unit.iter().filter(positive).all(|one| {
        let field = one.field;
        let mut same = other.iter().filter(positive).filter(|other| other.field == field).peekable();
        let meet = |other: &Asked<'_>| {
            let either = |a: &str, b: &str| covers(field, a, b, false) || covers(field, b, a, false);
            one.values.iter().any(|a| other.values.iter().any(|b| either(a, b)))
        };
        same.peek().is_none() || same.any(meet)
    })
}

/// The fields by which `wide` is for more than all of `narrow`, of sources that some of it is for, or of `any`; none where it is not.
fn wider<'m>(wide: &[Asks<'m>], narrow: &[Asks<'m>], any: bool) -> Option<BTreeSet<&'m str>> {
    for unit in units(wide)? {
        let lacks = |one: &Asks<'m>| -> BTreeSet<&'m str> {
            one.iter().filter(|asked| !meets(&unit, asked)).map(|asked| asked.field).collect()
        };
        if narrow.iter().any(|one| lacks(one).is_empty()) {
            continue;
        }
        let had = narrow.iter().filter(|one| any || is_of_same_sources(&unit, one)).map(lacks);
        if let Some(fields) = had.min_by_key(BTreeSet::len) {
            return Some(fields);
        }
    }
    None
}

/// What a policy and those of its action for the same Pods are for.
fn together<'a>(policy: Placed<'a>, side: &Side<'a>) -> Vec<Asks<'a>> {
    let own = policy.manifest;
    let others = side.of_kind("AuthorizationPolicy", policy.namespace).map(|one| one.manifest);
    let is_like = |other: &&Manifest| {
        other.home_group() == own.home_group() && action(other) == action(own) && selector(other) == selector(own)
    };
    others.filter(is_like).flat_map(asks).collect()
}

/// A policy that allows more requests of those whom it allowed some, or denies fewer.
pub(super) fn let_through<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (was, now) = (around.before(old), around.after(new));
    if was.namespace != now.namespace || selector(old) != selector(new) {
        return None;
    }
    let (before, after) = (&around.model.before, &around.model.after);
    let (fields, what) = match (action(old), action(new)) {
        // A further client that is named changes nothing for the others.
        ("ALLOW", "ALLOW") => {
            (wider(&asks(new), &together(was, before), false), "a rule allows more requests than before")
        }
        ("DENY", "DENY") => {
            (wider(&asks(old), &together(now, after), true), "requests that a rule denied are let through")
        }
        _ => return None,
    };
    let fields: Vec<String> = fields?.iter().map(|field| format!("`{field}`")).collect();
    let by = if fields.is_empty() { String::new() } else { format!(", by {}", listed(fields, NAMED_MAX)) };
    let advice = "check that it still names those who may ask";
    Some(Danger::said(Severity::Security, "unprotected", format!("{what}{by}"), advice))
}
