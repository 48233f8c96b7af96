//! Where in a text a matcher matches first, and the lengths of what it may match there.

use memchr::{memmem, memrchr};

use super::super::super::utf8::runes;
use super::{Matcher, Work, position_of_any, row_starts};

type Index = (usize, Vec<usize>);

impl Matcher {
    pub(super) fn index(&self, text: &[u8], work: &mut Work) -> Option<Index> {
        if !work.take(text.len()) {
            return None;
        }
        match self {
            Matcher::Nothing => Some((0, vec![0])),
            Matcher::Super => Some((0, starts(text, 0))),
            Matcher::Text(wanted) => Some((memmem::find(text, wanted)?, vec![wanted.len()])),
            Matcher::Any(separators) => Some(match position_of_any(text, separators) {
                Some(0) => (0, vec![0]),
                found => (0, starts(text.get(..found.unwrap_or(text.len())).unwrap_or_default(), 0)),
            }),
            Matcher::Single(_) | Matcher::List { .. } | Matcher::Range { .. } => {
                // A wrong byte counts as the three that replace it.
                let accepted = runes(text).find(|(_, rune)| self.accepts(rune.char));
                accepted.map(|(at, rune)| (at, vec![rune.char.len_utf8()]))
            }
            Matcher::Min(count) => {
                let ends: Vec<usize> = ends(text, 0).skip(count.saturating_sub(1)).collect();
                (text.len() + 1 > *count && !ends.is_empty()).then_some((0, ends))
            }
            Matcher::Max(count) => Some((0, std::iter::once(0).chain(ends(text, 0).take(*count)).collect())),
            Matcher::Contains { needle, not } => contains(text, needle, *not),
            Matcher::Prefix(prefix) => {
                let (at, length) = (memmem::find(text, prefix)?, prefix.len());
                let rest = text.get(at + length..).unwrap_or_default();
                Some((at, std::iter::once(length).chain(ends(rest, length)).collect()))
            }
            Matcher::Suffix(suffix) => Some((0, vec![memmem::find(text, suffix)? + suffix.len()])),
            Matcher::PrefixAny(prefix, separators) => {
                let (at, length) = (memmem::find(text, prefix)?, prefix.len());
                let rest = text.get(at + length..).unwrap_or_default();
                let rest = position_of_any(rest, separators).and_then(|end| rest.get(..end)).unwrap_or(rest);
                Some((at, std::iter::once(length).chain(ends(rest, length)).collect()))
            }
            Matcher::SuffixAny(suffix, separators) => {
                let at = memmem::find(text, suffix)?;
                let before = text.get(..at).unwrap_or_default();
                let start = separators.iter().find_map(|c| memrchr(*c as u8, before)).map_or(0, |at| at + 1);
                Some((start, vec![at + suffix.len() - start]))
            }
            Matcher::PrefixSuffix(prefix, suffix) => prefix_suffix(text, prefix, suffix),
            Matcher::AnyOf(all) => any_of(all, text, work),
            Matcher::EveryOf(all) => every_of(all, text, work),
            Matcher::Row { matchers, length } => runes(text)
                .map(|(at, _)| at)
                .take_while(|at| text.len() - at >= *length)
                .find(|at| row_starts(matchers, text.get(*at..).unwrap_or_default(), work))
                .map(|at| (at, vec![*length])),
            Matcher::Tree(_) => None,
        }
    }
}

/// The places before each character and at the end.
fn starts(text: &[u8], offset: usize) -> Vec<usize> {
    runes(text).map(|(at, _)| offset + at).chain([offset + text.len()]).collect()
}

/// The places behind each character.
fn ends(text: &[u8], offset: usize) -> impl Iterator<Item = usize> + '_ {
    runes(text).map(move |(at, rune)| offset + at + rune.char.len_utf8())
}

fn contains(text: &[u8], needle: &[u8], not: bool) -> Option<Index> {
    let found = memmem::find(text, needle);
    if not {
        return Some((0, starts(text.get(..found.unwrap_or(text.len())).unwrap_or_default(), 0)));
    }
    let offset = found? + needle.len();
    Some((0, starts(text.get(offset..).unwrap_or_default(), offset)))
}

fn prefix_suffix(text: &[u8], prefix: &[u8], suffix: &[u8]) -> Option<Index> {
    let at = memmem::find(text, prefix)?;
    let mut rest = text.get(at..).unwrap_or_default();
    let mut segments = Vec::new();
    while let Some(found) = memmem::rfind(rest, suffix) {
        segments.push(found + suffix.len());
        rest = rest.get(..found).unwrap_or_default();
    }
    segments.reverse();
    (!segments.is_empty()).then_some((at, segments))
}

/// The first place of all, with what each matches that does so there.
fn any_of(all: &[Matcher], text: &[u8], work: &mut Work) -> Option<Index> {
    let mut first: Option<Index> = None;
    for matcher in all {
        let Some((at, segments)) = matcher.index(text, work) else { continue };
        match &mut first {
            Some((known, _)) if at > *known => {}
            Some((known, merged)) if at == *known => {
                merged.extend(segments);
                merged.sort_unstable();
                merged.dedup();
            }
            _ => first = Some((at, segments)),
        }
    }
    first
}

fn every_of(all: &[Matcher], text: &[u8], work: &mut Work) -> Option<Index> {
    let (mut index, mut offset, mut current, mut rest) = (0, 0, Vec::new(), text);
    for (number, matcher) in all.iter().enumerate() {
        let (at, segments) = matcher.index(rest, work)?;
        if number == 0 {
            current = segments;
        } else {
            let shifted = |length: &usize| (length + index).checked_sub(at + offset);
            current = current.iter().filter_map(shifted).filter(|length| segments.contains(length)).collect();
            if current.is_empty() {
                return None;
            }
        }
        index = at + offset;
        rest = text.get(index..).unwrap_or_default();
        offset += at;
    }
    Some((index, current))
}
