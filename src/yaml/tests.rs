//! Tables of what go-yaml does. Expected values come from go-yaml v2.4.3 and v3.0.4, sigs.k8s.io/yaml v1.6.0, and
//! helm 4.2.3 where a row is a template's.

use super::*;

const LIMITS: Limits = Limits { bytes: 1 << 20, depth: 100, nodes: 100_000 };

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

#[test]
fn texts_mean_json() {
    let rows = [
        ("nothing", "", "", ""),
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
