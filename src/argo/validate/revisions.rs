//! What a `targetRevision` names, as far as that is possible without asking for tags.
#![expect(clippy::indexing_slicing, reason = "indexes are those of the Applications that are judged")]

use std::collections::{BTreeMap, BTreeSet};

use super::{Context, Rules};
use crate::argo::conflict::Conflict;
use crate::argo::near::near;
use crate::argo::{Application, BranchName};

impl Rules<'_> {
    /// What names a tag, a range or a commit names one for all of its sources, as do the others of its branch; and no promoter waits
    /// for each dry commit there.
    pub(super) fn revisions(&mut self, hydrated: &[usize]) {
        let (all, context) = (self.applications, self.context);
        let mut first: BTreeMap<&BranchName, usize> = BTreeMap::new();
        let mut nowhere: BTreeSet<usize> = BTreeSet::new();
        for &index in hydrated.iter().filter(|index| all[**index].has_own_source()) {
            let (application, places) = (&all[index], &all[index].places);
            let branch = application.environment_branch();
            let other = *first.entry(branch).or_insert(index);
            let (own, others) = (followed(application, context), followed(&all[other], context));
            let misnamed = [other, index].into_iter().find(|index| names_nothing(&all[*index], context));
            if let Some(misnamed) = misnamed.filter(|_| own != others) {
                // It is said once, whatever the others name.
                if let Some(revision) = followed(&all[misnamed], context).filter(|_| nowhere.insert(misnamed)) {
                    let known: Vec<&str> = context.dry_branches.iter().map(BranchName::as_str).collect();
                    let near = near(revision, &known).map(str::to_owned);
                    let conflict =
                        Conflict::NoSuchRevision { branch: branch.clone(), revision: revision.to_owned(), near };
                    self.add([other, index], conflict, &all[misnamed].places.target_revision);
                }
            } else if own != others {
                let name = |revision: Option<&str>| revision.unwrap_or(context.dry_branch.as_str()).to_owned();
                let (revision, other_revision) = (name(own), name(others));
                let at = all[other].places.target_revision.clone();
                let conflict =
                    Conflict::RevisionsDiffer { branch: branch.clone(), revision, other: other_revision, at };
                self.add([other, index], conflict, &places.target_revision);
            }
            let Some(revision) = own.map(str::to_owned) else { continue };
            let mut sources = application.all_sources().filter(|source| source.input.is_none());
            if sources.any(|source| source.target_revision != revision) {
                let conflict = Conflict::RevisionsOfSources { revision: revision.clone() };
                self.add([index], conflict, &places.target_revision);
            }
            if application.hydrate_to.is_some() || (context.is_shared)(branch) {
                self.add(
                    [index],
                    Conflict::RevisionPromoted { revision, branch: branch.clone() },
                    &places.target_revision,
                );
            }
        }
    }
}

/// The tag, range or commit that an Application names, if it may.
pub(super) fn followed<'a>(application: &'a Application, context: &Context<'_>) -> Option<&'a str> {
    let mut own = application.all_sources().filter(|source| source.input.is_none() && context.follows);
    let is_branch = |text: &str| matches!(revision(text, context), Revision::Branch { .. });
    own.find(|source| !is_branch(&source.target_revision)).map(|source| source.target_revision.as_str())
}

/// Whether an Application names what may be a branch or a tag, and is neither.
fn names_nothing(application: &Application, context: &Context<'_>) -> bool {
    let is_nothing = |text: &str| {
        matches!(revision(text, context), Revision::NoBranch) && !text.contains('/') && !(context.is_tag)(text)
    };
    followed(application, context).is_some_and(is_nothing)
}

/// What a `targetRevision` names.
pub(super) enum Revision {
    /// A branch of this repository.
    Branch { here: bool },
    /// Something that does not move with a push, in words.
    Pinned(&'static str),
    /// What can only be a branch, and does not exist.
    NoBranch,
}

/// Reads a `targetRevision` as far as that is possible without asking for tags.
///
/// Reference: Argo CD 3 util/git/client.go `lsRemote`: a full id, then `HEAD`, then a version range, then the exact
/// ref. A branch that exists goes first here.
pub(super) fn revision(text: &str, context: &Context<'_>) -> Revision {
    let name = text.strip_prefix("refs/heads/").unwrap_or(text);
    if text.is_empty() || text == "HEAD" {
        return Revision::Branch { here: context.head_branch == Some(context.dry_branch) };
    }
    if name == context.dry_branch.as_str() {
        return Revision::Branch { here: true };
    }
    if context.branches.contains(name) {
        return Revision::Branch { here: false };
    }
    let hexadecimal = text.bytes().all(|b| b.is_ascii_hexdigit());
    if text.starts_with("refs/tags/") {
        Revision::Pinned("a tag")
    } else if hexadecimal && (7..=64).contains(&text.len()) {
        Revision::Pinned("a commit")
    } else if text.starts_with(|c: char| c.is_ascii_digit() || "<>=~^*!".contains(c))
        || text.strip_prefix(['v', 'V']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        Revision::Pinned("a version")
    } else {
        Revision::NoBranch
    }
}
