//! Walks templates with shapes for values.

use std::sync::Arc;

use super::{OPEN_MAX, PARTS_MAX, Part, Reads, STEPS_MAX, Shape};
use crate::node::{Block, Branch, Command, Node, Pipe, Term};
use crate::set::Set;

/// One walk through the templates of a set.
pub(super) struct Walk<'w> {
    pub reads: &'w mut Reads,
    pub set: &'w Set,
    /// How many templates are open.
    pub open: usize,
}

/// What the dot is inside of a branch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    /// `if`: what it is around it.
    Around,
    /// `with`: the value.
    Value,
    /// `range`: each item of the value.
    Items,
}

/// The variables of a template, innermost last.
type Variables = Vec<(Arc<str>, Shape)>;

impl Walk<'_> {
    /// Walks a template, once for each shape of its data.
    pub(super) fn template(&mut self, name: &str, dot: &Shape) {
        let Some(tree) = self.set.get(name).map(Arc::clone) else { return self.whole(dot) };
        if self.open >= OPEN_MAX || !self.reads.walked.insert((Arc::clone(&tree.name), dot.clone())) {
            self.reads.is_given_up |= self.open >= OPEN_MAX;
            return;
        }
        self.open += 1;
        let mut variables = vec![("$".into(), dot.clone())];
        self.block(&tree.root, dot, &mut variables);
        self.open -= 1;
    }

    /// Walks all templates, since it is not known which one is meant.
    pub(super) fn any_template(&mut self, dot: &Shape) {
        for name in self.set.names() {
            self.template(&name, dot);
        }
    }

    fn block(&mut self, block: &Block, dot: &Shape, variables: &mut Variables) {
        let open = variables.len();
        for node in &block.nodes {
            self.reads.steps += 1;
            if self.reads.steps > STEPS_MAX {
                self.reads.is_given_up = true;
                return;
            }
            self.node(node, dot, variables);
        }
        variables.truncate(open);
    }

    fn node(&mut self, node: &Node, dot: &Shape, variables: &mut Variables) {
        match node {
            Node::Text { .. } | Node::Break { .. } | Node::Continue { .. } => {}
            Node::Action { pipe, .. } => {
                let shape = self.pipe(pipe, dot, variables);
                match pipe.variables.first() {
                    Some(_) => self.assign(pipe, &shape, variables),
                    None => self.whole(&shape),
                }
            }
            Node::If(branch) => self.branch(branch, Inside::Around, dot, variables),
            Node::With(branch) => self.branch(branch, Inside::Value, dot, variables),
            Node::Range(branch) => self.branch(branch, Inside::Items, dot, variables),
            Node::Template { name, pipe, .. } => {
                let shape = pipe.as_ref().map(|pipe| self.pipe(pipe, dot, variables)).unwrap_or_default();
                self.template(name, &shape);
            }
        }
    }

    fn branch(&mut self, branch: &Branch, inside: Inside, dot: &Shape, variables: &mut Variables) {
        let open = variables.len();
        let value = self.pipe(&branch.pipe, dot, variables);
        let value = if inside == Inside::Items { self.items(&value) } else { value };
        match branch.pipe.variables.as_slice() {
            [key, item] => {
                variables.push((Arc::clone(&key.name), Shape::new()));
                variables.push((Arc::clone(&item.name), value.clone()));
            }
            _ => self.assign(&branch.pipe, &value, variables),
        }
        let inner = if inside == Inside::Around { dot } else { &value };
        // What is assigned in one round is there in the next.
        for _ in 0..2 {
            self.block(&branch.block, inner, variables);
        }
        if let Some(otherwise) = &branch.otherwise {
            self.block(otherwise, dot, variables);
        }
        variables.truncate(open);
    }

    fn assign(&mut self, pipe: &Pipe, shape: &Shape, variables: &mut Variables) {
        for variable in &pipe.variables {
            let known = variables.iter_mut().rev().find(|(name, _)| *name == variable.name);
            match known.filter(|_| pipe.is_assignment) {
                // A branch that is not taken leaves what was there.
                Some((_, known)) => known.extend(shape.iter().cloned()),
                None => variables.push((Arc::clone(&variable.name), shape.clone())),
            }
        }
    }

    pub(super) fn pipe(&mut self, pipe: &Pipe, dot: &Shape, variables: &mut Variables) -> Shape {
        let mut last = None;
        for command in &pipe.commands {
            last = Some(self.command(command, last, dot, variables));
        }
        last.unwrap_or_default()
    }

    fn command(&mut self, command: &Command, last: Option<Shape>, dot: &Shape, variables: &mut Variables) -> Shape {
        let Term::Function { function, .. } = &command.head else {
            let shape = self.term(&command.head, dot, variables);
            for arg in &command.args {
                let arg = self.term(arg, dot, variables);
                self.whole(&arg);
            }
            if let Some(last) = last {
                self.whole(&last);
            }
            return shape;
        };
        let texts: Vec<Option<Arc<str>>> = command.args.iter().map(text).collect();
        let args: Vec<Shape> = command.args.iter().map(|arg| self.term(arg, dot, variables)).collect();
        let mut args: Vec<_> = args.into_iter().zip(texts).collect();
        args.extend(last.map(|last| (last, None)));
        self.call(function.name(), args)
    }

    fn term(&mut self, term: &Term, dot: &Shape, variables: &mut Variables) -> Shape {
        match term {
            Term::Bool { .. } | Term::Nil { .. } | Term::Number(_) | Term::String { .. } => Shape::new(),
            Term::Dot { .. } => dot.clone(),
            Term::Field { fields, .. } => self.fields(dot.clone(), fields),
            Term::Variable(variable) => {
                let known = variables.iter().rev().find(|(name, _)| *name == variable.name);
                let shape = known.map(|(_, shape)| shape.clone()).unwrap_or_default();
                self.fields(shape, &variable.fields)
            }
            Term::Function { function, .. } => self.call(function.name(), Vec::new()),
            Term::Chain { term, fields, .. } => {
                let shape = self.term(term, dot, variables);
                self.fields(shape, fields)
            }
            Term::Pipe(pipe) => self.pipe(pipe, dot, variables),
        }
    }

    fn fields(&mut self, shape: Shape, fields: &[Arc<str>]) -> Shape {
        fields.iter().fold(shape, |shape, field| self.field(&shape, field))
    }

    /// A field of a value.
    pub(super) fn field(&mut self, shape: &Shape, name: &str) -> Shape {
        let mut found = Shape::new();
        for part in shape {
            match part {
                Part::At(spot) => drop(found.insert(Part::At(self.reads.field(*spot, name)))),
                Part::Map(map) => found.extend(map.get(name).into_iter().flatten().cloned()),
                Part::List(_) => {}
            }
        }
        self.few(found)
    }

    /// The items of a list, or the values of a map.
    pub(super) fn items(&mut self, shape: &Shape) -> Shape {
        let mut found = Shape::new();
        for part in shape {
            match part {
                Part::At(spot) => drop(found.insert(Part::At(self.reads.items(*spot)))),
                Part::Map(map) => found.extend(map.values().flatten().cloned()),
                Part::List(items) => found.extend(items.iter().cloned()),
            }
        }
        self.few(found)
    }

    /// Notes that all of a value is read.
    pub(super) fn whole(&mut self, shape: &Shape) {
        for part in shape {
            match part {
                Part::At(spot) => self.reads.read_whole(*spot),
                Part::Map(map) => map.values().for_each(|shape| self.whole(shape)),
                Part::List(items) => self.whole(items),
            }
        }
    }

    /// The shape, unless a value may come from too many places: then all of them are read.
    pub(super) fn few(&mut self, shape: Shape) -> Shape {
        if shape.len() <= PARTS_MAX {
            return shape;
        }
        self.whole(&shape);
        Shape::new()
    }
}

/// The text of a constant.
fn text(term: &Term) -> Option<Arc<str>> {
    match term {
        Term::String { text, .. } => Some(text.to_str().as_ref().into()),
        Term::Pipe(pipe) => match pipe.commands.as_slice() {
            [command] if command.args.is_empty() && pipe.variables.is_empty() => self::text(&command.head),
            _ => None,
        },
        _ => None,
    }
}
