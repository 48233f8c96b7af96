//! `transformers` and `validators`: those that are built in, configured by documents.

use go_yaml::{self as yaml, Mapping, Value};

use super::{Accumulator, Target};
use crate::config::{self, Config};
use crate::error::{Error, Result};
use crate::field_spec::{self, FieldSpec};
use crate::id::OwnedGvk;
use crate::kustomization::{Label, Patch};
use crate::origin::{self, Origin};
use crate::resource;
use crate::resources::Resources;
use crate::session::Session;
use crate::text;
use crate::transform::{
    Affix, Annotations, Images, JsonPatches, Labels, NameAffix, Namespace, Patches, Replacements, Replicas,
    RoleBindingSubjects, StrategicMergePatches, Transformer,
};
use crate::tree::{Node, NodeId, Tree};

/// A transformer with the place that configures it.
pub(super) struct Configured {
    transformer: Transformer,
    /// The origin of what it changes.
    origin: Option<Origin>,
    /// Where it is in the kustomization: a field and, when that is a list, the number of the entry.
    field: &'static str,
    index: Option<usize>,
}

/// The error of what is at a place of the kustomization.
fn at(error: Error, field: &'static str, index: Option<usize>) -> Error {
    match index {
        Some(index) => error.inside(index).inside(field),
        None => error.inside(field),
    }
}

/// The label that a validator may leave.
const VALIDATED_BY: &str = "validated-by";

/// The field spec of the labels in metadata.
pub(crate) fn metadata_labels() -> FieldSpec {
    FieldSpec::new(OwnedGvk::default(), "metadata/labels", true)
}

impl Target {
    pub(super) fn run_transformers(&mut self, session: &mut Session<'_>, gathered: &mut Accumulator) -> Result<()> {
        let config = gathered.config(session);
        let mut transformers = self.builtin_transformers(session, &config)?;
        let entries = self.kustomization.transformers.clone().unwrap_or_default();
        transformers.extend(self.external_transformers(session, "transformers", &entries)?);
        session.images = None;
        for Configured { transformer, origin, field, index } in &transformers {
            transformer.run(session, &mut gathered.resources).map_err(|error| at(error, field, *index))?;
            let missed = std::mem::take(&mut session.missed).into_iter();
            if self.loader.depth() == 0 {
                session.unmatched.extend(missed.map(|error| self.locate(at(error, field, *index))));
            }
            if let Some(origin) = origin {
                for root in gathered.resources.roots() {
                    if !session.tree.node(root).is_nil_or_empty() {
                        origin::add_transformation(&mut session.tree, root, origin)?;
                    }
                }
            }
            gathered.resources.drop_empty(&session.tree);
        }
        Ok(())
    }

    /// Those of the kustomization's own fields, in the fixed order in which they run.
    fn builtin_transformers(&self, session: &mut Session<'_>, config: &Config) -> Result<Vec<Configured>> {
        let own = &self.kustomization;
        let mut all = Builtin { target: self, transformers: Vec::new() };

        if let Some(paths) = own.patches_strategic_merge.as_ref().filter(|paths| !paths.is_empty()) {
            let (kind, field) = ("PatchStrategicMergeTransformer", "patchesStrategicMerge");
            let patches = StrategicMergePatches::configure(session, &self.loader, paths, "")
                .map_err(|error| at(in_config(error, kind, &paths_text(paths)), field, None))?;
            all.push(kind, Transformer::StrategicMergePatches(patches), field, None);
        }
        for (index, patch) in own.patches.iter().flatten().enumerate() {
            let (kind, field, index) = ("PatchTransformer", "patches", Some(index));
            let patches = Patches::configure(session, &self.loader, patch, || patch_text(patch))
                .map_err(|error| at(in_config(error, kind, &patch_text(patch)), field, index))?;
            all.push(kind, Transformer::Patches(patches), field, index);
        }
        if !own.namespace.is_empty() {
            all.push(
                "NamespaceTransformer",
                Transformer::Namespace(Namespace {
                    namespace: own.namespace.clone(),
                    specs: config.namespace.clone(),
                    unset_only: false,
                    subjects: RoleBindingSubjects::DefaultOnly,
                }),
                "namespace",
                None,
            );
        }
        for (kind, field, side, text, specs) in [
            ("PrefixTransformer", "namePrefix", Affix::Prefix, &own.name_prefix, &config.name_prefix),
            ("SuffixTransformer", "nameSuffix", Affix::Suffix, &own.name_suffix, &config.name_suffix),
        ] {
            if !text.is_empty() {
                let affix = NameAffix { side, text: text.clone(), specs: specs.clone() };
                all.push(kind, Transformer::NameAffix(affix), field, None);
            }
        }
        all.labels(config)?;
        if let Some(annotations) = own.common_annotations.as_ref().filter(|map| !map.is_empty()) {
            all.push(
                "AnnotationsTransformer",
                Transformer::Annotations(Annotations {
                    annotations: annotations.clone(),
                    specs: config.common_annotations.clone(),
                }),
                "commonAnnotations",
                None,
            );
        }
        for (index, patch) in own.patches_json_6902.iter().flatten().enumerate() {
            let (kind, field, index) = ("PatchJson6902Transformer", "patchesJson6902", Some(index));
            let patches = JsonPatches::configure(session, &self.loader, patch)
                .map_err(|error| at(in_config(error, kind, &patch_text(patch)), field, index))?;
            all.push(kind, Transformer::JsonPatches(patches), field, index);
        }
        for (index, replica) in own.replicas.iter().flatten().enumerate() {
            all.push(
                "ReplicaCountTransformer",
                Transformer::Replicas(Replicas {
                    name: replica.name.clone(),
                    count: replica.count,
                    specs: config.replicas.clone(),
                }),
                "replicas",
                Some(index),
            );
        }
        for (index, image) in own.images.iter().flatten().enumerate() {
            let (field, index) = ("images", Some(index));
            let images = Images::new(image.clone(), config.images.clone()).map_err(|error| at(error, field, index))?;
            all.push("ImageTagTransformer", Transformer::Images(images), field, index);
        }
        if let Some(list) = own.replacements.as_ref().filter(|list| !list.is_empty()) {
            let (kind, field) = ("ReplacementTransformer", "replacements");
            let replacements = Replacements::configure(session, &self.loader, list)
                .map_err(|error| at(in_config(error, kind, "replacements"), field, None))?;
            all.push(kind, Transformer::Replacements(replacements), field, None);
        }
        Ok(all.transformers)
    }

    fn external_transformers(
        &mut self,
        session: &mut Session<'_>,
        field: &'static str,
        entries: &[String],
    ) -> Result<Vec<Configured>> {
        let plugins = self
            .plugin_objects(session, entries, "configuring external transformer")
            .map_err(|error| error.inside(field))?;
        let mut all = Vec::new();
        for (root, index) in plugins {
            let index = Some(index);
            let origin = Origin::of_plugin(&session.tree, root);
            let configured = self.configure_transformer(session, root).map_err(|error| at(error, field, index))?;
            let last = configured.len().saturating_sub(1);
            for (number, transformer) in configured.into_iter().enumerate() {
                let origin = origin.clone().filter(|_| number == last);
                all.push(Configured { transformer, origin, field, index });
            }
        }
        Ok(all)
    }

    /// Runs the validators: transformers that must change nothing.
    pub(super) fn run_validators(&mut self, session: &mut Session<'_>, gathered: &mut Accumulator) -> Result<()> {
        let entries = self.kustomization.validators.clone().unwrap_or_default();
        if entries.is_empty() {
            return Ok(());
        }
        let validators = self.external_transformers(session, "validators", &entries)?;
        for Configured { transformer: validator, field, index, .. } in validators {
            let roots = gathered.resources.roots();
            let before = roots.iter().map(|root| session.tree.copy(*root)).collect::<Result<Vec<_>>>()?;
            let mut seen = Resources::default();
            for resource in gathered.resources.iter() {
                seen.append(&session.tree, &session.schema, resource.clone())?;
            }
            session.images = None;
            validator.run(session, &mut seen).map_err(|error| at(error, field, index))?;
            gathered.resources.changed();
            for (before, after) in before.into_iter().zip(roots) {
                let after = without_validated_by(&mut session.tree, after)?;
                if !same(&session.tree, before, after) {
                    let id = resource::current_id(&session.tree, &session.schema, before).to_string();
                    let text = format!("validator shouldn't modify the resource map: nodes unequal: {id}");
                    return Err(at(Error::new(text), field, index));
                }
            }
        }
        Ok(())
    }
}

fn without_validated_by(tree: &mut Tree, root: NodeId) -> Result<NodeId> {
    let mut labels = resource::labels(tree, root);
    if labels.remove(VALIDATED_BY).is_none() {
        return Ok(root);
    }
    let copy = tree.copy(root)?;
    resource::set_labels(tree, copy, &labels)?;
    Ok(copy)
}

/// Whether two nodes are the same in all but their place.
fn same(tree: &Tree, one: NodeId, other: NodeId) -> bool {
    let (a, b): (&Node, &Node) = (tree.node(one), tree.node(other));
    a.kind == b.kind
        && a.tag == b.tag
        && a.style == b.style
        && a.value == b.value
        && a.content.len() == b.content.len()
        && a.content.iter().zip(&b.content).all(|(a, b)| same(tree, *a, *b))
}

/// Collects the transformers of one kustomization.
struct Builtin<'t> {
    target: &'t Target,
    transformers: Vec<Configured>,
}

impl Builtin<'_> {
    fn push(&mut self, kind: &str, transformer: Transformer, field: &'static str, index: Option<usize>) {
        let origin = self.target.origin.as_ref().map(|origin| origin.builtin(self.target.file_name, kind));
        self.transformers.push(Configured { transformer, origin, field, index });
    }

    /// One transformer for each entry of `labels`, then one for `commonLabels`, even when there are none.
    fn labels(&mut self, config: &Config) -> Result<()> {
        let own = &self.target.kustomization;
        let labels: &[Label] = own.labels.as_deref().unwrap_or_default();
        let common = own.common_labels.clone().unwrap_or_default();
        if labels.is_empty() && common.is_empty() {
            return Ok(());
        }
        for (index, label) in labels.iter().enumerate() {
            let (field, index) = ("labels", Some(index));
            let specs =
                label_specs(label, config).map_err(|error| at(error.prefix("failed to merge labels"), field, index))?;
            let labels = label.pairs.clone().unwrap_or_default();
            self.push("LabelTransformer", Transformer::Labels(Labels { labels, specs }), field, index);
        }
        let specs = config.common_labels.clone();
        self.push("LabelTransformer", Transformer::Labels(Labels { labels: common, specs }), "commonLabels", None);
        Ok(())
    }
}

/// Where the labels of one entry go.
fn label_specs(label: &Label, config: &Config) -> Result<Vec<FieldSpec>> {
    let mut specs = config::specs(label.fields.clone());
    field_spec::merge_all(&mut specs, &config.labels)?;
    if label.include_selectors {
        field_spec::merge_all(&mut specs, &config.common_labels)?;
        return Ok(specs);
    }
    if label.include_templates {
        field_spec::merge_all(&mut specs, &config.template_labels)
            .map_err(|error| error.prefix("failed to merge template fieldSpec"))?;
    }
    field_spec::merge_one(&mut specs, &metadata_labels())?;
    Ok(specs)
}

fn in_config(error: Error, kind: &str, written: &str) -> Error {
    if error.is_final() {
        return error;
    }
    error.prefix(format!("trouble configuring builtin {kind} with config: `\n{written}`"))
}

fn paths_text(paths: &[String]) -> String {
    let paths = paths.iter().map(|path| Value::from(path.as_str())).collect();
    yaml::emit_v2(&Value::Mapping(Mapping::from([("paths".to_owned(), Value::Sequence(paths))])))
}

/// The entry of a patch as Kustomize shows it in errors.
fn patch_text(patch: &Patch) -> String {
    let mut entry = Mapping::new();
    for (key, value) in [("path", &patch.path), ("patch", &patch.patch)] {
        if !value.is_empty() {
            entry.insert(key.to_owned(), value.as_str().into());
        }
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
        let fields = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let target = fields.map(|(key, value)| (key.to_owned(), value.as_str().into())).collect();
        entry.insert("target".to_owned(), Value::Mapping(target));
    }
    yaml::sigs::marshal(&Value::Mapping(entry)).unwrap_or_else(|fault| text::error(&fault).to_string())
}
