//! YAML, JSON and TOML. The plain functions swallow errors as Helm's do, but never a limit.

use go_std::json::UnmarshalTypeError;
use go_yaml as yaml;
use go_yaml::json::{self, Options};

use super::super::call::Call;
use super::super::convert::count;
use super::super::error::{Cause, Failure};
use super::super::function::Functions;
use super::super::list::{List, ListType};
use super::super::map::{Map, MapType};
use super::super::text::Text;
use super::super::value::Value;
use super::common::charge_printed;
use super::pretty::to_yaml_pretty;
use super::toml::{self, TomlVersion};
use crate::json::{WrongBytes, encode};

pub(super) fn add(table: &mut Functions) {
    table
        .add("toYaml", |call: &mut Call<'_>, value: Value| or_empty(to_yaml(call, &value)))
        .add("mustToYaml", |call: &mut Call<'_>, value: Value| to_yaml(call, &value))
        .add("toYamlPretty", |call: &mut Call<'_>, value: Value| to_yaml_pretty(call, &value).map(without_last_break))
        .add("fromYaml", |call: &mut Call<'_>, text: Text| {
            from_yaml(call, &text).map(|result| or_error_map(result, IN_YAML))
        })
        .add("fromYamlArray", |call: &mut Call<'_>, text: Text| {
            from_yaml(call, &text).map(|result| or_error_list(result, IN_YAML))
        })
        .add("fromJson", from_json_map)
        .add("fromJsonArray", from_json_array)
        .add("mustFromJson", |call: &mut Call<'_>, text: Text| from_json(call, &text)?.map_err(Failure::message));
    add_json(table, WrongBytes::Escaped);
    add_toml(table, TomlVersion::V1_6);
}

/// The functions that write JSON, by what they make of bytes that are no UTF-8.
pub(super) fn add_json(table: &mut Functions, wrong: WrongBytes) {
    table
        .add("toJson", move |call: &mut Call<'_>, value: Value| or_empty(to_json(call, &value, PLAIN, wrong)))
        .add("mustToJson", move |call: &mut Call<'_>, value: Value| to_json(call, &value, PLAIN, wrong))
        .add("toPrettyJson", move |call: &mut Call<'_>, value: Value| or_empty(to_json(call, &value, PRETTY, wrong)))
        .add("mustToPrettyJson", move |call: &mut Call<'_>, value: Value| to_json(call, &value, PRETTY, wrong))
        .add("toRawJson", move |call: &mut Call<'_>, value: Value| to_json(call, &value, RAW, wrong))
        .add("mustToRawJson", move |call: &mut Call<'_>, value: Value| to_json(call, &value, RAW, wrong));
}

/// The functions for TOML, by a version of the library.
pub(super) fn add_toml(table: &mut Functions, version: TomlVersion) {
    table
        .add("toToml", move |call: &mut Call<'_>, value: Value| to_toml_or_message(call, &value, version))
        .add("mustToToml", move |call: &mut Call<'_>, value: Value| to_toml(call, &value, version).map(Text::from))
        .add("fromToml", move |call: &mut Call<'_>, text: Text| {
            call.charge_bytes(text.len() * NODE_BYTES)?;
            Ok::<_, Failure>(toml::decode(&text, version).unwrap_or_else(error_map))
        });
}

const PLAIN: Options<'_> = Options { escape_html: true, indent: None };
const PRETTY: Options<'_> = Options { escape_html: true, indent: Some("  ") };
const RAW: Options<'_> = Options { escape_html: false, indent: None };

/// What takes a text swallows its errors; a limit still ends the render.
fn or_empty(result: Result<String, Failure>) -> Result<String, Failure> {
    match result {
        Err(failure) if matches!(failure.cause(), Cause::Function(_)) => Ok(String::new()),
        other => other,
    }
}

/// What `json.Marshal` sees, within the budget.
fn encodable(call: &mut Call<'_>, value: &Value) -> Result<yaml::Value, Failure> {
    let (value, bytes) = value.to_yaml_within(call.bytes_left())?;
    call.charge_bytes(bytes)?;
    charge_printed(call, bytes)?;
    // An escape may take six bytes for one, but nearly all of it is no escapes.
    call.reserve(bytes.saturating_mul(2))?;
    Ok(value)
}

/// What a value inside another takes of the budget when it is read.
const NODE_BYTES: usize = 16;

/// How much memory such a value takes for a while.
const NODE_MEMORY: usize = 200;

pub(super) fn to_yaml(call: &mut Call<'_>, value: &Value) -> Result<String, Failure> {
    marshal_yaml(call, value).map(without_last_break)
}

/// `sigs.k8s.io/yaml`'s `Marshal`: with the last line break. Takes what it makes from the budget.
///
/// Fails with Go's text ([`Cause::Function`]) for what JSON lacks, and when the budget is used up.
pub fn marshal_yaml(call: &mut Call<'_>, value: &Value) -> Result<String, Failure> {
    let value = encodable(call, value).map_err(in_json)?;
    yaml::sigs::marshal(&value).map_err(|error| Failure::message(error.to_string()))
}

/// A limit stays as it is.
fn in_json(failure: Failure) -> Failure {
    match failure.cause() {
        Cause::Function(_) => failure.within("error marshaling into JSON: "),
        _ => failure,
    }
}

fn without_last_break(mut text: String) -> String {
    if text.ends_with('\n') {
        text.pop();
    }
    text
}

fn to_json(
    call: &mut Call<'_>,
    value: &Value,
    options: Options<'_>,
    wrong_bytes: WrongBytes,
) -> Result<String, Failure> {
    let text = encode(value, options, wrong_bytes, call.bytes_left())?;
    charge_printed(call, text.len())?;
    Ok(text)
}

/// Helm's `toTOML`, which returns the message of an error; for nil it fails.
fn to_toml_or_message(call: &mut Call<'_>, value: &Value, version: TomlVersion) -> Result<Text, Failure> {
    match to_toml(call, value, version) {
        Ok(text) => Ok(Text::from(text)),
        Err(failure) => match failure.cause() {
            Cause::Function(message) if !matches!(value, Value::Nil) => Ok(Text::from(message)),
            _ => Err(failure),
        },
    }
}

fn to_toml(call: &mut Call<'_>, value: &Value, version: TomlVersion) -> Result<Vec<u8>, Failure> {
    let text = toml::encode(call, value, version)?;
    charge_printed(call, text.len())?;
    Ok(text)
}

pub(super) fn from_yaml(call: &mut Call<'_>, text: &[u8]) -> Result<Result<Value, String>, Failure> {
    let limits = limits(call, text)?;
    decoded(call, yaml::sigs::unmarshal(text, &limits))
}

pub(super) fn from_json(call: &mut Call<'_>, text: &[u8]) -> Result<Result<Value, String>, Failure> {
    let limits = limits(call, text)?;
    decoded(call, json::decode(text, &limits))
}

/// Helm's `fromJSON`: null stays nil, which `fromYAML` makes an empty map; a number that no float can have is null beside
/// the error for it.
fn from_json_map(call: &mut Call<'_>, text: Text) -> Result<Map, Failure> {
    Ok(match from_json_all(call, &text)? {
        (Ok(Value::Nil), None) => Map::nil(&MapType::ANY),
        (Ok(Value::Nil), Some(_)) => error_map(not_decoded(&Value::Float(0.0), "map[string]interface {}")),
        (Ok(Value::Map(map)), Some(error)) => {
            map.set("Error", error);
            map
        }
        (result, _) => or_error_map(result, ""),
    })
}

/// Helm's `fromJSONArray`; see [`from_json_map`] for null.
fn from_json_array(call: &mut Call<'_>, text: Text) -> Result<List, Failure> {
    Ok(match from_json_all(call, &text)? {
        (Ok(Value::Nil), None) => List::nil(&ListType::ANY),
        (Ok(Value::Nil), Some(_)) => error_list(not_decoded(&Value::Float(0.0), "[]interface {}")),
        (Ok(Value::List(_)), Some(error)) => error_list(error),
        (result, _) => or_error_list(result, ""),
    })
}

/// A value with the error for a number in it that no float can have, which is null.
fn from_json_all(call: &mut Call<'_>, text: &[u8]) -> Result<(Result<Value, String>, Option<String>), Failure> {
    let limits = limits(call, text)?;
    let (value, out_of_range) = match json::decode_all(text, &limits) {
        Ok(found) => (Ok(found.value), found.out_of_range),
        Err(error) => (Err(error), None),
    };
    Ok((decoded(call, value)?, out_of_range.map(|error| error.to_string())))
}

/// What may be read, which the budget also bounds: aliases can make much of a small text.
fn limits(call: &mut Call<'_>, text: &[u8]) -> Result<yaml::Limits, Failure> {
    call.charge_bytes(text.len())?;
    let limits = yaml::Limits::default();
    Ok(yaml::Limits { nodes: limits.nodes.min(call.bytes_left() / NODE_MEMORY), ..limits })
}

fn decoded(call: &mut Call<'_>, result: Result<yaml::Value, yaml::Error>) -> Result<Result<Value, String>, Failure> {
    let value = match result {
        Ok(value) => value,
        Err(error) => return Ok(Err(error.to_string())),
    };
    call.charge_bytes(count(&value) * NODE_BYTES)?;
    Ok(Ok(Value::from_yaml(&value)))
}

/// What precedes a message about the sort of a value in YAML.
pub(super) const IN_YAML: &str = "error unmarshaling JSON: while decoding JSON: ";

fn error_map(message: String) -> Map {
    let map = Map::new();
    map.set("Error", message);
    map
}

fn or_error_map(result: Result<Value, String>, prefix: &str) -> Map {
    match result {
        Ok(Value::Map(map)) => map,
        Ok(Value::Nil) => Map::new(),
        Ok(other) => error_map(prefix.to_owned() + &not_decoded(&other, "map[string]interface {}")),
        Err(message) => error_map(message),
    }
}

fn or_error_list(result: Result<Value, String>, prefix: &str) -> List {
    match result {
        Ok(Value::List(list)) => list,
        Ok(Value::Nil) => List::new(Vec::new()),
        Ok(other) => error_list(prefix.to_owned() + &not_decoded(&other, "[]interface {}")),
        Err(message) => error_list(message),
    }
}

fn error_list(message: String) -> List {
    List::new(vec![message.into()])
}

/// What `encoding/json` says of a value that is of another sort than wanted.
pub(super) fn not_decoded(value: &Value, wanted: &str) -> String {
    let found = match value {
        Value::Bool(_) => "bool",
        Value::Float(_) | Value::Int(..) | Value::Uint(..) => "number",
        Value::String(_) | Value::Bytes(_) | Value::Time(_) => "string",
        Value::List(_) => "array",
        Value::Nil | Value::Map(_) | Value::Struct(_) => "object",
    };
    UnmarshalTypeError::of_value(found, wanted).to_string()
}
