//! The change of an object as lines: its fields as YAML, what is equal left out.

use std::collections::HashMap;

use go_yaml::{Mapping, Sequences, Value, emit_v3};

use super::{noise_in, noise_text, schema};
use crate::diff::{self, FieldPath, Leaf, Line, ObjectDiff, Place, Step};

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Mark {
    /// Where the lines below are: the path of a field.
    Place,
    /// It is the same before and after.
    Same,
    /// It is gone.
    Removed,
    /// It is new.
    Added,
    /// An item of a list that is elsewhere, or a value that changed and is hidden.
    Moved,
    /// Something that was left out, in words.
    Folded,
}

impl Mark {
    /// The sign in front of the line, as `diff -u` has it.
    pub(crate) fn sign(self) -> char {
        match self {
            Mark::Place | Mark::Same => ' ',
            Mark::Removed => '-',
            Mark::Added => '+',
            Mark::Moved | Mark::Folded => '~',
        }
    }
}

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Row {
    /// What it says.
    pub mark: Mark,
    /// How deep it is, in columns.
    pub indent: usize,
    /// The line.
    pub text: String,
}

/// How many equal lines are shown around those of a text that differ.
const CONTEXT: usize = 3;

/// From how many characters on a line is cut to where it differs.
const LINE_MAX: usize = 240;

/// How many characters are shown around the place where a long line differs.
const AROUND: usize = 48;

/// From how many places of an object on a change that is the same in all of them is shown once.
const EQUAL_MIN: usize = 3;

/// How many of those places are named.
const PLACES_MAX: usize = 5;

/// The lines of a change; those that are noise only when asked for, else counted. With noise everything is written out.
pub(crate) fn rows(object: &ObjectDiff, with_noise: bool) -> Vec<Row> {
    let is_definition = !with_noise && object.object.kind == "CustomResourceDefinition";
    let mut rows = Rows { rows: Vec::new(), place: None, is_definition };
    object.difference.visit(&mut |path, place| rows.add(path, place, with_noise));
    if !with_noise {
        rows.rows = folded(rows.rows);
    }
    let noise = noise_in(std::iter::once(&object.difference));
    if !with_noise && !noise.is_empty() {
        rows.push(Mark::Folded, 0, format!("also {}", noise_text(&noise)));
    }
    rows.rows
}

struct Rows {
    rows: Vec<Row>,
    /// The path that the last lines are below.
    place: Option<String>,
    /// Whether the object describes a custom resource, whose schemas are described by field.
    is_definition: bool,
}

impl Rows {
    fn push(&mut self, mark: Mark, indent: usize, text: impl Into<String>) {
        self.rows.push(Row { mark, indent, text: text.into() });
    }

    fn add(&mut self, path: &FieldPath, place: Place<'_>, with_noise: bool) {
        match place {
            Place::Leaf(leaf) if leaf.noise.is_some() && !with_noise => {}
            Place::Leaf(leaf) => self.leaf(path, leaf),
            Place::Moved(from, to) => self.moved(path, from, to),
        }
    }

    /// Says where the next lines are, unless the ones before are there too; answers how deep they go.
    fn enter(&mut self, path: &FieldPath) -> usize {
        let mut parent = path.clone();
        parent.pop();
        let in_schema = if self.is_definition { schema::place(parent.steps()) } else { None };
        let place = in_schema.unwrap_or_else(|| parent.to_string());
        let indent = if place.is_empty() { 0 } else { 2 };
        if self.place.as_deref() != Some(&place) {
            if !place.is_empty() {
                self.push(Mark::Place, 0, &place);
            }
            self.place = Some(place);
        }
        indent
    }

    fn moved(&mut self, path: &FieldPath, from: usize, to: usize) {
        let indent = self.enter(path);
        let text = match path.steps().last() {
            Some(Step::Item(fields)) => {
                let fields: Vec<String> = fields.iter().map(|(key, value)| format!("{key}={value}")).collect();
                format!("[{}] moved from [{from}] to [{to}]", fields.join(","))
            }
            _ => format!("[{to}] moved from [{from}]"),
        };
        self.push(Mark::Moved, indent, text);
    }

    fn leaf(&mut self, path: &FieldPath, leaf: &Leaf) {
        let indent = self.enter(path);
        let step = path.steps().last();
        if leaf.old == leaf.new {
            // Only what is hidden is the same before and after.
            let name = yaml(step, &Value::from("changed"));
            return self.push(Mark::Moved, indent, name.trim_end());
        }
        if let (Some(Value::String(old)), Some(Value::String(new))) = (&leaf.old, &leaf.new) {
            if old.contains('\n') || new.contains('\n') {
                return self.text(indent, step, old, new);
            }
            if old.chars().count().max(new.chars().count()) > LINE_MAX {
                let [old, new] = around(old, new);
                self.value(Mark::Removed, indent, step, &Value::String(old));
                return self.value(Mark::Added, indent, step, &Value::String(new));
            }
        }
        for (mark, value) in [(Mark::Removed, &leaf.old), (Mark::Added, &leaf.new)] {
            let Some(value) = value else { continue };
            if !self.is_definition {
                self.value(mark, indent, step, value);
            } else if let Some(summary) = schema::summary(path.steps(), value) {
                self.push(mark, indent, cut(&summary));
            } else if step.is_none() {
                self.value(mark, indent, step, &schema::brief(value));
            } else {
                self.value(mark, indent, step, value);
            }
        }
    }

    /// A value as YAML, below its key or as an item.
    fn value(&mut self, mark: Mark, indent: usize, step: Option<&Step>, value: &Value) {
        for line in yaml(step, value).lines() {
            self.push(mark, indent, cut(line));
        }
    }

    /// Two texts of several lines, with the lines that differ and some around them.
    fn text(&mut self, indent: usize, step: Option<&Step>, old: &str, new: &str) {
        let head = yaml(step, &Value::from(""));
        self.push(Mark::Same, indent, head.trim_end().trim_end_matches("\"\"").to_owned() + "|");
        let [old_lines, new_lines] = [old, new].map(|text| text.strip_suffix('\n').unwrap_or(text));
        let lines = diff::lines(old_lines, new_lines);
        let differs: Vec<usize> = lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !matches!(line, Line::Same(_)))
            .map(|(index, _)| index)
            .collect();
        let mut left_out = 0;
        for (index, line) in lines.iter().enumerate() {
            let next = differs.partition_point(|at| *at < index);
            let near = |at: Option<&usize>| at.is_some_and(|at| at.abs_diff(index) <= CONTEXT);
            if !near(differs.get(next)) && !near(next.checked_sub(1).and_then(|before| differs.get(before))) {
                left_out += 1;
                continue;
            }
            self.left_out(indent, std::mem::take(&mut left_out));
            let (mark, text) = match line {
                Line::Same(text) => (Mark::Same, text),
                Line::Removed(text) => (Mark::Removed, text),
                Line::Added(text) => (Mark::Added, text),
            };
            self.push(mark, indent + 2, cut(text));
        }
        self.left_out(indent, left_out);
        match (old.ends_with('\n'), new.ends_with('\n')) {
            (true, false) => self.push(Mark::Folded, indent + 2, "newline at the end removed"),
            (false, true) => self.push(Mark::Folded, indent + 2, "newline at the end added"),
            (true, true) | (false, false) => {}
        }
    }

    fn left_out(&mut self, indent: usize, count: usize) {
        match count {
            0 => {}
            1 => self.push(Mark::Folded, indent + 2, "1 unchanged line"),
            count => self.push(Mark::Folded, indent + 2, format!("{count} unchanged lines")),
        }
    }
}

/// Some lines below one place.
struct Block<'a> {
    place: Option<&'a Row>,
    lines: &'a [Row],
}

/// The lines, where those of several places are the same only once.
fn folded(rows: Vec<Row>) -> Vec<Row> {
    let blocks = blocks(&rows);
    let mut places: HashMap<&[Row], Vec<&Row>> = HashMap::new();
    for block in &blocks {
        places.entry(block.lines).or_default().extend(block.place);
    }
    let mut folded = Vec::new();
    for block in &blocks {
        let places = places.get(block.lines).map_or(&[][..], Vec::as_slice);
        let is_first = places.first().is_some_and(|first| block.place.is_some_and(|place| std::ptr::eq(*first, place)));
        let is_folded = block.place.is_some() && places.len() >= EQUAL_MIN;
        if is_folded && !is_first {
            continue;
        }
        folded.extend(block.place.into_iter().chain(block.lines).cloned());
        if is_folded {
            let others = places.get(1..).unwrap_or_default();
            let mut named: Vec<&str> = others.iter().take(PLACES_MAX).map(|row| row.text.as_str()).collect();
            named.extend((others.len() > PLACES_MAX).then_some("…"));
            let text = format!("the same in {} more places: {}", others.len(), named.join(", "));
            folded.push(Row { mark: Mark::Folded, indent: 2, text });
        }
    }
    folded
}

/// The lines by place. Those of the object itself have none.
fn blocks(rows: &[Row]) -> Vec<Block<'_>> {
    rows.chunk_by(|_, next| next.mark != Mark::Place).map(Block::of).collect()
}

impl<'a> Block<'a> {
    fn of(rows: &'a [Row]) -> Self {
        match rows.split_first() {
            Some((place, lines)) if place.mark == Mark::Place => Self { place: Some(place), lines },
            _ => Self { place: None, lines: rows },
        }
    }
}

/// A value as it is below the last step of its path.
fn yaml(step: Option<&Step>, value: &Value) -> String {
    let value = match step {
        Some(Step::Key(key)) => Value::Mapping(Mapping::from([(key.clone(), value.clone())])),
        Some(Step::Item(_) | Step::Index(_)) => Value::Sequence(vec![value.clone()]),
        None => value.clone(),
    };
    emit_v3(&value, Sequences::Compact)
}

/// A line, shortened to a readable length.
fn cut(line: &str) -> String {
    let more = line.chars().count().saturating_sub(LINE_MAX);
    if more <= AROUND {
        return line.to_owned();
    }
    let shown: String = line.chars().take(LINE_MAX).collect();
    format!("{shown} … and {more} more characters")
}

/// Two long lines, cut to where they differ.
fn around(old: &str, new: &str) -> [String; 2] {
    let [old, new]: [Vec<char>; 2] = [old, new].map(|text| text.chars().collect());
    let front = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let back = old[front..].iter().rev().zip(new[front..].iter().rev()).take_while(|(a, b)| a == b).count();
    let start = front.saturating_sub(AROUND);
    [old, new].map(|text| excerpt(&text, start, text.len() - back + AROUND))
}

/// The part of a line, marked where something is left out.
fn excerpt(text: &[char], start: usize, end: usize) -> String {
    let end = end.min(text.len());
    let shown: String = text[start..end].iter().collect();
    format!("{}{shown}{}", if start > 0 { "… " } else { "" }, if end < text.len() { " …" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::{Options, compare};
    use crate::manifest::{Source, read};

    fn shown(old: &str, new: &str, with_noise: bool) -> String {
        let [old, new] = [old, new].map(|spec| {
            let text = format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web}}\nspec: {spec}\n");
            read(text.as_bytes(), Source::Output("a test")).expect("YAML")
        });
        let objects = compare(&old, &new, &Options::default());
        let line = |row: &Row| format!("{} {:indent$}{}", row.mark.sign(), "", row.text, indent = row.indent);
        rows(&objects[0], with_noise).iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn fields_as_lines() {
        let long = |middle: &str| format!("{{a: {}{middle}{}}}", "x".repeat(300), "y".repeat(300));
        let [old, new] = [long("1"), long("22")];
        let around =
            format!("  spec\n-   a: … {x}1{y} …\n+   a: … {x}22{y} …", x = "x".repeat(AROUND), y = "y".repeat(AROUND));
        let rows: &[(&str, &str, &str, &str)] = &[
            ("a field", "{a: 1, b: 2}", "{a: 1, b: 3}", "  spec\n-   b: 2\n+   b: 3"),
            ("a field that comes", "{a: 1}", "{a: 1, b: {c: [d]}}", "  spec\n+   b:\n+     c:\n+     - d"),
            ("null is a value", "{a: 1, b: null}", "{a: 1}", "  spec\n-   b: null"),
            ("text stays text", "{a: 1}", "{a: '1'}", "  spec\n-   a: 1\n+   a: \"1\""),
            (
                "fields of one place",
                "{a: {v: 1, w: 1}}",
                "{a: {v: 2, w: 2}}",
                "  spec.a\n-   v: 1\n+   v: 2\n-   w: 1\n+   w: 2",
            ),
            (
                "an item",
                "{e: [{name: A, value: 1}]}",
                "{e: [{name: A, value: 2}]}",
                "  spec.e[name=A]\n-   value: 1\n+   value: 2",
            ),
            (
                "an item that is called otherwise",
                "{e: [{host: a, x: 1}, {host: c, x: 2}]}",
                "{e: [{host: b, x: 1}, {host: c, x: 2}]}",
                "  spec.e[host=b]\n-   host: a\n+   host: b",
            ),
            (
                "an item that comes",
                "{e: [{name: A}]}",
                "{e: [{name: A}, {name: B, v: 1}]}",
                "  spec.e\n+   - name: B\n+     v: 1",
            ),
            (
                "items that move",
                "{e: [{name: A}, {name: B}]}",
                "{e: [{name: B}, {name: A}]}",
                "  spec.e\n~   [name=B] moved from [1] to [0]",
            ),
            ("arguments that move", "{e: [a, b, c]}", "{e: [c, a, b]}", "  spec.e\n~   [0] moved from [2]"),
            ("a text", "{a: \"x\\ny\\n\"}", "{a: \"x\\nz\\n\"}", "  spec\n    a: |\n      x\n-     y\n+     z"),
            (
                "the last line break",
                "{a: \"x\\ny\\n\"}",
                "{a: \"x\\ny\"}",
                "  spec\n    a: |\n~     2 unchanged lines\n~     newline at the end removed",
            ),
            ("long lines", &old, &new, &around),
        ];
        for (rule, old, new, expected) in rows {
            assert_eq!(shown(old, new, false), *expected, "{rule}");
        }
    }

    #[test]
    fn a_change_that_is_the_same_in_many_places_is_shown_once() {
        let rules = |time: &str, count: usize| {
            let rule = |n: usize| format!("{{alert: A{n}, for: {time}}}");
            format!("{{rules: [{}]}}", (0..count).map(rule).collect::<Vec<_>>().join(", "))
        };
        let first = "  spec.rules[alert=A0]\n-   for: 10m\n+   for: 15m";
        let second = "  spec.rules[alert=A1]\n-   for: 10m\n+   for: 15m";
        assert_eq!(shown(&rules("10m", 2), &rules("15m", 2), false), format!("{first}\n{second}"));
        assert_eq!(
            shown(&rules("10m", 3), &rules("15m", 3), false),
            format!("{first}\n~   the same in 2 more places: spec.rules[alert=A1], spec.rules[alert=A2]")
        );
        assert_eq!(shown(&rules("10m", 3), &rules("15m", 3), true).lines().count(), 9);
        assert!(shown(&rules("10m", 9), &rules("15m", 9), false).ends_with("A5], …"));
    }

    #[test]
    fn noise_is_counted_unless_it_is_asked_for() {
        let spec =
            |n: u32| format!("{{a: {n}, template: {{metadata: {{annotations: {{checksum/config: d41d8cd{n}}}}}}}}}");
        let place = "spec.template.metadata.annotations";
        let shown = |with_noise| shown(&spec(1), &spec(2), with_noise);
        assert_eq!(shown(false), "  spec\n-   a: 1\n+   a: 2\n~ also checksums (1)");
        assert_eq!(
            shown(true),
            format!(
                "  spec\n-   a: 1\n+   a: 2\n  {place}\n-   checksum/config: d41d8cd1\n+   checksum/config: d41d8cd2"
            )
        );
    }
}
