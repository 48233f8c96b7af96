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
    /// As [`Effects::Seeded`], but what that refuses gives the same in every render, one call or all excepted: so a host
    /// learns what depends on them.
    Probe {
        /// Any bytes that tell this render from others.
        seed: [u8; 32],
        /// What the clock says to the allowed functions.
        now: jiff::Timestamp,
        /// Names of functions, whose calls are not probed.
        allowed: BTreeSet<String>,
        /// Which of the other calls, in the order of execution, the first being 0; none for all of them.
        call: Option<u64>,
        /// What becomes of it.
        probe: Probe,
        /// Whether nobody will see what is rendered, so that keys may be good for nothing: quick to make, and weak.
        sketch: bool,
    },
}

/// What becomes of a probed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// It fails with [`Refused`].
    Refuse,
    /// It draws from a source of chance of its own: all calls that are not probed draw from number 0 of 0 to 2.
    Draw(u8),
}

/// What the clock says in a probe; far apart in every field that a clock shows.
const PROBE_SECONDS: [i64; 3] = [1_000_000_000, 86_400 * 400 + 3_661, 4_102_441_199];

/// How many bits an RSA key of a sketch has: the fewest that can sign SHA-256.
const SKETCH_BITS: u32 = 512;

/// Where chance comes from for one call.
struct Chance {
    seed: [u8; 32],
    now: jiff::Timestamp,
}

/// The effects of one render, with what tells its calls apart.
#[derive(Default)]
pub(super) struct Source {
    effects: Effects,
    passed: HashMap<String, u64>,
    /// Calls that a probe counted.
    counted: u64,
}

impl Source {
    pub fn new(effects: Effects) -> Self {
        Self { effects, ..Self::default() }
    }

    /// The clock, for a function that may read it.
    pub fn now(&mut self, function: &str) -> Result<jiff::Timestamp, Failure> {
        match self.chance(function) {
            Some(chance) => Ok(chance.now),
            None => Err(Refused::Clock(function.to_owned()).into()),
        }
    }

    /// A stream of random bytes for one call of a function that may have it; `call` tells it from other calls.
    pub fn random(&mut self, function: &str, call: impl FnOnce() -> String) -> Result<Random, Failure> {
        let Some(Chance { seed, .. }) = self.chance(function) else {
            return Err(Refused::Random(function.to_owned()).into());
        };
        let call = format!("{function}\0{}", call());
        let passed = self.passed.entry(call.clone()).or_default();
        *passed += 1;
        let mut hash = Sha256::new();
        hash.update(seed);
        hash.update(passed.to_be_bytes());
        hash.update(call.as_bytes());
        let sketch = matches!(self.effects, Effects::Probe { sketch: true, .. });
        Ok(Random { key: hash.finalize().into(), counter: 0, block: [0; 32], used: 32, sketch })
    }

    /// What a call draws from; none when it is refused.
    fn chance(&mut self, function: &str) -> Option<Chance> {
        match &self.effects {
            Effects::Refuse => None,
            Effects::Seeded { seed, now, allowed } => {
                allowed.contains(function).then_some(Chance { seed: *seed, now: *now })
            }
            Effects::Live { entropy, now } => Some(Chance { seed: *entropy, now: *now }),
            Effects::Probe { seed, now, allowed, .. } if allowed.contains(function) => {
                Some(Chance { seed: *seed, now: *now })
            }
            Effects::Probe { call, probe, .. } => {
                let is_probed = call.is_none_or(|call| call == self.counted);
                self.counted += 1;
                match (is_probed, probe) {
                    (true, Probe::Refuse) => None,
                    (true, Probe::Draw(number)) => Chance::of_probe(*number),
                    (false, _) => Chance::of_probe(0),
                }
            }
        }
    }
}

impl Chance {
    fn of_probe(number: u8) -> Option<Self> {
        let seconds = PROBE_SECONDS.get(usize::from(number))?;
        Some(Self { seed: [number; 32], now: jiff::Timestamp::from_second(*seconds).ok()? })
    }
}

/// A stream of bytes that a key determines: SHA-256 over the key and a counter.
pub struct Random {
    key: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
    sketch: bool,
}

impl Random {
    /// How many bits a key gets that shall have so many.
    pub(super) fn key_bits(&self, bits: u32) -> u32 {
        if self.sketch { bits.min(SKETCH_BITS) } else { bits }
    }

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
