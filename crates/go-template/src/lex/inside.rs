//! What is in an action.

use go_std::strconv::quote_bytes;
use go_std::unicode::{is_digit, is_letter, is_print};

use super::super::text::to_str;
use super::outside::has_right_trim_marker;
use super::{Keyword, Kind, Lexer, RIGHT, Step, TRIM_MARKER, code_point};

impl<'t> Lexer<'t> {
    pub(super) fn inside(&mut self) -> Step<'t> {
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

    pub(super) fn space(&mut self) -> Step<'t> {
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

    pub(super) fn identifier(&mut self) -> Step<'t> {
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

    pub(super) fn field_or_variable(&mut self, kind: Kind) -> Step<'t> {
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

    pub(super) fn bad_character(&mut self) -> Step<'t> {
        let c = self.peek().unwrap_or_default();
        self.error(format!("bad character {}", code_point(c)))
    }

    pub(super) fn is_at_terminator(&self) -> bool {
        match self.peek() {
            None | Some(' ' | '\t' | '\r' | '\n' | '.' | ',' | '|' | ':' | ')' | '(') => true,
            Some(_) => self.rest().starts_with(RIGHT),
        }
    }

    pub(super) fn quoted(&mut self, mark: char, kind: Kind, unterminated: &str) -> Step<'t> {
        loop {
            match self.next() {
                Some('\\') if !matches!(self.next(), None | Some('\n')) => {}
                None | Some('\\' | '\n') => return self.error(unterminated),
                Some(c) if c == mark => return self.emit(kind),
                Some(_) => {}
            }
        }
    }

    pub(super) fn raw_string(&mut self) -> Step<'t> {
        loop {
            match self.next() {
                None => return self.error("unterminated raw quoted string"),
                Some('`') => return self.emit(Kind::RawString),
                Some(_) => {}
            }
        }
    }

    pub(super) fn number(&mut self) -> Step<'t> {
        let mut is_good = self.scan_number();
        let mut kind = Kind::Number;
        if is_good && matches!(self.peek(), Some('+' | '-')) {
            is_good = self.scan_number() && self.current().last() == Some(&b'i');
            kind = Kind::Complex;
        }
        if is_good {
            return self.emit(kind);
        }
        let text = to_str(&quote_bytes(self.current())).into_owned();
        self.error(format!("bad number syntax: {text}"))
    }

    pub(super) fn scan_number(&mut self) -> bool {
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

pub(super) fn keyword(word: &[u8]) -> Option<Keyword> {
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

pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

pub(super) fn is_word(c: char) -> bool {
    c == '_' || is_letter(c) || is_digit(c)
}
