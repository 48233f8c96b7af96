//! What may be set so that a refused call is not needed.
//!
//! Works on the text of the templates, action by action, because it is about what their authors meant: the value that
//! `default` prefers, the one that an enclosing `if` asks for, or the path that a helper is to look up. What is
//! found that way is a guess, and so are the values whose names look like what such functions are for: all of it is
//! tried before it is shown.

use std::collections::{BTreeMap, BTreeSet};

use super::engine::templates::Templates;
use super::objects::Roots;
use super::setting::Setting;
use super::tree::{ChartId, Tree};
use crate::template::{Map, Place, RefusedCall, Value as GoValue};
use crate::yaml::Value;

/// How many settings are named for one call.
const SETTINGS_MAX: usize = 20;
/// How many assignments and definitions are followed from an expression to a value.
const STEPS_MAX: usize = 4;
/// What the names of values contain that stand for something random.
const SECRETS: &[&str] =
    &["password", "passwd", "secret", "token", "key", "cert", "crt", "tls", "salt", "credential", "generat", "uuid"];

/// The charts of a render, to look for settings in.
pub(super) struct Settings<'a> {
    templates: &'a Templates<'a>,
    tree: &'a Tree<'a>,
    /// Those of the root chart, with all below.
    values: Map,
    /// The texts of all definitions.
    definitions: BTreeMap<String, String>,
}

impl<'a> Settings<'a> {
    /// Reads the templates.
    pub(super) fn new(templates: &'a Templates<'a>, tree: &'a Tree<'a>, roots: &Roots) -> Self {
        let values = match roots.get(Tree::ROOT).get(b"Values") {
            Some(GoValue::Map(values)) => values,
            _ => Map::new(),
        };
        let mut definitions = BTreeMap::new();
        for template in templates.all() {
            let text = String::from_utf8_lossy(&template.file.data);
            definitions.extend(definitions_in(&text).map(|(name, text)| (name.to_owned(), text.to_owned())));
        }
        Self { templates, tree, values, definitions }
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
            let Some(template) = self.templates.get(&place.template) else { continue };
            let text = String::from_utf8_lossy(&template.file.data);
            if let Some(surroundings) = Surroundings::of(&text, place) {
                paths.extend(reader.paths(&surroundings).iter().map(|path| full_path(self.tree, chart, path)));
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
    let setting = |path: String| {
        let value = value_at(values, &path);
        let name = path.rsplit('.').next().unwrap_or_default();
        let rank = (!is_secret(name), path.starts_with("global."));
        let setting = Setting::of(path, value.as_ref())?;
        Some((!setting.gives(), rank, setting))
    };
    let mut found: Vec<_> = paths.into_iter().filter_map(setting).collect();
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
    let first = values.get(keys.next()?.as_bytes())?;
    keys.try_fold(first, |value, key| match value {
        GoValue::Map(map) => map.get(key.as_bytes()),
        _ => None,
    })
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
    definitions: &'a BTreeMap<String, String>,
    /// Whether a text is the path of a value.
    is_value: &'a dyn Fn(&str) -> bool,
    /// The definitions that were read.
    followed: BTreeSet<String>,
}

impl Reader<'_> {
    /// Paths below `.Values`, the most telling first.
    fn paths(&mut self, surroundings: &Surroundings<'_>) -> Vec<String> {
        let Surroundings { action, conditions, variables } = surroundings;
        let mut variables = variables.clone();
        // `.Values.a | default (…)`, `default (…) .Values.a`, `coalesce .Values.a (…)`: the value comes first.
        let prefers = ["default", "coalesce", "ternary", "empty"].iter().any(|word| has_word(action, word));
        let own = prefers.then_some(*action).into_iter();
        let expressions = own.chain(conditions.iter().copied()).chain((!prefers).then_some(*action));
        expressions.flat_map(|expression| self.paths_in(expression, &mut variables)).collect()
    }

    /// What an expression names, also by way of variables and of templates that it includes. Each of these is followed
    /// once.
    fn paths_in(&mut self, expression: &str, variables: &mut BTreeMap<&str, &str>) -> Vec<String> {
        let mut pending = vec![expression.to_owned()];
        let mut found = Vec::new();
        for _ in 0..STEPS_MAX {
            let mut next = Vec::new();
            for expression in pending {
                let literal_paths = literals(&expression).filter(|path| (self.is_value)(path));
                found.extend(value_paths(&expression).chain(literal_paths).map(str::to_owned));
                next.extend(variables_in(&expression).filter_map(|name| variables.remove(name)).map(str::to_owned));
                for name in included(&expression) {
                    if let Some(text) = self.definitions.get(name)
                        && self.followed.insert(name.to_owned())
                    {
                        next.push(text.clone());
                    }
                }
            }
            pending = next;
        }
        found
    }
}

/// What surrounds a place of a template.
#[derive(Debug, Default, PartialEq, Eq)]
struct Surroundings<'t> {
    /// The action at the place.
    action: &'t str,
    /// The conditions that led there, innermost first.
    conditions: Vec<&'t str>,
    /// What was assigned to variables before, the last assignment of each.
    variables: BTreeMap<&'t str, &'t str>,
}

/// A control structure that is open.
#[derive(Debug, Default)]
struct Block<'t> {
    /// What was asked so far.
    conditions: Vec<&'t str>,
}

impl<'t> Surroundings<'t> {
    /// None when there is no action at the place.
    fn of(text: &'t str, place: &Place) -> Option<Self> {
        let line_start: usize =
            text.split_inclusive('\n').take((place.line as usize).saturating_sub(1)).map(str::len).sum();
        let target = line_start + place.column as usize;
        let mut blocks: Vec<Block<'t>> = Vec::new();
        let mut variables = BTreeMap::new();
        for (start, action) in actions(text) {
            if (start..=start + action.len()).contains(&target) {
                let conditions = blocks.iter().rev().flat_map(|block| block.conditions.iter().rev().copied());
                return Some(Self { action, conditions: conditions.collect(), variables });
            }
            let (keyword, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
            match keyword {
                "if" | "with" => blocks.push(Block { conditions: vec![rest] }),
                "range" | "block" => blocks.push(Block::default()),
                "define" => {
                    blocks.push(Block::default());
                    variables.clear();
                }
                "else" => {
                    let rest = rest.trim();
                    let condition = rest.strip_prefix("if ").or_else(|| rest.strip_prefix("with "));
                    blocks.last_mut()?.conditions.extend(condition);
                }
                "end" => {
                    blocks.pop();
                }
                _ => {}
            }
            if let Some((name, value)) = action.split_once('=')
                && action.starts_with('$')
            {
                variables.insert(name.trim_end_matches(':').trim(), value);
            }
        }
        None
    }
}

/// The actions of a text, each with where it starts; without delimiters, trim marks and comments.
fn actions(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let open = at + text.get(at..)?.find("{{")? + 2;
            let close = open + end_of_action(text.get(open..)?)?;
            at = close + 2;
            let inner = text.get(open..close)?;
            let inner = inner.strip_prefix('-').filter(|rest| rest.starts_with(char::is_whitespace)).unwrap_or(inner);
            let inner = inner.trim_start();
            let start = close - inner.len();
            if !inner.starts_with("/*") {
                return Some((start, inner.strip_suffix('-').unwrap_or(inner).trim_end()));
            }
        }
    })
}

/// Where the `}}` of an action is, strings and comments passed over.
fn end_of_action(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        let at = rest.find(['"', '`', '\'', '}', '/'])?;
        let here = rest.get(at..)?;
        let skip = if here.starts_with("}}") {
            return Some(text.len() - here.len());
        } else if here.starts_with("/*") {
            here.find("*/")? + 2
        } else if let Some(quoted) = here.strip_prefix(['"', '\'']) {
            1 + end_of_quoted(quoted, here.chars().next()?)?
        } else if let Some(raw) = here.strip_prefix('`') {
            raw.find('`')? + 2
        } else {
            1
        };
        rest = here.get(skip..)?;
    }
}

/// How long a quoted text is, its closing mark included.
fn end_of_quoted(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == mark => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The definitions of a text, each with its own text.
fn definitions_in(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut open: Option<(&str, usize)> = None;
    let mut depth = 0_u32;
    actions(text).filter_map(move |(start, action)| {
        let (keyword, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
        match (keyword, open) {
            ("define", None) => open = Some((rest.trim().trim_matches(['"', '`']), start + action.len())),
            ("if" | "with" | "range" | "block", Some(_)) => depth += 1,
            ("end", Some((name, body))) if depth == 0 => {
                open = None;
                return Some((name, text.get(body..start)?));
            }
            ("end", Some(_)) => depth -= 1,
            _ => {}
        }
        None
    })
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !is_name(c)).any(|part| part == word)
}

/// What follows `.Values.` anywhere in an expression.
fn value_paths(expression: &str) -> impl Iterator<Item = &str> {
    expression.match_indices(".Values.").filter_map(|(at, found)| {
        let rest = expression.get(at + found.len()..)?;
        let end = rest.find(|c: char| !is_name(c) && c != '.').unwrap_or(rest.len());
        rest.get(..end).map(|path| path.trim_matches('.')).filter(|path| !path.is_empty())
    })
}

fn variables_in(expression: &str) -> impl Iterator<Item = &str> {
    expression.match_indices('$').filter_map(|(at, _)| {
        let rest = expression.get(at + 1..)?;
        let end = rest.find(|c: char| !is_name(c)).unwrap_or(rest.len());
        expression.get(at..at + 1 + end).filter(|name| name.len() > 1)
    })
}

/// The names of the templates that an expression includes.
fn included(expression: &str) -> impl Iterator<Item = &str> {
    ["include \"", "template \""].iter().flat_map(|word| expression.split(word).skip(1)).filter_map(|rest| {
        let (name, _) = rest.split_once('"')?;
        Some(name)
    })
}

/// The strings in double quotes of an expression.
fn literals(expression: &str) -> impl Iterator<Item = &str> {
    expression.split('"').skip(1).step_by(2)
}

/// Whether a path with dots leads to a value of the chart that is no table: an empty one counts.
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

    fn surroundings<'t>(text: &'t str, needle: &str) -> Surroundings<'t> {
        let at = text.find(needle).expect("is in the text");
        let before = &text[..at];
        let line = before.matches('\n').count() + 1;
        let column = at - before.rfind('\n').map_or(0, |newline| newline + 1);
        let (line, column) = (u32::try_from(line).expect("small"), u32::try_from(column).expect("small"));
        Surroundings::of(text, &Place { template: "t".into(), line, column }).expect("an action")
    }

    #[test]
    fn conditions_around_a_place() {
        let text = "{{- if .Values.a }}\n{{ with .Values.b }}{{/* }} */}}{{ \"}}\" }}{{ end }}\n{{- else if not .Values.c -}}\n\
                    {{ range .Values.d }}{{ $x := .Values.e }}{{ rand 5 }}{{ end }}\n{{ end }}";
        let found = surroundings(text, "rand");
        assert_eq!(found.action, "rand 5");
        assert_eq!(found.conditions, ["not .Values.c", ".Values.a"]);
        assert_eq!(found.variables.get("$x"), Some(&" .Values.e"));
    }

    #[test]
    fn paths_in_expressions() {
        let found: Vec<_> = value_paths("or $.Values.a.b (.Values.c) .Values").collect();
        assert_eq!(found, ["a.b", "c"]);
        assert_eq!(variables_in("eq $a.b $ $c").collect::<Vec<_>>(), ["$a", "$c"]);
    }

    #[test]
    fn definitions_of_a_text() {
        let text = "{{ define \"a\" }}{{ if .b }}{{ .c }}{{ end }}{{ end }}{{ if .d }}{{ end }}{{- define `e` -}} f {{- end }}";
        let found: Vec<_> = definitions_in(text).map(|(name, text)| (name, text.matches("{{").count())).collect();
        assert_eq!(found, [("a", 4), ("e", 1)]);
    }

    #[test]
    fn what_an_expression_names() {
        let definitions = [
            ("x", "{{ if .Values.in.x }}{{ include \"y\" . }}{{ end }}"),
            ("y", "{{ .Values.in.y }}{{ include \"x\" . }}"),
        ];
        let definitions = definitions.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let mut reader =
            Reader { definitions: &definitions, is_value: &|path| path == "a.literal", followed: BTreeSet::new() };
        let mut variables = [("$v", "$w"), ("$w", ".Values.from.w")].into();
        let rows = [
            ("or .Values.one .Values.two", &["one", "two"][..]),
            ("list \"a.literal\" \"another.one\"", &["a.literal"]),
            ("not $v", &["from.w"]),
            ("include \"x\" .", &["in.x", "in.y"]),
            ("include \"x\" .", &[]),
        ];
        for (expression, expected) in rows {
            assert_eq!(reader.paths_in(expression, &mut variables), expected, "{expression}");
        }
    }
}
