//! Reads the files of a dry tree that may have Applications.

use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Files};

use super::barren::BarrenFiles;
use crate::application::set::may_hold_clusters;
use crate::application::{self, RuleSet};

/// A file above this is not read for Applications: if it seems to contain some, that is an error.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A file above this is not even searched for signs of them.
const SEEMING_BYTES_MAX: u64 = 64 << 20;

/// How large all files may be together that have to be parsed. A file counts wherever it is: trees may contain one
/// another, so one object can be a million files.
const PARSED_BYTES_MAX: u64 = 128 << 20;

/// How large all files may be together that are searched for signs of them. A file counts wherever it is.
const SEARCHED_BYTES_MAX: u64 = 2 << 30;

/// What one file says.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Its Applications and sets, if there are any or should be.
    pub file: Option<application::File>,
    /// The files that it names as patches.
    pub patches: BTreeSet<RepoPath>,
    /// Whether it may contain Secrets of clusters.
    pub may_hold_clusters: bool,
}

/// Why a file, or the tree as a whole, is not read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReadError {
    /// The repository cannot be read.
    Backend(String),
    /// The tree has more than we take.
    TooMuch(String),
}

impl From<String> for ReadError {
    fn from(reason: String) -> Self {
        Self::Backend(reason)
    }
}

/// Reads the files of one dry tree that may contain Applications or name patches, up to what a tree may contain.
pub(super) struct Reader<'a> {
    files: &'a dyn Files,
    rules: &'a RuleSet,
    applications_max: usize,
    searched_bytes: AtomicU64,
    parsed_bytes: AtomicU64,
    applications: AtomicUsize,
    /// What earlier readers found out about large files.
    barren: Option<&'a BarrenFiles>,
    /// What contains nothing, whatever its name.
    bare: Mutex<HashSet<ContentId>>,
    /// Of what the tree has too much: then nothing more of it is read.
    too_much: OnceLock<String>,
}

impl<'a> Reader<'a> {
    /// Reads no more than `applications_max` Applications: those with `spec.sourceHydrator` and those that rules hydrate.
    pub(super) fn new(files: &'a dyn Files, rules: &'a RuleSet, applications_max: usize) -> Self {
        Self {
            files,
            rules,
            applications_max,
            barren: None,
            searched_bytes: AtomicU64::new(0),
            parsed_bytes: AtomicU64::new(0),
            applications: AtomicUsize::new(0),
            bare: Mutex::default(),
            too_much: OnceLock::new(),
        }
    }

    /// The same with what is known of large files.
    pub(super) fn knowing(self, barren: Option<&'a BarrenFiles>) -> Self {
        Self { barren, ..self }
    }

    /// Whether a file of this name is read at all.
    pub(super) fn takes(path: &RepoPath) -> bool {
        application::is_kustomization(path) || application::may_hold_applications(path)
    }

    /// Reads one file.
    pub(super) fn read(&self, path: &RepoPath, id: ContentId) -> Result<Found, ReadError> {
        if let Some(what) = self.too_much.get() {
            return Err(ReadError::TooMuch(what.clone()));
        }
        let is_kustomization = application::is_kustomization(path);
        let bare = || self.bare.lock().unwrap_or_else(PoisonError::into_inner);
        if !Self::takes(path) || (!is_kustomization && bare().contains(&id)) {
            return Ok(Found::default());
        }
        let size = self.files.size(path, id)?;
        if size > SEEMING_BYTES_MAX {
            return Ok(Found::default());
        }
        if self.searched_bytes.fetch_add(size, Ordering::Relaxed) + size > SEARCHED_BYTES_MAX {
            let what = format!("files that may hold Applications have more than {SEARCHED_BYTES_MAX} bytes");
            return Err(self.too_much(what));
        }
        // What is known counts as if it were parsed, so that a tree has too much with it or without it.
        if let Some((file, may_hold_clusters)) = self.barren.and_then(|barren| barren.get(path, id, size)) {
            self.charge(size)?;
            return Ok(Found { file, may_hold_clusters, ..Found::default() });
        }
        let (found, is_parsed) = self.read_anew(path, id, size)?;
        if let Some(barren) = self.barren.filter(|_| is_parsed && found.patches.is_empty()) {
            barren.note(path, id, size, (found.file.as_ref(), found.may_hold_clusters));
        }
        Ok(found)
    }

    /// Counts a file that is parsed.
    fn charge(&self, size: u64) -> Result<(), ReadError> {
        if size <= FILE_BYTES_MAX && self.parsed_bytes.fetch_add(size, Ordering::Relaxed) + size > PARSED_BYTES_MAX {
            let what = format!("files with Applications and kustomizations have more than {PARSED_BYTES_MAX} bytes");
            return Err(self.too_much(what));
        }
        Ok(())
    }

    /// Reads a file of which nothing is known. Answers whether it was looked at as a whole, too.
    fn read_anew(&self, path: &RepoPath, id: ContentId, size: u64) -> Result<(Found, bool), ReadError> {
        let is_kustomization = application::is_kustomization(path);
        let bare = || self.bare.lock().unwrap_or_else(PoisonError::into_inner);
        let content = self.files.read(path, id)?;
        let is_marked = application::is_marked(&content, self.rules);
        let may_hold_clusters = may_hold_clusters(&content) && application::may_hold_applications(path);
        if !is_marked && !is_kustomization && !may_hold_clusters {
            bare().insert(id);
            return Ok((Found::default(), false));
        }
        let of_clusters = Found { may_hold_clusters, ..Found::default() };
        if size > FILE_BYTES_MAX {
            return Ok((Found { file: application::read_too_large(path, &content, self.rules), ..of_clusters }, true));
        }
        if !is_marked && !is_kustomization {
            return Ok((of_clusters, false));
        }
        self.charge(size)?;
        let patches = if is_kustomization { application::patches(path, &content) } else { BTreeSet::new() };
        let file = application::read_by(path, &content, self.rules);
        let count = file.documents.len();
        let max = self.applications_max;
        if self.applications.fetch_add(count, Ordering::Relaxed) + count > max {
            return Err(self.too_much(too_many_applications(max)));
        }
        let found = !file.documents.is_empty()
            || !file.diagnostics.is_empty()
            || !file.sets.is_empty()
            || !file.rules.is_empty();
        Ok((Found { file: found.then_some(file), patches, may_hold_clusters }, true))
    }

    fn too_much(&self, what: String) -> ReadError {
        ReadError::TooMuch(self.too_much.get_or_init(|| what).clone())
    }
}

/// What is said of more Applications than a tree may contain.
pub(super) fn too_many_applications(max: usize) -> String {
    format!("a dry tree has more than {max} Applications; the setting limits.applications sets the limit")
}
