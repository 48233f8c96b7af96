//! What keeps a kustomization from being edited, and where it is.

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use go_std::json::is_field;
use go_yaml as yaml;

/// Why the file cannot be edited, and the fields that lead there, the last first.
pub(super) struct Misfit {
    pub(super) mistake: Box<Diagnostic>,
    pub(super) fields: Vec<String>,
}

impl Misfit {
    pub(super) fn new(mistake: Diagnostic, field: &str) -> Self {
        Self { mistake: Box::new(mistake), fields: vec![field.to_owned()] }
    }

    pub(super) fn inside(mut self, field: &str) -> Self {
        self.fields.push(field.to_owned());
        self
    }
}

/// The place of a field in the file, as near as it is found.
pub(super) fn place(file: &RepoPath, content: &[u8], fields: &[String]) -> Span {
    let root = yaml::parse_first(content, &yaml::Limits::default()).ok().flatten();
    let mut here = root.as_ref();
    let mut place = None;
    for field in fields.iter().rev() {
        let entries = here.and_then(yaml::Node::as_mapping).unwrap_or_default();
        let named = |key: &yaml::Node| key.as_str().is_some_and(|key| is_field(field, key));
        let Some((key, value)) = entries.iter().find(|(key, _)| named(key)) else { break };
        (here, place) = (Some(value), Some(key.mark));
    }
    match place {
        Some(mark) => Span::at(file.clone(), mark.line, mark.column).quoting(&String::from_utf8_lossy(content)),
        None => Span::file(file.clone()),
    }
}
