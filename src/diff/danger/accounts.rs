//! Pods that run as another ServiceAccount, without the rights of the one before.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;

use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{Side, word};
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

/// The bindings that name an account.
fn bindings(side: &Side<'_>, (namespace, account): (&str, &str)) -> BTreeSet<String> {
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
    let named = all.filter(|one| names(one.manifest, one.namespace));
    named.map(|one| format!("{} {}", one.manifest.kind(), one.manifest.name())).collect()
}
