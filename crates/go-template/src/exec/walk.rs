//! Nodes: text, actions and control structures.

use go_yaml::quote;

use super::super::error::Failure;
use super::super::node::{Block, Branch, Node, Pipe};
use super::super::operand::Operand;
use super::super::print::sprint_one;
use super::super::value::{IntType, Value};
use super::{Frame, Slot};

/// What comes after a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
}

impl<'f> Frame<'f> {
    pub(super) fn walk_block(&mut self, dot: &Operand, block: &'f Block) -> Result<Flow, Failure> {
        self.at = block;
        for node in &block.nodes {
            let flow = self.walk(dot, node)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn walk(&mut self, dot: &Operand, node: &'f Node) -> Result<Flow, Failure> {
        self.at = node;
        self.step()?;
        match node {
            Node::Text { text, .. } => self.write(text)?,
            Node::Action { pipe, .. } => {
                let value = self.eval_pipeline(dot, pipe)?;
                if pipe.variables.is_empty() {
                    self.at = node;
                    self.print(&value)?;
                }
            }
            Node::If(branch) => return self.walk_if_or_with(dot, branch, false),
            Node::With(branch) => return self.walk_if_or_with(dot, branch, true),
            Node::Range(branch) => return self.walk_range(dot, branch),
            Node::Template { at, name, pipe } => self.walk_template(dot, *at, name, pipe.as_ref())?,
            Node::Break { .. } => return Ok(Flow::Break),
            Node::Continue { .. } => return Ok(Flow::Continue),
        }
        Ok(Flow::Next)
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.runtime.budget.bytes(text.len()).map_err(|failure| self.locate(failure))?;
        self.out.extend_from_slice(text);
        Ok(())
    }

    fn print(&mut self, operand: &Operand) -> Result<(), Failure> {
        match operand {
            Operand::Invalid => self.write(b"<no value>"),
            Operand::Held(_, Value::Nil) => self.write(b"<nil>"),
            Operand::Concrete(Value::String(text)) => self.write(text),
            Operand::Interface(value) | Operand::Concrete(value) | Operand::Place(value) | Operand::Held(_, value) => {
                let text = match (value, operand) {
                    (Value::Struct(fields), _) if fields.ty().pointer.is_some() && fields.ty().string.is_none() => {
                        // Printed as what the pointer leads to.
                        let text = self.sprint(value)?;
                        text.strip_prefix(b"&").map(<[u8]>::to_vec).unwrap_or(text)
                    }
                    (Value::Struct(fields), Operand::Place(_)) => match fields.ty().string {
                        Some(stringer) => (stringer.run)(fields).to_vec(),
                        None => self.sprint(value)?,
                    },
                    _ => self.sprint(value)?,
                };
                self.write(&text)
            }
        }
    }

    fn sprint(&self, value: &Value) -> Result<Vec<u8>, Failure> {
        sprint_one(value, self.runtime.budget.bytes_left()).map_err(|limit| self.locate(limit))
    }

    fn walk_if_or_with(&mut self, dot: &Operand, branch: &'f Branch, is_with: bool) -> Result<Flow, Failure> {
        let (visible, at) = (self.variables.len(), self.at.at());
        let value = self.eval_pipeline(dot, &branch.pipe)?;
        self.saw_test(at, &value);
        let flow = if value.is_true() {
            self.walk_deeper(if is_with { &value } else { dot }, &branch.block)?
        } else if let Some(otherwise) = &branch.otherwise {
            self.walk_deeper(dot, otherwise)?
        } else {
            Flow::Next
        };
        self.variables.truncate(visible);
        Ok(flow)
    }

    fn walk_deeper(&mut self, dot: &Operand, block: &'f Block) -> Result<Flow, Failure> {
        self.sink()?;
        let flow = self.walk_block(dot, block)?;
        self.rise();
        Ok(flow)
    }

    fn walk_range(&mut self, dot: &Operand, branch: &'f Branch) -> Result<Flow, Failure> {
        let outer = self.variables.len();
        let value = self.eval_pipeline(dot, &branch.pipe)?;
        let is_empty = match value.value() {
            None if matches!(value, Operand::Held(..)) => return self.error("range can't iterate over <nil>"),
            None => true,
            Some(number @ (Value::Int(..) | Value::Uint(..))) if !self.runtime.counts => {
                let shown = self.sprint(number)?;
                return self.error(format!("range can't iterate over {}", super::super::text::to_str(&shown)));
            }
            Some(Value::Int(ty, count)) => {
                if branch.pipe.variables.len() > 1 {
                    return self.error(format!("can't use {count} to iterate over more than one variable"));
                }
                for number in 0..*count {
                    if !self.one_iteration(branch, Operand::Invalid, Operand::Concrete(Value::Int(*ty, number)))? {
                        break;
                    }
                }
                *count <= 0
            }
            Some(Value::Uint(ty, count)) => {
                if branch.pipe.variables.len() > 1 {
                    return self.error(format!("can't use {count} to iterate over more than one variable"));
                }
                for number in 0..*count {
                    if !self.one_iteration(branch, Operand::Invalid, Operand::Concrete(Value::Uint(*ty, number)))? {
                        break;
                    }
                }
                *count == 0
            }
            Some(Value::List(list)) => {
                for (index, item) in list.iter().enumerate() {
                    let element = super::eval::element(list.ty().element, item.clone());
                    if !self.one_iteration(branch, index_of(index), element)? {
                        break;
                    }
                }
                list.is_empty()
            }
            Some(Value::Bytes(bytes)) => {
                for (index, byte) in bytes.iter().enumerate() {
                    if !self.one_iteration(branch, index_of(index), Operand::Concrete(Value::byte(*byte)))? {
                        break;
                    }
                }
                bytes.is_empty()
            }
            Some(Value::Map(map)) => {
                let entries = map.entries();
                for (key, item) in entries.iter() {
                    let element = super::eval::element(map.ty().element, item.clone());
                    if !self.one_iteration(branch, Operand::Concrete(Value::String(key.clone())), element)? {
                        break;
                    }
                }
                entries.is_empty()
            }
            Some(
                other @ (Value::Nil
                | Value::Bool(_)
                | Value::Float(_)
                | Value::String(_)
                | Value::Time(_)
                | Value::Struct(_)),
            ) => {
                let shown = self.sprint(other)?;
                return self.error(format!("range can't iterate over {}", super::super::text::to_str(&shown)));
            }
        };
        let mut flow = Flow::Next;
        if is_empty && let Some(otherwise) = &branch.otherwise {
            // Go's loop catches a `break` that is in its own `else`; `continue` is the outer loop's.
            flow = match self.walk_deeper(dot, otherwise)? {
                Flow::Break => Flow::Next,
                flow => flow,
            };
        }
        self.variables.truncate(outer);
        Ok(flow)
    }

    /// Go's `oneIteration`; false when a `break` ends the loop.
    fn one_iteration(&mut self, branch: &'f Branch, index: Operand, element: Operand) -> Result<bool, Failure> {
        let visible = self.variables.len();
        self.bind(&branch.pipe, index, &element)?;
        let flow = self.walk_deeper(&element, &branch.block)?;
        self.variables.truncate(visible);
        Ok(flow != Flow::Break)
    }

    /// Gives the loop's variables their values for one iteration.
    fn bind(&mut self, pipe: &'f Pipe, index: Operand, element: &Operand) -> Result<(), Failure> {
        let count = self.variables.len();
        match (pipe.variables.as_slice(), pipe.is_assignment) {
            ([], _) => {}
            ([only], true) => self.assign(&only.name, element.clone())?,
            ([first, second, ..], true) => {
                self.assign(&first.name, index)?;
                self.assign(&second.name, element.clone())?;
            }
            // Declared by the pipeline, so they are the innermost ones, in order.
            ([first, rest @ ..], false) => {
                let values = if rest.is_empty() { vec![element.clone()] } else { vec![index, element.clone()] };
                debug_assert!(self.variables.iter().any(|slot| slot.name == &*first.name));
                let start = count.saturating_sub(values.len());
                for (slot, value) in self.variables.iter_mut().skip(start).zip(values) {
                    slot.value = value;
                }
            }
        }
        Ok(())
    }

    fn walk_template(&mut self, dot: &Operand, at: u32, name: &str, pipe: Option<&'f Pipe>) -> Result<(), Failure> {
        let Some(tree) = self.set.get(name) else {
            return self.error(format!("template {} not defined", quote(name)));
        };
        let dot = match pipe {
            Some(pipe) => self.eval_pipeline(dot, pipe)?,
            None => Operand::Invalid,
        };
        self.sink()?;
        let open = self.runtime.trail.len();
        self.runtime.trail.push(&self.tree.source, at);
        Frame::new(self.runtime, self.set, tree, self.out, dot.clone()).run(&dot)?;
        self.runtime.trail.truncate(open);
        self.rise();
        Ok(())
    }

    pub(super) fn declare(&mut self, name: &'f str, value: Operand) {
        self.variables.push(Slot { name, value });
    }

    pub(super) fn assign(&mut self, name: &str, value: Operand) -> Result<(), Failure> {
        match self.variables.iter_mut().rev().find(|slot| slot.name == name) {
            Some(slot) => slot.value = value,
            None => return self.error(format!("undefined variable: {name}")),
        }
        Ok(())
    }
}

/// The index of an element, as the loop's variables have it.
fn index_of(index: usize) -> Operand {
    Operand::Concrete(Value::Int(IntType::Int, index as i64))
}
