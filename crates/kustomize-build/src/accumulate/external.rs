//! Generators and transformers that documents configure, and what is refused because it would start a program.

use std::collections::BTreeMap;

use go_yaml::{self as yaml, Value};

use super::generators::Generator;
use super::{Accumulator, Target};
use crate::config::{self, WrittenSpec};
use crate::decode::{self, Decode, Mode, record};
use crate::error::{Error, Result};
use crate::generate::Generated;
use crate::generate::helm::Chart;
use crate::kustomization::{
    GeneratorArgs, HelmChart, HelmGlobals, Image, ObjectMeta, Patch, PatchOptions, Replacement, Replica, Selector,
};
use crate::origin;
use crate::place;
use crate::read::{self, Source};
use crate::resource;
use crate::resources::{Resource, Resources};
use crate::selector;
use crate::session::Session;
use crate::text;
use crate::transform::{
    Affix, Annotations, Images, JsonPatches, Labels, NameAffix, Namespace, Patches, Replacements, Replicas,
    RoleBindingSubjects, StrategicMergePatches, Transformer, ValueAdd, ValueAddTarget,
};
use crate::tree::{Node, NodeId, SetOptions};

/// The API group of the plugin that decrypts what SOPS encrypted.
const KSOPS_GROUP: &str = "viaduct.ai";

/// What to do instead of decrypting while rendering: what is rendered is in a branch in plain text.
pub const INSTEAD_OF_DECRYPTING: &str = "everyone who can read a hydrated branch could read its secrets, so they are not \
    decrypted: let the cluster fetch or decrypt them (External Secrets, Sealed Secrets, argocd-vault-plugin)";

/// What to do instead of a plugin that is a program.
const NO_PROGRAMS: &str = "use what is built into Kustomize, or have an admin set up a plugin that runs the program \
                           (`hydrate-plugin.NAME.command`) and name it in `drySource.plugin`";

type Map = Option<BTreeMap<String, String>>;
type Specs = Option<Vec<WrittenSpec>>;

record! {
    MapConfig: "TransformerPlugin" {
        labels: Map = "labels",
        annotations: Map = "annotations",
        specs: Specs = "fieldSpecs",
    }
}

record! {
    AffixConfig: "TransformerPlugin" {
        prefix: String = "prefix",
        suffix: String = "suffix",
        specs: Specs = "fieldSpecs",
    }
}

record! {
    NamespaceConfig: "NamespaceTransformerPlugin" {
        metadata: ObjectMeta = "metadata",
        specs: Specs = "fieldSpecs",
        unset_only: bool = "unsetOnly",
        subjects: String = "setRoleBindingSubjects",
    }
}

record! {
    PatchConfig: "PatchTransformerPlugin" {
        path: String = "path",
        patch: String = "patch",
        operations: String = "jsonOp",
        target: Option<Box<Selector>> = "target",
        options: Option<Box<PatchOptions>> = "options",
    }
}

record! {
    StrategicMergeConfig: "PatchStrategicMergeTransformerPlugin" {
        paths: Option<Vec<String>> = "paths",
        patches: String = "patches",
    }
}

record! {
    ImageConfig: "ImageTagTransformerPlugin" {
        image: Image = "imageTag",
        specs: Specs = "fieldSpecs",
    }
}

record! {
    ReplicaConfig: "ReplicaCountTransformerPlugin" {
        replica: Replica = "replica",
        specs: Specs = "fieldSpecs",
    }
}

record! {
    ReplacementConfig: "ReplacementTransformerPlugin" {
        replacements: Option<Vec<Replacement>> = "replacements",
    }
}

record! {
    ValueAddConfig: "ValueAddTransformerPlugin" {
        value: String = "value",
        targets: Option<Vec<ValueAddEntry>> = "targets",
        target_file: String = "targetFilePath",
    }
}

record! {
    ValueAddEntry: "Target" {
        selector: Option<Box<Selector>> = "selector",
        field_path: String = "fieldPath",
        position: i64 = "filePathPosition",
    }
}

record! {
    PolicyConfig: "IAMPolicyGeneratorArgs" {
        cloud: String = "cloud",
        service: PolicyService = "kubernetesService",
        account: PolicyAccount = "serviceAccount",
    }
}

record! {
    PolicyService: "KubernetesService" {
        name: String = "name",
        namespace: String = "namespace",
    }
}

record! {
    PolicyAccount: "ServiceAccount" {
        name: String = "name",
        project: String = "projectId",
    }
}

record! {
    MetadataConfig: "GeneratorPlugin" {
        metadata: ObjectMeta = "metadata",
    }
}

const GENERATORS: [&str; 4] =
    ["ConfigMapGenerator", "SecretGenerator", "HelmChartInflationGenerator", "IAMPolicyGenerator"];

impl Target {
    /// The objects that configure generators or transformers: each entry is the text of some, or a file or directory.
    ///
    /// Each with the number of its entry.
    pub(super) fn plugin_objects(
        &mut self,
        session: &mut Session<'_>,
        entries: &[String],
        context: &str,
    ) -> Result<Vec<(NodeId, usize)>> {
        let mut gathered = Accumulator::default();
        let mut numbers = Vec::new();
        let mut paths = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let roots = match read::resources(&mut session.tree, entry.as_bytes(), Source::INLINE) {
                Ok(roots) => roots,
                Err(error) if error.is_final() => return Err(error.inside(index)),
                Err(error) => {
                    paths.push((index, entry, error));
                    continue;
                }
            };
            self.add_inline(session, &mut gathered, roots).map_err(|error| error.prefix(context).inside(index))?;
            numbers.resize(gathered.resources.len(), index);
        }
        for (index, entry, not_inline) in paths {
            self.accumulate_resource(session, &mut gathered, entry)
                .map_err(|error| error.of_path_or_text(entry, &not_inline).inside(index))?;
            numbers.resize(gathered.resources.len(), index);
        }
        Ok(gathered.resources.roots().into_iter().zip(numbers).collect())
    }

    fn add_inline(&self, session: &mut Session<'_>, gathered: &mut Accumulator, roots: Vec<NodeId>) -> Result<()> {
        let mut inline = Resources::default();
        for root in roots {
            if let Some(origin) = &self.origin {
                origin::set(&mut session.tree, root, &origin.append(self.file_name))?;
            }
            inline.append(&session.tree, &session.schema, Resource::new(root))?;
        }
        gathered.resources.append_all(&session.tree, &session.schema, inline)
    }

    /// The kind of a built-in plugin; an error for any other.
    fn builtin_kind(&self, session: &Session<'_>, root: NodeId) -> Result<String> {
        let gvk = resource::gvk(&session.tree, root);
        let kind = resource::original_id(&session.tree, &session.schema, root).gvk.kind;
        if gvk.group.is_empty() && gvk.version == "builtin" {
            return Ok(gvk.kind.to_owned());
        }
        let hint = if gvk.group == KSOPS_GROUP { INSTEAD_OF_DECRYPTING } else { NO_PROGRAMS };
        if session.options.enable_alpha_plugins {
            return Err(Error::unsupported(
                format!("the plugin '{kind}' of '{}': rendering runs no programs or containers", gvk.api_version()),
                hint,
            ));
        }
        Err(Error::new(format!("external plugins disabled; unable to load external plugin '{kind}'")).hint(hint))
    }

    pub(super) fn configure_generator(&self, session: &mut Session<'_>, root: NodeId) -> Result<Generator> {
        let kind = self.builtin_kind(session, root)?;
        if !GENERATORS.contains(&kind.as_str()) {
            self.configure_transformer(session, root)?;
            let id = resource::original_id(&session.tree, &session.schema, root);
            return Err(Error::new(format!("plugin {id} not a generator")));
        }
        let value = config_value(session, root)?;
        self.generator(session, &kind, &value).map_err(|error| in_plugin(error, session, root))
    }

    fn generator(&self, session: &mut Session<'_>, kind: &str, value: &Value) -> Result<Generator> {
        match kind {
            "HelmChartInflationGenerator" => {
                let (globals, chart): (HelmGlobals, HelmChart) = (read_embedded(value)?, read_embedded(value)?);
                Ok(Generator::Chart(Chart::configure(session, &self.loader, &globals, chart)?))
            }
            "IAMPolicyGenerator" => policy(session, &read_config(value)?),
            _ => {
                let mut args: GeneratorArgs = read_embedded(value)?;
                let MetadataConfig { metadata } = read_config(value)?;
                if args.name.is_empty() {
                    args.name = metadata.name;
                }
                if args.namespace.is_empty() {
                    args.namespace = metadata.namespace;
                }
                let what = if kind == "SecretGenerator" { Generated::Secret } else { Generated::ConfigMap };
                Ok(Generator::Data(what, args))
            }
        }
    }

    /// Prefix and suffix together are two transformers, everything else is one.
    pub(super) fn configure_transformer(&self, session: &mut Session<'_>, root: NodeId) -> Result<Vec<Transformer>> {
        let kind = self.builtin_kind(session, root)?;
        if GENERATORS.contains(&kind.as_str()) {
            self.configure_generator(session, root)?;
            let id = resource::original_id(&session.tree, &session.schema, root);
            return Err(Error::new(format!("plugin {id} not a transformer")));
        }
        let value = config_value(session, root)?;
        self.transformers(session, &kind, &value).map_err(|error| in_plugin(error, session, root))
    }

    fn transformers(&self, session: &mut Session<'_>, kind: &str, value: &Value) -> Result<Vec<Transformer>> {
        let affix = |side, text, specs: &Specs| {
            let Some(specs) = specs else { return Err(Error::new("fieldSpecs is not expected to be nil")) };
            Ok(Transformer::NameAffix(NameAffix { side, text, specs: config::specs(Some(specs.clone())) }))
        };
        let transformer = match kind {
            "AnnotationsTransformer" => {
                let MapConfig { annotations, specs, .. } = read_config(value)?;
                let annotations = annotations.unwrap_or_default();
                Transformer::Annotations(Annotations { annotations, specs: config::specs(specs) })
            }
            "LabelTransformer" => {
                let MapConfig { labels, specs, .. } = read_config(value)?;
                Transformer::Labels(Labels { labels: labels.unwrap_or_default(), specs: config::specs(specs) })
            }
            "HashTransformer" => Transformer::Hash,
            "ImageTagTransformer" => {
                let ImageConfig { image, specs } = read_config(value)?;
                Transformer::Images(Images::new(image, config::specs(specs))?)
            }
            "NamespaceTransformer" => {
                let NamespaceConfig { metadata, specs, unset_only, subjects } =
                    read_config(value).map_err(|error| error.prefix("unmarshalling NamespaceTransformer config"))?;
                Transformer::Namespace(Namespace {
                    namespace: metadata.namespace,
                    specs: config::specs(specs),
                    unset_only,
                    subjects: RoleBindingSubjects::from_text(&subjects)?,
                })
            }
            "PatchJson6902Transformer" => {
                let PatchConfig { path, operations, target, .. } = read_config(value)?;
                let patch = Patch { path, patch: operations, target, options: None };
                Transformer::JsonPatches(JsonPatches::configure(session, &self.loader, &patch)?)
            }
            "PatchStrategicMergeTransformer" => {
                let StrategicMergeConfig { paths, patches } = read_config(value)?;
                let paths = paths.unwrap_or_default();
                let patches = StrategicMergePatches::configure(session, &self.loader, &paths, &patches)?;
                Transformer::StrategicMergePatches(patches)
            }
            "PatchTransformer" => {
                let PatchConfig { path, patch, target, options, .. } = read_config_for(session, value)?;
                let patch = Patch { path, patch, target, options };
                let written = || yaml::sigs::marshal(value).unwrap_or_default();
                Transformer::Patches(Patches::configure(session, &self.loader, &patch, written)?)
            }
            "PrefixTransformer" | "SuffixTransformer" | "PrefixSuffixTransformer" => {
                let AffixConfig { prefix, suffix, specs } = decode::decode_yaml(value).map_err(in_json)?;
                let mut transformers = Vec::new();
                if kind != "SuffixTransformer" {
                    transformers.push(affix(Affix::Prefix, prefix, &specs)?);
                }
                if kind != "PrefixTransformer" {
                    transformers.push(affix(Affix::Suffix, suffix, &specs)?);
                }
                return Ok(transformers);
            }
            "ReplacementTransformer" => {
                let ReplacementConfig { replacements } = read_config_for(session, value)?;
                let replacements = replacements.unwrap_or_default();
                Transformer::Replacements(Replacements::configure(session, &self.loader, &replacements)?)
            }
            "ReplicaCountTransformer" => {
                let ReplicaConfig { replica, specs } = read_config(value)?;
                let specs = config::specs(specs);
                Transformer::Replicas(Replicas { name: replica.name, count: replica.count, specs })
            }
            "ValueAddTransformer" => Transformer::ValueAdd(self.value_add(session, read_config(value)?)?),
            other => {
                return Err(Error::no_builtin(format!("unable to load builtin {other}.builtin.[noGrp]")));
            }
        };
        Ok(vec![transformer])
    }

    fn value_add(&self, session: &Session<'_>, config: ValueAddConfig) -> Result<ValueAdd> {
        let mut value = config.value.trim().to_owned();
        if value.is_empty() {
            value = self.loader.root().file_name().map(str::to_owned).ok_or_else(without_a_value)?;
        }
        let mut entries = config.targets.unwrap_or_default();
        if !config.target_file.is_empty() {
            let (path, blob) = self.loader.open(session.view, &config.target_file)?;
            let file: ValueAddConfig = text::unmarshal(&blob.data)
                .and_then(|value| read_config(&value))
                .map_err(|error| place::locate(error, &path, &blob.data))?;
            entries.extend(file.targets.unwrap_or_default());
        }
        if entries.is_empty() {
            return Err(Error::new("must specify at least one target"));
        }
        let mut targets = Vec::with_capacity(entries.len());
        for entry in entries {
            if entry.field_path.is_empty() {
                return Err(Error::new("fieldPath cannot be empty"));
            }
            let file_path_position = usize::try_from(entry.position).map_err(|_| {
                Error::new(format!("value of FilePathPosition ({}) cannot be negative", entry.position))
            })?;
            let selector = entry.selector.as_deref().map(selector::Selector::from);
            targets.push(ValueAddTarget { selector, field_path: entry.field_path, file_path_position });
        }
        Ok(ValueAdd { value, targets })
    }
}

fn config_value(session: &Session<'_>, root: NodeId) -> Result<Value> {
    // It is written as YAML for the plugin, as what a kustomization says for the built-in ones.
    let written = text::to_value(&session.tree, root)
        .and_then(|value| Ok(yaml::sigs::reread(&value).map_err(|fault| text::error(&fault))?.into_owned()));
    written.map_err(|error| {
        let id = resource::original_id(&session.tree, &session.schema, root);
        error.prefix(format!("marshalling yaml from res {id}"))
    })
}

fn read_config<T: Decode>(value: &Value) -> Result<T> {
    decode::decode(value, Mode::Plugin).map_err(in_json)
}

fn read_config_for<T: Decode>(session: &Session<'_>, value: &Value) -> Result<T> {
    decode::decode_for(value, Mode::Plugin, session.tree.switches).map_err(in_json)
}

fn read_embedded<T: Decode>(value: &Value) -> Result<T> {
    decode::decode_embedded(value).map_err(in_json)
}

fn in_json(error: Error) -> Error {
    error.prefix("error unmarshaling JSON: while decoding JSON")
}

fn in_plugin(error: Error, session: &Session<'_>, root: NodeId) -> Error {
    if error.is_final() || error.is_no_builtin() {
        return error;
    }
    let id = resource::original_id(&session.tree, &session.schema, root);
    error.prefix(format!("plugin {id} fails configuration"))
}

fn without_a_value() -> Error {
    Error::unsupported(
        "a ValueAddTransformer without a value takes the name of its directory, and the root of the \
        repository has none",
        "set `value`",
    )
}

/// A service account that represents one of Google Cloud.
fn policy(session: &mut Session<'_>, config: &PolicyConfig) -> Result<Generator> {
    if config.cloud != "gke" {
        return Err(Error::new(format!("cloud provider {} not supported yet", config.cloud)));
    }
    let tree = &mut session.tree;
    let root = read::new_object(tree, "v1", "ServiceAccount");
    let account = format!("{}@{}.iam.gserviceaccount.com", config.account.name, config.account.project);
    let annotations = BTreeMap::from([("iam.gke.io/gcp-service-account".to_owned(), account)]);
    resource::set_annotations(tree, root, &annotations)?;
    let fields = [("name", &config.service.name), ("namespace", &config.service.namespace)];
    let Some(metadata) = tree.value_of(root, "metadata") else { return Ok(Generator::Object(root)) };
    for (field, value) in fields.into_iter().filter(|(field, value)| *field == "name" || !value.is_empty()) {
        let value = tree.add(Node::scalar(value.as_str()));
        tree.set_field(metadata, field, Some(value), SetOptions::default())?;
    }
    Ok(Generator::Object(root))
}
