//! Finds the ApplicationSets of a file, and what their generators name.

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_yaml::Value;

use super::{ApplicationSet, KIND};
use crate::argo::field::{Content, Field};
use crate::argo::located;

/// How deep lists may be nested.
const LIST_DEPTH_MAX: u32 = 8;

/// How many sets a file may have.
pub(crate) const SETS_MAX: usize = 1000;

/// Finds the ApplicationSets of a file: in its documents, and in lists among them.
///
/// Errors: the file cannot be parsed, or has too many sets.
pub fn read_sets(path: &RepoPath, bytes: &[u8]) -> std::result::Result<Vec<ApplicationSet>, Diagnostic> {
    let mut sets = Vec::new();
    for document in located::parse(path, bytes)? {
        gather(document, 0, &mut sets);
    }
    match sets.len() > SETS_MAX {
        true => Err(Diagnostic::error(format!("the file has more than {SETS_MAX} ApplicationSets"))
            .at(Span::file(path.clone()))),
        false => Ok(sets),
    }
}

fn gather(object: Field, depth: u32, sets: &mut Vec<ApplicationSet>) {
    let text = |key: &str| object.get(key).and_then(Field::as_str).unwrap_or_default();
    let group = text("apiVersion").split('/').next().unwrap_or_default();
    if text("kind") == KIND && group == "argoproj.io" {
        sets.push(ApplicationSet { field: object, rendered: None });
        return;
    }
    if !text("kind").ends_with("List") || depth >= LIST_DEPTH_MAX {
        return;
    }
    let Content::Mapping(entries) = object.content else { return };
    for entry in entries.into_iter().filter(|entry| entry.key == "items") {
        if let Content::List(items) = entry.field.content {
            items.into_iter().for_each(|item| gather(item, depth + 1, sets));
        }
    }
}

/// The patterns of the git generators in a list of generators, without those that take away.
pub(super) fn git_patterns(generators: &Field, found: &mut Vec<(String, Span)>) {
    let Content::List(items) = &generators.content else { return };
    for item in items {
        for combined in ["matrix", "merge"] {
            if let Some(inner) = item.get(combined).and_then(|of| of.get("generators")) {
                git_patterns(inner, found);
            }
        }
        let Some(git) = item.get("git") else { continue };
        for list in ["directories", "files"].into_iter().filter_map(|key| git.get(key)) {
            let Content::List(patterns) = &list.content else { continue };
            let is_taken_away = |pattern: &&Field| pattern.get("exclude").is_some();
            let paths = patterns.iter().filter(|pattern| !is_taken_away(pattern)).filter_map(|one| one.get("path"));
            found.extend(paths.filter_map(|path| Some((path.as_str()?.to_owned(), path.place.span()))));
        }
    }
}

/// What the git generators in a list of generators name.
pub(super) fn git_directories(generators: &Field, found: &mut Vec<(String, RepoPath)>) {
    let Content::List(items) = &generators.content else { return };
    for item in items {
        for combined in ["matrix", "merge"] {
            if let Some(inner) = item.get(combined).and_then(|of| of.get("generators")) {
                git_directories(inner, found);
            }
        }
        let Some(git) = item.get("git") else { continue };
        let Some(url) = git.get("repoURL").and_then(Field::as_str).filter(|url| !url.contains("{{")) else { continue };
        let lists = ["directories", "files"].into_iter().filter_map(|key| git.get(key)).map(|list| &list.content);
        for content in lists {
            let Content::List(patterns) = content else { continue };
            let texts = patterns.iter().filter_map(|pattern| pattern.get("path")?.as_str());
            found.extend(texts.filter_map(|text| Some((url.to_owned(), before_wildcards(text)?))));
        }
    }
}

/// The directory that a pattern begins with.
fn before_wildcards(pattern: &str) -> Option<RepoPath> {
    let plain = pattern.split('/').take_while(|part| !part.contains(['*', '?', '[', '{']));
    RepoPath::clean(&plain.collect::<Vec<_>>().join("/")).ok()
}

/// Whether one of the generators is `clusters`, those of `matrix` and `merge` included.
pub(super) fn has_clusters(generators: &Value, depth: u32) -> bool {
    generators.as_sequence().unwrap_or_default().iter().any(|generator| is_of_clusters(generator, depth))
}

fn is_of_clusters(generator: &Value, depth: u32) -> bool {
    let mut nested = ["matrix", "merge"].iter().filter_map(|kind| generator.at(&[kind, "generators"]));
    generator.get("clusters").is_some() || (depth < 4 && nested.any(|nested| has_clusters(nested, depth + 1)))
}

/// Whether a word is a key of a value, or part of a text in it.
pub(super) fn mentions(field: &Field, word: &str) -> bool {
    match &field.content {
        Content::Mapping(entries) => entries.iter().any(|entry| entry.key == word || mentions(&entry.field, word)),
        Content::List(items) => items.iter().any(|item| mentions(item, word)),
        Content::Scalar(value) => value.as_str().is_some_and(|text| text.contains(word)),
    }
}
