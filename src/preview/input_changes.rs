//! What becomes of inputs that a dry tree keeps: one line each, however many files they have.

mod defaults;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use dry_files::view::View;
use serde::Serialize;

use super::PreviewedBranch;
use crate::argo::BranchName;
use crate::inspect::Tree;
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::render::Renderers;
use crate::render::needs::Need;
use crate::repo::TreeFiles;
use crate::repo::{ObjectId, Repository, object_id};
use inputs::{self, Entry, KeptInputs, Kind, LOCK};

/// What becomes of one input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InputChange {
    /// `helm`, `oci`, `git` or `file`.
    pub kind: &'static str,
    /// Where it comes from.
    pub url: String,
    /// The name of a chart; empty for other kinds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The version, ref or commit before; none for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<String>,
    /// The version, ref or commit after; none for one that goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<String>,
    /// How many of its files change, by what they are: `templates`, `values`, `crds`, `files`.
    pub files: BTreeMap<&'static str, usize>,
    /// How many values of the `values.yaml` of a chart come, go or are others.
    pub defaults: usize,
    /// The Applications that use it.
    pub used_by: Vec<String>,
}

impl fmt::Display for InputChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, name, old, new, files, defaults, used_by, .. } = self;
        f.write_str(if name.is_empty() { url } else { name })?;
        match (old, new) {
            (Some(old), Some(new)) if old == new => write!(f, " {new}, changed")?,
            (Some(old), Some(new)) => write!(f, " {old} → {new}")?,
            (Some(old), None) => write!(f, " {old}, removed")?,
            (None, new) => write!(f, " {}, new", new.as_deref().unwrap_or_default())?,
        }
        if !name.is_empty() {
            write!(f, " of {url}")?;
        }
        let files: Vec<String> = files.iter().map(|(what, count)| counted(what, *count, *defaults)).collect();
        if !files.is_empty() && old.is_some() && new.is_some() {
            write!(f, ": {} changed", files.join(", "))?;
        }
        if used_by.is_empty() { Ok(()) } else { write!(f, "; used by {}", used_by.join(", ")) }
    }
}

fn counted(what: &str, count: usize, defaults: usize) -> String {
    match (count, what) {
        (_, "values") if defaults == 1 => "1 default".to_owned(),
        (_, "values") if defaults > 1 => format!("{defaults} defaults"),
        (_, "values") => "values.yaml".to_owned(),
        (1, what) => format!("1 {}", what.trim_end_matches('s')),
        (count, what) => format!("{count} {what}"),
    }
}

/// How inputs differ between the dry commits that environments show and the dry commits that they would show. `base`
/// takes the place of an unknown dry commit.
pub(super) fn input_changes(
    (repository, refs): (&Repository, &Place),
    renderers: &Renderers,
    environments: &[PreviewedBranch],
    base: Option<ObjectId>,
) -> Result<Vec<InputChange>, HydrateError> {
    let mut all = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for environment in environments {
        let before = environment.dry_sha_before.as_deref().and_then(object_id).or(base);
        let (Some(before), Some(after)) = (before, object_id(&environment.dry_sha)) else { continue };
        if !seen.insert((before, after)) || !repository.has(before) {
            continue;
        }
        let trees = [repository.commit(before)?.tree, repository.commit(after)?.tree];
        let locks = [repository.entry(trees[0], LOCK)?, repository.entry(trees[1], LOCK)?];
        if locks[0] != locks[1] {
            let branch = BranchName::new(&environment.dry_branch).ok();
            all.extend(between((repository, refs), renderers, trees, branch, &environment.dry_sha)?);
        }
    }
    Ok(all.into_iter().collect())
}

fn between(
    (repository, refs): (&Repository, &Place),
    renderers: &Renderers,
    [before, after]: [ObjectId; 2],
    dry_branch: Option<BranchName>,
    dry_sha: &str,
) -> Result<Vec<InputChange>, HydrateError> {
    let [before, after] = [before, after].map(|tree| TreeFiles::new(repository, tree));
    let [old_view, new_view] = [View::new(&before), View::new(&after)];
    // A lock file that cannot be read is reported where it is needed.
    let (Ok(old_kept), Ok(new_kept)) = (KeptInputs::read(&old_view), KeptInputs::read(&new_view)) else {
        return Ok(Vec::new());
    };
    let mut groups: BTreeMap<(Kind, &str, &str), [Vec<&Entry>; 2]> = BTreeMap::new();
    for (side, kept) in [&old_kept, &new_kept].into_iter().enumerate() {
        for entry in kept.lock().into_iter().flat_map(inputs::Lock::entries) {
            let group = (entry.key.kind, entry.key.url.as_str(), entry.key.name.as_str());
            groups.entry(group).or_default()[side].push(entry);
        }
    }
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let tree = Tree { files: &after, repository: Some((repository, refs)), dry_branch, dry_commit: dry_sha.to_owned() };
    let users = users(&tree, renderers)?;
    let mut changes = Vec::new();
    for ((kind, url, name), [mut gone, mut come]) in groups {
        let pin = |entry: &Entry| (entry.version.clone(), entry.content.clone());
        let same: BTreeSet<_> = gone.iter().map(|entry| pin(entry)).collect();
        let same: BTreeSet<_> = come.iter().map(|entry| pin(entry)).filter(|pin| same.contains(pin)).collect();
        gone.retain(|entry| !same.contains(&pin(entry)));
        come.retain(|entry| !same.contains(&pin(entry)));
        let pairs = (0..gone.len().max(come.len())).map(|index| (gone.get(index).copied(), come.get(index).copied()));
        for (old, new) in pairs {
            let trees = [files(&old_view, &old_kept, old), files(&new_view, &new_kept, new)];
            changes.push(InputChange {
                kind: kind.word(),
                url: url.to_owned(),
                name: name.to_owned(),
                old: old.map(version),
                new: new.map(version),
                files: differing(&trees),
                defaults: defaults::differing(
                    trees.each_ref().map(|files| files.get("values.yaml").map(|data| &**data)),
                ),
                used_by: new.and_then(|entry| users.get(&entry.key).cloned()).unwrap_or_default(),
            });
        }
    }
    Ok(changes)
}

/// What an input is, as short as it can be determined.
fn version(entry: &Entry) -> String {
    match entry.key.kind {
        Kind::Helm | Kind::Oci => entry.version.clone(),
        Kind::File => entry.content.get(7..15).unwrap_or_default().to_owned(),
        Kind::Git if inputs::is_exact_version(&entry.key.want) => entry.key.want.clone(),
        Kind::Git => format!("{} {}", entry.key.want, entry.version.get(..8).unwrap_or_default()).trim().to_owned(),
    }
}

fn users(tree: &Tree<'_>, renderers: &Renderers) -> Result<BTreeMap<inputs::Key, Vec<String>>, HydrateError> {
    let mut users: BTreeMap<inputs::Key, BTreeSet<String>> = BTreeMap::new();
    for (need, uses) in crate::inspect::inputs(tree, renderers)?.found.needs {
        let (Need::Chart(key, _) | Need::Directory(key, _) | Need::File(key) | Need::Either(key, ..)) = need;
        users.entry(key).or_default().extend(uses.into_iter().map(|used| used.application));
    }
    Ok(users.into_iter().map(|(key, names)| (key, names.into_iter().collect())).collect())
}

/// The files of an input, by their paths.
fn files(view: &View<'_>, kept: &KeptInputs<'_>, entry: Option<&Entry>) -> BTreeMap<String, Arc<[u8]>> {
    let place = entry.and_then(|entry| kept.lock()?.places(entry).into_iter().next());
    let files = place.and_then(|place| inputs::files(view, &place).ok()).unwrap_or_default();
    files.into_iter().map(|file| (file.path.to_string(), file.data)).collect()
}

/// How many files differ, by what they are.
fn differing([old, new]: &[BTreeMap<String, Arc<[u8]>>; 2]) -> BTreeMap<&'static str, usize> {
    let paths: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut counts = BTreeMap::new();
    for path in paths.into_iter().filter(|path| old.get(*path) != new.get(*path)) {
        let what = match path.split('/').next() {
            Some("templates") => "templates",
            Some("crds") => "crds",
            _ if path == "values.yaml" => "values",
            _ if path == "Chart.yaml" => continue,
            _ => "files",
        };
        *counts.entry(what).or_default() += 1;
    }
    counts
}
