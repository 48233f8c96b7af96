//! What template code names, read from its tree: what decides about a call, and where its values come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::node::{Block, Branch, Command, Node, Pipe, Term, Tree, Variable};
use super::set::Parsed;
use super::source::{Place, Source, Spot};

/// What a pipeline, or all of a definition, names, each in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Paths below `.Values`, with dots.
    pub values: Vec<String>,
    /// Constant texts.
    pub texts: Vec<String>,
    /// Variables, with their `$`.
    pub variables: Vec<Arc<str>>,
    /// Functions.
    pub functions: Vec<String>,
    /// The templates that it executes.
    pub templates: Vec<String>,
}

/// What surrounds a place of a template.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The pipeline at the place.
    pub action: Mentions,
    /// The conditions that led there, innermost first.
    pub conditions: Vec<Mentions>,
    /// What was assigned to variables before, the last assignment of each.
    pub variables: BTreeMap<Arc<str>, Mentions>,
}

impl Parsed {
    /// What surrounds a place of the text; `None` when nothing is there.
    pub fn surroundings(&self, place: &Place) -> Option<Surroundings> {
        self.trees().find_map(|tree| tree.surroundings(place))
    }

    /// The definitions of the text, its own included, by name.
    pub fn definitions(&self) -> impl Iterator<Item = (&str, Mentions)> {
        self.trees().map(|tree: &Tree| (&*tree.name, Mentions::of_block(&tree.root)))
    }
}

impl Tree {
    fn surroundings(&self, place: &Place) -> Option<Surroundings> {
        let offset = offset(&self.source, place)?;
        let mut search = Search { offset, conditions: Vec::new(), variables: BTreeMap::new() };
        let action = search.block(&self.root)?;
        let conditions = search.conditions.iter().rev().map(|pipe| Mentions::of(pipe)).collect();
        let variables = search.variables.into_iter().map(|(name, pipe)| (name, Mentions::of(pipe))).collect();
        Some(Surroundings { action: Mentions::of(action), conditions, variables })
    }
}

/// Where in a text a place is; `None` when the text has no such line.
fn offset(source: &Source, place: &Place) -> Option<u32> {
    let before = usize::try_from(place.line).ok()?.checked_sub(1)?;
    let lines: usize = source.text.split_inclusive(|byte| *byte == b'\n').take(before).map(<[u8]>::len).sum();
    u32::try_from(lines).ok()?.checked_add(place.column)
}

/// Looks for the pipeline at an offset, and takes down what leads there.
struct Search<'t> {
    offset: u32,
    conditions: Vec<&'t Pipe>,
    variables: BTreeMap<Arc<str>, &'t Pipe>,
}

impl<'t> Search<'t> {
    fn block(&mut self, block: &'t Block) -> Option<&'t Pipe> {
        block.nodes.iter().find_map(|node| self.node(node))
    }

    fn node(&mut self, node: &'t Node) -> Option<&'t Pipe> {
        match node {
            Node::Action { pipe, .. } => self.pipe(node, pipe),
            Node::Template { pipe, .. } => self.pipe(node, pipe.as_ref()?),
            Node::If(branch) | Node::With(branch) => self.branch(node, branch, true),
            Node::Range(branch) => self.branch(node, branch, false),
            Node::Text { .. } | Node::Break { .. } | Node::Continue { .. } => None,
        }
    }

    fn branch(&mut self, node: &Node, branch: &'t Branch, is_condition: bool) -> Option<&'t Pipe> {
        if let found @ Some(_) = self.pipe(node, &branch.pipe) {
            return found;
        }
        self.conditions.extend(is_condition.then_some(&branch.pipe));
        let inside = self.block(&branch.block);
        let found = inside.or_else(|| self.block(branch.otherwise.as_ref()?));
        if found.is_none() && is_condition {
            self.conditions.pop();
        }
        found
    }

    /// The pipeline of a node, when it is the one.
    fn pipe(&mut self, node: &Node, pipe: &'t Pipe) -> Option<&'t Pipe> {
        if node.at() == self.offset || has_spot(pipe, self.offset) {
            return Some(pipe);
        }
        self.variables.extend(pipe.variables.iter().map(|variable| (Arc::clone(&variable.name), pipe)));
        None
    }
}

/// Whether something in a pipeline is at an offset.
fn has_spot(pipe: &Pipe, offset: u32) -> bool {
    let is_there = |term: &Term| has_term(term, offset);
    let in_command =
        |command: &Command| command.at == offset || is_there(&command.head) || command.args.iter().any(is_there);
    pipe.at == offset || pipe.commands.iter().any(in_command)
}

fn has_term(term: &Term, offset: u32) -> bool {
    let is_inside = match term {
        Term::Chain { term, .. } => has_term(term, offset),
        Term::Pipe(pipe) => has_spot(pipe, offset),
        _ => false,
    };
    is_inside || term.at() == offset
}

impl Mentions {
    fn of(pipe: &Pipe) -> Self {
        let mut mentions = Self::default();
        mentions.pipe(pipe);
        mentions
    }

    fn of_block(block: &Block) -> Self {
        let mut mentions = Self::default();
        mentions.block(block);
        mentions
    }

    fn block(&mut self, block: &Block) {
        for node in &block.nodes {
            match node {
                Node::Action { pipe, .. } => self.pipe(pipe),
                Node::Template { name, pipe, .. } => {
                    self.templates.push(name.to_string());
                    pipe.iter().for_each(|pipe| self.pipe(pipe));
                }
                Node::If(branch) | Node::With(branch) | Node::Range(branch) => {
                    self.pipe(&branch.pipe);
                    self.block(&branch.block);
                    branch.otherwise.iter().for_each(|block| self.block(block));
                }
                Node::Text { .. } | Node::Break { .. } | Node::Continue { .. } => {}
            }
        }
    }

    fn pipe(&mut self, pipe: &Pipe) {
        for Command { head, args, .. } in &pipe.commands {
            if let (Term::Function { function, .. }, [Term::String { text, .. }, ..]) = (head, &args[..])
                && function.name() == "include"
            {
                self.templates.push(text.to_str().into_owned());
            }
            self.term(head);
            args.iter().for_each(|term| self.term(term));
        }
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::String { text, .. } => self.texts.push(text.to_str().into_owned()),
            Term::Function { function, .. } => self.functions.push(function.name().to_owned()),
            Term::Field { fields, .. } => self.fields(fields),
            Term::Variable(Variable { name, fields, .. }) => {
                self.variables.push(Arc::clone(name));
                self.fields(fields);
            }
            Term::Chain { term, fields, .. } => {
                self.term(term);
                self.fields(fields);
            }
            Term::Pipe(pipe) => self.pipe(pipe),
            Term::Bool { .. } | Term::Dot { .. } | Term::Nil { .. } | Term::Number(_) => {}
        }
    }

    /// What follows `Values`, wherever that is: templates get the object that has it under many names.
    fn fields(&mut self, fields: &[Arc<str>]) {
        let mut fields = fields.iter().skip_while(|field| &***field != "Values").skip(1).peekable();
        if fields.peek().is_some() {
            let path: Vec<&str> = fields.map(|field| &**field).collect();
            self.values.push(path.join("."));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Functions;
    use super::*;

    fn parsed(text: &str) -> Parsed {
        Parsed::new("t", text, &Functions::standard()).expect("parses")
    }

    fn surroundings(text: &str, needle: &str) -> Surroundings {
        let at = text.find(needle).expect("is in the text");
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = at - before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (u32::try_from(line).expect("small"), u32::try_from(column).expect("small"));
        parsed(text).surroundings(&Place { template: "t".into(), line, column }).expect("an action")
    }

    #[test]
    fn conditions_around_a_place() {
        let text = "{{- if .Values.a }}\n{{ with .Values.b }}{{/* }} */}}{{ \"}}\" }}{{ end }}\n{{- else if not .Values.c -}}\n\
                    {{ range .Values.d }}{{ $x := .Values.e }}{{ $x | default (randAlpha 5) }}{{ end }}\n{{ end }}";
        let found = surroundings(text, "randAlpha");
        assert_eq!(found.action.functions, ["default", "randAlpha"]);
        let conditions: Vec<&[String]> = found.conditions.iter().map(|one| &one.values[..]).collect();
        assert_eq!(conditions, [["c"], ["a"]]);
        assert_eq!(found.variables.get("$x").map(|one| &one.values[..]), Some(&["e".to_owned()][..]));
    }

    #[test]
    fn what_is_named() {
        let text = "{{ define \"a\" }}{{ if or $.Values.a.b (.ctx.Values.c) .Values }}{{ template \"x\" . | quote }}{{ end }}\
                    {{ template \"y\" (dict \"k\" (index .Values.d `e`).f) }}{{ end }}";
        let parsed = parsed(text);
        let (_, found) = parsed.definitions().find(|(name, _)| *name == "a").expect("it is there");
        assert_eq!(found.values, ["a.b", "c", "d"]);
        assert_eq!((found.templates, found.texts), (vec!["x".into(), "y".into()], ["k", "e"].map(Into::into).into()));
        assert_eq!(found.functions, ["or", "quote", "dict", "index"]);
        assert_eq!(found.variables, ["$".into()]);
    }
}
