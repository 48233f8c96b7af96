//! Randomness and the clock: refused, derived from a seed, or handed in by the caller.

use std::collections::{BTreeSet, HashMap};

use sha2::{Digest, Sha256};

use super::error::{Cause, Failure, Refused, RefusedCall};
use super::operand::Operand;
use super::origin::Trace;
use super::seed::{Drew, Seed};
use super::source::Site;
use super::trail::Caller;

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
        /// What tells this render from others.
        seed: Seed,
        /// What the clock says.
        now: jiff::Timestamp,
        /// Names of functions.
        allowed: BTreeSet<String>,
        /// Hears of each draw.
        drew: Drew,
    },
    /// All of them run; results don't repeat.
    Live {
        /// 32 bytes that no one can guess.
        entropy: [u8; 32],
        /// What the clock says.
        now: jiff::Timestamp,
    },
    /// As [`Effects::Seeded`], but what that refuses draws from sources of chance that are the same in every render, and
    /// is noted: so a host learns what depends on which calls.
    Probe {
        /// What tells this render from others.
        seed: Seed,
        /// What the clock says to the allowed functions.
        now: jiff::Timestamp,
        /// Names of functions, whose calls are not probed.
        allowed: BTreeSet<String>,
        /// Which of the other calls draw from the source `number`; the rest draws from number 0.
        calls: Calls,
        /// 0 to 2.
        number: u8,
        /// Whether what is rendered will not be used, so that keys may be good for nothing: quick to make, and weak.
        sketch: bool,
    },
}

/// Some of the calls of a render.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Calls {
    /// All of them.
    All,
    /// Those at some sites.
    At(BTreeSet<Site>),
}

/// What the clock says in a probe, in seconds and nanoseconds; far apart in every field that a clock shows.
const PROBE_TIMES: [(i64, i32); 3] =
    [(1_000_000_000, 123_456_789), (86_400 * 400 + 3_661, 987_654_321), (4_102_441_199, 456_012_378)];

/// How many calls a probe notes.
const PROBED_MAX: usize = 1000;

/// How many bits an RSA key of a sketch has: the fewest that can sign SHA-256.
const SKETCH_BITS: u32 = 512;

/// How many times quicker such a key is made, at least.
const SKETCH_FACTOR: usize = 64;

/// Where chance comes from for one call.
struct Chance {
    seed: Seed,
    now: jiff::Timestamp,
    /// The number of the probe that answers.
    probe: Option<u8>,
}

/// The effects of one render, with what distinguishes its calls.
#[derive(Default)]
pub(super) struct Source {
    effects: Effects,
    passed: HashMap<String, u64>,
    /// The sites of calls that a probe answered, and the first calls of them.
    probed_sites: BTreeSet<Site>,
    probed: Vec<RefusedCall>,
    trace: Trace,
    /// How many calls drew from a probe.
    draws: u64,
}

/// What a probe saw of a call before it ran.
pub(super) struct Look {
    given: Option<u64>,
    keeps_length: bool,
    draws: u64,
}

impl Source {
    pub(super) fn new(effects: Effects) -> Self {
        Self { effects, ..Self::default() }
    }

    /// What a probe answered.
    pub(super) fn probed(&self) -> &[RefusedCall] {
        &self.probed
    }

    /// What a probe saw.
    pub(super) fn take_trace(&mut self) -> Trace {
        std::mem::take(&mut self.trace)
    }

    /// Looks at a call that is about to run, in a probe.
    pub(super) fn look(&self, function: &str, values: &[Operand]) -> Option<Look> {
        if !matches!(self.effects, Effects::Probe { .. }) {
            return None;
        }
        // Before the first draw nothing is chance.
        let given = if self.probed.is_empty() { None } else { self.trace.given(function, values) };
        Some(Look { given, keeps_length: self.trace.keeps_length(function, values), draws: self.draws })
    }

    /// Looks at what a call made that [`Source::look`] looked at.
    pub(super) fn saw(&mut self, look: &Look, function: &str, site: impl FnOnce() -> Site, result: &Operand) {
        let draws = self.draws != look.draws && !matches!(function, "include" | "tpl");
        if draws || look.keeps_length {
            self.trace.drawn(result);
        }
        if let Some(given) = look.given {
            self.trace.made(site(), given, result);
        }
    }

    /// Looks at what decides a branch, in a probe.
    pub(super) fn saw_test(&mut self, site: impl FnOnce() -> Site, value: &Operand) {
        if matches!(self.effects, Effects::Probe { .. }) && !self.probed.is_empty() {
            self.trace.tested(site(), value);
        }
    }

    /// The clock, for a function that may read it.
    pub(super) fn now(&mut self, function: &str, caller: Caller<'_>) -> Result<jiff::Timestamp, Failure> {
        self.chance(function, caller, Refused::Clock).map(|chance| chance.now)
    }

    /// A stream of random bytes for one call of a function that may have it; `call` distinguishes it from other calls.
    pub(super) fn random(
        &mut self,
        function: &str,
        caller: Caller<'_>,
        call: impl FnOnce() -> String,
    ) -> Result<Random, Failure> {
        let Chance { seed, probe, .. } = self.chance(function, caller, Refused::Random)?;
        let call = format!("{function}\0{}", call());
        let passed = self.passed.entry(call.clone()).or_default();
        *passed += 1;
        if let Effects::Seeded { drew, .. } = &self.effects {
            drew.set();
        }
        let sketch = seed == Seed::Sketch || matches!(self.effects, Effects::Probe { sketch: true, .. });
        let repeats_always = matches!(seed, Seed::Secret { .. });
        let turned = probe.map(|number| {
            self.draws += 1;
            (Box::new(Random::new(Chance::of_probe(0).seed.key(*passed, &call))), number)
        });
        Ok(Random { sketch, repeats_always, turned, ..Random::new(seed.key(*passed, &call)) })
    }

    /// What a call draws from, if it is not refused.
    fn chance(
        &mut self,
        function: &str,
        caller: Caller<'_>,
        refused: impl FnOnce(String) -> Refused,
    ) -> Result<Chance, Failure> {
        let allowed = match &self.effects {
            Effects::Live { entropy, now } => Some((Seed::Public(*entropy), now)),
            Effects::Seeded { seed, now, allowed, .. } | Effects::Probe { seed, now, allowed, .. } => {
                allowed.contains(function).then(|| (seed.clone(), now))
            }
            Effects::Refuse => None,
        };
        if let Some((seed, now)) = allowed {
            return Ok(Chance { seed, now: *now, probe: None });
        }
        let Effects::Probe { calls, number, .. } = &self.effects else {
            return Err(Cause::Refused(Box::new(caller.refused(refused(function.to_owned())))).into());
        };
        let site = caller.site();
        if self.probed.len() < PROBED_MAX && self.probed_sites.insert(site) {
            self.probed.push(caller.refused(refused(function.to_owned())));
        }
        let is_meant = match calls {
            Calls::All => true,
            Calls::At(sites) => sites.contains(&site),
        };
        Ok(Chance::of_probe(if is_meant { *number } else { 0 }))
    }
}

impl Chance {
    fn of_probe(number: u8) -> Self {
        let (seconds, nanoseconds) = PROBE_TIMES.get(usize::from(number)).copied().unwrap_or_default();
        let now = jiff::Timestamp::new(seconds, nanoseconds).unwrap_or_default();
        Self { seed: Seed::Public([number; 32]), now, probe: Some(number) }
    }
}

/// A stream of bytes that a key determines: SHA-256 over the key and a counter.
#[derive(Clone)]
pub struct Random {
    key: [u8; 32],
    counter: u64,
    block: [u8; 32],
    used: usize,
    sketch: bool,
    repeats_always: bool,
    /// For a probe: what the first one draws from, and its own number.
    turned: Option<(Box<Random>, u8)>,
}

impl Random {
    /// The stream of a key.
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self { key, counter: 0, block: [0; 32], used: 32, sketch: false, repeats_always: false, turned: None }
    }

    /// Whether renders give the same until an admin says otherwise, so that what is drawn has no date of its own.
    pub(super) fn repeats_always(&self) -> bool {
        self.repeats_always
    }

    /// How many bits a key gets that shall have so many.
    pub(super) fn key_bits(&self, bits: u32) -> u32 {
        if self.sketch { bits.min(SKETCH_BITS) } else { bits }
    }

    /// How many steps a key takes that takes so many.
    pub(super) fn key_steps(&self, steps: usize) -> usize {
        if self.sketch { steps / SKETCH_FACTOR } else { steps }
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
    ///
    /// Of probes each gives another one, a third of the way further: a letter in the first is a digit in another.
    pub fn below(&mut self, end: u64) -> u64 {
        if let Some((first, number)) = &mut self.turned {
            let step = u128::from(end / 3).max(1) * u128::from(*number);
            return ((u128::from(first.below(end)) + step) % u128::from(end.max(1))) as u64;
        }
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
