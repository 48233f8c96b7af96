//! What changes resources. One file a transformer; here is which there are and how one is run.

mod hash;
mod images;
mod json_patch;
mod labels;
mod name_affix;
mod name_reference;
mod namespace;
mod patch;
mod replacement;
mod replicas;
mod sort;
mod strategic_merge;
mod value_add;
mod variables;

use dry_files::path::RepoPath;
use go_yaml::Tag;

use super::error::Result;
use super::resources::Resources;
use super::session::Session;
use super::tree::{NodeId, SetOptions, Tree};

pub(crate) use images::Images;
pub(crate) use images::places::Places as ImagePlaces;
pub(crate) use json_patch::JsonPatches;
pub(crate) use labels::{Annotations, Labels};
pub(crate) use name_affix::{Affix, NameAffix};
pub(crate) use name_reference::fix_name_references;
pub(crate) use namespace::{Namespace, RoleBindingSubjects};
pub(crate) use patch::Patches;
pub(crate) use replacement::Replacements;
pub(crate) use replicas::Replicas;
pub(crate) use sort::sort;
pub(crate) use strategic_merge::StrategicMergePatches;
pub(crate) use value_add::{ValueAdd, ValueAddTarget};
pub(crate) use variables::{Variable, replace_variables};

pub(crate) use hash::add_hashes;

/// A transformer, configured and ready to run.
#[derive(Debug)]
pub(crate) enum Transformer {
    StrategicMergePatches(StrategicMergePatches),
    Patches(Patches),
    Namespace(Namespace),
    NameAffix(NameAffix),
    Labels(Labels),
    Annotations(Annotations),
    JsonPatches(JsonPatches),
    Replicas(Replicas),
    Images(Images),
    Replacements(Replacements),
    ValueAdd(ValueAdd),
    Hash,
}

impl Transformer {
    /// Changes all resources that are meant. Those that are deleted are left empty.
    pub(crate) fn run(&self, session: &mut Session<'_>, resources: &mut Resources) -> Result<()> {
        session.view.go_on(&RepoPath::root())?;
        if !matches!(self, Transformer::Images(_)) {
            session.images = None;
        }
        match self {
            Transformer::StrategicMergePatches(patches) => patches.run(session, resources)?,
            Transformer::Patches(patches) => patches.run(session, resources)?,
            Transformer::Namespace(namespace) => namespace.run(session, resources)?,
            Transformer::NameAffix(affix) => affix.run(session, resources)?,
            Transformer::Labels(labels) => labels.run(session, resources)?,
            Transformer::Annotations(annotations) => annotations.run(session, resources)?,
            Transformer::JsonPatches(patches) => patches.run(session, resources)?,
            Transformer::Replicas(replicas) => replicas.run(session, resources)?,
            Transformer::Images(images) => images.run(session, resources)?,
            Transformer::Replacements(replacements) => replacements.run(session, resources)?,
            Transformer::ValueAdd(values) => values.run(session, resources)?,
            Transformer::Hash => add_hashes(session, resources)?,
        }
        resources.changed();
        session.tree.check()
    }
}

/// Sets one field, or a scalar itself, to a value that all places share (kustomize `SetEntry`).
pub(crate) struct Setter<'v> {
    name: &'v str,
    node: NodeId,
}

impl<'v> Setter<'v> {
    pub(crate) fn new(tree: &mut Tree, name: &'v str, value: &str, tag: Option<Tag>) -> Self {
        let mut node = super::tree::Node::scalar(value);
        node.tag = tag;
        Self { name, node: tree.add(node) }
    }

    pub(crate) fn set(&self, tree: &mut Tree, target: NodeId) -> Result<()> {
        if self.name.is_empty() {
            return tree.set_scalar(target, self.node);
        }
        tree.set_field(target, self.name, Some(self.node), SetOptions::default())?;
        Ok(())
    }
}

/// Replaces a scalar by a text whose meaning follows from the style of the old one.
pub(crate) fn set_text(tree: &mut Tree, target: NodeId, text: &str) -> Result<()> {
    Setter::new(tree, "", text, None).set(tree, target)
}
