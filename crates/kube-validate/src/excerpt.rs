//! What it takes of CRDs to judge objects of one kind in one version: they are large, and most of them is prose.

use go_yaml::{Limits, Mapping, Value, json};

use crate::crds::{Crds, Read};
use crate::fields::{get, is_true, items, map, text};

/// A longer excerpt than this is not made: as many bytes as YAML needs to grow without bound.
const BYTES_MAX: usize = 1 << 20;

impl Crds {
    /// A text with the CRD of a kind as far as it is needed to judge objects of one version of it: they are judged by it as by all
    /// CRDs. None where no CRD serves them, and where there is no such text.
    pub fn excerpt(&self, group: &str, version: &str, kind: &str) -> Option<Vec<u8>> {
        let mut found = None;
        for crd in self.documents(group, kind) {
            found = shortened(&crd, group, version, kind).or(found);
        }
        let wanted = found?;
        let encoded = json::encode(&wanted, json::Options::default()).into_bytes();
        let is_same = json::decode(&encoded, &Limits::default()).is_ok_and(|decoded| decoded == wanted);
        if !is_same || encoded.len() > BYTES_MAX {
            return None;
        }
        let mut crds = Self::new();
        crds.add(encoded.clone());
        Read::default().group(&crds, group, kind).version(version, kind).is_some().then_some(encoded)
    }
}

fn shortened(crd: &Value, group: &str, version: &str, kind: &str) -> Option<Value> {
    let crd = crd.as_mapping().filter(|crd| text(crd, "kind") == "CustomResourceDefinition")?;
    let spec = map(crd, "spec").filter(|spec| text(spec, "group") == group)?;
    map(spec, "names").filter(|names| text(names, "kind") == kind)?;
    let is_wanted = |each: &Mapping| is_true(each, "served") && text(each, "name") == version;
    let (_, version) = items(spec, "versions").filter(|(_, each)| is_wanted(each)).last()?;
    let mut version = version.clone();
    version.retain(|key, _| !matches!(key.as_str(), "additionalPrinterColumns" | "selectableFields"));
    if let Some(Value::Mapping(schema)) = version.get_mut("schema")
        && let Some(schema) = schema.get_mut("openAPIV3Schema")
    {
        leave_out_prose(schema);
    }
    let word = |word: &str| Value::String(word.to_owned());
    let names = Mapping::from([("kind".to_owned(), word(kind))]);
    let mut short = Mapping::from([
        ("group".to_owned(), word(group)),
        ("names".to_owned(), Value::Mapping(names)),
        ("versions".to_owned(), Value::Sequence(vec![Value::Mapping(version)])),
    ]);
    short.extend(get(spec, "scope").map(|scope| ("scope".to_owned(), scope.clone())));
    let kind = word("CustomResourceDefinition");
    Some(Value::Mapping(Mapping::from([("kind".to_owned(), kind), ("spec".to_owned(), Value::Mapping(short))])))
}

/// Takes out the descriptions of a schema and of those in it, by which nothing is judged.
fn leave_out_prose(schema: &mut Value) {
    let Value::Mapping(schema) = schema else { return };
    if matches!(schema.get("description"), Some(Value::String(_))) {
        schema.remove("description");
    }
    if let Some(Value::Mapping(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(leave_out_prose);
    }
    for field in ["items", "additionalProperties", "not"] {
        schema.get_mut(field).into_iter().for_each(leave_out_prose);
    }
    for field in ["allOf", "anyOf", "oneOf"] {
        if let Some(Value::Sequence(schemas)) = schema.get_mut(field) {
            schemas.iter_mut().for_each(leave_out_prose);
        }
    }
}
