//! Branches of hydration without a record, recognized by making their commits again.
//!
//! A repository that was moved without `refs/hydrate/*` and the notes has nothing that proves who made its branches: what
//! commits say of themselves is not evidence. Equal ids are, as long as every commit rests on a dry commit of a dry branch
//! and on settings of this repository.

use super::foreign::ForeignBranch;
use super::verify::{Fault, Line, Verified, verify};
use crate::metadata::Trailers;
use crate::owners::error::HydrateError;
use crate::owners::heads;
use crate::owners::setup::Setup;
use crate::repo::{Commit, ObjectBuffer};
use crate::settings::SETTINGS_REF;

/// Makes all commits of a branch again. Answers how many they are, or why the branch may not be hydration's.
///
/// Errors: the repository could not be read, or this machine could not render.
pub(crate) fn recompute(setup: &Setup<'_>, branch: &ForeignBranch) -> Result<Result<usize, String>, HydrateError> {
    if let Some(why) = unproven(setup, branch)? {
        return Ok(Err(why));
    }
    let line = Line { name: branch.name.to_string(), tip: branch.tip, after: None };
    let verified = verify(setup, vec![line], None)?;
    Ok(judge(&verified))
}

fn judge(verified: &[Verified]) -> Result<usize, String> {
    let is_of_notes = |fault: &Fault| matches!(fault, Fault::NoNote | Fault::Note | Fault::NoteOfAnother { .. });
    let mut findings = verified.iter().flat_map(|line| &line.findings);
    if let Some(found) = findings.find(|found| !is_of_notes(&found.fault)) {
        return Err(format!("commit {}: {}", found.commit, found.fault));
    }
    match verified.iter().map(|line| line.others).sum() {
        0 => Ok(verified.iter().map(|line| line.equal).sum()),
        1 => Err("1 commit was not made by hydration".to_owned()),
        others => Err(format!("{others} commits were not made by hydration")),
    }
}

fn is_start(commit: &Commit, buffer: &ObjectBuffer<'_>) -> bool {
    commit.parents.is_empty() && commit.tree == buffer.empty_tree_id()
}

/// What keeps equal ids from being evidence; none when nothing does.
fn unproven(setup: &Setup<'_>, branch: &ForeignBranch) -> Result<Option<String>, HydrateError> {
    let repository = setup.repository;
    let buffer = ObjectBuffer::new(repository);
    let refs = repository.refs()?;
    match &branch.files[..] {
        [] => {}
        [_] => return Ok(Some("it has a file that no Application makes".to_owned())),
        files => return Ok(Some(format!("it has {} files that no Application makes", files.len()))),
    }
    let dry_branches = heads::dry_branches(repository, &setup.place)?;
    let on_dry_branch = |trailers: &Trailers| {
        let tip = dry_branches.get(&trailers.dry_branch).and_then(|dry_branch| setup.place.tip(&refs, dry_branch));
        tip.is_some_and(|tip| repository.is_ancestor(trailers.definition(), tip))
    };
    let are_settings = |trailers: &Trailers| {
        let tip = refs.get(SETTINGS_REF);
        trailers.settings_commit.is_none_or(|id| tip.is_some_and(|tip| repository.is_ancestor(id, tip)))
    };
    let mut next = Some(branch.tip);
    while let Some(id) = next {
        let commit = buffer.commit(id)?;
        let why = match Trailers::read(&commit.message) {
            None => "was not made by hydration".to_owned(),
            // A staging branch is cut from the empty commit that hydration started its sync branch with.
            Some(trailers) if trailers.branch != branch.name && !is_start(&commit, &buffer) => {
                format!("was made for `{}`", trailers.branch)
            }
            Some(trailers) if !on_dry_branch(&trailers) => "names a dry commit that is on no dry branch".to_owned(),
            Some(trailers) if !are_settings(&trailers) => format!("names settings that are not in {SETTINGS_REF}"),
            Some(_) => {
                next = commit.parents.first().copied();
                continue;
            }
        };
        return Ok(Some(format!("commit {id} {why}")));
    }
    Ok(None)
}
