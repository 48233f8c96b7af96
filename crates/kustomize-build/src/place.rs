//! Where in a file the steps of an error lead.
//!
//! Nothing is kept of a file that is read without error: the file is read again, with its places, for the one error that
//! stops the build.

use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use go_std::json::is_field;
use go_yaml::{self as yaml, Data, Node, Style, Value};

use super::error::{Error, Step};
use super::text;

/// Deprecated fields, whose entries come after those of their successors.
const PREDECESSORS: [(&str, &str); 4] =
    [("resources", "bases"), ("images", "imageTags"), ("helmCharts", "helmChartInflationGenerator"), ("envs", "env")];

/// A kustomization file as it is in the view.
#[derive(Debug)]
pub(crate) struct Written {
    pub file: RepoPath,
    pub content: Arc<[u8]>,
    /// What is built instead of the content.
    pub edited: Option<Vec<u8>>,
}

impl Written {
    /// The error with the place in this file to which its steps lead. What is only in the edited text has none.
    pub(crate) fn locate(&self, error: Error) -> Error {
        match &self.edited {
            Some(edited) if !is_same(&error, &self.content, edited) => error,
            _ => locate(error, &self.file, &self.content),
        }
    }
}

/// Gives an error that was found while `content`, the text of `file`, was read or used, the place to which its steps lead.
///
/// As near to it as can be determined: at least the file.
pub(crate) fn locate(error: Error, file: &RepoPath, content: &[u8]) -> Error {
    let Some(steps) = error.steps() else { return error };
    let span = span(&steps.cloned().collect::<Vec<_>>(), file, content);
    error.at(span)
}

/// Whether the steps lead to the same in two texts.
fn is_same(error: &Error, one: &[u8], other: &[u8]) -> bool {
    let Some(steps) = error.steps() else { return false };
    let steps: Vec<&Step> = steps.collect();
    value_at(&steps, one).is_some_and(|one| Some(one) == value_at(&steps, other))
}

/// The value to which the steps lead in a text.
fn value_at(steps: &[&Step], content: &[u8]) -> Option<Value> {
    let value = yaml::sigs::yaml_to_json(content, &text::limits()).ok()?;
    let mut here = &value;
    for step in steps {
        here = match (here, step) {
            (Value::Mapping(mapping), Step::Field(name) | Step::Name(name)) => mapping.get(name)?,
            (Value::Sequence(items), Step::Item(index)) => items.get(*index)?,
            (here, Step::Line(..)) => here,
            _ => return None,
        };
    }
    Some(here.clone())
}

fn span(steps: &[Step], file: &RepoPath, content: &[u8]) -> Span {
    let source = String::from_utf8_lossy(content);
    let place = match steps {
        [] => return Span::file(file.clone()),
        [Step::Line(line, column)] => Some((*line, *column, 1)),
        _ => yaml::parse_first(content, &text::limits()).ok().flatten().and_then(|root| follow(&root, steps, &source)),
    };
    match place {
        Some((line, column, width)) => Span { width, ..Span::at(file.clone(), line, column) }.quoting(&source),
        None => Span::file(file.clone()),
    }
}

/// Line, column and width of the last part that the steps lead to; none when not even the first step does.
fn follow(root: &Node, steps: &[Step], source: &str) -> Option<(u32, u32, u32)> {
    let mut here = root;
    for (index, step) in steps.iter().enumerate() {
        let below = match step {
            Step::Field(name) => match (entry(here, name), steps.get(index + 1)) {
                (found, Some(Step::Item(item))) => {
                    let items = found.map_or(0, |(_, value)| value.as_sequence().map_or(0, <[Node]>::len));
                    match old_item(here, name, item.saturating_sub(items)) {
                        Some(old) if *item >= items => return whole(old, source),
                        _ => found.map(|(_, value)| value),
                    }
                }
                (found, _) => found.map(|(_, value)| value),
            },
            Step::Name(name) => return entry(here, name).and_then(|(key, _)| whole(key, source)),
            Step::Item(item) => here.as_sequence().and_then(|items| items.get(*item)),
            Step::Line(line, column) => return inside(here, *line, *column, source),
        };
        match below {
            Some(below) => here = below,
            None if index == 0 => return None,
            None => break,
        }
    }
    whole(here, source)
}

/// The last entry of that name: that is the one that counts. Names are found in any case.
fn entry<'n>(node: &'n Node, name: &str) -> Option<(&'n Node, &'n Node)> {
    let entries = node.as_mapping()?;
    let exact = entries.iter().rev().find(|(key, _)| key.as_str() == Some(name));
    let found =
        exact.or_else(|| entries.iter().rev().find(|(key, _)| key.as_str().is_some_and(|key| is_field(name, key))));
    found.map(|(key, value)| (key, value))
}

/// An item of the deprecated field that is read as `name`.
fn old_item<'n>(node: &'n Node, name: &str, index: usize) -> Option<&'n Node> {
    let (_, old) = PREDECESSORS.iter().find(|(new, _)| *new == name)?;
    let (_, value) = entry(node, old)?;
    match &value.data {
        Data::Sequence(items) => items.get(index),
        Data::Scalar(_) | Data::Mapping(_) | Data::Alias(_) => Some(value),
    }
}

/// The place of a node. A scalar is as wide as it is written on its first line, anything else one character.
fn whole(node: &Node, source: &str) -> Option<(u32, u32, u32)> {
    let (line, column) = (node.mark.line, node.mark.column);
    if line == 0 {
        return None;
    }
    let written = match (&node.data, node.style) {
        (Data::Scalar(text), Style::Plain | Style::Flow) => text.lines().next().unwrap_or_default().chars().count(),
        (Data::Scalar(text), Style::SingleQuoted | Style::DoubleQuoted) => text.chars().count() + 2,
        _ => 1,
    };
    let behind = line_of(source, line).chars().count().saturating_sub(column as usize - 1);
    Some((line, column, u32::try_from(written.clamp(1, behind.max(1))).unwrap_or(1)))
}

/// The place of a line of the text of a node, when it is written as it is; else that of the node.
fn inside(node: &Node, line: u32, column: u32, source: &str) -> Option<(u32, u32, u32)> {
    let literal = node.as_str().filter(|_| node.style == Style::Literal);
    // What is missing at the end of the text is reported on its last line.
    let last = literal.map_or(0, |text| u32::try_from(text.lines().count()).unwrap_or(u32::MAX));
    let (line, column) = if line > last { (last, u32::MAX) } else { (line, column) };
    let place = node.mark.line.saturating_add(line);
    let written = line_of(source, place);
    match literal.and_then(|text| written.strip_suffix(line_of(text, line))) {
        Some(_) if column == u32::MAX => Some((place, written.chars().count() as u32 + 1, 1)),
        Some(indent) if column > 0 => Some((place, indent.chars().count() as u32 + column, 1)),
        Some(_) => Some((place, (written.chars().count() - written.trim_start().chars().count()) as u32 + 1, 1)),
        None => whole(node, source),
    }
}

fn line_of(text: &str, line: u32) -> &str {
    text.lines().nth((line as usize).saturating_sub(1)).unwrap_or_default()
}

#[cfg(test)]
mod tests;
