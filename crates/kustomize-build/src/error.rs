//! Why a build fails, with the steps that led there.

use std::fmt;

use dry_files::diag::{Diagnostic, Refusal, Span, clipped};
use dry_files::inputs::InputError;
use dry_files::path::RepoPath;
use dry_files::view::ViewError;

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
    /// The way to the place in the value that is read, the last step first. Of no use once there is a span.
    steps: Vec<Step>,
    label: Option<String>,
    hint: Option<String>,
}

/// One step from a value to a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value of a field.
    Field(String),
    /// The name of a field.
    Name(String),
    /// An item of a list, from 0.
    Item(usize),
    /// A line and a column, from 1, in the text of a scalar, or in the whole text. Column 0: the line as a whole.
    Line(u32, u32),
}

impl From<&str> for Step {
    fn from(field: &str) -> Self {
        Step::Field(field.to_owned())
    }
}

impl From<usize> for Step {
    fn from(index: usize) -> Self {
        Step::Item(index)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Cause {
    /// The input is wrong.
    Mistake,
    /// A node should be a scalar. Kustomize puts other words before it.
    NotScalar,
    /// A plugin is said to be built in, and is not.
    NoBuiltin,
    /// The input is no YAML. Kustomize reports it even when the file could also have been a directory.
    MalformedYaml,
    /// The input may be right, but asks for what is not supported here, or is above a limit.
    Unsupported,
    /// The view could not be read.
    World(ViewError),
}

/// How to mend a link that leads nowhere.
pub(super) const LINK_NOWHERE_HINT: &str = "commit what the link points to, or remove the link";

/// What every step of a build returns.
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// How long a message may be that another one is put around.
const WRAPPED_BYTES_MAX: usize = 16 << 10;

impl Error {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::Mistake)
    }

    /// A node should be a scalar, and is not.
    pub fn not_scalar(message: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::NotScalar)
    }

    /// A plugin is said to be built in, and is not.
    pub fn no_builtin(message: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::NoBuiltin)
    }

    /// Whether a node should be a scalar, and is not.
    pub fn is_not_scalar(&self) -> bool {
        self.0.cause == Cause::NotScalar
    }

    /// Whether a plugin is said to be built in, and is not.
    pub fn is_no_builtin(&self) -> bool {
        self.0.cause == Cause::NoBuiltin
    }

    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::MalformedYaml)
    }

    /// What Kustomize could do and we do not: never tried another way, and reported with the remedy.
    pub fn unsupported(message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::with(message.into(), Cause::Unsupported).hint(remedy)
    }

    /// The build has to stop: the caller that stopped it knows why.
    pub fn out_of_time() -> Self {
        Self::from(ViewError::Backend { path: RepoPath::root(), reason: "the time limit was reached".to_owned() })
    }

    fn with(message: String, cause: Cause) -> Self {
        Self(Box::new(Inner { message, cause, span: None, steps: Vec::new(), label: None, hint: None }))
    }

    /// Puts before the message the context that Kustomize puts there.
    pub fn prefix(mut self, context: impl fmt::Display) -> Self {
        self.0.message = format!("{context}: {}", self.0.message);
        self
    }

    /// Puts another message around this one, unless it is long: what quotes another error makes more of each of its
    /// quotes, so that a message would double with each component in another.
    pub fn map_message(mut self, wrap: impl FnOnce(&str) -> String) -> Self {
        if self.0.message.len() <= WRAPPED_BYTES_MAX {
            self.0.message = wrap(&self.0.message);
        }
        self
    }

    pub(crate) fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }

    /// Adds a step to the way to the place: `step` leads to the part of a value whose reader made the error.
    pub fn inside(mut self, step: impl Into<Step>) -> Self {
        if self.0.span.is_none() {
            self.0.steps.push(step.into());
        }
        self
    }

    /// The way from the value that was read to the place, unless the place itself is known.
    pub fn steps(&self) -> Option<impl Iterator<Item = &Step>> {
        self.0.span.is_none().then(|| self.0.steps.iter().rev())
    }

    /// What is wrong in few words, to be below the place.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.0.label.get_or_insert(label.into());
        self
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint.get_or_insert(hint.into());
        self
    }

    /// Takes place and remedy from the error that led to this one, unless there are some already.
    pub fn caused_by(mut self, other: &Error) -> Self {
        if self.0.span.is_none() {
            self.0.span.clone_from(&other.0.span);
            self.0.steps.clone_from(&other.0.steps);
        }
        if self.0.label.is_none() {
            self.0.label.clone_from(&other.0.label);
        }
        if self.0.hint.is_none() {
            self.0.hint.clone_from(&other.0.hint);
        }
        self
    }

    /// Takes the place, and the words below it, from `other`, the error that is really behind this one.
    pub fn explained_by(mut self, other: &Error) -> Self {
        self.0.span.clone_from(&other.0.span);
        self.0.steps.clone_from(&other.0.steps);
        self.0.label = other.0.label.clone().or_else(|| Some(other.reason()));
        self.caused_by(other)
    }

    /// The error of `text`, read as a path after it was read as what it describes with `not_inline`.
    pub fn of_path_or_text(self, text: &str, not_inline: &Error) -> Self {
        // A text of more than a line was never meant to be a path.
        if text.trim_end().contains('\n') { self.explained_by(not_inline) } else { self }
    }

    /// What is wrong with a text, without the words that say what of.
    fn reason(&self) -> String {
        let mut text = self.message().lines().next().unwrap_or_default();
        for words in ["MalformedYAMLError: ", "yaml: "] {
            text = text.strip_prefix(words).unwrap_or(text);
        }
        // Counted within the text, and often one off.
        let line = text.strip_prefix("line ").and_then(|rest| rest.split_once(": "));
        line.filter(|(line, _)| line.bytes().all(|byte| byte.is_ascii_digit()))
            .map_or(text, |(_, rest)| rest)
            .to_owned()
    }

    /// Whether no other reading of the input may be tried.
    pub fn is_final(&self) -> bool {
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
            Cause::Mistake | Cause::NotScalar | Cause::NoBuiltin | Cause::MalformedYaml | Cause::Unsupported => None,
        }
    }

    /// The error as a diagnostic of the dry commit.
    pub fn diagnostic(&self) -> Diagnostic {
        let refusal = (self.0.cause == Cause::Unsupported).then_some(Refusal::Unsupported);
        let mut diagnostic = Diagnostic::error(self.0.message.trim_end()).refused(refusal);
        diagnostic.span.clone_from(&self.0.span);
        diagnostic.label = clipped(self.0.label.clone().unwrap_or_default());
        diagnostic.hint = self.0.hint.clone().map(clipped);
        diagnostic
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

impl From<InputError> for Error {
    fn from(error: InputError) -> Self {
        let mistake = match error {
            InputError::World(error) => return Self::from(error),
            InputError::Mistake(mistake) => *mistake,
        };
        let shown = match mistake.refusal {
            Some(_) => Self::unsupported(mistake.message, mistake.hint.unwrap_or_default()),
            None => Self::new(mistake.message),
        };
        match mistake.span {
            Some(span) => shown.at(span),
            None => shown,
        }
    }
}

impl From<ViewError> for Error {
    fn from(error: ViewError) -> Self {
        let message = error.to_string();
        let remedy = match &error {
            ViewError::Backend { .. } => return Self::with(message, Cause::World(error)),
            ViewError::Submodule(_) => "copy the files of the submodule into this repository",
            ViewError::LfsPointer(_) => "commit the file itself instead of storing it with Git LFS",
            ViewError::TooLarge { .. } => "split the file",
            ViewError::NoFile { .. } => "commit the file anew: git fsck names the tree that is wrong",
            ViewError::LinkOutside { .. } => "point the link at a file of this repository",
            ViewError::LinkNowhere { .. } => return Self::new(message).hint(LINK_NOWHERE_HINT),
            ViewError::Missing(_) | ViewError::IsDirectory(_) | ViewError::NotDirectory(_) | ViewError::LinkLoop(_) => {
                return Self::new(message);
            }
        };
        Self::unsupported(message, remedy)
    }
}
