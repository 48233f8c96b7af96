//! What `settings.yaml` may contain, key by key: a mistake is reported by the path of its key, before the values are read.

use go_yaml::Mark;

use super::SettingsError;
use super::scalar::{Number, number};
use super::value::{self, Data, Mapping, Value};
use crate::argo::{check_tool, near};

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
    /// Such a mapping, in which mappings of another shape have globs of branches for keys.
    KeysAndGlobs(&'static [Key], &'static Shape),
    /// A known version of the tool that the key names.
    Version,
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
    optional("revisions", Shape::Switch),
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
    key("kustomize", Shape::Keys(&[key("buildOptions", Shape::Text), key("plugins", Shape::Texts)])),
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
            key("branches", Shape::Count),
            key("madeDepth", Shape::Count),
            key("makers", Shape::Count),
            key("templateSteps", Shape::Count),
            key("templateBytes", Shape::Count),
            key("kustomizationNodes", Shape::Count),
            key("kustomizationBytes", Shape::Count),
        ]),
    ),
    key("tools", Shape::KeysAndGlobs(TOOLS, &Shape::Keys(TOOLS))),
    key("validate", Shape::Any),
    key("kubernetes", Shape::Any),
    key("crds", Shape::Texts),
    key("silentWarnings", Shape::Texts),
];

/// What `hold.yaml` says of a branch.
const HOLD: &[Key] = &[
    needed("at", Shape::Text),
    needed("reason", Shape::Text),
    key("applications", Shape::List(&Shape::Text)),
    key("with", Shape::List(&Shape::Text)),
    optional("until", Shape::Text),
    key("allowRemoval", Shape::Switch),
];

const TOOLS: &[Key] = &[
    key("argocd", Shape::Version),
    key("helm", Shape::Version),
    key("kustomize", Shape::Version),
    key("jsonnet", Shape::Version),
];

const RULE: &[Key] = &[
    key(
        "match",
        Shape::Keys(&[
            key("name", Shape::Texts),
            key("namespace", Shape::Texts),
            key("project", Shape::Texts),
            key("plugin", Shape::Texts),
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
    optional("instance", Shape::Text),
    optional("repoURL", Shape::Text),
    key("expand", Shape::Texts),
];

/// Keys of git's configuration, below `hydrate`, that somebody may look for among the settings.
const GIT_KEYS: &[&str] = &[
    "strict",
    "strictUndecided",
    "strictTimeLimit",
    "prePush",
    "withoutProgram",
    "guard",
    "notify",
    "tell",
    "log",
    "jobs",
    "timeLimit",
    "memoryLimit",
    "renderTimeLimit",
    "promoter",
    "settingsPusher",
    "forgePusher",
    "vendorAllow",
    "remote",
];

/// Whether a setting has this name.
pub(crate) fn is_setting(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.eq_ignore_ascii_case(name))
}

/// The names of all keys, in the order of [`super::Settings`].
#[cfg(test)]
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|key| key.name)
}

/// Why `key`, as in `removalLimit.share`, cannot be set; none when it can.
pub(crate) fn unknown_key(key: &str) -> Option<String> {
    let mut shape = &Shape::Keys(KEYS);
    let mut before = String::new();
    let mut rest = Some(key);
    while let (Some(text), Shape::Keys(keys) | Shape::KeysAndGlobs(keys, _)) = (rest, shape) {
        let (name, below) = text.split_once('.').map_or((text, None), |(name, below)| (name, Some(below)));
        let Some(found) = keys.iter().find(|key| key.name == name) else {
            let is_glob = matches!(shape, Shape::KeysAndGlobs(..)) && near(text, &names(keys)).is_none();
            return (!is_glob).then(|| unknown(&before, name, shape));
        };
        before = joined(&before, name);
        (shape, rest) = (&found.shape, below);
    }
    None
}

/// Errors: the first mistake of a document.
pub(super) fn check(document: &Value) -> Result<(), SettingsError> {
    match &document.data {
        Data::Null => Ok(()),
        Data::Mapping(mapping) => keys_of(mapping, document.mark, &Shape::Keys(KEYS), ""),
        _ => Err(document.no_mapping()),
    }
}

/// Errors: the first mistake of a `hold.yaml`.
pub(super) fn check_holds(document: &Value) -> Result<(), SettingsError> {
    match &document.data {
        Data::Null => Ok(()),
        Data::Mapping(mapping) => mapping.0.iter().try_for_each(|(key, value)| {
            check_key(key, "")?;
            match &value.data {
                Data::List(items) => items_of(items, &Shape::Keys(HOLD), &key.name),
                _ => of(value, key.mark, &Shape::Keys(HOLD), &key.name),
            }
        }),
        _ => Err(document.no_mapping()),
    }
}

fn keys_of(map: &Mapping, mark: Mark, shape: &'static Shape, at: &str) -> Result<(), SettingsError> {
    let (keys, globs) = match shape {
        Shape::Keys(keys) => (*keys, None),
        Shape::KeysAndGlobs(keys, globs) => (*keys, Some(*globs)),
        _ => return Ok(()),
    };
    for (written, value) in &map.0 {
        check_key(written, at)?;
        let name = &written.name;
        let Some(key) = keys.iter().find(|key| key.name == name) else {
            match globs.filter(|_| matches!(value.data, Data::Mapping(_))) {
                Some(globs) => of(value, written.mark, globs, &joined(at, name))?,
                None => return Err(SettingsError::at(written.mark, unknown(at, name, shape))),
            }
            continue;
        };
        if !(key.null && value.data == Data::Null) {
            of(value, written.mark, &key.shape, &joined(at, name))?;
        }
    }
    match keys.iter().find(|key| key.needed && map.get(key.name).is_none()) {
        Some(key) => Err(SettingsError::at(mark, format!("`{}` is missing", joined(at, key.name)))),
        None => Ok(()),
    }
}

/// Errors: what is wrong with a value, which is at `mark`: at its key, where it has one.
fn of(value: &Value, mark: Mark, shape: &'static Shape, at: &str) -> Result<(), SettingsError> {
    match (shape, &value.data) {
        (Shape::Any, _) | (Shape::Mapping, Data::Mapping(_)) => Ok(()),
        (Shape::Text | Shape::Texts, Data::Text(_)) | (Shape::Switch, Data::Bool(_)) => Ok(()),
        (Shape::Number, Data::Number(_)) => Ok(()),
        (Shape::Count, Data::Number(text)) if matches!(number(text), Some(Number::Whole(_))) => Ok(()),
        (Shape::Words(words), Data::Text(word)) if words.contains(&word.as_str()) => Ok(()),
        (Shape::Texts, Data::List(items)) => items_of(items, &Shape::Text, at),
        (Shape::List(shape), Data::List(items)) => items_of(items, shape, at),
        (Shape::Keys(_) | Shape::KeysAndGlobs(..), Data::Mapping(map)) => keys_of(map, mark, shape, at),
        (Shape::Version, Data::Text(version) | Data::Number(version)) => {
            let tool = at.rsplit('.').next().unwrap_or(at);
            check_tool(tool, version).map_err(|what| SettingsError::at(mark, format!("`{at}`: {what}")))
        }
        (Shape::Named(shape), Data::Mapping(map)) => named(map, shape, at),
        (shape, data) => {
            let what = format!("`{at}` must be {}, not {}", wanted(shape), found(data));
            Err(SettingsError::at(mark, what))
        }
    }
}

fn items_of(items: &[Value], shape: &'static Shape, at: &str) -> Result<(), SettingsError> {
    let mut items = items.iter().enumerate();
    items.try_for_each(|(index, item)| of(item, item.mark, shape, &format!("{at}[{index}]")))
}

fn named(map: &Mapping, shape: &'static Shape, at: &str) -> Result<(), SettingsError> {
    map.0.iter().try_for_each(|(key, value)| {
        check_key(key, at)?;
        of(value, key.mark, shape, &joined(at, &key.name))
    })
}

fn check_key(key: &value::Key, at: &str) -> Result<(), SettingsError> {
    match key.is_text {
        true => Ok(()),
        false => Err(SettingsError::at(key.mark, format!("{}a key must be a string", before(at)))),
    }
}

/// That a mapping of this shape has no such key.
fn unknown(at: &str, name: &str, shape: &Shape) -> String {
    let (keys, more) = match shape {
        Shape::Keys(keys) => (*keys, ""),
        Shape::KeysAndGlobs(keys, _) => (*keys, ", and mappings by globs of branches"),
        _ => (&[][..], ""),
    };
    if at.is_empty()
        && let Some(key) = GIT_KEYS.iter().find(|known| known.eq_ignore_ascii_case(name))
    {
        return format!("`{key}` is not a setting but a key of git's configuration: git config hydrate.{key}");
    }
    let (names, key) = (names(keys), joined(at, name));
    match (near(name, &names), at.is_empty()) {
        (Some(near), _) => format!("unknown key `{key}`: did you mean `{}`?", joined(at, near)),
        (None, true) => format!("unknown key `{key}`; `git hydrate config edit` shows all keys"),
        (None, false) => format!("unknown key `{key}`; `{at}` has {}{more}", listed(&names)),
    }
}

fn names(keys: &[Key]) -> Vec<&'static str> {
    keys.iter().map(|key| key.name).collect()
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
        Shape::Keys(keys) => format!("a mapping with {}", listed(&names(keys))),
        Shape::KeysAndGlobs(keys, _) => format!("a mapping with {}, and with globs of branches", listed(&names(keys))),
        Shape::Version => "a version".to_owned(),
        Shape::Named(_) | Shape::Mapping => "a mapping".to_owned(),
        Shape::List(_) => "a list".to_owned(),
        Shape::Any => "something else".to_owned(),
    }
}

fn found(data: &Data) -> String {
    match data {
        Data::Null => "empty".to_owned(),
        Data::Bool(value) => format!("`{value}`"),
        Data::Number(text) | Data::Text(text) => format!("`{text}`"),
        Data::List(_) => "a list".to_owned(),
        Data::Mapping(_) => "a mapping".to_owned(),
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
            ("tools.jsonnet", None),
            ("tools.environments/prod-1.2", None),
            ("tools.jsonett", Some("unknown key `tools.jsonett`: did you mean `tools.jsonnet`?")),
            ("strict", Some("`strict` is not a setting but a key of git's configuration: git config hydrate.strict")),
            ("colour", Some("unknown key `colour`; `git hydrate config edit` shows all keys")),
        ];
        for (key, expected) in rows {
            assert_eq!(unknown_key(key).as_deref(), expected, "{key}");
        }
    }
}
