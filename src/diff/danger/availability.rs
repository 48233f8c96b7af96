//! How many Pods run, and how many must.

use super::{Danger, Severity, What, items, text};
use crate::diff::model::pods::{is_workload, replicas};
use crate::diff::model::{Placed, Side, of_workload, selects};
use crate::manifest::Manifest;

/// Replicas that go down to zero, or take data with them.
pub(super) fn scaled(old: &Manifest, new: &Manifest) -> Option<Danger> {
    match (replicas(old)?, replicas(new)?) {
        (from, to) if to < from && deletes_claims(new) => {
            Some(Danger::new(Severity::DataLoss, What::ScaledDown { from, to }))
        }
        (from @ 1.., 0) => Some(Danger::new(Severity::Outage, What::ScaledToZero { from })),
        _ => None,
    }
}

fn deletes_claims(set: &Manifest) -> bool {
    text(set, &["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"]) == "Delete"
        && !items(set.object(), &["spec", "volumeClaimTemplates"]).is_empty()
}

/// A selector that does not match the labels of the Pods that the workload makes, where it did before.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/deployment, "Selector".
pub(super) fn unmatched(old: Option<&Manifest>, new: &Manifest) -> Option<Danger> {
    let is_new = is_unmatched(new) && !old.is_some_and(is_unmatched);
    is_new.then(|| Danger::new(Severity::Refused, What::Unmatched))
}

fn is_unmatched(workload: &Manifest) -> bool {
    let has_template = workload.object().at(&["spec", "template"]).is_some();
    let is_selecting = is_workload(workload) && workload.kind() != "Rollout" && has_template;
    is_selecting && of_workload(workload).is_some_and(|selector| !selects(&selector, workload))
}

/// The fewest Pods that a workload has: what its autoscaler keeps, else its replicas.
pub(super) fn fewest(workload: Placed<'_>, side: &Side<'_>) -> Option<i64> {
    let minimum = side.autoscalers(workload).iter().map(|one| one.minimum).max();
    minimum.or_else(|| replicas(workload.manifest))
}
