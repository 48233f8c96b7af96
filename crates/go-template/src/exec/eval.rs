//! Pipelines, commands and terms.

use std::sync::Arc;

use go_yaml::quote;

use super::super::call::MissingKey;
use super::super::error::Failure;
use super::super::function::Type;
use super::super::node::{Command, Number, Pipe, Term, Variable};
use super::super::operand::Operand;
use super::super::source::Spot;
use super::super::time;
use super::super::value::{Element, IntType, Methods, UintType, Value};
use super::Frame;

/// An element of a list or map: in an interface when the container's element type is one.
pub(super) fn element(of: Element, value: Value) -> Operand {
    if of == Element::Any { Operand::Interface(value) } else { Operand::Concrete(value) }
}

impl<'f> Frame<'f> {
    pub(super) fn eval_pipeline(&mut self, dot: &Operand, pipe: &'f Pipe) -> Result<Operand, Failure> {
        self.at = pipe;
        let mut value = None;
        for command in &pipe.commands {
            value = Some(self.eval_command(dot, command, value)?.settled());
        }
        let value = value.unwrap_or_default();
        for variable in &pipe.variables {
            if pipe.is_assignment {
                self.assign(&variable.name, value.clone())?;
            } else {
                self.declare(&variable.name, value.clone());
            }
        }
        Ok(value)
    }

    fn eval_command(&mut self, dot: &Operand, command: &'f Command, last: Option<Operand>) -> Result<Operand, Failure> {
        let args = command.args.as_slice();
        match &command.head {
            head @ Term::Field { fields, .. } => {
                self.at = head;
                self.eval_fields(dot, dot.clone(), head, fields, args, last)
            }
            Term::Chain { .. } => self.eval_chain(dot, &command.head, args, last),
            head @ Term::Function { function, .. } => {
                self.at = head;
                self.eval_call(dot, function, command, function.name(), None, args, last)
            }
            head @ Term::Pipe(pipe) => {
                self.refuse_arguments(head, args, &last)?;
                self.eval_parens(dot, pipe)
            }
            head @ Term::Variable(variable) => {
                self.at = head;
                self.eval_variable(dot, head, variable, args, last)
            }
            head
            @ (Term::Bool { .. } | Term::Dot { .. } | Term::Nil { .. } | Term::Number(_) | Term::String { .. }) => {
                self.at = head;
                self.refuse_arguments(head, args, &last)?;
                self.eval_constant(dot, head)
            }
        }
    }

    fn eval_parens(&mut self, dot: &Operand, pipe: &'f Pipe) -> Result<Operand, Failure> {
        self.sink()?;
        let value = self.eval_pipeline(dot, pipe)?;
        self.rise();
        Ok(value)
    }

    fn refuse_arguments(&self, head: &'f Term, args: &[Term], last: &Option<Operand>) -> Result<(), Failure> {
        if args.is_empty() && last.is_none() {
            return Ok(());
        }
        self.error(format!("can't give argument to non-function {}", head as &dyn Spot))
    }

    fn eval_constant(&mut self, dot: &Operand, term: &'f Term) -> Result<Operand, Failure> {
        Ok(match term {
            Term::Bool { value, .. } => Operand::Concrete(Value::Bool(*value)),
            Term::Dot { .. } => dot.clone(),
            Term::Number(number) => Operand::Concrete(self.ideal_number(number)?),
            Term::String { text, .. } => Operand::Concrete(Value::String(text.clone())),
            Term::Nil { .. }
            | Term::Field { .. }
            | Term::Variable(_)
            | Term::Function { .. }
            | Term::Chain { .. }
            | Term::Pipe(_) => return self.error(format!("{} is not a command", term as &dyn Spot)),
        })
    }

    /// A constant where no type is wanted: `float64` when it is written as one, else `int`.
    fn ideal_number(&self, number: &'f Number) -> Result<Value, Failure> {
        let text = number.text.as_bytes();
        let is_hex = matches!(text, [b'0', b'x' | b'X', _, ..]) && !text.iter().any(|byte| b"pP".contains(byte));
        let is_written_as_float = text.iter().any(|byte| b".eEpP".contains(byte)) && text.first() != Some(&b'\'');
        match (number.float, number.int) {
            (Some(float), _) if is_written_as_float && !is_hex => Ok(Value::Float(float)),
            (_, Some(int)) => Ok(Value::int(int)),
            _ => self.error(format!("{} overflows int", number.text)),
        }
    }

    fn eval_variable(
        &mut self,
        dot: &Operand,
        node: &'f Term,
        variable: &'f Variable,
        args: &'f [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Failure> {
        let Some(slot) = self.variables.iter().rev().find(|slot| slot.name == &*variable.name) else {
            return self.error(format!("undefined variable: {}", variable.name));
        };
        let value = slot.value.clone();
        if variable.fields.is_empty() {
            self.refuse_arguments(node, args, &last)?;
            return Ok(value);
        }
        self.eval_fields(dot, value, node, &variable.fields, args, last)
    }

    fn eval_chain(
        &mut self,
        dot: &Operand,
        node: &'f Term,
        args: &'f [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Failure> {
        self.at = node;
        let Term::Chain { term, fields, .. } = node else { return Ok(Operand::Invalid) };
        let receiver = self.eval_arg(dot, None, term)?;
        self.eval_fields(dot, receiver, node, fields, args, last)
    }

    /// `.a.b.c`: only the last one may be a method with arguments.
    fn eval_fields(
        &mut self,
        dot: &Operand,
        mut receiver: Operand,
        node: &'f Term,
        fields: &'f [Arc<str>],
        args: &'f [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Failure> {
        let Some((last_field, fields)) = fields.split_last() else { return Ok(receiver) };
        for field in fields {
            receiver = self.eval_field(dot, receiver, field, node, &[], None)?;
        }
        self.eval_field(dot, receiver, last_field, node, args, last)
    }

    fn eval_field(
        &mut self,
        dot: &Operand,
        receiver: Operand,
        name: &'f str,
        node: &'f Term,
        args: &'f [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Failure> {
        let type_name = receiver.type_name();
        let is_place = matches!(receiver, Operand::Place(_));
        let value = match receiver {
            Operand::Invalid if self.runtime.missing_key == MissingKey::Error => {
                return self.error(format!("nil data; no entry for key {}", quote(name)));
            }
            Operand::Invalid => return Ok(Operand::Invalid),
            Operand::Interface(Value::Nil) | Operand::Held(_, Value::Nil) => {
                return self.error(format!("nil pointer evaluating {type_name}.{name}"));
            }
            Operand::Interface(value) | Operand::Concrete(value) | Operand::Place(value) | Operand::Held(_, value) => {
                value
            }
        };
        if let Some(method) = methods(&value, is_place).get(name) {
            return self.eval_call(dot, method, node, name, Some(value), args, last);
        }
        let has_arguments = !args.is_empty() || last.is_some();
        match &value {
            Value::Struct(fields) => {
                let Some((field, found)) = fields.field(name) else {
                    return self.error(format!("can't evaluate field {name} in type {type_name}"));
                };
                if !field.is_exported() {
                    return self.error(format!("{name} is an unexported field of struct type {type_name}"));
                }
                if has_arguments {
                    return self.error(format!("{name} has arguments but cannot be invoked as function"));
                }
                let is_place = is_place || fields.ty().pointer.is_some();
                Ok(match (field.held, found) {
                    (Some(held), found) => Operand::Held(held, found),
                    (None, Value::Struct(inner)) if is_place && inner.ty().pointer.is_none() => {
                        Operand::Place(Value::Struct(inner))
                    }
                    (None, found) => Operand::from(found),
                })
            }
            Value::Map(map) => {
                if has_arguments {
                    return self.error(format!("{name} is not a method but has arguments"));
                }
                let of = map.ty().element;
                match (map.get(name.as_bytes()), self.runtime.missing_key) {
                    (Some(found), _) => Ok(element(of, found)),
                    (None, MissingKey::Zero) => Ok(element(of, of.zero())),
                    (None, MissingKey::Invalid) => Ok(Operand::Invalid),
                    (None, MissingKey::Error) => self.error(format!("map has no entry for key {}", quote(name))),
                }
            }
            Value::Nil
            | Value::Bool(_)
            | Value::Int(..)
            | Value::Uint(..)
            | Value::Float(_)
            | Value::String(_)
            | Value::Bytes(_)
            | Value::List(_)
            | Value::Time(_) => {
                if matches!((&value, name), (Value::Time(_), "wall" | "ext" | "loc")) {
                    return self.error(format!("{name} is an unexported field of struct type {type_name}"));
                }
                self.error(format!("can't evaluate field {name} in type {type_name}"))
            }
        }
    }

    /// A term as an argument of a type; without a type as the receiver of a field.
    pub(super) fn eval_arg(&mut self, dot: &Operand, ty: Option<Type>, term: &'f Term) -> Result<Operand, Failure> {
        self.at = term;
        let value = match term {
            Term::Dot { .. } => dot.clone(),
            Term::Nil { .. } => {
                let Some(ty) = ty else {
                    return self.error(format!("indirection through explicit nil in {}", term as &dyn Spot));
                };
                if !ty.can_be_nil() {
                    return self.error(format!("cannot assign nil to {}", ty.name()));
                }
                return Ok(Operand::Invalid);
            }
            Term::Field { fields, .. } => self.eval_fields(dot, dot.clone(), term, fields, &[], None)?,
            Term::Variable(variable) => self.eval_variable(dot, term, variable, &[], None)?,
            Term::Pipe(pipe) => self.eval_parens(dot, pipe)?,
            Term::Function { function, .. } => self.eval_call(dot, function, term, function.name(), None, &[], None)?,
            Term::Chain { .. } => self.eval_chain(dot, term, &[], None)?,
            Term::Bool { .. } | Term::Number(_) | Term::String { .. } => {
                return self.eval_typed_constant(dot, ty.unwrap_or(Type::Any), term);
            }
        };
        self.validate(value, ty)
    }

    fn eval_typed_constant(&mut self, dot: &Operand, ty: Type, term: &'f Term) -> Result<Operand, Failure> {
        let wanted = match (ty, term) {
            (Type::Any | Type::Reflect, _) => return self.eval_constant(dot, term),
            (Type::Bool, Term::Bool { value, .. }) => return Ok(Value::Bool(*value).into()),
            (Type::String, Term::String { text, .. }) => return Ok(Value::String(text.clone()).into()),
            (Type::Float64, Term::Number(Number { float: Some(float), .. })) => return Ok(Value::Float(*float).into()),
            (Type::Int | Type::Int64 | Type::Duration, Term::Number(Number { int: Some(int), .. })) => {
                let ty = match ty {
                    Type::Int => IntType::Int,
                    Type::Int64 => IntType::Int64,
                    _ => IntType::Duration,
                };
                return Ok(Value::Int(ty, *int).into());
            }
            (Type::Uint32, Term::Number(Number { int: Some(int), .. })) if *int >= 0 => {
                return Ok(Value::Uint(UintType::Uint32, *int as u64 & 0xffff_ffff).into());
            }
            (Type::Uint32, _) => "unsigned integer",
            (Type::Bool, _) => "bool",
            (Type::String, _) => "string",
            (Type::Float64, _) => "float",
            (Type::Int | Type::Int64 | Type::Duration, _) => "integer",
            (
                Type::Map
                | Type::List
                | Type::Bytes
                | Type::Time
                | Type::Location
                | Type::Certificate
                | Type::Semver
                | Type::Writer,
                _,
            ) => {
                return self.error(format!("can't handle {} for arg of type {}", term as &dyn Spot, ty.name()));
            }
        };
        self.error(format!("expected {wanted}; found {}", term as &dyn Spot))
    }

    /// Whether a value may be passed where a type is wanted; nil becomes nothing.
    pub(super) fn validate(&self, operand: Operand, ty: Option<Type>) -> Result<Operand, Failure> {
        let Some(ty) = ty else { return Ok(operand) };
        match &operand {
            Operand::Invalid if ty.can_be_nil() => Ok(operand),
            Operand::Invalid => self.error(format!("invalid value; expected {}", ty.name())),
            Operand::Interface(Value::Nil) if !matches!(ty, Type::Any | Type::Reflect) => {
                self.error(format!("wrong type for value; expected {}; got interface {{}}", ty.name()))
            }
            Operand::Held(held, Value::Nil) if !matches!(ty, Type::Any | Type::Reflect) => {
                self.error(format!("wrong type for value; expected {}; got {}", ty.name(), held.name()))
            }
            Operand::Interface(value) | Operand::Concrete(value) | Operand::Place(value) | Operand::Held(_, value) => {
                if ty.accepts(value) {
                    return Ok(operand);
                }
                self.error(format!("wrong type for value; expected {}; got {}", ty.name(), value.type_name()))
            }
        }
    }
}

/// The methods that a value has where it is.
fn methods(value: &Value, is_place: bool) -> Methods {
    match value {
        Value::List(list) => list.ty().methods,
        Value::Map(map) => map.ty().methods,
        Value::Struct(fields) if fields.ty().has_pointer_methods && fields.ty().pointer.is_none() && !is_place => {
            Methods::NONE
        }
        Value::Struct(fields) => fields.ty().methods,
        Value::Time(_) => time::TIME_METHODS,
        Value::Int(IntType::Duration, _) => time::DURATION_METHODS,
        Value::Int(IntType::Month | IntType::Weekday, _) => time::NAME_METHODS,
        Value::Nil
        | Value::Bool(_)
        | Value::Int(..)
        | Value::Uint(..)
        | Value::Float(_)
        | Value::String(_)
        | Value::Bytes(_) => Methods::NONE,
    }
}
