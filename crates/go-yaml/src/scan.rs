//! Text to tokens.
//!
//! Tokens and their places are libyaml's as go-yaml changed it. What is not on the page is inferred here: the start
//! and end of block collections from indentation, and keys that have no `?` from the `:` behind them, for which a
//! token may have to wait in the queue (`simple keys`).
//!
//! The two dialects differ in two ways: v3 gathers comments, and to place them it reads two tokens ahead.
//!
//! Reference: go-yaml v3.0.4 and v2.4.3 scannerc.go.

mod chars;
mod comment;
mod keys;
mod scalar;
mod tag;
mod token;

use std::collections::VecDeque;

use super::Dialect;
use super::error::Fault;
use super::node::Style;
pub(super) use comment::{Comment, Place};
pub(super) use token::{Position, Token, TokenKind};

pub(super) type Result<T> = std::result::Result<T, Box<Fault>>;

/// A place where a key may have started, one for each flow level.
#[derive(Debug, Clone, Copy, Default)]
struct SimpleKey {
    possible: bool,
    /// In the block context at the column of the mapping: whatever is here has to be a key.
    required: bool,
    token_number: usize,
    at: Position,
}

/// Levels of flow collections, and of indentation, that go-yaml allows.
const LEVELS_MAX: usize = 10_000;
/// Characters that may be between the start of a key and its `:`.
const SIMPLE_KEY_MAX: i64 = 1024;

pub(super) struct Scanner<'a> {
    text: &'a str,
    fault: Option<Box<Fault>>,
    dialect: Dialect,
    at: Position,
    /// Line breaks since the last character that is not a blank.
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
    pub(super) fn new(text: &'a str, fault: Option<Box<Fault>>, dialect: Dialect) -> Self {
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
    pub(super) fn peek(&mut self) -> Result<&Token<'a>> {
        self.fill()?;
        // `fill` leaves at least one token.
        self.tokens.front().ok_or_else(|| self.unexpected_end())
    }

    /// Takes the next token out of the queue.
    pub(super) fn next(&mut self) -> Result<Token<'a>> {
        self.fill()?;
        self.tokens_parsed += 1;
        self.tokens.pop_front().ok_or_else(|| self.unexpected_end())
    }

    /// The next comment that belongs to the token at `index` characters or before it, heads only if `heads`.
    pub(super) fn take_comment(&mut self, index: i64, heads: bool) -> Option<Comment> {
        let comment = self.comments.front()?;
        if comment.token.index > index || (comment.place == Place::Head && !heads) {
            return None;
        }
        self.comments.pop_front()
    }

    /// Words a fault that a reader of tokens found: what is wrong behind the end of the text goes first when the
    /// scanner has got there.
    pub(super) fn faulty(&mut self, fault: Box<Fault>) -> Box<Fault> {
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
        // In the flow context the parser reports what is wrong, for it knows more.
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
}
