//! How single settings are read: lists that may be one text, branches, paths.

use std::collections::BTreeMap;

use dry_files::path::RepoPath;
use serde::{Deserialize, Deserializer};

use crate::argo::BranchName;
use inputs::InputsDir;

/// Whether a setting need not be written.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A list, or one text in place of a list of one.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a string or a list of strings")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}

fn branch<E: serde::de::Error>(name: &str) -> Result<BranchName, E> {
    BranchName::new(name).map_err(|error| E::custom(format!("`{name}` is not a valid branch name: {error}")))
}

/// A branch that hydration writes, which may be one of another repository.
fn written_branch<E: serde::de::Error>(name: &str) -> Result<BranchName, E> {
    BranchName::read(name).map_err(|error| E::custom(format!("`{name}` is not a valid branch name: {error}")))
}

pub(super) fn written_branches<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<BranchName>, D::Error> {
    one_or_many(deserializer)?.iter().map(|name| written_branch(name)).collect()
}

pub(super) fn branches<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<BranchName>, D::Error> {
    one_or_many(deserializer)?.iter().map(|name| branch(name)).collect()
}

pub(super) fn one_branch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<BranchName>, D::Error> {
    Option::<String>::deserialize(deserializer)?.map(|name| branch(&name)).transpose()
}

pub(super) fn paths<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RepoPath>, D::Error> {
    one_or_many(deserializer)?.iter().map(|text| checked_path(text)).collect()
}

pub(super) fn inputs_dir<'de, D: Deserializer<'de>>(deserializer: D) -> Result<InputsDir, D::Error> {
    use serde::de::Error;
    InputsDir::new(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

pub(super) fn a_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RepoPath, D::Error> {
    checked_path(&String::deserialize(deserializer)?)
}

fn checked_path<E: serde::de::Error>(text: &str) -> Result<RepoPath, E> {
    match RepoPath::clean(text) {
        Ok(path) if !path.is_root() => Ok(path),
        Ok(_) => Err(E::custom(format!("`{text}` is not the path of a file"))),
        Err(error) => Err(E::custom(format!("`{text}` is not the path of a file: {error}"))),
    }
}

fn active_path<E: serde::de::Error>(name: &str, text: &str) -> Result<RepoPath, E> {
    match RepoPath::clean(text) {
        Ok(path) if !path.is_root() => Ok(path),
        Ok(_) => Err(E::custom(format!("`{name}`: `{text}` is the root"))),
        Err(error) => Err(E::custom(format!("`{name}`: `{text}`: {error}"))),
    }
}

pub(super) fn active_paths<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<BranchName, Vec<RepoPath>>, D::Error> {
    use serde::de::Error;
    let mut found = BTreeMap::new();
    for (name, paths) in BTreeMap::<String, Vec<String>>::deserialize(deserializer)? {
        let paths = paths.iter().map(|path| active_path(&name, path)).collect::<Result<Vec<_>, _>>()?;
        for (index, path) in paths.iter().enumerate() {
            let inside = paths.iter().enumerate().find(|(other, outer)| *other != index && path.starts_with(outer));
            if let Some((_, outer)) = inside {
                return Err(D::Error::custom(format!("`{name}`: `{path}` is inside `{outer}`")));
            }
        }
        found.insert(written_branch(&name)?, paths);
    }
    Ok(found)
}
