//! CustomResourceDefinitions by the kinds that they serve.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use go_yaml::{Limits, Mapping, Value};

use crate::fields::{at, has as has_field, is_true, items, list, map, text};

/// A version that a CRD serves.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) schema: Option<Mapping>,
    /// Whether its objects are in namespaces.
    pub(crate) is_namespaced: bool,
    /// Whether `status` has a way of its own, and is dropped of what comes another way.
    pub(crate) drops_status: bool,
    /// What the server warns of, where the version is deprecated.
    pub(crate) deprecation: Option<String>,
}

/// The CRDs of a cluster, or those that are known of it.
///
/// Texts are kept as they are and read when an object needs one of theirs.
#[derive(Debug, Clone, Default)]
pub struct Crds {
    texts: Vec<Arc<Vec<u8>>>,
    is_all: bool,
}

impl Crds {
    /// None are known, and others may be there.
    pub fn new() -> Self {
        Self::default()
    }

    /// From now on what no CRD serves is not served.
    pub fn and_no_others(&mut self) {
        self.is_all = true;
    }

    /// Adds a text of YAML or JSON with CRDs, one or more documents; others in it do not count.
    pub fn add(&mut self, text: Vec<u8>) {
        self.texts.push(Arc::new(text));
    }

    /// Whether there is no text at all.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub(crate) fn is_all(&self) -> bool {
        self.is_all
    }

    /// What may define a kind of a group.
    pub(crate) fn documents(&self, group: &str, kind: &str) -> impl Iterator<Item = Value> {
        self.parts(group).filter(move |part| declares(part, kind)).flat_map(documents)
    }

    fn parts(&self, group: &str) -> impl Iterator<Item = &[u8]> {
        self.texts.iter().flat_map(|text| parts(text)).filter(move |part| has(part, group))
    }
}

/// What the CRDs of a group define.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// By `version/Kind`.
    served: HashMap<String, Version>,
    /// Other names of kinds, in lower case: `(widgets, Widget)`.
    names: Vec<(String, String)>,
    /// The kinds that were looked for.
    asked: HashSet<String>,
    /// Whether all of its CRDs were read.
    is_whole: bool,
}

impl Group {
    pub(crate) fn version(&self, version: &str, kind: &str) -> Option<&Version> {
        self.served.get(&format!("{version}/{kind}"))
    }

    /// Whether a kind is served in some version.
    pub(crate) fn has_kind(&self, kind: &str) -> bool {
        self.served.keys().any(|served| served.split_once('/').is_some_and(|(_, served)| served == kind))
    }

    /// The newest version in which a kind is served: v1 before v1beta2, and that before v1beta1.
    pub(crate) fn newest(&self, kind: &str) -> Option<&str> {
        let versions = self.served.keys().filter_map(|served| served.split_once('/'));
        let versions = versions.filter(|(_, served)| *served == kind).map(|(version, _)| version);
        versions.max_by_key(|version| (!version.contains("alpha"), !version.contains("beta"), *version))
    }

    /// The kind of which this is another name: its plural, or how else it is written in commands.
    pub(crate) fn kind_of_name(&self, name: &str) -> Option<&str> {
        let name = name.to_lowercase();
        self.names.iter().find(|(other, _)| *other == name).map(|(_, kind)| kind.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.served.is_empty()
    }
}

/// CRDs that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Read {
    groups: HashMap<String, Group>,
}

impl Read {
    /// What the CRDs of a group define, as far as it takes to know whether they define a kind: CRDs are large, and those of other
    /// kinds are not read.
    pub(crate) fn group(&mut self, crds: &Crds, name: &str, kind: &str) -> &Group {
        let group = self.groups.entry(name.to_owned()).or_default();
        if !group.is_whole && group.asked.insert(kind.to_owned()) {
            crds.documents(name, kind).for_each(|crd| group.add(&crd, name));
            if !group.has_kind(kind) {
                crds.parts(name).flat_map(documents).for_each(|crd| group.add(&crd, name));
                group.is_whole = true;
            }
        }
        group
    }
}

fn has(text: &[u8], word: &str) -> bool {
    !word.is_empty() && memchr::memmem::find(text, word.as_bytes()).is_some()
}

/// Whether a text has `kind: Kind` somewhere, of YAML or JSON.
fn declares(text: &[u8], kind: &str) -> bool {
    memchr::memmem::find_iter(text, kind.as_bytes()).any(|at| {
        let before = text.get(..at).unwrap_or_default().trim_ascii_end();
        let before = before.strip_suffix(b"\"").or(before.strip_suffix(b"'")).unwrap_or(before).trim_ascii_end();
        let key = before.strip_suffix(b":").unwrap_or_default().trim_ascii_end();
        key.strip_suffix(b"\"").unwrap_or(key).ends_with(b"kind")
    })
}

/// The documents of a text of YAML, or all of a text of JSON.
fn parts(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_json = text.trim_ascii_start().starts_with(b"{");
    let mut starts: Vec<usize> = vec![0];
    if !is_json {
        starts.extend(memchr::memmem::find_iter(text, b"\n---").map(|at| at + 1));
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).filter_map(move |(start, end)| text.get(start..end))
}

fn documents(text: &[u8]) -> Vec<Value> {
    let limits = Limits::default();
    if let Ok(value) = go_yaml::json::decode(text, &limits) {
        return vec![value];
    }
    go_yaml::decode(text, go_yaml::Dialect::V2, &limits).unwrap_or_default()
}

impl Group {
    fn add(&mut self, crd: &Value, group: &str) {
        let Some(object) = crd.as_mapping().filter(|object| text(object, "kind") == "CustomResourceDefinition") else {
            return;
        };
        let Some(spec) = map(object, "spec").filter(|spec| text(spec, "group") == group) else { return };
        let empty = Mapping::new();
        let names = map(spec, "names").unwrap_or(&empty);
        let (kind, is_namespaced) = (text(names, "kind"), text(spec, "scope") == "Namespaced");
        let others = list(names, "shortNames").iter().filter_map(Value::as_str);
        for name in [text(names, "plural"), text(names, "singular"), kind].into_iter().chain(others) {
            self.names.push((name.to_lowercase(), kind.to_owned()));
        }
        for (_, version) in items(spec, "versions").filter(|(_, version)| is_true(version, "served")) {
            let name = text(version, "name");
            let schema = at(version, &["schema", "openAPIV3Schema"]);
            let deprecation = is_true(version, "deprecated").then(|| {
                let own = text(version, "deprecationWarning");
                if own.is_empty() { format!("{group}/{name} {kind} is deprecated") } else { own.to_owned() }
            });
            let drops_status = map(version, "subresources").is_some_and(|all| has_field(all, "status"));
            let version = Version { schema: schema.cloned(), is_namespaced, drops_status, deprecation };
            self.served.insert(format!("{name}/{kind}"), version);
        }
    }
}
