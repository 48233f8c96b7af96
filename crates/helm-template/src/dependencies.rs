//! Which subcharts are used, under which names, and what parents take over from them.
//!
//! Reference: helm 4.2.3 pkg/chart/v2/util/dependencies.go. Cases `dep-*`.

use go_template::{Map, Text, Value, printed};

use super::coalesce::{self, Nulls};
use super::metadata::Dependency;
use super::template_values::{copy, to_template};
use super::tree::{ChartId, CoalesceError, Tree};
use crate::version::differences::Imports;

/// Applies aliases, conditions, tags and `import-values` to the whole tree. `values` are the user's.
pub(super) fn process(tree: &mut Tree, values: &Map, warnings: &mut Vec<String>) -> Result<(), CoalesceError> {
    enable(tree, Tree::ROOT, values, "", warnings)?;
    import(tree, Tree::ROOT, warnings)
}

/// Leaves of a chart's subcharts those that are enabled, then goes on below them.
///
/// `values` are always those of the root, to which each chart on the way has added its own defaults; `path` leads
/// from there to the values of this chart, for conditions.
fn enable(
    tree: &mut Tree,
    chart: ChartId,
    values: &Map,
    path: &str,
    warnings: &mut Vec<String>,
) -> Result<(), CoalesceError> {
    let Some(mut dependencies) = tree.dependencies(chart).map(<[_]>::to_vec) else { return Ok(()) };
    let fits = |tree: &Tree, dependency: &Dependency, subchart: ChartId| {
        tree.name(subchart) == dependency.name
            && super::version_fits(&dependency.version, &tree.chart(subchart).metadata.version)
    };
    let present = tree.subcharts(chart).to_vec();
    let is_unlisted = |subchart: &ChartId| !dependencies.iter().any(|dependency| fits(tree, dependency, *subchart));
    let mut used: Vec<ChartId> = present.iter().copied().filter(is_unlisted).collect();
    for dependency in &mut dependencies {
        if let Some(&subchart) = present.iter().find(|subchart| fits(tree, dependency, **subchart)) {
            used.push(tree.use_as(subchart, dependency.used_name()));
        }
        dependency.name = dependency.used_name().to_owned();
    }
    tree.rename_dependencies(chart);
    tree.set_subcharts(chart, used);
    let values = coalesce::coalesce(tree, chart, values, Nulls::Remove, warnings)?;
    dependencies.iter_mut().for_each(|dependency| dependency.enabled = true);
    apply_tags(&mut dependencies, &values, warnings);
    apply_conditions(&mut dependencies, &values, path, warnings);
    let disabled: Vec<&str> =
        dependencies.iter().filter(|dependency| !dependency.enabled).map(|dependency| &*dependency.name).collect();
    let mut used = tree.subcharts(chart).to_vec();
    used.retain(|subchart| !disabled.contains(&tree.name(*subchart)));
    let left: Vec<_> =
        dependencies.iter().filter(|dependency| !disabled.contains(&&*dependency.name)).cloned().collect();
    for &subchart in &used {
        let path = format!("{path}{}.", tree.name(subchart));
        enable(tree, subchart, &values, &path, warnings)?;
    }
    tree.set_dependencies(chart, if left.is_empty() { None } else { Some(left) });
    tree.set_subcharts(chart, used);
    Ok(())
}

/// A dependency is off when one of its tags is false and none is true.
fn apply_tags(dependencies: &mut [Dependency], values: &Map, warnings: &mut Vec<String>) {
    let Some(Value::Map(tags)) = values.get(b"tags") else { return };
    for dependency in dependencies {
        let (mut any_true, mut any_false) = (false, false);
        for tag in &dependency.tags {
            match tags.get(tag.as_bytes()) {
                Some(Value::Bool(true)) => any_true = true,
                Some(Value::Bool(false)) => any_false = true,
                Some(_) => {
                    warnings.push(format!("the tag {tag} of the dependency {} is not a boolean", dependency.name))
                }
                None => {}
            }
        }
        dependency.enabled = any_true || !any_false;
    }
}

/// The first path with a boolean decides; tags don't count then.
fn apply_conditions(dependencies: &mut [Dependency], values: &Map, path: &str, warnings: &mut Vec<String>) {
    for dependency in dependencies {
        for condition in dependency.condition.trim().split(',').filter(|condition| !condition.is_empty()) {
            match value_at(values, &format!("{path}{condition}")) {
                Some(Value::Bool(enabled)) => {
                    dependency.enabled = enabled;
                    break;
                }
                Some(_) => {
                    let name = &dependency.name;
                    warnings.push(format!("the condition {condition} of the dependency {name} is not a boolean"));
                }
                None => {}
            }
        }
    }
}

/// The value at a path with dots, unless it is a table.
fn value_at(values: &Map, path: &str) -> Option<Value> {
    let (tables, key) = path.rsplit_once('.').map_or((None, path), |(tables, key)| (Some(tables), key));
    let parent = tables.map_or_else(|| Some(values.clone()), |tables| table(values, tables));
    parent?.get(key.as_bytes()).filter(|value| !matches!(value, Value::Map(_)))
}

/// The table at a path with dots.
pub(super) fn table(values: &Map, path: &str) -> Option<Map> {
    path.split('.').try_fold(values.clone(), |values, key| values.get(key.as_bytes())?.as_map().cloned())
}

/// Makes the values of a chart with dependencies those of all its subcharts too, and adds what it imports from them.
/// Subcharts first.
fn import(tree: &mut Tree, chart: ChartId, warnings: &mut Vec<String>) -> Result<(), CoalesceError> {
    for subchart in tree.subcharts(chart).to_vec() {
        import(tree, subchart, warnings)?;
    }
    let Some(mut dependencies) = tree.dependencies(chart).map(<[_]>::to_vec) else { return Ok(()) };
    let values = coalesce::coalesce(tree, chart, &Map::new(), Nulls::Keep, warnings)?;
    let imported = Map::new();
    for dependency in &mut dependencies {
        let name = dependency.name.clone();
        let mut normalised = Vec::new();
        for entry in dependency.import_values.iter().flatten() {
            let (child, parent) = match entry {
                go_yaml::Value::Mapping(_) => (import_name(tree, entry, "child")?, import_name(tree, entry, "parent")?),
                go_yaml::Value::String(name) => (format!("exports.{name}"), ".".to_owned()),
                _ => continue,
            };
            normalised.push(
                [("child".to_owned(), child.clone().into()), ("parent".to_owned(), parent.clone().into())].into(),
            );
            match table(&values, &format!("{name}.{child}")) {
                Some(found) => {
                    // Helm uses the table itself, except when there is nothing in it.
                    let found = if found.is_empty() { Map::new() } else { found };
                    coalesce::merge_tables(tree, &imported, &nested(&parent, found), warnings);
                }
                None => warnings.push(format!("import-values of {name}: there is no table {child} in its values")),
            }
        }
        dependency.import_values = Some(normalised.into_iter().map(go_yaml::Value::Mapping).collect());
    }
    // Imported tables must not be shared with the values they were found in.
    let values = copy(&values);
    coalesce::merge_tables(tree, &values, &imported, warnings);
    tree.set_values(chart, values);
    tree.set_dependencies(chart, Some(dependencies));
    Ok(())
}

/// `child` or `parent` of an entry of `import-values`.
fn import_name(tree: &Tree, entry: &go_yaml::Value, key: &str) -> Result<String, CoalesceError> {
    let name = entry.get(key).map(to_template).unwrap_or_default();
    match (&name, tree.helm().switches().imports) {
        (Value::String(_), _) | (_, Imports::Anything) => Ok(printed("%v", &name)),
        (_, Imports::Texts) => Err(CoalesceError::ImportName(name.kind().name())),
    }
}

/// A table that has `table` at a path with dots; `.` is the table itself.
fn nested(path: &str, table: Map) -> Map {
    if path == "." {
        return table;
    }
    let wrap = |table: Map, key: &str| [(Text::from(key), Value::Map(table))].into_iter().collect();
    path.rsplit('.').fold(table, wrap)
}
