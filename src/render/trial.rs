//! Which lines of dry files a field is taken from, found by trying: one value of one file is changed, the Application is
//! rendered again, and when the field changes in the same way, it is taken from there.
//!
//! So no engine has to say where a value comes from, and what is named is never a guess: a value that happens to be equal
//! changes nothing. What the Application's own document sets is tried by itself ([`own`]). What a template computes, and texts of several
//! lines, are not found.

mod own;
pub(crate) mod used;

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{Files, Overlay, Reads, Seen, View};
use go_yaml::{self as yaml, Data, Extents, Limits, Node, Style, Value};
use serde::Serialize;

use super::{Context, Renderers};
use crate::argo::Application;
use crate::diff::{FieldPath, ObjectName, Step};
use crate::manifest::Manifest;

/// A line of a dry file that a field is taken from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct SourceLine {
    /// The file.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// The field of the file, as `image.tag`.
    pub field: String,
}

/// How many values are tried.
pub(super) const TRIES_MAX: u32 = 24;

/// A file of more bytes is not searched for values.
const FILE_BYTES_MAX: usize = 1 << 20;

/// Only shorter texts are looked for.
const VALUE_BYTES_MAX: usize = 1024;

/// What is behind a text that is tried.
const MARK: &str = "x7";

/// What is rendered again, and which field of it counts.
pub(crate) struct Trial<'t> {
    pub renderers: &'t Renderers,
    pub application: &'t Application,
    pub context: &'t Context<'t>,
    pub object: &'t ObjectName,
    pub field: &'t FieldPath,
}

/// A value of a file that may be where the field is taken from, and another one that is tried in its place.
struct Substitution {
    path: RepoPath,
    line: u32,
    field: String,
    /// What it is.
    value: String,
    /// What is tried in its place.
    tried: String,
    /// The file with that.
    text: String,
}

/// The lines of the read files that the field comes from: those with its value, else those with a part of it.
/// `manifests` is what the Application renders to.
pub(crate) fn set_in(trial: &Trial<'_>, manifests: &[Manifest], reads: &Reads) -> Vec<SourceLine> {
    let Some((index, value)) = trial.value_in(manifests) else { return Vec::new() };
    let mut substitutions = substitutions(trial.context.files, &value, reads);
    substitutions.sort_by_key(|substitution| std::cmp::Reverse(substitution.value.len()));
    let mut found = Vec::new();
    for Substitution { path, line, field, value: part, tried, text } in
        substitutions.into_iter().take(TRIES_MAX as usize)
    {
        let Some(after) = trial.value_with(&path, text, index) else { continue };
        if after != value && becomes(&value, &part, &tried, &after) {
            let is_whole = part == value;
            found.push(SourceLine { path: path.to_string(), line, field });
            if is_whole {
                break;
            }
        }
    }
    found.sort();
    found
}

/// The lines of the Application's own document that the field comes from, as values of Helm: those with its value, else those with a part
/// of it.
pub(crate) fn set_in_application(trial: &Trial<'_>, manifests: &[Manifest]) -> Vec<SourceLine> {
    let Some((index, value)) = trial.value_in(manifests) else { return Vec::new() };
    let mut all = own::substitutions(trial.application, &value);
    all.sort_by_key(|one| std::cmp::Reverse(one.value.len()));
    let mut found = Vec::new();
    for one in all.into_iter().take(TRIES_MAX as usize) {
        let Some(after) = trial.value_of(&one.application, trial.context, index) else { continue };
        if after != value && becomes(&value, &one.value, &one.tried, &after) {
            found.push(SourceLine { path: one.span.path.to_string(), line: one.span.line, field: one.field });
            if one.value == value {
                break;
            }
        }
    }
    found.sort();
    found
}

impl Trial<'_> {
    /// The field as it is, and which of the manifests has it.
    fn value_in(&self, manifests: &[Manifest]) -> Option<(usize, String)> {
        let index = manifests.iter().position(|manifest| ObjectName::of(manifest) == *self.object)?;
        Some((index, manifests.get(index).and_then(|manifest| scalar(manifest.object(), self.field))?))
    }

    /// The field when a file has another content; none when that does not render, or without it.
    fn value_with(&self, path: &RepoPath, text: String, index: usize) -> Option<String> {
        let files = Overlay::new(self.context.files, BTreeMap::from([(path.clone(), Arc::from(text.into_bytes()))]));
        let context = Context { files: &files, rules: self.context.rules.clone(), ..*self.context };
        self.value_of(self.application, &context, index)
    }

    /// The field as an Application gives it.
    fn value_of(&self, application: &Application, context: &Context<'_>, index: usize) -> Option<String> {
        let rendered = self.renderers.render_here(&[application], context)?.pop()?.ok()?;
        let manifests = &rendered.manifests;
        let named = manifests.iter().find(|manifest| ObjectName::of(manifest) == *self.object);
        // What is changed may be a part of its name.
        let same = manifests.get(index).filter(|manifest| manifest.kind() == self.object.kind);
        scalar(named.or(same)?.object(), self.field)
    }
}

/// Whether a value becomes another one where, in one place or in all, it has `tried` for `part`.
fn becomes(value: &str, part: &str, tried: &str, after: &str) -> bool {
    let once = |(at, _): (usize, &str)| {
        let (before, rest) = value.split_at(at);
        [before, tried, &rest[part.len()..]].concat() == after
    };
    value.replace(part, tried) == after || value.match_indices(part).any(once)
}

/// The field of an object as text; none when it is not a scalar in one line.
fn scalar(object: &Value, field: &FieldPath) -> Option<String> {
    let mut value = object;
    for step in field.steps() {
        value = match step {
            Step::Key(key) => value.get(key)?,
            Step::Index(index) => value.as_sequence()?.get(*index)?,
            Step::Item(fields) => {
                let is = |item: &&Value| {
                    fields.iter().all(|(key, text)| item.get(key).and_then(Value::as_str) == Some(text.as_str()))
                };
                value.as_sequence()?.iter().find(is)?
            }
        };
    }
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::Uint(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::Float(_) | Value::Sequence(_) | Value::Mapping(_) => return None,
    };
    (!text.is_empty() && text.len() <= VALUE_BYTES_MAX && !text.contains('\n')).then_some(text)
}

/// The values of files that were read which are `value`, or a part of it.
fn substitutions(files: &dyn Files, value: &str, reads: &Reads) -> Vec<Substitution> {
    let view = View::new(files);
    let mut found = Vec::new();
    for ((path, _), seen) in reads {
        if !matches!(seen, Seen::Content(_)) {
            continue;
        }
        let Ok(blob) = view.read(path) else { continue };
        if let Ok(text) = std::str::from_utf8(&blob.data)
            && text.len() <= FILE_BYTES_MAX
            && !text.starts_with('\u{feff}')
            && let Ok(documents) = yaml::parse(text.as_bytes(), &Limits::default())
            && let Ok(extents) = Extents::of(text, &Limits::default())
        {
            let mut file = File { path, text, extents, value, found: &mut found };
            documents.iter().for_each(|document| file.search(document, &mut FieldPath::root()));
        }
    }
    found
}

/// A file that is searched for a value.
struct File<'f> {
    path: &'f RepoPath,
    text: &'f str,
    extents: Extents,
    value: &'f str,
    found: &'f mut Vec<Substitution>,
}

impl File<'_> {
    fn search(&mut self, node: &Node, field: &mut FieldPath) {
        match &node.data {
            Data::Mapping(entries) => {
                for (key, node) in entries {
                    self.search_below(Step::Key(key.as_str().unwrap_or_default().to_owned()), node, field);
                }
            }
            Data::Sequence(items) => {
                for (index, node) in items.iter().enumerate() {
                    self.search_below(Step::Index(index), node, field);
                }
            }
            Data::Scalar(scalar) if !scalar.is_empty() && self.value.contains(scalar.as_str()) => {
                let substitution = self.substitution(node, scalar, field);
                self.found.extend(substitution);
            }
            Data::Scalar(_) | Data::Alias(_) => {}
        }
    }

    fn search_below(&mut self, step: Step, node: &Node, field: &mut FieldPath) {
        field.push(step);
        self.search(node, field);
        field.pop();
    }

    /// The file with another value in place of a scalar; none when that is written over several lines or with escapes.
    fn substitution(&self, node: &Node, scalar: &str, field: &FieldPath) -> Option<Substitution> {
        let quote = match node.style {
            Style::Plain => "",
            Style::SingleQuoted => "'",
            Style::DoubleQuoted => "\"",
            _ => return None,
        };
        let end = self.extents.end(node.mark.offset)?;
        let written = [quote, scalar, quote].concat();
        // An anchor or a tag comes before it.
        let start = end.checked_sub(written.len()).filter(|start| *start >= node.mark.offset)?;
        (self.text.get(start..end)? == written).then_some(())?;
        let tried = instead_of(scalar);
        let text = [self.text.get(..start)?, quote, &tried, quote, self.text.get(end..)?].concat();
        let line = node.mark.line;
        let (path, field) = (self.path.clone(), field.to_string());
        Some(Substitution { path, line, field, value: scalar.to_owned(), tried, text })
    }
}

/// What is tried for a value: another one of its kind.
fn instead_of(value: &str) -> String {
    match value {
        "true" => return "false".to_owned(),
        "false" => return "true".to_owned(),
        _ => {}
    }
    match value.parse::<i128>() {
        Ok(number) if number.unsigned_abs() < u128::from(u64::MAX) && number.to_string() == value => {
            (number + 1).to_string()
        }
        _ => format!("{value}{MARK}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    #[test]
    fn values_that_may_be_it_are_found_as_they_are_written() {
        let text =
            "image: &i {repository: 'nginx', tag: \"1.2\"} # 1.2\nport: 80\nother: nginx:1.3\nlist: [&a nginx, *a]\n";
        let files = MemoryFiles::new().file("values.yaml", text).file("t.tpl", "{{ x");
        let view = View::new(&files);
        for name in ["values.yaml", "t.tpl"] {
            view.read(&RepoPath::new(name).expect("a path")).expect("there");
        }
        let found = substitutions(&files, "nginx:1.2", &view.reads());
        let shown: Vec<(u32, &str, &str, &str)> =
            found.iter().map(|it| (it.line, it.field.as_str(), it.tried.as_str(), it.text.as_str())).collect();
        let other = |from: &str, to: &str| text.replacen(from, to, 1);
        let expected = [
            (1, "image.repository", "nginxx7", other("'nginx'", "'nginxx7'")),
            (1, "image.tag", "1.2x7", other("\"1.2\"", "\"1.2x7\"")),
            (4, "list[0]", "nginxx7", other("&a nginx", "&a nginxx7")),
        ];
        let expected: Vec<(u32, &str, &str, &str)> =
            expected.iter().map(|(line, field, tried, text)| (*line, *field, *tried, text.as_str())).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_part_is_one_where_the_rest_stays() {
        let rows = [
            ("nginx:1.2", "1.2", "1.2x7", "nginx:1.2x7", true),
            ("nginx:1.2", "1.2", "1.2x7", "apache:1.2x7", false),
            ("1-1", "1", "2", "2-1", true),
            ("1-1", "1", "2", "2-2", true),
            ("1-1", "1", "2", "1-1", false),
            ("2", "2", "3", "4", false),
        ];
        for (value, part, tried, after, expected) in rows {
            assert_eq!(value != after && becomes(value, part, tried, after), expected, "{value} {after}");
        }
    }
}
