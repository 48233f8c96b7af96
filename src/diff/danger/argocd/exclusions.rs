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
/// docs/operator-manual/declarative-setup.md, "Resource Exclusion/Inclusion".
pub(in crate::diff::danger) fn excluded<'a>(
    old: Option<&'a Manifest>,
    new: &'a Manifest,
    around: &Around<'a>,
) -> Option<Danger> {
    if !is_config_map(new, CONFIG) {
        return None;
    }
    let now = exclusions(new);
    let was = old.map(exclusions).unwrap_or_default();
    if now == was {
        return None;
    }
    let covers = |all: &[Value], kind: &(String, String)| all.iter().any(|one| is_for(one, kind));
    let kinds = around.model.after.group_kinds();
    let kinds = kinds.into_iter().filter(|kind| covers(&now, kind) && !covers(&was, kind));
    let kinds: BTreeSet<String> = kinds.map(|(_, kind)| kind).collect();
    (!kinds.is_empty()).then(|| {
        let text = format!(
            "`resource.exclusions` has {} now: Argo CD no longer applies, shows or prunes such objects",
            listed(kinds, NAMED_MAX)
        );
        Danger::said(Severity::Other, "excluded", text, "keep the kinds out of it that are deployed")
    })
}

/// The entries; none where the text is not YAML.
fn exclusions(config: &Manifest) -> Vec<Value> {
    let text = word(config.object(), &["data", "resource.exclusions"]);
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
