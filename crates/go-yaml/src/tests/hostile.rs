//! What must be true of any text: no panic, no run without end, limits; and what is written is read as the same.

use super::*;

fn check(text: &str) {
    for dialect in [Dialect::V2, Dialect::V3] {
        let Ok(values) = decode(text.as_bytes(), dialect, &LIMITS) else { continue };
        for value in values {
            let json = json::encode(&value, json::Options::default());
            let read = json::decode(json.as_bytes(), &LIMITS).expect("our own JSON");
            assert_eq!(json, json::encode(&read, json::Options::default()), "{text:?}");
        }
    }
    let Ok(nodes) = parse(text.as_bytes(), &LIMITS) else { return };
    for node in nodes {
        let _ = resolve_aliases(node.clone(), &LIMITS);
        for sequences in [Sequences::Compact, Sequences::Indented] {
            let _ = parse(emit_node(&node, sequences).as_bytes(), &LIMITS);
        }
    }
}

#[test]
fn no_mutation_does_harm() {
    let mut rng = Rng(1);
    for _ in 0..3_000 {
        check(&mutation(&mut rng));
    }
}

#[test]
fn no_bytes_do_harm() {
    let mut rng = Rng(2);
    for _ in 0..1_500 {
        let mut bytes = mutation(&mut rng).into_bytes();
        for _ in 0..rng.below(4) {
            let at = rng.below(bytes.len() + 1);
            bytes.splice(at..at, [u8::try_from(rng.below(256)).expect("a byte")]);
        }
        if rng.below(4) == 0 {
            bytes.splice(0..0, *rng.pick(&[[0xFF, 0xFE], [0xFE, 0xFF], [0xEF, 0xBB]]));
        }
        let _ = decode(&bytes, Dialect::V2, &LIMITS);
        let _ = parse(&bytes, &LIMITS);
        let _ = json::decode(&bytes, &LIMITS);
    }
}

fn same(written: &str, dialect: Dialect, value: &Value) {
    let read = decode(written.as_bytes(), dialect, &LIMITS).unwrap_or_else(|error| panic!("{error}\n{written}"));
    let [read] = read.as_slice() else { panic!("{} documents\n{written}", read.len()) };
    // A float that is whole is read as an integer, and is the same in JSON.
    let json = |value| json::encode(value, json::Options::default());
    assert_eq!(json(read), json(value), "{written}");
}

#[test]
fn what_is_written_is_read_as_the_same() {
    let mut rng = Rng(3);
    for _ in 0..1_500 {
        let value = value(&mut rng, 4);
        same(&emit_v2(&value), Dialect::V2, &value);
        same(&emit_v3(&value, Sequences::Indented), Dialect::V3, &value);
        same(&emit_v3(&value, Sequences::Compact), Dialect::V3, &value);
        same(&emit_node(&from_value(&value), Sequences::Compact), Dialect::V3, &value);
        let indented = json::encode(&value, json::Options { escape_html: true, indent: Some("\t") });
        let read = json::decode(indented.as_bytes(), &LIMITS).expect("our own JSON");
        let options = json::Options::default();
        assert_eq!(json::encode(&read, options), json::encode(&value, options));
    }
}

#[test]
fn limits_hold() {
    let deep = |open: &str, close: &str, depth: usize| open.repeat(depth) + &close.repeat(depth);
    let laughs = |width: usize| {
        let mut text = format!("a0: &a0 [{}]\n", ["x"; 10].join(", "));
        for level in 1..10 {
            let aliases = vec![format!("*a{}", level - 1); width].join(", ");
            text.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
        }
        text
    };
    let indented: String = (0..200).map(|level| " ".repeat(level) + "a:\n").collect();
    let rows = [
        ("flow sequences", deep("[", "]", 101), "nested deeper"),
        ("flow mappings", deep("{a: ", "}", 101), "nested deeper"),
        ("block sequences", "- ".repeat(101), "nested deeper"),
        ("block mappings", indented, "nested deeper"),
        ("nodes", format!("[{}]", "a,".repeat(100_001)), "more values"),
        ("bytes", "a".repeat((1 << 20) + 1), "more than the limit"),
        ("aliases", laughs(10), "excessive aliasing"),
        ("a few aliases", laughs(3), "excessive aliasing"),
    ];
    for (name, text, expected) in rows {
        for dialect in [Dialect::V2, Dialect::V3] {
            let error = decode(text.as_bytes(), dialect, &LIMITS).expect_err(name);
            assert!(error.to_string().contains(expected), "{name}: {error}");
        }
    }
    let nodes = parse(laughs(10).as_bytes(), &LIMITS).expect("small without its aliases");
    let error = resolve_aliases(nodes.into_iter().next().expect("one"), &LIMITS).expect_err("too many");
    assert!(error.to_string().contains("more values"), "{error}");
    let error = json::decode(deep("[", "]", 101).as_bytes(), &LIMITS).expect_err("too deep");
    assert_eq!(error.to_string(), "exceeded max depth");
}

#[test]
fn the_default_depth_fits_the_stack() {
    let limits = Limits::default();
    for (open, close) in [("[", "]"), ("{a: ", "}"), ("[{a: ", "}]")] {
        let depth = limits.depth as usize / open.matches(['[', '{']).count();
        let text = open.repeat(depth) + &close.repeat(depth);
        let nodes = parse(text.as_bytes(), &limits).expect("just within the limit");
        for node in nodes {
            let value = node.to_value(Dialect::V3, &limits).expect("within the limit");
            let written =
                emit_v2(&value) + &emit_v3(&value, Sequences::Indented) + &emit_node(&node, Sequences::Compact);
            assert!(!written.is_empty());
            assert_eq!(resolve_aliases(node.clone(), &limits).as_ref(), Ok(&node));
            let json = json::encode(&value, json::Options::default());
            assert_eq!(json::decode(json.as_bytes(), &limits), Ok(value));
        }
    }
}

/// A step that is done once more for each byte, key or level than it should makes each of these take minutes.
#[test]
fn time_grows_with_length_only() {
    let limits = Limits::default();
    let nested: String = (0..150).map(|level| format!("&a{level} [")).collect();
    let texts = [
        nested + &"x, ".repeat(20_000) + &"]".repeat(150),
        "a: 1\n".repeat(20_000),
        (0..20_000).map(|key| format!("k{key}: *a\n")).collect::<String>().replacen("*a", "&a 1", 1),
        "#\n".repeat(40_000) + "a: 1\n",
        "- # c\n\n".repeat(20_000),
        "[".repeat(20_000),
        "? ".repeat(20_000),
        "\"".to_owned() + &"\\n".repeat(80_000) + "\"",
        "a: ".to_owned() + &"b ".repeat(80_000),
        "a: |\n".to_owned() + &" \n".repeat(80_000),
        "a:\n".to_owned() + &"  b\n\n".repeat(40_000),
        "x: !".to_owned() + &"%41".repeat(40_000) + " y\n",
    ];
    let start = std::time::Instant::now();
    for text in texts {
        let _ = decode(text.as_bytes(), Dialect::V2, &limits);
        for node in parse(text.as_bytes(), &limits).unwrap_or_default() {
            let _ = node.to_value(Dialect::V3, &limits);
            let _ = emit_node(&node, Sequences::Compact);
            let _ = resolve_aliases(node, &limits);
        }
    }
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
