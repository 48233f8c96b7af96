//! Which fields of which resources a transformer changes.

use std::fmt;

use go_yaml::Tag;

use super::error::{Error, Result};
use super::id::{Gvk, OwnedGvk, ResId};
use super::path;
use super::resource;
use super::tree::{Kind, NodeId, Tree};

/// One entry of a transformer's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FieldSpec {
    pub gvk: OwnedGvk,
    pub path: String,
    /// Whether the field is made where it is missing.
    pub create: bool,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    name: String,
    /// Written `name[]`: never created.
    sequence: bool,
}

impl Segment {
    fn new(text: String) -> Self {
        match text.strip_suffix("[]") {
            Some(name) => Self { name: name.to_owned(), sequence: true },
            None => Self { name: text, sequence: false },
        }
    }
}

impl FieldSpec {
    pub(crate) fn new(gvk: OwnedGvk, path: impl Into<String>, create: bool) -> Self {
        let path = path.into();
        let segments = path::split(&path, '/').into_iter().map(Segment::new).collect();
        Self { gvk, segments, path, create }
    }

    /// Whether a resource of this type is meant.
    pub(crate) fn applies_to(&self, gvk: Gvk<'_>) -> bool {
        gvk.is_selected(self.gvk.borrow())
    }

    /// The names of the fields on the way, unless a part of the path has another meaning.
    pub(crate) fn field_names(&self) -> Option<impl Iterator<Item = &str>> {
        let is_plain = |segment: &Segment| !segment.sequence && path::is_field_name(&segment.name);
        self.segments.iter().all(is_plain).then(|| self.segments.iter().map(|segment| segment.name.as_str()))
    }

    /// Whether an entry that is merged into a list says the same as this one, which is in it.
    fn covers(&self, incoming: &FieldSpec) -> bool {
        self.path == incoming.path && self.gvk.borrow().is_selected(incoming.gvk.borrow())
    }
}

impl fmt::Display for FieldSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.gvk.borrow(), self.create, self.path)
    }
}

/// Adds the entries that are not there yet; the same field with another `create` is an error.
pub(crate) fn merge_all(list: &mut Vec<FieldSpec>, incoming: &[FieldSpec]) -> Result<()> {
    incoming.iter().try_for_each(|spec| merge_one(list, spec))
}

/// Adds one entry.
pub(crate) fn merge_one(list: &mut Vec<FieldSpec>, incoming: &FieldSpec) -> Result<()> {
    match list.iter().find(|spec| spec.covers(incoming)) {
        Some(spec) if spec.create != incoming.create => Err(Error::new("conflicting fieldspecs")),
        Some(_) => Ok(()),
        None => {
            list.push(incoming.clone());
            Ok(())
        }
    }
}

/// What is made where the field is missing.
#[derive(Debug, Clone)]
pub(crate) struct Creation {
    pub kind: Kind,
    /// The tag that a null field gets.
    pub tag: Option<Tag>,
}

/// Calls `set` with every node that the path leads to in a resource that is meant (kustomize `fieldspec.Filter`).
///
/// A list on the way means each of its items. Null ends the way; a scalar is an error.
pub(crate) fn apply(
    tree: &mut Tree,
    root: NodeId,
    spec: &FieldSpec,
    creation: Option<&Creation>,
    set: &mut dyn FnMut(&mut Tree, NodeId) -> Result<()>,
) -> Result<()> {
    tree.work(1)?;
    if !spec.applies_to(resource::gvk(tree, root)) {
        return Ok(());
    }
    walk(tree, root, spec, creation, set)
}

/// Calls `set` with every node that the path leads to in a resource of any type; nothing is made.
pub(crate) fn apply_to_any(
    tree: &mut Tree,
    root: NodeId,
    spec: &FieldSpec,
    set: &mut dyn FnMut(&mut Tree, NodeId) -> Result<()>,
) -> Result<()> {
    walk(tree, root, spec, None, set)
}

fn walk(
    tree: &mut Tree,
    root: NodeId,
    spec: &FieldSpec,
    creation: Option<&Creation>,
    set: &mut dyn FnMut(&mut Tree, NodeId) -> Result<()>,
) -> Result<()> {
    let mut walk = Walk { creation: creation.filter(|_| spec.create), set };
    walk.node(tree, root, &spec.segments).map_err(|error| of_field(error, spec, tree, root))
}

fn of_field(error: Error, spec: &FieldSpec, tree: &Tree, root: NodeId) -> Error {
    let id = ResId::unscoped(resource::gvk(tree, root), resource::name(tree, root), resource::namespace(tree, root));
    error.prefix(format!("considering field '{}' of object {id}", spec.path))
}

/// Calls [`apply`] for each field spec of a list.
pub(crate) fn apply_all(
    tree: &mut Tree,
    root: NodeId,
    specs: &[FieldSpec],
    creation: Option<&Creation>,
    set: &mut dyn FnMut(&mut Tree, NodeId) -> Result<()>,
) -> Result<()> {
    specs.iter().try_for_each(|spec| apply(tree, root, spec, creation, set))
}

struct Walk<'w> {
    creation: Option<&'w Creation>,
    set: &'w mut dyn FnMut(&mut Tree, NodeId) -> Result<()>,
}

impl Walk<'_> {
    fn node(&mut self, tree: &mut Tree, id: NodeId, segments: &[Segment]) -> Result<()> {
        tree.work(1)?;
        let Some((segment, rest)) = segments.split_first() else { return (self.set)(tree, id) };
        let node = tree.node(id);
        if node.is_null() {
            return Ok(());
        }
        match node.kind {
            Kind::Mapping => self.field(tree, id, segment, rest),
            Kind::Sequence => {
                for index in 0..tree.content(id).len() {
                    let Some(item) = tree.content(id).get(index).copied() else { break };
                    self.node(tree, item, segments).map_err(|error| {
                        let path: Vec<&str> = segments.iter().map(|segment| segment.name.as_str()).collect();
                        error.prefix(format!("visit traversal on path: [{}]", path.join(" ")))
                    })?;
                }
                Ok(())
            }
            Kind::None | Kind::Scalar | Kind::Alias => Err(Error::new("expected sequence or mapping node")),
        }
    }

    fn field(&mut self, tree: &mut Tree, id: NodeId, segment: &Segment, rest: &[Segment]) -> Result<()> {
        let name = segment.name.as_str();
        if name.is_empty() {
            return Err(Error::new("cannot set or create an empty field name"));
        }
        // What a null field becomes, and what is created where the field is missing.
        let (hint, create) = match self.creation {
            _ if segment.sequence => (Some((Kind::Sequence, None)), None),
            None => (None, None),
            Some(creation) if rest.is_empty() => (Some((creation.kind, creation.tag.clone())), Some(creation.kind)),
            Some(_) => (Some((Kind::Mapping, Some(Tag::Map))), Some(Kind::Mapping)),
        };
        let found = match create {
            Some(kind) => tree.lookup_create(id, kind, &[name]),
            None => tree.lookup(id, &[name]),
        };
        let Some(field) = found.map_err(|error| error.prefix(format!("fieldName: {name}")))? else { return Ok(()) };
        if let Some((kind, tag)) = hint.filter(|_| tree.node(field).is_null()) {
            let node = tree.node_mut(field);
            (node.kind, node.tag) = (kind, tag);
        }
        self.node(tree, field, rest)
    }
}
