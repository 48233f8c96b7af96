//! From the Secrets of clusters, as `kubectl` prints them, to the list of [`super::known_clusters`].
//!
//! Such a Secret contains the credentials of a cluster. Nothing of it goes into the list but the name, the server, the project,
//! the labels, and those annotations that a set asks for; `config` is never looked at. What is wrong is said without quoting
//! anything but names of objects.

use std::collections::{BTreeMap, BTreeSet};

use go_yaml::{self as yaml, Dialect, Limits, Mapping, Value};

use super::super::field::{Content, Field};
use super::known_clusters::LABEL;
use super::{ApplicationSet, has_userinfo};

/// What `kubectl apply` keeps: the whole object as it was applied, secrets and all.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The versions that one cluster serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Versions {
    /// The version of Kubernetes.
    pub kube_version: Option<String>,
    /// The versions of its APIs, `v1` and `GROUP/VERSION`, and its kinds, `v1/KIND` and `GROUP/VERSION/KIND`, sorted.
    ///
    /// Argo CD hands both to Helm: util/argo/argo.go `APIResourcesToStrings` with kinds.
    pub api_versions: Vec<String>,
}

impl Versions {
    /// Reads what `kubectl version` and `kubectl api-versions` print, and kinds behind their versions, one behind the other, in any
    /// order.
    pub fn read(text: &str) -> Self {
        let mut versions = Self::default();
        for line in text.lines().map(str::trim) {
            if let Some(version) = line.strip_prefix("Server Version:") {
                versions.kube_version = Some(version.trim().to_owned()).filter(|version| is_word(version));
            } else if is_api_version(line) || is_kind(line) {
                versions.api_versions.push(line.to_owned());
            }
        }
        versions.api_versions.sort();
        versions.api_versions.dedup();
        versions
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+_".contains(&byte))
}

fn is_api_version(line: &str) -> bool {
    let (group, version) = line.rsplit_once('/').unwrap_or(("core", line));
    let is_version = version.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_version && is_word(version) && is_word(group)
}

/// `networking.k8s.io/v1/Ingress`, `v1/Pod`.
fn is_kind(line: &str) -> bool {
    let is_name = |kind: &str| kind.starts_with(|c: char| c.is_ascii_uppercase()) && is_word(kind);
    line.rsplit_once('/').is_some_and(|(version, kind)| is_name(kind) && is_api_version(version))
}

/// The keys of annotations that sets ask for, out of `keys`.
///
/// A set asks for one that is in one of its texts behind `annotations.`, as `{{metadata.annotations.owner}}` does, or in
/// quotes in a text that speaks of annotations, as `{{index .metadata.annotations "example.com/owner"}}` does.
fn asked_for<'k>(sets: &[&ApplicationSet], keys: impl Iterator<Item = &'k str>) -> BTreeSet<&'k str> {
    let mut texts = Vec::new();
    sets.iter().for_each(|set| gather(set.root(), &mut texts));
    let texts: Vec<&str> = texts.into_iter().filter(|text| text.contains("annotations")).collect();
    keys.filter(|key| !key.is_empty() && *key != LAST_APPLIED && texts.iter().any(|text| asks(text, key))).collect()
}

fn asks(text: &str, key: &str) -> bool {
    let quoted = ['"', '`'].iter().any(|quote| text.contains(&format!("{quote}{key}{quote}")));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "./-_".contains(c);
    let behind = format!("annotations.{key}");
    quoted || text.match_indices(&behind).any(|(at, found)| !text[at + found.len()..].starts_with(is_part))
}

fn gather<'f>(field: &'f Field, texts: &mut Vec<&'f str>) {
    match &field.content {
        Content::Mapping(entries) => entries.iter().for_each(|entry| {
            texts.push(&entry.key);
            gather(&entry.field, texts);
        }),
        Content::List(items) => items.iter().for_each(|item| gather(item, texts)),
        Content::Scalar(value) => texts.extend(value.as_str()),
    }
}

/// The list of clusters as text: what `kubectl get secret … -o yaml` printed, in the order of names. Objects that are no
/// Secrets of clusters are passed over.
///
/// Errors: what is wrong, in words; never with data of a Secret.
pub fn import(
    secrets: &[u8],
    sets: &[&ApplicationSet],
    versions: &BTreeMap<String, Versions>,
) -> Result<String, String> {
    let documents = yaml::decode(secrets, Dialect::V2, &Limits::default()).map_err(|error| {
        let line = error.mark().map_or(String::new(), |mark| format!(", line {}", mark.line));
        format!("standard input is not valid YAML{line}")
    })?;
    let mut objects = Vec::new();
    documents.iter().for_each(|document| unfold(document, 0, &mut objects));
    let mut clusters: BTreeMap<String, Value> = BTreeMap::new();
    for object in objects {
        let label = object.at(&["metadata", "labels", LABEL]).and_then(Value::as_str);
        if object.get("kind").and_then(Value::as_str) != Some("Secret") || label != Some("cluster") {
            continue;
        }
        let (name, cluster) = cluster(object, sets, versions)?;
        if clusters.insert(name.clone(), cluster).is_some() {
            return Err(format!("two Secrets have the cluster `{name}`: give each cluster a name of its own"));
        }
    }
    if clusters.is_empty() {
        return Err("there is no cluster Secret on standard input: they have the label \
            `argocd.argoproj.io/secret-type: cluster`"
            .to_owned());
    }
    if let Some(unknown) = versions.keys().find(|name| !clusters.contains_key(*name)) {
        return Err(format!("`--versions` names the cluster `{unknown}`, which has no Secret on standard input"));
    }
    let list = Value::Sequence(clusters.into_values().collect());
    yaml::sigs::marshal(&list).map_err(|_| "the list cannot be written".to_owned())
}

fn unfold<'v>(object: &'v Value, depth: u32, objects: &mut Vec<&'v Value>) {
    match object.get("items").and_then(Value::as_sequence) {
        Some(items) if depth < 8 => items.iter().for_each(|item| unfold(item, depth + 1, objects)),
        _ => objects.push(object),
    }
}

fn cluster(
    secret: &Value,
    sets: &[&ApplicationSet],
    versions: &BTreeMap<String, Versions>,
) -> Result<(String, Value), String> {
    let object = object_name(secret);
    let text = |key| text_of(secret, key);
    let (name, server, project) = (text("name")?, text("server")?, text("project")?);
    if name.is_empty() || server.is_empty() {
        return Err(format!("the Secret `{object}` has no `name` or no `server`"));
    }
    if has_userinfo(&server) {
        return Err(format!(
            "the `server` of the Secret `{object}` contains a user name, which anyone who can read the repository would \
             see: remove it from the URL"
        ));
    }
    let map = |path: &[&str]| secret.at(path).and_then(Value::as_mapping).cloned().unwrap_or_default();
    let labels = map(&["metadata", "labels"]);
    let annotations = map(&["metadata", "annotations"]);
    let asked: BTreeSet<String> =
        asked_for(sets, annotations.keys().map(String::as_str)).into_iter().map(str::to_owned).collect();
    let annotations: Mapping = annotations.into_iter().filter(|(key, _)| asked.contains(key)).collect();
    let versions = versions.get(&name).cloned().unwrap_or_default();
    let apis: Vec<Value> = versions.api_versions.into_iter().map(Value::from).collect();
    let fields = [
        ("name", Some(Value::from(name.as_str()))),
        ("server", Some(Value::from(server))),
        ("project", Some(project).filter(|project| !project.is_empty()).map(Value::from)),
        ("labels", Some(labels).filter(|labels| !labels.is_empty()).map(Value::Mapping)),
        ("annotations", Some(annotations).filter(|annotations| !annotations.is_empty()).map(Value::Mapping)),
        ("kubeVersion", versions.kube_version.map(Value::from)),
        ("apiVersions", Some(apis).filter(|apis| !apis.is_empty()).map(Value::Sequence)),
    ];
    let cluster = fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    Ok((name, Value::Mapping(cluster)))
}

fn object_name(secret: &Value) -> &str {
    secret.at(&["metadata", "name"]).and_then(Value::as_str).unwrap_or_default()
}

/// The text of a key of a Secret; empty when it has no such key.
fn text_of(secret: &Value, key: &str) -> Result<String, String> {
    if let Some(text) = secret.at(&["stringData", key]).and_then(Value::as_str) {
        return Ok(text.to_owned());
    }
    let data = secret.at(&["data", key]).and_then(Value::as_str).unwrap_or_default();
    let bytes = data_encoding::BASE64.decode(data.trim().as_bytes()).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.ok_or_else(|| format!("`data.{key}` of the Secret `{}` is not base64-encoded text", object_name(secret)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argo::set::read_sets;
    use dry_files::path::RepoPath;

    fn sets(text: &str) -> Vec<ApplicationSet> {
        read_sets(&RepoPath::new("set.yaml").expect("plain"), text.as_bytes()).expect("a set")
    }

    #[test]
    fn annotations_that_a_set_asks_for() {
        let rows = [
            ("{{metadata.annotations.owner}}", "owner", true),
            ("{{metadata.annotations.owner}}", "own", false),
            ("{{metadata.annotations.example.com/owner}}", "example.com/owner", true),
            ("{{ .metadata.annotations.owner }}", "owner", true),
            ("{{ index .metadata.annotations \"example.com/owner\" }}", "example.com/owner", true),
            ("{{ index .metadata.annotations `owner` }}", "owner", true),
            ("{{ index .metadata.labels \"owner\" }}", "owner", false),
            ("{{metadata.annotations.kubectl.kubernetes.io/last-applied-configuration}}", LAST_APPLIED, false),
        ];
        for (text, key, expected) in rows {
            let set = format!("apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec: {{text: '{text}'}}\n");
            let sets = sets(&set);
            let asked = asked_for(&sets.iter().collect::<Vec<_>>(), [key].into_iter());
            assert_eq!(asked.contains(key), expected, "{text} {key}");
        }
    }

    #[test]
    fn versions_of_a_cluster() {
        let text = "Client Version: v1.35.0\nKustomize Version: v5.8.1\nServer Version: v1.33.4-gke.1\n\nv1\napps/v1\n\
                    monitoring.coreos.com/v1alpha1\nWarning: version difference\nv1\nnetworking.k8s.io/v1/Ingress\nv1/Pod\na/b/C\n";
        let versions = Versions::read(text);
        assert_eq!(versions.kube_version.as_deref(), Some("v1.33.4-gke.1"));
        assert_eq!(
            versions.api_versions,
            ["apps/v1", "monitoring.coreos.com/v1alpha1", "networking.k8s.io/v1/Ingress", "v1", "v1/Pod",]
        );
    }

    #[test]
    fn whatever_else_a_secret_holds_stays_where_it_is() {
        let set = sets(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec: {a: '{{metadata.annotations.owner}} {{ range \
             .metadata.annotations }}{{ . }}{{ end }}'}\n",
        );
        let marker = "MARKER";
        let encoded = data_encoding::BASE64.encode(marker.as_bytes());
        let (name, server) = ("cHJvZA==", data_encoding::BASE64.encode(b"https://prod.example.com"));
        // Every field that a Secret has, and some that it has not; the marker in all but those that are wanted.
        let secret = format!(
            "apiVersion: v1
kind: List
metadata: {{resourceVersion: {marker}}}
items:
- apiVersion: v1
  kind: Secret
  type: {marker}
  immutable: {marker}
  metadata:
    name: {marker}
    generateName: {marker}
    namespace: {marker}
    uid: {marker}
    selfLink: {marker}
    resourceVersion: {marker}
    creationTimestamp: {marker}
    deletionTimestamp: {marker}
    finalizers: [{marker}]
    ownerReferences: [{{name: {marker}}}]
    managedFields: [{{manager: {marker}, fieldsV1: {{'f:{marker}': {{}}}}}}]
    labels: {{argocd.argoproj.io/secret-type: cluster, env: prod}}
    annotations:
      owner: shop
      token: {marker}
      {marker}: {marker}
      {LAST_APPLIED}: '{{\"data\": \"{marker}\"}}'
  data:
    name: {name}
    server: {server}
    config: {encoded}
    shard: {encoded}
    namespaces: {encoded}
    clusterResources: {encoded}
    {marker}: {marker}
  stringData: {{config: {marker}, {marker}: {marker}}}
- {{apiVersion: v1, kind: Secret, metadata: {{name: {marker}}}, data: {{name: {encoded}, server: {encoded}}}}}
- {{apiVersion: v1, kind: ConfigMap, data: {{a: {marker}}}}}
"
        );
        let list = import(secret.as_bytes(), &set.iter().collect::<Vec<_>>(), &BTreeMap::new()).expect("a list");
        let expected = "- annotations:\n    owner: shop\n  labels:\n    argocd.argoproj.io/secret-type: cluster\n    env: \
                        prod\n  name: prod\n  server: https://prod.example.com\n";
        assert_eq!(list, expected);
        assert!(!list.contains(marker) && !list.contains(&encoded), "{list}");
        // Nor do errors tell any of it.
        let with = |from: &str, to: &str| {
            let text = secret.replace(from, to).replace(&format!("    name: {marker}\n"), "    name: prod\n");
            import(text.as_bytes(), &set.iter().collect::<Vec<_>>(), &BTreeMap::new()).expect_err("refused")
        };
        let user = data_encoding::BASE64.encode(format!("https://admin:{marker}@prod.example.com").as_bytes());
        let rows = [
            with(&server, &user),
            with(&server, &format!("!{marker}")),
            with(&server, "''"),
            with("data:\n    name", &format!("data: [{marker}\n    name")),
        ];
        for error in rows {
            assert!(!error.contains(marker), "{error}");
        }
    }
}
