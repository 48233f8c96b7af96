//! Which document of the dry tree a rendered Application seems to come from.

use std::collections::HashMap;

use super::super::excerpt::Excerpt;
use super::super::misspelt::MARK;
use dry_files::path::RepoPath;
use go_yaml as yaml;

/// A document above this is not quoted from: only its file and line are reported.
const EXCERPT_BYTES_MAX: usize = 8 << 10;

/// How many documents are compared with each name that none has as it is.
const TEMPLATES_MAX: usize = 100;

/// The documents that a parent read of which Applications may be rendered.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    documents: Vec<Document>,
    /// By kind and name, for names that are there as they are; several of one name are left out.
    by_name: HashMap<(Kind, String), Option<usize>>,
    /// Those with other names.
    others: Vec<usize>,
}

#[derive(Debug)]
struct Document {
    excerpt: Excerpt,
    kind: Kind,
    /// What is behind `name:` in its lines.
    names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Application,
    ApplicationSet,
}

impl Origins {
    /// Whether a file may be an origin.
    pub(crate) fn takes(content: &[u8]) -> bool {
        memchr::memmem::find(content, MARK.as_bytes()).is_some()
    }

    /// Takes in a file that was read.
    pub(crate) fn add(&mut self, path: &RepoPath, content: &[u8]) {
        let text = yaml::lossy(content);
        let (mut line, mut first) = (1, 1);
        let mut document = String::new();
        for one in text.split_inclusive('\n') {
            if one.starts_with("---") {
                self.add_document(path, first, std::mem::take(&mut document));
                first = line + 1;
            } else {
                document.push_str(one);
            }
            line += 1;
        }
        self.add_document(path, first, document);
    }

    fn add_document(&mut self, path: &RepoPath, line: u32, text: String) {
        let kinds = [("kind: ApplicationSet", Kind::ApplicationSet), ("kind: Application", Kind::Application)];
        let Some((_, kind)) = kinds.into_iter().find(|(words, _)| text.contains(words)) else { return };
        if !text.contains(MARK) {
            return;
        }
        let names: Vec<String> = text.lines().filter_map(name_of).collect();
        let text = if text.len() > EXCERPT_BYTES_MAX { String::new() } else { text };
        let index = self.documents.len();
        let plain = names.iter().filter(|name| !name.contains("{{"));
        for name in plain {
            self.by_name.entry((kind, name.clone())).and_modify(|known| *known = None).or_insert(Some(index));
        }
        if self.others.len() < TEMPLATES_MAX {
            self.others.push(index);
        }
        self.documents.push(Document { excerpt: Excerpt::new(path.clone(), line, text), kind, names });
    }

    /// The document that an object of this kind and name seems to come from; none when several may be.
    pub(crate) fn find(&self, kind: &str, name: &str) -> Option<Excerpt> {
        let kind = if kind == "ApplicationSet" { Kind::ApplicationSet } else { Kind::Application };
        if let Some(known) = self.by_name.get(&(kind, name.to_owned())) {
            return known.and_then(|index| self.documents.get(index)).map(|document| document.excerpt.clone());
        }
        let of_kind = || self.others.iter().filter_map(|index| self.documents.get(*index)).filter(|of| of.kind == kind);
        let likeness = |document: &Document| document.names.iter().filter_map(|other| likeness(other, name)).max();
        let best = of_kind().filter_map(likeness).max();
        let mut found = of_kind().filter(|document| best.is_none() || likeness(document) == best);
        match (found.next(), found.next()) {
            (Some(only), None) => Some(only.excerpt.clone()),
            _ => None,
        }
    }
}

/// What is behind `name:`, without quotes.
fn name_of(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("name:")?;
    let rest = rest.split(" #").next().unwrap_or_default().trim();
    // `metadata: {name: web}`
    let end = if rest.contains("{{") { None } else { rest.find([',', '}']) };
    let name = rest.get(..end.unwrap_or(rest.len()))?.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// How many characters a name shares with a template of it, or with a part of it.
fn likeness(template: &str, name: &str) -> Option<usize> {
    if !template.contains("{{") {
        return name.contains(template).then_some(template.len());
    }
    let (first, rest) = template.split_once("{{")?;
    let (mut left, mut shared) = (name.strip_prefix(first)?, first.len());
    for part in rest.split("{{") {
        let literal = part.split_once("}}").map_or("", |(_, literal)| literal);
        let at = left.rfind(literal)?;
        left = left.get(at + literal.len()..)?;
        shared += literal.len();
    }
    Some(shared)
}
