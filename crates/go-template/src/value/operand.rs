//! What a term or a pipeline evaluates to: Go's `reflect.Value`.

use super::Value;

/// A value on its way through a pipeline.
///
/// Go tells "nothing at all" from "a nil interface in a map or list", and a value that is still in its interface from
/// one that was taken out: messages, printing and `len` differ.
#[derive(Debug, Clone, Default)]
pub enum Operand {
    /// Nothing: the zero `reflect.Value`. What a pipeline makes of nil, prints as `<no value>`.
    #[default]
    Invalid,
    /// A value in an `interface {}`, nil or not: an element of a map or list.
    Interface(Value),
    /// A value itself; never nil.
    Concrete(Value),
    /// A struct that is a field of something held by a pointer, so that methods of its pointer type apply to it.
    Place(Value),
    /// A value in an interface that has a name, nil or not: what some methods return.
    Held(Held, Value),
}

/// The interfaces with a name that methods return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// `error`, whose nil prints as `<nil>`, and is not a missing value.
    Error,
    /// `driver.Value`, which has no methods, so that the next stage of a pipeline takes the value out.
    DriverValue,
}

impl Held {
    /// As messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Held::Error => "error",
            Held::DriverValue => "driver.Value",
        }
    }
}

impl Operand {
    /// As an `interface{}`: nothing becomes nil.
    pub fn into_value(self) -> Value {
        match self {
            Operand::Invalid => Value::Nil,
            Operand::Interface(value) | Operand::Concrete(value) | Operand::Place(value) | Operand::Held(_, value) => {
                value
            }
        }
    }

    /// The value, unless there is nothing or nil.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Operand::Invalid => None,
            Operand::Interface(value) | Operand::Concrete(value) | Operand::Place(value) | Operand::Held(_, value) => {
                (!matches!(value, Value::Nil)).then_some(value)
            }
        }
    }

    /// Taken out of its interface, as at the end of each stage of a pipeline: nil becomes nothing.
    pub fn settled(self) -> Self {
        match self {
            Operand::Interface(Value::Nil) | Operand::Held(Held::DriverValue, Value::Nil) => Operand::Invalid,
            Operand::Interface(value) | Operand::Held(Held::DriverValue, value) => Operand::Concrete(value),
            other => other,
        }
    }

    /// The name of the static type, as messages have it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Operand::Invalid | Operand::Interface(_) => "interface {}",
            Operand::Concrete(value) | Operand::Place(value) => value.type_name(),
            Operand::Held(held, _) => held.name(),
        }
    }

    /// What `if` makes of it.
    pub fn is_true(&self) -> bool {
        self.value().is_some_and(Value::is_true)
    }
}

/// A nil stays in its interface, everything else is taken out.
impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        match value {
            Value::Nil => Operand::Interface(Value::Nil),
            value => Operand::Concrete(value),
        }
    }
}
