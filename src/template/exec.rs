//! Executes templates.
//!
//! The shape is Go's: `at` remembers the node that is being worked on, so that whatever fails has a place; operands tell
//! nothing from nil and an interface from what is in it, because messages and printing do.

mod call;
mod eval;
mod walk;

use std::any::Any;
use std::collections::HashMap;
use std::sync::Arc;

use super::effects::{Effects, Random, Source};
use super::error::{Cause, Failure, Limit, Refused, RefusedCall};
use super::function::Function;
use super::limits::{Budget, Limits};
use super::node::{Block, Spot, Tree};
use super::operand::Operand;
use super::set::Set;
use super::text::Text;
use super::trail::{Caller, Trail};
use super::value::Value;
use crate::go::regexp::{PATTERN_BYTES_MAX, PATTERN_GROWTH, Regex, RegexError};

/// What `.key` gives when the map has no such key: Go's option `missingkey`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum MissingKey {
    /// The zero value of what the map holds: `missingkey=zero`, as Helm has it.
    #[default]
    Zero,
    /// Nothing: `missingkey=invalid` and `missingkey=default`, as Go has it without an option.
    Invalid,
    /// A failure: `missingkey=error`.
    Error,
}

/// What a render needs beside its templates and data: what is left of its limits, what randomness and the clock give,
/// and the host's own state. One serves all templates of a render, one after the other.
pub(crate) struct Runtime {
    budget: Budget,
    effects: Source,
    depth: u32,
    trail: Trail,
    host: Box<dyn Any>,
    missing_key: MissingKey,
    regexes: HashMap<Text, Result<Regex, String>>,
    regex_bytes: usize,
}

impl Runtime {
    /// A runtime without host state.
    pub(crate) fn new(limits: Limits, effects: Effects) -> Self {
        Self {
            budget: Budget::new(limits),
            effects: Source::new(effects),
            depth: 0,
            trail: Trail::default(),
            host: Box::new(()),
            missing_key: MissingKey::default(),
            regexes: HashMap::new(),
            regex_bytes: 0,
        }
    }

    /// What a key that a map lacks gives from now on.
    pub(crate) fn set_missing_key(&mut self, missing_key: MissingKey) {
        self.missing_key = missing_key;
    }

    /// The same with state for the host's own functions, which reach it by [`Call::host`].
    pub(crate) fn with_host<T: 'static>(mut self, host: T) -> Self {
        self.host = Box::new(host);
        self
    }

    /// The same with somebody to ask now and then whether time is up.
    pub(crate) fn with_deadline(mut self, is_time_up: impl Fn() -> bool + 'static) -> Self {
        self.budget.set_deadline(Box::new(is_time_up));
        self
    }

    /// The host's state, when it is a `T`.
    pub(crate) fn host<T: 'static>(&mut self) -> Option<&mut T> {
        self.host.downcast_mut()
    }

    /// How many steps were taken.
    pub(crate) fn steps(&self) -> u64 {
        self.budget.steps_taken()
    }

    /// The calls so far that a probe answered instead of refusing them, in the order of execution, one for each site; of
    /// very many the first ones.
    pub(crate) fn probed(&self) -> &[RefusedCall] {
        self.effects.probed()
    }

    /// Executes the template `name` of a set and returns what it prints.
    ///
    /// Fails as Go's `ExecuteTemplate` does, also when there is no such template. What was printed until then is lost.
    pub(crate) fn execute(&mut self, set: &Set, name: &str, data: Value) -> Result<Vec<u8>, Failure> {
        let Some(tree) = set.get(name) else {
            let (name, set) = (crate::yaml::quote(name), crate::yaml::quote(set.name()));
            return Err(Failure::message(format!("template: no template {name} associated with template {set}")));
        };
        let tree = Arc::clone(tree);
        let mut out = Vec::new();
        let dot = Operand::from(data).settled();
        let (depth, open) = (self.depth, self.trail.len());
        let result = Frame::new(self, set, &tree, &mut out, dot.clone()).run(&dot);
        self.depth = depth;
        self.trail.truncate(open);
        result.map(|()| out)
    }
}

/// A variable with its value.
struct Slot<'f> {
    name: &'f str,
    value: Operand,
}

/// One template being executed.
struct Frame<'f> {
    runtime: &'f mut Runtime,
    set: &'f Set,
    tree: &'f Tree,
    out: &'f mut Vec<u8>,
    /// Innermost last.
    variables: Vec<Slot<'f>>,
    /// The node at work.
    at: &'f dyn Spot,
}

impl<'f> Frame<'f> {
    fn new(runtime: &'f mut Runtime, set: &'f Set, tree: &'f Tree, out: &'f mut Vec<u8>, dot: Operand) -> Self {
        let variables = vec![Slot { name: "$", value: dot }];
        Frame { runtime, set, tree, out, variables, at: &tree.root }
    }

    fn run(&mut self, dot: &Operand) -> Result<(), Failure> {
        let root: &'f Block = &self.tree.root;
        self.walk_block(dot, root).map(drop)
    }

    /// The failure at the node at work.
    fn locate(&self, failure: impl Into<Failure>) -> Failure {
        self.leave(failure.into(), None)
    }

    fn leave(&self, failure: Failure, calling: Option<&str>) -> Failure {
        let place = self.tree.source.place(self.at.at());
        failure.leave(place, Arc::clone(&self.tree.name), self.at.to_string(), calling.map(str::to_owned))
    }

    /// Fails with a message of the engine.
    fn error<T>(&self, message: impl Into<String>) -> Result<T, Failure> {
        Err(self.locate(Cause::Engine(message.into())))
    }

    fn step(&mut self) -> Result<(), Failure> {
        self.runtime.budget.steps(1).map_err(|failure| self.locate(failure))
    }

    /// Goes one level deeper; every success must be paired with [`Frame::rise`].
    fn sink(&mut self) -> Result<(), Failure> {
        self.step()?;
        let max = self.runtime.budget.depth_max();
        if self.runtime.depth >= max {
            return Err(self.locate(Limit::Depth(max)));
        }
        self.runtime.depth += 1;
        Ok(())
    }

    fn rise(&mut self) {
        self.runtime.depth -= 1;
    }
}

/// A function at work: its way to the engine.
pub(crate) struct Call<'c> {
    runtime: &'c mut Runtime,
    set: &'c Set,
    function: &'c Function,
    /// Where the call is.
    tree: &'c Tree,
    at: &'c dyn Spot,
}

impl Call<'_> {
    /// The name by which the function was called.
    pub(crate) fn name(&self) -> &'static str {
        self.function.name()
    }

    /// The templates that the calling one belongs to.
    pub(crate) fn set(&self) -> &Set {
        self.set
    }

    /// The host's state.
    ///
    /// Fails when the runtime was made with another one, which is a mistake of the host.
    pub(crate) fn host<T: 'static>(&mut self) -> Result<&mut T, Failure> {
        let name = self.function.name();
        self.runtime.host().ok_or_else(|| Failure::message(format!("{name} is not available here")))
    }

    /// Executes a template of the calling one's set: what `include` does.
    pub(crate) fn execute(&mut self, name: &str, data: Value) -> Result<Text, Failure> {
        self.execute_in(self.set, name, data)
    }

    /// Executes a template of another set: what `tpl` does with a clone of the set.
    pub(crate) fn execute_in(&mut self, set: &Set, name: &str, data: Value) -> Result<Text, Failure> {
        let open = self.runtime.trail.len();
        self.runtime.trail.push(&self.tree.source, self.at.at());
        let result = self.runtime.execute(set, name, data).map(Text::from);
        self.runtime.trail.truncate(open);
        result
    }

    /// Takes steps from the budget: for work that grows with the input.
    pub(crate) fn charge(&mut self, steps: usize) -> Result<(), Failure> {
        self.runtime.budget.steps(steps as u64)
    }

    /// Takes bytes from the budget, before they are made: for results that can be larger than the arguments.
    pub(crate) fn charge_bytes(&mut self, bytes: usize) -> Result<(), Failure> {
        self.runtime.budget.bytes(bytes)
    }

    /// Fails when so many bytes are not left, and takes none: for what is thrown away before the function returns.
    pub(crate) fn reserve(&self, bytes: usize) -> Result<(), Failure> {
        self.runtime.budget.reserve(bytes)
    }

    /// How many bytes are left.
    pub(crate) fn bytes_left(&self) -> usize {
        self.runtime.budget.bytes_left()
    }

    /// The time now, if this function may know it.
    pub(crate) fn now(&mut self) -> Result<jiff::Timestamp, Failure> {
        let caller = Caller { trail: &self.runtime.trail, source: &self.tree.source, at: self.at };
        self.runtime.effects.now(self.function.name(), caller)
    }

    /// A stream of random bytes for this call, if this function may have it.
    pub(crate) fn random(&mut self) -> Result<Random, Failure> {
        let caller = Caller { trail: &self.runtime.trail, source: &self.tree.source, at: self.at };
        self.runtime.effects.random(self.function.name(), caller, || format!("{}\0{}", self.tree.name, self.at))
    }

    /// The failure of this call when it must not run.
    pub(super) fn refuse(&self, refused: Refused) -> Failure {
        let caller = Caller { trail: &self.runtime.trail, source: &self.tree.source, at: self.at };
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
