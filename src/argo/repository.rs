//! Which repository the Applications of a dry tree say this is, where the setting `repoURL` does not.

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::path::RepoPath;

use super::Application;
use super::url::RepoUrl;

/// What Applications prove about the URL of the repository that they are in.
#[derive(Debug)]
pub(super) enum Evidence<'a> {
    /// At least two Applications, and at least half of all, name this URL and directories that exist here.
    Proven(&'a Application),
    /// All Applications name one URL, and nothing contradicts it.
    Plausible(&'a Application),
    /// The directory that this Application names does not exist, and too few others prove its URL.
    Missing(&'a Application),
    /// The second Application names another URL than the first, and neither is proven.
    Disagreeing(&'a Application, &'a Application),
    /// There are none.
    Nothing,
}

/// How many Applications must prove a URL before it is kept for good.
const PROOFS_MIN: usize = 2;

/// The Applications that name one URL.
struct Group<'a> {
    first: &'a Application,
    count: usize,
    proofs: usize,
    missing: Option<&'a Application>,
}

/// The index of the group with the URL of an Application, which is added if there is no such group.
fn group_of<'a>(application: &'a Application, groups: &mut Vec<Group<'a>>) -> usize {
    let url = RepoUrl::new(&application.dry.repo_url);
    if let Some(index) = groups.iter().position(|group| RepoUrl::new(&group.first.dry.repo_url).is_same(&url)) {
        return index;
    }
    groups.push(Group { first: application, count: 0, proofs: 0, missing: None });
    groups.len() - 1
}

/// Weighs the URLs that Applications name. `is_here` tells which of them are rendered from this very tree: the others may
/// well name directories that it does not have.
pub(super) fn evidence<'a>(
    applications: &'a [Arc<Application>],
    is_here: impl Fn(&Application) -> bool,
    is_directory: &dyn Fn(&RepoPath) -> bool,
) -> Evidence<'a> {
    // A chart from elsewhere says nothing about this repository.
    let of_git = applications.iter().filter(|application| application.has_own_source());
    let mut sorted: Vec<&Application> = of_git.map(|application| &**application).collect();
    let count = sorted.len();
    sorted.sort_by_key(|application| (&application.file, application.index));
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for application in sorted {
        let text = application.dry.repo_url.as_str();
        let index = *known.entry(text).or_insert_with(|| group_of(application, &mut groups));
        let Some(group) = groups.get_mut(index) else { continue };
        group.count += 1;
        let path = &application.dry.path;
        if is_here(application) && !path.is_root() {
            if is_directory(path) {
                group.proofs += 1;
            } else {
                group.missing.get_or_insert(application);
            }
        }
    }
    let is_proven = |group: &&Group<'_>| group.proofs >= PROOFS_MIN && group.proofs * 2 >= count;
    let mut proven = groups.iter().filter(is_proven);
    match (proven.next(), proven.next(), &groups[..]) {
        (Some(only), None, _) => Evidence::Proven(only.first),
        (_, _, []) => Evidence::Nothing,
        (_, _, [Group { first, missing: None, .. }]) => Evidence::Plausible(first),
        (_, _, [Group { missing: Some(missing), .. }]) => Evidence::Missing(missing),
        (_, _, [first, second, ..]) => Evidence::Disagreeing(first.first, second.first),
    }
}
