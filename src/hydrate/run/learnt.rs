//! What the first run finds out and writes down as a setting, so that no later push decides it anew.

use super::{DryHead, Run, Stopped};
use crate::application::BranchName;
use crate::diag::Diagnostic;
use crate::git::ObjectId;
use crate::hydrate::HydrateError;
use crate::hydrate::branch::METADATA;
use crate::hydrate::dry_branches::{self, Found};
use crate::hydrate::history::provenance;
use crate::hydrate::rules::Rules;
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
    /// Makes settings of what was found, when the first thing is hydrated: the dry branches, the URL of this repository as
    /// soon as it is proven, and whether Applications that others make are hydrated.
    pub(super) fn learn(&mut self, heads: &[DryHead]) -> Result<(), Stopped> {
        let knows_url = self.has_url() || self.is_known_well(heads);
        if self.learnt.has_dry_branches && knows_url && !self.is_to_make() {
            return Ok(());
        }
        let url = if knows_url { None } else { self.proven_url(heads)? };
        let mut is_hydrated = !self.owned.is_empty();
        // Settings that an admin wrote get no line that nothing needs.
        let mut is_needed = !self.learnt.has_dry_branches || url.is_some();
        for head in heads {
            if is_hydrated && is_needed {
                break;
            }
            let tree = self.dry_tree(head.tip, head, heads)?;
            is_hydrated |= tree.hydrated().next().is_some();
            is_needed |= self.is_to_make() && tree.has_makers();
        }
        if is_hydrated && is_needed { self.set(url) } else { Ok(()) }
    }

    /// The same before anything is hydrated.
    pub(super) fn learn_whatever_is_hydrated(&mut self, heads: &[DryHead]) -> Result<(), Stopped> {
        let url = self.proven_url(heads)?;
        if self.learnt.has_dry_branches && url.is_none() { Ok(()) } else { self.set(url) }
    }

    /// Whether Applications that others make are hydrated from the start, and no setting says so yet.
    fn is_to_make(&self) -> bool {
        self.rules.settings.made_applications.is_none() && self.is_new
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
        let mut found: Vec<(&str, Found)> = Vec::new();
        if !self.learnt.has_dry_branches {
            found.push(("dryBranches", Found::Names(self.dry_branches.iter().map(BranchName::to_string).collect())));
        }
        if self.is_to_make() {
            found.push(("madeApplications", Found::Yes));
        }
        found.extend(url.map(|url| ("repoURL", Found::Names(vec![url]))));
        if found.is_empty() {
            return Ok(());
        }
        // That what is made is hydrated is nothing that anyone would want to change.
        let is_noted = |(_, value): &&(&str, Found)| *value != Found::Yes;
        match dry_branches::settings_with(&found, &self.refs, &self.buffer) {
            Ok(settings) => {
                self.rules = Rules::at(Some(settings), &self.buffer)?;
                self.learnt = Learnt { has_dry_branches: true, settings: Some(settings) };
                let note = |(key, value): &(_, _)| {
                    format!("{key} is now set to {value}; to change it: git hydrate config set {key}")
                };
                self.report.notes.extend(found.iter().filter(is_noted).map(note));
            }
            Err(HydrateError::Settings(SettingsError::NotEditable)) => {
                // The next run would not know, so this one does not begin with it.
                self.rules.makes = self.rules.settings.made_applications;
                self.report.warnings.extend(found.iter().filter(is_noted).map(|(key, value)| {
                    let text =
                        format!("{key} is not set, and settings.yaml is written so that it cannot be set to {value}");
                    Diagnostic::warning(text).hint("add it on the server: git hydrate config edit")
                }));
            }
            Err(error) => return Err(error.into()),
        }
        // What they say of Applications rests on the settings.
        self.trees.clear();
        Ok(())
    }
}
