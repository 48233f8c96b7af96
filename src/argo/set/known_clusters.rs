//! Clusters: what Argo CD knows of each, as far as the dry tree says it.
//!
//! Two sources, united by name: the Secrets of clusters in the tree ([`secrets`]), and the files that the setting
//! `clusters` names. Such a file is a list:
//!
//! ```yaml
//! - name: prod-eu
//!   server: https://prod-eu.example.com
//!   project: default                     # optional, like all below
//!   labels: {env: prod}
//!   annotations: {owner: shop}
//!   kubeVersion: 1.33.4                  # for Helm and Kustomize
//!   apiVersions: [monitoring.coreos.com/v1]
//! ```

mod secrets;

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Refusal, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Reads, View};

use super::super::field::{Content, Entry, Field, Place};
use super::super::located;
use super::fault::Fault;
use inputs::InputsDir;
use secrets::Found;
pub(super) use secrets::LABEL;
pub(crate) use secrets::may_hold_clusters;

/// One cluster.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cluster {
    /// Its name in Argo CD.
    pub name: String,
    /// The URL of its API server.
    pub server: String,
    /// The project that it belongs to; empty for none.
    pub project: String,
    /// The labels of its Secret.
    pub labels: BTreeMap<String, String>,
    /// The annotations of its Secret.
    pub annotations: BTreeMap<String, String>,
    /// Its version of Kubernetes, where the list says it.
    pub kube_version: Option<String>,
    /// The versions of APIs that it serves, where the list says them.
    pub api_versions: Vec<String>,
}

/// What the tree says of clusters.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Known {
    /// Nothing: only Argo CD knows them.
    Unknown,
    /// All of them, by name.
    Clusters(Vec<Cluster>),
}

/// What leaves open which clusters there are.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unclear {
    pub text: String,
    pub hint: &'static str,
    pub span: Span,
}

impl Unclear {
    pub(super) fn in_file(text: impl Into<String>, hint: &'static str, file: RepoPath) -> Self {
        Self { text: text.into(), hint, span: Span::file(file) }
    }

    fn at(text: impl Into<String>, hint: &'static str, place: &Place) -> Self {
        Self { text: text.into(), hint, span: place.span() }
    }

    /// A list that cannot be parsed.
    fn unreadable(wrong: Diagnostic, list: &RepoPath) -> Self {
        let span = wrong.span.unwrap_or_else(|| Span::file(list.clone()));
        Self { text: wrong.message, hint: AS_WRITTEN, span }
    }

    pub(super) fn fault(&self) -> Fault {
        Fault::refused(self.text.clone(), Refusal::Elsewhere, self.hint).at(self.span.clone())
    }
}

/// The clusters of a tree, and what was read to know them.
#[derive(Debug)]
pub struct Clusters {
    pub(super) known: Result<Known, Unclear>,
    pub(super) reads: Reads,
    listed: Result<Vec<Cluster>, Unclear>,
}

impl Clusters {
    /// Looks for Secrets in all files of a tree that may contain manifests, and reads the lists of clusters in the files that the
    /// setting `clusters` names. `namespace` is that of Argo CD.
    pub fn search(view: &View<'_>, namespace: &str, inputs: &InputsDir, lists: &[RepoPath]) -> Self {
        Self::read(view, lists, || secrets::find(view, namespace, inputs))
    }

    /// Reads the Secrets of clusters in these files, outside of charts, and the lists of clusters in those that the setting
    /// `clusters` names.
    pub fn of_files<'p>(
        view: &View<'_>,
        namespace: &str,
        secrets: impl Iterator<Item = &'p RepoPath>,
        lists: &[RepoPath],
    ) -> Self {
        Self::read(view, lists, || secrets::of_files(view, namespace, secrets))
    }

    fn read(view: &View<'_>, lists: &[RepoPath], secrets: impl FnOnce() -> Result<Found, Unclear>) -> Self {
        let ((listed, found), reads) = view.with_reads(|| (all_listed(view, lists), secrets()));
        let known = match (&listed, found) {
            (Ok(listed), Ok(found)) => united(found, listed),
            (Err(unclear), _) => Err(unclear.clone()),
            (_, Err(unclear)) => Err(unclear),
        };
        Self { known, reads, listed }
    }

    /// What is wrong with the lists, as far as it keeps from knowing the version of any cluster.
    pub fn unlisted(&self) -> Option<Diagnostic> {
        self.listed.as_ref().err().map(|unclear| unclear.fault().diagnostic(|_| unclear.span.clone()))
    }

    /// The cluster in the lists that an Application with this destination deploys to: by its server, else by its name.
    pub fn listed(&self, destination: &str) -> Option<&Cluster> {
        let listed = self.listed.as_deref().ok()?;
        let by_server =
            listed.iter().find(|cluster| cluster.server.trim_end_matches('/') == destination.trim_end_matches('/'));
        by_server.or_else(|| listed.iter().find(|cluster| cluster.name == destination))
    }

    /// The names of all clusters; none where something leaves open which there are.
    pub fn names(&self) -> Vec<&str> {
        match &self.known {
            Ok(Known::Clusters(clusters)) => clusters.iter().map(|cluster| cluster.name.as_str()).collect(),
            Ok(Known::Unknown) | Err(_) => Vec::new(),
        }
    }

    /// What was read.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }
}

/// One cluster for each name.
fn united(secrets: Vec<(RepoPath, Cluster)>, listed: &[Cluster]) -> Result<Known, Unclear> {
    let mut found: BTreeMap<String, Cluster> = BTreeMap::new();
    for (file, cluster) in secrets {
        match found.get(&cluster.name) {
            Some(other) if *other != cluster => {
                return Err(Unclear::in_file(
                    format!("two cluster Secrets have the name `{}`: Argo CD may use either of them", cluster.name),
                    "give each cluster a name of its own",
                    file,
                ));
            }
            _ => drop(found.insert(cluster.name.clone(), cluster)),
        }
    }
    // The list says more than a Secret can.
    found.extend(listed.iter().map(|cluster| (cluster.name.clone(), cluster.clone())));
    Ok(match found.is_empty() {
        true => Known::Unknown,
        false => Known::Clusters(found.into_values().collect()),
    })
}

const AS_WRITTEN: &str = "write it as `git hydrate clusters import` does";

fn all_listed(view: &View<'_>, lists: &[RepoPath]) -> Result<Vec<Cluster>, Unclear> {
    let lists = lists.iter().map(|path| list_of(view, path)).collect::<Result<Vec<_>, _>>()?;
    Ok(lists.concat())
}

/// The clusters of one list.
fn list_of(view: &View<'_>, path: &RepoPath) -> Result<Vec<Cluster>, Unclear> {
    let blob = view.read(path).map_err(|error| {
        let hint = "commit the file, or correct the setting: git hydrate config set clusters FILE";
        Unclear::in_file(format!("the list of clusters that the setting `clusters` names: {error}"), hint, path.clone())
    })?;
    let documents = located::parse(path, &blob.data).map_err(|wrong| Unclear::unreadable(wrong, path))?;
    let mut clusters: Vec<Cluster> = Vec::new();
    for document in &documents {
        let Content::List(items) = &document.content else {
            return Err(Unclear::at("clusters must be a list", AS_WRITTEN, &document.place));
        };
        for item in items {
            let cluster = cluster(item)?;
            if clusters.iter().any(|other| other.name == cluster.name) {
                let text = format!("the cluster `{}` is listed twice", cluster.name);
                return Err(Unclear::at(text, "give each cluster a name of its own", &item.place));
            }
            clusters.push(cluster);
        }
    }
    Ok(clusters)
}

fn cluster(item: &Field) -> Result<Cluster, Unclear> {
    let Content::Mapping(entries) = &item.content else {
        return Err(Unclear::at("a cluster must be a mapping", AS_WRITTEN, &item.place));
    };
    let mut cluster = Cluster::default();
    for Entry { key, key_place, field, .. } in entries.iter().filter(|entry| !entry.field.is_null()) {
        match key.as_str() {
            "name" => cluster.name = text(field)?,
            "server" => cluster.server = text(field)?,
            "project" => cluster.project = text(field)?,
            "kubeVersion" => cluster.kube_version = Some(text(field)?),
            "labels" => cluster.labels = texts(field)?,
            "annotations" => cluster.annotations = texts(field)?,
            "apiVersions" => {
                let Content::List(items) = &field.content else {
                    return Err(Unclear::at("`apiVersions` must be a list", AS_WRITTEN, &field.place));
                };
                cluster.api_versions = items.iter().map(text).collect::<Result<_, _>>()?;
            }
            _ => return Err(Unclear::at(format!("unknown field `{key}` of a cluster"), AS_WRITTEN, key_place)),
        }
    }
    for (name, value) in [("name", &cluster.name), ("server", &cluster.server)] {
        if value.is_empty() {
            return Err(Unclear::at(format!("a cluster has no `{name}`"), AS_WRITTEN, &item.place));
        }
    }
    if has_userinfo(&cluster.server) {
        let hint = "remove the user and the password from the URL: anyone who can read the repository sees them";
        return Err(Unclear::at("the `server` of a cluster contains a user name", hint, &item.place));
    }
    Ok(cluster)
}

/// Whether a URL names a user, with or without a password.
pub(crate) fn has_userinfo(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@'))
}

fn text(field: &Field) -> Result<String, Unclear> {
    let wrong = || Unclear::at(format!("expected a string, found {}", field.kind()), "quote it", &field.place);
    field.as_str().map(str::to_owned).ok_or_else(wrong)
}

fn texts(field: &Field) -> Result<BTreeMap<String, String>, Unclear> {
    let Content::Mapping(entries) = &field.content else {
        return Err(Unclear::at("labels and annotations must be mappings", AS_WRITTEN, &field.place));
    };
    entries.iter().map(|entry| Ok((entry.key.clone(), text(&entry.field)?))).collect()
}
