//! The setting `frozen`: branches that get no commit for a time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::SettingsError;
use crate::argo::{BranchName, Patterns};
use crate::metadata::Time;
use crate::repo::ObjectId;

/// How long a reason may be, in bytes.
const REASON_BYTES_MAX: usize = 200;

/// The branches that get no commit, by globs of their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Frozen(BTreeMap<String, Freeze>);

/// Why branches get no commit, and until when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Freeze {
    /// Why.
    pub reason: String,
    /// When it ends, as written; none when somebody has to end it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// The hydrated commit whose files it has, where it is the setting `hold` that wants it so: that does not end by itself.
    #[serde(skip)]
    pub(crate) at: Option<ObjectId>,
    /// The key of the setting `frozen` that says so; none where another one does.
    #[serde(skip)]
    pub(crate) glob: Option<String>,
}

impl Freeze {
    /// That of a branch which a run leaves to others.
    pub(crate) fn of_other_runs() -> Self {
        Self { reason: "left to another run".to_owned(), until: None, at: None, glob: None }
    }

    /// When it ends, in seconds since 1970; none when it does not by itself.
    fn end(&self) -> Option<i64> {
        self.until.as_deref().and_then(end).map(Time::seconds)
    }

    fn is_in_force(&self, now: i64) -> bool {
        self.end().is_none_or(|end| now < end)
    }
}

/// Whether a date as the settings write it is before `now`, in seconds since 1970.
pub(crate) fn is_past(until: &str, now: i64) -> bool {
    end(until).is_some_and(|end| end.seconds() <= now)
}

/// A date as in RFC 3339, or the beginning of a day in UTC.
pub(super) fn end(text: &str) -> Option<Time> {
    Time::from_rfc3339(text).or_else(|| Time::from_rfc3339(&format!("{text}T00:00:00Z")))
}

impl Frozen {
    /// Whether there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The globs of which the end is before `now`, in seconds since 1970, each with its end as written.
    pub(crate) fn over(&self, now: i64) -> impl Iterator<Item = (&str, &str)> {
        let over = self.0.iter().filter(move |(_, freeze)| !freeze.is_in_force(now));
        over.filter_map(|(glob, freeze)| Some((glob.as_str(), freeze.until.as_deref()?)))
    }

    /// What keeps a branch from getting commits at `now`, in seconds since 1970. Of several, the one that lasts longest.
    pub(crate) fn of(&self, branch: &BranchName, now: i64) -> Option<Freeze> {
        let in_force = self.naming(branch).filter(|(_, freeze)| freeze.is_in_force(now));
        let (glob, freeze) = in_force.max_by_key(|(_, freeze)| freeze.end().unwrap_or(i64::MAX))?;
        Some(Freeze { glob: Some(glob.to_owned()), ..freeze.clone() })
    }

    /// The globs of which something is in force at `now` that `before` did not say, each with its end as written.
    pub(crate) fn new_since<'f>(
        &'f self,
        before: &'f Self,
        now: i64,
    ) -> impl Iterator<Item = (&'f str, Option<&'f str>)> {
        let is_new =
            move |(glob, freeze): &(&String, &Freeze)| freeze.is_in_force(now) && before.0.get(*glob) != Some(*freeze);
        self.0.iter().filter(is_new).map(|(glob, freeze)| (glob.as_str(), freeze.until.as_deref()))
    }

    /// Whether a branch is named, be it over or not.
    pub(crate) fn names(&self, branch: &BranchName) -> bool {
        self.naming(branch).next().is_some()
    }

    /// The globs of what is in force at `now`.
    pub(crate) fn in_force(&self, now: i64) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(_, freeze)| freeze.is_in_force(now)).map(|(glob, _)| glob.as_str())
    }

    /// The globs that match none of `branches`.
    pub(crate) fn unused<'b>(
        &self,
        branches: impl Iterator<Item = &'b BranchName> + Clone,
    ) -> impl Iterator<Item = &str> {
        let is_used = move |glob: &str| branches.clone().any(|branch| matches(glob, branch));
        self.0.keys().map(String::as_str).filter(move |glob| !is_used(glob))
    }

    fn naming(&self, branch: &BranchName) -> impl Iterator<Item = (&str, &Freeze)> {
        self.0.iter().filter(|(glob, _)| matches(glob, branch)).map(|(glob, freeze)| (glob.as_str(), freeze))
    }

    /// Errors: an invalid glob, reason or date.
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        for (glob, Freeze { reason, until, .. }) in &self.0 {
            let wrong = |what: String| SettingsError::Wrong(format!("frozen.{glob}: {what}"));
            Patterns::new([glob]).map_err(|error| wrong(error.to_string()))?;
            is_reason(reason).map_err(wrong)?;
            if let Some(until) = until.as_deref().filter(|until| end(until).is_none()) {
                let hint = "write a date such as 2024-12-24T18:00:00+01:00, or a day such as 2024-12-24";
                return Err(wrong(format!("`until` is `{until}`: {hint}")));
            }
        }
        Ok(())
    }
}

/// Errors: a reason that is not one line.
pub(super) fn is_reason(reason: &str) -> Result<(), String> {
    let is_line = !reason.trim().is_empty() && !reason.contains(char::is_control);
    match is_line && reason.len() <= REASON_BYTES_MAX {
        true => Ok(()),
        false => Err(format!("`reason` must be one line of at most {REASON_BYTES_MAX} bytes")),
    }
}

fn matches(glob: &str, branch: &BranchName) -> bool {
    Patterns::new([glob]).is_ok_and(|patterns| patterns.matches(branch.as_str()))
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
    fn a_freeze_holds_until_its_end() {
        // 2024-12-24T00:00:00Z.
        let day = 1_734_998_400;
        let rows = [
            ("{}", day, None),
            ("frozen: {environments/prod: {reason: a}}", i64::MAX, Some("a")),
            ("frozen: {environments/prod: {reason: a, until: 2024-12-24}}", day - 1, Some("a")),
            ("frozen: {environments/prod: {reason: a, until: 2024-12-24}}", day, None),
            ("frozen: {environments/prod: {reason: a, until: '2024-12-24T02:00:00+02:00'}}", day - 1, Some("a")),
            ("frozen: {environments/prod: {reason: a, until: '2024-12-24T02:00:00+02:00'}}", day, None),
            ("frozen: {environments/*: {reason: a}, environments/dev: {reason: b}}", day, Some("a")),
            ("frozen: {environments/*: {reason: a, until: 2025-01-01}, '**/prod': {reason: b}}", day, Some("b")),
            ("frozen: {environments/pro: {reason: a}, live/prod: {reason: b}}", day, None),
        ];
        let branch = BranchName::new("environments/prod").expect("a branch");
        for (text, now, expected) in rows {
            let frozen = read(text).expect(text).frozen;
            assert_eq!(
                frozen.of(&branch, now).as_ref().map(|freeze| freeze.reason.as_str()),
                expected,
                "{text} at {now}"
            );
        }
    }

    #[test]
    fn mistakes_say_where_they_are() {
        let rows = [
            ("frozen: [environments/prod]", "`frozen` must be a mapping, not a list"),
            (
                "frozen: {environments/prod: end of the year}",
                "`frozen.environments/prod` must be a mapping with `reason`, `until`, not `end of the year`",
            ),
            ("frozen: {prod: {until: 2024-12-24}}", "`frozen.prod.reason` is missing"),
            (
                "frozen: {prod: {reason: a, util: 2024-12-24}}",
                "unknown key `frozen.prod.util`: did you mean `frozen.prod.until`?",
            ),
            ("frozen: {prod: {reason: ' '}}", "frozen.prod: `reason` must be one line"),
            ("frozen: {prod: {reason: \"a\\nb\"}}", "frozen.prod: `reason` must be one line"),
            ("frozen: {prod: {reason: a, until: tomorrow}}", "frozen.prod: `until` is `tomorrow`: write a date"),
            ("frozen: {'[': {reason: a}}", "frozen.[: "),
        ];
        for (text, expected) in rows {
            let error = read(text).expect_err(text).to_string();
            assert!(error.starts_with("settings.yaml:") && error.contains(expected), "{text}: {error}");
        }
    }
}
