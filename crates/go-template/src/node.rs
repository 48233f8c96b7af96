//! The parsed template, with positions, and how Go prints its nodes in messages.

use std::fmt;
use std::sync::Arc;

use super::function::Function;
use super::source::{Source, Spot};
use super::text::Text;

/// One template: a whole text, or a definition in it.
#[derive(Debug)]
pub(super) struct Tree {
    pub name: Arc<str>,
    pub source: Arc<Source>,
    pub root: Block,
}

/// What is between two control actions.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub at: u32,
    pub nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Node {
    Text { at: u32, text: Text },
    Action { at: u32, pipe: Pipe },
    If(Branch),
    With(Branch),
    Range(Branch),
    Template { at: u32, name: Arc<str>, pipe: Option<Pipe> },
    Break { at: u32 },
    Continue { at: u32 },
}

/// `if`, `with` or `range`.
#[derive(Debug)]
pub(super) struct Branch {
    pub at: u32,
    pub pipe: Pipe,
    pub block: Block,
    pub otherwise: Option<Block>,
}

/// Commands that feed each other, and the variables that take the result.
#[derive(Debug)]
pub(super) struct Pipe {
    pub at: u32,
    pub is_assignment: bool,
    pub variables: Vec<Variable>,
    pub commands: Vec<Command>,
}

/// A function, method or value with its arguments.
#[derive(Debug)]
pub(super) struct Command {
    pub at: u32,
    pub head: Term,
    pub args: Vec<Term>,
}

/// `$name.field.field`
#[derive(Debug)]
pub(super) struct Variable {
    pub at: u32,
    /// With its `$`.
    pub name: Arc<str>,
    pub fields: Vec<Arc<str>>,
}

#[derive(Debug)]
pub(super) enum Term {
    Bool { at: u32, value: bool },
    Dot { at: u32 },
    Nil { at: u32 },
    Number(Number),
    String { at: u32, quoted: Text, text: Text },
    Field { at: u32, fields: Vec<Arc<str>> },
    Variable(Variable),
    Function { at: u32, function: Arc<Function> },
    Chain { at: u32, term: Box<Term>, fields: Vec<Arc<str>> },
    Pipe(Box<Pipe>),
}

/// A constant, as every kind of number that can represent it exactly.
#[derive(Debug, Clone)]
pub(super) struct Number {
    pub at: u32,
    pub text: Arc<str>,
    pub int: Option<i64>,
    pub float: Option<f64>,
}

impl Block {
    /// Whether nothing but blanks is here (comments are gone already): such a definition never replaces another.
    pub(super) fn is_blank(&self) -> bool {
        self.nodes.iter().all(Node::is_blank)
    }
}

impl Node {
    fn is_blank(&self) -> bool {
        match self {
            Node::Text { text, .. } => super::text::to_str(text).trim().is_empty(),
            Node::Action { .. }
            | Node::If(_)
            | Node::With(_)
            | Node::Range(_)
            | Node::Template { .. }
            | Node::Break { .. }
            | Node::Continue { .. } => false,
        }
    }
}

impl Spot for Block {
    fn at(&self) -> u32 {
        self.at
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.nodes.iter().try_for_each(|node| node.write(f))
    }
}

impl Spot for Node {
    fn at(&self) -> u32 {
        match self {
            Node::Text { at, .. }
            | Node::Action { at, .. }
            | Node::Template { at, .. }
            | Node::Break { at }
            | Node::Continue { at } => *at,
            Node::If(branch) | Node::With(branch) | Node::Range(branch) => branch.at,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Text { text, .. } => f.write_str(&text.to_str()),
            Node::Action { pipe, .. } => {
                f.write_str("{{")?;
                pipe.write(f)?;
                f.write_str("}}")
            }
            Node::If(branch) => branch.write("if", f),
            Node::With(branch) => branch.write("with", f),
            Node::Range(branch) => branch.write("range", f),
            Node::Template { name, pipe, .. } => {
                write!(f, "{{{{template {}", go_yaml::quote(name))?;
                if let Some(pipe) = pipe {
                    f.write_str(" ")?;
                    pipe.write(f)?;
                }
                f.write_str("}}")
            }
            Node::Break { .. } => f.write_str("{{break}}"),
            Node::Continue { .. } => f.write_str("{{continue}}"),
        }
    }
}

impl Branch {
    fn write(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{{name} ")?;
        self.pipe.write(f)?;
        f.write_str("}}")?;
        self.block.write(f)?;
        if let Some(otherwise) = &self.otherwise {
            f.write_str("{{else}}")?;
            otherwise.write(f)?;
        }
        f.write_str("{{end}}")
    }
}

impl Spot for Pipe {
    fn at(&self) -> u32 {
        self.at
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, variable) in self.variables.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            variable.write(f)?;
        }
        if !self.variables.is_empty() {
            f.write_str(if self.is_assignment { " = " } else { " := " })?;
        }
        for (index, command) in self.commands.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            command.write(f)?;
        }
        Ok(())
    }
}

impl Spot for Command {
    fn at(&self) -> u32 {
        self.at
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.head.write_grouped(f)?;
        for arg in &self.args {
            f.write_str(" ")?;
            arg.write_grouped(f)?;
        }
        Ok(())
    }
}

impl Spot for Variable {
    fn at(&self) -> u32 {
        self.at
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        write_fields(&self.fields, f)
    }
}

impl Spot for Term {
    fn at(&self) -> u32 {
        match self {
            Term::Bool { at, .. }
            | Term::Dot { at }
            | Term::Nil { at }
            | Term::String { at, .. }
            | Term::Field { at, .. }
            | Term::Function { at, .. }
            | Term::Chain { at, .. } => *at,
            Term::Number(number) => number.at,
            Term::Variable(variable) => variable.at,
            Term::Pipe(pipe) => pipe.at,
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Bool { value, .. } => write!(f, "{value}"),
            Term::Dot { .. } => f.write_str("."),
            Term::Nil { .. } => f.write_str("nil"),
            Term::Number(number) => f.write_str(&number.text),
            Term::String { quoted, .. } => f.write_str(&quoted.to_str()),
            Term::Field { fields, .. } => write_fields(fields, f),
            Term::Variable(variable) => variable.write(f),
            Term::Function { function, .. } => f.write_str(function.name()),
            Term::Chain { term, fields, .. } => {
                term.write_grouped(f)?;
                write_fields(fields, f)
            }
            Term::Pipe(pipe) => pipe.write(f),
        }
    }
}

impl Term {
    /// A pipeline in its parentheses.
    fn write_grouped(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !matches!(self, Term::Pipe(_)) {
            return self.write(f);
        }
        f.write_str("(")?;
        self.write(f)?;
        f.write_str(")")
    }
}

fn write_fields(fields: &[Arc<str>], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    fields.iter().try_for_each(|field| write!(f, ".{field}"))
}
