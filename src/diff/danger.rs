//! Changes that may do harm: what is lost with an object, what stops, who may do more than before, what the API server
//! will refuse.
//!
//! Each rule is a file below: a function of one object before and after, and of the environment around it ([`Around`]). A
//! [`Danger`] says what happens in the cluster ([`Display`](std::fmt::Display)), whether Argo CD removes anything for it
//! ([`Danger::pruning`]) and what to do ([`Danger::advice`]). What is said for two hundred changes is in
//! `tests/cases/dangers`, from the documentation of Kubernetes and Argo CD.

mod application;
mod around;
mod autoscaling;
mod availability;
mod crd;
mod gates;
mod hosts;
mod images;
mod immutable;
mod invalid;
mod lost;
mod namespace;
mod needed;
mod network;
mod operators;
mod ports;
mod privilege;
mod pruning;
mod quantity;
mod quotas;
mod resources;
mod rights;
mod rollout;
mod stale;
#[cfg(test)]
mod tests;
mod traffic;
mod trust;
mod volumes;

use super::model::{self, items};
use super::pair::{Pair, text};
use crate::manifest::Manifest;
use dry_files::diag::more::listed;
use go_yaml::Value;

pub(crate) use application::{is_same_cluster, removed as application_removed};
pub(super) use around::Around;
pub(crate) use pruning::Pruning;

/// How bad it is; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Severity {
    /// Data are gone.
    DataLoss,
    /// Something stops working.
    Outage,
    /// Somebody may do, see or reach more than before.
    Security,
    /// The API server, or a controller, refuses it: the sync fails, or nothing happens.
    Refused,
    /// The rest, such as a sync that fails.
    Other,
}

impl Severity {
    /// The word by which programs know it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Severity::DataLoss => "data-loss",
            Severity::Outage => "outage",
            Severity::Security => "security",
            Severity::Refused => "refused",
            Severity::Other => "other",
        }
    }

    /// Whether no output may leave it out.
    pub(crate) fn is_severe(self) -> bool {
        self < Severity::Other
    }
}

/// The word in front of a danger.
impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Severity::DataLoss => "data loss",
            Severity::Outage => "outage",
            Severity::Security => "security",
            Severity::Refused => "refused",
            Severity::Other => "danger",
        })
    }
}

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

/// The sorts of dangers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    /// An object goes, and more with it than itself.
    Removed {
        /// What goes with it.
        loss: &'static str,
    },
    /// Another Application has the object now, and the old one may prune it first.
    HandedOver {
        /// What goes with it then.
        loss: &'static str,
    },
    /// An object of the same kind and name comes in another namespace.
    NamespaceChanged {
        /// The namespace before.
        from: String,
        /// The namespace after.
        to: String,
        /// What that means for this kind.
        loss: &'static str,
    },
    /// An Application deploys to another cluster, and leaves everything in the old one.
    ClusterChanged {
        /// The cluster before: a name or a URL.
        from: String,
        /// The cluster after.
        to: String,
        /// Whether one is a name and the other a URL, so that both may be the same.
        may_be_same: bool,
    },
    /// An Application deploys objects that name no namespace to another one.
    NamespaceOfAll {
        /// The namespace before.
        from: String,
        /// The namespace after.
        to: String,
        /// What becomes of the objects in the old one.
        left: &'static str,
    },
    /// An Application prunes from now on.
    StartsPruning,
    /// An Application replaces objects instead of applying them.
    Replaces {
        /// Whether it deletes them first, where that fails.
        forced: bool,
    },
    /// A field changed, and the API server refuses such a change.
    Immutable {
        /// The field.
        field: String,
        /// Whether the object is deleted and made again on sync, as an annotation of it says.
        replaced: bool,
        /// What to do, which differs by kind.
        advice: &'static str,
    },
    /// A version of a custom resource is no longer there, or no longer served.
    VersionGone {
        /// The version.
        version: String,
        /// Whether it is still there.
        is_there: bool,
    },
    /// Fewer Pods, whose claims are deleted.
    ScaledDown {
        /// How many replicas there were.
        from: i64,
        /// How many there are.
        to: i64,
    },
    /// A workload does not select the Pods that it makes.
    Unmatched,
    /// Nothing runs any more.
    ScaledToZero {
        /// How many replicas there were.
        from: i64,
    },
    /// What protected something is gone.
    Unprotected {
        /// What is no longer so.
        loss: &'static str,
    },
    /// Something no longer gets through.
    Blocking {
        /// What.
        blocked: String,
    },
    /// A Service selects no Pod that runs.
    Unselected {
        /// Whether there will be none either.
        is_lasting: bool,
    },
    /// A host is no longer served.
    HostGone {
        /// The host.
        host: String,
    },
    /// A container gets far less than before.
    ResourcesDown {
        /// The container.
        container: String,
        /// `memory limit`, `CPU request`, …
        resource: &'static str,
        /// The quantity before, as written.
        from: String,
        /// The quantity after, as written.
        to: String,
    },
    /// Pods may do more on their node than before.
    Privileged {
        /// What: at least one.
        gains: Vec<String>,
    },
    /// Something can be reached from more places than before.
    Exposed {
        /// How.
        how: String,
    },
    /// Somebody may do more than before.
    Widened {
        /// What, or who: at least one.
        grants: Vec<String>,
    },
    /// An image that can be another one tomorrow.
    FloatingImage {
        /// The image, as written.
        image: String,
    },
    /// What a rule says in its own words.
    Said {
        /// The word by which programs know it.
        kind: &'static str,
        /// What happens.
        text: String,
        /// What to do about it.
        advice: &'static str,
    },
}

impl Danger {
    fn new(severity: Severity, what: What) -> Self {
        Self { severity, what, pruning: None, is_with_application: false }
    }

    /// What a rule says in its own words: its kind for programs, what happens, what to do about it.
    fn said(severity: Severity, kind: &'static str, text: String, advice: &'static str) -> Self {
        Self::new(severity, What::Said { kind, text, advice })
    }

    fn pruned(self, pruning: Pruning) -> Self {
        Self { pruning: Some(pruning), ..self }
    }

    /// The word by which programs know it.
    pub(crate) fn kind(&self) -> &'static str {
        match self.what {
            What::Removed { .. } => "removed",
            What::HandedOver { .. } => "handedOver",
            What::NamespaceChanged { .. } => "namespaceChanged",
            What::ClusterChanged { .. } => "clusterChanged",
            What::NamespaceOfAll { .. } => "destinationNamespaceChanged",
            What::StartsPruning => "startsPruning",
            What::Replaces { .. } => "replaces",
            What::Immutable { .. } => "immutable",
            What::VersionGone { .. } => "versionGone",
            What::ScaledDown { .. } => "scaledDown",
            What::Unmatched => "unmatchedSelector",
            What::ScaledToZero { .. } => "scaledToZero",
            What::Unprotected { .. } => "unprotected",
            What::Blocking { .. } => "blocking",
            What::Unselected { .. } => "unselected",
            What::HostGone { .. } => "hostGone",
            What::ResourcesDown { .. } => "resourcesDown",
            What::Privileged { .. } => "privileged",
            What::Exposed { .. } => "exposed",
            What::Widened { .. } => "widened",
            What::FloatingImage { .. } => "floatingImage",
            What::Said { kind, .. } => kind,
        }
    }

    /// What to do about it.
    pub(crate) fn advice(&self) -> &'static str {
        let goes = matches!(self.kind(), "removed" | "unprotected" | "hostGone" | "unscaled");
        match &self.what {
            _ if goes
                && (self.pruning == Some(Pruning::Cascade) || self.pruning.is_some() && self.is_with_application) =>
            {
                "to keep it, set the sync option `Delete=false` on it in a commit before this one"
            }
            _ if goes && self.pruning.is_some() => {
                "to keep it, set the sync option `Prune=false` on it in a commit before this one"
            }
            What::Said { advice, .. } => advice,
            What::Removed { .. } => "check that it is meant to go",
            What::HandedOver { .. } => {
                "set the sync options `Prune=false,Delete=false` on it in a commit before this one, and sync the new Application first"
            }
            What::NamespaceChanged { .. } if self.severity == Severity::DataLoss => {
                "have both for a while and copy the data, then remove the old one"
            }
            What::NamespaceChanged { .. } if self.severity == Severity::Outage => {
                "have both for a while, then remove the old one"
            }
            What::NamespaceChanged { .. } => "check that what refers to it is in the new namespace too",
            What::ClusterChanged { .. } => {
                "sync to the new cluster, move the data, then delete by hand what stays in the old one"
            }
            What::NamespaceOfAll { .. } => {
                "check that the namespace exists, or set the sync option `CreateNamespace=true`"
            }
            What::StartsPruning => "look in Argo CD for objects that need pruning before this is merged",
            What::Replaces { .. } => "set it as an annotation of the objects that need it",
            What::Immutable { advice, .. } => advice,
            What::VersionGone { is_there: true, .. } => "move the clients of this version first",
            What::VersionGone { .. } => "store all objects in another version and clear `status.storedVersions` first",
            What::ScaledDown { .. } => "back up the data, or set `whenScaled: Retain` in a commit before this one",
            What::Unmatched => "give the Pods the labels of the selector",
            What::ScaledToZero { .. } => "keep at least one replica of what shall serve",
            What::Unprotected { .. } => "name those who may connect",
            What::Blocking { .. } if self.severity == Severity::Outage => "add the rules for what shall get through",
            What::Blocking { .. } => "allow at least one disruption, or run more replicas",
            What::Unselected { is_lasting: true } => "select labels that its Pods have",
            What::Unselected { is_lasting: false } => "give the Pods the new labels in a commit before this one",
            What::HostGone { .. } => "check that no one uses the host, or redirect it first",
            What::ResourcesDown { .. } => "compare with what the containers use",
            What::Privileged { .. } => "grant only what the containers need",
            What::Exposed { .. } => {
                "to keep it inside, use ClusterIP, the cloud's internal load balancer, or `loadBalancerSourceRanges`"
            }
            What::Widened { .. } => "grant only what is needed",
            What::FloatingImage { .. } => "name a version or a digest",
        }
    }
}

impl Danger {
    /// What Argo CD does with the object that goes; `None` where no object does.
    pub(crate) fn pruning_text(&self) -> Option<String> {
        let object = match self.kind() {
            "namespaceChanged" => "the old one",
            "applicationRemoved" => return None,
            _ => "it",
        };
        self.pruning.map(|pruning| pruning.sentence(object))
    }
}

/// How many rights are named; the rest is counted.
const GRANTS_SHOWN: usize = 4;

/// What happens, to follow the name of the object and a colon.
impl std::fmt::Display for Danger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.what {
            What::Removed { loss } => write!(f, "removed, {loss}"),
            What::HandedOver { loss } => {
                write!(f, "moves to another Application: if the old one removes it first, it goes {loss}")
            }
            What::NamespaceChanged { from, to, loss } => write!(f, "namespace {from} → {to}: {loss}"),
            What::ClusterChanged { from, to, may_be_same } => {
                let unless = if *may_be_same { ", unless both are the same cluster" } else { "" };
                write!(
                    f,
                    "cluster {from} → {to}{unless}: everything is created there, claims without their data; what is in {from} stays, and Argo CD no longer manages it"
                )
            }
            What::NamespaceOfAll { from, to, left } => {
                write!(f, "namespace {from} → {to}: objects that name no namespace are created there; {left}")
            }
            What::StartsPruning => f.write_str(
                "prunes from now on: what git no longer has and the cluster still has is deleted with the next sync",
            ),
            What::Replaces { forced: false } => f.write_str(
                "`Replace=true`: a sync replaces objects instead of applying them, which may create them anew",
            ),
            What::Replaces { forced: true } => {
                f.write_str("`Force=true` and `Replace=true`: a sync deletes objects and creates them again")
            }
            What::Immutable { field, replaced: false, .. } if field == immutable::STORAGE => {
                write!(f, "a claim cannot shrink (`{field}`): the sync fails unless the object is deleted first")
            }
            What::Immutable { field, replaced: false, .. } => {
                write!(f, "`{field}` cannot be changed: the sync fails unless the object is deleted first")
            }
            What::Immutable { field, replaced: true, .. } => {
                write!(f, "`{field}` cannot be changed: the object is deleted and created again (`Force=true`)")
            }
            What::VersionGone { version, is_there: false } if self.severity == Severity::Refused => {
                write!(
                    f,
                    "version {version} is removed, in which objects are stored: the API server refuses that, so the sync fails"
                )
            }
            What::VersionGone { version, is_there: false } => {
                write!(f, "version {version} is removed: objects that are stored in it cannot be read")
            }
            What::VersionGone { version, is_there: true } => {
                write!(f, "version {version} is no longer served: requests for it fail")
            }
            What::ScaledDown { from, to } => {
                write!(f, "replicas {from} → {to}: the claims of the Pods that go are deleted (`whenScaled: Delete`)")
            }
            What::Unmatched => {
                f.write_str("`spec.selector` does not match the labels of its Pods: the API server refuses it")
            }
            What::ScaledToZero { from } => write!(f, "replicas {from} → 0: nothing runs"),
            What::Unprotected { loss } => f.write_str(loss),
            What::Blocking { blocked } => f.write_str(blocked),
            What::Unselected { is_lasting: true } => f.write_str("selects no Pods any more: it has no endpoints"),
            What::Unselected { is_lasting: false } => {
                f.write_str("selects none of the Pods that run now: it has no endpoints until new ones are ready")
            }
            What::HostGone { host } => write!(f, "{host} is no longer served"),
            What::ResourcesDown { container, resource, from, to } => {
                write!(f, "{resource} of `{container}` {from} → {to}: {}", resources::effect(resource))
            }
            What::Privileged { gains } => list(f, "Pods get ", gains),
            What::Exposed { how } => f.write_str(how),
            What::Widened { grants } => list(f, "grants additional permissions: ", grants),
            What::Said { text, .. } => f.write_str(text),
            What::FloatingImage { image } => {
                write!(f, "image {image} has no version: what runs is decided each time that a Pod starts")
            }
        }
    }
}

fn list(f: &mut std::fmt::Formatter<'_>, start: &str, items: &[String]) -> std::fmt::Result {
    write!(f, "{start}{}", listed(items, GRANTS_SHOWN))
}

/// What may do harm in the change of one object, the worst first.
///
/// A hook is deleted and made again as its policy says, is not pruned and never scaled: of it only what its Pods and its
/// rights may do counts.
pub(super) fn dangers<'a>(pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let (old, new) = (pair.old, pair.new);
    let mut found = Vec::new();
    if !old.or(new).is_some_and(is_hook) {
        match (old, new) {
            (Some(old), None) => found.extend(removed(old, pair, around)),
            (Some(old), Some(new)) if pair.is_recreated => found.extend(namespace::changed(old, new, pair, around)),
            (Some(old), Some(new)) => {
                found.extend(around.is_handed_over.then(|| lost::handed_over(old, around)).flatten());
                found.extend(changed(old, new, pair, around));
            }
            (None, _) => {}
        }
        found.extend(availability::disruptions(old, new, around));
        found.extend(network::policy(old, new, around));
        found.extend(network::exposed(old, new));
        found.extend(network::unselected(old, new, around));
        found.extend(hosts::gone(old, new, around));
        found.extend(new.map(|new| stays(old, new, around)).unwrap_or_default());
    }
    if let Some(new) = new {
        found.extend(resources::down(old, new));
        found.extend(privilege::gained(old, new));
        found.extend(images::floating_images(old, new));
        let grants = rights::widened(old, new);
        if !grants.is_empty() {
            found.push(Danger::new(Severity::Security, What::Widened { grants }));
        }
    }
    if is_refused(&found) {
        // Nothing else comes of a change that the API server does not take.
        found.retain(|danger| danger.severity == Severity::Refused);
    }
    found.sort();
    found.dedup();
    found
}

/// What goes with an object that is removed. Where it is known who needs it, that is said, and not that it goes.
fn removed<'a>(old: &'a Manifest, pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let needed = needed::gone(pair, around);
    let is_plain = needed.is_empty() || !lost::is_only_needed(old);
    let lost = lost::removed(old, around).filter(|_| is_plain);
    needed.into_iter().chain(lost).chain(autoscaling::removed(old, around)).collect()
}

/// What becomes of an object that was there before.
fn changed<'a>(old: &'a Manifest, new: &'a Manifest, pair: &Pair<'a>, around: &Around<'a>) -> Vec<Danger> {
    let mut found = immutable::changed(old, new);
    found.extend(crd::versions_gone(old, new));
    found.extend(availability::scaled(old, new));
    found.extend(application::changed(old, new));
    found.extend(needed::gone(pair, around));
    found.extend(needed::keys_gone(old, new, around));
    found.extend(stale::config(old, new, around));
    found.extend(rollout::strategy(old, new, around));
    found.extend(rollout::paused(old, new));
    found.extend(rollout::killed(old, new));
    found.extend(rollout::probes(old, new, around));
    found.extend(ports::gone(old, new));
    found.extend(autoscaling::blind(old, new, around));
    found.extend(gates::raised(old, new, around));
    found.extend(traffic::shifted(old, new, around));
    found.extend(traffic::class(old, new));
    found.extend(traffic::elsewhere(old, new));
    found.extend(traffic::plain_text(old, new));
    found.extend(trust::distrusted(old, new, around));
    found.extend(trust::unguarded(old, new));
    found.extend(operators::shrunk(old, new));
    found.extend(operators::armed(old, new));
    found.extend(volumes::replaced(old, new));
    found.extend(volumes::armed(old, new));
    found
}

/// What is to be said of an object that is there after the change, new or not.
fn stays<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found = invalid::refused(old, new);
    found.extend(availability::unmatched(old, new));
    found.extend(needed::missing(old, new, around));
    found.extend(needed::target(new, around));
    found.extend(ports::probed(old, new));
    found.extend(ports::targets(old, new, around));
    found.extend(autoscaling::workload(old, new, around));
    found.extend(quotas::quota(old, new, around));
    found.extend(quotas::limit_range(old, new, around));
    found
}

/// Whether the API server refuses the change of an object, so that nothing comes of it.
pub(super) fn is_refused(dangers: &[Danger]) -> bool {
    dangers.iter().any(|danger| danger.severity == Severity::Refused && danger.kind() != "shrinks")
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
