//! Regular expressions of selectors, images and paths.

use go_std::regexp::{Regex, RegexError};

use super::error::{Error, Result};

/// How large a compiled pattern may grow, in bytes: enough for `\p{L}{1,63}`.
const COMPILED_BYTES_MAX: usize = 4 << 20;

/// How much of a pattern is compiled in the time of a unit of work.
const COMPILED_BYTES_PER_WORK: usize = 64;

/// About how many bytes of a text are compared by hand in that time.
const TEXT_BYTES_PER_WORK: usize = 32;

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

    /// Whether it is one, without compiling it.
    pub(crate) fn check(pattern: &str) -> Result<()> {
        Self::check_length(pattern)?;
        Regex::check(pattern.as_bytes()).map_err(Self::error)
    }

    fn check_length(pattern: &str) -> Result<()> {
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(Error::unsupported(
                format!("a regular expression of more than {PATTERN_BYTES_MAX} bytes"),
                "shorten the pattern, or split it into several entries",
            ));
        }
        Ok(())
    }

    fn compile(pattern: &str) -> Result<Self> {
        Self::check_length(pattern)?;
        Regex::with_limit(pattern.as_bytes(), COMPILED_BYTES_MAX).map(Pattern::Regex).map_err(Self::error)
    }

    fn error(error: RegexError) -> Error {
        match error {
            RegexError::Syntax(_) => Error::new(error.to_string()),
            RegexError::TooLarge(_) => {
                Error::unsupported(error.to_string(), "use fewer repetitions, or smaller sets of characters")
            }
        }
    }

    /// How much work it was to compile it, and is to ask it, in units of [`super::tree::Tree::spend`].
    pub(crate) fn cost(&self) -> usize {
        match self {
            Pattern::Any => 1,
            Pattern::Contains(_) | Pattern::Simple(_) => 2,
            Pattern::Regex(regex) => 4 + regex.size() / COMPILED_BYTES_PER_WORK,
        }
    }

    /// Whether it matches. `work` is asked for the work of it, as it goes on.
    pub(crate) fn is_match(&self, text: &str, work: impl Fn(usize) -> Result<()>) -> Result<bool> {
        match self {
            Pattern::Any => Ok(true),
            Pattern::Contains(part) => {
                work(text.len() / TEXT_BYTES_PER_WORK)?;
                Ok(text.contains(part))
            }
            Pattern::Simple(pieces) => matches_simple(pieces, text, work),
            Pattern::Regex(regex) => regex.is_match(text.as_bytes(), work),
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
fn matches_simple(pieces: &[Piece], text: &str, work: impl Fn(usize) -> Result<()>) -> Result<bool> {
    work(text.len() / TEXT_BYTES_PER_WORK)?;
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
            None if at == text.len() => return Ok(true),
            None => false,
        };
        if matched {
            piece += 1;
            at += 1;
            continue;
        }
        match retry {
            Some((after, start)) if text.get(start).is_some_and(|character| *character != '\n') => {
                // What matched since then is looked at once more.
                work(1 + (at - start) / TEXT_BYTES_PER_WORK)?;
                retry = Some((after, start + 1));
                (piece, at) = (after, start + 1);
            }
            _ => return Ok(false),
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
            let found = Pattern::whole(pattern).and_then(|pattern| pattern.is_match(text, |_| Ok(())));
            assert_eq!(found.expect(pattern), expected, "{pattern:?} on {text:?}");
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
            let found = Pattern::search(pattern).and_then(|pattern| pattern.is_match(text, |_| Ok(())));
            assert_eq!(found.expect(pattern), expected, "{pattern:?} on {text:?}");
        }
    }
}
