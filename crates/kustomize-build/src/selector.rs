//! Which resources a patch or a replacement means.

use super::error::{Error, Result};
use super::id::{Gvk, OwnedResId, ResId};
use super::label_selector::LabelSelector;
use super::pattern::Pattern;
use super::resource;
use super::tree::{NodeId, Tree};

/// A selector as it is written: empty parts match everything, the parts of the id are regular expressions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Selector {
    pub id: OwnedResId,
    pub annotations: String,
    pub labels: String,
}

impl Selector {
    /// An error when a pattern is not valid. A bad label or annotation selector is an error only when it is used.
    pub(crate) fn compile(&self) -> Result<CompiledSelector> {
        Ok(CompiledSelector {
            group: Pattern::whole(&self.id.gvk.group)?,
            version: Pattern::whole(&self.id.gvk.version)?,
            kind: Pattern::whole(&self.id.gvk.kind)?,
            name: Pattern::whole(&self.id.name)?,
            namespace: Pattern::whole(&self.id.namespace)?,
            labels: LabelSelector::parse(&self.labels),
            annotations: LabelSelector::parse(&self.annotations),
            has_id: self.id != OwnedResId::default(),
            has_metadata: !self.annotations.is_empty() || !self.labels.is_empty(),
        })
    }
}

#[derive(Debug)]
pub(crate) struct CompiledSelector {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    labels: std::result::Result<LabelSelector, String>,
    annotations: std::result::Result<LabelSelector, String>,
    pub has_id: bool,
    pub has_metadata: bool,
}

impl CompiledSelector {
    /// How much work it is to ask for one resource: patterns that are compiled look at all of their program.
    pub(crate) fn cost(&self) -> usize {
        [&self.group, &self.version, &self.kind, &self.name, &self.namespace].map(Pattern::cost).iter().sum()
    }

    pub(crate) fn matches_gvk(&self, tree: &Tree, gvk: Gvk<'_>) -> Result<bool> {
        let work = |work| tree.work(work);
        Ok(self.group.is_match(gvk.group, work)?
            && self.version.is_match(gvk.version, work)?
            && self.kind.is_match(gvk.kind, work)?)
    }

    pub(crate) fn matches_name(&self, tree: &Tree, name: &str) -> Result<bool> {
        self.name.is_match(name, |work| tree.work(work))
    }

    pub(crate) fn matches_namespace(&self, tree: &Tree, namespace: &str) -> Result<bool> {
        self.namespace.is_match(namespace, |work| tree.work(work))
    }

    /// Whether an id matches with the namespace that it has, not the one that it means.
    pub(crate) fn matches_id(&self, tree: &Tree, id: &ResId<'_>) -> Result<bool> {
        Ok(self.matches_gvk(tree, id.gvk)?
            && self.matches_name(tree, id.name)?
            && self.matches_namespace(tree, id.namespace)?)
    }

    /// Whether one of some ids matches.
    pub(crate) fn matches_any(&self, tree: &Tree, ids: &[ResId<'_>]) -> Result<bool> {
        for id in ids {
            if self.matches_id(tree, id)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether labels and annotations match.
    pub(crate) fn matches_metadata(&self, tree: &Tree, root: NodeId) -> Result<bool> {
        let labels = self.labels.as_ref().map_err(Error::new)?;
        let annotations = self.annotations.as_ref().map_err(Error::new)?;
        if labels.is_empty() && annotations.is_empty() {
            return Ok(true);
        }
        Ok(labels.matches(&resource::labels(tree, root)) && annotations.matches(&resource::annotations(tree, root)))
    }
}
