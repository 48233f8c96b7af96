//! Objects that a sync deletes and makes again.

use super::{Danger, Severity, has_sync_option, immutable, operators};
use crate::manifest::Manifest;

/// Whether each sync that applies an object deletes it first.
///
/// Reference: argo-cd 3.4 gitops-engine/pkg/sync/sync_context.go `applyObject`, pkg/utils/kube/resource_ops.go
/// `ReplaceResource`: `kubectl replace --force` deletes and creates. CRDs and Namespaces are updated instead.
fn is_replaced(object: &Manifest) -> bool {
    let is_kept = matches!((object.home_group(), object.kind()), ("apiextensions.k8s.io", _) | ("", "Namespace"));
    !is_kept && has_sync_option(object, "Force=true") && has_sync_option(object, "Replace=true")
}

/// What is lost with an object that is deleted and made again, whatever changed in it. What cannot change otherwise is said by
/// [`immutable`].
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    if old == new || !is_replaced(new) || !immutable::fields(old, new).is_empty() {
        return None;
    }
    let owned = operators::loss(new).map(|(severity, _)| severity);
    let (severity, loss) = match owned.or_else(|| immutable::severity(new, true))? {
        Severity::DataLoss => (Severity::DataLoss, "its data go with it"),
        Severity::Outage if new.kind() == "Service" => (Severity::Outage, "its address changes"),
        Severity::Outage => (Severity::Outage, "nothing runs until it is there again"),
        _ => return None,
    };
    let text = format!("the sync deletes it and creates it again (`Force=true` and `Replace=true`): {loss}");
    Some(Danger::said(severity, "replaced", text, "keep the options for Jobs and what holds nothing"))
}
