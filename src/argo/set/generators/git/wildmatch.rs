//! Git's wildcards.
//!
//! Reference: git 2.47 wildmatch.c.
#![expect(clippy::indexing_slicing, reason = "indexes are compared with the length")]

/// A compiled pattern. Bytes, not characters, are compared.
#[derive(Debug)]
pub(super) struct Wildmatch {
    tokens: Vec<Token>,
    options: Options,
}

/// How a pattern is matched.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Options {
    /// `*`, `?` and classes do not take a `/`; `**` as a whole component does (`WM_PATHNAME`).
    pub stops_at_slash: bool,
    /// `WM_CASEFOLD`
    pub ignores_case: bool,
}

#[derive(Debug)]
enum Token {
    Byte(u8),
    /// `?`
    One,
    /// `*`
    Star,
    /// `**`
    DoubleStar,
    /// `**/`: any number of directories.
    Directories,
    Class {
        is_negated: bool,
        ranges: Vec<(u8, u8)>,
    },
    /// What ends too early: nothing matches.
    Never,
}

impl Wildmatch {
    pub(super) fn new(pattern: &str, options: Options) -> Self {
        let mut tokens = Vec::new();
        let mut rest = pattern.as_bytes();
        let mut before: Option<u8> = None;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            let token = match byte {
                b'\\' => match rest.split_first() {
                    Some((&escaped, after)) => {
                        rest = after;
                        Token::Byte(folded(escaped, options))
                    }
                    None => Token::Never,
                },
                b'?' => Token::One,
                b'*' => {
                    let stars = rest.iter().take_while(|byte| **byte == b'*').count();
                    rest = rest.get(stars..).unwrap_or_default();
                    let is_component =
                        before.is_none_or(|byte| byte == b'/') && matches!(rest.first(), None | Some(b'/'));
                    match (stars > 0, options.stops_at_slash) {
                        (true, true) if is_component && rest.first() == Some(&b'/') => {
                            rest = rest.get(1..).unwrap_or_default();
                            before = Some(b'/');
                            tokens.push(Token::Directories);
                            continue;
                        }
                        (true, true) if is_component => Token::DoubleStar,
                        (_, true) => Token::Star,
                        (_, false) => Token::DoubleStar,
                    }
                }
                b'[' => class(&mut rest, options).unwrap_or(Token::Never),
                byte => Token::Byte(folded(byte, options)),
            };
            before = Some(byte);
            tokens.push(token);
        }
        Self { tokens, options }
    }

    /// How many steps a byte of a text takes.
    pub(super) fn len(&self) -> usize {
        self.tokens.len() + 1
    }

    /// Whether the pattern matches all of the text. Takes time in proportion to both lengths.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        // Where in the text the tokens so far may end.
        let mut ends = vec![false; text.len() + 1];
        ends[0] = true;
        for token in &self.tokens {
            match token {
                Token::Star | Token::DoubleStar => {
                    let takes_slash = matches!(token, Token::DoubleStar);
                    for (at, byte) in text.iter().enumerate() {
                        ends[at + 1] |= ends[at] && (takes_slash || *byte != b'/');
                    }
                }
                Token::Directories => {
                    let mut is_open = false;
                    for (at, byte) in text.iter().enumerate() {
                        is_open |= ends[at];
                        ends[at + 1] |= is_open && *byte == b'/';
                    }
                }
                token => {
                    for (at, byte) in text.iter().enumerate().rev() {
                        ends[at + 1] = ends[at] && self.accepts(token, *byte);
                    }
                    ends[0] = false;
                }
            }
        }
        ends.last() == Some(&true)
    }

    fn accepts(&self, token: &Token, byte: u8) -> bool {
        let stops = self.options.stops_at_slash && byte == b'/';
        match token {
            Token::Byte(wanted) => *wanted == folded(byte, self.options),
            Token::One => !stops,
            Token::Class { is_negated, ranges } => {
                let is_in = |byte: u8| ranges.iter().any(|(low, high)| (*low..=*high).contains(&byte));
                let byte = folded(byte, self.options);
                let is_in = is_in(byte) || (self.options.ignores_case && is_in(byte.to_ascii_uppercase()));
                is_in != *is_negated && !stops
            }
            Token::Star | Token::DoubleStar | Token::Directories | Token::Never => false,
        }
    }
}

fn folded(byte: u8, options: Options) -> u8 {
    if options.ignores_case { byte.to_ascii_lowercase() } else { byte }
}

/// The rest of a class, its `[` taken already. None when it has no end.
fn class(rest: &mut &[u8], options: Options) -> Option<Token> {
    let is_negated = matches!(rest.first(), Some(b'!' | b'^'));
    if is_negated {
        next_byte(rest)?;
    }
    let mut ranges = Vec::new();
    let mut is_first = true;
    loop {
        let byte = next_byte(rest)?;
        let low = match byte {
            b']' if !is_first => return Some(Token::Class { is_negated, ranges }),
            b'[' if rest.first() == Some(&b':') => {
                let end = rest.iter().position(|byte| *byte == b']')?;
                let word = rest.get(1..end).and_then(|word| word.strip_suffix(b":"));
                match word {
                    Some(word) => {
                        ranges.extend(named(word)?);
                        *rest = rest.get(end + 1..)?;
                        is_first = false;
                        continue;
                    }
                    // No `:]`: it is a plain `[`.
                    None => byte,
                }
            }
            b'\\' => next_byte(rest)?,
            byte => byte,
        };
        is_first = false;
        let is_range = rest.first() == Some(&b'-') && rest.get(1).is_some_and(|byte| *byte != b']');
        let high = match is_range {
            true => {
                next_byte(rest)?;
                match next_byte(rest)? {
                    b'\\' => next_byte(rest)?,
                    byte => byte,
                }
            }
            false => low,
        };
        ranges.push(match options.ignores_case && low == high {
            true => (low.to_ascii_lowercase(), low.to_ascii_lowercase()),
            false => (low, high),
        });
    }
}

fn next_byte(rest: &mut &[u8]) -> Option<u8> {
    let (&byte, after) = rest.split_first()?;
    *rest = after;
    Some(byte)
}

/// A class such as `[:digit:]`; None when there is no class of that name.
fn named(word: &[u8]) -> Option<Vec<(u8, u8)>> {
    let all = |accepts: fn(&u8) -> bool| Some((0..=127).filter(accepts).map(|byte| (byte, byte)).collect());
    match word {
        b"alnum" => all(u8::is_ascii_alphanumeric),
        b"alpha" => all(u8::is_ascii_alphabetic),
        b"blank" => Some(vec![(b' ', b' '), (b'\t', b'\t')]),
        b"cntrl" => all(u8::is_ascii_control),
        b"digit" => all(u8::is_ascii_digit),
        b"graph" => all(u8::is_ascii_graphic),
        b"lower" => all(u8::is_ascii_lowercase),
        b"print" => Some(vec![(b' ', b'~')]),
        b"punct" => all(u8::is_ascii_punctuation),
        b"space" => Some(vec![(b' ', b' '), (b'\t', b'\r')]),
        b"upper" => all(u8::is_ascii_uppercase),
        b"xdigit" => all(u8::is_ascii_hexdigit),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of git's own t3070-wildmatch.sh: pattern, text, with `WM_PATHNAME`, without it, ignoring case.
    #[test]
    fn matching() {
        let rows = [
            ("foo", "foo", true, true, true),
            ("???", "foo", true, true, true),
            ("*f", "foo", false, false, false),
            ("*foo*", "foo", true, true, true),
            ("*ob*a*r*", "foobar", true, true, true),
            ("\\*", "*", true, true, true),
            ("\\a\\b", "ab", true, true, true),
            ("t[a-g]n", "ten", true, true, true),
            ("t[!a-g]n", "ton", true, true, true),
            ("t[^a-g]n", "ton", true, true, true),
            ("a[]]b", "a]b", true, true, true),
            ("a[]-]b", "a-b", true, true, true),
            ("foo*bar", "foo/baz/bar", false, true, true),
            ("foo**bar", "foo/baz/bar", false, true, true),
            ("foo/**/bar", "foo/baz/bar", true, true, true),
            ("foo/**/bar", "foo/bar", true, false, false),
            ("foo/**/**/bar", "foo/b/a/z/bar", true, true, true),
            ("foo?bar", "foo/bar", false, true, true),
            ("foo[/]bar", "foo/bar", false, true, true),
            ("**/foo", "foo", true, false, false),
            ("**/foo", "XXX/foo", true, true, true),
            ("**/foo", "bar/baz/foo", true, true, true),
            ("*/foo", "bar/baz/foo", false, true, true),
            ("**/bar*", "foo/bar/baz", false, true, true),
            ("**/bar/*", "deep/foo/bar/baz", true, true, true),
            ("**/bar/**", "deep/foo/bar/baz/", true, true, true),
            ("[[:alpha:]][[:digit:]]", "a1", true, true, true),
            ("[[:digit:][:upper:]]", "a", false, false, true),
            ("[\\-_]", "-", true, true, true),
            ("[a-", "a", false, false, false),
            ("[A-Z]", "a", false, false, true),
            ("FOO", "foo", false, false, true),
            ("foo\\", "foo", false, false, false),
        ];
        for (pattern, text, pathname, plain, folded) in rows {
            let run = |stops_at_slash, ignores_case| {
                Wildmatch::new(pattern, Options { stops_at_slash, ignores_case }).matches(text.as_bytes())
            };
            assert_eq!(run(true, false), pathname, "{pattern} on {text}, slashes stop");
            assert_eq!(run(false, false), plain, "{pattern} on {text}");
            assert_eq!(run(false, true), folded, "{pattern} on {text}, case ignored");
        }
    }

    #[test]
    fn many_stars_end() {
        let pattern = Wildmatch::new(&("*a".repeat(500) + "b"), Options::default());
        assert!(!pattern.matches("a".repeat(2000).as_bytes()));
    }
}
