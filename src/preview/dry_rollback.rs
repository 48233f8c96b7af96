//! The dry side of a rollback: the dry commit that takes one environment back, proven by rendering it.
//!
//! What an environment had at a dry commit follows from what its renders looked at there. So the commit takes back those of
//! these files that changed since, and of them only those without which the manifests come out otherwise. Whether it does what
//! it is for, and what else it changes, is seen from a hydration of it in memory.

mod applications;
mod files;

use std::collections::{BTreeMap, BTreeSet};

use super::rehearsal::{rehearse, without_branches};
use super::{Against, Preview, PreviewedBranch, preview};
use crate::argo::{AppName, Application, BranchName};
use crate::hydrate::state::Run;
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::owners::heads::DryHead;
use crate::owners::setup::{Setup, Wake};
use crate::repo::{Error, NewCommit, ObjectBuffer, ObjectId, Signature, TreeEdit};
use applications::{Chosen, Due, causes, choose, restored};
use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;
use dry_files::path::RepoPath;
use files::Changed;

/// Of how many Applications that change as well it is found out which files do that.
const EXPLAINED_MAX: usize = 10;

/// What is wanted.
#[derive(Debug)]
pub(crate) struct Wanted<'w> {
    /// The environment branch.
    pub branch: &'w BranchName,
    /// The commit of it whose manifests it shall have.
    pub at: ObjectId,
    /// The dry commit that this one was made from.
    pub then: ObjectId,
    /// The dry branch, whose tip the new commit is put on.
    pub head: DryHead,
    /// The Applications that go back, `NAME` or `NAMESPACE/NAME`; all of the branch where none is named.
    pub applications: &'w [String],
    /// What the new commit says.
    pub message: String,
    /// Who makes it: author and committer.
    pub who: [Signature; 2],
}

/// A dry commit that takes an environment back.
#[derive(Debug)]
pub(crate) struct TakenBack {
    /// Its id. Only this process knows it, until it is [written](TakenBack::write).
    pub id: ObjectId,
    commit: NewCommit,
    edits: BTreeMap<String, TreeEdit>,
    /// The Applications that it is for whose manifests are not those of the wanted commit, by path.
    pub differing: BTreeMap<RepoPath, AppName>,
    /// Why the branch does not take it; empty where it does.
    pub mistakes: Vec<Diagnostic>,
    /// What else it changes.
    pub others: Vec<Touched>,
    /// The Applications that came since: they stay.
    pub came: Vec<AppName>,
    /// The Applications that are gone since, and stay gone.
    pub gone: Vec<AppName>,
}

impl TakenBack {
    /// The files that have their former content, and those that go, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = &str> {
        self.edits.keys().map(String::as_str)
    }

    /// Whether the branch gets all that it had, as it was.
    pub(crate) fn is_proven(&self) -> bool {
        self.differing.is_empty() && self.mistakes.is_empty() && self.gone.is_empty()
    }

    /// The commit in a buffer from which it can be written.
    pub(crate) fn write(&self, base: ObjectId, buffer: &ObjectBuffer<'_>) -> Result<(), Error> {
        buffer.edit_tree(base, &self.edits)?;
        buffer.write_commit(&self.commit).map(drop)
    }
}

/// An Application that changes as well.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Touched {
    /// The environment branch.
    pub branch: String,
    /// The Application, or its path where that is not known. None where the whole branch does not hydrate any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<String>,
    /// The files of the commit that change it; none where there are many such Applications, and it is not among the first.
    pub files: Vec<String>,
}

/// How many names a reason has.
const NAMED_MAX: usize = 8;

/// Why no such commit can be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoWay {
    #[error("the dry branch gives these manifests already")]
    Same,
    #[error(
        "no file that they are rendered from differs from then: what differs comes from the settings, or from other tools"
    )]
    NoFile,
    #[error("the Applications that it had then are not found by the settings of now")]
    Unread,
    #[error("what differs is gone since, and stays gone: {}", listed(.0, NAMED_MAX))]
    Gone(Vec<AppName>),
    #[error("{} came since: there were no manifests of that then", listed(.0, NAMED_MAX))]
    Came(Vec<AppName>),
    #[error("it has no Application `{0}`, neither now nor then")]
    Unknown(String),
    #[error("`{0}` does not render any more as it was then")]
    Mistaken(AppName, Vec<Diagnostic>),
}

/// Finds the dry commit, in memory: neither a ref nor an object is written. `setup` is woken by the tip of the dry branch. The preview
/// is of all that it changes, compared with that tip.
///
/// Errors: the world failed; within, why there is none.
pub(crate) fn take_back(
    setup: &Setup<'_>,
    wanted: &Wanted<'_>,
) -> Result<Result<(TakenBack, Preview), NoWay>, HydrateError> {
    let (repository, base) = (setup.repository, wanted.head.tip);
    let setup_before = without_branches(setup, base);
    let mut made = rehearse(&setup_before, ObjectBuffer::new(repository))?;
    let Chosen { due, came, gone } = match choose(&mut made, wanted)? {
        Ok(chosen) => chosen,
        Err(why) => return Ok(Err(why)),
    };
    let changed = Changed::between(wanted.then, base, &ObjectBuffer::new(repository))?;
    let files = match restored(&mut made, wanted, &due, &changed)? {
        Ok(files) if files.is_empty() => return Ok(Err(NoWay::NoFile)),
        Ok(files) => files,
        Err(why) => return Ok(Err(why)),
    };
    let (buffer, edits) = (ObjectBuffer::new(repository), changed.edits(&files));
    let [author, committer] = wanted.who.clone();
    let tree = buffer.edit_tree(repository.commit(base)?.tree, &edits)?;
    let commit = NewCommit { tree, parents: vec![base], author, committer, message: wanted.message.clone() };
    let id = buffer.write_commit(&commit)?;
    buffer.lend()?;
    let wake = Wake::Commit { branch: wanted.head.branch.clone(), tip: id };
    let after = Setup { place: setup.place.clone(), wake, ..*setup };
    let preview = preview(&after, &Against::Commit(base))?;
    let own = preview.environments.iter().find(|environment| environment.branch == *wanted.branch);
    // What a branch shows that does not hydrate is what it is compared with.
    let shown = setup.place.tip(&repository.refs()?, wanted.branch).map(|tip| repository.commit(tip)).transpose()?;
    let before = tree_of(&made, wanted.branch).or(shown.map(|shown| shown.tree));
    let differing = differing(wanted, &due, (before, own), &made.found.buffer)?;
    let mistakes = match own {
        Some(own) if !own.mistakes.is_empty() => own.mistakes.clone(),
        Some(_) | None => refused(&after, wanted)?,
    };
    let others = others(&mut made, wanted, &due, (&preview, &changed, &files))?;
    Ok(Ok((TakenBack { id, commit, edits, differing, mistakes, others, came, gone }, preview)))
}

/// The Applications that are due whose manifests are not the wanted ones with the new commit: those that it changes, and those that
/// the tree `before` has.
fn differing(
    wanted: &Wanted<'_>,
    due: &[Due],
    (before, own): (Option<ObjectId>, Option<&PreviewedBranch>),
    buffer: &ObjectBuffer<'_>,
) -> Result<BTreeMap<RepoPath, AppName>, HydrateError> {
    let at = buffer.commit(wanted.at)?.tree;
    let mut differing = BTreeMap::new();
    for one in due {
        let path = &one.then.sync_path;
        let changed = own.and_then(|own| own.paths.iter().find(|changed| changed.path == *path));
        let new = match (changed, before) {
            (Some(changed), _) => changed.new.clone(),
            (None, Some(before)) => manifest(before, path, buffer)?,
            (None, None) => None,
        };
        if new.is_none() || new != manifest(at, path, buffer)? {
            differing.insert(path.clone(), one.then.name.clone());
        }
    }
    Ok(differing)
}

/// Why the branch as it is would not take the new commit, although that renders: too much would go at once.
fn refused(after: &Setup<'_>, wanted: &Wanted<'_>) -> Result<Vec<Diagnostic>, HydrateError> {
    let deployed = preview(after, &Against::Branches)?.environments;
    let own = deployed.into_iter().find(|environment| environment.branch == *wanted.branch);
    Ok(own.map(|own| own.mistakes).unwrap_or_default())
}

/// What the new commit changes beside the Applications that are due.
fn others(
    made: &mut Run<'_>,
    wanted: &Wanted<'_>,
    due: &[Due],
    (preview, changed, files): (&Preview, &Changed, &BTreeSet<String>),
) -> Result<Vec<Touched>, HydrateError> {
    let own: BTreeSet<&RepoPath> = due.iter().flat_map(Due::paths).collect();
    let mut touched = Vec::new();
    for environment in &preview.environments {
        let is_own = environment.branch == *wanted.branch;
        let hydrated = tree_of(made, &environment.branch).is_some();
        if !environment.mistakes.is_empty() && hydrated && !is_own {
            touched.push(Touched { branch: environment.branch.to_string(), application: None, files: Vec::new() });
        }
        for path in environment.paths.iter().filter(|path| !is_own || !own.contains(&path.path)) {
            let (branch, name) = (&environment.branch, path.application.as_ref());
            let application = name.map_or_else(|| path.path.to_string(), ToString::to_string);
            let files = match touched.len() < EXPLAINED_MAX {
                true => causes(made, wanted, (branch, &path.path), (changed, files))?,
                false => Vec::new(),
            };
            touched.push(Touched { branch: branch.to_string(), application: Some(application), files });
        }
    }
    Ok(touched)
}

/// What a branch has by the tip of the dry branch; none where it does not hydrate.
fn tree_of(made: &Run<'_>, branch: &BranchName) -> Option<ObjectId> {
    made.branches.get(branch)?.tip.as_ref().map(|tip| tip.tree)
}

fn manifest(tree: ObjectId, path: &RepoPath, buffer: &ObjectBuffer<'_>) -> Result<Option<Vec<u8>>, Error> {
    super::content(buffer.entry(tree, &format!("{path}/{MANIFEST}"))?, buffer)
}

/// Whether two Applications are one.
fn is_same(one: &Application, other: &Application) -> bool {
    super::identity(one) == super::identity(other)
}
