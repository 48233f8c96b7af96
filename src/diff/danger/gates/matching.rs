//! What a policy is for, and whether that has all that another one is for.

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::super::items;
use super::wildcard;
use crate::diff::model::word;

/// How many combinations are looked at: where there are more, nothing is said.
const ATOMS_MAX: usize = 2_000;

/// The lists of a filter of Kyverno of which one item has to fit.
const LISTS: [&str; 4] = ["kinds", "names", "namespaces", "operations"];

/// One thing that a filter is for: an item of each list, and all else that it asks for.
#[derive(Debug, Clone, PartialEq)]
struct Atom {
    items: [Option<String>; LISTS.len()],
    others: Mapping,
}

/// What `match` or `exclude` of Kyverno is for: one of some, each of which is all of several.
#[derive(Debug, Default)]
pub(super) struct Matching {
    any: Vec<Vec<Atom>>,
    is_cut: bool,
}

impl Matching {
    pub(super) fn new(value: &Value) -> Self {
        let mut matching = Self::default();
        match (items(value, &["any"]), items(value, &["all"])) {
            ([], []) => matching.add(std::slice::from_ref(value)),
            (any, []) => any.iter().for_each(|filter| matching.add(std::slice::from_ref(filter))),
            // Of both, Kyverno takes none.
            (_, all) => matching.add(all),
        }
        matching
    }

    /// Adds filters that all have to fit, as the combinations of what each is for.
    fn add(&mut self, filters: &[Value]) {
        let mut all: Vec<Vec<Atom>> = vec![Vec::new()];
        for filter in filters {
            let atoms = atoms(filter);
            if atoms.is_empty() || all.len().saturating_mul(atoms.len()).saturating_add(self.any.len()) > ATOMS_MAX {
                self.is_cut = true;
                return;
            }
            let with = |some: &Vec<Atom>| -> Vec<Vec<Atom>> {
                atoms.iter().map(|atom| [some.as_slice(), std::slice::from_ref(atom)].concat()).collect()
            };
            all = all.iter().flat_map(with).collect();
        }
        // Without anything that it asks for, a filter is for nothing.
        self.any.extend(all.into_iter().filter(|some| !some.is_empty() && some.iter().all(|atom| !atom.is_empty())));
    }

    /// Whether it is for all that another one is for; also where it is not known.
    pub(super) fn covers(&self, other: &Self) -> bool {
        let covers = |one: &Vec<Atom>, of: &Vec<Atom>| one.iter().all(|atom| of.iter().any(|other| atom.covers(other)));
        self.is_cut || other.is_cut || other.any.iter().all(|of| self.any.iter().any(|one| covers(one, of)))
    }
}

/// The combinations of the lists of one filter; none where there are too many.
fn atoms(filter: &Value) -> Vec<Atom> {
    let resources = filter.get("resources").and_then(Value::as_mapping).cloned().unwrap_or_default();
    let mut others: Mapping = filter.as_mapping().cloned().unwrap_or_default();
    others.remove("resources");
    others.extend(resources.iter().map(|(key, value)| (key.clone(), value.clone())));
    others.retain(|key, value| !LISTS.contains(&key.as_str()) && key != "name" && !is_empty(value));
    // Objects that are made and changed are all that there are.
    let operations = items(filter, &["resources", "operations"]).iter().filter_map(Value::as_str);
    let are_all = ["CREATE", "UPDATE"].iter().all(|wanted| operations.clone().any(|one| one == *wanted));
    let texts = |key: &str| -> Vec<Option<String>> {
        if key == "operations" && are_all {
            return vec![None];
        }
        let list = resources.get(key).and_then(Value::as_sequence).unwrap_or_default();
        let mut all: Vec<Option<String>> =
            list.iter().filter_map(Value::as_str).map(|one| Some(one.to_owned())).collect();
        // The older field for one name.
        let single = resources.get("name").and_then(Value::as_str).filter(|name| key == "names" && !name.is_empty());
        all.extend(single.map(|name| Some(name.to_owned())));
        if all.is_empty() { vec![None] } else { all }
    };
    let mut found = vec![Atom { items: Default::default(), others }];
    for (index, list) in LISTS.iter().enumerate() {
        let all = texts(list);
        if found.len().saturating_mul(all.len()) > ATOMS_MAX {
            return Vec::new();
        }
        let with = |atom: &Atom| -> Vec<Atom> {
            let of = |item: &Option<String>| {
                let mut atom = atom.clone();
                if let Some(place) = atom.items.get_mut(index) {
                    place.clone_from(item);
                }
                atom
            };
            all.iter().map(of).collect()
        };
        found = found.iter().flat_map(with).collect();
    }
    found
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Mapping(fields) => fields.is_empty(),
        Value::Sequence(items) => items.is_empty(),
        _ => false,
    }
}

impl Atom {
    fn is_empty(&self) -> bool {
        self.others.is_empty() && self.items.iter().all(Option::is_none)
    }

    fn covers(&self, other: &Self) -> bool {
        let by_list = self.items.iter().zip(&other.items).enumerate().all(|(index, pair)| match pair {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(one), Some(other)) if index == 0 => wildcard(&kind(one), &kind(other)),
            (Some(one), Some(other)) => wildcard(one, other),
        });
        let asked = |(key, value): (&String, &Value)| other.others.get(key).is_some_and(|of| part_covers(value, of));
        by_list && self.others.iter().all(asked)
    }
}

/// A kind without its group and version, with its part if it names one: `Pod`, `Pod/exec`.
fn kind(text: &str) -> String {
    let is_part = |part: &&str| part.starts_with(|c: char| c.is_lowercase());
    match text.rsplit('/').collect::<Vec<_>>()[..] {
        [part, kind, ..] if is_part(&part) && !is_part(&kind) => format!("{kind}/{part}"),
        [kind, ..] => kind.replace('.', "/"),
        [] => String::new(),
    }
}

/// Whether a part of a filter is for all that another is for: lists of whom it is for, selectors, and what is equal.
fn part_covers(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Sequence(one), Value::Sequence(other)) => other.iter().all(|of| one.contains(of)),
        (Value::Mapping(_), Value::Mapping(_)) => !narrower_selector(Some(other), Some(one)),
        _ => one == other,
    }
}

/// Whether a selector of labels asks for something that it did not ask for before.
///
/// Reference: kubernetes docs/concepts/overview/working-with-objects/labels, "Label selectors": all that is asked for has to be so.
pub(super) fn narrower_selector(old: Option<&Value>, new: Option<&Value>) -> bool {
    let asked = |selector: Option<&Value>| -> Vec<Value> {
        let Some(selector) = selector else { return Vec::new() };
        let labels = selector.get("matchLabels").and_then(Value::as_mapping).into_iter().flatten();
        // A label is what an expression with one value is.
        let expression = |(key, value): (&String, &Value)| {
            let values = Value::Sequence(vec![value.clone()]);
            let fields = [("key", Value::from(key.as_str())), ("operator", Value::from("In")), ("values", values)];
            Value::Mapping(fields.map(|(key, value)| (key.to_owned(), value)).into())
        };
        let labels = labels.map(expression);
        let plain = selector.as_mapping().into_iter().flatten();
        let plain = plain.filter(|(key, _)| !matches!(key.as_str(), "matchLabels" | "matchExpressions"));
        let plain = plain.map(|(key, value)| Value::Sequence(vec![Value::from(key.as_str()), value.clone()]));
        let all: Vec<Value> = labels.chain(plain).collect();
        all.into_iter().chain(items(selector, &["matchExpressions"]).iter().cloned()).collect()
    };
    let was = asked(old);
    asked(new).iter().any(|one| !was.iter().any(|of| is_asked(of, one)))
}

/// Whether what is asked for has been asked for before, or more than it.
fn is_asked(was: &Value, now: &Value) -> bool {
    let values = |one: &Value| -> BTreeSet<String> {
        items(one, &["values"]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let [before, after] = [was, now].map(|one| (word(one, &["key"]).to_owned(), word(one, &["operator"]).to_owned()));
    was == now
        || !before.0.is_empty()
            && before == after
            && match before.1.as_str() {
                "In" => values(was).is_subset(&values(now)),
                "NotIn" => values(now).is_subset(&values(was)),
                "Exists" | "DoesNotExist" => true,
                _ => false,
            }
}

/// The lists of a rule of the API server, or of Gatekeeper's `kinds`.
///
/// Reference: kubernetes API `MatchResources.matchPolicy`: by default a rule is for requests in any version of what it is for.
const RULE: [&str; 5] = ["apiGroups", "resources", "operations", "resourceNames", "kinds"];

/// All operations; the same as `*`.
const OPERATIONS: [&str; 4] = ["CREATE", "UPDATE", "DELETE", "CONNECT"];

/// Whether rules that a policy had are not all among those that it has.
pub(super) fn narrower_rules(old: &[Value], new: &[Value]) -> bool {
    let (Some(before), Some(after)) = (combinations(old), combinations(new)) else { return false };
    let covers = |one: &[Option<String>], of: &[Option<String>]| {
        one.iter().zip(of).all(|pair| match pair {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(one), Some(of)) => resource(one, of),
        })
    };
    before.iter().any(|of| !after.iter().any(|one| covers(one, of)))
}

/// Reference: kubernetes API `RuleWithOperations`: `*` is for all, `pods/*` for all parts of Pods, `*/scale` for those of all.
fn resource(pattern: &str, text: &str) -> bool {
    match (pattern, pattern.split_once('/'), text.split_once('/')) {
        ("*/*", ..) => true,
        ("*", _, part) => part.is_none(),
        (_, Some((kind, part)), Some((of, of_part))) => (kind == "*" || kind == of) && (part == "*" || part == of_part),
        _ => pattern == text,
    }
}

/// The combinations of the lists of rules; none where there are too many.
fn combinations(rules: &[Value]) -> Option<Vec<Vec<Option<String>>>> {
    let mut found = Vec::new();
    for rule in rules {
        let mut all: Vec<Vec<Option<String>>> = vec![Vec::new()];
        for list in RULE {
            let mut texts: Vec<Option<String>> =
                items(rule, &[list]).iter().filter_map(Value::as_str).map(|one| Some(one.to_owned())).collect();
            let has = |wanted: &&str| texts.iter().any(|text| text.as_deref() == Some(*wanted));
            if list == "operations" && OPERATIONS.iter().all(has) {
                texts = vec![Some("*".to_owned())];
            }
            if texts.is_empty() {
                texts.push(None);
            }
            if all.len().saturating_mul(texts.len()).saturating_add(found.len()) > ATOMS_MAX {
                return None;
            }
            let with = |some: &Vec<Option<String>>| -> Vec<Vec<Option<String>>> {
                texts.iter().map(|text| [some.as_slice(), std::slice::from_ref(text)].concat()).collect()
            };
            all = all.iter().flat_map(with).collect();
        }
        found.extend(all);
    }
    Some(found)
}
