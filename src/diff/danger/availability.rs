//! How many Pods run, and how many must.

use go_yaml::Value;

use super::{Around, Danger, Severity, What, items, text};
use crate::diff::model::pods::replicas;
use crate::diff::model::{Placed, Side, covers, selects};
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
    let selector = workload.object().at(&["spec", "selector"]);
    let has_template = workload.object().at(&["spec", "template"]).is_some();
    let is_selecting = matches!(workload.group(), "apps") && has_template;
    is_selecting && selector.is_some_and(|selector| !selects(selector, workload))
}

/// A PodDisruptionBudget that goes, or that allows no disruption any more.
///
/// Reference: kubernetes docs/tasks/run-application/configure-pdb.
pub(super) fn disruptions<'a>(
    old: Option<&'a Manifest>,
    new: Option<&'a Manifest>,
    around: &Around<'a>,
) -> Option<Danger> {
    let budget = new.or(old).filter(|budget| budget.kind() == "PodDisruptionBudget")?;
    let selector = budget.object().at(&["spec", "selector"]);
    let Some(new) = new else {
        let (pruning, placed) = (around.pruning.of(budget), around.before(budget));
        let mut others = around.others("PodDisruptionBudget", placed);
        let is_taken_over = others.any(|other| covers(selector, other.object().at(&["spec", "selector"])));
        let is_lost = pruning.removes() && !is_taken_over && !around.are_pods_gone(placed.namespace, selector);
        let loss = "removed: all its Pods may go down at once when nodes are drained";
        return is_lost.then(|| Danger::new(Severity::Outage, What::Unprotected { loss }).pruned(pruning));
    };
    let reason = block(around.after(new), &around.model.after);
    let was = old.and_then(|old| block(around.before(old), &around.model.before));
    let blocked = format!("{}: nodes that run its Pods cannot be drained", reason.filter(|_| was.is_none())?);
    Some(Danger::new(Severity::Other, What::Blocking { blocked }))
}

/// Why a budget allows no disruption of the workloads that it selects; none when it does.
fn block(budget: Placed<'_>, side: &Side<'_>) -> Option<String> {
    if let Some((Some(0), written)) = count_or_share(budget.manifest, "maxUnavailable") {
        return Some(format!("`maxUnavailable: {written}`"));
    }
    let (count, written) = count_or_share(budget.manifest, "minAvailable")?;
    let count = count?;
    let is_all = match written.ends_with('%') {
        true => count >= 100,
        false => {
            let selector = budget.manifest.object().at(&["spec", "selector"]);
            let mut workloads = side.selected(budget.namespace, selector).peekable();
            workloads.peek().is_some() && workloads.filter_map(|one| fewest(one, side)).sum::<i64>() <= count
        }
    };
    is_all.then(|| format!("`minAvailable: {written}` are all Pods that there are"))
}

/// The fewest Pods that a workload has: what its autoscaler keeps, else its replicas.
pub(super) fn fewest(workload: Placed<'_>, side: &Side<'_>) -> Option<i64> {
    let minimum = side.autoscalers(workload).iter().map(|one| one.minimum).max();
    minimum.or_else(|| replicas(workload.manifest))
}

/// A field of a budget that is a count or a percentage: its number, if it has one, and its text.
fn count_or_share(budget: &Manifest, key: &str) -> Option<(Option<i64>, String)> {
    match budget.object().at(&["spec", key])? {
        Value::Int(count) => Some((Some(*count), count.to_string())),
        Value::String(share) => Some((share.trim_end_matches('%').parse().ok(), share.clone())),
        _ => None,
    }
}
