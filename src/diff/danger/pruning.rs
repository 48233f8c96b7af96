//! Whether Argo CD removes what is no longer in git.

use super::{has_sync_option, text};
use crate::manifest::Manifest;

/// What becomes of an object in the cluster once it is no longer in git.
///
/// Reference: argo-cd 3.4 docs/user-guide/auto_sync.md, sync-options.md, app_deletion.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) enum Pruning {
    /// The next sync removes it: `syncPolicy.automated.prune`.
    Automatic,
    /// It goes when somebody syncs with pruning.
    Manual,
    /// It goes once somebody confirms: `Prune=confirm`, `Delete=confirm`.
    Confirmed,
    /// It is deleted with its Application, which has the resources finalizer.
    Cascade,
    /// It stays: `Prune=false`, `Delete=false`.
    Off,
    /// It stays, since its Application goes without a finalizer.
    Orphaned,
    /// It stays in the cluster that its Application leaves.
    Left,
    /// Nothing is known of its Application.
    #[default]
    Unknown,
}

impl Pruning {
    /// The word by which programs know it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Pruning::Automatic => "automatic",
            Pruning::Manual => "manual",
            Pruning::Confirmed => "confirmed",
            Pruning::Cascade => "cascade",
            Pruning::Off => "off",
            Pruning::Orphaned => "orphaned",
            Pruning::Left => "left",
            Pruning::Unknown => "unknown",
        }
    }

    /// Whether the object goes, sooner or later.
    pub(super) fn removes(self) -> bool {
        !matches!(self, Pruning::Off | Pruning::Orphaned | Pruning::Left)
    }

    /// What becomes of one object, whose options override those of the Application.
    ///
    /// Of an object that goes with its Application, `Delete` and Helm's `keep` decide; else `Prune`.
    pub(super) fn of(self, object: &Manifest) -> Self {
        let has = |option| has_sync_option(object, option);
        match self {
            Pruning::Orphaned | Pruning::Left => self,
            Pruning::Cascade if outlives(object) => Pruning::Off,
            Pruning::Cascade if has("Delete=confirm") => Pruning::Confirmed,
            Pruning::Cascade => self,
            _ if has("Prune=false") => Pruning::Off,
            _ if has("Prune=confirm") => Pruning::Confirmed,
            Pruning::Off | Pruning::Confirmed if has("Prune=true") => Pruning::Unknown,
            _ => self,
        }
    }
}

/// Whether an object stays in the cluster when its Application is deleted with its objects.
///
/// Reference: argo-cd 3.4 controller/appcontroller.go `shouldBeDeleted`.
pub(crate) fn outlives(object: &Manifest) -> bool {
    let is_definition = object.group() == "apiextensions.k8s.io" && object.kind() == "CustomResourceDefinition";
    let keeps = || text(object, &["metadata", "annotations", "helm.sh/resource-policy"]).trim() == "keep";
    is_definition || has_sync_option(object, "Delete=false") || keeps()
}

/// What Argo CD does, as a sentence.
impl std::fmt::Display for Pruning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence("it", 1))
    }
}

impl Pruning {
    /// What Argo CD does with so many objects, as a sentence. `objects` are called as where they do something: `they`.
    pub(super) fn sentence(self, objects: &str, count: usize) -> String {
        let (stay, whose) = if count == 1 { ("stays", "its Application") } else { ("stay", "their Application") };
        let them = if objects == "they" { "them" } else { objects };
        match self {
            Pruning::Automatic => format!("Argo CD prunes {them} with the next sync"),
            Pruning::Manual => {
                format!("{objects} {stay} until somebody syncs with pruning: the Application does not prune by itself")
            }
            Pruning::Confirmed => format!("Argo CD removes {them} once somebody confirms"),
            Pruning::Cascade => format!("Argo CD deletes {them} together with {whose}"),
            Pruning::Off => format!("Argo CD does not prune {them}"),
            Pruning::Orphaned => format!("{objects} {stay}: {whose} goes without the resources finalizer"),
            Pruning::Left => format!("{objects} {stay}: {whose} deploys to another cluster now"),
            Pruning::Unknown => format!("Argo CD removes {them} if the Application prunes"),
        }
    }
}
