//! `post-receive`: hydrates after a push.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dry_files::diag::{Diagnostic, chain, printable};
use dry_files::path::RepoPath;

use super::{Options, STDIN_BYTES_MAX, namespace, notify, ref_update, tell};
use crate::git::{Error, Location, Lock, ObjectBuffer, ObjectId, Refs, Repository};
use crate::hydrate::{self, HydrateError, Outcome, RefNames, RefUpdate, Report, Setup, Wake};
use crate::render::{Machine, Renderers};
use crate::report::{self, Console, Waiting, Wording, summary, wrap};
use crate::settings::SETTINGS_REF;
use crate::wall::{self, USED, VARIABLE};
use crate::worker::{self, Ask, Delivery};

/// Runs as `post-receive` in the repository at `git_dir`: hydrates what is not hydrated yet and tells the pusher.
///
/// `stdin` has git's lines `<old> <new> <ref>`. They only say that something happened; what is hydrated is what is in the
/// repository when the lock is ours. The answer is whether the tips of all dry branches are hydrated. The push
/// stays whatever happens here.
pub fn post_receive(git_dir: &Path, stdin: impl Read, machine: &Machine) -> bool {
    let mut console = Console::new();
    outlive_the_pusher();
    match run(git_dir, stdin, machine, &mut console) {
        Ok(Hydrated { report, pushed, updates, repository }) => {
            let is_success = report.is_success();
            let is_touched = |path: &RepoPath| touches(&updates, path, &repository);
            let shown = concerning(report.clone(), &pushed, &is_touched);
            if !shown.is_empty() {
                console.print(&summary(&shown, Wording::Pusher));
            }
            if let Err(why) = tell::tell(&repository) {
                console.print(&wrap(&format!("warning: {why}"), "  "));
            }
            let deliveries = deliver(&repository, &mut console);
            notify_of(&repository, Ok(&report), deliveries.as_deref().unwrap_or_default(), &mut console);
            is_success && deliveries.is_some_and(|deliveries| deliveries.iter().all(Delivery::is_done))
        }
        Err(error) => {
            let why = chain(&error).lines().map(printable).collect::<Vec<_>>().join("\n");
            if let Ok(repository) = Repository::open(git_dir, Location::Hook) {
                notify_of(&repository, Err(&why), &[], &mut console);
            }
            console.print(&wrap(&format!("error: hydration failed: {why}"), "  "));
            let hint = match &error {
                _ if is_denied(&error) => {
                    "hint: the push was accepted; an admin finds the cause with `git hydrate doctor` on the\n  server"
                }
                HydrateError::Settings(_) | HydrateError::Template(_) => {
                    "hint: the push was accepted; nothing is hydrated until an admin corrects the settings on the\n  server: \
                     git hydrate config edit"
                }
                _ => "hint: the push was accepted; the next push, or `git hydrate catch-up`,\n  hydrates it",
            };
            console.print(hint);
            false
        }
    }
}

/// Pushes to other repositories what was hydrated for them. None when that is not known.
fn deliver(repository: &Repository, console: &mut Console) -> Option<Vec<Delivery>> {
    if tell::is_telling() {
        return Some(Vec::new());
    }
    let deliveries = match worker::deliver_all(repository, Ask::Changed, wall::now()) {
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

/// Notifies the admin's command of a run.
fn notify_of(repository: &Repository, outcome: Result<&Report, &str>, deliveries: &[Delivery], console: &mut Console) {
    if let Err(why) = notify(repository, outcome, deliveries) {
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

/// What the pusher of these refs is shown: of a push of a tag or of a topic branch, nothing but what it changed after all; of
/// pinned Applications, those in files that it touched.
fn concerning(mut report: Report, pushed: &[String], is_touched: &dyn Fn(&RepoPath) -> bool) -> Report {
    let is_news = |warning: &Diagnostic| warning.span.as_ref().is_none_or(|span| is_touched(&span.path));
    report.warnings.retain(|warning| !warning.is_pinned() || is_news(warning));
    let is_of = |name: &String| {
        let branch = name.strip_prefix("refs/heads/");
        name == SETTINGS_REF || report.branches.iter().any(|status| branch == Some(&status.dry_branch))
    };
    if !pushed.iter().any(is_of) {
        report.branches.retain(|branch| is_new(&branch.outcome));
    }
    report
}

/// Whether the last run left a branch otherwise.
fn is_new(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Moved | Outcome::Failed { recorded: false, .. } => true,
        Outcome::Unchanged | Outcome::Frozen(_) | Outcome::Failed { recorded: true, .. } => false,
    }
}

/// What a run did.
struct Hydrated {
    report: Report,
    /// The refs that were pushed, symbolic ones resolved.
    pushed: Vec<String>,
    updates: Vec<RefUpdate>,
    repository: Repository,
}

/// Whether one of these updates changes a file; a change of settings may change what any file means.
fn touches(updates: &[RefUpdate], path: &RepoPath, repository: &Repository) -> bool {
    let buffer = ObjectBuffer::new(repository);
    let entry = |id: ObjectId| buffer.entry(buffer.commit(id)?.tree, path.as_str());
    for update in updates {
        let is_changed = match (update.old, update.new) {
            _ if update.name == SETTINGS_REF => true,
            (Some(old), Some(new)) => match (entry(old), entry(new)) {
                (Ok(old), Ok(new)) => old != new,
                _ => true,
            },
            (None, Some(new)) => entry(new).is_ok_and(|entry| entry.is_some()),
            (_, None) => false,
        };
        if is_changed {
            return true;
        }
    }
    false
}

fn run(git_dir: &Path, stdin: impl Read, machine: &Machine, console: &mut Console) -> Result<Hydrated, HydrateError> {
    let mut lines = String::new();
    // Bytes that are no text are no ref that we know; the wake-up counts all the same.
    drop(stdin.take(STDIN_BYTES_MAX).read_to_string(&mut lines));
    let repository = Repository::open(git_dir, Location::Hook)?;
    let namespace = namespace();
    let updates: Vec<RefUpdate> = lines.lines().filter_map(|line| ref_update(line, &namespace)).collect();
    let names: Vec<String> = updates.iter().map(|update| update.name.clone()).collect();
    if are_of_pull_requests(&names) {
        return Ok(Hydrated { report: Report::default(), pushed: names, updates, repository });
    }
    let options = Options::read(&repository);
    let asked = Instant::now();
    let patience = if tell::is_telling() { Duration::ZERO } else { options.lock_wait };
    let lock = match lock(&repository, patience, console)? {
        Some(lock) => lock,
        None if tell::is_telling() => {
            return Ok(Hydrated { report: Report::default(), pushed: names, updates, repository });
        }
        None => return Err(HydrateError::Locked),
    };
    let started = Instant::now();
    // After the wait it looks anew at what is there.
    let has_waited = started - asked > Duration::from_millis(10);
    let repository = if has_waited { Repository::open(git_dir, Location::Hook)? } else { repository };
    let refs = repository.refs()?;
    let pushed = pushed_branches(names.iter().map(String::as_str), &refs);
    let names: Vec<String> = names.iter().map(|name| refs.resolve(name).to_owned()).collect();
    let renderers = Renderers::from_config(&repository, machine)?;
    let setup = Setup {
        out_of_time: &|| started.elapsed() > options.budget,
        ..Setup::new(&repository, RefNames::server(), Wake::Pushed(pushed), &renderers, wall::now())
    };
    let report = match hydrate::fulfil(&repository, &refs)? {
        Some(report) => report,
        None => hydrate::hydrate_seen(&setup, refs)?,
    };
    if report.unfinished {
        catch_up(&repository, &machine.program)
            .map_err(|error| Error::new("starting the rest of the hydration", error))?;
    }
    if let Some(path) = &options.log
        && let Err(error) = report::log(path, repository.shared(), &report)
    {
        console.print(&wrap(&format!("warning: hydrate.log: {}: {error}", path.display()), "  "));
    }
    drop(lock);
    Ok(Hydrated { report, pushed: names, updates, repository })
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

/// Starts `git-hydrate catch-up` on its own: nothing of ours is open in it, so the push can end.
fn catch_up(repository: &Repository, program: &Path) -> std::io::Result<()> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(program);
    command.arg("catch-up").arg("--quiet").current_dir(repository.common_dir()).env_remove(VARIABLE).env_remove(USED);
    command.env_remove(tell::VARIABLE);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn().map(drop)
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
