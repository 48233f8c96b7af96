//! What became of the files with Applications: compared with the records of what they had before.

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Files, View};

use crate::argo::{self, Application, RuleSet, makers_of};
use crate::discover::{Changes, Lists, Searched};
use crate::hydrate::plan::touched::Touched;
use crate::hydrate::plan::unrecognized::{GoneDocuments, Looked, Side};
use crate::hydrate::stopped::Stopped;
use crate::known::{About, Record, State};
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;

/// Compares the Applications of a changed file with the records of those that it had before; answers those that it has
/// now.
pub(super) fn compare_file(
    state: &mut State,
    before: Option<&argo::File>,
    after: Option<&argo::File>,
    clusters: &Lists,
    found: &Snapshot<'_>,
    touched: &mut Touched,
) -> Result<Vec<Application>, Stopped> {
    let Some(file) = before.or(after) else { return Ok(Vec::new()) };
    let count = |file: Option<&argo::File>| file.map_or(0, |file| file.documents.len());
    let documents = (state.head.documents + count(after)).checked_sub(count(before));
    state.head.documents = documents.ok_or(Stopped::Unknown)?;
    if state.head.documents > found.policy.settings.limits.applications {
        return Err(Stopped::NotPlain);
    }
    if !found.policy.applications.matches(file.path.as_str()) {
        return Ok(Vec::new());
    }
    let known_fields = &found.policy.settings.known_fields;
    let sides = || before.into_iter().chain(after);
    let is_sound = sides().flat_map(argo::File::all_diagnostics).all(|diagnostic| diagnostic.is_of_field(known_fields));
    let is_apart = |warning: &Diagnostic| is_apart(warning, &file.path);
    let records = state.of_file(&file.path)?.into_iter().filter(|record| record.about == About::Written);
    let mut records: BTreeMap<usize, Record> = records.map(|record| (record.index, record)).collect();
    let are_known = before
        .into_iter()
        .flat_map(argo::File::applications)
        .all(|application| records.contains_key(&application.index));
    let is_odd = !is_sound || state.is_patch(&file.path)? || !state.head.warnings.iter().all(is_apart);
    if is_odd || !are_known || records.len() != count(before) {
        return Err(Stopped::NotPlain);
    }
    let mut written = Vec::new();
    for application in after.into_iter().flat_map(argo::File::applications) {
        let record = records.remove(&application.index);
        let application = clusters.known(application);
        touched.compare(application.clone(), record, state)?;
        written.push(application);
    }
    for record in records.into_values() {
        touched.leave(record, state)?;
    }
    match after.is_none_or(|after| written.len() == after.documents.len()) {
        true => Ok(written),
        false => Err(Stopped::NotPlain),
    }
}

/// Whether something odd is reported as before, whatever the Applications of a file say which stay where they are: it is in another
/// file, and names no place of this one.
fn is_apart(warning: &Diagnostic, file: &RepoPath) -> bool {
    let is_here = warning.span.as_ref().is_some_and(|span| span.path == *file);
    let named = Span::file(file.clone()).to_string();
    let mut texts = [&warning.message, &warning.label].into_iter().chain(&warning.hint);
    warning.unknown_field.is_some() || !(is_here || texts.any(|text| text.contains(&named)))
}

/// Whether the document of an Application that is gone may be there still, as something else.
pub(super) fn is_unrecognized(
    touched: &Touched,
    (old, new): (&dyn Files, &dyn Files),
    policy: &Policy,
) -> Result<bool, Stopped> {
    let mut documents = GoneDocuments::default();
    for record in touched.gone.values() {
        let makers = match &record.about {
            About::Made(text) => makers_of(text).ok_or(Stopped::Unknown)?,
            About::Written | About::Maker(_) => Vec::new(),
        };
        documents.add(&record.file, record.name.as_str(), &makers);
    }
    // Where patches come or go, everything is looked at.
    let patches = BTreeMap::new();
    let (patterns, inputs) = (&policy.applications, policy.plain.inputs());
    let searched = Searched { patches: &patches, patterns, inputs };
    let (before, now) = (Side { files: old, searched }, Side { files: new, searched });
    Ok(!documents.unrecognized(before, now, &mut Looked::default()).is_empty())
}

/// Whether no file became an Application, or stopped being one, because a kustomization names it as a patch.
pub(super) fn patches_are_plain(
    state: &mut State,
    changes: &Changes,
    view: &View<'_>,
    rules: &RuleSet,
) -> Result<bool, Stopped> {
    for path in changes.patches.union(&changes.unpatched) {
        let is_patch = changes.patches.contains(path);
        if is_patch && state.is_patch(path)? {
            continue;
        }
        let is_application = |content: &[u8]| argo::may_hold_applications(path) && argo::is_marked(content, rules);
        if view.read(path).is_ok_and(|blob| is_application(&blob.data)) {
            return Ok(false);
        }
        if is_patch {
            state.add_patch(path.clone());
        }
    }
    Ok(true)
}
