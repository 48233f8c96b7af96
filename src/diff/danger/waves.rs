//! Syncs that wait for what only comes later in them.

use super::{Around, Danger, Severity};
use crate::diff::model::pods::replicas;
use crate::diff::model::{How, Placed, uses, word};
use crate::manifest::Manifest;

/// When a sync applies an object: the phase, then the wave.
type Order = (u8, i64);

/// The phases by the names that Argo CD and Helm have for them.
///
/// Reference: argo-cd 3.4 docs/user-guide/sync-waves.md; docs/user-guide/helm.md, "Helm Hooks".
const PHASES: [(&str, u8); 7] = [
    ("PreSync", 0),
    ("pre-install", 0),
    ("pre-upgrade", 0),
    ("Sync", 1),
    ("PostSync", 2),
    ("post-install", 2),
    ("post-upgrade", 2),
];

/// Kinds for which a sync waits until their Pods run, or have run.
const AWAITED: [&str; 6] = ["Job", "Pod", "Deployment", "StatefulSet", "DaemonSet", "Rollout"];

/// Pods that need something to start which the sync makes only after them: it waits for them, and never gets there.
pub(super) fn deadlocked<'a>(new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    // One without Pods is healthy at once.
    let is_awaited = AWAITED.contains(&new.kind()) && replicas(new) != Some(0);
    let own = order(new).filter(|_| is_awaited)?;
    let place = around.after(new);
    let is_needed = |how: How| matches!(how, How::Environment | How::SubPath | How::Files | How::Claim | How::Pods);
    let needed = uses(place).into_iter().filter(|one| is_needed(one.how) && !one.is_optional);
    let missing = needed.filter(|one| !around.model.before.provides(&one.thing));
    missing.into_iter().find_map(|one| {
        let makers = around.model.after.makers(&one.thing);
        let is_later = |maker: &Placed<'a>| {
            let is_own = || around.siblings.iter().any(|sibling| std::ptr::eq(sibling, maker.manifest));
            order(maker.manifest).is_some_and(|order| order > own) && is_own()
        };
        let first = makers.iter().filter_map(|maker| order(maker.manifest)).min()?;
        makers.iter().all(is_later).then(|| {
            let text = format!(
                "needs {}, which a sync makes only after it ({} before {}): the sync waits for it, and gets no further",
                one.thing,
                shown(own),
                shown(first)
            );
            let advice = "keep what it needs in an earlier phase or wave than it";
            Danger::said(Severity::Outage, "deadlock", text, advice)
        })
    })
}

/// When a sync applies an object; none for one that it does not apply as a rule.
fn order(object: &Manifest) -> Option<Order> {
    let annotation = |key: &str| word(object.object(), &["metadata", "annotations", key]);
    let hooks = match annotation("argocd.argoproj.io/hook") {
        "" => annotation("helm.sh/hook"),
        hooks => hooks,
    };
    let phase = match hooks {
        "" | "crd-install" => Some(1),
        hooks => hooks.split(',').filter_map(phase).min(),
    }?;
    let wave = match annotation("argocd.argoproj.io/sync-wave") {
        "" => annotation("helm.sh/hook-weight"),
        wave => wave,
    };
    let wave = if wave.is_empty() { Some(0) } else { wave.trim().parse().ok() };
    Some((phase, wave?))
}

fn phase(name: &str) -> Option<u8> {
    PHASES.iter().find(|(known, _)| *known == name.trim()).map(|(_, phase)| *phase)
}

/// `PreSync wave 0`
fn shown((phase, wave): Order) -> String {
    let name = PHASES.iter().find(|(_, one)| *one == phase).map_or("", |(name, _)| name);
    format!("{name} wave {wave}")
}
