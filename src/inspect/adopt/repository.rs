//! The setting `repoURL`: which of the URLs that Applications name is this repository.

use std::collections::BTreeMap;

use dry_files::view::{Kind, View};

use super::super::check::{Judged, Tree, judged_by};
use super::{Asked, Draft};
use crate::argo::{is_same_repository, may_be_url};
use crate::owners::error::HydrateError;
use crate::render::Renderers;

/// What names one repository.
#[derive(Debug, Default)]
struct Named {
    url: String,
    sources: usize,
    /// Directories that are here.
    here: usize,
    /// Directories that are not.
    missing: usize,
}

/// Adds the URLs by which Applications know the repository: that of the remote, and others whose directories are here. Those
/// that no rule hydrates count too.
///
/// Answers whether the URLs are others than before: what roots make may name more.
pub(super) fn propose(
    draft: &mut Draft,
    asked: &Asked,
    tree: &Tree<'_>,
    renderers: &Renderers,
) -> Result<bool, HydrateError> {
    let before = draft.settings()?.repo_urls;
    if !asked.repo_urls.is_empty() {
        draft.set("repoURL", asked.repo_urls.clone().into(), "asked for".to_owned())?;
        return Ok(before != asked.repo_urls);
    }
    if !before.is_empty() && !draft.is_proposed("repoURL") {
        return Ok(false);
    }
    // Without any, all repositories are taken for this one.
    let mut policy = draft.policy_of_all()?;
    policy.settings.repo_urls.clear();
    let judged = judged_by(policy, tree, renderers)?;
    let named = named(&judged, tree);
    let is_remote = |named: &Named| asked.remote_url.as_ref().is_some_and(|url| is_same_repository(url, &named.url));
    // Templates of Applications name what takes the place of a URL.
    let is_proven = |named: &Named| named.here > 0 && named.here >= named.missing && may_be_url(&named.url);
    let mut ours: Vec<&Named> = named.iter().filter(|named| is_remote(named) || is_proven(named)).collect();
    ours.sort_by_key(|named| (!is_remote(named), std::cmp::Reverse(named.here), &named.url));
    let mut urls: Vec<String> = ours.iter().map(|named| named.url.clone()).collect();
    let sources: usize = ours.iter().map(|named| named.sources).sum();
    if urls.is_empty() {
        urls.extend(asked.remote_url.clone());
    }
    if urls.is_empty() || urls == before {
        return Ok(false);
    }
    let why = match sources {
        0 => "the remote; no Application names it".to_owned(),
        1 => "named by 1 source".to_owned(),
        count => format!("named by {count} sources"),
    };
    draft.set("repoURL", urls.into(), why)?;
    Ok(true)
}

/// The git repositories that Applications and generators of sets name, each once, as it was written first.
fn named(judged: &Judged, tree: &Tree<'_>) -> Vec<Named> {
    let view = View::new(tree.files);
    let mut repositories = Repositories::default();
    let discovered = &judged.discovered;
    let sources = discovered.applications.iter().flat_map(|application| application.all_sources());
    for source in sources.filter(|source| source.input.is_none()) {
        let named = repositories.named(&source.repo_url);
        named.sources += 1;
        if source.renders && !source.path.is_root() {
            let is_here = matches!(view.kind(&source.path), Ok(Some(Kind::Directory)));
            *(if is_here { &mut named.here } else { &mut named.missing }) += 1;
        }
    }
    for set in &discovered.sets {
        for (url, directory) in set.set.git_directories() {
            let named = repositories.named(&url);
            named.sources += 1;
            let is_here = matches!(view.kind(&directory), Ok(Some(_)));
            named.here += usize::from(!directory.is_root() && is_here);
            named.missing += usize::from(!directory.is_root() && !is_here);
        }
    }
    repositories.found
}

/// The repositories that were named so far, and where in the list each of their URLs is.
#[derive(Default)]
struct Repositories {
    found: Vec<Named>,
    known: BTreeMap<String, usize>,
}

impl Repositories {
    fn named(&mut self, url: &str) -> &mut Named {
        let index = match self.known.get(url) {
            Some(index) => *index,
            None => self.add(url),
        };
        &mut self.found[index]
    }

    fn add(&mut self, url: &str) -> usize {
        let known = self.found.iter().position(|named| is_same_repository(&named.url, url));
        let index = known.unwrap_or(self.found.len());
        if known.is_none() {
            self.found.push(Named { url: url.to_owned(), ..Named::default() });
        }
        self.known.insert(url.to_owned(), index);
        index
    }
}
