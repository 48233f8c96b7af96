//! Secrets by which Argo CD gets into repositories and clusters.

use std::collections::BTreeSet;

use dry_files::diag::more::listed;
use go_yaml::Value;

use super::projects::{normal, without_password};
use super::text::verb;
use super::{Around, Danger, Severity, items};
use crate::diff::model::word;
use crate::manifest::Manifest;

/// How many Applications are named.
const NAMED_MAX: usize = 4;

/// The keys of a Secret of which one is a login to a repository.
///
/// Reference: argo-cd 3.4 docs/operator-manual/argocd-repositories.yaml.
const LOGINS: [&str; 7] = [
    "password",
    "sshPrivateKey",
    "githubAppPrivateKey",
    "tlsClientCertKey",
    "gcpServiceAccountKey",
    "bearerToken",
    "username",
];

/// What a Secret lets Argo CD into.
#[derive(PartialEq)]
enum Access {
    /// A repository of this URL.
    Repository(String),
    /// All whose URL begins so.
    Repositories(String),
    /// A cluster, by its URL.
    Cluster(String),
}

impl Access {
    /// None for a Secret that is not a login, or of which the URL is not known.
    ///
    /// Reference: argo-cd 3.4 docs/operator-manual/declarative-setup.md, "Repositories", "Repository Credentials", "Clusters".
    fn of(object: &Manifest) -> Option<Self> {
        let labels: &[&str] = match (object.home_group(), object.kind()) {
            ("", "Secret") => &["metadata", "labels"],
            ("external-secrets.io", "ExternalSecret") => &["spec", "target", "template", "metadata", "labels"],
            _ => return None,
        };
        let is_login = LOGINS.iter().any(|key| has(object, key));
        let url = || field(object, "url").filter(|url| is_login && url.contains("://") || url.contains('@'));
        match word(object.object(), &[labels, &["argocd.argoproj.io/secret-type"]].concat()) {
            "repository" => Some(Self::Repository(normal(&url()?))),
            "repo-creds" => Some(Self::Repositories(normal(&url()?))),
            "cluster" => field(object, "server").filter(|url| url.contains("://")).map(Self::Cluster),
            _ => None,
        }
    }

    fn is_for_repository(&self, url: &str) -> bool {
        match self {
            Self::Repository(own) => own == url,
            Self::Repositories(start) => url.starts_with(start.as_str()),
            Self::Cluster(_) => false,
        }
    }
}

/// Whether a Secret has a key, or one that is made by a template has.
fn has(secret: &Manifest, key: &str) -> bool {
    let value = secret.object();
    let fetched = items(value, &["spec", "data"]).iter().any(|one| word(one, &["secretKey"]) == key);
    fetched
        || [&["stringData", key][..], &["data", key], &[&TEMPLATE[..], &[key]].concat()]
            .iter()
            .any(|path| value.at(path).is_some())
}

/// Where an ExternalSecret has the values of its Secret, which may have `{{` in them.
const TEMPLATE: [&str; 4] = ["spec", "target", "template", "data"];

/// A value of a Secret, where it is readable text.
fn field(secret: &Manifest, key: &str) -> Option<String> {
    let template = word(secret.object(), &[&TEMPLATE[..], &[key]].concat());
    if !template.is_empty() {
        return (!template.contains("{{")).then(|| template.to_owned());
    }
    if let Some(text) = secret.object().at(&["stringData", key]).and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    let data = secret.object().at(&["data", key]).and_then(Value::as_str)?;
    String::from_utf8(data_encoding::BASE64.decode(data.trim().as_bytes()).ok()?).ok()
}

/// A Secret that goes, and by which Argo CD got into a repository or a cluster, while no other lets it in.
pub(super) fn removed<'a>(old: &'a Manifest, around: &Around<'a>) -> Option<Danger> {
    let access = Access::of(old)?;
    let pruning = around.pruning.of(old);
    let others: Vec<Access> = around.model.after.all().iter().filter_map(|one| Access::of(one.manifest)).collect();
    let is_left = match &access {
        Access::Repository(url) => !others.iter().any(|one| one.is_for_repository(url)),
        access => !others.contains(access),
    };
    if !is_left || !pruning.removes() {
        return None;
    }
    let repositories = |urls: &[String]| {
        urls.iter()
            .map(|url| normal(url))
            .any(|url| access.is_for_repository(&url) && !others.iter().any(|one| one.is_for_repository(&url)))
    };
    let users = around.model.after.applications().into_iter().filter(|one| match &access {
        Access::Cluster(server) => one.server.trim_end_matches('/') == server.trim_end_matches('/'),
        _ => repositories(&one.sources),
    });
    let users: BTreeSet<String> = users.map(|one| format!("Application {}", one.name)).collect();
    let shown = |key| field(old, key).map(|url| without_password(url.trim())).unwrap_or_default();
    let what = match &access {
        Access::Repository(_) => format!("login for {}", shown("url")),
        Access::Repositories(_) => format!("login for repositories of {}", shown("url")),
        Access::Cluster(_) => format!("cluster {}", shown("server")),
    };
    let severity = if users.is_empty() { Severity::Other } else { Severity::Outage };
    let whose = match users.len() {
        0 => String::new(),
        count => format!(", which {} use{}", listed(users, NAMED_MAX), verb(count)),
    };
    let text = format!("removed: Argo CD has no {what} any more{whose}");
    Some(Danger::said(severity, "removed", text, "keep it until nothing uses it").pruned(pruning))
}
