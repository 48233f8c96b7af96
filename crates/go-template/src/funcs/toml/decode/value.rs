//! Values: words, arrays and inline tables.

use super::super::super::super::list::{List, ListType};
use super::super::super::super::text::to_str;
use super::super::super::super::value::Value;
use super::cursor::{is_blank, is_break, plain, shown};
use super::{DEPTH_MAX, Decoder, Path, Problem, Read, Table, TomlVersion, map_of};

impl Decoder<'_> {
    pub(super) fn value(&mut self, is_in_array: bool) -> Read<Value> {
        self.skip(is_blank)?;
        let start = self.at;
        let c = self.peek()?;
        match c {
            Some('0'..='9') => return self.number_or_date(),
            Some('t' | 'f') => {}
            Some('[') => {
                self.next()?;
                return self.array();
            }
            Some('{') => {
                self.next()?;
                return self.inline_table(is_in_array);
            }
            Some('"') => {
                self.next()?;
                let text = if self.rest().starts_with(b"\"\"") { self.multiline_string()? } else { self.string()? };
                return Ok(text.into());
            }
            Some('\'') => {
                self.next()?;
                let text = if self.rest().starts_with(b"''") { self.multiline_raw()? } else { self.raw_string()? };
                return Ok(text.into());
            }
            Some('i' | 'n') => {
                for word in ["inf", "nan"] {
                    if self.rest().starts_with(word.as_bytes()) {
                        self.at += word.len();
                        return self.float(word.as_bytes());
                    }
                }
            }
            Some('-' | '+') => return self.signed_number(),
            _ => {
                self.next()?;
                return match c {
                    Some('.') => self.error("floats must start with a digit, not '.'"),
                    None => self.error("unexpected EOF; expected value"),
                    Some(letter) if go_std::unicode::is_letter(letter) => {
                        self.at = start;
                        self.word()
                    }
                    c => self.error_before(c, format!("expected value but found {} instead", shown(c))),
                };
            }
        }
        self.word()
    }

    pub(super) fn word(&mut self) -> Read<Value> {
        let start = self.at;
        self.skip(go_std::unicode::is_letter)?;
        match self.text.get(start..self.at).unwrap_or_default() {
            b"true" => Ok(Value::Bool(true)),
            b"false" => Ok(Value::Bool(false)),
            other => {
                let found = go_yaml::quote(&to_str(other));
                self.error(format!("expected value but found {found} instead"))
            }
        }
    }

    pub(super) fn deeper(&mut self) -> Read<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX { self.error("arrays and inline tables nest too deep") } else { Ok(()) }
    }

    pub(super) fn path_of_key(&self) -> Path {
        let mut path = self.context.clone();
        if !self.key.is_empty() {
            path.push(self.key.clone());
        }
        path
    }

    pub(super) fn array(&mut self) -> Read<Value> {
        self.deeper()?;
        self.arrays.insert(self.path_of_key());
        let mut items = Vec::new();
        loop {
            self.between_items()?;
            if self.peek()? == Some(',') {
                self.next()?;
                return self.error("unexpected comma");
            }
            if self.accept(']')? {
                break;
            }
            items.push(self.value(true)?);
            self.between_items()?;
            match self.next()? {
                Some(',') => {}
                Some(']') => break,
                other => {
                    let found = plain(other);
                    return self.error(format!("expected a comma (',') or array terminator (']'), but got {found}"));
                }
            }
        }
        self.depth -= 1;
        // The library begins with room for two.
        Ok(List::appended_to(&ListType::ANY, items, 2).into())
    }

    /// Blanks, line breaks and comments.
    pub(super) fn between_items(&mut self) -> Read<()> {
        loop {
            self.skip(|c| is_blank(c) || is_break(c))?;
            if self.peek()? != Some('#') {
                return Ok(());
            }
            self.comment()?;
        }
    }

    pub(super) fn inline_table(&mut self, is_in_array: bool) -> Read<Value> {
        self.deeper()?;
        let (outer_context, outer_key) = (self.context.clone(), self.key.clone());
        let mut path = self.context.clone();
        path.push(std::mem::take(&mut self.key));
        self.implicit.insert(path.clone());
        self.add_context(&path, is_in_array)?;
        let mut hash = Some(Table::new());
        loop {
            self.within_inline_table()?;
            match self.peek()? {
                Some(',') => {
                    self.next()?;
                    return self.error("unexpected comma");
                }
                Some('}') => {
                    self.next()?;
                    break;
                }
                _ => {}
            }
            self.context = path.clone();
            self.key_value(&mut hash)?;
            self.within_inline_table()?;
            match self.next()? {
                Some(',') => self.behind_comma()?,
                Some('}') => break,
                other => {
                    return self.error(format!(
                        "expected a comma or an inline table terminator '}}', but got {} instead",
                        plain(other)
                    ));
                }
            }
        }
        self.context = outer_context;
        self.key = outer_key;
        self.depth -= 1;
        Ok(map_of(hash.unwrap_or_default()).into())
    }

    /// What may be between the entries of an inline table: before TOML 1.1 all but a line break.
    fn within_inline_table(&mut self) -> Read<()> {
        if self.version >= TomlVersion::V1_6 {
            return self.between_items();
        }
        loop {
            self.skip(is_blank)?;
            match self.peek()? {
                Some('#') => self.comment()?,
                Some(c) if is_break(c) => {
                    self.next()?;
                    let line = self.line - 1;
                    return Err(Problem { line, message: "newlines not allowed within inline tables".to_owned() });
                }
                _ => return Ok(()),
            }
        }
    }

    /// Before TOML 1.1 no `}` may follow a comma.
    fn behind_comma(&mut self) -> Read<()> {
        if self.version < TomlVersion::V1_6 {
            self.skip(is_blank)?;
            if self.peek()? == Some('}') {
                return self.error("trailing comma not allowed in inline tables");
            }
        }
        Ok(())
    }
}
