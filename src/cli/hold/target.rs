//! Which branch is meant, and where it goes.

use std::fmt;

use anyhow::bail;
use dry_files::diag::{Diagnostic, printable, shell_word};
use dry_files::path::RepoPath;

use super::super::clone::Clone;
use super::super::log::date;
use super::super::{WrongUse, commit_of, output};
use super::when;
use crate::apiserver::{Answer, Server, own_crds};
use crate::argo::BranchName;
use crate::history::{self, ActiveLine, Back, Count, Dry, Entry, History, Line, Selection};
use crate::manifest::{self, Manifest, Source};
use crate::owners::changed_objects::{directory_of, text_of};
use crate::owners::policy::Policy;
use crate::owners::standing::provenance_in;
use crate::repo::publish::{HydratedTree, Listings};
use crate::repo::{ObjectBuffer, ObjectId, Repository};
use crate::settings::Validate;
use crate::versions::Kubernetes;

/// The commit to go back to that `text` means.
pub(super) fn find(clone: &Clone, branch: &BranchName, tip: ObjectId, text: &str) -> anyhow::Result<ObjectId> {
    let wanted = wanted(clone, text)?;
    match history::back(&clone.repository, &clone.place, (branch, tip), wanted)? {
        Some(found) => {
            if matches!(wanted, Back::Until(_)) && clone.place.is_of_clone() {
                let text = format!(
                    "`{}` is by the dates of dry commits: a clone does not know when they were deployed",
                    printable(text)
                );
                output::warn(&Diagnostic::warning(text).hint("the server does: run it there, or name the commit"));
            }
            Ok(found)
        }
        None => {
            let (log, text) = (format!("git hydrate log {}", shell_word(branch.as_str())), printable(text));
            let why = match wanted {
                Back::Until(_) => format!("`{branch}` had no commit yet at the time of `{text}`"),
                Back::Steps(_) => format!("`{branch}` has fewer commits than `{text}` goes back"),
                Back::Commit(_) => format!("`{branch}` showed nothing of `{text}`"),
            };
            bail!(WrongUse(format!("{why}\nhint: {log} shows the commits to go back to")))
        }
    }
}

/// How many changes are passed over at most.
const PASSED_MAX: usize = 20;

/// The commit before the last change of an object of a branch, or of these Applications of it. One that brings objects back which the API
/// server refuses is passed over, with a warning, where an earlier one does not.
pub(super) fn before_change(
    clone: &Clone,
    (branch, tip): (&BranchName, ObjectId),
    names: &[String],
) -> anyhow::Result<Option<ObjectId>> {
    let before = |tip| history::before_change(&clone.repository, &clone.place, (branch, tip), names);
    let Some(first) = before(tip)? else { return Ok(None) };
    let (mut at, mut passed) = (Some(first), Vec::new());
    while let Some(id) = at.filter(|_| passed.len() < PASSED_MAX) {
        let Some(object) = refused(clone, branch, (tip, id), names)? else { break };
        passed.push((id.to_hex_with_len(7).to_string(), object));
        at = before(id)?;
    }
    let Some(((id, object), all)) = passed.first().map(|first| (first, passed.len())) else { return Ok(at) };
    let is_found = at.is_some() && all < PASSED_MAX;
    let text = match (is_found, all) {
        (false, _) => {
            format!("{id} has objects that the API server refuses, such as {object}, and so has each commit before it")
        }
        (true, 1) => format!("{id} is passed over: the API server refuses {object} of it"),
        (true, all) => format!(
            "{all} commits are passed over, {id} and older ones: the API server refuses objects of each, such as {object}"
        ),
    };
    let hint = if is_found { "to go there all the same: --to COMMIT" } else { "to name another commit: --to COMMIT" };
    output::warn(&Diagnostic::warning(text).hint(hint));
    Ok(if is_found { at } else { Some(first) })
}

/// An object that a commit has, not as the tip has it, and that the API server of the environment refuses.
fn refused(
    clone: &Clone,
    branch: &BranchName,
    (tip, at): (ObjectId, ObjectId),
    names: &[String],
) -> anyhow::Result<Option<String>> {
    let buffer = ObjectBuffer::new(&clone.repository);
    let settings = Policy::read(&clone.repository.refs()?, &buffer)?.settings;
    let kubernetes = settings.kubernetes.of(branch, branch).copied().unwrap_or(Kubernetes::NEWEST);
    let is_judged = settings.validate.of(branch, branch) != Some(&Validate::Off);
    let Some(server) = Server::running(kubernetes, &settings).filter(|_| is_judged) else { return Ok(None) };
    let (old, new) = (buffer.commit(tip)?.tree, buffer.commit(at)?.tree);
    let listings = Listings::default();
    let tree = HydratedTree::new(&buffer, &listings, new);
    let names: Vec<&str> = names.iter().filter_map(|name| name.rsplit('/').next()).collect();
    for change in buffer.diff_trees(old, new)? {
        let Some(path) = directory_of(&change.path) else { continue };
        if !names.is_empty() {
            let found = provenance_in(&tree, &path)?.map(|found| found.applications).unwrap_or_default();
            if !found.iter().any(|name| names.contains(&name.as_str())) {
                continue;
            }
        }
        let read = |file| -> anyhow::Result<Vec<Manifest>> {
            let text = text_of(file, &buffer)?.unwrap_or_default();
            Ok(manifest::read(&text, Source::Output(&change.path)).unwrap_or_default())
        };
        let (before, manifests) = (read(change.old)?, read(change.new)?);
        let judge = server.judge(own_crds(&manifests));
        let answers = server.answers(&judge, manifests.iter().filter(|manifest| !before.contains(manifest)));
        let is_refused = |answer: &&Answer| answer.findings.iter().any(|said| said.finding.is_refusal());
        if let Some(answer) = answers.iter().find(is_refused) {
            return Ok(Some(printable(&answer.object.to_string())));
        }
    }
    Ok(None)
}

/// The commit of an active branch, or of one directory of it, to go back to: of its first-parent line, by any author. That is the one that
/// `text` means, else the one before the last change of an object.
pub(super) fn of_active(
    clone: &Clone,
    branch: &BranchName,
    (tip, directory): (ObjectId, Option<&RepoPath>),
    text: Option<&str>,
) -> anyhow::Result<ObjectId> {
    let mut line = ActiveLine::open(&clone.repository, tip, directory)?;
    let found = match text {
        Some(text) => line.back(wanted(clone, text)?)?,
        None => line.before_change()?,
    };
    let of = directory.map_or_else(String::new, |directory| format!("{directory} of "));
    match (found, text) {
        (Some(found), _) => Ok(found),
        (None, Some(text)) => bail!(WrongUse(format!("{of}`{branch}` showed nothing of `{}`", printable(text)))),
        (None, None) => bail!(WrongUse(format!(
            "there is nothing to go back to: no earlier commit of {of}`{branch}` has other objects\nhint: git hydrate log {} shows \
             the commits",
            shell_word(branch.as_str())
        ))),
    }
}

/// The commit whose files a branch has now.
pub(super) fn shown(clone: &Clone, branch: &BranchName, tip: ObjectId) -> anyhow::Result<ObjectId> {
    match history::back(&clone.repository, &clone.place, (branch, tip), Back::Steps(0))? {
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
            Err(error) => match when::for_git(text).and_then(|time| seconds(&clone.repository, &time)) {
                Some(seconds) => Back::Until(seconds),
                None => {
                    bail!(WrongUse(format!("{error}\nhint: for a time, write {}", when::FORMS)))
                }
            },
        },
    })
}

/// A time as git reads it, in seconds since 1970.
fn seconds(repository: &Repository, time: &str) -> Option<i64> {
    let answer = repository.git().output(&["rev-parse", &format!("--until={time}")]).ok()?;
    String::from_utf8_lossy(&answer).trim().rsplit('=').next()?.parse().ok()
}

/// Where a branch goes, as it is said before.
#[derive(Debug, serde::Serialize)]
pub(super) struct Target {
    /// The hydrated commit, its full id.
    commit: String,
    /// The dry commit that it was made from.
    #[serde(skip_serializing_if = "Option::is_none")]
    dry: Option<Dry>,
    /// When it came to the branch, where that is known, else when it was committed, as RFC 3339.
    date: String,
    /// Whether that is when it came to the branch.
    #[serde(skip)]
    is_deployed: bool,
}

impl Target {
    /// What is known of a commit of a branch.
    pub(super) fn of(clone: &Clone, branch: &BranchName, at: ObjectId) -> anyhow::Result<Self> {
        let line = Line { name: branch.to_string(), tip: at, after: None };
        let history = History::open(&clone.repository, &clone.place, vec![line], Selection::default())?;
        let history = history.counting(Count::Nothing);
        let mut entries = history.filter(|entry| entry.as_ref().map_or(true, |entry| entry.id.is_some()));
        Ok(match entries.next().transpose()? {
            Some(Entry { dry, date, moved, .. }) => {
                let is_deployed = moved.is_some();
                Self { commit: at.to_string(), dry, date: moved.map_or(date, |moved| moved.at), is_deployed }
            }
            None => Self { commit: at.to_string(), dry: None, date: String::new(), is_deployed: false },
        })
    }
}

/// `c00d777 (520e2a8 search index 2, deployed 2026-11-29 08:43:12 UTC)`
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |id: &str| id.get(..7).unwrap_or(id).to_owned();
        let dry = self.dry.as_ref().map(|dry| format!("{} {}, ", short(&dry.sha), printable(&dry.subject)));
        let (dry, date) = (dry.unwrap_or_default(), date(&self.date));
        let what = if self.is_deployed { "deployed" } else { "committed" };
        write!(f, "{} ({dry}{what} {date})", short(&self.commit))
    }
}

/// Why nothing of a branch is held that a promoter reads or writes: one is written by `Promoter`, if it has written here.
pub(super) fn promoted(branch: &BranchName, active: Option<&str>) -> anyhow::Error {
    let hint = match active {
        Some(active) => format!("the branch that is deployed goes back by git hydrate rollback {}", shell_word(active)),
        None => NO_PROMOTER.to_owned(),
    };
    WrongUse(format!("`{branch}` is promoted: a promoter takes what it shows at its word\nhint: {hint}")).into()
}

/// What to do where no GitOps Promoter has written.
pub(super) const NO_PROMOTER: &str = "no GitOps Promoter of 0.38 or later has written here: git revert on the dry branch (git hydrate rollback \
     STAGING_BRANCH --dry makes the commit), and promote what comes of it";
