//! The rules of a repository for several Argo CDs: each has ApplicationSets, or an app of apps, of the same names.
//!
//! A cluster has one object of a name, so two files with one are of two clusters. What differs in the paths of the files names
//! the Argo CD that each is of.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::more::listed;
use dry_files::path::RepoPath;

use super::{Draft, Judged, hydrated};
use crate::argo::{AppName, By};
use crate::owners::error::HydrateError;
use crate::settings::{SettingsError, Value};

/// How many instances are proposed: more of them are no clusters.
const INSTANCES_MAX: usize = 16;

/// Proposes a rule before the others for what each Argo CD has; answers whether it did.
///
/// Errors: settings that cannot be used.
pub(super) fn propose(draft: &mut Draft, judged: &Judged) -> Result<bool, HydrateError> {
    let rules = draft.settings()?.rules;
    let Some(general) = rules.last().filter(|rule| rule.is_for_all()) else { return Ok(false) };
    if !draft.is_proposed("rules") {
        return Ok(false);
    }
    let Some(directories) = told_apart(&namesakes(judged)) else { return Ok(false) };
    let wrong = |why: String| SettingsError::Wrong(format!("rules: {why}"));
    let mut new = Vec::new();
    for (instance, directory) in &directories {
        new.push(general.of_instance(instance, directory).map_err(wrong)?);
    }
    let names = listed(directories.keys().map(|instance| format!("`{}`", instance.as_str())), INSTANCES_MAX);
    new.extend(rules);
    draft.set("rules", Value::of(&new)?, format!("where plain Applications go; of several Argo CDs: {names}"))?;
    Ok(true)
}

/// The files whose makers have one name and make Applications of one name, each set of them once.
fn namesakes(judged: &Judged) -> BTreeSet<BTreeSet<RepoPath>> {
    let mut files: BTreeMap<(By, Option<AppName>, AppName), BTreeSet<RepoPath>> = BTreeMap::new();
    for (_, application) in hydrated(judged).into_iter().filter(|(_, application)| application.rule.is_some()) {
        let Some(maker) = &application.maker else { continue };
        let outermost = maker.above.iter().rev().find(|by| !matches!(by, By::Root { .. })).unwrap_or(&maker.by);
        let name = (outermost.clone(), application.namespace.clone(), application.name.clone());
        files.entry(name).or_default().insert(application.file.clone());
    }
    files.into_values().filter(|files| files.len() > 1).collect()
}

/// The directories that are of one Argo CD each, by the first part of their paths that all files of one name differ in; none where
/// there is no such part, or it is not a valid name.
fn told_apart(namesakes: &BTreeSet<BTreeSet<RepoPath>>) -> Option<BTreeMap<AppName, RepoPath>> {
    let all: BTreeSet<&RepoPath> = namesakes.iter().flatten().collect();
    let depths = all.iter().map(|file| file.components().count().saturating_sub(1)).min()?;
    let differs = |depth: &usize| {
        let part = |file: &RepoPath| file.components().nth(*depth).map(str::to_owned);
        namesakes.iter().all(|files| files.iter().map(part).collect::<BTreeSet<_>>().len() == files.len())
    };
    let depth = (0..depths).find(differs)?;
    let mut directories = BTreeMap::new();
    for file in all {
        let parts: Vec<&str> = file.components().take(depth + 1).collect();
        let instance = AppName::of_instance(parts.last()?).ok()?;
        let directory = RepoPath::new(&parts.join("/")).ok()?;
        if directories.insert(instance, directory.clone()).is_some_and(|other| other != directory) {
            return None;
        }
    }
    (directories.len() <= INSTANCES_MAX).then_some(directories)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(namesakes: &[&[&str]]) -> Option<Vec<(String, String)>> {
        let path = |text: &&str| RepoPath::new(text).expect("a path");
        let namesakes = namesakes.iter().map(|files| files.iter().map(path).collect()).collect();
        let found = told_apart(&namesakes)?.into_iter();
        Some(found.map(|(instance, directory)| (instance.as_str().to_owned(), directory.to_string())).collect())
    }

    #[test]
    fn the_first_part_that_differs_names_the_instance() {
        let pairs = |all: &[(&str, &str)]| {
            Some(all.iter().map(|(instance, directory)| ((*instance).to_owned(), (*directory).to_owned())).collect())
        };
        let two = pairs(&[("a", "clusters/a"), ("b", "clusters/b")]);
        assert_eq!(found(&[&["clusters/a/apps.yaml", "clusters/b/apps.yaml"]]), two);
        assert_eq!(found(&[&["clusters/a/x/apps.yaml", "clusters/b/y/apps.yaml"]]), two);
        assert_eq!(found(&[&["a/sets/apps.yaml", "b/sets/apps.yaml"]]), pairs(&[("a", "a"), ("b", "b")]));
        // Nothing but the names of the files differs, or the part is not a valid name, or one name would be two directories.
        assert_eq!(found(&[&["sets/a.yaml", "sets/b.yaml"]]), None);
        assert_eq!(found(&[&["A/apps.yaml", "B/apps.yaml"]]), None);
        assert_eq!(found(&[&["x/a/s.yaml", "x/b/s.yaml"], &["y/a/s.yaml", "y/b/s.yaml"]]), None);
        assert_eq!(found(&[]), None);
    }
}
