//! Rendered files made into what `helm template` prints: documents, hooks, their order and framing.
//!
//! Reference: helm 4.2.3 and 4.2.4 pkg/release/v1/util and pkg/cmd/template.go. Cases `out-*`.

use std::borrow::Cow;
use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use go_std::json::fold_name;
use go_std::path::{BadPattern, Pattern};
use go_template::Limit;
use go_yaml::{Limits, Mapping, Value, sigs};

use super::chart::File;
use super::error::{Error, ErrorKind};
use super::fields::{self, Place, WrongType};
use super::options::Options;
use super::split::split;
use crate::version::differences::{Documents, Webhooks};

/// Kinds in the order in which they are installed; others follow by name.
const KINDS: &[&str] = &[
    "PriorityClass",
    "Namespace",
    "NetworkPolicy",
    "ResourceQuota",
    "LimitRange",
    "PodSecurityPolicy",
    "PodDisruptionBudget",
    "ServiceAccount",
    "Secret",
    "SecretList",
    "ConfigMap",
    "StorageClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "CustomResourceDefinition",
    "ClusterRole",
    "ClusterRoleList",
    "ClusterRoleBinding",
    "ClusterRoleBindingList",
    "Role",
    "RoleList",
    "RoleBinding",
    "RoleBindingList",
    "Service",
    "DaemonSet",
    "Pod",
    "ReplicationController",
    "ReplicaSet",
    "Deployment",
    "HorizontalPodAutoscaler",
    "StatefulSet",
    "Job",
    "CronJob",
    "IngressClass",
    "Ingress",
    "APIService",
];

/// Kinds that come next, in Helm 4.
const WEBHOOKS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// The events that a hook may name, in lower case.
const EVENTS: &[&str] = &[
    "pre-install",
    "post-install",
    "pre-delete",
    "post-delete",
    "pre-upgrade",
    "post-upgrade",
    "pre-rollback",
    "post-rollback",
    "test",
    "test-success",
];

/// A file as a template rendered it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RenderedFile {
    /// The path in names of charts: `web/templates/service.yaml`.
    pub name: String,
    /// What was printed.
    pub text: String,
    /// Where the template is in the repository.
    pub origin: RepoPath,
    /// The template.
    pub source: Arc<[u8]>,
}

/// One document of the output.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The template that made it, or the file of `crds/`: the path in names of charts.
    pub source: String,
    /// Where that file is in the repository.
    pub origin: RepoPath,
    /// YAML: one document as Helm counts them, or a whole file of `crds/`, which may have several.
    pub text: String,
    /// Whether it is a hook, and with which events.
    pub hook: Option<Vec<String>>,
    kind: String,
}

impl Document {
    /// A file of `crds/`.
    pub fn crd(source: String, file: &File) -> Result<Self, Error> {
        let text = String::from_utf8(file.data.to_vec()).map_err(|_| {
            let reason = "error converting YAML to JSON: yaml: invalid leading UTF-8 octet".to_owned();
            ErrorKind::Manifest { template: source.clone(), reason }.at(Span::file(file.origin.clone()))
        })?;
        Ok(Self { source, origin: file.origin.clone(), text, hook: None, kind: String::new() })
    }

    fn is_test(&self) -> bool {
        self.hook.iter().flatten().any(|event| event == "test" || event == "test-success")
    }

    /// As it is printed.
    fn push(&self, out: &mut String) {
        let Self { source, text, .. } = self;
        out.push_str("---\n# Source: ");
        for part in [source, "\n", text, "\n"] {
            out.push_str(part);
        }
    }
}

/// Cuts files into documents and puts them in order: manifests, then hooks. `files` may be in any order.
///
/// Dropped are partials, notes, what is blank, and hooks of events that Helm doesn't know. An error when the time is over.
pub(super) fn documents(
    mut files: Vec<RenderedFile>,
    options: &Options,
    warnings: &mut Vec<String>,
) -> Result<Vec<Document>, Error> {
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let mut documents = Vec::new();
    for file in files {
        if !is_printed(&file.name) {
            continue;
        }
        for text in split(&file.text, options.helm.switches().documents) {
            if options.stop.is_set() {
                return Err(ErrorKind::from(Limit::Time).into());
            }
            documents.extend(document(&file, text, warnings)?);
        }
    }
    let webhooks = options.helm.switches().webhooks;
    documents.sort_by_cached_key(|document| (document.hook.is_some(), rank(&document.kind, webhooks)));
    Ok(documents)
}

/// Whether a template of this name makes manifests: partials and notes don't.
pub(super) fn is_printed(name: &str) -> bool {
    !name.rsplit('/').next().unwrap_or(name).starts_with('_') && !name.ends_with("NOTES.txt")
}

/// The place of a kind: known ones first, then by name.
fn rank(kind: &str, webhooks: Webhooks) -> (usize, String) {
    let later: &[&str] = if webhooks == Webhooks::Known { &WEBHOOKS } else { &[] };
    match KINDS.iter().chain(later).position(|known| *known == kind) {
        Some(place) => (place, String::new()),
        None => (KINDS.len() + later.len(), kind.to_owned()),
    }
}

fn document(file: &RenderedFile, text: &str, warnings: &mut Vec<String>) -> Result<Option<Document>, Error> {
    let value = match sigs::unmarshal(text.as_bytes(), &Limits::default()) {
        Ok(value) => value,
        Err(error) => {
            let reason = error.to_string();
            let Some(before) = (error.line() as usize).checked_sub(1) else { return Err(wrong(file, reason)) };
            let line = text.lines().nth(before).unwrap_or_default();
            let kind = ErrorKind::Manifest { template: file.name.clone(), reason };
            let found = kind.at(template_line(file, line).unwrap_or_else(|| Span::file(file.origin.clone())));
            let line = shown(file, line.trim());
            return Err(found.hint(format!("line {} of the rendered document reads `{line}`", error.line())));
        }
    };
    let head = Head::new(&value).map_err(|error| wrong(file, error.to_string()))?;
    let events = head.annotations.get("helm.sh/hook").map(|events| {
        let event = |event: &str| event.trim().to_lowercase();
        events.split(',').map(event).collect::<Vec<_>>()
    });
    if let Some(unknown) = events.iter().flatten().find(|event| !EVENTS.contains(&event.as_str())) {
        let name = &file.name;
        warnings.push(format!("{name}: a hook with the unknown event `{unknown}` is left out of the output"));
        return Ok(None);
    }
    Ok(Some(Document {
        source: file.name.clone(),
        origin: file.origin.clone(),
        text: text.to_owned(),
        hook: events,
        kind: head.kind,
    }))
}

/// A printed line as a message may have it: what its template does not say itself may be a value that others must not read.
fn shown<'l>(file: &RenderedFile, printed: &'l str) -> Cow<'l, str> {
    let source = String::from_utf8_lossy(&file.source);
    if source.lines().any(|line| line.trim() == printed) {
        return printed.into();
    }
    match printed.split_once(": ") {
        Some((key, _)) if source.contains(key) => format!("{key}: …").into(),
        _ => "…".into(),
    }
}

/// The line of a template that a printed line comes from: the only one that reads alike, else the only one with its key.
fn template_line(file: &RenderedFile, printed: &str) -> Option<Span> {
    let source = std::str::from_utf8(&file.source).ok()?;
    let printed = printed.trim();
    let only = |is_it: &dyn Fn(&str) -> bool| {
        let mut found = source.lines().zip(1_u32..).filter(|(line, _)| is_it(line.trim()));
        found.next().filter(|_| found.next().is_none()).map(|(_, number)| number)
    };
    let key = printed.split_once(':').map(|(key, _)| format!("{key}:")).filter(|key| key.len() > 1);
    let number = only(&|line| !printed.is_empty() && line == printed);
    let number = number.or_else(|| key.and_then(|key| only(&|line| line.starts_with(&key))))?;
    Some(Span { line: number, ..Span::file(file.origin.clone()) }.quoting(source))
}

fn wrong(file: &RenderedFile, reason: String) -> Error {
    let kind = ErrorKind::Manifest { template: file.name.clone(), reason };
    kind.at(Span::file(file.origin.clone()))
}

/// All that Helm looks at in a manifest.
#[derive(Debug, Default)]
struct Head {
    kind: String,
    annotations: std::collections::BTreeMap<String, String>,
}

impl Head {
    fn new(value: &Value) -> Result<Self, WrongType> {
        let mut head = Self::default();
        let at = |path| Place { of: "SimpleHead", path };
        let Some(entries) = fields::object(value, Place { of: "", path: "" }, "util.SimpleHead")? else {
            return Ok(head);
        };
        for (key, value) in entries {
            match fold_name(key).as_str() {
                "apiversion" => fields::string(&mut String::new(), value, at("apiVersion"))?,
                "kind" => fields::string(&mut head.kind, value, at("kind"))?,
                "metadata" => {
                    let go_type = "struct { Name string \"json:\\\"name\\\"\"; Annotations map[string]string \"json:\\\"annotations\\\"\" }";
                    if let Some(entries) = fields::object(value, at("metadata"), go_type)? {
                        head.metadata(entries)?;
                    }
                }
                _ => {}
            }
        }
        Ok(head)
    }

    fn metadata(&mut self, entries: &Mapping) -> Result<(), WrongType> {
        for (key, value) in entries {
            match fold_name(key).as_str() {
                "name" => fields::string(&mut String::new(), value, Place { of: "", path: "metadata.name" })?,
                "annotations" => {
                    let place = Place { of: "", path: "metadata.annotations" };
                    for (key, value) in fields::object(value, place, "map[string]string")?.into_iter().flatten() {
                        self.annotations.insert(key.clone(), fields::text(value, place)?.unwrap_or_default());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What `helm template` prints, and the documents in it.
pub(super) fn print(mut documents: Vec<Document>, options: &Options) -> Result<(String, Vec<Document>), Error> {
    let is_wanted = |document: &Document| {
        document.hook.is_none() || !(options.no_hooks || (options.skip_tests && document.is_test()))
    };
    documents.retain(is_wanted);
    let mut manifests = String::new();
    documents.iter().filter(|document| document.hook.is_none()).for_each(|document| document.push(&mut manifests));
    let mut text = manifests.trim().to_owned();
    text.push('\n');
    documents.iter().filter(|document| document.hook.is_some()).for_each(|document| document.push(&mut text));
    if options.show_only.is_empty() {
        return Ok((text, documents));
    }
    let patterns: Vec<_> = options.show_only.iter().map(|pattern| (pattern.as_str(), Pattern::new(pattern))).collect();
    let text = show_only(&text, &patterns, options.helm.switches().documents)?;
    documents.retain(|document| {
        let path = document.source.split_once('/').map_or("", |(_, path)| path);
        patterns.iter().any(|(_, pattern)| pattern.as_ref().is_ok_and(|pattern| pattern.matches(path)))
    });
    Ok((text, documents))
}

/// The documents of the output whose sources match the patterns, pattern by pattern.
///
/// Cuts the output once more, as Helm does.
fn show_only(text: &str, patterns: &[(&str, Result<Pattern, BadPattern>)], how: Documents) -> Result<String, Error> {
    let documents: Vec<_> = split(text, how).into_iter().map(|text| (source_of(text), text)).collect();
    let mut shown = String::new();
    for (pattern, compiled) in patterns {
        let before = shown.len();
        for (source, document) in &documents {
            if compiled.as_ref().is_ok_and(|pattern| source.is_some_and(|source| pattern.matches(source))) {
                for part in ["---\n", document, "\n"] {
                    shown.push_str(part);
                }
            }
        }
        if shown.len() == before {
            return Err(ErrorKind::NoSuchTemplate((*pattern).to_owned()).into());
        }
    }
    Ok(shown)
}

/// What follows the chart's name in the first `# Source: ` that has a path.
fn source_of(document: &str) -> Option<&str> {
    let mut rest = document;
    loop {
        let (_, after) = rest.split_once("# Source: ")?;
        let line = after.lines().next().unwrap_or_default();
        if let Some((name, path)) = line.split_once('/')
            && !name.is_empty()
            && !path.is_empty()
        {
            return Some(path);
        }
        rest = after;
    }
}
