//! What is written and changes nothing, of the Applications that a dry commit touches: a preview tells it.

use std::collections::BTreeMap;

use super::branch::Branch;
use super::output::Output;
use crate::argo::{Application, BranchName};
use crate::hydrate::plan::{Rendered, Step};
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::snapshot::Snapshot;
use crate::render::Ineffective;
use crate::repo::{ObjectId, TreeFiles};
use dry_files::diag::Diagnostic;
use dry_files::view::View;

/// A warning for each, once for all Applications that have it.
pub(crate) fn warnings(
    rendered: &Rendered,
    found: &Snapshot<'_>,
    branches: &BTreeMap<BranchName, Branch>,
) -> Result<Vec<Diagnostic>, HydrateError> {
    let now = Dry::new(rendered.dry.id, rendered.tree, found);
    let mut warnings: Vec<Diagnostic> = Vec::new();
    for (name, step) in &rendered.branches {
        let Step::Hydrate(hydration) = step else { continue };
        let dry = branches.get(name).and_then(Branch::dry_before);
        let dry = dry.filter(|dry| found.setup.repository.has(*dry));
        let before = dry.map(|dry| Ok::<_, HydrateError>(Dry::new(dry, found.buffer.commit(dry)?.tree, found)));
        let before = before.transpose()?;
        let touched = hydration.outputs().filter(|(application, output)| {
            let is_as_before = before.as_ref().is_some_and(|before| before.gives_as(&now, application, output));
            !is_as_before
        });
        let touched: Vec<&Application> = touched.map(|(application, _)| application).collect();
        for warning in remarks(&touched, &now, before.as_ref()) {
            let is_same = |known: &Diagnostic| known.message == warning.message && known.span == warning.span;
            if !warnings.iter().any(is_same) {
                warnings.push(warning);
            }
        }
    }
    Ok(warnings)
}

/// What is reported of Applications. What charts have by default is reported where they did not have it before.
fn remarks(applications: &[&Application], now: &Dry<'_>, before: Option<&Dry<'_>>) -> Vec<Diagnostic> {
    let mut all: Vec<Ineffective> = now.ineffective(applications);
    let known = match before.filter(|_| all.iter().any(|one| one.is_default)) {
        Some(before) => before.ineffective(applications),
        None => Vec::new(),
    };
    let is_known = |one: &Ineffective| known.iter().any(|known| known.diagnostic.message == one.diagnostic.message);
    all.retain(|one| !one.is_default || (before.is_some() && !is_known(one)));
    all.into_iter().map(|one| one.diagnostic).collect()
}

/// A dry commit to render.
struct Dry<'a> {
    id: String,
    files: TreeFiles<'a>,
    found: &'a Snapshot<'a>,
}

impl<'a> Dry<'a> {
    fn new(id: ObjectId, tree: ObjectId, found: &'a Snapshot<'a>) -> Self {
        Self { id: id.to_string(), files: TreeFiles::new(found.setup.repository, tree), found }
    }

    fn ineffective(&self, applications: &[&Application]) -> Vec<Ineffective> {
        let context = render_context(&self.found.policy.settings, &self.files, &self.id);
        self.found.setup.renderers.ineffective(applications, &context).into_iter().flatten().collect()
    }

    /// Whether all that an Application of `now` is rendered from is there, and so is its document.
    fn gives_as(&self, now: &Self, application: &Application, output: &Output) -> bool {
        let (view, now) = (View::new(&self.files), View::new(&now.files));
        let reads = output.record.decode().map(|record| record.reads);
        view.content_id(&application.file) == now.content_id(&application.file)
            && reads.is_some_and(|reads| view.confirms(&reads).unwrap_or(false))
    }
}
