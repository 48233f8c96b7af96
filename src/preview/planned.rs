//! What a push would render and why, found without rendering anything.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use serde::Serialize;

use crate::argo::{AppName, Application, BranchName};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::memory::Attempt;
use crate::hydrate::plan::skipped::{Children, Left, Unrendered, WhyUnrendered, going, kept_with};
use crate::hydrate::plan::{Hydration, Plan, Step, Task, Why, Work};
use crate::hydrate::report::{Frozen, Outcome};
use crate::hydrate::run::planned;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::error::HydrateError;
use crate::owners::setup::Setup;
use crate::settings::Hold;

/// What hydrating would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub struct Planned {
    /// The dry commits to hydrate, those of one dry branch oldest first.
    pub commits: Vec<PlannedCommit>,
    /// The environment branches that stay as they are for a time, by name. What of them is planned waits until then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frozen: Vec<PlannedFrozen>,
    /// The branch of copies, which is made of what the others become; none when there are no copies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copies: Option<String>,
    /// What is wrong and belongs to none of them: branches that must not be written, and what an earlier run found.
    pub problems: Vec<Diagnostic>,
    /// What is odd.
    pub warnings: Vec<Diagnostic>,
}

/// One environment branch that stays as it is for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedFrozen {
    /// The branch.
    pub branch: String,
    /// Why.
    #[serde(flatten)]
    pub frozen: Frozen,
}

/// One dry commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedCommit {
    /// The dry branch.
    pub dry_branch: String,
    /// The full id.
    pub dry_sha: String,
    /// The first paragraph of its message in one line.
    pub subject: String,
    /// The environment branches that lack it, by name.
    pub branches: Vec<PlannedBranch>,
}

/// One environment branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedBranch {
    /// The branch.
    pub branch: String,
    /// How many Applications need no render: what they render to is known.
    pub known: usize,
    /// The Applications that are rendered, in the order of their files.
    pub render: Vec<PlannedRender>,
    /// Destination paths that are removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removes: Vec<String>,
    /// Why the branch is known to stay where it is; empty when it is not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mistakes: Vec<Diagnostic>,
    /// The Applications that are known to stay as they are while the others go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<PlannedStay>,
    /// The mistakes of the Applications in `stays` that are not paused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Diagnostic>,
}

/// One Application that stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStay {
    /// Its name.
    pub application: String,
    /// The directory of its manifests on the branch.
    pub path: String,
    /// Whether the Application is paused or held; else it fails.
    pub paused: bool,
    /// Why the setting `hold` keeps it as it is; none where that does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// The Application that stays and has this one among its objects, where the dry commit has this one no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

/// One Application that is rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedRender {
    /// Its name.
    pub application: String,
    /// The rule of the settings that hydrates it, from 1; none with `spec.sourceHydrator`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<usize>,
    /// The directory of its sources.
    pub source: String,
    /// The directory of its manifests on the branch.
    pub path: String,
    /// Why.
    #[serde(flatten)]
    pub why: PlannedWhy,
}

/// Why an Application is rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "reason")]
pub enum PlannedWhy {
    /// It was not rendered before.
    New,
    /// Its document changed.
    Application,
    /// Something changed that its render reads.
    File {
        /// The first such path: a file, or a directory whose entries changed.
        changed: String,
    },
    /// Its manifests name the dry commit.
    Commit,
    /// The settings changed.
    Settings,
    /// Another revision of the engine hydrated the branch.
    Engine {
        /// That revision.
        before: u32,
    },
    /// Its manifest is not on the branch as it was rendered.
    Missing,
    /// It did not render before, and would be tried again.
    Retry,
    /// No earlier render is known in this repository.
    Unknown,
}

impl Planned {
    /// Adds what is planned by other settings. Answers whether that is more.
    pub(crate) fn add(&mut self, other: Self) -> bool {
        let mut is_more = false;
        for commit in other.commits {
            match self.commits.iter_mut().find(|known| known.dry_sha == commit.dry_sha) {
                Some(known) => is_more |= known.add(commit.branches),
                None => {
                    is_more = true;
                    self.commits.push(commit);
                }
            }
        }
        let problems: Vec<Diagnostic> =
            other.problems.into_iter().filter(|problem| !self.problems.contains(problem)).collect();
        is_more |= !problems.is_empty();
        self.problems.extend(problems);
        is_more
    }

    /// Whether no branch is known to stay where it is, and nothing else is wrong.
    pub fn is_success(&self) -> bool {
        let mut branches = self.commits.iter().flat_map(|commit| &commit.branches);
        self.problems.is_empty() && branches.all(|branch| branch.mistakes.is_empty() && branch.failures.is_empty())
    }
}

impl PlannedCommit {
    /// Adds what is planned of branches by other settings: those that are not there, or of which more is rendered. Answers whether
    /// there are any.
    fn add(&mut self, branches: Vec<PlannedBranch>) -> bool {
        let mut is_more = false;
        for branch in branches {
            let place = self.branches.iter().position(|known| known.branch == branch.branch);
            let known = place.and_then(|place| self.branches.get_mut(place));
            match known {
                Some(known) if known.says_all_of(&branch) => continue,
                Some(known) => *known = branch,
                None => self.branches.push(branch),
            }
            is_more = true;
        }
        self.branches.sort_by(|one, other| one.branch.cmp(&other.branch));
        is_more
    }
}

impl PlannedBranch {
    /// Whether it fails, or renders and removes all that another plan of the branch does.
    fn says_all_of(&self, other: &Self) -> bool {
        let renders = |path: &String| self.render.iter().any(|render| render.path == *path);
        !self.mistakes.is_empty()
            || (other.mistakes.is_empty()
                && other.render.iter().all(|render| renders(&render.path))
                && other.removes.iter().all(|path| self.removes.contains(path)))
    }
}

/// Plans what hydrating would do. Neither a ref nor an object nor the cache is written.
///
/// All but the first commit of a dry branch are planned on what is presumed: that the commits before it hydrate, and that
/// renders read what they read before. Errors: the world failed.
pub fn plan(setup: &Setup<'_>) -> Result<Planned, HydrateError> {
    planned(Attempt::default(), |attempt| plan_once(setup, attempt))
}

fn plan_once(setup: &Setup<'_>, attempt: &Attempt) -> Result<Planned, Stopped> {
    // What a freeze holds back is planned too.
    let thawed = Setup { place: setup.place.clone(), wake: setup.wake.clone(), now: None, ..*setup };
    let mut run = Run::new(&thawed)?.recalling(attempt);
    let plans = run.plans()?;
    let planned: BTreeSet<&BranchName> = plans.iter().flat_map(|plan| plan.branches.keys()).collect();
    let mut problems = std::mem::take(&mut run.report.problems);
    for branch in run.branches.values().filter(|branch| !planned.contains(&branch.name)) {
        if let Some(Outcome::Failed { diagnostics, .. }) = branch.failure() {
            problems.extend(diagnostics.iter().cloned());
        }
    }
    let frozen = run.branches.values().filter_map(|branch| {
        let frozen = Frozen::from(&run.found.frozen_at(&branch.name, &branch.sync, setup.now?)?);
        Some(PlannedFrozen { branch: branch.name.to_string(), frozen })
    });
    let frozen = frozen.collect();
    let mut commits: Vec<PlannedCommit> = Vec::new();
    for plan in &plans {
        let planned = commit(plan, &run)?;
        let is_it =
            |known: &PlannedCommit| (&known.dry_branch, &known.dry_sha) == (&planned.dry_branch, &planned.dry_sha);
        // A tag may lead to the tip of the dry branch.
        match commits.last_mut().filter(|known| is_it(known)) {
            Some(known) => known.branches.extend(planned.branches),
            None => commits.push(planned),
        }
    }
    for branch in commits.iter_mut().flat_map(|commit| &mut commit.branches) {
        let holds = BranchName::read(&branch.branch).map(|name| run.found.holds.of_branch(&name)).unwrap_or_default();
        name_holds(&mut branch.stays, holds);
    }
    let is_reported = |branch: &PlannedBranch| {
        let failure = run.branches.get(branch.branch.as_str()).and_then(Branch::failure);
        !matches!(failure, Some(Outcome::Failed { unnamed: true, .. }))
    };
    commits.iter_mut().for_each(|commit| commit.branches.retain(is_reported));
    let branches = || commits.iter().flat_map(|commit| &commit.branches);
    let is_of_branch = |problem: &Diagnostic| branches().any(|branch| branch.mistakes.contains(problem));
    problems.retain(|problem| !is_of_branch(problem));
    let copies = run.found.policy.settings.applications_to.as_ref().map(ToString::to_string);
    Ok(Planned { commits, frozen, copies, problems, warnings: run.report.warnings })
}

fn commit(plan: &Plan, run: &Run<'_>) -> Result<PlannedCommit, HydrateError> {
    let mut branches = Vec::new();
    for (name, step) in &plan.branches {
        let mut planned = branch(name, step);
        if let (Step::Hydrate(hydration), Some(branch)) = (step, run.branches.get(name)) {
            keep_children(&mut planned, hydration, branch, run)?;
        }
        branches.push(planned);
    }
    Ok(PlannedCommit {
        dry_branch: plan.head.branch.to_string(),
        dry_sha: plan.dry.id.to_string(),
        subject: plan.dry.subject.clone(),
        branches,
    })
}

/// Has Applications that would go stay with those that are known to stay and have them.
fn keep_children(
    planned: &mut PlannedBranch,
    hydration: &Hydration<Work>,
    branch: &Branch,
    run: &Run<'_>,
) -> Result<(), HydrateError> {
    let Some(tip) = branch.tip.as_ref().filter(|_| !planned.removes.is_empty()) else { return Ok(()) };
    let tree = run.found.tree_of(tip.tree);
    let mut parents = Vec::new();
    for stay in &planned.stays {
        let (Ok(path), Ok(name)) = (RepoPath::new(&stay.path), AppName::new(&stay.application)) else { continue };
        parents.extend(Children::at(&path, (&name, stay.paused), &tree)?);
    }
    for kept in kept_with(parents, going(hydration).collect(), &tree, |_| None)? {
        planned.removes.retain(|path| path != kept.path.as_str());
        planned.stays.push(PlannedStay::from(&kept));
    }
    Ok(())
}

fn branch(name: &BranchName, step: &Step<Work>) -> PlannedBranch {
    let mut branch = PlannedBranch {
        branch: name.to_string(),
        known: 0,
        render: Vec::new(),
        removes: Vec::new(),
        mistakes: Vec::new(),
        stays: Vec::new(),
        failures: Vec::new(),
    };
    let hydration = match step {
        Step::Hydrate(hydration) => hydration,
        Step::Fail(failing) => return PlannedBranch { mistakes: failing.diagnostics(), ..branch },
    };
    if let Some(stuck) = &hydration.stuck {
        branch.mistakes = stuck.diagnostics();
    }
    branch.known = hydration.untouched;
    branch.removes = hydration.removals.iter().map(|removal| removal.path.to_string()).collect();
    let leaving = hydration.leaving();
    for Unrendered { application, why } in &leaving.unrendered {
        branch.stays.push(PlannedStay::new(application, *why == WhyUnrendered::Paused));
    }
    branch.failures.clone_from(&leaving.mistakes);
    if let Some(stays) = &hydration.stays {
        branch.stays.extend(stays.paths.iter().map(PlannedStay::from));
        branch.failures.extend(stays.diagnostics());
    }
    for Work { application, task } in &hydration.work {
        match task {
            Task::Known(_) => branch.known += 1,
            Task::Fails(failed) if leaving.leaves_failed && failed.is_of_dry_commit() => {
                branch.stays.push(PlannedStay::new(application, false));
                branch.failures.extend(failed.diagnostics.iter().cloned());
            }
            Task::Fails(failed) => branch.mistakes.extend(failed.diagnostics.iter().cloned()),
            Task::Render(why) => branch.render.push(PlannedRender {
                application: application.name.to_string(),
                rule: application.rule,
                source: application.dry.path.to_string(),
                path: application.sync_path.to_string(),
                why: why.into(),
            }),
        }
    }
    branch
}

impl PlannedStay {
    fn new(application: &Application, paused: bool) -> Self {
        let (application, path) = (application.name.to_string(), application.sync_path.to_string());
        Self { application, path, paused, held: None, parent: None }
    }
}

/// Says of Applications that stay by whose wish they do.
fn name_holds(stays: &mut [PlannedStay], holds: &[Hold]) {
    for stay in stays.iter_mut().filter(|stay| stay.paused) {
        let hold = holds.iter().find(|hold| !hold.is_whole() && hold.names(&stay.application));
        stay.held = hold.map(|hold| hold.reason.clone());
    }
}

impl From<&Left> for PlannedStay {
    fn from(left: &Left) -> Self {
        let application = left.application.as_ref().map(ToString::to_string).unwrap_or_default();
        let parent = left.parent.as_ref().map(ToString::to_string);
        Self { application, path: left.path.to_string(), paused: left.is_paused, held: None, parent }
    }
}

impl From<&Why> for PlannedWhy {
    fn from(why: &Why) -> Self {
        match why {
            Why::New => Self::New,
            Why::Document => Self::Application,
            Why::Read(path) => Self::File { changed: path.to_string() },
            Why::NamesTheCommit => Self::Commit,
            Why::Settings => Self::Settings,
            Why::Engine(before) => Self::Engine { before: *before },
            Why::NotThere => Self::Missing,
            Why::Again => Self::Retry,
            Why::Forgotten => Self::Unknown,
        }
    }
}

impl std::fmt::Display for PlannedWhy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::New => f.write_str("new"),
            Self::Application => f.write_str("Application changed"),
            Self::File { changed } if changed.is_empty() => f.write_str("root directory changed"),
            Self::File { changed } => write!(f, "{changed} changed"),
            Self::Commit => f.write_str("names the dry commit"),
            Self::Settings => f.write_str("settings changed"),
            Self::Engine { before } => write!(f, "hydrated by engine revision {before} before"),
            Self::Missing => f.write_str("manifest not on the branch"),
            Self::Retry => f.write_str("failed before, tried again"),
            Self::Unknown => f.write_str("no earlier render known here"),
        }
    }
}
