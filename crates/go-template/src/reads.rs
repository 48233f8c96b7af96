//! Which of their data templates can read at all, whatever branches they take.
//!
//! Templates are walked with shapes in place of values: a shape says where in the data a value may come from. What cannot be
//! followed counts as read as a whole, so what is left over is read by nothing.

mod functions;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use super::function::Functions;
use super::set::{Parsed, Set};

/// How many nodes of templates are walked; where they are more, all counts as read.
const STEPS_MAX: usize = 400_000;
/// How deep fields are followed, and how many origins one value may have.
const DEPTH_MAX: usize = 32;
const PARTS_MAX: usize = 24;
/// How many templates may be open.
const OPEN_MAX: usize = 64;

/// A place in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spot(usize);

/// Where a value may come from. Empty: from nowhere in the data.
pub(crate) type Shape = BTreeSet<Part>;

/// One of the places that a value may come from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// A place in the data.
    At(Spot),
    /// A map that templates make.
    Map(Rc<BTreeMap<Arc<str>, Shape>>),
    /// A list of such values.
    List(Rc<Shape>),
}

/// What is read at one place.
#[derive(Debug, Default)]
struct Node {
    depth: usize,
    /// All below it.
    is_whole: bool,
    fields: BTreeMap<Arc<str>, Spot>,
    /// Any key, or any item.
    items: Option<Spot>,
}

/// What templates read.
#[derive(Debug)]
pub struct Reads {
    nodes: Vec<Node>,
    steps: usize,
    walked: BTreeSet<(Arc<str>, Shape)>,
    is_given_up: bool,
}

impl Default for Reads {
    fn default() -> Self {
        Self { nodes: vec![Node::default()], steps: 0, walked: BTreeSet::new(), is_given_up: false }
    }
}

impl Reads {
    /// The top of the data.
    pub const TOP: Spot = Spot(0);

    /// The place of a field, which counts as read from now on.
    pub fn field(&mut self, of: Spot, name: &str) -> Spot {
        if let Some(known) = self.node(of).and_then(|node| node.fields.get(name)) {
            return *known;
        }
        let spot = self.below(of);
        self.set_field(of, name, spot);
        spot
    }

    /// Has a field be another place too: both are the same data.
    pub fn set_field(&mut self, of: Spot, name: &str, is: Spot) {
        if let Some(node) = self.nodes.get_mut(of.0) {
            node.fields.insert(name.into(), is);
        }
    }

    /// The place of each key or item.
    pub(crate) fn items(&mut self, of: Spot) -> Spot {
        if let Some(known) = self.node(of).and_then(|node| node.items) {
            return known;
        }
        let spot = self.below(of);
        if let Some(node) = self.nodes.get_mut(of.0) {
            node.items = Some(spot);
        }
        spot
    }

    /// Notes that all of a place is read.
    pub fn read_whole(&mut self, spot: Spot) {
        if let Some(node) = self.nodes.get_mut(spot.0) {
            node.is_whole = true;
        }
    }

    /// A place that is nowhere in the data yet.
    pub fn place(&mut self) -> Spot {
        self.nodes.push(Node::default());
        Spot(self.nodes.len() - 1)
    }

    /// A new place below another one; too deep, it is that one, read as a whole.
    fn below(&mut self, of: Spot) -> Spot {
        let depth = self.node(of).map_or(0, |node| node.depth) + 1;
        if depth > DEPTH_MAX {
            self.read_whole(of);
            return of;
        }
        self.nodes.push(Node { depth, ..Node::default() });
        Spot(self.nodes.len() - 1)
    }

    fn node(&self, spot: Spot) -> Option<&Node> {
        self.nodes.get(spot.0)
    }

    /// Where a key of these places is read, or an item of a list without a key: nowhere, when nothing reads it. None when
    /// all of a place counts as read.
    pub fn below_all(&self, of: &[Spot], key: Option<&str>) -> Option<Vec<Spot>> {
        let mut found = Vec::new();
        for node in of.iter().filter_map(|spot| self.node(*spot)) {
            let is_leaf = node.fields.is_empty() && node.items.is_none();
            if self.is_given_up || node.is_whole || is_leaf {
                return None;
            }
            found.extend(key.and_then(|key| node.fields.get(key).copied()));
            found.extend(node.items);
        }
        Some(found)
    }

    /// The names of the fields that are read at these places.
    pub fn names(&self, of: &[Spot]) -> impl Iterator<Item = &str> {
        of.iter().filter_map(|spot| self.node(*spot)).flat_map(|node| node.fields.keys().map(|name| &**name))
    }

    /// Walks the template `name` of a set with a map of these places as its data.
    pub fn walk(&mut self, set: &Set, name: &str, data: &[(&str, Spot)]) {
        let data: BTreeMap<Arc<str>, Shape> =
            data.iter().map(|(key, spot)| ((*key).into(), [Part::At(*spot)].into())).collect();
        walk::Walk { reads: self, set, open: 0 }.template(name, &[Part::Map(Rc::new(data))].into());
    }

    /// Walks a text that may be a template, such as a value for `tpl`, as [`Reads::walk`] does.
    pub fn walk_text(&mut self, set: &Set, text: &str, functions: &Functions, data: &[(&str, Spot)]) {
        self.steps += 1;
        let name = format!("text {}", self.steps);
        let Ok(parsed) = Parsed::new(&name, text.as_bytes().to_vec(), functions) else {
            // Part of a template, or none: what it names may be read.
            self.is_given_up |= text.contains(".Values");
            return;
        };
        let mut set = set.clone();
        set.add(&parsed);
        self.walk(&set, &name, data);
    }
}
