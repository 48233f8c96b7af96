//! `.Chart` as Helm 3 has it: Go's struct of `Chart.yaml`, with lists of pointers to more of them.
//!
//! Reference: helm 3.19.4 pkg/chart/metadata.go and dependency.go; pkg/engine/engine.go `recAllTpls`, which puts the
//! struct into another one beside `IsRoot`. Case `chart-object`.
#![allow(clippy::indexing_slicing, reason = "the index is below the length")]

use go_template::{Element, Field, List, ListType, Methods, Stringer, Struct, StructType, Text, Value, printed};

use super::metadata::{Dependency, Maintainer, Metadata};
use super::objects::{annotations, import_value};
use super::tree::{ChartId, Tree};

/// The fields of `chart.Metadata`.
const METADATA: [Field; 17] = [
    optional("Name", "name"),
    optional("Home", "home"),
    optional("Sources", "sources"),
    optional("Version", "version"),
    optional("Description", "description"),
    optional("Keywords", "keywords"),
    optional("Maintainers", "maintainers"),
    optional("Icon", "icon"),
    optional("APIVersion", "apiVersion"),
    optional("Condition", "condition"),
    optional("Tags", "tags"),
    optional("AppVersion", "appVersion"),
    optional("Deprecated", "deprecated"),
    optional("Annotations", "annotations"),
    optional("KubeVersion", "kubeVersion"),
    optional("Dependencies", "dependencies"),
    optional("Type", "type"),
];

/// How many fields there are before and behind those of the struct in the struct.
const FIELDS: usize = METADATA.len() + 2;

/// The struct with another one in it, whose fields are its own too.
const CHART: [Field; FIELDS] = {
    let mut fields = [Field::plain("IsRoot"); FIELDS];
    // Of what is in JSON twice, the fields count.
    fields[0] = Field { json: "", ..Field::plain("Metadata") };
    let mut at = 0;
    while at < METADATA.len() {
        fields[at + 1] = METADATA[at];
        at += 1;
    }
    fields
};

static CHART_TYPE: StructType = StructType {
    name: "struct { chart.Metadata; IsRoot bool }",
    fields: &CHART,
    string: Some(Stringer { run: chart_text, on_pointer: false }),
    ..StructType::PLAIN
};

static METADATA_TYPE: StructType = StructType { name: "chart.Metadata", fields: &METADATA, ..StructType::PLAIN };

static MAINTAINER: StructType = StructType {
    name: "chart.Maintainer",
    pointer: Some("*chart.Maintainer"),
    fields: &[optional("Name", "name"), optional("Email", "email"), optional("URL", "url")],
    ..StructType::PLAIN
};

static DEPENDENCY: StructType = StructType {
    name: "chart.Dependency",
    pointer: Some("*chart.Dependency"),
    fields: &[
        Field { name: "Name", json: "name", omit_empty: false, held: None },
        optional("Version", "version"),
        Field { name: "Repository", json: "repository", omit_empty: false, held: None },
        optional("Condition", "condition"),
        optional("Tags", "tags"),
        optional("Enabled", "enabled"),
        optional("ImportValues", "import-values"),
        optional("Alias", "alias"),
    ],
    ..StructType::PLAIN
};

static MAINTAINERS: ListType = ListType { name: "[]*chart.Maintainer", element: Element::Any, methods: Methods::NONE };
static DEPENDENCIES: ListType = ListType { name: "[]*chart.Dependency", element: Element::Any, methods: Methods::NONE };
static TEXTS: ListType = ListType::STRINGS;
static ANY: ListType = ListType::ANY;

const fn optional(name: &'static str, json: &'static str) -> Field {
    Field { name, json, omit_empty: true, held: None }
}

/// What `.Chart` is.
pub(super) fn chart_struct(tree: &Tree<'_>, chart: ChartId) -> Value {
    let fields = metadata(tree, chart);
    let inner = Value::from(Struct::new(&METADATA_TYPE, fields.clone()));
    let mut all = vec![inner];
    all.extend(fields);
    all.push(tree.is_root(chart).into());
    Struct::new(&CHART_TYPE, all).into()
}

/// As it is printed: the one struct in the other.
fn chart_text(chart: &Struct) -> Text {
    let shown = |name| chart.field(name).map(|(_, value)| printed("%v", &value)).unwrap_or_default();
    format!("{{{} {}}}", shown("Metadata"), shown("IsRoot")).into()
}

fn metadata(tree: &Tree<'_>, chart: ChartId) -> Vec<Value> {
    let metadata: &Metadata = &tree.chart(chart).metadata;
    let maintainers = metadata.maintainers.iter().map(maintainer).collect();
    let dependencies = tree.dependencies(chart).unwrap_or_default().iter().map(dependency).collect();
    vec![
        tree.name(chart).into(),
        metadata.home.as_str().into(),
        texts(&metadata.sources),
        metadata.version.as_str().into(),
        metadata.description.as_str().into(),
        texts(&metadata.keywords),
        list(&MAINTAINERS, maintainers),
        metadata.icon.as_str().into(),
        metadata.api_version.as_str().into(),
        metadata.condition.as_str().into(),
        metadata.tags.as_str().into(),
        metadata.app_version.as_str().into(),
        metadata.deprecated.into(),
        annotations(metadata).into(),
        metadata.kube_version.as_str().into(),
        list(&DEPENDENCIES, dependencies),
        metadata.kind.as_str().into(),
    ]
}

fn maintainer(maintainer: &Maintainer) -> Value {
    let Maintainer { name, email, url } = maintainer;
    Struct::new(&MAINTAINER, [name, email, url].map(|text| text.as_str().into()).into()).into()
}

fn dependency(dependency: &Dependency) -> Value {
    let imports = dependency.import_values.iter().flatten().map(import_value).collect();
    let fields = vec![
        dependency.name.as_str().into(),
        dependency.version.as_str().into(),
        dependency.repository.as_str().into(),
        dependency.condition.as_str().into(),
        texts(&dependency.tags),
        dependency.enabled.into(),
        list(&ANY, imports),
        dependency.alias.as_str().into(),
    ];
    Struct::new(&DEPENDENCY, fields).into()
}

fn texts(items: &[String]) -> Value {
    list(&TEXTS, items.iter().map(|item| item.as_str().into()).collect())
}

/// A list; nothing is no list at all.
fn list(ty: &'static ListType, items: Vec<Value>) -> Value {
    if items.is_empty() { List::nil(ty).into() } else { List::of(ty, items).into() }
}
