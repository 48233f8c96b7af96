//! The remote helper: `git clone hydrate::<url>` gives the hydrated branches of any dry repository.
//!
//! git starts us with the address and asks for `git-upload-pack`. We fetch the dry repository into a cache of the user,
//! hydrate there what upstream has not hydrated itself, and become the `git upload-pack` of that cache; what git fetches,
//! and how deep, is then between the two of them.
//!
//! Where upstream has environment branches they are continued, so the ids are those that its server makes. Where it has
//! none they start at the tip of the dry branch, and the next fetch continues what this one made.
//!
//! Never: a push through us, a byte on standard output that is not the protocol's, a cache served while upstream cannot
//! be reached.

mod address;
mod cache;
mod dialogue;
mod upstream;

use std::fs::File;
use std::io::Write as _;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Stdio;

use crate::hydrate::{self, BranchReport, Outcome, Report};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::settings_named;
use crate::owners::settings_named::SETTINGS_REF_KEY;
use crate::owners::setup::{Setup, Wake};
use crate::render::process::wall::{self, Ended};
use crate::render::{Machine, Renderers};
use crate::repo::{self, Git};
use crate::show::{Console, Progress, Wording, summary};
use dry_files::diag::Diagnostic;

use cache::Cache;
use dialogue::{Request, Service};

pub use address::Address;

/// Set in the environment of our child processes, so that one of us knows that another is at work.
pub(crate) const GUARD: &str = "GIT_REMOTE_HYDRATE";

/// Why git gets nothing from us.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Talking to git.
    #[error("talking to git: {0}")]
    Dialogue(#[from] std::io::Error),
    /// A push.
    #[error(
        "hydrated branches are made from dry commits, so nothing is pushed to them; push dry commits to their own \
         address:\n  git remote set-url --push {remote} {url}"
    )]
    Push {
        /// The remote, as git names it.
        remote: String,
        /// The dry repository.
        url: String,
    },
    /// git said why on standard error.
    #[error("{0} cannot be read, so there is nothing to hydrate")]
    Unreachable(String),
    /// No branch has a commit.
    #[error("{0} has no commit yet")]
    Empty(String),
    /// The ref that names the settings that count is missing.
    #[error(
        "{url} has no ref `{name}` to take settings from, which hydrate.settingsRef of git config names; only branches and \
         refs below refs/hydrate/ can be named"
    )]
    NoSettings {
        /// The dry repository.
        url: String,
        /// The ref.
        name: String,
    },
    /// Its history is cut off.
    #[error("{0} is a shallow clone, whose hydrated branches cannot be determined; run `git fetch --unshallow` in it")]
    Shallow(String),
    /// Nothing to serve.
    #[error("no Application of {0} is hydrated; `git hydrate` in a clone of it explains why")]
    Nothing(String),
    /// The cache.
    #[error(transparent)]
    Git(#[from] repo::Error),
    /// Hydrating in the cache.
    #[error(transparent)]
    Hydrate(#[from] HydrateError),
}

/// Talks with git on standard input and output about the remote that it calls `remote`, and has a process that may die do
/// what git asks for: that renders, and then serves git on the same input and output. Answers how it ended, or none when git
/// asked for nothing.
pub(crate) fn listen(remote: &str, address: &Address, machine: &Machine) -> Result<Option<Ended>, Error> {
    // What is read ahead would be missed by `git upload-pack`, so nothing is buffered.
    let mut stdin = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let mut stdout = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let Some(request) = dialogue::listen(&mut stdin, &mut stdout)? else { return Ok(None) };
    match request.service {
        Service::UploadPack => {}
        Service::ReceivePack => {
            return Err(Error::Push { remote: remote.to_owned(), url: address.url().to_owned() });
        }
    }
    let request = request.to_word();
    let words = ["remote-helper", "--request", &request, "--", remote, address.url()];
    Ok(Some(wall::supervise(&machine.program, &words, None)?))
}

/// Serves what git asked [`listen`] for; caches are below `caches`. `clone` is the git directory of who asks, when there is one.
///
/// Does not return when it can, because this process has become `git upload-pack`.
pub(crate) fn serve(
    request: &str,
    address: &Address,
    clone: Option<&Path>,
    caches: &Path,
    machine: &Machine,
) -> Result<(), Error> {
    let request = Request::of_word(request);
    let mut stdout = File::from(std::io::stdout().as_fd().try_clone_to_owned()?);
    let cache = Cache::open(address, settings_ref(clone)?, caches, &mut Console::new())?;
    cache.fetch(address, &request)?;
    let doubt = doubt(&cache, machine)?;
    let mut report = hydrate_cache(&cache, machine)?;
    keep_shown(&mut report, &request);
    report.warnings = doubt.into_iter().collect();
    tell(&report);
    if !cache.choose_head(&report)? {
        return Err(Error::Nothing(address.shown()));
    }
    let mut upload_pack = cache.upload_pack();
    // The lock is freed by the exec; from here on the refs are only read.
    stdout.write_all(b"\n")?;
    Err(Error::Dialogue(upload_pack.exec()))
}

/// What [`SETTINGS_REF_KEY`] is in the clone, for this machine or in the environment.
fn settings_ref(clone: Option<&Path>) -> Result<Option<String>, repo::Error> {
    let mut command = Git::new(clone.unwrap_or(Path::new("/nonexistent"))).command();
    let output = command.args(["config", "--get", SETTINGS_REF_KEY]).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| repo::Error::new("starting git", error))?;
    match output.status.code() {
        Some(0) => Ok(Some(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned())),
        Some(1) => Ok(None),
        _ => Err(repo::Error::new(format!("reading {SETTINGS_REF_KEY} of git config"), output.status.to_string())),
    }
}

/// What is said of settings that no branch of upstream was hydrated with.
fn doubt(cache: &Cache, machine: &Machine) -> Result<Option<Diagnostic>, Error> {
    if cache.has_named_settings() {
        return Ok(None);
    }
    // What was hydrated here shows nothing: it may have been by the same settings.
    let place = Place::helper(cache::DRY, false);
    let renderers = Renderers::from_config(cache.repository(), machine)?;
    let setup = Setup::new(cache.repository(), place.clone(), Wake::Everything, &renderers, wall::now());
    let is_alike = |settings| hydrate::hydrates_alike(settings, &setup);
    let warning = settings_named::doubt(cache.repository(), &place, is_alike)?;
    Ok(warning.map(|warning| warning.hint(WHOSE)))
}

/// How to say whose settings count.
const WHOSE: &str = "to name those that count: git clone -c hydrate.settingsRef=BRANCH, or in the clone: git config \
                     hydrate.settingsRef BRANCH; or refs/hydrate/config, if only admins can push it";

fn hydrate_cache(cache: &Cache, machine: &Machine) -> Result<Report, Error> {
    let renderers = Renderers::from_config(cache.repository(), machine)?;
    let progress = Progress::new();
    let place = Place::helper(cache::BASES, cache.has_named_settings());
    let setup = Setup {
        observer: &progress,
        ..Setup::new(cache.repository(), place, Wake::Everything, &renderers, wall::now())
    };
    let report = hydrate::hydrate(&setup);
    progress.clear();
    Ok(report?)
}

/// Whether a fetch shows what became of a branch.
fn is_shown(branch: &BranchReport, verbosity: i32) -> bool {
    match branch.outcome {
        _ if !branch.is_success() => true,
        Outcome::Moved | Outcome::Frozen(_) => verbosity > 0,
        Outcome::Unchanged => false,
        Outcome::Failed { unnamed, .. } => !unnamed,
    }
}

/// Keeps of a report what a fetch shows.
fn keep_shown(report: &mut Report, request: &Request) {
    report.branches.retain(|branch| is_shown(branch, request.verbosity));
    // Every branch of upstream was searched: what is wrong on one that feeds no environment is its author's business.
    report.warnings.clear();
    // Nor what was found out for the cache alone.
    report.notes.clear();
    if !report.branches.is_empty() {
        report.problems.clear();
    }
}

/// Says what was hydrated and what could not be; `git fetch` itself shows which branches moved.
fn tell(report: &Report) {
    let text = summary(report, Wording::Terminal);
    if !text.is_empty() {
        Console::new().print(&text);
    }
}
