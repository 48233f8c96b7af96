//! How many environment branches one dry branch may feed: each costs every push a look, those to other dry branches too.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;

use crate::argo::{Application, BranchName};

/// What is said of a dry branch whose Applications name more than `max` environment branches, of which some are new; none where
/// they may.
///
/// Those that are there already are hydrated on, however many they are: a limit must not stop what worked before it was set.
pub(crate) fn too_many<'a>(
    dry_branch: &BranchName,
    applications: impl Iterator<Item = &'a Application>,
    is_there: impl Fn(&BranchName) -> bool,
    max: usize,
) -> Option<Diagnostic> {
    let (mut all, mut new, mut first) = (BTreeSet::new(), 0, None);
    for application in applications {
        let branch = application.environment_branch();
        if all.insert(branch) && !is_there(branch) {
            new += 1;
            first.get_or_insert(application);
        }
    }
    let first = first.filter(|_| all.len() > max)?;
    let are = if new == 1 { "is" } else { "are" };
    let text = format!(
        "`{dry_branch}` is not hydrated: its Applications name {} environment branches, of which {new} {are} new; \
         the setting limits.branches allows {max}",
        all.len()
    );
    let hint = format!("name fewer branches, or on the server: git hydrate config set limits.branches {}", all.len());
    Some(first.tells(Diagnostic::error(text).at(first.places.environment_branch().clone()).hint(hint)))
}
