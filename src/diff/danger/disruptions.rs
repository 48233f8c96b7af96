//! PodDisruptionBudgets: what they keep running while nodes are drained.

use go_yaml::Value;

use super::availability::fewest;
use super::{Around, Danger, Severity, What};
use crate::diff::model::{Placed, Side, covers};
use crate::manifest::Manifest;

/// A PodDisruptionBudget that goes, or that allows no disruption any more.
///
/// Reference: kubernetes docs/tasks/run-application/configure-pdb.
pub(super) fn budget<'a>(old: Option<&'a Manifest>, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
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
    if let Some(danger) = old.and_then(|old| unselected(old, new, around)) {
        return Some(danger);
    }
    if let Some(danger) = old.and_then(|old| toothless(old, new)) {
        return Some(danger);
    }
    let reason = block(around.after(new), &around.model.after);
    let was = old.and_then(|old| block(around.before(old), &around.model.before));
    let blocked = format!("{}: nodes that run its Pods cannot be drained", reason.filter(|_| was.is_none())?);
    Some(Danger::new(Severity::Other, What::Blocking { blocked }))
}

/// A budget whose Pods are there without the labels by which it chose them.
fn unselected<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let selector = |budget: &'a Manifest| budget.object().at(&["spec", "selector"]);
    let (before, after) = (around.before(old), around.after(new));
    let is_empty = around.model.after.selected(after.namespace, selector(new)).next().is_none();
    let left = around.left_out(after.namespace, selector(old)?, selector(new)?);
    (before.namespace == after.namespace && is_empty && !left.is_empty()).then(|| {
        let loss = "selects no Pods any more: all of them may go down at once when nodes are drained";
        Danger::said(Severity::Other, "unselected", loss.to_owned(), "select labels that its Pods have")
    })
}

/// A budget that keeps no Pod running.
fn toothless(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let amount = |budget: &Manifest, key| Amount::of(budget.object().at(&["spec", key])?);
    let is_open = |budget: &Manifest| {
        amount(budget, "minAvailable").is_some_and(Amount::is_none_of)
            || matches!(amount(budget, "maxUnavailable"), Some(Amount::Share(100..)))
    };
    (is_open(new) && !is_open(old)).then(|| {
        let text = "keeps no Pod running any more: all of them may go down at once when nodes are drained".to_owned();
        Danger::said(Severity::Outage, "unprotected", text, "keep a number that its clients need")
    })
}

/// Why a budget allows no disruption of the Pods that it selects; none when it does, and where that is not known.
///
/// Without Pods there is nothing to evict, and those of a DaemonSet are not evicted.
///
/// Reference: kubernetes 1.34 pkg/controller/disruption/disruption.go `getExpectedPodCount`, `updatePdbStatus`;
/// kubectl docs, drain (`--ignore-daemonsets`).
fn block(budget: Placed<'_>, side: &Side<'_>) -> Option<String> {
    let selector = budget.manifest.object().at(&["spec", "selector"]);
    let workloads: Vec<_> = side.selected(budget.namespace, selector).collect();
    let is_evicted = |one: &Placed<'_>| one.manifest.kind() != "DaemonSet" && fewest(*one, side) != Some(0);
    if !workloads.is_empty() && !workloads.iter().any(is_evicted) {
        return None;
    }
    // A sum over an unknown count is unknown; without any workload, the Pods are made elsewhere.
    let total = || workloads.iter().try_fold(0_i64, |total, one| total.checked_add(fewest(*one, side)?));
    let count = if workloads.is_empty() { None } else { total() };
    let amount = |key| Amount::of(budget.manifest.object().at(&["spec", key])?);
    if let Some(unavailable) = amount("maxUnavailable") {
        return unavailable.is_none_of().then(|| format!("`maxUnavailable: {unavailable}`"));
    }
    let available = amount("minAvailable")?;
    if !available.is_all_of(count) {
        return None;
    }
    Some(match (&available, count) {
        (Amount::Share(1..100), Some(count)) => {
            format!("`minAvailable: {available}` is rounded up to {count} of {count} Pods")
        }
        _ => format!("`minAvailable: {available}` are all Pods that there are"),
    })
}

/// A number of Pods, or a share of them in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Amount {
    Count(i64),
    Share(i64),
}

impl Amount {
    /// Reference: kubernetes 1.34 apimachinery pkg/util/intstr `GetScaledValueFromIntOrPercent`: a text without `%` is an error.
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Int(count) => Some(Self::Count(*count)),
            Value::String(share) => share.strip_suffix('%')?.parse().ok().map(Self::Share),
            _ => None,
        }
    }

    /// Whether it is zero Pods of any number. A share is rounded up, so that only 0% is.
    fn is_none_of(self) -> bool {
        matches!(self, Self::Count(0) | Self::Share(0))
    }

    /// Whether it is each of so many Pods. A share is rounded up; one of all Pods is all, also of an unknown number.
    fn is_all_of(self, count: Option<i64>) -> bool {
        match (self, count) {
            (Self::Share(100..), _) => true,
            (Self::Share(share), Some(count)) => {
                share > 0 && share.saturating_mul(count).saturating_add(99) / 100 >= count
            }
            (Self::Count(least), Some(count)) => least >= count,
            (_, None) => false,
        }
    }
}

/// As it is written.
impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Count(count) => write!(f, "{count}"),
            Self::Share(share) => write!(f, "{share}%"),
        }
    }
}
