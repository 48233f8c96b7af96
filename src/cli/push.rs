//! `git hydrate push`: the worker for hosts that run no hooks.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::bail;
use serde::Serialize;

use super::clone::remote_of;
use super::{Outcome, WrongUse, output, settings_folder};
use crate::argo::Patterns;
use crate::hydrate::{self, Report};
use crate::owners::settings_named::SETTINGS_REF_KEY;
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::Repository;
use crate::show::{Progress, Wording, summary};
use crate::tell::notify;
use crate::tell::outbox::Delivery;
use crate::tell::worker::{self, Done, Given, Orders, RefMove};
use dry_files::diag::more::listed;
use dry_files::diag::shell_word;

/// Hydrate what a remote has, and push the result: for hosts without hooks.
///
/// Does in a clone what the hook does on a server, for GitHub, GitLab and other hosts that run no hooks: fetches the
/// branches, notes and `refs/hydrate/*` of the remote, hydrates every dry commit that is not hydrated yet, and pushes
/// environment branches, notes and records. The commits have the same ids as those of a hook. Nothing of the working
/// tree is read, and no branch of the clone moves.
///
/// Any number of these may run at once, also beside a hook: each ref is pushed only if it is what was fetched, and
/// after a lost race everything is done again. A shallow clone is deepened: the whole history of the fetched branches
/// is fetched. A partial clone stays partial: what is read is fetched.
///
/// Where anyone who can push may write `refs/hydrate/*` and notes, they decide nothing: settings are those that
/// --settings or --settings-ref names, and branches are ours if their own commits say so. So protect the dry branches
/// and the environment branches.
///
/// Exit code: 0 pushed, or nothing to push; 1 a dry commit does not hydrate everywhere (the rest is pushed); 2 nothing
/// or not all could be pushed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SCHEMA)]
pub(super) struct Arguments {
    /// The remote; by default hydrate.remote, else the only one, else `origin`.
    remote: Option<String>,
    /// Use the settings in this directory, as `git hydrate config export` writes it.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "settings_ref")]
    settings: Option<PathBuf>,
    /// Use the settings in this branch of the remote, or ref below refs/hydrate/
    ///
    /// Only those who may change what is deployed may be able to push it. Its tree has the files that `git hydrate config
    /// export` writes, and no others. By default hydrate.settingsRef. Without any, only settings that hydration finds out
    /// by itself are used.
    #[arg(long, value_name = "REF")]
    settings_ref: Option<String>,
    /// Hydrate only environment branches that match this glob, or of which the sync branch does; can be repeated
    ///
    /// The others stay as they are, for other jobs: so several can share the work. Each branch gets the commits that one job for
    /// all would make.
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    /// Let this environment branch go back to the highest tag of its range that is there
    ///
    /// A branch whose Applications name a range of versions stays where it is when the tag that it shows is gone. It is named as a
    /// whole, or by the last part of its name.
    #[arg(long, value_name = "BRANCH")]
    resume: Option<String>,
    /// Push nothing; show what would be pushed.
    #[arg(long, short = 'n')]
    dry_run: bool,
    /// What `git push -o` gives the remote, such as ci.skip; can be repeated.
    #[arg(long, short = 'o', value_name = "OPTION")]
    push_option: Vec<String>,
}

/// What `--json` prints.
const SCHEMA: &str = "\
JSON:
  format                    1; another number when a field changes its meaning
  remote                    its name
  pushed                    whether the refs were pushed: false with --dry-run
  refs                      what moved: `ref`, `old` (absent for a new one), `new`
  destinations              other repositories that something was to be pushed to: `destination`, `url`, `delivered`,
                            `undelivered` (`branches`, `why`: away, refused or diverged, `reason`, `hint`)
  branches, problems, warnings, notes, unfinished
                            what was hydrated, as `git hydrate catch-up --json` has it
";

/// How many refs are named.
const SHOWN_MAX: usize = 12;

/// How long a process that lost a race waits at most, in milliseconds.
const WAIT_MAX: u64 = 3000;

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = super::repository(None)?;
    let orders = orders(arguments, &repository)?;
    super::check_owner(&repository, "push")?;
    let forever = |_: Duration| true;
    let lock = hydrate::lock(&repository, forever)?;
    let renderers = Renderers::from_config(&repository, &super::machine()?)?.without_run_limit();
    let progress = Progress::new();
    let done = worker::push(&repository, &orders, &renderers, &progress, &mut wait);
    progress.clear();
    drop(lock);
    if !orders.dry_run {
        let notified = match &done {
            Ok(done) => notify::notify(&repository, Ok((&done.report, true)), (&[], &done.destinations)),
            Err(error) => notify::notify(&repository, Err(&format!("{error:#}")), (&[], &[])),
        };
        notified.unwrap_or_else(|why| output::warn(&format!("warning: {why}")));
    }
    let done = done?;
    if json {
        output::print_json(&Answer::new(&orders, &done))?;
    } else {
        output::print(summary(&done.report, Wording::Terminal))?;
        output::print(pushed(&orders, &done.moves))?;
        output::delivered(&done.destinations, orders.dry_run)?;
    }
    if !orders.dry_run && !done.destinations.iter().all(Delivery::is_done) {
        bail!("not everything could be pushed to other repositories; the next run tries again");
    }
    if let Some((what, remedy)) = not_written(&orders.remote, &done.report.left_alone).filter(|_| !orders.dry_run) {
        bail!("{what}\nhint: {remedy}");
    }
    Ok(if done.report.is_success() { Outcome::Done } else { Outcome::Found })
}

fn orders(arguments: &Arguments, repository: &Repository) -> anyhow::Result<Orders> {
    let remote = match &arguments.remote {
        Some(name) if !repository.remotes().contains(name) => {
            let hint = "git remote add NAME URL";
            return Err(WrongUse(format!("there is no remote named `{name}`\nhint: {hint}")).into());
        }
        Some(name) => name.clone(),
        None => match remote_of(repository, "git hydrate push NAME, or for good: ")? {
            Some(name) => name,
            None => {
                let hint = "this command runs in a clone; on the server itself: git hydrate catch-up";
                return Err(WrongUse(format!("this repository has no remote to push to\nhint: {hint}")).into());
            }
        },
    };
    let named = arguments.settings_ref.clone().or_else(|| repository.config(SETTINGS_REF_KEY));
    let settings = match (&arguments.settings, named) {
        (Some(directory), _) => Given::Folder(settings_folder::read(directory)?),
        (None, Some(name)) => Given::Ref(name),
        (None, None) => Given::FoundOut,
    };
    if arguments.only.iter().any(String::is_empty) {
        return Err(
            WrongUse("--only is empty\nhint: leave it out to hydrate every environment branch".to_owned()).into()
        );
    }
    let only = match Patterns::new(&arguments.only) {
        Ok(only) => Some(only).filter(|_| !arguments.only.is_empty()),
        Err(error) => return Err(WrongUse(format!("--only: {error}")).into()),
    };
    Ok(Orders {
        remote,
        settings,
        only,
        resumed: arguments.resume.clone(),
        now: wall::now(),
        dry_run: arguments.dry_run,
        push_options: arguments.push_option.clone(),
    })
}

/// Waits a random part of a second, longer each time.
fn wait(tried: u32) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    let longest = (50u64 << tried.min(6)).min(WAIT_MAX);
    let chance = (u64::from(now) / 1000).wrapping_add(u64::from(std::process::id()) * 7919);
    std::thread::sleep(Duration::from_millis(chance % longest));
}

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    remote: &'a str,
    pushed: bool,
    refs: &'a [RefMove],
    /// Other repositories that something was to be pushed to.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    destinations: &'a [Delivery],
    #[serde(flatten)]
    report: &'a Report,
}

impl<'a> Answer<'a> {
    fn new(orders: &'a Orders, done: &'a Done) -> Self {
        let Done { moves, destinations, report } = done;
        Self { remote: &orders.remote, pushed: !orders.dry_run, refs: moves, destinations, report }
    }
}

/// That refs of the remote are such that nothing could be added to them, and the command that deletes them; none without any.
pub(super) fn not_written(remote: &str, names: &[&str]) -> Option<(String, String)> {
    let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let what =
        format!("what {remote} has in {} cannot be read: that was not pushed, all else was", words.join(" and "));
    let remedy = format!("git push {} --delete {}", shell_word(remote), names.join(" "));
    (!names.is_empty()).then_some((what, remedy))
}

/// What is said of the refs.
fn pushed(orders: &Orders, moves: &[RefMove]) -> String {
    let remote = &orders.remote;
    if moves.is_empty() {
        return format!("{remote} is up to date\n");
    }
    let name = |it: &RefMove| it.name.strip_prefix("refs/heads/").unwrap_or(&it.name).to_owned();
    let names = listed(moves.iter().map(name), SHOWN_MAX);
    let what = if orders.dry_run { "would push to" } else { "pushed to" };
    format!("{what} {remote}: {names}\n")
}
