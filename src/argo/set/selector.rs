//! Label selectors: those behind a generator, on params, and those of cluster Secrets.
//!
//! Reference: argo-cd `37ee0097` applicationset/utils/selector.go; k8s.io/apimachinery 0.36.1 pkg/labels/selector.go.

use std::fmt;

use go_yaml::{Value, json, quote};

use super::fault::{Fault, Result};

/// Whose rules apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Of params: any text is a value.
    Params,
    /// Of Kubernetes objects: values are label values.
    Objects,
}

/// A compiled selector. All requirements must be met; an empty one matches everything.
#[derive(Debug, PartialEq)]
pub(super) struct Selector(Vec<Requirement>);

#[derive(Debug, PartialEq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Compiles `matchLabels` and `matchExpressions`.
    pub(super) fn new(selector: &Value, kind: Kind) -> Result<Self> {
        let mut requirements = Vec::new();
        for (key, value) in selector.get("matchLabels").and_then(Value::as_mapping).into_iter().flatten() {
            let values = vec![value.as_str().unwrap_or_default().to_owned()];
            let requirement = Requirement { key: key.clone(), operator: Operator::In, values };
            requirement.check(kind).map_err(|fault| fault.below(key).below("matchLabels"))?;
            requirements.push(requirement);
        }
        let expressions = selector.get("matchExpressions").and_then(Value::as_sequence).unwrap_or_default();
        for (index, expression) in expressions.iter().enumerate() {
            let requirement = expression_of(expression, kind).and_then(|requirement| {
                requirement.check(kind)?;
                Ok(requirement)
            });
            requirements.push(requirement.map_err(|fault| fault.below(index).below("matchExpressions"))?);
        }
        Ok(Self(requirements))
    }

    /// Whether there are no requirements.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether labels are selected; `label` finds one by its key.
    pub(super) fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.0.iter().all(|requirement| requirement.is_met(label(&requirement.key)))
    }
}

fn expression_of(expression: &Value, kind: Kind) -> Result<Requirement> {
    let text = |key: &str| expression.get(key).and_then(Value::as_str).unwrap_or_default();
    let operator = match text("operator") {
        "In" => Operator::In,
        "NotIn" => Operator::NotIn,
        "Exists" => Operator::Exists,
        "DoesNotExist" => Operator::DoesNotExist,
        other => {
            let what = if kind == Kind::Params { "pod" } else { "label" };
            return Err(Fault::new(format!("{} is not a valid {what} selector operator", quote(other)))
                .hint("the operators are `In`, `NotIn`, `Exists` and `DoesNotExist`")
                .below("operator"));
        }
    };
    let values = expression.get("values").and_then(Value::as_sequence).unwrap_or_default();
    let values = values.iter().map(|value| value.as_str().unwrap_or_default().to_owned()).collect();
    Ok(Requirement { key: text("key").to_owned(), operator, values })
}

impl Requirement {
    /// Whether it is met by the value of its label; none for an object without that label.
    fn is_met(&self, value: Option<&str>) -> bool {
        let is_named = || value.is_some_and(|value| self.values.iter().any(|named| named == value));
        match self.operator {
            Operator::In => is_named(),
            Operator::NotIn => !is_named(),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }

    fn check(&self, kind: Kind) -> Result<()> {
        let mut errors = Vec::new();
        let reasons = qualified_name(&self.key);
        if !reasons.is_empty() {
            errors.push(format!("key: Invalid value: {}: {}", quote(&self.key), reasons.join("; ")));
        }
        let wrong_values = match self.operator {
            Operator::In | Operator::NotIn if self.values.is_empty() => {
                Some("for 'in', 'notin' operators, values set can't be empty")
            }
            Operator::Exists | Operator::DoesNotExist if !self.values.is_empty() => {
                Some("values set must be empty for exists and does not exist")
            }
            Operator::In | Operator::NotIn | Operator::Exists | Operator::DoesNotExist => None,
        };
        if let Some(reason) = wrong_values {
            let values = match self.values.as_slice() {
                [] => "null".to_owned(),
                values => {
                    let values = Value::Sequence(values.iter().map(|value| Value::from(value.as_str())).collect());
                    json::encode(&values, json::Options { escape_html: true, indent: None })
                }
            };
            errors.push(format!("values: Invalid value: {values}: {reason}"));
        }
        if kind == Kind::Objects {
            for (index, value) in self.values.iter().enumerate() {
                let reasons = label_value(value);
                if !reasons.is_empty() {
                    let place = format!("values[{index}][{}]", self.key);
                    errors.push(format!("{place}: Invalid value: {}: {}", quote(value), reasons.join("; ")));
                }
            }
        }
        match errors.as_slice() {
            [] => Ok(()),
            [error] => Err(Fault::new(error.clone())),
            errors => Err(Fault::new(format!("[{}]", errors.join(", ")))),
        }
    }
}

/// What a text has to look like, as Kubernetes says it.
struct Form {
    words: &'static str,
    examples: &'static [&'static str],
    regex: &'static str,
}

const NAME: Form = Form {
    words: "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: &["MyName", "my.name", "123-abc"],
    regex: "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]",
};
const VALUE: Form = Form {
    words: "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    examples: &["MyValue", "my_value", "12345"],
    regex: "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
};
const SUBDOMAIN: Form = Form {
    words: "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    examples: &["example.com"],
    regex: r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
};

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (e.g. ", self.words)?;
        for (index, example) in self.examples.iter().enumerate() {
            write!(f, "{}'{example}', ", if index > 0 { " or " } else { "" })?;
        }
        write!(f, "regex used for validation is '{}')", self.regex)
    }
}

/// Why a text is no key of a label.
///
/// Reference: k8s.io/apimachinery 0.36.1 pkg/api/validate/content/kube.go `IsLabelKey`.
fn qualified_name(key: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts[..] {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                reasons.push("prefix part must be non-empty".to_owned());
            } else {
                reasons.extend(subdomain(prefix).into_iter().map(|reason| format!("prefix part {reason}")));
            }
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {NAME} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        reasons.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        reasons.push("name part must be no more than 63 bytes".to_owned());
    }
    if !is_name(name) {
        reasons.push(format!("name part {NAME}"));
    }
    reasons
}

fn label_value(value: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if value.len() > 63 {
        reasons.push("must be no more than 63 bytes".to_owned());
    }
    if !value.is_empty() && !is_name(value) {
        reasons.push(VALUE.to_string());
    }
    reasons
}

fn subdomain(prefix: &str) -> Vec<String> {
    let mut reasons = Vec::new();
    if prefix.len() > 253 {
        reasons.push("must be no more than 253 bytes".to_owned());
    }
    let is_inner = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    let is_label = |label: &str| {
        label.bytes().all(is_inner) && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    if !prefix.split('.').all(is_label) {
        reasons.push(SUBDOMAIN.to_string());
    }
    reasons
}

fn is_name(text: &str) -> bool {
    let is_inner = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'-' | b'_' | b'.');
    let ends = text.bytes().next().zip(text.bytes().next_back());
    text.bytes().all(is_inner) && ends.is_some_and(|(a, b)| a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(json: &str) -> Value {
        json::decode(json.as_bytes(), &go_yaml::Limits::default()).expect("JSON")
    }

    #[test]
    fn selected() {
        let labels = [("env", "prod"), ("url", "https://a"), ("empty", "")];
        let rows = [
            ("{}", true),
            (r#"{"matchLabels": {"env": "prod"}}"#, true),
            (r#"{"matchLabels": {"env": "dev"}}"#, false),
            (r#"{"matchLabels": {"url": "https://a"}}"#, true),
            (r#"{"matchLabels": {"gone": ""}}"#, false),
            (r#"{"matchExpressions": [{"key": "env", "operator": "In", "values": ["dev", "prod"]}]}"#, true),
            (r#"{"matchExpressions": [{"key": "gone", "operator": "NotIn", "values": ["a"]}]}"#, true),
            (r#"{"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["prod"]}]}"#, false),
            (r#"{"matchExpressions": [{"key": "empty", "operator": "Exists"}]}"#, true),
            (r#"{"matchExpressions": [{"key": "empty", "operator": "DoesNotExist"}]}"#, false),
            (r#"{"matchLabels": {"env": "prod"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}"#, false),
        ];
        for (text, expected) in rows {
            let compiled = Selector::new(&selector(text), Kind::Params).expect(text);
            let found = compiled.matches(|key| labels.iter().find(|(name, _)| *name == key).map(|(_, value)| *value));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_selector_says_why_in_the_words_of_kubernetes() {
        let rows = [
            (
                r#"{"matchExpressions": [{"key": "a", "operator": "Like"}]}"#,
                "\"Like\" is not a valid pod selector operator",
            ),
            (
                r#"{"matchExpressions": [{"key": "", "operator": "In"}]}"#,
                "[key: Invalid value: \"\": name part must be non-empty; name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty]",
            ),
            (
                r#"{"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["<"]}]}"#,
                r#"values: Invalid value: ["\u003c"]: values set must be empty for exists and does not exist"#,
            ),
        ];
        for (text, expected) in rows {
            let fault = Selector::new(&selector(text), Kind::Params).expect_err(text);
            assert_eq!(fault.text, expected, "{text}");
        }
        let url = selector(r#"{"matchLabels": {"a": "https://b"}}"#);
        assert!(Selector::new(&url, Kind::Params).is_ok());
        assert!(Selector::new(&url, Kind::Objects).is_err());
    }
}
