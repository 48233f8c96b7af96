//! What a commit says of itself whose files were copied from an earlier commit of its branch.

use super::message::{self, Rollback, Trailers};
use super::values::Origin;
use super::writer::Writer;
use crate::argo::{BranchName, HeldIdentity};
use crate::repo::ObjectId;

/// What an admin said of a rollback.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<'a> {
    /// Where the files come from.
    pub rollback: Rollback,
    /// Why, in one line.
    pub reason: &'a str,
    /// The Applications that were rolled back alone; the whole branch when there are none.
    pub applications: &'a [String],
    /// Those that were gone and came back with the whole branch.
    pub with: &'a [String],
    /// All Applications that are held alone then, in order, those among them.
    pub held: Vec<String>,
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
        let Wanted { rollback, reason, applications, with, held } = wanted;
        let to = rollback.to.to_hex_with_len(7);
        let what = match applications {
            [] => String::new(),
            [only] => format!("{only} "),
            several => format!("{} Applications ", several.len()),
        };
        let text = message::clean(&format!("Roll back {what}to {to}\n\n{reason}\n"));
        let copied = match applications {
            [] => with,
            alone if held == alone => &[],
            alone => alone,
        };
        let made = super::writer::trailers(origin, branch, settings_commit);
        let trailers = Trailers { identities, rollback: Some(rollback), held, copied: copied.to_vec(), ..made };
        message::with_trailers(&text, &trailers)
    }
}

/// The reason in the message of a rollback.
pub(crate) fn reason_of(message: &str) -> &str {
    message.lines().nth(2).unwrap_or_default()
}
