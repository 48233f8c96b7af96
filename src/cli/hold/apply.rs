//! Other holds: shown, asked for, set, and put into effect.

use std::io::{IsTerminal as _, Write as _};

use anyhow::{Context as _, bail};
use dry_files::diag::{printable, shell_word};

use super::super::screen::Screen;
use super::super::{Outcome, WrongUse, catch_up, config, machine, output};
use super::target::promoted;
use super::{Site, Way};
use crate::owners::dry_branches::keep_settings;
use crate::owners::settings_named::{SETTINGS_REF_KEY, by_settings};
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::render::Renderers;
use crate::render::process::wall;
use crate::settings::{HOLD_FILE, Holds, SETTINGS_REF};
use crate::show::changes::{Changes, Detail, Form, json, text};
use crate::show::{Progress, Wording, summary};

/// A change of what is held.
pub(super) struct Change<'a> {
    pub site: &'a Site,
    /// What shall be held.
    pub holds: Holds,
    /// What the commit of the settings says.
    pub message: String,
    /// Whether a branch is held then, and not released.
    pub is_held: bool,
}

impl Change<'_> {
    /// Shows it, asks, and makes it.
    pub(super) fn make(self, way: &Way, is_json: bool) -> anyhow::Result<Outcome> {
        let clone = &self.site.clone;
        let mut files = self.site.files.clone();
        self.holds.write(&mut files);
        let changes = self.changes(&files)?;
        if let Some(first) = changes.problems.first().filter(|_| self.is_held) {
            bail!("{first}");
        }
        show(self.site, &changes, is_json)?;
        if way.dry_run {
            if is_json {
                output::print_document(&json(&changes))?;
            }
            return Ok(if changes.is_empty() { Outcome::Done } else { Outcome::Found });
        }
        if let Some(name) = clone.repository.config(SETTINGS_REF_KEY).filter(|_| clone.has_remote()) {
            let held = files.get(HOLD_FILE).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default();
            bail!(WrongUse(format!(
                "the settings are in `{name}`, which hydration does not write\nhint: commit this there, as {HOLD_FILE}:\n{held}"
            )));
        }
        if !way.yes && !confirmed(&self.message)? {
            output::print("nothing was changed\n")?;
            return Ok(Outcome::Found);
        }
        if !config::write(&clone.repository, &files, &self.message)? && !self.is_held {
            bail!("the settings say so already");
        }
        match clone.remote() {
            Some(remote) => self.push(remote, is_json),
            None => self.hydrate(is_json),
        }
    }

    /// What would change on the branch.
    fn changes(&self, files: &crate::settings::SettingsFiles) -> anyhow::Result<Changes> {
        let clone = &self.site.clone;
        let before = clone.repository.refs()?.get(SETTINGS_REF);
        let id = keep_settings(&clone.repository, files, before)?;
        let repository = by_settings(Some(id), &clone.repository)?;
        let renderers = Renderers::from_config(&repository, &machine()?)?;
        let progress = Progress::new();
        let setup = Setup::new(&repository, clone.place.clone(), Wake::Everything, &renderers, wall::now());
        let setup = Setup { observer: &progress, ..setup };
        let preview = progress.during(|| preview::preview_held(&setup, &self.site.branch));
        match clone.explain(preview)? {
            Some(preview) => Ok(Changes::new(preview, false)),
            None => Err(promoted(&self.site.branch)),
        }
    }

    /// On the server.
    fn hydrate(&self, is_json: bool) -> anyhow::Result<Outcome> {
        let report = catch_up::all(&self.site.clone.repository)?;
        match is_json {
            true => output::print_json(&serde_json::json!({ "changed": true, "report": report }))?,
            false => output::print(summary(&report, Wording::Terminal))?,
        }
        Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
    }

    /// In a clone: the server's hook hydrates.
    fn push(&self, remote: &str, is_json: bool) -> anyhow::Result<Outcome> {
        let command = format!("git push {} {SETTINGS_REF}", shell_word(remote));
        // What the hook says comes on standard error.
        let pushed =
            self.site.clone.repository.git().command().args(["push", "--quiet", remote, SETTINGS_REF]).status();
        if !pushed.context("starting git")?.success() {
            bail!("the settings are changed here and not pushed\nhint: {command}");
        }
        if is_json {
            output::print_json(&serde_json::json!({ "changed": true, "pushed": SETTINGS_REF }))?;
        }
        Ok(Outcome::Done)
    }
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
