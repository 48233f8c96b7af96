//! The log: a line of JSON for each run.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dry_files::diag::{Diagnostic, shell_path};
use rustix::fs::OFlags;
use serde::Serialize;

use super::screened_json;
use crate::hydrate::Report;
use crate::repo::Repository;

/// A run.
pub(crate) struct Logged<'a> {
    /// Whose push it was run for; none where that is unknown, or nobody pushed.
    pub pusher: Option<&'a str>,
    /// How long it took, the wait for another run included.
    pub took: Duration,
    /// What the push itself moved of what hydration owns.
    pub pushed: &'a [PushedRef],
    /// What it did.
    pub report: &'a Report,
}

/// A ref that hydration owns and a push moved: a promotion, or the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct PushedRef {
    /// Its full name.
    #[serde(rename = "ref")]
    pub name: String,
    /// Where it was; none where it was not there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// Where it is; none where it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// Who pushed it; none where that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pusher: Option<String>,
}

/// Appends one line of JSON to a log: when, where, for whom and what. Lines of processes that write at once never mix. A new
/// log is for those who may use the repository.
pub(crate) fn log(path: &Path, repository: &Repository, run: &Logged<'_>) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Line<'a> {
        time: u64,
        milliseconds: u128,
        repository: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        pusher: Option<&'a str>,
        #[serde(skip_serializing_if = "<[PushedRef]>::is_empty")]
        pushed: &'a [PushedRef],
        #[serde(flatten)]
        report: &'a Report,
    }
    let line = Line {
        time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        milliseconds: run.took.as_millis(),
        repository: repository.common_dir().display().to_string(),
        pusher: run.pusher,
        pushed: run.pushed,
        report: run.report,
    };
    let mut line = screened_json(&serde_json::to_string(&line)?).into_bytes();
    line.push(b'\n');
    // Any sort of file will do, but one that no one reads must not keep us waiting.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file = OpenOptions::new().create(true).append(true).custom_flags(flags.bits().cast_signed()).open(path)?;
    repository.shared().give(&file)?;
    file.write_all(&line)
}

/// That a run is not in the log: nothing else of it is hindered by that.
pub(crate) fn unlogged(path: &Path, error: &std::io::Error) -> Diagnostic {
    let dir = path.parent().unwrap_or(path);
    let cure = match error.kind() {
        ErrorKind::NotFound => format!("make its directory: mkdir -p {}", shell_path(dir)),
        _ => "let the user that git runs as write there".to_owned(),
    };
    let text = format!("hydrated, but not logged: hydrate.log: {}: {error}", path.display());
    Diagnostic::warning(text).hint(format!("{cure}; or name another file: git config hydrate.log FILE"))
}
