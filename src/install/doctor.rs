//! Whether an installation is in good order, and how to mend what is not.
//!
//! git hides most of what can go wrong: the exit code of a post-receive hook is thrown away, a hook that is not
//! executable is skipped, a lock that a dead process left stops ref updates for ever. So each check looks at the
//! repository as it is, and changes nothing.

mod after_move;
mod disk;
mod dry_branches;
mod environments;
mod fetch;
mod forge;
mod hooks;
mod keys;
mod keys_of;
mod limits;
mod locks;
mod owner;
mod refs;
mod remote;
mod size;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;

use super::client::fetched;
use super::config::Config;
use super::forge::{GITEA, mirror, unguarded_pages, without_promoter};
use super::guard::{GUARD, REPLACE};
use super::hook::{CLIENT_HOOKS, SERVER_HOOKS};
use super::{Error, Version, is_executable};
use crate::argo::{BranchName, near, unnamed_active_paths};
use crate::history::BranchStatus;
use crate::hydrate::{Access, Survey};
use crate::metadata::NOTES_REF;
use crate::owners::error::{HydrateError, held_again};
use crate::owners::failures::FAILURES_REF;
use crate::owners::policy::newest_usable;
use crate::render::Renderers;
use crate::repo::{Repository, hidden_from_pushes, is_hidden};
use crate::settings::{RendererName, SETTINGS_REF};
use crate::versions::Tools;
use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, chain, printable, shell_path, shell_word};

pub(crate) use after_move::Former;
pub(crate) use keys_of::KeysOf;
pub(crate) use remote::Rehearsal;

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// How good that is.
    pub health: Health,
    /// What was found, in a sentence without its full stop.
    pub what: String,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Finding {
    fn advice(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { health: Health::Advice, what: what.into(), remedy: Some(remedy.into()) }
    }

    fn bad(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { health: Health::Bad, what: what.into(), remedy: Some(remedy.into()) }
    }
}

/// How good a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Health {
    /// As it should be.
    Good,
    /// It works, and could be better.
    Advice,
    /// Hydration does not work, or not always.
    Bad,
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Health::Good => "good",
            Health::Advice => "advice",
            Health::Bad => "bad",
        })
    }
}

/// What the edge knows and the checks need.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    /// The time.
    pub now: SystemTime,
    /// The user who asks.
    pub user: u32,
    /// PATH.
    pub search_path: OsString,
    /// The directory of this program.
    pub program_dir: PathBuf,
    /// Whether the environment names the configuration of the machine: git and we read that one.
    pub names_system_config: bool,
    /// Whose keys git reads beside those of the repository.
    pub keys_of: KeysOf,
    /// What this program calls itself on `--version`.
    pub version: String,
    /// The branches that the forge which hosts the repository does not know as they are.
    pub unknown_to_forge: BTreeSet<String>,
}

/// Looks at one repository.
#[derive(Debug)]
pub(crate) struct Doctor<'a> {
    repository: &'a Repository,
    around: &'a Surroundings,
    config: Config,
    git: Version,
    findings: Vec<Finding>,
    /// Whether git runs our pre-receive hook, as far as the checks so far say.
    has_gate: bool,
    /// Whether a hook was found that we wrote.
    is_installed: bool,
    /// The dry branches that are gone, each with those that may have taken its place.
    successors: BTreeMap<String, Vec<String>>,
    /// Where the repository was before, while the settings of there are not here.
    unsettled: Option<String>,
}

impl<'a> Doctor<'a> {
    /// Looks at a repository.
    pub(crate) fn new(repository: &'a Repository, around: &'a Surroundings) -> Result<Self, Error> {
        let (config, git) = (Config::read(repository)?, Version::of(repository)?);
        let (findings, successors) = (Vec::new(), BTreeMap::new());
        Ok(Self {
            repository,
            around,
            config,
            git,
            findings,
            has_gate: true,
            is_installed: false,
            successors,
            unsettled: None,
        })
    }

    /// Checks a server's repository, whose Applications and settings ask for `survey`, and whose branches are as
    /// `statuses` says; `problems` are the errors at the tips of the dry branches.
    pub(crate) fn server(
        mut self,
        survey: Result<Survey, HydrateError>,
        (statuses, problems): (&[BranchStatus], &[Diagnostic]),
        access: &Access,
        renderers: &Renderers,
    ) -> Result<Vec<Finding>, Error> {
        self.git_version();
        self.system_config();
        self.ownership()?;
        for hook in SERVER_HOOKS {
            let before = self.bad_findings();
            if let Err(error) = self.hook(hook) {
                let again = self.as_owner(hook.install(self.repository));
                let what = format!("the {} hook cannot be read: {}", hook.name, chain(&error));
                self.bad(what, format!("move it away, then: {again}"));
            }
            self.has_gate &= !hook.is_gate() || self.bad_findings() == before;
        }
        self.forge()?;
        self.mirrors();
        self.whose_keys()?;
        self.keys()?;
        self.strict();
        self.limits(renderers);
        self.fetching();
        self.disk();
        self.log_file();
        self.guard(access, survey.as_ref().ok());
        self.locks()?;
        self.refs()?;
        self.replacements()?;
        self.names()?;
        self.hidden_branches(statuses)?;
        self.ambiguous_refs()?;
        let dry_branches = survey.as_ref().map(|survey| survey.settings.dry_branches.clone()).unwrap_or_default();
        match survey {
            Ok(survey) => {
                self.other_branches(&survey);
                self.branches(&survey.branches)?;
                self.active_paths(&survey);
                if survey.settings.renderer == RendererName::Exec {
                    survey.settings.tools.all().for_each(|tools| self.tools(renderers, tools));
                }
            }
            Err(HydrateError::SettingsLost { id, branch, holds }) => {
                let git = self.git_command();
                let what = format!("{SETTINGS_REF}, the settings that {branch} was hydrated with, is missing");
                let holds = held_again(&holds, &git);
                self.bad(what, format!("{git} update-ref {SETTINGS_REF} {id}{holds}"));
            }
            Err(HydrateError::Settings(error)) => {
                let git = self.git_command();
                let back = newest_usable(self.repository).ok().flatten();
                let back = back.map(|id| {
                    format!("\nor back to the newest that can be used: {git} update-ref {SETTINGS_REF} {id}")
                });
                let remedy = format!("{git} hydrate config edit{}", back.unwrap_or_default());
                self.bad(format!("the settings cannot be used: {error}"), remedy);
            }
            Err(error) => self.bad(format!("the dry branches cannot be read: {}", chain(&error)), "git fsck"),
        }
        self.renamed(statuses, &dry_branches)?;
        self.lost_settings(statuses)?;
        self.not_current_environments(statuses, &dry_branches);
        self.missing_dry_branches(&dry_branches)?;
        if let Some(first) = problems.first() {
            let what = match problems.len() {
                1 => format!("an error keeps Applications from being hydrated: {}", first.message),
                count => format!("{count} errors keep Applications from being hydrated, first: {}", first.message),
            };
            self.advise(what, format!("{} hydrate status", self.git_command()));
        }
        self.sizes(statuses);
        self.kept_packs();
        self.reflogs();
        self.settings_first();
        Ok(self.findings)
    }

    /// Checks a clone, and what it fetches from `remote`.
    pub(crate) fn client(mut self, remote: &str) -> Result<Vec<Finding>, Error> {
        self.git_version();
        self.on_path();
        self.keys()?;
        if self.config.get(&format!("remote.{remote}.url")).is_empty() {
            let remotes = self.repository.remotes();
            match remotes.is_empty() {
                true => self.good("there is no remote, so nothing is fetched, and no push is checked"),
                false => {
                    let remedy =
                        format!("git hydrate doctor --remote NAME, where NAME is one of: {}", remotes.join(", "));
                    self.bad(format!("there is no remote `{remote}`"), remedy);
                }
            }
            self.locks()?;
            self.replacements()?;
            return Ok(self.findings);
        }
        for hook in CLIENT_HOOKS {
            self.hook(hook)?;
        }
        self.locks()?;
        self.replacements()?;
        let install = format!("git hydrate install --client --remote {}", shell_word(remote));
        for (key, value) in fetched(remote) {
            if self.config.get(&key).contains(&value) {
                self.good(format!("{key} = {value}"));
            } else {
                self.advise(format!("{key} = {value} is not set: settings and notes are not fetched"), &install);
            }
        }
        if !self.config.get("remote.hydrate.url").is_empty() {
            let what = "a remote is named `hydrate`: git hydrate writes its branches under that name";
            self.bad(what, "git remote rename hydrate NAME");
        }
        Ok(self.findings)
    }

    fn git_version(&mut self) {
        let version = format!("git {}", self.git);
        if self.git >= Version::OLDEST {
            self.good(version);
        } else {
            self.bad(format!("{version} is too old"), format!("install git {} or later", Version::OLDEST));
        }
    }

    fn on_path(&mut self) {
        let mut dirs = std::env::split_paths(&self.around.search_path);
        match dirs.find(|dir| is_executable(&dir.join("git-hydrate"))) {
            Some(dir) => self.good(format!("git finds git-hydrate in {}", dir.display())),
            None => self.bad("git-hydrate is not found on PATH", "add its directory to PATH"),
        }
    }

    /// Whether hydrated branches are closed to pushes, and open to those who may.
    fn guard(&mut self, access: &Access, survey: Option<&Survey>) {
        // What would be guarded is not here.
        if mirror(self.repository).is_some() {
            return;
        }
        let git = self.git_command();
        let dir = shell_path(self.repository.common_dir());
        let again = self.as_owner(format!("git hydrate install --server {dir}"));
        if !self.is_guarded() {
            // The key alone guards nothing.
            let remedy = if self.is_installed { format!("{git} config {GUARD} true") } else { again };
            let what = "hydrated branches are not guarded: anyone who can push can rewrite them";
            let named = [("hydrate.settingsPusher", &access.settings_pushers), ("hydrate.promoter", &access.promoters)];
            let named: Vec<&str> = named.iter().filter(|(_, names)| !names.is_empty()).map(|(key, _)| *key).collect();
            match named.is_empty() {
                true => self.advise(what, remedy),
                // The admin who set it counts on it.
                false => self
                    .bad(format!("{what} and the settings; {} keeps none of them from it", named.join(" or ")), remedy),
            }
            return;
        }
        let branches = survey.map(|survey| survey.branches.clone()).unwrap_or_default();
        let values = hidden_from_pushes(self.repository);
        let promoted = survey.map(|survey| survey.promoted.clone()).unwrap_or_default();
        let deployed = survey.map(|survey| survey.deployed.clone()).unwrap_or_default();
        let (open, closed): (Vec<_>, Vec<_>) = branches.iter().partition(|branch| !access.is_closed(branch));
        let closed = closed.into_iter().filter(|branch| !promoted.contains(*branch));
        let settings = (!access.settings_pushers.is_empty()).then(|| SETTINGS_REF.to_owned());
        let open = open.into_iter().map(BranchName::ref_name).chain(settings);
        let hidden = |name: &String| is_hidden(name, &values);
        let shut: Vec<String> = open.filter(hidden).collect();
        let records = [NOTES_REF, FAILURES_REF, REPLACE].map(str::to_owned).into_iter();
        let bare: Vec<String> = records.filter(|name| !hidden(name)).collect();
        // They came after the installation, as all do that a push makes.
        let new: Vec<&str> = closed.filter(|branch| !hidden(&branch.ref_name())).map(BranchName::as_str).collect();
        if !shut.is_empty() {
            let who = if shut == [SETTINGS_REF] { "settings pushers" } else { "promoters" };
            self.bad(format!("{who} cannot push to {}: it is hidden", shut.join(", ")), &again);
        }
        if !bare.is_empty() && self.has_gate {
            self.advise(format!("only the pre-receive hook guards {}", bare.join(", ")), &again);
        }
        if !new.is_empty() && self.has_gate {
            let too = "once installed again, git itself refuses pushes there too";
            self.good(format!("the pre-receive hook guards {}; {too}", new.join(", ")));
        }
        for (what, remedy) in without_promoter(access, (&deployed, &promoted), (&self.git_command(), &again)) {
            self.advise(what, remedy);
        }
        if is_executable(&self.repository.common_dir().join(GITEA)) {
            let (what, how) = unguarded_pages(&branches);
            self.good(format!("{what}: {how}"));
        }
        if !access.settings_pushers.is_empty() {
            self.good(format!("who may push the settings: {}", names(&access.settings_pushers)));
        }
        if !access.promoters.is_empty() {
            let patterns = self.repository.config_list("hydrate.promoted");
            let to = if patterns.is_empty() { "every hydrated branch".to_owned() } else { names(&patterns) };
            self.good(format!("who may promote: {} to {to}", names(&access.promoters)));
        }
        if !(access.promoters.is_empty() && access.settings_pushers.is_empty())
            && self.repository.config("hydrate.pusherVariable").is_none()
        {
            let remedy = format!("{git} config hydrate.pusherVariable VARIABLE");
            self.bad("the names of pushers are unknown: hydrate.pusherVariable is not set", remedy);
        }
        let variables = self.repository.config_list("hydrate.pusherVariable");
        if variables.len() > 1 {
            self.good(format!("pushers are named by the first of {} that is set", variables.join(", ")));
        }
        for variable in variables.iter().filter(|variable| variable.starts_with("GIT_PUSH_OPTION")) {
            let what = format!("hydrate.pusherVariable is {variable}, which pushers can set to any name");
            let remedy = format!(
                "name one that the hosting software sets, such as GL_USER: {git} config hydrate.pusherVariable VARIABLE"
            );
            self.bad(what, remedy);
        }
        if shut.is_empty() && bare.is_empty() && self.has_gate {
            self.good("hydrated branches are guarded");
        }
    }

    fn is_guarded(&self) -> bool {
        self.repository.config_protects(GUARD)
    }

    /// A word for strict mode that no one knows stops every push.
    fn strict(&mut self) {
        let known = ["", "off", "false", "no", "0", "touched", "true", "yes", "on", "1", "all"];
        let rows = [
            ("hydrate.strict", &known[..], "off, touched or all"),
            ("hydrate.strictUndecided", &["", "accept", "refuse"], "accept or refuse"),
        ];
        for (key, known, words) in rows {
            let value = self.repository.config(key).unwrap_or_default();
            if !known.contains(&value.as_str()) {
                let git = self.git_command();
                let what = format!("{key} is `{value}`, which is not a valid value, so pushes are refused");
                let remedy = match near(&value, known) {
                    Some(meant) => format!("{git} config {key} {meant}"),
                    None => format!("set it to {words}: {git} config {key} WORD"),
                };
                self.bad(what, remedy);
            }
        }
    }

    /// Whether pushes are to be judged before they go in.
    fn needs_gate(&self) -> bool {
        let strict = self.repository.config("hydrate.strict").unwrap_or_default();
        self.is_guarded() || !matches!(strict.as_str(), "" | "off" | "false" | "no" | "0")
    }

    /// A ref whose name is a directory of ours, or the other way round, keeps ours from being made.
    fn names(&mut self) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let notes = format!("{NOTES_REF}/");
        let above = refs.get("refs/hydrate").map(|_| ("refs/hydrate".to_owned(), "refs/hydrate/config"));
        let below = refs.below(&notes).map(|(rest, _)| (format!("{notes}{rest}"), NOTES_REF));
        for (taken, ours) in above.into_iter().chain(below) {
            let remedy = format!("{} update-ref -d {}", self.git_command(), shell_word(&taken));
            self.bad(format!("{taken} is in the way of {ours}"), remedy);
        }
        Ok(())
    }

    /// Whether hydration can make and move the branches that Applications name.
    fn branches(&mut self, branches: &BTreeSet<BranchName>) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let git = self.git_command();
        for branch in branches {
            let name = branch.as_str();
            if self.repository.checked_out(name) {
                let what = format!("{name} is checked out in a worktree, which would show each hydration as an edit");
                self.bad(what, "check out another branch there");
            }
            let above = name.match_indices('/').map(|(at, _)| name[..at].to_owned());
            let above = above.filter(|above| refs.branch(above).is_some());
            let below = format!("refs/heads/{name}/");
            let below = refs.below(&below).next().map(|(rest, _)| format!("{name}/{rest}"));
            for taken in above.chain(below) {
                let remedy = format!("{git} branch -m {} NAME", shell_word(&taken));
                self.bad(format!("the branch {taken} is in the way of {name}"), remedy);
            }
        }
        if !branches.is_empty() {
            let names: Vec<_> = branches.iter().map(BranchName::as_str).collect();
            self.good(format!("Applications hydrate to {}", names.join(", ")));
        }
        Ok(())
    }

    /// Branches that are promoted by directory, which the settings must say.
    fn active_paths(&mut self, survey: &Survey) {
        let git = format!("git -C {} hydrate", shell_path(self.repository.common_dir()));
        let applications = survey.applications.iter().map(|(_, application)| application);
        for unnamed in unnamed_active_paths(applications, |active| survey.settings.is_shared(active)) {
            let hint = unnamed.hint.unwrap_or_default();
            self.advise(unnamed.message, hint.replace("on the server: git hydrate", &git));
        }
    }

    /// Branches that the settings call dry, that do not exist, and that no other took the place of.
    fn missing_dry_branches(&mut self, dry_branches: &[BranchName]) -> Result<(), Error> {
        let refs = self.repository.refs()?;
        let git = self.git_command();
        if refs.below("refs/heads/").next().is_none() {
            return Ok(());
        }
        let is_missing = |name: &str| refs.branch(name).is_none() && !self.successors.contains_key(name);
        let missing: Vec<&BranchName> = dry_branches.iter().filter(|branch| is_missing(branch.as_str())).collect();
        for missing in missing {
            let name = shell_word(missing.as_str());
            let remedy = format!("push it, or name another: {git} hydrate config unset dryBranches {name}");
            self.bad(format!("the setting dryBranches names {missing}, which does not exist"), remedy);
        }
        Ok(())
    }

    /// The official tools, which the settings choose as the renderer.
    fn tools(&mut self, renderers: &Renderers, tools: Tools) {
        for tool in renderers.check_tools(tools) {
            match tool {
                Ok(good) => self.good(good),
                Err(error) => {
                    let remedy = "install it, or name it: git config hydrate.helm or hydrate.kustomize";
                    self.bad(format!("the renderer exec cannot work: {}", chain(&error)), remedy);
                }
            }
        }
    }

    fn reflogs(&mut self) {
        let git = self.git_command();
        if self.repository.config("core.logAllRefUpdates").is_none() {
            let remedy = format!("{git} config core.logAllRefUpdates true");
            let what = match is_executable(&self.repository.common_dir().join(GITEA)) {
                true => "when a branch moved",
                false => "who moved a branch",
            };
            self.advise(format!("there are no reflogs, which record {what}"), remedy);
        }
        let fsync = self.repository.fsync();
        if !fsync.loose_objects || !fsync.packs {
            let remedy = format!("{git} config core.fsync committed");
            self.advise("a power failure can lose a push that git has reported as done", remedy);
        }
    }

    fn bad_findings(&self) -> usize {
        self.findings.iter().filter(|finding| finding.health == Health::Bad).count()
    }

    fn good(&mut self, what: impl Into<String>) {
        self.findings.push(Finding { health: Health::Good, what: what.into(), remedy: None });
    }

    fn advise(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(Finding::advice(what, remedy));
    }

    fn bad(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(Finding::bad(what, remedy));
    }
}

/// How many accounts or branches a line names.
const NAMES_MAX: usize = 8;

fn names(all: &[String]) -> String {
    listed(all.iter().map(|name| printable(name)), NAMES_MAX)
}

/// How deep refs may nest before we stop looking below them.
const DEPTH_MAX: usize = 32;
