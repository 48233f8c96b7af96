//! What the groups of an expression matched in one match.

use regex_automata::nfa::thompson::NFA;
use regex_automata::nfa::thompson::backtrack::{self, BoundedBacktracker};
use regex_automata::nfa::thompson::pikevm::{self, PikeVM};
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, Span};

use super::cost::Work;

/// Finds groups: quickly in short matches, and in long ones all the same.
pub(super) struct Groups {
    short: BoundedBacktracker,
    long: PikeVM,
    caches: (Option<backtrack::Cache>, Option<pikevm::Cache>),
    slots: Vec<Option<NonMaxUsize>>,
}

impl Groups {
    /// For the groups of a program; `None` where it has none.
    pub(super) fn new(nfa: &NFA) -> Option<Self> {
        let slots = nfa.group_info().slot_len();
        (slots > 2).then_some(())?;
        Some(Self {
            short: BoundedBacktracker::new_from_nfa(nfa.clone()).ok()?,
            long: PikeVM::new_from_nfa(nfa.clone()).ok()?,
            caches: (None, None),
            slots: vec![None; slots],
        })
    }

    /// What it takes to find those of a match.
    pub(super) fn work(&self, of: Span) -> Work {
        let (states, slots) = (self.long.get_nfa().states().len(), self.slots.len());
        let visited = (states as u64).saturating_mul(of.len() as u64 + 1);
        if self.is_short(of) {
            return Work::Groups { states: visited, bytes: 0 };
        }
        // Each state may carry the places of all groups along.
        let places = states.saturating_mul(slots);
        let states = visited.saturating_mul(1 + slots as u64 / 8).saturating_add(places as u64 / 8);
        Work::Groups { states, bytes: places.saturating_mul(2 * size_of::<usize>()) }
    }

    /// Finds those of a match in a text.
    pub(super) fn find(&mut self, text: &[u8], of: Span) {
        let input = Input::new(text).span(of).anchored(Anchored::Yes);
        self.slots.fill(None);
        let is_short = self.is_short(of);
        let Self { short, long, caches: (of_short, of_long), slots } = self;
        if is_short {
            let cache = of_short.get_or_insert_with(|| short.create_cache());
            // The only error is a text that is not short.
            let _ = short.try_search_slots(cache, &input, slots);
        } else {
            long.search_slots(of_long.get_or_insert_with(|| long.create_cache()), &input, slots);
        }
    }

    /// Where a group is, by its number: 0 is the whole match.
    pub(super) fn span(&self, group: usize) -> Option<Span> {
        let slot = |index: usize| Some(self.slots.get(index).copied().flatten()?.get());
        let first = group.checked_mul(2)?;
        Some(Span { start: slot(first)?, end: slot(first + 1)? })
    }

    fn is_short(&self, of: Span) -> bool {
        of.len() <= self.short.max_haystack_len()
    }
}
