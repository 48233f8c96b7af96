//! The generator `merge`: params sets of one generator, overridden by those of others.
//!
//! Reference: argo-cd `37ee0097` applicationset/generators/merge.go.

use std::collections::{BTreeSet, HashMap};

use go_template::Map;
use go_yaml::{Value, json};

use super::super::fault::{Fault, Result};
use super::super::origin::Element;
use super::super::params::{self, Params};
use super::{Engine, Parent};

/// The params sets of the first child, each with what later children say for the same merge keys.
///
/// In the order of the first child, where upstream's order is random.
pub(super) fn params(engine: &mut Engine<'_>, generator: &Value) -> Result<Vec<Element>> {
    let children = generator.get("generators").and_then(Value::as_sequence).unwrap_or_default();
    if children.len() < 2 {
        return Err(Fault::new("found less than two generators, Merge requires two or more"));
    }
    let mut all = Vec::with_capacity(children.len());
    for (index, child) in children.iter().enumerate() {
        let mut elements =
            engine.child(child, Parent::Merge, None).map_err(|fault| of_child(fault, index, children.len()))?;
        for element in &mut elements {
            element.origin.below(index);
            element.origin.below("generators");
        }
        all.push(elements);
    }
    let keys: BTreeSet<&str> = generator
        .get("mergeKeys")
        .and_then(Value::as_sequence)
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut all = all.into_iter();
    let base = all.next().unwrap_or_default();
    let base_keys = keys_of(engine, &keys, &base)?;
    let by_key: HashMap<&str, &Element> = base_keys.iter().map(String::as_str).zip(&base).collect();
    for sets in all {
        for (key, set) in keys_of(engine, &keys, &sets)?.iter().zip(&sets) {
            let Some(base) = by_key.get(key.as_str()) else { continue };
            over(engine, &base.params, &set.params)?;
        }
    }
    Ok(base)
}

/// Without Go templates entries are replaced whole.
fn over(engine: &mut Engine<'_>, base: &Params, set: &Params) -> Result<()> {
    if engine.language.is_go {
        return params::merge(&mut engine.language, base, set, 0);
    }
    for (key, value) in set.entries().iter() {
        engine.language.charge(key.len())?;
        base.set(key.clone(), value.clone());
    }
    Ok(())
}

/// In upstream's words, which count the children.
fn of_child(fault: Fault, index: usize, count: usize) -> Fault {
    let words = format!("error getting params from generator {} of {count}", index + 1);
    let fault = fault.within(words).within("error getting param sets from generators");
    fault.below(index).below("generators")
}

/// What tells each params set from the others: the JSON of its merge keys.
fn keys_of(engine: &mut Engine<'_>, keys: &BTreeSet<&str>, sets: &[Element]) -> Result<Vec<String>> {
    let fault = |text: String| Fault::new(text).within("error getting param sets by merge key").below("mergeKeys");
    if keys.is_empty() {
        return Err(fault("no merge keys were specified, Merge requires at least one".to_owned()));
    }
    let mut seen = BTreeSet::new();
    let mut all = Vec::with_capacity(sets.len());
    for set in sets {
        let key: Map =
            keys.iter().map(|key| ((*key).into(), set.params.get(key.as_bytes()).unwrap_or_default())).collect();
        let key = go_template::Value::Map(key).to_yaml();
        let key = key.map_err(|failure| fault(format!("error marshalling param set key json: {failure}")))?;
        let key = json::encode(&key, json::Options { escape_html: true, indent: None });
        engine.language.charge(key.len())?;
        if !seen.insert(key.clone()) {
            return Err(fault(format!(
                "the parameters from a generator were not unique by the given mergeKeys, Merge requires all param sets to be unique. Duplicate key was {key}"
            )));
        }
        all.push(key);
    }
    Ok(all)
}
