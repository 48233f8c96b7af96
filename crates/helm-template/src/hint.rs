//! What may be set so that a refused call is not needed.
//!
//! Works on the trees of the templates, because it is about what their authors meant: the value that `default` prefers, the
//! one that an enclosing `if` asks for, or the path that a helper is to look up. What is found that way is a guess, and so
//! are the values whose names look like what such functions are for: all of it is tried before it is shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use go_template::{Map, Mentions, Parsed, RefusedCall, Surroundings, Value as GoValue};
use go_yaml::Value;

use super::engine::templates::{Template, Templates};
use super::functions::functions;
use super::objects::Roots;
use super::setting::Setting;
use super::tree::{ChartId, Tree};

/// How many settings are named for one call.
const SETTINGS_MAX: usize = 20;
/// The functions that take the value first, as far as there is one.
const PREFERRING: [&str; 4] = ["default", "coalesce", "ternary", "empty"];
/// How many assignments and definitions are followed from an expression to a value.
const STEPS_MAX: usize = 4;
/// What is in the names of values that hold something random.
const SECRETS: &[&str] =
    &["password", "passwd", "secret", "token", "key", "cert", "crt", "tls", "salt", "credential", "generat", "uuid"];

/// The charts of a render, to look for settings in.
pub(super) struct Settings<'a> {
    templates: &'a Templates<'a>,
    tree: &'a Tree<'a>,
    /// Those of the root chart, with all below.
    values: Map,
    /// The templates, parsed, by name.
    parsed: BTreeMap<&'a str, Parsed>,
    /// What all definitions name.
    definitions: BTreeMap<String, Mentions>,
}

impl<'a> Settings<'a> {
    /// Reads the templates.
    pub(super) fn new(templates: &'a Templates<'a>, tree: &'a Tree<'a>, roots: &Roots) -> Self {
        let values = match roots.get(Tree::ROOT).get(b"Values") {
            Some(GoValue::Map(values)) => values,
            _ => Map::new(),
        };
        let (mut parsed, mut definitions) = (BTreeMap::new(), BTreeMap::new());
        for (name, Template { chart, file }) in templates.in_order() {
            let Ok(one) = tree.chart(chart).parse(file, name, functions()) else { continue };
            definitions.extend(one.definitions().map(|(name, mentions)| (name.to_owned(), mentions)));
            parsed.insert(name.as_str(), one);
        }
        Self { templates, tree, values, parsed, definitions }
    }

    /// The most promising first, each once.
    pub(super) fn of(&self, call: &RefusedCall) -> Vec<Setting> {
        // What is called gets the values of the chart whose file is executed.
        let chart = call.places.first().and_then(|place| Some(self.templates.get(&place.template)?.chart));
        let Some(chart) = chart else { return Vec::new() };
        let is_value = |path: &str| has_value(self.tree, chart, path);
        let mut reader = Reader { definitions: &self.definitions, is_value: &is_value, followed: BTreeSet::new() };
        let mut paths = Vec::new();
        for place in call.places.iter().rev() {
            let parsed = self.parsed.get(&*place.template);
            if let Some(surroundings) = parsed.and_then(|parsed| parsed.surroundings(place)) {
                paths.extend(reader.paths(surroundings).iter().map(|path| full_path(self.tree, chart, path)));
            }
        }
        let named_so = secrets(&self.values, &full_path(self.tree, chart, ""));
        let mut settings: Vec<Setting> = Vec::new();
        for setting in in_order(paths, &self.values).into_iter().chain(in_order(named_so, &self.values)) {
            if settings.len() < SETTINGS_MAX && !settings.contains(&setting) {
                settings.push(setting);
            }
        }
        settings
    }
}

/// Settings of values: secrets that are missing first, what is missing next, and what would change last.
fn in_order(paths: Vec<String>, values: &Map) -> Vec<Setting> {
    let mut found = Vec::new();
    for path in paths {
        let value = value_at(values, &path);
        let name = path.rsplit('.').next().unwrap_or_default();
        let rank = (!is_secret(name), path.starts_with("global."));
        let Some(setting) = Setting::of(path, value.as_ref()) else { continue };
        found.push((!setting.gives(), rank, setting));
    }
    found.sort_by_key(|(changes, rank, _)| (*changes, (!*changes).then_some(*rank)));
    found.into_iter().map(|(.., setting)| setting).collect()
}

/// Whether a name looks like that of something random.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRETS.iter().any(|word| name.contains(word))
}

/// The value at a path with dots.
fn value_at(values: &Map, path: &str) -> Option<GoValue> {
    let mut keys = path.split('.');
    let mut value = values.get(keys.next()?.as_bytes())?;
    for key in keys {
        let GoValue::Map(map) = value else { return None };
        value = map.get(key.as_bytes())?;
    }
    Some(value)
}

/// The values whose names look like those of secrets: those of one chart first.
fn secrets(values: &Map, chart: &str) -> Vec<String> {
    let mut found = Vec::new();
    gather_secrets(values, "", "", &mut found);
    let (near, far): (Vec<_>, Vec<_>) = found.into_iter().partition(|path| path.starts_with(chart));
    near.into_iter().chain(far).collect()
}

fn gather_secrets(values: &Map, path: &str, parent: &str, found: &mut Vec<String>) {
    for (key, value) in values.entries().iter() {
        let key = key.to_str();
        let path = format!("{path}{key}");
        match value {
            _ if key.contains('.') => {}
            GoValue::Map(below) => gather_secrets(below, &format!("{path}."), &key, found),
            GoValue::Bool(_) if is_secret(&key) || is_secret(parent) => found.push(path),
            GoValue::Bool(_) => {}
            _ if is_secret(&key) => found.push(path),
            _ => {}
        }
    }
}

/// Finds the values that decide about a call.
struct Reader<'a> {
    definitions: &'a BTreeMap<String, Mentions>,
    /// Whether a text is the path of a value.
    is_value: &'a dyn Fn(&str) -> bool,
    /// The definitions that were read.
    followed: BTreeSet<String>,
}

impl Reader<'_> {
    /// Paths below `.Values`, the most telling first.
    fn paths(&mut self, surroundings: Surroundings) -> Vec<String> {
        let Surroundings { action, conditions, mut variables } = surroundings;
        // `.Values.a | default (…)`, `default (…) .Values.a`, `coalesce .Values.a (…)`: the value comes first.
        let prefers = action.functions.iter().any(|name| PREFERRING.contains(&name.as_str()));
        let mut expressions = conditions;
        expressions.insert(if prefers { 0 } else { expressions.len() }, action);
        expressions.into_iter().flat_map(|expression| self.paths_in(expression, &mut variables)).collect()
    }

    /// What an expression names, also by way of variables and of templates that it includes. Each of these is followed
    /// once.
    fn paths_in(&mut self, expression: Mentions, variables: &mut BTreeMap<Arc<str>, Mentions>) -> Vec<String> {
        let mut pending = vec![expression];
        let mut found = Vec::new();
        for _ in 0..STEPS_MAX {
            let mut next = Vec::new();
            for Mentions { values, texts, variables: names, templates, .. } in pending {
                found.extend(values.into_iter().chain(texts.into_iter().filter(|text| (self.is_value)(text))));
                next.extend(names.iter().filter_map(|name| variables.remove(name)));
                let definitions = templates.into_iter().filter(|name| self.followed.insert(name.clone()));
                next.extend(definitions.filter_map(|name| self.definitions.get(&name).cloned()));
            }
            pending = next;
        }
        found
    }
}

/// Whether a path with dots leads to a value of the chart that is not a table: an empty one counts.
fn has_value(tree: &Tree<'_>, chart: ChartId, path: &str) -> bool {
    let mut keys = path.split('.');
    let first = keys.next().and_then(|key| tree.chart(chart).values.get(key));
    let found = keys.fold(first, |value, key| value?.get(key));
    path.contains('.') && found.is_some_and(|value| !matches!(value, Value::Mapping(_) | Value::Sequence(_)))
}

/// The path of a chart's value as the user of the root chart writes it.
fn full_path(tree: &Tree<'_>, chart: ChartId, path: &str) -> String {
    if path.starts_with("global.") {
        return path.to_owned();
    }
    let names: String = tree.full_path(chart).split("/charts/").skip(1).map(|name| format!("{name}.")).collect();
    format!("{names}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_expression_names() {
        let of = |text: &str| {
            let parsed = Parsed::new("t", text, functions()).expect("parses");
            parsed.definitions().next().map(|(_, mentions)| mentions).expect("one")
        };
        let definitions = [
            ("x", "{{ if .Values.in.x }}{{ include \"y\" . }}{{ end }}"),
            ("y", "{{ .Values.in.y }}{{ include \"x\" . }}"),
        ];
        let definitions = definitions.map(|(name, text)| (name.to_owned(), of(text))).into();
        let mut reader =
            Reader { definitions: &definitions, is_value: &|path| path == "a.literal", followed: BTreeSet::new() };
        let variables = [("$v", "{{ $w := 1 }}{{ $w }}"), ("$w", "{{ .Values.from.w }}")];
        let mut variables = variables.map(|(name, text)| (Arc::from(name), of(text))).into();
        let rows = [
            ("{{ or .Values.one .Values.two }}", &["one", "two"][..]),
            ("{{ list \"a.literal\" \"another.one\" }}", &["a.literal"]),
            ("{{ $v := 1 }}{{ not $v }}", &["from.w"]),
            ("{{ include \"x\" . }}", &["in.x", "in.y"]),
            ("{{ include \"x\" . }}", &[]),
        ];
        for (expression, expected) in rows {
            assert_eq!(reader.paths_in(of(expression), &mut variables), expected, "{expression}");
        }
    }
}
