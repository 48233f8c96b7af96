//! Keys that are twice in one mapping of a file: a warning for who wrote the file, once.

use super::branch::Branch;
use super::output::Output;
use crate::argo::Application;
use crate::owners::snapshot::Snapshot;
use crate::repo::{Error, ObjectId, TreeFiles};
use dry_files::diag::Diagnostic;
use dry_files::view::View;

/// The warnings about files that the branch was not hydrated from before, as they are now.
pub(crate) fn warnings<'o>(
    outputs: impl Iterator<Item = (&'o Application, &'o Output)>,
    branch: &Branch,
    dry: ObjectId,
    found: &Snapshot<'_>,
) -> Result<Vec<Diagnostic>, Error> {
    let all: Vec<_> = outputs.flat_map(|(of, output)| output.lost_keys.iter().map(move |lost| (of, lost))).collect();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let files = |dry| Ok::<_, Error>(TreeFiles::new(found.setup.repository, found.buffer.commit(dry)?.tree));
    let before = branch.sources_before().filter(|before| found.setup.repository.has(*before)).map(files).transpose()?;
    let (now, before) = (files(dry)?, before.as_ref().map(|before| View::new(before)));
    let now = View::new(&now);
    let is_new = |lost: &Diagnostic| match (&lost.span, &before) {
        (Some(span), Some(before)) => before.content_id(&span.path) != now.content_id(&span.path),
        _ => true,
    };
    let new = all.into_iter().filter(|(_, lost)| is_new(lost));
    Ok(new.map(|(application, lost)| application.tells(lost.clone().of(application.name.as_str()))).collect())
}
