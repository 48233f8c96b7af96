//! What a render takes along, and what a function at work can reach of it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use go_std::regexp::{PATTERN_BYTES_MAX, PATTERN_GROWTH, Regex, RegexError};

use super::effects::{self, Effects, Random};
use super::error::{Cause, Failure, Limit, Refused, RefusedCall};
use super::limits::{Budget, Limits};
use super::origin::Trace;
use super::source::{Source, Spot};
use super::text::Text;
use super::trail::{Caller, Trail};

/// What `.key` gives when the map has no such key: Go's option `missingkey`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingKey {
    /// The zero value of the map's element type: `missingkey=zero`, as Helm has it.
    #[default]
    Zero,
    /// Nothing: `missingkey=invalid` and `missingkey=default`, as Go has it without an option.
    Invalid,
    /// A failure: `missingkey=error`.
    Error,
}

/// What a render needs beside its templates and data: what is left of its limits, what randomness and the clock give,
/// and the host's own state. One serves all templates of a render, one after the other.
pub struct Runtime {
    pub(super) budget: Budget,
    pub(super) effects: effects::Source,
    pub(super) depth: u32,
    pub(super) trail: Trail,
    host: Box<dyn Any>,
    pub(super) missing_key: MissingKey,
    pub(super) counts: bool,
    regexes: HashMap<Text, Result<Regex, String>>,
    regex_bytes: usize,
}

impl Runtime {
    /// A runtime without host state.
    pub fn new(limits: Limits, effects: Effects) -> Self {
        Self {
            budget: Budget::new(limits),
            effects: effects::Source::new(effects),
            depth: 0,
            trail: Trail::default(),
            host: Box::new(()),
            missing_key: MissingKey::default(),
            counts: true,
            regexes: HashMap::new(),
            regex_bytes: 0,
        }
    }

    /// What a key that a map lacks gives from now on.
    pub fn set_missing_key(&mut self, missing_key: MissingKey) {
        self.missing_key = missing_key;
    }

    /// Whether `range` counts up to a whole number, as Go does since 1.24.
    pub fn with_counting(mut self, counts: bool) -> Self {
        self.counts = counts;
        self
    }

    /// Adds state for the host's own functions, which reach it by [`Call::host`].
    pub fn with_host<T: 'static>(mut self, host: T) -> Self {
        self.host = Box::new(host);
        self
    }

    /// Adds a function that is asked now and then whether time is up.
    pub fn with_deadline(mut self, is_time_up: impl Fn() -> bool + 'static) -> Self {
        self.budget.set_deadline(Box::new(is_time_up));
        self
    }

    /// The host's state, when it is a `T`.
    pub fn host<T: 'static>(&mut self) -> Option<&mut T> {
        self.host.downcast_mut()
    }

    /// How many steps were taken.
    pub fn steps(&self) -> u64 {
        self.budget.steps_taken()
    }

    /// What a probe saw of calls so far; it begins anew.
    pub fn take_trace(&mut self) -> Trace {
        self.effects.take_trace()
    }

    /// The calls so far that a probe answered instead of refusing them, in the order of execution, one for each site; of
    /// very many the first ones.
    pub fn probed(&self) -> &[RefusedCall] {
        self.effects.probed()
    }
}

/// A function at work: its way to the engine.
pub struct Call<'c> {
    pub(super) runtime: &'c mut Runtime,
    /// The templates that the calling one belongs to, which only the engine looks into.
    pub(super) set: &'c (dyn Any + 'static),
    /// The name by which the function was called.
    pub(super) name: &'static str,
    /// Where the call is.
    pub(super) source: &'c Arc<Source>,
    /// The name of the calling template.
    pub(super) template: &'c str,
    pub(super) at: &'c dyn Spot,
}

impl Call<'_> {
    /// The name by which the function was called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The host's state.
    ///
    /// Fails when the runtime was made with another one, which is a mistake of the host.
    pub fn host<T: 'static>(&mut self) -> Result<&mut T, Failure> {
        let name = self.name;
        self.runtime.host().ok_or_else(|| Failure::message(format!("{name} is not available here")))
    }

    /// Takes steps from the budget: for work that grows with the input.
    pub fn charge(&mut self, steps: usize) -> Result<(), Failure> {
        self.runtime.budget.steps(steps as u64)
    }

    /// Takes bytes from the budget, before they are made: for results that can be larger than the arguments.
    pub fn charge_bytes(&mut self, bytes: usize) -> Result<(), Failure> {
        self.runtime.budget.bytes(bytes)
    }

    /// Fails when so many bytes are not left, and takes none: for what is thrown away before the function returns.
    pub fn reserve(&self, bytes: usize) -> Result<(), Failure> {
        self.runtime.budget.reserve(bytes)
    }

    /// How many bytes are left.
    pub fn bytes_left(&self) -> usize {
        self.runtime.budget.bytes_left()
    }

    /// The time now, if this function may know it.
    pub fn now(&mut self) -> Result<jiff::Timestamp, Failure> {
        let caller = Caller { trail: &self.runtime.trail, source: self.source, at: self.at };
        self.runtime.effects.now(self.name, caller)
    }

    /// A stream of random bytes for this call, if this function may have it.
    pub fn random(&mut self) -> Result<Random, Failure> {
        let caller = Caller { trail: &self.runtime.trail, source: self.source, at: self.at };
        self.runtime.effects.random(self.name, caller, || format!("{}\0{}", self.template, self.at))
    }

    /// The failure of this call when it must not run.
    pub(super) fn refuse(&self, refused: Refused) -> Failure {
        let caller = Caller { trail: &self.runtime.trail, source: self.source, at: self.at };
        Cause::Refused(Box::new(caller.refused(refused))).into()
    }

    /// The regular expression, compiled once for the whole render, or Go's words on what is wrong with it.
    pub(super) fn regex(&mut self, pattern: &Text) -> Result<Result<Regex, String>, Failure> {
        if let Some(regex) = self.runtime.regexes.get(pattern) {
            return Ok(regex.clone());
        }
        if pattern.len() > PATTERN_BYTES_MAX {
            return Err(Limit::Regex.into());
        }
        self.charge(pattern.len())?;
        self.reserve(pattern.len().saturating_mul(PATTERN_GROWTH))?;
        let regex = match Regex::new(pattern) {
            Ok(regex) => Ok(regex),
            Err(error @ RegexError::Syntax(_)) => Err(error.to_string()),
            Err(RegexError::TooLarge(_)) => return Err(Limit::Regex.into()),
        };
        let size = regex.as_ref().map_or(pattern.len(), Regex::size);
        self.charge_bytes(size)?;
        self.charge(size / REGEX_BYTES_PER_STEP)?;
        self.runtime.regex_bytes += size;
        if self.runtime.regex_bytes > REGEX_BYTES_MAX || self.runtime.regexes.len() >= REGEXES_MAX {
            self.runtime.regexes.clear();
            self.runtime.regex_bytes = size;
        }
        self.runtime.regexes.insert(pattern.clone(), regex.clone());
        Ok(regex)
    }
}

/// How much of a compiled expression is made in the time of a step.
const REGEX_BYTES_PER_STEP: usize = 4;
/// What the kept expressions may take together, but for what they make while they search: some MiB each at most.
const REGEX_BYTES_MAX: usize = 64 << 20;
/// How many are kept.
const REGEXES_MAX: usize = 100;
