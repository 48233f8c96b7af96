use std::fmt;

use crate::diag::{Diagnostic, Refusal, Span};
use crate::view::ViewError;

/// Why a kustomization cannot be built.
///
/// The message is Kustomize's own text, with paths relative to the root of the view where Kustomize writes absolute
/// ones. Callers that only want to show it take [`Error::diagnostic`]; who must tell a mistake of the dry commit from
/// a repository that cannot be read asks [`Error::world`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    message: String,
    cause: Cause,
    span: Option<Span>,
    hint: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    /// The input is wrong.
    Mistake,
    /// The input is no YAML. Kustomize reports it even when the file could also have been a directory.
    MalformedYaml,
    /// The input may be right, but asks for what is not supported here, or is above a limit.
    Unsupported,
    /// The view could not be read.
    World(ViewError),
}

/// What every step of a build returns.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::Mistake)
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::MalformedYaml)
    }

    /// What Kustomize could do and we do not: never tried another way, and told with the remedy.
    pub(crate) fn unsupported(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::Unsupported).hint(remedy)
    }

    fn with(message: String, cause: Cause) -> Self {
        Self(Box::new(Inner { message, cause, span: None, hint: None }))
    }

    /// The same error with the context that Kustomize puts before it.
    pub(crate) fn prefix(mut self, context: impl fmt::Display) -> Self {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// The same error with another message around it.
    pub(crate) fn map_message(mut self, wrap: impl FnOnce(&str) -> String) -> Self {
        self.0.message = wrap(&self.0.message);
        self
    }

    pub(crate) fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert(hint.into());
        self
    }

    /// Takes place and remedy from the error that led to this one, unless there are some already.
    pub(crate) fn caused_by(mut self, other: &Error) -> Self {
        if self.0.span.is_none() {
            self.0.span.clone_from(&other.0.span);
        }
        if self.0.hint.is_none() {
            self.0.hint.clone_from(&other.0.hint);
        }
        self
    }

    /// Whether no other reading of the input may be tried.
    pub(crate) fn is_final(&self) -> bool {
        matches!(self.0.cause, Cause::Unsupported | Cause::World(_))
    }

    pub(crate) fn is_malformed_yaml(&self) -> bool {
        self.0.cause == Cause::MalformedYaml
    }

    /// What was wrong, in Kustomize's words.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The repository's own failure, when it could not be read: then this is no mistake of the dry commit.
    pub fn world(&self) -> Option<&ViewError> {
        match &self.0.cause {
            Cause::World(error) => Some(error),
            Cause::Mistake | Cause::MalformedYaml | Cause::Unsupported => None,
        }
    }

    /// The error as a diagnostic of the dry commit.
    pub fn diagnostic(&self) -> Diagnostic {
        let refusal = (self.0.cause == Cause::Unsupported).then_some(Refusal::Unsupported);
        let mut diagnostic = Diagnostic::error(self.0.message.trim_end()).refused(refusal);
        diagnostic.span.clone_from(&self.0.span);
        diagnostic.hint.clone_from(&self.0.hint);
        diagnostic
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<ViewError> for Error {
    fn from(error: ViewError) -> Self {
        let message = error.to_string();
        let remedy = match &error {
            ViewError::Backend { .. } => return Self::with(message, Cause::World(error)),
            ViewError::Submodule(_) => "copy the files of the submodule into this repository",
            ViewError::LfsPointer(_) => "commit the file itself instead of storing it with Git LFS",
            ViewError::TooLarge { .. } => "split the file",
            ViewError::LinkOutside { .. } => "point the link at a file of this repository",
            ViewError::Missing(_) | ViewError::IsDirectory(_) | ViewError::NotDirectory(_) | ViewError::LinkLoop(_) => {
                return Self::new(message);
            }
        };
        Self::unsupported(message, remedy)
    }
}
