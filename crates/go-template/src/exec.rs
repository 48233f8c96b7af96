//! Executes templates.
//!
//! The shape is Go's: `at` remembers the node that is being worked on, so that whatever fails has a place; operands
//! distinguish nothing from nil and an interface from what is in it, because messages and printing do.

mod call;
mod eval;
mod walk;

use std::sync::Arc;

use super::call::{Call, Runtime};
use super::error::{Cause, Failure, Limit};
use super::node::{Block, Tree};
use super::operand::Operand;
use super::set::Set;
use super::source::Spot;
use super::text::Text;
use super::value::Value;

impl Runtime {
    /// Executes the template `name` of a set and returns what it prints.
    ///
    /// Fails as Go's `ExecuteTemplate` does, also when there is no such template. What was printed until then is lost.
    pub fn execute(&mut self, set: &Set, name: &str, data: Value) -> Result<Vec<u8>, Failure> {
        let Some(tree) = set.get(name) else {
            let (name, set) = (go_yaml::quote(name), go_yaml::quote(set.name()));
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

impl<'c> Call<'c> {
    /// The templates that the calling one belongs to.
    pub fn set(&self) -> &'c Set {
        self.set.downcast_ref().expect("calls are made with the set of their template")
    }

    /// Executes a template of the calling one's set: what `include` does.
    pub fn execute(&mut self, name: &str, data: Value) -> Result<Text, Failure> {
        self.execute_in(self.set(), name, data)
    }

    /// Executes a template of another set: what `tpl` does with a clone of the set.
    pub fn execute_in(&mut self, set: &Set, name: &str, data: Value) -> Result<Text, Failure> {
        let open = self.runtime.trail.len();
        self.runtime.trail.push(self.source, self.at.at());
        let result = self.runtime.execute(set, name, data).map(Text::from);
        self.runtime.trail.truncate(open);
        result
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

    /// Looks at what decides a branch.
    fn saw_test(&mut self, at: u32, value: &Operand) {
        let Runtime { effects, trail, .. } = &mut *self.runtime;
        effects.saw_test(|| trail.site(&self.tree.source, at), value);
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
