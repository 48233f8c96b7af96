//! Go's `regexp`: RE2 syntax in front of `regex-automata`.
//!
//! What differs between Go and Rust is syntax: ASCII classes, literal braces, refused stacks of repetitions, limits on counts.
//! So the text is parsed here ([`parse`]), and the engine gets what it means. Both match leftmost-first.

mod class;
mod cost;
mod parse;

use std::borrow::Cow;
use std::sync::Arc;

use regex_automata::meta;
use regex_automata::util::captures::Captures;
use regex_automata::{Input, Span};
use regex_syntax::hir::Hir;

use super::unicode::{is_digit, is_letter};
use super::utf8::{decode, push_char, runes, to_str};

pub use cost::{COST_MAX, PATTERN_BYTES_MAX, PATTERN_GROWTH};

/// How many bytes a compiled expression may take; Go allows 128 MiB of its own representation.
const SIZE_MAX: usize = 16 << 20;

/// How much of a pattern that is too large is shown, in bytes.
const SHOWN_MAX: usize = 1000;

/// A compiled expression.
#[derive(Debug, Clone)]
pub struct Regex {
    engine: meta::Regex,
    /// What it means, of which a survey makes an automaton.
    hir: Arc<Hir>,
    /// The names of the groups, the whole match first.
    names: Arc<[Option<Box<str>>]>,
}

/// A text to search: wrong bytes count as U+FFFD, which the engine must see as such.
struct Haystack<'t> {
    text: &'t [u8],
    shown: Cow<'t, [u8]>,
    /// Where each byte that is shown stands in the text; empty when nothing was changed.
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

    /// The same, of which the compiled form takes at most about `bytes_max` bytes. `\p{L}` takes 25 kB.
    pub fn with_limit(pattern: &[u8], bytes_max: usize) -> Result<Self, RegexError> {
        let too_large = || {
            let shown = pattern.get(..SHOWN_MAX).unwrap_or(pattern);
            RegexError::TooLarge(to_str(shown).into_owned())
        };
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(too_large());
        }
        let parsed = parse::parse(pattern).map_err(|error| RegexError::Syntax(error.to_string()))?;
        let config = meta::Config::new()
            .nfa_size_limit(Some(bytes_max))
            .onepass_size_limit(Some(1 << 20))
            .hybrid_cache_capacity(1 << 20);
        let engine = meta::Builder::new().configure(config).build_from_hir(&parsed.hir).map_err(|_| too_large())?;
        Ok(Self { engine, hir: Arc::new(parsed.hir), names: parsed.names.into() })
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.engine.memory_usage()
    }

    /// How many bytes a text takes beside itself while it is searched: one that is no UTF-8 is copied.
    pub fn haystack_bytes(text: &[u8]) -> usize {
        if std::str::from_utf8(text).is_ok() { 0 } else { text.len().saturating_mul(3 + 3 * size_of::<usize>()) }
    }

    /// Whether it matches somewhere.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.engine.is_match(Input::new(&Haystack::new(text).shown))
    }

    /// The first match.
    pub fn find<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let haystack = Haystack::new(text);
        let found = self.engine.search(&Input::new(&haystack.shown))?;
        Some(haystack.part(found.span()))
    }

    /// At most `count` matches in the order of the text, and between them what `between` is given: none overlaps, and
    /// an empty one doesn't follow right behind another. `take` is called before each search.
    fn spans<E>(
        &self,
        haystack: &Haystack<'_>,
        count: usize,
        mut take: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Vec<Span>, E> {
        let mut found = Vec::new();
        let (mut at, mut previous_end) = (0, None);
        while found.len() < count && at <= haystack.shown.len() {
            take(haystack.shown.len() - at)?;
            let input = Input::new(&haystack.shown).range(at..);
            let Some(span) = self.engine.search(&input).map(|found| found.span()) else { break };
            let is_accepted = !span.is_empty() || span.end != at || previous_end != Some(span.start);
            at = if span.end == at { at + haystack.width_at(at).max(1) } else { span.end };
            previous_end = Some(span.end);
            if is_accepted {
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
        take: impl FnMut(usize) -> Result<(), E>,
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
        take: impl FnMut(usize) -> Result<(), E>,
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

    /// The text with each match replaced; with `is_literal` the replacement is taken as it is. None where nothing matches.
    ///
    /// `take` is called before each search with how much is left, and with how much was made. Not much more than `max` bytes
    /// are made.
    pub fn replace_all<E>(
        &self,
        text: &[u8],
        replacement: &[u8],
        is_literal: bool,
        max: usize,
        mut take: impl FnMut(usize, usize) -> Result<(), E>,
    ) -> Result<Option<Vec<u8>>, E> {
        let haystack = Haystack::new(text);
        let length = haystack.shown.len();
        let mut captures = self.engine.create_captures();
        let mut out: Option<Vec<u8>> = None;
        let (mut at, mut done) = (0, 0);
        while at <= length {
            let made = out.as_ref().map_or(0, Vec::len);
            take(length - at, made)?;
            self.engine.search_captures(&Input::new(&haystack.shown).range(at..), &mut captures);
            let Some(span) = captures.get_match().map(|found| found.span()) else { break };
            let out = out.get_or_insert_default();
            out.extend_from_slice(haystack.part(Span::from(done..span.start)));
            // Not for an empty match right behind another.
            if span.end > done || span.start == 0 {
                if is_literal {
                    out.extend_from_slice(replacement);
                } else {
                    self.expand(out, replacement, &haystack, &captures, max);
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
        take(0, out.len())?;
        Ok(Some(out))
    }

    /// `$1`, `${name}` and `$$` in a replacement.
    fn expand(&self, out: &mut Vec<u8>, template: &[u8], haystack: &Haystack<'_>, captures: &Captures, max: usize) {
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
                to_str(name).parse().ok().and_then(|group| captures.get_group(group))
            } else {
                let is_named = |known: &Option<Box<str>>| known.as_ref().is_some_and(|known| known.as_bytes() == name);
                let mut groups = self.names.iter().enumerate().filter(|(_, known)| is_named(known));
                groups.find_map(|(group, _)| captures.get_group(group))
            };
            if let Some(span) = span {
                out.extend_from_slice(haystack.part(span));
            }
        }
        out.extend_from_slice(rest);
    }
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
