//! How many environment branches one dry branch may feed: each costs every push a look, those to other dry branches too.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;

use crate::argo::{Application, BranchName};

/// What is said of a dry branch that would feed more than `max` environment branches, of which some are new; none where it may.
/// `fed` are those that it was hydrated to and that are there: one that no Application names any more costs a look all the same.
///
/// Those that are there already are hydrated on, however many they are: a limit must not stop what worked before it was set.
pub(crate) fn too_many<'a>(
    dry_branch: &BranchName,
    applications: impl Iterator<Item = &'a Application>,
    fed: impl Iterator<Item = &'a BranchName>,
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
    let named = all.len();
    all.extend(fed);
    let first = first.filter(|_| all.len() > max)?;
    let are = if new == 1 { "is" } else { "are" };
    let left = match all.len() - named {
        0 => String::new(),
        1 => " and 1 more is left of former ones".to_owned(),
        left => format!(" and {left} more are left of former ones"),
    };
    let text = format!(
        "`{dry_branch}` is not hydrated: its Applications name {named} environment branches, of which {new} {are} new{left}; \
         the setting limits.branches allows {max}"
    );
    let fewer = if left.is_empty() { "name fewer branches" } else { "delete the branches that nothing deploys" };
    let hint = format!("{fewer}, or on the server: git hydrate config set limits.branches {}", all.len());
    Some(first.tells(Diagnostic::error(text).at(first.places.environment_branch().clone()).hint(hint)))
}
