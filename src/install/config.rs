//! The repository's own git configuration, and what of it we have set.

use std::collections::{BTreeMap, BTreeSet};

use crate::repo::{Error, Git, Repository};

/// Lists the keys outside `hydrate.*` and `hook.hydrate.*` that we set where nothing was: these go when we go.
const OURS: &str = "hydrate.installed";

/// The configuration of one repository: its own file, neither the user's nor the system's.
#[derive(Debug)]
pub(super) struct Config {
    git: Git,
    values: BTreeMap<String, Vec<String>>,
}

impl Config {
    pub(super) fn read(repository: &Repository) -> Result<Self, Error> {
        let git = repository.git();
        let listing = git.output(&["config", "--local", "--list", "-z"])?;
        let mut values = BTreeMap::<String, Vec<String>>::new();
        for entry in listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let entry = String::from_utf8_lossy(entry);
            // A key without `=` is true.
            let (key, value) = entry.split_once('\n').unwrap_or((&entry, "true"));
            values.entry(key.to_owned()).or_default().push(value.to_owned());
        }
        Ok(Self { git, values })
    }

    /// All values of a key, in the order of the file.
    pub(super) fn get(&self, key: &str) -> &[String] {
        self.values.get(&listed(key)).map_or(&[], Vec::as_slice)
    }

    /// The keys that are set, in order, as git lists them.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Adds a value to those of a key, unless it is there already; answers whether it was added.
    pub(super) fn add(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        if self.get(key).iter().any(|there| there == value) {
            return Ok(false);
        }
        self.git.output(&["config", "--local", "--add", key, value])?;
        self.values.entry(listed(key)).or_default().push(value.to_owned());
        Ok(true)
    }

    /// Makes `value` the only value of a key; answers whether it was another before.
    pub(super) fn set(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        if self.get(key) == [value] {
            return Ok(false);
        }
        self.git.output(&["config", "--local", "--replace-all", key, value])?;
        self.values.insert(listed(key), vec![value.to_owned()]);
        Ok(true)
    }

    /// Adds a value that [`Config::withdraw`] takes away again; answers whether it was added.
    pub(super) fn lend(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        let added = self.add(key, value)?;
        if added {
            self.add(OURS, &format!("{key}={value}"))?;
        }
        Ok(added)
    }

    /// Makes the values of a key that were lent exactly these, in this order; answers whether they were others. Values
    /// that others set stay, but for exceptions (`!…`), which must come after what they are exceptions of.
    pub(super) fn replace_lent(&mut self, key: &str, values: &[String]) -> Result<bool, Error> {
        let mark = format!("{key}=");
        let lent: Vec<String> =
            self.get(OURS).iter().filter_map(|entry| entry.strip_prefix(&mark)).map(str::to_owned).collect();
        let there = self.get(key);
        let others = |value: &&String| !lent.contains(value) && !value.starts_with('!');
        let wanted: Vec<&String> =
            values.iter().filter(|value| !there.iter().filter(others).any(|other| other == *value)).collect();
        let is_lent = |value: &&String| lent.contains(value);
        if lent.iter().eq(wanted.iter().copied()) && there.iter().filter(is_lent).eq(wanted.iter().copied()) {
            return Ok(false);
        }
        let wanted: Vec<String> = wanted.into_iter().cloned().collect();
        for value in &lent {
            self.remove(key, value)?;
            self.remove(OURS, &format!("{mark}{value}"))?;
        }
        for value in &wanted {
            self.remove(key, value)?;
            self.lend(key, value)?;
        }
        Ok(true)
    }

    /// Takes away what was lent and is still as it was, and answers each as `key=value`.
    pub(super) fn withdraw(&mut self) -> Result<Vec<String>, Error> {
        let lent = self.get(OURS).to_vec();
        let mut withdrawn = Vec::new();
        for entry in lent {
            let Some((key, value)) = entry.split_once('=') else { continue };
            if self.remove(key, value)? {
                withdrawn.push(entry);
            }
        }
        self.clear(OURS)?;
        Ok(withdrawn)
    }

    /// Takes away all values of a key; answers whether there were any.
    pub(super) fn clear(&mut self, key: &str) -> Result<bool, Error> {
        if self.values.remove(&listed(key)).is_none() {
            return Ok(false);
        }
        self.git.output(&["config", "--local", "--unset-all", key])?;
        Ok(true)
    }

    /// The keys of git-hydrate that are set, in order, and what `git config --remove-section` calls the sections that they are in.
    pub(super) fn left(&self) -> (Vec<&str>, BTreeSet<&str>) {
        let is_ours = |key: &&str| {
            ["hydrate.", "hydrate-check.", "hydrate-plugin."].iter().any(|section| key.starts_with(section))
        };
        let set = self.values.iter().filter(|(_, values)| !values.is_empty());
        let keys: Vec<&str> = set.map(|(key, _)| key.as_str()).filter(is_ours).collect();
        let sections = keys.iter().filter_map(|key| Some(key.rsplit_once('.')?.0)).collect();
        (keys, sections)
    }

    fn remove(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        let Some(values) = self.values.get_mut(&listed(key)) else { return Ok(false) };
        let before = values.len();
        values.retain(|there| there != value);
        if values.len() == before {
            return Ok(false);
        }
        self.git.output(&["config", "--local", "--fixed-value", "--unset-all", key, value])?;
        Ok(true)
    }
}

/// A key as git lists it: section and name in lower case, what is between them as it is.
fn listed(key: &str) -> String {
    match (key.split_once('.'), key.rsplit_once('.')) {
        (Some((section, _)), Some((most, name))) if section.len() < most.len() => {
            format!("{}{}.{}", section.to_lowercase(), &most[section.len()..], name.to_lowercase())
        }
        _ => key.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_any_spelling() {
        let rows = [
            ("core.logAllRefUpdates", "core.logallrefupdates"),
            ("Remote.My.Fork.Fetch", "remote.My.Fork.fetch"),
            ("notes.displayRef", "notes.displayref"),
        ];
        for (key, expected) in rows {
            assert_eq!(listed(key), expected);
        }
    }
}
