//! What dangers there are, and what to do about each.

use super::{Danger, Pruning, Severity};

/// The sorts of dangers.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    /// An object goes, and more with it than itself.
    Removed {
        /// What goes with it.
        loss: &'static str,
        /// Whether one much like it comes under another name.
        is_renamed: bool,
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
            What::Exposed { .. } => "to keep it inside, use ClusterIP or the cloud's internal load balancer",
            What::Widened { .. } => "grant only what is needed",
            What::FloatingImage { .. } => "name a version or a digest",
        }
    }
}
