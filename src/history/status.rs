//! Where each environment branch is: up to date, behind, failed, changed by others.

mod follows;
mod left;
mod limits;
mod near;
mod noted;
mod promotions;
mod used_inputs;
mod used_tools;

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::log::Dry;
use crate::argo::BranchName;
use crate::hydrate::HeldAlone;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::report::{BehindPath, Frozen, Outcome};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::hydrate::survey::{Named, named};
use crate::manifest::ChangedObjects;
use crate::metadata::{Behind, Source, Time};
use crate::owners::changed_objects::changed_objects;
use crate::owners::deployed;
use crate::owners::error::HydrateError;
use crate::owners::failures::{FAILURES_REF, Failure};
use crate::owners::files::METADATA;
use crate::owners::ledger::Ledger;
use crate::owners::ours::our_changes;
use crate::owners::policy::Policy;
use crate::owners::promoted::{last_changed, not_promoted, undoing};
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::{Origin, Standing, provenance};
use crate::repo::{self, ObjectBuffer, ObjectId, object_id};
use crate::settings::Hold;
use dry_files::diag::{Diagnostic, shell_word};
pub(crate) use promotions::Promotion;
use used_inputs::UsedInput;
use used_tools::OtherTools;

pub(crate) use follows::{Followed, RevisionKind};

/// What a branch that Applications name is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum BranchState {
    /// Hydration made it.
    Hydrated,
    /// Hydration made it, and it does not exist any more.
    Missing,
    /// It was never made.
    NotMade,
    /// It exists, and hydration did not make it.
    NotHydrated,
    /// The sync branch of staging branches: the promoter writes it.
    Promoted,
}

/// The state of a branch that hydration made, or that Applications name. Ids are full and in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchStatus {
    /// The branch.
    pub branch: String,
    /// What it is.
    pub state: BranchState,
    /// The commit it points at; empty when it does not exist.
    pub tip: String,
    /// The dry branch that it is hydrated from.
    pub dry_branch: String,
    /// The dry commit that it is hydrated from, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_sha: Option<String>,
    /// Who made that commit, when, and what for; none when it is not in this repository.
    #[serde(rename = "dryCommit", skip_serializing_if = "Option::is_none")]
    pub dry: Option<Dry>,
    /// What its Applications follow, where that is a tag, a range or a commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<Followed>,
    /// The tip of the dry branch; none when that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_tip: Option<String>,
    /// How many commits the dry branch is ahead on its first-parent line; none when it was rewound, or is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<usize>,
    /// What of its objects the commit that it points at changed; none where that is not known here, or nothing was changed.
    #[serde(rename = "lastCommit", skip_serializing_if = "Option::is_none")]
    pub last_commit: Option<LastCommit>,
    /// Why it gets no commit for a time; none when it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen: Option<FrozenStatus>,
    /// The versions of the tools that it was brought up to date with, and those that the settings ask for now; none where they
    /// are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<OtherTools>,
    /// The paths that stay at an earlier dry commit than `dry_sha`, by path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths_behind: Vec<BehindPath>,
    /// The Applications that the setting `hold` keeps as they are, whether or not they are behind, by its order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldAlone>,
    /// The recorded inputs that its Applications use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<UsedInput>,
    /// The files in which its tip is not what hydration made, nor a promotion of that: somebody else changed them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed_by_others: Vec<String>,
    /// The commit that changed the first of them last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<String>,
    /// What undoes that commit, on the branch.
    #[serde(skip)]
    pub undoing: Option<String>,
    /// The dry commits that did not hydrate, oldest first: those after its own, and its own where paths are behind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
    /// The limits of this machine that the last run reached on it, where that run was here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Diagnostic>,
    /// Where hydration left the branch, when it was moved back since; none when it is there, or further on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_tip: Option<String>,
    /// The commit to put the branch back to, when it is missing or others changed it: where hydration left it, as far as that
    /// commit is there.
    #[serde(skip)]
    pub restorable: Option<Restorable>,
    /// The older branch that was probably meant: this one is young, and its name is nearly that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<String>,
    /// Whether an Application of a dry branch that is there names it.
    #[serde(skip)]
    pub is_named: bool,
    /// How many Applications of the tip of its dry branch write to it.
    pub applications: usize,
    /// The branches that the Applications name now which left it, where none names it any more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub now_on: Vec<String>,
    /// Whether its dry branch is not one any more: nothing is hydrated onto it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_left: bool,
    /// Whether nothing is on it.
    #[serde(skip)]
    pub is_empty: bool,
    /// The staging branches of which it is the sync branch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub promoted_from: Vec<Promotion>,
}

/// What the newest commit of a branch did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct LastCommit {
    /// Which objects it changed.
    pub objects: ChangedObjects,
}

/// A commit that a branch can be put back to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Restorable {
    /// The commit.
    pub tip: String,
    /// Whether it is the empty commit that a sync branch starts with: if anything was promoted to it since, clones alone know it.
    pub is_start: bool,
    /// Whether a promoter writes the branch, so that the commit is the newest one which a push or a run saw.
    pub is_promoted: bool,
}

impl BranchStatus {
    /// Whether no Application names it any more, and it still has what Applications wrote.
    pub(crate) fn has_leftovers(&self) -> bool {
        let is_unnamed = |failure: &Failure| failure.diagnostics.iter().all(Diagnostic::is_unnamed);
        let is_open = self.state == BranchState::Hydrated && !self.is_named && !self.is_left;
        is_open && self.failures.last().is_some_and(is_unnamed)
    }

    /// Whether no Application names it any more, and what they wrote was taken off it.
    pub(crate) fn is_given_up(&self) -> bool {
        let is_open = self.state == BranchState::Hydrated && !self.is_named && !self.is_left && self.dry_tip.is_some();
        is_open && self.applications == 0 && self.failures.is_empty() && self.changed_by_others.is_empty()
    }

    /// What to correct where Applications left it for another branch by a slip: the hint of what failed.
    pub(crate) fn misspelt(&self) -> Option<&str> {
        let failed = self.failures.iter().flat_map(|failure| &failure.diagnostics);
        failed.filter(|failed| failed.near.is_some()).find_map(|failed| failed.hint.as_deref())
    }

    /// The commands that take back, in a clone, what others changed on a branch that a promoter writes. That is for an account that may
    /// promote; none of another branch.
    pub(crate) fn taking_back(&self, remote: &str) -> Option<String> {
        let undoing = self.undoing.as_ref().filter(|_| self.state == BranchState::Promoted)?;
        let (remote, branch) = (shell_word(remote), shell_word(&self.branch));
        let to = shell_word(&format!("HEAD:refs/heads/{}", self.branch));
        Some(format!(
            "in a clone, as an account that may promote: git fetch {remote} && git checkout --detach {remote}/{branch} && {undoing} && \
             git push {remote} {to}"
        ))
    }

    /// Whether the branch shows what the tip of its dry branch says, or is frozen; of a sync branch, whether it exists.
    pub(crate) fn is_current(&self) -> bool {
        match self.state {
            _ if !self.changed_by_others.is_empty() => false,
            BranchState::Hydrated => {
                let is_whole = self.paths_behind.iter().all(|path| path.paused);
                let is_shown = self.follows.as_ref().is_none_or(Followed::is_shown);
                let is_there =
                    self.behind == Some(0) && is_shown && self.failures.is_empty() && is_whole && self.tools.is_none();
                self.recorded_tip.is_none() && (is_there || self.frozen.is_some())
            }
            BranchState::NotMade => self.frozen.is_some(),
            BranchState::Missing | BranchState::NotHydrated => false,
            BranchState::Promoted => true,
        }
    }
}

/// Why a branch gets no commit for a time, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct FrozenStatus {
    /// Why, and until when.
    #[serde(flatten)]
    pub why: Frozen,
    /// The date of the settings that said so first; none when that is not known here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// `frozen since 2024-12-20T12:00:00Z until 2024-12-24: release`, `held at 1a2b3c4 since 2024-12-20T12:00:00Z: outage`
impl fmt::Display for FrozenStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = self.why.to_string();
        let end = [" until ", ": "].iter().filter_map(|mark| why.find(mark)).min();
        match (&self.since, end.map(|end| why.split_at(end))) {
            (Some(since), Some((what, rest))) => write!(f, "{what} since {since}{rest}"),
            _ => f.write_str(&why),
        }
    }
}

/// How many commits ahead are counted.
const BEHIND_MAX: usize = 100_000;

/// What is wrong at the tips of the dry branches, before anything is rendered: in Applications that feed no branch yet, or
/// with a branch that is not written for it.
pub(crate) fn problems(setup: &Setup<'_>) -> Result<Vec<Diagnostic>, HydrateError> {
    Ok(surveyed(setup)?.problems)
}

/// What is wrong and what lasts at the tips of the dry branches.
#[derive(Debug, Default)]
pub(crate) struct Surveyed {
    /// See [`problems`].
    pub problems: Vec<Diagnostic>,
    /// The Applications that no push hydrates, since they name what none moves.
    pub pinned: Vec<Diagnostic>,
    /// Whether what is recorded of failures cannot be read.
    pub hides_failures: bool,
}

/// What is wrong at the tips of the dry branches, and what lasts there, which pushes do not repeat.
pub(crate) fn surveyed(setup: &Setup<'_>) -> Result<Surveyed, HydrateError> {
    let surveyed = Run::new(setup).map_err(Stopped::from).and_then(|mut run| {
        run.survey()?;
        Ok(run)
    });
    let run = match surveyed.map_err(Stopped::into_error) {
        // A clone that fetched none knows how its branches are all the same.
        Err(HydrateError::SettingsMissing { .. }) => return Ok(Surveyed::default()),
        Err(lost @ HydrateError::SettingsLost { .. }) => {
            return Ok(Surveyed { problems: vec![Diagnostic::error(lost.to_string())], ..Surveyed::default() });
        }
        run => run?,
    };
    let faults = run.ledger.faults;
    let mut problems: Vec<Diagnostic> = faults.unusable(run.found.setup.place.are_guarded()).collect();
    problems.extend(run.report.problems);
    problems.extend(run.departures);
    for report in run.branches.into_values().flat_map(Branch::into_reports) {
        if let Outcome::Failed { diagnostics, .. } = report.outcome {
            problems.extend(diagnostics);
        }
    }
    let pinned = run.report.warnings.into_iter().filter(Diagnostic::is_pinned).collect();
    Ok(Surveyed { problems, pinned, hides_failures: !faults.allows(FAILURES_REF) })
}

/// The status of all branches that hydration made or that the Applications of the dry branches name, by name.
///
/// [`Setup::wake`] should ask for everything. Nothing is rendered but, in a clone, the dry commits of notes that the commits
/// below them do not bear out: what only a note says to be on a branch is looked for there.
pub(crate) fn status(setup: &Setup<'_>) -> Result<Vec<BranchStatus>, HydrateError> {
    let (found, mut ledger) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let mut names = named(&found)?;
    let applications: BTreeSet<BranchName> = names.keys().cloned().collect();
    for (branch, dry_branch) in &found.environments {
        // Another dry branch that names it too gets nothing there.
        let named = names.entry(branch.clone()).or_insert_with(|| Named::environment(dry_branch));
        if !found.policy.settings.is_shared(branch) {
            named.dry_branch.clone_from(dry_branch);
        }
    }
    for (branch, record) in found.records.iter() {
        // One that was deleted and that no Application names is not missed; nor is the branch that something was promoted to,
        // unless its dry branch is gone, which named it.
        if found.tip(branch).is_none() || (record.initial && found.tip(&record.dry_branch).is_some()) {
            continue;
        }
        let unnamed = || Named { is_environment: !record.initial, ..Named::environment(&record.dry_branch) };
        names.entry(branch.clone()).or_insert_with(unnamed);
    }
    for (branch, failures) in ledger.failures.branches() {
        let (Ok(branch), Some(failure)) = (BranchName::read(branch), failures.last()) else { continue };
        let Ok(dry_branch) = BranchName::new(&failure.dry_branch) else { continue };
        // The server forgets with its next run that one which was deleted since was left as it is.
        let is_forgotten = setup.place.is_of_clone() && found.tip(&branch).is_none();
        if is_forgotten && failure.diagnostics.iter().all(Diagnostic::is_unnamed) {
            continue;
        }
        names.entry(branch).or_insert_with(|| Named::environment(&dry_branch));
    }
    let sync = |branch| names.iter().find(|(_, named)| named.staging.contains(branch)).map_or(branch, |(sync, _)| sync);
    let made_from = noted::refuted(&names, setup, &found, &mut ledger)?;
    let rewound = noted::rewound(&names, setup, &found, &mut ledger)?;
    let tagged = noted::borne_out(&names, setup, &found, &mut ledger)?;
    let limits = limits::reached(&found);
    let mut all = Vec::new();
    for (branch, named) in &names {
        for (place, named) in of_each_dry_branch(&found, branch, named).iter().enumerate() {
            let made_from = (made_from.get(branch).or(rewound.get(branch)).copied(), tagged.get(branch));
            let mut status = one(&found, &mut ledger, (branch, sync(branch)), named, made_from)?;
            let is_of_copies = found.policy.settings.applications_to.as_ref() == Some(branch);
            status.is_named = applications.contains(branch) || is_of_copies;
            status.limits = limits::of(&status, &limits);
            // What others did to the branch is shown once.
            if place > 0 {
                status.changed_by_others.clear();
                status.changed_by = None;
                status.last_commit = None;
            }
            all.push(status);
        }
    }
    near::note_near(setup.repository, &mut all)?;
    used_inputs::note(&found, &mut all)?;
    left::note_now_on(&found, &mut all);
    Ok(all)
}

/// A branch that several dry branches share, as each of them names it or was hydrated onto it, the last one first; any other as
/// it is named.
fn of_each_dry_branch(found: &Snapshot<'_>, branch: &BranchName, named: &Named) -> Vec<Named> {
    let record = found.records.get(branch).filter(|record| !record.initial);
    if !found.policy.settings.is_shared(branch) || !named.is_environment {
        return vec![named.clone()];
    }
    let last = record.map_or(&named.dry_branch, |record| &record.dry_branch);
    let others = record.into_iter().flat_map(|record| record.others.keys()).chain(&named.dry_branches);
    let others: BTreeSet<&BranchName> = others.chain([&named.dry_branch]).filter(|other| *other != last).collect();
    let of = |dry_branch: &BranchName| Named { dry_branch: dry_branch.clone(), ..named.clone() };
    [last].into_iter().chain(others).map(of).collect()
}

/// Whether a failure is one of a dry branch, where several share the branch, and of a commit that is still on it.
fn is_of(failure: &Failure, dry_branch: &BranchName, branch: &BranchName, found: &Snapshot<'_>) -> bool {
    let is_of_branch = !found.policy.settings.is_shared(branch) || failure.dry_branch == dry_branch.as_str();
    is_of_branch && !is_taken_back(failure, found)
}

/// Whether a rewind took the dry commit off its dry branch.
fn is_taken_back(failure: &Failure, found: &Snapshot<'_>) -> bool {
    let repository = found.setup.repository;
    let tip = BranchName::read(&failure.dry_branch).ok().and_then(|branch| found.tip(&branch));
    let dry = object_id(&failure.dry_sha).filter(|dry| repository.has(*dry));
    dry.zip(tip).is_some_and(|(dry, tip)| dry != tip && !repository.is_ancestor(dry, tip))
}

fn one(
    found: &Snapshot<'_>,
    ledger: &mut Ledger,
    (branch, sync): (&BranchName, &BranchName),
    named: &Named,
    (made_from, tagged): (Option<ObjectId>, Option<&Source>),
) -> Result<BranchStatus, HydrateError> {
    let tip = found.tip(branch);
    let dry_tip = found.tip(&named.dry_branch);
    let standing = tip.map(|tip| found.standing(branch, tip, &named.dry_branch, &mut ledger.notes)).transpose()?;
    let is_ours = |standing: &Standing| matches!(standing.origin, Origin::Ours(_));
    let state = match &standing {
        None if found.records.get(branch).is_some() => BranchState::Missing,
        None => BranchState::NotMade,
        Some(_) if !named.is_environment => match named.is_foreign_active(branch, found)? {
            true => BranchState::NotHydrated,
            false => BranchState::Promoted,
        },
        Some(standing) if is_ours(standing) => BranchState::Hydrated,
        Some(_) => BranchState::NotHydrated,
    };
    let restorable = restorable(found, branch, (tip, state));
    let promoted = match (tip, state) {
        (Some(tip), BranchState::Promoted) => promotions::shown(found, branch, tip)?,
        _ => None,
    };
    let standing = standing.filter(|_| state == BranchState::Hydrated);
    let paths_behind = paths_behind(found, (branch, sync), standing.as_ref(), named)?;
    let changed_by_others = match (tip, state) {
        (Some(tip), BranchState::Hydrated) => changed_by_others(found, branch, tip)?,
        (Some(tip), BranchState::Promoted) => not_promoted(found, &named.staging, branch, tip)?,
        _ => Vec::new(),
    };
    let last_commit = match (tip, state) {
        (Some(tip), BranchState::Hydrated | BranchState::Promoted) => last_commit(found, tip),
        _ => None,
    };
    let dry = made_from.or(standing.as_ref().and_then(|standing| standing.dry)).or(promoted);
    let repository = found.setup.repository;
    let promoted_from = match (tip, state) {
        (Some(tip), BranchState::Promoted) => promotions::of(found, ledger, (branch, tip), named, promoted)?,
        _ => Vec::new(),
    };
    let by = match (tip, changed_by_others.first()) {
        (Some(tip), Some(file)) => Some(last_changed(tip, file, &found.buffer)?),
        _ => None,
    };
    let shown = tagged.or(standing.as_ref().and_then(|standing| standing.source.as_ref()));
    let follows = Followed::of(named, branch, shown, found).filter(|_| named.is_environment);
    let dry_shown = shown.map(|source| source.commit).or(dry);
    let line = match (dry.filter(|dry| repository.has(*dry)), dry_tip) {
        (Some(dry), Some(tip)) => repository.first_parents(dry, tip, BEHIND_MAX)?,
        _ => None,
    };
    let tools = other_tools(found, (branch, sync), standing.as_ref(), (named, dry_shown))?;
    let recorded = found.records.get(branch).filter(|record| state == BranchState::Hydrated && !record.initial);
    let is_back = |recorded: &ObjectId| {
        tip.is_some_and(|tip| tip != *recorded && !repository.is_ancestor(*recorded, tip) && repository.has(*recorded))
    };
    let recorded_tip = recorded.map(|record| record.tip).filter(is_back);
    let is_left =
        dry_tip.is_some() && !found.dry_branches.is_empty() && !found.dry_branches.contains(&named.dry_branch);
    let is_empty = tip.map(|tip| found.buffer.commit(tip)).transpose()?;
    let failures = ledger.failures.of(branch).iter().cloned();
    let shown = |failure: Failure| if found.setup.place.believes_records() { failure } else { failure.quoted() };
    Ok(BranchStatus {
        is_left: is_left && state == BranchState::Hydrated,
        is_empty: is_empty.is_none_or(|tip| tip.tree == found.buffer.empty_tree_id()),
        limits: Vec::new(),
        recorded_tip: recorded_tip.map(|tip| tip.to_string()),
        restorable,
        near: None,
        is_named: false,
        applications: named.applications.len(),
        now_on: Vec::new(),
        promoted_from,
        branch: branch.to_string(),
        state,
        tip: tip.map(|tip| tip.to_string()).unwrap_or_default(),
        dry_branch: named.dry_branch.to_string(),
        dry_sha: dry_shown.map(|dry| dry.to_string()),
        dry: dry_shown.and_then(|dry| repository.commit(dry).ok()).map(|commit| Dry::of(&commit)),
        follows,
        dry_tip: dry_tip.map(|tip| tip.to_string()),
        behind: line.map(|line| line.len()),
        last_commit,
        frozen: frozen(found, branch, sync).filter(|_| named.is_environment || tip.is_none()),
        tools,
        paths_behind,
        held: HeldAlone::all(found.hold(branch, sync)),
        inputs: Vec::new(),
        changed_by: by.as_ref().map(|by| by.id.to_string()),
        undoing: by.map(|by| undoing(&by, &changed_by_others)),
        changed_by_others,
        failures: failures.filter(|failure| is_of(failure, &named.dry_branch, branch, found)).map(shown).collect(),
    })
}

/// The tools of a branch, where the settings ask for others than those of before did, and these render something of it. Copies are
/// made without any.
fn other_tools(
    found: &Snapshot<'_>,
    (branch, sync): (&BranchName, &BranchName),
    standing: Option<&Standing>,
    (named, dry): (&Named, Option<ObjectId>),
) -> Result<Option<OtherTools>, HydrateError> {
    let Some(standing) = standing.filter(|_| found.records.get(branch).is_some()) else { return Ok(None) };
    if found.is_for_copies(branch).unwrap_or(false) {
        return Ok(None);
    }
    let Ok(before) = Policy::at(standing.settings, &found.buffer) else { return Ok(None) };
    let [hydrated, wanted] = [&before, &found.policy].map(|policy| policy.settings.tools.of(branch, sync));
    Ok(OtherTools::of((hydrated, wanted), (standing.tip.id, dry), named, found)?)
}

/// What a commit changed beside its first parent. Not known where a clone lacks some of that.
fn last_commit(found: &Snapshot<'_>, tip: ObjectId) -> Option<LastCommit> {
    let tree_of = |id| found.buffer.commit(id).map(|commit| commit.tree);
    let parent = found.buffer.commit(tip).ok()?.parents.first().copied();
    let before = parent.map_or(Ok(found.buffer.empty_tree_id()), tree_of).ok()?;
    let objects = changed_objects(&found.buffer, before, tree_of(tip).ok()?).ok()?;
    (!objects.counts.is_zero()).then_some(LastCommit { objects })
}

/// Where hydration left a branch that is gone, or that somebody added commits to.
fn restorable(
    found: &Snapshot<'_>,
    branch: &BranchName,
    (tip, state): (Option<ObjectId>, BranchState),
) -> Option<Restorable> {
    let record = found.records.get(branch)?;
    let left = deployed::last_seen(branch, &found.refs).filter(|_| record.initial).unwrap_or(record.tip);
    let is_wanted = match state {
        BranchState::Missing => true,
        BranchState::Hydrated => tip != Some(record.tip) && !record.initial,
        BranchState::NotMade | BranchState::NotHydrated | BranchState::Promoted => false,
    };
    // A clone may lack what its server has.
    let is_there = !found.setup.place.is_of_server() || found.setup.repository.has(left);
    let is_start = || {
        let start = found.buffer.commit(left).is_ok_and(|start| start.tree == found.buffer.empty_tree_id());
        record.initial && left == record.tip && start
    };
    (is_wanted && is_there).then(|| Restorable {
        tip: left.to_string(),
        is_start: is_start(),
        is_promoted: record.initial,
    })
}

fn frozen(found: &Snapshot<'_>, branch: &BranchName, sync: &BranchName) -> Option<FrozenStatus> {
    let why = Frozen::from(&found.frozen(branch, sync)?);
    let since = found.frozen_since(branch).or_else(|| found.frozen_since(sync));
    Some(FrozenStatus { why, since: since.map(Time::rfc3339) })
}

/// The paths that a branch lists as behind.
fn paths_behind(
    found: &Snapshot<'_>,
    (branch, sync): (&BranchName, &BranchName),
    standing: Option<&Standing>,
    named: &Named,
) -> Result<Vec<BehindPath>, HydrateError> {
    let Some(standing) = standing else { return Ok(Vec::new()) };
    let alone = found.hold(branch, sync).iter().filter(|hold| !hold.is_whole());
    let recorded = provenance(&found.buffer, standing.tip.tree, METADATA)?;
    let behind = recorded.map(|recorded| recorded.behind).unwrap_or_default();
    let mut paths = Vec::new();
    for Behind { path, dry_commit } in behind {
        let application = named.applications.get(&path);
        let is_held = |hold: &&Hold| application.is_none_or(|(name, _)| hold.names(name.as_str()));
        let held = alone.clone().find(is_held);
        paths.push(BehindPath {
            application: application.map(|(name, _)| name.to_string()),
            paused: held.is_some() || application.is_some_and(|(_, paused_at)| paused_at.is_some()),
            paused_at: application.and_then(|(_, paused_at)| paused_at.clone()),
            held: held.map(|hold| hold.reason.clone()),
            parent: None,
            path,
            dry_sha: dry_commit.map(|id| id.to_string()),
        });
    }
    Ok(paths)
}

/// The files of hydration that differ between the recorded commit of a branch and its tip.
fn changed_by_others(found: &Snapshot<'_>, branch: &BranchName, tip: ObjectId) -> Result<Vec<String>, repo::Error> {
    let buffer = &found.buffer;
    let is_below = |recorded: ObjectId| recorded != tip && buffer.repository().is_ancestor(recorded, tip);
    let record = found.records.get(branch).filter(|record| !record.initial && is_below(record.tip));
    let Some(record) = record else { return Ok(Vec::new()) };
    let made = buffer.commit(record.tip)?.tree;
    our_changes(made, buffer.commit(tip)?.tree, &[made], buffer)
}
