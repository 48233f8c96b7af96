//! Places in the text of a template.

use std::fmt;
use std::sync::Arc;

use super::text::Text;

/// A text that was parsed: what positions point into.
#[derive(Debug)]
pub(super) struct Source {
    pub name: Arc<str>,
    pub text: Text,
}

impl Source {
    /// Line and column of an offset.
    pub(super) fn place(&self, offset: u32) -> Place {
        let before = self.text.get(..offset as usize).unwrap_or(&self.text);
        let line = before.iter().filter(|byte| **byte == b'\n').count() as u32 + 1;
        let start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        Place { template: Arc::clone(&self.name), line, column: (before.len() - start) as u32 }
    }
}

/// Where in a template text something is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The name under which the text was parsed: for charts the path of the file, in which it may be one of many
    /// definitions.
    pub template: Arc<str>,
    /// 1-based.
    pub line: u32,
    /// 0-based, in bytes, as Go counts.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.template, self.line, self.column)
    }
}

/// What distinguishes the place of a call from others, together with all calls of templates that lead there; the same in every
/// render of the same templates. Calls in a loop share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Site(pub(super) u64);

/// Something that messages can point at.
pub(super) trait Spot {
    fn at(&self) -> u32;
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl fmt::Display for dyn Spot + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}
