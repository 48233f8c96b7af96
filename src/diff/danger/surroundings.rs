//! What Pods find around them: names, memory for files, one Pod for each client.

use go_yaml::Value;

use super::around::services;
use super::availability::fewest;
use super::mounts::{Source, mounts};
use super::quantity::quantity;
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::{containers, spec};
use crate::diff::model::{number, word};
use crate::manifest::Manifest;

/// What Pods no longer find.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let found =
        [unresolved(old, new), in_memory(old, new), apart(old, new, around), unowned(old, new), unpulled(old, new)];
    found.into_iter().flatten().collect()
}

/// Pods that no longer know the names of the cluster.
///
/// Reference: kubernetes docs/concepts/services-networking/dns-pod-service, "Pod's DNS Policy".
fn unresolved(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let policy = |object: &'_ Manifest| spec(object).map(|pods| word(pods, &["dnsPolicy"]).to_owned());
    let is_lost =
        policy(new)? == "Default" && matches!(policy(old)?.as_str(), "" | "ClusterFirst" | "ClusterFirstWithHostNet");
    is_lost.then(|| {
        let text = "`dnsPolicy: Default`: its Pods find no Service of the cluster by its name".to_owned();
        Danger::said(Severity::Other, "unresolved", text, "keep `ClusterFirst` for what asks Services of the cluster")
    })
}

/// Files that are kept in memory from now on, which counts for the limits of containers.
///
/// Reference: kubernetes docs/concepts/storage/volumes, "emptyDir": what is in `medium: Memory` counts against the memory limit of the
/// container that wrote it.
fn in_memory(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let volumes =
        |object: &'_ Manifest| spec(object).map(|pods| items(pods, &["volumes"]).to_vec()).unwrap_or_default();
    let is_memory = |volume: &Value| word(volume, &["emptyDir", "medium"]) == "Memory";
    let was = volumes(old);
    let name = |volume: &Value| word(volume, &["name"]).to_owned();
    for volume in volumes(new).into_iter().filter(is_memory) {
        let is_changed =
            was.iter().any(|one| name(one) == name(&volume) && one.get("emptyDir").is_some() && !is_memory(one));
        let size = volume.at(&["emptyDir", "sizeLimit"]).and_then(quantity);
        let mounts = |container: &Value| {
            items(container, &["volumeMounts"]).iter().any(|mount| word(mount, &["name"]) == name(&volume))
        };
        let all = spec(new).into_iter().flat_map(containers).filter(|(_, container)| mounts(container));
        let limits = all.filter_map(|(of, container)| {
            Some((of, container.at(&["resources", "limits", "memory"]).and_then(quantity)?))
        });
        let small = limits.into_iter().find(|(_, limit)| size.is_none_or(|size| size >= *limit));
        if let Some((of, _)) = small.filter(|_| is_changed) {
            let text = format!(
                "volume `{}` is kept in memory, which counts for the limit of `{of}`: with more files than that it is ended",
                name(&volume)
            );
            let advice = "keep it on disk, or set a `sizeLimit` that is well below the limit of memory";
            return Some(Danger::said(Severity::Other, "inMemory", text, advice));
        }
    }
    None
}

/// Files on claims that belong to another user or group than that of the Pods from now on.
///
/// Reference: kubernetes docs/tasks/configure-pod-container/security-context, "Configure volume permission": with `fsGroup`, files of
/// volumes belong to that group.
fn unowned(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let of = |object: &Manifest, key: &str| spec(object).and_then(|pods| number(pods, &["securityContext", key]));
    let is_kept = |source: &Source<'_>| matches!(source, Source::Claim(_) | Source::Template(_));
    let claims = |object: &'_ Manifest| -> Vec<String> {
        let all = mounts(object).into_iter().filter(|mount| !mount.is_read_only && is_kept(&mount.source));
        all.map(|mount| mount.source.to_string()).collect()
    };
    let had = claims(old);
    let claim = claims(new).into_iter().find(|claim| had.contains(claim))?;
    let (group, user) = ("fsGroup", "runAsUser");
    let text = match (of(old, group), of(new, group), of(old, user), of(new, user)) {
        (Some(was), None, _, user) if user != Some(0) => {
            format!("`{group}: {was}` removed: what its Pods may write on {claim} is what belongs to their user alone")
        }
        (before, after, Some(was), Some(now)) if was != now && now != 0 && (before.is_none() || before != after) => {
            format!("`{user}` {was} → {now}: files on {claim} belong to the user of before")
        }
        _ => return None,
    };
    let advice = "keep `fsGroup`, or check that its Pods may read and write what is there";
    Some(Danger::said(Severity::Other, "unowned", text, advice))
}

/// Images that are no longer pulled.
///
/// Reference: kubernetes docs/concepts/containers/images, "Image pull policy".
fn unpulled(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let is_never = |container: &Value| word(container, &["imagePullPolicy"]) == "Never";
    let (name, _) = spec(new).into_iter().flat_map(containers).find(|(name, container)| {
        is_never(container) && super::before(Some(old), name).is_some_and(|was| !is_never(was))
    })?;
    let text = format!("`imagePullPolicy: Never` of `{name}`: it starts on nodes alone that have its image");
    Some(Danger::said(Severity::Other, "unpulled", text, "keep `IfNotPresent`, unless nodes get images in another way"))
}

/// A Service that no longer sends one client to one Pod.
///
/// Reference: kubernetes docs/reference/networking/virtual-ips, "Session affinity".
fn apart<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (was, now) = services(Some(old), Some(new))?;
    let is_kept = |service: &Manifest| word(service.object(), &["spec", "sessionAffinity"]) == "ClientIP";
    let served = around.model.after.served_by(around.after(new));
    let is_single =
        !served.is_empty() && served.iter().all(|one| fewest(*one, &around.model.after).is_some_and(|count| count < 2));
    (is_kept(was) && !is_kept(now) && !is_single).then(|| {
        let text = "`sessionAffinity` removed: requests of one client go to several Pods".to_owned();
        Danger::said(Severity::Other, "traffic", text, "check that its Pods share what they know of a client")
    })
}
