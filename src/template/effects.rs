//! Randomness and the clock: refused, derived from a seed, or handed in by the caller.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use super::error::{Failure, Refused};

/// What becomes of functions whose results differ from run to run.
///
/// There is no way to a clock or to a random device in here: [`Effects::Live`] gets both from its caller.
#[derive(Default)]
pub enum Effects {
    /// They fail with [`Refused`].
    #[default]
    Refuse,
    /// The named ones get what repeats; all others fail.
    ///
    /// Each call draws from a stream of its own, derived from the seed, the function, the template and the text of the
    /// call, and how often that call ran before: so an edit elsewhere in the chart leaves its result alone.
    Seeded {
        /// Any bytes that tell this render from others.
        seed: [u8; 32],
        /// What the clock says.
        now: jiff::Timestamp,
        /// Names of functions.
        allowed: BTreeSet<String>,
    },
    /// All of them run; results don't repeat.
    Live {
        /// 32 bytes that nobody can guess.
        entropy: [u8; 32],
        /// What the clock says.
        now: jiff::Timestamp,
    },
}

impl Effects {
    fn is_allowed(&self, function: &str) -> bool {
        match self {
            Effects::Refuse => false,
            Effects::Seeded { allowed, .. } => allowed.contains(function),
            Effects::Live { .. } => true,
        }
    }
}

/// The effects of one render, with what tells its calls apart.
#[derive(Default)]
pub(super) struct Source {
    effects: Effects,
    passed: HashMap<String, u64>,
}

impl Source {
    pub fn new(effects: Effects) -> Self {
        Self { effects, passed: HashMap::new() }
    }

    /// The clock, for a function that may read it.
    pub fn now(&self, function: &str) -> Result<jiff::Timestamp, Failure> {
        match &self.effects {
            Effects::Seeded { now, .. } | Effects::Live { now, .. } if self.effects.is_allowed(function) => Ok(*now),
            _ => Err(Refused::Clock(function.to_owned()).into()),
        }
    }

    /// A stream of random bytes for one call of a function that may have it; `call` tells it from other calls.
    pub fn random(&mut self, function: &str, call: impl FnOnce() -> String) -> Result<Random, Failure> {
        let seed = match &self.effects {
            Effects::Seeded { seed, .. } | Effects::Live { entropy: seed, .. } if self.effects.is_allowed(function) => {
                seed
            }
            _ => return Err(Refused::Random(function.to_owned()).into()),
        };
        let call = format!("{function}\0{}", call());
        let passed = self.passed.entry(call.clone()).or_default();
        *passed += 1;
        let mut hash = Sha256::new();
        hash.update(seed);
        hash.update(passed.to_be_bytes());
        hash.update(call.as_bytes());
        Ok(Random { key: hash.finalize().into(), counter: 0, block: [0; 32], used: 32 })
    }
}

/// A stream of bytes that a key determines: SHA-256 over the key and a counter.
pub struct Random {
    key: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
}

impl Random {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        if self.used >= self.block.len() {
            let mut hash = Sha256::new();
            hash.update(self.key);
            hash.update(self.counter.to_be_bytes());
            self.block = hash.finalize().into();
            self.counter += 1;
            self.used = 0;
        }
        let byte = self.block.get(self.used).copied().unwrap_or_default();
        self.used += 1;
        byte
    }

    /// The next bytes.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| self.byte());
    }

    /// An even choice of the numbers below `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        let reach = u64::MAX - u64::MAX % end.max(1);
        loop {
            let mut bytes = [0; 8];
            self.fill(&mut bytes);
            let number = u64::from_be_bytes(bytes);
            if number < reach {
                return number % end.max(1);
            }
        }
    }
}
