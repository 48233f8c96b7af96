//! Text to values of the settings.
//!
//! The text is read by our own [`yaml`], so that each value has its place. Settings have been YAML 1.2 from the first
//! day, so other than there `%YAML 1.2` and the escape `\/` are read, and `<<` is a key like any other. A key that is
//! there twice is an error, and so is a tag that is not one of YAML. A text is one document.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use go_yaml::{self as yaml, Limits, Mark, Node, Style, Tag};
use serde::Serialize;

use super::SettingsError;
use super::scalar::{self, Kind};
use super::value::{Data, Key, Mapping, Value};

/// Collections inside each other.
const DEPTH_MAX: usize = 100;

/// How many `/` with a `\` before them are read.
const SLASHES_MAX: usize = 1000;

/// How many bytes are read again for them: one that is as large as settings may be is read a few times.
const REREAD_BYTES_MAX: usize = 8 << 20;

/// Values of a text and bytes of its scalars, those of aliases each time.
const SIZE_MAX: usize = 4 << 20;

impl From<yaml::Error> for SettingsError {
    fn from(error: yaml::Error) -> Self {
        let text = error.message().to_owned();
        match error.mark() {
            Some(mark) => Self::at(mark, text),
            None => Self::Wrong(text),
        }
    }
}

/// The value that a text is; null for a text without any.
///
/// Errors: the text is not YAML, not one document, or has what settings cannot have.
pub(crate) fn read(text: &str) -> Result<Value, SettingsError> {
    let documents = parse(text)?;
    if let [_, second, ..] = &documents[..] {
        return Err(SettingsError::at(second.mark, "the settings must be a single YAML document".to_owned()));
    }
    let mut reader = Reader { anchors: HashMap::new(), size: 0 };
    match documents.first() {
        Some(document) => reader.value(document, 0),
        None => Ok(Data::Null.into()),
    }
}

impl Value {
    /// What is written for `value` as JSON.
    ///
    /// Errors: it is deeper than settings may be.
    pub(crate) fn of(value: &impl Serialize) -> Result<Self, SettingsError> {
        let json = serde_json::to_string(value).map_err(|error| SettingsError::Wrong(error.to_string()))?;
        let mut escaped = String::with_capacity(json.len());
        for c in json.chars() {
            match c {
                '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' => {
                    escaped.push_str(&format!("\\u{:04x}", u32::from(c)));
                }
                c => escaped.push(c),
            }
        }
        read(&escaped)
    }
}

/// The documents of a text, where YAML 1.2 has more than go-yaml knows with that in its words.
fn parse(text: &str) -> Result<Vec<Node>, yaml::Error> {
    let limits = Limits { depth: DEPTH_MAX as u32, ..Limits::default() };
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut text = match text.strip_prefix("%YAML 1.2") {
        Some(rest) => Cow::Owned(format!("%YAML 1.1{rest}")),
        None => Cow::Borrowed(text),
    };
    for _ in 0..SLASHES_MAX.min(REREAD_BYTES_MAX / text.len().max(1)) {
        let error = match yaml::parse(text.as_bytes(), &limits) {
            Ok(documents) => return Ok(documents),
            Err(error) => error,
        };
        match error.mark().filter(|mark| text.get(mark.offset..).is_some_and(|rest| rest.starts_with("\\/"))) {
            Some(mark) => drop(text.to_mut().remove(mark.offset)),
            None => return Err(error),
        }
    }
    yaml::parse(text.as_bytes(), &limits)
}

struct Reader<'n> {
    /// What aliases are replaced by.
    anchors: HashMap<&'n str, Anchored>,
    size: usize,
}

struct Anchored {
    value: Value,
    size: usize,
    depth: usize,
}

impl<'n> Reader<'n> {
    fn value(&mut self, node: &'n Node, depth: usize) -> Result<Value, SettingsError> {
        let before = self.size;
        self.count(1, node.mark)?;
        check_depth(depth, node.mark)?;
        let data = match &node.data {
            yaml::Data::Alias(name) => return self.alias(name, node.mark, depth),
            yaml::Data::Scalar(text) => {
                self.count(text.len(), node.mark)?;
                scalar_of(node, text)?
            }
            yaml::Data::Sequence(items) => {
                check_tag(node)?;
                Data::List(items.iter().map(|item| self.value(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            yaml::Data::Mapping(entries) => {
                check_tag(node)?;
                Data::Mapping(self.mapping(entries, depth)?)
            }
        };
        let value = Value { data, mark: node.mark };
        if let Some(name) = &node.anchor {
            let size = self.size - before;
            // A copy: it counts like what an alias makes of it.
            self.count(size, node.mark)?;
            self.anchors.insert(name, Anchored { value: value.clone(), size, depth: depth_of(&value) });
        }
        Ok(value)
    }

    fn mapping(&mut self, entries: &'n [(Node, Node)], depth: usize) -> Result<Mapping, SettingsError> {
        let mut mapping = Mapping::default();
        let mut known = HashSet::new();
        for (key, value) in entries {
            let mark = key.mark;
            let (name, is_text) = match (self.value(key, depth + 1)?.data, key.as_str()) {
                (Data::Text(name), _) => (name, true),
                (Data::Null | Data::Bool(_) | Data::Number(_), Some(written)) => (written.to_owned(), false),
                _ => return Err(SettingsError::at(mark, "a key must be a string".to_owned())),
            };
            if !known.insert((name.clone(), is_text)) {
                return Err(SettingsError::at(mark, format!("`{name}` is set twice")));
            }
            mapping.0.push((Key { name, is_text, mark }, self.value(value, depth + 1)?));
        }
        Ok(mapping)
    }

    fn alias(&mut self, name: &str, mark: Mark, depth: usize) -> Result<Value, SettingsError> {
        let Some(Anchored { size, depth: inner, .. }) = self.anchors.get(name) else {
            return Err(SettingsError::at(mark, format!("the anchor `{name}` contains itself")));
        };
        let (size, inner) = (*size, *inner);
        // The limits come first: the copy may be large.
        self.count(size, mark)?;
        check_depth(depth + inner, mark)?;
        let value = self.anchors.get(name).map(|anchored| anchored.value.data.clone());
        Ok(Value { data: value.unwrap_or(Data::Null), mark })
    }

    fn count(&mut self, size: usize, mark: Mark) -> Result<(), SettingsError> {
        self.size = self.size.saturating_add(size);
        if self.size > SIZE_MAX {
            return Err(SettingsError::at(mark, "aliases make the settings too large".to_owned()));
        }
        Ok(())
    }
}

fn check_depth(depth: usize, mark: Mark) -> Result<(), SettingsError> {
    if depth > DEPTH_MAX {
        return Err(SettingsError::at(mark, "aliases make the settings too deep".to_owned()));
    }
    Ok(())
}

fn depth_of(value: &Value) -> usize {
    let inner = match &value.data {
        Data::List(items) => items.iter().map(depth_of).max(),
        Data::Mapping(Mapping(entries)) => entries.iter().map(|(_, value)| depth_of(value)).max(),
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Text(_) => return 0,
    };
    1 + inner.unwrap_or_default()
}

/// Errors: a tag that is not one of YAML, or one that the text cannot have.
fn scalar_of(node: &Node, text: &str) -> Result<Data, SettingsError> {
    check_tag(node)?;
    let Some(tag) = node.tag.as_ref().filter(|_| node.tagged) else {
        return Ok(if node.style == Style::Plain { plain(text) } else { Data::Text(text.to_owned()) });
    };
    let data = match (tag, scalar::plain(text)) {
        (Tag::Null, Kind::Null) if !text.is_empty() => Some(Data::Null),
        (Tag::Bool, Kind::Bool(value)) => Some(Data::Bool(value)),
        (Tag::Int, _) => scalar::is_whole(text).then(|| Data::Number(text.to_owned())),
        (Tag::Float, _) => scalar::float(text).map(Data::Number),
        (Tag::Null | Tag::Bool, _) => None,
        _ => Some(Data::Text(text.to_owned())),
    };
    data.ok_or_else(|| SettingsError::at(node.mark, format!("`{text}` is not a valid `{tag}`")))
}

fn plain(text: &str) -> Data {
    match scalar::plain(text) {
        Kind::Null => Data::Null,
        Kind::Bool(value) => Data::Bool(value),
        Kind::Number => Data::Number(text.to_owned()),
        Kind::Text => Data::Text(text.to_owned()),
    }
}

fn check_tag(node: &Node) -> Result<(), SettingsError> {
    match &node.tag {
        Some(Tag::Other(tag)) if node.tagged && tag.starts_with('!') && !tag.starts_with("!!") => {
            Err(SettingsError::at(node.mark, format!("unknown tag `{tag}`")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What it says as JSON, or what is wrong.
    fn said(text: &str) -> String {
        match read(text) {
            Ok(value) => serde_json::to_string(&value).expect("serializes"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn settings_keep_the_meaning_that_they_had() {
        let rows = [
            ("words of YAML 1.1 are strings", "[yes, no, on, off, y, n]", r#"["yes","no","on","off","y","n"]"#),
            ("booleans", "[true, True, TRUE, false, tRUE]", r#"[true,true,true,false,"tRUE"]"#),
            ("nothing", "[~, null, Null, NULL, '', nUll]", r#"[null,null,null,null,"","nUll"]"#),
            ("whole numbers", "[0, -1, +1, 0x10, 0o17, 0b11, -0x10]", "[0,-1,1,16,15,3,-16]"),
            ("digits after a 0 are a string", "[017, 08, -017, 0777]", r#"["017","08","-017","0777"]"#),
            ("no digits have `_`", "[1_000, 0x_1]", r#"["1_000","0x_1"]"#),
            ("other prefixes", "[0X10, 0O17, 0o8, 0xg]", r#"["0X10","0O17","0o8","0xg"]"#),
            ("floats", "[1.5, .5, 5., 1e3, 1E3, 007.5]", "[1.5,0.5,5.0,1000.0,1000.0,7.5]"),
            ("what has no place is a string", "[1e400, inf, nan]", r#"["1e400","inf","nan"]"#),
            (
                "the largest",
                "[18446744073709551615, -9223372036854775808]",
                "[18446744073709551615,-9223372036854775808]",
            ),
            ("dates and times are strings", "[2024-12-24, 12:30, 190:20:30]", r#"["2024-12-24","12:30","190:20:30"]"#),
            ("versions are strings", "[4.2.3, v1, 1,000]", r#"["4.2.3","v1",1,"000"]"#),
            ("quotes make strings", "['1', \"true\", '~']", r#"["1","true","~"]"#),
            ("tags of YAML", "[!!str 1, !!int '1', !!float 1, !!bool 'true', !!null ~]", r#"["1",1,1.0,true,null]"#),
            ("other tags of YAML are strings", "[!!binary YWJj, !!timestamp 2024-12-24]", r#"["YWJj","2024-12-24"]"#),
            ("keys keep their text", "{1: a, true: b, ~: c, 0x1: d}", r#"{"1":"a","true":"b","~":"c","0x1":"d"}"#),
            ("`<<` is a key", "a: &a {b: 1}\nc: {<<: *a}", r#"{"a":{"b":1},"c":{"<<":{"b":1}}}"#),
            ("aliases", "[&a [b], *a]", r#"[["b"],["b"]]"#),
            ("an anchor of a second value", "[&a b, *a, &a c, *a]", r#"["b","b","c","c"]"#),
            ("YAML 1.2", "%YAML 1.2\n---\na: b", r#"{"a":"b"}"#),
            ("JSON", r#"{"a\/b": "c\/\u00e9\n"}"#, "{\"a/b\":\"c/é\\n\"}"),
            ("a backslash before it stays", r#"['\/', \/, "\\/"]"#, r#"["\\/","\\/","\\/"]"#),
            ("a mark of byte order", "\u{FEFF}a: b", r#"{"a":"b"}"#),
            ("lines of Windows", "a: b\r\nc: d\r\n", r#"{"a":"b","c":"d"}"#),
            ("nothing at all", "# only\n", "null"),
        ];
        for (name, text, expected) in rows {
            assert_eq!(said(text), expected, "{name}");
        }
    }

    #[test]
    fn what_settings_cannot_be_is_refused_where_it_is() {
        let rows = [
            ("a: 1\nb: 2\na: 3\n", "settings.yaml:3:1: `a` is set twice"),
            ("a: {b: 1, 'b': 2}", "settings.yaml:1:11: `b` is set twice"),
            ("a: 1\n---\nb: 2\n", "settings.yaml:3:1: the settings must be a single YAML document"),
            ("a: !mine b", "settings.yaml:1:4: unknown tag `!mine`"),
            ("a: !!int x", "settings.yaml:1:4: `x` is not a valid `!!int`"),
            ("[a]: b", "settings.yaml:1:1: a key must be a string"),
            ("a: *b", "settings.yaml:1:4: unknown anchor 'b' referenced"),
            ("a: [b", "settings.yaml:2:1: did not find expected ',' or ']'"),
            ("a: \"\\q\"", "settings.yaml:1:5: found unknown escape character"),
        ];
        for (text, expected) in rows {
            assert_eq!(said(text), expected, "{text}");
        }
    }

    #[test]
    fn deep_and_large_settings_are_refused() {
        let mut doubled = "a0: &a0 [x]\n".to_owned();
        let mut nested = doubled.clone();
        for level in 1..120 {
            let before = level - 1;
            doubled += &format!("a{level}: &a{level} [*a{before}, *a{before}]\n");
            nested += &format!("a{level}: &a{level} [*a{before}]\n");
        }
        let rows = [
            ("[".repeat(300_000), "nested deeper"),
            (format!("a: {}", "{b: ".repeat(100_000)), "nested deeper"),
            ("- ".repeat(300_000), "nested deeper"),
            (doubled, "aliases make the settings too large"),
            (nested, "aliases make the settings too deep"),
            (
                format!("a: &a {}\nb: [{}]", "x".repeat(100_000), "*a, ".repeat(100_000)),
                "aliases make the settings too large",
            ),
        ];
        for (text, expected) in rows {
            let error = said(&text);
            assert!(error.contains(expected), "{}: {error}", &text[..20]);
        }
        // Each of these is found by reading the text again: a large text is not read a thousand times.
        let slashes = |filler: usize| format!("a: '{}'\nb: [{}]", "x".repeat(filler), r#""\/", "#.repeat(900));
        assert!(read(&slashes(10)).is_ok());
        assert!(read(&slashes(900_000)).is_err());
    }

    #[test]
    fn values_are_written_as_they_always_were() {
        let rows = [
            (r#"["main", "env/*", "{{ name }}", "it's"]"#, "- main\n- env/*\n- '{{ name }}'\n- it's\n"),
            (
                r#"["1.0", "0x10", "true", "~", "", "017", "1e3"]"#,
                "- '1.0'\n- '0x10'\n- 'true'\n- '~'\n- ''\n- '017'\n- '1e3'\n",
            ),
            (r#"["yes", "on", "2024-12-24", "12:30", "1_000"]"#, "- yes\n- on\n- 2024-12-24\n- 12:30\n- 1_000\n"),
            (r#"["a: b", "a #b", "- a", "@a", "\ta"]"#, "- 'a: b'\n- 'a #b'\n- '- a'\n- '@a'\n- \"\\ta\"\n"),
            (r#"{"a": "b\nc", "d": "e\n"}"#, "a: |-\n  b\n  c\nd: |\n  e\n"),
            (
                r#"{"a": [], "b": {}, "c": null, "d": true, "e": -1, "f": 0.25}"#,
                "a: []\nb: {}\nc: null\nd: true\ne: -1\nf: 0.25\n",
            ),
            (r#"[{"b": "x", "a": ["y"]}]"#, "- b: x\n  a:\n  - y\n"),
            ("[\"😀\", \"\u{E000}\", \"é\"]", "- 😀\n- \u{E000}\n- é\n"),
        ];
        for (json, expected) in rows {
            let value = read(json).expect(json);
            assert_eq!(value.to_yaml(), expected, "{json}");
            assert_eq!(read(expected), Ok(value), "{json}");
        }
    }

    #[test]
    fn what_yaml_does_not_have_in_a_text_comes_back() {
        let odd = vec!["a\u{7F}b", "\u{85}", "\u{2028}", "\u{FEFF}a", "\u{1}"];
        let value = Value::of(&odd).expect("read");
        assert_eq!(value, odd.into());
        assert_eq!(read(&value.to_yaml()), Ok(value));
    }

    #[test]
    fn mappings_are_the_same_in_any_order() {
        let [one, other] = ["{a: 1, b: 2}", "{b: 2, a: 1}"].map(|text| read(text).expect(text));
        assert_eq!(one, other);
        assert_ne!(read("{1: a}"), read("{'1': a}"));
    }
}
