//! Kubernetes objects: what every engine hands on, and `manifest.yaml`, which is made of them.
//!
//! A [`Manifest`] is one object with a kind. [`read()`] makes them of text, engines of what they rendered; [`sort`] is
//! the order in which the proposal writes them, and [`Key`] tells whether two are one object for the API server.

pub(crate) mod encrypted;
mod exposed;
mod own_cluster;
mod read;
mod scope;
mod tabs;
#[expect(clippy::indexing_slicing, reason = "the numbers of paths are those of a list that is made there")]
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use go_yaml::{Mapping, Sequences, Value, emit_v3_documents};

pub(crate) use exposed::{Exposed, exposed, key_in};
pub(crate) use own_cluster::{OWN_CLUSTER, OWN_CLUSTER_NAME, as_known};
pub(crate) use read::{NULL_ITEM, parts, read_until};
pub use read::{Source, read};
pub(crate) use scope::{defined_scope, is_cluster_kind, is_cluster_scoped, is_likely_of_cluster};
pub(crate) use tabs::unreadable;
pub(crate) use tally::{ChangedObjects, ObjectCounts, RenamedApplication};
pub(crate) use tally::{Tally, plain_secrets, plain_secrets_in};

/// One Kubernetes object: a mapping whose `kind` is a string that is not empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Manifest(Value);

/// Why a value is no Kubernetes object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAManifest {
    /// It is a string, a list, a number …
    #[error("a Kubernetes object must be a mapping, not {0}")]
    NotAMapping(&'static str),
    /// No `kind`, or one that is no string or empty.
    #[error("`kind` is missing")]
    NoKind,
    /// No `kind`, and a key that is nearly one.
    #[error("`kind` is missing, and `{0}` is not a field of an object: did you mean `kind`?")]
    NearKind(String),
}

/// The key of a text that is `kind` but for case or one edit, in an object that has none.
fn near_kind(fields: &Mapping) -> Option<String> {
    let is_near = |key: &str| strsim::damerau_levenshtein(&key.to_lowercase(), "kind") <= 1;
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let key = fields.iter().find(|(key, value)| is_near(key) && is_text(value)).map(|(key, _)| key.to_string());
    key.filter(|_| !fields.contains_key("kind"))
}

impl Manifest {
    /// Takes a mapping that has a `kind`.
    ///
    /// A missing `apiVersion`, name or namespace is let through, as in Argo CD: it is the API server that judges those.
    /// Numbers become what they are to Kubernetes: integers where they fit `int64`, else floats.
    ///
    /// Reference: apimachinery 0.36 util/json, where `1.0` is 1 after it was written as JSON once.
    pub fn new(mut object: Value) -> Result<Self, NotAManifest> {
        let sort = match &object {
            Value::Mapping(fields) => {
                let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
                if kind.is_empty() {
                    return Err(near_kind(fields).map_or(NotAManifest::NoKind, NotAManifest::NearKind));
                }
                settle_numbers(&mut object);
                return Ok(Self(object));
            }
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => "a number",
            Value::String(_) => "a string",
            Value::Sequence(_) => "a list",
        };
        Err(NotAManifest::NotAMapping(sort))
    }

    /// The whole object; always a [`Value::Mapping`].
    pub fn object(&self) -> &Value {
        &self.0
    }

    /// The whole object; always a [`Value::Mapping`].
    pub fn into_object(self) -> Value {
        self.0
    }

    /// `apiVersion`, empty when it is missing.
    pub fn api_version(&self) -> &str {
        self.text(&["apiVersion"])
    }

    /// The part of `apiVersion` before its last `/`: `apps` of `apps/v1`, empty for the core group.
    pub fn group(&self) -> &str {
        self.api_version().rsplit_once('/').map_or("", |(group, _)| group)
    }

    /// The group that has the kind now: an API server that served a Deployment in `extensions` kept it as one of `apps`.
    ///
    /// Reference: kubernetes docs/reference/using-api/deprecation-guide, v1.16 and v1.22; argo-cd 3.4
    /// gitops-engine/pkg/sync/reconcile.go `dedupLiveResources`: one object, whichever its group.
    pub(crate) fn home_group(&self) -> &str {
        match (self.group(), self.kind()) {
            ("extensions", "Deployment" | "DaemonSet" | "ReplicaSet") => "apps",
            ("extensions", "Ingress" | "NetworkPolicy") => "networking.k8s.io",
            ("extensions", "PodSecurityPolicy") => "policy",
            (group, _) => group,
        }
    }

    /// `kind`, never empty.
    pub fn kind(&self) -> &str {
        self.text(&["kind"])
    }

    /// `metadata.namespace`, empty when it is missing.
    pub fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"])
    }

    /// `metadata.name`, empty when it is missing (`generateName`).
    pub fn name(&self) -> &str {
        self.text(&["metadata", "name"])
    }

    /// What the API server knows this object by; none for an object without a name, of which there may be many.
    pub fn key(&self) -> Option<Key> {
        let name = self.name();
        if name.is_empty() {
            return None;
        }
        Some(Key {
            group: self.group().to_owned(),
            kind: self.kind().to_owned(),
            namespace: self.namespace().to_owned(),
            name: name.to_owned(),
        })
    }

    /// Does what setting Argo CD's tracking id and removing it again does, so that bytes are equal to Argo CD's.
    ///
    /// Without the annotations of a tracking id, no annotations are left behind, also where there were none before; and
    /// an object without `metadata` gets it, empty. A CustomResourceDefinition stays as it is.
    ///
    /// Reference: argo-cd 3.6 util/argo/resource_tracking.go, with its default method `annotation`.
    pub fn remove_tracking(&mut self) {
        if self.kind() == "CustomResourceDefinition" && self.group() == "apiextensions.k8s.io" {
            return;
        }
        let Value::Mapping(object) = &mut self.0 else { return };
        let metadata = object.entry("metadata".to_owned()).or_insert(Value::Null);
        if metadata.is_null() {
            *metadata = Value::Mapping(Mapping::new());
        }
        let Value::Mapping(metadata) = metadata else { return };
        let without = match metadata.get_mut("annotations") {
            Some(Value::Mapping(annotations)) => {
                annotations.remove("argocd.argoproj.io/tracking-id");
                annotations.remove("argocd.argoproj.io/installation-id");
                annotations.is_empty()
            }
            annotations => annotations.is_some_and(|annotations| annotations.is_null()),
        };
        if without {
            metadata.remove("annotations");
        }
    }

    /// What identifies any object: for an object that gets its name from the API server, what the name begins with.
    pub(crate) fn identity(&self) -> Option<Key> {
        let prefix = self.text(&["metadata", "generateName"]);
        let name = match (self.name(), prefix) {
            ("", "") => return None,
            ("", prefix) => format!("{prefix}*"),
            (name, _) => name.to_owned(),
        };
        let (group, kind, namespace) = (self.group(), self.kind(), self.namespace());
        Some(Key { group: group.to_owned(), kind: kind.to_owned(), namespace: namespace.to_owned(), name })
    }

    /// What identifies an object that a cluster can take: one that says its `apiVersion` and its `kind`.
    pub(crate) fn typed_identity(&self) -> Option<Key> {
        let is_typed = ["apiVersion", "kind"].iter().all(|key| !self.text(&[key]).is_empty());
        self.identity().filter(|_| is_typed)
    }

    fn text(&self, keys: &[&str]) -> &str {
        self.0.at(keys).and_then(Value::as_str).unwrap_or_default()
    }

    fn place(&self) -> [&str; 4] {
        [self.namespace(), self.name(), self.group(), self.kind()]
    }
}

fn settle_numbers(value: &mut Value) {
    match value {
        // The shortest digits decide, as they do in JSON: an integer beyond 2^53 is not exact.
        Value::Float(number) => {
            if let Ok(integer) = number.to_string().parse() {
                *value = Value::Int(integer);
            }
        }
        Value::Uint(number) => *value = Value::Float(*number as f64),
        Value::Sequence(items) => items.iter_mut().for_each(settle_numbers),
        Value::Mapping(mapping) => mapping.values_mut().for_each(settle_numbers),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::String(_) => {}
    }
}

/// Writes `manifest.yaml`: the objects in their order, `---` between them, nothing for none.
///
/// Reference: argo-cd 3.6 commitserver/commit/hydratorhelper.go `writeManifests`: go-yaml v3, indented by 2.
pub fn encode(manifests: &[Manifest]) -> Vec<u8> {
    emit_v3_documents(manifests.iter().map(Manifest::object), Sequences::Indented).into_bytes()
}

/// How many objects of each kind are in a `manifest.yaml` that a hydrator wrote, as many in all as it has documents.
///
/// Documents are found by their separators alone, which are at the start of a line: a hydrator indents what is inside of
/// an object, block scalars included. Documents without any content count for nothing. Never fails, whatever the text is.
pub(crate) fn kinds(text: &[u8]) -> BTreeMap<String, usize> {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for document in documents(text) {
        let lines = document.split(|&b| b == b'\n');
        let kind = lines.filter_map(|line| line.strip_prefix(b"kind:")).next_back().unwrap_or_default();
        *kinds.entry(String::from_utf8_lossy(kind.trim_ascii()).into_owned()).or_default() += 1;
    }
    kinds
}

/// The documents of a `manifest.yaml` that have any content, found as [`kinds`] finds them, without blanks at their ends.
pub(crate) fn documents(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    Cut(Some(text)).filter(|document| document.split(|&b| b == b'\n').any(is_content))
}

/// The documents of a text, and what is behind the last one that it gave.
struct Cut<'t>(Option<&'t [u8]>);

impl<'t> Iterator for Cut<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<Self::Item> {
        let (document, after) = before_separator(self.0?);
        self.0 = after;
        Some(document.trim_ascii_end())
    }
}

/// The text before the first line that begins with `---`, and what follows that line; none when there is no such line.
fn before_separator(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    if text.starts_with(b"---") {
        return (b"", Some(after_line(text)));
    }
    match memchr::memmem::find(text, b"\n---").and_then(|end| text.split_at_checked(end)) {
        Some((document, separator)) => (document, separator.get(1..).map(after_line)),
        None => (text, None),
    }
}

/// What follows the first line.
fn after_line(text: &[u8]) -> &[u8] {
    memchr::memchr(b'\n', text).and_then(|end| text.get(end + 1..)).unwrap_or_default()
}

/// Whether a line is more than a comment, a blank or nothing in words.
fn is_content(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    !line.is_empty() && !line.starts_with(b"#") && line != b"null" && line != b"{}"
}

/// How many objects these are: those that the API server would know by the same are one.
pub(crate) fn count(manifests: &[Manifest]) -> usize {
    let keys: Vec<Key> = manifests.iter().filter_map(Manifest::key).collect();
    manifests.len() - keys.len() + keys.iter().collect::<BTreeSet<_>>().len()
}

/// The name of a ConfigMap or Secret without the hash that Kustomize puts at its end; none of one that has no hash.
///
/// Reference: kustomize 5.8 api/hasher/hasher.go `encode`: ten characters of a hexadecimal digest, some of which are
/// replaced so that no words come out.
pub(crate) fn without_hash<'n>(group: &str, kind: &str, name: &'n str) -> Option<&'n str> {
    if !group.is_empty() || !matches!(kind, "ConfigMap" | "Secret") {
        return None;
    }
    let (stem, hash) = name.rsplit_once('-')?;
    let is_hash = hash.len() == 10 && hash.bytes().all(|b| b"2456789bcdfghkmt".contains(&b));
    is_hash.then_some(stem)
}

/// Sorts by namespace, name, group and kind, each by its bytes; a missing one is empty and so comes first.
///
/// Objects that agree in all four keep their order.
///
/// Reference: the order that the Manifest Hydrator proposal asks for. Argo CD itself keeps the order of its tools.
pub(crate) fn sort(manifests: &mut [Manifest]) {
    manifests.sort_by(|a, b| a.place().cmp(&b.place()));
}

/// The identity of an object: two manifests with one key in the same cluster overwrite each other.
///
/// The version is no part of it: `apps/v1` and `apps/v1beta1` name the same Deployment.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Key {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The namespace as written, empty when it has none.
    pub namespace: String,
    /// The name, never empty.
    pub name: String,
}

impl Key {
    /// `web/api`; `api` without a namespace.
    pub(crate) fn place(&self) -> String {
        let slash = if self.namespace.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.namespace, self.name)
    }

    /// The API group of which the object defines a kind; none when it is not a CRD. Its name is `PLURAL.GROUP`.
    pub(crate) fn defined_group(&self) -> Option<&str> {
        let is_crd = self.kind == "CustomResourceDefinition" && self.group == "apiextensions.k8s.io";
        self.name.split_once('.').filter(|_| is_crd).map(|(_, group)| group)
    }
}

/// `Deployment.apps web/api`; without its group or its namespace when it has none.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind)?;
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(entries: &[(&str, Value)]) -> Value {
        Value::Mapping(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
    }

    fn manifest(api_version: &str, kind: &str, namespace: &str, name: &str) -> Manifest {
        let mut metadata = Mapping::new();
        for (key, value) in [("namespace", namespace), ("name", name)] {
            if !value.is_empty() {
                metadata.insert(key.to_owned(), value.into());
            }
        }
        let entries = [("apiVersion", api_version.into()), ("kind", kind.into()), ("metadata", metadata.into())];
        Manifest::new(mapping(&entries)).expect("has a kind")
    }

    #[test]
    fn a_manifest_is_a_mapping_with_a_kind() {
        let rows = [
            (Value::Null, Err(NotAManifest::NotAMapping("null"))),
            (Value::from("text"), Err(NotAManifest::NotAMapping("a string"))),
            (Value::from(Vec::new()), Err(NotAManifest::NotAMapping("a list"))),
            (mapping(&[]), Err(NotAManifest::NoKind)),
            (mapping(&[("kind", Value::Int(1))]), Err(NotAManifest::NoKind)),
            (mapping(&[("kind", "".into())]), Err(NotAManifest::NoKind)),
            (mapping(&[("knd", "Pod".into())]), Err(NotAManifest::NearKind("knd".to_owned()))),
            (mapping(&[("Kind", "Pod".into())]), Err(NotAManifest::NearKind("Kind".to_owned()))),
            (mapping(&[("ikdn", "Pod".into())]), Err(NotAManifest::NoKind)),
            (mapping(&[("kind", "".into()), ("knd", "Pod".into())]), Err(NotAManifest::NoKind)),
            (mapping(&[("knd", Value::Int(1))]), Err(NotAManifest::NoKind)),
            (mapping(&[("kind", "Pod".into())]), Ok(())),
        ];
        for (object, expected) in rows {
            assert_eq!(Manifest::new(object.clone()).map(|_| ()), expected, "{object:?}");
        }
    }

    #[test]
    fn numbers_are_what_kubernetes_reads() {
        let rows = [
            (Value::Float(1000.0), Value::Int(1000)),
            (Value::Float(-0.0), Value::Int(0)),
            (Value::Float(1.5), Value::Float(1.5)),
            (Value::Float(1234567890123456789.0), Value::Int(1234567890123456800)),
            (Value::Float(1e20), Value::Float(1e20)),
            (Value::Uint(u64::MAX), Value::Float(1.8446744073709552e19)),
            (Value::Int(i64::MIN), Value::Int(i64::MIN)),
        ];
        for (number, expected) in rows {
            let object = mapping(&[("kind", "Pod".into()), ("n", Value::Sequence(vec![number.clone()]))]);
            let manifest = Manifest::new(object).expect("has a kind");
            assert_eq!(manifest.object().get("n"), Some(&Value::Sequence(vec![expected])), "{number:?}");
        }
    }

    #[test]
    fn keys() {
        let rows = [
            (manifest("apps/v1", "Deployment", "web", "api"), Some("Deployment.apps web/api")),
            (manifest("apps/v1beta1", "Deployment", "web", "api"), Some("Deployment.apps web/api")),
            (manifest("v1", "Namespace", "", "web"), Some("Namespace web")),
            (manifest("batch/v1", "Job", "web", ""), None),
        ];
        for (manifest, expected) in rows {
            assert_eq!(manifest.key().map(|key| key.to_string()).as_deref(), expected);
        }
    }

    #[test]
    fn what_tracking_leaves_behind() {
        let annotated = |annotations: Value| {
            let metadata = mapping(&[("annotations", annotations), ("name", "a".into())]);
            mapping(&[("kind", "Pod".into()), ("metadata", metadata)])
        };
        let named = mapping(&[("kind", "Pod".into()), ("metadata", mapping(&[("name", "a".into())]))]);
        let id = ("argocd.argoproj.io/tracking-id", Value::from("a:b"));
        let installation = ("argocd.argoproj.io/installation-id", Value::from("c"));
        let other = ("other", Value::from("kept"));
        let crd =
            mapping(&[("apiVersion", "apiextensions.k8s.io/v1".into()), ("kind", "CustomResourceDefinition".into())]);
        let rows = [
            (annotated(mapping(&[])), named.clone()),
            (annotated(Value::Null), named.clone()),
            (annotated(mapping(&[id.clone(), installation])), named.clone()),
            (annotated(mapping(&[id, other.clone()])), annotated(mapping(&[other]))),
            (mapping(&[("kind", "Pod".into())]), mapping(&[("kind", "Pod".into()), ("metadata", mapping(&[]))])),
            (crd.clone(), crd),
        ];
        for (object, expected) in rows {
            let mut manifest = Manifest::new(object).expect("has a kind");
            manifest.remove_tracking();
            assert_eq!(manifest.into_object(), expected);
        }
    }

    #[test]
    fn the_order_of_the_proposal() {
        let sorted = [
            manifest("apiextensions.k8s.io/v1", "CustomResourceDefinition", "", "a"),
            manifest("v1", "Namespace", "", "web"),
            manifest("v1", "Service", "api", "z"),
            manifest("v1", "ConfigMap", "web", "a"),
            manifest("v1", "Service", "web", "a"),
            manifest("apps/v1", "Deployment", "web", "a"),
            manifest("batch/v1", "Job", "web", "a"),
            manifest("v1", "ConfigMap", "web", "a-b"),
        ];
        let mut shuffled = sorted.to_vec();
        shuffled.reverse();
        sort(&mut shuffled);
        assert_eq!(shuffled, sorted);
    }
}
