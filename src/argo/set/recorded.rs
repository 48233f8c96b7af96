//! Params of generators that git cannot answer, as they were recorded.

use std::collections::BTreeMap;

use go_yaml::{self as yaml, Mapping, Value};

/// The params sets of generators, by the name of the generator.
pub(crate) type Recorded = BTreeMap<String, Vec<Mapping>>;

/// The generators that can be recorded.
const RECORDABLE: [&str; 4] = ["scmProvider", "pullRequest", "plugin", "clusterDecisionResource"];

/// Reads a mapping of generators (`scmProvider`, `pullRequest`, `plugin`, `clusterDecisionResource`) to lists of params.
///
/// Errors: what is wrong with the text, in words.
pub fn read_recorded(bytes: &[u8]) -> Result<Recorded, String> {
    let value = yaml::sigs::unmarshal(bytes, &yaml::Limits::default()).map_err(|error| error.to_string())?;
    let Value::Mapping(generators) = value else {
        return Err(
            "expected a mapping of generators to lists of params, such as `pullRequest: [{number: \"7\"}]`".to_owned()
        );
    };
    let mut all = Recorded::new();
    for (name, sets) in generators {
        if !RECORDABLE.contains(&name.as_str()) {
            return Err(format!("`{name}` is not one of {}", RECORDABLE.map(|name| format!("`{name}`")).join(", ")));
        }
        let Value::Sequence(sets) = sets else { return Err(format!("`{name}` is not a list")) };
        let mut params = Vec::with_capacity(sets.len());
        for set in sets {
            let Value::Mapping(set) = set else { return Err(format!("an item of `{name}` is not a mapping")) };
            params.push(set);
        }
        all.insert(name, params);
    }
    Ok(all)
}
