//! Which branches the forge knows, and as what.
//!
//! The file `hydrate/told` of the git directory has a line `<id> <ref>` for each branch that the forge was told of. Where it is
//! lost, the forge is told of all branches as if they were new, which it takes for what it knows already.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use dry_files::regular;

use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::repo::{Error, ObjectBuffer, ObjectId, Repository, object_id};

/// How large the file may be: a line of 200 bytes for each of 80,000 branches.
const BYTES_MAX: u64 = 16 << 20;

/// A branch that the forge is to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// Its full name.
    pub name: String,
    /// What the forge knows it as; none for one that it does not know.
    pub old: Option<ObjectId>,
    /// What it is now, or was on the way there.
    pub new: ObjectId,
}

impl Line {
    /// `<old> <new> <ref>`, as git gives it to a hook.
    pub(super) fn text(&self) -> String {
        let new = self.new.to_string();
        let old = self.old.map_or_else(|| "0".repeat(new.len()), |old| old.to_string());
        format!("{old} {new} {}\n", self.name)
    }
}

/// The directory of what is kept for the next run.
pub(super) fn directory(repository: &Repository) -> io::Result<PathBuf> {
    let path = repository.common_dir().join("hydrate");
    if !path.is_dir() {
        fs::create_dir_all(&path)?;
        let mode = fs::metadata(&path)?.permissions().mode() & 0o7777;
        fs::set_permissions(&path, Permissions::from_mode(repository.shared().directory_mode(mode)))?;
    }
    Ok(path)
}

/// The file that says what the forge knows.
pub(super) fn file(repository: &Repository) -> PathBuf {
    repository.common_dir().join("hydrate").join("told")
}

/// What the forge knows of branches, by full name.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<String, ObjectId>);

impl Known {
    /// As it was written last. A line that cannot be read is skipped.
    pub(super) fn read(repository: &Repository) -> io::Result<Self> {
        let text = match regular::read(&file(repository), BYTES_MAX) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(error),
        };
        let text = String::from_utf8_lossy(&text);
        let of_line = |line: &str| {
            let (id, name) = line.split_once(' ')?;
            Some((name.to_owned(), object_id(id)?))
        };
        Ok(Self(text.lines().filter_map(of_line).collect()))
    }

    /// Notes what the forge was told of.
    pub(super) fn now_knows(&mut self, lines: Vec<Line>) {
        self.0.extend(lines.into_iter().map(|line| (line.name, line.new)));
    }

    /// Writes it, in one step.
    pub(super) fn write(&self, repository: &Repository) -> io::Result<()> {
        let directory = directory(repository)?;
        let mut file = tempfile::NamedTempFile::new_in(&directory)?;
        for (name, id) in &self.0 {
            writeln!(file, "{id} {name}")?;
        }
        file.flush()?;
        repository.shared().give(file.as_file())?;
        file.persist(directory.join("told")).map(drop).map_err(|error| error.error)
    }
}

/// The branches whose tip is the work of hydration and that are not what the forge knows, at most `commits` further each.
/// What others pushed on top, the forge has seen.
pub(super) fn moved(repository: &Repository, known: &Known, commits: usize) -> Result<Vec<Line>, Error> {
    let refs = repository.refs()?;
    let Some(records) = refs.get(RECORDS_REF) else { return Ok(Vec::new()) };
    let buffer = ObjectBuffer::new(repository);
    let records = BranchRecords::read(records, &buffer)?;
    let mut lines = Vec::new();
    // Those of other repositories are not seen here.
    for (branch, record) in records.iter().filter(|(branch, _)| branch.destination().is_none()) {
        let name = format!("refs/heads/{branch}");
        let old = known.0.get(&name).copied();
        if refs.get(&name) == Some(record.tip) && old != Some(record.tip) {
            let old = old.filter(|old| repository.has(*old));
            lines.push(Line { new: next(repository, old, record.tip, commits)?, name, old });
        }
    }
    Ok(lines)
}

/// The commit that is `commits` further on the way from `old` to `tip`.
fn next(repository: &Repository, old: Option<ObjectId>, tip: ObjectId, commits: usize) -> Result<ObjectId, Error> {
    let Some(old) = old else { return Ok(tip) };
    let way = repository.first_parents(old, tip, usize::MAX)?.unwrap_or_default();
    Ok(way.get(commits.saturating_sub(1)).copied().unwrap_or(tip))
}
