//! Which charts a chart depends on: those that `helm dependency build` fetches for it.
//!
//! Reference: helm 4.2.3 pkg/downloader/manager.go `Build`, internal/resolver/resolver.go.

use dry_files::path::RepoPath;
use go_yaml::{self as yaml, Limits, Value};

use inputs::{ChartLock, StaleLock};

/// The files with dependencies, each with that of their versions.
pub(super) const FILES: [(&str, &str); 2] = [("Chart.yaml", "Chart.lock"), (OLD, "requirements.lock")];

/// The file with the dependencies of charts of the first version.
pub(super) const OLD: &str = "requirements.yaml";

/// A dependency of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Dependency {
    /// Its name.
    pub name: String,
    /// The URL of its repository; what a machine calls by a name of its own, where no lock file has the URL.
    pub repository: String,
    /// The version of the lock file; without one, as it is asked for.
    pub version: String,
    /// The version as it is asked for.
    requested: String,
}

impl Dependency {
    /// Whether `other` is another chart, or asks for the version that this one asks for.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        self.name != other.name || self.requested == other.requested
    }
}

/// The dependencies that a file has, in the versions of its lock file. None where it cannot be read.
///
/// Errors: the lock file is of other dependencies.
pub(super) fn read(text: &str, lock: Option<&str>, is_old: bool) -> Result<Vec<Dependency>, StaleLock> {
    let parse = |text: &str| yaml::sigs::unmarshal(text.as_bytes(), &Limits::default()).ok();
    let Some(value) = parse(text) else { return Ok(Vec::new()) };
    let mut requested = value.get("dependencies").and_then(Value::as_sequence).unwrap_or_default().to_vec();
    let lock = lock.and_then(parse).as_ref().map(ChartLock::of);
    if let Some(lock) = &lock {
        for (item, (_, repository, _)) in requested.iter_mut().zip(&lock.dependencies) {
            name_repository(item, repository);
        }
        lock.check(&requested, is_old)?;
    }
    let dependency = |(index, item): (usize, &Value)| {
        let locked = lock.as_ref().and_then(|lock| lock.dependencies.get(index));
        let requested = field(item, "version");
        let version = locked.map_or_else(|| requested.clone(), |(_, _, version)| version.clone());
        Dependency { name: field(item, "name"), repository: field(item, "repository"), version, requested }
    };
    Ok(requested.iter().enumerate().map(dependency).collect())
}

/// How to go on where a lock file is of other dependencies.
pub(super) fn stale_hint(chart: &RepoPath, stale: &StaleLock) -> String {
    format!("run `helm dependency update {chart}`, or remove {}", stale.lock)
}

/// Names of a machine's own list are known by what they meant.
fn name_repository(dependency: &mut Value, repository: &str) {
    if let Value::Mapping(fields) = dependency
        && fields.get("repository").and_then(Value::as_str).is_some_and(is_alias)
    {
        fields.insert("repository".to_owned(), Value::String(repository.to_owned()));
    }
}

/// Whether this names an entry of the list of repositories that a machine has.
fn is_alias(repository: &str) -> bool {
    repository.starts_with('@') || repository.starts_with("alias:")
}

fn field(value: &Value, key: &str) -> String {
    value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
