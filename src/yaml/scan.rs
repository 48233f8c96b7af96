//! Text to tokens.
//!
//! Tokens and their places are libyaml's as go-yaml changed it. What is not on the page is inferred here: the start
//! and end of block collections from indentation, and keys that have no `?` from the `:` behind them, for which a
//! token may have to wait in the queue (`simple keys`).
//!
//! The two dialects differ in two ways: v3 gathers comments, and to place them it reads two tokens ahead.
//!
//! Reference: go-yaml v3.0.4 and v2.4.3 scannerc.go.

mod comment;
mod scalar;
mod tag;

use std::borrow::Cow;
use std::collections::VecDeque;

use super::Dialect;
use super::error::{Fault, Mark};
use super::node::Style;
pub(super) use comment::{Comment, Place};

pub(super) type Result<T> = std::result::Result<T, Box<Fault>>;

/// A place while scanning: all counted from 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub offset: usize,
    /// In characters from the start of the text; signed because go-yaml looks one before the start.
    pub index: i64,
    pub line: u32,
    pub column: u32,
}

impl Position {
    pub fn mark(self) -> Mark {
        Mark { line: self.line.saturating_add(1), column: self.column.saturating_add(1), offset: self.offset }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TokenKind<'a> {
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
pub(super) struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub start: Position,
    pub end: Position,
}

/// A place where a key may have started, one for each flow level.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// In the block context at the column of the mapping: whatever stands here has to be a key.
    required: bool,
    token_number: usize,
    at: Position,
}

/// Levels of flow collections, and of indentation, that go-yaml allows.
const LEVELS_MAX: usize = 10_000;
/// Characters that may stand between the start of a key and its `:`.
const SIMPLE_KEY_MAX: i64 = 1024;

pub(super) struct Scanner<'a> {
    text: &'a str,
    fault: Option<Box<Fault>>,
    dialect: Dialect,
    at: Position,
    /// Line breaks since the last character that is no blank.
    newlines: u32,
    started: bool,
    flow_level: usize,
    /// The column of the innermost block collection, -1 outside of any.
    indent: i64,
    indents: Vec<i64>,
    simple_key_allowed: bool,
    simple_keys: Vec<SimpleKey>,
    /// Which token may turn out to be the start of which simple key, in the order of the tokens.
    simple_keys_by_token: Vec<(usize, usize)>,
    tokens: VecDeque<Token<'a>>,
    tokens_parsed: usize,
    comments: VecDeque<Comment>,
}

impl<'a> Scanner<'a> {
    /// A scanner of `text`. `fault` is what is wrong behind the end of `text`, met when the scanner gets there.
    pub fn new(text: &'a str, fault: Option<Box<Fault>>, dialect: Dialect) -> Self {
        Self {
            text,
            fault,
            dialect,
            at: Position::default(),
            newlines: 0,
            started: false,
            flow_level: 0,
            indent: -1,
            indents: Vec::new(),
            simple_key_allowed: true,
            simple_keys: vec![SimpleKey::default()],
            simple_keys_by_token: Vec::new(),
            tokens: VecDeque::new(),
            tokens_parsed: 0,
            comments: VecDeque::new(),
        }
    }

    /// The next token. It stays in the queue.
    pub fn peek(&mut self) -> Result<&Token<'a>> {
        self.fill()?;
        // `fill` leaves at least one token.
        self.tokens.front().ok_or_else(|| self.unexpected_end())
    }

    /// Takes the next token out of the queue.
    pub fn next(&mut self) -> Result<Token<'a>> {
        self.fill()?;
        self.tokens_parsed += 1;
        self.tokens.pop_front().ok_or_else(|| self.unexpected_end())
    }

    /// The next comment that belongs to the token at `index` characters or before it, heads only if `heads`.
    pub fn take_comment(&mut self, index: i64, heads: bool) -> Option<Comment> {
        let comment = self.comments.front()?;
        if comment.token.index > index || (comment.place == Place::Head && !heads) {
            return None;
        }
        self.comments.pop_front()
    }

    /// Words a fault that a reader of tokens found: what is wrong behind the end of the text goes first when the
    /// scanner has got there.
    pub fn faulty(&mut self, fault: Box<Fault>) -> Box<Fault> {
        if self.at.offset + 4 >= self.text.len() { self.fault.take().unwrap_or(fault) } else { fault }
    }

    fn unexpected_end(&self) -> Box<Fault> {
        Fault::parser(None, "attempted to go past the end of stream; corrupted value?", self.at.mark())
    }

    fn fill(&mut self) -> Result<()> {
        let ahead = match self.dialect {
            Dialect::V2 => 0,
            Dialect::V3 => 2,
        };
        loop {
            if self.tokens.len() > ahead {
                // A token that may be the start of a key has to wait until that is known.
                match self.simple_key_of_token(self.tokens_parsed) {
                    None => return Ok(()),
                    Some(level) => {
                        if !self.simple_key_is_valid(level)? {
                            return Ok(());
                        }
                    }
                }
            }
            self.fetch()?;
        }
    }

    fn fetch(&mut self) -> Result<()> {
        if !self.started {
            self.started = true;
            self.push(TokenKind::StreamStart, self.at);
            return Ok(());
        }
        let scanned_from = self.at;
        self.skip_to_token();
        self.unroll_indent(i64::from(self.at.column), scanned_from);
        if self.is_end() {
            return self.fetch_stream_end();
        }
        let first = self.byte(0);
        if self.at.column == 0 {
            if first == b'%' {
                return self.fetch_directive();
            }
            if self.at_document_indicator() {
                return self.fetch_document_indicator(first);
            }
        }
        let follows = match first {
            b':' => self.flow_level == 0,
            b',' => self.flow_level > 0,
            _ => false,
        };
        let owner = if follows { self.tokens.back().map_or(self.at, |token| token.start) } else { self.at };
        self.fetch_content(first)?;
        if self.dialect == Dialect::V3 && !matches!(self.tokens.back(), Some(Token { kind: TokenKind::BlockEntry, .. }))
        {
            self.scan_line_comment(owner);
        }
        Ok(())
    }

    fn fetch_content(&mut self, first: u8) -> Result<()> {
        let blank_follows = self.is_blank_or_end(1);
        let block = self.flow_level == 0;
        match first {
            b'[' => self.fetch_flow_start(TokenKind::FlowSequenceStart),
            b'{' => self.fetch_flow_start(TokenKind::FlowMappingStart),
            b']' => self.fetch_flow_end(TokenKind::FlowSequenceEnd),
            b'}' => self.fetch_flow_end(TokenKind::FlowMappingEnd),
            b',' => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                self.push_indicator(TokenKind::FlowEntry);
                Ok(())
            }
            b'-' if blank_follows => self.fetch_block_entry(),
            b'?' if !block || blank_follows => self.fetch_key(),
            b':' if !block || blank_follows => self.fetch_value(),
            b'*' | b'&' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let token = self.scan_anchor()?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'!' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let token = self.scan_tag()?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'|' | b'>' if block => {
                self.remove_simple_key()?;
                self.simple_key_allowed = true;
                let token = self.scan_block_scalar(first == b'|')?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'\'' | b'"' => {
                self.save_simple_key()?;
                self.simple_key_allowed = false;
                let token = self.scan_quoted_scalar(first == b'\'')?;
                self.tokens.push_back(token);
                Ok(())
            }
            b'-' if !self.is_blank(1) => self.fetch_plain(),
            b'?' | b':' if block && !blank_follows => self.fetch_plain(),
            b'-' | b'?' | b':' | b'#' | b'|' | b'>' | b'%' | b'@' | b'`' | b'\t' => {
                Err(Fault::scanner(self.at.mark(), "found character that cannot start any token", self.at.mark()))
            }
            _ => self.fetch_plain(),
        }
    }

    fn fetch_plain(&mut self) -> Result<()> {
        self.save_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_plain_scalar()?;
        self.tokens.push_back(token);
        Ok(())
    }

    fn fetch_stream_end(&mut self) -> Result<()> {
        if let Some(fault) = self.fault.take() {
            return Err(fault);
        }
        if self.at.column != 0 {
            self.at.column = 0;
            self.at.line += 1;
        }
        self.unroll_indent(-1, self.at);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        self.push(TokenKind::StreamEnd, self.at);
        Ok(())
    }

    fn fetch_directive(&mut self) -> Result<()> {
        self.unroll_indent(-1, self.at);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let token = self.scan_directive()?;
        self.tokens.push_back(token);
        Ok(())
    }

    fn fetch_document_indicator(&mut self, first: u8) -> Result<()> {
        self.unroll_indent(-1, self.at);
        self.remove_simple_key()?;
        self.simple_key_allowed = false;
        let start = self.at;
        self.skip();
        self.skip();
        self.skip();
        let kind = if first == b'-' { TokenKind::DocumentStart } else { TokenKind::DocumentEnd };
        self.tokens.push_back(Token { kind, start, end: self.at });
        Ok(())
    }

    fn fetch_flow_start(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.save_simple_key()?;
        self.simple_keys.push(SimpleKey {
            token_number: self.next_token_number(),
            at: self.at,
            ..SimpleKey::default()
        });
        self.flow_level += 1;
        if self.flow_level > LEVELS_MAX {
            return Err(self.too_deep("exceeded max depth of 10000"));
        }
        self.simple_key_allowed = true;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_flow_end(&mut self, kind: TokenKind<'a>) -> Result<()> {
        self.remove_simple_key()?;
        if self.flow_level > 0 {
            self.flow_level -= 1;
            // go-yaml forgets the key that may start at this collection when it is empty, so v2 can't read `[]: a`.
            if let Some(key) = self.simple_keys.pop() {
                self.forget_simple_key(key.token_number);
            }
        }
        self.simple_key_allowed = false;
        self.push_indicator(kind);
        Ok(())
    }

    fn fetch_block_entry(&mut self) -> Result<()> {
        // In the flow context the parser tells what is wrong, for it knows more.
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.misplaced("block sequence entries are not allowed in this context"));
            }
            self.roll_indent(self.at, None, TokenKind::BlockSequenceStart)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = true;
        self.push_indicator(TokenKind::BlockEntry);
        Ok(())
    }

    fn fetch_key(&mut self) -> Result<()> {
        if self.flow_level == 0 {
            if !self.simple_key_allowed {
                return Err(self.misplaced("mapping keys are not allowed in this context"));
            }
            self.roll_indent(self.at, None, TokenKind::BlockMappingStart)?;
        }
        self.remove_simple_key()?;
        self.simple_key_allowed = self.flow_level == 0;
        self.push_indicator(TokenKind::Key);
        Ok(())
    }

    fn fetch_value(&mut self) -> Result<()> {
        let level = self.simple_keys.len().saturating_sub(1);
        if self.simple_key_is_valid(level)? {
            let key = self.simple_keys.get(level).copied().unwrap_or_default();
            let token = Token { kind: TokenKind::Key, start: key.at, end: key.at };
            self.insert(key.token_number, token);
            self.roll_indent(key.at, Some(key.token_number), TokenKind::BlockMappingStart)?;
            if let Some(key) = self.simple_keys.get_mut(level) {
                key.possible = false;
            }
            self.forget_simple_key(key.token_number);
            self.simple_key_allowed = false;
        } else {
            if self.flow_level == 0 {
                if !self.simple_key_allowed {
                    return Err(self.misplaced("mapping values are not allowed in this context"));
                }
                self.roll_indent(self.at, None, TokenKind::BlockMappingStart)?;
            }
            self.simple_key_allowed = self.flow_level == 0;
        }
        self.push_indicator(TokenKind::Value);
        Ok(())
    }

    fn misplaced(&self, message: &'static str) -> Box<Fault> {
        Fault::scanner(self.at.mark(), message, self.at.mark())
    }

    fn too_deep(&self, message: &'static str) -> Box<Fault> {
        let at = self.simple_keys.last().map_or(self.at, |key| key.at);
        Fault::scanner(at.mark(), message, self.at.mark())
    }

    // Simple keys

    fn next_token_number(&self) -> usize {
        self.tokens_parsed + self.tokens.len()
    }

    fn simple_key_of_token(&self, token_number: usize) -> Option<usize> {
        let at = self.simple_keys_by_token.binary_search_by_key(&token_number, |entry| entry.0).ok()?;
        self.simple_keys_by_token.get(at).map(|entry| entry.1)
    }

    fn forget_simple_key(&mut self, token_number: usize) {
        if let Ok(at) = self.simple_keys_by_token.binary_search_by_key(&token_number, |entry| entry.0) {
            self.simple_keys_by_token.remove(at);
        }
    }

    /// Whether the key of `level` can still become one; too late, it is forgotten, or missed if it is required.
    fn simple_key_is_valid(&mut self, level: usize) -> Result<bool> {
        let at = self.at;
        let Some(key) = self.simple_keys.get_mut(level).filter(|key| key.possible) else { return Ok(false) };
        if key.at.line < at.line || key.at.index + SIMPLE_KEY_MAX < at.index {
            if key.required {
                return Err(Fault::scanner(key.at.mark(), "could not find expected ':'", at.mark()));
            }
            key.possible = false;
            return Ok(false);
        }
        Ok(true)
    }

    fn save_simple_key(&mut self) -> Result<()> {
        if !self.simple_key_allowed {
            return Ok(());
        }
        let required = self.flow_level == 0 && self.indent == i64::from(self.at.column);
        let token_number = self.next_token_number();
        self.remove_simple_key()?;
        let level = self.simple_keys.len().saturating_sub(1);
        if let Some(key) = self.simple_keys.last_mut() {
            *key = SimpleKey { possible: true, required, token_number, at: self.at };
        }
        self.forget_simple_key(token_number);
        self.simple_keys_by_token.push((token_number, level));
        Ok(())
    }

    fn remove_simple_key(&mut self) -> Result<()> {
        let at = self.at;
        let Some(key) = self.simple_keys.last_mut().filter(|key| key.possible) else { return Ok(()) };
        if key.required {
            return Err(Fault::scanner(key.at.mark(), "could not find expected ':'", at.mark()));
        }
        key.possible = false;
        let token_number = key.token_number;
        self.forget_simple_key(token_number);
        Ok(())
    }

    // Indentation

    /// Opens a block collection at `start` if it stands deeper than the one around it.
    ///
    /// Its token goes to the end of the queue, or before the token `number`.
    fn roll_indent(&mut self, start: Position, number: Option<usize>, kind: TokenKind<'a>) -> Result<()> {
        let column = i64::from(start.column);
        if self.flow_level > 0 || self.indent >= column {
            return Ok(());
        }
        self.indents.push(self.indent);
        self.indent = column;
        if self.indents.len() > LEVELS_MAX {
            return Err(self.too_deep("exceeded max depth of 10000"));
        }
        let token = Token { kind, start, end: start };
        match number {
            None => self.tokens.push_back(token),
            Some(number) => self.insert(number, token),
        }
        Ok(())
    }

    /// Closes all block collections that stand deeper than `column`.
    fn unroll_indent(&mut self, column: i64, scanned_from: Position) {
        if self.flow_level > 0 {
            return;
        }
        let mut end = match self.dialect {
            Dialect::V2 => self.at,
            Dialect::V3 => Position { index: scanned_from.index - 1, ..scanned_from },
        };
        while self.indent > column {
            self.end_before_comments(&mut end);
            self.tokens.push_back(Token { kind: TokenKind::BlockEnd, start: end, end });
            self.indent = self.indents.pop().unwrap_or(-1);
        }
    }

    // The queue

    fn push(&mut self, kind: TokenKind<'a>, at: Position) {
        self.tokens.push_back(Token { kind, start: at, end: at });
    }

    /// Pushes a token of one character and skips it.
    fn push_indicator(&mut self, kind: TokenKind<'a>) {
        let start = self.at;
        self.skip();
        self.tokens.push_back(Token { kind, start, end: self.at });
    }

    /// Inserts before the token `number`; at the end, when that one has left the queue.
    fn insert(&mut self, number: usize, token: Token<'a>) {
        match number.checked_sub(self.tokens_parsed) {
            Some(at) if at <= self.tokens.len() => self.tokens.insert(at, token),
            _ => self.tokens.push_back(token),
        }
    }

    // Characters

    /// The byte `ahead` of the current place, 0 behind the end: no text has a NUL.
    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at.offset + ahead).copied().unwrap_or(0)
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at.offset..).unwrap_or_default()
    }

    fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    fn is_end(&self) -> bool {
        self.at.offset >= self.text.len()
    }

    fn is_blank(&self, ahead: usize) -> bool {
        matches!(self.byte(ahead), b' ' | b'\t')
    }

    /// The length of the line break `ahead`, CR LF counted as two; 0 if there is none.
    fn break_width(&self, ahead: usize) -> usize {
        break_width(self.text.as_bytes().get(self.at.offset + ahead..).unwrap_or_default())
    }

    fn is_break(&self, ahead: usize) -> bool {
        self.break_width(ahead) > 0
    }

    fn is_break_or_end(&self, ahead: usize) -> bool {
        self.byte(ahead) == 0 || self.is_break(ahead)
    }

    fn is_blank_or_end(&self, ahead: usize) -> bool {
        self.is_blank(ahead) || self.is_break_or_end(ahead)
    }

    /// `---` or `...` at the start of a line.
    fn at_document_indicator(&self) -> bool {
        self.at.column == 0
            && (self.rest().starts_with(b"---") || self.rest().starts_with(b"..."))
            && self.is_blank_or_end(3)
    }

    /// Skips one character.
    fn skip(&mut self) {
        if !self.is_blank(0) {
            self.newlines = 0;
        }
        self.at.offset += char_width(self.byte(0));
        self.at.index += 1;
        self.at.column += 1;
    }

    /// Skips `bytes` that hold `chars` characters and no line break, the last of them no blank.
    fn skip_run(&mut self, bytes: usize, chars: u32) {
        if bytes > 0 {
            self.newlines = 0;
            self.at.offset += bytes;
            self.at.index += i64::from(chars);
            self.at.column += chars;
        }
    }

    /// Skips a line break and gives what it means: LF, or U+2028 and U+2029 themselves.
    fn skip_break(&mut self) -> &'static str {
        let (bytes, chars, meaning) = match self.rest() {
            [b'\r', b'\n', ..] => (2, 2, "\n"),
            [b'\r' | b'\n', ..] => (1, 1, "\n"),
            [0xC2, 0x85, ..] => (2, 1, "\n"),
            [0xE2, 0x80, 0xA8, ..] => (3, 1, "\u{2028}"),
            [0xE2, 0x80, 0xA9, ..] => (3, 1, "\u{2029}"),
            _ => return "",
        };
        self.at.offset += bytes;
        self.at.index += chars;
        self.at.column = 0;
        self.at.line += 1;
        self.newlines += 1;
        meaning
    }

    fn skip_blanks(&mut self) {
        while self.is_blank(0) {
            self.skip();
        }
    }

    /// Skips blanks, comments and line breaks.
    fn skip_to_token(&mut self) {
        let scanned_from = self.at;
        if self.at.offset == 0 && self.rest().starts_with(b"\xEF\xBB\xBF") {
            self.skip();
        }
        loop {
            // A tab may not stand where it would look like indentation.
            while self.byte(0) == b' ' || (self.byte(0) == b'\t' && (self.flow_level > 0 || !self.simple_key_allowed)) {
                self.skip();
            }
            if self.dialect == Dialect::V3 {
                self.turn_line_comment_to_head();
            }
            if self.byte(0) == b'#' {
                match self.dialect {
                    Dialect::V2 => {
                        while !self.is_break_or_end(0) {
                            self.skip();
                        }
                    }
                    Dialect::V3 => self.scan_comments(scanned_from),
                }
            }
            if !self.is_break(0) {
                return;
            }
            self.skip_break();
            if self.flow_level == 0 {
                self.simple_key_allowed = true;
            }
        }
    }
}

/// The length of the line break at the start of `bytes`, CR LF counted as two; 0 if there is none.
pub(super) fn break_width(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        [0xC2, 0x85, ..] => 2,
        [0xE2, 0x80, 0xA8 | 0xA9, ..] => 3,
        _ => 0,
    }
}

/// The length of the character that starts with `first`.
pub(super) fn char_width(first: u8) -> usize {
    match first {
        0x00..=0xBF => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
    }
}
