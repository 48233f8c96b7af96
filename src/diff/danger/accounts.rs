//! Pods that run as another ServiceAccount, without the rights of the one before.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::around::name;
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::{labels, spec};
use crate::diff::model::{How, Placed, Side, Thing, word};
use crate::manifest::Manifest;

/// How many bindings are named.
const NAMED_MAX: usize = 4;

/// Reference: kubernetes docs/concepts/security/service-accounts; docs/reference/access-authn-authz/rbac.
pub(super) fn rights_left<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let account = |manifest: &'a Manifest| match word(spec(manifest)?, &["serviceAccountName"]) {
        "" => Some("default"),
        name => Some(name),
    };
    let (was, now) = (account(old)?, account(new)?);
    if was == now {
        return None;
    }
    let had = bindings(&around.model.before, (around.before(old).namespace, was));
    let has = bindings(&around.model.after, (around.after(new).namespace, now));
    (!had.is_empty() && has.is_empty()).then(|| {
        let text = format!(
            "its Pods run as ServiceAccount {now}, which has none of the rights that {} had by {}",
            was,
            listed(had, NAMED_MAX)
        );
        Danger::said(Severity::Other, "rightsLost", text, "check that the new account is bound to what its Pods need")
    })
}

/// Annotations by which a ServiceAccount has rights in a cloud.
///
/// Reference: docs.aws.amazon.com eks, iam-roles-for-service-accounts; cloud.google.com kubernetes-engine, workload-identity;
/// azure.github.io/azure-workload-identity docs, labels and annotations.
const IDENTITIES: [&str; 3] =
    ["eks.amazonaws.com/role-arn", "iam.gke.io/gcp-service-account", "azure.workload.identity/client-id"];

/// The label by which Pods get the rights of their account in Azure.
const USED: &str = "azure.workload.identity/use";

/// Pods that have no rights in their cloud any more, since what gives them is removed.
pub(super) fn unidentified(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let has = |object: &Manifest, key: &str| !word(object.object(), &["metadata", "annotations", key]).is_empty();
    let is_account = (new.home_group(), new.kind()) == ("", "ServiceAccount");
    let is_gone = |key: &&&str| is_account && has(old, key) && !has(new, key);
    let uses = |object: &Manifest| labels(object).and_then(|labels| labels.get(USED)?.as_str()) == Some("true");
    let text = match IDENTITIES.iter().find(is_gone) {
        Some(key) => format!("`{key}` removed: its Pods have no rights in the cloud by it any more"),
        None if uses(old) && !uses(new) => {
            format!("label `{USED}` of its Pods removed: they have no rights in the cloud by their account any more")
        }
        None => return None,
    };
    Some(Danger::said(Severity::Other, "rightsLost", text, "check that its Pods get their rights in another way"))
}

/// Accounts that Pods run as, and that a binding was the last to give rights to.
///
/// Reference: kubernetes docs/reference/access-authn-authz/rbac: permissions are purely additive.
pub(super) fn unbound<'a>(old: &'a Manifest, new: Option<&'a Manifest>, around: &Around<'a>) -> Option<Danger> {
    let is_binding = matches!(old.kind(), "RoleBinding" | "ClusterRoleBinding");
    let pruning = around.pruning.of(old);
    if !is_binding || old.home_group() != "rbac.authorization.k8s.io" || new.is_none() && !pruning.removes() {
        return None;
    }
    let accounts = |binding: &'a Manifest, home: &'a str| {
        let subjects = items(binding.object(), &["subjects"]).iter();
        let subjects = subjects.filter(|subject| word(subject, &["kind"]) == "ServiceAccount");
        let place = move |subject: &'a Value| match word(subject, &["namespace"]) {
            "" => home,
            place => place,
        };
        subjects.map(move |subject| (place(subject), word(subject, &["name"]))).collect::<BTreeSet<_>>()
    };
    let now = new.map(|new| accounts(new, around.after(new).namespace)).unwrap_or_default();
    let mut left = BTreeSet::new();
    let mut users = BTreeSet::new();
    for account in accounts(old, around.before(old).namespace).difference(&now) {
        let thing = Thing { kind: "ServiceAccount", namespace: account.0.to_owned(), name: account.1.to_owned() };
        let runs = around.model.after.users(&thing).iter().filter(|(_, one)| one.how == How::Pods);
        let stays = runs.filter(|(user, _)| around.model.before.find(*user).is_some());
        let names: BTreeSet<String> = stays.map(|(user, _)| name(*user)).collect();
        // One that comes may give the same by another role.
        let gives = |binding: &Placed<'_>| {
            binding.manifest.object().get("roleRef") == old.object().get("roleRef")
                || around.model.before.find(*binding).is_none()
        };
        if !names.is_empty() && !bound(&around.model.after, *account).any(|binding| gives(&binding)) {
            left.insert(thing.to_string());
            users.extend(names);
        }
    }
    (!left.is_empty()).then(|| {
        let start = if new.is_none() { "removed: " } else { "" };
        let runs = if users.len() == 1 { "runs" } else { "run" };
        let loses =
            if left.len() == 1 { "loses the rights that this gave it" } else { "lose the rights that this gave them" };
        let (left, users) = (listed(left, NAMED_MAX), listed(users, NAMED_MAX));
        let text = format!("{start}{users} {runs} as {left}, which {loses}");
        let danger = Danger::said(Severity::Other, "rightsLost", text, "keep it until no Pod needs the rights");
        if new.is_none() { danger.pruned(pruning) } else { danger }
    })
}

/// Pods that get no token of their account any more, which has rights.
///
/// Reference: kubernetes docs/tasks/configure-pod-container/configure-service-account, "Opt out of API credential automounting": that of
/// Pods goes before that of their account.
pub(super) fn tokenless<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let account = |manifest: &'a Manifest| match word(spec(manifest)?, &["serviceAccountName"]) {
        "" => Some("default"),
        name => Some(name),
    };
    let name = account(new)?;
    let has = |workload: Placed<'_>, side: &Side<'_>| {
        let flag = |value: &Value| value.get("automountServiceAccountToken").and_then(Value::as_bool);
        let thing = Thing { kind: "ServiceAccount", namespace: workload.namespace.to_owned(), name: name.to_owned() };
        let of_account = || side.makers(&thing).iter().find_map(|one| flag(one.manifest.object()));
        let pods = spec(workload.manifest);
        let volumes = pods.map(|pods| items(pods, &["volumes"])).unwrap_or_default().iter();
        let mut sources = volumes.flat_map(|volume| items(volume, &["projected", "sources"]));
        let is_mounted = sources.any(|source| source.get("serviceAccountToken").is_some());
        is_mounted || pods.and_then(flag).or_else(of_account) != Some(false)
    };
    let (before, after) = (around.before(old), around.after(new));
    let had = account(old) == Some(name) && has(before, &around.model.before);
    if !had || has(after, &around.model.after) {
        return None;
    }
    let rights = bindings(&around.model.after, (after.namespace, name));
    (!rights.is_empty()).then(|| {
        let text = format!(
            "its Pods get no token of ServiceAccount {name}, and so none of the rights that it has by {}",
            listed(rights, NAMED_MAX)
        );
        Danger::said(Severity::Other, "rightsLost", text, "check that its Pods do not ask the API server")
    })
}

/// The bindings that name an account.
fn bindings(side: &Side<'_>, account: (&str, &str)) -> BTreeSet<String> {
    bound(side, account).map(name).collect()
}

fn bound<'s>(side: &Side<'s>, (namespace, account): (&str, &str)) -> impl Iterator<Item = Placed<'s>> {
    let all = ["RoleBinding", "ClusterRoleBinding"].into_iter().flat_map(|kind| side.listed(kind));
    let names = |binding: &Manifest, home: &str| {
        let mut subjects = items(binding.object(), &["subjects"]).iter();
        subjects.any(|subject| {
            let place = match word(subject, &["namespace"]) {
                "" => home,
                place => place,
            };
            word(subject, &["kind"]) == "ServiceAccount" && word(subject, &["name"]) == account && place == namespace
        })
    };
    let named: Vec<_> = all.filter(|one| names(one.manifest, one.namespace)).collect();
    named.into_iter()
}
