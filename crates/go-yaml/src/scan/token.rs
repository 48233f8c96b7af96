//! What the scanner gives.

use std::borrow::Cow;

use super::super::error::Mark;
use super::super::node::Style;

/// A place while scanning: all counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Position {
    pub offset: usize,
    /// In characters from the start of the text; signed because go-yaml looks one before the start.
    pub index: i64,
    pub line: u32,
    pub column: u32,
}

impl Position {
    pub(crate) fn mark(self) -> Mark {
        Mark { line: self.line.saturating_add(1), column: self.column.saturating_add(1), offset: self.offset }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind<'a> {
    StreamStart,
    StreamEnd,
    VersionDirective { major: u8, minor: u8 },
    TagDirective { handle: &'a str, prefix: Cow<'a, str> },
    DocumentStart,
    DocumentEnd,
    BlockSequenceStart,
    BlockMappingStart,
    BlockEnd,
    FlowSequenceStart,
    FlowSequenceEnd,
    FlowMappingStart,
    FlowMappingEnd,
    BlockEntry,
    FlowEntry,
    Key,
    Value,
    Alias(&'a str),
    Anchor(&'a str),
    Tag { handle: &'a str, suffix: Cow<'a, str> },
    Scalar { value: Cow<'a, str>, style: Style },
}

#[derive(Debug, Clone)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub start: Position,
    pub end: Position,
}
