//! Where values end in a text: [`super::Node::mark`] says where they start.
//!
//! For who edits a text without writing it anew.

use super::input;
use super::scan::{Scanner, TokenKind};
use super::{Dialect, Error, Limits};

/// The tokens of a text, by which the end of each value is found.
#[derive(Debug)]
pub struct Extents(Vec<Token>);

#[derive(Debug, Clone, Copy)]
struct Token {
    start: usize,
    end: usize,
    role: Role,
}

/// What a token says of where a value ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// An anchor or a tag: the value follows.
    Property,
    /// A collection starts.
    Open,
    /// A flow collection ends, with text of its own.
    Close,
    /// A block collection ends behind the token before.
    BlockEnd,
    /// Text of a value.
    Text,
    /// What is between values.
    Other,
}

impl Extents {
    /// Those of a text in UTF-8 without a byte order mark.
    ///
    /// # Errors
    ///
    /// The text is not YAML, or larger than `limits` allow. What only a parser finds is not looked for.
    pub fn of(text: &str, limits: &Limits) -> Result<Self, Error> {
        if text.len() > limits.bytes {
            return Err(Error::too_long(text.len(), limits.bytes));
        }
        let mut input = input::decode(text.as_bytes());
        let fault = input.fault.take();
        let mut scanner = Scanner::new(&input.text, fault, Dialect::V3);
        let mut tokens = Vec::new();
        loop {
            let token = scanner.next().map_err(|fault| fault.into_error(Dialect::V3))?;
            let role = match token.kind {
                TokenKind::StreamEnd => return Ok(Self(tokens)),
                TokenKind::Anchor(_) | TokenKind::Tag { .. } => Role::Property,
                TokenKind::BlockSequenceStart
                | TokenKind::BlockMappingStart
                | TokenKind::FlowSequenceStart
                | TokenKind::FlowMappingStart => Role::Open,
                TokenKind::FlowSequenceEnd | TokenKind::FlowMappingEnd => Role::Close,
                TokenKind::BlockEnd => Role::BlockEnd,
                TokenKind::Scalar { .. } | TokenKind::Alias(_) => Role::Text,
                TokenKind::StreamStart
                | TokenKind::VersionDirective { .. }
                | TokenKind::TagDirective { .. }
                | TokenKind::DocumentStart
                | TokenKind::DocumentEnd
                | TokenKind::BlockEntry
                | TokenKind::FlowEntry
                | TokenKind::Key
                | TokenKind::Value => Role::Other,
            };
            tokens.push(Token { start: token.start.offset, end: token.end.offset, role });
        }
    }

    /// Where the value ends that starts at the byte `start`: behind its last character, comments not counted. `None` where no
    /// value starts.
    pub fn end(&self, start: usize) -> Option<usize> {
        let first = self.0.partition_point(|token| token.start < start);
        let tokens = self.0.get(first..)?.iter().skip_while(|token| token.role == Role::Property);
        let mut depth = 0;
        let mut end = None;
        for token in tokens {
            match token.role {
                Role::Open => depth += 1,
                Role::Close | Role::BlockEnd => depth -= 1,
                Role::Text | Role::Property | Role::Other => {}
            }
            if token.role != Role::BlockEnd {
                end = Some(token.end);
            }
            if depth <= 0 {
                return end.filter(|_| first < self.0.len());
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_value() {
        let rows = [
            ("a: b # c\n", "b", "b"),
            ("a: {b: [c, d], e: {}} # f\n", "{b", "{b: [c, d], e: {}}"),
            ("a: &x {b: c}\nd: *x\n", "&x", "&x {b: c}"),
            ("a:\n  b: c\n  d:\n  - e\n  - f # g\nh: i\n", "b", "b: c\n  d:\n  - e\n  - f"),
            ("a:\n  b: 'c\n    d'\n# e\nf: g\n", "b", "b: 'c\n    d'"),
            ("a: {\n  b: c\n}\nd: e\n", "{", "{\n  b: c\n}"),
        ];
        for (text, start, expected) in rows {
            let at = text.find(start).expect("there");
            let extents = Extents::of(text, &Limits::default()).expect("it scans");
            let end = extents.end(at).expect("a value");
            assert_eq!(&text[at..end], expected, "{text}");
        }
    }

    #[test]
    fn where_nothing_starts_nothing_ends() {
        let extents = Extents::of("a: b\n", &Limits::default()).expect("it scans");
        assert_eq!(extents.end(100), None);
        assert!(Extents::of("a: \"b", &Limits::default()).is_err());
    }
}
