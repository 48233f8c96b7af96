//! Classes that objects get which name none.

use super::{Around, Danger, Severity};
use crate::diff::model::{Side, word};
use crate::manifest::Manifest;

const DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

fn is_default(class: &Manifest) -> bool {
    word(class.object(), &["metadata", "annotations", DEFAULT]) == "true"
}

/// A StorageClass that is no longer the default one while claims name none.
///
/// Reference: kubernetes docs/concepts/storage/storage-classes, "Default StorageClass"; persistent-volumes, "Class".
pub(super) fn undefaulted<'a>(old: &'a Manifest, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let after = &around.model.after;
    let is_class = |object: &Manifest| (object.home_group(), object.kind()) == ("storage.k8s.io", "StorageClass");
    let pruning = around.pruning.of(old);
    if !is_class(old) || !is_default(old) || new.is_some_and(is_default) || new.is_none() && !pruning.removes() {
        return None;
    }
    let has_other = after.listed("StorageClass").any(|one| is_default(one.manifest));
    (!has_other && names_none(after)).then(|| {
        let text = "no class of storage here is the default any more: claims that name none stay pending".to_owned();
        let danger =
            Danger::said(Severity::Other, "unscheduled", text, "keep a default, or name a class in each claim");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}

/// A class of priority that Pods get which name none.
///
/// Reference: kubernetes docs/concepts/scheduling-eviction/pod-priority-preemption, "PriorityClass": `globalDefault`.
/// Reference: kubernetes 1.36 plugin/pkg/admission/priority `validatePriorityClass`: only one default can exist.
pub(super) fn prioritized<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("scheduling.k8s.io", "PriorityClass");
    let is_all = |class: &Manifest| class.object().get("globalDefault").and_then(go_yaml::Value::as_bool) == Some(true);
    if !is_it || !is_all(new) || old.is_some_and(is_all) {
        return None;
    }
    let mut all = around.model.after.all().iter().map(|one| one.manifest);
    let is_other = |one: &Manifest| one.kind() == new.kind() && one.name() != new.name() && is_all(one);
    if let Some(other) = all.find(|one| is_other(one)) {
        let text = format!(
            "the API server refuses it, so the sync fails: PriorityClass {} is the default, and only one can be",
            other.name()
        );
        return Some(Danger::said(Severity::Refused, "invalid", text, super::CORRECT));
    }
    old.map(|_| {
        let text = "`globalDefault: true`: all new Pods that name no class get it, and may displace others".to_owned();
        Danger::said(
            Severity::Other,
            "prioritized",
            text,
            "check that no other class is the default, and what it may displace",
        )
    })
}

fn names_none(side: &Side<'_>) -> bool {
    let lacks = |spec: &go_yaml::Value| spec.get("storageClassName").is_none();
    side.all().iter().any(|one| {
        let object = one.manifest.object();
        match one.manifest.kind() {
            "PersistentVolumeClaim" => object.get("spec").is_some_and(lacks),
            "StatefulSet" => {
                let mut claims = super::items(object, &["spec", "volumeClaimTemplates"]).iter();
                claims.any(|claim| claim.get("spec").is_some_and(lacks))
            }
            _ => false,
        }
    })
}
