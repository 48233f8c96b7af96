//! The lock file: which inputs are kept, and what their files must be.
//!
//! A block an input, in the order of their keys, so that two branches that add inputs merge. Neither dates nor users: only a
//! real conflict is one for git. Read strictly, down to the order of its lines: whatever is not as we write it was not
//! written by us.
//!
//! The directory of the inputs that no tool looks for is written above the blocks where it is not the usual one, and there is
//! any: what a pushed file names there is compared with the settings ([`KeptInputs::misplaced`](super::KeptInputs::misplaced)).
#![expect(clippy::indexing_slicing, reason = "fields are named by their index")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dry_files::path::RepoPath;
use go_std::semver::{Range, Version};

use super::{InputsDir, Key, Kind};

/// What the first lines say.
const HEAD: &str = "\
# What `git hydrate vendor` keeps here. It writes this file; do not edit it.
format = 1
";

/// How many inputs a repository may have.
const ENTRIES_MAX: usize = 20_000;

/// What is kept of one input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is asked for by.
    pub key: Key,
    /// What that meant: the version of a chart, the commit of a git repository; empty for a file.
    pub version: String,
    /// The digest of the archive that was received, or of the manifest of a registry; empty for other kinds.
    pub origin: String,
    /// The digest of its files: see [`digest`](super::digest).
    pub content: String,
    /// Where its files are, when tools look for them there; else they are at [`Key::place`].
    pub at: Vec<RepoPath>,
    /// The directories of a git repository that are kept, each with all below it.
    pub directories: Vec<RepoPath>,
}

impl Entry {
    /// Whether Helm takes a chart of this version for the one that is asked for.
    pub fn fits(&self, version: &str) -> bool {
        let range = || Range::new(&self.key.want).ok().zip(Version::new(version).ok());
        version == self.version || range().is_some_and(|(range, version)| range.has(&version))
    }
}

/// What a lock file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lock {
    entries: BTreeMap<Key, Entry>,
    /// Which input is at a place where a tool looks for it.
    at: BTreeMap<RepoPath, Key>,
    /// Which input is at a place, at those of its own and at those in `dir`.
    all: BTreeMap<RepoPath, Key>,
    /// Where those are that no tool looks for at a place of its own.
    dir: InputsDir,
    /// How many of them there are.
    in_dir: usize,
}

/// The line that names the directory of inputs.
const DIRECTORY: &str = "directory";

/// What is wrong with a lock file, and in which line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct LockError {
    /// 1-based.
    pub line: u32,
    /// What is wrong.
    pub reason: String,
}

impl LockError {
    /// `line` is 0-based.
    fn at(line: usize, reason: &str) -> Self {
        Self { line: u32::try_from(line + 1).unwrap_or(u32::MAX), reason: reason.to_owned() }
    }
}

/// The marks of a merge conflict, as they begin lines.
const OURS: &str = "<<<<<<<";
const BASE: &str = "|||||||";
const SPLIT: &str = "=======";
const THEIRS: &str = ">>>>>>>";

const CONFLICT: &str = "there is a merge conflict here";

impl LockError {
    /// Whether it is a merge conflict, which [`Lock::merged`] resolves.
    pub fn is_conflict(&self) -> bool {
        self.reason == CONFLICT
    }
}

/// One side of a file with merge conflicts.
fn side(text: &str, ours: bool) -> String {
    let (mut side, mut is_taken) = (String::new(), true);
    for line in text.split_inclusive('\n') {
        match line.get(..7) {
            Some(OURS) => is_taken = ours,
            Some(BASE) => is_taken = false,
            Some(SPLIT) => is_taken = !ours,
            Some(THEIRS) => is_taken = true,
            _ if is_taken => side.push_str(line),
            _ => {}
        }
    }
    side
}

/// The fields of a block, in their order; those behind the first four may be left out.
const FIELDS: [&str; 9] = ["kind", "url", "name", "want", "version", "origin", "content", "at", "directories"];

impl Lock {
    /// Reads a lock file.
    pub fn parse(text: &[u8]) -> Result<Self, LockError> {
        let wrong = LockError::at;
        let text = std::str::from_utf8(text).map_err(|_| wrong(0, "the file is not valid UTF-8"))?;
        if text.lines().any(|line| [OURS, SPLIT, THEIRS].iter().any(|mark| line.starts_with(mark))) {
            let at = text.lines().position(|line| line.starts_with(OURS)).unwrap_or_default();
            return Err(wrong(at, CONFLICT));
        }
        let blocks =
            text.strip_prefix(HEAD).ok_or_else(|| wrong(0, "the file does not begin like a lock file of format 1"))?;
        let mut lock = Self::default();
        let mut lines = blocks.lines().zip(HEAD.lines().count()..).peekable();
        let named = lines.next_if(|(line, _)| !line.is_empty());
        if let Some((line, number)) = named {
            let value = line.strip_prefix(DIRECTORY).and_then(|rest| quoted(rest.strip_prefix(" = ")?));
            let value = value.ok_or_else(|| wrong(number, "expected an empty line and `[[input]]`"))?;
            lock.dir = InputsDir::new(value).map_err(|error| wrong(number, &error.to_string()))?;
        }
        let mut last: Option<Key> = None;
        while let Some((line, number)) = lines.next() {
            let is_head = line.is_empty() && lines.next().is_some_and(|(line, _)| line == "[[input]]");
            if !is_head {
                return Err(wrong(number, "expected an empty line and `[[input]]`"));
            }
            let mut fields: BTreeMap<usize, Field> = BTreeMap::new();
            while let Some((line, number)) = lines.next_if(|(line, _)| !line.is_empty()) {
                let (name, value) = line.split_once(" = ").ok_or_else(|| wrong(number, "expected `name = value`"))?;
                let index = FIELDS.iter().position(|field| *field == name);
                let index = index.ok_or_else(|| wrong(number, &format!("`{name}` is not a field of an input")))?;
                if fields.last_key_value().is_some_and(|(last, _)| *last >= index) {
                    return Err(wrong(number, &format!("`{name}` is out of order")));
                }
                let value =
                    Field::parse(value).ok_or_else(|| wrong(number, &format!("the value of `{name}` is not valid")))?;
                fields.insert(index, value);
            }
            let entry = entry(fields).map_err(|reason| wrong(number + 1, &reason))?;
            if last.as_ref().is_some_and(|last| *last >= entry.key) {
                return Err(wrong(number + 1, &format!("{} is out of order, or listed twice", entry.key)));
            }
            last = Some(entry.key.clone());
            lock.insert(entry);
            if lock.entries.len() > ENTRIES_MAX {
                return Err(wrong(number, &format!("more than {ENTRIES_MAX} inputs")));
            }
        }
        match lock.text() == text {
            true => Ok(lock),
            false => Err(wrong(0, "the file is not as `git hydrate vendor` writes it")),
        }
    }

    /// Both sides of a lock file with merge conflicts. Of an input that they keep differently it is the entry that `fits` what
    /// is at its places, else ours.
    ///
    /// Errors: a side is no lock file.
    pub fn merged(text: &[u8], fits: impl Fn(&Entry, &[RepoPath]) -> bool) -> Result<Self, LockError> {
        let text = String::from_utf8_lossy(text);
        let (mut merged, theirs) =
            (Self::parse(side(&text, true).as_bytes())?, Self::parse(side(&text, false).as_bytes())?);
        if !merged.uses_dir() {
            merged.move_to(theirs.dir.clone());
        }
        for entry in theirs.entries.into_values() {
            let places = merged.places(&entry);
            let is_better = |ours: &Entry| !fits(ours, &merged.places(ours)) && fits(&entry, &places);
            if merged.get(&entry.key).is_none_or(|ours| *ours != entry && is_better(ours)) {
                merged.insert(entry);
            }
        }
        Ok(merged)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        if self.in_dir > 0 && self.dir != InputsDir::default() {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{DIRECTORY} = \"{}\"", self.dir.path().as_str());
        }
        for Entry { key, version, origin, content, at, directories } in self.entries.values() {
            text.push_str("\n[[input]]\n");
            let line = |text: &mut String, name: &str, value: &str| {
                // Writing into a string cannot fail.
                let _ = writeln!(text, "{name} = \"{value}\"");
            };
            line(&mut text, "kind", key.kind.word());
            line(&mut text, "url", &key.url);
            for (name, value) in [("name", &key.name), ("want", &key.want), ("version", version), ("origin", origin)] {
                if !value.is_empty() {
                    line(&mut text, name, value);
                }
            }
            line(&mut text, "content", content);
            for (name, paths) in [("at", at), ("directories", directories)] {
                if !paths.is_empty() {
                    let paths: Vec<String> = paths.iter().map(|path| format!("\"{}\"", path.as_str())).collect();
                    let _ = writeln!(text, "{name} = [{}]", paths.join(", "));
                }
            }
        }
        text
    }

    /// What is kept, in the order of keys.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// What is kept of an input.
    pub fn get(&self, key: &Key) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// The directory of the inputs that no tool looks for at a place of its own.
    pub fn dir(&self) -> &InputsDir {
        &self.dir
    }

    /// Whether there are such inputs.
    pub fn uses_dir(&self) -> bool {
        self.in_dir > 0
    }

    /// Names another directory for them, and says what was where and is to be where.
    pub fn move_to(&mut self, dir: InputsDir) -> Vec<(RepoPath, RepoPath)> {
        let old = std::mem::replace(self, Self { dir, ..Self::default() });
        let mut moved = Vec::new();
        for mut entry in old.entries.into_values() {
            let (from, to) = (old.dir.place(&entry.key), self.dir.place(&entry.key));
            if entry.at.is_empty() || entry.at.contains(&from) {
                moved.push((from.clone(), to.clone()));
            }
            entry.at.iter_mut().filter(|place| **place == from).for_each(|place| *place = to.clone());
            self.insert(entry);
        }
        moved
    }

    fn is_in_dir(&self, entry: &Entry) -> bool {
        entry.at.is_empty() || entry.at.iter().any(|place| self.dir.has(place))
    }

    /// Everything that the repository has of an input that is listed here.
    pub fn places(&self, entry: &Entry) -> Vec<RepoPath> {
        if entry.at.is_empty() { vec![self.dir.place(&entry.key)] } else { entry.at.clone() }
    }

    /// The input that is kept at a path where a tool looks for it.
    pub fn at(&self, path: &RepoPath) -> Option<&Entry> {
        self.entries.get(self.at.get(path)?)
    }

    /// The place that a path is at or below, and the input that is kept there.
    pub fn around(&self, path: &RepoPath) -> Option<(RepoPath, &Entry)> {
        let mut above = std::iter::successors(Some(path.clone()), RepoPath::parent);
        above
            .find_map(|place| Some((self.entries.get(self.all.get(&place)?)?, place)))
            .map(|(entry, place)| (place, entry))
    }

    /// The inputs that are kept right below a directory, each with its place.
    pub fn right_below<'l>(&'l self, dir: &'l RepoPath) -> impl Iterator<Item = (&'l RepoPath, &'l Entry)> {
        let below = self.at.range(dir.clone()..).take_while(|(place, _)| place.as_str().starts_with(dir.as_str()));
        let below = below.filter(|(place, _)| place.parent().as_ref() == Some(dir));
        below.filter_map(|(place, key)| Some((place, self.entries.get(key)?)))
    }

    /// Adds what is kept of an input, in place of what was.
    pub fn insert(&mut self, mut entry: Entry) {
        for paths in [&mut entry.at, &mut entry.directories] {
            paths.sort();
            paths.dedup();
        }
        self.remove(&entry.key);
        self.in_dir += usize::from(self.is_in_dir(&entry));
        self.at.extend(entry.at.iter().map(|place| (place.clone(), entry.key.clone())));
        self.all.extend(self.places(&entry).into_iter().map(|place| (place, entry.key.clone())));
        self.entries.insert(entry.key.clone(), entry);
    }

    /// Forgets an input.
    pub fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        let places = self.places(&entry);
        self.in_dir -= usize::from(self.is_in_dir(&entry));
        for (places, known) in [(entry.at.clone(), &mut self.at), (places, &mut self.all)] {
            for place in places.iter().filter(|place| known.get(*place) == Some(key)).collect::<Vec<_>>() {
                known.remove(place);
            }
        }
        Some(entry)
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

enum Field {
    Text(String),
    Paths(Vec<RepoPath>),
}

impl Field {
    fn parse(value: &str) -> Option<Self> {
        if let Some(list) = value.strip_prefix('[') {
            let list = list.strip_suffix(']')?;
            let paths = list.split(", ").map(|item| RepoPath::new(quoted(item)?).ok());
            return paths.collect::<Option<Vec<_>>>().map(Field::Paths);
        }
        quoted(value).map(|text| Field::Text(text.to_owned()))
    }
}

fn quoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    (!inner.chars().any(|c| c.is_control() || matches!(c, '"' | '\\'))).then_some(inner)
}

fn take_text(fields: &mut BTreeMap<usize, Field>, index: usize) -> Result<String, String> {
    match fields.remove(&index) {
        None => Ok(String::new()),
        Some(Field::Text(text)) => Ok(text),
        Some(Field::Paths(_)) => Err(format!("`{}` is a list", FIELDS[index])),
    }
}

fn take_paths(fields: &mut BTreeMap<usize, Field>, index: usize) -> Result<Vec<RepoPath>, String> {
    match fields.remove(&index) {
        None => Ok(Vec::new()),
        Some(Field::Paths(paths)) => Ok(paths),
        Some(Field::Text(_)) => Err(format!("`{}` is not a list", FIELDS[index])),
    }
}

fn entry(mut fields: BTreeMap<usize, Field>) -> Result<Entry, String> {
    let mut text = |index| take_text(&mut fields, index);
    let [kind, url, name, want, version, origin, content] =
        [text(0)?, text(1)?, text(2)?, text(3)?, text(4)?, text(5)?, text(6)?];
    let mut paths = |index| take_paths(&mut fields, index);
    let (at, directories) = (paths(7)?, paths(8)?);
    let kind = Kind::ALL.into_iter().find(|known| known.word() == kind).ok_or("`kind` is not valid")?;
    let key = match kind {
        Kind::Helm | Kind::Oci => Key::chart(&url, &name, &want),
        Kind::File => Key::file(&url),
        Kind::Git => Key::repository(&url, &want),
    };
    let key = key.map_err(|error| error.to_string())?;
    if key != (Key { kind, url, name, want }) {
        return Err("`kind`, `url`, `name` and `want` do not describe an input".to_owned());
    }
    let is_digest = |text: &str| {
        let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64);
        digits.is_some_and(|digits| digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
    };
    if !is_digest(&content) || !(origin.is_empty() || is_digest(&origin)) {
        return Err("`content` and `origin` must be `sha256:` and 64 digits".to_owned());
    }
    Ok(Entry { key, version, origin, content, at, directories })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(digit: char) -> String {
        format!("sha256:{}", String::from(digit).repeat(64))
    }

    fn lock() -> Lock {
        let path = |text: &str| RepoPath::new(text).expect("plain");
        let chart = |version: &str, at: &str| Entry {
            key: Key::chart("https://charts.example.com", "web", version).expect("a key"),
            version: "1.2.4".to_owned(),
            origin: digest('a'),
            content: digest('b'),
            at: vec![path(at)],
            directories: Vec::new(),
        };
        let mut lock = Lock::default();
        lock.insert(chart("~1.2", "apps/web/charts/web"));
        lock.insert(chart("1.2.4", "apps/b/charts/web"));
        let key = Key { kind: Kind::Git, want: "v1".to_owned(), ..Key::file("https://h/o/r").expect("a key") };
        let directories = vec![path("b"), path("a/b"), path(""), path("b")];
        let (version, content) = ("0a".to_owned(), digest('c'));
        lock.insert(Entry { key, version, origin: String::new(), content, at: Vec::new(), directories });
        lock
    }

    #[test]
    fn a_lock_file_reads_as_it_was_written() {
        let text = lock().text();
        let expected = "
[[input]]
kind = \"git\"
url = \"https://h/o/r\"
want = \"v1\"
version = \"0a\"
content = \"sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc\"
directories = [\"\", \"a/b\", \"b\"]
";
        assert!(text.ends_with(expected), "{text}");
        assert_eq!(Lock::parse(text.as_bytes()), Ok(lock()));
        assert_eq!(Lock::parse(Lock::default().text().as_bytes()), Ok(Lock::default()));
    }

    #[test]
    fn a_directory_of_its_own_is_named_where_something_is_in_it() {
        let mut lock = lock();
        let moved = lock.move_to(InputsDir::new("third_party").expect("a directory"));
        let moved: Vec<_> = moved.iter().map(|(from, to)| (from.as_str(), to.as_str())).collect();
        assert_eq!(moved, [(".hydrate/inputs/git/h/o/r@v1", "third_party/git/h/o/r@v1")]);
        let text = lock.text();
        assert!(text.starts_with(&format!("{HEAD}directory = \"third_party\"\n\n[[input]]\n")), "{text}");
        assert_eq!(Lock::parse(text.as_bytes()), Ok(lock.clone()));
        let git = lock.entries().find(|entry| entry.key.kind == Kind::Git).expect("there").clone();
        assert_eq!(lock.places(&git)[0].as_str(), "third_party/git/h/o/r@v1");
        lock.remove(&git.key);
        assert!(!lock.text().contains("third_party") && !lock.uses_dir());
    }

    #[test]
    fn what_we_would_not_write_is_refused() {
        let text = lock().text();
        let order = "chart web 1.2.4 of https://charts.example.com is out of order, or listed twice";
        let root = "the root of the repository cannot hold inputs: name a directory";
        let unlike = "the file is not as `git hydrate vendor` writes it";
        let unnamed = "chart web of https://charts.example.com is out of order, or listed twice";
        let rows = [
            ("", "", "expected an empty line and `[[input]]`", 31, "\n"),
            ("format = 1", "format = 2", "the file does not begin like a lock file of format 1", 1, ""),
            ("kind = \"git\"", "kind = \"hg\"", "`kind` is not valid", 24, ""),
            ("want = \"~1.2\"", "want = \"~1.2\"\nwants = \"x\"", "`wants` is not a field of an input", 19, ""),
            ("want = \"~1.2\"\n", "", unnamed, 14, ""),
            ("\"sha256:a", "\"sha256:A", "`content` and `origin` must be `sha256:` and 64 digits", 4, ""),
            ("at = [\"apps/web", "at = [\"../apps/web", "the value of `at` is not valid", 22, ""),
            ("want = \"~1.2\"", "want = \"1.2.4\"", order, 14, ""),
            ("format = 1\n", "format = 1\n<<<<<<< HEAD\n", "there is a merge conflict here", 3, ""),
            ("format = 1\n", "format = 1\ndir = \"x\"\n", "expected an empty line and `[[input]]`", 3, ""),
            ("format = 1\n", "format = 1\ndirectory = \".\"\n", root, 3, ""),
            (
                "format = 1\n",
                "format = 1\ndirectory = \"../x\"\n",
                "`../x` cannot hold inputs: the path leads out of the repository",
                3,
                "",
            ),
            ("format = 1\n", "format = 1\ndirectory = \"a/../b\"\n", unlike, 1, ""),
            ("format = 1\n", "format = 1\ndirectory = \".hydrate/inputs\"\n", unlike, 1, ""),
            (
                "format = 1\n",
                "format = 1\ndirectory = \"a\"\ndirectory = \"b\"\n",
                "expected an empty line and `[[input]]`",
                4,
                "",
            ),
            ("https://h/o/r", "https://H/o/r", "`kind`, `url`, `name` and `want` do not describe an input", 24, ""),
            ("version = \"0a\"\ncontent", "content", "", 0, ""),
            ("version = \"0a\"", "version = \"0\\u0061\"", "the value of `version` is not valid", 28, ""),
            (
                "[[input]]\nkind = \"git\"",
                "[[inputs]]\nkind = \"git\"",
                "expected an empty line and `[[input]]`",
                23,
                "",
            ),
        ];
        for (from, to, expected, line, end) in rows {
            let changed = text.replacen(from, to, 1) + end;
            match Lock::parse(changed.as_bytes()) {
                Ok(_) => assert_eq!(expected, "", "{from}"),
                Err(error) => assert_eq!((error.reason.as_str(), error.line), (expected, line), "{from}"),
            }
        }
        for cut in 0..text.len() {
            drop(Lock::parse(&text.as_bytes()[..cut]));
        }
    }
}
