//! Reads the files of a dry tree that may have Applications.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::barren::BarrenFiles;
use super::found::Found;
use crate::argo::set::may_hold_clusters;
use crate::argo::{self, RuleSet};
use crate::repo::shares::in_shares;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Files, Unreadable};

/// A file above this is not read for Applications: if it seems to contain some, that is an error.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A file above this is not even searched for signs of them.
const SEEMING_BYTES_MAX: u64 = 64 << 20;

/// How much the files may cost together that have to be parsed: their size, and what their aliases stand for. A file counts
/// wherever it is: trees may contain one another, so one object can be a million files. What others make counts too.
pub(super) const PARSED_BYTES_MAX: u64 = 128 << 20;

/// How large all files may be together that are searched for signs of them. A file counts wherever it is.
const SEARCHED_BYTES_MAX: u64 = 2 << 30;

/// What counts as large: such files are parsed one after the other, since what that takes is a hundred times their size.
const LARGE_BYTES: u64 = 1 << 20;

/// A file that was opened.
pub(super) enum Opened {
    /// A file whose content is known without parsing it.
    Known(Found),
    /// It has to be parsed.
    Content {
        /// What is in it.
        content: Arc<[u8]>,
        /// Whether it may contain Secrets of clusters.
        may_hold_clusters: bool,
    },
}

/// Why a file, or the tree as a whole, is not read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ReadError {
    /// The repository cannot be read.
    Backend(String),
    /// The tree has more than we take.
    TooMuch(TooMuch),
}

/// Of what a tree has more than we take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// Files.
    Files,
    /// Bytes of files that may have Applications.
    Searched,
    /// What is parsed: more than so many bytes.
    Parsed(u64),
    /// Parsed files, and what makers make: more than so many bytes.
    Made(u64),
    /// Applications.
    Applications(usize),
}

impl From<String> for ReadError {
    fn from(reason: String) -> Self {
        Self::Backend(reason)
    }
}

impl From<Unreadable> for ReadError {
    fn from(why: Unreadable) -> Self {
        Self::Backend(why.to_string())
    }
}

/// Reads the files of one dry tree that may contain Applications or name patches, up to what a tree may contain.
pub(super) struct Reader<'a> {
    files: &'a dyn Files,
    rules: &'a RuleSet,
    applications_max: usize,
    /// How much may be parsed.
    bytes_max: u64,
    searched_bytes: AtomicU64,
    parsed_bytes: AtomicU64,
    /// How often what is opened mentions `sourceHydrator`.
    mentions: AtomicUsize,
    applications: AtomicUsize,
    /// What earlier readers found out about large files.
    barren: Option<&'a BarrenFiles>,
    /// The files of any name that contain nothing.
    bare: Mutex<HashSet<ContentId>>,
    /// Held while a large file is parsed.
    large: Mutex<()>,
    /// Of what the tree has too much: then nothing more of it is read.
    too_much: OnceLock<TooMuch>,
}

impl<'a> Reader<'a> {
    /// Reads no more than `applications_max` Applications: those with `spec.sourceHydrator` and those that rules hydrate.
    pub(super) fn new(files: &'a dyn Files, rules: &'a RuleSet, applications_max: usize) -> Self {
        Self {
            files,
            rules,
            applications_max,
            bytes_max: PARSED_BYTES_MAX,
            barren: None,
            searched_bytes: AtomicU64::new(0),
            parsed_bytes: AtomicU64::new(0),
            mentions: AtomicUsize::new(0),
            applications: AtomicUsize::new(0),
            bare: Mutex::default(),
            large: Mutex::default(),
            too_much: OnceLock::new(),
        }
    }

    /// Adds what is known of large files.
    pub(super) fn knowing(self, barren: Option<&'a BarrenFiles>) -> Self {
        Self { barren, ..self }
    }

    /// Sets how many bytes may be parsed.
    pub(super) fn within(self, bytes_max: u64) -> Self {
        Self { bytes_max, ..self }
    }

    /// Whether a file of this name is read at all.
    pub(super) fn takes(path: &RepoPath) -> bool {
        argo::is_kustomization(path) || argo::may_hold_applications(path)
    }

    /// Reads one file.
    pub(super) fn read(&self, path: &RepoPath, id: ContentId) -> Result<Found, ReadError> {
        let opened = self.open(path, id)?;
        self.parse(path, id, &opened)
    }

    /// Looks whether a file has to be parsed.
    pub(super) fn open(&self, path: &RepoPath, id: ContentId) -> Result<Opened, ReadError> {
        if let Some(what) = self.too_much.get() {
            return Err(ReadError::TooMuch(what.clone()));
        }
        let nothing = || Ok(Opened::Known(Found::default()));
        let is_kustomization = argo::is_kustomization(path);
        let bare = || self.bare.lock().unwrap_or_else(PoisonError::into_inner);
        if !Self::takes(path) || (!is_kustomization && bare().contains(&id)) {
            return nothing();
        }
        let size = self.files.size(path, id)?;
        if size > SEEMING_BYTES_MAX {
            return nothing();
        }
        if self.searched_bytes.fetch_add(size, Ordering::Relaxed) + size > SEARCHED_BYTES_MAX {
            return Err(self.too_much(TooMuch::Searched));
        }
        // What is known counts as if it were parsed, so that a tree has too much with it or without it.
        if let Some(known) = self.barren.and_then(|barren| barren.get(path, id)) {
            self.charge(known.cost)?;
            return Ok(Opened::Known(known));
        }
        let content = match self.files.read(path, id) {
            Ok(content) => content,
            Err(Unreadable::Backend(reason)) => return Err(ReadError::Backend(reason)),
            Err(why @ Unreadable::NoFile(_)) => {
                return Ok(Opened::Known(Found { file: Some(argo::read_no_file(path, &why)), ..Found::default() }));
            }
        };
        let is_marked = argo::is_marked(&content, self.rules);
        let may_hold_clusters = may_hold_clusters(&content) && argo::may_hold_applications(path);
        if !is_marked && !is_kustomization && !may_hold_clusters {
            bare().insert(id);
            return nothing();
        }
        let of_clusters = Found { may_hold_clusters, ..Found::default() };
        if size > FILE_BYTES_MAX {
            let found = Found { file: argo::read_too_large(path, &content, self.rules), ..of_clusters };
            self.note(path, id, size, &found);
            return Ok(Opened::Known(found));
        }
        if !is_marked && !is_kustomization {
            return Ok(Opened::Known(of_clusters));
        }
        self.charge(size)?;
        self.mentions.fetch_add(argo::count_mentions(&content), Ordering::Relaxed);
        Ok(Opened::Content { content, may_hold_clusters })
    }

    /// Counts the Applications of what was opened where there may be too many, before they are read: each takes much more
    /// memory than its text.
    pub(super) fn count(&self, opened: &[Opened]) -> Result<(), ReadError> {
        if self.mentions.load(Ordering::Relaxed) <= self.applications_max {
            return Ok(());
        }
        let counted = AtomicUsize::new(0);
        in_shares(opened, |opened| self.count_one(opened, &counted));
        self.check_count(counted.into_inner())
    }

    fn count_one(&self, opened: &Opened, counted: &AtomicUsize) {
        if let Opened::Content { content, .. } = opened
            && counted.load(Ordering::Relaxed) <= self.applications_max
        {
            let _one = self.one_of_large(content.len() as u64);
            counted.fetch_add(argo::count_certain(content), Ordering::Relaxed);
        }
    }

    /// Waits until no other large file is parsed, if this one is large.
    fn one_of_large(&self, bytes: u64) -> Option<MutexGuard<'_, ()>> {
        (bytes > LARGE_BYTES).then(|| self.large.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn check_count(&self, applications: usize) -> Result<(), ReadError> {
        match applications > self.applications_max {
            true => Err(self.too_much(TooMuch::Applications(self.applications_max))),
            false => Ok(()),
        }
    }

    /// Counts what is parsed.
    fn charge(&self, cost: u64) -> Result<(), ReadError> {
        // What is far too much is as bad as what is too much.
        let cost = cost.min(self.bytes_max.saturating_add(1));
        let before = self.parsed_bytes.fetch_add(cost, Ordering::Relaxed);
        match before.saturating_add(cost) > self.bytes_max {
            true => Err(self.too_much(TooMuch::Parsed(self.bytes_max))),
            false => Ok(()),
        }
    }

    /// What a file says that was opened.
    pub(super) fn parse(&self, path: &RepoPath, id: ContentId, opened: &Opened) -> Result<Found, ReadError> {
        let (content, may_hold_clusters) = match opened {
            Opened::Known(found) => return Ok(found.clone()),
            Opened::Content { content, may_hold_clusters } => (content, *may_hold_clusters),
        };
        if let Some(what) = self.too_much.get() {
            return Err(ReadError::TooMuch(what.clone()));
        }
        let size = content.len() as u64;
        let one = RefCell::new(self.one_of_large(size));
        let cost = Cell::new(size);
        let may_take = |extra| self.may_take(extra, &cost, &one);
        let too_much = || self.too_much(TooMuch::Parsed(self.bytes_max));
        let patches = match argo::is_kustomization(path) {
            true => argo::patches(path, content, &may_take).ok_or_else(too_much)?,
            false => BTreeSet::new(),
        };
        let file = argo::read_within(path, content, self.rules, &may_take).ok_or_else(too_much)?;
        let count = file.documents.len();
        self.check_count(self.applications.fetch_add(count, Ordering::Relaxed) + count)?;
        let found = !file.documents.is_empty()
            || !file.diagnostics.is_empty()
            || !file.sets.is_empty()
            || !file.rules.is_empty();
        let found = Found { file: found.then_some(file), patches, may_hold_clusters, cost: cost.get() };
        self.note(path, id, cost.get(), &found);
        Ok(found)
    }

    /// Counts what a file costs beside its size, and waits for other large ones if that makes it one.
    fn may_take<'r>(&'r self, extra: u64, cost: &Cell<u64>, one: &RefCell<Option<MutexGuard<'r, ()>>>) -> bool {
        let is_taken = self.charge(extra).is_ok();
        cost.set(cost.get().saturating_add(extra));
        let mut one = one.borrow_mut();
        if is_taken && one.is_none() {
            *one = self.one_of_large(cost.get());
        }
        is_taken
    }

    /// Remembers a file that costs much and says nothing.
    fn note(&self, path: &RepoPath, id: ContentId, size: u64, found: &Found) {
        if let Some(barren) = self.barren.filter(|_| found.patches.is_empty()) {
            barren.note(path, id, size, found);
        }
    }

    /// The file with which a tree passes the limit of what is parsed, its files in their order.
    pub(super) fn culprit<'c>(&self, opened: impl Iterator<Item = (&'c RepoPath, &'c Opened)>) -> Option<&'c RepoPath> {
        let mut cost = 0_u64;
        for (path, opened) in opened {
            let more = match opened {
                Opened::Known(found) => found.cost,
                Opened::Content { content, .. } => argo::extra_of(content).saturating_add(content.len() as u64),
            };
            cost = cost.saturating_add(more);
            if cost > self.bytes_max {
                return Some(path);
            }
        }
        None
    }

    fn too_much(&self, what: TooMuch) -> ReadError {
        ReadError::TooMuch(self.too_much.get_or_init(|| what).clone())
    }
}

impl TooMuch {
    /// The report of this limit. `file` is the file with which the parsed files are too much.
    pub(super) fn tell(&self, file: Option<&RepoPath>) -> Diagnostic {
        let of_files = "a directory or file that occurs in the tree many times counts each time";
        let (text, hint) = match self {
            Self::Files => ("a dry tree has more files than are searched for Applications".to_owned(), of_files),
            Self::Searched => {
                (format!("files that may hold Applications have more than {SEARCHED_BYTES_MAX} bytes"), of_files)
            }
            Self::Parsed(max) => (
                format!(
                    "files with Applications and kustomizations have more than {max} bytes, their aliases written out"
                ),
                match file {
                    Some(_) => {
                        "with this file it is too much: an alias counts as what it refers to; large values belong in values files"
                    }
                    None => {
                        "a file that occurs in the tree many times counts each time, and an alias counts as what it refers to"
                    }
                },
            ),
            Self::Made(max) => (
                format!("a dry tree has more than {max} bytes of Applications with what others make"),
                "make fewer, or smaller ones",
            ),
            Self::Applications(max) => (too_many_applications(*max), of_files),
        };
        let told = Diagnostic::error(text).hint(hint);
        match file {
            Some(file) => told.at(Span::file(file.clone())),
            None => told,
        }
    }
}

/// What is said of more Applications than a tree may contain.
pub(super) fn too_many_applications(max: usize) -> String {
    format!("a dry tree has more than {max} Applications; the setting limits.applications sets the limit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    const APPLICATION: &str = "apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: a}
spec: {sourceHydrator: {drySource: {}}}
";

    fn opened<'f>(files: &'f MemoryFiles, reader: &Reader<'_>, paths: &'f [RepoPath]) -> Vec<(&'f RepoPath, Opened)> {
        let root = files.list(&RepoPath::root(), files.root()).expect("a tree");
        let id = |path: &RepoPath| root.iter().find(|entry| Some(&*entry.name) == path.file_name()).expect("there").id;
        paths.iter().map(|path| (path, reader.open(path, id(path)).expect("small"))).collect()
    }

    #[test]
    fn applications_are_counted_before_any_is_read() {
        let texts = [
            ("a.yaml", APPLICATION.to_owned()),
            ("b.yaml", format!("{APPLICATION}---\n# sourceHydrator\n{APPLICATION}")),
            ("c.yaml", "# sourceHydrator\nkind: ConfigMap\n".to_owned()),
        ];
        let files = texts.iter().fold(MemoryFiles::new(), |files, (name, text)| files.file(name, text));
        let paths = texts.each_ref().map(|(name, _)| RepoPath::new(name).expect("plain"));
        let rules = RuleSet::default();
        for (max, is_counted_out) in [(2, true), (3, false), (10, false)] {
            let reader = Reader::new(&files, &rules, max);
            let opened: Vec<Opened> = opened(&files, &reader, &paths).into_iter().map(|(_, opened)| opened).collect();
            let expected = is_counted_out.then_some(ReadError::TooMuch(TooMuch::Applications(max)));
            assert_eq!(reader.count(&opened).err(), expected, "{max}");
        }
    }

    #[test]
    fn the_file_that_is_too_much_is_named_whoever_noticed() {
        let aliases = format!("{APPLICATION}x: {{a: &a [{}], b: [{}]}}\n", "1,".repeat(100), "*a,".repeat(200));
        let texts = [("a.yaml", APPLICATION), ("b.yaml", &*aliases), ("c.yaml", &*aliases), ("d.yaml", APPLICATION)];
        let files = texts.iter().fold(MemoryFiles::new(), |files, (name, text)| files.file(name, text));
        let paths = texts.map(|(name, _)| RepoPath::new(name).expect("plain"));
        let rules = RuleSet::default();
        let one = argo::extra_of(aliases.as_bytes());
        assert!(one > 1_000_000, "{one}");
        let reader = Reader::new(&files, &rules, 10).within(one + one / 2);
        let opened = opened(&files, &reader, &paths);
        let named = reader.culprit(opened.iter().map(|(path, opened)| (*path, opened)));
        assert_eq!(named.map(RepoPath::as_str), Some("c.yaml"));
        let read = |(path, opened): &(&RepoPath, Opened)| reader.parse(path, files.root(), opened).err();
        let errors: Vec<_> = opened.iter().rev().map(read).collect();
        assert_eq!(errors.iter().flatten().next(), Some(&ReadError::TooMuch(TooMuch::Parsed(one + one / 2))));
    }
}
