//! The generator `list`.
//!
//! Reference: argo-cd `37ee0097` applicationset/generators/list.go.

use go_std::json::UnmarshalTypeError;
use go_yaml::{self as yaml, Limits, Mapping, Value};

use super::super::fault::{Fault, Result};
use super::super::language::Language;
use super::super::origin::Element;
use super::super::params::{self, Params};

/// The params of `elements`, then those of `elementsYaml`.
pub(super) fn params(language: &mut Language, generator: &Value) -> Result<Vec<Element>> {
    let mut all = Vec::new();
    let elements = generator.get("elements").and_then(Value::as_sequence).unwrap_or_default();
    for (index, element) in elements.iter().enumerate() {
        language.charge(params::size(element))?;
        let params = of_element(language, element).map_err(|fault| fault.below(index).below("elements"))?;
        all.push(Element::entry(params, &[&index, &"elements"]));
    }
    if let Some(text) = generator.get("elementsYaml").and_then(Value::as_str).filter(|text| !text.is_empty()) {
        let objects =
            objects(language, text.as_bytes()).map_err(|fault| fault.below("elementsYaml"))?.map_err(|text| {
                Fault::new(format!("error unmarshling decoded ElementsYaml {text}")).below("elementsYaml")
            })?;
        all.extend(objects.iter().map(|object| Element::entry(params::of_object(object), &[&"elementsYaml"])));
    }
    Ok(all)
}

fn of_element(language: &mut Language, element: &Value) -> Result<Params> {
    let object = match element {
        Value::Mapping(object) => object,
        // A null is not even kept as JSON.
        Value::Null => return Err(Fault::new("error unmarshling list element unexpected end of JSON input")),
        other => {
            let wrong = UnmarshalTypeError::of_value(other.json_kind(), "map[string]interface {}");
            return Err(Fault::new(format!("error unmarshling list element {wrong}")));
        }
    };
    match language.is_go {
        true => Ok(params::of_object(object)),
        false => flat(object),
    }
}

/// Without Go templates all values are texts, but for those of `values`.
fn flat(object: &Mapping) -> Result<Params> {
    let params = Params::new();
    for (key, value) in object {
        match (key.as_str(), value) {
            ("values", Value::Mapping(values)) => {
                for (name, value) in values {
                    let text = text_of(value).map_err(|fault| fault.below(name).below(key))?;
                    params.set(format!("values.{name}"), text);
                }
            }
            ("values", _) => return Err(Fault::new("error parsing values map").below(key)),
            _ => {
                let text = text_of(value).map_err(|fault| fault.below(key))?;
                params.set(key.clone(), text);
            }
        }
    }
    Ok(params)
}

fn text_of(value: &Value) -> Result<&str> {
    value.as_str().ok_or_else(not_a_string)
}

fn not_a_string() -> Fault {
    // Upstream prints an error that there is not.
    Fault::new("error parsing value as string %!w(<nil>)")
        .hint("quote the value, or set `goTemplate: true`: without it, params of a list must be strings")
}

/// The objects of a YAML list, as Go reads it into `[]map[string]any`; an item that is null is an empty one.
///
/// The inner error is Go's text.
pub(super) fn objects(language: &mut Language, text: &[u8]) -> Result<std::result::Result<Vec<Mapping>, String>> {
    Ok(read(language, text)?.and_then(objects_of))
}

/// The objects of a list that was read.
pub(super) fn objects_of(value: Value) -> std::result::Result<Vec<Mapping>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Sequence(items) => items.into_iter().map(object_of).collect(),
        other => Err(not_decoded(&other, "[]map[string]interface {}")),
    }
}

fn object_of(item: Value) -> std::result::Result<Mapping, String> {
    match item {
        Value::Mapping(object) => Ok(object),
        Value::Null => Ok(Mapping::new()),
        other => Err(not_decoded(&other, "map[string]interface {}")),
    }
}

fn not_decoded(value: &Value, go_type: &str) -> String {
    let wrong = UnmarshalTypeError::of_value(value.json_kind(), go_type);
    format!("error unmarshaling JSON: while decoding JSON: {wrong}")
}

/// The first document of a text; the inner error is Go's text. Nothing is read beyond what the set may still make.
pub(super) fn read(language: &mut Language, text: &[u8]) -> Result<std::result::Result<Value, String>> {
    language.charge(text.len())?;
    let limits = Limits::default();
    let limits = Limits { nodes: limits.nodes.min(language.bytes_left() / NODE_BYTES), ..limits };
    let value = match yaml::sigs::unmarshal(text, &limits) {
        Ok(value) => value,
        Err(error) => return Ok(Err(error.to_string())),
    };
    language.charge(params::size(&value))?;
    Ok(Ok(value))
}

/// What a value of a document takes at least.
const NODE_BYTES: usize = 64;
