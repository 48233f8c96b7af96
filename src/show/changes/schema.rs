//! The schema of a custom resource, described by version and field instead of as it is written.

use go_yaml::{Mapping, Value};

use crate::diff::{FieldPath, Step};

/// `v1: spec.ports[].name` for a path below the schema of version `v1`; none for any other path.
///
/// A part of the schema that is no field (`enum`, `required`) follows after a blank.
pub(super) fn place(path: &[Step]) -> Option<String> {
    let (version, schema) = in_schema(path)?;
    let mut place = String::new();
    let mut rest = schema;
    loop {
        rest = match rest {
            [Step::Key(properties), Step::Key(field), rest @ ..] if properties == "properties" => {
                if !place.is_empty() {
                    place.push('.');
                }
                place += field;
                rest
            }
            [Step::Key(items), rest @ ..] if items == "items" => {
                place += "[]";
                rest
            }
            [Step::Key(values), rest @ ..] if values == "additionalProperties" => {
                place += "[*]";
                rest
            }
            [Step::Key(properties)] if properties == "properties" => &[],
            rest => {
                let rest: FieldPath = rest.iter().cloned().collect();
                return Some(format!("{version}: {place} {rest}").trim_end().replace("  ", " "));
            }
        };
    }
}

/// What a field or version that comes or goes is, in a line; none for a path that is neither.
pub(super) fn summary(path: &[Step], value: &Value) -> Option<String> {
    if let [Step::Key(spec), Step::Key(versions), Step::Item(_) | Step::Index(_)] = path {
        return (spec == "spec" && versions == "versions").then(|| version(value));
    }
    let (_, schema) = in_schema(path)?;
    let [.., Step::Key(properties), Step::Key(field)] = schema else { return None };
    (properties == "properties").then(|| format!("{field}: {}", field_type(value)))
}

/// A definition with each of its schemas counted instead of written out.
pub(super) fn brief(definition: &Value) -> Value {
    let mut brief = definition.clone();
    let Value::Mapping(object) = &mut brief else { return brief };
    let Some(Value::Mapping(spec)) = object.get_mut("spec") else { return brief };
    let Some(Value::Sequence(versions)) = spec.get_mut("versions") else { return brief };
    for version in versions {
        let Value::Mapping(version) = version else { continue };
        if let Some(schema) = version.get_mut("schema") {
            *schema = Value::from(counted(schema.at(&["openAPIV3Schema"])));
        }
    }
    brief
}

/// The version and the steps below its schema.
fn in_schema(path: &[Step]) -> Option<(&str, &[Step])> {
    let [Step::Key(spec), Step::Key(versions), Step::Item(name), Step::Key(schema), Step::Key(root), rest @ ..] = path
    else {
        return None;
    };
    let [(_, version)] = &name[..] else { return None };
    let is_schema = [spec, versions, schema, root].map(String::as_str);
    (is_schema == ["spec", "versions", "schema", "openAPIV3Schema"]).then_some((version.as_str(), rest))
}

/// `v2: served, stored, 210 fields`
fn version(version: &Value) -> String {
    let is = |key: &str| version.get(key).and_then(Value::as_bool) == Some(true);
    let mut parts = Vec::new();
    parts.extend(is("served").then(|| "served".to_owned()));
    parts.extend(is("storage").then(|| "stored".to_owned()));
    parts.push(counted(version.at(&["schema", "openAPIV3Schema"])));
    format!("{}: {}", version.get("name").and_then(Value::as_str).unwrap_or_default(), parts.join(", "))
}

/// `object with 12 fields`
fn field_type(schema: &Value) -> String {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any value");
    match fields(schema) {
        0 => kind.to_owned(),
        count => format!("{kind} with {}", number(count)),
    }
}

fn counted(schema: Option<&Value>) -> String {
    number(schema.map_or(0, fields))
}

fn number(count: usize) -> String {
    if count == 1 { "1 field".to_owned() } else { format!("{count} fields") }
}

/// How many fields a schema describes, at all depths.
fn fields(schema: &Value) -> usize {
    let properties = schema.get("properties").and_then(Value::as_mapping);
    let here =
        properties.map_or(0, |properties: &Mapping| properties.len() + properties.values().map(fields).sum::<usize>());
    let below = ["items", "additionalProperties"].into_iter().filter_map(|key| schema.get(key));
    here + below.map(fields).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(text: &str) -> Vec<Step> {
        let step = |part: &str| match part.strip_prefix('=') {
            Some(name) => Step::Item(vec![("name".to_owned(), name.to_owned())]),
            None => Step::Key(part.to_owned()),
        };
        text.split('/').filter(|part| !part.is_empty()).map(step).collect()
    }

    #[test]
    fn places_in_a_schema() {
        let rows = [
            ("properties/spec/properties/size", Some("v1: spec.size")),
            ("properties/spec/properties", Some("v1: spec")),
            ("properties/spec/properties/ports/items/properties/name", Some("v1: spec.ports[].name")),
            ("properties/spec/properties/env/additionalProperties", Some("v1: spec.env[*]")),
            ("properties/spec/properties/size/enum", Some("v1: spec.size enum")),
            ("required", Some("v1: required")),
            ("", Some("v1:")),
        ];
        for (path, expected) in rows {
            let path = steps(&format!("spec/versions/=v1/schema/openAPIV3Schema/{path}"));
            assert_eq!(place(&path).as_deref(), expected, "{path:?}");
        }
        assert_eq!(place(&steps("spec/versions/=v1/served")), None);
        assert_eq!(place(&steps("spec/names")), None);
    }

    #[test]
    fn fields_and_versions_in_a_line() {
        let value = |text: &str| go_yaml::json::decode(text.as_bytes(), &go_yaml::Limits::default()).expect("JSON");
        let schema = r#"{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"array","items":{"properties":{"c":{}}}}}}"#;
        let field = steps("spec/versions/=v1/schema/openAPIV3Schema/properties/spec");
        assert_eq!(summary(&field, &value(schema)).as_deref(), Some("spec: object with 3 fields"));
        assert_eq!(summary(&field, &value(r#"{"type":"string"}"#)).as_deref(), Some("spec: string"));
        let version =
            format!(r#"{{"name":"v2","served":true,"storage":true,"schema":{{"openAPIV3Schema":{schema}}}}}"#);
        let of_version = summary(&steps("spec/versions/=v2"), &value(&version));
        assert_eq!(of_version.as_deref(), Some("v2: served, stored, 3 fields"));
        assert_eq!(summary(&steps("spec/names"), &value("{}")), None);
    }
}
