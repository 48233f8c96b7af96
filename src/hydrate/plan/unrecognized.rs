//! Applications that are gone although their file still has their documents, as something else.
//!
//! What removes an Application takes its document away. One that only got another `kind` or `apiVersion` was hardly meant to be
//! taken off its branch.

use std::collections::{BTreeMap, BTreeSet};

use super::lost_objects::{Renamed, Renames};
use crate::argo::{self, Application, By};
use crate::discover::{Searched, Unsearched};
use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::{Files, Kind, View, ViewError};
use go_yaml as yaml;

/// The names of documents by their files.
#[derive(Default)]
pub(crate) struct GoneDocuments<'a>(BTreeMap<&'a RepoPath, BTreeSet<String>>);

/// A dry tree, and where Applications of it are looked for.
#[derive(Clone, Copy)]
pub(crate) struct Side<'s> {
    pub files: &'s dyn Files,
    pub searched: Searched<'s>,
}

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

    /// What became of those that are documents of other kinds now, in what is not a text file any more, or in a file where
    /// Applications are not looked for. A file that is gone says nothing, unless it only got another name or place.
    pub(crate) fn unrecognized(&self, before: Side<'_>, now: Side<'_>, looked: &mut Looked) -> Vec<Diagnostic> {
        let (old, new) = (View::new(before.files), View::new(now.files));
        let views = (&old, &new);
        let Looked { renames, documents } = looked;
        let mut found = Vec::new();
        for (file, names) in &self.0 {
            let Ok(before_text) = old.read(file) else { continue };
            let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
            if renames.kind_of(file, views) == Some(Kind::Link) {
                found.push(no_text(file, &names, "a symbolic link"));
                continue;
            }
            let was_searched = before.searched.leaves_out(file, &old).is_none();
            let left_out = || now.searched.leaves_out(file, &new).filter(|_| was_searched);
            let now_text = new.read(file);
            if let (Ok(text), Some(why)) = (&now_text, left_out()) {
                let there = documents.there(file, &text.data, &names);
                found.extend((!there.is_empty()).then(|| claimed(file, &why, &there)));
                continue;
            }
            match now_text {
                Err(ViewError::LfsPointer(_)) => found.push(no_text(file, &names, "a pointer of Git LFS")),
                Err(ViewError::Submodule(_)) => found.push(no_text(file, &names, "a submodule")),
                Err(_) => {
                    let text = yaml::lossy(&before_text.data);
                    let beside = renames.of(file, &text, views).map(|became| renamed(file, became, &names));
                    let moved = || {
                        let reason = |path: &RepoPath| now.searched.leaves_out(path, &new);
                        let (path, why) = renames.moved((file, &text), views, reason)?;
                        Some(moved(file, &path, &why, &names))
                    };
                    found.extend(beside.or_else(moved));
                }
                Ok(text) if before_text.data == text.data => {}
                Ok(text) if yaml::lossy(&text.data).contains('\0') => found.push(no_text(file, &names, "no text")),
                Ok(text) => found.extend(documents.unrecognized(file, &before_text.data, &text.data, &names)),
            }
        }
        found
    }
}

/// A file that is there, and that something else takes for a part of it.
fn claimed(file: &RepoPath, why: &Unsearched, names: &BTreeSet<&str>) -> Diagnostic {
    let (text, at, cure) = match why {
        Unsearched::Chart(chart) => (
            format!(
                "`{chart}` makes `{file}` with {} a file of a chart, where Applications are not looked for",
                listed(names)
            ),
            chart,
            format!("remove `{chart}`, or move `{file}` out of the chart"),
        ),
        Unsearched::Patch(kustomization) => (
            format!(
                "`{kustomization}` names `{file}` with {} as a patch, where Applications are not looked for",
                listed(names)
            ),
            kustomization,
            "take it out of the patches there".to_owned(),
        ),
        Unsearched::Below(dir, kind) => {
            let what = if *kind == Kind::Link { "a symbolic link" } else { "a submodule" };
            let text = format!(
                "`{dir}`, which has `{file}` with {}, is {what}, where Applications are not looked for",
                listed(names)
            );
            (text, dir, "commit the directory itself".to_owned())
        }
        Unsearched::Named | Unsearched::Input | Unsearched::Setting => (
            format!("`{file}` with {} is a file where Applications are not looked for now", listed(names)),
            file,
            format!("move `{file}` elsewhere"),
        ),
    };
    let hint = format!("{cure}; to take them off their branches, remove them from `{file}`");
    Diagnostic::error(clipped(text)).at(Span::file(at.clone())).hint(clipped(hint))
}

/// A file that is elsewhere now, where Applications are not looked for.
fn moved(file: &RepoPath, path: &RepoPath, why: &Unsearched, names: &BTreeSet<&str>) -> Diagnostic {
    let why = match why {
        Unsearched::Chart(chart) => format!(" since `{chart}` is there"),
        Unsearched::Patch(kustomization) => format!(" since `{kustomization}` names it as a patch"),
        Unsearched::Setting => " by the setting `applications`".to_owned(),
        Unsearched::Named | Unsearched::Input | Unsearched::Below(..) => String::new(),
    };
    let text = format!("`{file}` with {} is `{path}` now, where Applications are not looked for{why}", listed(names));
    let hint = "move it back; to take them off their branches, remove it, or name it `*.disabled`";
    Diagnostic::error(clipped(text)).at(Span::file(path.clone())).hint(hint)
}

/// "`a`, `b`"
fn listed(names: &BTreeSet<&str>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// A file that has a name now which is not read, though nearly one that is, or may have.
fn renamed(file: &RepoPath, renamed: Renamed, names: &BTreeSet<&str>) -> Diagnostic {
    let names = listed(names);
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
    let text = format!("the file of {} is {what}, where Applications are not looked for", listed(names));
    let hint = "commit the file itself; to take them off their branches, remove it";
    Diagnostic::error(clipped(text)).at(Span::file(file.clone())).hint(hint)
}
