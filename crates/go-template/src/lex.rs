//! Cuts template text into items.

mod inside;
mod outside;

use go_std::strconv::quote_bytes;
use go_std::unicode::is_print;

use super::text::{Rune, decode, decode_last, to_str};

/// What an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Error,
    Bool,
    /// A printable ASCII character that has no other meaning, such as a comma.
    Char,
    CharConstant,
    Complex,
    Assign,
    Declare,
    End,
    Field,
    Identifier,
    LeftDelim,
    LeftParen,
    Number,
    Pipe,
    RawString,
    RightDelim,
    RightParen,
    Space,
    String,
    Text,
    Variable,
    Keyword(Keyword),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keyword {
    Block,
    Break,
    Continue,
    Dot,
    Define,
    Else,
    End,
    If,
    Nil,
    Range,
    Template,
    With,
}

/// A piece of template text.
#[derive(Debug, Clone)]
pub(super) struct Item<'t> {
    pub kind: Kind,
    /// Offset of its first byte.
    pub at: u32,
    pub text: &'t [u8],
    /// 1-based; 0 in an item that was never read.
    pub line: u32,
    /// The message of an [`Kind::Error`].
    pub error: String,
}

impl Item<'_> {
    /// The item before any was read.
    pub(super) fn none() -> Self {
        Item { kind: Kind::Error, at: 0, text: b"", line: 0, error: String::new() }
    }

    /// As messages name it.
    pub(super) fn describe(&self) -> String {
        match self.kind {
            Kind::End => "EOF".to_owned(),
            Kind::Error => self.error.clone(),
            Kind::Keyword(_) => format!("<{}>", to_str(self.text)),
            _ if self.text.len() > 10 => {
                let end = super::text::runes(self.text).nth(10).map_or(self.text.len(), |(offset, _)| offset);
                format!("{}...", to_str(&quote_bytes(self.text.get(..end).unwrap_or(self.text))))
            }
            _ => to_str(&quote_bytes(self.text)).into_owned(),
        }
    }
}

const LEFT: &[u8] = b"{{";
const RIGHT: &[u8] = b"}}";
const BLANKS: &[u8] = b" \t\r\n";
/// A `-` with the blank that belongs to it.
const TRIM_MARKER: usize = 2;

/// Reads items one after the other; after an error only the end follows.
pub(super) struct Lexer<'t> {
    input: &'t [u8],
    pos: usize,
    start: usize,
    is_at_end: bool,
    parens: u32,
    line: u32,
    start_line: u32,
    is_in_action: bool,
}

/// What to do after a state: hand an item out, or go on.
enum Step<'t> {
    Emit(Item<'t>),
    Text,
    Left,
    Comment,
    Inside,
    Right,
    Space,
    Identifier,
    Number,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(input: &'t [u8]) -> Self {
        Lexer { input, pos: 0, start: 0, is_at_end: false, parens: 0, line: 1, start_line: 1, is_in_action: false }
    }

    /// The next item; [`Kind::End`] for ever after the last.
    pub(super) fn item(&mut self) -> Item<'t> {
        let mut step = if self.is_in_action { Step::Inside } else { Step::Text };
        loop {
            step = match step {
                Step::Emit(item) => return item,
                Step::Text => self.text(),
                Step::Left => self.left_delim(),
                Step::Comment => self.comment(),
                Step::Inside => self.inside(),
                Step::Right => self.right_delim(),
                Step::Space => self.space(),
                Step::Identifier => self.identifier(),
                Step::Number => self.number(),
            };
        }
    }

    fn rest(&self) -> &'t [u8] {
        self.input.get(self.pos..).unwrap_or_default()
    }

    fn current(&self) -> &'t [u8] {
        self.input.get(self.start..self.pos).unwrap_or_default()
    }

    fn next(&mut self) -> Option<char> {
        let Some(Rune { char, width, .. }) = decode(self.rest()) else {
            self.is_at_end = true;
            return None;
        };
        self.pos += width;
        self.line += u32::from(char == '\n');
        Some(char)
    }

    fn peek(&self) -> Option<char> {
        decode(self.rest()).map(|rune| rune.char)
    }

    fn backup(&mut self) {
        if self.is_at_end {
            return;
        }
        if let Some(rune) = self.input.get(..self.pos).and_then(decode_last) {
            self.pos -= rune.width;
            self.line -= u32::from(rune.char == '\n');
        }
    }

    fn cut(&mut self, kind: Kind) -> Item<'t> {
        let item =
            Item { kind, at: self.start as u32, text: self.current(), line: self.start_line, error: String::new() };
        self.start = self.pos;
        self.start_line = self.line;
        item
    }

    fn emit(&mut self, kind: Kind) -> Step<'t> {
        Step::Emit(self.cut(kind))
    }

    fn count_lines(&mut self) {
        self.line += self.current().iter().filter(|byte| **byte == b'\n').count() as u32;
    }

    fn ignore(&mut self) {
        self.count_lines();
        self.start = self.pos;
        self.start_line = self.line;
    }

    fn accept(&mut self, set: &str) -> bool {
        let is_accepted = self.peek().is_some_and(|c| set.contains(c));
        if is_accepted {
            self.next();
        }
        is_accepted
    }

    fn accept_run(&mut self, set: &str) {
        while self.accept(set) {}
    }

    fn error(&mut self, message: impl Into<String>) -> Step<'t> {
        let item =
            Item { kind: Kind::Error, at: self.start as u32, text: b"", line: self.start_line, error: message.into() };
        self.start = 0;
        self.pos = 0;
        self.input = b"";
        self.is_in_action = false;
        Step::Emit(item)
    }
}

/// Go's `%#U`.
pub(super) fn code_point(c: char) -> String {
    let code = c as u32;
    if is_print(c) { format!("U+{code:04X} '{c}'") } else { format!("U+{code:04X}") }
}
