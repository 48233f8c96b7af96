//! What Argo CD changes in a kustomization before it builds it.
//!
//! Argo CD runs `kustomize edit …` for the options of an Application and appends their patches to the file itself.
//! [`Edits`] has the same effect on the kustomization that was read; no file is written. As with the command, the first
//! edit brings deprecated fields into their new form, so their warnings go away.
//!
//! Reference: kustomize 5.8.1 commands/edit; Argo CD util/kustomize/kustomize.go.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::error::{Error, Result};
use super::kustomization::{self, Image, Kustomization, Label, Replica};
use super::loader::Loader;
use super::remote;
use super::session::Session;
use super::transform::split_image;

/// The target of a [`Patch`]: empty parts match everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchTarget {
    /// A regular expression for the group.
    pub group: String,
    /// The same for the version.
    pub version: String,
    /// The same for the kind.
    pub kind: String,
    /// The same for the name.
    pub name: String,
    /// The same for the namespace.
    pub namespace: String,
    /// A selector of annotations.
    pub annotation_selector: String,
    /// A selector of labels.
    pub label_selector: String,
}

/// One entry that is added to `patches`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// The file of the patch, empty for none.
    pub path: String,
    /// The text of the patch, empty for none.
    pub patch: String,
    /// Which resources it changes.
    pub target: Option<PatchTarget>,
    /// `allowNameChange`
    pub allow_name_change: bool,
    /// `allowKindChange`
    pub allow_kind_change: bool,
}

/// The options of an Application, in the words of `kustomize edit`. Empty parts change nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Edits {
    /// `set nameprefix`
    pub name_prefix: String,
    /// `set namesuffix`
    pub name_suffix: String,
    /// `set image`: `name=new:tag@digest`, `name:tag`, …
    pub images: Vec<String>,
    /// `set replicas`: names and counts.
    pub replicas: Vec<(String, i64)>,
    /// `add label`
    pub labels: BTreeMap<String, String>,
    /// `--force` of labels: overwrite those that are there.
    pub force_labels: bool,
    /// `--without-selector`
    pub labels_without_selector: bool,
    /// `--include-templates`
    pub labels_include_templates: bool,
    /// `add annotation`
    pub annotations: BTreeMap<String, String>,
    /// `--force` of annotations.
    pub force_annotations: bool,
    /// `set namespace`
    pub namespace: String,
    /// Appended to `patches`.
    pub patches: Vec<Patch>,
    /// `add component`
    pub components: Vec<String>,
    /// Leave out components that are not there.
    pub ignore_missing_components: bool,
}

/// What stands for the value that is there already.
const KEEP: &str = "*";

const BAD_IMAGE: &str = "invalid format of image, use one of the following options:
- <image>=<newimage>:<newtag>
- <image>=<newimage>@<digest>
- <image>=<newimage>:<newtag>@<digest>
- <image>=<newimage>
- <image>:<newtag>
- <image>:<newtag>@<digest>
- <image>@<digest>";

impl Edits {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        !self.runs_edit() && self.patches.is_empty()
    }

    /// Whether `kustomize edit` runs at all: Argo CD writes patches into the file by itself.
    fn runs_edit(&self) -> bool {
        !(self.name_prefix.is_empty()
            && self.name_suffix.is_empty()
            && self.images.is_empty()
            && self.replicas.is_empty()
            && self.labels.is_empty()
            && self.annotations.is_empty()
            && self.namespace.is_empty()
            && self.components.is_empty())
    }

    /// The kustomization of a file after the edits.
    pub(crate) fn apply(
        &self,
        session: &mut Session<'_>,
        loader: &Rc<Loader>,
        content: &[u8],
    ) -> Result<Kustomization> {
        let mut edited = Kustomization::read(content)?;
        if self.runs_edit() {
            edited.fix();
            self.edit(session, loader, &mut edited)?;
            edited.drop_empty();
        }
        if !self.patches.is_empty() {
            edited.patches.get_or_insert_default().extend(self.patches.iter().map(Patch::written));
        }
        edited.check(loader.root(), &mut session.warnings)
    }

    fn edit(&self, session: &Session<'_>, loader: &Rc<Loader>, target: &mut Kustomization) -> Result<()> {
        for (value, field) in [
            (&self.name_prefix, &mut target.name_prefix),
            (&self.name_suffix, &mut target.name_suffix),
            (&self.namespace, &mut target.namespace),
        ] {
            if !value.is_empty() {
                field.clone_from(value);
            }
        }
        if !self.images.is_empty() {
            self.set_images(target)?;
        }
        if !self.replicas.is_empty() {
            self.set_replicas(target);
        }
        if !self.labels.is_empty() {
            self.add_labels(target)?;
        }
        let annotations = pairs(&self.annotations, "annotation")?;
        for (key, value) in annotations {
            let map = target.common_annotations.get_or_insert_default();
            add_entry(map, key, value, "annotation", self.force_annotations)?;
        }
        self.add_components(session, loader, target)
    }

    /// By name: an image of the same name is replaced, `*` keeps a part of it. Sorted by name.
    fn set_images(&self, target: &mut Kustomization) -> Result<()> {
        let mut images: BTreeMap<String, Image> = BTreeMap::new();
        for text in &self.images {
            let image = image(text)?;
            images.insert(image.name.clone(), image);
        }
        for old in target.images.take().unwrap_or_default() {
            match images.get_mut(&old.name) {
                Some(image) => {
                    for (new, old) in [
                        (&mut image.new_name, &old.new_name),
                        (&mut image.new_tag, &old.new_tag),
                        (&mut image.digest, &old.digest),
                    ] {
                        if new == KEEP {
                            new.clone_from(old);
                        }
                    }
                }
                None => {
                    images.insert(old.name.clone(), old);
                }
            }
        }
        for image in images.values_mut() {
            for part in [&mut image.new_name, &mut image.new_tag, &mut image.digest] {
                if part == KEEP {
                    part.clear();
                }
            }
        }
        target.images = Some(images.into_values().collect());
        Ok(())
    }

    fn set_replicas(&self, target: &mut Kustomization) {
        let old = target.replicas.take().unwrap_or_default();
        let mut replicas: BTreeMap<String, i64> = old.into_iter().rev().map(|old| (old.name, old.count)).collect();
        replicas.extend(self.replicas.iter().cloned());
        target.replicas = Some(replicas.into_iter().map(|(name, count)| Replica { name, count }).collect());
    }

    fn add_labels(&self, target: &mut Kustomization) -> Result<()> {
        if !self.labels_without_selector && self.labels_include_templates {
            return Err(Error::new("--without-selector flag must be specified for --include-templates to work"));
        }
        let labels = pairs(&self.labels, "label")?;
        if !self.labels_without_selector {
            let map = target.common_labels.get_or_insert_default();
            return labels
                .into_iter()
                .try_for_each(|(key, value)| add_entry(map, key, value, "label", self.force_labels));
        }
        let list = target.labels.get_or_insert_default();
        for (key, value) in labels {
            let same =
                |label: &Label| !label.include_selectors && label.include_templates == self.labels_include_templates;
            let index = list.iter().position(same).unwrap_or_else(|| {
                list.push(Label { include_templates: self.labels_include_templates, ..Label::default() });
                list.len() - 1
            });
            if let Some(label) = list.get_mut(index) {
                add_entry(label.pairs.get_or_insert_default(), key, value, "label", self.force_labels)?;
            }
        }
        Ok(())
    }

    fn add_components(&self, session: &Session<'_>, loader: &Rc<Loader>, target: &mut Kustomization) -> Result<()> {
        for component in &self.components {
            let path = loader.root().resolve(component).ok();
            let exists = match path {
                Some(path) => session.view.kind(&path)?.is_some(),
                None => false,
            };
            if !exists && self.ignore_missing_components {
                continue;
            }
            if !exists && component.contains(['*', '?', '[']) {
                return Err(Error::unsupported(
                    format!("the pattern '{component}' for components"),
                    "name each component",
                ));
            }
            if !exists && !remote::is_repository(component) {
                loader
                    .enter(session.view, component)
                    .map_err(|error| error.prefix(format!("{component} has no match")))?;
            }
            let list = target.components.get_or_insert_default();
            if !list.contains(component) {
                list.push(component.clone());
            }
        }
        Ok(())
    }
}

/// Keys and values as the command reads them from `key:value`.
fn pairs(map: &BTreeMap<String, String>, kind: &str) -> Result<BTreeMap<String, String>> {
    let mut pairs = BTreeMap::new();
    for (key, value) in map {
        let argument = format!("{key}:{value}");
        let (key, value) = argument.split_once(':').unwrap_or((&argument, ""));
        if key.is_empty() {
            return Err(Error::new(format!("invalid {kind}: '{argument}' (need k:v pair where v may be quoted)")));
        }
        let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        pairs.insert(key.to_owned(), unquoted.to_owned());
    }
    Ok(pairs)
}

fn add_entry(map: &mut BTreeMap<String, String>, key: String, value: String, kind: &str, force: bool) -> Result<()> {
    if map.contains_key(&key) && !force {
        return Err(Error::new(format!("{kind} {key} already in kustomization file. Use --force to override.")));
    }
    map.insert(key, value);
    Ok(())
}

/// `[name=]image[:tag][@digest]`
fn image(text: &str) -> Result<Image> {
    let (key, value) = text.split_once('=').unwrap_or(("", text));
    let (name, tag, digest) = split_image(value);
    if name == text {
        return Err(Error::new(BAD_IMAGE));
    }
    let (own, new) = if key.is_empty() { (name, "") } else { (key, name) };
    Ok(Image {
        name: own.to_owned(),
        new_name: new.to_owned(),
        new_tag: tag.to_owned(),
        digest: digest.to_owned(),
        ..Image::default()
    })
}

impl Patch {
    fn written(&self) -> kustomization::Patch {
        let options = kustomization::PatchArgs {
            allow_name_change: self.allow_name_change,
            allow_kind_change: self.allow_kind_change,
        };
        let target = self.target.as_ref().map(|target| {
            Box::new(kustomization::Selector {
                group: target.group.clone(),
                version: target.version.clone(),
                kind: target.kind.clone(),
                name: target.name.clone(),
                namespace: target.namespace.clone(),
                annotation_selector: target.annotation_selector.clone(),
                label_selector: target.label_selector.clone(),
            })
        });
        kustomization::Patch {
            path: self.path.clone(),
            patch: self.patch.clone(),
            target,
            options: Some(Box::new(options)),
        }
    }
}
