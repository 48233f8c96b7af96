//! Objects that Argo CD kept in the cluster, and that become hooks.

use go_yaml::Value;

use super::{Around, Danger, Severity, is_hook, lost, operators};
use crate::diff::model::lost_with;
use crate::manifest::Manifest;

/// What it means to be a hook: a sync deletes the object and makes it again, or does not apply it at all.
///
/// Reference: argo-cd 3.4 docs/user-guide/sync-waves.md, "Hook lifecycle and cleanup" (`BeforeHookCreation` is the default), "Skip".
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let annotation =
        |key| new.object().at(&["metadata", "annotations", key]).and_then(Value::as_str).unwrap_or_default();
    let [hook, policy] = ["argocd.argoproj.io/hook", "argocd.argoproj.io/hook-delete-policy"].map(annotation);
    let hook = if hook.is_empty() { annotation("helm.sh/hook") } else { hook };
    let policy = if policy.is_empty() { annotation("helm.sh/hook-delete-policy") } else { policy };
    let goes = match (hook, policy.to_lowercase()) {
        ("Skip", _) => "no longer applies it, and removes what the cluster has",
        (_, policy) if policy.contains("succeeded") => "makes it in a sync and deletes it again once that succeeded",
        (_, policy) if policy.is_empty() || policy.contains("before") => "deletes it and makes it again in each sync",
        _ => return None,
    };
    let stays = hook == "Skip" && !around.pruning.of(old).removes();
    let (severity, loss) = effect(old, around).filter(|_| !stays)?;
    let text = format!("becomes a hook (`{hook}`): Argo CD {goes}, {loss}");
    Some(Danger::said(severity, "hooked", text, "keep hooks for Jobs and what only they need"))
}

/// What is lost with an object; none for one that nothing but hooks needs.
fn effect(old: &Manifest, around: &Around<'_>) -> Option<(Severity, String)> {
    if old.home_group() == "batch" {
        return None;
    }
    if let Some(loss) = lost::loss(old).map(|(severity, loss)| (severity, loss.to_owned())) {
        return Some(loss);
    }
    if let Some((severity, loss)) = operators::loss(old) {
        return Some((severity, loss));
    }
    let things = lost_with(crate::diff::model::Placed::new(old, around.defaults[0]));
    let users = things.iter().flat_map(|thing| around.model.after.users(thing));
    let mut needing = users.filter(|(user, one)| !one.is_optional && !is_hook(user.manifest));
    let (user, _) = needing.next()?;
    Some((Severity::Outage, format!("while {} {} needs it", user.manifest.kind(), user.manifest.name())))
}
