//! What a run reports, and whose each part of it is.

use super::held::name_holds;
use super::state::Run;
use crate::argo::BranchName;
use crate::hydrate::report::Report;
use crate::hydrate::whose::{DryPoint, Judged};
use crate::owners::heads::DryHead;
use crate::repo::ObjectId;
use crate::settings::History;
use dry_files::diag::Diagnostic;

impl Run<'_> {
    /// Notes what came of a dry commit on a branch.
    pub(crate) fn note_judged(
        &mut self,
        branch: &BranchName,
        head: &DryHead,
        dry: ObjectId,
        failure: Option<Vec<Diagnostic>>,
    ) {
        let (branch, dry) = (branch.to_string(), DryPoint::new(&head.branch, dry));
        self.report.whose.judged.push(Judged { branch, dry, failure });
    }

    /// The report, with what became of the branches. Neither is there afterwards.
    pub(crate) fn take_report(&mut self) -> Report {
        let mut report = std::mem::take(&mut self.report);
        let whose = &mut report.whose;
        whose.copies = self.found.policy.settings.applications_to.as_ref().map(ToString::to_string);
        whose.judges_every = self.found.policy.settings.history == History::Every;
        let heads = self.found.heads().into_iter();
        whose.heads = heads.map(|head| (head.branch.to_string(), head.tip.to_string())).collect();
        for (name, branch) in &self.branches {
            for DryPoint { dry_branch, dry_sha } in branch.known_before() {
                whose.known.entry(dry_branch).or_default().insert(dry_sha);
            }
            whose.shown.insert(name.to_string(), branch.all_shown());
        }
        let branches = std::mem::take(&mut self.branches);
        let setup = self.found.setup;
        let here = branches.into_values().filter(|branch| !setup.leaves(&branch.name, &branch.sync));
        report.branches = here.flat_map(|branch| branch.into_reports()).collect();
        for branch in &mut report.branches {
            let name = BranchName::read(&branch.branch).ok();
            let holds = name.as_ref().map_or(&[][..], |name| self.found.holds.of_branch(name));
            name_holds(&mut branch.behind, holds);
        }
        report
    }
}
