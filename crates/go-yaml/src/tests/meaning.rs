//! What texts mean, in both dialects.

use super::*;

fn json_of(text: &str, dialect: Dialect) -> String {
    match decode(text.as_bytes(), dialect, &LIMITS) {
        Ok(values) => {
            let values: Vec<String> =
                values.iter().map(|value| json::encode(value, json::Options::default())).collect();
            values.join(" ")
        }
        Err(error) => format!("! {error}"),
    }
}

/// A plain scalar, and what it means in v2 and in v3. What is not here is a string in both.
const SCALARS: &[(&str, &str, &str)] = &[
    ("~", "null", "null"),
    ("null", "null", "null"),
    ("Null", "null", "null"),
    ("NULL", "null", "null"),
    ("true", "true", "true"),
    ("True", "true", "true"),
    ("TRUE", "true", "true"),
    ("false", "false", "false"),
    ("y", "true", "\"y\""),
    ("Y", "true", "\"Y\""),
    ("yes", "true", "\"yes\""),
    ("Yes", "true", "\"Yes\""),
    ("YES", "true", "\"YES\""),
    ("on", "true", "\"on\""),
    ("On", "true", "\"On\""),
    ("n", "false", "\"n\""),
    ("N", "false", "\"N\""),
    ("no", "false", "\"no\""),
    ("No", "false", "\"No\""),
    ("off", "false", "\"off\""),
    ("OFF", "false", "\"OFF\""),
    (".inf", "! json: unsupported value: +Inf", "! json: unsupported value: +Inf"),
    ("+.Inf", "! json: unsupported value: +Inf", "! json: unsupported value: +Inf"),
    (".nan", "! json: unsupported value: NaN", "! json: unsupported value: NaN"),
    (".NaN", "! json: unsupported value: NaN", "! json: unsupported value: NaN"),
    ("1", "1", "1"),
    ("+1", "1", "1"),
    ("1_000", "1000", "1000"),
    ("1__0", "10", "10"),
    ("0_", "0", "0"),
    ("0x1F", "31", "31"),
    ("0X1f", "31", "31"),
    ("0o17", "15", "15"),
    ("017", "15", "15"),
    ("08", "8", "8"),
    ("0b11", "3", "3"),
    ("0b-11", "-3", "-3"),
    ("0o-7", "\"0o-7\"", "-7"),
    ("9223372036854775808", "9223372036854775808", "9223372036854775808"),
    ("18446744073709551615", "18446744073709551615", "18446744073709551615"),
    ("99999999999999999999", "100000000000000000000", "100000000000000000000"),
    ("1.5", "1.5", "1.5"),
    ("1.", "1", "1"),
    (".5", "0.5", "0.5"),
    ("+.5e3", "500", "500"),
    ("1e3", "1000", "1000"),
    (".1_0", "0.1", "0.1"),
    ("1_0.5", "10.5", "10.5"),
    ("2001-01-01", "\"2001-01-01\"", "\"2001-01-01T00:00:00Z\""),
    ("2001-1-1", "\"2001-1-1\"", "\"2001-01-01T00:00:00Z\""),
    ("2000-02-29", "\"2000-02-29\"", "\"2000-02-29T00:00:00Z\""),
    ("...", "! yaml: did not find expected node content", "! yaml: did not find expected node content"),
    ("-1", "-1", "-1"),
    ("-0x1F", "-31", "-31"),
    ("-.INF", "! json: unsupported value: -Inf", "! json: unsupported value: -Inf"),
    ("-1.5e-3", "-0.0015", "-0.0015"),
    ("- 1", "[1]", "[1]"),
    ("+12e03", "12000", "12000"),
    ("1__", "1", "1"),
    ("-9223372036854775808", "-9223372036854775808", "-9223372036854775808"),
    ("-9223372036854775809", "-9223372036854776000", "-9223372036854776000"),
    ("1e-400", "0", "0"),
    ("00", "0", "0"),
    ("0_0", "0", "0"),
    ("0o1_7", "15", "15"),
    ("1E5", "100000", "100000"),
    (".1e5", "10000", "10000"),
    (".1_0e1", "1", "1"),
    ("1._5", "1.5", "1.5"),
    (
        "2001-12-14T21:59:43.123456789123Z",
        "\"2001-12-14T21:59:43.123456789123Z\"",
        "\"2001-12-14T21:59:43.123456789Z\"",
    ),
    ("2001-12-14T1:2:3-05:30", "\"2001-12-14T1:2:3-05:30\"", "\"2001-12-14T01:02:03-05:30\""),
];

#[test]
fn plain_scalars_have_a_kind() {
    for (text, v2, v3) in SCALARS {
        assert_eq!(json_of(text, Dialect::V2), *v2, "{text}, v2");
        assert_eq!(json_of(text, Dialect::V3), *v3, "{text}, v3");
    }
    for text in ["nULL", "0x", "0b2", "0o8", "1.5.2", "_1", "1e400", "12:30", "2001-13-01", "<<", "="] {
        for dialect in [Dialect::V2, Dialect::V3] {
            assert_eq!(json_of(text, dialect), format!("\"{text}\""));
        }
    }
}

#[test]
fn texts_mean_json() {
    let rows = [
        ("nothing", "", "", ""),
        (
            "infinite keys",
            "{.inf: 1, -.Inf: 2, .NaN: 3, 1e38: 4}",
            r#"{"-.inf":2,".inf":1,".nan":3,"1e+38":4}"#,
            r#"{"-.Inf":2,".NaN":3,".inf":1,"1e38":4}"#,
        ),
        ("a comment alone", "# a\n", "", ""),
        ("empty documents", "---\n---\n", "null null", "null null"),
        (
            "old booleans",
            "[y, yes, on, n, No, OFF, yEs]",
            r#"[true,true,true,false,false,false,"yEs"]"#,
            r#"["y","yes","on","n","No","OFF","yEs"]"#,
        ),
        (
            "numbers",
            "[017, 0o17, 0b11, 0x1F, 1_000, +12, .5, 1e3, 08, 12:30]",
            r#"[15,15,3,31,1000,12,0.5,1000,8,"12:30"]"#,
            r#"[15,15,3,31,1000,12,0.5,1000,8,"12:30"]"#,
        ),
        (
            "large numbers",
            "[9223372036854775808, 18446744073709551616, 1e400]",
            r#"[9223372036854775808,18446744073709552000,"1e400"]"#,
            r#"[9223372036854775808,18446744073709552000,"1e400"]"#,
        ),
        (
            "zeros as keys",
            "[{0.0: 1, -0.0: 2, a: 3}, {-0.0: 1, 0.0: 2}, {'0': 1, -0.0: 2}, {-0.0: {~: 1}, 0.0: 2}, {0.0: 1, 0: 2}]",
            r#"[{"-0":2,"a":3},{"0":2},{"-0":2,"0":1},{"0":2},{"0":2}]"#,
            "! json: unsupported type: map[interface {}]interface {}",
        ),
        (
            "dates",
            "[2001-01-01, 2001-13-01]",
            r#"["2001-01-01","2001-13-01"]"#,
            r#"["2001-01-01T00:00:00Z","2001-13-01"]"#,
        ),
        (
            "merge",
            "a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n",
            r#"{"a":{"true":2,"x":1},"b":{"true":2,"x":3}}"#,
            r#"{"a":{"x":1,"y":2},"b":{"x":3,"y":2}}"#,
        ),
        (
            "merge after its key",
            "a: &a {x: 1}\nb: {x: 3, <<: *a}\n",
            r#"{"a":{"x":1},"b":{"x":1}}"#,
            r#"{"a":{"x":1},"b":{"x":3}}"#,
        ),
        (
            "a key twice",
            "a: 1\na: 2\n",
            r#"{"a":2}"#,
            "! yaml: unmarshal errors:\n  line 2: mapping key \"a\" already defined at line 1",
        ),
        ("infinity", "a: .inf\n", "! json: unsupported value: +Inf", "! json: unsupported value: +Inf"),
        (
            "a template",
            "a: {{ .x }}\n",
            "! yaml: invalid map key: map[interface {}]interface {}{\".x\":interface {}(nil)}",
            "! yaml: invalid map key: map[string]interface {}{\".x\":interface {}(nil)}",
        ),
        (
            "a tab",
            "a:\n\tb: 1\n",
            "! yaml: line 2: found character that cannot start any token",
            "! yaml: line 2: found character that cannot start any token",
        ),
        (
            "a colon too many",
            "a: b: c\n",
            "! yaml: mapping values are not allowed in this context",
            "! yaml: mapping values are not allowed in this context",
        ),
        (
            "an alias to itself",
            "&a [*a]\n",
            "! yaml: anchor 'a' value contains itself",
            "! yaml: anchor 'a' value contains itself",
        ),
        ("no anchor", "*a\n", "! yaml: unknown anchor 'a' referenced", "! yaml: unknown anchor 'a' referenced"),
        (
            "a control character",
            "a: \u{7f}\n",
            "! yaml: control characters are not allowed",
            "! yaml: control characters are not allowed",
        ),
    ];
    for (name, text, v2, v3) in rows {
        assert_eq!(json_of(text, Dialect::V2), v2, "{name}, v2");
        assert_eq!(json_of(text, Dialect::V3), v3, "{name}, v3");
    }
}

#[test]
fn only_the_first_document_counts() {
    let rows = [
        ("", "null"),
        ("a: 1\n---\nb: [\n", r#"{"a":1}"#),
        ("---\n...\n[", "null"),
        ("a: 1\nb: [\n", "! error converting YAML to JSON: yaml: line 2: did not find expected node content"),
    ];
    for (text, expected) in rows {
        let found = match sigs::unmarshal(text.as_bytes(), &LIMITS) {
            Ok(value) => json::encode(&value, json::Options::default()),
            Err(error) => format!("! {error}"),
        };
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn encodings() {
    let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let text = "\u{FEFF}a: é\u{1F600}\n";
    for bytes in [text.as_bytes().to_vec(), utf_16(text, u16::to_le_bytes), utf_16(text, u16::to_be_bytes)] {
        let values = decode(&bytes, Dialect::V2, &LIMITS).expect("a known encoding");
        assert_eq!(values.iter().map(|value| value.at(&["a"])).collect::<Vec<_>>(), [Some(&Value::from("é\u{1F600}"))]);
    }
    let rows: [(&[u8], &str); 8] = [
        (b"a: \xFF", "invalid leading UTF-8 octet"),
        (b"a: \xC3", "incomplete UTF-8 octet sequence"),
        (b"a: \xC3a", "invalid trailing UTF-8 octet"),
        (b"a: \xC0\x80", "invalid length of a UTF-8 sequence"),
        (b"a: \xED\xA0\x80", "invalid Unicode character"),
        (b"\xFF\xFEa", "incomplete UTF-16 character"),
        (b"\xFF\xFE\x00\xDC", "unexpected low surrogate area"),
        (b"a: \xC2\x80", "control characters are not allowed"),
    ];
    for (bytes, message) in rows {
        let error = decode(bytes, Dialect::V2, &LIMITS).expect_err(message);
        assert_eq!(error.to_string(), format!("yaml: {message}"));
    }
    // Documents that end well before the mistake can be read.
    let mut long = b"a: 1\n---\n".to_vec();
    long.extend([b'#'; 600]);
    long.push(0xFF);
    assert!(sigs::unmarshal(&long, &LIMITS).is_ok());
    assert!(decode(&long, Dialect::V2, &LIMITS).is_err());
}

#[test]
fn mistakes_have_a_place() {
    let rows = [
        ("a: b: c\n", 1, 5, "mapping values are not allowed in this context"),
        ("a:\n\tb: 1\n", 2, 1, "found character that cannot start any token"),
        ("a:\n  - b\n  c: d\n", 3, 3, "did not find expected '-' indicator"),
        ("a: [1, 2\nb: 3\n", 2, 2, "did not find expected ',' or ']'"),
        ("é: \"x\n", 1, 4, "found unexpected end of stream"),
        ("a: 1\nb: é\u{7F}\n", 2, 5, "control characters are not allowed"),
        ("a: 1\nb: *x\n", 2, 4, "unknown anchor 'x' referenced"),
        ("a: 1\nb: !!int x\n", 2, 4, "cannot decode !!str `x` as a !!int"),
        ("b:\n  ? [x]\n  : 1\n", 2, 5, "invalid map key: []interface {}{\"x\"}"),
        ("a: 1\nb: .inf\n", 2, 4, "json: unsupported value: +Inf"),
        ("a: 1\n~: .inf\n", 2, 1, "unsupported map key of type: %!s(<nil>), key: <nil>, value: +Inf"),
        (
            "~: {yes: 1, 1: [~], -1.5: &n 4, a: {~: *n}, 18446744073709551615: 5, b: ~, 0: 8, -1: 9, ~: 10, .nan: 12, .5: 11, \
             <<: {1: 2, c: 6}}\n",
            1,
            1,
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface {}{interface {}(nil):10, \
             \"a\":map[interface {}]interface {}{interface {}(nil):4}, \"b\":interface {}(nil), \"c\":6, \
             0xffffffffffffffff:5, -1:9, 0:8, 1:2, NaN:12, -1.5:4, 0.5:11, true:1}",
        ),
        (
            "~: {z: 1, !!binary aGk=: 4, b: 2}\n",
            1,
            1,
            "unsupported map key of type: %!s(<nil>), key: <nil>, value: map[interface {}]interface {}{\"b\":2, \"hi\":4, \"z\":1}",
        ),
        (
            "? [{1: ~}]\n: x\n",
            1,
            3,
            "invalid map key: []interface {}{map[interface {}]interface {}{1:interface {}(nil)}}",
        ),
        // Keys that are not one to Go: what the first has inside still counts.
        (".nan: {~: a}\n.nan: 2\n", 1, 8, "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"a\""),
        ("1: {~: a}\n'1': 2\n", 1, 5, "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"a\""),
        ("1: {~: a}\n1.0: 2\n", 1, 5, "unsupported map key of type: %!s(<nil>), key: <nil>, value: \"a\""),
    ];
    for (text, line, column, message) in rows {
        let error = decode(text.as_bytes(), Dialect::V2, &LIMITS).expect_err(text);
        assert_eq!((error.line(), error.column(), error.message()), (line, column, message), "{text:?}");
    }
    for text in [
        "a: {b: .inf}\n<<: {a: 1}\n",
        "<<: [{a: .inf}, {b: .nan}]\na: 1\nb: 1\n",
        "<<: [{a: 1}, {a: .nan}]\n",
        "{<<: {b: {~: 1}}, b: 2}\n",
        "1: {~: a}\n1: 2\n",
        "1.5: {~: a}\n1.5: 2\n",
        "a: {~: a}\n'a': 2\n",
        // Keys that are one in JSON.
        ".nan: [.nan]\n.nan: 2\n",
        "1: {a: .inf}\n'1': 2\n",
        "<<: {'1': .nan}\n1: 2\n",
    ] {
        assert!(decode(text.as_bytes(), Dialect::V2, &LIMITS).is_ok(), "one key, whose last value counts: {text:?}");
    }
}

#[test]
fn json_is_read_as_go_reads_it() {
    let rows = [
        ("", "! unexpected end of JSON input"),
        (
            " [1, 1.0, 1e3, -0, 12345678901234567890, 1e999]",
            "! json: cannot unmarshal number 1e999 into Go value of type float64",
        ),
        (r#"{"a": 1, "a": [true, false, null]}"#, r#"{"a":[true,false,null]}"#),
        (r#""\ud83d\ude00 \ud83d \u00e9\/\b""#, "\"\u{1F600} \u{FFFD} é/\\b\""),
        ("[1 2]", "! invalid character '2' after array element"),
        ("[1,]", "! invalid character ']' looking for beginning of value"),
        ("{a: 1}", "! invalid character 'a' looking for beginning of object key string"),
        (r#"{"a" 1}"#, "! invalid character '1' after object key"),
        (r#"{"a": 1 "b"}"#, "! invalid character '\"' after object key:value pair"),
        ("1 2", "! invalid character '2' after top-level value"),
        ("tru", "! invalid character ' ' in literal true (expecting 'e')"),
        ("[nul", "! invalid character ' ' in literal null (expecting 'l')"),
        ("-", "! invalid character ' ' in numeric literal"),
        ("\"a", "! unexpected end of JSON input"),
        ("\"\\", "! invalid character ' ' in string escape code"),
        ("\"\\u12", "! invalid character ' ' in \\u hexadecimal character escape"),
        ("{\"a\": 1", "! unexpected end of JSON input"),
        ("1e", "! invalid character ' ' in exponent of numeric literal"),
        ("[1e999, {\"a\": -1e999}]", "! json: cannot unmarshal number 1e999 into Go value of type float64"),
        ("trux", "! invalid character 'x' in literal true (expecting 'e')"),
        ("01", "! invalid character '1' after top-level value"),
        ("-a", "! invalid character 'a' in numeric literal"),
        ("1.", "! invalid character ' ' after decimal point in numeric literal"),
        ("1.a", "! invalid character 'a' after decimal point in numeric literal"),
        ("1ea", "! invalid character 'a' in exponent of numeric literal"),
        ("\"a\nb\"", "! invalid character '\\n' in string literal"),
        (r#""\q""#, "! invalid character 'q' in string escape code"),
        (r#""\u12g4""#, "! invalid character 'g' in \\u hexadecimal character escape"),
        ("'a'", "! invalid character '\\'' looking for beginning of value"),
    ];
    for (text, expected) in rows {
        let found = match json::decode(text.as_bytes(), &LIMITS) {
            Ok(value) => json::encode(&value, json::Options::default()),
            Err(error) => format!("! {error}"),
        };
        assert_eq!(found, expected, "{text}");
    }
    let error = json::decode(b"{\n  \"\xC3\xA9\": x\n}", &LIMITS).expect_err("no value");
    assert_eq!((error.line(), error.column()), (2, 8));
}

/// Every short text of these characters, which include all that YAML gives a meaning, and the words of scalars.
#[test]
fn lines_of_printable_ascii_come_back_as_they_were_written() {
    const CHARACTERS: &[u8] = b"a \n#:-'\"|>?{[,&*!%@~0";
    let mut texts = vec![String::new()];
    for _ in 0..3 {
        let longer = texts.iter().flat_map(|text| CHARACTERS.iter().map(move |c| format!("{text}{}", char::from(*c))));
        texts = [String::new()].into_iter().chain(longer.collect::<Vec<_>>()).collect();
    }
    let mut rng = Rng(1);
    for _ in 0..5_000 {
        let length = 4 + rng.below(200);
        texts.push((0..length).map(|_| char::from(*rng.pick(CHARACTERS))).collect());
    }
    texts.extend(SCALARS.iter().map(|(text, ..)| (*text).to_owned()));
    for text in texts {
        let inner = Value::Mapping(Mapping::from([("k".to_owned(), text.as_str().into())]));
        let value = Value::Sequence(vec![text.as_str().into(), inner]);
        let written = sigs::marshal(&value).expect("it is printable");
        assert_eq!(sigs::unmarshal(written.as_bytes(), &LIMITS).as_ref(), Ok(&value), "{text:?}");
    }
}

#[test]
fn unusual_text_is_read_again() {
    let rows = [("x\u{85}y", "x y"), ("x \u{85} y", "x y"), ("x\u{85}\u{85}y", "x\ny"), ("\tx", "\tx"), ("é", "é")];
    for (text, expected) in rows {
        assert_eq!(sigs::reread(&text.into()).as_deref(), Ok(&expected.into()), "{text:?}");
    }
    assert!(sigs::reread(&"\u{7F}".into()).is_err());
    assert!(sigs::reread(&"\u{FFFF}".into()).is_err());
}
