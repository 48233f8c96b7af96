//! `pre-push` of a clone: renders what is pushed before it leaves.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read};

use dry_files::diag::{Diagnostic, chain, shell_word};

use super::STDIN_BYTES_MAX;
use super::options::PrePush;
use crate::argo::BranchName;
use crate::owners::error::HydrateError;
use crate::owners::failures::{FAILURES_REF, Failures};
use crate::owners::heads;
use crate::owners::place::Place;
use crate::owners::policy::Policy;
use crate::owners::recorded::KnownSources;
use crate::owners::settings_named;
use crate::owners::settings_named::SETTINGS_REF_KEY;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::preview::{Against, Preview, PreviewedBranch};
use crate::render::process::wall;
use crate::render::{Machine, Renderers};
use crate::repo::{Error, ObjectBuffer, ObjectId, Repository, object_id};
use crate::settings::{SETTINGS_REF, UNPUSHED_REF};
use crate::show::changes::{Changes, Detail, EnvironmentDiff, Form, text};
use crate::show::{Console, Paint, Progress, wrap};

/// A branch that is pushed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pushed {
    branch: BranchName,
    tip: ObjectId,
    /// What the remote has, as it reported to git: all zeros for a new branch.
    there: Option<ObjectId>,
}

/// Runs as `pre-push` of a clone: shows what the push will change in each environment, and answers whether it may go on.
///
/// `remote` is what git pushes to, a name or a URL, and `url` where that is. `stdin` has git's lines
/// `<local ref> <local id> <remote ref> <remote id>`: the commits that they name are hydrated in memory, whatever is in the
/// working tree, and compared with the environment branches as they were fetched last; where these do not show yet what the
/// remote has of the dry branch, with what that gives. A push to another remote than
/// that of the dry repository, of tags, or of branches from which nothing is hydrated, goes on without a word.
///
/// A push is never stopped because this fails.
pub(crate) fn pre_push(repository: Repository, remote: &str, url: &str, stdin: impl Read, machine: &Machine) -> bool {
    let mut console = Console::new();
    let mode = match PrePush::read(&repository) {
        Ok(PrePush::Off) => return true,
        Ok(mode) => mode,
        Err(wrong) => {
            console.print(&wrap(&format!("warning: {wrong}"), "  "));
            PrePush::Block
        }
    };
    match check(repository, remote, url, stdin, machine, &mut console) {
        Ok(None) => true,
        Ok(Some(_)) if mode == PrePush::Warn => true,
        Ok(Some(why)) => {
            console.print(&format!("error: push blocked: {why}"));
            console.print("hint: to push anyway: GIT_HYDRATE_SKIP=1 git push");
            console.print("hint: to warn instead of blocking: git config hydrate.prePush warn");
            false
        }
        Err(error) => {
            console.print(&wrap(&format!("warning: this push is not checked: {}", chain(&error)), "  "));
            if matches!(error, HydrateError::SettingsMissing { .. }) {
                console.print(&format!("hint: git fetch {} '+refs/hydrate/*:refs/hydrate/*'", shell_word(remote)));
            }
            true
        }
    }
}

/// Shows what each dry branch changes; answers why the push should not go on, where it should not.
fn check(
    repository: Repository,
    remote: &str,
    url: &str,
    stdin: impl Read,
    machine: &Machine,
    console: &mut Console,
) -> Result<Option<&'static str>, HydrateError> {
    let mut lines = String::new();
    // Bytes that are no text are no branch that we know.
    drop(stdin.take(STDIN_BYTES_MAX).read_to_string(&mut lines));
    let Some(remote) = dry_remote(&repository, remote, url) else { return Ok(None) };
    let prefix = repository.config("hydrate.localPrefix").unwrap_or_else(|| "hydrate".to_owned());
    let place = Place::client(&remote, &prefix);
    let (repository, place) = match repository.config(SETTINGS_REF_KEY) {
        Some(name) => settings_named::with_settings_of(repository, place, &name)?,
        None => (repository, place),
    };
    if is_unpushed(&repository)? && !pushes_settings(&lines) {
        let remote = shell_word(&remote);
        console
            .print("warning: the settings of this clone are not pushed: the server does not hydrate this push by them");
        console.print(&format!("hint: to have the server use them: git push {remote} {SETTINGS_REF}"));
    }
    // What the tags of the push lead to is shown with it.
    let tags = pushed_tags(&lines);
    let repository = tags.iter().fold(repository, |repository, (name, id)| repository.assuming(name, *id));
    let repository = &repository;
    let refs = repository.refs()?;
    let dry_branches = heads::dry_branches(repository, &place)?;
    let failures = Failures::read(&ObjectBuffer::new(repository), refs.get(FAILURES_REF))?;
    let renderers = Renderers::from_config(repository, machine)?;
    let paint = Paint::new(Some(repository), std::io::stderr().is_terminal());
    let progress = Progress::new();
    let sources = KnownSources::read(repository)?;
    let mut why_not = None;
    let mut all = pushed(repository, &lines)?;
    let is_dry = |pushed: &Pushed| dry_branches.contains(&pushed.branch);
    let buffer = ObjectBuffer::new(repository);
    if !tags.is_empty() && !all.iter().any(is_dry) && Policy::read(&refs, &buffer)?.follows {
        let fetched = dry_branches.iter().filter_map(|branch| Some((branch.clone(), place.tip(&refs, branch)?)));
        all.extend(fetched.map(|(branch, tip)| Pushed { branch, tip, there: None }));
    }
    for Pushed { branch, tip, there } in all {
        if !dry_branches.contains(&branch) && place.head(&refs).as_ref() != Some(&branch) {
            continue;
        }
        let setup = Setup {
            observer: &progress,
            fetching: Some(&sources),
            ..Setup::new(
                repository,
                place.clone(),
                Wake::Commit { branch: branch.clone(), tip },
                &renderers,
                wall::now(),
            )
        };
        let preview = preview::preview_commits(&setup, &Against::Branches);
        progress.clear();
        let preview = since(preview?, (&setup, &branch), there)?;
        progress.clear();
        let is_told = !preview.problems.is_empty() || preview.warnings.iter().any(Diagnostic::is_near_miss);
        if preview.environments.is_empty() && !is_told {
            continue;
        }
        let changes = Changes::new(preview, false);
        if let Some(removed) = removed(repository, tip, there) {
            console.print(&format!("warning: this push removes {removed} of {branch} from the remote"));
        }
        let form = Form { paint, wraps: console.is_terminal() };
        console.print_painted(&text(&changes, Detail::Environments, form), paint);
        // What is broken on the server already, and in the same way, is not the fault of this push.
        let is_open = |environment: &&EnvironmentDiff| environment.branch.frozen.is_none();
        let failed: Vec<&EnvironmentDiff> =
            changes.environments.iter().filter(is_open).filter(|environment| !environment.is_whole()).collect();
        // What the server fetches first is right as far as anybody can say here.
        let (waiting, failed): (Vec<_>, Vec<_>) = failed.into_iter().partition(|environment| environment.waits());
        if !waiting.is_empty() {
            let what = if waiting.len() == 1 {
                "1 environment waits"
            } else {
                &format!("{} environments wait", waiting.len())
            };
            console.print(&format!("note: {what} for what the server fetches after the push"));
        }
        let known = failed.iter().filter(|environment| is_known(environment, &failures)).count();
        if known > 0 {
            let what = if known == 1 { "1 of them did" } else { &format!("{known} of them did") };
            console.print(&format!("note: {what} not hydrate before, for the same reasons"));
        }
        if known < failed.len() {
            why_not = Some("this commit does not hydrate everywhere");
        } else if !changes.problems.is_empty() {
            why_not = why_not.or(Some("see the errors above"));
        }
    }
    Ok(why_not)
}

/// Shows what the push itself changes of each environment branch that, as it was fetched last, lacks what the remote
/// has of the dry branch already: what others pushed since the last fetch is not part of this push.
fn since(
    mut preview: Preview,
    (setup, branch): (&Setup<'_>, &BranchName),
    there: Option<ObjectId>,
) -> Result<Preview, HydrateError> {
    let Some(there) = there.filter(|there| setup.repository.has(*there)) else { return Ok(preview) };
    let shown = Some(there.to_string());
    if !preview.environments.iter().any(|environment| lacks(environment, &shown)) {
        return Ok(preview);
    }
    // A branch that the remote's commit cannot move still has what the commit before it gave.
    let wake = Wake::Commit { branch: branch.clone(), tip: there };
    let before = preview::preview(&Setup { place: setup.place.clone(), wake, ..*setup }, &Against::Branches)?;
    // One that the push names first has what its sync branch has.
    let moved: BTreeSet<&BranchName> =
        before.environments.iter().filter(|one| moves(one)).map(|one| &one.branch).collect();
    let of_push = preview::preview(setup, &Against::Commit(there))?;
    for environment in of_push.environments.into_iter().filter(|one| moved.contains(&one.branch)) {
        let mut known = preview.environments.iter_mut();
        if let Some(known) = known.find(|known| known.branch == environment.branch && lacks(known, &shown)) {
            *known = PreviewedBranch { dry_sha_before: shown.clone(), ..environment };
        }
    }
    Ok(preview)
}

/// Whether all of an environment would go to the dry commit that is previewed.
fn moves(environment: &PreviewedBranch) -> bool {
    environment.mistakes.is_empty() && environment.behind.iter().all(|path| path.paused)
}

/// Whether an environment would change, by more than what a dry commit that it does not show yet does.
fn lacks(environment: &PreviewedBranch, shown: &Option<String>) -> bool {
    let is_open = environment.frozen.is_none() && environment.mistakes.is_empty();
    is_open && !environment.paths.is_empty() && environment.dry_sha_before != *shown
}

/// Whether what fails in an environment is recorded on the server already.
fn is_known(environment: &EnvironmentDiff, failures: &Failures) -> bool {
    let branch = &environment.branch;
    let mistakes = if environment.renders() { &branch.failures } else { &branch.mistakes };
    failures.of(&branch.branch).iter().any(|failure| failure.diagnostics == *mistakes)
}

/// The remote that is pushed to, when it is the one of the dry repository.
fn dry_remote(repository: &Repository, remote: &str, url: &str) -> Option<String> {
    let dry = heads::dry_remote(repository)?;
    let same_url = repository.config(&format!("remote.{dry}.url")).is_some_and(|known| known == url);
    (remote == dry || same_url).then_some(dry)
}

/// Whether the settings that count here were changed in this clone and are not on the server.
fn is_unpushed(repository: &Repository) -> Result<bool, Error> {
    let refs = repository.refs()?;
    Ok(refs.get(UNPUSHED_REF).is_some_and(|ours| refs.get(SETTINGS_REF) == Some(ours)))
}

/// Whether the settings are among what is pushed.
fn pushes_settings(lines: &str) -> bool {
    lines.lines().any(|line| line.rsplit(' ').nth(1) == Some(SETTINGS_REF))
}

/// The commits that a forced push takes away: it is compared with the environments as they are, since that is what it undoes.
fn removed(repository: &Repository, tip: ObjectId, there: Option<ObjectId>) -> Option<String> {
    let there = there.filter(|there| !there.is_null() && !repository.is_ancestor(*there, tip))?;
    Some(match repository.count_beyond(tip, there) {
        Some(1) => "1 commit".to_owned(),
        Some(count) => format!("{count} commits"),
        None => "commits".to_owned(),
    })
}

/// The tags that are created, moved or deleted, by their full names.
fn pushed_tags(lines: &str) -> Vec<(String, Option<ObjectId>)> {
    let read = |line: &str| {
        let mut words = line.rsplitn(4, ' ');
        let (_, name, id) = (words.next()?, words.next()?, words.next()?);
        let id = object_id(id).filter(|id| !id.is_null());
        name.starts_with("refs/tags/").then(|| (name.to_owned(), id))
    };
    lines.lines().filter_map(read).collect()
}

/// The branches that are created or moved: no deletions and no tags.
fn pushed(repository: &Repository, lines: &str) -> Result<Vec<Pushed>, Error> {
    let mut found = Vec::new();
    for line in lines.lines() {
        // What is given as the local ref may contain spaces.
        let mut words = line.rsplitn(4, ' ');
        let (there, name, id) = (words.next(), words.next(), words.next());
        let there = there.and_then(object_id);
        let branch = name.and_then(|name| name.strip_prefix("refs/heads/")).and_then(|name| BranchName::new(name).ok());
        let tip = id.and_then(object_id).filter(|tip| !tip.is_null());
        if let (Some(branch), Some(tip)) = (branch, tip) {
            found.push(Pushed { branch, tip: repository.rev_parse(&tip.to_string())?, there });
        }
    }
    Ok(found)
}
