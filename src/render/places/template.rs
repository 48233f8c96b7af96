//! Where a template of a chart says a field of an object: keys one below the other, by their columns.
//!
//! A template is not YAML. Lines that are an action count for nothing, but for one that writes what a helper or `toYaml` gives at the
//! column of a key that is not written out: it is the line then, or that of the helper which has the key.

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::{Reads, View};

use crate::diff::{FieldPath, ObjectName};

/// Where a field is in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InTemplate {
    /// 1-based.
    pub line: u32,
    /// Whether the key is written out in the line.
    pub is_key: bool,
}

/// A line with its number.
type Numbered<'t> = (&'t str, u32);

/// The line of a template that has the last key of a field, each key below the one before it; none where one of them is not
/// there. Of documents of one kind it is the one whose name has most of the object's written out.
pub(super) fn in_template(text: &str, object: &ObjectName, field: &FieldPath) -> Option<InTemplate> {
    let kind = format!("kind: {}", object.kind);
    let all: Vec<Numbered<'_>> = text.lines().zip(1_u32..).collect();
    let documents = all.split(|(line, _)| line.trim_end() == "---");
    let of_kind = documents.filter(|lines| lines.iter().any(|(line, _)| line.trim() == kind));
    let likeness = |lines: &&[Numbered<'_>]| written_part(lines, &object.name);
    let document = of_kind.rev().max_by_key(likeness)?;
    let root = document.iter().find(|(line, _)| line.trim() == kind).map(|(line, _)| indent(line))?;
    let (mut block, mut column, mut found) = (document, Some(root), None);
    for key in field.keys() {
        let is_it = |(line, _): &&Numbered<'_>| {
            key_of(line).is_some_and(|(at, name)| name == key && column.is_none_or(|column| at == column))
        };
        if let Some(index) = block.iter().position(|line| is_it(&line)) {
            let (line, number) = *block.get(index)?;
            found = Some(InTemplate { line: number, is_key: true });
            let value = line.split_once(':').map(|(_, value)| value.trim()).unwrap_or_default();
            block = match value.starts_with(['{', '[']) && !value.starts_with("{{") {
                true => block.get(index..=index)?,
                false => below(block.get(index + 1..)?, line),
            };
            column = first_column(block);
            continue;
        }
        if let [(line, number)] = block
            && line.contains(['{', '['])
            && line.contains(&format!("{key}:"))
        {
            found = Some(InTemplate { line: *number, is_key: true });
            continue;
        }
        let gives =
            |(line, _): &&Numbered<'_>| is_insertion(line) && nindent(line).zip(column).is_none_or(|(a, b)| a == b);
        return block.iter().find(gives).map(|(_, line)| InTemplate { line: *line, is_key: false });
    }
    found
}

/// The line of the helper that a line of a template includes which has a key; none where no file that was read has it.
pub(super) fn in_helper(view: &View<'_>, reads: &Reads, file: &RepoPath, included: &str, key: &str) -> Option<Span> {
    let name = included.split_once("include ").or_else(|| included.split_once("template "))?.1.trim_start();
    let name = name.strip_prefix('"')?.split('"').next()?;
    let directory = file.parent()?;
    let mut files: Vec<&RepoPath> = reads.keys().map(|(path, _)| path).collect();
    files.retain(|path| path.as_str().starts_with(directory.as_str()));
    files.dedup();
    files.into_iter().find_map(|path| {
        let text = String::from_utf8(view.read(path).ok()?.data.to_vec()).ok()?;
        let mut lines = text.lines().zip(1_u32..);
        let defines = |line: &str| line.contains("define ") && line.contains(&format!("\"{name}\""));
        lines.find(|(line, _)| defines(line))?;
        let mut body = lines.take_while(|(line, _)| !line.contains("define "));
        let line = body.find(|(line, _)| key_of(line).is_some_and(|(_, name)| name == key))?.1;
        Some(Span { line, ..Span::file(path.clone()) }.quoting(&text))
    })
}

/// The lines below a key: those further to the right, and items of a list in its column.
fn below<'l, 't>(lines: &'l [Numbered<'t>], parent: &str) -> &'l [Numbered<'t>] {
    let column = key_of(parent).map_or(0, |(column, _)| column);
    let is_item_of_own = indent(parent) < column;
    let ends = |line: &str| {
        let at = indent(line);
        !is_empty(line) && (at < column || at == column && (is_item_of_own || !line.trim_start().starts_with("- ")))
    };
    let end = lines.iter().position(|(line, _)| ends(line)).unwrap_or(lines.len());
    lines.get(..end).unwrap_or_default()
}

/// The column of the keys of a block: that of its first line which has one.
fn first_column(block: &[Numbered<'_>]) -> Option<usize> {
    block.iter().filter(|(line, _)| !is_empty(line)).find_map(|(line, _)| key_of(line)).map(|(column, _)| column)
}

/// Whether a line says nothing about the columns of what is around it: a blank one, a comment, or an action.
fn is_empty(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#') || line.starts_with("{{")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// The key of a line, and its column: that behind the dashes of items.
fn key_of(line: &str) -> Option<(usize, &str)> {
    let mut rest = line.trim_start_matches(' ');
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start_matches(' ');
    }
    let column = line.len() - rest.len();
    let key = match rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) {
        Some(quote) => rest.get(1..)?.split_once(quote).filter(|(_, after)| after.trim_start().starts_with(':'))?.0,
        None => rest.split_once(':').filter(|(_, after)| after.is_empty() || after.starts_with([' ', '\t']))?.0,
    };
    (!key.starts_with(['{', '#'])).then_some((column, key.trim_end()))
}

/// Whether a line is an action that writes lines.
fn is_insertion(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("{{") && ["include ", "template ", "toYaml", "tpl "].iter().any(|word| line.contains(word))
}

/// At which column an action writes its lines.
fn nindent(line: &str) -> Option<usize> {
    line.split_once("indent ")?.1.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// How many characters of a name the first `name` below `metadata` of a document of a template writes out, beside what is in `{{ }}`. None
/// where the name is not one that it can give.
fn written_part(lines: &[Numbered<'_>], name: &str) -> Option<usize> {
    let below = lines.iter().map(|(line, _)| line.trim()).skip_while(|line| *line != "metadata:");
    let Some(written) = below.filter_map(|line| line.strip_prefix("name:")).next() else { return Some(0) };
    let written = written.trim().trim_matches(['"', '\'']);
    let pieces = written.split("{{").enumerate().map(|(index, piece)| match index {
        0 => piece,
        _ => piece.split_once("}}").map_or("", |(_, after)| after),
    });
    let (mut rest, mut count) = (name, 0);
    for piece in pieces {
        let at = rest.find(piece)?;
        rest = rest.get(at + piece.len()..)?;
        count += piece.len();
    }
    (written.ends_with("}}") || rest.is_empty()).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Step;

    #[test]
    fn keys_are_below_each_other_by_their_columns() {
        let text = "{{- if .Values.on }}\nkind: Deployment\nmetadata:\n  name: {{ .Release.Name }}\n  labels:\n    \
                    {{- include \"web.labels\" . | nindent 4 }}\n  {{- include \"web.more\" . | nindent 2 }}\nspec:\n  replica: \
                    {{ .Values.n }}\n  selector: {matchLabels: {app: x}}\n  template:\n    spec:\n      containers:\n      \
                    - name: a\n        \"image\": x\n        ports:\n        - {containerPort: 1}\n        resources:\n          \
                    {{- toYaml .Values.resources | nindent 10 }}\n{{- end }}\n";
        let object = ObjectName {
            api_version: "apps/v1".to_owned(),
            kind: "Deployment".to_owned(),
            namespace: String::new(),
            name: "web".to_owned(),
        };
        type Row<'r> = (&'r [&'r str], Option<(u32, bool)>);
        let rows: &[Row<'_>] = &[
            (&["spec", "replica"], Some((9, true))),
            (&["spec", "selector", "matchLabels", "app"], Some((10, true))),
            (&["spec", "template", "spec", "containers", "0", "image"], Some((15, true))),
            (&["spec", "template", "spec", "containers", "0", "ports", "0", "containerPort"], Some((17, true))),
            (&["spec", "template", "spec", "containers", "0", "resources", "limits"], Some((19, false))),
            (&["metadata", "labels", "app"], Some((6, false))),
            (&["metadata", "app"], Some((7, false))),
            (&["spec", "image"], None),
            (&["kind"], Some((2, true))),
        ];
        for (steps, expected) in rows {
            let step = |step: &&str| step.parse().map_or_else(|_| Step::Key((*step).to_owned()), Step::Index);
            let field: FieldPath = steps.iter().map(step).collect();
            let found = in_template(text, &object, &field).map(|found| (found.line, found.is_key));
            assert_eq!(found, *expected, "{steps:?}");
        }
    }
}
