//! What an admin's checks say of the manifests that branches get in a run, and that they did not have so.
//!
//! As with what an API server refuses, the last dry commit of the run counts: what a later one corrects is not asked about.

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Span, clipped};
use dry_files::path::RepoPath;
use dry_files::view::View;

use super::branch::Branch;
use super::manifest_of::manifest_of;
use super::output::Output;
use crate::argo::{Application, BranchName};
use crate::diff::ObjectName;
use crate::known::{Encoded, Record};
use crate::manifest::{self, Source};
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::owners::snapshot::Snapshot;
use crate::render::checks::Said;
use crate::render::places::{Places, Wanted};
use crate::repo::{ObjectId, TreeFiles};

/// The manifests that changed, by branch and path.
#[derive(Debug, Default)]
pub(super) struct Checked(BTreeMap<(BranchName, RepoPath), Entry>);

#[derive(Debug)]
struct Entry {
    application: Application,
    /// What they were rendered from.
    record: Encoded,
    manifest: ObjectId,
    /// Whether the branch does not get it yet.
    is_pending: bool,
}

impl Checked {
    /// Adds what an Application got on a branch.
    pub(super) fn add(
        &mut self,
        branch: &BranchName,
        (application, output): (&Application, &Output),
        is_pending: bool,
    ) {
        let key = (branch.clone(), application.sync_path.clone());
        let (application, record) = (application.clone(), output.record.clone());
        self.0.insert(key, Entry { application, record, manifest: output.manifest, is_pending });
    }

    /// Forgets what a branch would have got.
    pub(super) fn forget_pending(&mut self, key: &(BranchName, RepoPath)) {
        if self.0.get(key).is_some_and(|entry| entry.is_pending) {
            self.0.remove(key);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the checks say of what `branches` have now.
    pub(super) fn warnings(
        &self,
        branches: &BTreeMap<BranchName, Branch>,
        (last, found): (&TreeFiles<'_>, &Snapshot<'_>),
        places: &mut Places<'_>,
    ) -> Result<Vec<Diagnostic>, HydrateError> {
        let (mut files, mut entries) = (BTreeMap::new(), BTreeMap::new());
        for ((branch, path), entry) in &self.0 {
            let pending = entry.is_pending.then_some(&entry.record);
            if counts(branches.get(branch), path, (entry.manifest, pending), (last, found))? {
                let name = format!("{branch}/{path}/{MANIFEST}");
                files.insert(name.clone(), found.buffer.blob(entry.manifest)?.to_vec());
                entries.insert(name, entry);
            }
        }
        if files.is_empty() {
            return Ok(Vec::new());
        }
        let warning = |said: Said| {
            let entry = said.file.as_ref().and_then(|file| entries.get(file).copied());
            let text = said.file.as_ref().and_then(|file| files.get(file));
            let object = said.line.zip(text).and_then(|(line, text)| object_at(text, line));
            warning(&said, entry, object.as_ref(), places)
        };
        Ok(found.setup.renderers.check(&files).into_iter().map(warning).collect())
    }
}

/// Whether a branch has a manifest now; or does not get it yet, and `last`, the dry tree of the last commit, has all that it was
/// rendered from.
pub(super) fn counts(
    branch: Option<&Branch>,
    path: &RepoPath,
    (manifest, pending): (ObjectId, Option<&Encoded>),
    (last, found): (&TreeFiles<'_>, &Snapshot<'_>),
) -> Result<bool, HydrateError> {
    if let Some(record) = pending.filter(|_| branch.is_some_and(|branch| branch.failed().is_some())) {
        let view = View::new(last);
        let is_current = |record: &Record| {
            view.kind(&record.file).is_ok_and(|kind| kind.is_some()) && view.confirms(&record.reads).unwrap_or(false)
        };
        return Ok(record.decode().is_none_or(|record| is_current(&record)));
    }
    let tip = branch.and_then(|branch| branch.tip.as_ref());
    Ok(tip.map(|tip| manifest_of(&found.tree_of(tip.tree), path)).transpose()?.flatten() == Some(manifest))
}

fn warning(said: &Said, entry: Option<&Entry>, object: Option<&ObjectName>, places: &mut Places<'_>) -> Diagnostic {
    let what = object.map(|object| format!("{} {}: ", object.kind, object.name)).unwrap_or_default();
    let text = clipped(format!("check `{}`: {what}{}", said.check, said.message));
    let warning = Diagnostic { is_refused_strictly: said.refuses, ..Diagnostic::warning(text) };
    let Some(entry) = entry else { return warning };
    let place = object.and_then(|object| place_of(object, entry, places));
    let place = place.unwrap_or_else(|| entry.application.places.name.clone());
    let line = said.line.map(|line| {
        let (branch, path) = (entry.application.environment_branch(), &entry.application.sync_path);
        let place = format!("{branch}:{path}/{MANIFEST}:{line}");
        match said.refuses {
            // It may never be on the branch.
            true => format!("more of that line, after `git hydrate` in a clone: git hydrate explain hydrate/{place}"),
            false => format!("more of that line, once it is hydrated: git hydrate explain {place}"),
        }
    });
    let warning = entry.application.tells(warning.at(place));
    match line {
        Some(line) => warning.hint(clipped(line)),
        None => warning,
    }
}

/// The line of the dry file that makes an object.
fn place_of(object: &ObjectName, entry: &Entry, places: &mut Places<'_>) -> Option<Span> {
    let reads = entry.record.decode()?.reads;
    let application = &entry.application;
    places.find(Wanted { application, reads: &reads, object, field: "kind", is_value: false, is_unknown: false })
}

/// The object that a line of manifests belongs to, 1-based.
fn object_at(text: &[u8], line: u32) -> Option<ObjectName> {
    let text = String::from_utf8_lossy(text);
    let line = usize::try_from(line).ok()?;
    let before = text.lines().take(line).filter(|line| line.trim_end() == "---").count();
    let document = text.split_inclusive('\n').scan(0, |number, line| {
        *number += usize::from(line.trim_end() == "---");
        Some((*number, line))
    });
    let document: String =
        document.filter(|(number, line)| *number == before && line.trim_end() != "---").map(|(_, line)| line).collect();
    let manifests = manifest::read(document.as_bytes(), Source::Output(MANIFEST)).ok()?;
    manifests.first().map(ObjectName::of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_leads_to_its_object() {
        let text = b"kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata:\n  name: b\n";
        for (line, kind) in [(1, Some("A")), (2, Some("A")), (4, Some("B")), (6, Some("B")), (60, Some("B"))] {
            assert_eq!(object_at(text, line).map(|object| object.kind), kind.map(str::to_owned), "{line}");
        }
    }
}
