//! Keys that are in one mapping more than once: the last counts, and what the others say is lost.
//!
//! Reference: go-yaml 2.4.3 decode.go (through sigs.k8s.io/yaml), which Helm reads values with, Kustomize its kustomizations
//! and Argo CD plain manifests: none of them says so. Kustomize refuses such keys in resources by itself.

mod named;
mod scan;

use std::collections::{BTreeSet, HashMap};

use super::engines::ApplicationRender;
use super::release::Release;
use crate::manifest::Manifest;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{self as yaml, Data, Dialect, Limits, Mark, Node, Tag, Value};
use kustomize_build::FILE_NAMES;
use named::Named;

/// How many keys of one text are named.
const SHOWN_MAX: usize = 5;

impl ApplicationRender<'_, '_> {
    /// The warnings of the values of a release: defaults of the chart, files, those in the Application.
    pub(super) fn lost_values(&self, release: &Release) -> Vec<Diagnostic> {
        let defaults = release.chart.child("values.yaml").ok();
        let files: BTreeSet<&RepoPath> = defaults.iter().chain(&release.value_files).collect();
        let own = release.values.iter().flat_map(|own| of_text(&own.text, &self.source.span(&["helm", "values"])));
        files.into_iter().flat_map(|path| of_path(self.view, path)).chain(own).collect()
    }

    /// The warnings of the kustomizations that were read, and of what they name beside resources.
    pub(super) fn lost_fields(&self) -> Vec<Diagnostic> {
        let mut files: BTreeSet<RepoPath> = self.view.reads().into_keys().map(|(path, _)| path).collect();
        files.retain(|path| path.file_name().is_some_and(|name| FILE_NAMES.contains(&name)));
        let kustomizations: Vec<RepoPath> = files.iter().cloned().collect();
        let mut texts = Vec::new();
        for path in &kustomizations {
            let blob = self.view.has_read(path).then(|| self.view.read(path).ok()).flatten();
            let documents = blob.and_then(|blob| yaml::parse(&blob.data, &Limits::default()).ok()).unwrap_or_default();
            let named = Named::new(&path.parent().unwrap_or_default(), &documents);
            files.extend(named.files);
            let place = |mark: Mark| Span::at(path.clone(), mark.line, mark.column);
            texts.extend(named.texts.iter().flat_map(|(mark, text)| of_text(text, &place(*mark))));
        }
        files.iter().flat_map(|path| of_path(self.view, path)).chain(texts).collect()
    }

    /// The warnings of the files of a directory that have objects, Jsonnet left out.
    pub(super) fn lost_in(&self, files: &[(RepoPath, Vec<Manifest>)]) -> Vec<Diagnostic> {
        let is_written =
            |(path, objects): &&(RepoPath, Vec<Manifest>)| !objects.is_empty() && !path.as_str().ends_with(".jsonnet");
        files.iter().filter(is_written).flat_map(|(path, _)| of_path(self.view, path)).collect()
    }
}

/// The warnings of a file that was looked at; none where it is not there, or not YAML.
fn of_path(view: &View<'_>, path: &RepoPath) -> Vec<Diagnostic> {
    let blob = view.has_read(path).then(|| view.read(path).ok()).flatten();
    blob.map(|blob| of_file(path, &blob.data)).unwrap_or_default()
}

/// The warnings of a file with this content, in its order; none where it is not YAML.
fn of_file(path: &RepoPath, data: &[u8]) -> Vec<Diagnostic> {
    let place = |mark: Mark| Span::at(path.clone(), mark.line, mark.column);
    warnings(data, &place, &|mark| format!("{path}:{}", mark.line))
}

/// The warnings of values that are a text in an Application, of which the place is known.
fn of_text(text: &str, place: &Span) -> Vec<Diagnostic> {
    warnings(text.as_bytes(), &|_| place.clone().unquoted(), &|mark| format!("line {} of the text", mark.line))
}

/// `place` is that of the key that counts, `name` says where the other one is.
fn warnings(data: &[u8], place: &dyn Fn(Mark) -> Span, name: &dyn Fn(Mark) -> String) -> Vec<Diagnostic> {
    if !scan::may_repeat(data) {
        return Vec::new();
    }
    let documents = yaml::parse(data, &Limits::default()).unwrap_or_default();
    let mut found = Vec::new();
    documents.iter().for_each(|document| visit(document, &mut found));
    let more = found.len().saturating_sub(SHOWN_MAX);
    let warning = |(lost, counts): &(&Node, &Node)| {
        let (first, last) = (written(lost), written(counts));
        let text = match first == last {
            true => format!("`{last}` is set twice: what {} says is lost", name(lost.mark)),
            false => format!("`{first}` and `{last}` are one key: what {} says is lost", name(lost.mark)),
        };
        Diagnostic::warning(text)
            .at(place(counts.mark))
            .hint("keep one of them: the last counts, the others are ignored")
    };
    let mut warnings: Vec<_> = found.iter().take(SHOWN_MAX).map(warning).collect();
    if more > 0
        && let Some(last) = warnings.pop()
    {
        warnings.push(last.label(format!("and {more} more keys")));
    }
    warnings
}

fn written(key: &Node) -> &str {
    key.as_str().unwrap_or_default()
}

/// Adds the keys that are lost, each with the one that counts, where they say something else. As deep as what was parsed.
fn visit<'a>(node: &'a Node, found: &mut Vec<(&'a Node, &'a Node)>) {
    match &node.data {
        Data::Mapping(entries) => {
            let mut before: HashMap<String, &(Node, Node)> = HashMap::with_capacity(entries.len());
            for entry in entries {
                let (key, value) = entry;
                if let Some((lost, other)) = name(key).and_then(|name| before.insert(name, entry))
                    && other != value
                {
                    found.push((lost, key));
                }
                visit(value, found);
            }
        }
        Data::Sequence(items) => items.iter().for_each(|item| visit(item, found)),
        Data::Scalar(_) | Data::Alias(_) => {}
    }
}

/// What a key means as JSON: `on` is `true`. None for one that brings in another mapping, and for what cannot be a key.
fn name(key: &Node) -> Option<String> {
    match key.resolved_tag(Dialect::V2) {
        Tag::Str => key.as_str().map(str::to_owned),
        Tag::Bool | Tag::Int | Tag::Float => {
            let entry = Node::mapping(vec![(key.clone(), Node::null())]);
            match entry.to_value(Dialect::V2, &Limits::default()) {
                Ok(Value::Mapping(mapping)) => mapping.into_iter().next().map(|(name, _)| name),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_lose_their_value_are_named_with_both_lines() {
        let rows: [(&str, &[&str]); 10] = [
            ("a: 1\nb: 2\n", &[]),
            ("env: {A: 1}\nx: 1\nenv: {B: 2}\n", &["3:1 `env` is set twice: what f.yaml:1 says is lost"]),
            ("on: 1\n'true': 2\n", &["2:1 `on` and `true` are one key: what f.yaml:1 says is lost"]),
            ("1: a\n\"1\": b\n", &["2:1 `1` is set twice: what f.yaml:1 says is lost"]),
            ("l:\n- {a: 1, a: 2}\n", &["2:10 `a` is set twice: what f.yaml:2 says is lost"]),
            ("a: 1\n---\na: 2\nb: 1\nb: 2\n", &["5:1 `b` is set twice: what f.yaml:4 says is lost"]),
            // Nothing is lost.
            ("a: {x: 1}\na: {x: 1}\n", &[]),
            ("a: &a {x: 1}\nb: {<<: *a, <<: *a, x: 2}\n", &[]),
            ("{{ if .Values.a }}\na: 1\na: 2\n", &[]),
            ("a: |\n  b: 1\n  b: 2\n", &[]),
        ];
        let path = RepoPath::new("f.yaml").expect("a path");
        for (text, expected) in rows {
            let found: Vec<_> = of_file(&path, text.as_bytes()).iter().map(told).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    fn told(warning: &Diagnostic) -> String {
        let span = warning.span.as_ref().expect("a place");
        format!("{}:{} {}", span.line, span.column, warning.message)
    }

    #[test]
    fn many_keys_are_counted() {
        let path = RepoPath::new("f.yaml").expect("a path");
        let text: String = (0..20).map(|n| format!("a{n}: 1\na{n}: 2\n")).collect();
        let found = of_file(&path, text.as_bytes());
        assert_eq!(found.len(), SHOWN_MAX);
        assert_eq!(found.last().map(|last| last.label.as_str()), Some("and 15 more keys"));
    }
}
