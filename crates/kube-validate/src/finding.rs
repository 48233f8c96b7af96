//! What is found, and where.

use std::fmt::{self, Write as _};

/// Whether an object is refused for what was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// An API server refuses the object.
    Refused,
    /// An API server takes the object, and people would want to hear of it.
    Warning,
}

/// What kind of mistake it is, in the words of an API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No kind of this name is served in the group and version.
    NotServed,
    /// There is no such field.
    Unknown,
    /// A value of another type.
    Type,
    /// It has to be there.
    Required,
    /// The value is not one that may be.
    Invalid,
    /// The value is none of a list.
    NotSupported,
    /// It may not be there.
    Forbidden,
    /// It is there twice.
    Duplicate,
    /// What it names is not there.
    NotFound,
    /// It is allowed, and has a consequence.
    Warning,
}

impl Reason {
    /// The word that an API server has for it in its answers.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NotServed => "NotServed",
            Reason::Unknown => "FieldValueUnknown",
            Reason::Type => "FieldValueTypeInvalid",
            Reason::Required => "FieldValueRequired",
            Reason::Invalid => "FieldValueInvalid",
            Reason::NotSupported => "FieldValueNotSupported",
            Reason::Forbidden => "FieldValueForbidden",
            Reason::Duplicate => "FieldValueDuplicate",
            Reason::NotFound => "FieldValueNotFound",
            Reason::Warning => "Warning",
        }
    }
}

/// One mistake, or one thing to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where, as `spec.containers[0].name`; keys of mappings are in brackets. Empty for the object as a whole.
    pub field: String,
    /// The name of the rule, such as `label-key`. A warning is switched off by it.
    pub rule: &'static str,
    /// What kind of mistake it is.
    pub reason: Reason,
    /// A sentence without its subject, which is the field.
    pub message: String,
    /// Whether the object is refused for it.
    pub severity: Severity,
    /// Of a field that no type has, the one that was probably meant.
    pub meant: Option<String>,
    /// The key of the field, a mapping, that it is said of.
    pub key: Option<String>,
}

impl Finding {
    /// Whether a server refuses the object for it.
    pub fn is_refusal(&self) -> bool {
        self.severity == Severity::Refused
    }
}

/// What was found so far, and where one looks now.
#[derive(Debug)]
pub(crate) struct Findings {
    at: String,
    pub(crate) all: Vec<Finding>,
    /// How deep one looks, so that no object makes this recurse without end.
    depth: u32,
    /// How many steps may be taken, and whether more were asked for.
    left: u64,
    is_spent: bool,
    /// Where the findings of the choice begin that is looked at.
    choice: usize,
    /// Expressions of CEL of which it is not known whether a server takes them.
    pub(crate) unjudged: usize,
}

/// Among how many findings one is looked for that says the same.
const NEAR: usize = 32;

/// What it takes to write a finding.
const FINDING: u64 = 30;

/// Deeper than any object is that a server takes.
const DEPTH_MAX: u32 = 150;

impl Findings {
    /// None, and so many steps to find some.
    pub(crate) fn within_steps(left: u64) -> Self {
        Self { at: String::new(), all: Vec::new(), depth: 0, left, is_spent: false, choice: 0, unjudged: 0 }
    }

    /// Takes steps; answers whether there were so many left.
    pub(crate) fn take(&mut self, steps: u64) -> bool {
        match self.left.checked_sub(steps) {
            Some(left) if !self.is_spent => self.left = left,
            _ => self.is_spent = true,
        }
        !self.is_spent
    }

    pub(crate) fn left(&self) -> u64 {
        if self.is_spent { 0 } else { self.left }
    }

    /// Whether more was asked for than there was: what was found is not all.
    pub(crate) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// Looks at a field of where one looks, for which `segment` is `.name` or `[0]`.
    pub(crate) fn within(&mut self, segment: impl fmt::Display, look: impl FnOnce(&mut Self)) {
        let length = self.at.len();
        let _ = write!(self.at, "{segment}");
        self.inside(length, look);
    }

    /// Looks at a field of where one looks by its name.
    pub(crate) fn within_field(&mut self, name: &str, look: impl FnOnce(&mut Self)) {
        let length = self.at.len();
        self.at.push('.');
        self.at.push_str(name);
        self.inside(length, look);
    }

    /// Looks where one is now, which goes `length` bytes back afterwards.
    fn inside(&mut self, length: usize, look: impl FnOnce(&mut Self)) {
        if self.depth < DEPTH_MAX && self.take(1) {
            self.depth += 1;
            look(self);
            self.depth -= 1;
        }
        self.at.truncate(length);
    }

    /// Looks at an item of a list.
    pub(crate) fn within_item(&mut self, index: usize, look: impl FnOnce(&mut Self)) {
        self.within(format_args!("[{index}]"), look);
    }

    fn add(&mut self, at: &str, rule: &'static str, reason: Reason, message: impl Into<String>) {
        if !self.take(FINDING) {
            return;
        }
        let severity = if reason == Reason::Warning { Severity::Warning } else { Severity::Refused };
        let field = format!("{}{at}", self.at);
        let field = field.strip_prefix('.').map(str::to_owned).unwrap_or(field);
        let finding = Finding { field, rule, reason, message: message.into(), severity, meant: None, key: None };
        // What a value of another type is besides is not said, nor anything twice.
        let is_alike = |said: &Finding| {
            *said == finding
                || said.reason == Reason::Type
                || (said.reason, reason) == (Reason::Required, Reason::Required)
        };
        let is_said = |said: &Finding| said.field == finding.field && is_alike(said);
        if !self.all.iter().skip(self.choice).rev().take(NEAR).any(is_said) {
            self.all.push(finding);
        }
    }

    /// Adds a mistake of the field `at`, seen from where one looks: `.name`, `[0].name`, or nothing.
    pub(crate) fn refuse(&mut self, at: &str, rule: &'static str, reason: Reason, message: impl Into<String>) {
        self.add(at, rule, reason, message);
    }

    /// Adds that a field `key` does not exist here; one that was probably meant is near.
    pub(crate) fn unknown(&mut self, key: &str, meant: Option<&str>) {
        let hint = meant.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        let count = self.all.len();
        let text = format!("is not a field of this type{hint}");
        self.add(&format!(".{key}"), "unknown-field", Reason::Unknown, text);
        if let Some(finding) = self.all.get_mut(count) {
            finding.meant = meant.map(str::to_owned);
        }
    }

    /// Adds a mistake in a key of the mapping `at`.
    pub(crate) fn invalid_key(&mut self, at: &str, rule: &'static str, key: &str, wrong: impl fmt::Display) {
        let count = self.all.len();
        self.add(at, rule, Reason::Invalid, format!("has the key {}: {wrong}", shown(key)));
        if let Some(finding) = self.all.get_mut(count) {
            finding.key = Some(key.to_owned());
        }
    }

    pub(crate) fn invalid(&mut self, at: &str, rule: &'static str, message: impl Into<String>) {
        self.add(at, rule, Reason::Invalid, message);
    }

    pub(crate) fn required(&mut self, at: &str, message: impl Into<String>) {
        self.add(at, "required", Reason::Required, message);
    }

    pub(crate) fn warn(&mut self, at: &str, rule: &'static str, message: impl Into<String>) {
        self.add(at, rule, Reason::Warning, message);
    }

    /// Whether a branch of a choice is met, or anything else is not refused: looks, and forgets what it found.
    pub(crate) fn is_clean(&mut self, look: impl FnOnce(&mut Self)) -> bool {
        let (count, choice) = (self.all.len(), self.choice);
        self.choice = count;
        look(self);
        self.choice = choice;
        !self.all.drain(count..).any(|finding| finding.is_refusal())
    }
}

/// A value as it is shown in a message, cut where it is long.
pub(crate) fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(60).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("`{cut}`")
}
