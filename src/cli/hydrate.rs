//! `git hydrate [REV]`: the commits that a server would make, as refs of this clone.

use anyhow::bail;

use super::clone::{self, Clone};
use super::{NO_APPLICATION, Outcome, WrongUse, output};
use crate::argo::BranchName;
use crate::hydrate;
use crate::owners::setup::Wake;
use crate::render::Renderers;
use crate::repo::ObjectId;
use crate::show::{Progress, Wording, summary};

#[derive(Debug, Default, clap::Args)]
#[group(skip)]
pub(super) struct Arguments {
    /// The dry commit.
    #[arg(default_value = "HEAD")]
    rev: String,
    #[command(flatten)]
    clone: clone::Arguments,
}

/// The commit that `rev` names. What is close to the name of a command was meant as one.
fn dry_commit(clone: &Clone, rev: &str) -> anyhow::Result<ObjectId> {
    let error = match super::dry_commit_of(&clone.repository, rev, "git hydrate") {
        Ok(commit) => return Ok(commit),
        Err(error) => error,
    };
    if let Some(command) = super::close_command(rev) {
        bail!(WrongUse(format!("{error}\nhint: did you mean `git hydrate {command}`?")));
    }
    if may_be_command(rev) && clone.repository.rev_parse(rev).is_err() {
        bail!(WrongUse(format!("neither a command nor a commit: `{rev}`\nhint: all commands: git hydrate help")));
    }
    Err(error)
}

/// Whether a word could be meant as a command.
fn may_be_command(rev: &str) -> bool {
    !rev.is_empty() && rev.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

/// Outside of a repository no word names a commit, so that one is meant as a command.
fn outside(rev: &str, error: anyhow::Error) -> anyhow::Error {
    if super::repository(None).is_ok() || !may_be_command(rev) {
        return error;
    }
    let hint = match super::close_command(rev) {
        Some(command) => format!("did you mean `git hydrate {command}`?"),
        None => "all commands: git hydrate help".to_owned(),
    };
    WrongUse(format!("not a command: `{rev}`\nhint: {hint}")).into()
}

/// Hydrates into `refs/remotes/hydrate/<branch>`, on top of what the remote has; local branches are never touched.
pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let clone = Clone::open(&arguments.clone).map_err(|error| outside(&arguments.rev, error))?;
    let tip = dry_commit(&clone, &arguments.rev)?;
    let (branch, main) = clone.dry_branches_to_try(Some(&arguments.rev))?;
    let renderers = Renderers::from_config(&clone.repository, &super::machine()?)?;
    let progress = Progress::new();
    let hydrated = |branch: &BranchName| {
        let setup = clone.setup(Wake::Commit { branch: branch.clone(), tip }, &renderers, &progress);
        progress.during(|| hydrate::hydrate(&setup))
    };
    let mut report = clone.explain(hydrated(&branch))?;
    if let Some(main) = main.filter(|_| report.branches.is_empty() && report.problems.is_empty()) {
        report = clone.explain(hydrated(&main))?;
        let note =
            format!("hydrated as the tip of {main}, since nothing is hydrated from {branch}; --branch names another");
        report.notes.push(note);
    }
    if !clone.has_remote() && clone.repository.worktree().is_some() && !report.branches.is_empty() {
        report.notes.push(format!(
            "this repository has no remote, so these are previews, below {}; `status`, `log` and `diff` look at the branches \
             that a push to a server makes",
            clone.place.write
        ));
    }
    if json {
        output::print_json(&report)?;
    } else if report.branches.is_empty() && report.problems.is_empty() {
        output::print(NO_APPLICATION)?;
    } else {
        output::print(summary(&report, Wording::Terminal))?;
    }
    Ok(if report.is_success() { Outcome::Done } else { Outcome::Found })
}
