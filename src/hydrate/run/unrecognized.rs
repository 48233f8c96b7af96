//! Applications that are gone although their file still has their documents, as something else.
//!
//! What removes an Application takes its document away. One that only got another `kind` or `apiVersion` was hardly meant to be
//! taken off its branch.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::{Files, Kind, View, ViewError};

use crate::application::{self, Application, By};

/// The names of documents by their files.
#[derive(Default)]
pub(super) struct GoneDocuments<'a>(BTreeMap<&'a RepoPath, BTreeSet<String>>);

impl<'a> GoneDocuments<'a> {
    /// Notes the document that an Application comes from: its own, or that of the outermost which makes it.
    pub(super) fn add(&mut self, file: &'a RepoPath, name: &str, makers: &[By]) {
        let name = match makers.last() {
            Some(By::Root { .. }) => return,
            Some(maker) => maker.name(),
            None => name,
        };
        self.0.entry(file).or_default().insert(name.to_owned());
    }

    /// The same of an Application.
    pub(super) fn add_of(&mut self, application: &'a Application) {
        let makers = application.maker.iter().flat_map(|maker| [&maker.by].into_iter().chain(&maker.above));
        let makers: Vec<By> = makers.cloned().collect();
        self.add(&application.file, application.name.as_str(), &makers);
    }

    /// What became of those that are documents of other kinds now, or in what is not a text file any more. A file that one of
    /// the trees does not have says nothing.
    pub(super) fn unrecognized(&self, before: &dyn Files, now: &dyn Files) -> Vec<Diagnostic> {
        let (before, now) = (View::new(before), View::new(now));
        let mut found = Vec::new();
        for (file, names) in &self.0 {
            let Ok(before) = before.read(file) else { continue };
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            if is_link(file, &now) {
                found.push(no_text(file, &names, "a symbolic link"));
                continue;
            }
            match now.read(file) {
                Err(ViewError::LfsPointer(_)) => found.push(no_text(file, &names, "a pointer of Git LFS")),
                Err(ViewError::Submodule(_)) => found.push(no_text(file, &names, "a submodule")),
                Err(_) => {}
                Ok(now) if before.data == now.data => {}
                Ok(now) if now.data.contains(&0) => found.push(no_text(file, &names, "no text")),
                Ok(now) => found.extend(application::unrecognized(file, &before.data, &now.data, &names)),
            }
        }
        found
    }
}

fn is_link(file: &RepoPath, view: &View<'_>) -> bool {
    let Some((dir, name)) = file.parent().zip(file.file_name()) else { return false };
    let entries = view.list(&dir);
    entries.is_ok_and(|entries| entries.iter().any(|entry| entry.name == name && entry.kind == Kind::Link))
}

fn no_text(file: &RepoPath, names: &BTreeSet<&str>, what: &str) -> Diagnostic {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let text = format!("the file of {} is {what}, where Applications are not looked for", names.join(", "));
    let hint = "commit the file itself; to take them off their branches, remove it";
    Diagnostic::error(clipped(text)).at(Span::file(file.clone())).hint(hint)
}
