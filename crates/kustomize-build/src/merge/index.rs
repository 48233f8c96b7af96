//! Keyed lists of many items, merged by what their keys say instead of by looking through them for each item.
//!
//! Only for lists whose items are all mappings with a text under each key. What is done is what `items`, `set_element` and
//! `append_list` of [`super::list`] do to such lists, where nothing else can match.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::tree::{Kind, NodeId, Tree};

/// From how many items on.
const COUNT_MIN: usize = 16;

pub(super) type Texts = Vec<String>;

/// The first item of each combination of keys.
pub(super) struct Index(HashMap<Texts, NodeId>);

/// The texts that an item has under the keys, if all of them are there and say something.
fn texts(tree: &Tree, item: NodeId, keys: &[String]) -> Option<Texts> {
    if tree.kind(item) != Kind::Mapping || tree.node(item).is_null() {
        return None;
    }
    let text = |key: &String| Some(tree.text(tree.value_of(item, key)?)).filter(|text| !text.is_empty());
    keys.iter().map(|key| Some(text(key)?.to_owned())).collect()
}

/// Whether keys are names of fields.
fn are_names(keys: &[String]) -> bool {
    !keys.is_empty() && keys.iter().all(|key| !key.is_empty())
}

impl Index {
    /// That of a list, if it is one of many such items.
    pub(super) fn new(tree: &Tree, list: NodeId, keys: &[String]) -> Result<Option<Self>> {
        let items = tree.content(list);
        if tree.kind(list) != Kind::Sequence || !are_names(keys) {
            return Ok(None);
        }
        let mut index = HashMap::with_capacity(items.len());
        for item in items {
            tree.work(1)?;
            let Some(texts) = texts(tree, *item, keys) else { return Ok(None) };
            index.entry(texts).or_insert(*item);
        }
        Ok(Some(Self(index)))
    }

    pub(super) fn find(&self, values: &[String]) -> Option<NodeId> {
        self.0.get(values).copied()
    }
}

/// The indexes of both lists, if they have many items between them.
pub(super) fn of_both(tree: &Tree, lists: [Option<NodeId>; 2], keys: &[String]) -> Result<Option<[Option<Index>; 2]>> {
    let count: usize = lists.iter().flatten().map(|list| tree.content(*list).len()).sum();
    if count < COUNT_MIN {
        return Ok(None);
    }
    let mut indexes = [None, None];
    for (index, list) in indexes.iter_mut().zip(lists) {
        if let Some(list) = list {
            *index = Index::new(tree, list, keys)?;
            if index.is_none() {
                return Ok(None);
            }
        }
    }
    Ok(Some(indexes))
}

/// Takes the items of some keys out of a list.
pub(super) fn remove(tree: &mut Tree, list: NodeId, keys: &[String], gone: &HashSet<Texts>) {
    if gone.is_empty() {
        return;
    }
    let is_gone = |item: &NodeId| texts(tree, *item, keys).is_none_or(|texts| gone.contains(&texts));
    let kept: Vec<NodeId> = tree.content(list).iter().copied().filter(|item| !is_gone(item)).collect();
    tree.node_mut(list).content = kept;
}

/// Puts the items of `from` into `list` as `append_list` does. Whether that could be done.
pub(super) fn append(tree: &mut Tree, list: NodeId, from: NodeId, keys: &[String]) -> Result<bool> {
    let count = tree.content(list).len() + tree.content(from).len();
    if count < COUNT_MIN || !are_names(keys) || tree.kind(from) != Kind::Sequence {
        return Ok(false);
    }
    let mut places: HashMap<Texts, Vec<usize>> = HashMap::with_capacity(count);
    let mut items: Vec<Option<NodeId>> = Vec::with_capacity(count);
    for item in tree.content(list) {
        tree.work(1)?;
        let Some(texts) = texts(tree, *item, keys) else { return Ok(false) };
        places.entry(texts).or_default().push(items.len());
        items.push(Some(*item));
    }
    for item in tree.content(from) {
        tree.work(1)?;
        let Some(texts) = texts(tree, *item, keys) else { return Ok(false) };
        let same = places.entry(texts).or_default();
        if keys.len() > 1 {
            // What was there is removed first, so that the item goes to the end.
            for place in same.drain(..) {
                if let Some(old) = items.get_mut(place) {
                    *old = None;
                }
            }
        }
        for place in same.iter() {
            if let Some(old) = items.get_mut(*place) {
                *old = Some(*item);
            }
        }
        if same.is_empty() {
            same.push(items.len());
            items.push(Some(*item));
        }
    }
    tree.node_mut(list).content = items.into_iter().flatten().collect();
    Ok(true)
}
