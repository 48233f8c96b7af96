//! What can go wrong, level by level, in Go's words.

use std::fmt;
use std::sync::Arc;

use go_yaml::quote;

use super::source::{Place, Site};

/// Template text that can't be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("template: {template}:{line}: {message}")]
pub struct ParseError {
    /// The name under which the text was parsed.
    pub template: Arc<str>,
    /// 1-based.
    pub line: u32,
    /// What Go says of it.
    pub message: String,
}

/// One template on the way to a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Where execution stood.
    pub place: Place,
    /// The template that was being executed: a definition, or the file itself.
    pub executing: Arc<str>,
    /// The text of the node, as Go prints it.
    pub node: String,
    /// The function that failed, when one did; the next level is inside of it.
    pub calling: Option<String>,
    /// What that function puts before the error it met, such as `error during tpl function execution for "…": `.
    pub prefix: String,
}

/// The root of a failure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// The template engine itself: a field of nil, a wrong argument type.
    #[error("{0}")]
    Engine(String),
    /// A function's own error.
    #[error("{0}")]
    Function(String),
    /// The chart's author said so with `fail` or `required`.
    #[error("{0}")]
    Raised(String),
    /// A text passed to a function such as `tpl` is not a template.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// The function's result would differ from run to run.
    #[error("{0}")]
    Refused(Box<RefusedCall>),
    /// A limit was reached.
    #[error("{0}")]
    Limit(Limit),
}

/// A function that was not run, because rendering must repeat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Needs randomness.
    #[error("`{0}` is random: its result would change with every render")]
    Random(String),
    /// Needs the clock.
    #[error("`{0}` reads the clock: its result would change with every render")]
    Clock(String),
    /// Can't be made to repeat even when an admin allows it.
    #[error("`{0}` cannot be made to repeat: {1}")]
    Unrepeatable(String, &'static str),
}

impl Refused {
    /// The function.
    pub fn function(&self) -> &str {
        match self {
            Refused::Random(name) | Refused::Clock(name) | Refused::Unrepeatable(name, _) => name,
        }
    }
}

/// A call that was refused, or would be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{refused}")]
pub struct RefusedCall {
    /// Why.
    pub refused: Refused,
    /// What distinguishes it from other calls.
    pub site: Site,
    /// The calls of templates that led there, outermost first, and its own place; of very many some in between are left
    /// out. Those by the `template` action are among them, which [`Failure::levels`] leaves out, as Go does.
    pub places: Vec<Place>,
    /// The text of the call, as Go prints it.
    pub node: String,
}

/// A limit that template code ran into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Limit {
    /// Too many steps.
    #[error("template execution takes more than {0} steps")]
    Steps(u64),
    /// Too much text and too many values made.
    #[error("template execution makes more than {0} bytes")]
    Bytes(u64),
    /// Templates, calls and control structures nested too deep.
    #[error("templates are nested more than {0} levels deep")]
    Depth(u32),
    /// A value that contains others too deep, or itself.
    #[error("a value is nested more than {0} levels deep, or contains itself")]
    ValueDepth(u32),
    /// A value that contains too many others to be encoded.
    #[error("a value contains more than {0} others")]
    Values(usize),
    /// A regular expression that is too large, or that would be searched for too long.
    #[error("a regular expression takes too long: it, or the text that it is matched with, is too long")]
    Regex,
    /// The caller's time is up.
    #[error("template execution takes too long")]
    Time,
}

/// Why template code stopped: a cause, and the templates that lead to it.
///
/// A function fails with one that has no levels of its own; the engine adds a level for each template that it leaves.
/// Displays as Go prints it, all in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    prefix: String,
    /// Innermost first, because that is how they come.
    levels: Vec<Level>,
    cause: Cause,
    /// How long all prefixes are together.
    prefix_bytes: usize,
}

/// How long all texts may be that functions put before an error: each call inside another adds one.
const PREFIX_BYTES_MAX: usize = 1 << 20;

impl Failure {
    /// A failure by its cause.
    pub fn new(cause: Cause) -> Self {
        Self(Box::new(Inner { prefix: String::new(), levels: Vec::new(), cause, prefix_bytes: 0 }))
    }

    /// A function's own error.
    pub fn message(text: impl Into<String>) -> Self {
        Self::new(Cause::Function(text.into()))
    }

    /// Puts a text before everything so far, as a function does when it passes on an error.
    pub fn within(self, prefix: &str) -> Self {
        self.within_made(|| prefix.to_owned())
    }

    /// Puts a text before everything so far. The text is made only if there is room for one more.
    pub fn within_made(mut self, prefix: impl FnOnce() -> String) -> Self {
        if self.0.prefix_bytes <= PREFIX_BYTES_MAX {
            let prefix = prefix();
            self.0.prefix_bytes += prefix.len();
            self.0.prefix.insert_str(0, &prefix);
        }
        self
    }

    /// The root.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The templates that were being executed, outermost first. Empty for a failure outside any template.
    pub fn levels(&self) -> impl ExactSizeIterator<Item = &Level> {
        self.0.levels.iter().rev()
    }

    /// What precedes the outermost level; empty unless a function added it last.
    pub fn prefix(&self) -> &str {
        &self.0.prefix
    }

    /// Adds the level of the template that is being left.
    pub(super) fn leave(mut self, place: Place, executing: Arc<str>, node: String, calling: Option<String>) -> Self {
        let prefix = std::mem::take(&mut self.0.prefix);
        self.0.levels.push(Level { place, executing, node, calling, prefix });
        self
    }
}

impl From<Cause> for Failure {
    fn from(cause: Cause) -> Self {
        Self::new(cause)
    }
}

impl From<Limit> for Failure {
    fn from(limit: Limit) -> Self {
        Self::new(Cause::Limit(limit))
    }
}

impl From<ParseError> for Failure {
    fn from(error: ParseError) -> Self {
        Self::new(Cause::Parse(error))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.prefix)?;
        for level in self.levels() {
            write!(f, "template: {}: executing {} at <{}>: ", level.place, quote(&level.executing), level.node)?;
            if let Some(function) = &level.calling {
                write!(f, "error calling {function}: ")?;
            }
            f.write_str(&level.prefix)?;
        }
        write!(f, "{}", self.0.cause)
    }
}

impl std::error::Error for Failure {}
