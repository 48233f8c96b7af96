use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, OnceLock};

use crate::application::{self, Application, BranchName, Document, Patterns};
use crate::diag::Diagnostic;
use crate::path::RepoPath;
use crate::shares::in_shares;
use crate::view::{ContentId, Entry, Files, Kind};

/// The Applications of one dry tree.
#[derive(Debug, Clone, Default)]
pub struct Discovered {
    /// Those that are right in themselves, in the order of files, then of documents.
    pub applications: Vec<Arc<Application>>,
    /// Mistakes in single documents, with the branch that must not move for each, when it can be told.
    pub mistakes: Vec<(Option<BranchName>, Diagnostic)>,
    /// Files that cannot be read, although they seem to hold Applications.
    pub broken: Vec<Broken>,
    /// The files that kustomizations name as patches.
    pub patches: BTreeSet<RepoPath>,
}

/// A file that cannot be read: nobody knows which Applications it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// The file.
    pub file: RepoPath,
    /// What is wrong with it.
    pub diagnostic: Diagnostic,
}

/// Finds the Applications of dry trees. A directory that was seen before, at the same path and with the same content, is
/// not read again.
#[derive(Debug, Default)]
pub struct Discovery {
    seen: HashMap<(RepoPath, ContentId), Arc<Directory>>,
}

/// What one directory and all below it hold.
#[derive(Debug, Default)]
struct Directory {
    files: Vec<Arc<Candidate>>,
    below: Vec<Arc<Directory>>,
}

/// A file that may hold Applications or name patches.
#[derive(Debug)]
struct Candidate {
    path: RepoPath,
    id: ContentId,
    /// None until it was read.
    found: OnceLock<Found>,
}

/// The Applications of a file, if there are any or should be, and the files that it names as patches.
type Found = (Option<application::File>, BTreeSet<RepoPath>);

/// One walk over a tree.
struct Walk<'a> {
    files: &'a dyn Files,
    directories: usize,
    /// What is to be read.
    candidates: Vec<Arc<Candidate>>,
}

/// Whether a file is read at all.
fn is_candidate(path: &RepoPath) -> bool {
    application::is_kustomization(path) || application::may_hold_applications(path)
}

/// Reads one file.
pub(super) fn read_file(files: &dyn Files, path: &RepoPath, id: ContentId) -> Result<Found, String> {
    if !is_candidate(path) {
        return Ok((None, BTreeSet::new()));
    }
    match files.size(path, id)? {
        0..=FILE_BYTES_MAX => {}
        too_large if too_large > SEEMING_BYTES_MAX => return Ok((None, BTreeSet::new())),
        _ => return Ok((application::read_too_large(path, &files.read(path, id)?), BTreeSet::new())),
    }
    let content = files.read(path, id)?;
    let patches =
        if application::is_kustomization(path) { application::patches(path, &content) } else { BTreeSet::new() };
    let file = application::read(path, &content);
    let found = !file.documents.is_empty() || !file.diagnostics.is_empty();
    Ok((found.then_some(file), patches))
}

/// Whether a directory with these entries is a chart, whose `templates/` and `charts/` hold no Applications.
pub(super) fn is_chart(entries: &[Entry]) -> bool {
    entries.iter().any(|entry| entry.name == "Chart.yaml" && entry.kind == Kind::File)
}

/// Whether a directory of this name in a chart is part of it.
pub(super) fn is_of_chart(name: &str) -> bool {
    matches!(name, "templates" | "charts")
}

impl Directory {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.below.is_empty()
    }
}

/// How deep directories may nest: far more than any repository has, and no stack overflows.
pub(super) const DEPTH_MAX: usize = 128;

/// How many directories a dry tree may have: trees may hold one another, so a few objects can stand for billions.
const DIRECTORIES_MAX: usize = 250_000;

/// A file above this is not read for Applications: if it seems to hold some, that is an error.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// A file above this is not even searched for signs of them.
const SEEMING_BYTES_MAX: u64 = 64 << 20;

impl Discovery {
    /// Finds all Applications below the root of `files`. `patterns` says which files may hold any.
    ///
    /// Links are not followed: what they lead to is found where it stands.
    ///
    /// Errors: a repository that cannot be read, or a tree of too many directories.
    pub fn discover(&mut self, files: &dyn Files, patterns: &Patterns) -> Result<Discovered, String> {
        let root = self.read(files).inspect_err(|_| self.seen.clear())?;
        let mut patches = BTreeSet::new();
        let mut found = BTreeMap::new();
        collect(&root, &mut patches, &mut found);
        let mut discovered = Discovered::default();
        for (path, file) in found {
            if patches.contains(path) || !patterns.matches(path.as_str()) {
                continue;
            }
            let (errors, warnings): (Vec<_>, Vec<_>) = file.diagnostics.iter().cloned().partition(Diagnostic::is_error);
            discovered.broken.extend(errors.into_iter().map(|diagnostic| Broken { file: path.clone(), diagnostic }));
            discovered.mistakes.extend(warnings.into_iter().map(|warning| (None, warning)));
            for Document { environment_branch, application, diagnostics, .. } in &file.documents {
                discovered.applications.extend(application.clone());
                let mistakes = diagnostics.iter().map(|mistake| (environment_branch.clone(), mistake.clone()));
                discovered.mistakes.extend(mistakes);
            }
        }
        discovered.patches = patches;
        Ok(discovered)
    }

    /// The whole tree, the files of it on all cores.
    fn read(&mut self, files: &dyn Files) -> Result<Arc<Directory>, String> {
        let mut walk = Walk { files, directories: 0, candidates: Vec::new() };
        let root = self.directory(&mut walk, &RepoPath::root(), files.root(), 0)?;
        let read = in_shares(&walk.candidates, |candidate| read_file(files, &candidate.path, candidate.id));
        for (candidate, found) in walk.candidates.iter().zip(read) {
            let found = found?;
            candidate.found.get_or_init(|| found);
        }
        Ok(root)
    }

    fn directory(
        &mut self,
        walk: &mut Walk<'_>,
        dir: &RepoPath,
        id: ContentId,
        depth: usize,
    ) -> Result<Arc<Directory>, String> {
        let key = (dir.clone(), id);
        if let Some(seen) = self.seen.get(&key) {
            return Ok(seen.clone());
        }
        walk.directories += 1;
        if walk.directories > DIRECTORIES_MAX {
            return Err(format!("more than {DIRECTORIES_MAX} directories"));
        }
        let mut directory = Directory::default();
        let entries = walk.files.list(dir, id)?;
        let is_chart = is_chart(&entries);
        for entry in entries.iter() {
            let Ok(path) = dir.child(&entry.name) else { continue };
            match entry.kind {
                Kind::File if is_candidate(&path) => {
                    let candidate = Arc::new(Candidate { path, id: entry.id, found: OnceLock::new() });
                    walk.candidates.push(candidate.clone());
                    directory.files.push(candidate);
                }
                Kind::Directory if is_chart && is_of_chart(&entry.name) => {}
                Kind::Directory if depth < DEPTH_MAX => {
                    let below = self.directory(walk, &path, entry.id, depth + 1)?;
                    if !below.is_empty() {
                        directory.below.push(below);
                    }
                }
                Kind::File | Kind::Directory | Kind::Link | Kind::Submodule => {}
            }
        }
        let directory = Arc::new(directory);
        self.seen.insert(key, directory.clone());
        Ok(directory)
    }
}

fn collect<'a>(
    directory: &'a Directory,
    patches: &mut BTreeSet<RepoPath>,
    found: &mut BTreeMap<&'a RepoPath, &'a application::File>,
) {
    for (file, named) in directory.files.iter().filter_map(|candidate| candidate.found.get()) {
        patches.extend(named.iter().cloned());
        found.extend(file.iter().map(|file| (&file.path, file)));
    }
    for below in &directory.below {
        collect(below, patches, found);
    }
}
