//! Where the keys of large mappings are, so that thousands of fields are not searched one by one, each for each.
//!
//! Only mappings that are searched again and again are indexed. An entry is a hint: what it leads to is compared. A change of
//! a mapping by other ways than [`super::Tree::set_field`] must drop its index; the text of a key never changes.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::NodeId;

/// How many entries a mapping has at least.
pub(super) const COUNT_MIN: usize = 64;

/// How often it is searched before.
const SEARCHES_MIN: u32 = 8;

/// How many are kept.
const KEPT_MAX: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Keys {
    kept: HashMap<NodeId, Index>,
}

#[derive(Debug, Default)]
struct Index {
    searches: u32,
    /// The first place of each key by its hash; empty until it is worth it. Keys of one hash make it useless.
    places: Option<HashMap<u64, usize>>,
}

fn hash(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The first place of each key of a mapping, by its hash.
fn places_of<'t>(content: &[NodeId], text: impl Fn(NodeId) -> &'t str) -> HashMap<u64, usize> {
    let mut places = HashMap::with_capacity(content.len() / 2);
    for (at, pair) in content.chunks_exact(2).enumerate() {
        if let [key, _] = pair {
            places.entry(hash(text(*key))).or_insert(at);
        }
    }
    places
}

impl Keys {
    /// Where a key is, if that is known: `Some(None)` when there is no such key.
    pub(super) fn find<'t>(
        &mut self,
        id: NodeId,
        content: &[NodeId],
        name: &str,
        text: impl Fn(NodeId) -> &'t str,
    ) -> Option<Option<usize>> {
        if self.kept.len() >= KEPT_MAX && !self.kept.contains_key(&id) {
            self.kept.clear();
        }
        let index = self.kept.entry(id).or_default();
        index.searches += 1;
        if index.searches < SEARCHES_MIN {
            return None;
        }
        let places = index.places.get_or_insert_with(|| places_of(content, &text));
        let Some(at) = places.get(&hash(name)).copied() else { return Some(None) };
        let key = content.get(2 * at)?;
        (text(*key) == name).then_some(Some(at))
    }

    /// A key was added at the end of a mapping.
    pub(super) fn added(&mut self, id: NodeId, at: usize, name: &str) {
        if let Some(places) = self.kept.get_mut(&id).and_then(|index| index.places.as_mut()) {
            places.entry(hash(name)).or_insert(at);
        }
    }

    /// A mapping was changed.
    pub(super) fn forget(&mut self, id: NodeId) {
        if !self.kept.is_empty() {
            self.kept.remove(&id);
        }
    }
}
