//! From the parts of a pattern to matchers.

use super::super::Node;
use super::{Matcher, Tree};

/// A part of a pattern, characters put together to texts.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Nothing,
    Pattern(Vec<Part>),
    AnyOf(Vec<Part>),
    Text(String),
    Leaf(Node),
}

/// The matcher of a pattern.
pub(super) fn pattern(nodes: &[Node], separators: &[char]) -> Matcher {
    compile(&part(nodes), separators)
}

fn part(nodes: &[Node]) -> Part {
    let mut parts = Vec::new();
    for node in nodes {
        match (node, parts.last_mut()) {
            (Node::Char(c), Some(Part::Text(text))) => text.push(*c),
            (Node::Char(c), _) => parts.push(Part::Text(c.to_string())),
            (Node::AnyOf(all), _) => parts.push(Part::AnyOf(all.iter().map(|nodes| part(nodes)).collect())),
            (leaf, _) => parts.push(Part::Leaf(leaf.clone())),
        }
    }
    Part::Pattern(parts)
}

fn compile(part: &Part, separators: &[char]) -> Matcher {
    let all = |parts: &[Part]| parts.iter().map(|part| optimized(compile(part, separators))).collect::<Vec<_>>();
    let matcher = match part {
        Part::AnyOf(parts) => {
            return match minimized(parts) {
                Some(part) => compile(&part, separators),
                None => Matcher::AnyOf(all(parts)),
            };
        }
        Part::Nothing => Matcher::Nothing,
        Part::Pattern(parts) if parts.is_empty() => return Matcher::Nothing,
        Part::Pattern(parts) => joined(&glued_where_possible(all(parts))),
        Part::Text(text) => Matcher::Text(text.clone().into_bytes()),
        Part::Leaf(Node::Any) => Matcher::Any(separators.to_vec()),
        Part::Leaf(Node::Super) => Matcher::Super,
        Part::Leaf(Node::Single) => Matcher::Single(separators.to_vec()),
        Part::Leaf(Node::List { chars, negated }) => Matcher::List { chars: chars.clone(), not: *negated },
        Part::Leaf(Node::Range { low, high, negated }) => Matcher::Range { low: *low, high: *high, not: *negated },
        // Texts and alternatives are parts of their own.
        Part::Leaf(Node::Char(_) | Node::AnyOf(_)) => Matcher::Nothing,
    };
    optimized(matcher)
}

/// Alternatives without what they have in common at their start and end, if there is such a thing.
fn minimized(parts: &[Part]) -> Option<Part> {
    let as_pattern = |part: &'_ Part| match part {
        Part::Pattern(parts) => Some(parts.clone()),
        _ => None,
    };
    let all: Vec<Vec<Part>> = parts.iter().map(as_pattern).collect::<Option<_>>()?;
    let (left, right) = common(&all);
    if left.is_empty() && right.is_empty() {
        return None;
    }
    let mut different: Vec<Part> = Vec::new();
    for parts in all {
        let rest = parts.get(left.len()..parts.len() - right.len()).unwrap_or_default();
        let rest = if rest.is_empty() { Part::Nothing } else { Part::Pattern(rest.to_vec()) };
        if !different.contains(&rest) {
            different.push(rest);
        }
    }
    let mut result = Vec::new();
    if !left.is_empty() {
        result.push(Part::Pattern(left));
    }
    match different.as_slice() {
        [Part::Nothing] | [] => {}
        [only] => result.push(only.clone()),
        _ => result.push(Part::AnyOf(different)),
    }
    if !right.is_empty() {
        result.push(Part::Pattern(right));
    }
    Some(Part::Pattern(result))
}

/// What all patterns start with and end with, the two together no longer than the shortest.
fn common(all: &[Vec<Part>]) -> (Vec<Part>, Vec<Part>) {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    let Some((number, shortest)) = all.iter().enumerate().min_by_key(|(_, parts)| parts.len()) else {
        return (left, right);
    };
    if all.len() <= 1 {
        return (left, right);
    }
    let (mut left_ended, mut right_ended) = (false, false);
    for (from, to) in (0..shortest.len()).zip((0..shortest.len()).rev()) {
        if left.len() + right.len() == shortest.len() || (left_ended && right_ended) {
            break;
        }
        for (_, parts) in all.iter().enumerate().filter(|(other, _)| *other != number) {
            if left_ended && right_ended {
                break;
            }
            left_ended |= shortest.get(from) != parts.get(from);
            right_ended |= !left_ended && to <= from;
            right_ended |= shortest.get(to) != parts.get(to + parts.len() - shortest.len());
        }
        if !left_ended {
            left.extend(shortest.get(from).cloned());
        }
        if !right_ended {
            right.extend(shortest.get(to).cloned());
        }
    }
    right.reverse();
    (left, right)
}

/// The longest rows of matchers that can be one, put together.
fn glued_where_possible(mut matchers: Vec<Matcher>) -> Vec<Matcher> {
    loop {
        let mut done: Option<(Matcher, usize, usize)> = None;
        for left in 0..matchers.len() {
            for right in (left + 1..=matchers.len()).rev() {
                let Some(glued) = matchers.get(left..right).and_then(glued) else { continue };
                let is_better = done.as_ref().is_none_or(|(known, from, to)| {
                    matches!((known.length(), glued.length()), (Some(known), Some(own)) if own > known)
                        || to - from < right - left
                });
                if is_better {
                    done = Some((glued, left, right));
                }
            }
        }
        let Some((glued, left, right)) = done else { return matchers };
        matchers.splice(left..right, [glued]);
    }
}

fn glued(matchers: &[Matcher]) -> Option<Matcher> {
    if matchers.len() <= 1 {
        return None;
    }
    glued_as_every(matchers).or_else(|| {
        let length = matchers.iter().map(Matcher::length).sum::<Option<usize>>()?;
        Some(Matcher::Row { matchers: matchers.to_vec(), length })
    })
}

/// Wildcards alone: how many characters, and which of them not.
fn glued_as_every(matchers: &[Matcher]) -> Option<Matcher> {
    let (mut any, mut all, mut count) = (false, false, 0);
    let mut separators: Option<&[char]> = None;
    for matcher in matchers {
        let own: &[char] = match matcher {
            Matcher::Super => {
                all = true;
                &[]
            }
            Matcher::Any(own) => {
                any = true;
                own
            }
            Matcher::Single(own) | Matcher::List { chars: own, not: true } => {
                count += 1;
                own
            }
            _ => return None,
        };
        if **separators.get_or_insert(own) != *own {
            return None;
        }
    }
    let separators = separators.unwrap_or_default();
    Some(match (any, all, count) {
        (false, true, 0) => Matcher::Super,
        (true, false, 0) => Matcher::Any(separators.to_vec()),
        (any, all, 1..) if (any || all) && separators.is_empty() => Matcher::Min(count),
        (any, all, count) => {
            let mut every = Vec::new();
            if count > 0 {
                every.push(Matcher::Min(count));
                every.extend((!any && !all).then_some(Matcher::Max(count)));
            }
            if !separators.is_empty() {
                let needle = separators.iter().collect::<String>().into_bytes();
                every.push(Matcher::Contains { needle, not: true });
            }
            Matcher::EveryOf(every)
        }
    })
}

/// Matchers behind each other as one: around the longest of those with a length, the last of these.
fn joined(matchers: &[Matcher]) -> Matcher {
    if let [only] = matchers {
        return only.clone();
    }
    if let Some(matcher) = glued(matchers) {
        return matcher;
    }
    let longest = matchers.iter().enumerate().filter_map(|(at, matcher)| Some((matcher.length()?, at))).max();
    let at = longest.map_or(0, |(_, at)| at);
    let (before, rest) = matchers.split_at(at);
    let Some((value, behind)) = rest.split_first() else { return Matcher::Nothing };
    let side = |side: &[Matcher]| (!side.is_empty()).then(|| joined(side));
    Matcher::Tree(Box::new(Tree { value: value.clone(), left: side(before), right: side(behind) }))
}

fn optimized(matcher: Matcher) -> Matcher {
    match matcher {
        Matcher::Any(separators) if separators.is_empty() => Matcher::Super,
        Matcher::AnyOf(mut all) if all.len() == 1 => all.pop().unwrap_or(Matcher::Nothing),
        Matcher::List { chars, not: false } if chars.len() == 1 => {
            Matcher::Text(chars.iter().collect::<String>().into_bytes())
        }
        Matcher::Tree(tree) => {
            let Tree { value, left, right } = *tree;
            optimized_tree(value, left.map(optimized), right.map(optimized))
        }
        matcher => matcher,
    }
}

fn optimized_tree(value: Matcher, left: Option<Matcher>, right: Option<Matcher>) -> Matcher {
    let Matcher::Text(text) = value else { return Matcher::Tree(Box::new(Tree { value, left, right })) };
    match (left, right) {
        (None, None) => Matcher::Text(text),
        (Some(Matcher::Super), Some(Matcher::Super)) => Matcher::Contains { needle: text, not: false },
        (Some(Matcher::Super), None) => Matcher::Suffix(text),
        (None, Some(Matcher::Super)) => Matcher::Prefix(text),
        (None, Some(Matcher::Suffix(suffix))) => Matcher::PrefixSuffix(text, suffix),
        (Some(Matcher::Prefix(prefix)), None) => Matcher::PrefixSuffix(prefix, text),
        (Some(Matcher::Any(separators)), None) => Matcher::SuffixAny(text, separators),
        (None, Some(Matcher::Any(separators))) => Matcher::PrefixAny(text, separators),
        (left, right) => Matcher::Tree(Box::new(Tree { value: Matcher::Text(text), left, right })),
    }
}
