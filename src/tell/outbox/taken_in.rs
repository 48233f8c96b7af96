//! A worker takes the branches of destinations from there: what the dry repository's host has of them may be anyone's.

use std::time::Instant;

use super::access::Access;
use super::{branch_of, reopened, time_limit};
use crate::owners::claims;
use crate::owners::policy;
use crate::repo::{self, Expected, ObjectBuffer, RefEdit, Repository, update_refs};

/// Sets the branches of destinations, in a copy of the dry repository, to what the destinations have and hydration made. Those of
/// one that is away stay as they are.
///
/// Errors: the copy cannot be read or written.
pub(in crate::tell) fn take_in(copy: &Repository) -> Result<(), repo::Error> {
    let limit = time_limit(copy);
    for (name, url) in policy::destinations(copy)? {
        let access = Access::of(copy, &name, &url);
        let below = name.refs();
        let place = copy.place().unwrap_or("refs/");
        let refspec = format!("+refs/heads/*:{place}{}*", below.strip_prefix("refs/").unwrap_or(&below));
        let fetched = access.fetch(copy, Instant::now() + limit, |command| {
            command.args(["--prune", "--no-prune-tags", "--", &access.url, &refspec]);
        });
        if fetched.is_ok_and(|output| output.status.success()) {
            let copy = reopened(copy)?;
            let (refs, buffer) = (copy.refs()?, ObjectBuffer::new(&copy));
            let strangers = refs.below(&below).filter(|(branch, tip)| {
                let full = branch_of(&name, branch);
                full.is_none_or(|full| !claims::is_claimed(&full, *tip, &buffer))
            });
            let gone =
                |(branch, tip)| RefEdit { name: format!("{below}{branch}"), new: None, expected: Expected::Is(tip) };
            let edits: Vec<RefEdit> = strangers.map(gone).collect();
            if !edits.is_empty() {
                let doing = |error| repo::Error::new("leaving out branches of a destination", error);
                update_refs(&copy, &edits, "hydrate: push").map_err(doing)?;
            }
        }
    }
    Ok(())
}
