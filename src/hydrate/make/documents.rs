//! Finds the Application that a record of the cache belongs to by parsing its file, each file once.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::View;

use crate::argo::{self, Application, File, RuleSet};
use crate::hydrate::stopped::Stopped;
use crate::known::{About, Record};

/// The files of a dry tree that contain Applications. Each is parsed once, however many of its Applications are asked for:
/// thousands may be in one file, and rest on the same change.
pub(crate) struct Documents<'v, 'f> {
    view: &'v View<'f>,
    rules: &'v RuleSet,
    parsed: HashMap<RepoPath, Parsed>,
}

/// A file, and its Applications by which of the file they are.
struct Parsed {
    file: File,
    written: HashMap<usize, Arc<Application>>,
}

impl<'v, 'f> Documents<'v, 'f> {
    /// Those of a tree, of which none was parsed yet.
    pub(crate) fn of(view: &'v View<'f>, rules: &'v RuleSet) -> Self {
        Self { view, rules, parsed: HashMap::new() }
    }

    /// The Application of a record. Errors: its file has none, or one at another place.
    pub(crate) fn application(&mut self, record: &Record) -> Result<Arc<Application>, Stopped> {
        let found = match &record.about {
            About::Made(text) => Application::remade(None, text, self.rules).or_else(|| self.made(record, text)),
            About::Written => self.parsed(record).and_then(|parsed| parsed.written.get(&record.index).cloned()),
            About::Maker(_) => None,
        };
        found.filter(|found| found.placement() == record.placement).ok_or(Stopped::Unknown)
    }

    fn made(&mut self, record: &Record, text: &str) -> Option<Arc<Application>> {
        let rules = self.rules;
        Application::remade(Some(&self.parsed(record)?.file), text, rules)
    }

    fn parsed(&mut self, record: &Record) -> Option<&Parsed> {
        match self.parsed.entry(record.file.clone()) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(vacant) => {
                let content = self.view.read(&record.file).ok()?;
                Some(vacant.insert(Parsed::of(argo::read_by(&record.file, &content.data, self.rules))))
            }
        }
    }
}

impl Parsed {
    fn of(file: File) -> Self {
        let written = file.documents.iter().filter_map(|document| document.application.clone());
        let written = written.map(|application| (application.index, application)).collect();
        Self { file, written }
    }
}
