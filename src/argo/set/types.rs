//! The Go types of Applications and of generators, field by field.
//!
//! Reference: argo-cd `37ee0097` pkg/apis/application/v1alpha1/types.go and applicationset_types.go.

use super::shape::{Field, InJson, ListPatch, Shape, Struct};

const fn field(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, kept: InJson::Filled, list: ListPatch::Replace, is_values: false }
}

/// A pointer.
const fn given(name: &'static str, shape: Shape) -> Field {
    Field { kept: InJson::Given, ..field(name, shape) }
}

/// Without `omitempty`.
const fn always(name: &'static str, shape: Shape) -> Field {
    Field { kept: InJson::Always, ..field(name, shape) }
}

const fn values() -> Field {
    Field { is_values: true, ..field("values", TEXTS_BY_NAME) }
}

const TEXTS: Shape = Shape::List(&Shape::Text);
const TEXTS_BY_NAME: Shape = Shape::Map(&Shape::Text);

/// `Application`, without status and operation, which go nowhere.
pub(super) static APPLICATION: Shape = Shape::Struct(&Struct {
    name: "Application",
    fields: &[
        field("kind", Shape::Text),
        field("apiVersion", Shape::Text),
        always("metadata", METADATA),
        always("spec", APPLICATION_SPEC),
        field("status", Shape::Ignored("ApplicationStatus")),
        field("operation", Shape::Ignored("Operation")),
    ],
});

/// `metav1.ObjectMeta`, as far as generated Applications have it.
const METADATA: Shape = Shape::Struct(&Struct {
    name: "ObjectMeta",
    fields: &[
        field("name", Shape::Text),
        field("namespace", Shape::Text),
        field("labels", TEXTS_BY_NAME),
        field("annotations", TEXTS_BY_NAME),
        Field { list: ListPatch::Merge, ..field("finalizers", TEXTS) },
    ],
});

const APPLICATION_SPEC: Shape = Shape::Struct(&Struct {
    name: "ApplicationSpec",
    fields: &[
        given("source", SOURCE),
        always("destination", DESTINATION),
        always("project", Shape::Text),
        given("syncPolicy", SYNC_POLICY),
        field("ignoreDifferences", Shape::List(&IGNORED_DIFFERENCES)),
        field("info", Shape::List(&INFO)),
        given("revisionHistoryLimit", Shape::Number),
        field("sources", Shape::List(&SOURCE)),
        given("sourceHydrator", SOURCE_HYDRATOR),
    ],
});

const SOURCE: Shape = Shape::Struct(&Struct {
    name: "ApplicationSource",
    fields: &[
        always("repoURL", Shape::Text),
        field("path", Shape::Text),
        field("targetRevision", Shape::Text),
        given("helm", HELM),
        given("kustomize", KUSTOMIZE),
        given("directory", DIRECTORY),
        given("plugin", PLUGIN),
        field("chart", Shape::Text),
        field("ref", Shape::Text),
        field("name", Shape::Text),
        field("tagPrefix", Shape::Text),
    ],
});

const SOURCE_HYDRATOR: Shape = Shape::Struct(&Struct {
    name: "SourceHydrator",
    fields: &[
        always("drySource", DRY_SOURCE),
        always("syncSource", SYNC_SOURCE),
        given(
            "hydrateTo",
            Shape::Struct(&Struct { name: "HydrateTo", fields: &[always("targetBranch", Shape::Text)] }),
        ),
    ],
});

const DRY_SOURCE: Shape = Shape::Struct(&Struct {
    name: "DrySource",
    fields: &[
        always("repoURL", Shape::Text),
        always("targetRevision", Shape::Text),
        always("path", Shape::Text),
        given("helm", HELM),
        given("kustomize", KUSTOMIZE),
        given("directory", DIRECTORY),
        given("plugin", PLUGIN),
    ],
});

const SYNC_SOURCE: Shape = Shape::Struct(&Struct {
    name: "SyncSource",
    fields: &[always("targetBranch", Shape::Text), always("path", Shape::Text), field("repoURL", Shape::Text)],
});

const HELM: Shape = Shape::Struct(&Struct {
    name: "ApplicationSourceHelm",
    fields: &[
        field("valueFiles", TEXTS),
        field(
            "parameters",
            Shape::List(&Shape::Struct(&Struct {
                name: "HelmParameter",
                fields: &[field("name", Shape::Text), field("value", Shape::Text), field("forceString", Shape::Flag)],
            })),
        ),
        field("releaseName", Shape::Text),
        field("values", Shape::Text),
        field(
            "fileParameters",
            Shape::List(&Shape::Struct(&Struct {
                name: "HelmFileParameter",
                fields: &[field("name", Shape::Text), field("path", Shape::Text)],
            })),
        ),
        field("version", Shape::Text),
        field("passCredentials", Shape::Flag),
        field("ignoreMissingValueFiles", Shape::Flag),
        field("skipCrds", Shape::Flag),
        given("valuesObject", Shape::Raw),
        field("namespace", Shape::Text),
        field("kubeVersion", Shape::Text),
        field("apiVersions", TEXTS),
        field("skipTests", Shape::Flag),
        field("skipSchemaValidation", Shape::Flag),
    ],
});

const KUSTOMIZE: Shape = Shape::Struct(&Struct {
    name: "ApplicationSourceKustomize",
    fields: &[
        field("namePrefix", Shape::Text),
        field("nameSuffix", Shape::Text),
        field("images", TEXTS),
        field("commonLabels", TEXTS_BY_NAME),
        field("version", Shape::Text),
        field("commonAnnotations", TEXTS_BY_NAME),
        field("forceCommonLabels", Shape::Flag),
        field("forceCommonAnnotations", Shape::Flag),
        field("namespace", Shape::Text),
        field("commonAnnotationsEnvsubst", Shape::Flag),
        field(
            "replicas",
            Shape::List(&Shape::Struct(&Struct {
                name: "KustomizeReplica",
                fields: &[always("name", Shape::Text), always("count", Shape::NumberOrText)],
            })),
        ),
        field("patches", Shape::List(&KUSTOMIZE_PATCH)),
        field("components", TEXTS),
        field("ignoreMissingComponents", Shape::Flag),
        field("labelWithoutSelector", Shape::Flag),
        field("kubeVersion", Shape::Text),
        field("apiVersions", TEXTS),
        field("labelIncludeTemplates", Shape::Flag),
    ],
});

const KUSTOMIZE_PATCH: Shape = Shape::Struct(&Struct {
    name: "KustomizePatch",
    fields: &[
        field("path", Shape::Text),
        field("patch", Shape::Text),
        given(
            "target",
            Shape::Struct(&Struct {
                name: "KustomizeSelector",
                fields: &[
                    field("group", Shape::Text),
                    field("version", Shape::Text),
                    field("kind", Shape::Text),
                    field("name", Shape::Text),
                    field("namespace", Shape::Text),
                    field("annotationSelector", Shape::Text),
                    field("labelSelector", Shape::Text),
                ],
            }),
        ),
        field("options", Shape::Map(&Shape::Flag)),
    ],
});

const DIRECTORY: Shape = Shape::Struct(&Struct {
    name: "ApplicationSourceDirectory",
    fields: &[
        field("recurse", Shape::Flag),
        field(
            "jsonnet",
            Shape::Struct(&Struct {
                name: "ApplicationSourceJsonnet",
                fields: &[
                    field("extVars", Shape::List(&JSONNET_VAR)),
                    field("tlas", Shape::List(&JSONNET_VAR)),
                    field("libs", TEXTS),
                ],
            }),
        ),
        field("exclude", Shape::Text),
        field("include", Shape::Text),
        field("disableExtensionFilter", Shape::Flag),
    ],
});

const JSONNET_VAR: Shape = Shape::Struct(&Struct {
    name: "JsonnetVar",
    fields: &[always("name", Shape::Text), always("value", Shape::Text), field("code", Shape::Flag)],
});

const PLUGIN: Shape = Shape::Struct(&Struct {
    name: "ApplicationSourcePlugin",
    fields: &[
        field("name", Shape::Text),
        field("env", Shape::List(&ENV_ENTRY)),
        field(
            "parameters",
            Shape::List(&Shape::Struct(&Struct {
                name: "ApplicationSourcePluginParameter",
                fields: &[
                    always("name", Shape::Text),
                    given("string", Shape::Text),
                    given("map", TEXTS_BY_NAME),
                    given("array", TEXTS),
                ],
            })),
        ),
    ],
});

const INFO: Shape = Shape::Struct(&Struct { name: "Info", fields: NAME_AND_VALUE });

const ENV_ENTRY: Shape = Shape::Struct(&Struct { name: "EnvEntry", fields: NAME_AND_VALUE });

const NAME_AND_VALUE: &[Field] = &[always("name", Shape::Text), always("value", Shape::Text)];

const DESTINATION: Shape = Shape::Struct(&Struct {
    name: "ApplicationDestination",
    fields: &[field("server", Shape::Text), field("namespace", Shape::Text), field("name", Shape::Text)],
});

const SYNC_POLICY: Shape = Shape::Struct(&Struct {
    name: "SyncPolicy",
    fields: &[
        given(
            "automated",
            Shape::Struct(&Struct {
                name: "SyncPolicyAutomated",
                fields: &[
                    given("prune", Shape::Flag),
                    given("selfHeal", Shape::Flag),
                    given("allowEmpty", Shape::Flag),
                    given("enabled", Shape::Flag),
                ],
            }),
        ),
        field("syncOptions", TEXTS),
        given(
            "retry",
            Shape::Struct(&Struct {
                name: "RetryStrategy",
                fields: &[
                    field("limit", Shape::Number),
                    given(
                        "backoff",
                        Shape::Struct(&Struct {
                            name: "Backoff",
                            fields: &[
                                field("duration", Shape::Text),
                                given("factor", Shape::Number),
                                field("maxDuration", Shape::Text),
                            ],
                        }),
                    ),
                    field("refresh", Shape::Flag),
                ],
            }),
        ),
        given(
            "managedNamespaceMetadata",
            Shape::Struct(&Struct {
                name: "ManagedNamespaceMetadata",
                fields: &[field("labels", TEXTS_BY_NAME), field("annotations", TEXTS_BY_NAME)],
            }),
        ),
    ],
});

const IGNORED_DIFFERENCES: Shape = Shape::Struct(&Struct {
    name: "ResourceIgnoreDifferences",
    fields: &[
        field("group", Shape::Text),
        always("kind", Shape::Text),
        field("name", Shape::Text),
        field("namespace", Shape::Text),
        field("jsonPointers", TEXTS),
        field("jqPathExpressions", TEXTS),
        field("managedFieldsManagers", TEXTS),
    ],
});

/// `ApplicationSet`, as far as it decides what is made.
pub(super) static APPLICATION_SET: Shape = Shape::Struct(&Struct {
    name: "ApplicationSet",
    fields: &[
        field("metadata", METADATA),
        field(
            "spec",
            Shape::Struct(&Struct {
                name: "ApplicationSetSpec",
                fields: &[
                    field("goTemplate", Shape::Flag),
                    field("generators", Shape::List(&GENERATOR)),
                    field("template", TEMPLATE),
                    field("goTemplateOptions", TEXTS),
                    given("templatePatch", Shape::Text),
                ],
            }),
        ),
    ],
});

/// `ApplicationSetTemplate`
pub(super) static TEMPLATE: Shape = Shape::Struct(&Struct {
    name: "ApplicationSetTemplate",
    fields: &[
        field(
            "metadata",
            Shape::Struct(&Struct {
                name: "ApplicationSetTemplateMeta",
                fields: &[
                    field("name", Shape::Text),
                    field("namespace", Shape::Text),
                    field("labels", TEXTS_BY_NAME),
                    field("annotations", TEXTS_BY_NAME),
                    field("finalizers", TEXTS),
                ],
            }),
        ),
        field("spec", APPLICATION_SPEC),
    ],
});

/// `ApplicationSetGenerator`
pub(super) static GENERATOR: Shape = Shape::Struct(&Struct {
    name: "ApplicationSetGenerator",
    fields: &[
        given("list", LIST),
        given("clusters", CLUSTERS),
        given("git", GIT),
        given("scmProvider", OUTSIDE),
        given("clusterDecisionResource", OUTSIDE),
        given("pullRequest", OUTSIDE),
        given(
            "matrix",
            Shape::Struct(&Struct {
                name: "MatrixGenerator",
                fields: &[field("generators", Shape::List(&NESTED)), field("template", TEMPLATE)],
            }),
        ),
        given(
            "merge",
            Shape::Struct(&Struct {
                name: "MergeGenerator",
                fields: &[
                    field("generators", Shape::List(&NESTED)),
                    field("mergeKeys", TEXTS),
                    field("template", TEMPLATE),
                ],
            }),
        ),
        given("selector", SELECTOR),
        given("plugin", OUTSIDE),
    ],
});

/// `ApplicationSetNestedGenerator`: what it combines is not read until it is needed.
const NESTED: Shape = Shape::Struct(&Struct {
    name: "ApplicationSetNestedGenerator",
    fields: &[
        given("list", LIST),
        given("clusters", CLUSTERS),
        given("git", GIT),
        given("scmProvider", OUTSIDE),
        given("clusterDecisionResource", OUTSIDE),
        given("pullRequest", OUTSIDE),
        given("matrix", Shape::Raw),
        given("merge", Shape::Raw),
        given("selector", SELECTOR),
        given("plugin", OUTSIDE),
    ],
});

/// `ApplicationSetTerminalGenerator`: has no place for a third level.
const TERMINAL: Shape = Shape::Struct(&Struct {
    name: "ApplicationSetTerminalGenerator",
    fields: &[
        given("list", LIST),
        given("clusters", CLUSTERS),
        given("git", GIT),
        given("scmProvider", OUTSIDE),
        given("clusterDecisionResource", OUTSIDE),
        given("pullRequest", OUTSIDE),
        given("plugin", OUTSIDE),
        given("selector", SELECTOR),
    ],
});

/// `NestedMatrixGenerator`
pub(super) static NESTED_MATRIX: Shape =
    Shape::Struct(&Struct { name: "NestedMatrixGenerator", fields: &[field("generators", Shape::List(&TERMINAL))] });

/// `NestedMergeGenerator`
pub(super) static NESTED_MERGE: Shape = Shape::Struct(&Struct {
    name: "NestedMergeGenerator",
    fields: &[field("generators", Shape::List(&TERMINAL)), field("mergeKeys", TEXTS)],
});

const LIST: Shape = Shape::Struct(&Struct {
    name: "ListGenerator",
    fields: &[
        field("elements", Shape::List(&Shape::Raw)),
        field("template", TEMPLATE),
        field("elementsYaml", Shape::Text),
    ],
});

const CLUSTERS: Shape = Shape::Struct(&Struct {
    name: "ClusterGenerator",
    fields: &[field("selector", SELECTOR), field("template", TEMPLATE), values(), field("flatList", Shape::Flag)],
});

const GIT: Shape = Shape::Struct(&Struct {
    name: "GitGenerator",
    fields: &[
        field("repoURL", Shape::Text),
        field("directories", Shape::List(&GIT_ITEM)),
        field("files", Shape::List(&GIT_ITEM)),
        field("revision", Shape::Text),
        given("requeueAfterSeconds", Shape::Number),
        field("template", TEMPLATE),
        field("pathParamPrefix", Shape::Text),
        values(),
    ],
});

/// `GitDirectoryGeneratorItem`, and `GitFileGeneratorItem`, which has the same fields.
const GIT_ITEM: Shape = Shape::Struct(&Struct {
    name: "GitDirectoryGeneratorItem",
    fields: &[field("path", Shape::Text), field("exclude", Shape::Flag)],
});

/// A generator that asks another service: what it asks is not looked at.
const OUTSIDE: Shape = Shape::Struct(&Struct { name: "Generator", fields: &[field("template", TEMPLATE), values()] });

const SELECTOR: Shape = Shape::Struct(&Struct {
    name: "LabelSelector",
    fields: &[
        field("matchLabels", TEXTS_BY_NAME),
        field(
            "matchExpressions",
            Shape::List(&Shape::Struct(&Struct {
                name: "LabelSelectorRequirement",
                fields: &[field("key", Shape::Text), field("operator", Shape::Text), field("values", TEXTS)],
            })),
        ),
    ],
});
