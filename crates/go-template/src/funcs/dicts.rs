//! Maps: made, read, changed in place, merged, copied.

use std::rc::Rc;

use super::super::call::Call;
use super::super::error::{Failure, Limit};
use super::super::function::{Functions, Rest};
use super::super::limits::VALUE_DEPTH_MAX;
use super::super::list::{List, ListType};
use super::super::map::{Entries, Map, MapType};
use super::super::structure::Struct;
use super::super::text::Text;
use super::super::value::{Element, Value};
use super::common::{is_empty, text_of};

pub(super) fn add(table: &mut Functions) {
    table
        .add("dict", dict)
        .add("get", |map: Map, key: Text| map.get(&key).unwrap_or_else(|| Value::from("")))
        .add("set", set)
        .add("unset", |map: Map, key: Text| {
            map.unset(&key);
            map
        })
        .add("hasKey", |map: Map, key: Text| map.has(&key))
        .add("pluck", |key: Text, maps: Rest<Map>| maps.0.iter().filter_map(|map| map.get(&key)).collect::<List>())
        .add("keys", keys)
        .add("values", |call: &mut Call<'_>, map: Map| {
            charge_items(call, std::slice::from_ref(&map))?;
            Ok::<_, Failure>(map.entries().values().cloned().collect::<List>())
        })
        .add("pick", |call: &mut Call<'_>, map: Map, keys: Rest<Text>| {
            let picked = keys.0.into_iter().filter_map(|key| map.get(&key).map(|value| (key, value)));
            charged(call, picked.collect())
        })
        .add("omit", omit)
        .add("dig", dig);
    for name in ["deepCopy", "mustDeepCopy"] {
        table.add(name, deep_copy);
    }
    for name in ["merge", "mustMerge"] {
        table.add(name, |call: &mut Call<'_>, into: Map, from: Rest<Map>| merge_all(call, into, from, false));
    }
    for name in ["mergeOverwrite", "mustMergeOverwrite"] {
        table.add(name, |call: &mut Call<'_>, into: Map, from: Rest<Map>| merge_all(call, into, from, true));
    }
}

/// What an entry of a new map takes of the budget.
const ENTRY_BYTES: usize = 64;

/// What a copy of a map takes of the budget beside its entries. It takes about twice as much memory.
const MAP_BYTES: usize = 256;

/// Takes what a list of all keys or values costs, before it is made.
fn charge_items(call: &mut Call<'_>, maps: &[Map]) -> Result<(), Failure> {
    let count = maps.iter().map(Map::len).fold(0, usize::saturating_add);
    call.charge(count / 4)?;
    call.reserve(count.saturating_mul(ENTRY_BYTES))
}

fn charged(call: &mut Call<'_>, map: Map) -> Result<Map, Failure> {
    call.charge_bytes(map.len() * ENTRY_BYTES)?;
    Ok(map)
}

/// Of all maps, with repetitions.
fn keys(call: &mut Call<'_>, maps: Rest<Map>) -> Result<List, Failure> {
    charge_items(call, &maps.0)?;
    let keys = |map: &Map| map.entries().keys().cloned().map(Value::from).collect::<Vec<_>>();
    Ok(List::appended(&ListType::STRINGS, maps.0.iter().flat_map(keys).collect()))
}

fn omit(call: &mut Call<'_>, map: Map, keys: Rest<Text>) -> Result<Map, Failure> {
    call.charge_bytes(map.len().saturating_mul(ENTRY_BYTES))?;
    let mut entries = (*map.entries()).clone();
    for key in &keys.0 {
        entries.remove(key);
    }
    charged(call, entries.into_iter().collect())
}

/// Keys are what their values print; a last key without a value gets "".
fn dict(call: &mut Call<'_>, args: Rest<Value>) -> Result<Map, Failure> {
    let mut entries = Entries::new();
    let mut args = args.0.into_iter();
    while let Some(key) = args.next() {
        entries.insert(text_of(call, &key)?, args.next().unwrap_or_else(|| Value::from("")));
    }
    charged(call, Map::of(&MapType::ANY, entries))
}

fn set(call: &mut Call<'_>, map: Map, key: Text, value: Value) -> Result<Map, Failure> {
    call.charge_bytes(ENTRY_BYTES + key.len())?;
    if !map.set(key, value) {
        return Err(Failure::message("assignment to entry in nil map"));
    }
    Ok(map)
}

fn dig(args: Rest<Value>) -> Result<Value, Failure> {
    let [keys @ .., default, map] = args.0.as_slice() else {
        return Err(Failure::message("dig needs at least three arguments"));
    };
    if keys.is_empty() {
        return Err(Failure::message("dig needs at least three arguments"));
    }
    let mut value = map.clone();
    to_map(&value)?;
    let names: Vec<&Text> =
        keys.iter().map(|key| key.as_text().ok_or_else(|| not_converted(key, "string"))).collect::<Result<_, _>>()?;
    for name in names {
        match to_map(&value)?.get(name) {
            Some(found) => value = found,
            None => return Ok(default.clone()),
        }
    }
    Ok(value)
}

/// Go's conversion of an interface to a map.
fn to_map(value: &Value) -> Result<Map, Failure> {
    match value {
        Value::Map(map) if map.ty().name == MapType::ANY.name => Ok(map.clone()),
        other => Err(not_converted(other, MapType::ANY.name)),
    }
}

fn not_converted(value: &Value, wanted: &str) -> Failure {
    let found = if matches!(value, Value::Nil) { "nil" } else { value.type_name() };
    Failure::message(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}

/// A copy that shares nothing, of the same types. Of a struct it has the exported fields only: a copied version is 0.0.0.
///
/// Reference: mitchellh/copystructure 1.2.0, which cannot set the others.
fn deep_copy(call: &mut Call<'_>, value: Value) -> Result<Value, Failure> {
    match value {
        Value::Nil => Err(Failure::message("reflect: call of reflect.Value.Type on zero Value")),
        value => copy_at(call, &value, 0),
    }
}

fn copy_at(call: &mut Call<'_>, value: &Value, depth: u32) -> Result<Value, Failure> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
    }
    Ok(match value {
        Value::List(list) if list.is_nil() => value.clone(),
        Value::List(list) => {
            call.charge_bytes((list.len() + 1) * ENTRY_BYTES)?;
            let items = list.iter().map(|item| copy_at(call, item, depth + 1)).collect::<Result<_, _>>()?;
            Value::List(List::with_capacity(list.ty(), items, list.capacity()))
        }
        Value::Map(map) if map.is_nil() => value.clone(),
        Value::Map(map) => {
            call.charge_bytes(MAP_BYTES + map.len() * ENTRY_BYTES)?;
            let mut entries = Entries::new();
            for (key, item) in map.entries().iter() {
                entries.insert(key.clone(), copy_at(call, item, depth + 1)?);
            }
            Value::Map(Map::of(map.ty(), entries))
        }
        Value::Nil
        | Value::Bool(_)
        | Value::Int(..)
        | Value::Uint(..)
        | Value::Float(_)
        | Value::String(_)
        | Value::Bytes(_)
        | Value::Time(_) => value.clone(),
        Value::Struct(fields) => {
            let mut copies = Vec::new();
            for (field, value) in fields.fields() {
                copies.push(if field.is_exported() { copy_at(call, &value, depth + 1)? } else { value.zero() });
            }
            Value::Struct(Rc::new(Struct::new(fields.ty(), copies)))
        }
    })
}

fn merge_all(call: &mut Call<'_>, into: Map, from: Rest<Map>, is_overwriting: bool) -> Result<Map, Failure> {
    let into = if into.is_nil() && from.0.iter().any(|map| !map.is_nil()) { Map::new() } else { into };
    for from in &from.0 {
        merge(call, &into, from, is_overwriting, 0)?;
    }
    Ok(into)
}

/// Merges `from` into `into`, in place. Nested maps that are taken over stay the source's own maps.
///
/// Reference: mergo 1.0.1, `deepMerge` for maps, with and without `Overwrite`.
fn merge(call: &mut Call<'_>, into: &Map, from: &Map, is_overwriting: bool, depth: u32) -> Result<(), Failure> {
    if depth > VALUE_DEPTH_MAX {
        return Err(Limit::ValueDepth(VALUE_DEPTH_MAX).into());
    }
    let entries: Rc<Entries> = from.entries();
    call.charge_bytes(entries.len() * ENTRY_BYTES)?;
    for (key, theirs) in entries.iter() {
        let ours = into.get(key);
        if matches!(theirs, Value::Nil) {
            if is_overwriting {
                into.set(key.clone(), Value::Nil);
            }
            continue;
        }
        if let (Some(Value::Map(ours)), Value::Map(theirs)) = (&ours, theirs) {
            merge(call, ours, theirs, is_overwriting, depth + 1)?;
            // A map that was empty until now has become one of its own.
            if !ours.is_empty() {
                continue;
            }
        }
        if is_overwriting || ours.as_ref().is_none_or(is_empty) {
            let (wanted, found) = (into.ty().element, from.ty().element);
            if wanted != Element::Any && wanted != found {
                let message = "reflect.Value.SetMapIndex: value of type interface {} is not assignable to type string";
                return Err(Failure::message(message));
            }
            into.set(key.clone(), theirs.clone());
        }
    }
    Ok(())
}
