//! Which recorded inputs a branch rests on.

use dry_files::view::View;
use serde::Serialize;

use super::{BranchState, BranchStatus};
use crate::hydrate::dry_tree::DryTrees;
use crate::inspect;
use crate::owners::error::HydrateError;
use crate::owners::snapshot::Snapshot;
use crate::repo::object_id;
use inputs::{KeptInputs, Recorded};

/// A recorded input that Applications of a branch use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct UsedInput {
    /// `chart web 1.2.3 of https://charts.example.com`
    pub input: String,
    /// Of a git repository, the directory; empty for its root, and for others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// What was fetched: the version of a chart, or the commit.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub version: String,
    /// The digest of its files.
    pub content: String,
}

impl UsedInput {
    fn of(recorded: Recorded) -> Self {
        let Recorded { key, directory, version, content, .. } = recorded;
        Self { input: key.to_string(), directory: directory.as_str().to_owned(), version, content }
    }
}

/// Notes the recorded inputs of each branch that hydration made, as the dry commit names them that the branch shows. Nothing is
/// looked for where nothing is recorded.
pub(super) fn note(found: &Snapshot<'_>, all: &mut [BranchStatus]) -> Result<(), HydrateError> {
    if found.inputs.is_nothing() {
        return Ok(());
    }
    let (repository, heads) = (found.setup.repository, found.heads());
    let profile = found.policy.settings.profile.into();
    let mut trees = DryTrees::default();
    for status in all.iter_mut().filter(|status| status.state == BranchState::Hydrated) {
        let dry = status.dry_sha.as_deref().and_then(object_id).filter(|dry| repository.has(*dry));
        let head = heads.iter().find(|head| head.branch.as_str() == status.dry_branch);
        let Some((dry, head)) = dry.zip(head) else { continue };
        let tree = trees.read(dry, head, &heads, found)?;
        let files = trees.files(found.dry_tree(dry)?, repository);
        let view = View::new(&*files);
        // What cannot be read is a mistake that the branch fails by.
        let Ok(kept) = KeptInputs::read(&view) else { continue };
        let mut used = Vec::new();
        for application in tree.hydrated() {
            if application.environment_branch().as_str() == status.branch {
                let needs = inspect::needs_of(application, &view, profile, &dry.to_string()).unwrap_or_default();
                let wanted = needs.into_iter().filter_map(inspect::wanted);
                used.extend(wanted.filter_map(|wanted| kept.of_record(&wanted)).map(UsedInput::of));
            }
        }
        used.sort();
        used.dedup();
        status.inputs = used;
    }
    Ok(())
}
