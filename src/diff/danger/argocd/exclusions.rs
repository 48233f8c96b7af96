//! Kinds that Argo CD leaves out from now on.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_std::glob::Glob;
use go_yaml::{Limits, Value, sigs};

use super::{CONFIG, is_config_map};
use crate::diff::danger::{Around, Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::{Manifest, OWN_CLUSTER};

/// How many kinds are named.
const NAMED_MAX: usize = 4;

/// Kinds that are deployed and that the settings of Argo CD exclude from now on.
///
/// Reference: argo-cd 3.4 util/settings/filtered_resource.go `Match`: globs, and an empty list is for all;
/// docs/operator-manual/declarative-setup.md, "Resource Exclusion/Inclusion": with inclusions, all else is left out.
pub(in crate::diff::danger) fn excluded<'a>(
    old: Option<&'a Manifest>,
    new: &'a Manifest,
    around: &Around<'a>,
) -> Option<Danger> {
    if !is_config_map(new, CONFIG) {
        return None;
    }
    let of_both = |config: &Manifest| KEYS.map(|key| entries(config, key));
    let [excluded, included] = of_both(new);
    let [was_excluded, was_included] = old.map(of_both).unwrap_or_default();
    if excluded == was_excluded && included == was_included {
        return None;
    }
    let covers = |all: &[Value], kind: &(String, String)| all.iter().any(|one| is_for(one, kind));
    let has = |excluded: &[Value], included: &[Value], kind: &(String, String)| {
        (included.is_empty() || covers(included, kind)) && !covers(excluded, kind)
    };
    // Those of other branches are not known: kinds that all have count as deployed.
    let usual = USUAL.iter().map(|(group, kind)| ((*group).to_owned(), (*kind).to_owned()));
    let kinds: BTreeSet<(String, String)> = around.model.after.group_kinds().into_iter().chain(usual).collect();
    let is_lost = |kind: &(String, String)| has(&was_excluded, &was_included, kind) && !has(&excluded, &included, kind);
    let kinds: BTreeSet<(String, String)> = kinds.into_iter().filter(is_lost).collect();
    let is_by_exclusion = kinds.iter().any(|kind| covers(&excluded, kind));
    let kinds: BTreeSet<String> = kinds.into_iter().map(|(_, kind)| kind).collect();
    (!kinds.is_empty()).then(|| {
        let does = if is_by_exclusion { "`resource.exclusions` has" } else { "`resource.inclusions` leaves out" };
        let text =
            format!("{does} {} now: Argo CD no longer applies, shows or prunes such objects", listed(kinds, NAMED_MAX));
        Danger::said(Severity::Other, "excluded", text, "keep the kinds out of it that are deployed")
    })
}

const KEYS: [&str; 2] = ["resource.exclusions", "resource.inclusions"];

/// Groups and kinds that are deployed from git as a rule.
const USUAL: [(&str, &str); 12] = [
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("batch", "CronJob"),
    ("", "Service"),
    ("", "ConfigMap"),
    ("", "ServiceAccount"),
    ("networking.k8s.io", "Ingress"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("policy", "PodDisruptionBudget"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
];

/// The entries; none where the text is not YAML.
fn entries(config: &Manifest, key: &str) -> Vec<Value> {
    let text = word(config.object(), &["data", key]);
    let read = sigs::unmarshal(text.as_bytes(), &Limits::default()).ok();
    read.and_then(|value| value.as_sequence().map(<[Value]>::to_vec)).unwrap_or_default()
}

fn is_for(entry: &Value, (group, kind): &(String, String)) -> bool {
    let has = |list: &str, text: &str| {
        let all = items(entry, &[list]);
        let mut globs = all.iter().filter_map(Value::as_str).filter_map(|one| Glob::without_separator(one).ok());
        all.is_empty() || globs.any(|glob| glob.matches(text))
    };
    has("apiGroups", group) && has("kinds", kind) && has("clusters", OWN_CLUSTER)
}
