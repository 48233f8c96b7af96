//! Path patterns of `gobwas/glob`, which is not a part of Go, but Helm's `.Files.Glob` and Argo CD's `include` and `exclude`
//! alike.
#![expect(clippy::indexing_slicing, reason = "there is one place more than nodes")]

mod quirks;

use std::sync::OnceLock;

/// A compiled pattern of the `gobwas/glob` dialect.
///
/// With `/` as separator `*` and `?` stop at it and `**` does not; without, nothing stops. `[abc]`, `[a-z]` and their opposites `[!abc]`, `[!a-z]` match one
/// character, `/` included; `[^a]` is a class of two characters. `{a,b}` are alternatives, which nest; one that is
/// not closed ends with the pattern. `\` takes the next character as it is.
///
/// Reference: gobwas/glob 0.2.3, as helm 4.2.3 pkg/engine/files.go `Glob` uses it with a separator, and Argo CD 3
/// util/glob `Match` without one. Case `files-api`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    nodes: Vec<Node>,
    separated: bool,
    /// What the library makes of the pattern.
    quirks: OnceLock<Option<quirks::Matcher>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Char(char),
    /// `?`
    Single,
    /// `*`
    Any,
    /// `**`
    Super,
    List {
        chars: Vec<char>,
        negated: bool,
    },
    Range {
        low: char,
        high: char,
        negated: bool,
    },
    AnyOf(Vec<Vec<Node>>),
}

/// Why a text is not a [`Glob`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadGlob {
    /// It does not compile. `.Files.Glob` then takes every file.
    #[error("the glob does not compile")]
    Syntax,
    /// Its braces nest deeper than [`DEPTH_MAX`].
    #[error("the braces of the glob nest more than {DEPTH_MAX} deep")]
    TooDeep,
}

/// How deep braces may nest.
pub const DEPTH_MAX: usize = 64;

impl Glob {
    /// Compiles a pattern with `/` as separator.
    pub fn new(text: &str) -> Result<Self, BadGlob> {
        Self::compiled(text, true)
    }

    /// Compiles a pattern without a separator: `*` takes `/` too.
    pub fn without_separator(text: &str) -> Result<Self, BadGlob> {
        Self::compiled(text, false)
    }

    fn compiled(text: &str, separated: bool) -> Result<Self, BadGlob> {
        Ok(Self { nodes: parse(text)?, separated, quirks: OnceLock::new() })
    }

    /// Whether the pattern describes all of `name`. Takes time in proportion to both lengths.
    ///
    /// Matches as the library does, unless that takes too long: then as the pattern says.
    pub fn matches(&self, name: &str) -> bool {
        if let Some(matcher) = self.quirks.get_or_init(|| quirks::compile(&self.nodes, self.separated))
            && let Some(found) = quirks::matches(matcher, name.as_bytes())
        {
            return found;
        }
        self.describes(name)
    }

    /// Whether the pattern describes all of `name` by what it says, whatever the library makes of it: for patterns that are the
    /// product's own.
    pub fn describes(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let mut ends = vec![false; name.len() + 1];
        ends[0] = true;
        self.run(&self.nodes, &name, &mut ends);
        ends.last() == Some(&true)
    }

    /// Turns the set of places where `nodes` may start into the set of places where they may end.
    fn run(&self, nodes: &[Node], name: &[char], places: &mut Vec<bool>) {
        for node in nodes {
            match node {
                Node::Any | Node::Super => {
                    for (at, c) in name.iter().enumerate() {
                        let passes = !self.separated || matches!(node, Node::Super) || *c != '/';
                        places[at + 1] |= places[at] && passes;
                    }
                }
                Node::AnyOf(alternatives) => {
                    let mut all = vec![false; places.len()];
                    for alternative in alternatives {
                        let mut ends = places.clone();
                        self.run(alternative, name, &mut ends);
                        all.iter_mut().zip(ends).for_each(|(all, end)| *all |= end);
                    }
                    *places = all;
                }
                Node::Char(_) | Node::Single | Node::List { .. } | Node::Range { .. } => {
                    for (at, c) in name.iter().enumerate().rev() {
                        places[at + 1] = places[at] && node.accepts(*c, self.separated);
                    }
                    places[0] = false;
                }
            }
        }
    }
}

fn parse(text: &str) -> Result<Vec<Node>, BadGlob> {
    let mut parser = Parser { rest: text.chars().peekable() };
    // Every open brace: what stood before it, and its alternatives so far.
    let mut open: Vec<(Vec<Node>, Vec<Vec<Node>>)> = Vec::new();
    let mut here = Vec::new();
    while let Some(c) = parser.next()? {
        match c {
            '{' if open.len() == DEPTH_MAX => return Err(BadGlob::TooDeep),
            '{' => open.push((std::mem::take(&mut here), Vec::new())),
            ',' | '}' if !open.is_empty() => {
                if let Some((_, alternatives)) = open.last_mut() {
                    alternatives.push(std::mem::take(&mut here));
                }
                if c == '}' {
                    here = close(open.pop());
                }
            }
            '[' => here.push(parser.class()?),
            '?' => here.push(Node::Single),
            '*' => here.push(if parser.rest.next_if_eq(&'*').is_some() { Node::Super } else { Node::Any }),
            // A final backslash is dropped.
            '\\' => here.extend(parser.next()?.map(Node::Char)),
            c => here.push(Node::Char(c)),
        }
    }
    while let Some((before, mut alternatives)) = open.pop() {
        alternatives.push(here);
        here = close(Some((before, alternatives)));
    }
    Ok(here)
}

fn close(brace: Option<(Vec<Node>, Vec<Vec<Node>>)>) -> Vec<Node> {
    let (mut before, alternatives) = brace.unwrap_or_default();
    before.push(Node::AnyOf(alternatives));
    before
}

impl Node {
    /// Whether a node that takes one character takes this one.
    fn accepts(&self, c: char, separated: bool) -> bool {
        match self {
            Node::Char(wanted) => *wanted == c,
            Node::Single => !separated || c != '/',
            Node::List { chars, negated } => chars.contains(&c) != *negated,
            Node::Range { low, high, negated } => (*low..=*high).contains(&c) != *negated,
            Node::Any | Node::Super | Node::AnyOf(_) => false,
        }
    }
}

struct Parser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl Parser<'_> {
    /// The next character. A NUL ends the pattern, a replacement character is taken for broken UTF-8.
    fn next(&mut self) -> Result<Option<char>, BadGlob> {
        match self.rest.next() {
            Some('\0') | None => Ok(None),
            Some('\u{fffd}') => Err(BadGlob::Syntax),
            Some(c) => Ok(Some(c)),
        }
    }

    fn required(&mut self) -> Result<char, BadGlob> {
        self.next()?.ok_or(BadGlob::Syntax)
    }

    /// The rest of a class, its `[` taken already: either one range or a list, nothing mixed.
    fn class(&mut self) -> Result<Node, BadGlob> {
        let mut first = self.required()?;
        let negated = first == '!';
        if negated {
            first = self.required()?;
        }
        if self.rest.next_if_eq(&'-').is_some() {
            let (low, high) = (first, self.required()?);
            if self.required()? != ']' || high < low {
                return Err(BadGlob::Syntax);
            }
            return Ok(Node::Range { low, high, negated });
        }
        let mut chars = Vec::new();
        while first != ']' {
            chars.push(if first == '\\' { self.required()? } else { first });
            first = self.required()?;
        }
        if chars.is_empty() { Err(BadGlob::Syntax) } else { Ok(Node::List { chars, negated }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What helm 4.2.3 answers for `.Files.Glob`, pattern by pattern.
    #[test]
    fn matching() {
        let rows = [
            ("*", "a", true),
            ("*", "a/b", false),
            ("**", "a/b", true),
            ("a/**", "a/b/c", true),
            ("a/**", "a", false),
            ("**/c", "c", false),
            ("**/c", "a/b/c", true),
            ("***", "a/b", true),
            // Between two wildcards of different kinds there has to be something.
            ("?***", "z", false),
            ("?***", "ab", true),
            ("?***.txt", "a.txt", false),
            ("?***.txt", "d/a.txt", true),
            ("*?***", "z", false),
            ("***?", "z", true),
            ("?***?", "z", false),
            ("?**", "z", true),
            ("*a***", "d/a.txt", false),
            ("**?***", "z", false),
            ("?", "/", false),
            ("[!a]", "/", true),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("[^a]", "^", true),
            ("[^a]", "b", false),
            ("[ab-c]", "-", true),
            ("[\\]]", "]", true),
            ("{a,b}.txt", "b.txt", true),
            ("{a,b*}.txt", "bcd.txt", true),
            ("{a,{b,c}d}", "cd", true),
            ("{a,b", "b", true),
            ("{}", "", true),
            ("{,a}b", "b", true),
            ("a}", "a}", true),
            ("a,b", "a,b", true),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\", "a", true),
            ("", "", true),
            ("", "a", false),
            (".*", ".a", true),
            ("*", ".a", true),
            ("A", "a", false),
        ];
        for (pattern, name, expected) in rows {
            let glob = Glob::new(pattern).expect(pattern);
            assert_eq!(glob.matches(name), expected, "{pattern:?} on {name:?}");
        }
    }

    #[test]
    fn matching_without_separator() {
        let rows = [
            ("*.yaml", "a/b.yaml", true),
            ("*", "a/b", true),
            ("a?b", "a/b", true),
            ("{config,env-usw2}/*", "config/a/b.yaml", true),
            ("**.yaml", "a/b.yaml", true),
        ];
        for (pattern, name, expected) in rows {
            let glob = Glob::without_separator(pattern).expect(pattern);
            assert_eq!(glob.matches(name), expected, "{pattern:?} on {name:?}");
        }
    }

    #[test]
    fn bad_globs() {
        for text in ["[", "[]", "[!]", "[a", "[a-", "[a-]", "[a-z0-9]", "[z-a]", "[a-z"] {
            assert_eq!(Glob::new(text), Err(BadGlob::Syntax), "{text:?}");
        }
        assert_eq!(Glob::new(&"{".repeat(100)), Err(BadGlob::TooDeep));
    }

    #[test]
    fn many_alternatives_end() {
        let glob = Glob::new(&("{a,a,**}".repeat(200) + "b")).expect("compiles");
        assert!(!glob.matches(&"a".repeat(500)));
    }
}
