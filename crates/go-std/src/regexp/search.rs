//! Where an expression matches: two automata that are made while they go over a text, forward for the end of a match and
//! backward for where it begins.
//!
//! What makes a search dear are the transitions that were not taken before: each looks at all of the program that a state
//! represents. An evil expression meets a new one with each byte. So the automata are walked here, byte by byte, and each new
//! transition is paid for before it is made: a search can stop at any of them. The engines that `regex-automata` has
//! for whole searches fall back on ones that go over all of a program for each byte, which nothing can interrupt.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use regex_automata::hybrid::dfa::{self, DFA};
use regex_automata::hybrid::{CacheError, LazyStateID};
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::{Anchored, Input, MatchKind, Span};
use regex_syntax::hir::Hir;

use super::cost::{BEGIN_STEPS, BYTES_PER_STEP, CACHE_BYTES, STATES_PER_STEP, STRETCH};

/// What an expression was compiled to.
#[derive(Debug)]
pub(super) struct Program {
    forward: DFA,
    backward: DFA,
    /// How many steps a new transition takes at worst.
    forward_steps: usize,
    backward_steps: usize,
}

/// What automata learned on the way. Which of their transitions are known decides what a search costs.
#[derive(Debug)]
pub(super) struct Caches {
    forward: Cache,
    /// None before it was asked where a match begins.
    backward: Option<Cache>,
}

impl Caches {
    pub(super) fn bytes(&self) -> usize {
        self.forward.bytes() + self.backward.as_ref().map_or(0, Cache::bytes)
    }
}

#[derive(Debug)]
struct Cache {
    dfa: dfa::Cache,
    /// The transitions from states that match and were taken before: of others, the automaton tells by itself.
    known: HashSet<(LazyStateID, u8), BuildHasherDefault<Mixer>>,
    /// How often the automaton forgot what it knew, as far as `known` has heard of it.
    clears: usize,
}

/// How many transitions are noted at most.
const KNOWN_MAX: usize = 1 << 14;

impl Program {
    /// `None` where it takes more than `bytes_max` bytes.
    pub(super) fn new(hir: &Hir, bytes_max: usize) -> Option<Self> {
        let config = thompson::Config::new().nfa_size_limit(Some(bytes_max));
        let nfa = thompson::Compiler::new().configure(config.clone()).build_from_hir(hir).ok()?;
        let config = config.reverse(true).which_captures(thompson::WhichCaptures::None);
        let reverse = thompson::Compiler::new().configure(config).build_from_hir(hir).ok()?;
        let steps = |nfa: &NFA| 1 + nfa.states().len() / STATES_PER_STEP;
        Some(Self {
            forward_steps: steps(&nfa),
            backward_steps: steps(&reverse),
            forward: automaton(nfa, MatchKind::LeftmostFirst)?,
            backward: automaton(reverse, MatchKind::All)?,
        })
    }

    /// The program that both automata are made of, its groups with it.
    pub(super) fn nfa(&self) -> &NFA {
        self.forward.get_nfa()
    }

    /// How many bytes it takes, and what its automata need beside what each may take anyhow.
    pub(super) fn size(&self) -> usize {
        let of = |dfa: &DFA| {
            let needed = dfa.get_config().get_minimum_cache_capacity(dfa.get_nfa()).unwrap_or_default();
            dfa.get_nfa().memory_usage() + dfa.memory_usage() + needed.saturating_sub(CACHE_BYTES)
        };
        of(&self.forward) + of(&self.backward)
    }

    pub(super) fn create_caches(&self) -> Caches {
        Caches { forward: Cache::new(&self.forward), backward: None }
    }

    /// Whether it matches somewhere.
    pub(super) fn is_match<E>(
        &self,
        caches: &mut Caches,
        text: &[u8],
        take: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<bool, E> {
        Ok(self.end(caches, text, 0, true, take)?.is_some())
    }

    /// The first match from some place on.
    pub(super) fn find<E>(
        &self,
        caches: &mut Caches,
        text: &[u8],
        from: usize,
        take: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<Span>, E> {
        let Some(end) = self.end(caches, text, from, false, take)? else { return Ok(None) };
        if end == from {
            return Ok(Some(Span { start: end, end }));
        }
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        let start = |dfa: &DFA, cache: &mut dfa::Cache| dfa.start_state_reverse(cache, &input);
        let cache = caches.backward.get_or_insert_with(|| Cache::new(&self.backward));
        let mut walk = Walk::begin(&self.backward, cache, self.backward_steps, start, take)?;
        let bytes = text.iter().copied().enumerate().take(end).skip(from).rev().map(|(at, byte)| (at + 1, byte));
        let before = from.checked_sub(1).and_then(|at| text.get(at)).copied();
        let start = walk.run(bytes, before.map_or(Last::End, Last::Byte), from, false, take)?;
        Ok(Some(Span { start: start.unwrap_or(end), end }))
    }

    /// Where the first match from some place on ends, or just the `earliest` end of any.
    fn end<E>(
        &self,
        caches: &mut Caches,
        text: &[u8],
        mut from: usize,
        earliest: bool,
        take: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        loop {
            let input = Input::new(text).range(from..);
            let start = |dfa: &DFA, cache: &mut dfa::Cache| dfa.start_state_forward(cache, &input);
            let mut walk = Walk::begin(&self.forward, &mut caches.forward, self.forward_steps, start, take)?;
            let bytes = text.iter().copied().enumerate().skip(from);
            let end = walk.run(bytes, Last::End, text.len(), earliest, take)?;
            // What ends inside of a character is empty, and none.
            let is_inside = |at: &usize| text.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
            match end.filter(is_inside) {
                None => return Ok(end),
                Some(at) => from = at + text.iter().skip(at).take_while(|byte| **byte & 0xc0 == 0x80).count(),
            }
        }
    }
}

fn automaton(nfa: NFA, kind: MatchKind) -> Option<DFA> {
    let config = DFA::config().match_kind(kind).cache_capacity(CACHE_BYTES).skip_cache_capacity_check(true);
    DFA::builder().configure(config).build_from_nfa(nfa).ok()
}

impl Cache {
    fn new(dfa: &DFA) -> Self {
        Self { dfa: dfa.create_cache(), known: HashSet::default(), clears: 0 }
    }

    fn bytes(&self) -> usize {
        self.dfa.memory_usage() + self.known.capacity() * size_of::<(LazyStateID, u8)>()
    }
}

/// What an automaton sees behind the bytes that it went over.
#[derive(Clone, Copy)]
enum Last {
    End,
    Byte(u8),
}

/// An automaton on its way.
struct Walk<'a> {
    dfa: &'a DFA,
    cache: &'a mut Cache,
    state: LazyStateID,
    /// How many steps a new transition takes.
    steps: usize,
}

impl<'a> Walk<'a> {
    fn begin<E, B: std::fmt::Debug>(
        dfa: &'a DFA,
        cache: &'a mut Cache,
        steps: usize,
        start: impl FnOnce(&DFA, &mut dfa::Cache) -> Result<LazyStateID, B>,
        take: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Self, E> {
        let before = (cache.dfa.clear_count(), cache.dfa.memory_usage());
        let state = start(dfa, &mut cache.dfa).expect(NEVER_FAILS);
        let is_new = before != (cache.dfa.clear_count(), cache.dfa.memory_usage());
        take(if is_new { BEGIN_STEPS + steps } else { BEGIN_STEPS })?;
        Ok(Self { dfa, cache, state, steps })
    }

    /// Goes over bytes, each with the place that a match ends at, or begins at, which the automaton knows behind it.
    fn run<E>(
        &mut self,
        bytes: impl Iterator<Item = (usize, u8)>,
        last: Last,
        last_place: usize,
        earliest: bool,
        take: &mut impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Option<usize>, E> {
        let (mut found, mut count) = (None, 0);
        for (place, byte) in bytes {
            self.step(byte, take)?;
            if self.state.is_tagged() {
                if self.state.is_dead() {
                    return Ok(found);
                }
                if self.state.is_match() {
                    found = Some(place);
                    if earliest {
                        return Ok(found);
                    }
                }
            }
            count += 1;
            if count == STRETCH {
                take(STRETCH / BYTES_PER_STEP)?;
                count = 0;
            }
        }
        match last {
            Last::Byte(byte) => self.step(byte, take)?,
            Last::End => self.state = self.dfa.next_eoi_state(&mut self.cache.dfa, self.state).expect(NEVER_FAILS),
        }
        Ok(if self.state.is_match() { Some(last_place) } else { found })
    }

    fn step<E>(&mut self, byte: u8, take: &mut impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        if !self.state.is_tagged() {
            let next = self.dfa.next_state_untagged(&self.cache.dfa, self.state, byte);
            if next.is_unknown() {
                take(self.steps)?;
                self.state = self.next(byte);
            } else {
                self.state = next;
            }
            return Ok(());
        }
        if self.cache.clears != self.cache.dfa.clear_count() || self.cache.known.len() >= KNOWN_MAX {
            self.cache.known.clear();
            self.cache.clears = self.cache.dfa.clear_count();
        }
        if self.cache.known.insert((self.state, byte)) {
            take(self.steps)?;
        }
        self.state = self.next(byte);
        Ok(())
    }

    fn next(&mut self, byte: u8) -> LazyStateID {
        let next: Result<_, CacheError> = self.dfa.next_state(&mut self.cache.dfa, self.state, byte);
        next.expect(NEVER_FAILS)
    }
}

/// Why an automaton always goes on.
const NEVER_FAILS: &str = "its cache may always be cleared, and no byte makes it quit";

/// Mixes the few bits of a transition, of which few are chosen.
#[derive(Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use regex_automata::meta;

    use super::super::parse;
    use super::*;

    fn program(pattern: &str) -> Option<(Program, Hir)> {
        let hir = parse::parse(pattern.as_bytes()).ok()?.hir;
        Some((Program::new(&hir, 16 << 20)?, hir))
    }

    /// How many steps are asked for by looking for a pattern.
    fn steps(pattern: &str, text: &str) -> usize {
        let (program, _) = program(pattern).expect("an expression");
        let mut all = 0;
        let mut take = |steps| {
            all += steps;
            Ok::<_, Infallible>(())
        };
        let Ok(_) = program.find(&mut program.create_caches(), text.as_bytes(), 0, &mut take);
        all
    }

    /// A text of `a` and `b` that does not repeat.
    fn random_text(bytes: usize) -> String {
        let mut numbers = 0x2545_f491_4f6c_dd1d_u64;
        let next = |_| {
            numbers ^= numbers << 13;
            numbers ^= numbers >> 7;
            numbers ^= numbers << 17;
            if numbers & 1 == 0 { 'a' } else { 'b' }
        };
        (0..bytes).map(next).collect()
    }

    #[test]
    fn a_search_is_charged_for_the_states_that_it_looks_at() {
        // Each byte leads to a state that was not there before.
        let ways: Vec<String> = (0..46).map(|n| format!("a[ab]{{{}}}[c-z]{{9}}", 990 - n)).collect();
        let text = random_text(2000);
        assert!(steps(&ways.join("|"), &text) > 2000 * 46 * 900 / STATES_PER_STEP);
        // All that it needs is known after some bytes.
        let text = "a".repeat(1 << 20);
        for pattern in ["a*b", "(a|aa)*", "(?:a{3})*c", "x|[a-c]+"] {
            assert!(steps(pattern, &text) < 2 * text.len() / BYTES_PER_STEP + 1000, "{pattern}");
        }
    }

    #[test]
    fn a_search_ends_where_nobody_pays_for_it() {
        let (program, _) = program("a[ab]{900}c").expect("an expression");
        let text = random_text(50_000);
        let mut left = 100_000_usize;
        let mut take = |steps| {
            left = left.checked_sub(steps).ok_or("no more")?;
            Ok(())
        };
        assert_eq!(program.is_match(&mut program.create_caches(), text.as_bytes(), &mut take), Err("no more"));
    }

    #[test]
    fn it_finds_what_the_whole_engine_finds() {
        const PIECES: &[&str] = &[
            "a", "b", "é", "[ab]", "[^a]", "\\b", "\\B", "^", "$", "(", "(?:", ")", "|", "*", "+", "?", "*?", "+?",
            "{2}", "{0,2}", ".", "(?i)", "(?m)", "(?s)", "k", "\n", "\\pL", "\\z",
        ];
        const CHARS: &[&str] = &["a", "b", "ab", "é", "k", "K", "\u{212a}", " ", "\n", "😀"];
        let mut numbers = 0x9e37_79b9_7f4a_7c15_u64;
        let mut one_of = |words: &'static [&'static str]| {
            numbers ^= numbers << 13;
            numbers ^= numbers >> 7;
            numbers ^= numbers << 17;
            words[(numbers % words.len() as u64) as usize]
        };
        let mut tried = 0;
        while tried < 1500 {
            let pattern: String = (0..1 + tried % 7).map(|_| one_of(PIECES)).collect();
            let text: String = (0..tried % 9).map(|_| one_of(CHARS)).collect();
            let Some((program, hir)) = program(&pattern) else { continue };
            tried += 1;
            let whole = meta::Builder::new().build_from_hir(&hir).expect("an expression");
            let mut caches = program.create_caches();
            let mut take = |_| Ok::<_, Infallible>(());
            for from in (0..=text.len()).filter(|from| text.is_char_boundary(*from)) {
                let Ok(found) = program.find(&mut caches, text.as_bytes(), from, &mut take);
                let expected = whole.search(&Input::new(&text).range(from..)).map(|found| found.span());
                assert_eq!(found, expected, "{pattern:?} in {text:?} from {from}");
            }
            let Ok(is_match) = program.is_match(&mut caches, text.as_bytes(), &mut take);
            assert_eq!(is_match, whole.is_match(&text), "{pattern:?} in {text:?}");
        }
    }
}
