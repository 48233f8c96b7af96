//! What the first run finds out and writes down as a setting, so that no later push decides it anew.

use super::{DryHead, Run, Stopped};
use crate::application::BranchName;
use crate::diag::Diagnostic;
use crate::git::ObjectId;
use crate::hydrate::branch::METADATA;
use crate::hydrate::history::provenance;
use crate::hydrate::rules::Rules;
use crate::hydrate::{HydrateError, dry_branches};
use crate::settings::SettingsError;

/// What a run found out that is to be a setting.
#[derive(Debug)]
pub(super) struct Learnt {
    /// Whether the setting `dryBranches` names the dry branches.
    has_dry_branches: bool,
    /// The commit of the settings with what was found out.
    pub settings: Option<ObjectId>,
}

impl Learnt {
    /// Nothing yet.
    pub fn new(has_dry_branches: bool) -> Self {
        Self { has_dry_branches, settings: None }
    }
}

impl Run<'_> {
    /// Makes settings of the dry branches that were found, when the first thing is hydrated from them, and of the URL of
    /// this repository as soon as it is proven.
    pub(super) fn learn(&mut self, heads: &[DryHead]) -> Result<(), Stopped> {
        if self.learnt.has_dry_branches && (self.has_url() || self.is_known_well(heads)) {
            return Ok(());
        }
        let url = self.proven_url(heads)?;
        let mut is_hydrated = !self.owned.is_empty() || url.is_some();
        if !self.learnt.has_dry_branches {
            for head in heads {
                is_hydrated = is_hydrated || self.dry_tree(head.tip, head, heads)?.hydrated().next().is_some();
            }
        }
        if is_hydrated { self.set(url) } else { Ok(()) }
    }

    /// The same before anything is hydrated.
    pub(super) fn learn_whatever_is_hydrated(&mut self, heads: &[DryHead]) -> Result<(), Stopped> {
        let url = self.proven_url(heads)?;
        self.set(url)
    }

    fn has_url(&self) -> bool {
        !self.rules.settings.repo_urls.is_empty()
    }

    /// Whether the cache knows the default dry branch, so that nothing about its Applications needs to be found out.
    fn is_known_well(&self, heads: &[DryHead]) -> bool {
        let Some(head) = self.default_head(heads) else { return true };
        self.recall(head).is_some_and(|state| self.is_start(&state, head, heads))
    }

    fn default_head<'h>(&self, heads: &'h [DryHead]) -> Option<&'h DryHead> {
        let default = self.default_branch()?;
        heads.iter().find(|head| head.branch == *default)
    }

    /// The URL of this repository, where no setting has it: the one that all our own metadata name, else the one that the
    /// Applications of the default dry branch prove.
    fn proven_url(&mut self, heads: &[DryHead]) -> Result<Option<String>, Stopped> {
        if self.has_url() {
            return Ok(None);
        }
        let mut recorded: Vec<String> = Vec::new();
        for (_, record) in self.owned.iter().filter(|(_, record)| !record.initial) {
            let Ok(tip) = self.buffer.commit(record.tip) else { continue };
            let found = provenance(&self.buffer, tip.tree, METADATA)?.map(|found| found.repo_url);
            recorded.extend(found.filter(|url| !url.is_empty()));
        }
        recorded.sort_unstable();
        recorded.dedup();
        if let [only] = &recorded[..] {
            return Ok(Some(only.clone()));
        }
        let Some(head) = self.default_head(heads) else { return Ok(None) };
        Ok(self.dry_tree(head.tip, head, heads)?.proven_url.clone())
    }

    /// Makes a commit of settings with what was found out, and goes on with it.
    fn set(&mut self, url: Option<String>) -> Result<(), Stopped> {
        let mut found: Vec<(&str, Vec<String>)> = Vec::new();
        if !self.learnt.has_dry_branches {
            found.push(("dryBranches", self.dry_branches.iter().map(BranchName::to_string).collect()));
        }
        found.extend(url.map(|url| ("repoURL", vec![url])));
        if found.is_empty() {
            return Ok(());
        }
        match dry_branches::settings_with(&found, &self.refs, &self.buffer) {
            Ok(settings) => {
                self.rules = Rules::at(Some(settings), &self.buffer)?;
                self.learnt = Learnt { has_dry_branches: true, settings: Some(settings) };
                // What they say of Applications rests on the settings.
                self.trees.clear();
                self.report.notes.extend(found.iter().map(|(key, values)| {
                    let values = values.join(", ");
                    format!("{key} is now set to {values}; to change it: git hydrate config set {key}")
                }));
            }
            Err(HydrateError::Settings(SettingsError::NotEditable)) => {
                self.report.warnings.extend(found.iter().map(|(key, values)| {
                    let values = values.join(", ");
                    let text =
                        format!("{key} is not set, and settings.yaml is written so that it cannot be set to {values}");
                    Diagnostic::warning(text).hint("add it on the server: git hydrate config edit")
                }));
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
