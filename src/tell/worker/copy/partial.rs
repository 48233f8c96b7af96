//! What a partial clone left at its remote and a run will read, fetched in one go.

use std::collections::BTreeSet;

use super::Copy;
use crate::owners::claims;
use crate::repo;

/// Fetches what is missing of the dry commits that a run looks at: those that branches were hydrated from, and all since.
/// What it reads beside them is fetched when it is read.
pub(super) fn complete(copy: &Copy) -> Result<(), repo::Error> {
    let git = copy.repository.git();
    let bases = claims::dry_commits_of_branches(&copy.repository)?;
    let tips: BTreeSet<String> = copy.there.below("refs/heads/").map(|(_, tip)| tip.to_string()).collect();
    let bases: BTreeSet<String> = bases.iter().map(ToString::to_string).collect();
    let mut missing = BTreeSet::new();
    let list = ["rev-list", "--objects", "--missing=print", "--stdin"];
    let whole = lines(&bases, "");
    let since = lines(&tips, "") + &lines(&bases, "^");
    for (more, input) in [(&["--no-walk"][..], whole), (&[], since)] {
        if input.is_empty() {
            continue;
        }
        let listing = git.output_of(&[&list[..], more].concat(), input.as_bytes())?;
        let listing = String::from_utf8_lossy(&listing);
        missing.extend(listing.lines().filter_map(|line| line.strip_prefix('?')).map(str::to_owned));
    }
    if missing.is_empty() {
        return Ok(());
    }
    // As git itself fetches what it finds missing.
    let fetch = ["-c", "fetch.negotiationAlgorithm=noop", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head"];
    let rest = ["--recurse-submodules=no", "--filter=blob:none", "--refmap=", "--stdin", "--", &copy.remote];
    git.output_of(&[&fetch[..], &rest].concat(), lines(&missing, "").as_bytes()).map(drop)
}

fn lines(ids: &BTreeSet<String>, mark: &str) -> String {
    ids.iter().map(|id| format!("{mark}{id}\n")).collect()
}
