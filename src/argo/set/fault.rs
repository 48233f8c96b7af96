//! Why a set makes nothing.

use std::borrow::Cow;
use std::fmt::Display;

use dry_files::diag::{Diagnostic, Refusal, Span};
use go_template::{Cause, Failure};

/// What a generator without anything to do says.
pub(super) const EMPTY: &str = "ApplicationSet is empty";

/// What upstream says, and where in the document.
///
/// A caller that hands a fault up puts words before it ([`Fault::within`]) and the step that led to it ([`Fault::below`]).
#[derive(Debug)]
pub(super) struct Fault {
    /// Upstream's text, or ours for what only we refuse.
    pub text: String,
    /// Keys and indexes, innermost first.
    steps: Vec<String>,
    /// A place outside of the document, which then counts.
    span: Option<Span>,
    pub hint: Option<String>,
    refusal: Option<Refusal>,
    /// Whether a template met a key that is not there.
    pub is_missing_key: bool,
}

impl Fault {
    pub(super) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        // Upstream looks into the text of the error, too.
        let is_missing_key = text.contains("map has no entry for key") || text.contains("can't evaluate field");
        Self { text, steps: Vec::new(), span: None, hint: None, refusal: None, is_missing_key }
    }

    /// Something that a cluster does and that would not repeat, or is not in the dry tree.
    pub(super) fn refused(text: impl Into<String>, refusal: Refusal, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), refusal: Some(refusal), ..Self::new(text) }
    }

    /// What a template failed with, behind `words`.
    pub(super) fn of_template(words: impl Display, failure: &Failure) -> Self {
        let fault = Self::new(format!("{words}{failure}"));
        match failure.cause() {
            Cause::Refused(_) => Self {
                hint: Some("take such a value from a file of the dry tree".to_owned()),
                refusal: Some(Refusal::Nondeterministic),
                ..fault
            },
            Cause::Engine(_) | Cause::Function(_) | Cause::Raised(_) | Cause::Parse(_) | Cause::Limit(_) => fault,
        }
    }

    /// Puts `words: ` before the text.
    pub(super) fn within(mut self, words: impl Display) -> Self {
        self.text.insert_str(0, &format!("{words}: "));
        self
    }

    /// Adds to the way the entry `step` of what is around.
    pub(super) fn below(mut self, step: impl Display) -> Self {
        self.steps.push(step.to_string());
        self
    }

    /// Adds to the way the `steps` that lead to what is around, outermost first.
    pub(super) fn in_path(mut self, steps: &[String]) -> Self {
        self.steps.extend(steps.iter().rev().cloned());
        self
    }

    /// The way to it so far, outermost first.
    pub(super) fn steps(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().rev().map(String::as_str)
    }

    /// Sets the place in a file, unless there is one.
    pub(super) fn at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// Marks the fault as one that only we refuse.
    pub(super) fn refused_as(mut self, refusal: Refusal) -> Self {
        self.refusal = Some(refusal);
        self
    }

    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert(hint.into());
        self
    }

    /// The report; `place_of` finds what keys and indexes lead to.
    pub(super) fn diagnostic(self, place_of: impl FnOnce(&[&str]) -> Span) -> Diagnostic {
        let steps: Vec<&str> = self.steps.iter().rev().map(String::as_str).collect();
        let diagnostic = Diagnostic::error(self.text).refused(self.refusal);
        let diagnostic = match self.hint {
            Some(hint) => diagnostic.hint(hint),
            None => diagnostic,
        };
        diagnostic.at(self.span.unwrap_or_else(|| place_of(&steps)))
    }
}

/// How much of a template a message quotes: what is wrong with it is behind, and has to be seen.
const QUOTE_BYTES_MAX: usize = 6 << 10;
const QUOTE_LINES_MAX: usize = 200;

/// The beginning of a text that is long, as a message quotes it.
pub(super) fn quoted_part(text: &str) -> Cow<'_, str> {
    let lines = text.match_indices('\n').nth(QUOTE_LINES_MAX - 1).map_or(text.len(), |(at, _)| at);
    match lines.min(QUOTE_BYTES_MAX) {
        end if end < text.len() => {
            let start = (0..=end).rev().find_map(|end| text.get(..end)).unwrap_or_default();
            Cow::Owned(format!("{start}…"))
        }
        _ => Cow::Borrowed(text),
    }
}

pub(super) type Result<T> = std::result::Result<T, Fault>;
