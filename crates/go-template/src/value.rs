//! What template code computes with: Go's values, with Go's kinds and type names.

pub(super) mod function;
pub(super) mod list;
pub(super) mod map;
pub(super) mod operand;
pub(super) mod structure;

use std::rc::Rc;
use std::sync::Arc;

use go_std::slices::Layout;

use super::text::Text;
use super::time::Time;
use function::{Function, Functions};
use list::{List, ListType};
use map::{Map, MapType};
use structure::Struct;

/// A Go value held in an `interface{}`.
///
/// Cloning is cheap and shares: a [`Map`] is the same map through every clone, as in Go. Values belong to one
/// thread; compiled templates, which are shared between threads, hold only [`Text`] and numbers.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// The nil interface. Nil maps and nil lists are a [`Map`] and a [`List`], because they have a type.
    #[default]
    Nil,
    /// `bool`
    Bool(bool),
    /// A signed integer of any type.
    Int(IntType, i64),
    /// An unsigned integer of any type.
    Uint(UintType, u64),
    /// `float64`
    Float(f64),
    /// `string`
    String(Text),
    /// `[]uint8`
    Bytes(Arc<[u8]>),
    /// A slice.
    List(List),
    /// A map with string keys.
    Map(Map),
    /// `time.Time`
    Time(Rc<Time>),
    /// A struct or a pointer to one.
    Struct(Rc<Struct>),
}

/// The signed integer types that template code can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntType {
    /// `int`
    Int,
    /// `int64`
    Int64,
    /// `time.Duration`, in nanoseconds; prints as `1h0m0s`.
    Duration,
    /// `time.Month`; prints as `January`.
    Month,
    /// `time.Weekday`; prints as `Sunday`.
    Weekday,
}

/// The unsigned integer types that template code can meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UintType {
    /// `uint8`, an element of `[]uint8` or of a string
    Uint8,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
}

/// Go's `reflect.Kind`: what a value is below the name of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Invalid,
    Bool,
    Int,
    Int64,
    Uint8,
    Uint32,
    Uint64,
    Float64,
    String,
    Slice,
    Map,
    Struct,
    Pointer,
}

impl Kind {
    /// As `kindOf` prints it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invalid => "invalid",
            Kind::Bool => "bool",
            Kind::Int => "int",
            Kind::Int64 => "int64",
            Kind::Uint8 => "uint8",
            Kind::Uint32 => "uint32",
            Kind::Uint64 => "uint64",
            Kind::Float64 => "float64",
            Kind::String => "string",
            Kind::Slice => "slice",
            Kind::Map => "map",
            Kind::Struct => "struct",
            Kind::Pointer => "ptr",
        }
    }
}

/// The type of the elements of a map or a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// `interface {}`
    Any,
    /// `string`
    String,
    /// `int`
    Int,
    /// `[]uint8`
    Bytes,
    /// `[]interface {}`
    List,
    /// `map[string]interface {}`
    Map,
}

impl Element {
    /// What Go's allocator sees of it.
    pub fn layout(self) -> Layout {
        match self {
            Element::Any | Element::String => Layout::PAIR,
            Element::Int => Layout::INT,
            Element::Bytes | Element::List => Layout::SLICE,
            Element::Map => Layout::MAP,
        }
    }

    /// The zero value: what a key that is not there gives.
    pub fn zero(self) -> Value {
        match self {
            Element::Any => Value::Nil,
            Element::String => Value::from(""),
            Element::Int => Value::int(0),
            Element::Bytes => Value::Bytes([][..].into()),
            Element::List => Value::List(List::nil(&ListType::ANY)),
            Element::Map => Value::Map(Map::nil(&MapType::ANY)),
        }
    }
}

/// The methods of a type: functions whose first parameter is the receiver.
///
/// A pointer to the place where the table is, so that types can be constants.
#[derive(Debug, Clone, Copy)]
pub struct Methods(Option<fn() -> &'static Functions>);

impl Methods {
    /// No methods.
    pub const NONE: Methods = Methods(None);

    /// The methods in a table, usually a `LazyLock` in the function.
    pub const fn of(table: fn() -> &'static Functions) -> Self {
        Self(Some(table))
    }

    /// The method `name`.
    pub fn get(self, name: &str) -> Option<&'static Arc<Function>> {
        self.0?().get(name)
    }
}

impl IntType {
    /// As `typeOf` prints it.
    pub fn name(self) -> &'static str {
        match self {
            IntType::Int => "int",
            IntType::Int64 => "int64",
            IntType::Duration => "time.Duration",
            IntType::Month => "time.Month",
            IntType::Weekday => "time.Weekday",
        }
    }

    /// The kind below the name.
    pub fn kind(self) -> Kind {
        match self {
            IntType::Int | IntType::Month | IntType::Weekday => Kind::Int,
            IntType::Int64 | IntType::Duration => Kind::Int64,
        }
    }
}

impl UintType {
    /// As `typeOf` prints it.
    pub fn name(self) -> &'static str {
        match self {
            UintType::Uint8 => "uint8",
            UintType::Uint32 => "uint32",
            UintType::Uint64 => "uint64",
        }
    }

    /// The kind below the name.
    pub fn kind(self) -> Kind {
        match self {
            UintType::Uint8 => Kind::Uint8,
            UintType::Uint32 => Kind::Uint32,
            UintType::Uint64 => Kind::Uint64,
        }
    }
}

impl Value {
    /// An `int`.
    pub fn int(value: i64) -> Self {
        Value::Int(IntType::Int, value)
    }

    /// An `int64`.
    pub fn int64(value: i64) -> Self {
        Value::Int(IntType::Int64, value)
    }

    /// A `uint8`: an element of a string or of bytes.
    pub fn byte(value: u8) -> Self {
        Value::Uint(UintType::Uint8, value.into())
    }

    /// The kind, as `kindOf` names it.
    pub fn kind(&self) -> Kind {
        match self {
            Value::Nil => Kind::Invalid,
            Value::Bool(_) => Kind::Bool,
            Value::Int(ty, _) => ty.kind(),
            Value::Uint(ty, _) => ty.kind(),
            Value::Float(_) => Kind::Float64,
            Value::String(_) => Kind::String,
            Value::Bytes(_) | Value::List(_) => Kind::Slice,
            Value::Map(_) => Kind::Map,
            Value::Time(_) => Kind::Struct,
            Value::Struct(value) => value.kind(),
        }
    }

    /// The name of the type, as `typeOf` prints it; `<nil>` for nil.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Nil => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(ty, _) => ty.name(),
            Value::Uint(ty, _) => ty.name(),
            Value::Float(_) => "float64",
            Value::String(_) => "string",
            Value::Bytes(_) => "[]uint8",
            Value::List(list) => list.ty().name,
            Value::Map(map) => map.ty().name,
            Value::Time(_) => "time.Time",
            Value::Struct(value) => value.type_name(),
        }
    }

    /// The zero value of its type, for what can be a field of a struct; nil for anything else.
    pub(super) fn zero(&self) -> Self {
        match self {
            Value::Bool(_) => Value::Bool(false),
            Value::Int(ty, _) => Value::Int(*ty, 0),
            Value::Uint(ty, _) => Value::Uint(*ty, 0),
            Value::Float(_) => Value::Float(0.0),
            Value::String(_) => Value::from(""),
            Value::List(list) => Value::List(List::nil(list.ty())),
            Value::Map(map) => Value::Map(Map::nil(map.ty())),
            Value::Time(_) => Value::from(Time::zero()),
            Value::Nil | Value::Bytes(_) | Value::Struct(_) => Value::Nil,
        }
    }

    /// What `if` makes of it: false, zero, nil and everything empty are false; structs are true.
    pub fn is_true(&self) -> bool {
        match self {
            Value::Nil => false,
            Value::Bool(value) => *value,
            Value::Int(_, value) => *value != 0,
            Value::Uint(_, value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::String(text) => !text.is_empty(),
            Value::Bytes(bytes) => !bytes.is_empty(),
            Value::List(list) => !list.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Time(_) | Value::Struct(_) => true,
        }
    }

    /// Whether this is the nil interface, a nil map or a nil list.
    pub fn is_nil(&self) -> bool {
        match self {
            Value::Nil => true,
            Value::List(list) => list.is_nil(),
            Value::Map(map) => map.is_nil(),
            _ => false,
        }
    }

    /// The string, when this is one.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The map, when this is one.
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The list, when this is one.
    pub fn as_list(&self) -> Option<&List> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }
}

/// Drops values that may hold others a million levels deep, with a loop instead of recursion.
fn dismantle(mut pending: Vec<Value>) {
    while let Some(value) = pending.pop() {
        match value {
            Value::List(list) => pending.extend(list.into_unshared().unwrap_or_default()),
            Value::Map(map) => pending.extend(map.into_unshared().unwrap_or_default().into_values()),
            _ => {}
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Float(value)
    }
}

/// A plain Rust integer is Go's `int64`; an `int` is made by [`Value::int`] or [`function::Int`].
impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Value::int64(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Uint(UintType::Uint64, value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::String(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::String(text.into())
    }
}

impl From<Text> for Value {
    fn from(text: Text) -> Self {
        Value::String(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Value::Map(map)
    }
}

impl From<List> for Value {
    fn from(list: List) -> Self {
        Value::List(list)
    }
}

impl From<Struct> for Value {
    fn from(value: Struct) -> Self {
        Value::Struct(Rc::new(value))
    }
}

impl From<Time> for Value {
    fn from(time: Time) -> Self {
        Value::Time(Rc::new(time))
    }
}
