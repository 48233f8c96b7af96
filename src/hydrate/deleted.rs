//! Environment branches that somebody deleted or moved back, by hand or by a button of the forge, where no hook refuses it.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, shell_word};

use super::make::branch::Branch;
use super::state::Run;
use crate::argo::BranchName;
use crate::owners::deployed;
use crate::owners::platform::telling_again;
use crate::owners::snapshot::Deleted;

/// Warns of environment branches that somebody deleted: those that are there again after the run, and those that a promoter writes,
/// which an admin has to bring back. Warns of those that somebody moved back, too.
pub(crate) fn warn(run: &mut Run<'_>) {
    let moved: Vec<Diagnostic> = run.branches.values().filter_map(|branch| moved_back(branch, run)).collect();
    run.report.warnings.extend(moved);
    for branch in run.branches.values().filter(|branch| branch.tip.is_some()) {
        let Some(Deleted { tip, is_here }) = branch.deleted() else { continue };
        let (name, tip) = (&branch.name, tip.to_hex_with_len(7));
        let text = match is_here {
            true => format!("`{name}` was deleted: it goes on from {tip}, where hydration left it"),
            false => {
                format!("`{name}` was deleted, and {tip}, where hydration left it, is lost: its history begins anew")
            }
        };
        run.report.warnings.push(Diagnostic::warning(text));
    }
    let active: BTreeSet<&BranchName> = run.branches.values().map(|branch| &branch.sync).collect();
    let gone = active.into_iter().filter(|active| run.found.tip(active).is_none()).filter_map(|active| {
        Some((active, run.found.records.get(active)?, deployed::last_seen(active, &run.found.refs)?))
    });
    for (active, _, tip) in gone.filter(|(_, record, _)| record.initial && run.found.setup.place.are_guarded()) {
        let word = shell_word(&active.ref_name());
        let at = tip.to_hex_with_len(7);
        let text =
            format!("`{active}`, which is promoted to, was deleted: when a push last came in it ended with {at}");
        let again = telling_again(run.found.setup.repository, "git", active.as_str());
        let hint = format!("to bring it back, on the server: git update-ref {word} {tip}{again}");
        run.report.warnings.push(Diagnostic::warning(text).hint(hint));
    }
}

/// That a branch was at an older commit before the run than hydration left it at.
fn moved_back(branch: &Branch, run: &Run<'_>) -> Option<Diagnostic> {
    let repository = run.found.setup.repository;
    let record = run.found.records.get(&branch.name).filter(|record| !record.initial)?;
    let (old, left) = (run.found.tip(&branch.name)?, record.tip);
    let is_back = old != left && repository.has(left) && repository.is_ancestor(old, left);
    if !is_back || !run.found.setup.place.are_guarded() {
        return None;
    }
    let now = branch.tip.as_ref().map(|tip| tip.id).filter(|now| *now != old);
    let then = now.map(|now| format!(", and moved it on to {}", now.to_hex_with_len(7)));
    let text = format!(
        "`{}` was moved back to {}, or hydration was killed before it moved on: it is recorded at {}{}",
        branch.name,
        old.to_hex_with_len(7),
        left.to_hex_with_len(7),
        then.unwrap_or_default()
    );
    let hint = "to have a branch stay at an earlier commit: git hydrate rollback";
    Some(Diagnostic::warning(text).hint(hint))
}
