//! Params: what a generator knows of one Application, by name.

use go_template::{Entries, List, ListType, Map, MapType, Text, Value};
use go_yaml::{self as yaml, Mapping};

use super::fault::{Fault, Result};
use super::language::{Language, Missing};

/// One params set: `map[string]any`. Maps inside may be shared with other sets, as upstream shares them.
pub(super) type Params = Map;

/// What an entry of a map costs, and a map beside its entries.
const ENTRY_BYTES: usize = 64;
const MAP_BYTES: usize = 512;

/// The params that an object says.
pub(super) fn of_object(object: &Mapping) -> Params {
    object.iter().map(|(key, value)| (Text::from(key), Value::from_yaml(value))).collect()
}

/// How many bytes an object takes.
pub(super) fn size(value: &yaml::Value) -> usize {
    ENTRY_BYTES
        + match value {
            yaml::Value::String(text) => text.len(),
            yaml::Value::Sequence(items) => items.iter().map(size).sum(),
            yaml::Value::Mapping(entries) => {
                MAP_BYTES + entries.iter().map(|(key, value)| key.len() + size(value)).sum::<usize>()
            }
            _ => 0,
        }
}

/// A list of texts as Go has it, not one of anything.
pub(super) fn texts<'a>(items: impl Iterator<Item = &'a str>) -> Value {
    Value::List(List::strings(items.map(Text::from)))
}

/// A list of params sets: without any the nil slice that nothing was appended to, `null` in JSON.
pub(super) fn sets(items: Vec<Params>) -> Value {
    Value::List(match items.is_empty() {
        true => List::nil(&ListType::MAPS),
        false => List::of(&ListType::MAPS, items.into_iter().map(Value::Map).collect()),
    })
}

/// A map of texts as Go has it, not one of anything.
pub(super) fn texts_by_name<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let entries: Entries = entries.map(|(key, value)| (Text::from(key), Value::from(value))).collect();
    Value::Map(Map::of(&MapType::STRINGS, entries))
}

/// Adds the `values` of a generator, each rendered with the params as they are without them.
///
/// Reference: argo-cd `37ee0097` applicationset/generators/value_interpolation.go.
pub(super) fn append_values(language: &mut Language, params: &Params, values: Option<&yaml::Value>) -> Result<()> {
    let Some(values) = values.and_then(yaml::Value::as_mapping).filter(|values| !values.is_empty()) else {
        return Ok(());
    };
    let mut rendered = Vec::with_capacity(values.len());
    for (key, value) in values {
        let text = language.render(value.as_str().unwrap_or_default(), params, Missing::AsSet).map_err(|fault| {
            let fault = fault.within("failed to replace templated string with rendered values");
            fault.within("failed to replace templated string").below(key).below("values")
        })?;
        language.charge(ENTRY_BYTES + key.len())?;
        rendered.push((key.as_str(), text));
    }
    match language.is_go {
        true => {
            let values = texts_by_name(rendered.iter().map(|(key, text)| (*key, text.as_str())));
            params.set("values", values);
        }
        false => {
            for (key, text) in rendered {
                params.set(format!("values.{key}"), text);
            }
        }
    }
    Ok(())
}

/// What a flattened value is made of.
pub(super) type Flat = Vec<(String, Value)>;

/// Takes maps and lists apart; keys and indexes are joined by dots. Empty ones vanish.
///
/// Only what Go calls `map[string]any` and `[]any` is taken apart: a list of texts is one value.
///
/// Reference: jeremywohl/flatten 1.0.2 `Flatten` with `DotStyle`.
pub(super) fn flatten(language: &mut Language, params: &Params) -> Result<Flat> {
    let mut flat = Flat::new();
    for (key, value) in params.entries().iter() {
        flatten_into(language, &key.to_str(), value, &mut flat)?;
    }
    Ok(flat)
}

fn flatten_into(language: &mut Language, key: &str, value: &Value, flat: &mut Flat) -> Result<()> {
    match value {
        Value::Map(map) if map.ty().name == MapType::ANY.name => {
            for (below, value) in map.entries().iter() {
                flatten_into(language, &format!("{key}.{}", below.to_str()), value, flat)?;
            }
        }
        Value::List(list) if list.ty().name == ListType::ANY.name => {
            for (index, value) in list.iter().enumerate() {
                flatten_into(language, &format!("{key}.{index}"), value, flat)?;
            }
        }
        leaf => {
            language.charge(key.len() + ENTRY_BYTES)?;
            flat.push((key.to_owned(), leaf.clone()));
        }
    }
    Ok(())
}

/// Takes maps and lists apart as [`flatten`] does, maps of texts too: what selectors look at.
pub(super) fn labels(language: &mut Language, params: &Params) -> Result<Vec<(String, String)>> {
    let normal = with_plain_maps(params, 0);
    let flat = flatten(language, &normal)?;
    flat.into_iter().map(|(key, value)| Ok((key, language.print(&value)?))).collect()
}

/// How deep maps are looked into: deeper than any file that was read.
const DEPTH_MAX: u32 = 500;

/// Maps of texts become maps of anything, but not those in lists.
///
/// Reference: argo-cd `37ee0097` generators/generator_spec_processor.go `normalizeMapForFlatten`.
fn with_plain_maps(params: &Params, depth: u32) -> Params {
    let entries = params.entries();
    entries.iter().map(|(key, value)| (key.clone(), plain(value, depth))).collect()
}

fn plain(value: &Value, depth: u32) -> Value {
    match value {
        Value::Map(map) if depth < DEPTH_MAX => Value::Map(with_plain_maps(map, depth + 1)),
        value => value.clone(),
    }
}

/// Unites the params of two generators as texts; the same name with two texts is an error.
///
/// Reference: argo-cd `37ee0097` applicationset/utils/map.go `CombineStringMaps`.
pub(super) fn combine(language: &mut Language, first: &Params, second: &Params) -> Result<Params> {
    let combined = Params::new();
    for (key, value) in first.entries().iter() {
        language.charge(ENTRY_BYTES + key.len())?;
        let text = language.print(value)?;
        combined.set(key.clone(), text);
    }
    for (key, value) in second.entries().iter() {
        language.charge(ENTRY_BYTES + key.len())?;
        let text = language.print(value)?;
        if let Some(Value::String(current)) = combined.get(key)
            && *current != *text.as_bytes()
        {
            let (key, current) = (key.to_str(), current.to_str());
            return Err(Fault::new(format!("found duplicate key {key} with different value, a: {current} ,b: {text}")));
        }
        combined.set(key.clone(), text);
    }
    Ok(combined)
}

/// Merges `from` into `into`, in place; `from` wins. Maps are merged deep, and those that are taken over are shared.
///
/// Reference: dario.cat/mergo 1.0.2 `Merge` with `WithOverride` of two `map[string]any`.
pub(super) fn merge(language: &mut Language, into: &Params, from: &Params, depth: u32) -> Result<()> {
    if depth > DEPTH_MAX {
        return Err(Fault::new("params are nested too deep"));
    }
    let entries = from.entries();
    language.charge(entries.len() * ENTRY_BYTES)?;
    let takes_texts_only = into.ty().name == MapType::STRINGS.name && from.ty().name != MapType::STRINGS.name;
    for (key, theirs) in entries.iter() {
        if let (Some(Value::Map(ours)), Value::Map(theirs)) = (into.get(key), theirs) {
            merge(language, &ours, theirs, depth + 1)?;
            if !ours.is_empty() {
                continue;
            }
        }
        if takes_texts_only {
            // Upstream panics, and tells the panic.
            let text = "reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string";
            return Err(Fault::new(text)
                .hint("the `values` of a generator conflict with a param named `values`; rename one of them"));
        }
        into.set(key.clone(), theirs.clone());
    }
    Ok(())
}
