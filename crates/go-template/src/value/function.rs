//! Functions that templates call: a Rust function's signature is its Go signature.
//!
//! `fn trunc(length: Int, text: Text) -> Text` is Go's `func(int, string) string`: arguments are counted and their
//! types checked against it before it runs, with Go's messages. A first parameter `&mut Call` is the engine, not an argument.

mod signature;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::vec::IntoIter;

use super::operand::Operand;
use super::{Element, IntType, UintType, Value};
use crate::call::Call;
use crate::error::Failure;
use crate::expense::Expense;

pub(crate) use signature::{Handler, Int, Param, Signature, Uint32};
pub use signature::{NoWriter, Rest};

/// Go's static type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`: anything, nil too.
    Any,
    /// `reflect.Value`: anything, and nothing at all.
    Reflect,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `uint32`
    Uint32,
    /// `float64`
    Float64,
    /// `string`
    String,
    /// `map[string]interface {}`, nil too.
    Map,
    /// `[]interface {}`, nil too.
    List,
    /// `[]uint8`, nil too.
    Bytes,
    /// `time.Duration`
    Duration,
    /// `time.Time`
    Time,
    /// `*time.Location`, nil too.
    Location,
    /// `sprig.certificate`
    Certificate,
    /// `*semver.Version`, nil too; as a receiver the struct itself too.
    Semver,
    /// `io.Writer`, nil too, and nothing else, because no value of a template is one.
    Writer,
}

impl Type {
    /// As Go prints it.
    pub fn name(self) -> &'static str {
        match self {
            Type::Any => "interface {}",
            Type::Reflect => "reflect.Value",
            Type::Bool => "bool",
            Type::Int => "int",
            Type::Int64 => "int64",
            Type::Uint32 => "uint32",
            Type::Float64 => "float64",
            Type::String => "string",
            Type::Map => "map[string]interface {}",
            Type::List => "[]interface {}",
            Type::Bytes => "[]uint8",
            Type::Duration => "time.Duration",
            Type::Time => "time.Time",
            Type::Location => "*time.Location",
            Type::Certificate => "sprig.certificate",
            Type::Semver => "*semver.Version",
            Type::Writer => "io.Writer",
        }
    }

    /// Whether nil, and nothing at all, may be passed.
    pub fn can_be_nil(self) -> bool {
        match self {
            Type::Any
            | Type::Reflect
            | Type::Map
            | Type::List
            | Type::Bytes
            | Type::Location
            | Type::Semver
            | Type::Writer => true,
            Type::Bool
            | Type::Int
            | Type::Int64
            | Type::Uint32
            | Type::Float64
            | Type::String
            | Type::Duration
            | Type::Time
            | Type::Certificate => false,
        }
    }

    /// Whether a value may be passed as it is.
    pub fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Type::Any | Type::Reflect, _) => true,
            (Type::Bool, Value::Bool(_)) => true,
            (Type::Int, Value::Int(IntType::Int, _)) => true,
            (Type::Int64, Value::Int(IntType::Int64, _)) => true,
            (Type::Duration, Value::Int(IntType::Duration, _)) => true,
            (Type::Uint32, Value::Uint(UintType::Uint32, _)) => true,
            (Type::Float64, Value::Float(_)) => true,
            (Type::String, Value::String(_)) => true,
            (Type::Map, Value::Map(map)) => map.ty().element == Element::Any,
            (Type::List, Value::List(list)) => list.ty().element == Element::Any,
            (Type::Time, Value::Time(_)) => true,
            (Type::Bytes, Value::Bytes(_)) => true,
            (Type::Certificate | Type::Location | Type::Semver, Value::Struct(value)) => {
                value.type_name() == self.name()
            }
            _ => false,
        }
    }
}

/// What runs when a function is called: arguments that fit the signature in, a result or a failure out.
pub(crate) type Run = dyn Fn(&mut Call<'_>, IntoIter<Operand>) -> Result<Operand, Failure> + Send + Sync;

/// A function with its signature.
#[derive(Clone)]
pub struct Function {
    name: &'static str,
    params: Vec<Type>,
    variadic: Option<Type>,
    form: Form,
    expense: Option<Expense>,
    run: Arc<Run>,
}

/// How a call is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All arguments, then the function.
    Plain,
    /// `and`: no further than the first that is false.
    And,
    /// `or`: no further than the first that is true.
    Or,
    /// `call`: the first argument's text is part of the message.
    Call,
    /// A method with results that templates can't take: arguments are counted, then it fails with this.
    Uncallable(&'static str),
}

impl Function {
    /// A Rust function under the name that templates call it by.
    pub fn new<M>(name: &'static str, function: impl Handler<M>) -> Self {
        let Signature { params, variadic, run } = function.signature();
        Self { name, params, variadic, form: Form::Plain, expense: Expense::of(name), run }
    }

    /// A method of Go that templates reach and can't call, by a function that has its parameters; `why` is Go's message.
    pub fn uncallable<M>(name: &'static str, function: impl Handler<M>, why: &'static str) -> Self {
        Self::new(name, function).with_form(Form::Uncallable(why))
    }

    pub fn with_form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The types of the fixed parameters.
    pub fn params(&self) -> &[Type] {
        &self.params
    }

    /// The type of each argument behind the fixed ones, when any number of them is taken.
    pub fn variadic(&self) -> Option<Type> {
        self.variadic
    }

    /// What a call costs by the size of its arguments; `None` when it looks into none of them.
    pub(crate) fn expense(&self) -> Option<Expense> {
        self.expense
    }

    pub fn form(&self) -> Form {
        self.form
    }

    pub fn run(&self, call: &mut Call<'_>, args: Vec<Operand>) -> Result<Operand, Failure> {
        (self.run)(call, args.into_iter())
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:?}{:?}", self.name, self.params, self.variadic)
    }
}

/// The functions that a template set knows, by name. Later ones replace earlier ones of the same name.
#[derive(Debug, Clone, Default)]
pub struct Functions(BTreeMap<&'static str, Arc<Function>>);

impl Functions {
    /// None at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a Rust function under a name.
    pub fn add<M>(&mut self, name: &'static str, function: impl Handler<M>) -> &mut Self {
        self.insert(Function::new(name, function))
    }

    /// Adds a function.
    pub fn insert(&mut self, function: Function) -> &mut Self {
        self.0.insert(function.name, Arc::new(function));
        self
    }

    /// Takes a function away.
    pub fn remove(&mut self, name: &str) -> &mut Self {
        self.0.remove(name);
        self
    }

    /// The function `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<Function>> {
        self.0.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }
}
