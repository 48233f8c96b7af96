//! `hydrate.notify`: a command of the admin that gets the report of a run.

use std::process::Command;
use std::time::Duration;

use serde::Serialize;

use super::hook::{Options, access, outside};
use crate::hydrate::Report;
use crate::repo::Repository;
use crate::show::{PushedRef, screened_json};
use crate::tell::outbox::Delivery;

/// What the command reads on standard input: one JSON object, on one line.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Notice<'n> {
    format: u32,
    /// The git directory.
    repository: String,
    /// Who pushed all that the report is about, where `hydrate.pusherVariable` names a variable for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pusher: Option<String>,
    /// Why nothing was hydrated; then there is no report.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'n str>,
    /// What the push itself moved of what hydration owns.
    #[serde(skip_serializing_if = "<[PushedRef]>::is_empty")]
    pushed: &'n [PushedRef],
    #[serde(flatten)]
    report: Option<&'n Report>,
    /// What became of other repositories that something was to be pushed to.
    #[serde(skip_serializing_if = "<[Delivery]>::is_empty")]
    destinations: &'n [Delivery],
}

/// Set while the command runs: runs that it causes on this machine are not notified of, since each would cause another one.
const VARIABLE: &str = "GIT_HYDRATE_NOTIFYING";

/// Notifies the admin's command, if there is one, of what a run did and whether all of that came of this push; or of why it did
/// nothing; and of what became of `destinations`. To be called after the lock of the repository was given back: the command may
/// take its time, and may push.
///
/// # Errors
///
/// The command could not be run, failed, or took too long, in words for a warning. Hydration does not depend on it.
pub(crate) fn notify(
    repository: &Repository,
    outcome: Result<(&Report, bool), &str>,
    (pushed, destinations): (&[PushedRef], &[Delivery]),
) -> Result<(), String> {
    let options = Options::read(repository);
    let Some(command) = options.notify else { return Ok(()) };
    let is_empty = outcome.is_ok_and(|(report, _)| report.is_empty()) && destinations.is_empty() && pushed.is_empty();
    if is_empty || std::env::var_os(VARIABLE).is_some() {
        return Ok(());
    }
    let notice = Notice {
        format: 1,
        repository: repository.common_dir().display().to_string(),
        // What others pushed is not reported in the name of this one.
        pusher: access(repository)
            .ok()
            .and_then(|access| access.pusher)
            .filter(|_| outcome.map_or(true, |(_, his)| his)),
        error: outcome.err(),
        pushed,
        report: outcome.ok().map(|(report, _)| report),
        destinations,
    };
    run_command(repository, &command, &notice, options.notify_time_limit)
        .map_err(|why| format!("hydrate.notify: {why}"))
}

fn run_command(repository: &Repository, command: &str, notice: &Notice<'_>, limit: Duration) -> Result<(), String> {
    let input = serde_json::to_string(notice).map_err(|error| error.to_string())?;
    let input = screened_json(&input) + "\n";
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).env(VARIABLE, "1");
    let late = format!("ended after {} seconds (hydrate.notifyTimeLimit)", limit.as_secs());
    outside::run(shell, input.as_bytes(), repository, (limit, &late))
}
