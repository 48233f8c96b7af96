//! The tool options of a source: every field that Argo CD's Application has for them.
//!
//! A field that is empty in the document is empty here (`None`, no elements, false). Facts: the Go types
//! `ApplicationSourceHelm`, `…Kustomize`, `…Directory`, `…Plugin` of Argo CD 3.

use std::collections::BTreeMap;

use go_yaml::Value;

/// The four option objects. One that is present, even empty (`helm: {}`), chooses its tool.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Options {
    /// `helm`
    pub helm: Option<Helm>,
    /// `kustomize`
    pub kustomize: Option<Kustomize>,
    /// `directory`
    pub directory: Option<Directory>,
    /// `plugin`
    pub plugin: Option<Plugin>,
}

impl Options {
    /// Whether they say which tool they are for.
    pub fn names_a_tool(&self) -> bool {
        self.helm.is_some() || self.kustomize.is_some() || self.directory.is_some() || self.plugin.is_some()
    }
}

/// Options of a Helm chart.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Helm {
    /// `valueFiles`, in order: relative to the chart, or from the root of the repository when it starts with `/`.
    pub value_files: Vec<String>,
    /// `parameters`: `--set` and `--set-string`.
    pub parameters: Vec<HelmParameter>,
    /// `fileParameters`: `--set-file`.
    pub file_parameters: Vec<FileParameter>,
    /// `releaseName`
    pub release_name: Option<String>,
    /// `values`: the text of a values file. Not read when there is a `valuesObject`.
    pub values: Option<String>,
    /// `valuesObject`: always a mapping.
    pub values_object: Option<Value>,
    /// `version`: of Helm itself, `v3` or `v4`.
    pub version: Option<String>,
    /// `passCredentials`: concerns downloads only, of which there are none.
    pub pass_credentials: bool,
    /// `ignoreMissingValueFiles`
    pub ignore_missing_value_files: bool,
    /// `skipCrds`
    pub skip_crds: bool,
    /// `skipTests`
    pub skip_tests: bool,
    /// `skipSchemaValidation`
    pub skip_schema_validation: bool,
    /// `namespace`
    pub namespace: Option<String>,
    /// `kubeVersion`
    pub kube_version: Option<String>,
    /// `apiVersions`, in order.
    pub api_versions: Vec<String>,
}

/// One value that is set on the command line of Helm.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HelmParameter {
    /// The path of the value, in the syntax of `--set`.
    pub name: String,
    /// The value.
    pub value: String,
    /// Whether it stays a string whatever it looks like.
    pub force_string: bool,
}

/// One value that is the content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileParameter {
    /// The path of the value, in the syntax of `--set`.
    pub name: String,
    /// The file, named as in [`Helm::value_files`].
    pub path: String,
}

/// Options of a kustomization: edits that are made before it is built.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kustomize {
    /// `namePrefix`
    pub name_prefix: Option<String>,
    /// `nameSuffix`
    pub name_suffix: Option<String>,
    /// `images`, each `[old=]name[:tag|@digest]`, in order.
    pub images: Vec<String>,
    /// `replicas`
    pub replicas: Vec<Replicas>,
    /// `commonLabels`
    pub common_labels: BTreeMap<String, String>,
    /// `commonAnnotations`
    pub common_annotations: BTreeMap<String, String>,
    /// `forceCommonLabels`
    pub force_common_labels: bool,
    /// `forceCommonAnnotations`
    pub force_common_annotations: bool,
    /// `labelWithoutSelector`
    pub label_without_selector: bool,
    /// `labelIncludeTemplates`
    pub label_include_templates: bool,
    /// `commonAnnotationsEnvsubst`
    pub common_annotations_envsubst: bool,
    /// `namespace`
    pub namespace: Option<String>,
    /// `patches`, in order.
    pub patches: Vec<Patch>,
    /// `components`, in order.
    pub components: Vec<String>,
    /// `ignoreMissingComponents`
    pub ignore_missing_components: bool,
    /// `version`: of Kustomize itself.
    pub version: Option<String>,
    /// `kubeVersion`: for charts that Kustomize inflates.
    pub kube_version: Option<String>,
    /// `apiVersions`, in order: for charts that Kustomize inflates.
    pub api_versions: Vec<String>,
}

/// How many replicas a workload has.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replicas {
    /// The name of the workload.
    pub name: String,
    /// The number, whether it was written as a number or as text.
    pub count: i64,
}

/// A patch of Kustomize, inline or in a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Patch {
    /// `path`
    pub path: Option<String>,
    /// `patch`
    pub patch: Option<String>,
    /// `target`
    pub target: Option<PatchTarget>,
    /// `options`, such as `allowNameChange`.
    pub options: BTreeMap<String, bool>,
}

/// Which objects a patch is for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PatchTarget {
    /// `group`
    pub group: Option<String>,
    /// `version`
    pub version: Option<String>,
    /// `kind`
    pub kind: Option<String>,
    /// `name`
    pub name: Option<String>,
    /// `namespace`
    pub namespace: Option<String>,
    /// `annotationSelector`
    pub annotation_selector: Option<String>,
    /// `labelSelector`
    pub label_selector: Option<String>,
}

/// Options of a directory of plain manifests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directory {
    /// `recurse`
    pub recurse: bool,
    /// `include`: a glob.
    pub include: Option<String>,
    /// `exclude`: a glob.
    pub exclude: Option<String>,
    /// `disableExtensionFilter`
    pub disable_extension_filter: bool,
    /// `jsonnet`
    pub jsonnet: Jsonnet,
}

/// Options of the Jsonnet files of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Jsonnet {
    /// `extVars`
    pub ext_vars: Vec<JsonnetVariable>,
    /// `tlas`: top-level arguments.
    pub tlas: Vec<JsonnetVariable>,
    /// `libs`, in order: directories, from the root of the repository.
    pub libs: Vec<String>,
}

/// One variable that is handed to Jsonnet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonnetVariable {
    /// The name.
    pub name: String,
    /// The text, or the code.
    pub value: String,
    /// Whether the value is Jsonnet code.
    pub code: bool,
}

/// Options of an external command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plugin {
    /// `name`
    pub name: Option<String>,
    /// Whether it is `kustomize build` and nothing else: the setting `kustomize.plugins` names it.
    pub is_kustomize: bool,
    /// `env`, in order.
    pub env: Vec<PluginVariable>,
    /// `parameters`, in order.
    pub parameters: Vec<PluginParameter>,
}

/// One variable of a plugin's environment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginVariable {
    /// The name, without the prefix `ARGOCD_ENV_`.
    pub name: String,
    /// The value.
    pub value: String,
}

/// One parameter of a plugin. More than one of the values may be there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PluginParameter {
    /// The name.
    pub name: String,
    /// `string`
    pub string: Option<String>,
    /// `map`
    pub map: Option<BTreeMap<String, String>>,
    /// `array`
    pub array: Option<Vec<String>>,
}
