//! `post-receive`: hydrates after a push.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::successor::{self, Patience};
use super::{Options, STDIN_BYTES_MAX, access, namespace, ref_update};
use crate::argo::BranchName;
use crate::history::{Heard, Pusher};
use crate::hydrate::{self, RefUpdate, Report, SHOWING, naming_promoter};
use crate::owners::branch_records::{BranchRecords, RECORDS_REF};
use crate::owners::error::HydrateError;
use crate::owners::heads;
use crate::owners::place::Place;
use crate::owners::policy::{Policy, newest_usable};
use crate::owners::setup::{Fetching, Setup, Wake};
use crate::render::process::wall;
use crate::render::{Machine, Renderers};
use crate::repo::{Error, Location, Lock, ObjectBuffer, ObjectId, Refs, Repository};
use crate::settings::SETTINGS_REF;
use crate::show::{self, Console, Logged, PushedRef, Waiting, Wording, summary, wrap};
use crate::tell::fetch::{Fetches, accept_early, until_had};
use crate::tell::forge::{self, Teller, start_for_all};
use crate::tell::notify;
use crate::tell::outbox::{self, Ask, Delivery};
use dry_files::diag::{chain, printable};

/// Runs as `post-receive` in the repository at `git_dir`: hydrates what is not hydrated yet and tells the pusher.
///
/// `stdin` has git's lines `<old> <new> <ref>`. They only say that something happened; what is hydrated is what is in the
/// repository when the lock is ours. The answer is whether the tips of all dry branches are hydrated. The push
/// stays whatever happens here.
pub fn post_receive(git_dir: &Path, stdin: impl Read, machine: &Machine, patience: Patience) -> bool {
    let mut console = Console::new();
    outlive_the_pusher();
    match run(git_dir, stdin, (machine, patience), &mut console) {
        Ok(Hydrated { report, heard, updates, repository, teller }) => {
            let is_success = report.is_success();
            let pusher = Pusher::new(&updates, &report, &repository);
            let shown = pusher.told().map(|mut shown| {
                heard.join(&mut shown);
                shown
            });
            match shown {
                Ok(shown) if shown.is_empty() => {}
                Ok(shown) => console.print(&summary(&shown, Wording::Pusher)),
                Err(error) => {
                    let text = format!("warning: what came of this push is not known: {}", chain(&error));
                    console.print(&wrap(&text, "  "));
                    console.print("hint: `git hydrate status` shows how the branches are");
                }
            }
            if let Some(hint) = without_promoter(&repository, &report) {
                console.print(&wrap(&hint, "  "));
            }
            if let Err(why) = teller.map_or(Ok(()), |teller| teller.tell(&repository, &machine.program)) {
                console.print(&wrap(&format!("warning: {why}"), "  "));
            }
            let deliveries = deliver(&repository, &mut console);
            let outcome = Ok((&report, pusher.is_all_his()));
            let pushed = owned(&updates, &repository);
            notify_of(&repository, outcome, (&pushed, deliveries.as_deref().unwrap_or_default()), &mut console);
            is_success && deliveries.is_some_and(|deliveries| deliveries.iter().all(Delivery::is_done))
        }
        Err(Unhydrated { error, is_told, is_taken_up }) => {
            let why = chain(&*error).lines().map(printable).collect::<Vec<_>>().join("\n");
            if let Ok(repository) = Repository::open(git_dir, Location::Hook) {
                notify_of(&repository, Err(&why), (&[], &[]), &mut console);
            }
            if !is_told {
                return false;
            }
            console.print(&wrap(&format!("error: hydration failed: {why}"), "  "));
            console.print(&hint(&error, is_taken_up, git_dir));
            false
        }
    }
}

/// What to do where a push is not hydrated.
fn hint(error: &HydrateError, is_taken_up: bool, git_dir: &Path) -> String {
    match error {
        _ if is_denied(error) => {
            "hint: the push was accepted, and no push is hydrated until the user that git runs as on the\n  server may write \
             there: an admin finds how with `git hydrate doctor`"
                .to_owned()
        }
        HydrateError::Settings(_) | HydrateError::Template(_) => {
            let usable = Repository::open(git_dir, Location::Hook).ok().and_then(|it| newest_usable(&it).ok()?);
            let back = usable.map(|id| {
                format!(
                    "\nhint: to go back to the newest settings that can be used:\n  git update-ref {SETTINGS_REF} {id}"
                )
            });
            let hint = "hint: the push was accepted; nothing is hydrated until an admin corrects the settings on the\n  server: \
                        git hydrate config edit";
            format!("{hint}{}", back.unwrap_or_default())
        }
        HydrateError::Locked if is_taken_up => {
            "hint: the push was accepted; it is hydrated as soon as what runs now ends, and `git hydrate status`\n  \
             shows what came of it"
                .to_owned()
        }
        _ => "hint: the push was accepted; the next push, or `git hydrate catch-up`,\n  hydrates it".to_owned(),
    }
}

/// How an account may promote to the branches that a run started, where the guard keeps everybody from it.
fn without_promoter(repository: &Repository, report: &Report) -> Option<String> {
    let started: Vec<BranchName> = report.started.iter().filter_map(|branch| BranchName::new(branch).ok()).collect();
    let access = access(repository).ok()?;
    let closed: Vec<&BranchName> = started.iter().filter(|branch| access.is_closed(branch)).collect();
    let to = match (closed.first()?, access.promoters.is_empty()) {
        (_, true) => "yet; an admin names one".to_owned(),
        (branch, false) => format!("to {branch}; an admin names it"),
    };
    let commands = naming_promoter(&access, &closed, "git");
    let hint = || format!("hint: no account may promote {to} on the server: {commands} && {SHOWING}");
    Options::read(repository).guard.then(hint)
}

/// Pushes to other repositories what was hydrated for them. None when that is not known.
fn deliver(repository: &Repository, console: &mut Console) -> Option<Vec<Delivery>> {
    if forge::is_telling() {
        return Some(Vec::new());
    }
    let deliveries = match outbox::deliver_all(repository, Ask::Changed, wall::now()) {
        Ok(deliveries) => deliveries,
        Err(error) => {
            console.print(&wrap(&format!("warning: other repositories get nothing now: {}", error.chain()), "  "));
            return None;
        }
    };
    for delivery in &deliveries {
        if let Some(pushed) = delivery.pushed(false) {
            console.print(&wrap(&pushed, "  "));
        }
        for (warning, hint) in delivery.warnings() {
            console.print(&wrap(&format!("warning: {warning}"), "  "));
            console.print(&wrap(&format!("hint: {hint}"), "  "));
        }
    }
    Some(deliveries)
}

/// Whether a file that may not be written or read is in the way, as it is of the next run too.
fn is_denied(error: &(dyn std::error::Error + 'static)) -> bool {
    let denied = |error: &(dyn std::error::Error + 'static)| {
        let io = error.downcast_ref::<std::io::Error>();
        io.is_some_and(|io| io.kind() == std::io::ErrorKind::PermissionDenied)
    };
    std::iter::successors(Some(error), |error| error.source()).any(denied)
}

/// Notifies the admin's command of a run: of its report, and whether all of that came of this push; or of why there is none.
fn notify_of(
    repository: &Repository,
    outcome: Result<(&Report, bool), &str>,
    moved: (&[PushedRef], &[Delivery]),
    console: &mut Console,
) {
    if let Err(why) = notify::notify(repository, outcome, moved) {
        console.print(&wrap(&format!("warning: {why}"), "  "));
    }
}

/// A pusher's Ctrl-C reaches us over a local transport; what was begun is finished all the same.
fn outlive_the_pusher() {
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGHUP] {
        // Without it a push that is interrupted is made up for by the next one.
        drop(signal_hook::flag::register(signal, Arc::new(AtomicBool::new(false))));
    }
}

/// What a run did.
struct Hydrated {
    report: Report,
    /// What earlier runs said of what was pushed.
    heard: Heard,
    /// What was pushed, symbolic refs resolved.
    updates: Vec<RefUpdate>,
    repository: Repository,
    /// What notifies the platform; none where nothing was looked at.
    teller: Option<Teller>,
}

impl Hydrated {
    fn nothing(updates: &[RefUpdate], repository: Repository) -> Self {
        let (report, heard) = (Report::default(), Heard::default());
        Self { report, heard, updates: updates.to_vec(), repository, teller: None }
    }
}

/// Why nothing was hydrated.
struct Unhydrated {
    error: Box<HydrateError>,
    /// Whether that is any business of the pusher.
    is_told: bool,
    /// Whether another process goes on.
    is_taken_up: bool,
}

fn run(
    git_dir: &Path,
    stdin: impl Read,
    (machine, patience): (&Machine, Patience),
    console: &mut Console,
) -> Result<Hydrated, Unhydrated> {
    let mut lines = String::new();
    // Bytes that are no text are no ref that we know; the wake-up counts all the same.
    drop(stdin.take(STDIN_BYTES_MAX).read_to_string(&mut lines));
    let namespace = namespace();
    let updates: Vec<RefUpdate> = lines.lines().filter_map(|line| ref_update(line, &namespace)).collect();
    match hydrated(git_dir, &updates, (machine, patience), console) {
        Ok(hydrated) => Ok(hydrated),
        Err(error) => {
            let repository = Repository::open(git_dir, Location::Hook).ok();
            let asks = |repository| asks_for_hydration(&updates, repository);
            let is_told = updates.is_empty() || repository.as_ref().is_none_or(asks);
            let is_taken_up = match (&error, &repository) {
                (HydrateError::Locked, Some(repository)) => {
                    successor::start(repository, &machine.program, &lines).is_ok()
                }
                _ => false,
            };
            Err(Unhydrated { error: Box::new(error), is_told, is_taken_up })
        }
    }
}

/// Whether anything that was pushed is hydrated, or decides how: else the pusher has nothing to do with what fails.
fn asks_for_hydration(updates: &[RefUpdate], repository: &Repository) -> bool {
    let Ok(dry_branches) = heads::dry_branches(repository, &Place::server()) else { return true };
    let Ok(refs) = repository.refs() else { return true };
    let is_dry =
        |name: &str| dry_branches.iter().any(|branch| name.strip_prefix("refs/heads/") == Some(branch.as_str()));
    let follows = || Policy::read(&refs, &ObjectBuffer::new(repository)).is_ok_and(|policy| policy.follows);
    let is_tag = |name: &str| name.starts_with("refs/tags/") && follows();
    let is_asking =
        |update: &RefUpdate| update.name == SETTINGS_REF || is_dry(refs.resolve(&update.name)) || is_tag(&update.name);
    dry_branches.is_empty() || updates.iter().any(is_asking)
}

fn hydrated(
    git_dir: &Path,
    updates: &[RefUpdate],
    (machine, patience): (&Machine, Patience),
    console: &mut Console,
) -> Result<Hydrated, HydrateError> {
    let repository = Repository::open(git_dir, Location::Hook)?;
    let turn = match patience {
        Patience::Limited => None,
        Patience::Endless => match successor::turn(&repository)? {
            None => return Ok(Hydrated::nothing(updates, repository)),
            turn => turn,
        },
    };
    let names: Vec<String> = updates.iter().map(|update| update.name.clone()).collect();
    if are_of_pull_requests(&names) {
        return Ok(Hydrated::nothing(updates, repository));
    }
    let fetches = Fetches::of(&repository, false);
    let teller = Teller::of_push(&repository, &resolved(updates, &repository.refs()?));
    let asked = Instant::now();
    let mut push = Push { git_dir, updates, names, machine, patience, turn, asked, teller: Some(teller) };
    let (mut first, console) = (Some(repository), RefCell::new(console));
    let mut say = |text: &str| console.borrow_mut().print(text);
    until_had(fetches.as_ref(), &mut say, |fetching| {
        let repository = first.take().map_or_else(|| Repository::open(git_dir, Location::Hook), Ok)?;
        push.hydrate(repository, fetching, &mut console.borrow_mut())
    })
}

/// A push that is hydrated.
struct Push<'p> {
    git_dir: &'p Path,
    updates: &'p [RefUpdate],
    /// The names of the refs that it moved.
    names: Vec<String>,
    machine: &'p Machine,
    patience: Patience,
    /// The right to wait, of a successor that has not looked at the refs yet.
    turn: Option<Lock>,
    /// When it came.
    asked: Instant,
    /// What notifies the platform, until it is done.
    teller: Option<Teller>,
}

impl Push<'_> {
    /// Hydrates under the lock of the repository. Nothing has moved where inputs have to be fetched first.
    fn hydrate(
        &mut self,
        repository: Repository,
        fetching: Option<&dyn Fetching>,
        console: &mut Console,
    ) -> Result<Hydrated, HydrateError> {
        let Self { git_dir, updates, names, machine, patience, turn, asked, teller } = self;
        let options = Options::read(&repository);
        let wanted = Instant::now();
        let patience = match patience {
            _ if forge::is_telling() => Duration::ZERO,
            Patience::Limited => options.lock_wait,
            Patience::Endless => Duration::MAX,
        };
        let lock = match lock(&repository, patience, console)? {
            Some(lock) => lock,
            None if forge::is_telling() => return Ok(Hydrated::nothing(updates, repository)),
            None => return Err(HydrateError::Locked),
        };
        // Who comes now waits for this run to end.
        drop(turn.take());
        let started = Instant::now();
        // After the wait it looks anew at what is there.
        let has_waited = started - wanted > Duration::from_millis(10);
        let repository = if has_waited { Repository::open(git_dir, Location::Hook)? } else { repository };
        accept_early(&repository, updates)?;
        let refs = repository.refs()?;
        let pushed = pushed_branches(names.iter().map(String::as_str), &refs);
        let updates = resolved(updates, &refs);
        let renderers = Renderers::from_config(&repository, machine)?;
        let pusher = access(&repository).ok().and_then(|access| access.pusher);
        let setup = Setup {
            pusher: pusher.as_deref(),
            fetching,
            out_of_time: &|| started.elapsed() > options.budget,
            ..Setup::new(&repository, Place::server(), Wake::Pushed(pushed), &renderers, wall::now())
        };
        let report = match hydrate::fulfil(&repository, &refs, setup.pusher)? {
            Some(report) => report,
            None => hydrate::hydrate_seen(&setup, refs.clone())?,
        };
        if let Some(Err(why)) = teller.as_mut().map(|teller| teller.queue(&repository, &refs, &report)) {
            console.print(&wrap(&format!("warning: {why}"), "  "));
        }
        let heard = Pusher::new(&updates, &report, &repository).exchange().unwrap_or_else(|error| {
            console.print(&wrap(&format!("warning: what is said of pushes is not handed on: {}", chain(&error)), "  "));
            Heard::default()
        });
        if report.unfinished {
            start_for_all(&repository, &machine.program, &["catch-up", "--quiet"])
                .map_err(|error| Error::new("starting the rest of the hydration", error))?;
        }
        if let Some(path) = &options.log
            && let Err(error) = {
                let (pusher, took, pushed) = (setup.pusher, asked.elapsed(), owned(&updates, &repository));
                show::log(path, &repository, &Logged { pusher, took, pushed: &pushed, report: &report })
            }
        {
            console.print(&wrap(&show::unlogged(path, &error).to_string(), "  "));
        }
        drop(lock);
        Ok(Hydrated { report, heard, updates, repository, teller: teller.take() })
    }
}

/// What a push moved of what hydration owns: a branch that was promoted to, or the settings. Where records cannot be read, the
/// report says so.
fn owned(updates: &[RefUpdate], repository: &Repository) -> Vec<PushedRef> {
    let (Ok(refs), buffer) = (repository.refs(), ObjectBuffer::new(repository)) else { return Vec::new() };
    let records = refs.get(RECORDS_REF).and_then(|tip| BranchRecords::read(tip, &buffer).ok()).unwrap_or_default();
    let branch = |name: &str| name.strip_prefix("refs/heads/").and_then(|name| BranchName::new(name).ok());
    let is_owned = |name: &str| name == SETTINGS_REF || branch(name).is_some_and(|it| records.get(&it).is_some());
    let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
    let owned = updates.iter().filter(|update| is_owned(&update.name));
    let pusher = access(repository).ok().and_then(|access| access.pusher);
    let pushed = |it: &RefUpdate| PushedRef {
        name: it.name.clone(),
        old: text(it.old),
        new: text(it.new),
        pusher: pusher.clone(),
    };
    owned.map(pushed).collect()
}

/// What was pushed, symbolic refs resolved.
fn resolved(updates: &[RefUpdate], refs: &Refs) -> Vec<RefUpdate> {
    let resolved = |update: &RefUpdate| RefUpdate { name: refs.resolve(&update.name).to_owned(), ..update.clone() };
    updates.iter().map(resolved).collect()
}

/// Whether these refs are the heads of pull requests, which Gitea and Forgejo push here themselves, while they take in a push of
/// branches and before they run us for that: a pusher waits for it, and nothing is hydrated from them.
fn are_of_pull_requests(pushed: &[String]) -> bool {
    !pushed.is_empty() && pushed.iter().all(|name| name.starts_with("refs/pull/"))
}

/// The branches that were pushed, symbolic refs resolved, without those that were deleted. `names` are those of refs.
pub(super) fn pushed_branches<'n>(names: impl IntoIterator<Item = &'n str>, refs: &Refs) -> Vec<String> {
    let names: BTreeSet<&str> = names.into_iter().collect();
    let branches = names.into_iter().filter_map(|name| refs.resolve(name).strip_prefix("refs/heads/"));
    branches.filter(|branch| refs.branch(branch).is_some()).map(str::to_owned).collect()
}

/// Takes the lock of the repository. Says so where the pusher has to wait for it.
fn lock(repository: &Repository, patience: Duration, console: &mut Console) -> Result<Option<Lock>, Error> {
    let mut waiting = Waiting::new(console, "waiting for the hydration of another push …".to_owned());
    hydrate::lock(repository, |waited| {
        waiting.report(waited);
        waited < patience
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_no_branches_are_passed_over() {
        let refs = Refs::default();
        for name in ["", "garbage", "refs/heads/gone", "refs/tags/v1"] {
            assert!(pushed_branches([name], &refs).is_empty(), "{name:?}");
        }
    }
}
