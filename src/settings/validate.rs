//! The setting `validate`: what becomes of objects that an API server would refuse.

use std::fmt;
use std::str::FromStr;

use super::{Settings, SettingsError};
use kube_validate::WARNINGS;

/// What becomes of a push that brings objects which an API server would refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Validate {
    /// Objects are not judged.
    Off,
    /// The pusher is warned.
    #[default]
    Warn,
    /// In strict mode the push is refused; else the pusher is warned.
    Refuse,
}

impl Validate {
    fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Warn => "warn",
            Self::Refuse => "refuse",
        }
    }
}

impl FromStr for Validate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = [Self::Off, Self::Warn, Self::Refuse].into_iter().find(|known| known.word() == text);
        known.ok_or_else(|| format!("`{text}` must be `off`, `warn` or `refuse`"))
    }
}

impl fmt::Display for Validate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Settings {
    /// Warnings that are switched off are known.
    ///
    /// Errors: the first that is not.
    pub(super) fn check_warnings(&self) -> Result<(), SettingsError> {
        let is_known = |name: &&String| WARNINGS.iter().any(|(known, _)| known == name);
        match self.silent_warnings.iter().find(|name| !is_known(name)) {
            Some(name) => {
                let known: Vec<&str> = WARNINGS.iter().map(|(name, _)| *name).collect();
                Err(SettingsError::Wrong(format!("silentWarnings: `{name}` is none of {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::argo::BranchName;

    fn read(text: &str) -> Result<Settings, SettingsError> {
        Settings::read(&BTreeMap::from([("settings.yaml".to_owned(), text.as_bytes().to_vec())]))
    }

    #[test]
    fn a_word_holds_for_all_branches_and_of_globs_the_first_that_matches() {
        let rows = [
            ("{}", "environments/prod", Validate::Warn),
            ("validate: off", "environments/prod", Validate::Off),
            ("validate: refuse", "environments/prod", Validate::Refuse),
            ("validate: {environments/prod: refuse, '*': off}", "environments/prod", Validate::Refuse),
            ("validate: {environments/*: off, environments/prod: refuse}", "environments/prod", Validate::Off),
            ("validate: {environments/prod: refuse}", "environments/dev", Validate::Warn),
            // A glob of the deployed branch is one of its staging branch.
            ("validate: {live: refuse}", "live-next", Validate::Refuse),
        ];
        for (text, branch, expected) in rows {
            let (settings, branch) = (read(text).expect(text), BranchName::new(branch).expect("a branch"));
            let sync = BranchName::new(branch.as_str().trim_end_matches("-next")).expect("a branch");
            assert_eq!(settings.validate.of(&branch, &sync).copied().unwrap_or_default(), expected, "{text}");
        }
    }

    #[test]
    fn a_version_needs_no_quotes() {
        let branch = BranchName::new("environments/prod").expect("a branch");
        let rows = [
            ("{}", None),
            ("kubernetes: 1.30", Some("1.30")),
            ("kubernetes: 'v1.36.3'", Some("1.36")),
            ("kubernetes: {environments/prod: 1.40, environments/*: 1.31}", Some("1.40")),
            ("kubernetes: {environments/dev: 1.31}", None),
        ];
        for (text, expected) in rows {
            let settings = read(text).expect(text);
            let version = settings.kubernetes.of(&branch, &branch).map(ToString::to_string);
            assert_eq!(version.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        let rows = [
            ("validate: on", "validate: `on` must be `off`, `warn` or `refuse`"),
            ("validate: [warn]", "validate: invalid type: sequence, expected a word, or a mapping"),
            ("validate: {a: never}", "validate: `never` must be `off`, `warn` or `refuse`"),
            ("validate: {'[': warn}", "validate: `[` is not a valid pattern"),
            ("kubernetes: 2.1", "kubernetes: `2.1` is not a version of Kubernetes; known are 1."),
            ("crds: ../crds", "crds: `../crds` is not the path of a file"),
            ("silentWarnings: image", "silentWarnings: `image` is none of any-pod-selected, "),
        ];
        for (text, expected) in rows {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with("settings.yaml:") && error.contains(expected), "{text}: {error}");
        }
    }
}
