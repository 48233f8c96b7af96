//! `git hydrate catch-up`: what a crash, an import or a new setting left behind.

use std::cell::RefCell;
use std::time::Instant;

use anyhow::Context as _;

use super::clone::is_server;
use super::{Outcome, WrongUse, output};
use crate::argo::BranchName;
use crate::discover::Discovery;
use crate::history::Pusher;
use crate::hydrate::{self, Again};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::setup::{Fetching, Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::Repository;
use crate::show::{self, Console, Logged, Progress, Waiting, Wording, summary};
use crate::tell::fetch::Fetches;
use crate::tell::forge::Teller;
use crate::tell::hook::Options;
use crate::tell::outbox::Delivery;
use crate::tell::{notify, outbox};
use dry_files::diag::chain;

/// Hydrate commits missed after a crash, import or settings change.
///
/// Hydrates all dry branches of this repository, however many commits they are ahead, and waits while another
/// hydration runs. Runs on the server, in the bare repository.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Print nothing.
    #[arg(long, short)]
    quiet: bool,
    /// Retry what failed, such as Applications that reached a limit of this machine
    ///
    /// An Application that lacks an input is not rendered again until its files change: --retry fetches the input, where
    /// `hydrate.fetch.*` allows that since. An Application that reached a limit, such as hydrate.renderTimeLimit, is not
    /// rendered again until its files, its document or the limits change. If the machine was busy then, it may succeed now.
    #[arg(long)]
    retry: bool,
    /// Hydrate every commit that a freeze held back, not only the newest
    ///
    /// When a branch is not frozen any more (setting `frozen`), its next hydration makes one commit, for the newest dry
    /// commit. With --every it makes one for each, as the setting `history` says.
    #[arg(long)]
    every: bool,
}

/// Hydrates all dry branches of this repository, however many commits they are ahead.
pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None)?;
    if !is_server(&repository) {
        let text = "this is not a server's repository: it is neither bare nor installed as one";
        let hint = "in a clone, `git hydrate` renders HEAD; the server runs: git hydrate catch-up";
        return Err(WrongUse(format!("{text}\nhint: {hint}")).into());
    }
    let Arguments { retry, every, .. } = *arguments;
    let Done { report, destinations } =
        match again(&repository, Ask { again: Again { retry, every }, ..Ask::default() }) {
            Ok(done) => done,
            // What this machine could not do now it may do another time: no fault of how it was called.
            Err(error) if error.downcast_ref().is_some_and(HydrateError::is_of_machine) => {
                output::complain(&format!("{error:#}"));
                return Ok(Outcome::Found);
            }
            Err(error) => return Err(error),
        };
    if json {
        output::print_json(&Done { report: report.clone(), destinations: destinations.clone() })?;
    } else if !arguments.quiet {
        output::print(summary(&report, Wording::Terminal))?;
        output::delivered(&destinations, false)?;
    }
    Ok(if report.is_success() && destinations.iter().all(Delivery::is_done) { Outcome::Done } else { Outcome::Found })
}

/// Hydrates everything that is not hydrated yet, and waits for its turn.
pub(super) fn all(repository: &Repository) -> anyhow::Result<hydrate::Report> {
    reported(again(repository, Ask::default())?)
}

/// Hydrates everything as [`all`] does, after a preview that has found out what is in dry trees.
pub(super) fn after(repository: &Repository, discovery: &RefCell<Discovery>) -> anyhow::Result<hydrate::Report> {
    reported(again(repository, Ask { discovery: Some(discovery), ..Ask::default() })?)
}

/// Hydrates everything as [`all`] does; `branch` may go back to a lower tag of its range.
pub(super) fn resumed(repository: &Repository, branch: &BranchName) -> anyhow::Result<hydrate::Report> {
    reported(again(repository, Ask { resumed: Some(branch), ..Ask::default() })?)
}

/// What was hydrated; what was not delivered is said.
fn reported(Done { report, destinations }: Done) -> anyhow::Result<hydrate::Report> {
    output::undelivered(&destinations);
    Ok(report)
}

/// What a run is asked for.
#[derive(Clone, Copy, Default)]
struct Ask<'a> {
    again: Again,
    /// The branch that may go back to a lower tag of its range.
    resumed: Option<&'a BranchName>,
    discovery: Option<&'a RefCell<Discovery>>,
}

/// What was done.
#[derive(serde::Serialize)]
struct Done {
    #[serde(flatten)]
    report: hydrate::Report,
    /// Other repositories that something was to be pushed to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    destinations: Vec<Delivery>,
}

fn again(repository: &Repository, ask: Ask<'_>) -> anyhow::Result<Done> {
    super::check_owner(repository, "catch-up")?;
    let mut teller = Teller::of_admin(repository);
    let report = fetched(repository, ask, &mut teller);
    if report.is_ok()
        && let Err(why) = teller.tell_all(repository)
    {
        output::warn(&format!("warning: {why}"));
    }
    let destinations = outbox::deliver_all(repository, outbox::Ask::All, wall::now());
    let delivered = destinations.as_deref().unwrap_or_default();
    let notified = match &report {
        Ok(report) => notify::notify(repository, Ok((report, true)), (&[], delivered)),
        Err(error) => notify::notify(repository, Err(&format!("{error:#}")), (&[], delivered)),
    };
    if let Err(why) = notified {
        output::warn(&format!("warning: {why}"));
    }
    Ok(Done { report: report?, destinations: destinations.context("pushing to other repositories")? })
}

/// Hydrates again, with what can be fetched for it.
fn fetched(repository: &Repository, ask: Ask<'_>, teller: &mut Teller) -> anyhow::Result<hydrate::Report> {
    let fetches = Fetches::of(repository, true);
    loop {
        let fetching = fetches.as_ref().map(|fetches| fetches as &dyn Fetching);
        let (error, fetches) = match (locked(repository, ask, teller, fetching), &fetches) {
            (Err(error), Some(fetches)) => (error, fetches),
            (done, _) => return done,
        };
        match error.downcast_ref() {
            Some(HydrateError::Lacks(wanted)) => fetches.fetch(wanted, &mut |text| output::warn(&text))?,
            _ => return Err(error),
        }
    }
}

/// Hydrates again under the lock of the repository.
fn locked(
    repository: &Repository,
    ask: Ask<'_>,
    teller: &mut Teller,
    fetching: Option<&dyn Fetching>,
) -> anyhow::Result<hydrate::Report> {
    let started = Instant::now();
    let mut console = Console::new();
    let text = "waiting for the hydration of another process; to see which: git hydrate doctor";
    let mut waiting = Waiting::new(&mut console, text.to_owned());
    let _lock = hydrate::lock(repository, |waited| {
        waiting.report(waited);
        true
    })?;
    let before = repository.refs()?;
    let renderers = Renderers::from_config(repository, &super::machine()?)?.without_run_limit();
    let progress = Progress::new();
    let setup = Setup {
        observer: &progress,
        fetching,
        resumed: ask.resumed,
        discovery: ask.discovery,
        ..Setup::new(repository, Place::server(), Wake::Everything, &renderers, wall::now())
    };
    let report = hydrate::hydrate_again(&setup, ask.again);
    progress.clear();
    let report = report?;
    if let Err(why) = teller.queue(repository, &before, &report) {
        output::warn(&format!("warning: {why}"));
    }
    // Who waits for this run to end reads what it says of his push.
    if let Err(error) = Pusher::new(&[], &report, repository).exchange() {
        output::warn(&format!("warning: what is said of pushes is not handed on: {}", chain(&error)));
    }
    let run = Logged { pusher: None, took: started.elapsed(), pushed: &[], report: &report };
    if let Some(path) = Options::read(repository).log
        && let Err(error) = show::log(&path, repository, &run)
    {
        output::warn(&show::unlogged(&path, &error));
    }
    Ok(report)
}
