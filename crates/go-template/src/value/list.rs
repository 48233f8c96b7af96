//! Go's slices. No template function changes one in place, so they are immutable here.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::{Element, Methods, Value, dismantle};

/// A list's type: its name, the type of its elements, and the methods that template code may call on it.
#[derive(Debug)]
pub struct ListType {
    /// As `typeOf` prints it.
    pub name: &'static str,
    /// The type of its elements.
    pub element: Element,
    /// Called as `.List.Method argument`.
    pub methods: Methods,
}

impl ListType {
    /// `[]interface {}`
    pub const ANY: ListType = ListType { name: "[]interface {}", element: Element::Any, methods: Methods::NONE };
    /// `[]string`
    pub const STRINGS: ListType = ListType { name: "[]string", element: Element::String, methods: Methods::NONE };
    /// `[]int`
    pub const INTS: ListType = ListType { name: "[]int", element: Element::Int, methods: Methods::NONE };
    /// `[][]interface {}`
    pub const LISTS: ListType = ListType { name: "[][]interface {}", element: Element::List, methods: Methods::NONE };
    /// `[]map[string]interface {}`
    pub const MAPS: ListType =
        ListType { name: "[]map[string]interface {}", element: Element::Map, methods: Methods::NONE };
}

/// A slice; clones share its items.
#[derive(Clone)]
pub struct List {
    ty: &'static ListType,
    items: Option<Rc<Items>>,
}

struct Items(Vec<Value>);

impl List {
    /// A `[]interface {}`.
    pub fn new(items: Vec<Value>) -> Self {
        Self::of(&ListType::ANY, items)
    }

    /// A list of a type, with items that fit it.
    pub fn of(ty: &'static ListType, items: Vec<Value>) -> Self {
        Self { ty, items: Some(Rc::new(Items(items))) }
    }

    /// A `[]string`.
    pub fn strings<T: Into<Value>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::of(&ListType::STRINGS, items.into_iter().map(Into::into).collect())
    }

    /// The nil slice of a type: empty, `null` in JSON.
    pub fn nil(ty: &'static ListType) -> Self {
        Self { ty, items: None }
    }

    /// The type.
    pub fn ty(&self) -> &'static ListType {
        self.ty
    }

    /// These items under another type.
    pub fn cast(&self, ty: &'static ListType) -> Self {
        Self { ty, items: self.items.clone() }
    }

    /// Whether this is a nil slice.
    pub fn is_nil(&self) -> bool {
        self.items.is_none()
    }

    /// Whether both share their items.
    pub fn is_same(&self, other: &List) -> bool {
        match (&self.items, &other.items) {
            (Some(one), Some(two)) => Rc::ptr_eq(one, two),
            _ => false,
        }
    }

    pub(super) fn into_unshared(self) -> Option<Vec<Value>> {
        let mut items = Rc::into_inner(self.items?)?;
        Some(std::mem::take(&mut items.0))
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        self.items.as_ref().map_or(&[], |items| &items.0)
    }
}

impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::new(items.into_iter().collect())
    }
}

/// The type and the length only: an item may lead back here.
impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.ty.name, self.len())
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        dismantle(std::mem::take(&mut self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Map;

    #[test]
    fn deep_values_are_dropped_without_recursion() {
        let mut value = Value::Nil;
        for _ in 0..300_000 {
            value = Value::List(List::new(vec![value]));
            value = Value::Map([("a".into(), value)].into_iter().collect::<Map>());
        }
        drop(value);
    }
}
