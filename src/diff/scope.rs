//! Which objects are in a namespace, as the CRDs of a branch say.

use std::collections::BTreeMap;

use super::model::Beside;
use crate::manifest::{Manifest, defined_scope, is_cluster_kind, is_cluster_scoped};

/// Where the objects of a kind are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// In no namespace.
    Cluster,
    /// In a namespace, which is certain.
    Namespaced,
    /// In a namespace, as those of most kinds are.
    Likely,
    /// Not known: its name begins as those of the whole cluster do.
    Unknown,
}

/// What CRDs say, and what is known of custom kinds that none of them defines.
pub(super) struct Scopes<'a> {
    /// By group and kind, whether objects of it are in no namespace.
    defined: BTreeMap<(&'a str, &'a str), bool>,
    beside: &'a Beside,
}

impl<'a> Scopes<'a> {
    /// Of the objects of paths that change, and of those beside them.
    pub(super) fn new(objects: impl Iterator<Item = &'a Manifest>, beside: &'a Beside) -> Self {
        Self { defined: objects.filter_map(defined_scope).collect(), beside }
    }

    pub(super) fn of(&self, manifest: &Manifest) -> Scope {
        let (group, kind) = (manifest.home_group(), manifest.kind());
        let is_defined = group.contains('.') && !is_cluster_kind(group, kind);
        let by_crd = || match self.defined.get(&(group, kind)) {
            Some(scope) => Some(*scope),
            None => self.beside.is_cluster_scoped(group, kind),
        };
        match is_defined.then(by_crd).flatten().or_else(|| is_cluster_scoped(group, kind)) {
            Some(true) => Scope::Cluster,
            Some(false) => Scope::Namespaced,
            None if kind.starts_with("Cluster") => Scope::Unknown,
            None => Scope::Likely,
        }
    }
}
