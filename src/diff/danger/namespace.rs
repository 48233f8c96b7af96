//! Objects that are made again in another namespace.

use super::{Around, Danger, Pair, Severity, What, items};
use crate::manifest::Manifest;

/// What that means: the API server knows a new object, the old one goes as anything that is no longer in git.
///
/// Where the Application has the namespace, what is no worse for this object than for all of its is said of the Application.
pub(super) fn changed<'a>(
    old: &'a Manifest,
    new: &'a Manifest,
    pair: &Pair<'a>,
    around: &Around<'a>,
) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let (severity, loss) = match pruning.removes() {
        true => loss(old),
        false => (Severity::Other, "a second one is made, the old one stays"),
    };
    if pair.destinations.is_some() && !severity.is_severe() {
        return None;
    }
    let namespaces = [around.before(old), around.after(new)].map(|placed| placed.namespace);
    let [from, to] = pair.destinations.unwrap_or(namespaces).map(str::to_owned);
    Some(Danger::new(severity, What::NamespaceChanged { from, to, loss }).pruned(pruning))
}

fn loss(old: &Manifest) -> (Severity, &'static str) {
    let keeps_data = !items(old.object(), &["spec", "volumeClaimTemplates"]).is_empty();
    match (old.home_group(), old.kind()) {
        ("", "PersistentVolumeClaim") => (Severity::DataLoss, "the new claim is empty, the old one goes with its data"),
        ("apps", "StatefulSet") if keeps_data => (Severity::DataLoss, "it starts with empty volumes"),
        ("apps", _) | ("argoproj.io", "Rollout") | ("batch", _) | ("", "ReplicationController") => {
            (Severity::Outage, "new Pods start there, the old ones go")
        }
        ("", "Service") => (Severity::Outage, "its address and its name in DNS change"),
        ("networking.k8s.io", "NetworkPolicy") => (Severity::Outage, "the Pods of the old namespace are without it"),
        ("networking.k8s.io" | "gateway.networking.k8s.io", _) => {
            (Severity::Outage, "a new one is created, the old one goes")
        }
        _ => (Severity::Other, "a new one is created, the old one goes"),
    }
}
