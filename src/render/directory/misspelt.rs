//! Documents that are nearly objects: what a slip of the pen makes of one, and everybody would pass over in silence.
//!
//! Argo CD leaves such a document out, and prunes what it described. Only files that look like those of objects are meant: what
//! has neither a version of Kubernetes nor a name in its metadata is a file of something else.

use crate::argo::near;
use crate::manifest::{self, NULL_ITEM};
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_yaml::{self as yaml, Dialect, Limits, Mark, Node, Value};

use super::SKIP_MARKER;

/// What is wrong with the first document of a file that is nearly an object; none where none is.
pub(super) fn find(path: &RepoPath, data: &[u8]) -> Option<Diagnostic> {
    let limits = Limits::default();
    for (line, part) in manifest::parts(data) {
        let Ok(documents) = yaml::parse(part, &limits) else { continue };
        let Some(slip) = documents.iter().find_map(|document| slip(document, &limits)) else { continue };
        let Slip { mark, width, message, hint } = slip;
        let span = Span { width, ..Span::at(path.clone(), mark.line + line - 1, mark.column) };
        let mistake = Diagnostic::error(message).at(span.quoting(&String::from_utf8_lossy(data)));
        return Some(mistake.hint(hint.unwrap_or_else(|| {
            format!("every object has `apiVersion`, `kind` and `metadata`; a file without manifests is left out by a comment `{SKIP_MARKER}`")
        })));
    }
    None
}

/// What is wrong with one document.
struct Slip {
    mark: Mark,
    width: u32,
    message: String,
    /// None where nothing more is known than what every object has.
    hint: Option<String>,
}

impl Slip {
    fn at(node: &Node, message: impl Into<String>) -> Self {
        let width = node.as_str().map_or(1, |text| u32::try_from(text.chars().count()).unwrap_or(1).max(1));
        Self { mark: node.mark, width, message: message.into(), hint: None }
    }

    /// A key that is nearly `known`.
    fn near(key: &Node, known: &str) -> Self {
        let text = format!("`{}` is not a field of this object", key.as_str().unwrap_or_default());
        Self { hint: Some(format!("did you mean `{known}`?")), ..Self::at(key, text) }
    }
}

fn slip(document: &Node, limits: &Limits) -> Option<Slip> {
    let object = document.to_value(Dialect::V2, limits).ok()?;
    let kind = text(&object, "kind");
    match kind {
        None => without_kind(document, &object),
        Some(kind) if kind.ends_with("List") && !has_name(&object) => of_list(document, kind, &object, limits),
        Some(kind) => with_kind(document, kind, &object),
    }
}

/// A mapping that has no `kind` and may be meant to be an object.
fn without_kind(document: &Node, object: &Value) -> Option<Slip> {
    let has_version = text(object, "apiVersion").is_some_and(is_version_of_kubernetes);
    let has_metadata = object.get("metadata").is_some_and(|metadata| matches!(metadata, Value::Mapping(_)));
    let misspelt = key_near(document, "kind").filter(|_| has_metadata || object.get("apiVersion").is_some());
    if let Some(key) = misspelt {
        return Some(Slip::near(key, "kind"));
    }
    if !has_name(object) && (!has_version || is_of_helm(object)) {
        return None;
    }
    Some(match key_of(document, "kind") {
        Some(key) => Slip::at(key, "`kind` must be a text that is not empty"),
        None => Slip::at(document, "`kind` is missing"),
    })
}

/// An object that lacks what each has.
fn with_kind(document: &Node, kind: &str, object: &Value) -> Option<Slip> {
    if text(object, "apiVersion").is_none() {
        return without_version(document, object);
    }
    if has_name(object) {
        // In another namespace it is another object.
        let metadata = document.get("metadata").filter(|metadata| metadata.get("namespace").is_none())?;
        return key_near(metadata, "namespace").map(|key| Slip::near(key, "namespace"));
    }
    match (object.get("metadata"), object.get("items")) {
        (None, Some(Value::Sequence(items))) if items.iter().any(|item| text(item, "kind").is_some()) => {
            let hint = "write `kind: List`, or leave `items` out".to_owned();
            let text = format!("a `{kind}` is not a list, so the objects in its `items` would be left out");
            Some(Slip { hint: Some(hint), ..Slip::at(document.get("kind").unwrap_or(document), text) })
        }
        (None, _) => key_near(document, "metadata").map(|key| Slip::near(key, "metadata")),
        (Some(_), _) => key_near(document.get("metadata")?, "name").map(|key| Slip::near(key, "name")),
    }
}

/// An object without the version of its kind.
fn without_version(document: &Node, object: &Value) -> Option<Slip> {
    if let Some(key) = key_near(document, "apiVersion") {
        return Some(Slip::near(key, "apiVersion"));
    }
    if !has_name(object) {
        return None;
    }
    Some(match key_of(document, "apiVersion") {
        Some(key) => Slip::at(key, "`apiVersion` must be a text that is not empty"),
        None => Slip::at(document, "`apiVersion` is missing"),
    })
}

/// A list: of what is not an object in it, the first.
fn of_list(document: &Node, kind: &str, object: &Value, limits: &Limits) -> Option<Slip> {
    match object.get("items") {
        Some(Value::Sequence(_)) => {
            let items = document.get("items").and_then(Node::as_sequence).unwrap_or_default();
            items.iter().find_map(|item| of_item(item, limits))
        }
        Some(Value::Null) => None,
        Some(_) if kind == "List" => Some(Slip::at(key_of(document, "items")?, "`items` must be a list")),
        Some(_) => None,
        None => match key_near(document, "items") {
            Some(key) => Some(Slip::near(key, "items")),
            None if kind == "List" => Some(Slip::at(document, "a `List` without `items` is not an object")),
            None => None,
        },
    }
}

fn of_item(item: &Node, limits: &Limits) -> Option<Slip> {
    match item.is_null(Dialect::V2) {
        true => Some(Slip::at(item, NULL_ITEM)),
        false => slip(item, limits),
    }
}

fn text<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Whether it is known by a name, or gets one from the API server.
fn has_name(object: &Value) -> bool {
    ["name", "generateName"].iter().any(|key| object.at(&["metadata", key]).is_some_and(|name| !name.is_null()))
}

/// `v1`, `apps/v1`, `example.com/v1beta2`.
fn is_version_of_kubernetes(text: &str) -> bool {
    let version = text.rsplit_once('/').map_or(text, |(_, version)| version);
    let Some(number) = version.strip_prefix('v') else { return false };
    let (major, rest) = number.split_at(number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len()));
    let minor = rest.strip_prefix("alpha").or_else(|| rest.strip_prefix("beta")).unwrap_or(rest);
    !major.is_empty() && minor.chars().all(|c| c.is_ascii_digit())
}

/// A `Chart.yaml`, or the index of a repository of charts: both have an `apiVersion`, and are no objects.
fn is_of_helm(object: &Value) -> bool {
    let is_chart = text(object, "name").is_some() && object.get("version").is_some();
    is_chart || object.get("entries").is_some()
}

fn key_of<'n>(document: &'n Node, name: &str) -> Option<&'n Node> {
    document.as_mapping()?.iter().map(|(key, _)| key).find(|key| key.as_str() == Some(name))
}

/// The key that is nearly `name`.
fn key_near<'n>(document: &'n Node, name: &str) -> Option<&'n Node> {
    let is_near = |key: &&Node| key.as_str().is_some_and(|key| near(key, &[name]).is_some());
    document.as_mapping()?.iter().map(|(key, _)| key).find(is_near)
}

/// Whether the metadata of an object has a field that is nearly its namespace.
pub(super) fn has_odd_metadata(object: &Value) -> bool {
    let Some(Value::Mapping(metadata)) = object.get("metadata") else { return false };
    metadata.keys().any(|key| near(key, &["namespace"]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nearly_an_object_is_named_with_its_place() {
        const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec: {}\n";
        const LIST: &str = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n";
        // (text, what is found)
        let rows = [
            (DEPLOYMENT.to_owned(), None),
            (DEPLOYMENT.replace("kind", "knd"), Some("2:1 `knd` is not a field of this object; did you mean `kind`?")),
            (
                DEPLOYMENT.replace("kind", "Kind"),
                Some("2:1 `Kind` is not a field of this object; did you mean `kind`?"),
            ),
            (
                DEPLOYMENT.replace("kind:", "kindd :"),
                Some("2:1 `kindd` is not a field of this object; did you mean `kind`?"),
            ),
            (DEPLOYMENT.replace("kind", "#kind"), Some("1:1 `kind` is missing; every")),
            (DEPLOYMENT.replace("kind", "sort"), Some("1:1 `kind` is missing; every")),
            (DEPLOYMENT.replace("Deployment", ""), Some("2:1 `kind` must be a text that is not empty; every")),
            (DEPLOYMENT.replace("Deployment", "[]"), Some("2:1 `kind` must be a text that is not empty; every")),
            (
                DEPLOYMENT.replace("apiVersion", "apiVersio"),
                Some("1:1 `apiVersio` is not a field of this object; did you mean `apiVersion`?"),
            ),
            (
                DEPLOYMENT.replace("apiVersion", "apiversion"),
                Some("1:1 `apiversion` is not a field of this object; did you mean `apiVersion`?"),
            ),
            (DEPLOYMENT.replace("apiVersion: apps/v1\n", "\n"), Some("2:1 `apiVersion` is missing; every")),
            (DEPLOYMENT.replace("apps/v1", "1"), Some("1:1 `apiVersion` must be a text that is not empty; every")),
            (
                DEPLOYMENT.replace("metadata", "metadat"),
                Some("3:1 `metadat` is not a field of this object; did you mean `metadata`?"),
            ),
            (
                DEPLOYMENT.replace("  name", "  nmae"),
                Some("4:3 `nmae` is not a field of this object; did you mean `name`?"),
            ),
            (DEPLOYMENT.replace("  name", "  generateName"), None),
            (DEPLOYMENT.replace("  name", "  namespace"), None),
            (
                format!("# first\n---\n{DEPLOYMENT}---\n# second\n{}", DEPLOYMENT.replace("kind", "knd")),
                Some("11:1 `knd` is"),
            ),
            (LIST.to_owned(), None),
            (
                LIST.replace("List", "Lst"),
                Some("2:7 a `Lst` is not a list, so the objects in its `items` would be left out; write"),
            ),
            (LIST.replace("items", "item"), Some("3:1 `item` is not a field of this object; did you mean `items`?")),
            (LIST.replace("items", "objects"), Some("1:1 a `List` without `items` is not an object; every")),
            (LIST.replace("- api", "  api"), Some("3:1 `items` must be a list; every")),
            (LIST.replace("  kind", "  knd"), Some("5:3 `knd` is not a field of this object; did you mean `kind`?")),
            (
                LIST.replace("items:", "items:\n- null"),
                Some("4:3 an item of a list is `null`, which is not an object; every"),
            ),
            ("apiVersion: v1\nkind: List\nitems: []\n".to_owned(), None),
            ("apiVersion: v1\nkind: List\nitems:\n".to_owned(), None),
            // Files of something else.
            ("foo: bar\n".to_owned(), None),
            ("- a\n".to_owned(), None),
            ("text\n".to_owned(), None),
            ("knd: Deployment\n".to_owned(), None),
            ("metadata: {labels: {a: b}}\nreplicas: 1\n".to_owned(), None),
            ("apiVersion: v2\nname: web\nversion: 1.2.3\n".to_owned(), None),
            ("apiVersion: v1\nentries: {}\n".to_owned(), None),
            ("apiVersion: 1\ndatasources: []\n".to_owned(), None),
            ("kind: Kustomization\nresources: [a.yaml]\n".to_owned(), None),
            (
                "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n".to_owned(),
                None,
            ),
            ("kind: A\n".to_owned(), None),
        ];
        let path = RepoPath::new("a.yaml").expect("plain");
        for (text, expected) in rows {
            let found = find(&path, text.as_bytes()).map(|mistake| {
                let span = mistake.span.expect("a place");
                format!("{}:{} {}; {}", span.line, span.column, mistake.message, mistake.hint.expect("a hint"))
            });
            let is_so = match (&found, expected) {
                (Some(found), Some(expected)) => found.starts_with(expected),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(is_so, "{text}\n{found:?}");
        }
    }
}
