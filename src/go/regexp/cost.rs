//! What a search may cost, found out before it is done, or while it goes on.
//!
//! Most searches go over a text once, byte by byte, in an automaton that is made on the way. An evil expression makes that
//! automaton grow with each byte, and then the engine looks at all of its program for every byte. Nothing can interrupt it, so
//! [`Regex::survey`] goes the same way before it, and can be.

use regex_automata::Input;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson::{self, WhichCaptures};

use super::{Regex, SIZE_MAX};

/// How long an expression may be: parsed, it takes some hundred times as much memory.
pub const PATTERN_BYTES_MAX: usize = 128 << 10;

/// How much memory parsing takes for a byte of an expression.
pub const PATTERN_GROWTH: usize = 200;

/// The most that a search may cost at worst when its engine also has to find where a match begins, and its groups.
pub const COST_MAX: u64 = 1_000_000_000;

/// From which cost on a search is worth a survey.
const SURVEY_MIN: u64 = 20_000_000;

/// How many bytes the engine searches in the time of a step while its automaton knows the way.
const BYTES_PER_STEP: usize = 64;

/// How many states of the program it looks at in the time of a step.
const STATES_PER_STEP: u64 = 16;

/// After how many bytes a survey tells what it did.
const STRETCH: usize = 128;

/// About how much a state of the program takes.
const STATE_BYTES: usize = 64;

/// How much the automaton of a survey may take.
const CACHE_BYTES: usize = 1 << 20;

impl Regex {
    /// How many states of the program a search of so many bytes looks at, at worst.
    pub fn cost(&self, bytes: usize) -> u64 {
        (self.size() / STATE_BYTES) as u64 * bytes as u64
    }

    /// Takes the steps that a search of a text costs. Where that may be far more than its length, `take` is called for each
    /// stretch on the way, so that it can stop.
    pub fn survey<E>(&self, text: &[u8], mut take: impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        if self.cost(text.len()) < SURVEY_MIN {
            return take(1 + text.len() / BYTES_PER_STEP);
        }
        take(self.size() / STATE_BYTES)?;
        let all = |bytes: usize| usize::try_from(self.cost(bytes) / STATES_PER_STEP).unwrap_or(usize::MAX);
        let Some(dfa) = self.automaton() else { return take(all(text.len())) };
        let mut cache = dfa.create_cache();
        let Ok(start) = dfa.start_state_forward(&mut cache, &Input::new(text)) else { return take(all(text.len())) };
        let mut state = start;
        let mut known = (cache.clear_count(), cache.memory_usage());
        for stretch in text.chunks(STRETCH) {
            for byte in stretch {
                let Ok(next) = dfa.next_state(&mut cache, state, *byte) else { return take(all(text.len())) };
                state = next;
                if state.is_quit() {
                    return take(all(text.len()));
                }
                if state.is_dead() {
                    // Behind a match the next search begins.
                    let Ok(again) = dfa.start_state_forward(&mut cache, &Input::new(text)) else {
                        return take(all(text.len()));
                    };
                    state = again;
                }
            }
            let now = (cache.clear_count(), cache.memory_usage());
            take(if now == known { 1 + stretch.len() / BYTES_PER_STEP } else { all(stretch.len()) })?;
            known = now;
        }
        Ok(())
    }

    fn automaton(&self) -> Option<DFA> {
        let config = thompson::Config::new().nfa_size_limit(Some(SIZE_MAX)).which_captures(WhichCaptures::None);
        let nfa = thompson::Compiler::new().configure(config).build_from_hir(&self.hir).ok()?;
        let config = DFA::config().cache_capacity(CACHE_BYTES).skip_cache_capacity_check(true);
        DFA::builder().configure(config).build_from_nfa(nfa).ok()
    }
}
