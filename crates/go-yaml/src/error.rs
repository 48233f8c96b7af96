//! What can be wrong with a text, in go-yaml's words.

use std::borrow::Cow;
use std::fmt;

use super::Dialect;

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mark {
    /// 1-based. CR LF, CR, LF, U+0085, U+2028 and U+2029 end a line.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
    /// In bytes from the start of the text (of its UTF-8 form, when it is UTF-16), a byte order mark not counted.
    pub offset: usize,
}

/// Why a text can't be read, or a value can't be written.
///
/// `Display` is the text that the reference gives, as templates see it: `yaml: line 3: …`, `json: …`. The line in that
/// text is often one off or missing; [`Error::mark`] has the real place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    prefix: Cow<'static, str>,
    message: Cow<'static, str>,
    mark: Option<Mark>,
}

/// What is wrong with a quoted text that does not end.
pub(super) const UNCLOSED: &str = "found unexpected end of stream";

const TOO_DEEP: &str = "the document is nested deeper than the limit";

impl Error {
    /// An error of the text as a whole, or of a place that go-yaml does not tell.
    pub(super) fn yaml(message: impl Into<Cow<'static, str>>, mark: Option<Mark>) -> Self {
        Self { prefix: Cow::Borrowed("yaml: "), message: message.into(), mark }
    }

    /// An error of Go's `encoding/json` or of a converter, which have no prefix of their own.
    pub(super) fn bare(message: impl Into<Cow<'static, str>>, mark: Option<Mark>) -> Self {
        Self { prefix: Cow::Borrowed(""), message: message.into(), mark }
    }

    pub(super) fn too_many_nodes(mark: Mark) -> Self {
        Self::yaml("the document has more values than the limit", Some(mark))
    }

    pub(super) fn aliases_too_long(mark: Mark, limit: usize) -> Self {
        Self::yaml(format!("aliases expand to more than {limit} bytes"), Some(mark))
    }

    pub(super) fn too_deep(mark: Mark) -> Self {
        Self::yaml(TOO_DEEP, Some(mark))
    }

    pub(super) fn too_long(bytes: usize, limit: usize) -> Self {
        Self::yaml(format!("{bytes} bytes are more than the limit of {limit}"), None)
    }

    /// Puts before the error what a caller was doing: `context: …`.
    pub(super) fn within(self, context: &str) -> Self {
        Self { prefix: Cow::Owned(format!("{context}: {}", self.prefix)), ..self }
    }

    /// What is wrong, without `yaml: ` and without a line.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether collections are inside each other deeper than the limit.
    pub fn is_too_deep(&self) -> bool {
        self.message == TOO_DEEP
    }

    /// The place, when there is one.
    pub fn mark(&self) -> Option<Mark> {
        self.mark
    }

    /// The line of the place, 1-based; 0 when there is none.
    pub fn line(&self) -> u32 {
        self.mark.map_or(0, |mark| mark.line)
    }

    /// The column of the place, 1-based, in characters; 0 when there is none.
    pub fn column(&self) -> u32 {
        self.mark.map_or(0, |mark| mark.column)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.prefix)?;
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Which stage of reading found a fault: the two dialects count its line differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Reader,
    Scanner,
    Parser,
}

/// An error before it is known which dialect words it.
#[derive(Debug, Clone)]
pub(super) struct Fault {
    pub stage: Stage,
    pub message: Cow<'static, str>,
    /// Where the construct with the problem starts.
    pub context: Option<Mark>,
    pub problem: Option<Mark>,
}

impl Fault {
    pub(super) fn scanner(context: Mark, message: &'static str, problem: Mark) -> Box<Self> {
        Box::new(Self {
            stage: Stage::Scanner,
            message: Cow::Borrowed(message),
            context: Some(context),
            problem: Some(problem),
        })
    }

    pub(super) fn parser(context: Option<Mark>, message: &'static str, problem: Mark) -> Box<Self> {
        Box::new(Self { stage: Stage::Parser, message: Cow::Borrowed(message), context, problem: Some(problem) })
    }

    pub(super) fn reader(message: &'static str, problem: Mark) -> Box<Self> {
        Box::new(Self { stage: Stage::Reader, message: Cow::Borrowed(message), context: None, problem: Some(problem) })
    }

    /// The error as `dialect` words it.
    ///
    /// Reference: go-yaml v2.4.3 and v3.0.4 decode.go, `fail`. A line of 0 counts as unknown there, and only
    /// scanner errors are counted from 1 (in v2 only by their problem's place).
    pub(super) fn into_error(self, dialect: Dialect) -> Error {
        let lines = |mark: Option<Mark>| mark.map_or(0, |mark| mark.line.saturating_sub(1));
        let scanner = u32::from(self.stage == Stage::Scanner);
        let (context, problem) = match self.stage {
            Stage::Reader => (0, 0),
            Stage::Scanner | Stage::Parser => (lines(self.context), lines(self.problem)),
        };
        let line = match dialect {
            Dialect::V2 if problem != 0 => problem + scanner,
            Dialect::V2 => context,
            Dialect::V3 if context != 0 => context + scanner,
            Dialect::V3 if problem != 0 => problem + scanner,
            Dialect::V3 => 0,
        };
        let prefix = if line == 0 { Cow::Borrowed("yaml: ") } else { Cow::Owned(format!("yaml: line {line}: ")) };
        // The end of the text says nothing of the quote that is left open.
        let mark = if self.message == UNCLOSED { self.context.or(self.problem) } else { self.problem };
        Error { prefix, message: self.message, mark }
    }
}
