//! Go's structs and pointers to them: what a host hands to templates beside plain data.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use super::operand::Held;
use super::{Kind, Methods, Value};
use crate::text::Text;

/// A struct's type.
#[derive(Debug)]
pub struct StructType {
    /// As `typeOf` prints the struct itself, without the `*` of a pointer.
    pub name: &'static str,
    /// The name of the pointer type, when values are held as pointers: `*semver.Version`.
    pub pointer: Option<&'static str>,
    /// The fields in order, unexported ones too: printing shows them all.
    pub fields: &'static [Field],
    /// Called as `.Struct.Method argument`.
    pub methods: Methods,
    /// Whether the methods are declared on the pointer: a struct that is held by value has them only as a field of
    /// something that is held by a pointer.
    pub has_pointer_methods: bool,
    /// Go's `String` method, if there is one.
    pub string: Option<Stringer>,
    /// Go's `MarshalJSON` method, if there is one: what is encoded instead of the fields.
    pub json: Option<fn(&Struct) -> Value>,
    /// Whether two pointers are one to Go, for a value that is made anew here whenever it is asked for.
    pub is_same: Option<fn(&Struct, &Struct) -> bool>,
}

impl StructType {
    /// A struct without methods, to be filled in.
    pub const PLAIN: StructType = StructType {
        name: "",
        pointer: None,
        fields: &[],
        methods: Methods::NONE,
        has_pointer_methods: false,
        string: None,
        json: None,
        is_same: None,
    };
}

/// A field of a struct.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Template code sees it when it starts with an upper-case letter.
    pub name: &'static str,
    /// Its key in JSON; empty: not in JSON.
    pub json: &'static str,
    /// Left out of JSON when empty.
    pub omit_empty: bool,
    /// The interface that it is in, when the field's type is one with a name.
    pub held: Option<Held>,
}

/// Go's `String` method of a struct.
#[derive(Clone, Copy)]
pub struct Stringer {
    /// What it returns.
    pub run: fn(&Struct) -> Text,
    /// Whether it is declared on the pointer: a struct that is held by value has it only as a field of something that
    /// is held by a pointer, and only while it is printed by an action.
    pub on_pointer: bool,
}

impl fmt::Debug for Stringer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stringer").field("on_pointer", &self.on_pointer).finish_non_exhaustive()
    }
}

impl Field {
    /// A field whose key in JSON is its name.
    pub const fn plain(name: &'static str) -> Self {
        Self { name, json: name, omit_empty: false, held: None }
    }

    /// A field that only printing shows.
    pub const fn hidden(name: &'static str) -> Self {
        Self { name, json: "", omit_empty: false, held: None }
    }

    /// Whether template code can name it.
    pub fn is_exported(&self) -> bool {
        self.name.starts_with(|first: char| first.is_uppercase())
    }
}

/// A struct, or a pointer to one, with the values of its fields and whatever its methods need besides.
pub struct Struct {
    ty: &'static StructType,
    fields: RefCell<Vec<Value>>,
    inner: Option<Rc<dyn Any>>,
}

impl Struct {
    /// A struct; `fields` in the order of the type.
    pub fn new(ty: &'static StructType, fields: Vec<Value>) -> Self {
        Self { ty, fields: RefCell::new(fields), inner: None }
    }

    /// Adds something for the methods of the struct that templates can't see.
    pub fn with_inner(mut self, inner: Rc<dyn Any>) -> Self {
        self.inner = Some(inner);
        self
    }

    /// The type.
    pub fn ty(&self) -> &'static StructType {
        self.ty
    }

    /// As `typeOf` prints it.
    pub fn type_name(&self) -> &'static str {
        self.ty.pointer.unwrap_or(self.ty.name)
    }

    /// Struct or pointer.
    pub fn kind(&self) -> Kind {
        if self.ty.pointer.is_some() { Kind::Pointer } else { Kind::Struct }
    }

    /// The fields with their values, in order.
    pub fn fields(&self) -> impl Iterator<Item = (&'static Field, Value)> {
        self.ty.fields.iter().zip(self.fields.borrow().clone())
    }

    /// The field `name`, exported or not.
    pub fn field(&self, name: &str) -> Option<(&'static Field, Value)> {
        let at = self.ty.fields.iter().position(|field| field.name == name)?;
        Some((self.ty.fields.get(at)?, self.fields.borrow().get(at)?.clone()))
    }

    /// Gives the fields other values, for everything that shares this pointer: what methods that read do with their receiver.
    pub fn assign(&self, fields: Vec<Value>) {
        *self.fields.borrow_mut() = fields;
    }

    /// What was put in by [`Struct::with_inner`], when it is a `T`.
    pub fn inner<T: 'static>(&self) -> Option<&T> {
        self.inner.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for Struct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.type_name())
    }
}
