//! What a generator adds to the data of an object that exists.
//!
//! The first merge makes all entries anew. After it they are as the next one would make them and are shared with no one, so that
//! one takes them over: thousands of merges into thousands of entries copy none of them.

use crate::error::Result;
use crate::generate::load_data;
use crate::resource::StringMap;
use crate::tree::{Kind, NodeId, Tree};

/// Up to how many entries are put in one by one, rather than all in one walk.
const FEW: usize = 32;

/// Adds the entries of `old` that `new` lacks to its `data` and `binaryData`. When `old` was made by a merge, and nothing
/// changed it since, its entries are taken away from it.
pub(super) fn merge_data(tree: &mut Tree, new: NodeId, old: NodeId, is_merged: bool) -> Result<()> {
    for field in ["data", "binaryData"] {
        let own = data_map(tree, new, field)?;
        tree.clear(new, field)?;
        if !is_merged {
            let mut merged = data_map(tree, old, field)?;
            merged.extend(own);
            load_data(tree, new, &merged, field)?;
            continue;
        }
        load_data(tree, new, &own, field)?;
        if let Some(taken) = mapping(tree, old, field)? {
            let Some(map) = tree.lookup_create(new, Kind::Mapping, &[field])? else { continue };
            unite(tree, map, taken)?;
        }
    }
    Ok(())
}

/// Puts the entries of `map` among those of `taken`, both in the order of their keys, and has `map` have them all.
fn unite(tree: &mut Tree, map: NodeId, taken: NodeId) -> Result<()> {
    let own = tree.content(map).to_vec();
    let mut all = std::mem::take(&mut tree.node_mut(taken).content);
    if own.len() <= 2 * FEW {
        tree.work(own.len() + all.len() / 64)?;
        own.as_chunks().0.iter().for_each(|pair| put(tree, &mut all, *pair));
    } else {
        tree.work(own.len() + all.len())?;
        all = united(tree, own.as_chunks().0, all.as_chunks().0);
    }
    tree.node_mut(map).content = all;
    Ok(())
}

fn put(tree: &Tree, all: &mut Vec<NodeId>, [key, value]: [NodeId; 2]) {
    let (pairs, _) = all.as_chunks::<2>();
    let at = pairs.partition_point(|[other, _]| tree.text(*other) < tree.text(key));
    let is_there = pairs.get(at).is_some_and(|[other, _]| tree.text(*other) == tree.text(key));
    all.splice(2 * at..2 * (at + usize::from(is_there)), [key, value]);
}

fn united(tree: &Tree, own: &[[NodeId; 2]], others: &[[NodeId; 2]]) -> Vec<NodeId> {
    let mut all = Vec::with_capacity(2 * (own.len() + others.len()));
    let mut others = others.iter().peekable();
    for pair in own {
        let text = tree.text(pair[0]);
        while let Some(other) = others.next_if(|other| tree.text(other[0]) < text) {
            all.extend(other);
        }
        others.next_if(|other| tree.text(other[0]) == text);
        all.extend(pair);
    }
    all.extend(others.flatten());
    all
}

fn mapping(tree: &mut Tree, root: NodeId, field: &str) -> Result<Option<NodeId>> {
    Ok(tree.lookup(root, &[field])?.filter(|data| tree.kind(*data) == Kind::Mapping))
}

fn data_map(tree: &mut Tree, root: NodeId, field: &str) -> Result<StringMap> {
    let Some(data) = mapping(tree, root, field)? else { return Ok(StringMap::new()) };
    let text = |id: NodeId| if tree.node(id).is_null() { String::new() } else { tree.text(id).to_owned() };
    Ok(tree.pairs(data).map(|(key, value)| (text(key), text(value))).collect())
}
