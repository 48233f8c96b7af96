//! Regular expressions of selectors, images and paths.

use super::error::{Error, Result};
use crate::go::regexp::{Regex, RegexError};

/// How large a compiled pattern may grow, in bytes: enough for `\p{L}{1,63}`.
const COMPILED_BYTES_MAX: usize = 4 << 20;

/// How much of a compiled pattern is looked at for a name in the time of a unit of work.
const REGEX_BYTES_PER_WORK: usize = 1 << 10;

/// About how long a name is.
const NAME_BYTES: usize = 32;

/// How long a pattern may be.
const PATTERN_BYTES_MAX: usize = 64 << 10;

/// A compiled regular expression.
///
/// Nearly all patterns of kustomizations are names, or names with `.` and `.*`: those are compared by hand, as compiling
/// an automaton for each would take longer than the rest of most builds.
#[derive(Debug, Clone)]
pub(crate) enum Pattern {
    /// The empty pattern of a selector: no condition.
    Any,
    /// The text contains this.
    Contains(String),
    /// A simple pattern, matched from start to end.
    Simple(Vec<Piece>),
    Regex(Regex),
}

/// A part of a simple pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Piece {
    Literal(char),
    /// `.`: any character but a line break.
    One,
    /// `.*`
    Many,
}

impl Pattern {
    /// The pattern of a selector's field: it must match all of the text; an empty one matches everything.
    pub(crate) fn whole(pattern: &str) -> Result<Self> {
        if pattern.is_empty() {
            return Ok(Pattern::Any);
        }
        match simple(pattern) {
            Some(pieces) => Ok(Pattern::Simple(pieces)),
            None => Self::compile(&format!("^(?:{pattern})$")),
        }
    }

    /// A pattern that may match anywhere in the text.
    pub(crate) fn search(pattern: &str) -> Result<Self> {
        match simple(pattern) {
            Some(pieces) if pieces.iter().all(|piece| matches!(piece, Piece::Literal(_))) => {
                Ok(Pattern::Contains(pattern.to_owned()))
            }
            _ => Self::compile(pattern),
        }
    }

    fn compile(pattern: &str) -> Result<Self> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(Error::unsupported(
                format!("a regular expression of more than {PATTERN_BYTES_MAX} bytes"),
                "shorten the pattern, or split it into several entries",
            ));
        }
        match Regex::with_limit(pattern.as_bytes(), COMPILED_BYTES_MAX) {
            Ok(regex) => Ok(Pattern::Regex(regex)),
            Err(error @ RegexError::Syntax(_)) => Err(Error::new(error.to_string())),
            Err(error @ RegexError::TooLarge(_)) => {
                Err(Error::unsupported(error.to_string(), "use fewer repetitions, or smaller sets of characters"))
            }
        }
    }

    /// How much work it is to match a name, in units of [`super::tree::Tree::spend`].
    pub(crate) fn cost(&self) -> usize {
        match self {
            Pattern::Any => 1,
            Pattern::Contains(_) | Pattern::Simple(_) => 2,
            Pattern::Regex(regex) => 4 + regex.size() / REGEX_BYTES_PER_WORK,
        }
    }

    /// The same for a text of some length.
    pub(crate) fn cost_of(&self, text: &str) -> usize {
        self.cost().saturating_mul(1 + text.len() / NAME_BYTES)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        match self {
            Pattern::Any => true,
            Pattern::Contains(part) => text.contains(part),
            Pattern::Simple(pieces) => matches_simple(pieces, text),
            Pattern::Regex(regex) => regex.is_match(text.as_bytes()),
        }
    }
}

fn simple(pattern: &str) -> Option<Vec<Piece>> {
    let mut pieces = Vec::with_capacity(pattern.len());
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let piece = match character {
            '.' if characters.peek() == Some(&'*') => {
                characters.next();
                Piece::Many
            }
            '.' => Piece::One,
            '\\' | '+' | '*' | '?' | '(' | ')' | '|' | '[' | ']' | '{' | '}' | '^' | '$' => return None,
            literal => Piece::Literal(literal),
        };
        // A second quantifier is an error or makes the first one lazy: left to the real engine.
        if piece == Piece::Many && matches!(characters.peek(), Some('*' | '+' | '?' | '{')) {
            return None;
        }
        pieces.push(piece);
    }
    Some(pieces)
}

/// Matches with one level of backtracking: enough, as a later `.*` never needs an earlier one to give more.
fn matches_simple(pieces: &[Piece], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut piece, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    loop {
        let matched = match pieces.get(piece) {
            Some(Piece::Many) => {
                retry = Some((piece + 1, at));
                piece += 1;
                continue;
            }
            Some(Piece::One) => text.get(at).is_some_and(|character| *character != '\n'),
            Some(Piece::Literal(literal)) => text.get(at) == Some(literal),
            None if at == text.len() => return true,
            None => false,
        };
        if matched {
            piece += 1;
            at += 1;
            continue;
        }
        match retry {
            Some((after, start)) if text.get(start).is_some_and(|character| *character != '\n') => {
                retry = Some((after, start + 1));
                (piece, at) = (after, start + 1);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn whole_patterns() {
        let rows = [
            ("", "anything", true),
            ("web", "web", true),
            ("web", "web2", false),
            ("my.*", "my-web", true),
            (".*web.*", "my-web-2", true),
            (".*a.*b", "xaybzb", true),
            (".*a.*b", "xaybz", false),
            ("a.c", "abc", true),
            ("a.c", "a\nc", false),
            ("a.*c", "ab\nc", false),
            ("web|api", "api", true),
            ("web|api", "apis", false),
            ("^web$", "web", true),
            ("[a-c]+", "abc", true),
            ("\\d+", "12", true),
            ("\\d+", "\u{661}", false),
            ("a{,2}", "a{,2}", true),
            ("(?i)WEB", "web", true),
            ("\\Qa.b\\E", "a.b", true),
            ("\\Qa.b\\E", "axb", false),
        ];
        for (pattern, text, expected) in rows {
            assert_eq!(Pattern::whole(pattern).expect(pattern).is_match(text), expected, "{pattern:?} on {text:?}");
        }
        for bad in ["(", "a**", "[", "\\"] {
            assert!(Pattern::whole(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn searched_patterns() {
        for (pattern, text, expected) in
            [("b", "abc", true), ("^b", "abc", false), ("a.c", "xabcx", true), ("", "x", true)]
        {
            assert_eq!(Pattern::search(pattern).expect(pattern).is_match(text), expected, "{pattern:?} on {text:?}");
        }
    }
}
