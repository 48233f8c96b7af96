//! Which branch is meant, and where it goes.

use anyhow::bail;
use dry_files::diag::{printable, shell_word};

use super::super::clone::Clone;
use super::super::{WrongUse, commit_of};
use crate::argo::BranchName;
use crate::history::{self, Back};
use crate::repo::{ObjectId, Repository};

/// The environment branch of this name, or of this last part.
pub(super) fn branch(clone: &Clone, name: &str) -> anyhow::Result<BranchName> {
    let known = history::lines(&clone.repository, &clone.place)?;
    let exact = known.iter().find(|line| line.name == name);
    let mut short = known.iter().filter(|line| line.name.rsplit('/').next() == Some(name));
    let found = match (exact, short.next(), short.next()) {
        (Some(found), ..) | (None, Some(found), None) => found,
        _ => {
            let all: Vec<&str> = known.iter().map(|line| line.name.as_str()).collect();
            let name = printable(name);
            bail!(WrongUse(format!("there is no environment branch `{name}`; there are {}", all.join(", "))))
        }
    };
    Ok(BranchName::read(&found.name)?)
}

/// The commit to go back to that `text` means.
pub(super) fn find(clone: &Clone, branch: &BranchName, tip: ObjectId, text: &str) -> anyhow::Result<ObjectId> {
    match history::back(&clone.repository, branch, tip, wanted(clone, text)?)? {
        Some(found) => Ok(found),
        None => {
            let log = format!("git hydrate log {}", shell_word(branch.as_str()));
            bail!(WrongUse(format!("`{branch}` showed nothing of `{}`\nhint: {log}", printable(text))))
        }
    }
}

/// The commit of an active branch to go back to that `text` means: of its first-parent line, whoever made it.
pub(super) fn of_active(clone: &Clone, branch: &BranchName, tip: ObjectId, text: &str) -> anyhow::Result<ObjectId> {
    match history::back_on_active(&clone.repository, tip, wanted(clone, text)?)? {
        Some(found) => Ok(found),
        None => bail!(WrongUse(format!("`{branch}` showed nothing of `{}`", printable(text)))),
    }
}

/// The commit whose files a branch has now.
pub(super) fn shown(clone: &Clone, branch: &BranchName, tip: ObjectId) -> anyhow::Result<ObjectId> {
    match history::back(&clone.repository, branch, tip, Back::Steps(0))? {
        Some(found) => Ok(found),
        None => bail!(WrongUse(format!("nothing is hydrated onto `{branch}` yet"))),
    }
}

/// What somebody says of a commit to go back to.
fn wanted(clone: &Clone, text: &str) -> anyhow::Result<Back> {
    Ok(match text.strip_prefix('~').map(str::parse) {
        Some(Ok(steps)) => Back::Steps(steps),
        Some(Err(_)) => bail!(WrongUse(format!("`{}` is not `~N`, such as ~1", printable(text)))),
        None => match commit_of(&clone.repository, text) {
            Ok(commit) => Back::Commit(commit),
            Err(error) => match seconds(&clone.repository, text) {
                Some(seconds) => Back::Until(seconds),
                None => return Err(error),
            },
        },
    })
}

/// A time as git reads it, in seconds since 1970. Git reads any word as now, so it has to look like a time.
fn seconds(repository: &Repository, text: &str) -> Option<i64> {
    let is_time =
        text.bytes().any(|byte| byte.is_ascii_digit()) || ["ago", "yesterday"].iter().any(|it| text.contains(it));
    let answer = repository.git().output(&["rev-parse", &format!("--until={text}")]).ok().filter(|_| is_time)?;
    String::from_utf8_lossy(&answer).trim().rsplit('=').next()?.parse().ok()
}

/// Why nothing of a branch is held that a promoter reads or writes.
pub(super) fn promoted(branch: &BranchName) -> anyhow::Error {
    let hint = "roll back the branch that it is promoted to, or take the dry branch back with git revert";
    WrongUse(format!("`{branch}` is promoted: a promoter takes what it shows at its word\nhint: {hint}")).into()
}
