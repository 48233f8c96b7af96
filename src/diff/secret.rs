//! The values of Secrets: that they changed may be shown, what they are may not.
//!
//! Of a Secret those fields are shown that have no values of it, and all else is hidden, so that a value under a misspelt field is
//! not shown. What is a Secret but for a slip in its kind is one; and within other objects, what has the shape of one.

use go_yaml::Value;

use super::value::{Difference, Item, Leaf};
use crate::manifest::Manifest;

/// In place of a value: not even its length is shown.
pub(crate) const HIDDEN: &str = "<hidden>";

/// How many letters of a kind or of a field may be others for it to be meant.
const SLIPS_MAX: usize = 2;

/// Which values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// All but those of Secrets in it, which are there or not.
    Others {
        has_secrets: bool,
    },
    /// Those of the fields of a Secret that have none of its values.
    OfSecret,
    Metadata,
    Labels,
    Annotations,
    Type,
    All,
    Flag,
    Nothing,
}

/// Hides the values of Secrets in the change of an object.
pub(super) fn hide(old: Option<&Manifest>, new: Option<&Manifest>, difference: &mut Difference) {
    let all = [old, new];
    let mut all = all.iter().flatten();
    let shown = if all.clone().any(|one| is_secret(one)) {
        Shown::OfSecret
    } else {
        Shown::Others { has_secrets: all.any(|one| holds_secret(one.object())) }
    };
    hide_in(difference, shown);
}

/// Kinds of the core group, but for Secrets.
const CORE: [&str; 16] = [
    "Binding",
    "ComponentStatus",
    "ConfigMap",
    "Endpoints",
    "Event",
    "LimitRange",
    "List",
    "Namespace",
    "Node",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodTemplate",
    "ReplicationController",
    "ResourceQuota",
    "ServiceAccount",
];

/// Whether an object is a Secret, or was to be one: of any group, with a slip in its kind; or with data, of the core group, and of no
/// kind which that has.
pub(crate) fn is_secret(object: &Manifest) -> bool {
    let kind = object.kind();
    let is_of_none = object.api_version() == "v1" && kind != "Service" && !CORE.contains(&kind);
    let is_data = |key: &String| is_near(key, "data") || is_string_data(key);
    let has_data = || object.object().as_mapping().is_some_and(|fields| fields.keys().any(is_data));
    is_kind(kind) || is_of_none && has_data()
}

fn is_kind(kind: &str) -> bool {
    is_near(kind, "secret") || is_near(kind, "secretlist")
}

/// Whether a word is another but for slips, whichever letters are capital.
fn is_near(word: &str, other: &str) -> bool {
    word.len().abs_diff(other.len()) <= SLIPS_MAX
        && strsim::damerau_levenshtein(&word.to_ascii_lowercase(), other) <= SLIPS_MAX
}

/// Whether a field has values of a Secret in plain text, in whatever it is.
fn is_string_data(key: &str) -> bool {
    is_near(key, "stringdata")
}

/// Whether a value has an object of the kind somewhere in it.
fn holds_secret(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Mapping(fields) => {
                if fields.get("kind").and_then(Value::as_str).is_some_and(is_kind) {
                    return true;
                }
                open.extend(fields.values());
            }
            Value::Sequence(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

impl Shown {
    /// What is shown of the value of a field.
    fn of(self, key: &str) -> Self {
        match self {
            Self::Others { .. } if is_string_data(key) => Self::Nothing,
            Self::Others { has_secrets: true } if is_near(key, "data") => Self::Nothing,
            Self::OfSecret => match key {
                "apiVersion" | "kind" | "sops" => Self::All,
                "metadata" => Self::Metadata,
                "type" => Self::Type,
                "immutable" => Self::Flag,
                _ => Self::Nothing,
            },
            Self::Metadata => match key {
                "name" | "namespace" | "generateName" | "finalizers" | "ownerReferences" | "creationTimestamp" => {
                    Self::All
                }
                "labels" => Self::Labels,
                "annotations" => Self::Annotations,
                _ => Self::Nothing,
            },
            // Of others it is not known what they have; the last that was applied has all of the Secret.
            Self::Annotations if key.contains('/') && !key.ends_with("/last-applied-configuration") => Self::All,
            Self::Annotations => Self::Nothing,
            shown => shown,
        }
    }

    /// Whether a scalar is shown.
    fn shows(self, value: &Value) -> bool {
        match self {
            Self::Others { .. } | Self::All => true,
            Self::Labels => value.as_str().is_some_and(is_label),
            Self::Type => value.as_str().is_some_and(is_type),
            Self::Flag => value.as_bool().is_some(),
            Self::OfSecret | Self::Metadata | Self::Annotations | Self::Nothing => false,
        }
    }
}

/// Reference: kubernetes docs/concepts/overview/working-with-objects/labels, "Syntax and character set".
fn is_label(text: &str) -> bool {
    text.len() <= 63 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
}

/// Whether a text is a type of Secrets: a name in a domain, or the one for any.
///
/// Reference: kubernetes docs/concepts/configuration/secret, "Types of Secret".
fn is_type(text: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'/');
    text == "Opaque"
        || text.bytes().all(is_word) && text.split_once('/').is_some_and(|(domain, _)| domain.contains('.'))
}

fn hide_in(difference: &mut Difference, shown: Shown) {
    match difference {
        Difference::Leaf(Leaf { old, new, .. }) => {
            [old, new].into_iter().flatten().for_each(|value| hide_value(value, shown));
        }
        Difference::Mapping(entries) => {
            entries.iter_mut().for_each(|(key, difference)| hide_in(difference, shown.of(key)));
        }
        Difference::Sequence(items) => {
            let differences = items.iter_mut().filter_map(|Item { difference, .. }| difference.as_mut());
            differences.for_each(|difference| hide_in(difference, shown));
        }
    }
}

fn hide_value(value: &mut Value, shown: Shown) {
    match value {
        Value::Mapping(mapping) => {
            mapping.iter_mut().for_each(|(key, value)| hide_value(value, shown.of(key)));
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| hide_value(item, shown)),
        Value::Null => {}
        scalar => {
            if !shown.shows(scalar) {
                *scalar = Value::from(HIDDEN);
            }
        }
    }
}
