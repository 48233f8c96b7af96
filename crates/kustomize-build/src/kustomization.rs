//! The kustomization file.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dry_files::path::RepoPath;
use go_yaml::{self as yaml, Value};

use super::config::WrittenSpec;
use super::decode::{self, At, Decode, Mode, record};
use super::error::{Error, Result};
use super::id::{OwnedGvk, OwnedResId};
use super::selector;
use super::text;
use super::version::{Difference, Switches};

/// The names that a kustomization file may have, in the order in which one is looked for. A directory has only one of them.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

pub(crate) const COMPONENT: &str = "Component";

type Texts = Option<Vec<String>>;
type Map = Option<BTreeMap<String, String>>;

record! {
    /// A kustomization as it is written; after [`Kustomization::parse`] without the deprecated fields that have a
    /// successor of the same shape.
    Kustomization: "Kustomization" {
        kind: String = "kind" ["TypeMeta"],
        api_version: String = "apiVersion" ["TypeMeta"],
        metadata: Option<Box<ObjectMeta>> = "metadata",
        openapi: Map = "openapi",
        name_prefix: String = "namePrefix",
        name_suffix: String = "nameSuffix",
        namespace: String = "namespace",
        common_labels: Map = "commonLabels",
        labels: Option<Vec<Label>> = "labels",
        common_annotations: Map = "commonAnnotations",
        patches_strategic_merge: Texts = "patchesStrategicMerge",
        patches_json_6902: Option<Vec<Patch>> = "patchesJson6902",
        patches: Option<Vec<Patch>> = "patches",
        images: Option<Vec<Image>> = "images",
        image_tags: Option<Vec<Image>> = "imageTags",
        replacements: Option<Vec<Replacement>> = "replacements",
        replicas: Option<Vec<Replica>> = "replicas",
        vars: Option<Vec<Var>> = "vars",
        sort_options: Option<Box<SortOptions>> = "sortOptions",
        resources: Texts = "resources",
        components: Texts = "components",
        crds: Texts = "crds",
        bases: Texts = "bases",
        config_map_generator: Option<Vec<GeneratorArgs>> = "configMapGenerator",
        secret_generator: Option<Vec<GeneratorArgs>> = "secretGenerator",
        helm_globals: Option<Box<HelmGlobals>> = "helmGlobals",
        helm_charts: Option<Vec<HelmChart>> = "helmCharts",
        helm_chart_inflation_generator: Option<Vec<HelmChartArgs>> = "helmChartInflationGenerator",
        generator_options: Option<Box<GeneratorOptions>> = "generatorOptions",
        configurations: Texts = "configurations",
        generators: Texts = "generators",
        transformers: Texts = "transformers",
        validators: Texts = "validators",
        build_metadata: Texts = "buildMetadata",
    }
}

record! {
    ObjectMeta: "ObjectMeta" {
        name: String = "name",
        namespace: String = "namespace",
        labels: Map = "labels",
        annotations: Map = "annotations",
    }
}

record! {
    Label: "Label" {
        pairs: Map = "pairs",
        include_selectors: bool = "includeSelectors",
        include_templates: bool = "includeTemplates",
        fields: Option<Vec<WrittenSpec>> = "fields",
    }
}

record! {
    Patch: "Patch" {
        path: String = "path",
        patch: String = "patch",
        target: Option<Box<Selector>> = "target",
        options: Option<Box<PatchOptions>> = "options",
    }
}

/// What a patch may do: a record, or any names with a truth each before [`Difference::PatchOptions`].
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PatchOptions(pub PatchArgs);

impl Decode for PatchOptions {
    fn go_type() -> String {
        PatchArgs::go_type()
    }

    fn decode(&mut self, value: &Value, at: &mut At) -> Result<()> {
        if at.has(Difference::PatchOptions) {
            return self.0.decode(value, at);
        }
        let mut named: Option<BTreeMap<String, bool>> = None;
        named.decode(value, at)?;
        let is_set = |name| named.as_ref().and_then(|named| named.get(name)).copied().unwrap_or_default();
        let (allow_name_change, allow_kind_change) = (is_set("allowNameChange"), is_set("allowKindChange"));
        self.0 = PatchArgs { allow_name_change, allow_kind_change };
        Ok(())
    }
}

record! {
    PatchArgs: "PatchArgs" {
        allow_name_change: bool = "allowNameChange",
        allow_kind_change: bool = "allowKindChange",
    }
}

record! {
    Selector: "Selector" {
        group: String = "group" ["ResId", "Gvk"],
        version: String = "version" ["ResId", "Gvk"],
        kind: String = "kind" ["ResId", "Gvk"],
        name: String = "name" ["ResId"],
        namespace: String = "namespace" ["ResId"],
        annotation_selector: String = "annotationSelector",
        label_selector: String = "labelSelector",
    }
}

impl From<&Selector> for selector::Selector {
    fn from(written: &Selector) -> Self {
        Self {
            id: OwnedResId {
                gvk: OwnedGvk::new(&written.group, &written.version, &written.kind),
                name: written.name.clone(),
                namespace: written.namespace.clone(),
                cluster_scoped: false,
            },
            annotations: written.annotation_selector.clone(),
            labels: written.label_selector.clone(),
        }
    }
}

record! {
    Image: "Image" {
        name: String = "name",
        new_name: String = "newName",
        tag_suffix: String = "tagSuffix",
        new_tag: String = "newTag",
        digest: String = "digest",
    }
}

record! {
    Replacement: "ReplacementField" {
        source: Option<Box<SourceSelector>> = "source" ["Replacement"],
        targets: Option<Vec<TargetSelector>> = "targets" ["Replacement"],
        source_value: Option<Box<String>> = "sourceValue" ["Replacement"] since SourceValue,
        path: String = "path",
    }
}

record! {
    SourceSelector: "SourceSelector" {
        group: String = "group" ["ResId", "Gvk"],
        version: String = "version" ["ResId", "Gvk"],
        kind: String = "kind" ["ResId", "Gvk"],
        name: String = "name" ["ResId"],
        namespace: String = "namespace" ["ResId"],
        field_path: String = "fieldPath",
        options: Option<Box<FieldOptions>> = "options",
    }
}

record! {
    TargetSelector: "TargetSelector" {
        select: Option<Box<Selector>> = "select",
        reject: Option<Vec<Selector>> = "reject",
        field_paths: Texts = "fieldPaths",
        options: Option<Box<FieldOptions>> = "options",
    }
}

record! {
    FieldOptions: "FieldOptions" {
        delimiter: String = "delimiter",
        index: i64 = "index",
        encoding: String = "encoding",
        create: bool = "create",
    }
}

record! {
    Replica: "Replica" {
        name: String = "name",
        count: i64 = "count",
    }
}

record! {
    Var: "Var" {
        name: String = "name",
        object: VarObject = "objref",
        field: VarField = "fieldref",
    }
}

record! {
    VarObject: "Target" {
        api_version: String = "apiVersion",
        group: String = "group" ["Gvk"],
        version: String = "version" ["Gvk"],
        kind: String = "kind" ["Gvk"],
        name: String = "name",
        namespace: String = "namespace",
    }
}

record! {
    VarField: "FieldSelector" {
        path: String = "fieldPath",
    }
}

record! {
    SortOptions: "SortOptions" {
        order: String = "order",
        legacy: Option<Box<LegacySortOptions>> = "legacySortOptions",
    }
}

record! {
    LegacySortOptions: "LegacySortOptions" {
        first: Texts = "orderFirst",
        last: Texts = "orderLast",
    }
}

record! {
    /// What a ConfigMap or a Secret is generated from.
    GeneratorArgs: "GeneratorArgs" {
        namespace: String = "namespace",
        name: String = "name",
        behavior: String = "behavior",
        literals: Texts = "literals" ["KvPairSources"],
        files: Texts = "files" ["KvPairSources"],
        envs: Texts = "envs" ["KvPairSources"],
        env: String = "env" ["KvPairSources"],
        options: Option<Box<GeneratorOptions>> = "options",
        /// Of a Secret only.
        secret_type: String = "type",
    }
}

record! {
    GeneratorOptions: "GeneratorOptions" {
        labels: Map = "labels",
        annotations: Map = "annotations",
        disable_name_suffix_hash: bool = "disableNameSuffixHash",
        immutable: bool = "immutable",
    }
}

record! {
    HelmGlobals: "HelmGlobals" {
        chart_home: String = "chartHome",
        config_home: String = "configHome",
    }
}

record! {
    HelmChart: "HelmChart" {
        name: String = "name",
        version: String = "version",
        repo: String = "repo",
        release_name: String = "releaseName",
        namespace: String = "namespace",
        additional_values_files: Texts = "additionalValuesFiles",
        values_file: String = "valuesFile",
        values_inline: Option<BTreeMap<String, Value>> = "valuesInline",
        values_merge: String = "valuesMerge",
        include_crds: bool = "includeCRDs",
        skip_hooks: bool = "skipHooks",
        api_versions: Texts = "apiVersions",
        kube_version: String = "kubeVersion",
        name_template: String = "nameTemplate",
        skip_tests: bool = "skipTests",
        debug: bool = "debug" since ChartDebug,
        devel: bool = "devel" since ChartDevel,
    }
}

record! {
    HelmChartArgs: "HelmChartArgs" {
        chart_name: String = "chartName",
        chart_version: String = "chartVersion",
        chart_repo_url: String = "chartRepoUrl",
        chart_home: String = "chartHome",
        chart_repo_name: String = "chartRepoName",
        helm_bin: String = "helmBin",
        helm_home: String = "helmHome",
        values: String = "values",
        values_local: Option<BTreeMap<String, Value>> = "valuesLocal",
        values_merge: String = "valuesMerge",
        release_name: String = "releaseName",
        release_namespace: String = "releaseNamespace",
        extra_args: Texts = "extraArgs",
    }
}

/// Appends as Go does: nil stays nil when nothing is added.
impl From<HelmChartArgs> for HelmChart {
    fn from(args: HelmChartArgs) -> Self {
        Self {
            name: args.chart_name,
            version: args.chart_version,
            repo: args.chart_repo_url,
            values_file: args.values,
            values_inline: args.values_local,
            values_merge: args.values_merge,
            release_name: args.release_name,
            ..Self::default()
        }
    }
}

/// The fields that configure the built-in generators and transformers.
const CONFIGURATION: [&str; 19] = [
    "namePrefix",
    "nameSuffix",
    "namespace",
    "commonLabels",
    "labels",
    "commonAnnotations",
    "patchesStrategicMerge",
    "patchesJson6902",
    "patches",
    "images",
    "imageTags",
    "replacements",
    "replicas",
    "configMapGenerator",
    "secretGenerator",
    "generatorOptions",
    "helmGlobals",
    "helmCharts",
    "helmChartInflationGenerator",
];

/// The kustomization as its generators and transformers see it; none where it is the same one.
///
/// Kustomize writes what it read as YAML for each of them, which reads that again. The way is not without loss: U+0085
/// becomes a blank, in names, labels and the texts of generators alike, and what YAML forbids is an error. It is a fault of
/// Kustomize, but what Argo CD deploys.
///
/// Reference: kustomize api/internal/target/kusttarget.go `configureBuiltinPlugin`.
fn reread_configuration(value: &Value) -> Result<Option<Value>> {
    let Some(fields) = value.as_mapping() else { return Ok(None) };
    let mut changed = None;
    for (key, field) in fields {
        if go_std::json::find_field(CONFIGURATION.iter().copied(), key).is_none() {
            continue;
        }
        let reread = yaml::sigs::reread(field).map_err(|fault| {
            text::error(&fault).inside(key.as_str()).hint("remove what YAML does not allow, such as U+007F")
        })?;
        if let Cow::Owned(field) = reread {
            changed.get_or_insert_with(|| fields.clone()).insert(key.clone(), field);
        }
    }
    Ok(changed.map(Value::Mapping))
}

fn append<T>(list: &mut Option<Vec<T>>, more: Option<Vec<T>>) {
    match (list.as_mut(), more) {
        (Some(list), Some(more)) => list.extend(more),
        (None, Some(more)) if !more.is_empty() => *list = Some(more),
        _ => {}
    }
}

impl Kustomization {
    /// Reads a kustomization file, brings deprecated fields into their new form and checks it.
    ///
    /// The warnings are what Kustomize says of deprecated fields. `root` is only for errors.
    pub(crate) fn parse(
        content: &[u8],
        root: &RepoPath,
        switches: Switches,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let in_kustomization = |error: Error| error.prefix("invalid Kustomization");
        let value = text::value(content).map_err(in_kustomization)?;
        let decode = |value| decode::decode_for(value, Mode::Kustomization, switches).map_err(in_kustomization);
        let mut kustomization: Self = decode(&value)?;
        if let Some(configuration) = reread_configuration(&value)? {
            kustomization = decode(&configuration)?;
        }
        warnings.extend(kustomization.deprecations());
        kustomization.fix();
        let bare = Kustomization {
            kind: kustomization.kind.clone(),
            api_version: kustomization.api_version.clone(),
            ..Kustomization::default()
        };
        if kustomization == bare {
            return Err(Error::new("kustomization.yaml is empty"));
        }
        let mistakes = kustomization.mistakes();
        if !mistakes.is_empty() {
            let field = mistakes.first().map_or("", |(field, _)| *field);
            let mistakes = mistakes.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
            let text = format!("Failed to read kustomization file under {root}:\n{mistakes}");
            return Err(Error::new(text).inside(field));
        }
        Ok(kustomization)
    }

    fn deprecations(&self) -> Vec<String> {
        let fix = "Run 'kustomize edit fix' to update your Kustomization automatically.";
        [
            (self.bases.is_some(), "bases", "resources", ""),
            (self.common_labels.is_some(), "commonLabels", "labels", ""),
            (self.image_tags.is_some(), "imageTags", "images", ""),
            (self.patches_json_6902.is_some(), "patchesJson6902", "patches", ""),
            (self.patches_strategic_merge.is_some(), "patchesStrategicMerge", "patches", ""),
            (self.vars.is_some(), "vars", "replacements", "[EXPERIMENTAL] "),
        ]
        .into_iter()
        .filter(|(used, ..)| *used)
        .map(|(_, old, new, how)| format!("# Warning: '{old}' is deprecated. Please use '{new}' instead. {how}{fix}"))
        .collect()
    }

    /// Brings deprecated fields into their new form (kustomize `FixKustomization`).
    fn fix(&mut self) {
        if self.kind.is_empty() {
            self.kind = "Kustomization".to_owned();
        }
        if self.api_version.is_empty() {
            self.api_version = self.required_version().to_owned();
        }
        append(&mut self.resources, self.bases.take());
        append(&mut self.images, self.image_tags.take());
        let generators = [&mut self.config_map_generator, &mut self.secret_generator];
        for args in generators.into_iter().flatten().flatten().filter(|args| !args.env.is_empty()) {
            append(&mut args.envs, Some(vec![std::mem::take(&mut args.env)]));
        }
        self.fix_charts();
    }

    fn fix_charts(&mut self) {
        let Some(old) = self.helm_chart_inflation_generator.take() else { return };
        let mut globals = HelmGlobals::default();
        for args in &old {
            if !args.helm_home.is_empty() {
                globals.config_home.clone_from(&args.helm_home);
            }
            if !args.chart_home.is_empty() {
                globals.chart_home.clone_from(&args.chart_home);
            }
        }
        if self.helm_globals.is_none() && globals != HelmGlobals::default() {
            self.helm_globals = Some(Box::new(globals));
        }
        append(&mut self.helm_charts, Some(old.into_iter().map(HelmChart::from).collect()));
    }

    fn required_version(&self) -> &'static str {
        if self.kind == COMPONENT { "kustomize.config.k8s.io/v1alpha1" } else { "kustomize.config.k8s.io/v1beta1" }
    }

    /// The field and what is wrong with it.
    fn mistakes(&self) -> Vec<(&'static str, String)> {
        let mut mistakes = Vec::new();
        if self.kind != "Kustomization" && self.kind != COMPONENT {
            mistakes.push(("kind", "kind should be Kustomization or Component".to_owned()));
        }
        if self.api_version != self.required_version() {
            let text = format!("apiVersion for {} should be {}", self.kind, self.required_version());
            mistakes.push(("apiVersion", text));
        }
        mistakes
    }
}
