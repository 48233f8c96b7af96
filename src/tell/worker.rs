//! A hook without a server: hydrates a clone of a repository whose host runs no hooks, and pushes what came of it.
//!
//! The refs of the remote are fetched to a place of their own in the clone ([`copy`]), where hydration works as it does in a
//! server's repository: the commits are the same, ids included. What it moved there is then pushed ([`moves`], `deliver`),
//! each ref only if it is still what was fetched. Somebody else may have been faster, another worker or the hook of a
//! server: then all of it is done again from what the remote has by now. As ids are equal, that comes to an end.
//!
//! What is deployed depends on how the job is configured and on what protection covers: the dry branches and the environment
//! branches. The other refs of such a host may be written by anyone who can push. So settings are those that are [named](given),
//! and records, notes and failures count as far as branches bear them out ([`Place::worker`]).
//!
//! Never: a push that forces a branch, a ref moved that is not hydration's, a ref of the clone moved that a user named.

mod copy;
pub(super) mod deliver;
mod given;
mod kept;
pub(super) mod moves;

use crate::argo::{BranchName, Patterns};
use crate::hydrate::{self, Report};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::setup::{Observer, Setup, Wake};
use crate::render::Renderers;
use crate::repo::{self, Repository};
use crate::tell::outbox::{self, Ask, Delivery};
use dry_files::diag::{Diagnostic, printable, shell_word};

use copy::Copy;
use deliver::{Refused, deliver};

pub(crate) use copy::{not_in_the_way, of_hydration, take_out_of_the_way};
pub(crate) use given::Given;
pub(crate) use moves::RefMove;

/// How often a lost race is run again.
const TRIES: u32 = 50;

/// How often, when a push fails and nothing at the remote has moved.
const TRIES_WITHOUT_RACE: u32 = 5;

/// What a worker is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Orders {
    /// The remote, by name.
    pub remote: String,
    /// Which settings count.
    pub settings: Given,
    /// The time, in seconds since 1970: which branches are frozen.
    pub now: i64,
    /// The environment branches to hydrate, by globs; none where all are.
    pub only: Option<Patterns>,
    /// The branch that may go back to a lower tag of its range, by its name or the last part of it.
    pub resumed: Option<String>,
    /// Whether nothing is pushed.
    pub dry_run: bool,
    /// What `git push -o` hands to the remote.
    pub push_options: Vec<String>,
}

/// What a worker did.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    /// What was hydrated.
    pub report: Report,
    /// The refs of the remote that moved, or would have, by name.
    pub moves: Vec<RefMove>,
    /// The other repositories that something was to be pushed to.
    pub destinations: Vec<Delivery>,
}

/// Why a worker gave up. The remote has nothing then that another run could not go on from.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The clone, or the remote while it is read.
    #[error(transparent)]
    Git(#[from] repo::Error),
    /// Hydrating.
    #[error(transparent)]
    Hydrate(#[from] HydrateError),
    /// The remote's own history is cut off.
    #[error("{0} is a shallow clone itself, so its hydrated branches cannot be determined")]
    Shallow(String),
    /// The ref of the settings is missing.
    #[error(
        "{remote} has no ref `{name}` to take settings from; only branches and refs below refs/hydrate/ can be named"
    )]
    NoSettings {
        /// The remote.
        remote: String,
        /// The ref.
        name: String,
    },
    /// It is not given which settings count.
    #[error(
        "{0} has settings in refs/hydrate/config, where anyone who can push may have written them\nhint: name those that count: \
         --settings-ref BRANCH for a protected branch, --settings DIRECTORY for files of this job, or --settings-ref \
         refs/hydrate/config if all who can push may change what is deployed"
    )]
    UnnamedSettings(String),
    /// The remote does not take the push.
    #[error("{remote} refused the push, so no hydrated branch was completed there:\n{why}")]
    Refused {
        /// The remote.
        remote: String,
        /// What git says.
        why: String,
    },
    /// The remote shows refs to who fetches and hides them from who pushes.
    #[error(
        "{remote} refused the push, so no hydrated branch was completed there:\n{why}\nhint: {remote} hides these refs from pushes \
         (receive.hideRefs), as `git hydrate install --server` has it: its hooks hydrate, and no job is needed; if they were \
         deleted, run there: git hydrate uninstall"
    )]
    Hidden {
        /// The remote.
        remote: String,
        /// What git says.
        why: String,
    },
    /// Somebody made a ref that keeps one of hydration's from being made. Branches that can be pushed were.
    #[error(
        "{remote} has `{}`, beside which git cannot make `{name}`: that was not pushed, all else was\nhint: git push {} --delete {}",
        printable(there),
        shell_word(remote),
        shell_word(there)
    )]
    InTheWay {
        /// The remote.
        remote: String,
        /// What was not pushed.
        name: String,
        /// What is in its way.
        there: String,
    },
    /// An Application names the branch of the settings. Branches that can be pushed were.
    #[error(
        "an Application is hydrated to `{0}`, from which this job takes its settings: that was not pushed, all else was\nhint: \
         name another branch as `targetBranch` of the Application"
    )]
    WritesSettings(String),
    /// Others were faster every time.
    #[error("gave up after {TRIES} tries, each of which others were faster than; the next run goes on")]
    Raced,
}

/// Hydrates what the remote has and pushes it. The caller holds the lock of the clone. `wait` is called before the try of that
/// number, counted from 1, when there is something to wait for.
pub(crate) fn push(
    repository: &Repository,
    orders: &Orders,
    renderers: &Renderers,
    observer: &dyn Observer,
    wait: &mut dyn FnMut(u32),
) -> Result<Done, Error> {
    let mut refused: Option<Refused> = None;
    let mut in_vain = 0;
    for tried in 0..TRIES {
        let copy = Copy::fetch(repository, &orders.remote)?;
        if let Some(refused) = refused.take() {
            in_vain = if refused.is_outdated(&copy.there) { 0 } else { in_vain + 1 };
            if in_vain > refused.patience() {
                let (remote, why) = (orders.remote.clone(), refused.why);
                // Nothing has moved, so it is not there for pushes.
                return Err(match why.contains("(stale info)") {
                    true => Error::Hidden { remote, why },
                    false => Error::Refused { remote, why },
                });
            }
        }
        let mut report = hydrate_copy(&copy, orders, renderers, observer)?;
        report.warnings.extend(taken_for_others(&copy)?);
        let moves = moves::between(&copy)?;
        let named = given::branch(&orders.settings);
        let writes_settings = moves.iter().any(|it| Some(&it.name) == named.as_ref());
        let moves = moves.into_iter().filter(|it| Some(&it.name) != named.as_ref()).collect();
        let (moves, blocked) = moves::possible(moves, &copy);
        if !moves.is_empty() && !orders.dry_run {
            refused = deliver(&copy, orders, &moves)?;
        }
        if refused.is_none() {
            return match blocked {
                None if writes_settings => Err(Error::WritesSettings(named.unwrap_or_default())),
                None => {
                    let ask = if orders.dry_run { Ask::Rehearse } else { Ask::All };
                    Ok(Done { report, moves, destinations: outbox::deliver_all(&copy.repository, ask, orders.now)? })
                }
                Some((it, there)) => Err(Error::InTheWay { remote: orders.remote.clone(), name: it.name, there }),
            };
        }
        wait(tried + 1);
    }
    Err(Error::Raced)
}

/// The warning of refs at the remote by which pushes of others fail, though none of this one does.
fn taken_for_others(copy: &Copy) -> Result<Option<Diagnostic>, Error> {
    let refs = copy.repository.refs()?;
    let is_taken = |there: &&String| repo::taken_for(there).iter().any(|name| refs.get(name).is_some());
    let found: Vec<&str> = copy.taken_for_others.iter().filter(is_taken).map(String::as_str).collect();
    let said = repo::said_of_taken(&copy.remote, &found);
    Ok(said.map(|(what, remedy)| Diagnostic::warning(what).hint(remedy)))
}

fn hydrate_copy(copy: &Copy, orders: &Orders, renderers: &Renderers, observer: &dyn Observer) -> Result<Report, Error> {
    copy.use_settings(given::decide(copy, orders, renderers)?)?;
    outbox::take_in(&copy.repository)?;
    let named = kept::named(copy)?;
    let only = orders.only.as_ref();
    let resumed = orders.resumed.as_deref().map(|name| named_branch(name, &copy.repository)).transpose()?;
    let setup = Setup {
        observer,
        only,
        resumed: resumed.as_ref().and_then(|(_, branch)| branch.as_ref()),
        ..Setup::new(&copy.repository, Place::worker(), Wake::Everything, renderers, orders.now)
    };
    let is_kept = setup.resumed.map(|branch| hydrate::resumes_to(&setup, branch)).transpose()?.flatten().is_some();
    let mut report = hydrate::hydrate(&setup)?;
    if let Some((name, _)) = resumed.as_ref().filter(|_| !is_kept) {
        let text = format!("`--resume`: no range keeps `{}` where it is", printable(name));
        let hint = "git hydrate status shows what each branch follows";
        report.warnings.push(Diagnostic::warning(text).hint(hint));
    }
    kept::keep(&named, copy)?;
    let after = copy.repository.refs()?;
    if report.branches.is_empty() && only.is_some_and(|only| is_in_vain(only, &after)) {
        let warning = Diagnostic::warning("`--only` matches no environment branch, so nothing is hydrated");
        report.warnings.push(warning.hint("to list them: git hydrate status"));
    }
    Ok(report)
}

/// A branch by its name, or the last part of it; none where that is not there, or several end so.
fn named_branch<'n>(name: &'n str, repository: &Repository) -> Result<(&'n str, Option<BranchName>), Error> {
    let refs = repository.refs()?;
    let mut short = refs.below("refs/heads/").filter(|(branch, _)| branch.rsplit('/').next() == Some(name));
    let found = match (refs.get(&format!("refs/heads/{name}")), short.next(), short.next()) {
        (Some(_), ..) => Some(name),
        (None, Some((branch, _)), None) => Some(branch),
        _ => None,
    };
    Ok((name, found.and_then(|branch| BranchName::read(branch).ok())))
}

/// Whether no branch is meant.
fn is_in_vain(only: &Patterns, refs: &repo::Refs) -> bool {
    let mut branches = refs.iter().filter_map(|(name, _)| name.strip_prefix("refs/heads/"));
    !branches.any(|branch| only.matches(branch))
}
