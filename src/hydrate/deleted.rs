//! Environment branches that somebody deleted, by hand or by a button of the forge, where no hook refuses it.

use dry_files::diag::Diagnostic;

use super::state::Run;
use crate::owners::snapshot::Deleted;

/// Warns of environment branches that somebody deleted, and that are there again after the run.
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
}
