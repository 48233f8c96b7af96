//! Who may do more than before.

use std::collections::BTreeSet;

use go_yaml::Value;

use super::{Around, Danger, Severity, What, has_sync_option, text};
use crate::diff::model::{Placed, Side, Thing, word};
use crate::manifest::Manifest;

/// How many combinations of verbs and things are looked at in one role: no role that was written by hand has as many.
const GRANTS_MAX: usize = 5_000;

/// Verbs that give rights beyond those that are named.
const POWERFUL_VERBS: [&str; 3] = ["escalate", "bind", "impersonate"];

/// Groups of everyone, or of everyone with an account.
const EVERYBODY: [&str; 3] = ["system:unauthenticated", "system:anonymous", "system:authenticated"];

/// Verbs that read.
const READING: [&str; 3] = ["get", "list", "watch"];

/// Verbs that write.
const WRITING: [&str; 4] = ["create", "update", "patch", "delete"];

/// What gives rights to others.
const BINDINGS: [&str; 4] = ["roles", "rolebindings", "clusterroles", "clusterrolebindings"];

/// What an object grants that it did not grant before. A role or binding that is new counts only where it gives
/// unbounded rights, or rights to everybody: each chart brings roles of its own.
pub(super) fn widened<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if new.home_group() != "rbac.authorization.k8s.io" {
        return None;
    }
    let (grants, is_harmless) = match (new.kind(), old) {
        ("Role" | "ClusterRole", Some(old)) => role(old, new),
        ("Role" | "ClusterRole", None) => {
            (unique(grants(new).iter().filter(|grant| grant.is_unbounded()).map(Grant::to_string)), false)
        }
        ("RoleBinding" | "ClusterRoleBinding", old) => (binding(old, new, around), false),
        _ => return None,
    };
    let severity = if is_harmless { Severity::Other } else { Severity::Security };
    (!grants.is_empty()).then(|| Danger::new(severity, What::Widened { grants }))
}

/// A new role that reads all Secrets, where it says so and not that it may do everything.
///
/// Reference: kubernetes docs/concepts/security/rbac-good-practices, "Listing secrets": `get`, `list` and `watch` all reveal what is in
/// them; docs/reference/access-authn-authz/rbac, "RoleBinding and ClusterRoleBinding".
pub(super) fn reads_secrets(old: Option<&Manifest>, new: &Manifest, around: &Around<'_>) -> Option<Danger> {
    let is_role = matches!(new.kind(), "Role" | "ClusterRole") && new.home_group() == "rbac.authorization.k8s.io";
    if old.is_some() || !is_role {
        return None;
    }
    let is_read = |grant: &Grant<'_>| {
        let is_secrets = matches!(grant.on, On::Resource { group: "", resource: "secrets", name: None });
        is_secrets && READING.contains(&grant.verb)
    };
    let is_bound = |kind: &str| {
        let mut bindings = around.model.after.listed(kind).map(|one| one.manifest);
        bindings.any(|one| {
            let role = ["kind", "name"].map(|key| text(one, &["roleRef", key]));
            role == [new.kind(), new.name()]
        })
    };
    let of = match new.kind() {
        "Role" => "its namespace",
        _ if is_bound("RoleBinding") && !is_bound("ClusterRoleBinding") => "the namespaces that it is bound in",
        _ => "the cluster",
    };
    let all = grants(new);
    let does = |group: &str, resources: &[&str], verbs: &[&str]| {
        all.iter().any(|grant| match grant.on {
            On::Resource { group: of, resource, name: None } => {
                of == group && resources.contains(&resource) && verbs.contains(&grant.verb)
            }
            _ => false,
        })
    };
    let reads = |role: &Manifest| grants(role).iter().any(is_read);
    (reads(new) && !around.counterpart.is_some_and(reads)).then(|| {
        let writes = if does("", &["secrets"], &WRITING) { "reads and writes" } else { "reads" };
        let gives = does("rbac.authorization.k8s.io", &BINDINGS, &WRITING);
        let also = if gives { ", and writes roles or bindings" } else { "" };
        let text = format!("{writes} all Secrets of {of}{also}");
        Danger::said(Severity::Security, "widened", text, "name the Secrets that are needed, in `resourceNames`")
    })
}

/// What a role grants that it did not, and whether all of it is to read what is not a Secret.
fn role(old: &Manifest, new: &Manifest) -> (Vec<String>, bool) {
    let before: Vec<Rule<'_>> = rules(old).collect();
    let grants = grants(new);
    let mut added: Vec<_> = grants.iter().filter(|grant| !before.iter().any(|rule| rule.covers(grant))).collect();
    // The worst are named.
    added.sort_by_key(|grant| grant.is_harmless());
    let only_reads = added.iter().all(|grant| grant.is_harmless());
    let mut widened = unique(added.into_iter().map(Grant::to_string));
    let count = widened.len();
    let selected = new.object().get("aggregationRule");
    if selected.is_some() && selected != old.object().get("aggregationRule") {
        widened.push("what its `aggregationRule` selects".to_owned());
    }
    let comes = |role: &&&str| aggregates_to(new, role) && !aggregates_to(old, role);
    widened.extend(AGGREGATED.iter().filter(comes).map(|role| format!("its rights for all who have `{role}`")));
    let is_harmless = only_reads && widened.len() == count;
    (widened, is_harmless)
}

/// Roles for users that gather the rights of others by a label.
const AGGREGATED: [&str; 3] = ["view", "edit", "admin"];

/// Reference: kubernetes docs/reference/access-authn-authz/rbac, "User-facing roles".
fn aggregates_to(role: &Manifest, to: &str) -> bool {
    let label = format!("rbac.authorization.k8s.io/aggregate-to-{to}");
    role.kind() == "ClusterRole" && text(role, &["metadata", "labels", &label]) == "true"
}

/// Roles for users that write, and read Secrets, in each namespace where they are bound in all of them.
///
/// Reference: kubernetes docs/reference/access-authn-authz/rbac, "User-facing roles".
const WRITERS: [&str; 2] = ["admin", "edit"];

/// The roles for users, each with the rights of those before it.
const ORDERED: [&str; 4] = ["view", "edit", "admin", "cluster-admin"];

/// A binding to another role, which Argo CD deletes and makes anew where it applies it itself.
///
/// Reference: argo-cd 3.4 gitops-engine/pkg/utils/kube/resource_ops.go `ApplyResource`: `kubectl auth reconcile` comes before an apply
/// that is not server-side; kubernetes component-helpers/auth/rbac/reconciliation `ReconcileRecreate`.
pub(super) fn rebound<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if !is_rebound(old, new, around) {
        return None;
    }
    let named = |binding: &'a Manifest| ["kind", "name"].map(|key| text(binding, &["roleRef", key]));
    let ([was_kind, was], [kind, now]) = (named(old), named(new));
    let role_of = |place: Placed<'a>, side: &Side<'a>, [kind, name]: [&str; 2]| -> Option<&'a Manifest> {
        let (kind, namespace) = match kind {
            "ClusterRole" => ("ClusterRole", ""),
            _ => ("Role", place.namespace),
        };
        let thing = Thing { kind, namespace: namespace.to_owned(), name: name.to_owned() };
        side.makers(&thing).first().map(|one| one.manifest)
    };
    let level = |kind: &str, name: &str| ORDERED.iter().position(|one| *one == name).filter(|_| kind == "ClusterRole");
    let is_less = match (level(was_kind, was), level(kind, now)) {
        (Some(was), Some(now)) => now <= was,
        _ => {
            let before = role_of(around.before(old), &around.model.before, [was_kind, was]);
            let after = role_of(around.after(new), &around.model.after, [kind, now]);
            let is_known = |role: &&Manifest| role.object().get("aggregationRule").is_none();
            before.zip(after.filter(is_known)).is_some_and(|(before, after)| role(before, after).0.is_empty())
        }
    };
    let text = format!(
        "`roleRef` {was_kind} {was} → {kind} {now}: a sync deletes it and makes it anew, and its subjects have the rights of the other role"
    );
    let (severity, advice) = match is_less {
        true => (Severity::Other, "check that its subjects do without the rights of the role of before"),
        false => (Severity::Security, "check what the other role may do, or make a binding of a new name beside it"),
    };
    Some(Danger::said(severity, "rebound", text, advice))
}

/// Whether a sync takes another role of a binding: the API server refuses that of an apply and of a replacement.
pub(super) fn is_rebound(old: &Manifest, new: &Manifest, around: &Around<'_>) -> bool {
    let is_binding = matches!(new.kind(), "RoleBinding" | "ClusterRoleBinding");
    let is_reconciled = new.api_version() == "rbac.authorization.k8s.io/v1" && around.syncs.annotates;
    let is_otherwise =
        ["ServerSideApply=true", "Replace=true", "Force=true"].iter().any(|one| has_sync_option(new, one));
    is_binding && is_reconciled && !is_otherwise && old.object().get("roleRef") != new.object().get("roleRef")
}

/// Reference: kubernetes plugin/pkg/auth/authorizer/rbac, appliesToUser: an account without a namespace is one of the binding's.
fn binding<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<String> {
    let home = |place: Placed<'a>| if place.manifest.kind() == "RoleBinding" { place.namespace } else { "" };
    let here = home(around.after(new));
    let role = text(new, &["roleRef", "name"]);
    let is_everybody = |subject: &str| EVERYBODY.iter().any(|group| subject.ends_with(group));
    let mut gaining: Vec<&Value> = subjects(new).iter().collect();
    match old {
        Some(old) => {
            let (before, there) = (subjects(old), home(around.before(old)));
            let had = |subject: &Value| {
                before.iter().any(|was| describe_subject(was, there) == describe_subject(subject, here))
            };
            gaining.retain(|subject| !had(subject) && !before.iter().any(|was| has_moved(was, subject, around)));
        }
        None => {
            let is_wide = role == "cluster-admin" || new.kind() == "ClusterRoleBinding" && WRITERS.contains(&role);
            gaining.retain(|subject| is_wide || is_everybody(&describe_subject(subject, here)));
        }
    }
    gaining.into_iter().map(|subject| format!("{role} for {}", describe_subject(subject, here))).collect()
}

fn subjects(binding: &Manifest) -> &[Value] {
    binding.object().get("subjects").and_then(Value::as_sequence).unwrap_or_default()
}

/// Whether an account is that of another namespace which moves in this change, so that its Pods gain nothing.
fn has_moved(was: &Value, now: &Value, around: &Around<'_>) -> bool {
    let is_account = |subject: &Value| word(subject, &["kind"]) == "ServiceAccount";
    let account = |subject: &Value| {
        let name = |key| word(subject, &[key]).to_owned();
        Thing { kind: "ServiceAccount", namespace: name("namespace"), name: name("name") }
    };
    let (from, to) = (account(was), account(now));
    let moves = |from: &Thing, to: &Thing| {
        let is_there = |side: &Side<'_>, thing: &Thing| side.provides(thing);
        let (before, after) = (&around.model.before, &around.model.after);
        is_there(before, from) && !is_there(before, to) && is_there(after, to) && !is_there(after, from)
    };
    is_account(was) && is_account(now) && from.name == to.name && from != to && moves(&from, &to)
}

fn describe_subject(subject: &Value, home: &str) -> String {
    let text = |key| subject.get(key).and_then(Value::as_str).unwrap_or_default();
    let namespace = match text("namespace") {
        "" if text("kind") == "ServiceAccount" => home,
        namespace => namespace,
    };
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{} {namespace}{slash}{}", text("kind"), text("name"))
}

/// One rule of a role.
struct Rule<'a> {
    groups: Vec<&'a str>,
    resources: Vec<&'a str>,
    /// Empty: all.
    names: Vec<&'a str>,
    urls: Vec<&'a str>,
    verbs: Vec<&'a str>,
}

/// What a rule allows, one verb on one thing.
struct Grant<'a> {
    verb: &'a str,
    on: On<'a>,
}

enum On<'a> {
    Resource { group: &'a str, resource: &'a str, name: Option<&'a str> },
    Url(&'a str),
}

fn rules(role: &Manifest) -> impl Iterator<Item = Rule<'_>> {
    let rules = role.object().get("rules").and_then(Value::as_sequence).unwrap_or_default();
    rules.iter().map(Rule::new)
}

/// The texts in a list of a rule.
fn texts<'a>(rule: &'a Value, key: &str) -> Vec<&'a str> {
    let list = rule.get(key).and_then(Value::as_sequence).unwrap_or_default();
    list.iter().filter_map(Value::as_str).collect()
}

/// What the rules of a role allow, one verb on one thing each.
fn grants(role: &Manifest) -> Vec<Grant<'_>> {
    let mut grants = Vec::new();
    for rule in rules(role) {
        let names: Vec<Option<&str>> = match &rule.names[..] {
            [] => vec![None],
            names => names.iter().copied().map(Some).collect(),
        };
        for verb in &rule.verbs {
            for group in &rule.groups {
                for resource in &rule.resources {
                    if grants.len() > GRANTS_MAX {
                        return grants;
                    }
                    let on = names.iter().map(|name| On::Resource { group, resource, name: *name });
                    grants.extend(on.map(|on| Grant { verb, on }));
                }
            }
            grants.extend(rule.urls.iter().map(|url| Grant { verb, on: On::Url(url) }));
        }
    }
    grants
}

impl<'a> Rule<'a> {
    fn new(rule: &'a Value) -> Self {
        Self {
            groups: texts(rule, "apiGroups"),
            resources: texts(rule, "resources"),
            names: texts(rule, "resourceNames"),
            urls: texts(rule, "nonResourceURLs"),
            verbs: texts(rule, "verbs"),
        }
    }

    /// Reference: kubernetes 1.34 pkg/registry/rbac/validation/policy_comparator.go `ruleCovers`.
    fn covers(&self, grant: &Grant<'_>) -> bool {
        let has = |list: &[&str], text: &str| list.contains(&"*") || list.contains(&text);
        if !has(&self.verbs, grant.verb) {
            return false;
        }
        match grant.on {
            On::Resource { group, resource, name } => {
                let subresource = resource.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
                let all_of_them = subresource.is_some_and(|all| self.resources.contains(&all.as_str()));
                let named = self.names.is_empty() || name.is_some_and(|name| self.names.contains(&name));
                has(&self.groups, group) && (has(&self.resources, resource) || all_of_them) && named
            }
            On::Url(url) => self.urls.iter().any(|own| covers_url(own, url)),
        }
    }
}

/// Whether a URL is the one of a rule, or begins with it where that ends with `*`.
fn covers_url(own: &str, url: &str) -> bool {
    match own.strip_suffix('*') {
        Some(prefix) => url.starts_with(prefix),
        None => own == url,
    }
}

impl Grant<'_> {
    /// Whether it is to read objects that are not Secrets, and nothing by way of them: `get pods/exec` runs commands.
    fn is_harmless(&self) -> bool {
        match self.on {
            On::Resource { group, resource, .. } => {
                let is_part = resource.contains('/') && !resource.ends_with("/status") && !resource.ends_with("/scale");
                let is_secret = resource == "*" || group == "*" || (group, resource) == ("", "secrets");
                READING.contains(&self.verb) && !is_part && !is_secret
            }
            On::Url(url) => self.verb == "get" && url.starts_with("/metrics"),
        }
    }

    fn is_unbounded(&self) -> bool {
        let everything = match self.on {
            On::Resource { resource, .. } => resource == "*",
            On::Url(url) => url == "*",
        };
        self.verb == "*" || everything || POWERFUL_VERBS.contains(&self.verb)
    }
}

/// `delete secrets`; `get deployments.apps/web`, where `web` is the name of one.
impl std::fmt::Display for Grant<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let verb = if self.verb == "*" { "everything on" } else { self.verb };
        match self.on {
            On::Resource { group, resource, name } => {
                let dot = if group.is_empty() { "" } else { "." };
                match resource.split_once('/') {
                    Some((resource, part)) => write!(f, "{verb} {resource}{dot}{group}/{part}")?,
                    None => write!(f, "{verb} {resource}{dot}{group}")?,
                }
                name.map_or(Ok(()), |name| write!(f, "/{name}"))
            }
            On::Url(url) => write!(f, "{verb} {url}"),
        }
    }
}

/// The texts without repetition, in their order.
fn unique(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.filter(|text| seen.insert(text.clone())).collect()
}
