//! Settings that are pushed.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;

use super::guard::RefUpdate;
use crate::owners::error::HydrateError;
use crate::owners::policy::{check_settings, files_of, holds};
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::repo::{ObjectBuffer, Refs, Repository};
use crate::settings::SETTINGS_REF;

/// Why a push of the settings must not go in: hydration could not work with them, and every later push would fail.
/// `repository` has the objects of the push, `refs` are those from before it.
pub(crate) fn unusable_settings(
    repository: &Repository,
    refs: &Refs,
    update: &RefUpdate,
) -> Result<Option<Diagnostic>, HydrateError> {
    let is_settings = refs.resolve(&update.name) == SETTINGS_REF;
    let Some(new) = update.new.filter(|_| is_settings) else { return Ok(None) };
    let hint = "fix them and push again; `git hydrate config` checks them before it commits";
    let buffer = ObjectBuffer::new(repository);
    match files_of(Some(new), &buffer).and_then(|(_, files)| check_settings(&files)) {
        Ok(()) => Ok(None),
        Err(HydrateError::Template(mistake)) => Ok(Some(mistake.hint(hint))),
        Err(error @ HydrateError::Settings(_)) => Ok(Some(Diagnostic::error(error.to_string()).hint(hint))),
        Err(error) => Err(error),
    }
}

/// The dry branches from which something is hydrated that the pushed settings hold no longer, or elsewhere: it is judged as if it
/// were pushed.
pub(crate) fn released(before: &Setup<'_>, after: &Repository) -> Result<BTreeSet<String>, HydrateError> {
    let holds_of =
        |repository: &Repository| Ok::<_, HydrateError>(holds(&repository.refs()?, &ObjectBuffer::new(repository))?.0);
    let (old, new) = (holds_of(before.repository)?, holds_of(after)?);
    if old.is_empty() || old == new {
        return Ok(BTreeSet::new());
    }
    let (found, _) = Snapshot::read(before, ObjectBuffer::new(before.repository))?;
    let over = old.iter().filter(|(branch, holds)| holds.iter().any(|hold| !new.of_branch(branch).contains(hold)));
    let branches = over.filter_map(|(branch, _)| found.environments.get(branch));
    Ok(branches.map(ToString::to_string).collect())
}
