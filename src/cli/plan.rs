//! `git hydrate plan`: what a push would render and why, before anything is rendered.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use dry_files::diag::more::listed;
use dry_files::diag::printable;

use super::clone::{self, Clone};
use super::screen::Screen;
use super::{Outcome, output};
use crate::argo::BranchName;
use crate::owners::place::Place;
use crate::owners::settings_named;
use crate::owners::setup::{Setup, Wake};
use crate::preview;
use crate::preview::{Planned, PlannedBranch, PlannedFrozen, PlannedRender, PlannedWhy};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{ObjectId, Repository};

/// Show what a push would render, and why.
///
/// For each dry commit that is not hydrated yet, and each environment branch that lacks it: the Applications to
/// render, what changed among the files that they read, and how many need no render because their result is known.
/// Nothing is rendered or written.
///
/// What is known comes from the cache of this repository: in a clone from the last `git hydrate` that rendered
/// something, on a server from the last push. When a push brings several commits, those after the first are planned
/// as if the ones before them hydrate and read what they read before.
///
/// Exit code: 0, or 1 when a branch is known to fail.
#[derive(Debug, clap::Args)]
#[command(after_long_help = SCHEMA)]
pub(super) struct Arguments {
    /// The dry commit.
    #[arg(default_value = "HEAD")]
    rev: String,
    /// Use the working tree, including edits and unignored untracked files.
    #[arg(long, conflicts_with = "rev")]
    worktree: bool,
    #[command(flatten)]
    clone: clone::Arguments,
}

/// What `--json` prints.
const SCHEMA: &str = "\
JSON:
  format                    1; another number when a field changes its meaning
  frozen                    branches that stay as they are for a time: branch, reason, until; what is planned of them
                            waits until then
  commits                   the dry commits to hydrate, oldest first:
    dryBranch, drySha, subject
    branches                the environment branches that lack it:
      branch
      known                 how many Applications need no render
      render                those that are rendered: application, source, path, reason (new, application, file,
                            commit, settings, engine, missing, retry, unknown); changed: the path, of a file;
                            before: the revision, of an engine
      removes               paths that are removed
      stays                 Applications that stay as they are while the others go on: application, path, paused, and
                        held: the reason, of one that is held; parent: the Application that stays and has it, of one
                        that the dry commit has no more
      failures              what is wrong with those that are not paused
      mistakes              why the branch is known to stay: severity, message, span, application, hint
  problems, warnings        what belongs to no dry commit to hydrate";

/// What to say where earlier renders are not known.
const HINT: &str = "hint: run `git hydrate` here once, and later plans know what it rendered\n";

/// How many Applications of one reason are named.
const NAMED_MAX: usize = 20;

pub(super) fn run(arguments: &Arguments, json: bool) -> anyhow::Result<Outcome> {
    let clone = Clone::open(&arguments.clone)?;
    let tip = match arguments.worktree {
        true => clone.repository.snapshot()?,
        false => super::commit_of(&clone.repository, &arguments.rev)?,
    };
    let rev = (!arguments.worktree).then_some(&*arguments.rev);
    let mut planned = plan(&clone, &clone.repository, (rev, tip))?;
    let is_nothing = planned.commits.is_empty() && planned.problems.is_empty();
    let mut is_more = false;
    for repository in settings_named::by_settings_of_branches(&clone.repository, &clone.place, is_nothing)? {
        is_more |= planned.add(plan(&clone, &repository, (rev, tip))?);
    }
    if is_more {
        output::warn(&settings_named::warning_of_more());
    }
    if json {
        output::print_json(&planned)?;
    } else {
        Screen::new(Some(&clone.repository)).show(&text(&planned))?;
    }
    Ok(if planned.is_success() { Outcome::Done } else { Outcome::Found })
}

/// The plan by the settings of `repository`, which is that of the clone.
fn plan(clone: &Clone, repository: &Repository, (rev, tip): (Option<&str>, ObjectId)) -> anyhow::Result<Planned> {
    let (branch, main) = clone.dry_branches_to_try(rev)?;
    let planned = plan_of(clone, repository, branch, tip)?;
    match main.filter(|_| planned.commits.is_empty() && planned.problems.is_empty()) {
        Some(main) => plan_of(clone, repository, main, tip),
        None => Ok(planned),
    }
}

fn plan_of(clone: &Clone, repository: &Repository, branch: BranchName, tip: ObjectId) -> anyhow::Result<Planned> {
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    // Where pushes go in, by what they left.
    let refs = if clone.has_remote() { clone.place.clone() } else { Place::server() };
    let setup = Setup::new(repository, refs, Wake::Commit { branch, tip }, &renderers, wall::now());
    clone.explain(preview::plan(&setup))
}

fn text(planned: &Planned) -> String {
    let mut text = String::new();
    for commit in &planned.commits {
        let short = commit.dry_sha.get(..7).unwrap_or(&commit.dry_sha);
        let _ = writeln!(text, "{short} {}", printable(&commit.subject));
        for branch in &commit.branches {
            let frozen = planned.frozen.iter().find(|frozen| frozen.branch == branch.branch);
            add_branch(&mut text, branch, frozen);
        }
    }
    let is_planned = |name: &String| {
        let mut branches = planned.commits.iter().flat_map(|commit| &commit.branches);
        branches.any(|branch| branch.branch == *name)
    };
    for PlannedFrozen { branch, frozen } in planned.frozen.iter().filter(|frozen| !is_planned(&frozen.branch)) {
        let _ = writeln!(text, "{}  {}", printable(branch), printable(&frozen.to_string()));
    }
    for problem in planned.problems.iter().chain(&planned.warnings) {
        let _ = writeln!(text, "{problem}");
    }
    let branches = || planned.commits.iter().flat_map(|commit| &commit.branches);
    if branches().next().is_none() && planned.problems.is_empty() {
        return text + "nothing to hydrate: no environment branch lacks this commit\n";
    }
    let renders: usize = branches().map(|branch| branch.render.len()).sum();
    let known: usize = branches().map(|branch| branch.known).sum();
    if let Some(copies) = &planned.copies {
        let _ = writeln!(text, "{}  copies of what the others become", printable(copies));
    }
    let _ = writeln!(text, "{renders} to render, {known} known");
    let is_unknown = |render: &PlannedRender| render.why == PlannedWhy::Unknown;
    if branches().flat_map(|branch| &branch.render).any(is_unknown) {
        text += HINT;
    }
    text
}

fn add_branch(text: &mut String, branch: &PlannedBranch, frozen: Option<&PlannedFrozen>) {
    let name = printable(&branch.branch);
    let name = match frozen {
        Some(PlannedFrozen { frozen, .. }) => {
            format!("{name}  {}; held back until that ends:", printable(&frozen.to_string()))
        }
        None => name,
    };
    if !branch.mistakes.is_empty() {
        let _ = writeln!(text, "  {name}  fails, so it does not move");
        branch.mistakes.iter().for_each(|mistake| {
            let _ = writeln!(text, "{mistake}");
        });
        return;
    }
    let _ = writeln!(text, "  {name}  {} to render, {} known", branch.render.len(), branch.known);
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for render in &branch.render {
        let rule = render.rule.map_or(String::new(), |rule| format!(" (by rule {rule})"));
        reasons.entry(render.why.to_string()).or_default().push(format!("{}{rule}", render.application));
    }
    for (why, names) in reasons {
        let _ = writeln!(text, "    {}", printable(&format!("{why}: {}", listed(names, NAMED_MAX))));
    }
    for stay in &branch.stays {
        let why = match (&stay.held, stay.paused) {
            _ if stay.parent.is_some() => {
                format!("{}, which has it, stays", stay.parent.as_deref().unwrap_or_default())
            }
            (Some(reason), _) => format!("held: {reason}"),
            (None, true) => "paused".to_owned(),
            (None, false) => "fails".to_owned(),
        };
        let _ = writeln!(text, "    {}", printable(&format!("stays as it is: {} ({why})", stay.application)));
    }
    for failure in &branch.failures {
        let _ = writeln!(text, "{failure}");
    }
    for path in &branch.removes {
        let _ = writeln!(text, "    removes {}", printable(path));
    }
}
