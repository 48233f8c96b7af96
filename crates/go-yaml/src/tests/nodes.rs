//! Nodes: what can be asked of them, how they are made, and how they are written.

use super::*;

fn node(text: &str) -> Node {
    parse_first(text.as_bytes(), &LIMITS).expect("YAML").expect("a document")
}

#[test]
fn nodes_answer() {
    let document = node("a:\n  b: [1, 'x']\nc: ~\n\"1\": !!str 5\nd: yes\n");
    let item = document.at(&["a", "b"]).and_then(Node::as_sequence).and_then(|items| items.get(1)).expect("two items");
    assert_eq!(
        (item.as_str(), item.style, item.mark),
        (Some("x"), Style::SingleQuoted, Mark { line: 2, column: 10, offset: 12 })
    );
    let kinds: Vec<&str> =
        document.as_mapping().expect("a mapping").iter().map(|(_, value)| value.kind_name()).collect();
    assert_eq!(kinds, ["a mapping", "null", "a string", "a string"]);
    let yes = document.get("d").expect("there");
    assert_eq!((yes.resolved_tag(Dialect::V2), yes.resolved_tag(Dialect::V3)), (Tag::Bool, Tag::Str));
    assert!(document.get("c").is_some_and(|value| value.is_null(Dialect::V2)));
    assert_eq!(document.get("e"), None);
}

#[test]
fn made_nodes_are_written() {
    let mut entries = vec![
        (Node::string("text"), Node::string("5")),
        (Node::string("number"), Node::scalar("5")),
        (Node::string("null"), Node::null()),
        (Node::string("lines"), Node::string("a\nb\n")),
        (Node::string("old"), Node::string("yes")),
        (Node::string("list"), Node::sequence(vec![Node::string("a"), Node::mapping(vec![])])),
    ];
    let mut flow = Node::sequence(vec![Node::string("a: b"), Node::string("")]);
    flow.style = Style::Flow;
    entries.push((Node::string("flow"), flow));
    let document = Node::mapping(entries);
    let written = "text: \"5\"\nnumber: 5\n\"null\": null\nlines: |\n  a\n  b\nold: yes\nlist:\n- a\n- {}\nflow: ['a: b', \"\"]\n";
    assert_eq!(emit_node(&document, Sequences::Compact), written);
    let value = document.to_value(Dialect::V3, &LIMITS).expect("plain");
    assert_eq!(Ok(&value), decode(written.as_bytes(), Dialect::V3, &LIMITS).as_ref().map(|values| &values[0]));
    assert_eq!(value.get("text"), Some(&Value::from("5")));
}

#[test]
fn values_become_nodes() {
    let json = r#"{"b": [1, 1.5, "1", null], "a10": true, "a2": "x"}"#;
    let value = json::decode(json.as_bytes(), &LIMITS).expect("JSON");
    let node = from_value(&value);
    assert_eq!(emit_node(&node, Sequences::Compact), "a2: x\na10: true\nb:\n- 1\n- 1.5\n- \"1\"\n- null\n");
    assert_eq!(node.to_value(Dialect::V3, &LIMITS), Ok(value));
}

/// Values as `kubectl kustomize` 5.8.1 gives them for such a resource.
#[test]
fn aliases_are_resolved() {
    let rows = [
        ("a: &x [1]\nb: *x\n", "a: [1]\nb: [1]\n"),
        ("a: &x {k: 1}\nb:\n  <<: *x\n  l: 2\n", "a: {k: 1}\nb:\n  l: 2\n  k: 1\n"),
        ("a: &x {k: 1, l: 1}\nb: {k: 2, <<: *x}\n", "a: {k: 1, l: 1}\nb: {k: 2, l: 1}\n"),
        ("a: &x {k: 1}\nb: {<<: [*x, {k: 2, l: 2}]}\n", "a: {k: 1}\nb: {k: 1, l: 2}\n"),
        ("a: &x 1\nb: &x 2\nc: *x\n", "a: 1\nb: 2\nc: 2\n"),
        ("a: &x 1\nb: &y [*x]\nc: &x 2\nd: *y\n", "a: 1\nb: [1]\nc: 2\nd: [1]\n"),
        ("<<: &x {k: 1}\nb: *x\n", "b: {k: 1}\nk: 1\n"),
    ];
    for (text, expected) in rows {
        let resolved = resolve_aliases(node(text), &LIMITS).expect(text);
        assert_eq!(emit_node(&resolved, Sequences::Compact), expected, "{text}");
        assert_eq!(resolved.to_value(Dialect::V3, &LIMITS), node(text).to_value(Dialect::V3, &LIMITS), "{text}");
    }
    let rows = [
        ("&x [*x]\n", "yaml: anchor 'x' value contains itself"),
        ("a: &x [{}]\nb: {<<: *x}\n", "invalid map merge: received alias for a non-map value"),
        ("b: {<<: [[{}]]}\n", "invalid map merge: received a nested sequence"),
        ("b: {<<: 1}\n", "map merge requires map or sequence of maps as the value"),
        ("b: {<<: {}, <<: {}}\n", "duplicate merge key"),
    ];
    for (text, expected) in rows {
        assert_eq!(resolve_aliases(node(text), &LIMITS).expect_err(text).to_string(), expected);
    }
}

#[test]
fn comments_can_be_set() {
    let mut document = node("# head\na: 1 # line\n# foot\n");
    let Data::Mapping(entries) = &mut document.data else { panic!("a mapping") };
    let (key, value) = &mut entries[0];
    assert_eq!((key.comments.head(), value.comments.line(), key.comments.foot()), ("# head", "# line", "# foot"));
    key.comments.set_head("");
    value.comments.set_line("other");
    assert_eq!(emit_node(&document, Sequences::Compact), "a: 1 # other\n# foot\n");
}

#[test]
fn documents_are_separated() {
    let values = [Value::from("a"), Value::Null, Value::Sequence(Vec::new())];
    assert_eq!(emit_v3_documents(&values, Sequences::Indented), "a\n---\nnull\n---\n[]\n");
    assert_eq!(emit_v3_documents([], Sequences::Indented), "");
    let nodes = parse(b"a: 1\n---\nb: 2\n", &LIMITS).expect("YAML");
    assert_eq!(emit_nodes(&nodes, Sequences::Indented), "a: 1\n---\nb: 2\n");
}

/// v3 differs from v2 in one point: right behind a digit, a letter goes first.
#[test]
fn keys_behind_digits() {
    let value = json::decode(br#"{"a1b": 1, "a10": 2}"#, &LIMITS).expect("JSON");
    assert_eq!(emit_v2(&value), "a10: 2\na1b: 1\n");
    assert_eq!(emit_v3(&value, Sequences::Indented), "a1b: 1\na10: 2\n");
}
