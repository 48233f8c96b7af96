//! What is wrong with a dry commit, and where.
//!
//! A [`Diagnostic`] is a value: stages and engines make them and hand them up, only the edge prints them. It says
//! what is wrong, points at the place, and tells how to mend it. How it reads is defined here, in one `Display`.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::path::RepoPath;

/// A place in a file of the dry commit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub path: RepoPath,
    /// 1-based; 0 when only the file is known.
    pub line: u32,
    /// 1-based, in characters; 0 when only the line is known.
    pub column: u32,
    /// How many characters the place takes; at least 1 when the column is known.
    pub width: u32,
    /// The text of the line, when whoever made the span had it at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Span {
    /// The file as a whole.
    pub fn file(path: RepoPath) -> Self {
        Self { path, line: 0, column: 0, width: 0, text: None }
    }

    /// One place of a file, one character wide.
    pub fn at(path: RepoPath, line: u32, column: u32) -> Self {
        Self { path, line, column, width: 1, text: None }
    }

    /// The same place with the text of its line, cut out of the text of the whole file.
    pub fn quoting(mut self, file: &str) -> Self {
        let index = (self.line as usize).checked_sub(1);
        self.text = index.and_then(|index| file.lines().nth(index)).map(str::to_owned);
        self
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", printable(self.path.as_str()))?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.line > 0 && self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; hydration goes on.
    Warning,
    /// The environment branches that it touches keep their commits.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Why something is not rendered that the official tools might render.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// Its result would differ from render to render.
    Nondeterministic,
    /// A chart that it depends on is not in the repository.
    MissingDependency,
    /// A file that it needs is not in the repository: in a submodule, in Git LFS, behind a link that leads out.
    Elsewhere,
    /// It asks for what is not supported, such as remote bases and functions that run programs.
    Unsupported,
}

/// One mistake of a dry commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without its full stop. May have several lines: an engine's own error text.
    pub message: String,
    /// The place, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub span: Option<Span>,
    /// What to say of the place, beside the marker.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// The Application that failed by it, when the place alone does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// How to mend it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Why this is not rendered, when the tools might render it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
}

impl Diagnostic {
    /// An error without a place yet.
    pub fn error(message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            message: message.into(),
            span: None,
            label: String::new(),
            application: None,
            hint: None,
            refusal: None,
        }
    }

    /// A warning without a place yet.
    pub fn warning(message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(message) }
    }

    /// The same with its place.
    pub fn at(mut self, span: Span) -> Self {
        self.span = Some(span);
        self
    }

    /// The same with a word on the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with the Application that failed by it.
    pub fn of(mut self, application: impl Into<String>) -> Self {
        self.application = Some(application.into());
        self
    }

    /// The same with the way to mend it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same as a refusal, if it is one.
    pub fn refused(mut self, refusal: Option<Refusal>) -> Self {
        self.refusal = refusal;
        self
    }

    /// Whether this stops the environment branches that it touches.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Several lines, none ending in a blank; text that was pushed to us cannot move the reader's cursor.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = self.message.lines();
        write!(f, "{}: {}", self.severity, printable(lines.next().unwrap_or_default()))?;
        for line in lines {
            write!(f, "\n  {}", printable(line))?;
        }
        if let Some(span) = &self.span {
            let number = if span.text.is_some() { span.line.to_string() } else { String::new() };
            let margin = " ".repeat(number.len().max(1));
            write!(f, "\n {margin}--> {span}")?;
            if let Some(text) = &span.text {
                let text = printable(text.trim_end());
                write!(f, "\n {margin} |\n {number} | {text}")?;
                if span.column > 0 {
                    let before = " ".repeat(span.column as usize - 1);
                    let marker = "^".repeat(span.width.max(1) as usize);
                    let line = format!("\n {margin} | {before}{marker} {}", printable(&self.label));
                    f.write_str(line.trim_end())?;
                }
            }
        }
        if let Some(application) = &self.application {
            write!(f, "\n  = application: {}", printable(application))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  = hint: {}", printable(hint))?;
        }
        Ok(())
    }
}

/// The text with every control character replaced, a tab by one blank: safe to send to a terminal.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => '\u{fffd}',
            c => c,
        })
        .collect()
}

/// An error and its causes on one line.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn a_diagnostic_shows_its_place() {
        let mut span =
            Span::at(path("applications/prod/web.yaml"), 17, 13).quoting(&("\n".repeat(16) + "      path: web"));
        span.width = 3;
        let diagnostic = Diagnostic::error("`web` on `environments/prod` is written by `web-eu` already")
            .at(span)
            .label("also set at applications/prod/web-eu.yaml:17")
            .hint("give each Application of a branch a folder of its own");
        assert_eq!(
            diagnostic.to_string(),
            "error: `web` on `environments/prod` is written by `web-eu` already
   --> applications/prod/web.yaml:17:13
    |
 17 |       path: web
    |             ^^^ also set at applications/prod/web-eu.yaml:17
  = hint: give each Application of a branch a folder of its own"
        );
    }

    #[test]
    fn a_diagnostic_of_a_file_names_it() {
        let diagnostic = Diagnostic::warning("unknown field `colour`").at(Span::file(path("a.yaml")));
        assert_eq!(diagnostic.to_string(), "warning: unknown field `colour`\n  --> a.yaml");
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let diagnostic = Diagnostic::error("bad \u{1b}[2J value\nsecond\r line");
        assert_eq!(diagnostic.to_string(), "error: bad \u{fffd}[2J value\n  second\u{fffd} line");
    }
}
