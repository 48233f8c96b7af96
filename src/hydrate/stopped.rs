//! Why a try at hydrating ends without its result.

use std::collections::BTreeSet;

use crate::argo::BranchName;
use crate::known;
use crate::owners::error::HydrateError;
use crate::repo::TransactionError;
use inputs::Wanted;

/// Why a try ended without its result.
pub(crate) enum Stopped {
    /// Somebody else moved one of the refs: try again.
    Raced(String),
    /// The cache is damaged: try again without it.
    Unknown,
    /// What changed is not all that a dry branch has to be planned by.
    NotPlain,
    /// So try again, with a look at all of this dry branch.
    Wider(BranchName),
    /// It needs inputs that can be fetched, each for a dry branch: try again with them.
    Lacks(BTreeSet<(Wanted, BranchName)>),
    /// The world failed.
    Failed(HydrateError),
}

impl Stopped {
    /// Of the dry branch that was planned.
    pub(crate) fn of(self, dry_branch: &BranchName) -> Self {
        match self {
            Stopped::NotPlain => Stopped::Wider(dry_branch.clone()),
            Stopped::Raced(_) | Stopped::Unknown | Stopped::Wider(_) | Stopped::Lacks(_) | Stopped::Failed(_) => self,
        }
    }

    /// What to report of it when there is no other try.
    pub(crate) fn into_error(self) -> HydrateError {
        match self {
            Stopped::Raced(why) => HydrateError::Raced(why),
            Stopped::Unknown | Stopped::NotPlain | Stopped::Wider(_) => HydrateError::Cache(known::Unusable),
            Stopped::Lacks(wanted) => HydrateError::Lacks(wanted),
            Stopped::Failed(error) => error,
        }
    }
}

impl<E: Into<HydrateError>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Stopped::Failed(error.into())
    }
}

impl From<TransactionError> for Stopped {
    fn from(error: TransactionError) -> Self {
        match error {
            TransactionError::Raced(why) => Self::Raced(why),
            TransactionError::Failed(error) => Self::Failed(error.into()),
        }
    }
}

impl From<known::Unusable> for Stopped {
    fn from(_: known::Unusable) -> Self {
        Stopped::Unknown
    }
}
