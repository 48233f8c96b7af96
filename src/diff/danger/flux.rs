//! What Flux applied, and deletes or installs anew.
//!
//! Reference: fluxcd.io flux/components/kustomize/kustomizations, "Prune", "Deletion policy": with `prune: true` what it applied is deleted
//! with it, unless it is suspended; flux/components/helm/helmreleases, "Release name": one that changes is uninstalled and installed anew.

use go_yaml::Value;

use super::application::is_range;
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

/// The end of the groups of Flux.
const GROUPS: &str = ".toolkit.fluxcd.io";

/// What Flux applies with more rights, does not check, cannot decrypt, deletes, or applies no more from now on.
///
/// Reference: fluxcd.io flux/components/kustomize/kustomizations, "Service Account reference", "Decryption", "Prune", "Suspend";
/// flux/components/source/gitrepositories and ocirepositories, "Verification"; flux/components/helm/helmreleases.
pub(super) fn changed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    if !new.home_group().ends_with(GROUPS) {
        return Vec::new();
    }
    let is_there = |object: &Manifest, path: &[&str]| object.object().at(path).is_some_and(|value| !value.is_null());
    let goes = |path: &[&str]| is_there(old, path) && !is_there(new, path);
    let starts = |key: &str| {
        let is_set = |object: &Manifest| object.object().at(&["spec", key]).and_then(Value::as_bool) == Some(true);
        is_set(new) && !is_set(old)
    };
    let applies = matches!(new.kind(), "Kustomization" | "HelmRelease");
    let mut found = Vec::new();
    if applies && goes(&["spec", "serviceAccountName"]) {
        let text =
            "`serviceAccountName` removed: Flux applies it with rights of its own, which are all as a rule".to_owned();
        found.push(Danger::said(Severity::Security, "widened", text, "keep an account that may do what is needed"));
    }
    if goes(&["spec", "verify"]) || goes(&["spec", "chart", "spec", "verify"]) {
        let text = "`verify` removed: its source is no longer checked for who signed it".to_owned();
        found.push(Danger::said(Severity::Security, "unchecked", text, "keep the check of signatures"));
    }
    if new.kind() == "Kustomization" && goes(&["spec", "decryption"]) {
        let text = "`decryption` removed: what SOPS encrypted in it cannot be applied, and nothing of it is".to_owned();
        let advice = "keep it while something in it is encrypted";
        found.push(Danger::said(Severity::Outage, "undecrypted", text, advice));
    }
    let ranges = [&["spec", "chart", "spec", "version"][..], &["spec", "ref", "semver"]];
    let is_floating = |object: &Manifest| ranges.iter().any(|path| is_range(word(object.object(), path)));
    if is_floating(new) && !is_floating(old) {
        let text = "its version is one of a range: which one is deployed is decided whenever Flux looks".to_owned();
        found.push(Danger::said(Severity::Other, "floatingChart", text, "keep one version"));
    }
    let names_one = |object: &Manifest| ["tag", "commit"].iter().any(|key| is_there(object, &["spec", "ref", key]));
    if new.kind() == "GitRepository" && names_one(old) && !names_one(new) && !is_floating(new) {
        let text = "what is deployed follows a branch, and no longer one version".to_owned();
        found.push(Danger::said(Severity::Other, "floatingChart", text, "keep a tag or a commit"));
    }
    if starts("suspend") {
        let text = "suspended: Flux no longer applies or fetches it".to_owned();
        let advice = "take the field away when it shall run again";
        found.push(Danger::said(Severity::Other, "paused", text, advice));
    }
    if new.kind() == "Kustomization" && starts("prune") {
        let text = "`prune: true`: Flux deletes from now on what goes from its source".to_owned();
        found.push(Danger::said(Severity::Other, "startsPruning", text, "check what has gone from its source already"));
    }
    let namespace = |object: &'_ Manifest| word(object.object(), &["spec", "targetNamespace"]).to_owned();
    let (from, to) = (namespace(old), namespace(new));
    if new.kind() == "Kustomization" && from != to && !from.is_empty() && !to.is_empty() {
        let prunes = new.object().at(&["spec", "prune"]).and_then(Value::as_bool) == Some(true);
        let (severity, left) = match prunes {
            true => (Severity::Outage, "those of before are deleted"),
            false => (Severity::Other, "those of before stay, and nothing manages them"),
        };
        let text = format!("`targetNamespace` {from} → {to}: its objects come anew there, and {left}");
        found.push(Danger::said(
            severity,
            "namespaceChanged",
            text,
            "check that the namespace is there, and what refers to it",
        ));
    }
    if starts("force") {
        let text = "`force: true`: what cannot be changed is deleted and made again".to_owned();
        let advice =
            "keep it to a change that needs it, with the annotation `kustomize.toolkit.fluxcd.io/force` on its object";
        found.push(Danger::said(Severity::Other, "replaces", text, advice));
    }
    let is_plain = |object: &Manifest| word(object.object(), &["spec", "url"]).starts_with("http://");
    let is_secret = |object: &Manifest| word(object.object(), &["spec", "url"]).starts_with("https://");
    if is_secret(old) && is_plain(new) {
        let text = "`url` is one of plain HTTP: who is between may give Flux something else".to_owned();
        found.push(Danger::said(
            Severity::Security,
            "unchecked",
            text,
            "keep HTTPS for sources outside of the cluster",
        ));
    }
    if starts("insecure") {
        let text = "`insecure: true`: its source is fetched over plain HTTP".to_owned();
        found.push(Danger::said(Severity::Security, "unchecked", text, "keep it to sources inside of the cluster"));
    }
    found
}

/// A release that gets another name.
pub(super) fn renamed(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let name = |release: &Manifest| {
        let of = |key| word(release.object(), &["spec", key]).to_owned();
        match (of("releaseName").as_str(), of("targetNamespace").as_str()) {
            ("", "") => release.name().to_owned(),
            ("", namespace) => format!("{namespace}-{}", release.name()),
            (name, "") => name.to_owned(),
            (name, namespace) => format!("{namespace}/{name}"),
        }
    };
    let is_it = (new.home_group(), new.kind()) == ("helm.toolkit.fluxcd.io", "HelmRelease");
    let (from, to) = (name(old), name(new));
    (is_it && from != to).then(|| {
        let text = format!("release {from} → {to}: Flux uninstalls the one of before, with all that is in it");
        Danger::said(Severity::Outage, "removed", text, "keep the name of the release")
    })
}
