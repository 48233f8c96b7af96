//! Branches that a clone has and its remote has no more: a fetch leaves them in place unless it prunes.

use std::collections::BTreeSet;
use std::fs;

use dry_files::diag::{Diagnostic, shell_word};

use crate::owners::place::Place;
use crate::repo::Repository;

/// The branches that the last fetch of all branches found at the remote; none where git noted none.
///
/// Reference: git-fetch(1), `FETCH_HEAD`: what is fetched is noted there, new or not.
pub(super) fn fetched(repository: &Repository) -> Option<BTreeSet<String>> {
    let notes = fs::read(repository.git_dir().join("FETCH_HEAD")).ok()?;
    let notes = String::from_utf8_lossy(&notes);
    let branch = |line: &str| {
        line.split('\t').nth(2)?.strip_prefix("branch '")?.split_once("' of ").map(|(name, _)| name.to_owned())
    };
    let branches: BTreeSet<String> = notes.lines().filter_map(branch).collect();
    (!branches.is_empty()).then_some(branches)
}

/// The branches that are here and no longer at `remote`, which is asked where it was not just now. It is asked again before a branch
/// counts as gone: another fetch may have written over what this one noted.
///
/// Errors: the remote does not answer.
pub(super) fn branches(
    repository: &Repository,
    place: &Place,
    (remote, fetched): (&str, Option<&BTreeSet<String>>),
) -> anyhow::Result<BTreeSet<String>> {
    let refs = repository.refs()?;
    let here: Vec<&str> =
        refs.below(&place.read).map(|(branch, _)| branch).filter(|branch| *branch != "HEAD").collect();
    if fetched.is_some_and(|fetched| here.iter().all(|branch| fetched.contains(*branch))) {
        return Ok(BTreeSet::new());
    }
    let listing = repository.git().output(&["ls-remote", "--refs", "--", remote, "refs/heads/*"])?;
    let listing = String::from_utf8_lossy(&listing);
    let names = listing.lines().filter_map(|line| line.split_once("\trefs/heads/"));
    let there: BTreeSet<&str> = names.map(|(_, name)| name).collect();
    Ok(here.into_iter().filter(|branch| !there.contains(branch)).map(str::to_owned).collect())
}

/// That what is shown of these branches is as they were once; none without any.
pub(super) fn warning(remote: &str, branches: &[&str]) -> Option<Diagnostic> {
    let (names, word) = (branches.join(", "), if branches.len() == 1 { "it was" } else { "they were" });
    let text = format!("{remote} has no {names} any more: what is shown is as {word} when last fetched");
    let warning = Diagnostic::warning(text)
        .hint(format!("to drop what was deleted there: git fetch --prune {}", shell_word(remote)));
    (!branches.is_empty()).then_some(warning)
}
