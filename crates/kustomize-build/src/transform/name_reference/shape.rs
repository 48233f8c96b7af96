//! Whether all fields of a resource that may have names can have them.
//!
//! Where nothing was renamed no reference changes, but Kustomize walks along each of its paths all the same, some thirty for a
//! Deployment, and stops at what it does not understand. Here the paths are one tree that is walked once; only for a resource
//! that it does not accept is each path taken by itself, which finds the error or none.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::field_spec::FieldSpec;
use crate::tree::{Kind, NodeId, Tree};

/// What the paths say of a node.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// A path ends here: it is a name, a mapping with one, or a list of these.
    is_name: bool,
    /// A path has more than names of fields from here on, so that nothing is known of it.
    is_open: bool,
    fields: BTreeMap<String, Shape>,
}

impl Shape {
    pub(super) fn of<'s>(specs: impl Iterator<Item = &'s FieldSpec>) -> Self {
        let mut shape = Self::default();
        for spec in specs {
            match spec.field_names() {
                None => shape.is_open = true,
                Some(names) => {
                    let end = names.fold(&mut shape, |at, name| at.fields.entry(name.to_owned()).or_default());
                    end.is_name = true;
                }
            }
        }
        shape
    }

    /// Whether each path surely leads to names, or to nothing.
    pub(super) fn accepts(&self, tree: &Tree, id: NodeId) -> Result<bool> {
        tree.work(1)?;
        if self.is_open || (self.is_name && !is_name(tree, id)) {
            return Ok(false);
        }
        self.accepts_fields(tree, id)
    }

    fn accepts_fields(&self, tree: &Tree, id: NodeId) -> Result<bool> {
        let node = tree.node(id);
        if self.fields.is_empty() || node.is_null() {
            return Ok(true);
        }
        match node.kind {
            Kind::Mapping => {
                for (name, shape) in &self.fields {
                    if let Some(field) = tree.value_of(id, name)
                        && !shape.accepts(tree, field)?
                    {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Kind::Sequence => {
                tree.work(node.content.len())?;
                for item in &node.content {
                    if !self.accepts_fields(tree, *item)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Kind::None | Kind::Scalar | Kind::Alias => Ok(false),
        }
    }
}

/// Whether a path may end at a node.
fn is_name(tree: &Tree, id: NodeId) -> bool {
    let node = tree.node(id);
    match node.kind {
        Kind::Sequence => node.content.iter().all(|item| is_one_name(tree, *item)),
        _ => is_one_name(tree, id),
    }
}

fn is_one_name(tree: &Tree, id: NodeId) -> bool {
    let node = tree.node(id);
    node.is_null()
        || match node.kind {
            Kind::Scalar => true,
            Kind::Mapping => tree.value_of(id, "name").is_some(),
            Kind::None | Kind::Sequence | Kind::Alias => false,
        }
}
