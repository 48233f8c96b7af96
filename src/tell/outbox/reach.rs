//! Whether destinations can be reached and written, as far as that can be seen without pushing.

use super::access::Failure;
use super::there::There;
use super::wanted::Wanted;
use super::{Ask, Outgoing, time_limit};
use crate::argo::without_credentials;
use crate::owners::policy;
use crate::repo::{self, PushedRefs, Repository};
use crate::tell::worker::deliver::complaint;

/// One destination, as it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reach {
    /// Its name.
    pub destination: String,
    /// Its URL, as the settings have it.
    pub url: String,
    /// Whether it was asked for leave to push, too: only a branch that was hydrated for it can be offered.
    pub is_offered: bool,
    /// Why it cannot be read or written.
    pub trouble: Option<String>,
    /// Its refs that git takes for others of its refs when somebody pushes those.
    pub taken_for_others: Vec<String>,
}

/// Asks each destination what it has, and offers it a branch that is not sent.
///
/// Errors: the repository or its settings cannot be read.
pub(crate) fn reach(repository: &Repository) -> Result<Vec<Reach>, repo::Error> {
    let limit = time_limit(repository);
    let mut found = Vec::new();
    for (name, url) in policy::destinations(repository)? {
        let outgoing = Outgoing::open(repository, name.clone(), url.clone(), limit, (Ask::Rehearse, 0))?;
        let wanted = Wanted::read(repository, &name)?;
        let offered = wanted.branches.iter().next().map(|(branch, want)| (format!("refs/heads/{branch}"), want.tip));
        let refs = match &offered {
            Some((branch, tip)) => Some(PushedRefs::new(repository, [(branch.as_str(), *tip)])?),
            None => None,
        };
        let there = There::read(&outgoing);
        let taken_for_others = there.as_ref().map(There::taken_for_others).unwrap_or_default();
        let trouble = there.and_then(|_| refs.map_or(Ok(()), |refs| offer(&outgoing, &refs)));
        let trouble = trouble.err().map(|(Failure::Away(why) | Failure::Refused(why))| why);
        let (destination, url) = (name.to_string(), without_credentials(&url));
        found.push(Reach { destination, url, is_offered: offered.is_some(), trouble, taken_for_others });
    }
    Ok(found)
}

fn offer(outgoing: &Outgoing, refs: &PushedRefs) -> Result<(), Failure> {
    let output = outgoing.access.push(&outgoing.repository, outgoing.until, refs, &["--dry-run"])?;
    // A line for a ref: who pushes was let in.
    let is_let_in = String::from_utf8_lossy(&output.stdout).lines().any(|line| line.starts_with("!\t"));
    match output.status.success() || is_let_in {
        true => Ok(()),
        false => Err(Failure::Refused(super::access::short(&complaint(&output)))),
    }
}
