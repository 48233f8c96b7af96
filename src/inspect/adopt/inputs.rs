//! What Applications need from elsewhere and is not in the dry tree.

use std::collections::BTreeMap;

use dry_files::view::{Kind, View};
use serde::Serialize;

use super::super::check::{Judged, Tree};
use super::super::vendor::inputs_of;
use crate::owners::error::HydrateError;
use crate::render::needs::Need;
use inputs::{KeptInputs, Key};

/// An input that is not here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NeededInput {
    /// What it is, in words.
    pub input: String,
    /// Its kind: `helm`, `oci`, `git` or `file`.
    pub kind: &'static str,
    /// The names of the Applications that need it.
    pub applications: Vec<String>,
}

/// All of them, by key.
pub(super) fn needed(judged: &Judged, tree: &Tree<'_>) -> Result<Vec<NeededInput>, HydrateError> {
    let inputs = inputs_of(judged, tree)?;
    let view = View::new(tree.files);
    let kept = KeptInputs::read(&view)?;
    let mut missing: BTreeMap<&Key, Vec<String>> = BTreeMap::new();
    for (need, uses) in &inputs.found.needs {
        let key = match need {
            Need::Chart(key, _) | Need::Directory(key, _) | Need::File(key) | Need::Either(key, ..) => key,
        };
        if !is_here(need, &kept, &view) {
            missing.entry(key).or_default().extend(uses.iter().map(|used| used.application.clone()));
        }
    }
    let mut needed = Vec::new();
    for (key, mut applications) in missing {
        applications.sort();
        applications.dedup();
        needed.push(NeededInput { input: key.to_string(), kind: key.kind.word(), applications });
    }
    Ok(needed)
}

fn is_here(need: &Need, kept: &KeptInputs<'_>, view: &View<'_>) -> bool {
    match need {
        Need::Chart(key, at) => kept.lists(key) || matches!(view.kind(at), Ok(Some(Kind::Directory))),
        Need::Directory(key, directory) => kept.directory(key, directory).is_ok(),
        Need::File(key) => kept.lists(key),
        Need::Either(file, repository, _) => kept.lists(file) || kept.lists(repository),
    }
}
