//! The generator `matrix`: every params set of one generator with every one of another.
//!
//! Reference: argo-cd `37ee0097` applicationset/generators/matrix.go.

use go_yaml::Value;

use super::super::fault::{Fault, Result};
use super::super::origin::Element;
use super::super::params::{self, Params};
use super::{Engine, Parent};

/// The product, in order: the second generator runs anew for each params set of the first, which its texts may name.
pub(super) fn params(engine: &mut Engine<'_>, generator: &Value) -> Result<Vec<Element>> {
    let children = generator.get("generators").and_then(Value::as_sequence).unwrap_or_default();
    let below = |fault: Fault, index: usize| fault.below(index).below("generators");
    let (one, two) = match children {
        [one, two] => (one, two),
        [] | [_] => return Err(Fault::new("found less than two generators, Matrix support only two")),
        [_, _, _, ..] => {
            return Err(below(Fault::new("found more than two generators, Matrix support only two"), 2));
        }
    };
    let mut firsts = engine.child(one, Parent::Matrix, None).map_err(|fault| {
        below(fault.within("error failed to get params for first generator in matrix generator"), 0)
    })?;
    for first in &mut firsts {
        first.origin.below(0);
        first.origin.below("generators");
    }
    let mut all = Vec::new();
    for first in &firsts {
        let seconds = engine.child(two, Parent::Matrix, Some(&first.params)).map_err(|fault| {
            below(fault.within("failed to get params for second generator in the matrix generator"), 1)
        })?;
        engine.language.charge_sets(seconds.len())?;
        for mut second in seconds {
            second.origin.below(1);
            second.origin.below("generators");
            let params = united(engine, &first.params, &second.params)?;
            all.push(Element { params, origin: first.origin.and(&second.origin) });
        }
    }
    Ok(all)
}

/// Maps of the first are merged over those of the second.
fn united(engine: &mut Engine<'_>, first: &Params, second: &Params) -> Result<Params> {
    let language = &mut engine.language;
    if !language.is_go {
        let words = "failed to combine string maps with merging params for the matrix generator";
        let hint = "give a `git` generator a `pathParamPrefix`, or the params different names";
        return params::combine(language, first, second).map_err(|fault| fault.within(words).hint(hint));
    }
    let united = Params::new();
    params::merge(language, &united, second, 0)?;
    params::merge(language, &united, first, 0)?;
    Ok(united)
}
