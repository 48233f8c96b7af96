//! `git hydrate doctor`: tests an installation.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::Context as _;
use clap::CommandFactory as _;

use super::clone::{self, Clone, is_server};
use super::every::Every;
use super::{Outcome, output, platform};
use crate::history::{self, Surveyed};
use crate::hydrate;
use crate::install::{Doctor, Finding, Former, Health, Installer, Rehearsal, Surroundings, repositories};
use crate::owners::place::Place;
use crate::owners::policy::Policy;
use crate::owners::settings_named::SETTINGS_REF_KEY;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{self, ObjectBuffer, Repository};
use crate::show::Progress;
use crate::tell::outbox::{self, Reach};
use crate::tell::worker::{self, Given, Orders};
use crate::tell::{forge, hook};
use dry_files::diag::{printable, shell_path};

/// Test an installation, and explain how to fix problems.
///
/// Of a remote (`git hydrate doctor origin`), tell what it leaves unprotected: which branches, settings and records a push
/// could move, as far as that can be seen without pushing, and what the admin does about it.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The repository, a server's or a clone, or a remote of the current one; the current one unless given.
    #[arg(value_name = "REPOSITORY|REMOTE")]
    repository: Option<PathBuf>,
    /// Treat the repository as a server's, as a bare one is anyway.
    #[arg(long)]
    server: bool,
    /// Test every bare repository below a directory whose hooks run git-hydrate, and show what is not good.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["repository", "remote"])]
    all: Option<PathBuf>,
    /// Compare the repository of a server with what it was before it was moved, and show what is missing: refs, and on the same
    /// machine git config, hooks and reflogs.
    #[arg(long, value_name = "PATH|URL", conflicts_with_all = ["all", "remote"])]
    after_move: Option<String>,
    /// The remote of a clone that is the server's repository.
    #[arg(long, value_name = "REMOTE", default_value = "origin", conflicts_with = "server")]
    remote: String,
}

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    if let Some(dir) = &arguments.all {
        return all(dir, json);
    }
    if let Some(remote) = arguments.repository.as_deref().filter(|path| !path.exists()).and_then(Path::to_str)
        && let Ok(repository) = super::repository(None)
        && repository.remotes().iter().any(|name| name == remote)
    {
        return show(&of_remote(remote)?, json);
    }
    let repository = super::repository(arguments.repository.as_deref())?;
    let server = arguments.server || is_server(&repository);
    if server {
        platform::go_on_as_git_of_hooks(std::slice::from_ref(&repository))?;
    }
    anyhow::ensure!(
        server || arguments.after_move.is_none(),
        "--after-move is for the repository of a server: git hydrate doctor --server --after-move PATH|URL REPOSITORY"
    );
    show(&findings(&repository, (!server).then_some(&arguments.remote), arguments.after_move.as_deref())?, json)
}

fn show(findings: &[Finding], json: bool) -> anyhow::Result<Outcome> {
    if json {
        output::print_json_list("findings", findings)?;
    } else {
        output::print(text(findings))?;
    }
    Ok(if findings.iter().any(is_bad) { Outcome::Found } else { Outcome::Done })
}

/// What a remote of the current repository leaves unprotected.
fn of_remote(remote: &str) -> anyhow::Result<Vec<Finding>> {
    // That the ref of the settings is not there is for it to tell.
    let clone = Clone::fetched(&clone::Arguments::of_remote(remote.to_owned()))?;
    let repository = &clone.repository;
    let around = surroundings(repository);
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let setup = Setup::new(repository, clone.place.clone(), Wake::Everything, &renderers, wall::now());
    // `status` reports what keeps it from being read.
    let statuses = history::status(&setup).unwrap_or_default();
    let settings_ref = repository.config(SETTINGS_REF_KEY);
    let rehearsal = rehearse(repository, remote, settings_ref.clone())?;
    let doctor = Doctor::new(repository, &around)?;
    let mut findings = doctor.remote(remote, &statuses, (settings_ref.as_deref(), rehearsal))?;
    findings.extend(random(&setup));
    Ok(findings)
}

/// What `git hydrate push --dry-run` says.
fn rehearse(repository: &Repository, remote: &str, settings_ref: Option<String>) -> anyhow::Result<Rehearsal> {
    let orders = Orders {
        remote: remote.to_owned(),
        settings: settings_ref.map_or(Given::FoundOut, Given::Ref),
        now: wall::now(),
        only: None,
        resumed: None,
        dry_run: true,
        push_options: Vec::new(),
    };
    let _lock = hydrate::lock(repository, |_| true)?;
    let renderers = Renderers::from_config(repository, &super::machine()?)?.without_run_limit();
    let progress = Progress::new();
    let done = worker::push(repository, &orders, &renderers, &progress, &mut |_| ());
    progress.clear();
    Ok(match done {
        Ok(done) => Rehearsal {
            moves: done.moves.into_iter().map(|it| it.name).collect(),
            problem: super::push::not_written(remote, &done.report.left_alone)
                .map(|(what, remedy)| (what, Some(remedy))),
            lacks_settings: false,
            failures: done.report.branches.into_iter().filter_map(failure).collect(),
        },
        Err(error) => {
            let text = dry_files::diag::chain(&error);
            let (what, remedy) = match text.split_once("\nhint: ") {
                Some((what, remedy)) => (what.to_owned(), Some(remedy.to_owned())),
                None => (text, None),
            };
            let lacks_settings = matches!(error, worker::Error::UnnamedSettings(_));
            Rehearsal { problem: Some((what, remedy)), lacks_settings, ..Rehearsal::default() }
        }
    })
}

/// A branch that does not hydrate, and the first reason.
fn failure(branch: hydrate::BranchReport) -> Option<(String, String)> {
    match branch.outcome {
        hydrate::Outcome::Failed { diagnostics, .. } => {
            let why = diagnostics.into_iter().next().map(|first| first.message).unwrap_or_default();
            Some((branch.branch, why))
        }
        hydrate::Outcome::Moved | hydrate::Outcome::Unchanged | hydrate::Outcome::Frozen(_) => None,
    }
}

/// Tests every repository below a directory that hydrates.
fn all(dir: &Path, json: bool) -> anyhow::Result<Outcome> {
    let mut results = Vec::new();
    let all = repositories(dir).with_context(|| format!("reading {}", dir.display()))?;
    // One that cannot be opened is reported below.
    let opened: Vec<Repository> = all.iter().filter_map(|path| super::repository(Some(path)).ok()).collect();
    platform::go_on_as_git_of_hooks(&opened)?;
    drop(opened);
    for path in all {
        match of_server(&path).transpose() {
            Some(findings) => results.push((path, findings)),
            None => continue,
        }
    }
    let found = Every::new(results, "findings");
    found.print(json, |findings| {
        let shown: Vec<Finding> = findings.iter().filter(|it| it.health != Health::Good).cloned().collect();
        if shown.is_empty() { "good\n".to_owned() } else { text(&shown) }
    })?;
    found.outcome(found.lists().flatten().any(is_bad))
}

/// What is found in the repository of a server; none where nothing of ours is installed.
fn of_server(path: &Path) -> anyhow::Result<Option<Vec<Finding>>> {
    let repository = super::repository(Some(path))?;
    match Installer::new(&repository)?.is_server()? {
        true => findings(&repository, None, None).map(Some),
        false => Ok(None),
    }
}

fn is_bad(finding: &Finding) -> bool {
    finding.health == Health::Bad
}

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for Finding { health, what, remedy } in findings {
        text.push_str(&format!("{health:8} {what}\n"));
        let remedy = remedy.iter().flat_map(|remedy| remedy.lines());
        text.extend(remedy.map(|remedy| format!("{:8} {remedy}\n", "")));
    }
    text
}

/// What is found in a clone of `remote`, else in the repository of a server, which may have been moved from a `former` place.
fn findings(repository: &Repository, remote: Option<&String>, former: Option<&str>) -> anyhow::Result<Vec<Finding>> {
    let around = surroundings(repository);
    let mut doctor = Doctor::new(repository, &around)?;
    if let Some(former) = former {
        doctor = after_move(doctor, former)?;
    }
    if let Some(remote) = remote {
        return Ok(doctor.client(remote)?);
    }
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let setup = Setup::new(repository, Place::server(), Wake::Pushed(Vec::new()), &renderers, wall::now());
    // What keeps it from being read is in the survey too.
    let statuses = history::status(&setup).unwrap_or_default();
    let Surveyed { problems, pinned, .. } = history::surveyed(&setup).unwrap_or_default();
    let access = hook::access(repository)?;
    let survey = hydrate::check_settings_ref(&setup).and_then(|()| hydrate::survey(&setup));
    let mut findings = doctor.server(survey, (&statuses, &problems), &access, &renderers)?;
    findings.extend(random(&setup));
    findings.extend(unfollowed(pinned.len(), repository));
    findings.extend(outbox::reach(repository)?.into_iter().flat_map(|it| reached(it, repository)));
    Ok(findings)
}

/// Compares with the repository at the place that this one was moved from: a path, or a URL.
fn after_move<'a>(doctor: Doctor<'a>, former: &str) -> anyhow::Result<Doctor<'a>> {
    let path = Path::new(former);
    if !path.exists() {
        return Ok(doctor.after_move(Former { address: former, repository: None })?);
    }
    let repository = super::repository(Some(path))?;
    let address = repository.common_dir().to_string_lossy().into_owned();
    Ok(doctor.after_move(Former { address: &address, repository: Some(&repository) })?)
}

/// What is drawn at random and anybody can compute. What keeps the repository from being read is found by others.
fn random(setup: &Setup<'_>) -> Option<Finding> {
    let (warning, _) = preview::public_values(setup).ok()??;
    let own = "git hydrate config set seeds new".to_owned();
    let remedy = if setup.place.is_in_place() { Some(own) } else { warning.hint.clone() };
    Some(Finding { health: Health::Advice, what: printable(&warning.message).to_string(), remedy })
}

/// That no push hydrates so many Applications, since they name a tag, a range or a commit, where settings do not say that it may.
fn unfollowed(pinned: usize, repository: &Repository) -> Option<Finding> {
    let policy = Policy::read(&repository.refs().ok()?, &ObjectBuffer::new(repository)).ok()?;
    let (names, them) = match pinned {
        0 => return None,
        1 => ("1 Application names".to_owned(), "it"),
        count => (format!("{count} Applications name"), "them"),
    };
    let what = format!("{names} a tag, a range or a commit, and no push hydrates {them}");
    let remedy = "to have them follow that: git hydrate config set revisions true".to_owned();
    (!policy.follows).then_some(Finding { health: Health::Advice, what, remedy: Some(remedy) })
}

/// How another repository answers.
fn reached(reach: Reach, repository: &Repository) -> Vec<Finding> {
    let Reach { destination, url, is_offered, trouble, taken_for_others } = reach;
    let taken: Vec<&str> = taken_for_others.iter().map(String::as_str).collect();
    let taken = repo::said_of_taken(&url, &taken);
    let taken = taken.map(|(what, remedy)| Finding { health: Health::Bad, what, remedy: Some(remedy) });
    let (what, remedy) = match trouble {
        None if is_offered => (format!("destination `{destination}` ({url}) can be read and pushed to"), None),
        None => (format!("destination `{destination}` ({url}) can be read; nothing is hydrated for it yet"), None),
        Some(why) => {
            let git = format!("git -C {} config", shell_path(repository.common_dir()));
            let keys = format!("hydrate.destination.{destination}");
            let remedy = format!("{git} {keys}.credentialHelper HELPER, or {keys}.sshCommand, or {keys}.pushURL");
            (format!("destination `{destination}` ({url}) cannot be pushed to: {why}"), Some(remedy))
        }
    };
    let health = if remedy.is_none() { Health::Good } else { Health::Bad };
    [Finding { health, what: printable(&what).to_string(), remedy }].into_iter().chain(taken).collect()
}

fn surroundings(repository: &Repository) -> Surroundings {
    Surroundings {
        now: SystemTime::now(),
        user: rustix::process::geteuid().as_raw(),
        search_path: std::env::var_os("PATH").unwrap_or_default(),
        program_dir: std::env::current_exe()
            .ok()
            .and_then(|program| Some(program.parent()?.to_owned()))
            .unwrap_or_default(),
        names_system_config: ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"]
            .iter()
            .any(|name| std::env::var_os(name).is_some()),
        version: super::Arguments::command().render_version().trim().to_owned(),
        keys_of: platform::keys_of(repository),
        unknown_to_forge: forge::branches_unknown(repository),
    }
}
