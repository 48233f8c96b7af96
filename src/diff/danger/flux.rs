//! What Flux applied, and deletes or installs anew.
//!
//! Reference: fluxcd.io flux/components/kustomize/kustomizations, "Prune", "Deletion policy": with `prune: true` what it applied is deleted
//! with it, unless it is suspended; flux/components/helm/helmreleases, "Release name": one that changes is uninstalled and installed anew.

use go_yaml::Value;

use super::{Around, Danger, Severity};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// A Kustomization that goes, with all that it applied.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let flag = |key| old.object().at(&["spec", key]).and_then(Value::as_bool) == Some(true);
    let is_it = (old.home_group(), old.kind()) == ("kustomize.toolkit.fluxcd.io", "Kustomization");
    let deletes = match word(old.object(), &["spec", "deletionPolicy"]) {
        "" | "MirrorPrune" => flag("prune"),
        policy => policy == "Delete",
    };
    let pruning = around.pruning.of(old);
    (is_it && deletes && !flag("suspend") && pruning.removes()).then(|| {
        let text = "removed: Flux deletes all that it applied".to_owned();
        let advice = "keep it, or set `deletionPolicy: Orphan` in a commit before this one";
        Danger::said(Severity::Outage, "removed", text, advice).pruned(pruning)
    })
}

/// A release that gets another name.
pub(super) fn renamed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let name = |release: &Manifest| {
        let of = |key| word(release.object(), &["spec", key]).to_owned();
        match (of("releaseName").as_str(), of("targetNamespace").as_str()) {
            ("", "") => release.name().to_owned(),
            ("", namespace) => format!("{namespace}-{}", release.name()),
            (name, _) => name.to_owned(),
        }
    };
    let is_it = (new.home_group(), new.kind()) == ("helm.toolkit.fluxcd.io", "HelmRelease");
    let (from, to) = (name(old), name(new));
    (is_it && from != to).then(|| {
        let text = format!("release {from} → {to}: Flux uninstalls the one of before, with all that is in it");
        Danger::said(Severity::Outage, "removed", text, "keep the name of the release")
    })
}
