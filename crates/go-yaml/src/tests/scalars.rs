//! How strings are written.

use super::*;

/// Written as they are.
const PLAIN: &[&str] = &[
    "nULL",
    "tRUE",
    "yES",
    "<<",
    "=",
    "nan",
    "_1",
    "0x",
    "0o8",
    "0b2",
    "+-1",
    "1,000",
    ".",
    "1e400",
    "1e",
    "._5",
    "1:60",
    "2001-13-01",
    "2001-02-29",
    "2001-12-14 21:59:43 -5",
    "2001-01-01T25:00:00Z",
    "20010-1-1",
    "-a",
    "--",
    "?a",
    ":a",
    "a:b",
    "a :b",
    "a#b",
    "a# b",
    "a,b",
    "a]",
    "a{",
    "it's",
    "a\"b",
    "a%",
    "a@b",
    "a`",
    "a  b",
    "\u{a0}",
    "\u{200b}",
    "é",
    "日本",
    "\u{e000}",
    "\u{fffd}",
    "́",
];

/// Written in double quotes without escapes, for they would be something else.
const DOUBLE_QUOTED: &[&str] = &[
    "",
    "~",
    "null",
    "Null",
    "NULL",
    "true",
    "True",
    "TRUE",
    "false",
    "y",
    "Y",
    "yes",
    "Yes",
    "YES",
    "on",
    "On",
    "n",
    "N",
    "no",
    "No",
    "off",
    "OFF",
    ".inf",
    "+.Inf",
    "-.INF",
    ".nan",
    ".NaN",
    "1",
    "+1",
    "-1",
    "1_000",
    "1__0",
    "0_",
    "0x1F",
    "0X1f",
    "0o17",
    "017",
    "08",
    "0b11",
    "0b-11",
    "9223372036854775808",
    "18446744073709551615",
    "99999999999999999999",
    "1.5",
    "1.",
    ".5",
    "-.5",
    "+.5e3",
    "1e3",
    ".1_0",
    "1_0.5",
    "12:30",
    "190:20:30.15",
    "1:6",
    "-1:30",
    "2001-01-01",
    "2001-1-1",
    "2000-02-29",
    "2001-12-14t21:59:43.10-05:00",
    "2001-12-14T21:59:43Z",
    "2001-12-14 21:59:43.10",
    "2001-12-14  1:2:3",
    "2001-01-01T00:00:00+24:60",
];

/// Written in single quotes: the syntax does not allow them plain.
const SINGLE_QUOTED: &[&str] = &[
    "12:", "-", "- a", "---", "--- a", "----", "...", "?", "? a", ":", ": a", "a:", "a: b", "#", "# a", "#a", "a #b",
    ",", ",a", "[", "[a", "]a", "{a}", "}", "&a", "*a", "!a", "|a", ">a", "'", "'a", "\"", "\"a", "%a", "@a", "`a",
    " ", " a", "a ", "  a  b  ", "\u{2028}", "\u{2029}",
];

/// The dialects agree.
const SAME: &str = "";

/// A string, how v2 writes it, and how v3 does. As the item of a list, without `- ` and the last line break.
const ESCAPED_OR_LITERAL: &[(&str, &str, &str)] = &[
    ("0o-7", "0o-7", "\"0o-7\""),
    ("\t", "\"\\t\"", SAME),
    ("\ta", "\"\\ta\"", SAME),
    ("a\tb", "\"a\\tb\"", SAME),
    ("a\t", "\"a\\t\"", SAME),
    ("\u{7}", "\"\\a\"", SAME),
    ("\u{1b}", "\"\\e\"", SAME),
    ("\u{7f}", "ERR yaml: control characters are not allowed", "\"\\x7F\""),
    ("\r", "\"\\r\"", SAME),
    ("a\rb", "\"a\\rb\"", SAME),
    ("\u{85}x", "' x'", "\"\\Nx\""),
    ("a\u{2028}b", "'a\u{2028}  b'", SAME),
    ("\u{feff}a", "\"\\uFEFF\\x61\"", SAME),
    ("a\u{feff}b", "\"a\\uFEFFb\"", SAME),
    ("\u{1f600}", "\"\\U0001F600\"", SAME),
    ("a\u{1f600}b", "\"a\\U0001F600b\"", SAME),
    ("\n", "|2+\n", SAME),
    ("\n\n", "|2+\n\n", SAME),
    ("a\n", "|\n  a", SAME),
    ("a\n\n", "|+\n  a\n", SAME),
    ("a\nb", "|-\n  a\n  b", SAME),
    ("a\nb\n", "|\n  a\n  b", SAME),
    ("a\n\nb", "|-\n  a\n\n  b", SAME),
    ("\na", "|2-\n\n  a", SAME),
    (" a\n", "|2\n   a", SAME),
    ("  a\n b\n", "|2\n    a\n   b", SAME),
    ("a \n", "\"a \\n\"", SAME),
    ("a\n ", "\"a\\n \"", SAME),
    ("a\n b", "|-\n  a\n   b", SAME),
    ("a\tb\n", "\"a\\tb\\n\"", "|\n  a\tb"),
    ("\ta\n", "\"\\ta\\n\"", "|\n  \ta"),
    ("a\r\nb", "\"a\\r\\nb\"", SAME),
    ("a\nb\u{1f600}", "\"a\\nb\\U0001F600\"", SAME),
    ("a\n\u{7}", "\"a\\n\\a\"", SAME),
    ("# a\nb", "|-\n  # a\n  b", SAME),
    ("- a\n- b\n", "|\n  - a\n  - b", SAME),
    ("a: b\n", "|\n  a: b", SAME),
    ("a\u{2028}b\n", "|\n  a\u{2028}  b", SAME),
    ("1\n", "|\n  1", SAME),
    ("null\n", "|\n  null", SAME),
];

fn written(text: &str) -> (String, String) {
    let value = Value::Sequence(vec![Value::from(text)]);
    let item = |written: String| written.strip_prefix("- ").and_then(|text| text.strip_suffix('\n')).map(str::to_owned);
    let v2 = match sigs::marshal(&value) {
        Ok(written) => item(written).expect("an item"),
        Err(error) => format!("ERR {error}"),
    };
    (v2, item(emit_v3(&value, Sequences::Compact)).expect("an item"))
}

#[test]
fn strings_have_their_style() {
    for text in PLAIN {
        assert_eq!(written(text), ((*text).to_owned(), (*text).to_owned()));
    }
    for text in DOUBLE_QUOTED {
        let quoted = format!("\"{text}\"");
        assert_eq!(written(text), (quoted.clone(), quoted));
    }
    for text in SINGLE_QUOTED {
        let quoted = format!("'{}'", text.replace('\'', "''"));
        assert_eq!(written(text), (quoted.clone(), quoted));
    }
    for (text, v2, v3) in ESCAPED_OR_LITERAL {
        let v3 = if *v3 == SAME { v2 } else { v3 };
        assert_eq!(written(text), ((*v2).to_owned(), (*v3).to_owned()), "{text:?}");
    }
}
