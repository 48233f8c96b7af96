//! Environment branches that somebody deleted, by hand or by a button of the forge, where no hook refuses it.

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, shell_word};

use super::state::Run;
use crate::argo::BranchName;
use crate::owners::deployed;
use crate::owners::snapshot::Deleted;

/// Warns of environment branches that somebody deleted: those that are there again after the run, and those that a promoter writes,
/// which an admin has to bring back.
pub(crate) fn warn(run: &mut Run<'_>) {
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
        let text = format!("`{active}`, which is promoted to, was deleted: it was at {}", tip.to_hex_with_len(7));
        let hint = format!("to bring it back, on the server: git update-ref {word} {tip}");
        run.report.warnings.push(Diagnostic::warning(text).hint(hint));
    }
}
