//! SealedSecrets that their controller cannot decrypt, since they were sealed for another name, namespace or scope.

use std::collections::BTreeSet;

use go_yaml::{Mapping, Value};

use super::{Around, Danger, Severity};
use crate::diff::model::{Placed, word};
use crate::manifest::Manifest;

fn is_sealed(object: &Manifest) -> bool {
    (object.home_group(), object.kind()) == ("bitnami.com", "SealedSecret")
}

/// For whom values are sealed.
#[derive(Debug, PartialEq, Eq)]
enum For {
    Cluster,
    Namespace(String),
    Name(String, String),
}

impl For {
    /// Reference: bitnami-labs/sealed-secrets pkg/apis/sealedsecrets/v1alpha1/sealedsecret_expansion.go `SecretScope`, `EncryptionLabel`.
    fn of(placed: Placed<'_>) -> Self {
        let is_set = |scope: &str| {
            let key = format!("sealedsecrets.bitnami.com/{scope}");
            match placed.manifest.object().at(&["metadata", "annotations", &key]) {
                Some(Value::Bool(flag)) => *flag,
                value => value.and_then(Value::as_str) == Some("true"),
            }
        };
        let namespace = || placed.namespace.to_owned();
        match (is_set("cluster-wide"), is_set("namespace-wide")) {
            (true, _) => Self::Cluster,
            (_, true) => Self::Namespace(namespace()),
            _ => Self::Name(namespace(), placed.manifest.name().to_owned()),
        }
    }
}

impl For {
    /// Whether both may be the same, as far as their namespaces are known.
    fn is_like(&self, other: &Self) -> bool {
        let is_one = |one: &str, other: &str| one == other || one.is_empty() || other.is_empty();
        match (self, other) {
            (Self::Cluster, Self::Cluster) => true,
            (Self::Namespace(one), Self::Namespace(other)) => is_one(one, other),
            (Self::Name(one, name), Self::Name(other, as_other)) => name == as_other && is_one(one, other),
            _ => false,
        }
    }
}

impl std::fmt::Display for For {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            For::Cluster => f.write_str("the whole cluster"),
            For::Namespace(namespace) => write!(f, "namespace {namespace}"),
            For::Name(namespace, name) if namespace.is_empty() => write!(f, "the name {name}"),
            For::Name(namespace, name) => write!(f, "the name {name} in namespace {namespace}"),
        }
    }
}

/// The values of a SealedSecret. Two that were sealed apart are never alike.
fn values(sealed: &Manifest) -> BTreeSet<&str> {
    let all = sealed.object().at(&["spec", "encryptedData"]).and_then(Value::as_mapping);
    all.into_iter().flat_map(Mapping::values).filter_map(Value::as_str).filter(|value| !value.is_empty()).collect()
}

/// Values that were sealed for something else before.
pub(super) fn elsewhere<'a>(old: Option<&'a Manifest>, new: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    if !is_sealed(new) || old == Some(new) && around.defaults[0] == around.defaults[1] {
        return None;
    }
    let placed = around.after(new);
    let (now, sealed) = (values(new), For::of(placed));
    let before = around.model.before.all().iter().filter(|one| is_sealed(one.manifest));
    let sources: Vec<For> =
        before.filter(|one| !values(one.manifest).is_disjoint(&now)).map(|one| For::of(*one)).collect();
    let was = sources.first().filter(|_| !sources.iter().any(|one| one.is_like(&sealed)))?;
    let is_in_place = old.is_some_and(|old| {
        let before = around.before(old);
        (before.namespace, old.name()) == (placed.namespace, new.name())
    });
    let name = match word(new.object(), &["spec", "template", "metadata", "name"]) {
        "" => new.name(),
        name => name,
    };
    let text = match is_in_place {
        true => format!(
            "its values are sealed for {was}: its controller does not decrypt them for {sealed}, and Secret {name} stays as it was"
        ),
        false => format!(
            "its values are sealed for {was}: its controller does not decrypt them for {sealed}, and Secret {name} is not made"
        ),
    };
    let severity = if is_in_place { Severity::Refused } else { Severity::Outage };
    Some(Danger::said(
        severity,
        "sealed",
        text,
        "keep its name, namespace and scope, or seal the values for the new ones",
    ))
}
