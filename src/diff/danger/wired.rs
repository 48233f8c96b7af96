//! What controllers wait for, or do not find, by names within their objects: templates, dependencies, secrets of senders, DNS.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::fields::texts;
use super::{Around, Danger, Severity, items};
use crate::diff::model::pods::spec;
use crate::diff::model::{How, Placed, Side, Thing, word};
use crate::manifest::Manifest;

/// What becomes of an object that was there before.
pub(super) fn changed<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Vec<Danger> {
    let mut found = Vec::new();
    found.extend(untemplated(old, new));
    found.extend(waiting(old, new, around));
    found.extend(unsigned(old, new));
    found.extend(nameless(old, new, around));
    found.extend(unpulled(old, new, around));
    found
}

/// A workflow that begins with a template that it does not have.
///
/// Reference: argo-workflows docs/fields `entrypoint`, workflow/validate.
fn untemplated(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let path: &[&str] = match (new.home_group(), new.kind()) {
        ("argoproj.io", "Workflow" | "WorkflowTemplate" | "ClusterWorkflowTemplate") => &["spec"],
        ("argoproj.io", "CronWorkflow") => &["spec", "workflowSpec"],
        _ => return None,
    };
    let lacking = |workflow: &Manifest| -> BTreeSet<String> {
        let Some(spec) = workflow.object().at(path) else { return BTreeSet::new() };
        let templates = items(spec, &["templates"]);
        let known: BTreeSet<&str> = templates.iter().map(|one| word(one, &["name"])).collect();
        let mut named: BTreeSet<String> =
            BTreeSet::from([word(spec, &["entrypoint"]).to_owned(), word(spec, &["onExit"]).to_owned()]);
        for template in templates {
            named.extend(texts(template, &["dag", "tasks", "*", "template"]));
            named.extend(texts(template, &["steps", "*", "*", "template"]));
        }
        let is_here = spec.get("workflowTemplateRef").is_none() && !known.is_empty();
        named.retain(|name| is_here && !name.is_empty() && !name.contains("{{") && !known.contains(name.as_str()));
        named
    };
    let name = lacking(new).difference(&lacking(old)).next()?.clone();
    let text = format!("no template is named `{name}`: each of its workflows fails");
    Some(Danger::said(Severity::Outage, "missing", text, "check the name, or add the template in the same change"))
}

/// Objects of Flux that wait for each other.
///
/// Reference: fluxcd.io flux/components/kustomize/kustomizations, "Dependencies": circular dependencies are never reconciled.
fn waiting<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_it = new.home_group().ends_with(".toolkit.fluxcd.io") && new.object().at(&["spec", "dependsOn"]).is_some();
    if !is_it || new.object().at(&["spec", "dependsOn"]) == old.object().at(&["spec", "dependsOn"]) {
        return None;
    }
    let circle = |of: Placed<'a>, side: &Side<'a>| {
        let mut open = vec![of];
        let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
        while let Some(one) = open.pop() {
            for on in items(one.manifest.object(), &["spec", "dependsOn"]) {
                let namespace = match word(on, &["namespace"]) {
                    "" => one.namespace,
                    namespace => namespace,
                };
                let key = (namespace, word(on, &["name"]));
                if key == (of.namespace, of.manifest.name()) {
                    return Some(one.manifest.name().to_owned());
                }
                if seen.insert(key) {
                    let is_it = |other: &&Placed<'a>| {
                        other.manifest.kind() == new.kind() && (other.namespace, other.manifest.name()) == key
                    };
                    open.extend(side.all().iter().find(is_it).copied());
                }
            }
        }
        None
    };
    let other = circle(around.after(new), &around.model.after)?;
    circle(around.before(old), &around.model.before).is_none().then(|| {
        let text = format!("waits for {other}, which waits for it: neither is applied any more");
        Danger::said(Severity::Outage, "deadlock", text, "keep `dependsOn` to one direction")
    })
}

/// Events whose sender is checked no more.
///
/// Reference: tekton.dev docs/triggers/interceptors: `secretRef` is what the signature of the sender is checked with.
fn unsigned(old: &Manifest, new: &Manifest) -> Option<Danger> {
    let count = |listener: &Manifest| {
        let triggers = items(listener.object(), &["spec", "triggers"]).iter();
        let all = triggers.flat_map(|one| items(one, &["interceptors"]));
        all.filter(|one| {
            let named = items(one, &["params"]).iter().any(|param| word(param, &["name"]) == "secretRef");
            named || ["github", "gitlab", "bitbucket"].iter().any(|sort| one.at(&[sort, "secretRef"]).is_some())
        })
        .count()
    };
    let listeners = |listener: &Manifest| items(listener.object(), &["spec", "triggers"]).len();
    let is_it = (new.home_group(), new.kind()) == ("triggers.tekton.dev", "EventListener");
    (is_it && count(new) < count(old) && listeners(new) >= listeners(old)).then(|| {
        let text = "`secretRef` removed: it is not checked any more who sends an event, so anyone who reaches it starts what it triggers".to_owned();
        Danger::said(Severity::Security, "unguarded", text, "keep the check of the sender's secret")
    })
}

/// Pods that a policy of Cilium lets out, and that resolve no names by it any more.
///
/// Reference: docs.cilium.io security/policy/language, "DNS based": `toFQDNs` learns addresses by a rule for DNS.
fn nameless<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_policy = |one: &Manifest| {
        one.home_group() == "cilium.io"
            && matches!(one.kind(), "CiliumNetworkPolicy" | "CiliumClusterwideNetworkPolicy")
    };
    let egress = |policy: &'_ Manifest| -> Vec<Value> {
        let specs = items(policy.object(), &["specs"]).iter().chain(policy.object().get("spec"));
        specs.flat_map(|spec| items(spec, &["egress"])).cloned().collect()
    };
    let resolves = |policy: &Manifest| {
        egress(policy).iter().any(|rule| {
            let ports = texts(rule, &["toPorts", "*", "ports", "*", "port"]);
            let is_to_all = rule.get("toFQDNs").is_none() && rule.get("toCIDR").is_none();
            ports.iter().any(|port| port == "53" || port == "0") || ports.is_empty() && is_to_all
        })
    };
    if !is_policy(new) || !resolves(old) || resolves(new) || egress(new).is_empty() {
        return None;
    }
    let others = around
        .model
        .after
        .all()
        .iter()
        .filter(|one| (one.manifest.kind(), one.manifest.name()) != (new.kind(), new.name()));
    let is_helped =
        others.map(|one| one.manifest).any(|one| is_policy(one) && resolves(one) || one.kind() == "NetworkPolicy");
    (!is_helped).then(|| {
        let text =
            "its Pods reach port 53 no more: they resolve no names, and `toFQDNs` learns no addresses".to_owned();
        Danger::said(Severity::Outage, "blocking", text, "keep a rule for DNS: port 53, UDP and TCP")
    })
}

/// Hosts of images that are public as a rule.
const PUBLIC: [&str; 9] = [
    "docker.io",
    "quay.io",
    "ghcr.io",
    "gcr.io",
    "registry.k8s.io",
    "public.ecr.aws",
    "mcr.microsoft.com",
    "k8s.gcr.io",
    "docker.elastic.co",
];

/// Pods that pull images of a private registry without a login from now on.
///
/// Reference: kubernetes docs/tasks/configure-pod-container/pull-image-private-registry.
fn unpulled<'a>(old: &'a Manifest, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let has = |value: &Value| !items(value, &["imagePullSecrets"]).is_empty();
    let is_private = |pods: &Value| {
        texts(pods, &["containers", "*", "image"]).iter().any(|image| {
            let host = image.split('/').next().unwrap_or_default();
            image.contains('/') && host.contains('.') && !PUBLIC.contains(&host)
        })
    };
    let danger = |names: String| {
        let text = format!(
            "`imagePullSecrets` removed: new Pods of {names} pull images of a private registry without a login"
        );
        Danger::said(Severity::Outage, "needed", text, "keep the login, unless each node has one")
    };
    if (new.home_group(), new.kind()) == ("", "ServiceAccount") {
        let placed = around.after(new);
        let account =
            Thing { kind: "ServiceAccount", namespace: placed.namespace.to_owned(), name: new.name().to_owned() };
        let users = around.model.after.users(&account).iter().filter(|(_, one)| one.how == How::Pods);
        let pull = |one: &Placed<'_>| spec(one.manifest).is_some_and(|pods| is_private(pods) && !has(pods));
        let names: BTreeSet<String> = users.map(|(user, _)| *user).filter(pull).map(super::around::name).collect();
        return (has(old.object()) && !has(new.object()) && !names.is_empty()).then(|| danger(listed(names, 4)));
    }
    let (was, pods) = (spec(old)?, spec(new)?);
    if !has(was) || has(pods) || !is_private(pods) {
        return None;
    }
    let name = match word(pods, &["serviceAccountName"]) {
        "" => "default",
        name => name,
    };
    let account =
        Thing { kind: "ServiceAccount", namespace: around.after(new).namespace.to_owned(), name: name.to_owned() };
    let is_given = around.model.after.makers(&account).iter().any(|one| has(one.manifest.object()));
    (!is_given).then(|| danger(format!("{} {}", new.kind(), new.name())))
}

/// A Secret that was made of encrypted or fetched values, and that has them in plain text from now on.
pub(super) fn in_plain_text<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let is_it = (new.home_group(), new.kind()) == ("", "Secret") && old.is_none();
    let has_values = ["data", "stringData"]
        .iter()
        .any(|key| new.object().get(key).and_then(Value::as_mapping).is_some_and(|fields| !fields.is_empty()));
    if !is_it || !has_values || new.object().get("sops").is_some() {
        return None;
    }
    let thing =
        Thing { kind: "Secret", namespace: around.after(new).namespace.to_owned(), name: new.name().to_owned() };
    let maker = around
        .model
        .before
        .makers(&thing)
        .iter()
        .find(|one| one.manifest.kind() != "Secret" && one.manifest.kind() != "Certificate")?;
    let text = format!("its values are in git in plain text: before, {} had them", super::around::name(*maker));
    Some(Danger::said(
        Severity::Security,
        "plainText",
        text,
        "keep what encrypts or fetches them, and change the values that were shown",
    ))
}
