//! Alerts that nothing raises any more.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;

use super::{Around, Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many alerts are named.
const NAMED_MAX: usize = 4;

fn is_rule(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("monitoring.coreos.com", "PrometheusRule")
}

fn alerts(rule: &Manifest) -> BTreeSet<&str> {
    let rules = items(rule.object(), &["spec", "groups"]).iter().flat_map(|group| items(group, &["rules"]));
    rules.map(|rule| word(rule, &["alert"])).filter(|alert| !alert.is_empty()).collect()
}

/// Alerts that a rule had and that no other rule has.
///
/// Reference: prometheus-operator/prometheus-operator Documentation/api-reference/api.md `PrometheusRule`.
pub(super) fn gone<'a>(old: &'a Manifest, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    if !is_rule(old) || new.is_none() && !pruning.removes() {
        return None;
    }
    let rules = around.model.after.all().iter().map(|one| one.manifest).filter(|one| is_rule(one));
    let has: BTreeSet<&str> = rules.flat_map(alerts).collect();
    let was = alerts(old);
    let gone: BTreeSet<&str> = was.difference(&has).copied().collect();
    // One that comes for each that goes is the same one by another name.
    let comes = new.map(|new| alerts(new).difference(&was).count()).unwrap_or_default();
    (gone.len() > comes).then(|| {
        let start = if new.is_none() { "removed: " } else { "" };
        let names = listed(gone.iter().map(|alert| format!("`{alert}`")), NAMED_MAX);
        let alerts = if gone.len() == 1 { "alert" } else { "alerts" };
        let text = format!("{start}nothing raises the {alerts} {names} any more");
        let danger = Danger::said(Severity::Other, "alertGone", text, "check that another alert is raised for it");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}
