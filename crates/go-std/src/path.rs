//! Go's `path` and, on Unix, `path/filepath`: `Match`, the patterns of `.helmignore`, of `--show-only` and of directories of
//! ApplicationSets; and `Clean`.

/// A path in its shortest form, by its text alone: no `.`, no empty elements, `..` only at the start of a relative path.
///
/// Reference: `path.Clean`; `filepath.Clean` is the same.
pub fn clean(path: &str) -> String {
    String::from_utf8(clean_bytes(path.as_bytes())).expect("elements of text make text")
}

/// A path in its shortest form, as [`clean`] makes it, of bytes that need not be UTF-8.
pub fn clean_bytes(path: &[u8]) -> Vec<u8> {
    let is_rooted = path.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => drop(kept.pop()),
            b".." if is_rooted => {}
            element => kept.push(element),
        }
    }
    let joined = kept.join(&b'/');
    match (is_rooted, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}

/// The last element; `.` for nothing, `/` for slashes alone. Reference: `path.Base`.
pub fn base(path: &[u8]) -> &[u8] {
    if path.is_empty() {
        return b".";
    }
    let last = path.split(|byte| *byte == b'/').rfind(|element| !element.is_empty());
    last.unwrap_or(b"/")
}

/// All but the last element, in its shortest form. Reference: `path.Dir`.
pub fn dir(path: &[u8]) -> Vec<u8> {
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    clean_bytes(path.get(..end).unwrap_or_default())
}

/// The last element from its last point on. Reference: `path.Ext`.
pub fn ext(path: &[u8]) -> &[u8] {
    let last = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let dot = last.iter().rposition(|byte| *byte == b'.');
    dot.and_then(|dot| last.get(dot..)).unwrap_or_default()
}

/// A compiled pattern.
///
/// `*` and `?` stop at `/`; `[a-z]` and `[^a-z]` match one character, `/` included; `\` takes the next character
/// as it is.
///
/// Reference: Go 1.26 `path/filepath` `Match` on Unix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Vec<Token>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Star,
    Any,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

/// The text is not a pattern. Reads as Go's `filepath.ErrBadPattern`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("syntax error in pattern")]
pub struct BadPattern;

impl Pattern {
    /// Compiles a pattern; all of it is checked, also what no name would ever reach.
    pub fn new(text: &str) -> Result<Self, BadPattern> {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            tokens.push(match c {
                '*' => Token::Star,
                '?' => Token::Any,
                '[' => class(&mut rest)?,
                '\\' => Token::Char(rest.next().ok_or(BadPattern)?),
                c => Token::Char(c),
            });
        }
        Ok(Self(tokens))
    }

    /// Whether the pattern describes all of `name`.
    pub fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut token, mut at) = (0, 0);
        // Where to go on when the tokens after the last star do not fit: that star takes one character more.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match (self.0.get(token), name.get(at)) {
                (None, None) => return true,
                (Some(Token::Star), _) => {
                    token += 1;
                    retry = Some((token, at));
                    continue;
                }
                (Some(wanted), Some(c)) if wanted.accepts(*c) => {
                    token += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            match retry {
                Some((after_star, from)) if name.get(from).is_some_and(|c| *c != '/') => {
                    retry = Some((after_star, from + 1));
                    (token, at) = (after_star, from + 1);
                }
                _ => return false,
            }
        }
    }
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Token::Star => false,
            Token::Any => c != '/',
            Token::Char(wanted) => *wanted == c,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

/// The rest of a class, its `[` taken already. At least one range; `]` and `-` need a `\` to be members.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Token, BadPattern> {
    let mut next = rest.next();
    let negated = next == Some('^');
    if negated {
        next = rest.next();
    }
    let mut ranges = Vec::new();
    loop {
        match next.ok_or(BadPattern)? {
            ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges }),
            first => {
                let low = member(first, rest)?;
                next = Some(rest.next().ok_or(BadPattern)?);
                let mut high = low;
                if next == Some('-') {
                    let last = rest.next().ok_or(BadPattern)?;
                    high = member(last, rest)?;
                    next = Some(rest.next().ok_or(BadPattern)?);
                }
                ranges.push((low, high));
            }
        }
    }
}

fn member(c: char, rest: &mut std::str::Chars<'_>) -> Result<char, BadPattern> {
    match c {
        '-' | ']' => Err(BadPattern),
        '\\' => rest.next().ok_or(BadPattern),
        c => Ok(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matching() {
        let rows = [
            ("abc", "abc", true),
            ("*", "abc", true),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
            ("*c", "abc", true),
            ("a*", "ab/c", false),
            ("a*/b", "abc/b", true),
            ("a*/b", "a/c/b", false),
            ("a*b*c*d*e*/f", "axbxcxdxe/f", true),
            ("a*b*c*d*e*/f", "axbxcxdxexxx/fff", false),
            ("a*b?c*x", "abxbbxdbxebxczzx", true),
            ("a*b?c*x", "abxbbxdbxebxczzy", false),
            ("ab[b-d]", "abc", true),
            ("ab[e-g]", "abc", false),
            ("ab[^c]", "abc", false),
            ("ab[^e-g]", "abc", true),
            ("a[!b]c", "a!c", true),
            ("a\\*b", "a*b", true),
            ("a\\*b", "axb", false),
            ("a?b", "a\u{263a}b", true),
            ("a?b", "a/b", false),
            ("a[^a]b", "a/b", true),
            ("[a-\u{3b6}]*", "\u{3b1}", true),
            ("[\\]a]", "]", true),
            ("[\\-]", "-", true),
            ("[x\\-]", "-", true),
            ("*x", "xxx", true),
            ("templates/.?*", "templates/.a", true),
            ("templates/.?*", "templates/.", false),
            ("templates/.?*", "templates/a/.a", false),
        ];
        for (pattern, name, expected) in rows {
            let compiled = Pattern::new(pattern).expect(pattern);
            assert_eq!(compiled.matches(name), expected, "{pattern:?} on {name:?}");
        }
    }

    #[test]
    fn bad_patterns() {
        let rows = [
            "[", "[^", "[]a]", "[-]", "[x-]", "[-x]", "[a-b-c]", "[^bc", "a[", "a[b", "\\", "[\\", "[a\\", "a*[",
            "[a-]b]",
        ];
        for text in rows {
            assert_eq!(Pattern::new(text), Err(BadPattern), "{text:?}");
        }
    }
}
