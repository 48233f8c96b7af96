//! The items of a text, one ahead and back again, and what is wrong with one.

use std::sync::Arc;

use super::super::error::ParseError;
use super::super::lex::{Item, Kind};
use super::Parser;

impl<'t> Parser<'_, 't> {
    pub(super) fn next(&mut self) -> Item<'t> {
        match self.put_back.checked_sub(1) {
            Some(left) => self.put_back = left,
            None => self.items[0] = self.shared.lexer.item(),
        }
        self.items.get(self.put_back).cloned().unwrap_or_else(Item::none)
    }

    pub(super) fn backup(&mut self) {
        self.put_back += 1;
    }

    pub(super) fn peek(&mut self) -> Item<'t> {
        let item = self.next();
        self.backup();
        item
    }

    pub(super) fn peek_kind(&mut self) -> Kind {
        self.peek().kind
    }

    pub(super) fn next_non_space(&mut self) -> Item<'t> {
        loop {
            let item = self.next();
            if item.kind != Kind::Space {
                return item;
            }
        }
    }

    pub(super) fn peek_non_space(&mut self) -> Item<'t> {
        let item = self.next_non_space();
        self.backup();
        item
    }

    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        let template = Arc::clone(&self.shared.source.name);
        Err(ParseError { template, line: self.items[0].line, message: message.into() })
    }

    pub(super) fn unexpected<T>(&self, item: &Item<'_>, context: &str) -> Result<T, ParseError> {
        if item.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", item.describe()));
        }
        let mut extra = String::new();
        if self.action_line != 0 && self.action_line != item.line {
            let started = format!(" started at {}:{}", self.shared.source.name, self.action_line);
            extra = if item.error.ends_with(" action") { started } else { format!(" in action{started}") };
        }
        self.error(format!("{}{extra}", item.error))
    }

    pub(super) fn expect(&mut self, kind: Kind, context: &str) -> Result<Item<'t>, ParseError> {
        let item = self.next_non_space();
        if item.kind == kind { Ok(item) } else { self.unexpected(&item, context) }
    }
}
