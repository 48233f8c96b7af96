//! Puts new settings into effect, and says which branches they stop.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, printable, shell_word};

use super::{Outcome, seeds, server_of};
use crate::cli::{catch_up, machine, output};
use crate::history::{self, BranchState, BranchStatus};
use crate::hydrate::{BranchReport, Outcome as Hydrated, Report};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::Repository;
use crate::settings::SETTINGS_REF;
use crate::show::{Wording, summary};

/// What was right by the settings that there were: what is wrong by the new ones and was wrong before is not their fault.
pub(super) struct Before {
    /// The branches that Applications named or hydration made; none where no dry branch was there.
    known: BTreeSet<String>,
    /// Those of them that showed the tip of their dry branch.
    current: BTreeSet<String>,
    /// What was wrong.
    problems: Vec<Diagnostic>,
}

impl Before {
    /// By the settings of now; none where those cannot be used, and in a clone, whose server finds out.
    pub(super) fn read(repository: &Repository) -> anyhow::Result<Option<Self>> {
        if server_of(repository)?.is_some() {
            return Ok(None);
        }
        let renderers = Renderers::from_config(repository, &machine()?)?;
        let place = Place::asked_server("").writing_nowhere();
        let setup = Setup::new(repository, place, Wake::Everything, &renderers, wall::now());
        let (Ok(all), Ok(surveyed)) = (history::status(&setup), history::surveyed(&setup)) else { return Ok(None) };
        let known = all.iter().map(|status| status.branch.clone()).collect();
        let (current, others): (Vec<&BranchStatus>, Vec<_>) = all.iter().partition(|status| is_current(status));
        let mut current: BTreeSet<String> = current.into_iter().map(|status| status.branch.clone()).collect();
        // One that several dry branches share is listed for each.
        for status in others {
            current.remove(&status.branch);
        }
        Ok(Some(Self { known, current, problems: surveyed.problems }))
    }

    /// Whether a branch was right, and is not any more; or was not asked for, among others that were.
    fn is_stopped(&self, branch: &BranchReport) -> bool {
        let is_new = !self.known.is_empty() && !self.known.contains(&branch.branch);
        !branch.is_success() && (is_new || self.current.contains(&branch.branch))
    }

    /// Whether something was not wrong, where anything was looked at.
    fn lacks(&self, problem: &Diagnostic) -> bool {
        let is_it = |known: &Diagnostic| known.message == problem.message && known.span == problem.span;
        !self.known.is_empty() && !self.problems.iter().any(is_it)
    }
}

fn is_current(status: &BranchStatus) -> bool {
    status.state == BranchState::Hydrated && status.behind == Some(0) && status.is_current()
}

/// Puts new settings into effect: on a server by hydrating anew, in a clone by saying how.
///
/// `way_back` is the command that brings the earlier ones back, by which it was as `before` says.
pub(super) fn apply(
    repository: &Repository,
    before: Option<&Before>,
    way_back: &str,
    changes: Option<&seeds::Changes>,
    json: bool,
) -> anyhow::Result<Outcome> {
    if let Some(remote) = server_of(repository)? {
        let push = format!("git push {} {SETTINGS_REF}", shell_word(&remote));
        match json {
            true => output::print_json(&answer("next", &push, changes)?)?,
            false => output::print(format!("to apply them on the server: {push}\n"))?,
        }
        return Ok(Outcome::Done);
    }
    let report = match catch_up::all(repository) {
        Ok(report) => report,
        Err(error) => {
            let is_of_machine = error.downcast_ref().is_some_and(HydrateError::is_of_machine);
            let hint = match before {
                Some(_) if !is_of_machine => format!("\nhint: to go back: {way_back}"),
                _ => String::new(),
            };
            output::complain(&format!("the settings are saved, but hydration fails with them: {error:#}{hint}"));
            return Ok(Outcome::Found);
        }
    };
    if json {
        output::print_json(&answer("report", &report, changes)?)?;
    } else {
        output::print(summary(&report, Wording::Terminal) + &saved(&report, before, way_back))?;
    }
    let is_stopped = |before: &Before| report.branches.iter().any(|branch| before.is_stopped(branch));
    let is_new = |before: &Before| report.problems.iter().any(|problem| before.lacks(problem));
    let is_fault = before.is_some_and(|before| is_stopped(before) || is_new(before));
    Ok(if is_fault { Outcome::Found } else { Outcome::Done })
}

/// What is said of a change in JSON.
fn answer(
    key: &str,
    what: &impl serde::Serialize,
    changes: Option<&seeds::Changes>,
) -> anyhow::Result<serde_json::Value> {
    let mut answer = serde_json::json!({ "changed": true, key: what });
    if let (Some(changes), Some(object)) = (changes, answer.as_object_mut()) {
        object.insert("randomValues".to_owned(), serde_json::to_value(changes)?);
    }
    Ok(answer)
}

/// Which branches the settings stop, that are saved all the same, and the way back; or which stay as they are for a reason of
/// their own.
fn saved(report: &Report, before: Option<&Before>, way_back: &str) -> String {
    let failing: Vec<&BranchReport> = report.branches.iter().filter(|branch| !branch.is_success()).collect();
    let stopped: Vec<&BranchReport> =
        failing.iter().copied().filter(|branch| before.is_some_and(|before| before.is_stopped(branch))).collect();
    let is_whole = |branch: &&&BranchReport| matches!(branch.outcome, Hydrated::Failed { .. });
    let [whole, parts] = [true, false]
        .map(|whole| stopped.iter().filter(|branch| is_whole(branch) == whole).copied().collect::<Vec<_>>());
    match (&whole[..], &parts[..], &failing[..]) {
        ([], [], []) => String::new(),
        ([], [], failing) => {
            let verb = if failing.len() == 1 { "was" } else { "were" };
            format!("the settings are saved; {} {verb} not up to date before either\n", named(failing))
        }
        ([], parts, _) => {
            let what = format!("Applications of {} stay as they are", named(parts));
            format!("the settings are saved, and with them {what}\nhint: to go back: {way_back}\n")
        }
        (whole, _, _) => {
            let what = match whole {
                [one] => format!("{} stays as it is", printable(&one.branch)),
                _ => format!("{} branches stay as they are: {}", whole.len(), named(whole)),
            };
            format!("the settings are saved, and with them {what}\nhint: to go back: {way_back}\n")
        }
    }
}

fn named(branches: &[&BranchReport]) -> String {
    branches.iter().map(|branch| printable(&branch.branch)).collect::<Vec<_>>().join(", ")
}
