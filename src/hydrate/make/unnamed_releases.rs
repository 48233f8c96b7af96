//! Charts that are rendered as a release without a name of its own, and were not before.

use super::branch::Branch;
use super::manifest_of::{manifest_of, tree_before};
use super::output::Output;
use crate::argo::Application;
use crate::owners::snapshot::Snapshot;
use crate::repo::{Error, ObjectBuffer, ObjectId};
use dry_files::diag::Diagnostic;
use dry_files::diag::more::listed;

/// How many Applications are named.
const NAMES_MAX: usize = 4;

/// What Helm calls a release that nothing names.
const UNNAMED: &[u8] = b"release-name";

/// Those of a dry commit.
#[derive(Debug, Default)]
pub(crate) struct UnnamedReleases {
    /// Those that a branch does not have yet: later it is what runs.
    new: Vec<Application>,
    /// Those whose objects have another name there.
    dropped: Vec<Application>,
}

impl UnnamedReleases {
    /// Adds those of a branch.
    pub(crate) fn add<'o>(
        &mut self,
        outputs: impl Iterator<Item = (&'o Application, &'o Output)>,
        branch: &Branch,
        found: &Snapshot<'_>,
    ) -> Result<(), Error> {
        let tree = tree_before(branch, found);
        for (application, output) in outputs.filter(|(_, output)| output.is_unnamed_release) {
            let there = tree.as_ref().map(|tree| manifest_of(tree, &application.sync_path)).transpose()?.flatten();
            match there {
                None => self.new.push(application.clone()),
                Some(before) if drops_name(&found.buffer, before, output.manifest) => {
                    self.dropped.push(application.clone());
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// A warning of all that are new, and one of all whose objects get another name.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = Diagnostic> {
        new(&self.new).into_iter().chain(dropped(&self.dropped))
    }
}

/// Whether objects get a name by Helm where they had one of their own. Which name the release had is not known any more.
fn drops_name(buffer: &ObjectBuffer<'_>, before: ObjectId, now: ObjectId) -> bool {
    let names = |manifest| buffer.blob(manifest).map(|text| memchr::memmem::find(&text, UNNAMED).is_some());
    before != now && matches!((names(before), names(now)), (Ok(false), Ok(true)))
}

fn new(unnamed: &[Application]) -> Option<Diagnostic> {
    let [first, others @ ..] = unnamed else { return None };
    let place = first.places.dry_path.clone();
    if others.is_empty() {
        return Some(first.tells(first.unnamed_release(place)));
    }
    let text = format!("{} set no release name, so Helm uses `release-name` for each", names(unnamed));
    Some(Diagnostic::warning(text).at(place).hint("set `helm.releaseName` in each drySource"))
}

fn dropped(dropped: &[Application]) -> Option<Diagnostic> {
    let first = dropped.first()?;
    let (set, their) = if dropped.len() == 1 { ("sets", "its") } else { ("set", "their") };
    let text = format!(
        "{} {set} no release name any more, so Helm uses `release-name`: {their} objects get new names",
        names(dropped)
    );
    let hint = "the cluster makes them anew, and removes those of the old names where it prunes; to keep them, set \
                `helm.releaseName` as before";
    Some(first.tells(Diagnostic::warning(text).at(first.places.dry_path.clone()).hint(hint)))
}

fn names(applications: &[Application]) -> String {
    listed(applications.iter().map(|application| format!("`{}`", application.name)), NAMES_MAX)
}
