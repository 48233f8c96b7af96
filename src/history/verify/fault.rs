//! What a verification finds.

use serde::Serialize;

use crate::argo::BranchName;
use crate::metadata::ENGINE_REVISION;
use crate::owners::acknowledged::{Acknowledged, Acknowledgement};
use crate::repo::ObjectId;

/// Commits of one environment branch: those on the first-parent line from `tip` to `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// What to call it.
    pub name: String,
    /// The newest commit.
    pub tip: ObjectId,
    /// Where the line ends, itself left out; none for the whole history.
    pub after: Option<ObjectId>,
}

/// What became of one line. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verified {
    /// The branch, or what else the line was called.
    pub branch: String,
    /// Its newest commit.
    pub tip: String,
    /// How many hydrated commits are what hydration makes.
    pub equal: usize,
    /// How many have a fault that a commit below them has, and no other.
    pub inheriting: usize,
    /// How many were not made by hydration and leave its files alone, merges of hydrated commits among them.
    pub others: usize,
    /// What is wrong, oldest commit first.
    pub findings: Vec<Finding>,
}

/// What one commit is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// What hydration makes.
    Equal,
    /// It has a fault that a commit below it has, and no other.
    Inheriting,
    /// It was not made by hydration and leaves its files alone.
    Other,
    /// Something is wrong with it.
    Wrong(Vec<Finding>),
}

impl Seen {
    /// A commit with faults, which says that it was made from the dry commit `dry`.
    pub(super) fn wrong(commit: ObjectId, dry: Option<ObjectId>, faults: impl IntoIterator<Item = Fault>) -> Self {
        Self::Wrong(faults.into_iter().map(|fault| Finding::new(commit, dry, fault)).collect())
    }
}

impl Verified {
    /// A branch with nothing found yet.
    pub(super) fn of(branch: &BranchName, tip: Option<ObjectId>) -> Self {
        let tip = tip.map(|tip| tip.to_string()).unwrap_or_default();
        Self { branch: branch.to_string(), tip, ..Self::default() }
    }

    /// Counts a commit of the line.
    pub(super) fn count(&mut self, seen: &Seen) {
        match seen {
            Seen::Equal => self.equal += 1,
            Seen::Inheriting => self.inheriting += 1,
            Seen::Other => self.others += 1,
            Seen::Wrong(findings) => self.findings.extend(findings.iter().cloned()),
        }
    }

    /// Adds what another line of the same branch has.
    pub(super) fn add(&mut self, other: Self) {
        self.equal += other.equal;
        self.inheriting += other.inheriting;
        self.others += other.others;
        self.findings.extend(other.findings);
    }
}

/// Something wrong with one commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Finding {
    /// The commit.
    pub commit: String,
    /// The dry commit that it says it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_sha: Option<String>,
    /// What is wrong.
    #[serde(flatten)]
    pub fault: Fault,
    /// Who knows of it, and why it does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acknowledged: Option<Acknowledgement>,
}

impl Finding {
    pub(super) fn new(commit: ObjectId, dry: Option<ObjectId>, fault: Fault) -> Self {
        let dry_sha = dry.map(|dry| dry.to_string());
        Self { commit: commit.to_string(), dry_sha, fault, acknowledged: None }
    }
}

/// What is wrong with a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "fault")]
pub(crate) enum Fault {
    /// A file has other content.
    #[error("the content of {path} is not what hydration makes")]
    Content {
        /// The file.
        path: String,
    },
    /// A file has another mode.
    #[error("the mode of {path} is not what hydration makes")]
    Mode {
        /// The file.
        path: String,
    },
    /// A file that hydration does not make.
    #[error("{path} exists, but hydration does not write it")]
    Extra {
        /// The file.
        path: String,
    },
    /// A file that hydration makes is not there.
    #[error("{path} is missing")]
    Missing {
        /// The file.
        path: String,
    },
    /// Other parents.
    #[error("its parents are not those that hydration sets")]
    Parents,
    /// Another message.
    #[error("its message is not what hydration writes")]
    Message,
    /// Another author or committer.
    #[error("its author or committer is not the one in the settings")]
    Identity,
    /// Another date.
    #[error("its date is not that of the dry commit")]
    Date,
    /// A header that hydration does not write, such as a signature.
    #[error("it has headers that hydration does not write")]
    Headers,
    /// Hydration makes no commit of this dry commit.
    #[error("hydration makes no commit here: nothing changed")]
    Needless,
    /// The dry commit does not hydrate.
    #[error("its dry commit fails to render: {message}")]
    Unhydratable {
        /// The first thing that is wrong with it.
        message: String,
    },
    /// A hydrated commit is not there.
    #[error("the hydrated commit of {dry_sha} is missing below it")]
    Skipped {
        /// The dry commit.
        dry_sha: String,
    },
    /// Somebody else changed files that hydration writes.
    #[error("it was not made by hydration, and changes {}", .paths.join(", "))]
    Foreign {
        /// The files.
        paths: Vec<String>,
    },
    /// The branch is elsewhere, or is gone.
    #[error("the branch is neither at {recorded}, where hydration left it, nor ahead of it")]
    Strayed {
        /// The commit that hydration recorded.
        recorded: String,
    },
    /// Applications name the branch, and hydration did not make it.
    #[error("the branch was not made by hydration, although Applications are hydrated to it")]
    NotHydrated,
    /// There are notes, but none on it.
    #[error("it has no note")]
    NoNote,
    /// A note that hydration does not write.
    #[error("its note is not what hydration writes")]
    Note,
    /// A note that names a dry commit that makes another tree, or does not belong there.
    #[error("its note names {dry_sha}, which it is not hydrated from")]
    NoteOfAnother {
        /// What it names.
        dry_sha: String,
    },
    /// A rollback to what is not a hydrated commit of its branch.
    #[error("it rolls back to {id}, which is not a hydrated commit of its branch")]
    RollbackTo {
        /// The commit that it names.
        id: String,
    },
    /// A rollback that hydration did not record.
    #[error("it is a rollback that hydration did not make")]
    Unrecorded,
    /// It was made with settings that are not those of the repository, of now or of before.
    #[error("it names settings that this repository never had, {id}")]
    Settings {
        /// Their commit.
        id: String,
    },
    /// It cannot be determined: another revision of the engine made it, and ours makes something else.
    #[error(
        "made by engine revision {revision}, but this is {ENGINE_REVISION}: verify it with a git-hydrate of that \
        revision"
    )]
    OtherRevision {
        /// The revision.
        revision: u32,
    },
    /// It cannot be determined: an object that it was made from is gone.
    #[error("{what} {id} is not in this repository")]
    Gone {
        /// What the object was.
        what: &'static str,
        /// Its id.
        id: String,
    },
}

impl Fault {
    /// Whether it cannot be determined if anything is wrong.
    pub(crate) fn is_unknown(&self) -> bool {
        matches!(self, Fault::OtherRevision { .. } | Fault::Gone { .. })
    }
}

impl Verified {
    /// Whether every commit is what hydration makes, or known not to be.
    pub(crate) fn is_success(&self) -> bool {
        self.findings.iter().all(|finding| finding.acknowledged.is_some())
    }

    /// Says of each finding whether it is known.
    pub(crate) fn acknowledge(&mut self, known: &Acknowledged) {
        for finding in &mut self.findings {
            finding.acknowledged = known.get(&finding.commit).cloned();
        }
    }
}
