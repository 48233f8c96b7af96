//! Finds the Applications of a dry tree.

mod make;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Files, Kind};

use super::barren::BarrenFiles;
use super::found::Found;
use super::reader::{Opened, PARSED_BYTES_MAX, ReadError, Reader, TooMuch};
use crate::argo::parent::Makes;
use crate::argo::{self, AppName, Application, BranchName, By, Document, Maker, Misspelt, Patterns, RuleSet};
use crate::repo::shares::in_shares;
use make::Expansions;
pub(crate) use make::{
    Again, Answered, Expanded, FoundSet, Lists, MadeLimits, Makers, ParentFailure, RenderedParent, Renders, Unanswered,
    expand_again, render_again,
};

/// The Applications of one dry tree.
#[derive(Debug, Clone, Default)]
pub struct Discovered {
    /// Those that are right in themselves, in the order of files, then of documents.
    pub applications: Vec<Arc<Application>>,
    /// Mistakes in single documents, with the branch that must not move for each, when it is known.
    pub mistakes: Vec<(Option<BranchName>, Diagnostic)>,
    /// The documents that these errors are in, each once.
    pub unusable: Vec<Unusable>,
    /// Files that cannot be read, although they seem to contain Applications.
    pub broken: Vec<Broken>,
    /// Applications that are not hydrated because their `sourceHydrator` is misspelt; `mistakes` has the warnings too.
    pub misspelt: Vec<Misspelt>,
    /// The files that kustomizations name as patches, each with the first kustomization that does.
    pub patches: BTreeMap<RepoPath, RepoPath>,
    /// The ApplicationSets that mention `sourceHydrator` or fall under a rule, in the order of files, then of documents.
    pub sets: Vec<FoundSet>,
    /// The makers whose Applications are unknown.
    pub unanswered: Vec<Unanswered>,
    /// What sets were expanded from, and lists of clusters were read from.
    pub expanded: Vec<Expanded>,
    /// The other makers of Applications that several make alike, by the file of the Application and which of the file it is.
    pub other_makers: BTreeMap<(RepoPath, usize), Vec<Arc<Maker>>>,
    /// The files with Applications that are none of their own: a set, which is named, makes the Application of that name of the
    /// file.
    pub parameters: BTreeMap<RepoPath, By>,
    /// The files that may contain Secrets of clusters.
    pub clusters: Vec<(RepoPath, ContentId)>,
    /// Why the lists of clusters cannot be read, as an error of all Applications.
    pub unlisted: Option<Diagnostic>,
    /// The numbers of the rules that match an Application.
    pub rules: BTreeSet<usize>,
    /// How many documents all files have that are Applications, right or wrong, whether or not they count.
    pub documents: usize,
    /// What all of it costs, by the measure of files: their size, and what is in memory without being in them.
    pub cost: u64,
}

/// A document that is an Application, with mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct Unusable {
    /// Its name, when that can be read.
    pub name: Option<AppName>,
    /// The branch that it would write, when that can be read.
    pub environment_branch: Option<BranchName>,
    /// What is wrong with it: at least one error.
    pub mistakes: Vec<Diagnostic>,
}

impl Unusable {
    /// Whether it may be what became of `application` of another dry commit.
    pub fn may_be(&self, application: &Application) -> bool {
        let is_of_file = |mistake: &Diagnostic| mistake.span.as_ref().is_some_and(|span| span.path == application.file);
        self.name.as_ref().map_or_else(|| self.mistakes.iter().any(is_of_file), |name| *name == application.name)
    }

    /// Whether it would write another branch than `branch`.
    pub fn is_of_another(&self, branch: &BranchName) -> bool {
        self.environment_branch.as_ref().is_some_and(|to| to != branch)
    }
}

/// A file that cannot be read, so that its Applications are unknown.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The file; the root when it is the tree that is not read.
    pub file: RepoPath,
    /// What is wrong with it.
    pub diagnostic: Diagnostic,
    /// Whether it has no word of `sourceHydrator`: it may contain an Application that a rule is for.
    pub is_plain: bool,
    /// Whether it is not read for a limit of this machine, which says nothing about the dry commit.
    pub is_limit: bool,
}

impl Broken {
    /// What is said of it where it fed no branch.
    pub fn reported(&self) -> Diagnostic {
        if self.is_plain { self.diagnostic.as_warning() } else { self.diagnostic.clone() }
    }
}

/// Finds the Applications of dry trees. A directory that was seen before, at the same path and with the same content, is
/// not read again; one that cannot contain any is not, wherever it is.
#[derive(Debug, Default)]
pub struct Discovery {
    seen: HashMap<(RepoPath, ContentId), Arc<Directory>>,
    empty: HashSet<ContentId>,
    expansions: Expansions,
    /// What is remembered of large files without Applications.
    barren: Option<Arc<BarrenFiles>>,
    /// The rules that all of that was read with.
    rules: RuleSet,
    /// What this machine has memory for, in bytes of files; none where nothing is said.
    share: Option<u64>,
}

/// What one directory and all below it contain.
#[derive(Debug, Default)]
struct Directory {
    files: Vec<Arc<Candidate>>,
    below: Vec<Arc<Directory>>,
    /// Whether some of it lies too deep to be searched.
    is_cut: bool,
}

/// A file that may contain Applications or name patches.
#[derive(Debug)]
struct Candidate {
    path: RepoPath,
    id: ContentId,
    /// None until it was read.
    found: OnceLock<Found>,
}

/// One walk over a tree.
struct Walk<'a> {
    files: &'a dyn Files,
    /// How long the paths of all entries are together.
    path_bytes: usize,
    /// What is to be read.
    candidates: Vec<Arc<Candidate>>,
}

/// Whether a directory with these entries is a chart, whose `templates/` and `charts/` contain no Applications.
pub(super) fn is_chart(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| entry.name == "Chart.yaml" && entry.kind == Kind::File)
}

/// Whether a directory of this name in a chart is part of it.
pub(super) fn is_of_chart(name: &str) -> bool {
    matches!(name, "templates" | "charts")
}

impl Discovered {
    /// Nothing was found, because the tree as a whole is not searched: [`Discovered::unsearched`] gives what is said of it.
    /// `is_limit` says whether this machine is why.
    pub fn unsearched_by(diagnostic: Diagnostic, is_limit: bool) -> Self {
        let broken = Broken { file: RepoPath::root(), diagnostic, is_plain: false, is_limit };
        Self { broken: vec![broken], ..Self::default() }
    }

    /// Forgets what is said of unknown fields with these names: the setting `knownFields`.
    pub fn silence(&mut self, known_fields: &[String]) {
        if !known_fields.is_empty() {
            self.mistakes.retain(|(_, mistake)| !mistake.is_of_field(known_fields));
            self.misspelt.retain(|misspelt| !misspelt.diagnostic.is_of_field(known_fields));
        }
    }

    /// Takes in one document.
    pub(super) fn take(&mut self, document: &Document) {
        let Document { environment_branch, application, diagnostics, rule, .. } = document;
        self.rules.extend(rule);
        self.applications.extend(application.clone());
        if application.is_none() {
            let mistakes = diagnostics.iter().filter(|mistake| mistake.is_error()).cloned().collect();
            let (name, environment_branch) = (document.name.clone(), environment_branch.clone());
            self.unusable.push(Unusable { name, environment_branch, mistakes });
        }
        self.mistakes.extend(diagnostics.iter().map(|mistake| (environment_branch.clone(), mistake.clone())));
    }

    /// Notes that another maker makes an Application, too: `again` is what it makes.
    pub(super) fn note_other_maker(&mut self, first: &Application, again: &Application) {
        let makers = self.other_makers.entry((first.file.clone(), first.index)).or_default();
        makers.extend(again.maker.clone());
    }

    /// Takes in the warnings about what a maker makes.
    pub(super) fn take_odd(&mut self, makes: &Makes) {
        self.mistakes.extend(makes.warnings.iter().map(|warning| (None, warning.clone())));
        self.misspelt.extend(makes.misspelt.iter().cloned());
        self.rules.extend(&makes.rules);
    }

    /// Forgets what these files contain.
    pub(super) fn leave_out(&mut self, files: &BTreeSet<RepoPath>) {
        let is_left_out =
            |diagnostic: &Diagnostic| diagnostic.span.as_ref().is_some_and(|span| files.contains(&span.path));
        self.applications.retain(|application| !files.contains(&application.file));
        self.sets.retain(|found| !files.contains(&found.file.0));
        self.mistakes.retain(|(_, mistake)| !is_left_out(mistake));
        self.misspelt.retain(|misspelt| !is_left_out(&misspelt.diagnostic));
        self.unusable.retain(|document| !document.mistakes.iter().any(is_left_out));
    }

    /// Why the tree as a whole was not searched, if it was not.
    pub fn unsearched(&self) -> Option<&Diagnostic> {
        self.unsearched_tree().map(|broken| &broken.diagnostic)
    }

    /// Why the tree as a whole was not searched, if it was not, and whether a limit of this machine is why.
    pub fn unsearched_tree(&self) -> Option<&Broken> {
        self.broken.iter().find(|broken| broken.file.is_root())
    }
}

impl Directory {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.below.is_empty()
    }
}

/// How deep directories may nest: far more than any repository has, and no stack overflows.
pub(super) const DEPTH_MAX: usize = 128;

/// How long the paths of a dry tree may be together, with [`ENTRY_BYTES`] for each: trees may contain one another, so a few
/// objects can be billions of files. Enough for half a million.
const PATH_BYTES_MAX: usize = 64 << 20;

/// What an entry counts for beside its path.
pub(super) const ENTRY_BYTES: usize = 64;

impl Discovery {
    /// Has it look up large files without Applications, and note them, there.
    pub(crate) fn remember(&mut self, barren: Arc<BarrenFiles>) {
        self.barren = Some(barren);
    }

    /// Holds a tree to so many bytes: what this machine has memory for where several trees are searched.
    pub(crate) fn hold_to(&mut self, share: Option<u64>) {
        self.share = share;
    }

    /// Why a tree is not searched.
    fn unsearched(&self, what: &TooMuch, file: Option<&RepoPath>) -> Discovered {
        let is_limit = matches!(what, TooMuch::Parsed(max) if *max < PARSED_BYTES_MAX);
        Discovered::unsearched_by(what.tell(file), is_limit)
    }

    /// Adds the Applications that others make to those that were found in the same tree, and to all of them what lists say of
    /// their clusters.
    ///
    /// Errors: a repository that cannot be read, or tools that cannot be run.
    pub fn make(
        &mut self,
        discovered: &mut Discovered,
        files: &dyn Files,
        makers: &Makers,
        renders: &dyn Renders,
    ) -> Result<(), String> {
        if discovered.unsearched().is_some() {
            return Ok(());
        }
        self.expansions.make(discovered, files, makers, renders)?;
        if let Some(share) = self.share.filter(|share| discovered.cost > *share) {
            *discovered = self.unsearched(&TooMuch::Parsed(share), None);
        }
        Ok(())
    }

    /// Finds all Applications below the root of `files`, up to so many: those with `spec.sourceHydrator`, and those that
    /// `rules` hydrate. `patterns` says which files may contain any.
    ///
    /// Links are not followed: what they lead to is found where it is. A tree with more than we take is
    /// [`Broken`] as a whole.
    ///
    /// Errors: a repository that cannot be read.
    pub fn discover(
        &mut self,
        files: &dyn Files,
        patterns: &Patterns,
        rules: &RuleSet,
        applications_max: usize,
    ) -> Result<Discovered, String> {
        if self.rules != *rules {
            self.seen.clear();
            self.empty.clear();
            self.rules = rules.clone();
        }
        let root = match self.read(files, applications_max).inspect_err(|_| self.seen.clear()) {
            Ok(root) => root,
            Err(Unread::Backend(reason)) => return Err(reason),
            Err(Unread::TooMuch(what, file)) => return Ok(self.unsearched(&what, file.as_ref())),
        };
        let mut patches = BTreeMap::new();
        let mut found = BTreeMap::new();
        let mut discovered = Discovered::default();
        collect(&root, &mut patches, &mut found, &mut discovered);
        discovered.clusters.sort_unstable();
        for (path, (file, id)) in found {
            discovered.documents += file.documents.len();
            if patches.contains_key(path) || !patterns.matches(path.as_str()) {
                continue;
            }
            let (errors, warnings): (Vec<_>, Vec<_>) = file.diagnostics.iter().cloned().partition(Diagnostic::is_error);
            let is_plain = !file.holds_source_hydrator;
            let broken = |diagnostic| Broken { file: path.clone(), diagnostic, is_plain, is_limit: false };
            discovered.broken.extend(errors.into_iter().map(broken));
            discovered.rules.extend(&file.rules);
            discovered.mistakes.extend(warnings.into_iter().map(|warning| (None, warning)));
            discovered.misspelt.extend(file.misspelt.iter().cloned());
            for document in &file.documents {
                discovered.take(document);
            }
            for (ordinal, set) in file.sets.iter().enumerate() {
                discovered.sets.push(FoundSet { file: (path.clone(), id), ordinal, set: set.clone() });
            }
        }
        // Those that were read for an earlier tree count here only.
        if discovered.applications.len() > applications_max {
            return Ok(self.unsearched(&TooMuch::Applications(applications_max), None));
        }
        if discovered.cost > self.bytes_max() {
            return Ok(self.unsearched(&TooMuch::Parsed(self.bytes_max()), None));
        }
        discovered.patches = patches;
        Ok(discovered)
    }

    /// The whole tree, the files of it on all cores.
    fn read(&mut self, files: &dyn Files, applications_max: usize) -> Result<Arc<Directory>, Unread> {
        let rules = self.rules.clone();
        let barren = self.barren.clone();
        let reader = Reader::new(files, &rules, applications_max).knowing(barren.as_deref()).within(self.bytes_max());
        let mut walk = Walk { files, path_bytes: 0, candidates: Vec::new() };
        let root = self.directory(&mut walk, &RepoPath::root(), files.root(), 0)?;
        let opened = in_shares(&walk.candidates, |candidate| reader.open(&candidate.path, candidate.id));
        let opened = opened.into_iter().collect::<Result<Vec<Opened>, _>>()?;
        reader.count(&opened)?;
        let files: Vec<(&Arc<Candidate>, &Opened)> = walk.candidates.iter().zip(&opened).collect();
        let parse =
            |(candidate, opened): &(&Arc<Candidate>, &Opened)| reader.parse(&candidate.path, candidate.id, opened);
        for ((candidate, _), found) in files.iter().zip(in_shares(&files, parse)) {
            let found = found.map_err(|error| named(error, &reader, &files))?;
            candidate.found.get_or_init(|| found);
        }
        Ok(root)
    }

    fn bytes_max(&self) -> u64 {
        self.share.map_or(PARSED_BYTES_MAX, |share| share.min(PARSED_BYTES_MAX))
    }

    fn directory(
        &mut self,
        walk: &mut Walk<'_>,
        dir: &RepoPath,
        id: ContentId,
        depth: usize,
    ) -> Result<Arc<Directory>, ReadError> {
        if self.empty.contains(&id) {
            return Ok(Arc::default());
        }
        let key = (dir.clone(), id);
        if let Some(seen) = self.seen.get(&key) {
            return Ok(seen.clone());
        }
        let mut directory = Directory::default();
        let entries = walk.files.list(dir, id)?;
        walk.path_bytes +=
            entries.iter().map(|entry| dir.as_str().len() + entry.name.len() + ENTRY_BYTES).sum::<usize>();
        if walk.path_bytes > PATH_BYTES_MAX {
            return Err(ReadError::TooMuch(TooMuch::Files));
        }
        let is_chart = is_chart(&entries);
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            match entry.kind {
                Kind::File if Reader::takes(&path) => {
                    let candidate = Arc::new(Candidate { path, id: entry.id, found: OnceLock::new() });
                    walk.candidates.push(candidate.clone());
                    directory.files.push(candidate);
                }
                Kind::Directory
                    if (is_chart && is_of_chart(&entry.name)) || self.rules.inputs().keeps(dir, &entry.name) => {}
                Kind::Directory if depth < DEPTH_MAX => {
                    let below = self.directory(walk, &path, entry.id, depth + 1)?;
                    directory.is_cut |= below.is_cut;
                    if !below.is_empty() {
                        directory.below.push(below);
                    }
                }
                Kind::Directory => directory.is_cut = true,
                Kind::File | Kind::Link | Kind::Submodule => {}
            }
        }
        let directory = Arc::new(directory);
        if directory.is_empty() && !directory.is_cut {
            self.empty.insert(id);
        } else {
            self.seen.insert(key, directory.clone());
        }
        Ok(directory)
    }
}

/// Why a tree is not read; of what it has too much, and the file with which it is, if that is known.
enum Unread {
    Backend(String),
    TooMuch(TooMuch, Option<RepoPath>),
}

impl From<ReadError> for Unread {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Backend(reason) => Self::Backend(reason),
            ReadError::TooMuch(what) => Self::TooMuch(what, None),
        }
    }
}

/// Adds the file with which a tree has too much, whichever thread noticed.
fn named(error: ReadError, reader: &Reader<'_>, files: &[(&Arc<Candidate>, &Opened)]) -> Unread {
    match error {
        ReadError::TooMuch(what @ TooMuch::Parsed(_)) => {
            let opened = files.iter().map(|(candidate, opened)| (&candidate.path, *opened));
            Unread::TooMuch(what, reader.culprit(opened).cloned())
        }
        error => error.into(),
    }
}

fn collect<'a>(
    directory: &'a Directory,
    patches: &mut BTreeMap<RepoPath, RepoPath>,
    found: &mut BTreeMap<&'a RepoPath, (&'a argo::File, ContentId)>,
    discovered: &mut Discovered,
) {
    for candidate in &directory.files {
        let Some(Found { file, patches: named, may_hold_clusters, cost }) = candidate.found.get() else { continue };
        discovered.cost = discovered.cost.saturating_add(*cost);
        for named in named {
            patches.entry(named.clone()).or_insert_with(|| candidate.path.clone());
        }
        found.extend(file.iter().map(|file| (&file.path, (file, candidate.id))));
        if *may_hold_clusters {
            discovered.clusters.push((candidate.path.clone(), candidate.id));
        }
    }
    for below in &directory.below {
        collect(below, patches, found, discovered);
    }
}
