//! The rules that readers of hydrated branches expect a `hydrator.metadata` and a note to follow.
//!
//! Breaking one stops GitOps Promoter or Argo CD, or makes them do the wrong thing in silence. Works on files of any
//! hydrator, so that `verify` can tell why a promotion does not move.
//!
//! Reference: GitOps Promoter 7456cfed internal/git/git.go, api/v1alpha1/changetransferpolicy_types.go.

use serde_json::Value;

use super::json::{Fields, NotText, full_id};
use super::time::Time;
use super::url::is_web_url;

/// How much text one file may bring into the status of an object: it is stored a dozen times in each.
const BYTES_MAX: usize = 128 << 10;

/// A rule that is broken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not one JSON object: a failed reconcile for the file; a note is taken for none.
    #[error("not a JSON object: {0}")]
    NotJson(String),
    /// More than fits into the status of an object.
    #[error("{0} bytes; the limit is {BYTES_MAX}, so that a status has room for several")]
    TooLarge(usize),
    /// A key twice, in one case or several: the last one counts, for Go.
    #[error("`{0}` is given more than once")]
    Repeated(&'static str),
    /// A value of another type.
    #[error("`{0}` is not of the type that readers expect")]
    WrongType(String),
    /// No `drySha`.
    #[error("`drySha` is missing")]
    NoDryCommit,
    /// Short, in upper case, or no id: the status is refused.
    #[error("`{key}` is {text:?}, not the full id of a commit in lower case")]
    NotAnId {
        /// Where.
        key: String,
        /// What is there.
        text: String,
    },
    /// Empty or not RFC 3339: a failed reconcile. Left out, it is fine.
    #[error("`{key}` is {text:?}, not a date in the format of RFC 3339")]
    NotADate {
        /// Where.
        key: String,
        /// What is there.
        text: String,
    },
    /// Not a web URL: the status is refused. Left out, it is fine.
    #[error("`{key}` is {text:?}, not an http or https URL")]
    NotAWebUrl {
        /// Where.
        key: String,
        /// What is there.
        text: String,
    },
}

/// What is wrong with the `hydrator.metadata` that a promoter reads; empty when nothing is.
pub fn check_metadata(text: &[u8]) -> Vec<Problem> {
    let mut problems = Problems(Vec::new());
    if text.len() > BYTES_MAX {
        problems.0.push(Problem::TooLarge(text.len()));
    }
    let Some(fields) = problems.parse(text) else { return problems.0 };
    problems.dry_commit(&fields);
    for key in ["repoURL", "author", "date", "subject", "body", "references"] {
        problems.once(&fields, key);
    }
    for key in ["repoURL", "author", "subject", "body"] {
        problems.text(&fields, "", key);
    }
    problems.date(&fields, "");
    match fields.get("references") {
        None => {}
        Some(Value::Array(references)) => {
            for (index, reference) in references.iter().enumerate() {
                problems.reference(&format!("references[{index}]"), reference);
            }
        }
        Some(_) => problems.0.push(Problem::WrongType("references".to_owned())),
    }
    problems.0
}

/// What is wrong with the note of a hydrated commit; empty when nothing is. Only its `drySha` is used.
pub fn check_note(text: &[u8]) -> Vec<Problem> {
    let mut problems = Problems(Vec::new());
    if let Some(fields) = problems.parse(text) {
        problems.dry_commit(&fields);
    }
    problems.0
}

struct Problems(Vec<Problem>);

impl Problems {
    fn parse(&mut self, text: &[u8]) -> Option<Fields> {
        Fields::parse(text).map_err(|error| self.0.push(Problem::NotJson(error.to_string()))).ok()
    }

    fn dry_commit(&mut self, fields: &Fields) {
        self.once(fields, "drySha");
        match self.text(fields, "", "drySha") {
            Some("") => self.0.push(Problem::NoDryCommit),
            Some(text) => self.id("drySha".to_owned(), text),
            None => {}
        }
    }

    fn reference(&mut self, place: &str, reference: &Value) {
        let Some(outer) = Fields::of(reference) else {
            return self.0.push(Problem::WrongType(place.to_owned()));
        };
        let Some(commit) = outer.get("commit") else { return };
        let place = format!("{place}.commit.");
        let Some(fields) = Fields::of(commit) else {
            return self.0.push(Problem::WrongType(place.trim_end_matches('.').to_owned()));
        };
        for key in ["author", "subject", "body"] {
            self.text(&fields, &place, key);
        }
        self.date(&fields, &place);
        if let Some(text) = self.text(&fields, &place, "sha").filter(|text| !text.is_empty()) {
            self.id(format!("{place}sha"), text);
        }
        if let Some(text) = self.text(&fields, &place, "repoURL").filter(|text| !text.is_empty() && !is_web_url(text)) {
            self.0.push(Problem::NotAWebUrl { key: format!("{place}repoURL"), text: text.to_owned() });
        }
    }

    fn once(&mut self, fields: &Fields, key: &'static str) {
        if fields.count(key) > 1 {
            self.0.push(Problem::Repeated(key));
        }
    }

    fn text<'f>(&mut self, fields: &'f Fields, place: &str, key: &'static str) -> Option<&'f str> {
        let found = fields.text(key);
        found.map_err(|NotText(key)| self.0.push(Problem::WrongType(format!("{place}{key}")))).ok()
    }

    fn id(&mut self, key: String, text: &str) {
        if full_id(text).is_none() {
            self.0.push(Problem::NotAnId { key, text: text.to_owned() });
        }
    }

    fn date(&mut self, fields: &Fields, place: &str) {
        let Some(value) = fields.get("date") else { return };
        let key = format!("{place}date");
        match value.as_str() {
            None => self.0.push(Problem::WrongType(key)),
            Some(text) if Time::from_rfc3339(text).is_none() => {
                self.0.push(Problem::NotADate { key, text: text.to_owned() });
            }
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn rules() {
        // (rule, text with ID for a full id, what is wrong with it as a file)
        let rows: &[(&str, &str, &[&str])] = &[
            ("enough", r#"{"drySha":"ID"}"#, &[]),
            ("SHA-256", r#"{"drySha":"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"}"#, &[]),
            ("unknown keys", r#"{"drySha":"ID","commands":["a"],"x":{"y":[1]}}"#, &[]),
            ("any case", r#"{"DRYSHA":"ID"}"#, &[]),
            ("null counts for nothing", r#"{"drySha":"ID","date":null,"references":null}"#, &[]),
            ("no id", "{}", &["`drySha` is missing"]),
            ("null", "null", &["`drySha` is missing"]),
            ("an empty id", r#"{"drySha":""}"#, &["`drySha` is missing"]),
            (
                "a short id",
                r#"{"drySha":"0123456"}"#,
                &["`drySha` is \"0123456\", not the full id of a commit in lower case"],
            ),
            (
                "upper case",
                r#"{"drySha":"0123456789ABCDEF0123456789abcdef01234567"}"#,
                &[
                    "`drySha` is \"0123456789ABCDEF0123456789abcdef01234567\", not the full id of a commit in lower case",
                ],
            ),
            ("white space", r#"{"drySha":"ID "}"#, &["`drySha` is \"ID \", not the full id of a commit in lower case"]),
            ("a number", r#"{"drySha":1}"#, &["`drySha` is not of the type that readers expect"]),
            ("twice", r#"{"drySha":"ID","drySHA":"ID"}"#, &["`drySha` is given more than once"]),
            ("a list", "[]", &["not a JSON object: invalid type: sequence, expected an object at line 1 column 0"]),
            ("two documents", "{}{}", &["not a JSON object: trailing characters at line 1 column 3"]),
            ("a byte order mark", "\u{feff}{}", &["not a JSON object: expected value at line 1 column 1"]),
            ("an empty file", "", &["not a JSON object: EOF while parsing a value at line 1 column 0"]),
            (
                "an empty date",
                r#"{"drySha":"ID","date":""}"#,
                &["`date` is \"\", not a date in the format of RFC 3339"],
            ),
            (
                "a date of git",
                r#"{"drySha":"ID","date":"2024-03-27 10:32:04 +0000"}"#,
                &["`date` is \"2024-03-27 10:32:04 +0000\", not a date in the format of RFC 3339"],
            ),
            (
                "an author object",
                r#"{"drySha":"ID","author":{"name":"a"}}"#,
                &["`author` is not of the type that readers expect"],
            ),
            (
                "references",
                r#"{"drySha":"ID","references":[{},{"commit":null},{"commit":{"sha":"ID","repoUrl":"https://a"}}]}"#,
                &[],
            ),
            (
                "no list of references",
                r#"{"drySha":"ID","references":{}}"#,
                &["`references` is not of the type that readers expect"],
            ),
            (
                "a reference that is none",
                r#"{"drySha":"ID","references":["a",{"commit":"b"}]}"#,
                &[
                    "`references[0]` is not of the type that readers expect",
                    "`references[1].commit` is not of the type that readers expect",
                ],
            ),
            (
                "traps of references",
                r#"{"drySha":"ID","references":[{"commit":{"sha":"abcdef","repoUrl":"git@h:a","date":"x"}}]}"#,
                &[
                    "`references[0].commit.date` is \"x\", not a date in the format of RFC 3339",
                    "`references[0].commit.sha` is \"abcdef\", not the full id of a commit in lower case",
                    "`references[0].commit.repoURL` is \"git@h:a\", not an http or https URL",
                ],
            ),
        ];
        for (rule, text, expected) in rows {
            let text = text.replace("ID", ID);
            let expected: Vec<String> = expected.iter().map(|problem| problem.replace("ID", ID)).collect();
            let found: Vec<String> = check_metadata(text.as_bytes()).iter().map(ToString::to_string).collect();
            assert_eq!(found, expected, "{rule}");
            let of_the_id = |problem: &&String| problem.contains("`drySha`") || problem.contains("JSON");
            let expected: Vec<&String> = expected.iter().filter(of_the_id).collect();
            let found: Vec<String> = check_note(text.as_bytes()).iter().map(ToString::to_string).collect();
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{rule} as a note");
        }
        let large = format!(r#"{{"drySha":"{ID}","body":"{}"}}"#, "a".repeat(BYTES_MAX));
        assert_eq!(check_metadata(large.as_bytes()), [Problem::TooLarge(large.len())]);
    }
}
