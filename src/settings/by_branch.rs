//! A setting that is one word for all branches, or a word for each glob of branches.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::argo::{BranchName, Patterns};

/// What is said for all branches, or by globs of them. The first glob that matches counts, in the order in which they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ByBranch<T> {
    /// One for all.
    All(T),
    /// By globs; other branches have none.
    Chosen(Vec<(String, Patterns, T)>),
}

impl<T> Default for ByBranch<T> {
    fn default() -> Self {
        Self::Chosen(Vec::new())
    }
}

impl<T> ByBranch<T> {
    /// What is said of a branch, whose deployed branch is `sync`: a glob may name either.
    pub(crate) fn of(&self, branch: &BranchName, sync: &BranchName) -> Option<&T> {
        let chosen = match self {
            Self::All(value) => return Some(value),
            Self::Chosen(chosen) => chosen,
        };
        let is_named = |patterns: &Patterns| [branch, sync].iter().any(|name| patterns.matches(name.as_str()));
        chosen.iter().find(|(_, patterns, _)| is_named(patterns)).map(|(.., value)| value)
    }
}

impl<T> ByBranch<T> {
    /// The globs that match none of `branches`.
    pub(crate) fn unused<'b>(&self, branches: impl Iterator<Item = &'b BranchName> + Clone) -> Vec<&str> {
        let Self::Chosen(chosen) = self else { return Vec::new() };
        let is_used = |patterns: &Patterns| branches.clone().any(|branch| patterns.matches(branch.as_str()));
        chosen.iter().filter(|(_, patterns, _)| !is_used(patterns)).map(|(glob, ..)| glob.as_str()).collect()
    }
}

impl<T: fmt::Display> Serialize for ByBranch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::All(value) => serializer.collect_str(value),
            Self::Chosen(chosen) => {
                serializer.collect_map(chosen.iter().map(|(glob, _, value)| (glob, value.to_string())))
            }
        }
    }
}

impl<'de, T: FromStr<Err: fmt::Display>> Deserialize<'de> for ByBranch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As a text, a number is what was written: `1.30` is not 1.3.
        deserializer.deserialize_str(Words(PhantomData))
    }
}

struct Words<T>(PhantomData<T>);

impl<'de, T: FromStr<Err: fmt::Display>> Visitor<'de> for Words<T> {
    type Value = ByBranch<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word, or a mapping of such words by globs of branches")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
        word.parse().map(ByBranch::All).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut chosen = Vec::new();
        while let Some(glob) = map.next_key::<String>()? {
            let word: String = map.next_value()?;
            let patterns = Patterns::new([&glob]).map_err(de::Error::custom)?;
            chosen.push((glob, patterns, word.parse().map_err(de::Error::custom)?));
        }
        Ok(ByBranch::Chosen(chosen))
    }
}
