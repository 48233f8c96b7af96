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

/// By which mesh the Pods of a workload have a proxy: its own word goes before that of its namespace.
///
/// Reference: linkerd.io docs/features/proxy-injection; istio.io docs/setup/additional-setup/sidecar-injection, docs/ambient.
fn mesh<'a>(workload: Placed<'a>, side: &Side<'a>) -> Option<Option<&'static str>> {
    let pods = workload.manifest.object().at(&["spec", "template"])?;
    let namespaces = side.listed("Namespace").map(|one| one.manifest);
    let namespace = namespaces.into_iter().find(|one| one.name() == workload.namespace).map(Manifest::object);
    let of = |value: &'a Value, list: &str, key: &str| value.at(&["metadata", list, key]).and_then(Value::as_str);
    let linkerd = |value: &'a Value| of(value, "annotations", "linkerd.io/inject").map(|word| word != "disabled");
    let key = "sidecar.istio.io/inject";
    let istio_pods = of(pods, "labels", key).or_else(|| of(pods, "annotations", key)).map(|word| word == "true");
    let istio_of = |value: &'a Value| {
        let is_ambient = of(value, "labels", "istio.io/dataplane-mode") == Some("ambient");
        let by_label = of(value, "labels", "istio-injection").map(|word| word == "enabled");
        let by_revision = of(value, "labels", "istio.io/rev").map(|_| true);
        is_ambient.then_some(true).or(by_label).or(by_revision)
    };
    let own = [linkerd(pods).map(|is| (is, "Linkerd")), istio_pods.map(|is| (is, "Istio"))];
    let of_namespace =
        namespace.map(|value| [linkerd(value).map(|is| (is, "Linkerd")), istio_of(value).map(|is| (is, "Istio"))]);
    let words = own.into_iter().flatten().chain(of_namespace.into_iter().flatten().flatten());
    let mut words: Vec<(bool, &str)> = words.collect();
    words.dedup_by_key(|(_, mesh)| *mesh);
    match words.iter().find(|(is, _)| *is) {
        Some((_, mesh)) => Some(Some(mesh)),
        // What a namespace that is not known says may be otherwise.
        None if namespace.is_some() || !words.is_empty() => Some(None),
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
