//! Comments, and which content each belongs to.
//!
//! A comment is the *head* of what follows it, the *line* comment of what precedes it on its line, or the *foot*
//! of what ended above it, with an empty line behind. Each is kept with the place of its token; the parser hands it
//! to the event of the first token at or behind that place.
//!
//! Reference: go-yaml v3.0.4 scannerc.go, `yaml_parser_scan_line_comment` and `yaml_parser_scan_comments`. Its
//! bounds are kept: comments are joined over at most 512 blanks and line breaks.

use super::{Position, Scanner, Token, TokenKind};

/// How a comment relates to its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Head,
    Line,
    Foot,
}

#[derive(Debug)]
pub(crate) struct Comment {
    /// With its `#`; several lines are joined by LF.
    pub text: String,
    pub place: Place,
    /// Where the content is.
    pub token: Position,
    /// Where the white space around the comment starts.
    scanned_from: Position,
    /// Where the comment starts. Its column is 1-based, except for a line comment.
    start: Position,
    end: Position,
}

/// Blanks and line breaks that are searched for a further comment, in bytes.
const LOOK_AHEAD: usize = 512;

impl Scanner<'_> {
    /// Takes the comment behind the token that was just scanned.
    pub(super) fn scan_line_comment(&mut self, token: Position) {
        if self.newlines > 0 {
            return;
        }
        let blanks = self.rest().iter().take(LOOK_AHEAD).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if blanks == LOOK_AHEAD || self.byte(blanks) != b'#' {
            return;
        }
        self.skip_blanks();
        let start = self.at;
        let text = self.rest_of_line().to_owned();
        self.comments.push_back(Comment {
            text,
            place: Place::Line,
            token,
            scanned_from: Position::default(),
            start,
            end: Position::default(),
        });
    }

    /// Skips to the end of the line.
    fn rest_of_line(&mut self) -> &str {
        let from = self.at.offset;
        while !self.is_break_or_end(0) {
            self.skip();
        }
        self.slice(from, self.at.offset)
    }

    /// A line comment behind the first `-` of a sequence is a head for the entry, if something follows in its line or
    /// the next.
    pub(super) fn turn_line_comment_to_head(&mut self) {
        let mut last = self.tokens.iter().rev();
        let (Some(entry), Some(before)) = (last.next(), last.next()) else { return };
        if entry.kind != TokenKind::BlockEntry || before.kind != TokenKind::BlockSequenceStart || self.is_break(0) {
            return;
        }
        let at = self.at;
        if let Some(comment) = self.comments.back_mut().filter(|comment| comment.place == Place::Line) {
            comment.place = Place::Head;
            if i64::from(comment.start.line) == i64::from(at.line) - 1 {
                comment.token = at;
            }
        }
    }

    /// Takes the comments from here to the next content, and splits them into feet of what was and a head of what
    /// comes.
    pub(super) fn scan_comments(&mut self, mut scanned_from: Position) {
        let mut tokens = self.tokens.iter().rev();
        let last = match (tokens.next(), tokens.next()) {
            (Some(Token { kind: TokenKind::FlowEntry, .. }), Some(before)) => Some(before),
            (last, _) => last,
        };
        let mut token = last.map_or(self.at, |token| token.start);
        let after_value = last.is_some_and(|token| token.kind == TokenKind::Value);

        let next_indent = self.indent.max(0);
        let mut first_empty = self.newlines <= 1;
        let mut recent_empty = false;
        let mut line = self.at.line;
        let mut column = i64::from(self.at.column);
        let mut start = Position::default();
        let mut text = String::new();

        // A foot has to start right below the content.
        let foot_line = (scanned_from.line > 0).then(|| {
            let below = i64::from(self.at.line) - i64::from(self.newlines) + 1;
            below + i64::from(self.newlines == 0 && self.at.column > 1)
        });

        let mut ahead = 0;
        while ahead < LOOK_AHEAD {
            column += 1;
            if self.is_blank(ahead) {
                ahead += 1;
                continue;
            }
            let here = self.ahead(ahead, line, column);
            let start_indent = i64::from(start.column) - 1;
            let byte = self.byte(ahead);
            let closes_flow = self.flow_level > 0 && matches!(byte, b']' | b'}');
            if closes_flow || self.is_break_or_end(ahead) {
                if closes_flow || !recent_empty {
                    let below = foot_line == Some(i64::from(start.line)) && !after_value;
                    if closes_flow || (first_empty && (below || start_indent < next_indent)) {
                        if !text.is_empty() {
                            if start_indent < next_indent {
                                token = start;
                            }
                            self.push_foot(&mut text, scanned_from, token, start, here);
                            scanned_from = here;
                            token = here;
                        }
                    } else if !text.is_empty() && byte != 0 {
                        text.push('\n');
                    }
                }
                if !self.is_break(ahead) {
                    break;
                }
                first_empty = false;
                recent_empty = true;
                column = 0;
                line += 1;
                ahead += 1;
                continue;
            }
            if !text.is_empty() && column - 1 < next_indent && column != i64::from(start.column) {
                self.push_foot(&mut text, scanned_from, token, start, here);
                scanned_from = here;
                token = here;
            }
            if byte != b'#' {
                break;
            }
            if text.is_empty() {
                start = here;
            } else {
                text.push('\n');
            }
            recent_empty = false;
            self.skip_white_space(ahead);
            text.push_str(self.rest_of_line());
            // The line break at which the comment ends is looked at as an empty line would be, one further.
            ahead = 1;
            column = 0;
            line = self.at.line;
        }
        if !text.is_empty() {
            let end = self.ahead(ahead, line, column);
            let end = Position { index: end.index - 1, ..end };
            self.comments.push_back(Comment { text, place: Place::Head, token: start, scanned_from, start, end });
        }
    }

    fn push_foot(
        &mut self,
        text: &mut String,
        scanned_from: Position,
        token: Position,
        start: Position,
        end: Position,
    ) {
        let text = std::mem::take(text);
        self.comments.push_back(Comment { text, place: Place::Foot, token, scanned_from, start, end });
    }

    /// The place `ahead`, which is in `line` at `column`, 1-based.
    fn ahead(&self, ahead: usize, line: u32, column: i64) -> Position {
        Position {
            offset: self.at.offset + ahead,
            index: self.at.index + i64::try_from(ahead).unwrap_or(i64::MAX),
            line,
            column: u32::try_from(column).unwrap_or(0),
        }
    }

    /// Skips blanks and line breaks, `bytes` in all.
    fn skip_white_space(&mut self, bytes: usize) {
        let end = self.at.offset + bytes;
        while self.at.offset < end && !self.is_end() {
            if self.is_break(0) {
                self.skip_break();
            } else {
                self.skip();
            }
        }
    }

    /// Moves the end of a block before the comments that belong to the block around it.
    pub(super) fn end_before_comments(&self, end: &mut Position) {
        let mut stop = end.index;
        for comment in self.comments.iter().rev() {
            if comment.end.index < stop {
                return;
            }
            if i64::from(comment.start.column) == self.indent + 1 {
                *end = comment.start;
            }
            stop = comment.scanned_from.index;
        }
    }
}
