//! What `gobwas/glob` does, which is not always what its patterns say.
//!
//! It compiles a pattern to matchers that count lengths in characters and cut names by bytes, so `?.txt` does not match
//! `é.txt`, and `[!a]?` matches `éa`. What is left of a name for two wildcards of different kinds must not be empty, so
//! `?***` does not match `a`. Which matchers a pattern becomes decides, so they are made as it makes them.
//!
//! Reference: gobwas/glob 0.2.3 compiler/compiler.go and match.

mod compile;
mod indexes;

use memchr::memmem;

use super::super::utf8::{decode, runes};
use super::Node;

/// A part of a pattern in the form that the library gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Matcher {
    Nothing,
    Super,
    Text(Vec<u8>),
    /// What has none of these characters.
    Any(Vec<char>),
    /// One character that is none of these.
    Single(Vec<char>),
    List {
        chars: Vec<char>,
        not: bool,
    },
    Range {
        low: char,
        high: char,
        not: bool,
    },
    /// At least so many characters.
    Min(usize),
    /// At most so many.
    Max(usize),
    Contains {
        needle: Vec<u8>,
        not: bool,
    },
    Prefix(Vec<u8>),
    Suffix(Vec<u8>),
    PrefixAny(Vec<u8>, Vec<char>),
    SuffixAny(Vec<u8>, Vec<char>),
    PrefixSuffix(Vec<u8>, Vec<u8>),
    AnyOf(Vec<Matcher>),
    EveryOf(Vec<Matcher>),
    /// Matchers of one length each, behind each other.
    Row {
        matchers: Vec<Matcher>,
        length: usize,
    },
    /// A matcher with what is before it and behind it.
    Tree(Box<Tree>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tree {
    value: Matcher,
    left: Option<Matcher>,
    right: Option<Matcher>,
}

/// How many bytes may be looked at for a name: the library may need longer than anybody waits.
const WORK_MAX: usize = 1 << 16;

/// How many parts a pattern may have: it is tried which of them can be one.
const PARTS_MAX: usize = 64;

/// What the library makes of a pattern; none for one of very many parts.
pub(super) fn compile(nodes: &[Node], separated: bool) -> Option<Matcher> {
    let separators = if separated { vec!['/'] } else { Vec::new() };
    (count(nodes) <= PARTS_MAX).then(|| compile::pattern(nodes, &separators))
}

fn count(nodes: &[Node]) -> usize {
    let of = |node: &Node| match node {
        Node::AnyOf(all) => 1 + all.iter().map(|nodes| 1 + count(nodes)).sum::<usize>(),
        Node::Char(_) => 0,
        _ => 1,
    };
    // Texts are between other parts.
    1 + nodes.iter().map(of).sum::<usize>()
}

/// Whether the library matches a name; none when that takes too long.
pub(super) fn matches(matcher: &Matcher, name: &[u8]) -> Option<bool> {
    let mut work = Work(WORK_MAX);
    let found = matcher.matches(name, &mut work);
    (work.0 > 0).then_some(found)
}

/// How many bytes may still be looked at.
struct Work(usize);

impl Work {
    fn take(&mut self, bytes: usize) -> bool {
        self.0 = self.0.saturating_sub(bytes + 1);
        self.0 > 0
    }
}

impl Matcher {
    /// How many characters it takes, if that is always the same.
    fn length(&self) -> Option<usize> {
        match self {
            Matcher::Nothing => Some(0),
            Matcher::Text(text) => Some(runes(text).count()),
            Matcher::Single(_) | Matcher::List { .. } | Matcher::Range { .. } => Some(1),
            Matcher::Row { length, .. } => Some(*length),
            Matcher::Tree(tree) => {
                let side = |side: &Option<Matcher>| side.as_ref().map_or(Some(0), Matcher::length);
                Some(side(&tree.left)? + tree.value.length()? + side(&tree.right)?)
            }
            Matcher::AnyOf(all) => {
                // The first one has a say only if it has a length.
                let mut length = None;
                for matcher in all {
                    match (length, matcher.length()) {
                        (None, own) => length = own,
                        (Some(length), Some(own)) if length == own => {}
                        _ => return None,
                    }
                }
                length
            }
            Matcher::EveryOf(all) => all.is_empty().then_some(0),
            _ => None,
        }
    }

    fn matches(&self, name: &[u8], work: &mut Work) -> bool {
        if !work.take(name.len()) {
            return false;
        }
        match self {
            Matcher::Nothing => name.is_empty(),
            Matcher::Super => true,
            Matcher::Text(text) => name == text,
            Matcher::Any(separators) => position_of_any(name, separators).is_none(),
            Matcher::Single(_) | Matcher::List { .. } | Matcher::Range { .. } => match decode(name) {
                Some(rune) => rune.width == name.len() && self.accepts(rune.char),
                // Go decodes a replacement character of nothing.
                None => self.accepts(char::REPLACEMENT_CHARACTER),
            },
            Matcher::Min(count) => runes(name).nth(count.saturating_sub(1)).is_some(),
            Matcher::Max(count) => runes(name).nth(*count).is_none(),
            Matcher::Contains { needle, not } => memmem::find(name, needle).is_some() != *not,
            Matcher::Prefix(prefix) => name.starts_with(prefix),
            Matcher::Suffix(suffix) => name.ends_with(suffix),
            Matcher::PrefixAny(prefix, separators) => {
                name.strip_prefix(&**prefix).is_some_and(|rest| position_of_any(rest, separators).is_none())
            }
            Matcher::SuffixAny(suffix, separators) => {
                name.strip_suffix(&**suffix).is_some_and(|rest| position_of_any(rest, separators).is_none())
            }
            Matcher::PrefixSuffix(prefix, suffix) => name.starts_with(prefix) && name.ends_with(suffix),
            Matcher::AnyOf(all) => all.iter().any(|matcher| matcher.matches(name, work)),
            Matcher::EveryOf(all) => all.iter().all(|matcher| matcher.matches(name, work)),
            Matcher::Row { matchers, length } => runes(name).count() == *length && row_starts(matchers, name, work),
            Matcher::Tree(tree) => tree.matches(name, work),
        }
    }

    fn accepts(&self, c: char) -> bool {
        match self {
            Matcher::Single(separators) => !separators.contains(&c),
            Matcher::List { chars, not } => chars.contains(&c) != *not,
            Matcher::Range { low, high, not } => (*low..=*high).contains(&c) != *not,
            _ => false,
        }
    }
}

/// Whether matchers of one length each match the start of a name. Each is given the bytes up to the first one of its last
/// character.
fn row_starts(matchers: &[Matcher], name: &[u8], work: &mut Work) -> bool {
    let mut rest = name;
    for matcher in matchers {
        let length = matcher.length().unwrap_or(0);
        // A matcher of nothing looks at all characters, and none of them counts.
        let seen: Vec<usize> =
            runes(rest).map(|(at, _)| at).take(if length == 0 { usize::MAX } else { length }).collect();
        let end = seen.last().map_or(1, |last| last + 1);
        if seen.len() < length || rest.get(..end).is_none_or(|part| !matcher.matches(part, work)) {
            return false;
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    true
}

impl Tree {
    fn matches(&self, name: &[u8], work: &mut Work) -> bool {
        let side = |side: &Option<Matcher>| side.as_ref().map_or(Some(0), Matcher::length);
        let (left, right) = (side(&self.left), side(&self.right));
        if let (Some(left), Some(value), Some(right)) = (left, self.value.length(), right)
            && left + value + right > name.len()
        {
            return false;
        }
        let matches = |side: &Option<Matcher>, part: &[u8], work: &mut Work| match side {
            Some(matcher) => matcher.matches(part, work),
            None => part.is_empty(),
        };
        let mut offset = left.unwrap_or(0);
        let limit = name.len().saturating_sub(right.unwrap_or(0));
        while offset < limit {
            let part = name.get(offset..limit).unwrap_or_default();
            let Some((index, segments)) = self.value.index(part, work) else { return false };
            let start = offset + index;
            if matches(&self.left, name.get(..start).unwrap_or_default(), work) {
                for length in segments.iter().rev() {
                    if matches(&self.right, name.get(start + length..).unwrap_or_default(), work) {
                        return true;
                    }
                }
            }
            offset = start + name.get(start..).and_then(decode).map_or(1, |rune| rune.width);
        }
        false
    }
}

/// Where the first of some characters is that is there at all.
fn position_of_any(name: &[u8], chars: &[char]) -> Option<usize> {
    chars.iter().find_map(|c| memmem::find(name, c.encode_utf8(&mut [0; 4]).as_bytes()))
}

#[cfg(test)]
mod tests;
