//! Values of charts brought together: the user's over the parent's over the chart's own.
//!
//! Works on shared maps, as Helm does, because sharing shows: a global table that a subchart also sets is, from its
//! second level down, the very map of the parent, so that what one subchart adds there is seen by the others.
//!
//! Reference: helm 4.2.3 pkg/chart/common/util/coalesce.go; before 4.0 pkg/chartutil/coalesce.go. Cases `values-*`, `dep-*`.

use std::collections::BTreeSet;

use dry_files::diag::clipped;
use go_template::{Map, Text, Value};

use super::template_values::copy;
use super::tree::{ChartId, CoalesceError, Tree};
use crate::version::differences::{NullItems, Nulls as Rule};

/// What becomes of nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nulls {
    /// They remove what they are set for.
    Remove,
    /// They stay, for a later round.
    Keep,
}

/// The key of the values that every subchart gets.
const GLOBAL: &[u8] = b"global";

/// All values of `chart` and its subcharts, those in `values` first. The maps of `values` are copied before.
///
/// What had to be passed over is added to `warnings`.
pub(super) fn coalesce(
    tree: &Tree<'_>,
    chart: ChartId,
    values: &Map,
    nulls: Nulls,
    warnings: &mut Vec<String>,
) -> Result<Map, CoalesceError> {
    let mut round = Round { tree, rule: tree.helm().switches().nulls, warnings };
    round.check_items(values)?;
    let values = copy(values);
    round.chart(chart, &values, "", nulls)?;
    Ok(values)
}

/// Adds to `into` what it lacks of `from`, table by table; nulls stay. `from` may be changed.
pub(super) fn merge_tables(tree: &Tree<'_>, into: &Map, from: &Map, warnings: &mut Vec<String>) {
    Round { tree, rule: tree.helm().switches().nulls, warnings }.tables(into, from, "", Nulls::Keep);
}

/// One walk over a chart and its subcharts.
struct Round<'a, 't> {
    tree: &'a Tree<'t>,
    rule: Rule,
    warnings: &'a mut Vec<String>,
}

impl Round<'_, '_> {
    fn chart(&mut self, chart: ChartId, values: &Map, prefix: &str, nulls: Nulls) -> Result<(), CoalesceError> {
        self.tree.visit()?;
        self.defaults(chart, values, prefix, nulls)?;
        let path = joined(prefix, self.tree.name(chart));
        for &subchart in self.tree.subcharts(chart) {
            let name = Text::from(self.tree.name(subchart));
            let below = match values.get(&name) {
                None => Map::new(),
                Some(Value::Map(map)) => map,
                Some(value) => return Err(CoalesceError::TypeMismatch { name, value }),
            };
            values.set(name, below.clone());
            self.globals(&below, values, &path);
            self.chart(subchart, &below, &path, nulls)?;
        }
        Ok(())
    }

    /// Adds the chart's own values to those that were given for it.
    fn defaults(&mut self, chart: ChartId, values: &Map, prefix: &str, nulls: Nulls) -> Result<(), CoalesceError> {
        let path = joined(prefix, self.tree.name(chart));
        let defaults = self.tree.values(chart);
        self.check_items(&defaults)?;
        for (key, default) in defaults.entries().iter() {
            match (values.get(key), default) {
                (Some(Value::Nil), _) if nulls == Nulls::Remove => values.unset(key),
                (Some(Value::Map(given)), Value::Map(default)) => {
                    let nulls = if self.is_for_later(chart, key) { Nulls::Keep } else { nulls };
                    if self.cleans(nulls) {
                        remove_nulls(default);
                    }
                    self.tables(&given, default, &joined(&path, &key.to_str()), nulls);
                }
                (Some(Value::Map(_)), Value::Nil) => {}
                (Some(Value::Map(_)), _) => {
                    self.warnings.push(format!("skipped value for {path}.{}: Not a table.", key.to_str()));
                }
                (Some(_), _) => {}
                (None, Value::Nil) if self.cleans(nulls) => {}
                (None, default) => {
                    if let Value::Map(table) = default
                        && self.cleans(nulls)
                    {
                        remove_nulls(table);
                    }
                    values.set(key.clone(), default.clone());
                }
            }
        }
        Ok(())
    }

    /// Whether nulls below a key stay, because they are for a subchart, which comes in a later round.
    fn is_for_later(&self, chart: ChartId, key: &Text) -> bool {
        self.rule != Rule::RemovedByTheParent
            && self.tree.subcharts(chart).iter().any(|subchart| key == self.tree.name(*subchart))
    }

    /// Whether nulls among a chart's own values are left out.
    fn cleans(&self, nulls: Nulls) -> bool {
        nulls == Nulls::Remove && self.rule == Rule::NeverDefaults
    }

    /// Fails for a null in a list, if this Helm does. Reference: helm 4.1.0 internal/copystructure `copyValue`.
    fn check_items(&self, values: &Map) -> Result<(), CoalesceError> {
        let fails = self.tree.helm().switches().null_items == NullItems::Fail;
        if fails && values.entries().values().any(has_null_item) { Err(CoalesceError::NullItem) } else { Ok(()) }
    }

    /// Hands the parent's globals to a subchart; they win over what it has.
    fn globals(&mut self, below: &Map, values: &Map, path: &str) {
        let theirs = match below.get(GLOBAL) {
            None => Map::new(),
            Some(Value::Map(map)) => map,
            Some(_) => {
                self.warnings.push("skipping globals because destination global is not a table.".to_owned());
                return;
            }
        };
        let ours = match values.get(GLOBAL) {
            None => Map::new(),
            Some(Value::Map(map)) => map,
            Some(_) => {
                self.warnings.push("skipping globals because source global is not a table.".to_owned());
                return;
            }
        };
        // A subchart may be named `global`: its values are the globals then, and what is handed on depends on which key is
        // first. With Helm that is chance; most often it is this one.
        let ours = ours.entries();
        let (first, others): (Vec<_>, Vec<_>) = ours.iter().partition(|(key, _)| key.as_bytes() == GLOBAL);
        for (key, value) in first.into_iter().chain(others) {
            match (value, theirs.get(key)) {
                (Value::Map(table), None) => {
                    theirs.set(key.clone(), shallow(table));
                }
                (Value::Map(table), Some(Value::Map(below))) => {
                    let table = shallow(table);
                    self.tables(&table, &below, &joined(path, &key.to_str()), Nulls::Keep);
                    theirs.set(key.clone(), table);
                }
                (Value::Map(_), Some(_)) => {
                    let key = go_yaml::quote(&key.to_str());
                    self.warnings.push(format!("Conflict: cannot merge map onto non-map for {key}. Skipping."));
                }
                (_, Some(Value::Map(_))) => {
                    self.warnings.push(format!("key {} is table. Skipping", key.to_str()));
                }
                (value, _) => {
                    theirs.set(key.clone(), value.clone());
                }
            }
        }
        below.set(GLOBAL, theirs);
    }

    /// Adds to `into` what it lacks of `from`. A null of `into` takes the other value away, if nulls remove.
    fn tables(&mut self, into: &Map, from: &Map, path: &str, nulls: Nulls) {
        // A null of `into` removes for these keys, or for all of `from`.
        let (mut some, mut all) = (BTreeSet::new(), false);
        // Whether a null of `into` counts where `from` has nothing.
        let copies = match self.rule {
            Rule::RemovedByTheParent | Rule::Remove => {
                all = nulls == Nulls::Remove;
                false
            }
            Rule::RemoveThemselves => {
                all = nulls == Nulls::Remove;
                true
            }
            Rule::RemoveWhatIsThere | Rule::NeverDefaults => {
                let is_value = |(_, value): &(&Text, &Value)| nulls == Nulls::Remove && !is_nil(value);
                some.extend(from.entries().iter().filter(is_value).map(|(key, _)| key.clone()));
                true
            }
        };
        if copies {
            for (key, value) in into.entries().iter() {
                if is_nil(value) {
                    from.set(key.clone(), Value::Nil);
                }
            }
        }
        for (key, value) in from.entries().iter() {
            let path = joined(path, &key.to_str());
            match (into.get(key), value) {
                (None, value) => {
                    into.set(key.clone(), value.clone());
                }
                (Some(Value::Nil), _) if all || some.contains(key) => into.unset(key),
                (Some(Value::Map(into)), Value::Map(from)) => self.tables(&into, from, &path, nulls),
                (Some(_), Value::Map(_)) => {
                    let table = in_brackets(value);
                    self.warnings.push(format!("cannot overwrite table with non table for {path} {table}"));
                }
                (Some(Value::Map(_)), value) if !is_nil(value) => {
                    let value = in_brackets(value);
                    self.warnings.push(format!("destination for {path} is a table. Ignoring non-table value {value}"));
                }
                (Some(_), _) => {}
            }
        }
    }
}

/// A value as Go prints it, cut where it is long.
fn in_brackets(value: &Value) -> String {
    format!("({})", clipped(go_template::printed("%v", value)))
}

/// Whether there is a null in a list, at any depth.
fn has_null_item(value: &Value) -> bool {
    match value {
        Value::List(list) => list.iter().any(|item| is_nil(item) || has_null_item(item)),
        Value::Map(table) => table.entries().values().any(has_null_item),
        _ => false,
    }
}

fn remove_nulls(table: &Map) {
    for (key, value) in table.entries().iter() {
        match value {
            Value::Nil => table.unset(key),
            Value::Map(table) => remove_nulls(table),
            _ => {}
        }
    }
}

fn is_nil(value: &Value) -> bool {
    matches!(value, Value::Nil)
}

fn shallow(map: &Map) -> Map {
    map.entries().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn joined(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}.{name}") }
}
