//! What a search costs, in steps of templates.

/// How long an expression may be: parsed, it takes some hundred times as much memory.
pub const PATTERN_BYTES_MAX: usize = 128 << 10;

/// How much memory parsing takes for a byte of an expression.
pub const PATTERN_GROWTH: usize = 200;

/// How much finding the groups of one match may cost: nothing interrupts it.
pub const GROUPS_COST_MAX: u64 = 100_000_000;

/// How many bytes are searched in the time of a step while an automaton knows the way.
pub(super) const BYTES_PER_STEP: usize = 8;

/// How many steps it takes to begin at some place, once or twice for each match.
pub(super) const BEGIN_STEPS: usize = 8;

/// How many states of the program are looked at in the time of a step.
pub(super) const STATES_PER_STEP: usize = 16;

/// After how many bytes a search takes the steps for them.
pub(super) const STRETCH: usize = 1024;

/// How much an automaton may take, unless it needs more for its largest states.
pub(super) const CACHE_BYTES: usize = 512 << 10;

/// What a search does next, for which it asks the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// So many steps.
    Steps(usize),
    /// One more match is kept.
    Match,
    /// The result has so many bytes until now.
    Output(usize),
    /// The groups of a match are to be found, which looks at so many states of the program and takes so many bytes. It cannot
    /// be interrupted.
    Groups {
        /// At most.
        states: u64,
        /// While it goes on.
        bytes: usize,
    },
}

impl Work {
    /// How many steps it takes.
    pub fn steps(self) -> usize {
        match self {
            Work::Steps(steps) => steps,
            Work::Match => 1,
            Work::Output(_) => 0,
            Work::Groups { states, .. } => {
                usize::try_from(states / STATES_PER_STEP as u64).unwrap_or(usize::MAX).saturating_add(1)
            }
        }
    }
}
