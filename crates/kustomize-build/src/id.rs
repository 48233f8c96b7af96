//! What a resource is called.

pub(crate) mod gvk;

use std::fmt;

use super::schema::Schema;

pub(crate) use gvk::{Gvk, OwnedGvk};

/// The namespace of what has none.
pub(crate) const CLUSTER: &str = "_non_namespaceable_";

/// A resource's id, now or at an earlier stage of the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResId<'a> {
    pub gvk: Gvk<'a>,
    pub name: &'a str,
    pub namespace: &'a str,
    /// Known to have no namespace. Never set on earlier ids, which carry [`CLUSTER`] instead.
    pub cluster_scoped: bool,
}

impl<'a> ResId<'a> {
    pub(crate) fn new(gvk: Gvk<'a>, name: &'a str, namespace: &'a str, schema: &Schema) -> Self {
        Self { gvk, name, namespace, cluster_scoped: schema.is_cluster_scoped(gvk) }
    }

    pub(crate) fn unscoped(gvk: Gvk<'a>, name: &'a str, namespace: &'a str) -> Self {
        Self { gvk, name, namespace, cluster_scoped: false }
    }

    pub(crate) fn effective_namespace(&self) -> &'a str {
        match self.namespace {
            _ if self.cluster_scoped => CLUSTER,
            "" => "default",
            namespace => namespace,
        }
    }

    pub(crate) fn same_namespace(&self, other: &ResId<'_>) -> bool {
        self.effective_namespace() == other.effective_namespace()
    }

    /// Whether both name the same object (resid `ResId.Equals`).
    pub(crate) fn is(&self, other: &ResId<'_>) -> bool {
        self.gvk == other.gvk && self.name == other.name && self.same_namespace(other)
    }

    /// A text that is equal for ids that name the same object.
    pub(crate) fn key(&self) -> String {
        let Gvk { group, version, kind } = self.gvk;
        [self.effective_namespace(), group, version, kind, self.name].join("\n")
    }
}

impl fmt::Display for ResId<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { "[noName]" } else { self.name };
        let namespace = if self.namespace.is_empty() { "[noNs]" } else { self.namespace };
        write!(f, "{}/{name}.{namespace}", self.gvk)
    }
}

/// An id that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct OwnedResId {
    pub gvk: OwnedGvk,
    pub name: String,
    pub namespace: String,
    pub cluster_scoped: bool,
}

impl From<ResId<'_>> for OwnedResId {
    fn from(id: ResId<'_>) -> Self {
        Self {
            gvk: OwnedGvk::new(id.gvk.group, id.gvk.version, id.gvk.kind),
            name: id.name.to_owned(),
            namespace: id.namespace.to_owned(),
            cluster_scoped: id.cluster_scoped,
        }
    }
}
