//! What a render finds of an input.

use std::sync::Arc;

use dry_files::diag::{Diagnostic, Refusal, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Reads, View, ViewError};
use go_yaml as yaml;

use super::{Entry, InputsDir, Key, LOCK, Lock, LockError, content, lock_path};

/// The inputs that a dry tree keeps.
pub struct KeptInputs<'v> {
    view: &'v View<'v>,
    lock: Option<Arc<Lock>>,
}

/// Why an input cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is not in the dry tree.
    #[error("{0} is not in this repository")]
    Missing(Key),
    /// Of a repository, not this directory.
    #[error("{key} is in this repository, but not its directory `{directory}`")]
    MissingDirectory {
        /// The repository.
        key: Key,
        /// The directory.
        directory: RepoPath,
    },
    /// Its files are others than when it came.
    #[error("the files in `{path}` are not those of {key}: {LOCK} has {expected}, they are {found}")]
    Changed {
        /// The input.
        key: Key,
        /// Where its files are.
        path: RepoPath,
        /// The digest of the lock file.
        expected: String,
        /// That of the files; `missing` when there are none.
        found: String,
    },
    /// Another one is where it should be.
    #[error("`{path}` has {kept}, but {wanted} is needed")]
    Other {
        /// Where it is.
        path: RepoPath,
        /// What is there.
        kept: Key,
        /// What should be.
        wanted: Key,
    },
    /// The lock file names another directory of inputs than the settings do.
    #[error("{LOCK} has its inputs in `{0}`, but the setting `vendorDirectory` leads to `{1}`")]
    Misplaced(RepoPath, RepoPath),
    /// Something that a tool may take for it is beside it.
    #[error("`{other}` has a chart `{}` that Helm may take for {key}, which is in `{path}`", key.name)]
    Beside {
        /// The input.
        key: Key,
        /// Where it is.
        path: RepoPath,
        /// What no lock file lists.
        other: RepoPath,
    },
    /// Its place is a link, or behind one.
    #[error("`{0}` is, or is behind, a symbolic link: inputs are files of this repository")]
    Link(RepoPath),
    /// The lock file cannot be read.
    #[error("{LOCK}: {0}")]
    Lock(LockError),
    /// The files cannot be read.
    #[error(transparent)]
    View(#[from] ViewError),
}

/// What brings an input here.
pub const VENDOR: &str = "run `git hydrate vendor` and commit what it writes";

impl<'v> KeptInputs<'v> {
    /// Reads the lock file of a tree.
    pub fn read(view: &'v View<'v>) -> Result<Self, Unusable> {
        let path = lock_path();
        let id = match view.content_id(&path) {
            Ok(id) => id,
            Err(error) if error.is_missing() || matches!(error, ViewError::NotDirectory(_)) => {
                return Ok(Self { view, lock: None });
            }
            Err(error) => return Err(error.into()),
        };
        // Every render asks for it, and it is large where there are many inputs: it is unpacked and read once.
        let memo = view.files().memo();
        if let Some(lock) = memo.and_then(|memo| memo.get::<Lock>(LOCK, id)) {
            return Ok(Self { view, lock: Some(lock) });
        }
        let blob = view.read(&path)?;
        let lock = Arc::new(Lock::parse(&blob.data).map_err(Unusable::Lock)?);
        if let Some(memo) = memo {
            memo.keep(LOCK, blob.id, lock.clone());
        }
        Ok(Self { view, lock: Some(lock) })
    }

    /// What the lock file says; none when there is no lock file.
    pub fn lock(&self) -> Option<&Lock> {
        self.lock.as_deref()
    }

    /// Whether an input is listed.
    pub fn lists(&self, key: &Key) -> bool {
        self.entry(key).is_some()
    }

    /// An error where inputs are used that are not in the directory that the settings name.
    pub fn misplaced(&self, dir: &InputsDir) -> Result<(), Unusable> {
        match self.lock().filter(|lock| lock.uses_dir() && lock.dir() != dir) {
            Some(lock) => Err(Unusable::Misplaced(lock.dir().path().clone(), dir.path().clone())),
            None => Ok(()),
        }
    }

    /// Where an input is that no tool looks for itself.
    pub fn place(&self, key: &Key) -> RepoPath {
        self.lock().map_or_else(|| InputsDir::default().place(key), |lock| lock.dir().place(key))
    }

    /// Where the files of an input are that no tool looks for itself.
    pub fn find(&self, key: &Key) -> Result<RepoPath, Unusable> {
        let entry = self.entry(key).ok_or_else(|| Unusable::Missing(key.clone()))?;
        let place = self.place(key);
        self.is_real(&place)?;
        check(self.view, entry, &place)?;
        Ok(place)
    }

    /// An error where a link leads to what is at a place.
    fn is_real(&self, place: &RepoPath) -> Result<(), Unusable> {
        match self.view.real_path(place) {
            Ok(real) if real != *place => Err(Unusable::Link(place.clone())),
            // What is not there is known by its digest.
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Where a directory of a git repository is, and where the repository.
    pub fn directory(&self, key: &Key, directory: &RepoPath) -> Result<(RepoPath, RepoPath), Unusable> {
        let place = self.find(key)?;
        let entry = self.entry(key).ok_or_else(|| Unusable::Missing(key.clone()))?;
        if !entry.directories.iter().any(|kept| directory.starts_with(kept)) {
            return Err(Unusable::MissingDirectory { key: key.clone(), directory: directory.clone() });
        }
        Ok((place.join(directory), place))
    }

    /// An error unless what is at `path` is all of a chart, or a directory of a repository, that was brought to `root`.
    pub fn check_source(&self, key: &Key, root: &RepoPath, path: &RepoPath) -> Result<(), Unusable> {
        let entry = self.entry(key).ok_or_else(|| Unusable::Missing(key.clone()))?;
        let place = self.place(key);
        if place != *root {
            let dir = self.lock().map(|lock| lock.dir().path().clone()).unwrap_or_default();
            return Err(Unusable::Misplaced(dir, root.clone()));
        }
        self.is_real(&place)?;
        if key.kind == super::Kind::Git {
            let directory = path.strip_prefix(&place).unwrap_or_default();
            return self.directory(key, &directory).map(drop);
        }
        let is_there = entry.at.is_empty() || entry.at.contains(&place);
        check(self.view, Some(entry).filter(|_| is_there).ok_or_else(|| Unusable::Missing(key.clone()))?, &place)
    }

    /// Judges what a tool found at a path where it looks itself. What no lock file lists there was put there by hand.
    pub fn judge(&self, path: &RepoPath, wanted: &Key) -> Result<(), Unusable> {
        let Some(entry) = self.lock.as_ref().and_then(|lock| lock.at(path)) else { return Ok(()) };
        if entry.key != *wanted {
            let (path, kept, wanted) = (path.clone(), entry.key.clone(), wanted.clone());
            return Err(Unusable::Other { path, kept, wanted });
        }
        check(self.view, entry, path)
    }

    /// An error where something was read of an input that is not as it came, by whatever way.
    pub fn judge_reads(&self, reads: &Reads) -> Result<(), Unusable> {
        let Some(lock) = self.lock() else { return Ok(()) };
        let mut last: Option<RepoPath> = None;
        for (path, _) in reads.keys() {
            if last.as_ref().is_some_and(|last| path.starts_with(last)) {
                continue;
            }
            if let Some((place, entry)) = lock.around(path) {
                check(self.view, entry, &place)?;
                last = Some(place);
            }
        }
        Ok(())
    }

    /// An error where a chart that no lock file lists is beside one that is listed in `charts`, and may be taken for it.
    pub fn are_alone(&self, charts: &RepoPath) -> Result<(), Unusable> {
        let Some(lock) = self.lock() else { return Ok(()) };
        let listed: Vec<_> = lock.right_below(charts).collect();
        let Some(entries) = self.view.list(charts).ok().filter(|_| !listed.is_empty()) else { return Ok(()) };
        let others = entries.iter().filter_map(|entry| charts.child(&entry.name).ok());
        for other in others.filter(|other| lock.at(other).is_none()) {
            let mut taken = listed.iter().filter(|(_, entry)| self.may_be_taken_for(&other, entry));
            if let Some((path, entry)) = taken.next() {
                return Err(Unusable::Beside { key: entry.key.clone(), path: (*path).clone(), other: other.clone() });
            }
        }
        Ok(())
    }

    fn may_be_taken_for(&self, other: &RepoPath, entry: &Entry) -> bool {
        let file_name = other.file_name().unwrap_or_default();
        if let Some(packaged) = file_name.strip_suffix(".tgz") {
            let version = packaged.strip_prefix(&*entry.key.name).and_then(|rest| rest.strip_prefix('-'));
            return version.is_some_and(|version| entry.fits(version));
        }
        let text = other.child("Chart.yaml").ok().and_then(|path| self.view.read(&path).ok());
        let chart = text.and_then(|text| yaml::sigs::unmarshal(&text.data, &yaml::Limits::default()).ok());
        let field = |name: &str| chart.as_ref()?.get(name)?.as_str();
        field("name") == Some(&entry.key.name) && field("version").is_some_and(|version| entry.fits(version))
    }

    fn entry(&self, key: &Key) -> Option<&Entry> {
        self.lock.as_ref()?.get(key)
    }
}

/// An error unless the files at one place of an input are those that it had.
pub fn check(view: &View<'_>, entry: &Entry, path: &RepoPath) -> Result<(), Unusable> {
    let found = content::at(view, path)?;
    if found.as_ref() == Some(&entry.content) {
        return Ok(());
    }
    let found = match (found, content::odd(view, path)) {
        (Some(found), Some(odd)) => format!("{found}, with {odd}"),
        (Some(found), None) => found,
        (None, _) => "missing".to_owned(),
    };
    Err(Unusable::Changed { key: entry.key.clone(), path: path.clone(), expected: entry.content.clone(), found })
}

impl Unusable {
    /// How to go on.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing(key) => match key.moves() {
                Some(moves) => format!("{moves}: pin it there, or {VENDOR}, which pins it in {LOCK}"),
                None => VENDOR.to_owned(),
            },
            Self::MissingDirectory { .. } | Self::Other { .. } => VENDOR.to_owned(),
            Self::Misplaced(..) => format!("{VENDOR}: it moves them"),
            Self::Beside { path, other, .. } => {
                format!("remove `{other}`; or, to use it, remove `{path}` and run `git hydrate vendor --prune`")
            }
            Self::Link(_) => format!("remove the link, then {VENDOR}"),
            Self::Changed { path, found, .. } if found == "missing" => {
                format!(
                    "run `git hydrate vendor`, which brings it, and commit all of it: git add --force {}",
                    dry_files::diag::shell_word(path.as_str())
                )
            }
            Self::Changed { path, .. } => {
                format!(
                    "remove `{path}`, then {VENDOR}; a copy of your own goes elsewhere, without an entry of the lock file"
                )
            }
            Self::Lock(error) if error.is_conflict() => {
                "run `git hydrate vendor`, which resolves it: what both sides pin stays".to_owned()
            }
            Self::Lock(_) => "remove the file and run `git hydrate vendor`, which writes it again".to_owned(),
            Self::View(_) => "commit the files themselves".to_owned(),
        }
    }

    /// The place, when it is not that of the caller.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Misplaced(..) => Some(Span::file(lock_path())),
            Self::Lock(error) => Some(Span::at(lock_path(), error.line, 1)),
            Self::Missing(_)
            | Self::MissingDirectory { .. }
            | Self::Changed { .. }
            | Self::Other { .. }
            | Self::Beside { .. }
            | Self::Link(_)
            | Self::View(_) => None,
        }
    }

    /// The repository's own failure, when it could not be read.
    pub fn world(&self) -> Option<&ViewError> {
        match self {
            Self::View(error @ ViewError::Backend { .. }) => Some(error),
            _ => None,
        }
    }

    /// As a mistake of the dry commit. `span` is where it is asked for.
    pub fn found_by(&self, span: &Span) -> Diagnostic {
        let diagnostic = self.diagnostic();
        let has_place = diagnostic.span.is_some();
        if has_place { diagnostic } else { diagnostic.at(span.clone()) }
    }

    /// As a mistake of the dry commit, without the place of the caller.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut diagnostic = Diagnostic::error(self.to_string()).hint(self.hint()).refused(Some(Refusal::Elsewhere));
        diagnostic.span = self.span();
        diagnostic
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InputFile, digest};
    use dry_files::view::MemoryFiles;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    /// A chart where Helm looks for it, and the lock file that lists it.
    fn files(at: &str, data: &str) -> (MemoryFiles, Key) {
        let key = Key::chart("https://h", "web", "1.2.3").expect("a key");
        let content = digest(&[InputFile { path: path("Chart.yaml"), data: b"name: web\n".as_slice().into() }]);
        let (at, version) = (vec![path(at)], "1.2.3".to_owned());
        let mut lock = Lock::default();
        let directories = Vec::new();
        lock.insert(Entry { key: key.clone(), version, origin: String::new(), content, at, directories });
        let files = MemoryFiles::new().file("a/charts/web/Chart.yaml", data).file(LOCK, lock.text());
        (files, key)
    }

    #[test]
    fn what_is_found_is_judged() {
        let other = Key::chart("https://h", "web", "1.3.0").expect("a key");
        let rows = [
            ("as it came", "a/charts/web", "name: web\n", None, ""),
            ("put there by hand", "b/charts/web", "name: mine\n", None, ""),
            (
                "edited",
                "a/charts/web",
                "name: mine\n",
                None,
                "the files in `a/charts/web` are not those of chart web 1.2.3 of https://h",
            ),
            (
                "a bump",
                "a/charts/web",
                "name: web\n",
                Some(&other),
                "`a/charts/web` has chart web 1.2.3 of https://h, but chart web 1.3.0",
            ),
        ];
        for (name, at, data, wanted, expected) in rows {
            let (files, key) = files(at, data);
            let view = View::new(&files);
            let kept = KeptInputs::read(&view).expect("a lock file");
            match kept.judge(&path("a/charts/web"), wanted.unwrap_or(&key)) {
                Ok(()) => assert_eq!(expected, "", "{name}"),
                Err(error) => {
                    assert!(error.to_string().starts_with(expected) && !expected.is_empty(), "{name}: {error}")
                }
            }
        }
    }

    #[test]
    fn a_tree_without_a_lock_file_keeps_nothing() {
        let (files, view_key) = (MemoryFiles::new(), Key::file("https://h/x.yaml").expect("a key"));
        let view = View::new(&files);
        let kept = KeptInputs::read(&view).expect("none");
        assert_eq!(kept.find(&view_key), Err(Unusable::Missing(view_key.clone())));
        let hint = |key: Result<Key, super::super::KeyError>| Unusable::Missing(key.expect("a key")).hint();
        assert_eq!(hint(Ok(view_key)), VENDOR);
        assert!(
            hint(Key::chart("https://h", "web", "~1.2"))
                .starts_with("`~1.2` is a range of versions: pin it there, or run")
        );
    }
}
