//! The settings of a repository, with those that are proposed.

use serde::Serialize;

use super::super::check::Tree;
use super::Judged;
use crate::argo::{Rule, Standing, ToolSettings};
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::RECORDS_REF;
use crate::owners::error::HydrateError;
use crate::owners::policy::{Policy, settings_files};
use crate::repo::ObjectBuffer;
use crate::settings::{SETTINGS_FILE, SETTINGS_REF, Settings, SettingsError, SettingsFiles, Value, edit};
use crate::versions::Tools;

/// A setting to write.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ProposedSetting {
    /// Its key.
    pub key: &'static str,
    /// Its value.
    pub value: Value,
    /// What speaks for it, in a few words.
    pub why: String,
}

/// Where a plain Application goes that no rule is for: to a path that no other one has.
const NOWHERE: (&str, &str) = ("git-hydrate-adopt", "{{ file }}/{{ namespace | default('-') }}/{{ name }}");

/// The settings as they would be.
#[derive(Debug)]
pub(crate) struct Draft {
    pub files: SettingsFiles,
    pub proposed: Vec<ProposedSetting>,
}

impl Draft {
    /// The settings that there are, and a rule for all plain Applications when one is asked for.
    ///
    /// Errors: rules that such a rule cannot replace.
    pub(super) fn of(tree: &Tree<'_>, rules: &[Rule]) -> Result<Self, HydrateError> {
        let files = match tree.repository {
            Some((repository, _)) => settings_files(&repository.refs()?, &ObjectBuffer::new(repository))?.1,
            None => SettingsFiles::new(),
        };
        let mut draft = Self { files, proposed: Vec::new() };
        let Some(rule) = rules.first() else { return Ok(draft) };
        let known = draft.settings()?.rules;
        if known.iter().any(|known| !known.is_for_all()) {
            let text = "rules: there are rules with `match`, which patterns cannot replace: git hydrate config edit; \
                        to begin anew: git hydrate config unset rules, and this command again";
            return Err(SettingsError::Wrong(text.to_owned()).into());
        }
        if known != [rule.clone()] {
            draft.set("rules", Value::of(&[rule])?, "where plain Applications go".to_owned())?;
        }
        Ok(draft)
    }

    pub(super) fn settings(&self) -> Result<Settings, HydrateError> {
        Ok(Settings::read(&self.files)?)
    }

    /// Whether it is known where plain Applications go.
    pub(super) fn has_rules(&self) -> bool {
        self.settings().is_ok_and(|settings| !settings.rules.is_empty())
    }

    /// How many rules of the settings there are; one after them is never written.
    pub(crate) fn rules_count(&self) -> usize {
        self.settings().map_or(0, |settings| settings.rules.len())
    }

    /// Whether the settings say something of a key, which may be what holds without it.
    pub(super) fn is_set(&self, key: &str) -> Result<bool, HydrateError> {
        Ok(edit::get(&self.text(), key)?.is_some())
    }

    fn text(&self) -> String {
        self.files.get(SETTINGS_FILE).map(|text| String::from_utf8_lossy(text).into_owned()).unwrap_or_default()
    }

    pub(super) fn set(&mut self, key: &'static str, value: Value, why: String) -> Result<(), HydrateError> {
        let text = edit::set(&self.text(), key, Some(value.clone()))?;
        self.files.insert(SETTINGS_FILE.to_owned(), text.into_bytes());
        let setting = ProposedSetting { key, value, why };
        match self.proposed.iter_mut().find(|proposed| proposed.key == key) {
            Some(proposed) => *proposed = setting,
            None => self.proposed.push(setting),
        }
        Ok(())
    }

    /// What the settings say, with a rule behind all others for Applications that none is for.
    pub(super) fn policy(&self) -> Result<Policy, HydrateError> {
        self.policy_with(self.settings()?.rules)
    }

    /// What the settings say, but that no rule leaves an Application out.
    pub(super) fn policy_of_all(&self) -> Result<Policy, HydrateError> {
        self.policy_with(Vec::new())
    }

    fn policy_with(&self, rules: Vec<Rule>) -> Result<Policy, HydrateError> {
        let mut policy = Policy::of(&self.files)?;
        policy.settings.rules = rules;
        policy.settings.rules.push(Rule::of_all(NOWHERE.0, NOWHERE.1).expect("it compiles"));
        let plain = policy.settings.rule_set();
        policy.plain = if self.is_proposed("rules") { plain.proposed() } else { plain };
        policy.makes = Some(policy.settings.made_applications.unwrap_or(true));
        Ok(policy)
    }

    pub(super) fn is_proposed(&self, key: &str) -> bool {
        self.proposed.iter().any(|proposed| proposed.key == key)
    }

    /// The newest tools, in settings that are new. What was hydrated without any stays as it is.
    pub(super) fn newest_tools(&mut self, tree: &Tree<'_>) -> Result<(), HydrateError> {
        let Some((repository, _)) = tree.repository else { return Ok(()) };
        let refs = repository.refs()?;
        if [SETTINGS_REF, RECORDS_REF, NOTES_REF].iter().any(|name| refs.get(name).is_some()) {
            return Ok(());
        }
        let tools = Value::of(&ToolSettings::exact(Tools::newest()))?;
        self.set(
            "tools",
            tools,
            "the newest; those of your Argo CD: git hydrate config set tools argocd=VERSION".to_owned(),
        )
    }

    /// Settings that are new let Applications name tags, ranges and commits. Where some do already, that is for an admin to decide.
    pub(super) fn revisions(&mut self, judged: &Judged) -> Result<(), HydrateError> {
        if !self.is_proposed("tools") || judged.verdict.standings.contains(&Standing::Pinned) {
            return Ok(());
        }
        self.set("revisions", true.into(), "targetRevision may be a tag, a range or a commit".to_owned())
    }

    /// Where something makes Applications, they are hydrated.
    pub(super) fn made_applications(&mut self, judged: &Judged) -> Result<(), HydrateError> {
        let discovered = &judged.discovered;
        let is_made = discovered.applications.iter().any(|application| application.maker.is_some());
        if self.settings()?.made_applications.is_some() || (discovered.sets.is_empty() && !is_made) {
            return Ok(());
        }
        self.set("madeApplications", true.into(), "ApplicationSets or Applications make others".to_owned())
    }
}
