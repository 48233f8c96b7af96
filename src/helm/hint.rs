//! The way around a function that was refused: which value of the chart keeps it from being needed.
//!
//! Works on the text of the templates, action by action, because it is about what their authors meant: the value that
//! an enclosing `if` asks for, the one that `default` prefers, or the path that a helper is told to look up. What
//! can't be told that way is not guessed.

use std::collections::BTreeMap;

use super::engine::Templates;
use super::tree::{ChartId, Tree};
use crate::template::{Cause, Failure, Place, Refused};
use crate::yaml::Value;

/// How many values a hint names.
const NAMED_MAX: usize = 3;
/// How many assignments are followed from a variable to a value.
const STEPS_MAX: usize = 4;

/// What to do about a failure, where that can be told.
pub fn hint(failure: &Failure, templates: &Templates<'_>, tree: &Tree<'_>) -> Option<String> {
    let Cause::Refused(refused) = failure.cause() else { return None };
    let function = refused.function();
    let allow = match refused {
        Refused::Random(_) | Refused::Clock(_) => format!(", or have an admin allow `{function}` by name"),
        Refused::Unrepeatable(..) => String::new(),
    };
    let values = ways_around(failure, templates, tree);
    if values.is_empty() {
        return Some(format!("take `{function}` out of the template{allow}"));
    }
    Some(format!("{}{allow}", values.join(", or ")))
}

/// What to set, best first.
fn ways_around(failure: &Failure, templates: &Templates<'_>, tree: &Tree<'_>) -> Vec<String> {
    let levels: Vec<_> = failure.levels().collect();
    let Some(chart) = levels.iter().find_map(|level| Some(templates.get(&level.place.template)?.chart)) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (level, depth) in levels.iter().rev().zip(0..) {
        let Some(template) = templates.get(&level.place.template) else { continue };
        let text = String::from_utf8_lossy(&template.file.data);
        if let Some(surroundings) = Surroundings::of(&text, &level.place) {
            found.extend(surroundings.values(tree, chart));
        }
        // A helper is handed the path of the value that it looks up.
        if depth > 0 && found.is_empty() {
            let paths = literals(&level.node).filter(|path| has_value(tree, chart, path));
            found.extend(paths.map(|path| Wish { path: path.to_owned(), off: false }));
        }
        if !found.is_empty() {
            break;
        }
    }
    let mut told: Vec<String> = Vec::new();
    for Wish { path, off } in found {
        let path = full_path(tree, chart, &path);
        let wish = if off { format!("set `{path}` to false") } else { format!("set `{path}`") };
        if !told.contains(&wish) && told.len() < NAMED_MAX {
            told.push(wish);
        }
    }
    told
}

/// A value that should have another content.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Wish {
    /// Below `.Values`.
    path: String,
    /// Whether it should be off; else it should be set to something.
    off: bool,
}

/// What stands around a place of a template.
#[derive(Debug, Default, PartialEq, Eq)]
struct Surroundings<'t> {
    /// The action at the place.
    action: &'t str,
    /// The conditions that led there, innermost first, each with whether it held.
    conditions: Vec<(&'t str, bool)>,
    /// What was assigned to variables before, the last assignment of each.
    variables: BTreeMap<&'t str, &'t str>,
}

/// A control structure that is open.
#[derive(Debug, Default)]
struct Block<'t> {
    holds: Option<&'t str>,
    failed: Vec<&'t str>,
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
                let conditions = blocks.iter().rev().flat_map(|block| {
                    let failed = block.failed.iter().rev().map(|condition| (*condition, false));
                    block.holds.map(|condition| (condition, true)).into_iter().chain(failed)
                });
                return Some(Self { action, conditions: conditions.collect(), variables });
            }
            let (keyword, rest) = action.split_once(char::is_whitespace).unwrap_or((action, ""));
            match keyword {
                "if" | "with" => blocks.push(Block { holds: Some(rest), failed: Vec::new() }),
                "range" | "block" => blocks.push(Block::default()),
                "define" => {
                    blocks.push(Block::default());
                    variables.clear();
                }
                "else" => {
                    let block = blocks.last_mut()?;
                    block.failed.extend(block.holds.take());
                    let rest = rest.trim();
                    block.holds = rest.strip_prefix("if ").or_else(|| rest.strip_prefix("with "));
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

    /// The values that decide whether the place is reached, or whether its result counts.
    fn values(&self, tree: &Tree<'_>, chart: ChartId) -> Vec<Wish> {
        // `.Values.a | default (…)`, `default (…) .Values.a`, `coalesce .Values.a (…)`: the value comes first.
        let prefers = ["default", "coalesce", "ternary", "empty"].iter().any(|word| has_word(self.action, word));
        if prefers {
            let values = self.values_in(self.action, false, tree, chart);
            if !values.is_empty() {
                return values;
            }
        }
        let wishes = self.conditions.iter().map(|(condition, held)| {
            // What holds because the value is missing, and what does not hold: the value is wanted.
            let off = *held != asks_for_absence(condition);
            self.values_in(condition, off, tree, chart)
        });
        let mut wishes: Vec<Vec<Wish>> = wishes.filter(|wishes| !wishes.is_empty()).collect();
        // A value that is missing explains more than a switch that is on.
        wishes.sort_by_key(|wishes| wishes.iter().all(|wish| wish.off));
        wishes.into_iter().next().unwrap_or_default()
    }

    /// The values that an expression names, also by way of variables.
    fn values_in(&self, expression: &str, off: bool, tree: &Tree<'_>, chart: ChartId) -> Vec<Wish> {
        let mut pending = vec![expression];
        let mut found: Vec<Wish> = Vec::new();
        for _ in 0..STEPS_MAX {
            let mut next = Vec::new();
            for expression in pending {
                let paths =
                    value_paths(expression).chain(literals(expression).filter(|path| has_value(tree, chart, path)));
                for path in paths {
                    let wish = Wish { path: path.to_owned(), off };
                    if !found.contains(&wish) {
                        found.push(wish);
                    }
                }
                next.extend(variables_in(expression).filter_map(|name| self.variables.get(name).copied()));
            }
            if !found.is_empty() || next.is_empty() {
                break;
            }
            pending = next;
        }
        found
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

/// Whether a condition holds when a value is missing: `not .Values.a`, `empty .Values.a`, `eq .Values.a ""`.
fn asks_for_absence(condition: &str) -> bool {
    let mut rest = condition.trim();
    let mut absent = false;
    loop {
        let inner = rest.trim_start_matches(['(', ' ']);
        if let Some(negated) = inner.strip_prefix("not ") {
            absent = !absent;
            rest = negated;
        } else if inner.starts_with("empty ") || (inner.starts_with("eq ") && inner.contains("\"\"")) {
            return !absent;
        } else {
            return absent;
        }
    }
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
        assert_eq!(found.conditions, [("not .Values.c", true), (".Values.a", false)]);
        assert_eq!(found.variables.get("$x"), Some(&" .Values.e"));
    }

    #[test]
    fn absence() {
        let rows = [
            (".Values.a", false),
            ("not .Values.a", true),
            ("empty .Values.a", true),
            ("not (empty .Values.a)", false),
            ("eq .Values.a \"\"", true),
            ("(not (eq $x \"\"))", false),
            ("and .Values.a .Values.b", false),
        ];
        for (condition, expected) in rows {
            assert_eq!(asks_for_absence(condition), expected, "{condition}");
        }
    }

    #[test]
    fn paths_in_expressions() {
        let found: Vec<_> = value_paths("or $.Values.a.b (.Values.c) .Values").collect();
        assert_eq!(found, ["a.b", "c"]);
        assert_eq!(variables_in("eq $a.b $ $c").collect::<Vec<_>>(), ["$a", "$c"]);
    }
}
