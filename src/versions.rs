//! The versions of what we do the same as: where an upgrade starts (`.github/CONTRIBUTING.md`).

pub use helm_template::version::Helm;

/// Kustomize, as which kustomizations build.
pub(crate) const KUSTOMIZE: &str = "5.8.1";

/// Argo CD, whose rules apply to Applications, ApplicationSets (commit `37ee0097`) and the `argocd` profile.
pub(crate) const ARGO_CD: &str = "3.6";
