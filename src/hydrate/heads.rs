use std::collections::{BTreeMap, BTreeSet};

use super::Wake;
use super::standing::lineage;
use crate::application::BranchName;
use crate::git::{Commit, Error, ObjectBuffer, ObjectId, Refs, Repository};
use crate::metadata::Trailers;
use crate::settings::Settings;

/// Where environment branches are read and written: on a server in place, on a client from what was fetched into refs
/// of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefNames {
    /// What environment branches and dry branches are read below, such as `refs/heads/` or `refs/remotes/origin/`.
    pub read: String,
    /// What environment branches are written below, such as `refs/heads/` or `refs/remotes/hydrate/`.
    pub write: String,
    /// Whether notes and failures are written: the server's business.
    pub records: bool,
}

impl RefNames {
    /// Those of a server: everything in place.
    pub fn server() -> Self {
        Self { read: "refs/heads/".to_owned(), write: "refs/heads/".to_owned(), records: true }
    }

    /// Those of a clone of `remote`, which writes below `prefix`.
    pub fn client(remote: &str, prefix: &str) -> Self {
        Self { read: format!("refs/remotes/{remote}/"), write: format!("refs/remotes/{prefix}/"), records: false }
    }

    /// The branch that counts as the default one: what the symbolic ref `HEAD` beside the branches leads to, as a clone has
    /// it of its remote, else what the repository's own `HEAD` names.
    pub fn head(&self, refs: &Refs) -> Option<BranchName> {
        let link = format!("{}HEAD", self.read);
        let linked = refs.resolve(&link).strip_prefix(&self.read).filter(|branch| *branch != "HEAD");
        BranchName::new(linked.or(refs.head_branch())?).ok()
    }

    /// The commit that a branch points at.
    pub fn tip(&self, refs: &Refs, branch: &BranchName) -> Option<ObjectId> {
        refs.get(&format!("{}{branch}", self.read))
    }
}

/// A dry branch and the commit that is its tip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DryHead {
    pub branch: BranchName,
    pub tip: ObjectId,
}

/// How many merges a promoter may have put on top of our commit for it to be found.
const MERGES_MAX: usize = 16;

/// The branches that hydration wrote, each with the dry branch that it was written from.
pub(super) fn environments(
    names: &RefNames,
    refs: &Refs,
    buffer: &ObjectBuffer<'_>,
) -> Result<BTreeMap<BranchName, BranchName>, Error> {
    let mut found = BTreeMap::new();
    for (name, tip) in refs.below(&names.read) {
        let Ok(branch) = BranchName::new(name) else { continue };
        if let Some((commit, trailers)) = hydrated_below(tip, buffer)
            // A sync branch has commits that were made for its staging branch, or the empty one it started with.
            && trailers.branch == branch
            && !commit.parents.is_empty()
        {
            found.insert(branch, trailers.dry_branch);
        }
    }
    Ok(found)
}

/// The branches that environment branches were hydrated from.
pub fn dry_branches(repository: &Repository, names: &RefNames) -> Result<BTreeSet<BranchName>, Error> {
    let buffer = ObjectBuffer::new(repository);
    Ok(environments(names, &repository.refs()?, &buffer)?.into_values().collect())
}

/// The key in git's configuration that names the remote of the dry repository, where it is not the one to be expected.
pub const REMOTE: &str = "hydrate.remote";

/// The remote of the dry repository: the one that [`REMOTE`] names, else the only one, else `origin`.
pub fn dry_remote(repository: &Repository) -> Option<String> {
    let remotes = repository.remotes();
    repository.config(REMOTE).or_else(|| match &remotes[..] {
        [only] => Some(only.clone()),
        _ => remotes.iter().find(|name| *name == "origin").cloned(),
    })
}

/// Of `branches` by name, those that hold what hydration wrote: environment branches, and the sync branches of staging
/// branches.
pub fn hydrated_branches(
    branches: &BTreeMap<String, ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> BTreeMap<String, ObjectId> {
    let hydrated = branches.iter().filter(|(_, tip)| hydrated_below(**tip, buffer).is_some());
    hydrated.map(|(branch, tip)| (branch.clone(), *tip)).collect()
}

/// The hydrated commit that a branch ends with, below the merges that a promoter put on top of it.
fn hydrated_below(tip: ObjectId, buffer: &ObjectBuffer<'_>) -> Option<(Commit, Trailers)> {
    let mut here = tip;
    for _ in 0..MERGES_MAX {
        let commit = buffer.commit(here).ok()?;
        if let Some(trailers) = Trailers::read(&commit.message) {
            return Some((commit, trailers));
        }
        match commit.parents[..] {
            [first, _, ..] => here = first,
            _ => return None,
        }
    }
    None
}

/// The dry branches that a wake-up asks for, by name. A branch that hydration writes is never one.
pub(super) fn heads(
    wake: &Wake,
    names: &RefNames,
    refs: &Refs,
    settings: &Settings,
    environments: &BTreeMap<BranchName, BranchName>,
    buffer: &ObjectBuffer<'_>,
) -> Vec<DryHead> {
    let mut branches: BTreeSet<String> = match wake {
        Wake::Commit { branch, tip } => return vec![DryHead { branch: branch.clone(), tip: *tip }],
        Wake::Everything => refs.below(&names.read).map(|(branch, _)| branch.to_owned()).collect(),
        Wake::Pushed(pushed) => pushed.iter().cloned().collect(),
    };
    let known = names.head(refs).into_iter();
    let known = known.chain(settings.dry_branches.iter().cloned()).chain(environments.values().cloned());
    let known: BTreeSet<String> = known.map(|branch| branch.as_str().to_owned()).collect();
    branches.extend(known.iter().cloned());
    let head = |branch: String| {
        let branch = BranchName::new(&branch).ok()?;
        let tip = names.tip(refs, &branch)?;
        // Sync branches are no environment branches, but hydration writes them too; others may have added to them.
        let ours = || lineage(&branch, tip, None, buffer).is_ok_and(|line| line.dry_branch.is_some());
        // Who writes a dry commit writes its message: our trailers in it, by a squash or by malice, stop no known dry branch.
        let seems_ours = || hydrated_below(tip, buffer).is_some() || ours();
        let hydrated = environments.contains_key(&branch) || (!known.contains(branch.as_str()) && seems_ours());
        (!hydrated).then_some(DryHead { branch, tip })
    };
    branches.into_iter().filter_map(head).collect()
}
