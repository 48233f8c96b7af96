//! The setting `hold`: branches, or single Applications of them, that stay as a hydrated commit has them.
//!
//! It has a file of its own, so that a hold is no change of what hydration goes by: no commit of another branch names the
//! settings that have it, and its own branch is hydrated on with the settings that it had.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frozen::{end, is_reason};
use super::value::{Mapping, Value};
use super::{Freeze, HOLD_FILE, SettingsError, SettingsFiles, reader, shape};
use crate::argo::{AppName, Application, BranchName};
use crate::metadata::Time;
use crate::repo::{ObjectId, object_id};

/// How many Applications of a branch may be named.
const APPLICATIONS_MAX: usize = 1000;

/// What is held, by branch.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Holds(BTreeMap<BranchName, Hold>);

/// Where a branch stays, or some of its Applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The hydrated commit of the branch whose files it has.
    pub at: ObjectId,
    /// Why.
    pub reason: String,
    /// The Applications that stay, `NAME` or `NAMESPACE/NAME`, in order; the whole branch when there are none.
    pub applications: Vec<String>,
    /// When somebody should end it, as written. It does not end by itself.
    pub until: Option<String>,
    /// Whether it may take any number of objects from clusters.
    pub allow_removal: bool,
}

/// [`Hold`] as it is written.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    at: String,
    reason: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    applications: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    allow_removal: bool,
}

impl Hold {
    /// What keeps the whole branch from getting commits.
    pub(crate) fn freeze(&self) -> Freeze {
        Freeze { reason: self.reason.clone(), until: self.until.clone(), at: Some(self.at) }
    }

    /// Whether it is of the whole branch.
    pub(crate) fn is_whole(&self) -> bool {
        self.applications.is_empty()
    }

    /// Whether an Application of its branch is one of those that stay.
    pub(crate) fn has(&self, application: &Application) -> bool {
        self.is_whole() || self.applications.iter().any(|name| is_name_of(name, application))
    }

    /// Whether an Application of this name is one of those that stay.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.applications.iter().any(|own| own.rsplit_once('/').map_or(own.as_str(), |(_, name)| name) == name)
    }

    /// Whether somebody should have ended it before `now`, in seconds since 1970.
    pub(crate) fn is_over(&self, now: i64) -> bool {
        self.until.as_deref().and_then(end).is_some_and(|end: Time| end.seconds() <= now)
    }
}

/// Whether `NAME` or `NAMESPACE/NAME` names an Application.
pub(crate) fn is_name_of(name: &str, application: &Application) -> bool {
    match name.split_once('/') {
        Some((namespace, name)) => {
            application.name.as_str() == name
                && application.namespace.as_ref().is_some_and(|own| own.as_str() == namespace)
        }
        None => application.name.as_str() == name,
    }
}

impl Holds {
    /// The file, of a folder of settings.
    ///
    /// Errors: [`SettingsError::Hold`].
    pub(crate) fn read(files: &SettingsFiles) -> Result<Self, SettingsError> {
        let Some(text) = files.get(HOLD_FILE) else { return Ok(Self::default()) };
        let text = std::str::from_utf8(text).map_err(|_| SettingsError::NotUtf8(HOLD_FILE.to_owned()))?;
        Self::of(text).map_err(|error| match error {
            SettingsError::At { line, column, what } => SettingsError::Hold(format!("{line}:{column}: {what}")),
            SettingsError::Wrong(what) => SettingsError::Hold(format!(" {what}")),
            other => other,
        })
    }

    fn of(text: &str) -> Result<Self, SettingsError> {
        let document = reader::read(text)?;
        shape::check_holds(&document)?;
        let written: BTreeMap<String, Written> = document.decode::<Option<_>>()?.unwrap_or_default();
        let holds = written.into_iter().map(|(branch, written)| {
            let wrong = |what: String| SettingsError::Wrong(format!("`{branch}`: {what}"));
            let name = BranchName::read(&branch).map_err(|error| wrong(error.to_string()))?;
            Ok((name, written.checked().map_err(wrong)?))
        });
        holds.collect::<Result<_, _>>().map(Self)
    }

    /// Writes the file in place of the one in a folder of settings; without any hold there is none.
    pub(crate) fn write(&self, files: &mut SettingsFiles) {
        if self.0.is_empty() {
            files.remove(HOLD_FILE);
            return;
        }
        let entries = self.0.iter().filter_map(|(branch, hold)| {
            let written = Written {
                at: hold.at.to_string(),
                reason: hold.reason.clone(),
                applications: hold.applications.clone(),
                until: hold.until.clone(),
                allow_removal: hold.allow_removal,
            };
            Some((branch.as_str(), Value::of(&written).ok()?))
        });
        let text = Value::from(Mapping::from_iter(entries)).to_yaml();
        files.insert(HOLD_FILE.to_owned(), text.into_bytes());
    }

    /// What is held of a branch.
    pub(crate) fn of_branch(&self, branch: &BranchName) -> Option<&Hold> {
        self.0.get(branch)
    }

    /// Every branch of which something is held.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&BranchName, &Hold)> {
        self.0.iter()
    }

    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Holds a branch, or no more.
    pub(crate) fn set(&mut self, branch: BranchName, hold: Option<Hold>) {
        match hold {
            Some(hold) => drop(self.0.insert(branch, hold)),
            None => drop(self.0.remove(&branch)),
        }
    }
}

impl Written {
    fn checked(self) -> Result<Hold, String> {
        let Self { at, reason, mut applications, until, allow_removal } = self;
        let Some(id) = object_id(&at) else { return Err(format!("`at` is `{at}`, not the full id of a commit")) };
        is_reason(&reason)?;
        for name in &applications {
            let parts: Vec<&str> = name.split('/').collect();
            if parts.len() > 2 || parts.iter().any(|part| AppName::new(part).is_err()) {
                return Err(format!("`applications` has `{name}`, which is not NAME or NAMESPACE/NAME"));
            }
        }
        if applications.len() > APPLICATIONS_MAX {
            return Err(format!("`applications` has more than {APPLICATIONS_MAX}: hold the whole branch"));
        }
        applications.sort_unstable();
        applications.dedup();
        if let Some(until) = until.as_deref().filter(|until| end(until).is_none()) {
            return Err(format!(
                "`until` is `{until}`: write a date such as 2024-12-24T18:00:00+01:00, or a day such as 2024-12-24"
            ));
        }
        Ok(Hold { at: id, reason, applications, until, allow_removal })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0123456789abcdef0123456789abcdef01234567";

    fn read(text: &str) -> Result<Holds, SettingsError> {
        Holds::read(&SettingsFiles::from([(HOLD_FILE.to_owned(), text.as_bytes().to_vec())]))
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in [
            String::new(),
            format!("environments/prod: {{at: {ID}, reason: outage}}"),
            format!(
                "environments/prod: {{at: {ID}, reason: 'a: b', applications: [web, argocd/db], until: 2024-12-24, allowRemoval: true}}"
            ),
            format!("a.b/1.2: {{at: {ID}, reason: x}}\neu:live: {{at: {ID}, reason: x}}"),
        ] {
            let holds = read(&text).expect(&text);
            let mut files = SettingsFiles::new();
            holds.write(&mut files);
            assert_eq!(Holds::read(&files), Ok(holds), "{text}");
        }
        let hold = read(&format!("b: {{at: {ID}, reason: x, applications: [web, db, web]}}")).expect("read");
        let hold = hold.of_branch(&BranchName::new("b").expect("a branch")).expect("held");
        assert_eq!(hold.applications, ["db", "web"]);
    }

    #[test]
    fn mistakes_say_where_they_are() {
        let rows = [
            ("[a]", "the settings must be a mapping of keys"),
            (
                "b: outage",
                "`b` must be a mapping with `at`, `reason`, `applications`, `until`, `allowRemoval`, not `outage`",
            ),
            ("b: {reason: x}", "`b.at` is missing"),
            ("b: {at: 1a2b3c4, reason: x}", "hold.yaml: `b`: `at` is `1a2b3c4`, not the full id of a commit"),
            ("b: {at: ID}", "`b.reason` is missing"),
            ("b: {at: ID, reason: ''}", "`reason` must be one line"),
            ("b: {at: ID, reason: x, application: [a]}", "did you mean `b.applications`?"),
            ("b: {at: ID, reason: x, applications: [a/b/c]}", "is not NAME or NAMESPACE/NAME"),
            ("b: {at: ID, reason: x, until: soon}", "`until` is `soon`: write a date"),
            ("a..b: {at: ID, reason: x}", "`a..b`: it contains `..`"),
        ];
        for (text, expected) in rows {
            let error = read(&text.replace("ID", ID)).expect_err(text).to_string();
            assert!(error.starts_with("hold.yaml:") && error.contains(expected), "{text}: {error}");
        }
    }
}
