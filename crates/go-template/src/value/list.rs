//! Go's slices. One template function changes a slice in place: `sortAlpha` a `[]string`.

use std::cell::OnceCell;
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

struct Items {
    values: Vec<Value>,
    /// The values once they have been sorted.
    sorted: OnceCell<Vec<Value>>,
    /// For how many elements there is room, which [`List::slice`] shows.
    capacity: usize,
    /// The list that this is a part of, and where in it; that list is not a part of another.
    whole: Option<(List, usize)>,
}

impl List {
    /// A `[]interface {}`.
    pub fn new(items: Vec<Value>) -> Self {
        Self::of(&ListType::ANY, items)
    }

    /// A list of a type, with items that fit it, and no room behind them.
    pub fn of(ty: &'static ListType, items: Vec<Value>) -> Self {
        Self::with_capacity(ty, items, 0)
    }

    /// A list with room for so many elements, if these are not more.
    pub fn with_capacity(ty: &'static ListType, values: Vec<Value>, capacity: usize) -> Self {
        let capacity = capacity.max(values.len());
        Self { ty, items: Some(Rc::new(Items { values, sorted: OnceCell::new(), capacity, whole: None })) }
    }

    /// A list to which its items were appended one by one, as most code in Go does: it has room behind them.
    pub fn appended(ty: &'static ListType, items: Vec<Value>) -> Self {
        Self::appended_to(ty, items, 0)
    }

    /// A list that had room for so many elements when the first of its items was appended.
    pub fn appended_to(ty: &'static ListType, items: Vec<Value>, capacity: usize) -> Self {
        let capacity = ty.element.layout().appended(capacity, items.len());
        Self::with_capacity(ty, items, capacity)
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

    /// For how many elements there is room.
    pub fn capacity(&self) -> usize {
        self.items.as_ref().map_or(0, |items| items.capacity)
    }

    /// Go's `list[start:end]`, which may lead into the room behind the elements: there are zeros, or what else the list
    /// has that this one is a part of. `None` where Go panics.
    pub fn slice(&self, start: usize, end: usize) -> Option<Self> {
        if start > end || end > self.capacity() {
            return None;
        }
        let Some(items) = &self.items else { return Some(self.clone()) };
        let (whole, offset) = items.whole.clone().unwrap_or_else(|| (self.clone(), 0));
        let value = |at: usize| whole.get(at).cloned().unwrap_or_else(|| self.ty.element.zero());
        let values = (offset + start..offset + end).map(value).collect();
        let part = Items {
            values,
            sorted: OnceCell::new(),
            capacity: items.capacity - start,
            whole: Some((whole, offset + start)),
        };
        Some(Self { ty: self.ty, items: Some(Rc::new(part)) })
    }

    /// Whether it has been sorted in place.
    pub fn is_sorted(&self) -> bool {
        self.items.as_ref().is_none_or(|items| items.sorted.get().is_some())
    }

    /// Sorts it for everyone who has it; `sorted` are its items. For parts of other lists these stay as they are.
    pub fn sort_in_place(&self, sorted: Vec<Value>) {
        if let Some(items) = &self.items {
            items.sorted.get_or_init(|| sorted);
        }
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
        Some(Rc::into_inner(self.items?)?.take())
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        self.items.as_ref().map_or(&[], |items| items.sorted.get().unwrap_or(&items.values))
    }
}

/// A `[]interface {}` to which the items were appended, as of values that were read from a file.
impl FromIterator<Value> for List {
    fn from_iter<I: IntoIterator<Item = Value>>(items: I) -> Self {
        Self::appended(&ListType::ANY, items.into_iter().collect())
    }
}

/// The type and the length only: an item may lead back here.
impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.ty.name, self.len())
    }
}

impl Items {
    /// All values that it holds.
    fn take(&mut self) -> Vec<Value> {
        let mut values = std::mem::take(&mut self.values);
        values.extend(self.sorted.take().into_iter().flatten());
        values.extend(self.whole.take().map(|(whole, _)| Value::List(whole)));
        values
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        dismantle(self.take());
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

    #[test]
    fn parts_of_lists_are_dropped_without_recursion() {
        let mut list = List::new(vec![Value::Nil]);
        for _ in 0..300_000 {
            list = List::new(vec![Value::List(list), Value::Nil]).slice(0, 1).expect("within");
        }
        drop(list);
    }
}
