//! Finds an object in the manifests of a branch.

use serde::Serialize;

use crate::diff::ObjectName;
use crate::manifest::{Manifest, without_hash};

/// An object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Object {
    /// `apiVersion`.
    pub api_version: String,
    /// `kind`.
    pub kind: String,
    /// The namespace as written, empty when there is none.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl From<&Manifest> for Object {
    fn from(manifest: &Manifest) -> Self {
        let ObjectName { api_version, kind, namespace, name } = ObjectName::of(manifest);
        Self { api_version, kind, namespace, name }
    }
}

impl Object {
    /// The name as Kustomize's generator has it, without the hash; none of an object without one.
    pub(crate) fn stem(&self) -> Option<&str> {
        let group = self.api_version.rsplit_once('/').map_or("", |(group, _)| group);
        without_hash(group, &self.kind, &self.name)
    }

    /// As changes name it.
    pub(crate) fn name(&self) -> ObjectName {
        let Self { api_version, kind, namespace, name } = self.clone();
        ObjectName { api_version, kind, namespace, name }
    }
}

/// `Deployment shop/web`; `Namespace shop`.
impl std::fmt::Display for Object {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { kind, namespace, name, .. } = self;
        if namespace.is_empty() { write!(f, "{kind} {name}") } else { write!(f, "{kind} {namespace}/{name}") }
    }
}
