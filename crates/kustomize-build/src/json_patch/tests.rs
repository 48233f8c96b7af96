use super::*;

/// Name, document, patch, expected document or a part of the error.
type Row = (&'static str, &'static str, &'static str, std::result::Result<&'static str, &'static str>);

/// Behaviour of evanphx/json-patch 4.13.0.
const ROWS: &[Row] = &[
    ("add", r#"{"a":1}"#, r#"[{"op":"add","path":"/b","value":[1]}]"#, Ok(r#"{"a":1,"b":[1]}"#)),
    ("add without value", r#"{}"#, r#"[{"op":"add","path":"/b"}]"#, Ok(r#"{"b":null}"#)),
    ("add at the end", r#"{"a":[1]}"#, r#"[{"op":"add","path":"/a/-","value":2}]"#, Ok(r#"{"a":[1,2]}"#)),
    ("add before", r#"{"a":[1]}"#, r#"[{"op":"add","path":"/a/0","value":2}]"#, Ok(r#"{"a":[2,1]}"#)),
    ("add from the end", r#"{"a":[1,2]}"#, r#"[{"op":"add","path":"/a/-1","value":3}]"#, Ok(r#"{"a":[1,2,3]}"#)),
    ("add too far", r#"{"a":[1]}"#, r#"[{"op":"add","path":"/a/2","value":2}]"#, Err("invalid index: 2")),
    ("add below nothing", r#"{}"#, r#"[{"op":"add","path":"/a/b","value":2}]"#, Err("missing path: \"/a/b\"")),
    ("replace a missing key", r#"{}"#, r#"[{"op":"replace","path":"/a","value":2}]"#, Ok(r#"{"a":2}"#)),
    (
        "replace a missing item",
        r#"{"a":[]}"#,
        r#"[{"op":"replace","path":"/a/0","value":2}]"#,
        Err("missing key: /a/0"),
    ),
    ("replace all", r#"{"a":1}"#, r#"[{"op":"replace","path":"","value":{"b":1}}]"#, Ok(r#"{"b":1}"#)),
    ("remove", r#"{"a":1}"#, r#"[{"op":"remove","path":"/a"}]"#, Ok("{}")),
    ("remove nothing", r#"{}"#, r#"[{"op":"remove","path":"/a"}]"#, Err("Unable to remove nonexistent key: a")),
    ("remove the last", r#"{"a":[1,2]}"#, r#"[{"op":"remove","path":"/a/-1"}]"#, Ok(r#"{"a":[1]}"#)),
    ("escapes", r#"{"a/b":{"c~d":1}}"#, r#"[{"op":"remove","path":"/a~1b/c~0d"}]"#, Ok(r#"{"a/b":{}}"#)),
    ("move", r#"{"a":1}"#, r#"[{"op":"move","from":"/a","path":"/b"}]"#, Ok(r#"{"b":1}"#)),
    ("copy", r#"{"a":[1]}"#, r#"[{"op":"copy","from":"/a/0","path":"/b"}]"#, Ok(r#"{"a":[1],"b":1}"#)),
    (
        "test",
        r#"{"a":{"b":[1,"x"]}}"#,
        r#"[{"op":"test","path":"/a","value":{"b":[1,"x"]}}]"#,
        Ok(r#"{"a":{"b":[1,"x"]}}"#),
    ),
    ("test other text", r#"{"a":1}"#, r#"[{"op":"test","path":"/a","value":1.0}]"#, Err("testing value /a failed")),
    ("test null", r#"{}"#, r#"[{"op":"test","path":"/a","value":null}]"#, Ok("{}")),
    ("unknown", r#"{}"#, r#"[{"op":"frob","path":"/a"}]"#, Err("Unexpected kind: frob")),
    ("yaml", r#"{"a":"x"}"#, "- op: replace\n  path: /a\n  value: yes\n", Ok(r#"{"a":true}"#)),
    ("no list", "{}", "op: add", Err("cannot unmarshal object into Go value of type jsonpatch.Patch")),
    ("no operation", "{}", "- add", Err("cannot unmarshal string into Go value of type jsonpatch.Operation")),
];

#[test]
fn patches() {
    for (name, document, patch, expected) in ROWS {
        let mut document = text::json(document).expect("a document");
        let result = JsonPatch::parse(patch).and_then(|patch| patch.apply(&mut document, &|_| Ok(())));
        match (result, expected) {
            (Ok(()), Ok(expected)) => assert_eq!(text::to_json(&document), *expected, "{name}"),
            (Err(error), Err(expected)) => assert!(error.message().contains(expected), "{name}: {error}"),
            (result, expected) => panic!("{name}: {result:?}, expected {expected:?}"),
        }
    }
}
