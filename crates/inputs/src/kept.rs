//! What a render finds of an input.

use std::borrow::Cow;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{self, ContentId, Reads, Seen, View, ViewError};
use go_yaml as yaml;

use super::{Entry, InputsDir, Key, Kind, LOCK, Lock, RECORDED, Recorded, Unusable, Wanted, content, lock_path};

/// The inputs that a dry tree keeps, and those that are recorded beside it.
pub struct KeptInputs<'v> {
    view: &'v View<'v>,
    lock: Option<Arc<Lock>>,
}

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

    /// Whether an input is listed, or recorded; of a git repository, whether it is listed.
    pub fn lists(&self, key: &Key) -> bool {
        let is_locked = self.locked(key).is_some();
        is_locked || (key.kind != Kind::Git && matches!(self.recorded(key, &RepoPath::root()), Ok(Some(_))))
    }

    /// Whether a directory of a git repository is kept, or any of the repository is listed.
    pub fn lists_directory(&self, key: &Key, directory: &RepoPath) -> bool {
        self.locked(key).is_some() || matches!(self.recorded_directory(key, directory), Ok(Some(_)))
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

    /// Where the files of an input are that no tool looks for itself. Of a git repository, all of it that is listed.
    pub fn find(&self, key: &Key) -> Result<RepoPath, Unusable> {
        let place = self.place(key);
        let entry = self.entry(key)?;
        self.is_real(&place)?;
        check(self.view, &entry, &place)?;
        Ok(place)
    }

    /// Where a chart is that no tool looks for itself; none where nothing of it is kept there.
    pub fn chart(&self, key: &Key) -> Result<Option<RepoPath>, Unusable> {
        let place = self.place(key);
        match self.entry(key) {
            Err(Unusable::Missing(_)) => Ok(None),
            Ok(entry) if !entry.at.is_empty() && !entry.at.contains(&place) => Ok(None),
            Ok(_) => self.find(key).map(Some),
            Err(error) => Err(error),
        }
    }

    /// The kind of the input that a directory is of; none where it is the dry tree's own.
    pub fn kind_of(&self, dir: &RepoPath) -> Option<Kind> {
        let usual = InputsDir::default();
        let below = dir.strip_prefix(self.lock().map_or(&usual, Lock::dir).path())?;
        let kind = below.components().next()?;
        Kind::ALL.into_iter().find(|known| known.word() == kind)
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
        let place = self.place(key);
        if let Some(entry) = self.locked(key) {
            self.is_real(&place)?;
            check(self.view, entry, &place)?;
            if !entry.directories.iter().any(|kept| directory.starts_with(kept)) {
                return Err(Unusable::MissingDirectory { key: key.clone(), directory: directory.clone() });
            }
            return Ok((place.join(directory), place));
        }
        let recorded = self.recorded_directory(key, directory)?.ok_or_else(|| Unusable::Missing(key.clone()))?;
        let kept = place.join(&recorded.directory);
        self.is_real(&kept)?;
        check(self.view, &usable(&recorded)?, &kept)?;
        Ok((place.join(directory), place))
    }

    /// An error unless what is at `path` is all of a chart, or a directory of a repository, that was brought to `root`.
    pub fn check_source(&self, key: &Key, root: &RepoPath, path: &RepoPath) -> Result<(), Unusable> {
        let place = self.place(key);
        if key.kind == Kind::Git {
            self.is_at(&place, root)?;
            let directory = path.strip_prefix(&place).unwrap_or_default();
            return self.directory(key, &directory).map(drop);
        }
        let entry = self.entry(key)?;
        self.is_at(&place, root)?;
        self.is_real(&place)?;
        let is_there = entry.at.is_empty() || entry.at.contains(&place);
        if is_there { check(self.view, &entry, &place) } else { Err(Unusable::Missing(key.clone())) }
    }

    fn is_at(&self, place: &RepoPath, root: &RepoPath) -> Result<(), Unusable> {
        let dir = || self.lock().map(|lock| lock.dir().path().clone()).unwrap_or_default();
        if place == root { Ok(()) } else { Err(Unusable::Misplaced(dir(), root.clone())) }
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
        self.judge_recorded(reads)?;
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

    /// An error where something was read of an input that is recorded, and not because the input was asked for: what a commit
    /// says of the inputs that it rests on would not have it. Who asks for a directory of a repository may be led to others of it,
    /// which are asked for by that.
    fn judge_recorded(&self, reads: &Reads) -> Result<(), Unusable> {
        let is_file = |seen: &Seen| matches!(seen, Seen::Content(_) | Seen::Link(_));
        let files = reads.iter().filter(|(_, seen)| is_file(seen)).map(|((path, _), _)| path);
        let mut inside = files.filter(|path| InputsDir::default().has_input(path)).peekable();
        if inside.peek().is_none() || !matches!(self.view.kind(&recorded_path()), Ok(Some(view::Kind::Directory))) {
            return Ok(());
        }
        let mut asked = self.asked(reads)?;
        for path in inside {
            let is_listed = self.lock().is_some_and(|lock| lock.around(path).is_some());
            if !is_listed && !asked.iter().any(|one| path.starts_with(&place_of(one))) {
                let led_to = self.led_to(path, &asked)?.ok_or_else(|| Unusable::Unnamed(path.clone()))?;
                asked.push(led_to);
            }
        }
        Ok(())
    }

    /// The recorded inputs that were asked for.
    fn asked(&self, reads: &Reads) -> Result<Vec<Recorded>, Unusable> {
        let read = |(path, _): (&RepoPath, ContentId)| {
            let recorded = Recorded::parse(&self.view.read(path)?.data);
            recorded.ok_or_else(|| Unusable::Damaged(path.clone()))
        };
        used(reads).map(read).collect()
    }

    /// The directory with a file, of a repository of which another one was asked for.
    fn led_to(&self, path: &RepoPath, asked: &[Recorded]) -> Result<Option<Recorded>, Unusable> {
        for Recorded { key, .. } in asked.iter().filter(|one| one.key.kind == Kind::Git) {
            let below = path.strip_prefix(&InputsDir::default().place(key));
            let Some(directory) = below.and_then(|below| below.parent()) else { continue };
            if let Some(recorded) = self.recorded_directory(key, &directory)? {
                check(self.view, &usable(&recorded)?, &place_of(&recorded))?;
                return Ok(Some(recorded));
            }
        }
        Ok(None)
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

    /// Whether neither the lock file nor the record has anything of an input.
    pub fn lacks(&self, wanted: &Wanted) -> bool {
        self.locked(&wanted.key).is_none() && matches!(self.recorded_of(wanted), Ok(None))
    }

    /// What is recorded of an input that the lock file does not list.
    pub fn of_record(&self, wanted: &Wanted) -> Option<Recorded> {
        self.recorded_of(wanted).ok().flatten().filter(|_| self.locked(&wanted.key).is_none())
    }

    fn recorded_of(&self, wanted: &Wanted) -> Result<Option<Recorded>, Unusable> {
        match wanted.key.kind {
            Kind::Git => self.recorded_directory(&wanted.key, &wanted.directory),
            Kind::Helm | Kind::Oci | Kind::File => self.recorded(&wanted.key, &RepoPath::root()),
        }
    }

    fn locked(&self, key: &Key) -> Option<&Entry> {
        self.lock.as_ref()?.get(key)
    }

    /// What is kept of an input: by the lock file, else by the record. What both have must be the same.
    fn entry(&self, key: &Key) -> Result<Cow<'_, Entry>, Unusable> {
        let is_git = key.kind == Kind::Git;
        let recorded = if is_git { None } else { self.recorded(key, &RepoPath::root())? };
        match (self.locked(key), recorded) {
            (Some(locked), Some(recorded)) if recorded.withdrawn.is_none() && locked.content != recorded.content => {
                let (locked, recorded) = (locked.content.clone(), recorded.content);
                Err(Unusable::Differs { key: key.clone(), locked, recorded })
            }
            (Some(locked), _) => Ok(Cow::Borrowed(locked)),
            (None, Some(recorded)) => usable(&recorded).map(Cow::Owned),
            (None, None) => Err(Unusable::Missing(key.clone())),
        }
    }

    /// What is recorded of an input.
    fn recorded(&self, key: &Key, directory: &RepoPath) -> Result<Option<Recorded>, Unusable> {
        let path = recorded_path().join(&Recorded::path(key, directory));
        let blob = match self.view.read(&path) {
            Ok(blob) => blob,
            Err(error) if error.is_missing() || matches!(error, ViewError::NotDirectory(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let recorded = Recorded::parse(&blob.data).filter(|recorded| recorded.key == *key);
        recorded.map(Some).ok_or(Unusable::Damaged(path))
    }

    /// What is recorded of a directory of a git repository, or of one around it.
    fn recorded_directory(&self, key: &Key, directory: &RepoPath) -> Result<Option<Recorded>, Unusable> {
        let around = std::iter::successors(Some(directory.clone()), RepoPath::parent);
        around.map(|directory| self.recorded(key, &directory)).find_map(Result::transpose).transpose()
    }
}

fn recorded_path() -> RepoPath {
    RepoPath::clean(RECORDED).unwrap_or_default()
}

/// The files of the recorded inputs that something was read of, each with its content.
pub fn used(reads: &Reads) -> impl Iterator<Item = (&RepoPath, ContentId)> {
    let top = recorded_path();
    let below = reads.range((top.clone(), 0)..).take_while(|((path, _), _)| path.as_str().starts_with(RECORDED));
    below.filter_map(move |((path, _), seen)| match seen {
        Seen::Content(id) if path.starts_with(&top) => Some((path, *id)),
        _ => None,
    })
}

/// Where a dry tree shows the files of a recorded input.
fn place_of(recorded: &Recorded) -> RepoPath {
    InputsDir::default().path().join(&recorded.place())
}

/// What a render may use of the record.
fn usable(recorded: &Recorded) -> Result<Entry, Unusable> {
    match &recorded.withdrawn {
        Some(reason) => Err(Unusable::Withdrawn { key: recorded.key.clone(), reason: reason.clone() }),
        None => Ok(recorded.entry()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{InputFile, VENDOR, digest};
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
