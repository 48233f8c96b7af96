//! Go's maps with string keys: shared, and changed in place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use super::{Element, Methods, Value, dismantle};
use crate::text::Text;

/// The entries of a map, in the order in which Go prints, ranges over and encodes them: by the bytes of the key.
pub type Entries = BTreeMap<Text, Value>;

/// A map's type: its name, the type of its values, and the methods that template code may call on it.
#[derive(Debug)]
pub struct MapType {
    /// As `typeOf` prints it.
    pub name: &'static str,
    /// What a missing key gives.
    pub element: Element,
    /// Called as `.Map.Method argument`; they win over keys of the same name.
    pub methods: Methods,
}

impl MapType {
    /// `map[string]interface {}`
    pub const ANY: MapType = MapType { name: "map[string]interface {}", element: Element::Any, methods: Methods::NONE };
    /// `map[string]string`
    pub const STRINGS: MapType =
        MapType { name: "map[string]string", element: Element::String, methods: Methods::NONE };
}

/// A handle to a shared map; the type belongs to the handle, so that one map may be `common.Values` here and
/// `map[string]interface {}` there, as in Go.
///
/// Readers take a snapshot ([`Map::entries`]), which costs nothing unless the map is written to while it exists: so a
/// map may be changed while it is ranged over.
#[derive(Clone)]
pub struct Map {
    ty: &'static MapType,
    shared: Option<Rc<Shared>>,
}

#[derive(Default)]
struct Shared(RefCell<Rc<Entries>>);

impl Map {
    /// A new `map[string]interface {}`.
    pub fn new() -> Self {
        Self::of(&MapType::ANY, Entries::new())
    }

    /// A new map of a type, with entries that fit it.
    pub fn of(ty: &'static MapType, entries: Entries) -> Self {
        Self { ty, shared: Some(Rc::new(Shared(RefCell::new(Rc::new(entries))))) }
    }

    /// The nil map of a type: empty, never the same as another, `null` in JSON.
    pub fn nil(ty: &'static MapType) -> Self {
        Self { ty, shared: None }
    }

    /// This map under another type; changes are shared.
    pub fn cast(&self, ty: &'static MapType) -> Self {
        Self { ty, shared: self.shared.clone() }
    }

    /// The type of this handle.
    pub fn ty(&self) -> &'static MapType {
        self.ty
    }

    /// Whether this is a nil map.
    pub fn is_nil(&self) -> bool {
        self.shared.is_none()
    }

    /// The entries as they are now.
    pub fn entries(&self) -> Rc<Entries> {
        self.shared.as_ref().map(|shared| Rc::clone(&shared.0.borrow())).unwrap_or_default()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.shared.as_ref().map_or(0, |shared| shared.0.borrow().len())
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entry `key`.
    pub fn get(&self, key: &[u8]) -> Option<Value> {
        self.shared.as_ref()?.0.borrow().get(key).cloned()
    }

    /// Whether there is an entry `key`, nil or not.
    pub fn has(&self, key: &[u8]) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.0.borrow().contains_key(key))
    }

    /// Sets an entry in every clone of this map; false, and nothing done, when this is a nil map.
    pub fn set(&self, key: impl Into<Text>, value: impl Into<Value>) -> bool {
        let Some(shared) = &self.shared else { return false };
        Rc::make_mut(&mut shared.0.borrow_mut()).insert(key.into(), value.into());
        true
    }

    /// Removes an entry from every clone of this map.
    pub fn unset(&self, key: &[u8]) {
        if let Some(shared) = &self.shared {
            Rc::make_mut(&mut shared.0.borrow_mut()).remove(key);
        }
    }

    /// Whether both are handles to one map.
    pub fn is_same(&self, other: &Map) -> bool {
        match (&self.shared, &other.shared) {
            (Some(one), Some(two)) => Rc::ptr_eq(one, two),
            _ => false,
        }
    }

    /// The entries, when the map has no other clone: for taking deep values apart without recursion.
    pub(super) fn into_unshared(self) -> Option<Entries> {
        let shared = Rc::into_inner(self.shared?)?;
        Rc::into_inner(shared.0.take())
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new()
    }
}

impl FromIterator<(Text, Value)> for Map {
    fn from_iter<I: IntoIterator<Item = (Text, Value)>>(entries: I) -> Self {
        Self::of(&MapType::ANY, entries.into_iter().collect())
    }
}

/// The type and the size only: a map may contain itself.
impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.ty.name, self.len())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(entries) = Rc::into_inner(self.0.take()) {
            dismantle(entries.into_values().collect());
        }
    }
}
