//! Applications that are gone although their file still has their documents, as something else.
//!
//! What removes an Application takes its document away. One that only got another `kind` or `apiVersion` was hardly meant to be
//! taken off its branch.

use std::collections::{BTreeMap, BTreeSet};

use crate::application::{self, Application, By};
use crate::diag::Diagnostic;
use crate::path::RepoPath;
use crate::view::{Files, View};

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

    /// What became of those that are documents of other kinds now. A file that cannot be read in one of the trees says
    /// nothing.
    pub(super) fn unrecognized(&self, before: &dyn Files, now: &dyn Files) -> Vec<Diagnostic> {
        let (before, now) = (View::new(before), View::new(now));
        let mut found = Vec::new();
        for (file, names) in &self.0 {
            let (Ok(before), Ok(now)) = (before.read(file), now.read(file)) else { continue };
            let names = names.iter().map(String::as_str).collect();
            if before.data != now.data {
                found.extend(application::unrecognized(file, &before.data, &now.data, &names));
            }
        }
        found
    }
}
