//! Aliases and merge keys of nodes replaced by what they stand for.

use std::collections::{HashMap, HashSet};

use super::error::Error;
use super::node::{Data, Node, Tag};
use super::{Limits, Mark};

type Result<T> = std::result::Result<T, Error>;

/// Replaces each alias in the document `root` by a copy of what it refers to, and each merge key by the entries it
/// brings in; drops the anchors.
///
/// Merged entries stand behind those of the mapping itself, which win; of several merged mappings the first one wins.
/// The copy has the comments of the original, not of the alias.
///
/// # Errors
///
/// An alias holds itself or has no anchor, a merge key has something else than mappings, or a limit is passed.
///
/// Reference: kyaml 0.21.1 yaml/rnode.go, `DeAnchor`.
pub fn resolve_aliases(root: Node, limits: &Limits) -> Result<Node> {
    let mut named = HashSet::new();
    name_aliases(&root, &mut named);
    Resolver { limits, named, anchors: HashMap::new(), nodes: 0, depth: 0 }.node(root)
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
    depth: u32,
}

enum Anchor {
    /// Its node is being resolved: an alias to it would hold itself.
    Open,
    Known {
        node: Node,
        size: usize,
        depth: u32,
    },
}

impl Resolver<'_> {
    fn node(&mut self, mut node: Node) -> Result<Node> {
        let before = self.nodes;
        self.count(1, node.mark)?;
        let anchor = node.anchor.take().filter(|name| self.named.contains(name));
        if let Some(name) = &anchor {
            self.anchors.insert(name.clone(), Anchor::Open);
        }
        node.data = match node.data {
            Data::Alias(name) => return self.alias(&name, node.mark),
            Data::Scalar(text) => Data::Scalar(text),
            Data::Sequence(items) => {
                self.enter(1, node.mark)?;
                let items = items.into_iter().map(|item| self.node(item)).collect::<Result<_>>()?;
                self.depth -= 1;
                Data::Sequence(items)
            }
            Data::Mapping(entries) => {
                self.enter(1, node.mark)?;
                let entries = self.mapping(entries)?;
                self.depth -= 1;
                Data::Mapping(entries)
            }
        };
        if let Some(name) = anchor {
            let size = self.nodes - before;
            // The copy that is kept counts as well, or nested anchors would take more and more.
            self.count(size, node.mark)?;
            let known = Anchor::Known { node: node.clone(), size, depth: depth_of(&node) };
            self.anchors.insert(name, known);
        }
        Ok(node)
    }

    fn alias(&mut self, name: &str, mark: Mark) -> Result<Node> {
        let (size, depth) = match self.anchors.get(name) {
            None => return Err(Error::yaml(format!("unknown anchor '{name}' referenced"), Some(mark))),
            Some(Anchor::Open) => {
                return Err(Error::yaml(format!("anchor '{name}' value contains itself"), Some(mark)));
            }
            Some(Anchor::Known { size, depth, .. }) => (*size, *depth),
        };
        // The limits come first: the copy may be large.
        self.enter(depth, mark)?;
        self.depth -= depth;
        self.count(size, mark)?;
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

    fn enter(&mut self, levels: u32, mark: Mark) -> Result<()> {
        self.depth = self.depth.saturating_add(levels);
        if self.depth > self.limits.depth {
            return Err(Error::too_deep(mark));
        }
        Ok(())
    }

    fn mapping(&mut self, entries: Vec<(Node, Node)>) -> Result<Vec<(Node, Node)>> {
        let mut own = Vec::with_capacity(entries.len());
        let mut merge = None;
        for (key, value) in entries {
            if key.tag == Some(Tag::Merge) {
                if merge.is_some() {
                    return Err(Error::bare("duplicate merge key", Some(key.mark)));
                }
                merge = Some(self.merged(value)?);
            } else {
                own.push((self.node(key)?, self.node(value)?));
            }
        }
        let count = own.len();
        for (key, value) in merge.into_iter().flatten() {
            // One that was merged before is replaced, in its place; one of the mapping itself stays.
            match own.iter().position(|(known, _)| known.data == key.data) {
                None => own.push((key, value)),
                Some(at) if at < count => {}
                Some(at) => {
                    if let Some(entry) = own.get_mut(at) {
                        entry.1 = value;
                    }
                }
            }
        }
        Ok(own)
    }

    /// The entries that a merge key brings in, the strongest last.
    fn merged(&mut self, node: Node) -> Result<Vec<(Node, Node)>> {
        let alias = matches!(node.data, Data::Alias(_));
        let mark = node.mark;
        match node.data {
            Data::Sequence(items) => {
                let mut all = Vec::new();
                for item in items {
                    if matches!(item.data, Data::Sequence(_)) {
                        return Err(Error::bare("invalid map merge: received a nested sequence", Some(item.mark)));
                    }
                    all.push(self.merged(item)?);
                }
                Ok(all.into_iter().rev().flatten().collect())
            }
            _ => match self.node(node)?.data {
                Data::Mapping(entries) => Ok(entries),
                _ if alias => Err(Error::bare("invalid map merge: received alias for a non-map value", Some(mark))),
                _ => Err(Error::bare("map merge requires map or sequence of maps as the value", Some(mark))),
            },
        }
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
