//! Data that a workload no longer finds, and data that are deleted sooner than before.

use std::collections::BTreeMap;

use go_yaml::Value;

use super::mounts::mounts;
use super::quantity::quantity;
use super::{Around, Danger, Severity, before, data_dirs, items};
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// Volumes of claims that are others now, or mounted elsewhere.
///
/// Reference: kubernetes docs/concepts/storage/volumes, persistent-volumes, "Claims As Volumes".
pub(super) fn replaced(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let (Some(old_pods), Some(pods)) = (spec(old), spec(new)) else { return Vec::new() };
    let (before_claims, claims) = (claims(old_pods), claims(pods));
    let mut found = Vec::new();
    for (volume, claim) in before_claims {
        let now = items(pods, &["volumes"]).iter().find(|one| word(one, &["name"]) == volume);
        match (now, claims.get(volume)) {
            (Some(_), Some(now)) if *now != claim => {
                let text =
                    format!("volume `{volume}` is on claim {now} in place of {claim}: what {claim} holds is not there");
                found.push(Danger::said(
                    Severity::Outage,
                    "volumeReplaced",
                    text,
                    "copy the data to the other claim first",
                ));
            }
            (Some(now), None) if now.get("emptyDir").is_some() => {
                let text = format!(
                    "volume `{volume}` is an `emptyDir` in place of claim {claim}: it starts empty, and what it holds goes with each Pod"
                );
                found.push(Danger::said(
                    Severity::DataLoss,
                    "volumeReplaced",
                    text,
                    "keep the claim for data that shall stay",
                ));
            }
            (Some(_), Some(_)) => found.extend(mounted_elsewhere(old, new, volume)),
            _ => {}
        }
    }
    found
}

/// The volumes that are on claims, with the names of these.
fn claims(pods: &Value) -> BTreeMap<&str, &str> {
    let volumes = items(pods, &["volumes"]).iter();
    let claim = |volume| Some((word(volume, &["name"]), volume.at(&["persistentVolumeClaim", "claimName"])?.as_str()?));
    volumes.filter_map(|volume: &Value| claim(volume)).collect()
}

/// A container that has a volume at another path only.
fn mounted_elsewhere(old: &Manifest, new: &Manifest, volume: &str) -> Option<Danger> {
    let paths = |container: &'_ Value| -> Vec<String> {
        let mounts = items(container, &["volumeMounts"]).iter().filter(|mount| word(mount, &["name"]) == volume);
        mounts.map(|mount| word(mount, &["mountPath"]).to_owned()).collect()
    };
    let (before_all, all) = (mounts(old), mounts(new));
    let is_found = |name: &str, path: &str| {
        let mut was = before_all.iter().filter(|one| (one.container, one.volume, one.path) == (name, volume, path));
        was.any(|was| all.iter().any(|now| now.container == name && now.is_found(was)))
    };
    for (name, container) in containers(spec(new)?) {
        // Where its image keeps data, that decides.
        if data_dirs::is_known(old, name, volume) {
            continue;
        }
        let (Some(was), now) = (before(Some(old), name).map(paths), paths(container)) else { continue };
        let (Some(from), Some(to)) =
            (was.iter().find(|path| !now.contains(path) && !is_found(name, path)), now.first())
        else {
            continue;
        };
        let text = format!(
            "volume `{volume}` is at {to} of `{name}` in place of {from}: what is kept is no longer found there"
        );
        let advice = "check that it looks for its data at the new path";
        return Some(Danger::said(Severity::Other, "volumeReplaced", text, advice));
    }
    None
}

/// A claim that grows by a class that does not let it.
///
/// Reference: kubernetes docs/concepts/storage/persistent-volumes, "Expanding Persistent Volumes Claims"; plugin/pkg/admission/storage/
/// persistentvolume/resize.
pub(super) fn cannot_grow<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let path = ["spec", "resources", "requests", "storage"];
    let storage = |claim: &Manifest| claim.object().at(&path).and_then(quantity);
    let class = word(new.object(), &["spec", "storageClassName"]);
    let is_claim = (new.home_group(), new.kind()) == ("", "PersistentVolumeClaim");
    if !is_claim || storage(new)? <= storage(old)? {
        return None;
    }
    let known = around.model.after.listed("StorageClass").find(|one| one.manifest.name() == class)?;
    let grows = known.manifest.object().get("allowVolumeExpansion").and_then(Value::as_bool) == Some(true);
    (!grows).then(|| {
        let text =
            format!("StorageClass {class} has no `allowVolumeExpansion: true`: the API server refuses a larger claim");
        let advice = "keep the size, or let the class expand claims in a commit before this one";
        Danger::said(Severity::Refused, "cannotGrow", text, advice)
    })
}

/// Pods of a StatefulSet that get other numbers, and so other claims.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/statefulset, "Start ordinal".
pub(super) fn renumbered(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let start = |set: &Manifest| number(set.object(), &["spec", "ordinals", "start"]).unwrap_or(0);
    let (from, to) = (start(old), start(new));
    let has_claims = !items(new.object(), &["spec", "volumeClaimTemplates"]).is_empty();
    ((new.home_group(), new.kind()) == ("apps", "StatefulSet") && from != to).then(|| {
        let claims = if has_claims { ", with claims of their own, which are empty" } else { "" };
        let text = format!("`ordinals.start` {from} → {to}: its Pods get other names{claims}");
        Danger::said(Severity::Outage, "renumbered", text, "check that the data of those that go are elsewhere")
    })
}

/// Policies by which data are deleted from now on with the object that has them.
///
/// Reference: kubernetes docs/concepts/workloads/controllers/statefulset, "PersistentVolumeClaim retention";
/// docs/concepts/storage/persistent-volumes, "Reclaiming".
pub(super) fn armed(old: &Manifest, new: &Manifest) -> Vec<Danger> {
    let rows: &[(&[&str], &str, &str)] = match (new.home_group(), new.kind()) {
        ("apps", "StatefulSet") => &[
            (
                &["spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"],
                "Retain",
                "`whenDeleted: Delete`: its claims are deleted with it from now on",
            ),
            (
                &["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"],
                "Retain",
                "`whenScaled: Delete`: the claims of Pods that are scaled away are deleted from now on",
            ),
        ],
        ("", "PersistentVolume") => &[(
            &["spec", "persistentVolumeReclaimPolicy"],
            "Retain",
            "`persistentVolumeReclaimPolicy: Delete`: its data are deleted with its claim from now on",
        )],
        _ => &[],
    };
    let is = |manifest: &Manifest, path: &[&str], wanted: &str, default: &str| match word(manifest.object(), path) {
        "" => default == wanted,
        value => value == wanted,
    };
    let starts =
        rows.iter().filter(|(path, default, _)| !is(old, path, "Delete", default) && is(new, path, "Delete", default));
    let advice = "keep `Retain` where the data shall outlive the object";
    starts.map(|(.., text)| Danger::said(Severity::Other, "deletesData", (*text).to_owned(), advice)).collect()
}
