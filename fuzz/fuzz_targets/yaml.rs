//! Any bytes as YAML and JSON: nothing panics, limits hold, and what is written of a value is read as that value.
#![no_main]

use git_hydrate::yaml::{self, Dialect, Limits, Sequences, Value, json, sigs};
use libfuzzer_sys::fuzz_target;

const LIMITS: Limits = Limits { bytes: 1 << 16, depth: 64, nodes: 10_000 };

fn to_json(value: &Value) -> String {
    json::encode(value, json::Options::default())
}

/// go-yaml v3 writes a literal whose first line starts with a tab, and can't read it.
fn has_tab(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\t'),
        Value::Sequence(items) => items.iter().any(has_tab),
        Value::Mapping(mapping) => mapping.iter().any(|(key, value)| key.contains('\t') || has_tab(value)),
        _ => false,
    }
}

fuzz_target!(|bytes: &[u8]| {
    for dialect in [Dialect::V2, Dialect::V3] {
        for value in yaml::decode(bytes, dialect, &LIMITS).unwrap_or_default() {
            let mut written = vec![(Dialect::V2, yaml::emit_v2(&value))];
            if !has_tab(&value) {
                written.push((Dialect::V3, yaml::emit_v3(&value, Sequences::Indented)));
                written.push((Dialect::V3, yaml::emit_node(&yaml::from_value(&value), Sequences::Compact)));
            }
            for (dialect, text) in written {
                let limits = Limits { bytes: text.len(), ..LIMITS };
                let read = yaml::decode(text.as_bytes(), dialect, &limits).expect("our own text");
                assert_eq!(read.iter().map(to_json).collect::<Vec<_>>(), [to_json(&value)], "{text}");
            }
            let _ = sigs::marshal(&value);
        }
    }
    for node in yaml::parse(bytes, &LIMITS).unwrap_or_default() {
        let written = yaml::emit_node(&node, Sequences::Indented);
        let _ = yaml::parse(written.as_bytes(), &LIMITS);
        let _ = yaml::resolve_aliases(node, &LIMITS);
    }
    if let Ok(value) = json::decode(bytes, &LIMITS) {
        let text = to_json(&value);
        let limits = Limits { bytes: text.len(), ..LIMITS };
        assert_eq!(json::decode(text.as_bytes(), &limits).as_ref().map(to_json), Ok(text));
    }
});
