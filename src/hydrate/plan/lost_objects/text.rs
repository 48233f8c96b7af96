//! What two versions of the text of a file say of its objects.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml as yaml;

/// The text of a file.
pub(super) fn text(view: &View<'_>, file: &RepoPath) -> Option<String> {
    view.read(file).ok().map(|blob| yaml::lossy(&blob.data).into_owned())
}

/// Whether a text has nothing but white space, comments and separators of documents.
pub(super) fn is_blank(text: &str) -> bool {
    let text = without_template_comments(text);
    text.lines().map(str::trim).all(|line| line.is_empty() || line.starts_with('#') || line.starts_with("---"))
}

/// The text without `{{/* … */}}`.
fn without_template_comments(text: &str) -> String {
    let mut left = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{/*").or_else(|| rest.split_once("{{- /*")) {
        left.push_str(before);
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    left + rest
}

/// Where a text begins to be another one: line and column of the new one, 1-based.
pub(super) fn first_difference(old: &str, new: &str) -> (u32, u32) {
    let (mut line, mut column) = (1, 1);
    let mut before = old.chars();
    for c in new.chars() {
        if before.next() != Some(c) {
            break;
        }
        (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
    }
    let lines = u32::try_from(new.lines().count()).unwrap_or(u32::MAX).max(1);
    if line > lines { (lines, 1) } else { (line, column) }
}

/// How often a text says that something is of a kind, comments left out; of any kind without one.
pub(super) fn count_of_kind(text: &str, kind: Option<&str>) -> usize {
    text.lines().filter(|line| !line.trim_start().starts_with('#')).map(|line| count_in_line(line, kind)).sum()
}

fn count_in_line(line: &str, kind: Option<&str>) -> usize {
    let is_quote = |c: char| c == '"' || c == '\'';
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut count = 0;
    for (at, word) in line.match_indices("kind") {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let Some(value) = after.trim_start_matches(is_quote).trim_start().strip_prefix(':') else { continue };
        let value = value.trim_start().trim_start_matches(is_quote);
        let is_wanted = |kind| value.strip_prefix(kind).is_some_and(|rest| !rest.starts_with(is_of_name));
        if !before.ends_with(is_of_name) && kind.is_none_or(is_wanted) {
            count += 1;
        }
    }
    count
}

/// The lines of a text that have content, by their hashes: how often each occurs.
pub(super) struct Lines(HashMap<u64, usize>);

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let mut lines = HashMap::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let mut hash = DefaultHasher::new();
            line.hash(&mut hash);
            *lines.entry(hash.finish()).or_default() += 1;
        }
        Self(lines)
    }

    /// Whether most of them are in another text.
    pub(super) fn are_mostly_in(&self, other: &Self) -> bool {
        let all: usize = self.0.values().sum();
        let common = |(line, count): (&u64, &usize)| other.0.get(line).map_or(0, |there| *count.min(there));
        all > 0 && self.0.iter().map(common).sum::<usize>() * 2 >= all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty() {
        let rows = [
            ("", true),
            ("\n# a\n---\n  # b\n--- # c\n", true),
            ("{{/* a\nb */}}\n{{- /* c */ -}}\n", true),
            ("{{ if .Values.x }}\n{{ end }}\n", false),
            ("foo: bar\n", false),
            ("[]\n", false),
        ];
        for (text, expected) in rows {
            assert_eq!(is_blank(text), expected, "{text:?}");
        }
    }

    #[test]
    fn where_texts_differ() {
        let rows = [
            ("kind: A\n", "knd: A\n", (1, 2)),
            ("a\nb\n", "a\nc\n", (2, 1)),
            ("a\nb\n", "a\n", (1, 1)),
            ("a\n", "a\nb\n", (2, 1)),
            ("a", "", (1, 1)),
        ];
        for (old, new, expected) in rows {
            assert_eq!(first_difference(old, new), expected, "{old:?} {new:?}");
        }
    }

    #[test]
    fn how_often_a_kind_is_named() {
        let text = "kind: Pod\n- kind: \"Pod\"\n{\"kind\":\"Pod\", 'kind' : 'Pods'}\n# kind: Pod\nmankind: Pod\nkinds: Pod\nkind: {{ .kind }}\n";
        assert_eq!((count_of_kind(text, Some("Pod")), count_of_kind(text, None)), (3, 5));
    }
}
