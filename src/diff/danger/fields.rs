//! Fields whose change alone is a danger: by kind, path and what becomes of the value.
//!
//! Only what no other rule is about is here. Each row is one field of one family of kinds; the tables are by family.

mod clouds;
mod databases;
mod delivery;
mod ingresses;
mod kept;
mod meshes;
mod nodes;
mod running;
mod streams;

use std::collections::BTreeMap;

use go_yaml::Value;

use super::quantity::quantity;
use super::{Danger, Severity};
use crate::manifest::Manifest;

/// A field, what becomes of it, and what comes of that.
struct Field {
    /// The group; one that begins with a dot is the end of several.
    group: &'static str,
    /// The kinds, between `|`; empty for all of the group.
    kinds: &'static str,
    /// The keys that lead to it. `*` is for each item of a list, or each key.
    path: &'static [&'static str],
    when: When,
    severity: Severity,
    /// The word for programs.
    danger: &'static str,
    /// What happens.
    effect: &'static str,
    advice: &'static str,
}

/// What becomes of a field.
#[derive(Clone, Copy)]
enum When {
    /// It is one of these, and was not.
    Is(&'static [&'static str]),
    /// It is one of these, and was something else: what it is without the field is one of these, or not known.
    Becomes(&'static [&'static str]),
    /// It is one of these, or is missing, and was something else.
    IsOrGoes(&'static [&'static str]),
    /// It was one of these, and is not, or is missing.
    WasOnly(&'static [&'static str]),
    /// It was there, and is not.
    Goes,
    /// It was not there, and is.
    Comes,
    /// It was there and is something else.
    Changes,
    /// It was there and ends in another name, after its last `/`.
    Renamed,
    /// It is something else; without it, it is this.
    ChangesFrom(&'static str),
    /// One more is in its list, between commas.
    Gains,
    /// One of its list, between commas, is not in it any more, and others are.
    Loses,
    /// It ends in this, and did not.
    Ends(&'static str),
    /// Its number, quantity or duration is at most this share of what it was, in percent.
    Falls(u32),
    /// Its number, quantity or duration is at least so many times what it was.
    Rises(u32),
}

const TABLES: [&[Field]; 9] = [
    clouds::FIELDS,
    databases::FIELDS,
    delivery::FIELDS,
    ingresses::FIELDS,
    kept::FIELDS,
    meshes::FIELDS,
    nodes::FIELDS,
    running::FIELDS,
    streams::FIELDS,
];

/// How the text of what is no scalar begins.
const COMPOUND: char = '\0';

/// What comes of the fields that change of an object that was there before.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let mut found: Vec<Danger> = Vec::new();
    let (group, kind) = (new.home_group(), new.kind());
    for field in TABLES.iter().flat_map(|table| table.iter()).filter(|field| field.is_for(group, kind)) {
        let Some((key, was, now)) = field.change(old, new) else { continue };
        let shown = match (was.as_str(), now.as_str()) {
            (_, "") => format!("`{key}` removed"),
            ("", now) if now.starts_with(COMPOUND) => format!("`{key}` added"),
            (_, now) if now.starts_with(COMPOUND) => format!("`{key}` changed"),
            ("", now) => format!("`{key}: {now}`"),
            (was, now) => format!("`{key}` {was} → {now}"),
        };
        let text = format!("{shown}: {}", field.effect);
        // One sentence for one effect: other fields of the object may have it too.
        if !found.iter().any(|danger| danger.to_string().ends_with(field.effect)) {
            found.push(Danger::said(field.severity, field.danger, text, field.advice));
        }
    }
    found
}

impl Field {
    fn is_for(&self, group: &str, kind: &str) -> bool {
        let is_group = group == self.group || self.group.starts_with('.') && group.ends_with(self.group);
        is_group && (self.kinds.is_empty() || self.kinds.split('|').any(|one| one == kind))
    }

    /// The key, and the value before and after, where the change is one that the row is for.
    fn change(&self, old: &Manifest, new: &Manifest) -> Option<(String, String, String)> {
        let [was, now] = [old, new].map(|object| {
            let mut found = BTreeMap::new();
            collect(object.object(), self.path, "", &mut found);
            found
        });
        let places = was.keys().chain(now.keys());
        let get = |all: &BTreeMap<String, String>, place: &String| all.get(place).cloned().unwrap_or_default();
        let mut changes = places.map(|place| (place, get(&was, place), get(&now, place)));
        // Of an item of a list that comes or goes, nothing is said here.
        let is_listed = self.path.contains(&"*");
        let parent = |all: &BTreeMap<String, String>, place: &String| {
            let start = place.rsplit_once('/').map_or("", |(start, _)| start);
            !is_listed || all.contains_key(&format!("{start}/"))
        };
        let key = self.path.last().copied().unwrap_or_default().to_owned();
        let (_, from, to) = changes.find(|(place, from, to)| {
            !place.ends_with('/') && parent(&was, place) && parent(&now, place) && self.when.is_met(from, to)
        })?;
        Some((key, from, to))
    }
}

impl When {
    /// Whether a value becomes another one in this way; empty is for none.
    fn is_met(self, from: &str, to: &str) -> bool {
        let is_in = |all: &[&str], text: &str| all.iter().any(|one| one.eq_ignore_ascii_case(text));
        let is_off = |text: &str| matches!(text, "" | "0" | "false");
        let listed = |text: &str| text.split(',').map(|one| one.trim().to_owned()).collect::<Vec<_>>();
        let sizes = || Some((size(from)?, size(to)?));
        match self {
            When::Is(all) => is_in(all, to) && !is_in(all, from),
            When::Becomes(all) => !from.is_empty() && is_in(all, to) && !is_in(all, from),
            When::IsOrGoes(all) => {
                let is_it = |text: &str| text.is_empty() || is_in(all, text);
                is_it(to) && !is_it(from)
            }
            When::WasOnly(all) => is_in(all, from) && !is_in(all, to),
            When::Goes => !is_off(from) && is_off(to),
            When::Comes => is_off(from) && !is_off(to),
            When::Changes => {
                !from.is_empty() && !to.is_empty() && place(from) != place(to) && sizes().is_none_or(|(a, b)| a != b)
            }
            When::Renamed => {
                let last = |text: &str| text.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
                !from.is_empty() && !to.is_empty() && last(from) != last(to)
            }
            When::ChangesFrom(default) => {
                let or = |text: &str| if text.is_empty() { default.to_owned() } else { text.to_owned() };
                folder(&or(from)) != folder(&or(to))
            }
            When::Gains => {
                let was = listed(from);
                !to.is_empty() && listed(to).iter().any(|one| !was.contains(one))
            }
            When::Loses => {
                let now = listed(to);
                !from.is_empty() && !to.is_empty() && listed(from).iter().any(|one| !now.contains(one))
            }
            When::Ends(end) => to.ends_with(end) && !from.is_empty() && !from.ends_with(end),
            When::Falls(percent) => {
                sizes().is_some_and(|(from, to)| from > 0.0 && to > 0.0 && to * 100.0 <= from * f64::from(percent))
            }
            When::Rises(times) => {
                sizes().is_some_and(|(from, to)| from > 0.0 && to > from && to >= from * f64::from(times))
            }
        }
    }
}

/// The fields by which items of lists are known: their names, Secrets' keys, alerts, hosts in DNS, and what metrics are about.
const NAMES: [&[&str]; 5] = [&["name"], &["secretKey"], &["alert"], &["dnsName"], &["resource", "name"]];

/// The texts at a path.
pub(super) fn texts(value: &Value, path: &[&str]) -> Vec<String> {
    let mut found = BTreeMap::new();
    collect(value, path, "", &mut found);
    found.into_iter().filter(|(place, _)| !place.ends_with('/')).map(|(_, text)| text).collect()
}

/// The texts at a path, by where they are: items of lists by their names, or by their places in a list of so many items: where one comes
/// or goes, those after it have other places. Each object on the way has a place that ends with `/`.
fn collect(value: &Value, path: &[&str], place: &str, found: &mut BTreeMap<String, String>) {
    let Some((key, rest)) = path.split_first() else {
        let text = match value {
            Value::Sequence(all) if all.is_empty() => String::new(),
            Value::Mapping(_) | Value::Sequence(_) => format!("{COMPOUND}{value:?}"),
            value => scalar(value),
        };
        if !text.is_empty() {
            found.insert(place.to_owned(), text);
        }
        return;
    };
    if *key == "*" {
        match value {
            Value::Sequence(all) => {
                for (index, item) in all.iter().enumerate() {
                    let name = NAMES.iter().find_map(|path| item.at(path).and_then(Value::as_str));
                    let name = name.map_or_else(|| format!("{index}of{}", all.len()), str::to_owned);
                    collect(item, rest, &format!("{place}/{name}"), found);
                }
            }
            Value::Mapping(all) => {
                all.iter().for_each(|(name, item)| collect(item, rest, &format!("{place}/{name}"), found));
            }
            _ => {}
        }
        return;
    }
    found.insert(format!("{place}/"), String::new());
    if let Some(value) = value.get(key) {
        collect(value, rest, &format!("{place}/{key}"), found);
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Bool(flag) => flag.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        value => value.as_str().unwrap_or_default().to_owned(),
    }
}

/// An address without its protocol, its user and its end: of another one, other rules say what comes of it.
fn place(text: &str) -> &str {
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.trim_end_matches('/').trim_end_matches(".git");
    rest.strip_prefix("git@").unwrap_or(rest)
}

/// A folder without what names the one that it is in.
fn folder(text: &str) -> &str {
    text.strip_prefix("./").unwrap_or(text).trim_end_matches('/')
}

/// A number, a quantity or a duration.
pub(super) fn size(text: &str) -> Option<f64> {
    duration(text).or_else(|| quantity(&Value::from(text)))
}

/// Seconds of a duration such as `1h30m` or `15d`; none for a plain number, and for `5m` of a quantity it is minutes.
fn duration(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let number: f64 = number.parse().ok()?;
        let end = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let factor = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            "y" => 31_536_000.0,
            _ => return None,
        };
        total += number * factor;
        rest = next;
    }
    (!text.is_empty()).then_some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_read_by_its_units() {
        let rows = [("30s", Some(30.0)), ("1h30m", Some(5400.0)), ("15d", Some(1_296_000.0)), ("5", None), ("", None)];
        for (text, expected) in rows {
            assert_eq!(duration(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_is_the_same_in_another_form() {
        let rows = [
            (When::ChangesFrom("./"), "./apps/", "apps", false),
            (When::ChangesFrom("./"), "", "apps", true),
            (When::Changes, "ssh://git@example.com/a/b.git", "https://example.com/a/b", false),
            (When::Changes, "https://example.com/a/b", "https://example.com/a/c", true),
            (When::Renamed, "./charts/web", "web", false),
            (When::Renamed, "./charts/web", "./charts/web2/", true),
            (When::Becomes(&["0"]), "", "0", false),
            (When::Becomes(&["0"]), "1", "0", true),
            (When::Loses, "web,websecure", "websecure", true),
            (When::Loses, "web", "web,websecure", false),
            (When::Loses, "web", "", false),
        ];
        for (when, from, to, expected) in rows {
            assert_eq!(when.is_met(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn each_row_has_an_effect_and_an_advice() {
        for field in TABLES.iter().flat_map(|table| table.iter()) {
            assert!(!field.effect.is_empty() && !field.advice.is_empty(), "{:?}", field.path);
        }
    }
}
