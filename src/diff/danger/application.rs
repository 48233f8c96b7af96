//! Argo CD's Applications: where they deploy to, and what they do to what is there.

mod releases;
mod sets;

use go_yaml::Value;

pub(super) use releases::is_range;

use super::{Around, Danger, Pruning, Severity, What, items};
use crate::manifest::{Manifest, OWN_CLUSTER, OWN_CLUSTER_NAME, is_likely_of_cluster};

/// The finalizer by which what an Application deploys is deleted with it; how that is done may follow behind a `/`.
const FINALIZER: &str = "resources-finalizer.argocd.argoproj.io";

/// Where an Application deploys to, and which objects it removes or replaces there; the same of those that a set makes.
pub(super) fn changed(old: &Manifest, new: &Manifest, around: &Around<'_>) -> Vec<Danger> {
    match (old.home_group(), old.kind()) {
        ("argoproj.io", "Application") => deployed((old.object(), new.object()), around),
        ("argoproj.io", "ApplicationSet") => sets::changed(old.object(), new.object(), around),
        _ => Vec::new(),
    }
}

/// What becomes of what an Application, or each of a template, deploys.
fn deployed((old, new): (&Value, &Value), around: &Around<'_>) -> Vec<Danger> {
    let mut dangers = Vec::new();
    if let Some(what) = destination(old, new, around) {
        let is_other_cluster = matches!(what, What::ClusterChanged { .. });
        dangers.push(Danger::new(if is_other_cluster { Severity::Outage } else { Severity::Other }, what));
    }
    let starts = pruning(old) != Pruning::Automatic && pruning(new) == Pruning::Automatic;
    if starts {
        dangers.push(Danger::new(Severity::Other, What::StartsPruning));
    }
    if !has_option(old, "Replace=true") && has_option(new, "Replace=true") {
        let forced = has_option(new, "Force=true");
        dangers.push(Danger::new(Severity::Outage, What::Replaces { forced }));
    }
    let empties = |application: &Value| {
        prunes(application)
            && application.at(&["spec", "syncPolicy", "automated", "allowEmpty"]).and_then(Value::as_bool) == Some(true)
    };
    if !empties(old) && empties(new) {
        let text =
            "`allowEmpty: true`: where its source renders nothing, also by a mistake, all its objects are pruned"
                .to_owned();
        let advice = "keep it false: Argo CD then refuses to prune all of them";
        dangers.push(Danger::said(Severity::Other, "allowsEmpty", text, advice));
    }
    if !has_option(old, "Validate=false") && has_option(new, "Validate=false") {
        let text = "`Validate=false`: fields that the API server does not know are left out in silence".to_owned();
        let advice = "keep it to the annotations of objects that need it";
        dangers.push(Danger::said(Severity::Other, "unchecked", text, advice));
    }
    dangers.extend(releases::renamed(old, new));
    dangers.extend(releases::unpinned(old, new));
    dangers.extend(releases::floating(old, new));
    dangers
}

/// Whether a danger of an Application as an object of another one is known better of what it deploys.
pub(crate) fn is_said_of_application(danger: &Danger) -> bool {
    let kinds = ["clusterChanged", "destinationNamespaceChanged", "startsPruning", "replaces", "releaseRenamed"];
    kinds.contains(&danger.kind())
}

/// What goes with an Application that is no longer there; none where its objects stay.
///
/// Reference: argo-cd 3.4 docs/user-guide/app_deletion.md, sync-options.md.
pub(crate) fn removed(objects: usize, pruning: Pruning) -> Option<Danger> {
    let all = match objects {
        0 => return None,
        1 => "its object".to_owned(),
        count => format!("its {count} objects"),
    };
    let when = match pruning {
        Pruning::Left | Pruning::Off | Pruning::Orphaned => return None,
        Pruning::Confirmed => " once somebody confirms",
        Pruning::Unknown => " if Argo CD deletes the Application",
        Pruning::Automatic | Pruning::Manual | Pruning::Cascade => "",
    };
    let advice = "to keep objects of it, set the sync option `Delete=false` on them in a commit before this one";
    Some(Danger::said(Severity::Outage, "applicationRemoved", format!("removed, and {all} with it{when}"), advice))
}

/// What is deleted with an Application, or a set of them, that another one has among its objects; none where that stays.
///
/// Reference: argo-cd 3.4 docs/user-guide/app_deletion.md, docs/operator-manual/applicationset/Application-Deletion.md: the
/// Applications of a set go with it, and have the finalizer unless it says `preserveResourcesOnDeletion`.
pub(super) fn loss(old: &Manifest) -> Option<&'static str> {
    let is_finalizer = |name: &str| name.split('/').next() == Some(FINALIZER);
    let cascades =
        || items(old.object(), &["metadata", "finalizers"]).iter().filter_map(Value::as_str).any(is_finalizer);
    let preserves = old.object().at(&["spec", "syncPolicy", "preserveResourcesOnDeletion"]).and_then(Value::as_bool);
    match (old.home_group(), old.kind()) {
        ("argoproj.io", "Application") => cascades().then_some("with all that it deploys, by its resources finalizer"),
        ("argoproj.io", "ApplicationSet") if preserves == Some(true) => None,
        ("argoproj.io", "ApplicationSet") => Some("with its Applications and all that they deploy"),
        _ => None,
    }
}

/// An Application, or a set, among the objects of another one that goes while what it deploys stays.
pub(super) fn orphaned(old: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let pruning = around.pruning.of(old);
    let text = match (old.home_group(), old.kind()) {
        ("argoproj.io", "Application") => "removed: its objects stay, and nothing manages them",
        ("argoproj.io", "ApplicationSet") => {
            "removed with its Applications: their objects stay, and nothing manages them"
        }
        _ => return None,
    };
    let advice = "check that they are meant to stay: the resources finalizer of the Application takes them along";
    let is_left = loss(old).is_none() && pruning.removes();
    is_left.then(|| Danger::said(Severity::Other, "applicationOrphaned", text.to_owned(), advice).pruned(pruning))
}

/// What becomes of its objects when the destination changes.
///
/// Argo CD looks at one cluster only: in the one that it leaves, nothing is removed. In the same cluster, objects of the old
/// namespace are those that git no longer has.
///
/// Reference: argo-cd issues 1640 and 9172; docs/user-guide/resource_tracking.md.
fn destination(old: &Value, new: &Value, around: &Around<'_>) -> Option<What> {
    if let Some((from, to, may_be_same)) = clusters(old, new) {
        return Some(What::ClusterChanged { from, to, may_be_same });
    }
    let [from, to] = [old, new].map(|application| destination_field(application, "namespace"));
    let lacks_namespace = |object: &Manifest| object.namespace().is_empty() && !is_likely_of_cluster(object);
    let stays = around.rendered.is_some_and(|objects| !objects.iter().any(lacks_namespace));
    if from == to || from.is_empty() || to.is_empty() || stays {
        return None;
    }
    let left = match pruning(new) {
        Pruning::Automatic => "Argo CD prunes the old ones with the next sync",
        Pruning::Off => "the old ones stay (`Prune=false`)",
        Pruning::Confirmed => "the old ones are removed once somebody confirms",
        _ => "the old ones stay until somebody syncs with pruning",
    };
    Some(What::NamespaceOfAll { from: from.to_owned(), to: to.to_owned(), left })
}

/// Whether two Applications, as objects, certainly deploy to one cluster.
pub(crate) fn is_same_cluster(old: &Value, new: &Value) -> bool {
    clusters(old, new).is_none()
}

/// The cluster before and after, where it is another one or may be.
fn clusters(old: &Value, new: &Value) -> Option<(String, String, bool)> {
    let ((from, by_url), (to, to_by_url)) = (cluster(old)?, cluster(new)?);
    // A URL and a name may be those of one cluster; the cluster of Argo CD is known by both.
    let is_known = from == OWN_CLUSTER_NAME || to == OWN_CLUSTER_NAME;
    (from != to).then(|| (from.to_owned(), to.to_owned(), by_url != to_by_url && !is_known))
}

/// The cluster that an Application deploys to, and whether that is its URL.
fn cluster(application: &Value) -> Option<(&str, bool)> {
    let server = destination_field(application, "server").trim_end_matches('/');
    let name = destination_field(application, "name");
    match (server, name) {
        ("", "") => None,
        (here, _) | (_, here) if [OWN_CLUSTER, OWN_CLUSTER_NAME].contains(&here) => Some((OWN_CLUSTER_NAME, false)),
        ("", name) => Some((name, false)),
        (server, _) => Some((server, true)),
    }
}

fn destination_field<'a>(application: &'a Value, field: &str) -> &'a str {
    application.at(&["spec", "destination", field]).and_then(Value::as_str).unwrap_or_default()
}

fn prunes(application: &Value) -> bool {
    let automated = |key| application.at(&["spec", "syncPolicy", "automated", key]).and_then(Value::as_bool);
    automated("prune") == Some(true) && automated("enabled") != Some(false)
}

fn pruning(application: &Value) -> Pruning {
    match application {
        application if has_option(application, "Prune=false") => Pruning::Off,
        application if has_option(application, "Prune=confirm") => Pruning::Confirmed,
        application if prunes(application) => Pruning::Automatic,
        _ => Pruning::Manual,
    }
}

fn has_option(application: &Value, option: &str) -> bool {
    let options = application.at(&["spec", "syncPolicy", "syncOptions"]).and_then(Value::as_sequence);
    options.unwrap_or_default().iter().filter_map(Value::as_str).any(|one| one.trim() == option)
}
