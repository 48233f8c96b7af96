//! What dangers say.

use super::{Danger, Severity, What, immutable, resources};
use dry_files::diag::more::listed;

impl Danger {
    /// What Argo CD does with so many objects that go; `None` where none does.
    pub(crate) fn pruning_text(&self, count: usize) -> Option<String> {
        let object = match (self.kind(), count) {
            ("applicationRemoved", _) => return None,
            ("namespaceChanged", 1) => "the old one",
            ("namespaceChanged", _) => "the old ones",
            (_, 1) => "it",
            _ => "they",
        };
        self.pruning.map(|pruning| pruning.sentence(object, count))
    }
}

/// How many rights are named; the rest is counted.
const GRANTS_SHOWN: usize = 4;

/// What happens, to follow the name of the object and a colon.
impl std::fmt::Display for Danger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.what {
            What::Removed { loss, is_renamed: false } => write!(f, "removed, {loss}"),
            What::Removed { loss, is_renamed: true } => write!(f, "removed, {loss}; it comes anew under another name"),
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
                write!(f, "{resource} of `{container}` {from} → {to}: {}", resources::effect(resource, to))
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

/// The end of a verb whose subject is so many: `serve` or `serves`.
pub(super) fn verb(count: usize) -> &'static str {
    if count == 1 { "s" } else { "" }
}

fn list(f: &mut std::fmt::Formatter<'_>, start: &str, items: &[String]) -> std::fmt::Result {
    write!(f, "{start}{}", listed(items, GRANTS_SHOWN))
}
