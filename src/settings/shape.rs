//! What `settings.yaml` may hold, key by key: a mistake is reported by the path of its key, before the values are read.

use serde_yaml::{Mapping, Value};

use crate::application::near;
use crate::versions::{Helm, KUSTOMIZE};
use crate::yaml;

/// What a value must be.
#[derive(Debug)]
enum Shape {
    Text,
    /// A list of texts, or one.
    Texts,
    /// A number of any kind.
    Number,
    /// A whole number, 0 or more.
    Count,
    Switch,
    Words(&'static [&'static str]),
    /// A mapping with these keys and no others.
    Keys(&'static [Key]),
    /// A mapping by names that the user chooses.
    Named(&'static Shape),
    List(&'static Shape),
    /// A mapping that is checked where it is read.
    Mapping,
    /// Checked where it is read.
    Any,
}

#[derive(Debug)]
struct Key {
    name: &'static str,
    shape: Shape,
    /// Whether the mapping must have it.
    needed: bool,
    /// Whether `null` is as good as nothing.
    null: bool,
}

const fn key(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, needed: false, null: false }
}

const fn needed(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, needed: true, null: false }
}

const fn optional(name: &'static str, shape: Shape) -> Key {
    Key { name, shape, needed: false, null: true }
}

/// Every key of `settings.yaml`, in the order of [`super::Settings`].
const KEYS: &[Key] = &[
    key("repoURL", Shape::Texts),
    key("applications", Shape::Texts),
    key("dryBranches", Shape::Texts),
    optional("madeApplications", Shape::Switch),
    key("clusters", Shape::Texts),
    key("roots", Shape::List(&Shape::Mapping)),
    key("rules", Shape::List(&Shape::Keys(RULE))),
    key("destinations", Shape::Named(&Shape::Text)),
    optional("applicationsTo", Shape::Text),
    optional("argocdNamespace", Shape::Text),
    key("applicationSets", Shape::Named(&Shape::Keys(&[needed("parameters", Shape::Text)]))),
    key("vendorDirectory", Shape::Text),
    key("branches", Shape::Texts),
    key("knownFields", Shape::Texts),
    key("adopt", Shape::Texts),
    key("activePaths", Shape::Named(&Shape::List(&Shape::Text))),
    key("onFailure", Shape::Any),
    key("frozen", Shape::Named(&Shape::Keys(&[needed("reason", Shape::Text), optional("until", Shape::Text)]))),
    key("profile", Shape::Words(&["proposal", "argocd"])),
    key("history", Shape::Words(&["every", "tip"])),
    key("renderer", Shape::Words(&["native", "exec"])),
    optional("author", Shape::Keys(&[needed("name", Shape::Text), needed("email", Shape::Text)])),
    key("nondeterministic", Shape::Texts),
    key(
        "removalLimit",
        Shape::Keys(&[
            key("share", Shape::Number),
            key("atLeast", Shape::Count),
            key("objectShare", Shape::Number),
            key("objectsAtLeast", Shape::Count),
        ]),
    ),
    key(
        "limits",
        Shape::Keys(&[
            key("applications", Shape::Count),
            key("madeDepth", Shape::Count),
            key("makers", Shape::Count),
            key("templateSteps", Shape::Count),
            key("templateBytes", Shape::Count),
            key("kustomizationNodes", Shape::Count),
            key("kustomizationBytes", Shape::Count),
        ]),
    ),
    key("tools", Shape::Keys(&[key("helm", Shape::Words(&Helm::NAMES)), key("kustomize", Shape::Words(&[KUSTOMIZE]))])),
];

const RULE: &[Key] = &[
    key(
        "match",
        Shape::Keys(&[
            key("name", Shape::Texts),
            key("namespace", Shape::Texts),
            key("project", Shape::Texts),
            key("labels", Shape::Named(&Shape::Texts)),
            key("file", Shape::Texts),
            key(
                "destination",
                Shape::Keys(&[key("server", Shape::Texts), key("name", Shape::Texts), key("namespace", Shape::Texts)]),
            ),
        ]),
    ),
    optional("hydrate", Shape::Switch),
    optional("branch", Shape::Text),
    optional("path", Shape::Text),
    optional("hydrateTo", Shape::Text),
    optional("repoURL", Shape::Text),
    key("expand", Shape::Texts),
];

/// The names of all keys, in the order of [`super::Settings`].
#[cfg(test)]
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// Why `key`, as in `removalLimit.share`, is none that can be set; none when it can.
pub(crate) fn unknown_key(key: &str) -> Option<String> {
    let mut shape = &Shape::Keys(KEYS);
    let mut before = String::new();
    let mut rest = Some(key);
    while let (Some(text), Shape::Keys(keys)) = (rest, shape) {
        let (name, below) = text.split_once('.').map_or((text, None), |(name, below)| (name, Some(below)));
        let Some(found) = keys.iter().find(|key| key.name == name) else { return Some(unknown(&before, name, keys)) };
        before = joined(&before, name);
        (shape, rest) = (&found.shape, below);
    }
    None
}

/// A mistake and where it is.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// What is wrong, with the path of the key.
    pub what: String,
    /// Keys, or places in lists, that lead to it.
    path: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

/// The first mistake of a document.
pub(super) fn mistake(document: &Mapping) -> Option<Mistake> {
    let mut path = Vec::new();
    keys_of(document, KEYS, "", &mut path).map(|what| Mistake { what, path })
}

impl Mistake {
    /// Its line and column in the text, from 1; none where an alias or a merged key is in the way.
    pub(super) fn place(&self, text: &str) -> Option<(u32, u32)> {
        let document = yaml::parse_first(text.as_bytes(), &yaml::Limits::default()).ok()??;
        let mut mark = document.mark;
        let mut node = &document;
        for step in &self.path {
            (mark, node) = match (step, &node.data) {
                (Step::Key(name), yaml::Data::Mapping(entries)) => {
                    let (key, value) = entries.iter().find(|(key, _)| key.as_str() == Some(name))?;
                    (key.mark, value)
                }
                (Step::Index(index), yaml::Data::Sequence(items)) => items.get(*index).map(|item| (item.mark, item))?,
                _ => return None,
            };
        }
        Some((mark.line, mark.column))
    }
}

fn keys_of(map: &Mapping, keys: &'static [Key], at: &str, path: &mut Vec<Step>) -> Option<String> {
    for (name, value) in map {
        let Some(name) = name.as_str() else { return Some(format!("{}a key must be a string", before(at))) };
        path.push(Step::Key(name.to_owned()));
        let Some(key) = keys.iter().find(|key| key.name == name) else { return Some(unknown(at, name, keys)) };
        if !(key.null && value.is_null()) {
            let found = of(value, &key.shape, &joined(at, name), path);
            if found.is_some() {
                return found;
            }
        }
        path.pop();
    }
    let missing = keys.iter().find(|key| key.needed && !map.contains_key(key.name));
    missing.map(|key| format!("`{}` is missing", joined(at, key.name)))
}

/// What is wrong with a value. The path leads to it then, and is as it was else.
fn of(value: &Value, shape: &'static Shape, at: &str, path: &mut Vec<Step>) -> Option<String> {
    match (shape, value) {
        (Shape::Any, _) | (Shape::Mapping, Value::Mapping(_)) => None,
        (Shape::Text | Shape::Texts, Value::String(_)) | (Shape::Switch, Value::Bool(_)) => None,
        (Shape::Number, Value::Number(_)) => None,
        (Shape::Count, Value::Number(number)) if number.is_u64() => None,
        (Shape::Words(words), Value::String(word)) if words.contains(&word.as_str()) => None,
        (Shape::Texts, Value::Sequence(items)) => items_of(items, &Shape::Text, at, path),
        (Shape::List(shape), Value::Sequence(items)) => items_of(items, shape, at, path),
        (Shape::Keys(keys), Value::Mapping(map)) => keys_of(map, keys, at, path),
        (Shape::Named(shape), Value::Mapping(map)) => named(map, shape, at, path),
        (shape, value) => Some(format!("`{at}` must be {}, not {}", wanted(shape), found(value))),
    }
}

fn items_of(items: &[Value], shape: &'static Shape, at: &str, path: &mut Vec<Step>) -> Option<String> {
    items.iter().enumerate().find_map(|(index, item)| {
        path.push(Step::Index(index));
        let found = of(item, shape, &format!("{at}[{index}]"), path);
        if found.is_none() {
            path.pop();
        }
        found
    })
}

fn named(map: &Mapping, shape: &'static Shape, at: &str, path: &mut Vec<Step>) -> Option<String> {
    map.iter().find_map(|(name, value)| {
        let Some(name) = name.as_str() else { return Some(format!("{}a key must be a string", before(at))) };
        path.push(Step::Key(name.to_owned()));
        let found = of(value, shape, &joined(at, name), path);
        if found.is_none() {
            path.pop();
        }
        found
    })
}

fn unknown(at: &str, name: &str, keys: &[Key]) -> String {
    let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
    let key = joined(at, name);
    match (near(name, &names), at.is_empty()) {
        (Some(near), _) => format!("unknown key `{key}`: did you mean `{}`?", joined(at, near)),
        (None, true) => format!("unknown key `{key}`; `git hydrate config edit` shows all keys"),
        (None, false) => format!("unknown key `{key}`; `{at}` has {}", listed(&names)),
    }
}

fn before(at: &str) -> String {
    if at.is_empty() { String::new() } else { format!("`{at}`: ") }
}

fn joined(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn wanted(shape: &Shape) -> String {
    match shape {
        Shape::Text => "a string".to_owned(),
        Shape::Texts => "a string or a list of strings".to_owned(),
        Shape::Number => "a number".to_owned(),
        Shape::Count => "a whole number, 0 or more".to_owned(),
        Shape::Switch => "true or false".to_owned(),
        Shape::Words(words) => words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" or "),
        Shape::Keys(keys) => {
            format!("a mapping with {}", listed(&keys.iter().map(|key| key.name).collect::<Vec<_>>()))
        }
        Shape::Named(_) | Shape::Mapping => "a mapping".to_owned(),
        Shape::List(_) => "a list".to_owned(),
        Shape::Any => "something else".to_owned(),
    }
}

fn found(value: &Value) -> String {
    match value {
        Value::Null => "empty".to_owned(),
        Value::Bool(value) => format!("`{value}`"),
        Value::Number(value) => format!("`{value}`"),
        Value::String(value) => format!("`{value}`"),
        Value::Sequence(_) => "a list".to_owned(),
        Value::Mapping(_) => "a mapping".to_owned(),
        Value::Tagged(value) => format!("a value with the tag `{}`", value.tag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_of_the_command_line_that_is_none_gets_the_one_that_was_meant() {
        let rows = [
            ("dryBranches", None),
            ("removalLimit.share", None),
            ("frozen.environments/prod", None),
            ("activePaths.env/1.2", None),
            ("onFailure.application", None),
            ("dryBranch", Some("unknown key `dryBranch`: did you mean `dryBranches`?")),
            ("onfailure", Some("unknown key `onfailure`: did you mean `onFailure`?")),
            ("removalLimit.shares", Some("unknown key `removalLimit.shares`: did you mean `removalLimit.share`?")),
            ("tools.jsonnet", Some("unknown key `tools.jsonnet`; `tools` has `helm`, `kustomize`")),
            ("colour", Some("unknown key `colour`; `git hydrate config edit` shows all keys")),
        ];
        for (key, expected) in rows {
            assert_eq!(unknown_key(key).as_deref(), expected, "{key}");
        }
    }
}
