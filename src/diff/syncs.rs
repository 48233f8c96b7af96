//! How the syncs of an Application apply objects: which fields they leave as the cluster has them, and whether they keep what they
//! applied in an annotation.

use go_yaml::{Mapping, Value};

use super::model::{items, word};
use crate::manifest::Manifest;

/// The sync option without which a sync applies them all the same.
const RESPECTED: &str = "RespectIgnoreDifferences=true";

/// How they do; by default nothing is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Syncs {
    ignored: Vec<Ignored>,
    /// Whether each object gets an annotation with all that was applied, unless it says otherwise.
    pub(super) annotates: bool,
}

/// One entry of `ignoreDifferences`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ignored {
    /// Patterns with `*`.
    group: String,
    kind: String,
    /// Empty: any.
    name: String,
    namespace: String,
    fields: Vec<Vec<Step>>,
    /// Whether what some managers set is ignored: which fields these are is not known.
    by_managers: bool,
}

/// A step to a field.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// Of a mapping, or the number of an item.
    Key(String),
    /// Each item of a list.
    Each,
}

impl Syncs {
    /// Those of an Application, as an object; of its paths in jq those count that are no more than a path.
    ///
    /// Reference: argo-cd 3.4 docs/user-guide/diffing.md, "Application Level Configuration"; docs/user-guide/sync-options.md, "Respect
    /// ignore difference configs": objects that are not there yet get all that git says.
    pub(crate) fn of(application: &Value) -> Self {
        let options = items(application, &["spec", "syncPolicy", "syncOptions"]);
        let has = |wanted: &str| options.iter().filter_map(Value::as_str).any(|option| option.trim() == wanted);
        let ignored = items(application, &["spec", "ignoreDifferences"]).iter().filter(|_| has(RESPECTED));
        Self { ignored: ignored.map(entry).collect(), annotates: !has("ServerSideApply=true") && !has("Replace=true") }
    }

    /// Whether they leave a field of an object as it is.
    pub(super) fn ignore(&self, object: &Manifest, namespace: &str, keys: &[&str]) -> bool {
        let steps: Vec<Step> = keys.iter().map(|key| Step::Key((*key).to_owned())).collect();
        let mut of_it = self.ignored.iter().filter(|one| one.is_of(object, namespace));
        of_it.any(|one| one.by_managers || one.fields.iter().any(|field| steps.starts_with(field)))
    }

    /// An object as they apply it over the one that is there; none where that is as git has it.
    pub(super) fn applied(&self, (old, new): (&Manifest, &Manifest), namespace: &str) -> Option<Manifest> {
        let mut of_it = self.ignored.iter().filter(|one| one.is_of(new, namespace)).peekable();
        of_it.peek()?;
        let mut object = new.object().clone();
        for field in of_it.flat_map(|one| &one.fields) {
            keep(old.object(), &mut object, field);
        }
        (object != *new.object()).then(|| Manifest::new(object).ok()).flatten()
    }
}

fn entry(value: &Value) -> Ignored {
    let field = |key| word(value, &[key]).to_owned();
    let texts = |key| items(value, &[key]).iter().filter_map(Value::as_str);
    Ignored {
        group: field("group"),
        kind: field("kind"),
        name: field("name"),
        namespace: field("namespace"),
        fields: texts("jsonPointers").filter_map(pointer).chain(texts("jqPathExpressions").filter_map(path)).collect(),
        by_managers: !items(value, &["managedFieldsManagers"]).is_empty(),
    }
}

/// `/spec/replicas`
fn pointer(text: &str) -> Option<Vec<Step>> {
    let step = |step: &str| Step::Key(step.replace("~1", "/").replace("~0", "~"));
    Some(text.strip_prefix('/')?.split('/').map(step).collect())
}

/// `.spec.template.spec.containers[].image`; none where it is more than a path.
fn path(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("[]") {
            steps.push(Step::Each);
            rest = after.strip_prefix('?').unwrap_or(after);
        } else if let Some(quoted) = rest.strip_prefix("[\"").or_else(|| rest.strip_prefix(".[\"")) {
            let (key, after) = quoted.split_once("\"]")?;
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else if let Some(quoted) = rest.strip_prefix(".\"") {
            let (key, after) = quoted.split_once('"')?;
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else if let Some(numbered) = rest.strip_prefix('[') {
            let (number, after) = numbered.split_once(']')?;
            number.parse::<usize>().ok()?;
            steps.push(Step::Key(number.to_owned()));
            rest = after;
        } else {
            let plain = rest.strip_prefix('.')?;
            let end = plain.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(plain.len());
            let (key, after) = plain.split_at_checked(end).filter(|(key, _)| !key.is_empty())?;
            steps.push(Step::Key(key.to_owned()));
            rest = after.strip_prefix('?').unwrap_or(after);
        }
    }
    // The end of `.spec.volumeClaimTemplates[]?` is all of the list.
    while steps.last() == Some(&Step::Each) {
        steps.pop();
    }
    (!steps.is_empty()).then_some(steps)
}

impl Ignored {
    fn is_of(&self, object: &Manifest, namespace: &str) -> bool {
        let is_any = |wanted: &str, name: &str| wanted.is_empty() || wanted == name;
        has_pattern(&self.group, object.group())
            && has_pattern(&self.kind, object.kind())
            && is_any(&self.name, object.name())
            && (namespace.is_empty() || is_any(&self.namespace, namespace))
    }
}

/// Gives a field the value that it had.
fn keep(old: &Value, new: &mut Value, field: &[Step]) {
    match (field, old, new) {
        ([Step::Key(key)], Value::Mapping(old), Value::Mapping(new)) => keep_entry(old, new, key),
        ([Step::Key(key), rest @ ..], Value::Mapping(old), Value::Mapping(new)) => {
            if let (Some(old), Some(new)) = (old.get(key), new.get_mut(key)) {
                keep(old, new, rest);
            }
        }
        ([Step::Key(number), rest @ ..], Value::Sequence(old), Value::Sequence(new)) => {
            let Ok(index) = number.parse::<usize>() else { return };
            if let (Some(old), Some(new)) = (old.get(index), new.get_mut(index)) {
                keep_item(old, new, rest);
            }
        }
        ([Step::Each, rest @ ..], Value::Sequence(old), Value::Sequence(new)) if old.len() == new.len() => {
            old.iter().zip(new).for_each(|(old, new)| keep_item(old, new, rest));
        }
        _ => {}
    }
}

fn keep_item(old: &Value, new: &mut Value, rest: &[Step]) {
    if rest.is_empty() { new.clone_from(old) } else { keep(old, new, rest) }
}

fn keep_entry(old: &Mapping, new: &mut Mapping, key: &str) {
    match old.get(key) {
        Some(value) => drop(new.insert(key.to_owned(), value.clone())),
        None => drop(new.remove(key)),
    }
}

/// Whether a text is as a pattern with `*` says.
fn has_pattern(pattern: &str, text: &str) -> bool {
    let Some((start, mut rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(start) else { return false };
    while let Some((part, after)) = rest.split_once('*') {
        let Some(at) = left.find(part) else { return false };
        left = left.get(at + part.len()..).unwrap_or_default();
        rest = after;
    }
    left.ends_with(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_where_they_are_no_more_than_that() {
        let rows = [
            (".spec.replicas", Some("spec replicas")),
            (".spec.volumeClaimTemplates[]?", Some("spec volumeClaimTemplates")),
            (".spec.template.spec.containers[].image", Some("spec template spec containers [] image")),
            (".metadata.annotations[\"a.b/c\"]", Some("metadata annotations a.b/c")),
            (".metadata.annotations.\"a.b/c\"", Some("metadata annotations a.b/c")),
            (".webhooks[0].clientConfig", Some("webhooks 0 clientConfig")),
            (".spec.x[] | select(.a == 1)", None),
            ("", None),
        ];
        for (text, expected) in rows {
            let shown = path(text).map(|steps| {
                let names = steps.iter().map(|step| match step {
                    Step::Key(key) => key.as_str(),
                    Step::Each => "[]",
                });
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(shown.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn kinds_are_named_by_patterns() {
        for (pattern, text, expected) in [
            ("*", "apps", true),
            ("", "apps", false),
            ("", "", true),
            ("*.example.com", "a.example.com", true),
            ("a*c", "ab", false),
        ] {
            assert_eq!(has_pattern(pattern, text), expected, "{pattern} {text}");
        }
    }
}
