//! Other holds: shown, asked for, set, and put into effect.

use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, bail};
use dry_files::diag::{Diagnostic, printable};

use super::super::screen::Screen;
use super::super::{Outcome, WrongUse, catch_up, config, machine, output, unpushed};
use super::target::Target;
use super::{Site, Way};
use crate::hydrate::{BehindPath, BranchReport, HeldAlone};
use crate::owners::dry_branches::keep_settings;
use crate::owners::settings_named::{SETTINGS_REF_KEY, by_settings};
use crate::owners::setup::{Setup, Wake};
use crate::preview::{self, Preview};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::Refs;
use crate::settings::{HOLD_FILE, Holds, SETTINGS_REF, SettingsFiles};
use crate::show::changes::{Changes, Detail, Form, json, text};
use crate::show::{Progress, Wording, summary};
use crate::tell::hook::Strict;

/// Up to how many Applications that change are shown to who is not asked: a list of thousands takes longer than the rollback.
const SHOWN_MAX: usize = 100;

/// A change of what is held.
pub(super) struct Change<'a> {
    pub site: &'a Site,
    /// What shall be held.
    pub holds: Holds,
    /// What the commit of the settings says.
    pub message: String,
    /// What is asked before.
    pub question: String,
    /// What does it on the server, behind `git hydrate`.
    pub command: String,
    /// Where the branch goes, or stays; none where it is let go.
    pub target: Option<Target>,
    /// What is wrong if no object changes.
    pub nothing: Option<String>,
    /// The Applications that are named.
    pub names: &'a [String],
    /// Whether a branch is held then, and not released.
    pub is_held: bool,
}

impl Change<'_> {
    /// Shows it, asks, and makes it.
    pub(super) fn make(self, way: &Way, is_json: bool) -> anyhow::Result<Outcome> {
        let mut files = self.site.files.clone();
        self.holds.write(&mut files);
        let preview = self.preview(&files)?;
        if let Some(first) = preview.problems.first().filter(|_| self.is_held) {
            return Err(wrong(first));
        }
        let count: usize = preview.environments.iter().map(|one| one.paths.len()).sum();
        if self.is_held && way.yes && !way.dry_run && count > SHOWN_MAX {
            self.refuse_named_settings(&files)?;
            if !is_json {
                self.print_target()?;
                output::print(format!("{}: {count} Applications change; --dry-run shows how\n", self.site.branch))?;
            }
            return self.set(&files, true, is_json);
        }
        let refused = preview.warnings.iter().filter(|warning| warning.is_refused_strictly).cloned().collect();
        let changes = Changes::new(preview, false);
        if changes.is_empty() {
            changes.warnings.iter().for_each(output::warn);
        }
        if let Some(nothing) = self.nothing.as_ref().filter(|_| changes.is_empty()) {
            bail!(WrongUse(nothing.clone()));
        }
        if !is_json {
            self.print_target()?;
        }
        show(self.site, &changes, is_json)?;
        let stuck = if self.is_held { None } else { self.stuck(&changes) };
        let refused = self.refused(&changes, refused)?;
        if way.dry_run {
            if is_json {
                output::print_document(&Shown { to: self.target.as_ref(), changes: json(&changes) })?;
            }
            if stuck.is_some() || !refused.is_empty() {
                stuck.iter().chain(&refused).for_each(output::warn);
                return Ok(Outcome::Found);
            }
            return Ok(if changes.is_empty() { Outcome::Done } else { Outcome::Found });
        }
        if stuck.is_some() || !refused.is_empty() {
            stuck.iter().chain(&refused).for_each(output::warn);
            output::warn(&format!("{} stays held: nothing was changed", self.site.branch));
            return Ok(Outcome::Found);
        }
        self.refuse_named_settings(&files)?;
        if !way.yes && !confirmed(&self.question)? {
            output::print("nothing was changed\n")?;
            return Ok(Outcome::Found);
        }
        self.set(&files, !changes.is_empty(), is_json)
    }

    /// Where the branch goes.
    fn print_target(&self) -> anyhow::Result<()> {
        let target = self.target.as_ref().map(|target| format!("{}: to {target}\n", self.site.branch));
        output::print(target.unwrap_or_default())
    }

    /// Errors: the settings here are those of a branch, or wait for a push.
    fn refuse_named_settings(&self, files: &SettingsFiles) -> anyhow::Result<()> {
        let clone = &self.site.clone;
        if let Some(name) = clone.repository.config(SETTINGS_REF_KEY).filter(|_| clone.has_remote()) {
            let held = files.get(HOLD_FILE).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
            bail!(WrongUse(format!(
                "the settings are in `{name}`, which hydration does not write\nhint: commit this there, as {HOLD_FILE}:\n{held}"
            )));
        }
        clone.refuse_unpushed_settings()
    }

    /// Sets it, and puts it into effect. `moves` says whether the branch gets a commit by it.
    fn set(&self, files: &SettingsFiles, moves: bool, is_json: bool) -> anyhow::Result<Outcome> {
        let clone = &self.site.clone;
        let before = clone.repository.refs()?;
        if !config::write(&clone.repository, files, &self.message)? && !self.is_held {
            bail!("the settings say so already");
        }
        match clone.remote() {
            Some(remote) => self.push(remote, &before, moves, is_json),
            None => self.hydrate(is_json),
        }
    }

    /// Why what is let go would stay as it is: it does not render.
    fn stuck(&self, changes: &Changes) -> Option<Diagnostic> {
        let ours = changes.environments.iter().map(|one| &one.branch).find(|one| one.branch == self.site.branch)?;
        let is_named = |behind: &&BehindPath| {
            let name = behind.application.as_deref();
            !behind.paused && name.is_some_and(|name| self.names.iter().any(|own| own.rsplit('/').next() == Some(name)))
        };
        let fails = ours.behind.iter().find(is_named).and(ours.failures.first());
        ours.mistakes.first().or(fails).or(changes.problems.first()).cloned()
    }

    /// What of `refused` keeps what is let go from being deployed: on a server in strict mode what a push would be refused for. In a
    /// clone the server judges it, when it gets the settings.
    fn refused(&self, changes: &Changes, refused: Vec<Diagnostic>) -> anyhow::Result<Vec<Diagnostic>> {
        let clone = &self.site.clone;
        if self.is_held || refused.is_empty() || clone.has_remote() || Strict::read(&clone.repository)?.is_none() {
            return Ok(Vec::new());
        }
        let ours = changes.environments.iter().filter(|one| one.branch.branch == self.site.branch);
        let names: Vec<&str> =
            ours.flat_map(|one| &one.applications).filter_map(|one| Some(one.name.as_ref()?.as_str())).collect();
        let is_ours = |refused: &Diagnostic| refused.application.as_deref().is_none_or(|name| names.contains(&name));
        Ok(refused.iter().filter(|refused| is_ours(refused)).map(Diagnostic::as_error).collect())
    }

    /// What would change on the branch.
    fn preview(&self, files: &SettingsFiles) -> anyhow::Result<Preview> {
        let clone = &self.site.clone;
        let before = clone.repository.refs()?.get(SETTINGS_REF);
        let id = keep_settings(&clone.repository, files, before)?;
        let repository = by_settings(Some(id), &clone.repository)?;
        let renderers = Renderers::from_config(&repository, &machine()?)?;
        let progress = Progress::new();
        let setup = Setup::new(&repository, clone.place.clone(), Wake::Everything, &renderers, wall::now());
        let setup = Setup { observer: &progress, discovery: Some(&self.site.discovery), ..setup };
        match clone.explain(progress.during(|| preview::preview_held(&setup, &self.site.branch)))? {
            Some(preview) => Ok(preview),
            None => Err(self.site.promoted()?),
        }
    }

    /// On the server.
    fn hydrate(&self, is_json: bool) -> anyhow::Result<Outcome> {
        let report = catch_up::after(&self.site.clone.repository, &self.site.discovery)?;
        match is_json {
            true => output::print_json(&serde_json::json!({ "changed": true, "report": report }))?,
            false => output::print(summary(&report, Wording::Terminal))?,
        }
        if !is_json {
            self.print_held()?;
        }
        // What is wrong with other branches is as it was.
        let is_done =
            report.branches.iter().filter(|one| one.branch == self.site.branch.as_str()).all(BranchReport::is_success);
        Ok(if is_done { Outcome::Done } else { Outcome::Found })
    }

    /// Says which of the Applications that are named are held now.
    fn print_held(&self) -> anyhow::Result<()> {
        let holds = if self.is_held { self.holds.of_branch(&self.site.branch) } else { &[] };
        let held = HeldAlone::all(holds).into_iter().filter(|held| self.names.contains(&held.application));
        let text: String = held.map(|held| format!("of {}, {held}\n", self.site.branch)).collect();
        output::print(text)
    }

    /// In a clone: the server's hook hydrates.
    fn push(&self, remote: &str, before: &Refs, moves: bool, is_json: bool) -> anyhow::Result<Outcome> {
        let old = if moves { self.there(remote)? } else { None };
        // What the hook says comes on standard error.
        let pushed =
            self.site.clone.repository.git().command().args(["push", "--quiet", remote, SETTINGS_REF]).status();
        if !pushed.context("starting git")?.success() {
            unpushed::restore(&self.site.clone.repository, before)?;
            let remote = printable(remote);
            let command = printable(&self.command);
            bail!(
                "nothing was changed, here or there: `{remote}` does not take the settings from you\nhint: an admin runs on the \
                 server, in the repository: git hydrate {command}"
            );
        }
        let stays = old.is_some() && self.there(remote)? == old;
        match is_json {
            true => {
                output::print_json(
                    &serde_json::json!({ "changed": true, "pushed": SETTINGS_REF, "moved": moves && !stays }),
                )?;
            }
            false => self.print_held()?,
        }
        if stays {
            let text = format!("`{}` has not moved yet: no hook of `{remote}` hydrated it", self.site.branch);
            let hint = "where a job hydrates: commit hold.yaml to the branch with its settings, and run it; or, with these settings: \
                        git hydrate push --settings-ref refs/hydrate/config";
            output::warn(&Diagnostic::warning(text).hint(hint));
            return Ok(Outcome::Found);
        }
        Ok(Outcome::Done)
    }

    /// What the remote says that the branch is at; none of a branch of another repository.
    fn there(&self, remote: &str) -> anyhow::Result<Option<String>> {
        let name = format!("refs/heads/{}", self.site.branch);
        let listing = self.site.clone.repository.git().output(&["ls-remote", "--refs", "--", remote, &name])?;
        let listing = String::from_utf8_lossy(&listing);
        Ok(listing.split_whitespace().next().map(str::to_owned))
    }
}

/// Changes for programs, with where the branch goes.
#[derive(serde::Serialize)]
struct Shown<'a, T> {
    #[serde(flatten)]
    changes: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<&'a Target>,
}

/// What is wrong, as the error of a command.
fn wrong(diagnostic: &Diagnostic) -> anyhow::Error {
    let hint = diagnostic.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    anyhow::anyhow!("{}{hint}", diagnostic.message)
}

/// Shows what would change.
pub(super) fn show(site: &Site, changes: &Changes, is_json: bool) -> anyhow::Result<()> {
    if is_json {
        return Ok(());
    }
    let screen = Screen::new(Some(&site.clone.repository));
    let form = Form { paint: screen.paint(), wraps: screen.is_terminal() };
    match changes.is_empty() {
        true => output::print(format!("{}: no object changes now\n", site.branch)),
        false => output::print(text(changes, Detail::Fields { with_noise: false }, form)),
    }
}

/// Whether the user wants it.
pub(super) fn confirmed(what: &str) -> anyhow::Result<bool> {
    if !std::io::stdin().is_terminal() {
        bail!(WrongUse("this asks at a terminal only: --yes does it without".to_owned()));
    }
    let mut stderr = std::io::stderr().lock();
    write!(stderr, "{}? [y/N] ", printable(what)).and_then(|()| stderr.flush()).context("asking")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).context("reading the answer")?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
