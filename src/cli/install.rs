//! `git hydrate install` and `git hydrate uninstall`.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use dry_files::diag::{printable, shell_path, shell_word};
use go_yaml::{self as yaml, Mapping, Sequences, Value, emit_v3};

use super::clone::{self, is_server};
use super::every::Every;
use super::{Outcome, WrongUse, config, output, platform, unpushed};
use crate::history;
use crate::history::BranchState;
use crate::hydrate;
use crate::install::{CLIENT_HOOKS, Installer, Owned, SERVER_HOOKS, State, Step, elsewhere, mirror, repositories};
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::preview::{CopiesToLeave, Repointed};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{Location, Repository};
use crate::tell::{forge, hook, outbox};

/// Install the hooks of a server, or set up a clone.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(super) struct Arguments {
    /// Hydrate each push to this repository.
    #[arg(long, value_name = "REPOSITORY", num_args = 0..=1, default_missing_value = ".", group = "what")]
    server: Option<PathBuf>,
    /// Install in every bare repository below a directory, as the user that owns them
    ///
    /// With --server. A repository that cannot be installed is reported, and the others are installed. Run it again for
    /// repositories that are new.
    #[arg(long, value_name = "DIR", requires = "server", conflicts_with_all = ["client", "print", "repo_url"])]
    all: Option<PathBuf>,
    /// Set up this clone: fetch the settings and notes of the server, and check pushes.
    #[arg(long, group = "what")]
    client: bool,
    /// The URL of this repository in Applications, as drySource.repoURL.
    #[arg(long, value_name = "URL", requires = "server")]
    repo_url: Vec<String>,
    /// Who may push settings, by the name that the variable of --pusher-variable has: `hydrate.settingsPusher` of git config.
    #[arg(long, value_name = "NAME", requires = "server", conflicts_with = "all")]
    settings_pusher: Vec<String>,
    /// The variable with which the hosting software names who pushes: `hydrate.pusherVariable` of git config.
    #[arg(long, value_name = "VARIABLE", requires = "server", conflicts_with = "all")]
    pusher_variable: Option<String>,
    /// Print the script of a hook, for places where you install it yourself.
    #[arg(long, value_name = "HOOK", group = "what")]
    print: Option<String>,
    /// The remote that is the server's repository.
    #[arg(long, value_name = "REMOTE", default_value = "origin", requires = "client")]
    remote: String,
}

/// Uninstall the hooks and git configuration, and restore earlier hooks.
#[derive(Debug, clap::Args)]
pub(super) struct UninstallArguments {
    /// The repository, a server's or a clone; the current one unless given.
    repository: Option<PathBuf>,
    /// The repository of a server, as for `install --server`.
    #[arg(long, value_name = "REPOSITORY", num_args = 0..=1, default_missing_value = ".", conflicts_with = "repository")]
    server: Option<PathBuf>,
    /// Print for each Application the source with which Argo CD renders it again; uninstall nothing.
    #[arg(long)]
    repoint: bool,
    /// Nothing more: `install --client` has it.
    #[arg(long, hide = true, conflicts_with = "server")]
    client: bool,
}

pub(super) fn install(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    if let Some(name) = &arguments.print {
        let mut hooks = SERVER_HOOKS.iter().chain(CLIENT_HOOKS);
        let names = || SERVER_HOOKS.iter().chain(CLIENT_HOOKS).map(|hook| hook.name).collect::<Vec<_>>().join(", ");
        let hook = hooks.find(|hook| hook.name == name);
        let hook =
            hook.ok_or_else(|| WrongUse(format!("`{name}` is not a hook of git-hydrate; the hooks are: {}", names())))?;
        let script = hook.installed(&binary()?);
        match json {
            true => output::print_json(&serde_json::json!({ "hook": hook.name, "script": script }))?,
            false => output::print_content(script)?,
        }
        return Ok(Outcome::Done);
    }
    if let Some(dir) = &arguments.all {
        if arguments.server.as_deref().is_some_and(|path| path != Path::new(".")) {
            return Err(WrongUse("`--all DIR` takes no repository beside it".to_owned()).into());
        }
        return install_all(dir, arguments, json);
    }
    if let Some(path) = &arguments.server {
        return tell(&install_server(path, arguments)?, json);
    }
    let repository = super::repository(None)?;
    let mut installer = Installer::new(&repository)?;
    if repository.config(&format!("remote.{}.url", arguments.remote)).is_none() {
        return Err(WrongUse(format!("there is no remote `{}`: name another with --remote", arguments.remote)).into());
    }
    installer.client(&arguments.remote, &binary()?)?;
    fetch(&repository, &arguments.remote, &mut installer)?;
    tell(&installer.steps(), json)
}

/// Fetches what the hook of a clone checks a push with.
fn fetch(repository: &Repository, remote: &str, installer: &mut Installer<'_>) -> anyhow::Result<()> {
    match clone::fetch_all(repository, remote) {
        Ok(warning) => {
            warning.iter().for_each(output::warn);
            unpushed::keep(repository, remote)?.iter().for_each(output::warn);
            installer.step(State::Done, format!("fetched the branches, settings and notes of {remote}"));
        }
        Err(error) => {
            let why = error.to_string();
            let why = why.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            let advice = format!("before the next push: git fetch {}", shell_word(remote));
            let what =
                format!("nothing was fetched from {remote}, so pushes are not checked as the server hydrates: {why}");
            installer.advise(State::Note, what, advice);
        }
    }
    Ok(())
}

/// Installs in the repository of a server.
fn install_server(path: &Path, asked: &Arguments) -> anyhow::Result<Vec<Step>> {
    let repository = server_repository(path)?;
    platform::go_on_as_git_of_hooks(std::slice::from_ref(&repository))?;
    if !is_server(&repository) && !repository.remotes().is_empty() {
        let hint = "in a clone: git hydrate install --client; a server's repository is bare: git clone --mirror URL REPO.git && \
             git -C REPO.git remote remove origin";
        return Err(
            WrongUse(format!("this is a clone with a working tree, not a server's repository\nhint: {hint}")).into()
        );
    }
    let mut pushers = Installer::new(&repository)?;
    pushers.pushers(asked.pusher_variable.as_deref(), &asked.settings_pusher)?;
    let pushers = pushers.steps();
    // All that follows depends on who may push what.
    let repository = server_repository(path)?;
    let mut installer = Installer::new(&repository)?;
    installer.server(&binary()?)?;
    // Before anything is found out, which is a setting too.
    if config::set_newest_tools(&repository)? {
        let git = format!("git -C {}", shell_path(repository.common_dir()));
        let what = format!("tools = the newest; those of your Argo CD: {git} hydrate config set tools argocd=VERSION");
        installer.step(State::Done, what);
    }
    for note in settle(&repository)? {
        installer.step(State::Done, note);
    }
    let owned = match survey(&repository) {
        Ok(hydrate::Survey { branches, promoted, deployed, settings, .. }) => {
            Owned { branches, promoted, deployed, patterns: settings.branches, dry_branches: settings.dry_branches }
        }
        // `doctor` reports what is wrong with them.
        Err(_) => Owned::default(),
    };
    installer.guard(&hook::access(&repository)?, &owned)?;
    behind(&repository, &mut installer)?;
    for url in &asked.repo_url {
        let state = if config::add_repo_url(&repository, url)? { State::Done } else { State::Already };
        installer.step(state, format!("repoURL = {url}: the URL of this repository in Applications"));
    }
    if !config::has_repo_url(&repository)? {
        installer.advise(
            State::Note,
            "repoURL is not set: the first push sets it if two or more Applications name one URL; to set it now:",
            format!("git -C {} hydrate config set repoURL URL", shell_path(repository.common_dir())),
        );
    }
    Ok([pushers, installer.steps()].concat())
}

/// Installs in every repository below a directory.
fn install_all(dir: &Path, asked: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let all = repositories(dir).with_context(|| format!("reading {}", dir.display()))?;
    let root = dir.canonicalize().with_context(|| format!("reading {}", dir.display()))?;
    let known: BTreeSet<PathBuf> = all.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let results = all.into_iter().map(|path| match left_out(&path, &root, &known) {
        Some(step) => (Ok(vec![step]), path),
        None => (install_server(&path, asked), path),
    });
    let done = Every::new(results.map(|(steps, path)| (path, steps)).collect(), "steps");
    done.print(json, steps_text)?;
    let refused = done.lists().flatten().any(|step| step.state == State::Refused);
    done.outcome(refused)
}

/// Why a repository among others below `root` is left out: a wiki, which has no Applications, a mirror, which keeps nothing that is hydrated,
/// or a fork, whose pushes would be hydrated by the settings of another repository.
fn left_out(path: &Path, root: &Path, known: &BTreeSet<PathBuf>) -> Option<Step> {
    let is_wiki = path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(".wiki.git"));
    let repository = Repository::open(path, Location::Named).ok();
    if let Some(mirror) = repository.as_ref().and_then(mirror) {
        let what = format!("a mirror of {} is left out", printable(&mirror.url));
        return Some(Step { state: State::Note, what, advice: Some(elsewhere(&mirror.url)) });
    }
    let origin = || {
        let repository = repository.as_ref()?;
        let urls = repository.remotes().into_iter().filter_map(|name| repository.config(&format!("remote.{name}.url")));
        let mut origins = urls.filter_map(|url| {
            let origin = Path::new(&url).canonicalize();
            // The original may have another name by now.
            let is_gone = |url: &Path| url.is_absolute() && url.starts_with(root) && !url.exists();
            origin
                .ok()
                .filter(|origin| known.contains(origin))
                .or_else(|| Some(PathBuf::from(url)).filter(|url| is_gone(url)))
        });
        origins.find(|origin| path.canonicalize().ok().as_ref() != Some(origin))
    };
    let what = match is_wiki {
        true => "a wiki is left out".to_owned(),
        false => format!("a fork of {} is left out", origin()?.display()),
    };
    let advice = format!("to hydrate its pushes all the same: git hydrate install --server {}", shell_path(path));
    Some(Step { state: State::Note, what, advice: Some(advice) })
}

/// Tells that branches are behind: what was pushed while nothing was installed is hydrated by the next push only.
fn behind(repository: &Repository, installer: &mut Installer<'_>) -> anyhow::Result<()> {
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    // `doctor` reports what keeps it from being read.
    let statuses = history::status(&setup(repository, &renderers, Wake::Everything)).unwrap_or_default();
    let is_behind = |status: &&history::BranchStatus| {
        let is_open = matches!(status.state, BranchState::Hydrated | BranchState::NotMade | BranchState::Missing);
        is_open && !status.is_current() && status.failures.is_empty()
    };
    let names: Vec<&str> = statuses.iter().filter(is_behind).map(|status| status.branch.as_str()).collect();
    let what = match &names[..] {
        [] => return Ok(()),
        [name] => format!("{name} is behind; the next push hydrates it, or now:"),
        names => format!("{} are behind; the next push hydrates them, or now:", names.join(", ")),
    };
    let advice = format!("git -C {} hydrate catch-up", shell_path(repository.common_dir()));
    installer.advise(State::Note, what, advice);
    Ok(())
}

pub(super) fn uninstall(arguments: &UninstallArguments, json: bool) -> anyhow::Result<Outcome> {
    let repository = match &arguments.server {
        Some(path) => server_repository(path)?,
        None => super::repository(arguments.repository.as_deref())?,
    };
    if arguments.repoint {
        return repoint(&repository, json);
    }
    super::check_owner(&repository, "uninstall")?;
    let mut installer = Installer::new(&repository)?;
    if forge::forget_known_branches(&repository).context("removing hydrate/told")? {
        installer.step(State::Done, "hydrate/told: removed");
    }
    if outbox::forget(&repository).context("removing hydrate/out")? {
        installer.step(State::Done, "hydrate/out: removed");
    }
    installer.uninstall()?;
    tell(&installer.steps(), json)
}

/// Prints with which sources Argo CD renders each Application itself.
fn repoint(repository: &Repository, json: bool) -> anyhow::Result<Outcome> {
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let names = clone::refs_of(repository)?;
    let setup = Setup::new(repository, names, Wake::Pushed(Vec::new()), &renderers, wall::now());
    let sources = preview::repointed(&setup)?;
    let copies = preview::copies_to_leave(&setup)?;
    if json {
        let sources: Vec<serde_json::Value> = sources.iter().map(repointed_json).collect();
        output::print_json(&RepointedJson { sources, copies })?;
        return Ok(Outcome::Done);
    }
    let mut text: String = sources.iter().map(repointed_text).collect();
    if sources.is_empty() {
        text += "no Application is hydrated here\n";
    }
    if sources.iter().any(|source| source.application.rule.is_none()) {
        text += "# In each Application with `sourceHydrator`, put the source above into `spec` and remove `sourceHydrator`.\n";
    }
    if sources.iter().any(|source| source.application.rule.is_some()) {
        text += "# An Application under a rule has its `spec.source` as before: change nothing in it. Remove what you made to \
                 deploy its branch, or give that the source above.\n";
    }
    text.extend(copies.as_ref().map(copies_text));
    output::print(text)?;
    Ok(Outcome::Done)
}

#[derive(serde::Serialize)]
struct RepointedJson {
    sources: Vec<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    copies: Option<CopiesToLeave>,
}

/// What follows the branch of copies has to be led back before the branch goes.
fn copies_text(copies: &CopiesToLeave) -> String {
    let branch = printable(&copies.branch);
    let mut text = format!(
        "# Argo CD follows copies on {branch}, which no push moves once git-hydrate is uninstalled. Point the Application that applies them at the files \
         above, on their dry branch, before you delete {branch}:\n"
    );
    text.extend(copies.paths.iter().map(|path| format!("#   {}\n", printable(path.as_str()))));
    text
}

fn repointed_json(source: &Repointed) -> serde_json::Value {
    let Repointed { application, spec, is_made } = source;
    let dry = &application.dry;
    let spec = yaml::json::encode(&Value::Mapping(spec.clone()), yaml::json::Options::default());
    let spec: serde_json::Value = serde_json::from_str(&spec).unwrap_or_default();
    serde_json::json!({
        "name": application.name.as_str(), "file": application.file.as_str(), "repoURL": dry.repo_url,
        "targetRevision": dry.target_revision, "path": dry.path_text, "spec": spec,
        "hydratedBranch": application.sync_branch.as_str(), "hydratedPath": application.sync_path.as_str(),
        "rule": application.rule, "made": is_made,
    })
}

fn repointed_text(source: &Repointed) -> String {
    let Repointed { application, spec, is_made } = source;
    let (path, branch) = (printable(application.sync_path.as_str()), printable(application.sync_branch.as_str()));
    let by = application.rule.map(|rule| format!(", by rule {rule},")).unwrap_or_default();
    let of = match is_made {
        true => format!("{path} of {branch}{by} is made from"),
        false => format!("{branch} was never made; it would be{} from", by.trim_end_matches(',')),
    };
    let named = Mapping::from([(application.name.to_string(), Value::Mapping(spec.clone()))]);
    let spec = emit_v3(&Value::Mapping(named), Sequences::Compact);
    format!("# {}: {of}\n{spec}", printable(application.file.as_str()))
}

/// Writes down the dry branches and what an earlier version hydrated; answers what was written.
fn settle(repository: &Repository) -> anyhow::Result<Vec<String>> {
    let _lock = hydrate::lock(repository, |_| true)?;
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let setup = setup(repository, &renderers, Wake::Everything);
    match hydrate::settle(&setup) {
        Ok(report) => Ok(report.notes),
        // `doctor` reports what is wrong with them.
        Err(HydrateError::Settings(_) | HydrateError::Template(_)) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// What the Applications of the repository ask for.
fn survey(repository: &Repository) -> anyhow::Result<hydrate::Survey> {
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    Ok(hydrate::survey(&setup(repository, &renderers, Wake::Pushed(Vec::new())))?)
}

fn setup<'s>(repository: &'s Repository, renderers: &'s Renderers, wake: Wake) -> Setup<'s> {
    Setup::new(repository, Place::server(), wake, renderers, wall::now())
}

fn steps_text(steps: &[Step]) -> String {
    let mut text = String::new();
    for Step { state, what, advice } in steps {
        text.push_str(&format!("{state:8} {what}\n"));
        text.extend(advice.iter().map(|advice| format!("{:8} {advice}\n", "")));
    }
    text
}

fn tell(steps: &[Step], json: bool) -> anyhow::Result<Outcome> {
    if json {
        output::print_json_list("steps", steps)?;
    } else {
        output::print(steps_text(steps))?;
    }
    let refused = steps.iter().any(|step| step.state == State::Refused);
    Ok(if refused { Outcome::Found } else { Outcome::Done })
}

/// Opens the repository that is at `path` itself, not above it, and that we may write as its owner.
pub(super) fn server_repository(path: &Path) -> anyhow::Result<Repository> {
    let real = path.canonicalize().with_context(|| format!("no repository at {}", path.display()))?;
    let owner = real.metadata()?.uid();
    let user = rustix::process::geteuid().as_raw();
    let repository = Repository::open(&real, Location::Named);
    let shared = repository.as_ref().is_ok_and(|repository| repository.config("core.sharedRepository").is_some());
    if owner != user && !shared {
        // What we write must stay writable for the user that git runs as.
        let (path, quoted) = (real.display(), shell_path(&real));
        bail!("{path} belongs to user {owner}; as that user: sudo -u '#{owner}' git hydrate install --server {quoted}");
    }
    let repository = repository?;
    if real != repository.git_dir() && Some(&real) != repository.worktree().as_ref() {
        return Err(WrongUse(format!("no repository at {}", path.display())).into());
    }
    Ok(repository)
}

/// The path under which this program will be found next time: as PATH names it, so that an update which moves a link
/// there is followed, else where it is.
fn binary() -> anyhow::Result<PathBuf> {
    let here = std::env::current_exe().context("finding this program")?;
    let here = here.canonicalize().unwrap_or(here);
    let search = std::env::var_os("PATH").unwrap_or_default();
    let named = std::env::split_paths(&search)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("git-hydrate"))
        .find(|path| path.canonicalize().is_ok_and(|real| real == here));
    let binary = named.unwrap_or(here);
    if binary.to_str().is_none() {
        bail!("{}: the path of this program is not UTF-8", binary.display());
    }
    Ok(binary)
}
