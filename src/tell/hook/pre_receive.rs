//! `pre-receive`: refuses what must not go in.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::options::bad_guard;
use super::post_receive::pushed_branches;
use super::{Options, STDIN_BYTES_MAX, Strict, UnknownWord, access, input, namespace, ref_update};
use crate::argo::PatternError;
use crate::hydrate::{self, DAY, Judgement, Push, RefUpdate, Search};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::recorded::INPUTS_REF;
use crate::owners::setup::{Fetching, Setup, Wake};
use crate::render::process::wall::{self, Ended};
use crate::render::{Isolation, Machine, Renderers, Watch};
use crate::repo::{Error, Location, Quarantine, Refs, Repository};
use crate::show::{Console, diagnostics, wrap};
use crate::tell::fetch::{Early, Fetches};
use dry_files::diag::{Diagnostic, Refusal, Severity, chain, printable};

/// Runs as `pre-receive` in the repository at `git_dir`: answers whether git may accept the push, and tells the pusher why
/// not.
///
/// `stdin` has git's lines `<old> <new> <ref>`. Nothing is written when it is refused. When it cannot be determined whether
/// it touches what is guarded, it is refused: an admin who does not want that switches the guard off.
pub(crate) fn pre_receive(git_dir: &Path, stdin: impl Read, machine: &Machine) -> bool {
    let mut console = Console::new();
    match run(git_dir, stdin, machine, &mut console) {
        Ok(refusals) => {
            if !refusals.is_empty() {
                console.print(&diagnostics(refusals.iter()));
            }
            refusals.is_empty()
        }
        Err(Undecided::Refused) => false,
        Err(error) => {
            let text = format!("error: could not check this push: {}", chain(&error));
            console.print(&wrap(&text, "  "));
            let hint = match &error {
                Undecided::Setting(_) => {
                    "hint: an admin corrects it: `git hydrate doctor` on the server names the command"
                }
                _ => {
                    "hint: `git hydrate doctor` on the server explains why; to let pushes through: `git config hydrate.guard \
                     false`"
                }
            };
            console.print(&wrap(hint, "  "));
            false
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
enum Undecided {
    #[error(transparent)]
    Hydrate(#[from] HydrateError),
    #[error("hydrate.promoted: {0}")]
    Promoted(#[from] PatternError),
    #[error(transparent)]
    Setting(#[from] UnknownWord),
    #[error("reading what is pushed")]
    Input(#[from] std::io::Error),
    /// It was refused, and the reason was printed.
    #[error("refused")]
    Refused,
}

impl From<Error> for Undecided {
    fn from(error: Error) -> Self {
        Self::Hydrate(error.into())
    }
}

fn run(
    git_dir: &Path,
    stdin: impl Read,
    machine: &Machine,
    console: &mut Console,
) -> Result<Vec<Diagnostic>, Undecided> {
    let quarantine = Quarantine::of(|name| std::env::var_os(name));
    let repository = open(git_dir, quarantine.as_ref(), &machine.temp_dir)?;
    // On reftable a single one would keep this very push from going in.
    repository.clear_dead_locks();
    let (guard, strict) = (Options::read(&repository).guard, Strict::read(&repository)?);
    if let Some(warning) = bad_guard(&repository) {
        console.print(&wrap(&format!("warning: {warning}"), "  "));
    }
    let lines = input(stdin);
    let updates = updates(&lines, &namespace())?;
    let mut refs = repository.refs()?;
    let mut unusable = Vec::new();
    // Who may not push settings is told so by the guard, and not what is wrong with them.
    let may_set = !guard || access(&repository)?.may_set();
    for update in updates.iter().filter(|_| may_set) {
        unusable.extend(hydrate::unusable_settings(&repository, &refs, update)?);
    }
    if !unusable.is_empty() || !guard && strict.is_none() {
        return Ok(unusable);
    }
    if let Some(twice) = moved_twice(&updates) {
        return Ok(vec![twice]);
    }
    let site =
        Site { git_dir, quarantine: quarantine.as_ref(), machine, updates: &updates, is_strict: strict.is_some() };
    let mut renderers = Renderers::from_config(&repository, machine)?;
    let (mut died, mut search) = (None, Search::Here);
    if machine.isolation == Isolation::Alone {
        // What is not known yet is found by a process that may die of it, and so is what strict mode renders. Whatever becomes of
        // it, the guard has the last word.
        let asked = match strict {
            Some(_) => None,
            None => site.guarded(&repository, &refs, guard, &renderers, Search::Elsewhere)?,
        };
        if let Some(guarded) = asked {
            return Ok(guarded.refusals);
        }
        match wall::supervise(&machine.program, &["hook", "pre-receive"], Some(&lines))? {
            Ended::Exit(0) => return Ok(Vec::new()),
            Ended::Exit(_) => return Err(Undecided::Refused),
            Ended::Signal(signal) => died = Some(signal),
        }
        // That took its time.
        refs = repository.refs()?;
        renderers = renderers.apart();
        search = Search::NoOne;
    }
    let guarded = site.guarded(&repository, &refs, guard, &renderers, search)?;
    let Some(Guarded { refusals, after, pushed }) = guarded else { return Ok(Vec::new()) };
    if !refusals.is_empty() {
        return Ok(refusals);
    }
    let (Some(strict), Some(after)) = (strict, after) else { return Ok(Vec::new()) };
    if let Some(signal) = died {
        return Ok(undecided(&wall::died(signal), Vec::new(), &strict, console));
    }
    let before = setup(&repository, Wake::Pushed(Vec::new()), &renderers, &|| false);
    let mut pushed = pushed;
    match hydrate::released(&before, &after) {
        Ok(released) => pushed.extend(released),
        Err(error) => return Ok(undecided(&chain(&error), Vec::new(), &strict, console)),
    }
    match judge(&site, &before, (after, pushed), &strict, console) {
        Ok(judgement) => Ok(judged(judgement, &strict, console)),
        Err(error) => Ok(undecided(&chain(&error), Vec::new(), &strict, console)),
    }
}

/// A push, and where it arrives.
struct Site<'a> {
    git_dir: &'a Path,
    quarantine: Option<&'a Quarantine>,
    machine: &'a Machine,
    updates: &'a [RefUpdate],
    is_strict: bool,
}

/// What the guard says of a push.
struct Guarded {
    refusals: Vec<Diagnostic>,
    /// The repository as the push would leave it, and the branches that it moves, where that matters.
    after: Option<Repository>,
    pushed: Vec<String>,
}

impl Site<'_> {
    /// The repository as the push would leave it.
    fn after(&self) -> Result<Repository, Error> {
        let repository = open(self.git_dir, self.quarantine, &self.machine.temp_dir)?;
        Ok(repository.after(self.updates.iter().map(|update| (update.name.clone(), update.new))))
    }

    /// What the guard says; none where another process has to search for Applications.
    fn guarded(
        &self,
        repository: &Repository,
        refs: &Refs,
        guard: bool,
        renderers: &Renderers,
        search: Search,
    ) -> Result<Option<Guarded>, Undecided> {
        let before = setup(repository, Wake::Pushed(Vec::new()), renderers, &|| false);
        let is_moved = |update: &&RefUpdate| update.name.starts_with("refs/heads/") && update.new.is_some();
        let (mut pushed, mut after) = (Vec::new(), None);
        if self.is_strict || self.updates.iter().filter(is_moved).count() > 1 {
            let moved = self.after()?;
            pushed = pushed_branches(self.updates.iter().map(|update| update.name.as_str()), &moved.refs()?);
            after = Some(moved);
        }
        if !guard {
            let refusals = self.updates.iter().filter_map(|update| hydrate::stale(refs, update)).collect();
            return Ok(Some(Guarded { refusals, after, pushed }));
        }
        let setup_after = after.as_ref().map(|after| setup(after, Wake::Pushed(pushed.clone()), renderers, &|| false));
        let access = access(repository)?;
        match hydrate::guard(&before, setup_after.as_ref(), refs, self.updates, (&access, search)) {
            Ok(refusals) => Ok(Some(Guarded { refusals, after, pushed })),
            Err(HydrateError::NotSearched(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn setup<'a>(
    repository: &'a Repository,
    wake: Wake,
    renderers: &'a Renderers,
    out_of_time: &'a dyn Fn() -> bool,
) -> Setup<'a> {
    Setup { out_of_time, ..Setup::new(repository, Place::server(), wake, renderers, wall::now()) }
}

/// Hydrates what is pushed, in memory and within the time for it. What that needs from elsewhere, and may be fetched, is fetched
/// before the push is accepted, unless the push is refused anyway.
fn judge(
    site: &Site<'_>,
    before: &Setup<'_>,
    (mut after, pushed): (Repository, Vec<String>),
    strict: &Strict,
    console: &mut Console,
) -> Result<Judgement, HydrateError> {
    let fetches = Fetches::of(before.repository, false);
    let fetching = fetches.as_ref().map(|fetches| fetches as &dyn Fetching);
    let mut early = site.quarantine.map(|quarantine| Early::new(quarantine, site.updates));
    let mut time = strict.time_limit.saturating_sub(site.machine.used);
    loop {
        let started = Instant::now();
        let judgement = judge_once(site, (before, &after), &pushed, fetching, (strict, time))?;
        time = time.saturating_sub(started.elapsed());
        let has_to_fetch = !judgement.wanted.is_empty() && judgement.refusals.is_empty();
        match (&fetches, &mut early) {
            (Some(fetches), Some(early)) if has_to_fetch => {
                let mut say = |text: &str| console.print(text);
                fetches.fetch_early(&judgement.wanted, (&mut *early, &after), &mut say)?;
                early.hand_over(before.repository)?;
                after = site.after()?;
                if let Some(record) = early.record {
                    after = after.assuming(INPUTS_REF, Some(record));
                }
            }
            _ => return Ok(judgement),
        }
    }
}

fn judge_once(
    site: &Site<'_>,
    (before, after): (&Setup<'_>, &Repository),
    pushed: &[String],
    fetching: Option<&dyn Fetching>,
    (strict, time): (&Strict, Duration),
) -> Result<Judgement, HydrateError> {
    let started = Instant::now();
    let out_of_time = || started.elapsed() > time;
    let cancel = before.renderers.cancel_flag();
    let pushed = Wake::Pushed(pushed.to_vec());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let push = Push {
        before: &Setup { fetching, ..setup(before.repository, pushed.clone(), before.renderers, &out_of_time) },
        after: &Setup { fetching, ..setup(after, pushed, before.renderers, &out_of_time) },
        strictness: strict.strictness,
        latest: i64::try_from(now).unwrap_or(i64::MAX).saturating_add(DAY),
        quarantine: site.quarantine,
    };
    match Watch::start(site.machine.isolation, None).within(time, &cancel, || hydrate::judge(&push)) {
        Err(_) if cancel.load(Ordering::Relaxed) => Err(time_is_over(strict)),
        judged => judged,
    }
}

fn time_is_over(strict: &Strict) -> HydrateError {
    HydrateError::StrictTime { seconds: strict.time_limit.as_secs() }
}

/// What a push is refused for. Everything that was found is reported to the pusher, and so is what could not be judged.
fn judged(judgement: Judgement, strict: &Strict, console: &mut Console) -> Vec<Diagnostic> {
    let Judgement { refusals, warnings, undecided: unjudged, unseen, .. } = judgement;
    let warned = |diagnostic: Diagnostic| Diagnostic { severity: Severity::Warning, ..diagnostic };
    if let (true, true, Some(check)) = (refusals.is_empty(), !unseen.is_empty(), &strict.refusing_check) {
        let waits = unseen.iter().all(|diagnostic| diagnostic.refusal == Some(Refusal::Awaited));
        let (what, hint) = match waits {
            true => ("waits for an input", "push again once it can be fetched, or bring it along: git hydrate vendor"),
            false => ("is not rendered in time", "push again, push less at once, or have an admin raise the limit"),
        };
        let text = format!("check `{}`, which refuses pushes, cannot judge what {what}", printable(check));
        let others = unjudged.into_iter().map(warned).chain(warnings);
        return [Diagnostic::error(text).hint(hint)].into_iter().chain(others).collect();
    }
    if refusals.is_empty() && !unjudged.is_empty() {
        if !warnings.is_empty() {
            console.print(&diagnostics(warnings.iter()));
        }
        return undecided(&time_is_over(strict).to_string(), unjudged, strict, console);
    }
    let others: Vec<Diagnostic> = unjudged.into_iter().map(warned).chain(warnings).collect();
    match refusals.is_empty() {
        true if others.is_empty() => Vec::new(),
        true => {
            console.print(&diagnostics(others.iter()));
            Vec::new()
        }
        false => refusals.into_iter().chain(others).collect(),
    }
}

/// What becomes of a push that could not be checked, or not all of it: `unjudged` names what.
fn undecided(why: &str, unjudged: Vec<Diagnostic>, strict: &Strict, console: &mut Console) -> Vec<Diagnostic> {
    let text = format!("could not check this push: {why}");
    let hint = match &strict.refusing_check {
        Some(check) => Some(format!(
            "push what is expensive to render on its own, or ask an admin: check `{}`, which refuses pushes, has not judged all of \
             it, and hydrate.strictTimeLimit is the time for that",
            printable(check)
        )),
        None if strict.refuse_undecided => Some(
            "push again, or ask an admin: with hydrate.strictUndecided = accept, such a push is accepted".to_owned(),
        ),
        None => None,
    };
    if let Some(hint) = hint {
        return [Diagnostic::error(text).hint(hint)].into_iter().chain(unjudged).collect();
    }
    console.print(&wrap(&format!("warning: {text}"), "  "));
    if !unjudged.is_empty() {
        let warned = |diagnostic: Diagnostic| Diagnostic { severity: Severity::Warning, ..diagnostic };
        let unjudged: Vec<Diagnostic> = unjudged.into_iter().map(warned).collect();
        console.print(&diagnostics(unjudged.iter()));
    }
    Vec::new()
}

/// The repository with the objects of the push, which git keeps apart until it accepts them.
fn open(git_dir: &Path, quarantine: Option<&Quarantine>, temp_dir: &Path) -> Result<Repository, Error> {
    match quarantine {
        Some(quarantine) => Repository::open_quarantined(git_dir, quarantine, temp_dir),
        None => Repository::open(git_dir, Location::Hook),
    }
}

/// What git says would be updated, below `namespace`.
fn updates(lines: &[u8], namespace: &str) -> std::io::Result<Vec<RefUpdate>> {
    if lines.len() as u64 > STDIN_BYTES_MAX {
        return Err(std::io::Error::other("more refs than one push may update"));
    }
    let lines = lines.split(|byte| *byte == b'\n');
    Ok(lines.filter_map(|line| ref_update(&String::from_utf8_lossy(line), namespace)).collect())
}

/// A ref that the input has more than once: git moves it by the first line, whichever a hook would judge. A name with a line
/// break looks like that too.
fn moved_twice(updates: &[RefUpdate]) -> Option<Diagnostic> {
    let mut names = BTreeSet::new();
    let twice = updates.iter().find(|update| !names.insert(update.name.as_str()))?;
    let text = format!("`{}` is updated more than once in this push", printable(&twice.name));
    Some(Diagnostic::error(text).hint("push each ref once"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ref_that_is_there_twice_is_noticed() {
        let (zeros, id) = ("0".repeat(40), "1".repeat(40));
        let twice = |input: &str| moved_twice(&updates(input.as_bytes(), "").expect("short")).map(|it| it.message);
        let line = format!("{zeros} {id} refs/heads/main\n");
        assert_eq!(twice(&format!("{line}{zeros} {id} refs/heads/next\n")), None);
        let expected = Some("`refs/heads/main` is updated more than once in this push".to_owned());
        assert_eq!(twice(&format!("{line}{zeros} {zeros} refs/heads/main\n")), expected);
        // Git hands over the name of the second ref as it came: with a line break.
        assert_eq!(twice(&format!("{line}{zeros} {id} refs/heads/zz\n{zeros} {id} refs/heads/main\n")), expected);
    }

    #[test]
    fn every_ref_of_the_input_counts() {
        let (zeros, id) = ("0".repeat(40), "1".repeat(40));
        let input =
            format!("{zeros} {id} refs/heads/main\n{id} {zeros} refs/heads/a b\n{zeros} {id} refs/heads/\u{fc}");
        let found = updates(input.as_bytes(), "").expect("short");
        let found: Vec<_> =
            found.iter().map(|update| (update.name.as_str(), update.old.is_some(), update.new.is_some())).collect();
        let expected =
            [("refs/heads/main", false, true), ("refs/heads/a b", true, false), ("refs/heads/\u{fc}", false, true)];
        assert_eq!(found, expected);
        let input = b"0 1 refs/heads/\xff\n";
        assert_eq!(
            updates(&input[..], "refs/namespaces/a/").expect("short")[0].name,
            "refs/namespaces/a/refs/heads/\u{fffd}"
        );
    }
}
