//! Aliases and merge keys of nodes replaced by what they refer to.

use std::collections::{HashMap, HashSet};

use super::error::Error;
use super::node::{Data, Node};
use super::tag::Tag;
use super::{Limits, Mark};

type Result<T> = std::result::Result<T, Error>;

/// Replaces each alias in the document `root` by a copy of what it refers to, and each merge key by the entries it
/// brings in; drops the anchors.
///
/// Merged entries come after those of the mapping itself, which win; of several merged mappings the first one wins.
/// The copy has the comments of the original, not of the alias.
///
/// # Errors
///
/// An alias contains itself or has no anchor, a merge key has something else than mappings, or a limit is passed.
///
/// Reference: kyaml 0.21.1 yaml/rnode.go, `DeAnchor`.
pub fn resolve_aliases(mut root: Node, limits: &Limits) -> Result<Node> {
    let mut named = HashSet::new();
    name_aliases(&root, &mut named);
    Resolver { limits, named, anchors: HashMap::new(), nodes: 0, aliased_bytes: 0, depth: 0 }.node(&mut root)?;
    Ok(root)
}

/// Collects the names that aliases refer to.
fn name_aliases(node: &Node, named: &mut HashSet<Box<str>>) {
    match &node.data {
        Data::Scalar(_) => {}
        Data::Alias(name) => drop(named.insert(name.as_str().into())),
        Data::Sequence(items) => items.iter().for_each(|item| name_aliases(item, named)),
        Data::Mapping(entries) => {
            for (key, value) in entries {
                name_aliases(key, named);
                name_aliases(value, named);
            }
        }
    }
}

struct Resolver<'a> {
    limits: &'a Limits,
    /// The anchors that are used: of the others no copy is kept.
    named: HashSet<Box<str>>,
    anchors: HashMap<Box<str>, Anchor>,
    nodes: usize,
    /// The size of the scalars in all copies.
    aliased_bytes: usize,
    depth: u32,
}

enum Anchor {
    /// Its node is being resolved: an alias to it would contain itself.
    Open,
    Known {
        node: Node,
        size: usize,
        bytes: usize,
        depth: u32,
    },
}

impl Resolver<'_> {
    fn node(&mut self, node: &mut Node) -> Result<()> {
        let before = self.nodes;
        self.count(1, node.mark)?;
        let anchor = node.anchor.take().filter(|name| self.named.contains(name));
        if let Some(name) = &anchor {
            self.anchors.insert(name.clone(), Anchor::Open);
        }
        match &mut node.data {
            Data::Scalar(_) => {}
            Data::Alias(_) => return self.replace(node),
            Data::Sequence(items) => {
                self.enter(1, node.mark)?;
                for item in items {
                    self.node(item)?;
                }
                self.depth -= 1;
            }
            Data::Mapping(entries) => {
                self.enter(1, node.mark)?;
                self.mapping(entries)?;
                self.depth -= 1;
            }
        }
        match anchor {
            Some(name) => self.keep(name, node, self.nodes - before),
            None => Ok(()),
        }
    }

    /// Keeps a copy of `node`, which has `size` nodes, for the aliases to it.
    fn keep(&mut self, name: Box<str>, node: &Node, size: usize) -> Result<()> {
        // The copy counts as well, or nested anchors would take more and more.
        self.count(size, node.mark)?;
        let bytes = bytes_of(node);
        self.count_bytes(bytes, node.mark)?;
        self.anchors.insert(name, Anchor::Known { node: node.clone(), size, bytes, depth: depth_of(node) });
        Ok(())
    }

    fn replace(&mut self, node: &mut Node) -> Result<()> {
        if let Data::Alias(name) = &node.data {
            *node = self.alias(name, node.mark)?;
        }
        Ok(())
    }

    fn alias(&mut self, name: &str, mark: Mark) -> Result<Node> {
        let (size, bytes, depth) = match self.anchors.get(name) {
            None => return Err(Error::yaml(format!("unknown anchor '{name}' referenced"), Some(mark))),
            Some(Anchor::Open) => {
                return Err(Error::yaml(format!("anchor '{name}' value contains itself"), Some(mark)));
            }
            Some(Anchor::Known { size, bytes, depth, .. }) => (*size, *bytes, *depth),
        };
        // The limits come first: the copy may be large.
        self.enter(depth, mark)?;
        self.depth -= depth;
        self.count(size, mark)?;
        self.count_bytes(bytes, mark)?;
        match self.anchors.get(name) {
            Some(Anchor::Known { node, .. }) => Ok(node.clone()),
            _ => Err(Error::yaml(format!("unknown anchor '{name}' referenced"), Some(mark))),
        }
    }

    fn count(&mut self, nodes: usize, mark: Mark) -> Result<()> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > self.limits.nodes {
            return Err(Error::too_many_nodes(mark));
        }
        Ok(())
    }

    fn count_bytes(&mut self, bytes: usize, mark: Mark) -> Result<()> {
        self.aliased_bytes = self.aliased_bytes.saturating_add(bytes);
        if self.aliased_bytes > self.limits.bytes {
            return Err(Error::aliases_too_long(mark, self.limits.bytes));
        }
        Ok(())
    }

    fn enter(&mut self, levels: u32, mark: Mark) -> Result<()> {
        self.depth = self.depth.saturating_add(levels);
        if self.depth > self.limits.depth {
            return Err(Error::too_deep(mark));
        }
        Ok(())
    }

    fn mapping(&mut self, entries: &mut Vec<(Node, Node)>) -> Result<()> {
        let mut merges = false;
        for (key, value) in entries.iter_mut() {
            if key.tag == Some(Tag::Merge) {
                self.merge_value(value)?;
                merges = true;
            } else {
                self.node(key)?;
                self.node(value)?;
            }
        }
        if merges { merge(entries) } else { Ok(()) }
    }

    fn merge_value(&mut self, value: &mut Node) -> Result<()> {
        let alias = matches!(value.data, Data::Alias(_));
        self.node(value)?;
        if alias && !matches!(value.data, Data::Mapping(_)) {
            return Err(Error::bare("invalid map merge: received alias for a non-map value", Some(value.mark)));
        }
        Ok(())
    }
}

/// Replaces the merge key by the entries of its value, which has been resolved.
fn merge(entries: &mut Vec<(Node, Node)>) -> Result<()> {
    let mut merges = entries.extract_if(.., |(key, _)| key.tag == Some(Tag::Merge));
    let merge = merges.next();
    if let Some((key, _)) = merges.next() {
        return Err(Error::bare("duplicate merge key", Some(key.mark)));
    }
    drop(merges);
    let own = entries.len();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (at, (key, _)) in entries.iter().enumerate() {
        known.entry(key.as_str().unwrap_or_default().to_owned()).or_insert(at);
    }
    for (key, value) in merge.map_or_else(|| Ok(Vec::new()), |(_, value)| merged(value))? {
        let place = key.as_str().map(|key| known.entry(key.to_owned()).or_insert(entries.len()));
        // One that was merged before is replaced, in its place; one of the mapping itself stays.
        match place.and_then(|at| entries.get_mut(*at).map(|entry| (*at < own, entry))) {
            None => entries.push((key, value)),
            Some((true, _)) => {}
            Some((false, entry)) => entry.1 = value,
        }
    }
    Ok(())
}

/// The entries of what a merge key names, the strongest last.
fn merged(value: Node) -> Result<Vec<(Node, Node)>> {
    const NO_MAPPING: &str = "map merge requires map or sequence of maps as the value";
    match value.data {
        Data::Mapping(entries) => Ok(entries),
        Data::Sequence(items) => {
            let mut all = Vec::new();
            for item in items.into_iter().rev() {
                match item.data {
                    Data::Mapping(entries) => all.extend(entries),
                    Data::Sequence(_) => {
                        return Err(Error::bare("invalid map merge: received a nested sequence", Some(item.mark)));
                    }
                    Data::Scalar(_) | Data::Alias(_) => return Err(Error::bare(NO_MAPPING, Some(item.mark))),
                }
            }
            Ok(all)
        }
        Data::Scalar(_) | Data::Alias(_) => Err(Error::bare(NO_MAPPING, Some(value.mark))),
    }
}

/// The size of all scalars of a node.
fn bytes_of(node: &Node) -> usize {
    match &node.data {
        Data::Scalar(text) => text.len(),
        Data::Sequence(items) => items.iter().map(bytes_of).sum(),
        Data::Mapping(entries) => entries.iter().map(|(key, value)| bytes_of(key) + bytes_of(value)).sum(),
        Data::Alias(_) => 0,
    }
}

fn depth_of(node: &Node) -> u32 {
    let children = match &node.data {
        Data::Sequence(items) => items.iter().map(depth_of).max(),
        Data::Mapping(entries) => entries.iter().map(|(key, value)| depth_of(key).max(depth_of(value))).max(),
        Data::Scalar(_) | Data::Alias(_) => return 0,
    };
    children.unwrap_or(0) + 1
}
