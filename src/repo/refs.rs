//! All refs of a repository at one moment.

mod read;

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest as _, Sha256};

use super::ObjectId;

/// All refs of a repository at one moment, by full name.
#[derive(Debug, Clone, Default)]
pub struct Refs {
    targets: BTreeMap<String, ObjectId>,
    links: BTreeMap<String, String>,
    head: Option<String>,
    broken: BTreeSet<String>,
}

impl Refs {
    /// The object that a ref points at, links followed.
    pub fn get(&self, name: &str) -> Option<ObjectId> {
        self.targets.get(name).copied()
    }

    /// The refs that are there and cannot be read: it is unknown what they point at, and no ref can take their place.
    pub fn broken(&self) -> impl Iterator<Item = &str> {
        self.broken.iter().map(String::as_str)
    }

    /// Whether this ref is there and cannot be read.
    pub fn is_broken(&self, name: &str) -> bool {
        self.broken.contains(name)
    }

    /// The tip of `refs/heads/<branch>`.
    pub fn branch(&self, branch: &str) -> Option<ObjectId> {
        self.get(&format!("refs/heads/{branch}"))
    }

    /// The refs whose names start with `prefix`, and the rest of their names.
    pub fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, ObjectId)> {
        let from = self.targets.range(prefix.to_owned()..);
        from.map_while(move |(name, id)| name.strip_prefix(prefix).map(|rest| (rest, *id)))
    }

    /// The full name of the ref that a symbolic ref leads to; the name itself when it is not a symbolic ref.
    pub fn resolve<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        // git follows five links at most.
        for _ in 0..5 {
            match self.links.get(name) {
                Some(target) => name = target,
                None => break,
            }
        }
        name
    }

    /// Those below `place`, by the names that they have where `place` is `refs/`, with the `HEAD` there.
    pub(super) fn within(self, place: &str) -> Self {
        let named = |name: &str| name.strip_prefix(place).map(|rest| format!("refs/{rest}"));
        let links = self.links.iter().filter_map(|(name, target)| Some((named(name)?, named(target)?)));
        let links: BTreeMap<String, String> = links.collect();
        Self {
            targets: self.targets.iter().filter_map(|(name, id)| Some((named(name)?, *id))).collect(),
            head: links.get("refs/HEAD").cloned(),
            links,
            broken: self.broken.iter().filter_map(|name| named(name)).collect(),
        }
    }

    /// All refs by full name, symbolic ones as what they lead to.
    pub fn iter(&self) -> impl Iterator<Item = (&str, ObjectId)> {
        self.targets.iter().map(|(name, id)| (name.as_str(), *id))
    }

    /// Takes a ref to point somewhere else, or to be gone: what a push would leave.
    pub(super) fn set(&mut self, name: &str, new: Option<ObjectId>) {
        let name = self.resolve(name).to_owned();
        let mut names: Vec<String> = self.links.keys().filter(|link| self.resolve(link) == name).cloned().collect();
        names.push(name);
        for name in names {
            match new {
                Some(id) => drop(self.targets.insert(name, id)),
                None => drop(self.targets.remove(&name)),
            }
        }
    }

    /// Takes refs for gone.
    pub fn remove(&mut self, names: &[String]) {
        names.iter().for_each(|name| self.set(name, None));
    }

    /// An id of all of it: equal ids, equal refs.
    pub fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for (name, id) in &self.targets {
            hash.update(format!("{id} {name}\n"));
        }
        for (name, target) in self.links.iter().map(|(name, target)| (name.as_str(), target.as_str())) {
            hash.update(format!("{name} -> {target}\n"));
        }
        hash.update(format!("{:?}", self.head));
        data_encoding::HEXLOWER.encode(&hash.finalize())
    }

    /// The branch that `HEAD` names, also when it has no commit yet; none when `HEAD` is detached.
    pub fn head_branch(&self) -> Option<&str> {
        self.head.as_deref()?.strip_prefix("refs/heads/")
    }
}
