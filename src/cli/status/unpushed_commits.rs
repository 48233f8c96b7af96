//! Commits of dry branches that only a clone has: no server hydrates them.

use std::collections::BTreeSet;
use std::fmt;

use dry_files::diag::printable;

use crate::argo::BranchName;
use crate::cli::clone::Clone;
use crate::history::BranchStatus;

/// How many commits of a dry branch of a clone are not pushed.
#[derive(Debug, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Unpushed {
    dry_branch: String,
    commits: usize,
}

/// `1 commit of main here is not pushed`
impl fmt::Display for Unpushed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, verb) = if self.commits == 1 { ("commit", "is") } else { ("commits", "are") };
        write!(f, "{} {what} of {} here {verb} not pushed", self.commits, printable(&self.dry_branch))
    }
}

/// Those of the dry branches that `branches` are hydrated from, by name.
pub(super) fn of(clone: &Clone, branches: &[BranchStatus]) -> anyhow::Result<Vec<Unpushed>> {
    if clone.remote().is_none() {
        return Ok(Vec::new());
    }
    let refs = clone.repository.refs()?;
    let names: BTreeSet<&str> = branches.iter().map(|status| status.dry_branch.as_str()).collect();
    let mut all = Vec::new();
    for dry_branch in names {
        let Ok(name) = BranchName::new(dry_branch) else { continue };
        let (here, there) = (refs.get(&name.ref_name()), clone.place.tip(&refs, &name));
        let (Some(here), Some(there)) = (here, there) else { continue };
        let range = format!("{there}..{here}");
        let count = clone.repository.git().output(&["rev-list", "--count", &range])?;
        let commits = String::from_utf8_lossy(&count).trim().parse().unwrap_or_default();
        if commits > 0 {
            all.push(Unpushed { dry_branch: dry_branch.to_owned(), commits });
        }
    }
    Ok(all)
}
