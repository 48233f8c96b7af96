//! The versions of what we do the same as, in one place: where an upgrade starts (`.github/CONTRIBUTING.md`).

/// Helm, whose `helm template` charts render as.
pub(crate) const HELM: &str = "4.2.3";

/// The commit of that Helm, which templates see.
pub(crate) const HELM_COMMIT: &str = "43e8b7feece8beb0fcba47059ec9b522fd929a64";

/// The Go that it is built with, which templates see, and whose library [`crate::go`] follows.
pub(crate) const GO: &str = "1.26.5";

/// Kustomize, whose `kustomize build` kustomizations build as.
pub(crate) const KUSTOMIZE: &str = "5.8.1";

/// The minor version of Kubernetes whose client library Helm is built with: `.Capabilities` without a cluster.
pub(crate) const KUBERNETES_MINOR: &str = "36";

/// Argo CD, whose rules hold for Applications, ApplicationSets (commit `37ee0097`) and the `argocd` profile.
pub(crate) const ARGO_CD: &str = "3.6";
