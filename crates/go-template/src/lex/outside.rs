//! Text, comments and the delimiters of actions.

use super::{BLANKS, Kind, LEFT, Lexer, RIGHT, Step, TRIM_MARKER};

impl<'t> Lexer<'t> {
    pub(super) fn text(&mut self) -> Step<'t> {
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

    pub(super) fn left_delim(&mut self) -> Step<'t> {
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

    pub(super) fn comment(&mut self) -> Step<'t> {
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

    /// `None` when no right delimiter is here; else whether it has a trim marker.
    pub(super) fn at_right_delim(&self) -> Option<bool> {
        let rest = self.rest();
        if has_right_trim_marker(rest) && rest.get(TRIM_MARKER..).is_some_and(|rest| rest.starts_with(RIGHT)) {
            return Some(true);
        }
        rest.starts_with(RIGHT).then_some(false)
    }

    pub(super) fn right_delim(&mut self) -> Step<'t> {
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
}

pub(super) fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

pub(super) fn has_left_trim_marker(text: &[u8]) -> bool {
    matches!(text, [b'-', blank, ..] if BLANKS.contains(blank))
}

pub(super) fn has_right_trim_marker(text: &[u8]) -> bool {
    matches!(text, [blank, b'-', ..] if BLANKS.contains(blank))
}

pub(super) fn blank_head(text: &[u8]) -> usize {
    text.iter().take_while(|byte| BLANKS.contains(byte)).count()
}

pub(super) fn blank_tail(text: &[u8]) -> usize {
    text.iter().rev().take_while(|byte| BLANKS.contains(byte)).count()
}
