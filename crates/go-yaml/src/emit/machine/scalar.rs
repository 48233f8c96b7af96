//! How a scalar is written.

use super::{Dialect, Emitter};

/// In which styles a text can be written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Analysis {
    pub multiline: bool,
    pub flow_plain: bool,
    pub block_plain: bool,
    pub single_quoted: bool,
    /// As `|` or `>`.
    pub block: bool,
}

pub(super) fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// Whether `c` may be unescaped. The byte order mark, and all beyond the first plane, may not.
fn is_printable(c: char) -> bool {
    matches!(c, '\n' | ' '..='~' | '\u{A0}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}') && c != '\u{FEFF}'
}

/// Whether a byte changes nothing, wherever it is.
fn is_ordinary(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'_' | b'.' | b'/' | b'(' | b')' | b'+' | b';' | b'<' | b'='
        | b'$' | b'\\' | b'^' | b'~')
}

impl Analysis {
    /// Reference: go-yaml `yaml_emitter_analyze_scalar`.
    pub(super) fn of(text: &str, dialect: Dialect) -> Self {
        let (Some(first), Some(last)) = (text.chars().next(), text.chars().next_back()) else {
            return Self { multiline: false, flow_plain: false, block_plain: true, single_quoted: true, block: false };
        };
        let mut block_indicators = text.starts_with("---") || text.starts_with("...");
        let mut flow_indicators = block_indicators;
        let (mut breaks, mut special, mut tabs) = (false, false, false);
        let (mut break_space, mut space_break) = (false, false);
        let mut before = None;
        let mut rest = text;
        loop {
            let ordinary = rest.bytes().take_while(|byte| is_ordinary(*byte)).count();
            if ordinary > 0 {
                before = Some('a');
                rest = rest.get(ordinary..).unwrap_or_default();
            }
            let mut chars = rest.chars();
            let Some(c) = chars.next() else { break };
            rest = chars.as_str();
            let blank_follows = rest.is_empty() || rest.starts_with(is_blank);
            match (c, before) {
                (
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
                    None,
                ) => {
                    flow_indicators = true;
                    block_indicators = true;
                }
                ('-', None) if blank_follows => {
                    flow_indicators = true;
                    block_indicators = true;
                }
                ('?', None) | (':', _) => {
                    flow_indicators = true;
                    block_indicators |= blank_follows;
                }
                (',' | '?' | '[' | ']' | '{' | '}', Some(_)) => flow_indicators = true,
                ('#', Some(before)) if is_blank(before) || is_break(before) => {
                    flow_indicators = true;
                    block_indicators = true;
                }
                _ => {}
            }
            if c == '\t' && dialect == Dialect::V3 {
                tabs = true;
            } else if !is_printable(c) {
                special = true;
            }
            if c == ' ' {
                break_space |= before.is_some_and(is_break);
            } else if is_break(c) {
                breaks = true;
                space_break |= before == Some(' ');
            }
            before = Some(c);
        }
        let edge = |c: char| c == ' ' || is_break(c);
        let plain = !(edge(first) || edge(last) || break_space || space_break || tabs || special || breaks);
        Self {
            multiline: breaks,
            flow_plain: plain && !flow_indicators,
            block_plain: plain && !block_indicators,
            single_quoted: !(break_space || space_break || tabs || special),
            block: !(last == ' ' || space_break || special),
        }
    }
}

impl Emitter<'_> {
    /// Writes `text` at a blank, as a line break if the line is long enough and `text` has no other blank beside it.
    fn fold(&mut self, allowed: bool, alone: bool) {
        if allowed && alone && self.column > self.width() {
            self.write_indent();
        } else {
            self.put(' ');
        }
    }

    pub(super) fn write_plain(&mut self, text: &str, allow_breaks: bool) {
        if text.is_empty() {
            // v2 separates even nothing.
            if self.dialect() == Dialect::V2 {
                if !self.whitespace {
                    self.put(' ');
                }
                self.whitespace = false;
            }
            self.indention = false;
            return;
        }
        if !self.whitespace {
            self.put(' ');
        }
        self.write_foldable(text, allow_breaks, false);
        self.whitespace = false;
        self.indention = false;
    }

    pub(super) fn write_single_quoted(&mut self, text: &str, allow_breaks: bool) {
        self.write_indicator("'", true, false, false);
        self.write_foldable(text, allow_breaks, true);
        self.write_indicator("'", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_foldable(&mut self, text: &str, allow_breaks: bool, quoted: bool) {
        let fits = !allow_breaks || self.column.saturating_add(text.len()) <= self.width();
        if fits && !text.contains(is_break) && !(quoted && text.contains('\'')) {
            self.write_all(text);
            self.indention = false;
            return;
        }
        let mut spaces = false;
        let mut breaks = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if c == ' ' {
                let inside = !quoted || (at > 0 && next.is_some());
                self.fold(allow_breaks && inside, !spaces && next != Some(' '));
                spaces = true;
            } else if is_break(c) {
                if !breaks && c == '\n' {
                    self.put_break();
                }
                self.write_break(c);
                breaks = true;
            } else {
                if breaks {
                    self.write_indent();
                }
                if quoted && c == '\'' {
                    self.put('\'');
                }
                self.put(c);
                self.indention = false;
                spaces = false;
                breaks = false;
            }
        }
    }

    pub(super) fn write_double_quoted(&mut self, text: &str, allow_breaks: bool) {
        self.write_indicator("\"", true, false, false);
        // go-yaml looks for the mark at the start of the text, whichever character it is at.
        let escape_all = text.starts_with('\u{FEFF}');
        let mut spaces = false;
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            if escape_all || !is_printable(c) || is_break(c) || matches!(c, '"' | '\\') {
                self.write_escape(c);
                spaces = false;
            } else if c == ' ' {
                if allow_breaks && !spaces && self.column > self.width() && at > 0 && next.is_some() {
                    self.write_indent();
                    if next == Some(' ') {
                        self.put('\\');
                    }
                } else {
                    self.put(' ');
                }
                spaces = true;
            } else {
                self.put(c);
                spaces = false;
            }
        }
        self.write_indicator("\"", false, false, false);
        self.whitespace = false;
        self.indention = false;
    }

    fn write_escape(&mut self, c: char) {
        let short = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0B' => 'v',
            '\x0C' => 'f',
            '\r' => 'r',
            '\x1B' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{A0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            _ => {
                let code = u32::from(c);
                let escape = match code {
                    0..=0xFF => format!("\\x{code:02X}"),
                    0x100..=0xFFFF => format!("\\u{code:04X}"),
                    _ => format!("\\U{code:08X}"),
                };
                return self.write_all(&escape);
            }
        };
        self.put('\\');
        self.put(short);
    }

    /// Writes what follows `|` or `>`: the indentation if the text hides it, and how it ends.
    fn write_hints(&mut self, text: &str) {
        let mut chars = text.chars();
        if chars.clone().next().is_some_and(|c| c == ' ' || is_break(c)) {
            self.write_indicator("2", false, false, false);
        }
        let chomping = match (chars.next_back(), chars.next_back()) {
            (Some(last), before) if is_break(last) => match before {
                None => "+",
                Some(before) if is_break(before) => "+",
                Some(_) => return,
            },
            _ => "-",
        };
        self.write_indicator(chomping, false, false, false);
    }

    pub(super) fn write_literal(&mut self, text: &str) {
        self.write_indicator("|", true, false, false);
        self.write_hints(text);
        self.end_header();
        self.whitespace = true;
        for line in text.split_inclusive(is_break) {
            let mut chars = line.chars();
            let end = chars.next_back().filter(|c| is_break(*c));
            let content = if end.is_some() { chars.as_str() } else { line };
            if !content.is_empty() {
                self.write_indent();
                self.write_all(content);
                self.indention = false;
            }
            if let Some(c) = end {
                self.write_break(c);
            }
        }
    }

    pub(super) fn write_folded(&mut self, text: &str) {
        self.write_indicator(">", true, false, false);
        self.write_hints(text);
        self.end_header();
        self.whitespace = true;
        // go-yaml asks for each line break what follows the line breaks that the text starts with.
        let after_first_breaks = text.chars().find(|c| !is_break(*c));
        let text_follows = after_first_breaks.is_some_and(|c| !is_blank(c));
        let mut breaks = true;
        let mut leading_spaces = true;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if is_break(c) {
                if !breaks && !leading_spaces && c == '\n' && text_follows {
                    self.put_break();
                }
                self.write_break(c);
                breaks = true;
                continue;
            }
            if breaks {
                self.write_indent();
                leading_spaces = is_blank(c);
            }
            if !breaks && c == ' ' && chars.peek() != Some(&' ') && self.column > self.width() {
                self.write_indent();
            } else {
                self.put(c);
            }
            self.indention = false;
            breaks = false;
        }
    }
}
