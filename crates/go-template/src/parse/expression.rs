//! Pipelines, commands and operands.

use std::sync::Arc;

use go_std::strconv::{quote_bytes, unquote};

use super::super::error::ParseError;
use super::super::lex::{Keyword, Kind};
use super::super::node::{Command, Number, Pipe, Term, Variable};
use super::super::number;
use super::super::source::Spot;
use super::super::text::{Text, to_str};
use super::{Context, DEPTH_MAX, Parser};

impl Parser<'_, '_> {
    pub(super) fn pipeline(&mut self, context: Context) -> Result<Pipe, ParseError> {
        let at = self.peek_non_space().at;
        let mut pipe = Pipe { at, is_assignment: false, variables: Vec::new(), commands: Vec::new() };
        self.declarations(context, &mut pipe)?;
        let end = if context == Context::Parens { Kind::RightParen } else { Kind::RightDelim };
        loop {
            let item = self.next_non_space();
            match item.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen
                | Kind::Keyword(Keyword::Dot | Keyword::Nil) => {
                    self.backup();
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => return self.unexpected(&item, context.name()),
            }
        }
        if pipe.commands.is_empty() {
            return self.error(format!("missing value for {}", context.name()));
        }
        for (index, command) in pipe.commands.iter().enumerate().skip(1) {
            let is_constant = matches!(
                command.head,
                Term::Bool { .. } | Term::Dot { .. } | Term::Nil { .. } | Term::Number(_) | Term::String { .. }
            );
            if is_constant {
                return self.error(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(pipe)
    }

    /// `$x :=`, `$x =`, or for `range` also `$i, $x :=`. A variable that is none of these is put back.
    pub(super) fn declarations(&mut self, context: Context, pipe: &mut Pipe) -> Result<(), ParseError> {
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            // The blank behind the variable must survive when it is put back: it separates arguments.
            let behind = self.peek();
            let next = self.peek_non_space();
            let is_comma = next.kind == Kind::Char && next.text == b",";
            if !matches!(next.kind, Kind::Assign | Kind::Declare) && !is_comma {
                if behind.kind == Kind::Space {
                    self.items[1] = behind;
                    self.items[2] = variable;
                    self.put_back = 3;
                } else {
                    self.items[1] = variable;
                    self.put_back = 2;
                }
                return Ok(());
            }
            self.next_non_space();
            let declared = self.variable(variable.at, variable.text);
            self.variables.push(to_str(variable.text).into());
            pipe.variables.push(declared);
            if !is_comma {
                pipe.is_assignment = next.kind == Kind::Assign;
                return Ok(());
            }
            if context != Context::Range || pipe.variables.len() >= 2 {
                return self.error(format!("too many declarations in {}", context.name()));
            }
            if !matches!(self.peek_non_space().kind, Kind::Variable | Kind::RightDelim | Kind::RightParen) {
                return self.error("range can only initialize variables");
            }
        }
    }

    pub(super) fn command(&mut self) -> Result<Command, ParseError> {
        let at = self.peek_non_space().at;
        let mut terms = Vec::new();
        loop {
            self.peek_non_space();
            if let Some(term) = self.operand()? {
                terms.push(term);
            }
            let item = self.next();
            match item.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(&item, "operand"),
            }
            break;
        }
        let mut terms = terms.into_iter();
        match terms.next() {
            Some(head) => Ok(Command { at, head, args: terms.collect() }),
            None => self.error("empty command"),
        }
    }

    /// A term with the fields that follow it.
    pub(super) fn operand(&mut self) -> Result<Option<Term>, ParseError> {
        let Some(term) = self.term()? else { return Ok(None) };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(term));
        }
        let at = first.at;
        let mut fields = Vec::new();
        while self.peek_kind() == Kind::Field {
            fields.push(field_name(self.next().text));
        }
        match term {
            Term::Field { fields: before, .. } => {
                Ok(Some(Term::Field { at, fields: before.into_iter().chain(fields).collect() }))
            }
            Term::Variable(mut variable) => {
                variable.at = at;
                variable.fields.extend(fields);
                Ok(Some(Term::Variable(variable)))
            }
            Term::Bool { .. } | Term::String { .. } | Term::Number(_) | Term::Nil { .. } | Term::Dot { .. } => {
                let term = (&term as &dyn Spot).to_string();
                self.error(format!("unexpected . after term {}", go_yaml::quote(&term)))
            }
            Term::Function { .. } | Term::Chain { .. } | Term::Pipe(_) => {
                Ok(Some(Term::Chain { at, term: Box::new(term), fields }))
            }
        }
    }

    pub(super) fn term(&mut self) -> Result<Option<Term>, ParseError> {
        let item = self.next_non_space();
        let at = item.at;
        Ok(Some(match item.kind {
            Kind::Identifier => match self.shared.functions.get(&to_str(item.text)) {
                Some(function) => Term::Function { at, function: Arc::clone(function) },
                None => {
                    let name = to_str(&quote_bytes(item.text)).into_owned();
                    return self.error(format!("function {name} not defined"));
                }
            },
            Kind::Keyword(Keyword::Dot) => Term::Dot { at },
            Kind::Keyword(Keyword::Nil) => Term::Nil { at },
            Kind::Variable => {
                let variable = self.variable(at, item.text);
                if !self.variables.contains(&variable.name) {
                    let name = go_yaml::quote(&variable.name);
                    return self.error(format!("undefined variable {name}"));
                }
                Term::Variable(variable)
            }
            Kind::Field => Term::Field { at, fields: vec![field_name(item.text)] },
            Kind::Bool => Term::Bool { at, value: item.text == b"true" },
            Kind::CharConstant | Kind::Complex | Kind::Number => match number::constant(item.kind, item.text) {
                Ok(number) => Term::Number(Number { at, text: to_str(item.text).into(), ..number }),
                Err(message) => return self.error(message),
            },
            Kind::LeftParen => {
                if self.parens >= DEPTH_MAX {
                    return self.error("max expression depth exceeded");
                }
                self.parens += 1;
                let pipe = self.pipeline(Context::Parens)?;
                self.parens -= 1;
                Term::Pipe(Box::new(pipe))
            }
            Kind::String | Kind::RawString => match unquote(item.text) {
                Some(text) => Term::String { at, quoted: Text::from(item.text), text: Text::from(text) },
                None => return self.error("invalid syntax"),
            },
            _ => {
                self.backup();
                return Ok(None);
            }
        }))
    }

    pub(super) fn variable(&self, at: u32, name: &[u8]) -> Variable {
        Variable { at, name: to_str(name).into(), fields: Vec::new() }
    }
}

pub(super) fn field_name(text: &[u8]) -> Arc<str> {
    to_str(text.strip_prefix(b".").unwrap_or(text)).into()
}
