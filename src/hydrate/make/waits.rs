//! Applications that wait for inputs which can be fetched.
//!
//! Where an input is not to be had now, nothing is wrong with the dry commit: its branch stays where it is, whatever the setting
//! `onFailure` says, and the next run tries again.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, Refusal};
use dry_files::view::View;

use crate::argo::{Application, BranchName};
use crate::hydrate::failed_render::FailedRender;
use crate::hydrate::plan::{Done, Failing, Rendered, Step};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::inspect;
use crate::known::FailureKind;
use crate::owners::setup::Fetching;
use inputs::{InputsDir, KeptInputs, Wanted};

/// What is said before the push is accepted.
const UNTRIED: &str = "it is fetched after the push";

impl Run<'_> {
    /// Notes of each Application that reached a limit of its own, or waits, what its render would have looked at: once that differs
    /// the Application is tried again, and counts as changed by the push.
    pub(crate) fn note_unread(&mut self, rendered: &mut Rendered) {
        let files = self.files(rendered.tree);
        let view = View::new(&*files);
        let (dry, profile) = (rendered.dry.id.to_string(), self.found.policy.settings.profile.into());
        for done in all_work(&mut rendered.branches, &mut rendered.beside) {
            if let Err(failed) = &mut done.result
                && failed.kind == FailureKind::Limit
            {
                failed.reads.extend(inspect::named_by(&done.application, &view, profile, &dry));
            }
        }
    }

    /// Finds out which Applications failed by nothing but inputs that can be fetched.
    pub(crate) fn note_waits(&mut self, rendered: &mut Rendered) -> Result<(), Stopped> {
        // Elsewhere nothing that is recorded would be found.
        let is_usual = *self.found.policy.plain.inputs() == InputsDir::default();
        let Some(fetching) = self.found.setup.fetching.filter(|_| is_usual) else { return Ok(()) };
        let files = self.files(rendered.tree);
        let view = View::new(&*files);
        let (dry_branch, dry) = (rendered.head.branch.clone(), rendered.dry.id.to_string());
        let profile = self.found.policy.settings.profile.into();
        for done in all_work(&mut rendered.branches, &mut rendered.beside) {
            let Some(failed) = done.result.as_ref().err().filter(|failed| failed.kind == FailureKind::Mistakes) else {
                continue;
            };
            let wanted = missing(&done.application, &view, profile, &dry);
            let waits: Vec<Wanted> = wanted.filter(|wanted| fetching.allows(wanted, &dry_branch)).collect();
            if !waits.is_empty() {
                let diagnostics = errors(&done.application, &waits, fetching);
                done.result = Err(FailedRender::waiting(failed.clone(), waits, diagnostics));
            }
        }
        Ok(())
    }

    /// Notes the inputs that a branch waits for and that no run tried to fetch.
    pub(crate) fn note_wanted(&mut self, failing: &Failing, dry_branch: &BranchName) {
        let Some(fetching) = self.found.setup.fetching else { return };
        let untried = failing
            .waits()
            .iter()
            .filter(|wanted| fetching.missed(wanted).is_none() && fetching.allows(wanted, dry_branch));
        self.wanted.extend(untried.map(|wanted| (wanted.clone(), dry_branch.clone())));
    }

    /// Stops a run that would go on with inputs that can be fetched.
    pub(crate) fn check_wanted(&mut self) -> Result<(), Stopped> {
        let wanted = std::mem::take(&mut self.wanted);
        if wanted.is_empty() { Ok(()) } else { Err(Stopped::Lacks(wanted)) }
    }
}

/// All Applications, whatever becomes of them.
fn all_work<'r>(
    branches: &'r mut BTreeMap<BranchName, Step<Done>>,
    beside: &'r mut Vec<Done>,
) -> impl Iterator<Item = &'r mut Done> {
    let of_branches = branches.values_mut().filter_map(|step| match step {
        Step::Hydrate(hydration) => Some(&mut hydration.work),
        Step::Fail(_) => None,
    });
    of_branches.chain([beside]).flatten()
}

/// The inputs of an Application that are not here, and can be recorded.
fn missing(
    application: &Application,
    view: &View<'_>,
    profile: crate::argo::Profile,
    dry: &str,
) -> impl Iterator<Item = Wanted> {
    // What cannot be read is a mistake already.
    let needs = inspect::needs_of(application, view, profile, dry).unwrap_or_default();
    let missing: BTreeSet<Wanted> = match KeptInputs::read(view) {
        Ok(kept) => needs.into_iter().filter_map(inspect::wanted).filter(|wanted| kept.lacks(wanted)).collect(),
        Err(_) => BTreeSet::new(),
    };
    missing.into_iter()
}

fn errors(application: &Application, waits: &[Wanted], fetching: &dyn Fetching) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    for wanted in waits {
        let why = fetching.missed(wanted).unwrap_or_else(|| UNTRIED.to_owned());
        let text = format!("`{}` waits for {}: {why}", application.name, wanted.key);
        let hint = "the next push tries again, and so does `git hydrate catch-up` on the server";
        let waiting = Diagnostic::error(text).at(application.places.dry_path.clone()).of(application.name.as_str());
        errors.push(application.tells(waiting.refused(Some(Refusal::Awaited)).hint(hint)));
    }
    errors
}
