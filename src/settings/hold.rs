//! The setting `hold`: branches, or single Applications of them, that stay as a hydrated commit has them.
//!
//! It has a file of its own, so that a hold does not change what hydration goes by: no commit of another branch names the
//! settings that have it, and its own branch is hydrated on with the settings that it had.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::frozen::{end, is_reason};
use super::value::{Data, Mapping, Value};
use super::{Freeze, HOLD_FILE, SettingsError, SettingsFiles, reader, shape};
use crate::argo::{AppName, Application, BranchName};
use crate::metadata::Time;
use crate::repo::{ObjectId, object_id};

/// How many Applications of a branch may be named.
const APPLICATIONS_MAX: usize = 1000;

/// What is held, by branch: the branch as a whole, or single Applications of it, no Application twice.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Holds(BTreeMap<BranchName, Vec<Hold>>);

/// Where a branch stays, or some of its Applications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hold {
    /// The hydrated commit of the branch whose files it has.
    pub at: ObjectId,
    /// Why.
    pub reason: String,
    /// The Applications that stay, `NAME` or `NAMESPACE/NAME`, in order; the whole branch when there are none.
    pub applications: Vec<String>,
    /// The Applications that are gone and come back with the whole branch, named so too, in order.
    pub with: Vec<String>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    with: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    allow_removal: bool,
}

impl Hold {
    /// What keeps the whole branch from getting commits.
    pub(crate) fn freeze(&self) -> Freeze {
        Freeze { reason: self.reason.clone(), until: self.until.clone(), at: Some(self.at), glob: None }
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

impl Hold {
    /// Errors: what is wrong with it as a file would have it.
    pub(crate) fn check(&self) -> Result<(), String> {
        Written::of(self).checked().map(drop)
    }
}

/// Whether `name` means whatever Application `other` means; both are `NAME` or `NAMESPACE/NAME`.
pub(crate) fn covers(name: &str, other: &str) -> bool {
    name == other || (!name.contains('/') && other.rsplit_once('/').is_some_and(|(_, other)| other == name))
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
        let mut document = reader::read(text)?;
        shape::check_holds(&document)?;
        if let Data::Mapping(branches) = &mut document.data {
            branches.0.iter_mut().for_each(|(_, value)| value.wrap());
        }
        let written: BTreeMap<String, Vec<Written>> = document.decode::<Option<_>>()?.unwrap_or_default();
        let holds = written.into_iter().map(|(branch, written)| {
            let wrong = |what: String| SettingsError::Wrong(format!("`{branch}`: {what}"));
            let name = BranchName::read(&branch).map_err(|error| wrong(error.to_string()))?;
            Ok((name, all_checked(written).map_err(wrong)?))
        });
        holds.collect::<Result<_, _>>().map(Self)
    }

    /// Writes the file in place of the one in a folder of settings; without any hold there is none.
    pub(crate) fn write(&self, files: &mut SettingsFiles) {
        if self.0.is_empty() {
            files.remove(HOLD_FILE);
            return;
        }
        let entries = self.0.iter().filter_map(|(branch, holds)| {
            let written: Vec<Written> = holds.iter().map(Written::of).collect();
            let value = match &written[..] {
                [only] => Value::of(only),
                several => Value::of(&several),
            };
            Some((branch.as_str(), value.ok()?))
        });
        let text = Value::from(Mapping::from_iter(entries)).to_yaml();
        files.insert(HOLD_FILE.to_owned(), text.into_bytes());
    }

    /// What is held of a branch: one hold of all of it, or any number of single Applications.
    pub(crate) fn of_branch(&self, branch: &BranchName) -> &[Hold] {
        self.0.get(branch).map_or(&[], Vec::as_slice)
    }

    /// The Applications that are held alone of a branch, in order.
    pub(crate) fn alone(&self, branch: &BranchName) -> Vec<String> {
        let mut names: Vec<String> = self.of_branch(branch).iter().flat_map(|hold| hold.applications.clone()).collect();
        names.sort_unstable();
        names
    }

    /// Every branch of which something is held.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&BranchName, &[Hold])> {
        self.0.iter().map(|(branch, holds)| (branch, holds.as_slice()))
    }

    /// Whether nothing is held.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Holds this of a branch, and nothing else of it.
    pub(crate) fn set(&mut self, branch: BranchName, holds: Vec<Hold>) {
        match holds.is_empty() {
            false => drop(self.0.insert(branch, holds)),
            true => drop(self.0.remove(&branch)),
        }
    }

    /// Holds this of a branch, too: a whole branch in place of all, single Applications beside the others that are held.
    ///
    /// Errors: what is held that it cannot be beside, a name or the whole branch.
    pub(crate) fn add(&mut self, branch: BranchName, hold: Hold) -> Result<(), Option<String>> {
        let mut holds = match hold.is_whole() {
            true => Vec::new(),
            false => self.of_branch(&branch).to_vec(),
        };
        if holds.iter().any(Hold::is_whole) {
            return Err(None);
        }
        for name in &hold.applications {
            holds.iter_mut().for_each(|held| held.applications.retain(|held| !covers(name, held)));
            let mut held = holds.iter().flat_map(|held| &held.applications);
            if let Some(held) = held.find(|held| covers(held, name)) {
                return Err(Some(held.clone()));
            }
        }
        holds.retain(|held| hold.is_whole() || !held.applications.is_empty());
        let rest = |hold: &Hold| Hold { applications: Vec::new(), ..hold.clone() };
        match holds.iter_mut().find(|held| rest(held) == rest(&hold)) {
            Some(held) => held.applications.extend(hold.applications),
            None => holds.push(hold),
        }
        for held in &mut holds {
            held.applications.sort_unstable();
            held.applications.dedup();
        }
        self.set(branch, holds);
        Ok(())
    }
}

/// What is held of one branch.
fn all_checked(written: Vec<Written>) -> Result<Vec<Hold>, String> {
    let holds = written.into_iter().map(Written::checked).collect::<Result<Vec<Hold>, String>>()?;
    if holds.is_empty() || (holds.len() > 1 && holds.iter().any(Hold::is_whole)) {
        return Err("a list has an entry with `applications` for each place that some stay at".to_owned());
    }
    for (index, hold) in holds.iter().enumerate() {
        let mut others = holds.iter().take(index).flat_map(|other| &other.applications);
        let is_twice = |name: &&String| hold.applications.iter().any(|own| covers(own, name) || covers(name, own));
        if let Some(name) = others.find(is_twice) {
            return Err(format!("`applications` has `{name}` twice"));
        }
    }
    Ok(holds)
}

/// The names of Applications below a key, in order, each once.
fn names(key: &str, mut names: Vec<String>) -> Result<Vec<String>, String> {
    for name in &names {
        let parts: Vec<&str> = name.split('/').collect();
        if parts.len() > 2 || parts.iter().any(|part| AppName::new(part).is_err()) {
            return Err(format!("`{key}` has `{name}`, which is not NAME or NAMESPACE/NAME"));
        }
    }
    if names.len() > APPLICATIONS_MAX {
        return Err(format!("`{key}` has more than {APPLICATIONS_MAX}: hold the whole branch"));
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

impl Written {
    fn of(hold: &Hold) -> Self {
        Self {
            at: hold.at.to_string(),
            reason: hold.reason.clone(),
            applications: hold.applications.clone(),
            with: hold.with.clone(),
            until: hold.until.clone(),
            allow_removal: hold.allow_removal,
        }
    }

    fn checked(self) -> Result<Hold, String> {
        let Self { at, reason, applications, with, until, allow_removal } = self;
        let Some(id) = object_id(&at) else { return Err(format!("`at` is `{at}`, not the full id of a commit")) };
        is_reason(&reason)?;
        let (applications, with) = (names("applications", applications)?, names("with", with)?);
        if !applications.is_empty() && !with.is_empty() {
            return Err("`with` is for a whole branch: `applications` brings back what is gone, too".to_owned());
        }
        if let Some(until) = until.as_deref().filter(|until| end(until).is_none()) {
            return Err(format!(
                "`until` is `{until}`: write a date such as 2024-12-24T18:00:00+01:00, or a day such as 2024-12-24"
            ));
        }
        Ok(Hold { at: id, reason, applications, with, until, allow_removal })
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
            format!("environments/prod: {{at: {ID}, reason: x, with: [argocd/db, web]}}"),
            format!("a.b/1.2: {{at: {ID}, reason: x}}\neu:live: {{at: {ID}, reason: x}}"),
            format!("b: [{{at: {ID}, reason: x, applications: [web]}}, {{at: {ID}, reason: y, applications: [db]}}]"),
        ] {
            let holds = read(&text).expect(&text);
            let mut files = SettingsFiles::new();
            holds.write(&mut files);
            assert_eq!(Holds::read(&files), Ok(holds), "{text}");
        }
        let hold = read(&format!("b: {{at: {ID}, reason: x, applications: [web, db, web]}}")).expect("read");
        let hold = hold.of_branch(&BranchName::new("b").expect("a branch"));
        assert_eq!(hold[0].applications, ["db", "web"]);
    }

    #[test]
    fn a_second_application_is_held_beside_the_first_and_one_has_one_place() {
        let branch = BranchName::new("b").expect("a branch");
        let hold = |reason: &str, names: &[&str]| Hold {
            at: object_id(ID).expect("an id"),
            reason: reason.to_owned(),
            applications: names.iter().map(ToString::to_string).collect(),
            with: Vec::new(),
            until: None,
            allow_removal: false,
        };
        let mut holds = Holds::default();
        for (reason, names, expected) in [
            ("x", &["web"][..], &[("x", &["web"][..])][..]),
            ("y", &["argocd/db"], &[("x", &["web"]), ("y", &["argocd/db"])]),
            ("x", &["a"], &[("x", &["a", "web"]), ("y", &["argocd/db"])]),
            ("z", &["db"], &[("x", &["a", "web"]), ("z", &["db"])]),
            ("z", &["web"], &[("x", &["a"]), ("z", &["db", "web"])]),
        ] {
            holds.add(branch.clone(), hold(reason, names)).expect("held");
            let expected: Vec<Hold> = expected.iter().map(|(reason, names)| hold(reason, names)).collect();
            assert_eq!(holds.of_branch(&branch), expected);
        }
        assert_eq!(holds.add(branch.clone(), hold("x", &["argocd/db"])), Err(Some("db".to_owned())));
        holds.add(branch.clone(), hold("all", &[])).expect("held");
        assert_eq!(holds.of_branch(&branch), [hold("all", &[])]);
        assert_eq!(holds.add(branch, hold("x", &["web"])), Err(None));
    }

    #[test]
    fn mistakes_say_where_they_are() {
        let rows = [
            ("[a]", "the settings must be a mapping of keys"),
            (
                "b: outage",
                "`b` must be a mapping with `at`, `reason`, `applications`, `with`, `until`, `allowRemoval`, not `outage`",
            ),
            ("b: {reason: x}", "`b.at` is missing"),
            ("b: {at: 1a2b3c4, reason: x}", "hold.yaml: `b`: `at` is `1a2b3c4`, not the full id of a commit"),
            ("b: {at: ID}", "`b.reason` is missing"),
            ("b: {at: ID, reason: ''}", "`reason` must be one line"),
            ("b: {at: ID, reason: x, application: [a]}", "did you mean `b.applications`?"),
            ("b: {at: ID, reason: x, applications: [a/b/c]}", "is not NAME or NAMESPACE/NAME"),
            ("b: {at: ID, reason: x, with: [a/b/c]}", "`with` has `a/b/c`, which is not NAME or NAMESPACE/NAME"),
            ("b: {at: ID, reason: x, with: [a], applications: [b]}", "`with` is for a whole branch"),
            ("b: []", "`b`: a list has an entry with `applications`"),
            ("b: [{at: ID, reason: x}, {at: ID, reason: x, applications: [a]}]", "`b`: a list has an entry"),
            (
                "b: [{at: ID, reason: x, applications: [a]}, {at: ID, reason: y, applications: [n/a]}]",
                "`b`: `applications` has `a` twice",
            ),
            ("b: [a]", "`b[0]` must be a mapping with `at`"),
            ("b: {at: ID, reason: x, until: soon}", "`until` is `soon`: write a date"),
            ("a..b: {at: ID, reason: x}", "`a..b`: it contains `..`"),
        ];
        for (text, expected) in rows {
            let error = read(&text.replace("ID", ID)).expect_err(text).to_string();
            assert!(error.starts_with("hold.yaml:") && error.contains(expected), "{text}: {error}");
        }
    }
}
