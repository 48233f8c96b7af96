//! Who may do what in Argo CD itself: its ConfigMaps, and the roles of AppProjects.

mod exclusions;
mod policies;
mod settings;

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::{Around, Danger, Severity, What, items};
use crate::diff::model::{Placed, Side, word};
use crate::manifest::{Manifest, OWN_CLUSTER, OWN_CLUSTER_NAME};
pub(super) use exclusions::excluded;
use policies::{Grant, Policies};
pub(super) use settings::changed as settings;

/// Settings that let in more while they are `true`: the ConfigMap, the key, and what is so with it.
///
/// Reference: argo-cd docs/operator-manual/argocd-cm.yaml, argocd-cmd-params-cm.yaml `server.disable.auth`; user-management/index,
/// "Disable admin user"; web_based_terminal, "Security".
const SWITCHES: [(&str, &str, &str); 4] = [
    (CONFIG, ANONYMOUS, "no login is needed for what `policy.default` grants"),
    (CONFIG, "admin.enabled", "the account `admin` may log in, which may do everything"),
    (CONFIG, "exec.enabled", "those with the right `exec, create` open shells in Pods"),
    ("argocd-cmd-params-cm", "server.disable.auth", "no login is needed, and everybody may do everything"),
];

/// The ConfigMap of settings, and that of rights.
const CONFIG: &str = "argocd-cm";
const RIGHTS: &str = "argocd-rbac-cm";
const ANONYMOUS: &str = "users.anonymous.enabled";

/// Those who have the role of `policy.default`.
const ALL: &str = "everybody who logs in";

fn is_config_map(object: &Manifest, name: &str) -> bool {
    (object.home_group(), object.kind(), object.name()) == ("", "ConfigMap", name)
}

/// What a ConfigMap of Argo CD, or a project, allows that it did not allow before.
pub(super) fn widened<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    if is_config_map(new, RIGHTS) {
        return of_policies(old.map(policies_of), &policies_of(new)).into_iter().collect();
    }
    let Some(old) = old else { return Vec::new() };
    if (new.home_group(), new.kind()) == ("argoproj.io", "AppProject") {
        let mut found: Vec<Danger> = of_policies(Some(roles_of(old)), &roles_of(new)).into_iter().collect();
        found.extend(opened(old, new));
        return found;
    }
    switched(old, new, around)
}

/// Settings that become `true`.
fn switched<'a>(old: &Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let is_on = |object: &Manifest, key: &str, default: &str| {
        let value = word(object.object(), &["data", key]);
        (if value.is_empty() { default } else { value }) == "true"
    };
    let starts = |(map, key, _): &&(&str, &str, &str)| {
        let default = if *key == "admin.enabled" { "true" } else { "false" };
        is_config_map(new, map) && is_on(new, key, default) && !is_on(old, key, default)
    };
    let is_granting = |(_, key, _): &&(&str, &str, &str)| {
        *key != ANONYMOUS || default_role(around.after(new), &around.model.after) != Some("")
    };
    let danger = |(_, key, effect): &(&str, &str, &str)| {
        let advice = "keep the setting, unless those whom it lets in are meant to be";
        Danger::said(Severity::Security, "unguarded", format!("`{key}: true`: {effect}"), advice)
    };
    SWITCHES.iter().filter(starts).filter(is_granting).map(danger).collect()
}

/// The role of everybody, where the ConfigMap of rights beside one of settings is known.
///
/// Reference: argo-cd docs/operator-manual/rbac, "Anonymous Access".
fn default_role<'a>(config: Placed<'a>, side: &Side<'a>) -> Option<&'a str> {
    let is_it = |one: &&Placed<'a>| one.namespace == config.namespace && is_config_map(one.manifest, RIGHTS);
    let rights = side.all().iter().find(is_it)?;
    Some(word(rights.manifest.object(), &["data", "policy.default"]))
}

/// Reference: argo-cd docs/operator-manual/rbac, "Policy CSV Composition": `policy.csv`, and each key `policy.NAME.csv`.
fn policies_of(map: &Manifest) -> Policies<'_> {
    let data = map.object().get("data").and_then(Value::as_mapping);
    let is_policy = |key: &str| key == "policy.csv" || key.starts_with("policy.") && key.ends_with(".csv");
    let texts = data.into_iter().flat_map(Mapping::iter).filter(|(key, _)| is_policy(key));
    let mut policies = Policies::new(word(map.object(), &["data", "policy.matchMode"]) != "regex");
    texts.filter_map(|(_, text)| text.as_str()).for_each(|text| policies.add(text));
    policies.member(ALL, word(map.object(), &["data", "policy.default"]));
    policies
}

/// Reference: argo-cd docs/user-guide/projects, "Project Roles": a role is `proj:PROJECT:ROLE`, and groups have it.
fn roles_of(project: &Manifest) -> Policies<'_> {
    let mut policies = Policies::new(true);
    for role in items(project.object(), &["spec", "roles"]) {
        let name = policies.role(project.name(), word(role, &["name"]));
        items(role, &["policies"]).iter().filter_map(Value::as_str).for_each(|line| policies.add(line));
        for group in items(role, &["groups"]).iter().filter_map(Value::as_str) {
            policies.member(group, &name);
        }
    }
    policies
}

/// Rights that are new. What only reads, and no logs, is less; a policy that is new itself counts for everybody alone.
fn of_policies(old: Option<Policies<'_>>, new: &Policies<'_>) -> Option<Danger> {
    let mut gained: Vec<Grant> = new.gained(old.as_ref().unwrap_or(&Policies::new(true)))?;
    if old.is_none() {
        gained.retain(|grant| grant.who == ALL && !grant.only_reads);
    }
    gained.sort();
    let is_harmless = gained.iter().all(|grant| grant.only_reads && grant.who != ALL);
    let severity = if is_harmless { Severity::Other } else { Severity::Security };
    let mut grants: Vec<String> = gained.into_iter().map(|grant| grant.text).collect();
    grants.dedup();
    (!grants.is_empty()).then(|| Danger::new(severity, What::Widened { grants }))
}

/// Where a project permits everything that it did not permit before.
///
/// Reference: argo-cd docs/user-guide/projects, "Managing Projects"; operator-manual/app-any-namespace, "AppProjects":
/// `sourceNamespaces`; app_project_types.go `IsGroupKindNamePermitted`: without a list, all kinds of namespaces are permitted, and none
/// of the cluster; user-guide/gpg-verification; "Project scoped Repositories and Clusters".
fn opened(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let mut grants: BTreeSet<String> = BTreeSet::new();
    let texts = |project: &Manifest, key: &str| -> BTreeSet<String> {
        let all = items(project.object(), &["spec", key]).iter().filter_map(Value::as_str);
        all.map(|text| if key == "sourceRepos" && text == "*/*" { "*" } else { text }.to_owned()).collect()
    };
    for (key, what) in [("sourceRepos", "all repositories"), ("sourceNamespaces", "Applications in all namespaces")] {
        let comes = texts(new, key).contains("*") && !texts(old, key).contains("*");
        grants.extend(comes.then(|| format!("{what} (`{key}`)")));
    }
    let (was, now) = (destinations(old), destinations(new));
    for [cluster, namespace] in &now {
        let had = |[of, to]: &[&str; 2]| (*of == "*" || of == cluster) && (*to == "*" || to == namespace);
        let text = match (*cluster, *namespace) {
            ("*", "*") => "all clusters and namespaces (`destinations`)".to_owned(),
            (cluster, "*") => format!("all namespaces of {cluster} (`destinations`)"),
            ("*", namespace) => format!("namespace {namespace} of all clusters (`destinations`)"),
            _ => continue,
        };
        grants.extend((!was.iter().any(had)).then_some(text));
    }
    for (list, what, is_open) in [("cluster", "the cluster", false), ("namespace", "namespaces", true)] {
        let (white, black) = (format!("{list}ResourceWhitelist"), format!("{list}ResourceBlacklist"));
        let is_all = |project: &Manifest| match project.object().at(&["spec", &white]).and_then(Value::as_sequence) {
            Some(kinds) => kinds.iter().any(|kind| word(kind, &["group"]) == "*" && word(kind, &["kind"]) == "*"),
            None => is_open,
        };
        if is_all(new) && !is_all(old) {
            grants.insert(format!("all kinds of objects of {what} (`{white}`)"));
        }
        let is_gone = |kind: &&Value| {
            let covers = |by: &Value| {
                ["group", "kind"]
                    .iter()
                    .all(|key| matches!(word(by, &[key]), one if one == "*" || one == word(kind, &[key])))
            };
            !items(new.object(), &["spec", &black]).iter().any(covers)
        };
        if is_all(new) {
            let gone = items(old.object(), &["spec", &black]).iter().filter(is_gone);
            grants.extend(gone.map(|kind| format!("{} of {what} (`{black}`)", word(kind, &["kind"]))));
        }
    }
    let rights = |project: &Manifest| permits_rights(project);
    if rights(new) && !rights(old) && !grants.iter().any(|grant| grant.contains("clusterResourceWhitelist")) {
        grants.insert("ClusterRoleBinding of the cluster (`clusterResourceWhitelist`)".to_owned());
    }
    let is_signed = |project: &Manifest| !items(project.object(), &["spec", "signatureKeys"]).is_empty();
    if is_signed(old) && !is_signed(new) {
        grants.insert("commits without a signature (`signatureKeys`)".to_owned());
    }
    let scoped = |project: &Manifest| {
        project.object().at(&["spec", "permitOnlyProjectScopedClusters"]).and_then(Value::as_bool) == Some(true)
    };
    if scoped(old) && !scoped(new) {
        grants.insert("clusters that are not its own (`permitOnlyProjectScopedClusters`)".to_owned());
    }
    let grants: Vec<String> = grants.into_iter().collect();
    (!grants.is_empty()).then(|| Danger::new(Severity::Security, What::Widened { grants }))
}

/// Whether a project permits bindings by which an Application gives itself all rights in the cluster.
fn permits_rights(project: &Manifest) -> bool {
    let is_it = |kind: &Value| {
        matches!(word(kind, &["group"]), "*" | "rbac.authorization.k8s.io" | "rbac*")
            && matches!(word(kind, &["kind"]), "*" | "ClusterRoleBinding")
    };
    let list = |key: &str| items(project.object(), &["spec", key]).iter().any(is_it);
    list("clusterResourceWhitelist") && !list("clusterResourceBlacklist")
}

/// The cluster, by name or URL, and the namespace of each destination that does not deny.
fn destinations(project: &Manifest) -> Vec<[&str; 2]> {
    let all = items(project.object(), &["spec", "destinations"]).iter();
    let pair = |one| {
        let cluster = match word(one, &["server"]) {
            "" => word(one, &["name"]),
            OWN_CLUSTER => OWN_CLUSTER_NAME,
            server => server,
        };
        [cluster, word(one, &["namespace"])]
    };
    all.map(pair).filter(|pair| !pair.iter().any(|text| text.starts_with('!') || text.is_empty())).collect()
}
