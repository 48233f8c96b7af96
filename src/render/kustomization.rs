//! The edits that an Application asks for on its kustomization, as `kustomize edit` makes them on the file.
//!
//! Made on the meaning of the file, since comments and order don't change what is built. So the official tool needs no
//! `edit`, which `kubectl kustomize` lacks, and the native engine gets the very same file.

mod misfit;

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_std::json::is_field;
use go_yaml::{self as yaml, Mapping, Value};
use kustomize_build::FILE_NAMES;

use super::failure::Failure;
use super::pattern::{expand, is_pattern};
use super::release::kube_version;
use super::value_files::Place;
use crate::argo::{Kustomize, Patch, Replicas};
use misfit::{Misfit, place};

/// What is changed before the kustomization is built; checked and resolved.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Edits {
    /// `namePrefix`
    pub name_prefix: Option<String>,
    /// `nameSuffix`
    pub name_suffix: Option<String>,
    /// `images`, as written.
    pub images: Vec<String>,
    /// `replicas`
    pub replicas: Vec<Replicas>,
    /// `commonLabels`
    pub labels: BTreeMap<String, String>,
    /// Whether labels of the file are replaced.
    pub force_labels: bool,
    /// Whether selectors stay as they are.
    pub labels_without_selector: bool,
    /// Whether templates get the labels although selectors don't.
    pub labels_include_templates: bool,
    /// `commonAnnotations`
    pub annotations: BTreeMap<String, String>,
    /// Whether annotations of the file are replaced.
    pub force_annotations: bool,
    /// `namespace`
    pub namespace: Option<String>,
    /// `patches`, in order.
    pub patches: Vec<Patch>,
    /// `components`, in order: paths from the kustomization, patterns resolved, missing ones left out where they may be.
    pub components: Vec<String>,
    /// `kubeVersion`, numbers and dots only: for charts.
    pub kube_version: Option<String>,
    /// `apiVersions`, in order: for charts.
    pub api_versions: Vec<String>,
}

impl Edits {
    /// Resolves the options of a source; `at` tells where each of them is.
    pub(super) fn new(view: &View<'_>, dir: &RepoPath, kustomize: &Kustomize, at: Place<'_>) -> Result<Self, Failure> {
        if let Some(version) = &kustomize.version {
            let text = format!("kustomize version `{version}` is not supported");
            let mistake = Diagnostic::error(text).at(at(&["kustomize", "version"]));
            return Err(Failure::mistake(
                mistake.hint("remove `version`: the setting `tools` says which Kustomize builds"),
            ));
        }
        if kustomize.label_include_templates && !kustomize.label_without_selector && !kustomize.common_labels.is_empty()
        {
            let text = "`labelIncludeTemplates` needs `labelWithoutSelector: true`";
            return Err(Failure::mistake(Diagnostic::error(text).at(at(&["kustomize", "labelIncludeTemplates"]))));
        }
        for (index, image) in kustomize.images.iter().enumerate() {
            if Image::parse(image).is_none() {
                let mistake = Diagnostic::error(format!("`{image}` is not a valid image")).hint(IMAGE_HINT);
                return Err(Failure::mistake(mistake.at(at(&["kustomize", "images", &index.to_string()]))));
            }
        }
        let kube_version = match kustomize.kube_version.as_deref().map(kube_version) {
            None => None,
            Some(Some(version)) => Some(version),
            Some(None) => {
                let text = "`kustomize.kubeVersion` is not a valid version of Kubernetes";
                return Err(Failure::mistake(Diagnostic::error(text).at(at(&["kustomize", "kubeVersion"]))));
            }
        };
        Ok(Self {
            name_prefix: given(&kustomize.name_prefix),
            name_suffix: given(&kustomize.name_suffix),
            images: kustomize.images.clone(),
            replicas: kustomize.replicas.clone(),
            labels: kustomize.common_labels.clone(),
            force_labels: kustomize.force_common_labels,
            labels_without_selector: kustomize.label_without_selector,
            labels_include_templates: kustomize.label_include_templates,
            annotations: kustomize.common_annotations.clone(),
            force_annotations: kustomize.force_common_annotations,
            namespace: given(&kustomize.namespace),
            patches: kustomize.patches.clone(),
            components: components(view, dir, kustomize, at)?,
            kube_version,
            api_versions: kustomize.api_versions.clone(),
        })
    }

    /// Whether the file is built as it is.
    pub(super) fn is_empty(&self) -> bool {
        let flags = Self {
            force_labels: self.force_labels,
            labels_without_selector: self.labels_without_selector,
            labels_include_templates: self.labels_include_templates,
            force_annotations: self.force_annotations,
            kube_version: self.kube_version.clone(),
            api_versions: self.api_versions.clone(),
            ..Self::default()
        };
        *self == flags
    }

    /// The edited file: its path and its content, which is JSON.
    ///
    /// Errors: no kustomization, one that is no mapping, a label or annotation that is there already.
    ///
    /// Reference: kustomize 5.8.1 kustomize/commands/edit, Argo CD 3 util/kustomize `applyPatches`.
    pub(super) fn apply(&self, view: &View<'_>, dir: &RepoPath) -> Result<(RepoPath, String), Failure> {
        let file = file(view, dir)?;
        let blob = view.read(&file).map_err(|error| Failure::unreadable(error, Span::file(file.clone())))?;
        let wrong = |text: String| Failure::mistake(Diagnostic::error(text).at(Span::file(file.clone())));
        let kustomization = match yaml::sigs::unmarshal(&blob.data, &yaml::Limits::default()) {
            Ok(Value::Mapping(kustomization)) => kustomization,
            Ok(Value::Null) => Mapping::new(),
            Ok(_) => return Err(wrong("a kustomization must be a mapping".to_owned())),
            Err(error) => {
                let span = match error.mark() {
                    Some(mark) => {
                        Span::at(file.clone(), mark.line, mark.column).quoting(&String::from_utf8_lossy(&blob.data))
                    }
                    None => Span::file(file.clone()),
                };
                return Err(Failure::mistake(Diagnostic::error(error.to_string()).at(span)));
            }
        };
        let edited = self
            .edit(kustomization)
            .map_err(|misfit| Failure::mistake(misfit.mistake.at(place(&file, &blob.data, &misfit.fields))))?;
        Ok((file, yaml::json::encode(&Value::Mapping(edited), yaml::json::Options::default())))
    }

    fn edit(&self, mut kustomization: Mapping) -> Result<Mapping, Misfit> {
        let file = &mut kustomization;
        for (field, text) in
            [("namePrefix", &self.name_prefix), ("nameSuffix", &self.name_suffix), ("namespace", &self.namespace)]
        {
            if let Some(text) = text {
                take(file, field);
                file.insert(field.to_owned(), Value::from(text.as_str()));
            }
        }
        if !self.images.is_empty() {
            let there = [take_list(file, "images")?, take_list(file, "imageTags")?].concat();
            file.insert("images".to_owned(), self.edit_images(there).into());
        }
        if !self.replicas.is_empty() {
            let there = take_list(file, "replicas")?;
            file.insert("replicas".to_owned(), self.edit_replicas(there).into());
        }
        if !self.labels.is_empty() && self.labels_without_selector {
            let there = take_list(file, "labels")?;
            file.insert("labels".to_owned(), self.edit_labels(there).map_err(|misfit| misfit.inside("labels"))?.into());
        } else if !self.labels.is_empty() {
            let mut there = take_mapping(file, "commonLabels")?;
            add_pairs(&mut there, &self.labels, self.force_labels, "label")
                .map_err(|misfit| misfit.inside("commonLabels"))?;
            file.insert("commonLabels".to_owned(), there.into());
        }
        if !self.annotations.is_empty() {
            let mut there = take_mapping(file, "commonAnnotations")?;
            add_pairs(&mut there, &self.annotations, self.force_annotations, "annotation")
                .map_err(|misfit| misfit.inside("commonAnnotations"))?;
            file.insert("commonAnnotations".to_owned(), there.into());
        }
        if !self.patches.is_empty() {
            let mut there = take_list(file, "patches")?;
            there.extend(self.patches.iter().map(patch_value));
            file.insert("patches".to_owned(), there.into());
        }
        if !self.components.is_empty() {
            let mut there = take_list(file, "components")?;
            for component in &self.components {
                let component = Value::from(component.as_str());
                if !there.contains(&component) {
                    there.push(component);
                }
            }
            file.insert("components".to_owned(), there.into());
        }
        Ok(kustomization)
    }

    /// Images of the file by name, those of the Application instead where they have one name; sorted by name.
    fn edit_images(&self, there: Vec<Value>) -> Vec<Value> {
        let mut images: BTreeMap<String, Image> =
            self.images.iter().filter_map(|text| Image::parse(text)).map(|image| (image.name.clone(), image)).collect();
        let mut others: BTreeMap<String, Value> = BTreeMap::new();
        for value in there {
            match images.get_mut(text(&value, "name")) {
                Some(image) => image.keep_from(&value),
                None => {
                    others.insert(text(&value, "name").to_owned(), value);
                }
            }
        }
        others.extend(images.into_iter().map(|(name, image)| (name, image.into_value())));
        others.into_values().collect()
    }

    fn edit_replicas(&self, there: Vec<Value>) -> Vec<Value> {
        let mut all: BTreeMap<String, Value> =
            there.into_iter().map(|value| (text(&value, "name").to_owned(), value)).collect();
        for Replicas { name, count } in &self.replicas {
            let value = mapping([("name", Value::from(name.as_str())), ("count", Value::Int(*count))]);
            all.insert(name.clone(), value);
        }
        all.into_values().collect()
    }

    /// Adds to the first entry of `labels` that has the same flags, or a new one.
    fn edit_labels(&self, mut there: Vec<Value>) -> Result<Vec<Value>, Misfit> {
        let flag = |value: &Value, key: &str| field(value, key).and_then(Value::as_bool).unwrap_or_default();
        let same = |value: &Value| {
            !flag(value, "includeSelectors") && flag(value, "includeTemplates") == self.labels_include_templates
        };
        let index = there.iter().position(same).unwrap_or(there.len());
        if index == there.len() {
            there.push(match self.labels_include_templates {
                true => mapping([("includeTemplates", Value::Bool(true))]),
                false => mapping([]),
            });
        }
        if let Some(Value::Mapping(label)) = there.get_mut(index) {
            let mut pairs = take_mapping(label, "pairs")?;
            add_pairs(&mut pairs, &self.labels, self.force_labels, "label")?;
            label.insert("pairs".to_owned(), pairs.into());
        }
        Ok(there)
    }
}

const IMAGE_HINT: &str =
    "write `name:tag`, `name@digest`, `name=new-name`, `name=new-name:tag` or `name=new-name@digest`";

fn given(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

/// The kustomization of a directory.
pub(super) fn file(view: &View<'_>, dir: &RepoPath) -> Result<RepoPath, Failure> {
    for name in FILE_NAMES {
        let Ok(path) = dir.child(name) else { continue };
        let kind = view.kind(&path).map_err(|error| Failure::unreadable(error, Span::file(path.clone())))?;
        if kind == Some(Kind::File) {
            return Ok(path);
        }
    }
    let text = format!("`{dir}` has no kustomization: none of {}", FILE_NAMES.join(", "));
    Err(Failure::mistake(Diagnostic::error(text)))
}

/// The components that are added, each as a path from the kustomization.
fn components(view: &View<'_>, dir: &RepoPath, kustomize: &Kustomize, at: Place<'_>) -> Result<Vec<String>, Failure> {
    let mut components = Vec::new();
    for (index, text) in kustomize.components.iter().enumerate() {
        let span = at(&["kustomize", "components", &index.to_string()]);
        let Ok(path) = dir.resolve(text) else {
            if kustomize.ignore_missing_components {
                continue;
            }
            let text = format!("component `{text}` leads out of the repository");
            return Err(Failure::mistake(Diagnostic::error(text).at(span)));
        };
        let there = match is_pattern(text) {
            true => {
                expand(view, &path, Kind::Directory, span.clone())?.iter().map(|path| path.relative_to(dir)).collect()
            }
            false => match view.kind(&path).map_err(|error| Failure::unreadable(error, span.clone()))? {
                Some(_) => vec![text.clone()],
                None => Vec::new(),
            },
        };
        if there.is_empty() && !kustomize.ignore_missing_components {
            let mistake = Diagnostic::error(format!("component `{text}` does not exist: nothing at `{path}`")).at(span);
            let hint = "remote components are not fetched; `ignoreMissingComponents: true` leaves missing ones out";
            return Err(Failure::mistake(mistake.hint(hint)));
        }
        components.extend(there);
    }
    Ok(components)
}

/// One `[old=]name[:tag][@digest]`. A part that is `*` stays as it is in the file.
struct Image {
    name: String,
    new_name: String,
    new_tag: String,
    digest: String,
}

impl Image {
    /// Reference: kustomize 5.8.1 kustomize/commands/edit/set/setimage.go `parse`, api/internal/image `Split`.
    fn parse(text: &str) -> Option<Self> {
        let (old, rest) = text.split_once('=').map_or((None, text), |(old, rest)| (Some(old), rest));
        // A port before the first `/` is no tag.
        let from = rest.find('/').unwrap_or_default();
        let search = rest.get(from..)?;
        let (digest_at, tag_at) = (search.find('@'), search.find(':'));
        let (name, tag, digest) = match (tag_at, digest_at) {
            (Some(tag_at), Some(digest_at)) if tag_at < digest_at => {
                (rest.get(..from + tag_at)?, search.get(tag_at + 1..digest_at)?, search.get(digest_at + 1..)?)
            }
            (_, Some(digest_at)) => (rest.get(..from + digest_at)?, "", search.get(digest_at + 1..)?),
            (Some(tag_at), None) => (rest.get(..from + tag_at)?, search.get(tag_at + 1..)?, ""),
            (None, None) => (rest, "", ""),
        };
        if name == text {
            return None;
        }
        let (name, new_name) = old.map_or((name, ""), |old| (old, name));
        let [name, new_name, new_tag, digest] = [name, new_name, tag, digest].map(str::to_owned);
        Some(Self { name, new_name, new_tag, digest })
    }

    fn keep_from(&mut self, there: &Value) {
        let parts = [(&mut self.new_name, "newName"), (&mut self.new_tag, "newTag"), (&mut self.digest, "digest")];
        for (part, key) in parts.into_iter().filter(|(part, _)| *part == "*") {
            *part = text(there, key).to_owned();
        }
    }

    fn into_value(self) -> Value {
        let parts = [("newName", self.new_name), ("newTag", self.new_tag), ("digest", self.digest)];
        let parts = parts.into_iter().filter(|(_, part)| !part.is_empty() && part != "*");
        let mut value: Mapping = parts.map(|(key, part)| (key.to_owned(), part.into())).collect();
        value.insert("name".to_owned(), self.name.into());
        value.into()
    }
}

fn patch_value(patch: &Patch) -> Value {
    let mut value = Mapping::new();
    for (key, text) in [("path", &patch.path), ("patch", &patch.patch)] {
        value.extend(text.clone().map(|text| (key.to_owned(), text.into())));
    }
    if let Some(target) = &patch.target {
        let fields = [
            ("group", &target.group),
            ("version", &target.version),
            ("kind", &target.kind),
            ("name", &target.name),
            ("namespace", &target.namespace),
            ("annotationSelector", &target.annotation_selector),
            ("labelSelector", &target.label_selector),
        ];
        let fields = fields.into_iter().filter_map(|(key, text)| Some((key.to_owned(), text.clone()?.into())));
        value.insert("target".to_owned(), Value::Mapping(fields.collect()));
    }
    if !patch.options.is_empty() {
        let options = patch.options.iter().map(|(key, on)| (key.clone(), Value::Bool(*on)));
        value.insert("options".to_owned(), Value::Mapping(options.collect()));
    }
    value.into()
}

/// Adds labels or annotations. Quotes around a value are dropped, as on the command line of `kustomize edit`.
fn add_pairs(there: &mut Mapping, pairs: &BTreeMap<String, String>, force: bool, what: &str) -> Result<(), Misfit> {
    for (key, value) in pairs {
        if there.contains_key(key) && !force {
            let title = if what == "label" { "Labels" } else { "Annotations" };
            let mistake = Diagnostic::error(format!("{what} `{key}` is already in the kustomization"));
            let mistake = mistake.hint(format!("`forceCommon{title}: true` in the drySource replaces it"));
            return Err(Misfit::new(mistake, key));
        }
        let inner = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        there.insert(key.clone(), inner.unwrap_or(value).into());
    }
    Ok(())
}

/// The name of a field in the file: Go reads keys without regard to case.
fn name_in(file: &Mapping, field: &str) -> Option<String> {
    if file.contains_key(field) {
        return Some(field.to_owned());
    }
    file.keys().find(|key| is_field(field, key)).cloned()
}

pub(super) fn field<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    let mapping = value.as_mapping()?;
    mapping.get(&name_in(mapping, key)?)
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    field(value, key).and_then(Value::as_str).unwrap_or_default()
}

fn take(file: &mut Mapping, field: &str) -> Option<Value> {
    name_in(file, field).and_then(|name| file.remove(&name)).filter(|value| !value.is_null())
}

fn take_list(file: &mut Mapping, field: &str) -> Result<Vec<Value>, Misfit> {
    match take(file, field) {
        None => Ok(Vec::new()),
        Some(Value::Sequence(items)) => Ok(items),
        Some(_) => Err(Misfit::new(Diagnostic::error(format!("`{field}` of a kustomization must be a list")), field)),
    }
}

fn take_mapping(file: &mut Mapping, field: &str) -> Result<Mapping, Misfit> {
    match take(file, field) {
        None => Ok(Mapping::new()),
        Some(Value::Mapping(entries)) => Ok(entries),
        Some(_) => {
            Err(Misfit::new(Diagnostic::error(format!("`{field}` of a kustomization must be a mapping")), field))
        }
    }
}

fn mapping<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Mapping(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
