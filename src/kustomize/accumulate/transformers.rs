use super::{Accumulator, Target};
use crate::kustomize::config::{self, Config};
use crate::kustomize::error::{Error, Result};
use crate::kustomize::field_spec::{self, FieldSpec};
use crate::kustomize::id::OwnedGvk;
use crate::kustomize::kustomization::{Label, Patch};
use crate::kustomize::origin::{self, Origin};
use crate::kustomize::resource;
use crate::kustomize::resources::Resources;
use crate::kustomize::session::Session;
use crate::kustomize::text;
use crate::kustomize::transform::{
    Affix, Annotations, Images, JsonPatches, Labels, NameAffix, Namespace, Patches, Replacements, Replicas,
    RoleBindingSubjects, StrategicMergePatches, Transformer,
};
use crate::kustomize::tree::{Node, NodeId, Tree};
use crate::yaml::{self, Mapping, Value};

/// A transformer with the origin of what it changes.
type Configured = (Transformer, Option<Origin>);

/// The label that a validator may leave.
const VALIDATED_BY: &str = "validated-by";

/// The field spec of the labels in metadata.
pub(crate) fn metadata_labels() -> FieldSpec {
    FieldSpec::new(OwnedGvk::default(), "metadata/labels", true)
}

impl Target {
    pub(super) fn run_transformers(&mut self, session: &mut Session<'_>, gathered: &mut Accumulator) -> Result<()> {
        let config = gathered.config();
        let mut transformers = self.builtin_transformers(session, &config)?;
        let entries = self.kustomization.transformers.clone().unwrap_or_default();
        transformers.extend(self.external_transformers(session, &entries)?);
        for (transformer, origin) in &transformers {
            transformer.run(session, &mut gathered.resources)?;
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
            let kind = "PatchStrategicMergeTransformer";
            let patches = StrategicMergePatches::configure(session, &self.loader, paths, "")
                .map_err(|error| in_config(error, kind, &paths_text(paths)))?;
            all.push(kind, Transformer::StrategicMergePatches(patches));
        }
        for patch in own.patches.iter().flatten() {
            let kind = "PatchTransformer";
            let patches = Patches::configure(session, &self.loader, patch, || patch_text(patch))
                .map_err(|error| in_config(error, kind, &patch_text(patch)))?;
            all.push(kind, Transformer::Patches(patches));
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
            );
        }
        for (kind, side, text, specs) in [
            ("PrefixTransformer", Affix::Prefix, &own.name_prefix, &config.name_prefix),
            ("SuffixTransformer", Affix::Suffix, &own.name_suffix, &config.name_suffix),
        ] {
            if !text.is_empty() {
                all.push(kind, Transformer::NameAffix(NameAffix { side, text: text.clone(), specs: specs.clone() }));
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
            );
        }
        for patch in own.patches_json_6902.iter().flatten() {
            let kind = "PatchJson6902Transformer";
            let patches = JsonPatches::configure(session, &self.loader, patch)
                .map_err(|error| in_config(error, kind, &patch_text(patch)))?;
            all.push(kind, Transformer::JsonPatches(patches));
        }
        for replica in own.replicas.iter().flatten() {
            all.push(
                "ReplicaCountTransformer",
                Transformer::Replicas(Replicas {
                    name: replica.name.clone(),
                    count: replica.count,
                    specs: config.replicas.clone(),
                }),
            );
        }
        for image in own.images.iter().flatten() {
            let images = Images::new(image.clone(), config.images.clone())?;
            all.push("ImageTagTransformer", Transformer::Images(images));
        }
        if let Some(list) = own.replacements.as_ref().filter(|list| !list.is_empty()) {
            let kind = "ReplacementTransformer";
            let replacements = Replacements::configure(session, &self.loader, list)
                .map_err(|error| in_config(error, kind, "replacements"))?;
            all.push(kind, Transformer::Replacements(replacements));
        }
        Ok(all.transformers)
    }

    fn external_transformers(&mut self, session: &mut Session<'_>, entries: &[String]) -> Result<Vec<Configured>> {
        let plugins = self.plugin_objects(session, entries, "configuring external transformer")?;
        let mut all = Vec::new();
        for root in plugins {
            let origin = Origin::of_plugin(&session.tree, root);
            let configured = self.configure_transformer(session, root)?;
            let last = configured.len().saturating_sub(1);
            for (index, transformer) in configured.into_iter().enumerate() {
                all.push((transformer, origin.clone().filter(|_| index == last)));
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
        let validators = self.external_transformers(session, &entries)?;
        for (validator, _) in validators {
            let roots = gathered.resources.roots();
            let before = roots.iter().map(|root| session.tree.copy(*root)).collect::<Result<Vec<_>>>()?;
            let mut seen = Resources::default();
            for resource in gathered.resources.iter() {
                seen.append(&session.tree, &session.schema, resource.clone())?;
            }
            validator.run(session, &mut seen)?;
            gathered.resources.changed();
            for (before, after) in before.into_iter().zip(roots) {
                let after = without_validated_by(&mut session.tree, after)?;
                if !same(&session.tree, before, after) {
                    let id = resource::current_id(&session.tree, &session.schema, before).to_string();
                    return Err(Error::new(format!(
                        "validator shouldn't modify the resource map: nodes unequal: {id}"
                    )));
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
    fn push(&mut self, kind: &str, transformer: Transformer) {
        let origin = self.target.origin.as_ref().map(|origin| origin.builtin(self.target.file_name, kind));
        self.transformers.push((transformer, origin));
    }

    /// One transformer for each entry of `labels`, then one for `commonLabels`, even when there are none.
    fn labels(&mut self, config: &Config) -> Result<()> {
        let own = &self.target.kustomization;
        let labels: &[Label] = own.labels.as_deref().unwrap_or_default();
        let common = own.common_labels.clone().unwrap_or_default();
        if labels.is_empty() && common.is_empty() {
            return Ok(());
        }
        for label in labels {
            let specs = label_specs(label, config).map_err(|error| error.prefix("failed to merge labels"))?;
            let labels = label.pairs.clone().unwrap_or_default();
            self.push("LabelTransformer", Transformer::Labels(Labels { labels, specs }));
        }
        let specs = config.common_labels.clone();
        self.push("LabelTransformer", Transformer::Labels(Labels { labels: common, specs }));
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
