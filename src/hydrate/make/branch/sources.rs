//! The sources of a branch that follows a tag, a range or a commit.

use super::Branch;
use crate::metadata::Source;
use crate::owners::revisions::Follows;
use crate::repo::ObjectId;

impl Branch {
    /// The dry commit whose tree had the sources of what the branch showed before the run, if that is known.
    pub(crate) fn sources_before(&self) -> Option<ObjectId> {
        let standing = self.before.standing.as_ref()?;
        standing.source.as_ref().map(|source| source.commit).or(standing.dry)
    }

    /// What a tag, a range or an id led to that the branch showed before the run.
    pub(crate) fn source_before(&self) -> Option<&Source> {
        self.before.standing.as_ref()?.source.as_ref()
    }

    /// Sets what the branch shows of a tag, a range or an id.
    pub(crate) fn showing(self, source: Option<Source>) -> Self {
        Self { source, ..self }
    }

    /// Sets what its Applications want it to show.
    pub(crate) fn following(self, source: Option<Source>) -> Self {
        Self { follows: source.map_or(Follows::Branch, Follows::Source), ..self }
    }
}
