//! Applications that are deleted, with what they deploy, before they are made anew.

use super::{Danger, Pruning, Severity, lost};
use crate::manifest::Manifest;

/// An Application that a set deletes while another document makes one of its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Remade {
    /// The name of the set.
    pub set: String,
    /// Whether the set goes too.
    pub set_goes: bool,
}

/// What goes with it by its finalizer: all that it deploys. `objects` are what it renders, if that is known.
///
/// Reference: argo-cd 3.4 applicationset/controllers/applicationset_controller.go `deleteInCluster`;
/// docs/operator-manual/applicationset/Application-Deletion.md: an apply of another document keeps the ownerReferences.
pub(crate) fn remade<'a>(remade: &Remade, objects: Option<impl Iterator<Item = &'a Manifest>>) -> Option<Danger> {
    let is_known = objects.is_some();
    let objects = objects.into_iter().flatten();
    let going: Vec<&Manifest> = objects.filter(|object| Pruning::Cascade.of(object) == Pruning::Cascade).collect();
    let all = match going.len() {
        0 if is_known => return None,
        0 => "all that it deploys".to_owned(),
        1 => "its object".to_owned(),
        count => format!("its {count} objects"),
    };
    let loses_data = |object: &&Manifest| matches!(lost::loss(object), Some((Severity::DataLoss, _)));
    let severity = if going.iter().any(loses_data) { Severity::DataLoss } else { Severity::Outage };
    let text = format!(
        "its ApplicationSet {} deletes it, and {all} with it, before the other document makes it anew",
        remade.set
    );
    let advice = match remade.set_goes {
        true => "delete the set with `kubectl delete applicationset --cascade=orphan` before this is merged",
        false => {
            "set `syncPolicy.applicationsSync: create-update` in the set in a commit before this one, and remove the Application's \
             ownerReference before the policy is taken back"
        }
    };
    Some(Danger::said(severity, "applicationRemade", text, advice))
}
