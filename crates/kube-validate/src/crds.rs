//! CustomResourceDefinitions by the kinds that they serve.

use std::collections::HashMap;

use go_yaml::{Limits, Mapping, Value};

use crate::fields::{at, has as has_field, is_true, items, map, text};

/// A version that a CRD serves.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) schema: Option<Mapping>,
    /// Whether `status` has a way of its own, and is dropped of what comes another way.
    pub(crate) drops_status: bool,
    /// What the server warns of, where the version is deprecated.
    pub(crate) deprecation: Option<String>,
}

/// The CRDs of a cluster, or those that are known of it.
///
/// Texts are kept as they are and read when an object needs one of theirs.
#[derive(Debug, Default)]
pub struct Crds {
    texts: Vec<Vec<u8>>,
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
        self.texts.push(text);
    }

    pub(crate) fn is_all(&self) -> bool {
        self.is_all
    }
}

/// CRDs that were read so far.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// By `group`, what each group serves: `version/Kind`.
    groups: HashMap<String, HashMap<String, Version>>,
}

impl Read {
    /// What serves a kind, reading the CRDs of its group first.
    pub(crate) fn group<'r>(&'r mut self, crds: &Crds, group: &str) -> &'r HashMap<String, Version> {
        if !self.groups.contains_key(group) {
            let mut served = HashMap::new();
            for text in crds.texts.iter().filter(|text| has(text, group)) {
                for crd in documents(text) {
                    add(&crd, group, &mut served);
                }
            }
            self.groups.insert(group.to_owned(), served);
        }
        self.groups.entry(group.to_owned()).or_default()
    }
}

fn has(text: &[u8], word: &str) -> bool {
    !word.is_empty() && memchr::memmem::find(text, word.as_bytes()).is_some()
}

fn documents(text: &[u8]) -> Vec<Value> {
    let limits = Limits::default();
    if let Ok(value) = go_yaml::json::decode(text, &limits) {
        return vec![value];
    }
    go_yaml::decode(text, go_yaml::Dialect::V2, &limits).unwrap_or_default()
}

fn add(crd: &Value, group: &str, served: &mut HashMap<String, Version>) {
    let Some(object) = crd.as_mapping().filter(|object| text(object, "kind") == "CustomResourceDefinition") else {
        return;
    };
    let Some(spec) = map(object, "spec").filter(|spec| text(spec, "group") == group) else { return };
    let kind = map(spec, "names").map(|names| text(names, "kind")).unwrap_or_default();
    for (_, version) in items(spec, "versions").filter(|(_, version)| is_true(version, "served")) {
        let name = text(version, "name");
        let schema = at(version, &["schema", "openAPIV3Schema"]);
        let deprecation = is_true(version, "deprecated").then(|| {
            let own = text(version, "deprecationWarning");
            if own.is_empty() { format!("{group}/{name} {kind} is deprecated") } else { own.to_owned() }
        });
        let drops_status = map(version, "subresources").is_some_and(|all| has_field(all, "status"));
        served.insert(format!("{name}/{kind}"), Version { schema: schema.cloned(), drops_status, deprecation });
    }
}
