//! The objects that templates start from: `.Chart`, `.Release`, `.Values`, `.Subcharts` and the rest.

use std::collections::BTreeMap;

use go_template::{List, Map, MapType, Text, Value};

use super::chart_struct::chart_struct;
use super::metadata::{Dependency, Maintainer, Metadata};
use super::options::Options;
use super::template_values::to_template;
use super::tree::{ChartId, Tree};
use super::values_type::values_type;
use crate::version::Helm;
use crate::version::differences::GoTypes;

/// The root objects of all charts of a render, which share `.Release` and `.Capabilities`.
pub(super) struct Roots {
    roots: BTreeMap<ChartId, Map>,
}

impl Roots {
    /// Makes the objects. `values` are those of the root chart, those of a subchart the table below its name.
    pub(super) fn new(tree: &Tree<'_>, options: &Options, capabilities: &Value, values: &Map) -> Self {
        let mut roots = Self { roots: BTreeMap::new() };
        let release = release(options);
        roots.add(tree, Tree::ROOT, &release, capabilities, values);
        roots
    }

    /// The root object of a chart.
    pub(super) fn get(&self, chart: ChartId) -> Map {
        self.roots.get(&chart).cloned().unwrap_or_default()
    }

    fn add(&mut self, tree: &Tree<'_>, chart: ChartId, release: &Map, capabilities: &Value, values: &Map) -> Map {
        let root = Map::new();
        root.set(
            "Chart",
            match tree.helm().switches().go_types {
                GoTypes::Structs => chart_struct(tree, chart),
                GoTypes::Maps => chart_object(tree, chart).into(),
            },
        );
        root.set("Files", super::files::files(&tree.chart(chart).files));
        root.set("Release", release.clone());
        root.set("Capabilities", capabilities.clone());
        root.set("Values", values.cast(values_type(tree.helm())));
        let subcharts = Map::new();
        root.set("Subcharts", subcharts.clone());
        for &subchart in tree.subcharts(chart) {
            let name = tree.name(subchart);
            // Helm looks the values up by a path, so that a name with a dot finds none.
            let below = super::dependencies::table(values, name).unwrap_or_default();
            let object = self.add(tree, subchart, release, capabilities, &below);
            subcharts.set(name, object);
        }
        self.roots.insert(chart, root.clone());
        root
    }
}

fn release(options: &Options) -> Map {
    let release = Map::new();
    release.set("Name", options.release_name.as_str());
    release.set("Namespace", options.namespace.as_str());
    release.set("IsUpgrade", options.is_upgrade);
    release.set("IsInstall", !options.is_upgrade);
    release.set("Revision", Value::int(1));
    release.set("Service", "Helm");
    release
}

/// What `.Template` says while a file is executed.
pub(super) fn template_object(helm: Helm, name: &str, base_path: &str) -> Value {
    let object = Map::new();
    object.set("Name", name);
    object.set("BasePath", base_path);
    object.cast(values_type(helm)).into()
}

fn chart_object(tree: &Tree<'_>, chart: ChartId) -> Map {
    let metadata: &Metadata = &tree.chart(chart).metadata;
    let texts = |items: &[String]| List::new(items.iter().map(|item| Value::from(item.as_str())).collect());
    let object = Map::new();
    object.set("Name", tree.name(chart));
    object.set("Home", metadata.home.as_str());
    object.set("Sources", texts(&metadata.sources));
    object.set("Version", metadata.version.as_str());
    object.set("Description", metadata.description.as_str());
    object.set("Keywords", texts(&metadata.keywords));
    object.set("Icon", metadata.icon.as_str());
    object.set("APIVersion", metadata.api_version.as_str());
    object.set("Condition", metadata.condition.as_str());
    object.set("Tags", metadata.tags.as_str());
    object.set("AppVersion", metadata.app_version.as_str());
    object.set("Deprecated", metadata.deprecated);
    object.set("Annotations", annotations(metadata));
    object.set("KubeVersion", metadata.kube_version.as_str());
    object.set("Type", metadata.kind.as_str());
    object.set("IsRoot", tree.is_root(chart));
    object.set("Maintainers", List::new(metadata.maintainers.iter().map(maintainer_object).collect()));
    let dependencies = tree.dependencies(chart).unwrap_or_default();
    object.set("Dependencies", List::new(dependencies.iter().map(dependency_object).collect()));
    object
}

pub(super) static STRINGS: MapType = MapType::STRINGS;

pub(super) fn annotations(metadata: &Metadata) -> Map {
    let entry = |(key, value): (&String, &String)| (Text::from(key), Value::from(value.as_str()));
    match &metadata.annotations {
        Some(annotations) => Map::of(&STRINGS, annotations.iter().map(entry).collect()),
        None => Map::nil(&STRINGS),
    }
}

fn maintainer_object(maintainer: &Maintainer) -> Value {
    let object = Map::new();
    object.set("Name", maintainer.name.as_str());
    object.set("Email", maintainer.email.as_str());
    object.set("URL", maintainer.url.as_str());
    object.into()
}

fn dependency_object(dependency: &Dependency) -> Value {
    let object = Map::new();
    object.set("Name", dependency.name.as_str());
    object.set("Version", dependency.version.as_str());
    object.set("Repository", dependency.repository.as_str());
    object.set("Condition", dependency.condition.as_str());
    object.set("Tags", List::new(dependency.tags.iter().map(|tag| Value::from(tag.as_str())).collect()));
    object.set("Enabled", dependency.enabled);
    object.set("Alias", dependency.alias.as_str());
    object.set("ImportValues", List::new(dependency.import_values.iter().flatten().map(import_value).collect()));
    object.into()
}

/// Helm's `processImportValues` replaces the maps by maps of strings.
pub(super) fn import_value(value: &go_yaml::Value) -> Value {
    match to_template(value) {
        Value::Map(map) => Value::Map(map.cast(&STRINGS)),
        other => other,
    }
}
