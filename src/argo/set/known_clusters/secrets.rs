//! Finds the Secrets in a dry tree by which Argo CD knows its clusters.

use std::collections::BTreeMap;

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};
use go_yaml::{self as yaml, Dialect, Limits, Mapping, Value};

use super::super::super::search::{is_inside_chart, may_hold_applications};
use super::{Cluster, Unclear};
use inputs::InputsDir;

pub(in crate::argo::set) const LABEL: &str = "argocd.argoproj.io/secret-type";
/// How many bytes the paths that are looked at may have, and how deep directories may nest.
const PATH_BYTES_MAX: usize = 64 << 20;
const DEPTH_MAX: usize = 128;
/// How deep lists may be nested.
const LIST_DEPTH_MAX: u32 = 8;

/// Looks through all files that may contain manifests, outside of charts.
///
/// Secrets of `namespace` and those without a namespace count. What a SealedSecret or an ExternalSecret makes counts
/// when its name and server are in the plain part of its template; otherwise it is known inside the cluster only.
pub(super) fn find(view: &View<'_>, namespace: &str, inputs: &InputsDir) -> Result<Found, Unclear> {
    let mut search = Search { view, namespace, inputs: Some(inputs), path_bytes: 0, found: Vec::new() };
    search.directory(&RepoPath::root())?;
    Ok(search.found)
}

/// The clusters that Secrets in these files register. None of the files is part of a chart.
pub(super) fn of_files<'p>(
    view: &View<'_>,
    namespace: &str,
    files: impl Iterator<Item = &'p RepoPath>,
) -> Result<Found, Unclear> {
    let mut search = Search { view, namespace, inputs: None, path_bytes: 0, found: Vec::new() };
    for path in files {
        search.file(path)?;
    }
    Ok(search.found)
}

/// Whether a file may contain the Secret of a cluster.
pub(crate) fn may_hold_clusters(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, LABEL.as_bytes()).is_some()
}

/// Clusters, each with the file of its Secret.
pub(super) type Found = Vec<(RepoPath, Cluster)>;

struct Search<'a> {
    view: &'a View<'a>,
    namespace: &'a str,
    inputs: Option<&'a InputsDir>,
    path_bytes: usize,
    found: Found,
}

impl Search<'_> {
    fn directory(&mut self, dir: &RepoPath) -> Result<(), Unclear> {
        let entries = self.view.list(dir).map_err(|error| unreadable(dir, &error))?;
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            self.path_bytes += path.as_str().len() + 16;
            if self.path_bytes > PATH_BYTES_MAX || path.components().count() > DEPTH_MAX {
                return Err(Unclear::in_file(
                    "the tree has more files than are searched for cluster Secrets",
                    "use a generator other than `clusters`",
                    path,
                ));
            }
            match entry.kind {
                Kind::Directory if self.inputs.is_some_and(|inputs| inputs.keeps(dir, &entry.name)) => {}
                Kind::Directory => self.directory(&path)?,
                Kind::File if may_hold_applications(&path) && !self.is_of_chart(&path) => self.file(&path)?,
                Kind::File | Kind::Link | Kind::Submodule => {}
            }
        }
        Ok(())
    }

    fn is_of_chart(&self, path: &RepoPath) -> bool {
        let is_chart = |dir: &RepoPath| {
            let chart = dir.child("Chart.yaml").ok();
            chart.is_some_and(|chart| matches!(self.view.kind(&chart), Ok(Some(Kind::File))))
        };
        is_inside_chart(path, is_chart)
    }

    fn file(&mut self, path: &RepoPath) -> Result<(), Unclear> {
        let data = match self.view.read(path) {
            Ok(blob) => blob.data,
            // It is no manifest, then.
            Err(ViewError::LfsPointer(_) | ViewError::TooLarge { .. }) => return Ok(()),
            Err(error) => return Err(unreadable(path, &error)),
        };
        if !may_hold_clusters(&data) {
            return Ok(());
        }
        let documents = yaml::decode(&data, Dialect::V2, &Limits::default()).map_err(|error| {
            let text = format!("the file may contain cluster Secrets, but cannot be read: {error}");
            Unclear::in_file(text, "fix it: the clusters are read from all of their Secrets or from none", path.clone())
        })?;
        documents.iter().try_for_each(|document| self.object(path, document, 0))
    }

    fn object(&mut self, path: &RepoPath, object: &Value, depth: u32) -> Result<(), Unclear> {
        let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
        if let Some(items) = object.get("items").and_then(Value::as_sequence)
            && kind.ends_with("List")
            && depth < LIST_DEPTH_MAX
        {
            return items.iter().try_for_each(|item| self.object(path, item, depth + 1));
        }
        // What makes the Secret, and where its metadata and data are.
        let secret = match kind {
            "Secret" => Some(object),
            "SealedSecret" => object.at(&["spec", "template"]),
            "ExternalSecret" => object.at(&["spec", "target", "template"]),
            _ => None,
        };
        let Some(secret) = secret else { return Ok(()) };
        let labels = texts(secret.at(&["metadata", "labels"]));
        let own = object.at(&["metadata", "namespace"]).and_then(Value::as_str).unwrap_or_default();
        if labels.get(LABEL).is_none_or(|value| value != "cluster") || !(own.is_empty() || own == self.namespace) {
            return Ok(());
        }
        let plain = Plain { kind, secret };
        let cluster = Cluster {
            name: plain.text(path, "name")?,
            server: plain.text(path, "server")?,
            project: plain.text(path, "project")?,
            annotations: texts(secret.at(&["metadata", "annotations"])),
            labels,
            ..Cluster::default()
        };
        self.found.push((path.clone(), cluster));
        Ok(())
    }
}

/// The data of a Secret, as far as it is plain.
struct Plain<'a> {
    kind: &'a str,
    secret: &'a Value,
}

impl Plain<'_> {
    /// One entry: `stringData` over `data`; an empty text when neither has it.
    fn text(&self, path: &RepoPath, key: &str) -> Result<String, Unclear> {
        if let Some(text) = self.secret.at(&["stringData", key]).and_then(Value::as_str) {
            return Ok(text.to_owned());
        }
        let data = self.secret.at(&["data", key]).and_then(Value::as_str);
        if self.kind != "Secret" {
            let is_plain = |text: &&str| !text.contains("{{");
            return match data.filter(is_plain) {
                Some(text) => Ok(text.to_owned()),
                None if key == "project" && data.is_none() => Ok(String::new()),
                None => Err(Unclear::in_file(
                    format!("the {} of a cluster has no plain `{key}`: only the cluster knows it", self.kind),
                    "put `name` and `server` into the `data` of its template, as they are",
                    path.clone(),
                )),
            };
        }
        let Some(data) = data else { return Ok(String::new()) };
        let bytes = data_encoding::BASE64.decode(data.trim().as_bytes()).map_err(|_| {
            let text = format!("`data.{key}` of a cluster Secret is not valid base64");
            Unclear::in_file(text, "encode it, or write it under `stringData`", path.clone())
        })?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn texts(value: Option<&Value>) -> BTreeMap<String, String> {
    let entries: Option<&Mapping> = value.and_then(Value::as_mapping);
    let entries = entries.into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}

fn unreadable(path: &RepoPath, error: &ViewError) -> Unclear {
    Unclear::in_file(format!("cannot search for cluster Secrets: {error}"), "run `git fsck`", path.clone())
}
