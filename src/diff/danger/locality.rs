//! Services that are for the Pods of each node alone.

use super::around::{service_type, services};
use super::{Around, Danger, Severity};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

/// A Service that sends requests to Pods of the same node alone from now on, where not every node has one.
///
/// Reference: kubernetes docs/concepts/services-networking/service-traffic-policy; tutorials/services/source-ip, "Source IP for
/// Services with Type=NodePort"; tasks/access-application-cluster/create-external-load-balancer: load balancers leave out nodes
/// without Pods.
pub(super) fn narrowed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let (old, new) = services(Some(old), Some(new))?;
    let whose = callers(around.after(new), &around.model.after)?;
    callers(around.before(old), &around.model.before).is_none().then(|| {
        let advice = "keep `Cluster`, unless every node that is asked runs one of its Pods";
        Danger::said(Severity::Outage, "noLocal", whose.to_owned(), advice)
    })
}

/// Whose requests get no answer.
fn callers(service: Placed<'_>, side: &Side<'_>) -> Option<&'static str> {
    let is_local = |key| word(service.manifest.object(), &["spec", key]) == "Local";
    let is_headless = word(service.manifest.object(), &["spec", "clusterIP"]) == "None";
    let whose = match service_type(service.manifest) {
        "ExternalName" => return None,
        _ if is_local("internalTrafficPolicy") && !is_headless => {
            "`internalTrafficPolicy: Local`: callers on nodes without its Pods get no answer"
        }
        "NodePort" if is_local("externalTrafficPolicy") => {
            "`externalTrafficPolicy: Local`: nodes without its Pods drop what is sent to its port"
        }
        _ => return None,
    };
    side.served_by(service).iter().any(|one| one.manifest.kind() != "DaemonSet").then_some(whose)
}
