//! Applications that are gone although their file still has their documents, as something else.
//!
//! What removes an Application takes its document away. One that only got another `kind` or `apiVersion` was hardly meant to be
//! taken off its branch.

use std::collections::{BTreeMap, BTreeSet};

use super::lost_objects::nearly_named;
use crate::application::{self, Application, By};
use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::{Files, Kind, View, ViewError};
use go_yaml as yaml;

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

    /// What became of those that are documents of other kinds now, or in what is not a text file any more. A file that
    /// is gone says nothing, unless it only got a name that is not read.
    pub(super) fn unrecognized(&self, before: &dyn Files, now: &dyn Files) -> Vec<Diagnostic> {
        let views = (View::new(before), View::new(now));
        let now = &views.1;
        let mut found = Vec::new();
        for (file, names) in &self.0 {
            let Ok(before) = views.0.read(file) else { continue };
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            if is_link(file, now) {
                found.push(no_text(file, &names, "a symbolic link"));
                continue;
            }
            match now.read(file) {
                Err(ViewError::LfsPointer(_)) => found.push(no_text(file, &names, "a pointer of Git LFS")),
                Err(ViewError::Submodule(_)) => found.push(no_text(file, &names, "a submodule")),
                Err(_) => found.extend(renamed(file, &before.data, &names, (&views.0, &views.1))),
                Ok(now) if before.data == now.data => {}
                Ok(now) if yaml::lossy(&now.data).contains('\0') => found.push(no_text(file, &names, "no text")),
                Ok(now) => found.extend(application::unrecognized(file, &before.data, &now.data, &names)),
            }
        }
        found
    }
}

/// A file that has a name now which is not read, though nearly one that is.
fn renamed(
    file: &RepoPath,
    before: &[u8],
    names: &BTreeSet<&str>,
    views: (&View<'_>, &View<'_>),
) -> Option<Diagnostic> {
    let renamed = nearly_named(file, &yaml::lossy(before), views)?;
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let text = format!("`{file}` with {} is `{renamed}` now, where Applications are not looked for", names.join(", "));
    let name = file.file_name().unwrap_or_default();
    let hint = format!("name it `{name}` again; to take them off their branches, remove it");
    Some(Diagnostic::error(clipped(text)).at(Span::file(renamed)).hint(hint))
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
