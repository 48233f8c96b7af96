//! What a commit says of itself whose files were copied from an earlier commit of its branch.

use super::message::{self, Rollback, Trailers};
use super::values::Origin;
use super::writer::Writer;
use crate::argo::{BranchName, HeldIdentity};
use crate::repo::ObjectId;

/// What an admin said of a rollback.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// Where the files come from.
    pub rollback: Rollback,
    /// Why, in one line.
    pub reason: &'a str,
    /// The Applications that were rolled back alone; the whole branch when there are none.
    pub applications: &'a [String],
}

impl Writer {
    /// The message of a commit on `branch` whose files were copied. `origin` is the dry commit that the branch shows by it.
    pub(crate) fn rollback_message(
        &self,
        origin: &Origin<'_>,
        branch: &BranchName,
        settings_commit: Option<ObjectId>,
        identities: Vec<HeldIdentity>,
        wanted: Wanted<'_>,
    ) -> String {
        let Wanted { rollback, reason, applications } = wanted;
        let to = rollback.to.to_hex_with_len(7);
        let what = match applications {
            [] => String::new(),
            [only] => format!("{only} "),
            several => format!("{} Applications ", several.len()),
        };
        let text = message::clean(&format!("Roll back {what}to {to}\n\n{reason}\n"));
        let (rollback, held) = (Some(rollback), applications.to_vec());
        let trailers =
            Trailers { identities, rollback, held, ..super::writer::trailers(origin, branch, settings_commit) };
        message::with_trailers(&text, &trailers)
    }
}

/// The reason in the message of a rollback.
pub(crate) fn reason_of(message: &str) -> &str {
    message.lines().nth(2).unwrap_or_default()
}
