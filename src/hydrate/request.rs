//! Manifests that another renderer made: the proposal's `CommitManifests`.

use std::collections::BTreeMap;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use serde::Deserialize;

use super::make::commits::{Becomes, Commits};
use super::make::output::PathOutput;
use super::plan::Failing;
use super::state::Run;
use super::stopped::Stopped;
use crate::argo::BranchName;
use crate::hydrate::report::{Outcome, Report};
use crate::known::UsedInputs;
use crate::manifest::{self, Manifest, Source};
use crate::metadata::{DryCommit, Message, Time};
use crate::owners::error::{HydrateError, TRIES};
use crate::owners::heads::DryHead;
use crate::owners::place::Place;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::repo::{ObjectId, Repository, object_id};

/// A request to commit manifests to one branch. Fields that the proposal does not have are optional; unknown ones are
/// refused.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitRequest {
    /// The repository, as the metadata shall name it.
    #[serde(rename = "repoURL")]
    pub repo_url: String,
    /// The branch to commit to.
    pub target_branch: String,
    /// The branch that is deployed, when `target_branch` is a staging branch of it.
    #[serde(default)]
    pub sync_branch: Option<String>,
    /// The full id of the dry commit.
    #[serde(rename = "drySHA", alias = "drySha")]
    pub dry_sha: String,
    /// The dry branch; the one that `HEAD` names when it is left out.
    #[serde(default)]
    pub dry_branch: Option<String>,
    /// Who wrote the dry commit. When this repository has that commit, this and the next two must say what it says.
    pub commit_author: String,
    /// The message of the dry commit.
    pub commit_message: String,
    /// The date of the dry commit, RFC 3339.
    pub commit_time: String,
    /// What is written where. Paths that are not named stay as they are.
    pub details: Vec<PathDetails>,
}

/// The manifests of one destination path.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathDetails {
    /// The directory.
    pub path: String,
    /// One JSON (or YAML) document for each object.
    pub manifests: Vec<String>,
    /// The README; made from the template of the settings when it is left out.
    #[serde(default)]
    pub readme: Option<String>,
    /// The commands that render the same.
    #[serde(default)]
    pub commands: Vec<String>,
}

/// A request whose fields were checked.
struct Checked {
    name: BranchName,
    sync: BranchName,
    head: DryHead,
    dry: DryCommit,
    paths: BTreeMap<RepoPath, (Vec<Manifest>, PathDetails)>,
    repo_url: String,
}

/// Commits what the request contains, as hydration would: with metadata, trailers, note, and only when something changed.
///
/// The caller holds the repository's lock. `now` is the time in seconds since 1970. Errors: the world failed, or, inside,
/// everything that is wrong with the request, or why the branch is frozen.
pub(crate) fn commit(
    repository: &Repository,
    renderers: &Renderers,
    request: &CommitRequest,
    now: i64,
) -> Result<Result<Report, Vec<Diagnostic>>, HydrateError> {
    let setup = Setup::new(repository, Place::server(), Wake::Pushed(Vec::new()), renderers, now);
    let checked = match check(repository, request)? {
        Ok(checked) => checked,
        Err(mistakes) => return Ok(Err(mistakes)),
    };
    let mut raced = String::new();
    for _ in 0..TRIES {
        match Run::new(&setup).map_err(Stopped::from).and_then(|run| write(run, &checked)) {
            Ok(report) => return Ok(refusal(&report).map_or(Ok(report), |refusal| Err(vec![refusal]))),
            Err(Stopped::Raced(why)) => raced = why,
            Err(stopped) => return Err(stopped.into_error()),
        }
    }
    Err(HydrateError::Raced(raced))
}

/// The refusal of a commit to a frozen branch.
fn refusal(report: &Report) -> Option<Diagnostic> {
    for branch in &report.branches {
        if let Outcome::Frozen(frozen) = &branch.outcome {
            return Some(Diagnostic::error(format!("`{}` is {frozen}", branch.branch)));
        }
    }
    None
}

fn write(mut run: Run<'_>, checked: &Checked) -> Result<Report, Stopped> {
    let Checked { name, sync, head, dry, paths, repo_url } = checked;
    let mut branch = run.open(name, sync, head)?;
    branch.applications = paths.len();
    branch.judge(head, std::iter::empty(), &run.found);
    let mut branches = BTreeMap::new();
    if !branch.closed {
        let mut outputs = Vec::new();
        for (dir, (manifests, details)) in paths {
            outputs.push(PathOutput {
                dir,
                applications: Vec::new(),
                manifest: run.found.buffer.hold_blob(run.found.policy.writer.manifest(manifests.clone()))?,
                count: Some(manifest::count(manifests)),
                commands: &details.commands,
                readme: details.readme.as_deref(),
                application: None,
                record: None,
                drawn: None,
            });
        }
        // The maker of these manifests says nothing of other paths.
        let mut behind = branch.tip_metadata(&run.found.buffer)?.behind.clone();
        behind.retain(|behind| !paths.contains_key(&behind.path));
        let behind = Some(&behind[..]);
        let becomes = match branch.make(
            &run.found,
            dry,
            repo_url,
            &outputs,
            &[],
            &|_| false,
            behind,
            &UsedInputs::new(),
            None,
        )? {
            Ok(made) => Becomes::Hydrated(Box::new(made)),
            Err(mistake) => Becomes::Failed(Failing::unfit(mistake)),
        };
        branches.insert(name.clone(), becomes);
    }
    run.branches.insert(name.clone(), branch);
    run.take(Commits { head: head.clone(), dry: dry.clone(), branches, warnings: Vec::new() });
    run.finish()
}

/// Everything that is wrong with a request at once.
fn check(repository: &Repository, request: &CommitRequest) -> Result<Result<Checked, Vec<Diagnostic>>, HydrateError> {
    let mut wrong = Vec::new();
    let complaint = |field: &str, reason: &dyn std::fmt::Display| Diagnostic::error(format!("`{field}`: {reason}"));
    let mut branch = |field: &str, text: &str| {
        let name = BranchName::new(text).map_err(|error| wrong.push(complaint(field, &error)));
        name.ok()
    };
    let name = branch("targetBranch", &request.target_branch);
    let sync = request.sync_branch.as_deref().map_or_else(|| name.clone(), |text| branch("syncBranch", text));
    let refs = repository.refs()?;
    let dry_branch = request.dry_branch.as_deref().or(refs.head_branch()).unwrap_or("main");
    let dry_branch = branch("dryBranch", dry_branch);
    let dry = object_id(&request.dry_sha).filter(|id| id.kind() == repository.null_id().kind());
    if dry.is_none() {
        wrong.push(complaint("drySHA", &"must be the full id of a commit"));
    }
    let time = time_of(&request.commit_time);
    if time.is_none() {
        wrong.push(complaint("commitTime", &"must be a date as in RFC 3339, such as 2024-03-27T10:32:04Z"));
    }
    if let (Some(id), Some(time)) = (dry.filter(|id| repository.has(*id)), time) {
        let dry = DryCommit::new(&repository.commit(id)?);
        let subject = subject_and_body(&request.commit_message).0;
        let rows = [
            ("commitAuthor", request.commit_author == dry.author, dry.author.clone()),
            ("commitMessage", subject == dry.subject, dry.subject.clone()),
            ("commitTime", time.seconds() == dry.date.seconds(), dry.date.rfc3339()),
        ];
        for (field, _, expected) in rows.into_iter().filter(|(_, agrees, _)| !agrees) {
            wrong.push(complaint(field, &format!("the dry commit has `{expected}`")));
        }
    }
    let mut paths = BTreeMap::new();
    for details in &request.details {
        match checked_path(details) {
            Ok((path, manifests)) => {
                if paths.insert(path, (manifests, details.clone())).is_some() {
                    wrong.push(complaint("details", &format!("`{}` is listed twice", details.path)));
                }
            }
            Err(diagnostic) => wrong.push(diagnostic),
        }
    }
    let (Some(name), Some(sync), Some(dry_branch), Some(id), Some(time)) = (name, sync, dry_branch, dry, time) else {
        return Ok(Err(wrong));
    };
    if !wrong.is_empty() {
        return Ok(Err(wrong));
    }
    let dry = dry_commit(repository, id, request, time)?;
    let head = DryHead { branch: dry_branch, tip: id };
    Ok(Ok(Checked { name, sync, head, dry, paths, repo_url: request.repo_url.clone() }))
}

/// The dry commit, from the repository when that has it.
fn dry_commit(
    repository: &Repository,
    id: ObjectId,
    request: &CommitRequest,
    date: Time,
) -> Result<DryCommit, HydrateError> {
    if repository.has(id) {
        return Ok(DryCommit::new(&repository.commit(id)?));
    }
    let (subject, body) = subject_and_body(&request.commit_message);
    let argocd = Message { subject: subject.clone(), body: body.clone() };
    let (author, references) = (request.commit_author.clone(), Vec::new());
    Ok(DryCommit { id, author, date, shown_date: date, subject, body, argocd, references, defined: None })
}

/// The first paragraph of a message in one line, and what follows.
fn subject_and_body(message: &str) -> (String, String) {
    let (subject, body) = message.trim_start().split_once("\n\n").unwrap_or((message.trim(), ""));
    (subject.lines().map(str::trim).collect::<Vec<_>>().join(" "), body.to_owned())
}

/// A date as in RFC 3339, or as `hydrator.metadata` and the README have it: `2024-03-27 10:32:04 UTC`.
fn time_of(text: &str) -> Option<Time> {
    if let Some(time) = Time::from_rfc3339(text) {
        return Some(time);
    }
    let (date, rest) = text.split_once(' ')?;
    let (time, zone) = rest.split_once(' ')?;
    Time::from_rfc3339(&format!("{date}T{time}{}", if zone == "UTC" { "Z" } else { zone }))
}

fn checked_path(details: &PathDetails) -> Result<(RepoPath, Vec<Manifest>), Diagnostic> {
    let wrong = |reason: &dyn std::fmt::Display| Diagnostic::error(format!("`details`: `{}`: {reason}", details.path));
    let path = RepoPath::clean(&details.path).map_err(|error| wrong(&error))?;
    if path.is_root() {
        return Err(wrong(&"the root of the repository is not a valid destination").hint("give it a folder of its own"));
    }
    if path.components().any(|name| name.eq_ignore_ascii_case(".git")) {
        return Err(wrong(&"git reserves `.git`"));
    }
    let mut manifests = Vec::new();
    for text in &details.manifests {
        let read = manifest::read(text.as_bytes(), Source::Output("manifests"));
        manifests.extend(read.map_err(|unreadable| wrong(&unreadable.diagnostic.message))?);
    }
    Ok((path, manifests))
}
