//! Where in an object a field is.

use std::fmt;

/// One step down into a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    /// The entry of a mapping.
    Key(String),
    /// The item of a list that has these fields, and no other item has: `name=web`, as key and value.
    Item(Vec<(String, String)>),
    /// The item of a list, counted from 0: after the change if it is there then, else before it.
    Index(usize),
}

impl Step {
    fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Item(_) | Self::Index(_) => None,
        }
    }
}

/// The steps from an object to one of its fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct FieldPath(Vec<Step>);

impl FieldPath {
    /// The object itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// Goes one step down.
    pub(crate) fn push(&mut self, step: Step) {
        self.0.push(step);
    }

    /// Goes one step up.
    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// The steps, outermost first.
    pub(crate) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// The keys on the way, those of lists without their items.
    pub(crate) fn keys(&self) -> Vec<&str> {
        self.0.iter().filter_map(Step::key).collect()
    }
}

impl FromIterator<Step> for FieldPath {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self(steps.into_iter().collect())
    }
}

/// Whether a key needs no quotes in a path.
pub(super) fn is_plain(key: &str) -> bool {
    !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// `spec.containers[name=web].env[0]`; other keys in brackets and quotes, as `annotations["checksum/config"]`.
impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(key) if is_plain(key) => write!(f, "{}{key}", if index == 0 { "" } else { "." })?,
                Step::Key(key) => write!(f, "[{key:?}]")?,
                Step::Item(fields) => {
                    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key}={value}")).collect();
                    write!(f, "[{}]", fields.join(","))?;
                }
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_read_as_people_write_them() {
        let key = |text: &str| Step::Key(text.to_owned());
        let item = |key: &str, value: &str| Step::Item(vec![(key.to_owned(), value.to_owned())]);
        let rows = [
            (vec![], ""),
            (vec![key("spec"), key("replicas")], "spec.replicas"),
            (
                vec![key("spec"), key("containers"), item("name", "web"), key("args"), Step::Index(2)],
                "spec.containers[name=web].args[2]",
            ),
            (
                vec![key("metadata"), key("annotations"), key("checksum/config")],
                "metadata.annotations[\"checksum/config\"]",
            ),
        ];
        for (steps, expected) in rows {
            assert_eq!(FieldPath(steps).to_string(), expected);
        }
    }
}
