//! Linkerd: who may connect to the ports of its Servers.

use go_yaml::Value;

use super::{Around, Danger, Severity, items};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::Manifest;

const GROUP: &str = "policy.linkerd.io";

/// What is authorized for a Server, a route or a namespace, by the kinds of old and now.
fn target(object: &Manifest) -> Option<[&str; 2]> {
    let value = object.object();
    match (object.home_group(), object.kind()) {
        (GROUP, "AuthorizationPolicy") => {
            Some([word(value, &["spec", "targetRef", "kind"]), word(value, &["spec", "targetRef", "name"])])
        }
        (GROUP, "ServerAuthorization") => Some(["Server", word(value, &["spec", "server", "name"])]),
        _ => None,
    }
}

/// What authorized somebody and goes, while what it was for stays and nothing else authorizes for it.
///
/// Reference: linkerd.io docs/reference/authorization-policy: a Server denies by default what nothing authorizes.
pub(super) fn unauthorized<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let [kind, name] = target(old)?;
    let placed = around.before(old);
    let pruning = around.pruning.of(old);
    let server = |side: &Side<'a>| {
        let is_it = |one: &&Placed<'a>| {
            (one.manifest.home_group(), one.manifest.kind(), one.manifest.name()) == (GROUP, "Server", name)
                && one.namespace == placed.namespace
        };
        side.all().iter().copied().find(|one| is_it(&one))
    };
    let stays = kind == "Server" && server(&around.model.before).is_some();
    let denies = stays && server(&around.model.after).is_some_and(|one| policy(one.manifest) == "deny");
    let is_other = |one: &&Placed<'a>| one.namespace == placed.namespace && target(one.manifest) == target(old);
    let is_left = !around.model.after.all().iter().any(|one| is_other(&one));
    (denies && is_left && pruning.removes()).then(|| {
        let text = format!("removed: those whom it authorizes for Server {name} are denied");
        let advice = "keep what authorizes those who shall connect";
        Danger::said(Severity::Outage, "blocking", text, advice).pruned(pruning)
    })
}

/// What a Server does with those whom nothing authorizes.
fn policy(server: &Manifest) -> &str {
    match word(server.object(), &["spec", "accessPolicy"]) {
        "" => "deny",
        policy => policy,
    }
}

/// From the strictest on; those that are not known are not compared.
const POLICIES: [&str; 5] =
    ["deny", "cluster-authenticated", "all-authenticated", "cluster-unauthenticated", "all-unauthenticated"];

/// A Server, or an identity or network, that is for more than before.
pub(super) fn opened(old: &Manifest, new: &Manifest) -> Option<Danger> {
    if new.home_group() != GROUP {
        return None;
    }
    let security = |text| Danger::said(Severity::Security, "unprotected", text, "name those who may connect");
    let has = |object: &Manifest, list: &[&str], all: &str| {
        items(object.object(), &["spec", list.first().unwrap_or(&"")]).iter().any(|one| match list.get(1) {
            Some(key) => word(one, &[key]) == all && items(one, &["except"]).is_empty(),
            None => one.as_str() == Some(all),
        })
    };
    let comes = |list: &[&str], all: &str| has(new, list, all) && !has(old, list, all);
    match new.kind() {
        "Server" => {
            let rank = |one: &Manifest| POLICIES.iter().position(|known| *known == policy(one));
            let (was, now) = (rank(old)?, rank(new)?);
            (now > was).then(|| {
                security(format!("`accessPolicy: {}`: those may connect whom nothing authorizes", policy(new)))
            })
        }
        // Each that is named has to be met.
        "AuthorizationPolicy" => {
            let [was, now] = [old, new].map(|one| items(one.object(), &["spec", "requiredAuthenticationRefs"]));
            let is_less = !now.is_empty() && now.len() < was.len() && now.iter().all(|one| was.contains(one));
            let text = "`requiredAuthenticationRefs` has fewer: those may connect who meet the others alone";
            is_less.then(|| security(text.to_owned()))
        }
        "MeshTLSAuthentication" => {
            comes(&["identities"], "*").then(|| security("every identity of the mesh is authorized".to_owned()))
        }
        "NetworkAuthentication" => {
            let ranges = ["0.0.0.0/0", "::/0"];
            let is_open = ranges.iter().any(|range| comes(&["networks", "cidr"], range));
            is_open.then(|| security("every address is authorized".to_owned()))
        }
        _ => None,
    }
}

/// Whether a Server lets in those alone whom something authorizes.
pub(super) fn restricts(server: &Manifest) -> bool {
    !policy(server).ends_with("-unauthenticated") && policy(server) != "audit"
}

/// By which mesh the Pods of a workload are served, if by any; none where that is not known. Their own word goes before that of their
/// namespace.
///
/// Reference: linkerd.io docs/features/proxy-injection; istio.io docs/setup/additional-setup/sidecar-injection; docs/ambient/usage,
/// "Add workloads": ztunnel takes the place of a proxy.
fn mesh<'a>(workload: Placed<'a>, side: &Side<'a>) -> Option<Option<&'static str>> {
    let pods = workload.manifest.object().at(&["spec", "template"])?;
    let mut namespaces = side.listed("Namespace").map(|one| one.manifest);
    let namespace = namespaces.find(|one| one.name() == workload.namespace).map(Manifest::object);
    let word = |value: &'a Value, list: &str, key: &str| value.at(&["metadata", list, key]).and_then(Value::as_str);
    let linkerd = |value: &'a Value| word(value, "annotations", "linkerd.io/inject").map(|word| word != "disabled");
    let sidecar = "sidecar.istio.io/inject";
    let is_ambient = |value: &'a Value| word(value, "labels", "istio.io/dataplane-mode").map(|word| word == "ambient");
    let ambient = is_ambient(pods).or_else(|| namespace.and_then(is_ambient));
    let own_istio = word(pods, "labels", sidecar).or_else(|| word(pods, "annotations", sidecar));
    let of_namespace = |value: &'a Value| {
        let by_label = word(value, "labels", "istio-injection").map(|word| word == "enabled");
        by_label.or_else(|| word(value, "labels", "istio.io/rev").map(|_| true))
    };
    let istio = own_istio.map(|word| word == "true").or_else(|| namespace.and_then(of_namespace));
    let meshes = [
        ("Linkerd", linkerd(pods).or_else(|| namespace.and_then(linkerd))),
        ("Istio", ambient.filter(|is| *is).or(istio)),
    ];
    match meshes.iter().find(|(_, is)| *is == Some(true)) {
        Some((mesh, _)) => Some(Some(mesh)),
        // What a namespace that is not known says may be otherwise.
        None if namespace.is_some() || meshes.iter().any(|(_, is)| is.is_some()) => Some(None),
        None => None,
    }
}

/// Pods that have a proxy of a mesh no more.
pub(super) fn unmeshed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let was = mesh(around.before(old), &around.model.before)??;
    mesh(around.after(new), &around.model.after)?.is_none().then(|| {
        let text = format!(
            "its Pods get no proxy of {was} any more: what they send and take is not encrypted, and no policy of the mesh holds for them"
        );
        Danger::said(Severity::Security, "unmeshed", text, "keep them in the mesh, or check what its policies kept from them")
    })
}
