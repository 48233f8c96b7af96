//! Branches that a clone has and its remote has no more: a fetch leaves them in place unless it prunes.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, shell_word};

use crate::owners::place::Place;
use crate::repo::Repository;

/// The branches that were fetched from `remote` and are no longer there.
///
/// Errors: the remote does not answer.
pub(super) fn branches(repository: &Repository, place: &Place, remote: &str) -> anyhow::Result<BTreeSet<String>> {
    let listing = repository.git().output(&["ls-remote", "--refs", "--", remote, "refs/heads/*"])?;
    let listing = String::from_utf8_lossy(&listing);
    let names = listing.lines().filter_map(|line| line.split_once("\trefs/heads/"));
    let there: BTreeSet<&str> = names.map(|(_, name)| name).collect();
    let refs = repository.refs()?;
    let kept = refs.below(&place.read).map(|(branch, _)| branch);
    Ok(kept.filter(|branch| *branch != "HEAD" && !there.contains(branch)).map(str::to_owned).collect())
}

/// That what is shown of these branches is as they were once; none without any.
pub(super) fn warning(remote: &str, branches: &[&str]) -> Option<Diagnostic> {
    let (names, word) = (branches.join(", "), if branches.len() == 1 { "it was" } else { "they were" });
    let text = format!("{remote} has no {names} any more: what is shown is as {word} when last fetched");
    let warning = Diagnostic::warning(text)
        .hint(format!("to drop what was deleted there: git fetch --prune {}", shell_word(remote)));
    (!branches.is_empty()).then_some(warning)
}
