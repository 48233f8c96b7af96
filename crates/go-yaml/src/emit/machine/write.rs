//! The pieces of the text: indentation, indicators, tags, comments.

use super::scalar::is_break;
use super::{Dialect, Emitter, INDENT, State, TagParts};

impl Emitter<'_> {
    pub(super) fn increase_indent(&mut self, flow: bool, indentless: bool, compact: bool) {
        self.indents.push(self.indent);
        if self.indent < 0 {
            self.indent = if flow { INDENT } else { 0 };
        } else if !indentless {
            let in_sequence = self.states.last() == Some(&State::BlockSequenceItem { first: false });
            self.indent = match self.dialect {
                Dialect::V2 => self.indent + INDENT,
                Dialect::V3 if in_sequence => self.indent + 2,
                Dialect::V3 => {
                    let aligned = INDENT * ((self.indent + INDENT) / INDENT);
                    if compact { aligned - 2 } else { aligned }
                }
            };
        }
    }

    pub(super) fn decrease_indent(&mut self) {
        self.indent = self.indents.pop().unwrap_or(-1);
    }

    /// The column from which on a blank is replaced by a line break.
    pub(super) fn width(&self) -> usize {
        match self.dialect {
            Dialect::V2 => 80,
            Dialect::V3 => usize::MAX,
        }
    }

    // Text

    pub(super) fn put(&mut self, c: char) {
        self.text.push(c);
        self.column += 1;
    }

    pub(super) fn write_all(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += if text.is_ascii() { text.len() } else { text.chars().count() };
    }

    pub(super) fn put_break(&mut self) {
        self.text.push('\n');
        self.column = 0;
        self.indention = true;
    }

    /// Writes a line break as it is.
    pub(super) fn write_break(&mut self, c: char) {
        self.text.push(c);
        self.column = 0;
        self.indention = true;
    }

    pub(super) fn write_indent(&mut self) {
        let indent = self.indent.max(0);
        let width = indent.unsigned_abs() as usize;
        if !self.indention || self.column > width || (self.column == width && !self.whitespace) {
            self.put_break();
        }
        if self.foot_indent == indent {
            self.put_break();
        }
        if self.column < width {
            self.text.extend(std::iter::repeat_n(' ', width - self.column));
            self.column = width;
        }
        self.whitespace = true;
        self.foot_indent = -1;
    }

    pub(super) fn write_indicator(&mut self, indicator: &str, space: bool, whitespace: bool, indention: bool) {
        if space && !self.whitespace {
            self.put(' ');
        }
        self.text.push_str(indicator);
        self.column += indicator.len();
        self.whitespace = whitespace;
        self.indention = self.indention && indention;
    }

    pub(super) fn write_tag(&mut self, tag: TagParts<'_>) {
        if tag.len() == 0 {
            return;
        }
        if tag.handle.is_empty() {
            self.write_indicator("!<", true, false, false);
            self.write_tag_content(tag.suffix);
            self.write_indicator(">", false, false, false);
            return;
        }
        if !self.whitespace {
            self.put(' ');
        }
        self.write_all(tag.handle);
        self.write_tag_content(tag.suffix);
        self.whitespace = false;
        self.indention = false;
    }

    pub(super) fn write_tag_content(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                b'0'..=b'9'
                | b'A'..=b'Z'
                | b'a'..=b'z'
                | b'_'
                | b'-'
                | b';'
                | b'/'
                | b'?'
                | b':'
                | b'@'
                | b'&'
                | b'='
                | b'+'
                | b'$'
                | b','
                | b'.'
                | b'~'
                | b'*'
                | b'\''
                | b'('
                | b')'
                | b'['
                | b']' => {
                    self.put(char::from(byte));
                }
                _ => self.write_all(&format!("%{byte:02X}")),
            }
        }
    }

    // Comments

    pub(super) fn write_head_comment(&mut self) {
        if !self.tail.is_empty() {
            self.write_indent();
            let tail = std::mem::take(&mut self.tail);
            self.write_comment(tail);
            self.foot_indent = self.indent.max(0);
        }
        if !self.head.is_empty() {
            self.write_indent();
            let head = std::mem::take(&mut self.head);
            self.write_comment(head);
        }
    }

    pub(super) fn write_line_comment(&mut self) {
        if self.line.is_empty() {
            return;
        }
        if !self.whitespace {
            self.put(' ');
        }
        let line = std::mem::take(&mut self.line);
        self.write_comment(line);
    }

    /// Ends the line of a block scalar's header.
    pub(super) fn end_header(&mut self) {
        if self.line.is_empty() {
            self.put_break();
        } else {
            self.write_line_comment();
        }
    }

    pub(super) fn write_foot_comment(&mut self) {
        if self.foot.is_empty() {
            return;
        }
        self.write_indent();
        let foot = std::mem::take(&mut self.foot);
        self.write_comment(foot);
        self.foot_indent = self.indent.max(0);
    }

    pub(super) fn write_comment(&mut self, text: &str) {
        let mut breaks = false;
        let mut started = false;
        for c in text.chars() {
            if is_break(c) {
                self.write_break(c);
                breaks = true;
                started = false;
                continue;
            }
            if breaks {
                self.write_indent();
            }
            if !started {
                if c != '#' {
                    self.write_all("# ");
                }
                started = true;
            }
            self.put(c);
            self.indention = false;
            breaks = false;
        }
        if !breaks {
            self.put_break();
        }
        self.whitespace = true;
    }
}
