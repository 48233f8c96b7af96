//! Strategic merge of lists whose items have keys.

use std::collections::{HashMap, HashSet};

use super::index;
use super::{Merged, Merger, NewItems, Sources};
use crate::error::Result;
use crate::schema::SchemaNode;
use crate::tree::{Kind, Node, NodeId, SetOptions, Tree};

impl Merger<'_> {
    /// Merges a list by its keys; without keys its items are scalars, and the union is taken.
    pub(super) fn keyed_list(
        &mut self,
        sources: Sources,
        schema: Option<&SchemaNode>,
        keys: &[String],
    ) -> Result<Option<Merged>> {
        self.note_comments_and_style(sources);
        let visited = match self.present(sources.target) {
            None => sources.patch.map(Merged::new),
            Some(target) => self.visit(target, sources.patch)?,
        };
        let Some(Merged { node: dest, .. }) = visited else { return Ok(None) };
        let lists = match self.new_items {
            NewItems::First => [sources.patch, Some(dest)],
            NewItems::Last => [Some(dest), sources.patch],
        };
        let sources = Sources { target: Some(dest), patch: sources.patch };
        let scalar_keys = [String::new()];
        let (mut values, keys) = if keys.is_empty() {
            (self.scalar_values(lists), scalar_keys.as_slice())
        } else {
            (self.key_values(lists, keys), keys)
        };
        if keys.len() > 1 {
            unify(self.tree, &mut values)?;
        }
        let merged = self.items(sources, schema, &values, keys)?;
        Ok(self.present(Some(merged)).map(Merged::new))
    }

    /// The values of the keys of all items, each combination once.
    fn key_values(&self, lists: [Option<NodeId>; 2], keys: &[String]) -> Vec<Vec<String>> {
        let mut all: Vec<Vec<String>> = Vec::new();
        let mut seen = HashSet::new();
        for list in lists.into_iter().flatten().filter(|list| self.tree.kind(*list) == Kind::Sequence) {
            for item in self.tree.content(list) {
                let values: Vec<String> = keys.iter().map(|key| self.key_value(*item, key)).collect();
                if seen.insert(values.clone()) {
                    all.push(values);
                }
            }
        }
        all
    }

    fn scalar_values(&self, lists: [Option<NodeId>; 2]) -> Vec<Vec<String>> {
        let mut all: Vec<Vec<String>> = Vec::new();
        let mut seen = HashSet::new();
        for list in lists.into_iter().flatten() {
            for item in self.tree.content(list) {
                let value = vec![self.tree.text(*item).to_owned()];
                if seen.insert(value.clone()) {
                    all.push(value);
                }
            }
        }
        all
    }

    /// The text of a key of an item; empty when the key is missing or null.
    fn key_value(&self, item: NodeId, key: &str) -> String {
        let value = self.tree.value_of(item, key).filter(|value| !self.tree.node(*value).is_nil_or_empty());
        value.map_or_else(String::new, |value| self.tree.text(value).to_owned())
    }

    /// The item of a list whose keys have these values; none of what is not a list.
    fn find_item(&self, list: Option<NodeId>, keys: &[String], values: &[String]) -> Result<Option<NodeId>> {
        match list.filter(|list| self.tree.kind(*list) == Kind::Sequence) {
            Some(list) => self.tree.find_element(list, keys, values),
            None => Ok(None),
        }
    }

    fn items(
        &mut self,
        sources: Sources,
        schema: Option<&SchemaNode>,
        all_values: &[Vec<String>],
        all_keys: &[String],
    ) -> Result<NodeId> {
        let dest = sources.target.unwrap_or_else(|| self.tree.add(Node::new(Kind::Sequence)));
        let schema = schema.and_then(|schema| self.schema.elements(schema));
        let merged_items = self.tree.add(Node::new(Kind::Sequence));
        let used: Vec<bool> = (0..all_keys.len())
            .map(|index| all_values.iter().any(|values| values.get(index).is_some_and(|value| !value.is_empty())))
            .collect();
        let mut last_keys = Vec::new();
        let all_used = used.contains(&false).then(|| restrict(all_keys, all_keys, &used).0);
        let used_keys = all_used.as_deref().unwrap_or(all_keys);
        let indexes = index::of_both(self.tree, [sources.target, sources.patch], used_keys)?;
        if let Some([target, patch]) = indexes {
            return self.indexed_items(sources, schema, all_values, (all_keys, &used), [target, patch], merged_items);
        }
        for values in all_values {
            let (keys, values) = restrict(all_keys, values, &used);
            let own: Vec<bool> = values.iter().map(|value| !value.is_empty()).collect();
            let (search_keys, search_values) = restrict(&keys, &values, &own);
            let find = |list: Option<NodeId>| self.find_item(list, &search_keys, &search_values);
            let pair = Sources { target: find(sources.target)?, patch: find(sources.patch)? };
            let merged = self.walk(pair, schema.clone())?.map(|merged| merged.node);
            let kept = self
                .present(merged)
                .filter(|node| !(self.tree.kind(*node) == Kind::Mapping && self.tree.content(*node).is_empty()));
            match kept {
                None => set_element(self.tree, dest, None, &keys, &values)?,
                Some(node) => {
                    for (key, value) in keys.iter().zip(&values).filter(|(_, value)| !value.is_empty()) {
                        self.restore_key(node, key, value)?;
                    }
                    set_element(self.tree, merged_items, Some(node), &keys, &values)?;
                }
            }
            last_keys = keys;
        }
        if all_values.is_empty() {
            return Ok(dest);
        }
        match self.new_items {
            NewItems::First => self.append_list(merged_items, dest, &last_keys),
            NewItems::Last => self.append_list(dest, merged_items, &last_keys),
        }
    }

    /// Merges two lists of many items, by an index of each list.
    fn indexed_items(
        &mut self,
        sources: Sources,
        schema: Option<SchemaNode>,
        all_values: &[Vec<String>],
        (all_keys, used): (&[String], &[bool]),
        indexes: [Option<index::Index>; 2],
        merged_items: NodeId,
    ) -> Result<NodeId> {
        let Some(dest) = sources.target else { return Ok(merged_items) };
        let [in_target, in_patch] = indexes;
        let mut gone = HashSet::new();
        let mut merged_content = Vec::with_capacity(all_values.len());
        let mut last_keys = Vec::new();
        for values in all_values {
            let (keys, values) = restrict(all_keys, values, used);
            let find = |index: &Option<index::Index>| index.as_ref().and_then(|index| index.find(&values));
            let pair = Sources { target: find(&in_target), patch: find(&in_patch) };
            let merged = self.walk(pair, schema.clone())?.map(|merged| merged.node);
            let kept = self
                .present(merged)
                .filter(|node| !(self.tree.kind(*node) == Kind::Mapping && self.tree.content(*node).is_empty()));
            match kept {
                None => drop(gone.insert(values)),
                Some(node) => {
                    for (key, value) in keys.iter().zip(&values) {
                        self.restore_key(node, key, value)?;
                    }
                    merged_content.push(node);
                }
            }
            last_keys = keys;
        }
        self.tree.node_mut(merged_items).content = merged_content;
        index::remove(self.tree, dest, &last_keys, &gone);
        if all_values.is_empty() {
            return Ok(dest);
        }
        match self.new_items {
            NewItems::First => self.append_list(merged_items, dest, &last_keys),
            NewItems::Last => self.append_list(dest, merged_items, &last_keys),
        }
    }

    /// Makes sure that a merged item has its key; a scalar item is set to its own text.
    fn restore_key(&mut self, item: NodeId, key: &str, value: &str) -> Result<()> {
        if self.tree.value_of(item, key).is_some() {
            return Ok(());
        }
        let value = self.tree.add(Node::scalar(value));
        if key.is_empty() {
            return self.tree.set_scalar(item, value);
        }
        self.tree.set_field(item, key, Some(value), SetOptions::default())?;
        Ok(())
    }

    /// Puts the items of `from` into `list`, in the place of those with the same keys.
    fn append_list(&mut self, list: NodeId, from: NodeId, keys: &[String]) -> Result<NodeId> {
        if index::append(self.tree, list, from, keys)? {
            return Ok(list);
        }
        for item in self.tree.content(from).to_vec() {
            if keys.first().is_some_and(String::is_empty) {
                let text = self.tree.text(item).to_owned();
                set_element(self.tree, list, Some(item), keys, &[text])?;
                continue;
            }
            let mut values = Vec::with_capacity(keys.len());
            for key in keys {
                match self.tree.get(item, key)? {
                    Some(value) => values.push(self.tree.text(value).to_owned()),
                    None => self.tree.append(list, item)?,
                }
            }
            if keys.len() > 1 {
                set_element(self.tree, list, None, keys, &values)?;
            }
            set_element(self.tree, list, Some(item), keys, &values)?;
        }
        Ok(list)
    }
}

/// Fills the gaps of items that agree in what both have: `[80, ""]` and `[80, TCP]` are one item.
///
/// Rows that differ in their first values have nothing in common, so only those with the same one, or without any, are
/// looked at.
fn unify(tree: &Tree, all: &mut [Vec<String>]) -> Result<()> {
    let mut by_first: HashMap<String, Vec<usize>> = HashMap::with_capacity(all.len());
    for (index, row) in all.iter().enumerate() {
        by_first.entry(row.first().cloned().unwrap_or_default()).or_default().push(index);
    }
    let open = by_first.get("").cloned().unwrap_or_default();
    for first in 0..all.len() {
        // Go ranges over the rows as they were when the outer loop came to them.
        let values = all.get(first).cloned().unwrap_or_default();
        let seconds = match values.first().filter(|value| !value.is_empty()) {
            None => (0..all.len()).collect(),
            Some(value) => {
                let mut seconds = by_first.get(value.as_str()).cloned().unwrap_or_default();
                seconds.extend(&open);
                // A row that was open when the rows were counted may have become one of these.
                seconds.sort_unstable();
                seconds.dedup();
                seconds
            }
        };
        tree.work(seconds.len())?;
        for second in seconds {
            let Some(unified) = all.get(second).and_then(|other| union(&values, other)) else { continue };
            for index in [first, second] {
                if let Some(row) = all.get_mut(index) {
                    row.clone_from(&unified);
                }
            }
        }
    }
    Ok(())
}

fn union(one: &[String], other: &[String]) -> Option<Vec<String>> {
    let mut common = false;
    let mut all = Vec::with_capacity(one.len());
    for (one, other) in one.iter().zip(other) {
        match (one.as_str(), other.as_str()) {
            (a, b) if a == b => common = true,
            ("", _) | (_, "") => {}
            _ => return None,
        }
        all.push(if one.is_empty() { other.clone() } else { one.clone() });
    }
    common.then_some(all)
}

/// The keys of which any item has a value, with their values; all of them when no item has any.
fn restrict(keys: &[String], values: &[String], used: &[bool]) -> (Vec<String>, Vec<String>) {
    if !used.contains(&true) {
        return (keys.to_vec(), values.to_vec());
    }
    keys.iter()
        .zip(values)
        .zip(used)
        .filter(|(_, used)| **used)
        .map(|((key, value), _)| (key.clone(), value.clone()))
        .unzip()
}

/// Replaces the items that have these values under these keys, adds the item where there is no such item, or removes them
/// (kyaml `ElementSetter`).
///
/// An empty value only asks for the key. Empty items are dropped on the way.
pub(super) fn set_element(
    tree: &mut Tree,
    list: NodeId,
    element: Option<NodeId>,
    keys: &[String],
    values: &[String],
) -> Result<()> {
    tree.expect(list, Kind::Sequence)?;
    tree.work(tree.content(list).len())?;
    let by_mapping = keys.first().is_some_and(|key| !key.is_empty()) && values.first().is_some_and(|v| !v.is_empty());
    let mut kept = Vec::with_capacity(tree.content(list).len() + 1);
    let mut found = false;
    for item in tree.content(list) {
        let node = tree.node(*item);
        if node.is_null() || (node.kind == Kind::Mapping && node.content.is_empty()) {
            continue;
        }
        if node.kind != Kind::Mapping && by_mapping {
            kept.push(*item);
            continue;
        }
        if matches(tree, *item, keys, values)? {
            found = true;
            kept.extend(element);
        } else if !values.is_empty() {
            kept.push(*item);
        }
    }
    if !found {
        kept.extend(element.filter(|element| !tree.node(*element).is_null()));
    }
    tree.node_mut(list).content = kept;
    Ok(())
}

fn matches(tree: &Tree, item: NodeId, keys: &[String], values: &[String]) -> Result<bool> {
    let mut matched = false;
    for (index, key) in keys.iter().enumerate() {
        if let Some(value) = values.get(index) {
            matched = if key.is_empty() {
                tree.expect(item, Kind::Scalar)?;
                tree.text(item) == value
            } else {
                tree.get(item, key)?.is_some_and(|field| value.is_empty() || tree.text(field) == value)
            };
        }
        if !matched {
            return Ok(false);
        }
    }
    Ok(matched)
}
