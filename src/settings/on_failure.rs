//! The setting `onFailure`: what becomes of a branch of which an Application fails.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SettingsError;
use super::field::one_or_many;
use crate::argo::{BranchName, Patterns};

/// What becomes of a branch of which an Application fails.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected `branch`, `application` or `{application: [BRANCH, …]}`")]
pub(crate) enum OnFailure {
    /// One rule for every branch.
    All(Held),
    /// [`Held::Application`] for some branches, [`Held::Branch`] for the others.
    Chosen(Chosen),
}

/// What stays as it is when an Application fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Held {
    /// The whole branch.
    Branch,
    /// The Application alone.
    Application,
}

/// The branches of which the Application alone stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Keys")]
pub(crate) struct Chosen {
    /// Globs of their names.
    pub application: Vec<String>,
}

/// [`Chosen`] as it is read.
type Keys = BTreeMap<String, Globs>;

/// A list, or one text in place of a list of one.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Globs(#[serde(deserialize_with = "one_or_many")] Vec<String>);

impl TryFrom<Keys> for Chosen {
    type Error = String;

    /// By way of a map: a list would be taken for the fields in their order.
    fn try_from(mut keys: Keys) -> Result<Self, String> {
        match (keys.remove("application"), keys.into_keys().next()) {
            (Some(Globs(application)), None) => Ok(Self { application }),
            (_, other) => Err(format!("unknown field `{}`", other.unwrap_or_default())),
        }
    }
}

impl Default for OnFailure {
    fn default() -> Self {
        Self::All(Held::Branch)
    }
}

impl OnFailure {
    /// What stays as it is on this branch.
    pub(crate) fn of(&self, branch: &BranchName) -> Held {
        let is_named = match self {
            Self::All(held) => return *held,
            Self::Chosen(Chosen { application }) if application.is_empty() => false,
            Self::Chosen(Chosen { application }) => {
                Patterns::new(application).is_ok_and(|patterns| patterns.matches(branch.as_str()))
            }
        };
        if is_named { Held::Application } else { Held::Branch }
    }

    /// The globs that match none of `branches`.
    pub(crate) fn unused<'b>(&self, branches: impl Iterator<Item = &'b BranchName> + Clone) -> Vec<&str> {
        let Self::Chosen(Chosen { application }) = self else { return Vec::new() };
        let is_used = |glob: &&str| {
            Patterns::new([*glob]).is_ok_and(|pattern| branches.clone().any(|branch| pattern.matches(branch.as_str())))
        };
        application.iter().map(String::as_str).filter(|glob| !is_used(glob)).collect()
    }

    /// Errors: an invalid glob.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let Self::Chosen(Chosen { application }) = self else { return Ok(()) };
        let checked = Patterns::new(application);
        checked.map(drop).map_err(|error| SettingsError::Wrong(format!("onFailure.application: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::settings::Settings;

    fn read(text: &str) -> Result<Settings, SettingsError> {
        Settings::read(&BTreeMap::from([("settings.yaml".to_owned(), text.as_bytes().to_vec())]))
    }

    #[test]
    fn a_word_holds_for_every_branch_and_globs_for_those_that_they_match() {
        let (branch, application) = (Held::Branch, Held::Application);
        let rows = [
            ("{}", "environments/dev", branch),
            ("onFailure: branch", "environments/dev", branch),
            ("onFailure: application", "environments/dev", application),
            ("onFailure: {application: environments/dev}", "environments/dev", application),
            ("onFailure: {application: [environments/*]}", "environments/dev", application),
            ("onFailure: {application: [environments/*]}", "live/dev", branch),
            ("onFailure: {application: []}", "environments/dev", branch),
        ];
        for (text, name, expected) in rows {
            let settings = read(text).expect(text);
            assert_eq!(settings.on_failure.of(&BranchName::new(name).expect("a branch")), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        let allowed = "expected `branch`, `application` or `{application: [BRANCH, …]}`";
        let rows = [
            ("onFailure: set", allowed),
            ("onFailure: [application]", allowed),
            ("onFailure: ['{application: [a]}']", allowed),
            ("onFailure: {}", allowed),
            ("onFailure: {application: [a], branch: [b]}", allowed),
            ("onFailure: {branch: [a]}", allowed),
            ("onFailure: {application: ['[']}", "onFailure.application: "),
        ];
        for (text, expected) in rows {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with("settings.yaml:") && error.contains(expected), "{text}: {error}");
        }
    }
}
