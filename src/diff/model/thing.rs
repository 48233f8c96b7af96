//! What objects are to others: a name of a kind in a namespace.

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::{Placed, items, word};
use crate::manifest::is_cluster_scoped;

/// Something that other objects name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::diff) struct Thing {
    /// Its kind; for a custom resource `CustomResourceDefinition`, named `Kind.group`.
    pub kind: &'static str,
    /// Its namespace; empty for what the whole cluster has.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// Kinds that others name, by group.
const NAMED: [(&str, &str); 47] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "Service"),
    ("", "ServiceAccount"),
    ("", "PersistentVolumeClaim"),
    ("", "ReplicationController"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("argoproj.io", "Rollout"),
    ("argoproj.io", "AnalysisTemplate"),
    ("argoproj.io", "ClusterAnalysisTemplate"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "StorageClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("networking.k8s.io", "IngressClass"),
    ("cert-manager.io", "Issuer"),
    ("cert-manager.io", "ClusterIssuer"),
    ("external-secrets.io", "SecretStore"),
    ("external-secrets.io", "ClusterSecretStore"),
    ("secrets-store.csi.x-k8s.io", "SecretProviderClass"),
    ("gateway.networking.k8s.io", "Gateway"),
    ("networking.istio.io", "Gateway"),
    ("gateway.networking.k8s.io", "GatewayClass"),
    ("keda.sh", "TriggerAuthentication"),
    ("keda.sh", "ClusterTriggerAuthentication"),
    ("traefik.io", "Middleware"),
    ("traefik.containo.us", "Middleware"),
    ("argoproj.io", "WorkflowTemplate"),
    ("argoproj.io", "EventBus"),
    ("tekton.dev", "Task"),
    ("tekton.dev", "Pipeline"),
    ("triggers.tekton.dev", "TriggerTemplate"),
    ("triggers.tekton.dev", "TriggerBinding"),
    ("source.toolkit.fluxcd.io", "GitRepository"),
    ("source.toolkit.fluxcd.io", "OCIRepository"),
    ("source.toolkit.fluxcd.io", "Bucket"),
    ("source.toolkit.fluxcd.io", "HelmRepository"),
    ("kustomize.toolkit.fluxcd.io", "Kustomization"),
    ("helm.toolkit.fluxcd.io", "HelmRelease"),
    ("postgresql.cnpg.io", "Cluster"),
    ("metallb.io", "IPAddressPool"),
    ("kafka.strimzi.io", "Kafka"),
    ("kafka.strimzi.io", "KafkaConnect"),
    ("karpenter.k8s.aws", "EC2NodeClass"),
];

/// Controllers that make a Secret or ConfigMap: group, kind, what they make, where its name is (else it has their own name), and
/// whether it goes with them.
///
/// Reference: external-secrets.io api/externalsecret (`creationPolicy: Owner` is the default), github.com/bitnami-labs/sealed-secrets
/// (the Secret is owned), cert-manager.io docs/usage/certificate (the Secret stays), github.com/1Password/onepassword-operator,
/// developer.hashicorp.com vault-secrets-operator `destination.name`, strimzi.io docs, `KafkaUser`, github.com/isindir/sops-secrets-operator.
const MAKERS: [(&str, &str, &str, &[&str], bool); 11] = [
    ("external-secrets.io", "ExternalSecret", "Secret", &["spec", "target", "name"], true),
    ("bitnami.com", "SealedSecret", "Secret", &["spec", "template", "metadata", "name"], true),
    ("cert-manager.io", "Certificate", "Secret", &["spec", "secretName"], false),
    ("onepassword.com", "OnePasswordItem", "Secret", &[], true),
    ("secrets.hashicorp.com", "VaultStaticSecret", "Secret", &["spec", "destination", "name"], false),
    ("secrets.hashicorp.com", "VaultDynamicSecret", "Secret", &["spec", "destination", "name"], false),
    ("secrets.infisical.com", "InfisicalSecret", "Secret", &["spec", "managedSecretReference", "secretName"], false),
    ("redhatcop.redhat.io", "VaultSecret", "Secret", &["spec", "output", "name"], true),
    ("kafka.strimzi.io", "KafkaUser", "Secret", &[], true),
    ("objectbucket.io", "ObjectBucketClaim", "Secret", &[], true),
    ("objectbucket.io", "ObjectBucketClaim", "ConfigMap", &[], true),
];

/// The definition of a custom resource, as its objects name it.
pub(super) const DEFINITION: &str = "CustomResourceDefinition";

/// What an object is, and what its controller makes of it.
pub(in crate::diff) fn provided_by(of: Placed<'_>) -> Vec<Thing> {
    own(of).into_iter().chain(made(of, |_| true)).chain(mounted(of)).collect()
}

/// The Secrets that are made of a SecretProviderClass while Pods mount it.
///
/// Reference: secrets-store-csi-driver.sigs.k8s.io topics/sync-as-kubernetes-secret.
fn mounted(of: Placed<'_>) -> impl Iterator<Item = Thing> {
    let is_it = (of.manifest.home_group(), of.manifest.kind()) == ("secrets-store.csi.x-k8s.io", "SecretProviderClass");
    let all = items(of.manifest.object(), &["spec", "secretObjects"]).iter().filter(move |_| is_it);
    let names = all.map(|one| word(one, &["secretName"])).filter(|name| !name.is_empty());
    names.map(move |name| Thing { kind: "Secret", namespace: of.namespace.to_owned(), name: name.to_owned() })
}

/// What goes with an object.
pub(in crate::diff) fn lost_with(of: Placed<'_>) -> Vec<Thing> {
    let stays =
        matches!(word(of.manifest.object(), &["spec", "target", "creationPolicy"]), "Orphan" | "Merge" | "None");
    own(of).into_iter().chain(made(of, |goes| goes && !stays)).chain(mounted(of)).collect()
}

/// The ConfigMap or Secret that an object is, or that its controller makes of it, with its keys; none where these are not known.
///
/// Reference: external-secrets.io docs/guides/templating: a template has the keys of its own in place of those that are fetched.
pub(in crate::diff) fn keys_of(of: Placed<'_>) -> Option<(Thing, BTreeSet<String>)> {
    let object = of.manifest.object();
    let keys = |path: &[&str]| object.at(path).and_then(Value::as_mapping).into_iter().flat_map(Mapping::keys).cloned();
    match (of.manifest.home_group(), of.manifest.kind()) {
        ("", "ConfigMap" | "Secret") => {
            let all = ["data", "binaryData", "stringData"].into_iter().flat_map(|field| keys(&[field]));
            Some((own(of)?, all.collect()))
        }
        ("bitnami.com", "SealedSecret") => {
            let all = keys(&["spec", "encryptedData"]).chain(keys(&["spec", "template", "data"]));
            Some((made(of, |_| true).next()?, all.collect()))
        }
        ("external-secrets.io", "ExternalSecret") => {
            let template = |key| object.at(&["spec", "target", "template", key]);
            let is_open = !items(object, &["spec", "dataFrom"]).is_empty() || template("templateFrom").is_some();
            let fetched = items(object, &["spec", "data"]).iter().map(|one| word(one, &["secretKey"]).to_owned());
            let is_merged = template("mergePolicy").and_then(Value::as_str) == Some("Merge");
            let mut all: BTreeSet<String> = keys(&["spec", "target", "template", "data"]).collect();
            if all.is_empty() || is_merged {
                all.extend(fetched);
            }
            let thing = made(of, |_| true).next().filter(|_| !is_open)?;
            Some((thing, all))
        }
        ("secrets-store.csi.x-k8s.io", "SecretProviderClass") => {
            let all = items(object, &["spec", "secretObjects"]);
            let single = match all {
                [single] => single,
                _ => return None,
            };
            let keys = items(single, &["data"]).iter().map(|one| word(one, &["key"]).to_owned());
            Some((mounted(of).next()?, keys.collect()))
        }
        _ => None,
    }
}

fn own(of: Placed<'_>) -> Option<Thing> {
    let (group, kind) = (of.manifest.home_group(), of.manifest.kind());
    if (group, kind) == ("apiextensions.k8s.io", DEFINITION) {
        let spec = |path: &[&str]| word(of.manifest.object(), path);
        let name = format!("{}.{}", spec(&["spec", "names", "kind"]), spec(&["spec", "group"]));
        return Some(Thing { kind: DEFINITION, namespace: String::new(), name });
    }
    let (_, kind) = NAMED.iter().find(|named| **named == (group, kind))?;
    Some(Thing { kind, namespace: home(group, kind, of.namespace).to_owned(), name: of.manifest.name().to_owned() })
}

/// The namespace of a kind that others name: none for those of the whole cluster.
fn home<'n>(group: &str, kind: &str, namespace: &'n str) -> &'n str {
    if is_cluster_scoped(group, kind) == Some(true) { "" } else { namespace }
}

fn made(of: Placed<'_>, is_wanted: impl Fn(bool) -> bool) -> impl Iterator<Item = Thing> {
    let key = (of.manifest.home_group(), of.manifest.kind());
    let makers = MAKERS.iter().filter(move |(group, kind, ..)| key == (*group, *kind));
    makers.filter(move |(.., goes)| is_wanted(*goes)).map(move |(_, _, kind, path, _)| {
        let name = match word(of.manifest.object(), path) {
            "" => of.manifest.name(),
            name => name,
        };
        Thing { kind, namespace: of.namespace.to_owned(), name: name.to_owned() }
    })
}

/// `ConfigMap web`; `CustomResourceDefinition of Widget.example.com`.
impl std::fmt::Display for Thing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = if self.kind == DEFINITION { " of" } else { "" };
        write!(f, "{}{of} {}", self.kind, self.name)
    }
}
