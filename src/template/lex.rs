//! Cuts template text into items.

use super::quote::quote;
use super::text::{Rune, decode, decode_last, to_str};
use super::unicode::{is_digit, is_letter};
use crate::yaml::is_print;

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
    pub fn none() -> Self {
        Item { kind: Kind::Error, at: 0, text: b"", line: 0, error: String::new() }
    }

    /// As messages name it.
    pub fn describe(&self) -> String {
        match self.kind {
            Kind::End => "EOF".to_owned(),
            Kind::Error => self.error.clone(),
            Kind::Keyword(_) => format!("<{}>", to_str(self.text)),
            _ if self.text.len() > 10 => {
                let end = super::text::runes(self.text).nth(10).map_or(self.text.len(), |(offset, _)| offset);
                format!("{}...", to_str(&quote(self.text.get(..end).unwrap_or(self.text))))
            }
            _ => to_str(&quote(self.text)).into_owned(),
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
    pub fn new(input: &'t [u8]) -> Self {
        Lexer { input, pos: 0, start: 0, is_at_end: false, parens: 0, line: 1, start_line: 1, is_in_action: false }
    }

    /// The next item; [`Kind::End`] for ever after the last.
    pub fn item(&mut self) -> Item<'t> {
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

    fn text(&mut self) -> Step<'t> {
        let Some(found) = find(self.rest(), LEFT) else {
            self.pos = self.input.len();
            if self.pos > self.start {
                self.count_lines();
                return self.emit(Kind::Text);
            }
            return self.emit(Kind::End);
        };
        if found > 0 {
            self.pos += found;
            let after = self.input.get(self.pos + LEFT.len()..).unwrap_or_default();
            let trimmed = if has_left_trim_marker(after) { blank_tail(self.current()) } else { 0 };
            self.pos -= trimmed;
            self.count_lines();
            let item = self.cut(Kind::Text);
            self.pos += trimmed;
            self.ignore();
            if !item.text.is_empty() {
                return Step::Emit(item);
            }
        }
        Step::Left
    }

    fn left_delim(&mut self) -> Step<'t> {
        self.pos += LEFT.len();
        let marker = if has_left_trim_marker(self.rest()) { TRIM_MARKER } else { 0 };
        if self.rest().get(marker..).is_some_and(|rest| rest.starts_with(b"/*")) {
            self.pos += marker;
            self.ignore();
            return Step::Comment;
        }
        let item = self.cut(Kind::LeftDelim);
        self.is_in_action = true;
        self.pos += marker;
        self.ignore();
        self.parens = 0;
        Step::Emit(item)
    }

    fn comment(&mut self) -> Step<'t> {
        self.pos += 2;
        let Some(found) = find(self.rest(), b"*/") else { return self.error("unclosed comment") };
        self.pos += found + 2;
        let Some(is_trimming) = self.at_right_delim() else {
            return self.error("comment ends before closing delimiter");
        };
        if is_trimming {
            self.pos += TRIM_MARKER;
        }
        self.pos += RIGHT.len();
        if is_trimming {
            self.pos += blank_head(self.rest());
        }
        self.ignore();
        Step::Text
    }

    /// `None` when no right delimiter stands here; else whether it has a trim marker.
    fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if has_right_trim_marker(rest) && rest.get(TRIM_MARKER..).is_some_and(|rest| rest.starts_with(RIGHT)) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    fn right_delim(&mut self) -> Step<'t> {
        let is_trimming = self.at_right_delim() == Some(true);
        if is_trimming {
            self.pos += TRIM_MARKER;
            self.ignore();
        }
        self.pos += RIGHT.len();
        let item = self.cut(Kind::RightDelim);
        if is_trimming {
            self.pos += blank_head(self.rest());
            self.ignore();
        }
        self.is_in_action = false;
        Step::Emit(item)
    }

    fn inside(&mut self) -> Step<'t> {
        if self.at_right_delim().is_some() {
            if self.parens == 0 {
                return Step::Right;
            }
            return self.error("unclosed left paren");
        }
        let Some(c) = self.next() else { return self.error("unclosed action") };
        match c {
            ' ' | '\t' | '\r' | '\n' => {
                self.backup();
                Step::Space
            }
            '=' => self.emit(Kind::Assign),
            ':' if self.next() == Some('=') => self.emit(Kind::Declare),
            ':' => self.error("expected :="),
            '|' => self.emit(Kind::Pipe),
            '"' => self.quoted('"', Kind::String, "unterminated quoted string"),
            '`' => self.raw_string(),
            '$' => self.field_or_variable(Kind::Variable),
            '\'' => self.quoted('\'', Kind::CharConstant, "unterminated character constant"),
            '.' if self.rest().first().is_some_and(|byte| !byte.is_ascii_digit()) => {
                self.field_or_variable(Kind::Field)
            }
            '.' | '+' | '-' | '0'..='9' => {
                self.backup();
                Step::Number
            }
            c if is_word(c) => {
                self.backup();
                Step::Identifier
            }
            '(' => {
                self.parens += 1;
                self.emit(Kind::LeftParen)
            }
            ')' => match self.parens.checked_sub(1) {
                Some(parens) => {
                    self.parens = parens;
                    self.emit(Kind::RightParen)
                }
                None => self.error("unexpected right paren"),
            },
            c if c.is_ascii() && is_print(c) => self.emit(Kind::Char),
            c => self.error(format!("unrecognized character in action: {}", code_point(c))),
        }
    }

    fn space(&mut self) -> Step<'t> {
        let mut count = 0;
        while self.peek().is_some_and(is_blank) {
            self.next();
            count += 1;
        }
        // The last blank belongs to the trim marker of a right delimiter, when there is one.
        let from_last = self.pos.checked_sub(1).and_then(|at| self.input.get(at..)).unwrap_or_default();
        if has_right_trim_marker(from_last) && from_last.get(TRIM_MARKER..).is_some_and(|rest| rest.starts_with(RIGHT))
        {
            self.backup();
            if count == 1 {
                return Step::Right;
            }
        }
        self.emit(Kind::Space)
    }

    fn identifier(&mut self) -> Step<'t> {
        while self.peek().is_some_and(is_word) {
            self.next();
        }
        if !self.is_at_terminator() {
            return self.bad_character();
        }
        let kind = match self.current() {
            b"true" | b"false" => Kind::Bool,
            word => keyword(word).map_or(Kind::Identifier, Kind::Keyword),
        };
        self.emit(kind)
    }

    fn field_or_variable(&mut self, kind: Kind) -> Step<'t> {
        if self.is_at_terminator() {
            return self.emit(if kind == Kind::Variable { kind } else { Kind::Keyword(Keyword::Dot) });
        }
        while self.peek().is_some_and(is_word) {
            self.next();
        }
        if !self.is_at_terminator() {
            return self.bad_character();
        }
        self.emit(kind)
    }

    fn bad_character(&mut self) -> Step<'t> {
        let c = self.peek().unwrap_or_default();
        self.error(format!("bad character {}", code_point(c)))
    }

    fn is_at_terminator(&self) -> bool {
        match self.peek() {
            None | Some(' ' | '\t' | '\r' | '\n' | '.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(_) => self.rest().starts_with(RIGHT),
        }
    }

    fn quoted(&mut self, mark: char, kind: Kind, unterminated: &str) -> Step<'t> {
        loop {
            match self.next() {
                Some('\\') if !matches!(self.next(), None | Some('\n')) => {}
                None | Some('\\' | '\n') => return self.error(unterminated),
                Some(c) if c == mark => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    fn raw_string(&mut self) -> Step<'t> {
        loop {
            match self.next() {
                None => return self.error("unterminated raw quoted string"),
                Some('`') => return self.emit(Kind::RawString),
                Some(_) => {}
            }
        }
    }

    fn number(&mut self) -> Step<'t> {
        let mut is_good = self.scan_number();
        let mut kind = Kind::Number;
        if is_good && matches!(self.peek(), Some('+' | '-')) {
            is_good = self.scan_number() && self.current().last() == Some(&b'i');
            kind = Kind::Complex;
        }
        if is_good {
            return self.emit(kind);
        }
        let text = to_str(&quote(self.current())).into_owned();
        self.error(format!("bad number syntax: {text}"))
    }

    fn scan_number(&mut self) -> bool {
        const DECIMAL: &str = "0123456789_";
        const HEX: &str = "0123456789abcdefABCDEF_";
        self.accept("+-");
        let mut digits = DECIMAL;
        if self.accept("0") {
            if self.accept("xX") {
                digits = HEX;
            } else if self.accept("oO") {
                digits = "01234567_";
            } else if self.accept("bB") {
                digits = "01_";
            }
        }
        self.accept_run(digits);
        if self.accept(".") {
            self.accept_run(digits);
        }
        if digits == DECIMAL && self.accept("eE") || digits == HEX && self.accept("pP") {
            self.accept("+-");
            self.accept_run(DECIMAL);
        }
        self.accept("i");
        if self.peek().is_some_and(is_word) {
            self.next();
            return false;
        }
        true
    }
}

fn keyword(word: &[u8]) -> Option<Keyword> {
    Some(match word {
        b"block" => Keyword::Block,
        b"break" => Keyword::Break,
        b"continue" => Keyword::Continue,
        b"define" => Keyword::Define,
        b"else" => Keyword::Else,
        b"end" => Keyword::End,
        b"if" => Keyword::If,
        b"nil" => Keyword::Nil,
        b"range" => Keyword::Range,
        b"template" => Keyword::Template,
        b"with" => Keyword::With,
        _ => return None,
    })
}

/// Go's `%#U`.
pub(super) fn code_point(c: char) -> String {
    let code = c as u32;
    if is_print(c) { format!("U+{code:04X} '{c}'") } else { format!("U+{code:04X}") }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn is_word(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}

fn has_left_trim_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', blank, ..] if BLANKS.contains(blank))
}

fn has_right_trim_marker(text: &[u8]) -> bool {
    matches!(text, [blank, b'-', ..] if BLANKS.contains(blank))
}

fn blank_head(text: &[u8]) -> usize {
    text.iter().take_while(|byte| BLANKS.contains(byte)).count()
}

fn blank_tail(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| BLANKS.contains(byte)).count()
}
