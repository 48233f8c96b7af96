//! Go's `regexp`: RE2 syntax in front of `regex-automata`.
//!
//! What differs between Go and Rust is syntax: ASCII classes, literal braces, refused stacks of repetitions, limits on counts.
//! So the text is parsed here ([`parse`]), and the engine gets what it means. Both match leftmost-first.

pub(super) mod class;
mod cost;
mod groups;
mod parse;
mod search;

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::Span;

use super::unicode::{is_digit, is_letter};
use super::utf8::{decode, push_char, runes, to_str};

pub use cost::{GROUPS_COST_MAX, PATTERN_BYTES_MAX, PATTERN_GROWTH, Work};
use groups::Groups;
use parse::Parsed;
use search::{Caches, Program};

/// How many bytes a compiled expression may take; Go allows 128 MiB of its own representation.
const SIZE_MAX: usize = 16 << 20;

/// How much of a pattern that is too large is shown, in bytes.
const SHOWN_MAX: usize = 1000;

/// A compiled expression.
///
/// Each of its searches asks for its work before it does it, in steps of templates, and can be stopped there. How much that is
/// depends on the searches before, which all copies of it share: see [`Regex::fresh`].
#[derive(Debug, Clone)]
pub struct Regex {
    program: Arc<Program>,
    /// None before the first search.
    caches: Arc<Mutex<Option<Caches>>>,
    /// The names of the groups, the whole match first.
    names: Arc<[Option<Box<str>>]>,
}

/// A text to search: wrong bytes count as U+FFFD, which the engine must see as such.
struct Haystack<'t> {
    text: &'t [u8],
    shown: Cow<'t, [u8]>,
    /// Where each byte that is shown is in the text; empty when nothing was changed.
    places: Vec<usize>,
}

impl<'t> Haystack<'t> {
    fn new(text: &'t [u8]) -> Self {
        if std::str::from_utf8(text).is_ok() {
            return Self { text, shown: Cow::Borrowed(text), places: Vec::new() };
        }
        let (mut shown, mut places) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
        for (offset, rune) in runes(text) {
            push_char(&mut shown, rune.char);
            places.resize(shown.len(), offset);
        }
        places.push(text.len());
        Self { text, shown: Cow::Owned(shown), places }
    }

    fn part(&self, span: Span) -> &'t [u8] {
        let place = |at: usize| if self.places.is_empty() { at } else { self.places.get(at).copied().unwrap_or(at) };
        self.text.get(place(span.start)..place(span.end)).unwrap_or_default()
    }

    fn width_at(&self, at: usize) -> usize {
        self.shown.get(at..).and_then(decode).map_or(0, |rune| rune.width)
    }
}

/// Why an expression cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegexError {
    /// It is not a valid expression; Go's words, without `regexp: Compile(…): ` before them.
    #[error("error parsing regexp: {0}")]
    Syntax(String),
    /// Compiled, it takes more memory than it may. Go counts otherwise and may well take it.
    #[error("error parsing regexp: expression too large: `{0}`")]
    TooLarge(String),
}

impl Regex {
    /// Compiles an expression.
    ///
    /// # Errors
    ///
    /// What Go says of it, or that it is larger than what is compiled here.
    ///
    /// Takes stack for each group inside another, of which Go allows 1,000: more than a thread has by default in a build
    /// without optimisation.
    pub fn new(pattern: &[u8]) -> Result<Self, RegexError> {
        Self::with_limit(pattern, SIZE_MAX)
    }

    /// Compiles an expression to at most about `bytes_max` bytes. `\p{L}` takes 25 kB.
    pub fn with_limit(pattern: &[u8], bytes_max: usize) -> Result<Self, RegexError> {
        let parsed = parsed(pattern)?;
        let program = Program::new(&parsed.hir, bytes_max).ok_or_else(|| too_large(pattern))?;
        Ok(Self { program: Arc::new(program), caches: Arc::default(), names: parsed.names.into() })
    }

    /// Whether an expression is one that Go would compile, without compiling it.
    ///
    /// # Errors
    ///
    /// What Go says of it.
    pub fn check(pattern: &[u8]) -> Result<(), RegexError> {
        parsed(pattern).map(drop)
    }

    /// This expression as if it had never searched: what its searches cost does not depend on others.
    pub fn fresh(&self) -> Self {
        Self { caches: Arc::default(), ..self.clone() }
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.program.size()
    }

    /// How many bytes its searches have taken to learn their way, until it is dropped.
    pub fn learned_bytes(&self) -> usize {
        let caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        caches.as_ref().map_or(0, Caches::bytes)
    }

    /// How many bytes a text takes beside itself while it is searched: one that is not UTF-8 is copied.
    pub fn haystack_bytes(text: &[u8]) -> usize {
        if std::str::from_utf8(text).is_ok() { 0 } else { text.len().saturating_mul(3 + 3 * size_of::<usize>()) }
    }

    /// Whether it matches somewhere. `take` is asked for the steps of it.
    pub fn is_match<E>(&self, text: &[u8], mut take: impl FnMut(usize) -> Result<(), E>) -> Result<bool, E> {
        let haystack = Haystack::new(text);
        self.searching(|program, caches| program.is_match(caches, &haystack.shown, &mut take))
    }

    /// The first match. `take` is asked for the steps of it.
    pub fn find<'t, E>(
        &self,
        text: &'t [u8],
        mut take: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<&'t [u8]>, E> {
        let haystack = Haystack::new(text);
        let found = self.searching(|program, caches| program.find(caches, &haystack.shown, 0, &mut take))?;
        Ok(found.map(|span| haystack.part(span)))
    }

    /// Does what needs what earlier searches learned.
    fn searching<T>(&self, search: impl FnOnce(&Program, &mut Caches) -> T) -> T {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        search(&self.program, caches.get_or_insert_with(|| self.program.create_caches()))
    }

    /// The first match from some place on.
    fn next<E>(
        &self,
        haystack: &Haystack<'_>,
        from: usize,
        take: &mut impl FnMut(Work) -> Result<(), E>,
    ) -> Result<Option<Span>, E> {
        let mut take = |steps| take(Work::Steps(steps));
        self.searching(|program, caches| program.find(caches, &haystack.shown, from, &mut take))
    }

    /// At most `count` matches in the order of the text, and between them what `between` is given: none overlaps, and
    /// an empty one doesn't follow right behind another.
    fn spans<E>(
        &self,
        haystack: &Haystack<'_>,
        count: usize,
        mut take: impl FnMut(Work) -> Result<(), E>,
    ) -> Result<Vec<Span>, E> {
        let mut found = Vec::new();
        let (mut at, mut previous_end) = (0, None);
        while found.len() < count && at <= haystack.shown.len() {
            let Some(span) = self.next(haystack, at, &mut take)? else { break };
            let is_accepted = !span.is_empty() || span.end != at || previous_end != Some(span.start);
            at = if span.end == at { at + haystack.width_at(at).max(1) } else { span.end };
            previous_end = Some(span.end);
            if is_accepted {
                take(Work::Match)?;
                found.push(span);
            }
        }
        Ok(found)
    }

    /// The texts of at most `count` matches.
    pub fn find_all<'t, E>(
        &self,
        text: &'t [u8],
        count: usize,
        take: impl FnMut(Work) -> Result<(), E>,
    ) -> Result<Vec<&'t [u8]>, E> {
        let haystack = Haystack::new(text);
        let spans = self.spans(&haystack, count, take)?;
        Ok(spans.into_iter().map(|span| haystack.part(span)).collect())
    }

    /// The texts between matches, at most `count`.
    pub fn split<'t, E>(
        &self,
        text: &'t [u8],
        count: usize,
        is_empty_pattern: bool,
        take: impl FnMut(Work) -> Result<(), E>,
    ) -> Result<Vec<&'t [u8]>, E> {
        if !is_empty_pattern && text.is_empty() {
            return Ok(vec![b""]);
        }
        let haystack = Haystack::new(text);
        let (mut parts, mut begin, mut end) = (Vec::new(), 0, 0);
        for span in self.spans(&haystack, count, take)? {
            if parts.len() + 1 == count {
                break;
            }
            end = span.start;
            if span.end != 0 {
                parts.push(haystack.part(Span::from(begin..end)));
            }
            begin = span.end;
        }
        if end != haystack.shown.len() {
            parts.push(haystack.part(Span::from(begin..haystack.shown.len())));
        }
        Ok(parts)
    }

    /// The text with each match replaced; with `is_literal` the replacement is taken as it is. `None` where nothing matches.
    ///
    /// Not much more than `max` bytes are made.
    pub fn replace_all<E>(
        &self,
        text: &[u8],
        replacement: &[u8],
        is_literal: bool,
        max: usize,
        mut take: impl FnMut(Work) -> Result<(), E>,
    ) -> Result<Option<Vec<u8>>, E> {
        let haystack = Haystack::new(text);
        let length = haystack.shown.len();
        let names_groups = !is_literal && replacement.contains(&b'$');
        let mut groups = if names_groups { Groups::new(self.program.nfa()) } else { None };
        let mut out: Option<Vec<u8>> = None;
        let (mut at, mut done) = (0, 0);
        while at <= length {
            take(Work::Output(out.as_ref().map_or(0, Vec::len)))?;
            let Some(span) = self.next(&haystack, at, &mut take)? else { break };
            let out = out.get_or_insert_default();
            out.extend_from_slice(haystack.part(Span::from(done..span.start)));
            // Not for an empty match right behind another.
            if span.end > done || span.start == 0 {
                if let Some(groups) = &mut groups {
                    take(groups.work(span))?;
                    groups.find(&haystack.shown, span);
                }
                if is_literal {
                    out.extend_from_slice(replacement);
                } else {
                    let whole = |group| (group == 0).then_some(span);
                    let group = |group| groups.as_ref().map_or_else(|| whole(group), |groups| groups.span(group));
                    self.expand(out, replacement, &haystack, group, max);
                }
            }
            done = span.end;
            let width = haystack.width_at(at);
            at = if at + width > span.end {
                at + width
            } else if at + 1 > span.end {
                at + 1
            } else {
                span.end
            };
        }
        let Some(mut out) = out else { return Ok(None) };
        out.extend_from_slice(haystack.part(Span::from(done..length)));
        take(Work::Output(out.len()))?;
        Ok(Some(out))
    }

    /// `$1`, `${name}` and `$$` in a replacement.
    fn expand(
        &self,
        out: &mut Vec<u8>,
        template: &[u8],
        haystack: &Haystack<'_>,
        span_of: impl Fn(usize) -> Option<Span>,
        max: usize,
    ) {
        let mut rest = template;
        while let Some(dollar) = memchr::memchr(b'$', rest).filter(|_| out.len() <= max) {
            let (before, after) = rest.split_at(dollar);
            out.extend_from_slice(before);
            let after = after.get(1..).unwrap_or_default();
            if let Some(after) = after.strip_prefix(b"$") {
                out.push(b'$');
                rest = after;
                continue;
            }
            let Some((name, after)) = group_name(after) else {
                out.push(b'$');
                rest = after;
                continue;
            };
            rest = after;
            // `01` is a name, not a number.
            let is_number = name.iter().all(u8::is_ascii_digit) && (name.len() == 1 || !name.starts_with(b"0"));
            let span = if is_number {
                to_str(name).parse().ok().and_then(&span_of)
            } else {
                let is_named = |known: &Option<Box<str>>| known.as_ref().is_some_and(|known| known.as_bytes() == name);
                let mut groups = self.names.iter().enumerate().filter(|(_, known)| is_named(known));
                groups.find_map(|(group, _)| span_of(group))
            };
            if let Some(span) = span {
                out.extend_from_slice(haystack.part(span));
            }
        }
        out.extend_from_slice(rest);
    }
}

fn parsed(pattern: &[u8]) -> Result<Parsed, RegexError> {
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(too_large(pattern));
    }
    match parse::parse(pattern) {
        Ok(parsed) => Ok(parsed),
        Err(error) if error.is_of_size() => Err(too_large(pattern)),
        Err(error) => Err(RegexError::Syntax(error.to_string())),
    }
}

fn too_large(pattern: &[u8]) -> RegexError {
    let shown = pattern.get(..SHOWN_MAX).unwrap_or(pattern);
    RegexError::TooLarge(to_str(shown).into_owned())
}

/// The name behind a `$`, in braces or as long as it goes, and what follows it.
fn group_name(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (is_braced, inner) = match text.strip_prefix(b"{") {
        Some(inner) => (true, inner),
        None => (false, text),
    };
    let is_word = |c: char| c == '_' || is_letter(c) || is_digit(c);
    let length = runes(inner).find(|(_, rune)| rune.wrong || !is_word(rune.char)).map_or(inner.len(), |(at, _)| at);
    let (name, rest) = inner.split_at(length);
    if name.is_empty() {
        return None;
    }
    if is_braced { Some((name, rest.strip_prefix(b"}")?)) } else { Some((name, rest)) }
}

/// Escapes what has a meaning in an expression.
pub fn quote_meta(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if b"\\.+*?()|[]{}^$".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}
