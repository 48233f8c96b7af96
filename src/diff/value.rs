//! Two values into the places where they differ.

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::align::{align, identities};
use super::noise::{Echoes, Noise};
use super::path::{FieldPath, Step};

/// Where two values differ. What is equal is not in it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Difference {
    /// The whole value.
    Leaf(Leaf),
    /// Entries of a mapping, by key.
    Mapping(Vec<(String, Difference)>),
    /// Items of a list, in the order of the new list; what is gone where it was.
    Sequence(Vec<Item>),
}

/// A value that was added, removed or replaced.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Leaf {
    /// The value before; none when it was added.
    pub old: Option<Value>,
    /// The value after; none when it was removed.
    pub new: Option<Value>,
    /// Why it is not worth a look.
    pub noise: Option<Noise>,
}

/// An item of a list that differs, or is elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Item {
    /// Which item.
    pub step: Step,
    /// Its index before and after, when it is elsewhere among the others.
    pub moved: Option<(usize, usize)>,
    /// What of it differs; none when it only moved.
    pub difference: Option<Difference>,
}

/// One place of a [`Difference`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Place<'a> {
    /// A value that was added, removed or replaced.
    Leaf(&'a Leaf),
    /// An item that is elsewhere: its index before and after.
    Moved(usize, usize),
}

impl Place<'_> {
    /// Which noise it is, if it is any.
    pub(crate) fn noise(self) -> Option<Noise> {
        match self {
            Place::Leaf(leaf) => leaf.noise,
            Place::Moved(..) => None,
        }
    }
}

impl Difference {
    /// Whether every place of it is noise.
    pub(crate) fn is_noise(&self) -> bool {
        let mut all = true;
        self.visit(&mut |_, place| all &= place.noise().is_some());
        all
    }

    /// Calls `found` for each place, in their order.
    pub(crate) fn visit(&self, found: &mut dyn FnMut(&FieldPath, Place<'_>)) {
        self.visit_below(&mut FieldPath::root(), found);
    }

    fn visit_below(&self, path: &mut FieldPath, found: &mut dyn FnMut(&FieldPath, Place<'_>)) {
        match self {
            Difference::Leaf(leaf) => found(path, Place::Leaf(leaf)),
            Difference::Mapping(entries) => {
                for (key, difference) in entries {
                    path.push(Step::Key(key.clone()));
                    difference.visit_below(path, found);
                    path.pop();
                }
            }
            Difference::Sequence(items) => {
                for item in items {
                    path.push(item.step.clone());
                    if let Some((from, to)) = item.moved {
                        found(path, Place::Moved(from, to));
                    }
                    if let Some(difference) = &item.difference {
                        difference.visit_below(path, found);
                    }
                    path.pop();
                }
            }
        }
    }
}

/// Where two values differ; none when they are equal. Recurses as deep as they both go.
pub(super) fn difference(old: &Value, new: &Value, echoes: &Echoes<'_>) -> Option<Difference> {
    Comparison { echoes, path: FieldPath::root() }.values(old, new)
}

struct Comparison<'a> {
    echoes: &'a Echoes<'a>,
    path: FieldPath,
}

impl Comparison<'_> {
    fn values(&mut self, old: &Value, new: &Value) -> Option<Difference> {
        if old == new {
            return None;
        }
        Some(match (old, new) {
            (Value::Mapping(old), Value::Mapping(new)) => Difference::Mapping(self.mappings(old, new)),
            (Value::Sequence(old), Value::Sequence(new)) => Difference::Sequence(self.sequences(old, new)),
            (old, new) => self.leaf(Some(old), Some(new)),
        })
    }

    fn mappings(&mut self, old: &Mapping, new: &Mapping) -> Vec<(String, Difference)> {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let mut entries = Vec::new();
        for key in keys {
            let difference = self.below(Step::Key(key.clone()), old.get(key), new.get(key));
            entries.extend(difference.map(|difference| (key.clone(), difference)));
        }
        entries
    }

    fn sequences(&mut self, old: &[Value], new: &[Value]) -> Vec<Item> {
        let identities = identities(old, new);
        let mut items = Vec::new();
        for aligned in align(old, new) {
            let step = match (&identities, aligned.old, aligned.new) {
                (Some([_, names]), _, Some(index)) | (Some([names, _]), Some(index), None) => {
                    Step::Item(names[index].clone())
                }
                (_, _, Some(index)) | (_, Some(index), None) => Step::Index(index),
                (_, None, None) => continue,
            };
            let [old, new] = [aligned.old.map(|at| &old[at]), aligned.new.map(|at| &new[at])];
            let difference = self.below(step.clone(), old, new);
            let moved = aligned.old.zip(aligned.new).filter(|_| aligned.moved);
            if difference.is_some() || moved.is_some() {
                items.push(Item { step, moved, difference });
            }
        }
        items
    }

    fn below(&mut self, step: Step, old: Option<&Value>, new: Option<&Value>) -> Option<Difference> {
        self.path.push(step);
        let difference = match (old, new) {
            (Some(old), Some(new)) => self.values(old, new),
            (None, None) => None,
            (old, new) => Some(self.leaf(old, new)),
        };
        self.path.pop();
        difference
    }

    fn leaf(&self, old: Option<&Value>, new: Option<&Value>) -> Difference {
        let noise = self.echoes.noise(&self.path, old, new);
        Difference::Leaf(Leaf { old: old.cloned(), new: new.cloned(), noise })
    }
}
