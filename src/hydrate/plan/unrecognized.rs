//! Applications that are gone although their file still has their documents, as something else.
//!
//! What removes an Application takes its document away. One that only got another `kind` or `apiVersion` was hardly meant to be
//! taken off its branch.

use std::collections::{BTreeMap, BTreeSet};

use super::lost_objects::{Renamed, Renames};
use crate::argo::{self, Application, By};
use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::{Files, Kind, View, ViewError};
use go_yaml as yaml;

/// The names of documents by their files.
#[derive(Default)]
pub(crate) struct GoneDocuments<'a>(BTreeMap<&'a RepoPath, BTreeSet<String>>);

/// What was looked at in two dry trees for documents that are gone: what is too much for one branch is not done for the next.
#[derive(Default)]
pub(crate) struct Looked {
    renames: Renames,
    documents: argo::Looks,
}

impl<'a> GoneDocuments<'a> {
    /// Notes the document that an Application comes from: its own, or that of the outermost which makes it.
    pub(crate) fn add(&mut self, file: &'a RepoPath, name: &str, makers: &[By]) {
        let name = match makers.last() {
            Some(By::Root { .. }) => return,
            Some(maker) => maker.name(),
            None => name,
        };
        self.0.entry(file).or_default().insert(name.to_owned());
    }

    /// Notes the document that `application` comes from.
    pub(crate) fn add_of(&mut self, application: &'a Application) {
        let makers = application.maker.iter().flat_map(|maker| [&maker.by].into_iter().chain(&maker.above));
        let makers: Vec<By> = makers.cloned().collect();
        self.add(&application.file, application.name.as_str(), &makers);
    }

    /// What became of those that are documents of other kinds now, or in what is not a text file any more. A file that
    /// is gone says nothing, unless it only got a name that is not read.
    pub(crate) fn unrecognized(&self, before: &dyn Files, now: &dyn Files, looked: &mut Looked) -> Vec<Diagnostic> {
        let (old, new) = (View::new(before), View::new(now));
        let views = (&old, &new);
        let Looked { renames, documents } = looked;
        let mut found = Vec::new();
        for (file, names) in &self.0 {
            let Ok(before) = old.read(file) else { continue };
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            if renames.kind_of(file, views) == Some(Kind::Link) {
                found.push(no_text(file, &names, "a symbolic link"));
                continue;
            }
            match new.read(file) {
                Err(ViewError::LfsPointer(_)) => found.push(no_text(file, &names, "a pointer of Git LFS")),
                Err(ViewError::Submodule(_)) => found.push(no_text(file, &names, "a submodule")),
                Err(_) => {
                    let became = renames.of(file, &yaml::lossy(&before.data), views);
                    found.extend(became.map(|became| renamed(file, became, &names)));
                }
                Ok(now) if before.data == now.data => {}
                Ok(now) if yaml::lossy(&now.data).contains('\0') => found.push(no_text(file, &names, "no text")),
                Ok(now) => found.extend(documents.unrecognized(file, &before.data, &now.data, &names)),
            }
        }
        found
    }
}

/// A file that has a name now which is not read, though nearly one that is, or may have.
fn renamed(file: &RepoPath, renamed: Renamed, names: &BTreeSet<&str>) -> Diagnostic {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    let (text, at) = match renamed {
        Renamed::To(path) => {
            (format!("`{file}` with {names} is `{path}` now, where Applications are not looked for"), path)
        }
        Renamed::Maybe(path) => {
            let why = "too many files there have names that are not read";
            (format!("`{file}` with {names} is gone, unless it is `{path}` now: {why}"), path)
        }
    };
    let name = file.file_name().unwrap_or_default();
    let hint = format!("name it `{name}` again; to take them off their branches, remove it");
    Diagnostic::error(clipped(text)).at(Span::file(at)).hint(hint)
}

fn no_text(file: &RepoPath, names: &BTreeSet<&str>, what: &str) -> Diagnostic {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let text = format!("the file of {} is {what}, where Applications are not looked for", names.join(", "));
    let hint = "commit the file itself; to take them off their branches, remove it";
    Diagnostic::error(clipped(text)).at(Span::file(file.clone())).hint(hint)
}
