//! What commands need that work in a clone: its remote, and what that says of environment branches.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{anyhow, bail};
use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, printable};

use super::deleted;
use super::doubted::{self, Asked};
use super::{WrongUse, in_the_way, output, settings_folder, unpushed};
use crate::argo::{BranchName, without_credentials};
use crate::history::{self, Line};
use crate::metadata::{NOTES_REF, PROMOTIONS_REF};
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::dry_branches;
use crate::owners::error::HydrateError;
use crate::owners::heads;
use crate::owners::heads::{REMOTE, dry_remote};
use crate::owners::place::Place;
use crate::owners::policy::settings_files;
use crate::owners::settings_named;
use crate::owners::settings_named::SETTINGS_REF_KEY;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{self, ObjectBuffer, ObjectId, Repository};
use crate::settings::{SETTINGS_REF, tools};
use crate::show::Progress;

#[derive(Debug, Clone, Default, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// Treat the commit as the tip of this dry branch; by default the one that this branch tracks.
    #[arg(long, value_name = "BRANCH")]
    pub branch: Option<String>,
    /// The remote with the environment branches; by default the one that this branch tracks.
    #[arg(long, value_name = "NAME")]
    remote: Option<String>,
    /// Use the settings in this branch of the remote, or ref below refs/hydrate/, as `git hydrate push` does; by default
    /// hydrate.settingsRef.
    #[arg(long, value_name = "REF")]
    settings_ref: Option<String>,
    /// Use the settings in this directory, as `git hydrate push` does.
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "settings_ref")]
    settings: Option<PathBuf>,
    /// Do not fetch; use the last fetched state.
    #[arg(long)]
    pub offline: bool,
}

impl Arguments {
    /// Those of a command that never asks the remote.
    pub(super) fn of_branch(branch: Option<String>) -> Self {
        Self { branch, offline: true, ..Self::default() }
    }

    /// Those of a command about a remote.
    pub(super) fn of_remote(remote: String) -> Self {
        Self { remote: Some(remote), ..Self::default() }
    }
}

/// The option `--branch` of what looks at a tree, whatever branch that is of.
pub(super) fn most_named(branch: clap::Arg) -> clap::Arg {
    branch.help("Treat the tree as the tip of this dry branch; by default the one that most of its Applications name")
}

/// A clone of a dry repository, up to date with its remote.
pub(super) struct Clone {
    pub repository: Repository,
    pub place: Place,
    /// The remote; none in a repository without any, such as the server's own.
    remote: Option<String>,
    branch: Option<String>,
    is_branch_named: bool,
    /// Whether the settings were changed here and are not on the remote, as far as a fetch showed.
    has_unpushed_settings: bool,
    /// The branches of the remote, where they were fetched just now.
    fetched: Option<BTreeSet<String>>,
}

impl Clone {
    /// Opens the repository of the working directory and fetches what hydration needs from its remote.
    pub(super) fn open(arguments: &Arguments) -> anyhow::Result<Self> {
        Self::open_for(Asked::Else, arguments)
    }

    /// Opens the repository of the working directory for what is asked, and fetches what hydration needs from its remote.
    pub(super) fn open_for(asked: Asked, arguments: &Arguments) -> anyhow::Result<Self> {
        let clone = Self::fetched(arguments)?.with_settings(arguments)?;
        if clone.is_cut_off() {
            let text = "this clone has no remote, so it does not know the branches of the server";
            output::warn(&Diagnostic::warning(text).hint("git remote add origin URL; git fetch origin"));
        }
        doubted::doubt((&clone.repository, &clone.place), asked)?.iter().for_each(output::warn);
        Ok(clone)
    }

    /// Opens the repository of the working directory and fetches what hydration needs, with the settings that the
    /// repository has, whichever settings count.
    pub(super) fn fetched(arguments: &Arguments) -> anyhow::Result<Self> {
        let mut clone = Self::found(arguments)?;
        if !arguments.offline {
            clone.fetch()?;
        }
        Ok(clone)
    }

    /// Opens the repository of the working directory as it is.
    pub(super) fn offline(arguments: &Arguments) -> anyhow::Result<Self> {
        Self::found(arguments)?.with_settings(arguments)
    }

    /// The clone with the settings that count.
    fn with_settings(self, arguments: &Arguments) -> anyhow::Result<Self> {
        if let Some(directory) = &arguments.settings {
            let before = self.repository.refs()?.get(SETTINGS_REF);
            let id = dry_branches::keep_settings(&self.repository, &settings_folder::read(directory)?, before)?;
            let repository = self.repository.assuming(SETTINGS_REF, Some(id));
            return Ok(Self { repository, place: self.place.of_protected_branches(), ..self });
        }
        // On a server, pushes go by its own.
        let of_job = self.remote.as_ref().and_then(|_| self.repository.config(SETTINGS_REF_KEY));
        let Some(name) = arguments.settings_ref.clone().or(of_job) else { return Ok(self) };
        let (repository, place) = settings_named::with_settings_of(self.repository, self.place, &name)?;
        Ok(Self { repository, place, ..self })
    }

    /// The repository as it is by its settings with other versions of the tools, of which nothing is kept.
    pub(super) fn with_tools(&self, words: &[String]) -> anyhow::Result<Repository> {
        let (refs, buffer) = (self.repository.refs()?, ObjectBuffer::new(&self.repository));
        let (before, files) = settings_files(&refs, &buffer)?;
        let files = tools::with_words(&files, words).map_err(|error| WrongUse(error.to_string()))?;
        let id = dry_branches::keep_settings(&self.repository, &files, before)?;
        Ok(settings_named::by_settings(Some(id), &self.repository)?)
    }

    fn found(arguments: &Arguments) -> anyhow::Result<Self> {
        let repository = super::repository(None)?;
        let prefix = local_prefix(&repository);
        let remotes = repository.remotes();
        if remotes.contains(&prefix) {
            bail!(WrongUse(format!(
                "a remote is named `{prefix}`, so hydrated branches would hide its branches; to write them under \
                another name: git config hydrate.localPrefix NAME"
            )));
        }
        let head = repository.refs()?.head_branch().map(str::to_owned);
        let tracked = |what: &str| {
            let head = head.as_deref()?;
            repository.config(&format!("branch.{head}.{what}"))
        };
        let remote = match &arguments.remote {
            Some(_) if is_server(&repository) => {
                bail!(WrongUse(
                    "this is a server's repository, which fetches from no remote: leave --remote out".to_owned()
                ))
            }
            Some(name) if remotes.contains(name) => Some(name.clone()),
            Some(name) => bail!(WrongUse(format!("there is no remote named `{name}`"))),
            // It is pushed to: whatever it fetched could overwrite what was accepted.
            None if is_server(&repository) => None,
            None => match repository.config(REMOTE).or_else(|| tracked("remote")) {
                Some(remote) => Some(remote),
                None => remote_of(&repository, "--remote NAME, or for good: ")?,
            },
        };
        if let Some(remote) = &remote {
            refuse_hydrated(&repository, remote)?;
        }
        let merge = tracked("merge").and_then(|name| name.strip_prefix("refs/heads/").map(str::to_owned));
        let place = match &remote {
            Some(remote) => Place::client(remote, &prefix),
            None => Place::asked_server(&prefix),
        };
        let branch = arguments.branch.clone().or(merge).or(head);
        Ok(Self {
            repository,
            place,
            remote,
            branch,
            is_branch_named: arguments.branch.is_some(),
            has_unpushed_settings: false,
            fetched: None,
        })
    }

    /// Whether it is a clone of another repository, and not the one that is pushed to.
    pub(super) fn has_remote(&self) -> bool {
        self.remote.is_some()
    }

    /// Whether it is a clone whose remote is gone: it has what hydration keeps beside branches, and is not a server's repository.
    pub(super) fn is_cut_off(&self) -> bool {
        let has_records = || self.repository.refs().is_ok_and(|refs| refs.get(RECORDS_REF).is_some());
        self.remote.is_none() && !is_server(&self.repository) && has_records()
    }

    /// The branches that there are, at the remote or here.
    pub(super) fn branches(&self) -> anyhow::Result<BTreeSet<String>> {
        let refs = self.repository.refs()?;
        let at_remote = self.place.branches(&refs).map(|(branch, _)| branch.to_string());
        let here = refs.below("refs/heads/").map(|(name, _)| name);
        Ok(at_remote.chain(here.map(str::to_owned)).collect())
    }

    /// Whether there are settings here.
    pub(super) fn has_settings(&self) -> anyhow::Result<bool> {
        Ok(self.repository.refs()?.get(SETTINGS_REF).is_some())
    }

    /// The name of the remote.
    pub(super) fn remote(&self) -> Option<&str> {
        self.remote.as_deref()
    }

    /// The URL of the remote, as far as Applications may name it: no path of this machine, and without a user of https.
    pub(super) fn remote_url(&self) -> Option<String> {
        let url = self.repository.config(&format!("remote.{}.url", self.remote.as_ref()?))?;
        let is_of_network = url.contains("://") || url.contains('@');
        is_of_network.then(|| without_credentials(&url))
    }

    /// The dry branch that is meant: the one that was named, else the one that is checked out, by its name at the remote.
    pub(super) fn dry_branch(&self) -> anyhow::Result<BranchName> {
        let Some(branch) = &self.branch else {
            bail!(WrongUse("HEAD is detached; name the dry branch with --branch".to_owned()));
        };
        let wrong = |error| WrongUse(format!("not a branch name: `{branch}`: {error}"));
        Ok(BranchName::new(branch).map_err(wrong)?)
    }

    /// The dry branch that another one is most likely merged into: the remote's default branch when it is hydrated, else
    /// the only one that is.
    pub(super) fn main_dry_branch(&self) -> anyhow::Result<Option<BranchName>> {
        let hydrated = heads::dry_branches(&self.repository, &self.place)?;
        let default = self.place.head(&self.repository.refs()?).filter(|branch| hydrated.contains(branch));
        Ok(default.or_else(|| hydrated.first().filter(|_| hydrated.len() == 1).cloned()))
    }

    /// The dry branch to take a commit for the tip of, and the one to try when nothing is hydrated from the first: a branch
    /// such as one for a pull request will be merged into that one. `rev` is how the commit was named: `origin/release` is the tip
    /// of `release`, if that is hydrated.
    pub(super) fn dry_branches_to_try(&self, rev: Option<&str>) -> anyhow::Result<(BranchName, Option<BranchName>)> {
        let branch = self.dry_branch();
        if self.is_branch_named {
            return Ok((branch?, None));
        }
        if let Some(named) = rev.map(|rev| self.dry_branch_named(rev)).transpose()?.flatten() {
            return Ok((named, None));
        }
        let main = self.main_dry_branch()?;
        Ok(match (branch, main) {
            (Ok(branch), Some(main)) if branch != main => (branch, Some(main)),
            (Err(_), Some(main)) => (main, None),
            (branch, _) => (branch?, None),
        })
    }

    /// The dry branch that a revision names, here or at the remote.
    pub(super) fn dry_branch_named(&self, rev: &str) -> anyhow::Result<Option<BranchName>> {
        let name = rev.strip_prefix("refs/").unwrap_or(rev);
        let of_remote = name.strip_prefix("remotes/").unwrap_or(name);
        let of_remote = self.remote().and_then(|remote| of_remote.strip_prefix(remote)?.strip_prefix('/'));
        let name = of_remote.unwrap_or_else(|| name.strip_prefix("heads/").unwrap_or(name));
        let Ok(name) = BranchName::new(name) else { return Ok(None) };
        Ok(heads::dry_branches(&self.repository, &self.place)?.take(&name))
    }

    /// The commits that are meant by `FROM..TO`, an environment branch or a commit. The last part of a branch's name goes before a tag
    /// that leads to a dry commit: production may follow a tag `prod`.
    pub(super) fn line(&self, range: &str) -> anyhow::Result<Line> {
        let (after, tip) = match range.split_once("..") {
            Some((after, tip)) => (Some(self.commit(after)?), if tip.is_empty() { "HEAD" } else { tip }),
            None => (None, range),
        };
        let commit = self.commit(tip).ok();
        if let Some(commit) = commit.filter(|commit| history::is_hydrated(&self.repository, *commit).unwrap_or(false)) {
            return Ok(Line { name: tip.to_owned(), tip: commit, after });
        }
        match (self.environment(tip), commit) {
            (Ok(branch), _) => Ok(Line { tip: self.commit(branch.as_str())?, name: branch.to_string(), after }),
            (Err(_), Some(commit)) => Ok(Line { name: tip.to_owned(), tip: commit, after }),
            (Err(_), None) => {
                let (tip, known) = (printable(tip), self.known_branches()?);
                Err(WrongUse(format!("`{tip}` is neither a commit nor an environment branch; {known}")).into())
            }
        }
    }

    /// The commit that `rev` names; an environment branch of the remote goes before anything else of its name.
    pub(super) fn commit(&self, rev: &str) -> anyhow::Result<ObjectId> {
        // `NAME:BRANCH` is also how git names a file of a commit: a branch goes first.
        let elsewhere = rev.split_once(':').map(|(name, rest)| format!("{}{name}/{rest}", self.place.out));
        let names = elsewhere.into_iter().chain([format!("{}{rev}", self.place.read)]);
        match names.filter_map(|name| self.commit_of_ref(&name)).next() {
            Some(commit) => Ok(commit),
            None => super::commit_of(&self.repository, rev),
        }
    }

    /// The commit that a revision names which begins with the full name of a ref. Of a ref that is missing git would take
    /// another one that ends so: a tag can have any name.
    fn commit_of_ref(&self, revision: &str) -> Option<ObjectId> {
        let ends = [revision.find(['~', '^', ':']), revision.find("@{")];
        let end = ends.into_iter().flatten().min().unwrap_or(revision.len());
        self.repository.refs().ok()?.get(&revision[..end])?;
        self.repository.rev_parse(revision).ok()
    }

    /// Which branches are hydrated, as a sentence.
    fn known_branches(&self) -> anyhow::Result<String> {
        let lines = history::lines(&self.repository, &self.place)?;
        let names: Vec<&str> = lines.iter().map(|line| line.name.as_str()).collect();
        Ok(match names.is_empty() {
            true => "no branch is hydrated yet".to_owned(),
            false => format!("the hydrated branches are {}", names.join(", ")),
        })
    }

    /// The environment branch of this name, or of this last part.
    pub(super) fn environment(&self, name: &str) -> anyhow::Result<BranchName> {
        let known = history::lines(&self.repository, &self.place)?;
        let exact = known.iter().find(|line| line.name == name);
        let mut short = known.iter().filter(|line| line.name.rsplit('/').next() == Some(name));
        let found = match (exact, short.next(), short.next()) {
            (Some(found), ..) | (None, Some(found), None) => found,
            (None, Some(one), Some(two)) => {
                let all: Vec<&str> = [one, two].into_iter().chain(short).map(|line| line.name.as_str()).collect();
                let name = printable(name);
                bail!(WrongUse(format!("`{name}` is ambiguous: it may be {}", listed(&all, usize::MAX))))
            }
            (None, None, _) => {
                let all: Vec<&str> = known.iter().map(|line| line.name.as_str()).collect();
                let name = printable(name);
                let there = match &all[..] {
                    [] => "none is hydrated yet".to_owned(),
                    all => format!("there are {}", all.join(", ")),
                };
                bail!(WrongUse(format!("there is no environment branch `{name}`; {there}")))
            }
        };
        Ok(BranchName::read(&found.name)?)
    }

    /// The branch of another repository that a text begins with, as `DESTINATION:BRANCH:REST`, and the rest.
    pub(super) fn elsewhere_in<'t>(&self, text: &'t str) -> anyhow::Result<Option<(&'t str, &'t str)>> {
        let colons = text.match_indices(':').map(|(at, _)| at);
        let Some((branch, rest)) = colons.skip(1).map(|at| (&text[..at], &text[at + 1..])).next() else {
            return Ok(None);
        };
        let refs = self.repository.refs()?;
        let is_there = BranchName::read(branch).is_ok_and(|name| self.place.tip(&refs, &name).is_some());
        Ok(is_there.then_some((branch, rest)))
    }

    /// The result of a hydration, with what to do about an error that only a clone can have.
    pub(super) fn explain<T>(&self, result: Result<T, HydrateError>) -> anyhow::Result<T> {
        match (result, &self.remote) {
            (Err(error @ HydrateError::SettingsMissing { .. }), Some(remote)) => Err(anyhow::Error::from(error)
                .context(format!("fetch them: git fetch {remote} '+refs/hydrate/*:refs/hydrate/*'"))),
            (result, _) => Ok(result?),
        }
    }

    /// What a hydration in this clone starts from.
    pub(super) fn setup<'s>(&'s self, wake: Wake, renderers: &'s Renderers, observer: &'s Progress) -> Setup<'s> {
        Setup { observer, ..Setup::new(&self.repository, self.place.clone(), wake, renderers, wall::now()) }
    }

    /// Fetches the notes of promotions, which an ordinary clone does not have. A remote without any has none to give.
    pub(super) fn fetch_promotions(&self) -> anyhow::Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let notes = format!("+{PROMOTIONS_REF}*:{PROMOTIONS_REF}*");
        let fetched = in_the_way::fetch(&self.repository, remote, (&FETCH, &[notes.as_str()]));
        let warning =
            fetched.map_err(|error| anyhow::Error::from(error).context(format!("fetching from `{remote}`")))?;
        warning.iter().for_each(output::warn);
        Ok(())
    }

    /// The clone as if it had no more than its remote has: a branch that was deleted there stays in a clone until a fetch prunes it.
    pub(super) fn without_deleted(mut self) -> anyhow::Result<Self> {
        let Some(remote) = &self.remote else { return Ok(self) };
        for branch in deleted::branches(&self.repository, &self.place, (remote, self.fetched.as_ref()))? {
            self.repository = self.repository.assuming(&format!("{}{branch}", self.place.read), None);
        }
        Ok(self)
    }

    /// Warns of those of the named branches that the remote has no more, unless nothing is asked of it.
    pub(super) fn warn_of_deleted<'n>(
        &self,
        names: impl Iterator<Item = &'n str>,
        offline: bool,
    ) -> anyhow::Result<()> {
        let Some(remote) = self.remote.as_ref().filter(|_| !offline) else { return Ok(()) };
        let deleted = deleted::branches(&self.repository, &self.place, (remote, self.fetched.as_ref()))?;
        let names: Vec<&str> = names.filter(|name| deleted.contains(*name)).collect();
        deleted::warning(remote, &names).iter().for_each(output::warn);
        Ok(())
    }

    /// Refuses to push settings that were changed here before, for another reason.
    pub(super) fn refuse_unpushed_settings(&self) -> anyhow::Result<()> {
        match self.has_unpushed_settings {
            true => {
                bail!(WrongUse("settings of this clone are not pushed yet, and would go along: see above".to_owned()))
            }
            false => Ok(()),
        }
    }

    /// Globs, since an exact refspec makes every fetch fail while the remote has no such ref.
    fn fetch(&mut self) -> anyhow::Result<()> {
        let Some(remote) = &self.remote else { return Ok(()) };
        let warning = fetch_all(&self.repository, remote).map_err(|error| {
            let error = anyhow::Error::from(error).context(format!("fetching from `{remote}`"));
            anyhow!("{error:#}\nhint: to use the last fetched state: --offline")
        })?;
        warning.iter().for_each(output::warn);
        self.fetched = deleted::fetched(&self.repository);
        let unpushed = unpushed::keep(&self.repository, remote)?;
        self.has_unpushed_settings = unpushed.is_some();
        unpushed.iter().for_each(output::warn);
        Ok(())
    }
}

/// Refuses a remote whose branches the remote helper made: what they are hydrated from is in another repository.
fn refuse_hydrated(repository: &Repository, remote: &str) -> anyhow::Result<()> {
    let url = repository.config(&format!("remote.{remote}.url")).unwrap_or_default();
    let Some(dry) = url.strip_prefix("hydrate::") else { return Ok(()) };
    let dry = printable(&without_credentials(dry));
    bail!(WrongUse(format!(
        "`{remote}` has hydrated branches only, made here from {dry}\nhint: run it in a clone of {dry}"
    )))
}

/// Fetches the branches of a remote, and all that hydration keeps beside them. Answers a warning of what is in the way of that.
pub(super) fn fetch_all(repository: &Repository, remote: &str) -> Result<Option<Diagnostic>, repo::Error> {
    let branches = format!("+refs/heads/*:refs/remotes/{remote}/*");
    let notes = format!("+{NOTES_REF}*:{NOTES_REF}*");
    let refspecs = [branches.as_str(), "+refs/hydrate/*:refs/hydrate/*", &notes];
    in_the_way::fetch(repository, remote, (&FETCH, &refspecs))
}

/// How we fetch: what we name and nothing that the user configured, so that no other ref is written or deleted.
pub(super) const FETCH: [&str; 5] = ["fetch", "--quiet", "--no-tags", "--no-prune", "--refmap="];

/// Whether the repository is one that is pushed to: bare, or installed as a server's.
pub(super) fn is_server(repository: &Repository) -> bool {
    let installed = repository.config_list("hydrate.installed");
    let ours = |entry: &String| entry.starts_with("hydrate.guard=") || entry.starts_with("receive.hideRefs=");
    repository.worktree().is_none() || installed.iter().any(ours)
}

/// Where the branches of a repository are: those of its remote in a clone, its own on a server.
pub(super) fn refs_of(repository: &Repository) -> anyhow::Result<Place> {
    let remote = if is_server(repository) { None } else { remote_of(repository, "")? };
    Ok(match remote {
        Some(remote) => Place::client(&remote, &local_prefix(repository)),
        None => Place::server(),
    })
}

fn local_prefix(repository: &Repository) -> String {
    repository.config("hydrate.localPrefix").unwrap_or_else(|| "hydrate".to_owned())
}

/// The remote of a clone; none in a repository without any. `option` is how a command takes its name, if it does.
pub(super) fn remote_of(repository: &Repository, option: &str) -> anyhow::Result<Option<String>> {
    let remote = dry_remote(repository);
    let remotes = repository.remotes();
    if remote.is_none() && !remotes.is_empty() {
        bail!(WrongUse(format!(
            "there are several remotes, and none is named `origin`: {}\n\
             hint: name the one of the dry repository: {option}git config {REMOTE} NAME",
            remotes.join(", ")
        )));
    }
    Ok(remote)
}
