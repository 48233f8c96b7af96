//! The little JSON that is written here, and how Go reads JSON.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use crate::repo::{ObjectId, object_id};

/// JSON with its keys in the order in which they are written. Templates get the same values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Json {
    Text(String),
    List(Vec<Json>),
    Object(Vec<(&'static str, Json)>),
}

impl Json {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.is_empty(),
            Self::Object(entries) => entries.is_empty(),
        }
    }

    /// This value without keys whose value is empty, at any depth: Go's `omitempty`.
    pub(super) fn without_empty(self) -> Self {
        match self {
            Self::Text(_) => self,
            Self::List(items) => Self::List(items.into_iter().map(Self::without_empty).collect()),
            Self::Object(entries) => {
                let entries = entries.into_iter().map(|(key, value)| (key, value.without_empty()));
                Self::Object(entries.filter(|(_, value)| !value.is_empty()).collect())
            }
        }
    }

    /// Indented by two blanks, with a final newline.
    ///
    /// Reference: Go's `json.Encoder` with `SetIndent("", "  ")` and `SetEscapeHTML(false)`, which escapes two line
    /// separators that JSON itself allows.
    pub(super) fn pretty(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("text, lists and objects with text keys are JSON");
        (text.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029") + "\n").into_bytes()
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => serializer.collect_map(entries.iter().map(|(key, value)| (key, value))),
        }
    }
}

/// A JSON object as Go decodes it into a struct: keys match in any case, and of several the last one counts.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Fields(Vec<(String, serde_json::Value)>);

impl Fields {
    /// Reads one document and nothing after it. `null` is an object without keys.
    ///
    /// The reason of a failure is the JSON library's, with line and column.
    pub(super) fn parse(text: &[u8]) -> Result<Self, serde_json::Error> {
        // Go takes each byte that is no UTF-8 for U+FFFD.
        let text = String::from_utf8_lossy(text);
        serde_json::from_str::<Option<Fields>>(&text).map(Option::unwrap_or_default)
    }

    /// The fields of an object inside of this one; none when it is something else.
    pub(super) fn of(value: &serde_json::Value) -> Option<Self> {
        let entries = value.as_object()?.iter();
        Some(Self(entries.map(|(key, value)| (key.clone(), value.clone())).collect()))
    }

    /// The value of `key`. `null` counts as if it weren't there.
    pub(super) fn get(&self, key: &str) -> Option<&serde_json::Value> {
        let mut values = self.0.iter().rev().filter(|(found, _)| folds_to(found, key)).map(|(_, value)| value);
        values.find(|value| !value.is_null())
    }

    /// The text of `key`: empty when it is missing, an error when it is not a text.
    pub(super) fn text(&self, key: &'static str) -> Result<&str, NotText> {
        self.get(key).map_or(Ok(""), |value| value.as_str().ok_or(NotText(key)))
    }

    /// How often `key` is given, in whatever case.
    pub(super) fn count(&self, key: &str) -> usize {
        self.0.iter().filter(|(found, _)| folds_to(found, key)).count()
    }
}

/// A key with a value that is not a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a string")]
pub(super) struct NotText(pub &'static str);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Fields(entries))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// Whether Go takes `found` for the ASCII name `key`: whatever the case, two look-alikes included.
fn folds_to(found: &str, key: &str) -> bool {
    found.chars().map(fold).eq(key.chars().map(fold))
}

fn fold(c: char) -> char {
    match c {
        'ſ' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    }
}

/// Reads 40 or 64 hexadecimal digits in lower case.
pub(super) fn full_id(text: &str) -> Option<ObjectId> {
    let is_lower_hex = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    if is_lower_hex { object_id(text) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_as_go_does() {
        let object = Json::Object(vec![
            ("a", Json::text("<&> \"\\ \u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}\u{2028}\u{2029} é 😀")),
            ("b", Json::text("")),
            ("c", Json::List(vec![Json::Object(vec![("d", Json::text("e")), ("f", Json::List(vec![]))])])),
            ("g", Json::Object(vec![("h", Json::text(""))])),
        ]);
        let expected = "{\n  \"a\": \"<&> \\\"\\\\ \\b\\f\\n\\r\\t\\u0001\\u001f\u{7f}\\u2028\\u2029 é 😀\",\n  \"c\": [\n    \
                        {\n      \"d\": \"e\"\n    }\n  ]\n}\n";
        assert_eq!(String::from_utf8(object.without_empty().pretty()).expect("UTF-8"), expected);
    }

    #[test]
    fn keys_match_as_in_go() {
        let rows: &[(&str, Option<&str>)] = &[
            (r#"{"drySha":"x"}"#, Some("x")),
            (r#"{"DRYSHA":"x"}"#, Some("x")),
            (r#"{"drySha":"y","drySHA":"x"}"#, Some("x")),
            (r#"{"drySha":"y","drySha":"x"}"#, Some("x")),
            (r#"{"drySha":"y","drySHA":null}"#, Some("y")),
            (r#"{"dryſha":"x","other":[1e999]}"#, None),
            (r#"{"dryſha":"x","other":[1.5]}"#, Some("x")),
            ("null", Some("")),
            ("{}\n", Some("")),
            ("{}{}", None),
            ("[]", None),
            ("", None),
            ("\u{feff}{}", None),
            (r#"{"drySha":1}"#, None),
        ];
        for (text, expected) in rows {
            let found =
                Fields::parse(text.as_bytes()).ok().and_then(|fields| Some(fields.text("drySha").ok()?.to_owned()));
            assert_eq!(found.as_deref(), *expected, "{text}");
        }
    }
}
