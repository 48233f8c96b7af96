//! What is inferred: keys without `?`, and the starts and ends of block collections.

use super::{Dialect, Fault, LEVELS_MAX, Position, Result, SIMPLE_KEY_MAX, Scanner, SimpleKey, Token, TokenKind};

impl<'a> Scanner<'a> {
    pub(super) fn next_token_number(&self) -> usize {
        self.tokens_parsed + self.tokens.len()
    }

    pub(super) fn simple_key_of_token(&self, token_number: usize) -> Option<usize> {
        let at = self.simple_keys_by_token.binary_search_by_key(&token_number, |entry| entry.0).ok()?;
        self.simple_keys_by_token.get(at).map(|entry| entry.1)
    }

    pub(super) fn forget_simple_key(&mut self, token_number: usize) {
        if let Ok(at) = self.simple_keys_by_token.binary_search_by_key(&token_number, |entry| entry.0) {
            self.simple_keys_by_token.remove(at);
        }
    }

    /// Whether the key of `level` can still become one; too late, it is forgotten, or missed if it is required.
    pub(super) fn simple_key_is_valid(&mut self, level: usize) -> Result<bool> {
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

    pub(super) fn save_simple_key(&mut self) -> Result<()> {
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

    pub(super) fn remove_simple_key(&mut self) -> Result<()> {
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

    /// Opens a block collection at `start` if it is deeper than the one around it.
    ///
    /// Its token goes to the end of the queue, or before the token `number`.
    pub(super) fn roll_indent(&mut self, start: Position, number: Option<usize>, kind: TokenKind<'a>) -> Result<()> {
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

    /// Closes all block collections that are deeper than `column`.
    pub(super) fn unroll_indent(&mut self, column: i64, scanned_from: Position) {
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

    pub(super) fn push(&mut self, kind: TokenKind<'a>, at: Position) {
        self.tokens.push_back(Token { kind, start: at, end: at });
    }

    /// Pushes a token of one character and skips it.
    pub(super) fn push_indicator(&mut self, kind: TokenKind<'a>) {
        let start = self.at;
        self.skip();
        self.tokens.push_back(Token { kind, start, end: self.at });
    }

    /// Inserts before the token `number`; at the end, when that one has left the queue.
    pub(super) fn insert(&mut self, number: usize, token: Token<'a>) {
        match number.checked_sub(self.tokens_parsed) {
            Some(at) if at <= self.tokens.len() => self.tokens.insert(at, token),
            _ => self.tokens.push_back(token),
        }
    }
}
