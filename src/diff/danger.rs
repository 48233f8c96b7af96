//! Changes that may do harm: what is lost with an object, what stops, who may do more than before, what the API server
//! will refuse.
//!
//! Each rule is a file below: a function of one object before and after, and of the environment around it ([`Around`]). A
//! [`Danger`] says what happens in the cluster ([`Display`](std::fmt::Display)), whether Argo CD removes anything for it
//! ([`Danger::pruning`]) and what to do ([`Danger::advice`]). What is said for two hundred changes is in
//! `tests/cases/dangers`, from the documentation of Kubernetes and Argo CD.

mod accounts;
mod addresses;
mod alertmanager;
mod alerts;
mod application;
mod argocd;
mod around;
mod autoscaling;
mod availability;
mod backends;
mod calico;
mod certificates;
mod claims;
mod classes;
mod crd;
mod crd_required;
mod custom;
mod data_dirs;
mod databases;
mod deadlines;
mod direction;
mod disruptions;
mod endpoints;
mod environment;
mod fields;
mod flux;
mod gates;
mod gateways;
mod hooked;
mod hosts;
mod images;
mod immutable;
mod invalid;
mod isolation;
mod knative;
mod linkerd;
mod listeners;
mod locality;
mod logins;
mod lost;
mod mesh;
mod mirrors;
mod monitors;
mod mounts;
mod namespace;
mod needed;
mod network;
mod nodes;
mod operators;
mod oversized;
mod peers;
mod pod_security;
mod pools;
mod ports;
mod privilege;
mod projects;
mod pruning;
mod quantity;
mod quotas;
mod ranges;
mod remade;
mod replaced;
mod resources;
mod rewrites;
mod rights;
mod rollout;
mod routing;
mod scheduling;
mod sealed;
mod secrets;
mod severity;
mod shields;
mod sources;
mod stale;
mod startable;
mod surroundings;
mod sync_windows;
#[cfg(test)]
mod tests;
mod text;
mod traffic;
mod trust;
mod volumes;
mod waves;
mod weak_tls;
mod what;
mod wired;

use std::collections::BTreeSet;

use super::Image;
use super::model::{self, items};
use super::pair::{Pair, text};
use crate::manifest::Manifest;
use go_yaml::Value;

pub(crate) use application::{is_said_of_application, is_same_cluster, removed as application_removed};
pub(super) use around::Around;
pub(crate) use pruning::{Pruning, outlives};
pub(crate) use remade::{Remade, remade as application_remade};
pub(crate) use severity::Severity;
pub(crate) use what::What;

/// A change that deserves a second look.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Danger {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub what: What,
    /// Whether Argo CD removes the object, where it does harm by that.
    pub pruning: Option<Pruning>,
    /// Whether that is since its Application goes.
    pub is_with_application: bool,
}

impl Danger {
    fn new(severity: Severity, what: What) -> Self {
        Self { severity, what, pruning: None, is_with_application: false }
    }

    /// What a rule says in its own words: its kind for programs, what happens, what to do about it.
    fn said(severity: Severity, kind: &'static str, text: String, advice: &'static str) -> Self {
        Self::new(severity, What::Said { kind, text, advice })
    }

    /// By what Argo CD does with the object. What stays until somebody syncs with pruning harms nothing by this change.
    ///
    /// Reference: argo-cd 3.4 docs/user-guide/auto_sync.md, "Automatic Pruning": "automated sync will not delete resources".
    fn pruned(self, pruning: Pruning) -> Self {
        let severity = if pruning == Pruning::Manual { Severity::Other } else { self.severity };
        Self { pruning: Some(pruning), severity, ..self }
    }
}

/// What may do harm in the change of one object, the worst first.
///
/// A hook is deleted and made again as its policy says, is not pruned and never scaled: of it only what its Pods and its
/// rights may do counts.
pub(super) fn dangers<'a>(pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let (old, new) = (pair.old, pair.new);
    if new.is_none() && old.is_some_and(|old| around.has_another(old)) {
        // The Application renders it once more: nothing goes.
        return Vec::new();
    }
    let mut found = Vec::new();
    if !old.or(new).is_some_and(is_hook) {
        match (old, new) {
            (Some(old), None) => found.extend(removed(old, pair, around)),
            (Some(old), Some(new)) if pair.is_recreated => found.extend(namespace::changed(old, new, pair, around)),
            (Some(old), Some(new)) if is_hook(new) => found.extend(hooked::changed(old, new, around)),
            (Some(old), Some(new)) => {
                found.extend(around.is_handed_over.then(|| lost::handed_over(old, around)).flatten());
                found.extend(changed(old, new, pair, around));
            }
            (None, _) => {}
        }
        found.extend(disruptions::budget(old, new, around));
        found.extend(network::policy(old, new, around));
        found.extend(mesh::policy(old, new, around));
        found.extend(mesh::tls(old, new, around));
        found.extend(new.map(|new| since((old, new), around, &reached)).unwrap_or_default());
        found.extend(new.and_then(|new| sealed::elsewhere(old, new, around)));
        found.extend(network::unselected(old, new, around));
        found.extend(hosts::gone(old, new, around));
        found.extend(hosts::unencrypted(old, new, around));
        found.extend(new.map(|new| stays(old, new, around)).unwrap_or_default());
    }
    if let Some(new) = new {
        found.extend(resources::down(old, new));
        found.extend(since((old, new), around, &|old, new| gained(old, new, around)));
        found.extend(rights::reads_secrets(old, new, around));
        found.extend(argocd::widened(old, new, around));
        found.extend(gates::narrowed(old, new, around));
        found.extend(argocd::excluded(old, new, around));
        found.extend(waves::deadlocked(new, around));
    }
    if is_refused(&found, new) {
        // Nothing else comes of a change that is not taken.
        found.retain(|danger| danger.severity == Severity::Refused);
    }
    if found.iter().any(|danger| danger.kind() == "noSubset") {
        // Requests do not go elsewhere: they fail.
        found.retain(|danger| danger.kind() != "traffic");
    }
    found.sort();
    found.dedup();
    found
}

/// What an object gains; of one that comes under another name, beside the one that goes.
fn since<'a>(
    (old, new): (Option<&'a Manifest>, &'a Manifest),
    around: &Around<'a>,
    gained: &dyn Fn(Option<&'a Manifest>, &'a Manifest) -> Vec<Danger>,
) -> Vec<Danger> {
    let found = gained(old, new);
    let Some(was) = around.counterpart.filter(|was| old.is_none() && is_for_the_same(was, new)) else { return found };
    let is_found = |danger: &Danger| found.iter().any(|one| one.kind() == danger.kind());
    if found.is_empty() { found } else { gained(Some(was), new).into_iter().filter(is_found).collect() }
}

/// Whether two objects that are much alike are for the same: Services for Pods of one label, workloads of one image.
fn is_for_the_same(was: &Manifest, now: &Manifest) -> bool {
    let [labels, labels_now] = [was, now].map(|one| one.object().at(&["spec", "selector"]).and_then(Value::as_mapping));
    let images = |of: &'_ Manifest| -> BTreeSet<String> {
        let containers = model::pods::spec(of).into_iter().flat_map(model::pods::containers);
        containers.map(|(_, one)| Image::parse(model::word(one, &["image"])).name.to_owned()).collect()
    };
    if (now.home_group(), now.kind()) == ("", "Service") {
        return labels
            .into_iter()
            .flatten()
            .any(|(key, value)| labels_now.is_some_and(|now| now.get(key) == Some(value)));
    }
    !model::pods::is_workload(now) || !images(was).is_disjoint(&images(now))
}

/// From where an object can be reached from now on.
fn reached(old: Option<&Manifest>, new: &Manifest) -> Vec<Danger> {
    network::exposed(old, Some(new)).into_iter().chain(network::tailnet(old, Some(new))).collect()
}

/// What an object may do from now on.
fn gained<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let refused = pod_security::refused(old, new, around);
    let mut found: Vec<Danger> = refused.or_else(|| privilege::gained(old, new)).into_iter().collect();
    found.extend(images::floating_images(old, new));
    found.extend(rights::widened(old, new, around));
    found.extend(trust::unchecked(old, new));
    found
}

/// What goes with an object that is removed. Where it is known who needs it, that is said, and not that it goes.
fn removed<'a>(old: &'a Manifest, pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let needed = needed::gone(pair, around);
    let is_plain = needed.is_empty() || !lost::is_only_needed(old);
    let lost = lost::removed(old, around).filter(|_| is_plain);
    needed
        .into_iter()
        .chain(lost)
        .chain(application::orphaned(old, around))
        .chain(projects::removed(old, around))
        .chain(logins::removed(old, around))
        .chain(autoscaling::removed(old, around))
        .chain(accounts::unbound(old, None, around))
        .chain(gates::removed(old, around))
        .chain(gates::webhooks_gone(old, None, around))
        .chain(shields::removed(old, around))
        .chain(linkerd::unauthorized(old, around))
        .chain(certificates::removed(old, around))
        .chain(gateways::revoked(old, None, around))
        .chain(endpoints::gone(old, None, around))
        .chain(pools::shrunk(old, None, around))
        .chain(flux::removed(old, around))
        .chain(alerts::gone(old, None, around))
        .chain(mesh::unrouted(old, None, around))
        .chain(shields::left(old, around))
        .chain(classes::undefaulted(old, None, around))
        .chain(routing::untrusted(old, around))
        .collect()
}

/// What becomes of an object that was there before.
fn changed<'a>(old: &'a Manifest, new: &'a Manifest, pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let mut found = immutable::changed(old, new);
    if rights::is_rebound(old, new, around) {
        found.retain(|danger| danger.kind() != "immutable");
    }
    found.extend(rights::rebound(old, new, around));
    found.extend(replaced::changed(old, new));
    found.extend(crd::versions_gone(old, new));
    found.extend(crd::unconverted(old, new));
    found.extend(crd::fields_gone(old, new, around));
    found.extend(availability::scaled(old, new));
    found.extend(autoscaling::stopped(old, new));
    found.extend(autoscaling::bounded(old, new));
    found.extend(autoscaling::lowered(old, new, around));
    found.extend(autoscaling::emptied(old, new, around));
    found.extend(autoscaling::fewest(old, new, around));
    found.extend(autoscaling::triggers_gone(old, new));
    found.extend(scheduling::impossible(old, new, around));
    found.extend(application::changed(old, new, around));
    found.extend(projects::changed(old, new, around));
    found.extend(sync_windows::narrowed(old, new, around));
    found.extend(needed::gone(pair, around));
    found.extend(needed::keys_gone(old, new, around));
    found.extend(stale::config(old, new, around));
    found.extend(rollout::strategy(old, new, around));
    found.extend(rollout::paused(old, new));
    found.extend(rollout::halted(old, new));
    found.extend(rollout::unstepped(old, new));
    found.extend(rollout::killed(old, new));
    found.extend(rollout::probes(old, new, around));
    found.extend(ports::gone(old, new, around));
    found.extend(ports::unlisted(old, new));
    found.extend(listeners::changed(old, new));
    found.extend(alertmanager::changed(old, new));
    found.extend(mirrors::changed(old, new, around));
    found.extend(autoscaling::blind(old, new, around));
    found.extend(gates::raised(old, new, around));
    found.extend(traffic::shifted(old, new, around));
    found.extend(traffic::class(old, new, &around.model.after));
    found.extend(traffic::elsewhere(old, new, around));
    found.extend(locality::narrowed(old, new, around));
    found.extend(traffic::plain_text(old, new, around));
    found.extend(trust::distrusted(old, new, around));
    found.extend(trust::unguarded(old, new));
    found.extend(shields::opened(old, new));
    found.extend(shields::denied(old, new, around));
    found.extend(shields::uncovered(old, new, around));
    found.extend(shields::unchecked(old, new));
    found.extend(calico::changed(old, new, around));
    found.extend(linkerd::opened(old, new));
    found.extend(linkerd::unmeshed(old, new, around));
    found.extend(mesh::unserved(old, new, around));
    found.extend(weak_tls::lowered(old, new));
    found.extend(operators::changed(old, new, around));
    found.extend(volumes::replaced(old, new));
    found.extend(mounts::gone((old, new), around, &|mount| data_dirs::is_in_place(old, new, mount)));
    found.extend(data_dirs::read_only(old, new));
    found.extend(data_dirs::moved(old, new));
    found.extend(databases::upgraded(old, new));
    found.extend(volumes::cannot_grow(old, new, around));
    found.extend(volumes::renumbered(old, new));
    found.extend(volumes::armed(old, new));
    found.extend(certificates::changed(old, new, around));
    found.extend(accounts::rights_left(old, new, around));
    found.extend(accounts::unbound(old, Some(new), around));
    found.extend(accounts::unidentified(old, new));
    found.extend(flux::renamed(old, new));
    found.extend(alerts::gone(old, Some(new), around));
    found.extend(addresses::gone(old, new));
    found.extend(sources::widened(old, new));
    found.extend(addresses::unrecorded(old, new, around));
    found.extend(gateways::unserved(old, new, around));
    found.extend(gateways::revoked(old, Some(new), around));
    found.extend(endpoints::gone(old, Some(new), around));
    found.extend(pools::shrunk(old, Some(new), around));
    found.extend(addresses::unpublished(old, new));
    found.extend(privilege::contradicts(old, new));
    found.extend(environment::unexpanded(old, new));
    found.extend(classes::undefaulted(old, Some(new), around));
    found.extend(argocd::settings(old, new));
    found.extend(deadlines::changed(old, new));
    found.extend(surroundings::changed(old, new, around));
    found.extend(autoscaling::stuck(old, new));
    found.extend(autoscaling::evicts(old, new));
    found.extend(mesh::registered(old, new));
    found.extend(certificates::unserving(old, new));
    found.extend(rewrites::conditioned(old, new, around));
    found.extend(shields::unheaded(old, new));
    found.extend(nodes::untaken(old, new, around));
    found.extend(nodes::unmade(old, new));
    found.extend(monitors::unread(old, new, around));
    found.extend(monitors::unsent(old, new));
    found.extend(rewrites::changed(old, new, around));
    found.extend(secrets::unmade(old, new));
    found.extend(secrets::opened(old, new));
    found.extend(knative::renamed(old, new));
    found.extend(knative::shifted(old, new));
    found.extend(flux::changed(old, new));
    found.extend(rollout::on_delete(old, new));
    found.extend(accounts::tokenless(old, new, around));
    found.extend(network::unready(old, new));
    found.extend(mesh::unrouted(old, Some(new), around));
    found.extend(shields::untargeted(old, new, around));
    found.extend(fields::changed(old, new));
    found.extend(startable::changed(old, new));
    found.extend(startable::repeated(old, new));
    found.extend(routing::changed(old, new, around));
    found.extend(wired::changed(old, new, around));
    found.extend(crd_required::refused(old, new, around));
    found.extend(custom::skipped(old, new));
    found.extend(custom::emptied(old, new));
    found.extend(custom::unmanaged(old, new));
    found.extend(custom::unwritable(old, new));
    found
}

/// What is to be said of an object that is there after the change, new or not.
fn stays<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found = invalid::refused(old, new);
    found.extend(oversized::oversized(old, new, around));
    found.extend(availability::unmatched(old, new));
    found.extend(needed::missing(old, new, around));
    found.extend(needed::target(old, new, around));
    found.extend(ports::probed(old, new));
    found.extend(ports::targets(old, new, around));
    found.extend(ports::out_of_range(new, around));
    found.extend(ports::monitored(old, new, around));
    found.extend(ports::unselected(old, new, around));
    found.extend(gateways::unattached(old, new, around));
    found.extend(gateways::ungranted(old, new, around));
    found.extend(gateways::refused(old, new, around));
    found.extend(mesh::subsets(old, new, around));
    found.extend(backends::lacking(old, new, around));
    found.extend(backends::unanswered(old, new, around));
    found.extend(autoscaling::workload(old, new, around));
    found.extend(quotas::quota(old, new, around));
    found.extend(quotas::limit_range(old, new, around));
    found.extend(quotas::unrequested(old, new, around));
    found.extend(classes::prioritized(old, new, around));
    found.extend(claims::shared(old, new, around));
    found.extend(claims::taken(old, new, around));
    found.extend(wired::in_plain_text(old, new, around));
    found.extend(gates::asked_anew(old, new, around));
    found.extend(operators::firewall_opened(old, new).filter(|_| old.is_none()));
    found
}

/// That an object is not judged, since too much is beside it, nor are others of the change.
pub(super) fn not_judged(others: usize) -> Danger {
    let also = match others {
        0 => String::new(),
        1 => ", nor is one more object of this change".to_owned(),
        _ => format!(", nor are {others} more objects of this change"),
    };
    let text = format!("not judged: more objects are beside it than are compared for one change{also}");
    Danger::said(Severity::Other, "notJudged", text, "look at these changes yourself, or make them in smaller commits")
}

/// What is to be done about an object that is refused.
const CORRECT: &str = "correct what is named here: until then, nothing of the object is applied";

/// How many reasons are named for which an object is refused.
const REASONS_MAX: usize = 4;

/// What an API server refuses an object for, in the words of who asked it: each reason once.
/// `is_encrypted` is whether SOPS encrypted it.
pub(crate) fn refused(texts: &[String], is_encrypted: bool) -> Option<Danger> {
    let first = texts.first()?;
    // What all of them begin with, such as which version refuses it, is said once.
    let (start, _) = first.split_once(": ").unwrap_or_default();
    let others = texts
        .iter()
        .skip(1)
        .map(|text| text.strip_prefix(start).and_then(|text| text.strip_prefix(": ")).unwrap_or(text));
    let mut all: Vec<&str> = std::iter::once(first.as_str()).chain(others).collect();
    let more = all.len().saturating_sub(REASONS_MAX);
    all.truncate(REASONS_MAX);
    let more = if more == 0 { String::new() } else { format!("; and {more} more reasons") };
    let text = match is_encrypted {
        true => format!("encrypted with SOPS, and nothing decrypts it here: {first}"),
        false => format!("{}{more}", all.join("; ")),
    };
    Some(Danger::said(Severity::Refused, "invalid", text, CORRECT))
}

/// Whether the API server, or a webhook that it asks, refuses the change of an object, so that nothing comes of it.
pub(super) fn is_refused(dangers: &[Danger], new: Option<&Manifest>) -> bool {
    let is_by_controller =
        |danger: &Danger| matches!(danger.kind(), "shrinks" | "downgrade" | "sealed" | "outOfRange" | "unchangeable");
    let is_applied = |danger: &Danger| is_by_controller(danger) && !new.is_some_and(operators::is_whole_refused);
    dangers.iter().any(|danger| danger.severity == Severity::Refused && !is_applied(danger))
}

/// The container of this name before.
fn before<'a>(old: Option<&'a Manifest>, name: &str) -> Option<&'a Value> {
    let mut containers = model::pods::containers(model::pods::spec(old?)?);
    containers.find(|(before, _)| *before == name).map(|(_, container)| container)
}

/// Whether Argo CD runs the object in a phase of a sync, or not at all, and does not compare it.
///
/// Reference: argo-cd 3.4 gitops-engine/pkg/sync/hook/hook.go `IsHook`, helm/hook.go: Helm 2's `crd-install` is not one.
fn is_hook(manifest: &Manifest) -> bool {
    let annotation = |key| manifest.object().at(&["metadata", "annotations", key]).and_then(Value::as_str);
    match annotation("argocd.argoproj.io/hook") {
        Some(_) => true,
        None => annotation("helm.sh/hook").is_some_and(|hook| hook != "crd-install"),
    }
}

/// Whether an object has an option of Argo CD in its annotation.
///
/// Reference: argo-cd 3 gitops-engine/pkg/sync/resource/annotations.go: options between commas, blanks around them.
fn has_sync_option(manifest: &Manifest, option: &str) -> bool {
    let options = text(manifest, &["metadata", "annotations", "argocd.argoproj.io/sync-options"]);
    options.split(',').any(|word| word.trim() == option)
}
