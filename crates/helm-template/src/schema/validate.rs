//! Values against a compiled schema.
//!
//! Reference: santhosh-tekuri/jsonschema 6.0.2 validator.go, the order of checks and what they say included. Where Go
//! walks maps in random order, names go by their bytes.

mod equality;
mod list;
mod logic;
mod object;
mod scalar;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};

use dry_files::view::Stop;
use go_std::regexp::Regex;
use go_yaml::Value;

use super::compile::{Compiled, Keywords, SchemaId};
use super::draft::Draft;
use super::report::{Problem, Role, push_pointer};
use super::{DEPTH_MAX, PROBLEMS_MAX, STEPS_MAX};

/// The problems of `value`; `Ok` when there are none. Once `stop` is set, what it answers counts for nothing.
pub(super) fn validate(compiled: &Compiled, value: &Value, stop: &Stop) -> Result<(), Vec<Problem>> {
    let run = Run {
        compiled,
        stop,
        steps: Cell::new(0),
        problems: Cell::new(0),
        patterns: RefCell::default(),
        learned: Cell::new(0),
    };
    let scope = Scope { schema: compiled.root, keyword: "", value_number: 0, depth: 0, parent: None };
    let unseen = Unseen::new(value, compiled.get(compiled.root), false);
    let target = Target { value, at: "", quiet: false };
    let outcome = run.check(target, &scope, unseen);
    if run.is_exhausted() {
        return Err(vec![Problem { message: EXHAUSTED.to_owned(), ..Problem::default() }]);
    }
    outcome.map(drop).map_err(Problem::ungrouped)
}

/// How many bytes of a text, or entries of an object, are looked at in the time of a step.
const BYTES_PER_STEP: usize = 16;

/// How many names of a schema are looked for in the time of a step.
const NAMES_PER_STEP: usize = 4;

/// How many steps of templates, by which regular expressions count, take as long as one of ours.
const TEMPLATE_STEPS_PER_STEP: usize = 4;

/// How many bytes expressions may keep of what they learned while they searched.
const LEARNED_BYTES_MAX: usize = 32 << 20;

/// After how many steps the time is looked at.
const STEPS_PER_LOOK: u64 = 4096;

/// How much of a value each schema looks at that is applied to it.
fn width(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Sequence(items) => items.len(),
        Value::Mapping(entries) => entries.len(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Uint(_) | Value::Float(_) => 0,
    }
}

/// What is said of a schema that costs more than the limits.
const EXHAUSTED: &str = "the schema is too deep or takes too long to check";

struct Run<'a> {
    compiled: &'a Compiled,
    stop: &'a Stop,
    steps: Cell<u64>,
    /// How many problems were made, those that lead nowhere with them.
    problems: Cell<u64>,
    /// Its own copies of the expressions, since others may check by the same schema at once.
    patterns: RefCell<HashMap<*const Regex, Regex>>,
    /// How many bytes they keep of what they learned.
    learned: Cell<usize>,
}

/// The value being looked at.
#[derive(Clone, Copy)]
struct Target<'a> {
    value: &'a Value,
    /// Its JSON pointer.
    at: &'a str,
    /// Whether only the outcome counts, not what is wrong.
    quiet: bool,
}

/// The schemas on the way here, innermost first.
struct Scope<'a> {
    schema: SchemaId,
    /// The keyword of the reference that led here; empty for none.
    keyword: &'static str,
    /// Counts values on the way: equal for schemas of one value.
    value_number: u32,
    depth: u32,
    parent: Option<&'a Scope<'a>>,
}

impl<'a> Scope<'a> {
    fn chain(&'a self) -> impl Iterator<Item = &'a Scope<'a>> {
        std::iter::successors(Some(self), |scope| scope.parent)
    }
}

/// What no keyword has looked at yet, for `unevaluated…`.
#[derive(Debug, Default)]
struct Unseen {
    properties: BTreeSet<String>,
    items: BTreeSet<usize>,
}

impl Unseen {
    fn new(value: &Value, keywords: &Keywords, wanted: bool) -> Self {
        let mut unseen = Self::default();
        match value {
            Value::Mapping(entries)
                if keywords.additional_properties.is_none()
                    && (wanted || keywords.unevaluated_properties.is_some()) =>
            {
                unseen.properties = entries.keys().cloned().collect();
            }
            Value::Sequence(items)
                if keywords.other_items.is_none() && (wanted || keywords.unevaluated_items.is_some()) =>
            {
                unseen.items = (keywords.first_items.len()..items.len()).collect();
            }
            _ => {}
        }
        unseen
    }

    fn is_empty(&self) -> bool {
        self.properties.is_empty() && self.items.is_empty()
    }

    /// Keeps what the other has not seen either.
    fn keep(&mut self, other: &Unseen) {
        self.properties.retain(|name| other.properties.contains(name));
        self.items.retain(|index| other.items.contains(index));
    }
}

/// The problems of one schema with one value while it is being checked.
struct Checking<'a> {
    run: &'a Run<'a>,
    target: Target<'a>,
    scope: &'a Scope<'a>,
    keywords: &'a Keywords,
    unseen: Unseen,
    problems: Vec<Problem>,
}

type Checked = Result<Unseen, Problem>;

impl<'a> Run<'a> {
    fn is_exhausted(&self) -> bool {
        self.steps.get() > STEPS_MAX || self.problems.get() > PROBLEMS_MAX
    }

    fn take(&self, steps: usize) {
        let (before, now) = (self.steps.get(), self.steps.get().saturating_add(steps as u64));
        let is_over = before / STEPS_PER_LOOK != now / STEPS_PER_LOOK && self.stop.is_set();
        self.steps.set(if is_over { u64::MAX } else { now });
    }

    /// Takes what a value costs to look at, what is inside of it not included.
    fn look_at(&self, value: &Value) {
        self.take(1 + width(value) / BYTES_PER_STEP);
    }

    /// Whether a text matches; `None` when finding out takes longer than the limits.
    fn matches(&self, regex: &Regex, text: &str) -> Option<bool> {
        self.take(1);
        let take = |steps| {
            self.take(steps / TEMPLATE_STEPS_PER_STEP);
            if self.is_exhausted() { Err(()) } else { Ok(()) }
        };
        let mut patterns = self.patterns.borrow_mut();
        if self.learned.get() > LEARNED_BYTES_MAX {
            patterns.clear();
            self.learned.set(0);
        }
        let own = patterns.entry(std::ptr::from_ref(regex)).or_insert_with(|| regex.fresh());
        let before = own.learned_bytes();
        let is_match = own.is_match(text.as_bytes(), take);
        self.learned.set(self.learned.get() + own.learned_bytes().saturating_sub(before));
        is_match.ok()
    }

    fn check(&self, target: Target<'_>, scope: &Scope<'_>, unseen: Unseen) -> Checked {
        let keywords = self.compiled.get(scope.schema);
        let mut checking = Checking { run: self, target, scope, keywords, unseen, problems: Vec::new() };
        self.look_at(target.value);
        self.take(keywords.names / NAMES_PER_STEP);
        if self.is_exhausted() || scope.depth > DEPTH_MAX {
            return Err(checking.problem(EXHAUSTED.to_owned()));
        }
        checking.run_keywords()?;
        match checking.problems.len() {
            0 => Ok(checking.unseen),
            1 => Err(checking.problems.remove(0)),
            _ => {
                let causes = std::mem::take(&mut checking.problems);
                Err(Problem { causes, role: Role::Group, ..checking.problem("validation failed".to_owned()) })
            }
        }
    }
}

impl Checking<'_> {
    fn problem(&self, message: String) -> Problem {
        if self.target.quiet {
            return Problem::default();
        }
        self.run.problems.set(self.run.problems.get() + 1);
        Problem { at: self.target.at.to_owned(), message, ..Problem::default() }
    }

    fn add(&mut self, message: impl FnOnce() -> String) {
        let message = if self.target.quiet { String::new() } else { message() };
        self.problems.push(self.problem(message));
    }

    fn add_with(&mut self, message: &str, causes: Vec<Problem>) {
        let problem = Problem { causes, ..self.problem(message.to_owned()) };
        self.problems.push(problem);
    }

    fn note(&mut self, outcome: Result<(), Problem>) {
        self.problems.extend(outcome.err());
    }

    /// Whether nothing further can change the outcome.
    fn is_decided(&self) -> bool {
        self.target.quiet && !self.problems.is_empty()
    }

    /// Problems that end the check at once are returned, others are collected.
    fn run_keywords(&mut self) -> Result<(), Problem> {
        let keywords = self.keywords;
        if let Some(always) = keywords.always {
            return if always { Ok(()) } else { Err(self.problem("false schema".to_owned())) };
        }
        if let Some(message) = self.cycle() {
            return Err(self.problem(message));
        }
        self.identity()?;
        let draft = keywords.draft.unwrap_or(Draft::LATEST);
        if let Some(target) = keywords.reference {
            let outcome = self.follow(target, "$ref");
            if draft < Draft::V2019 {
                return outcome;
            }
            self.note(outcome);
        }
        match self.target.value {
            Value::Mapping(_) => self.object(draft),
            Value::Sequence(items) => self.list(items, draft),
            Value::String(text) => self.string(text),
            Value::Int(_) | Value::Uint(_) | Value::Float(_) => self.number(),
            Value::Null | Value::Bool(_) => {}
        }
        if self.is_decided() {
            return Ok(());
        }
        self.moving_references();
        self.logic();
        self.unevaluated();
        Ok(())
    }

    /// What is wrong when this schema is being applied to this value already.
    fn cycle(&self) -> Option<String> {
        let same_value = |scope: &&Scope<'_>| scope.value_number == self.scope.value_number;
        let first =
            self.scope.chain().skip(1).take_while(same_value).find(|scope| scope.schema == self.scope.schema)?;
        let location = go_yaml::quote(&self.keywords.location);
        let ways = (self.way(self.scope), self.way(first));
        Some(format!("both {} and {} resolve to {location} causing reference cycle", ways.0, ways.1))
    }

    /// The keywords that lead to a schema from the root, references followed.
    fn way(&self, scope: &Scope<'_>) -> String {
        let location = |scope: &Scope<'_>| self.run.compiled.get(scope.schema).location.as_str();
        let mut steps: Vec<String> = Vec::new();
        for step in scope.chain() {
            let Some(parent) = step.parent else { break };
            let below = location(step).get(location(parent).len()..).unwrap_or_default();
            steps.push(if step.keyword.is_empty() { below.to_owned() } else { format!("/{}", step.keyword) });
        }
        steps.reverse();
        steps.concat()
    }

    /// Applies a schema to this value; its problems are problems of this one.
    fn here(&mut self, schema: SchemaId, quiet: bool) {
        let outcome = self.outcome_here(schema, "", quiet);
        self.note(outcome);
    }

    fn outcome_here(&mut self, schema: SchemaId, keyword: &'static str, quiet: bool) -> Result<(), Problem> {
        let scope = Scope {
            schema,
            keyword,
            value_number: self.scope.value_number,
            depth: self.scope.depth + 1,
            parent: Some(self.scope),
        };
        let wanted = !self.unseen.is_empty();
        let unseen = Unseen::new(self.target.value, self.run.compiled.get(schema), wanted);
        let target = Target { quiet: quiet || self.target.quiet, ..self.target };
        let unseen = self.run.check(target, &scope, unseen)?;
        self.unseen.keep(&unseen);
        Ok(())
    }

    fn follow(&mut self, schema: SchemaId, keyword: &'static str) -> Result<(), Problem> {
        let outcome = self.outcome_here(schema, keyword, false);
        outcome.map_err(|problem| {
            let causes = problem.ungrouped();
            Problem { causes, role: Role::Reference, ..self.problem("validation failed".to_owned()) }
        })
    }

    fn below(&self, schema: SchemaId, value: &Value, token: &str) -> Result<(), Problem> {
        let mut at = self.target.at.to_owned();
        push_pointer(&mut at, token);
        let scope = Scope {
            schema,
            keyword: "",
            value_number: self.scope.value_number + 1,
            depth: self.scope.depth + 1,
            parent: Some(self.scope),
        };
        let unseen = Unseen::new(value, self.run.compiled.get(schema), false);
        self.run.check(Target { value, at: &at, quiet: self.target.quiet }, &scope, unseen).map(drop)
    }
}
