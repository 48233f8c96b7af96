//! `git hydrate status`: the state of each environment branch.

pub(super) mod cures;
pub(super) mod row;
mod unpushed_commits;
mod wrong;

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::clone::{self, Clone};
use super::doubted::Asked;
use super::screen::Screen;
use super::{NO_BRANCH, NO_BRANCH_ON_SERVER, Outcome, WrongUse, output, unpushed};
use crate::history::{BranchState, BranchStatus, Surveyed, status, surveyed};
use crate::install::has_platform;
use crate::owners::setup::{Setup, Wake};
use crate::preview::{RandomValues, public_values};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo;
use crate::show::{Paint, Style};
use crate::tell::outbox::{self, Standing};
use dry_files::diag::{Diagnostic, printable, shell_word};

use cures::{Gone, unnamed};
use row::short;
use unpushed_commits::Unpushed;
use wrong::Wrong;

/// Show the state of each environment branch, and what failed.
///
/// In a clone, a branch counts as up to date when it has what its dry commit gives: what its note says alone is not believed.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    clone: clone::Arguments,
    /// Show every error, however many there are
    #[arg(long)]
    all: bool,
}

/// Reads the environment branches of the remote, or of this repository when it has none.
pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let clone = Clone::open_for(Asked::State, &arguments.clone)?;
    let clone = if arguments.clone.offline { clone } else { clone.without_deleted()? };
    let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?;
    let setup = Setup::new(&clone.repository, clone.place.clone(), Wake::Everything, &renderers, wall::now());
    let destinations = if clone.has_remote() { Vec::new() } else { outbox::standings(&clone.repository)? };
    let Surveyed { problems, mut pinned, hides_failures } = surveyed(&setup)?;
    let branches = status(&setup)?;
    // What a branch fails by is not repeated as a warning.
    let failed = |pinned: &Diagnostic| {
        let mut failures = branches.iter().flat_map(|status| &status.failures).flat_map(|failure| &failure.diagnostics);
        failures.any(|failed| failed.message == pinned.message && failed.span == pinned.span)
    };
    pinned.retain(|pinned| !failed(pinned));
    // What keeps the settings from being read is a problem already.
    let random = public_values(&setup).unwrap_or_default();
    let (warning, random_values) = random.map_or((None, Vec::new()), |(warning, values)| (Some(warning), values));
    let hidden = hidden(&clone, &branches)?;
    let unpushed = unpushed_commits::of(&clone, &branches)?;
    let mut found = Found { branches, problems, pinned, random_values, hidden, destinations, unpushed };
    if let Some(name) = &arguments.clone.branch {
        found.branches.retain(|status| status.dry_branch == *name || status.branch == *name);
        if found.branches.is_empty() {
            let hint = "--branch names a dry branch or an environment branch; without it all are shown";
            return Err(WrongUse(format!("no environment branch is hydrated from `{name}`\nhint: {hint}")).into());
        }
    }
    let is_offline = arguments.clone.offline && !clone.place.is_of_server();
    if json {
        output::print_json(&found)?;
    } else if found.branches.is_empty() && found.problems.is_empty() {
        output::print(if clone.has_remote() { NO_BRANCH } else { NO_BRANCH_ON_SERVER })?;
    } else {
        let screen = Screen::new(Some(&clone.repository));
        let problems: Vec<Diagnostic> =
            found.problems.iter().chain(&found.hidden).chain(&found.pinned).chain(&warning).cloned().collect();
        let settings = unpushed::settings(&clone.repository)?;
        let mut wrong = Wrong::new(arguments.all, settings.map(|id| id.to_string()));
        let here = Here {
            remote: clone.remote(),
            destinations: (!clone.has_remote()).then_some(&found.destinations[..]),
            is_offline,
            asks_why: !is_offline && !hides_failures,
            is_of_platform: clone.remote().is_none() && has_platform(&clone.repository),
            unpushed: clone.remote().filter(|_| settings.is_some()),
            is_cut_off: clone.is_cut_off(),
        };
        let branches = text(&found.branches, &here, &mut wrong, screen.paint());
        let unpushed: String = found.unpushed.iter().map(|unpushed| format!("{unpushed}\n")).collect();
        screen.show(&(branches + &wrong.of_none(&problems) + &wrong.rest() + &unpushed))?;
    }
    let is_delivered = found.destinations.iter().all(|standing| standing.is_delivered);
    let is_current = is_delivered && found.problems.is_empty() && found.branches.iter().all(BranchStatus::is_current);
    Ok(if is_current { Outcome::Done } else { Outcome::Found })
}

/// The branches, each with `isCurrent`: `state` says what a branch is, not whether all went well with it.
fn with_verdicts<S: serde::Serializer>(branches: &[BranchStatus], to: S) -> Result<S::Ok, S::Error> {
    #[derive(serde::Serialize)]
    struct Judged<'a> {
        #[serde(flatten)]
        status: &'a BranchStatus,
        #[serde(rename = "isCurrent")]
        is_current: bool,
    }
    to.collect_seq(branches.iter().map(|status| Judged { status, is_current: status.is_current() }))
}

/// What there is to tell.
#[derive(serde::Serialize)]
struct Found {
    #[serde(serialize_with = "with_verdicts")]
    branches: Vec<BranchStatus>,
    /// What is wrong at the tips of the dry branches and keeps Applications from being hydrated.
    problems: Vec<Diagnostic>,
    /// The refs that git takes for a branch when somebody looks at it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<Diagnostic>,
    /// The Applications that no push hydrates, since they name a tag, a commit or a version.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pinned: Vec<Diagnostic>,
    /// The random values that anybody can compute.
    #[serde(rename = "randomValues", skip_serializing_if = "Vec::is_empty")]
    random_values: Vec<RandomValues>,
    /// How the branches of other repositories are there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    destinations: Vec<Standing>,
    /// The commits of dry branches that only this clone has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unpushed: Vec<Unpushed>,
}

/// Warnings of refs that git takes for a branch of hydration, or for one that it is hydrated from.
fn hidden(clone: &Clone, branches: &[BranchStatus]) -> anyhow::Result<Vec<Diagnostic>> {
    let refs = clone.repository.refs()?;
    let names = branches.iter().flat_map(|status| [status.branch.as_str(), status.dry_branch.as_str()]);
    let mut found = Vec::new();
    for branch in names.filter(|name| !name.is_empty()).collect::<BTreeSet<&str>>() {
        for name in repo::hiding(branch, clone.remote(), &refs) {
            let word = shell_word(&name);
            let remedy = match clone.remote() {
                Some(remote) => {
                    format!("git push {} --delete {word}; and here: git update-ref -d {word}", shell_word(remote))
                }
                None => format!("git update-ref -d {word}"),
            };
            found.push(Diagnostic::warning(repo::said_of_hiding(&name, branch)).hint(remedy));
        }
    }
    Ok(found)
}

/// That a branch of another repository is not there as it was hydrated.
fn not_there(status: &BranchStatus, destinations: Option<&[Standing]>, paint: Paint) -> String {
    let Some(destinations) = destinations else {
        // No branch of this repository has a colon.
        let (is_elsewhere, what) =
            (status.branch.contains(':'), "whether it was pushed there: git hydrate status on the server");
        return if is_elsewhere { format!("  {what}\n") } else { String::new() };
    };
    let standing = destinations.iter().find(|standing| standing.branch == status.branch);
    let Some(standing) = standing.filter(|standing| !standing.is_delivered) else { return String::new() };
    let why = match (standing.why, &standing.reason) {
        (Some(why), Some(reason)) => format!("{}: {reason}", why.word()),
        _ => "behind: to push it, on the server: git hydrate catch-up".to_owned(),
    };
    let what = format!("not pushed to {}, {why}", standing.url);
    format!("  {}\n", paint.by(Style::Error, &printable(&what)))
}

/// Where the status is asked for.
struct Here<'a> {
    /// The remote of a clone.
    remote: Option<&'a str>,
    /// How the branches of other repositories are there, on the server.
    destinations: Option<&'a [Standing]>,
    /// Whether a clone may not fetch.
    is_offline: bool,
    /// Whether it is said where nothing recorded says why a branch is behind.
    asks_why: bool,
    /// Whether a platform runs the server.
    is_of_platform: bool,
    /// The remote, where the settings of this clone are not pushed to it.
    unpushed: Option<&'a str>,
    /// Whether it is a clone that lost its remote.
    is_cut_off: bool,
}

fn text(branches: &[BranchStatus], here: &Here<'_>, wrong: &mut Wrong, paint: Paint) -> String {
    let mut gone = Gone::new(here.remote);
    let width = branches.iter().map(|status| status.branch.len()).max().unwrap_or_default();
    let mut text = header(branches, width, paint);
    for status in branches {
        let dry = status.dry_sha.as_deref().map_or("nothing yet", short);
        let from = match status.state {
            BranchState::Missing => format!("of {}", printable(&status.dry_branch)),
            _ => {
                // What no tag, range or commit led to yet is of the dry branch.
                let follows =
                    status.follows.as_ref().filter(|follows| follows.shown.is_some()).map(ToString::to_string);
                let of = follows.as_deref().unwrap_or(&status.dry_branch);
                format!("{} of {}", paint.by(Style::Id, dry), printable(of))
            }
        };
        let style = if status.is_current() && status.frozen.is_none() { Style::Added } else { Style::Warning };
        let branch = printable(&status.branch);
        let branch = paint.by(Style::Branch, &branch);
        let at = paint.by(Style::Id, short(&status.tip)).to_string();
        let elsewhere = match status.state {
            BranchState::Hydrated | BranchState::Missing | BranchState::NotMade => None,
            BranchState::NotHydrated => Some("not made by hydration".to_owned()),
            BranchState::Promoted => Some(row::promoted(status)),
        };
        if let Some(what) = elsewhere {
            let at = match (status.state, &status.dry_sha) {
                (BranchState::Promoted, Some(_)) => from,
                _ => format!("at {at}"),
            };
            let what = paint.by(style, &printable(&what)).to_string();
            let _ = writeln!(text, "{branch:width$}  {at}, {what}{}", last_commit(status));
            text.push_str(&changed(status, paint));
            text.push_str(&not_there(status, here.destinations, paint));
            continue;
        }
        let behind = match status.changed_by_others.is_empty() {
            false if here.is_offline => {
                "newer than what was fetched of the records; to fetch them: git hydrate status".to_owned()
            }
            _ if here.is_cut_off && status.state == BranchState::Missing => "not in this clone".to_owned(),
            _ => row::state(status, here.is_of_platform),
        };
        let behind = match &status.frozen {
            Some(frozen) => format!("{behind}, {}", printable(&frozen.to_string())),
            None => behind,
        };
        let _ = writeln!(text, "{branch:width$}  {from}  {}{}", paint.by(style, &behind), last_commit(status));
        text.push_str(&gone.cure(status));
        text.push_str(&not_there(status, here.destinations, paint));
        if let Some(tools) = &status.tools {
            let _ = writeln!(text, "  {}", paint.by(Style::Warning, &tools.to_string()));
        }
        for path in &status.paths_behind {
            let style = if path.paused { Style::Warning } else { Style::Error };
            let _ = writeln!(text, "  {}", paint.by(style, &printable(&path.to_string())));
        }
        for held in status.held.iter().filter(|held| !held.is_among(&status.paths_behind)) {
            let _ = writeln!(text, "  {}", paint.by(Style::Warning, &printable(&held.to_string())));
        }
        if let Some(problem) = status.follows.as_ref().and_then(|follows| follows.problem.as_ref()) {
            let hint = problem.hint.as_ref().map(|hint| format!(": {hint}")).unwrap_or_default();
            let line = format!("{}{hint}", problem.message);
            let _ = writeln!(text, "  {}", paint.by(Style::Warning, &printable(&line)));
        }
        text.push_str(&inputs(status));
        text.push_str(&cures::held(status, here.unpushed));
        if !here.is_offline {
            text.push_str(&changed(status, paint));
        }
        text.push_str(&misspelt(status, paint));
        if is_unexplained(status) && here.asks_why {
            text.push_str(
                "  nothing says why: a run is going on, or an admin finds the cause on the server with git hydrate doctor\n",
            );
        }
        text.push_str(&unnamed(status));
        if status.is_left || status.has_leftovers() || (status.state == BranchState::Missing && !status.is_named) {
            continue;
        }
        text.push_str(&wrong.of_branch(status, paint));
        text.push_str(&wrong.of_limits(status, paint));
    }
    text
}

/// What the columns are.
fn header(branches: &[BranchStatus], width: usize, paint: Paint) -> String {
    let (dry, state) = ("dry commit", "state");
    // As wide as `1a2b3c4 of main`.
    let of_dry = branches.iter().map(|status| "1a2b3c4 of ".len() + status.dry_branch.len()).max().unwrap_or_default();
    let line = format!("{:width$}  {dry:of_dry$}  {state}", "branch");
    format!("{}\n", paint.by(Style::Dim, &line))
}

/// How many recorded inputs of a branch are named; of more, `--json` has the names.
const INPUTS_MAX: usize = 5;

/// The recorded inputs that a branch rests on.
fn inputs(status: &BranchStatus) -> String {
    let names: BTreeSet<&str> = status.inputs.iter().map(|used| used.input.as_str()).collect();
    match names.len() {
        0 => String::new(),
        1..=INPUTS_MAX => names.iter().map(|name| format!("  uses {}\n", printable(name))).collect(),
        count => format!("  uses {count} recorded inputs: git hydrate status --json\n"),
    }
}

/// `, last commit: 1 object changed`; empty when no object was, and of a branch that is left as it is.
fn last_commit(status: &BranchStatus) -> String {
    let is_left = status.state == BranchState::Hydrated && (status.is_left || !status.is_named);
    let last = status.last_commit.as_ref().filter(|_| !is_left);
    last.map_or_else(String::new, |last| format!(", last commit: {}", last.objects.counts))
}

/// That a branch has probably another name than the one that was meant.
fn misspelt(status: &BranchStatus, paint: Paint) -> String {
    let Some(near) = &status.near else { return String::new() };
    let what = format!("new, and nearly the name of {near}: did you mean that one?");
    format!("  {}\n", paint.by(Style::Warning, &printable(&what)))
}

/// Whether a branch is behind, and no failure, limit, freeze or hold explains it. What an input that is waited for or a missing hook
/// keeps back is recorded nowhere, and what a limit keeps back on its own machine alone.
fn is_unexplained(status: &BranchStatus) -> bool {
    let is_behind = status.behind.is_some_and(|behind| behind > 0) && status.recorded_tip.is_none();
    is_behind && status.failures.is_empty() && status.limits.is_empty() && status.frozen.is_none() && !status.is_left
}

/// That a branch ends with something else than hydration made.
fn changed(status: &BranchStatus, paint: Paint) -> String {
    const SHOWN_MAX: usize = 3;
    let files: Vec<_> = status.changed_by_others.iter().take(SHOWN_MAX).map(|file| printable(file)).collect();
    if files.is_empty() {
        return String::new();
    }
    let more = if status.changed_by_others.len() > SHOWN_MAX { ", …" } else { "" };
    let tip = status.tip.get(..7).unwrap_or_default();
    let by = status.changed_by.as_deref().map(short).filter(|by| *by != tip);
    let by = by.map_or_else(String::new, |by| format!(", by {by}"));
    let what = format!("its tip {tip} is not what hydration made: it changes {}{more}{by}", files.join(", "));
    format!("  {}\n", paint.by(Style::Error, &what))
}
