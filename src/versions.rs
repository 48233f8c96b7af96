//! The versions of what we do the same as: where an upgrade starts (`.github/CONTRIBUTING.md`).

mod argo_cd;
mod jsonnet;
mod kubernetes;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use argo_cd::ArgoCd;
pub use helm_template::version::Helm;
pub(crate) use jsonnet::Jsonnet;
pub(crate) use kubernetes::Kubernetes;
pub(crate) use kustomize_build::Kustomize;

/// Argo CD, whose rules apply to Applications, ApplicationSets (commit `37ee0097`) and the `argocd` profile.
pub(crate) const ARGO_CD: &str = "3.6";

/// The exact versions of the tools that are rendered as. The default is what no setting means, and stays so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tools {
    /// The version of Helm.
    pub helm: Helm,
    /// The version of Kustomize.
    pub kustomize: Kustomize,
    /// The version of go-jsonnet.
    pub jsonnet: Jsonnet,
}

impl Tools {
    /// The newest that there are.
    pub(crate) fn newest() -> Self {
        Self { helm: Helm::newest(), kustomize: Kustomize::default(), jsonnet: Jsonnet::default() }
    }
}

/// `Helm 4.2.3, Kustomize 5.8.1, Jsonnet 0.22.0`
impl fmt::Display for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Helm {}, Kustomize {}, Jsonnet {}", self.helm, self.kustomize, self.jsonnet)
    }
}
