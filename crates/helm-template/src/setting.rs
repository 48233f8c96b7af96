//! A value of a chart that should have another content.

use std::fmt;

use go_template::Value as GoValue;
use go_yaml::{Mapping, Value};

/// The placeholder of a value that only the user knows.
const PLACEHOLDER: &str = "placeholder";
/// How long a value may be to be shown.
const SHOWN_CHARS_MAX: usize = 40;

/// A value and what to set it to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// Below the values of the root chart, keys joined by dots.
    path: String,
    to: To,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum To {
    /// Some text; there is none yet.
    Text,
    /// Another text than this one.
    Other(String),
    Switch(bool),
}

impl Setting {
    /// The other content that a value can be tried with; `None` for a number, a list or a table.
    pub(super) fn of(path: String, value: Option<&GoValue>) -> Option<Self> {
        let to = match value {
            None | Some(GoValue::Nil) => To::Text,
            Some(GoValue::String(text)) if text.is_empty() => To::Text,
            Some(GoValue::String(text)) => To::Other(text.to_str().into_owned()),
            Some(GoValue::Bool(is_on)) => To::Switch(!is_on),
            Some(_) => return None,
        };
        Some(Self { path, to })
    }

    /// Whether it gives a value that is missing, which changes less than to change one.
    pub(super) fn gives(&self) -> bool {
        self.to == To::Text
    }

    /// The user's values with it; `None` when these have something else than a table on the way.
    pub(super) fn apply(&self, values: &Mapping) -> Option<Mapping> {
        let mut all = values.clone();
        let mut here = &mut all;
        let mut keys = self.path.split('.').peekable();
        while let Some(key) = keys.next() {
            if keys.peek().is_none() {
                let value = match self.to {
                    To::Text | To::Other(_) => Value::String(PLACEHOLDER.to_owned()),
                    To::Switch(on) => Value::Bool(on),
                };
                here.insert(key.to_owned(), value);
                break;
            }
            let below = here.entry(key.to_owned()).or_default();
            if matches!(below, Value::Null) {
                *below = Value::Mapping(Mapping::new());
            }
            let Value::Mapping(below) = below else { return None };
            here = below;
        }
        Some(all)
    }
}

/// What to do, as a hint says it.
impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, to } = self;
        match to {
            To::Text => write!(f, "set `{path}`"),
            To::Other(text) if text.chars().count() <= SHOWN_CHARS_MAX && !text.contains(['\n', '`']) => {
                write!(f, "set `{path}` to something other than `{text}`")
            }
            To::Other(_) => write!(f, "set `{path}` to something else"),
            To::Switch(on) => write!(f, "set `{path}` to {on}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_yaml::json;

    #[test]
    fn what_is_set() {
        let rows = [
            (None, "{}", "set `a.b`", r#"{"a":{"b":"placeholder"}}"#),
            (Some("".into()), r#"{"a":{"c":1}}"#, "set `a.b`", r#"{"a":{"b":"placeholder","c":1}}"#),
            (Some(GoValue::Nil), r#"{"a":null}"#, "set `a.b`", r#"{"a":{"b":"placeholder"}}"#),
            (Some("auto".into()), "{}", "set `a.b` to something other than `auto`", r#"{"a":{"b":"placeholder"}}"#),
            (Some("x\ny".into()), "{}", "set `a.b` to something else", r#"{"a":{"b":"placeholder"}}"#),
            (Some(true.into()), r#"{"a":{"b":true}}"#, "set `a.b` to false", r#"{"a":{"b":false}}"#),
            (Some(false.into()), "{}", "set `a.b` to true", r#"{"a":{"b":true}}"#),
        ];
        let data = |text: &str| json::decode(text.as_bytes(), &go_yaml::Limits::default()).expect("JSON");
        for (now, values, hint, expected) in rows {
            let Value::Mapping(values) = data(values) else { panic!("a mapping") };
            let setting = Setting::of("a.b".to_owned(), now.as_ref()).expect("can be set");
            assert_eq!(setting.to_string(), hint);
            assert_eq!(setting.apply(&values).map(Value::Mapping), Some(data(expected)), "{hint}");
        }
        assert_eq!(Setting::of("a".to_owned(), Some(&GoValue::int64(3))), None, "a number may mean anything");
        let Value::Mapping(values) = data(r#"{"a":"text"}"#) else { panic!("a mapping") };
        let below = Setting::of("a.b".to_owned(), None).expect("can be set");
        assert_eq!(below.apply(&values), None, "nothing is below a text");
    }
}
