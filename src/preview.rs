//! What a hydration would change, found by making it in memory.
//!
//! [`plan()`] renders nothing and says what would be rendered and why; [`preview()`] hydrates, and compares with the branches.
//! [`random_values()`] and [`repointed()`] ask of the tip what a push would not say.
//!
//! Never: a ref moves.

mod beside;
mod between;
mod children;
mod doubted;
mod dry_rollback;
mod held;
mod input_changes;
mod like;
mod not_compared;
mod one_by_one;
mod owners;
mod planned;
mod projects;
mod random_values;
mod rehearsal;
mod repoint;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use like::FutureBranch;
use owners::{LookedAt, Owners, identity};
use projects::Projects;

pub(crate) use like::is_production;

use crate::argo::{AppName, BranchName};
use crate::diff::{Beside, Pruning, Remade, Syncs, Words};
use crate::hydrate::make::branch::Branch;
use crate::hydrate::plan::skipped::LeftBehind;
pub(crate) use crate::hydrate::report::Refusal;
use crate::hydrate::report::{BehindPath, Frozen, Outcome};
use crate::hydrate::state::{Previewed, Run};
use crate::hydrate::{HeldAlone, name_holds};
use crate::owners::error::HydrateError;
use crate::owners::files::MANIFEST;
use crate::owners::setup::Setup;
use crate::owners::standing::nearest;
use crate::repo::{Error, Mode, ObjectBuffer, ObjectId, Repository};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use go_yaml::Value;

pub(crate) use between::preview_between;
pub(crate) use dry_rollback::{NoWay, TakenBack, Touched, Wanted, take_back};
pub(crate) use held::preview_held;
pub(crate) use input_changes::InputChange;
use input_changes::input_changes;
use not_compared::Before;
pub(crate) use not_compared::NotCompared;
pub use planned::{Planned, plan};
pub(crate) use planned::{PlannedBranch, PlannedFrozen, PlannedRender, PlannedWhy};
pub(crate) use random_values::{RandomValues, public_values, random_values};
use rehearsal::{on_base, rehearse, rehearse_beside, rehearse_on_branches, thawed, without_branches};
pub(crate) use repoint::{CopiesToLeave, Repointed, copies_to_leave, repointed};

/// What the would-be branches are compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Against {
    /// The environment branches as they are.
    Branches,
    /// Nothing, so that every manifest counts as new.
    Nothing,
    /// A commit: if hydration made it, the environment branch that it was made for is compared with it and no other;
    /// else it is a dry commit, and what would be hydrated from it alone is compared.
    Commit(ObjectId),
    /// What the last common commit with the dry branch gives, so that only what the commit itself changes is shown.
    MergeBase(MergeBase),
}

/// Where a dry commit and its dry branch parted: the branch has commits that the dry commit lacks.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(crate) struct MergeBase {
    /// The last common commit.
    #[serde(serialize_with = "as_text")]
    pub commit: ObjectId,
    /// The dry branch.
    pub branch: BranchName,
    /// How many commits of the dry branch the dry commit lacks, if that can be counted.
    pub behind: Option<usize>,
}

fn as_text<S: serde::Serializer>(id: &ObjectId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(id)
}

impl MergeBase {
    /// That of a dry commit and the tip of its dry branch; none when the commit has all of the branch, or nothing of it.
    pub(crate) fn of(
        repository: &Repository,
        commit: ObjectId,
        (branch, tip): (&BranchName, ObjectId),
    ) -> Option<Self> {
        let base = repository.merge_base(commit, tip).filter(|base| *base != tip)?;
        Some(Self { commit: base, branch: branch.clone(), behind: repository.count_beyond(commit, tip) })
    }
}

/// `compared at the merge base 1a2b3c4: main has 3 commits that this one lacks`
impl std::fmt::Display for MergeBase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.commit.to_string();
        write!(f, "compared at the merge base {}: {} has ", id.get(..7).unwrap_or(&id), self.branch)?;
        match self.behind {
            Some(1) => f.write_str("1 commit that this one lacks"),
            Some(count) => write!(f, "{count} commits that this one lacks"),
            None => f.write_str("commits that this one lacks"),
        }
    }
}

/// What a hydration would change.
#[derive(Debug)]
pub(crate) struct Preview {
    /// The environment branches of the dry branch, by name.
    pub environments: Vec<PreviewedBranch>,
    /// What is wrong with the dry commit and concerns no environment branch that is known.
    pub problems: Vec<Diagnostic>,
    /// What is odd in it.
    pub warnings: Vec<Diagnostic>,
    /// Of these, what an API server refuses objects for.
    pub refusals: Vec<Refusal>,
    /// Of these, the Applications that leave a branch for one that does not take them.
    pub departures: Vec<Diagnostic>,
    /// What becomes of the inputs that the dry tree keeps.
    pub inputs: Vec<InputChange>,
    /// The commit that was compared with, when the dry commit is behind its dry branch.
    pub merge_base: Option<MergeBase>,
}

/// What would become of one environment branch.
#[derive(Debug, Clone)]
pub(crate) struct PreviewedBranch {
    /// The branch.
    pub branch: BranchName,
    /// The branch that is deployed; another one when `branch` is its staging branch.
    pub sync_branch: BranchName,
    /// The dry branch.
    pub dry_branch: String,
    /// The dry commit.
    pub dry_sha: String,
    /// The dry commit that the branch is hydrated from now, if that is known.
    pub dry_sha_before: Option<String>,
    /// The hydrated commit that it is compared with; none for a new branch, and when two dry commits are compared.
    pub against: Option<ObjectId>,
    /// How many Applications write to it.
    pub applications: usize,
    /// The destination paths whose manifests would change, by path. Empty when it does not hydrate.
    pub paths: Vec<PreviewedPath>,
    /// The objects of its Applications that do not change, as far as they matter.
    pub beside: Beside,
    /// The branch that is most like it, of one that is new.
    pub like: Option<LikeBranch>,
    /// Why it stays as it is for a time; none when it does not. What would change is what the freeze holds back.
    pub frozen: Option<Frozen>,
    /// Why it does not hydrate; empty when it does.
    pub mistakes: Vec<Diagnostic>,
    /// The paths that stay at an earlier dry commit than the others, by path.
    pub behind: Vec<BehindPath>,
    /// The Applications that the setting `hold` keeps as they are, whether or not they are behind.
    pub held: Vec<HeldAlone>,
    /// What is wrong with the Applications of those that are not paused.
    pub failures: Vec<Diagnostic>,
    /// What is not compared, since a dry commit does not hydrate it.
    pub not_compared: Vec<NotCompared>,
}

/// An environment branch that a new one is much like.
#[derive(Debug, Clone)]
pub(crate) struct LikeBranch {
    /// The branch.
    pub branch: BranchName,
    /// The word of its name, and that of the new one's in its place.
    pub words: Option<Words>,
    /// `manifest.yaml` of the Application that is the counterpart, by the path of the new one.
    pub manifests: BTreeMap<RepoPath, Vec<u8>>,
    /// Its Applications without a counterpart.
    pub others: Vec<AppName>,
}

/// The manifests of one destination path before and after.
#[derive(Debug, Clone)]
pub(crate) struct PreviewedPath {
    /// The path.
    pub path: RepoPath,
    /// The Application that writes to it, or wrote to it, if that is known.
    pub application: Option<AppName>,
    /// What makes, or made, the Application, and from what; none for one that is in a file.
    pub made_by: Option<String>,
    /// The rule that hydrates it, from 1; none with `spec.sourceHydrator`.
    pub rule: Option<usize>,
    /// What becomes of objects in the cluster that are no longer there.
    pub pruning: Pruning,
    /// The Application that wrote to it before, when none or another one does now.
    pub former: Option<FormerApplication>,
    /// The set that deletes the Application, where it made that and another document makes one of the name now.
    pub remade: Option<Remade>,
    /// The namespace of objects that name none, if the Application says it.
    pub namespace: Option<String>,
    /// How syncs apply its objects.
    pub syncs: Syncs,
    /// The Application as an object of the cluster before and after, without what its manifests are made of; none when that is
    /// the same, or either is not known.
    pub deployed: Option<[Arc<Value>; 2]>,
    /// `manifest.yaml` as it is; none when the path is new.
    pub old: Option<Vec<u8>>,
    /// `manifest.yaml` as it would be; none when the path would go.
    pub new: Option<Vec<u8>>,
}

/// An Application that no longer writes to a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormerApplication {
    /// Its name.
    pub name: AppName,
    /// What becomes of it in the cluster.
    pub end: End,
}

/// What becomes of an Application in the cluster that no longer writes to a path.
///
/// Reference: argo-cd 3.4 docs/user-guide/app_deletion.md, docs/operator-manual/applicationset/Controlling-Resource-Modification.md.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It is no longer in a file; who applied that, or somebody, deletes it.
    Deleted,
    /// The set that made it deletes it.
    DeletedBySet,
    /// The set that made it keeps it, by this policy.
    KeptBySet(&'static str),
    /// The Application that rendered it prunes it.
    PrunedBy(String),
    /// The Application that rendered it prunes when somebody asks for it.
    PrunedByHand(String),
    /// It stays and is hydrated to another place.
    Moves(BranchName, RepoPath),
    /// It stays, but is no longer hydrated.
    Stays,
}

/// Hydrates in memory and says what would change; neither a ref nor an object is written.
///
/// It shows what the tips of dry branches give, whatever `history` says. To compare with a dry commit, [`Setup::wake`] has to be a
/// [`Wake::Commit`](crate::owners::setup::Wake::Commit).
pub(crate) fn preview(setup: &Setup<'_>, against: &Against) -> Result<Preview, HydrateError> {
    let mut preview = previewed(setup, against)?;
    doubted::complete(&mut preview, setup, against)?;
    let base = match against {
        Against::Branches | Against::Nothing => None,
        Against::Commit(id) => Some(*id),
        Against::MergeBase(base) => Some(base.commit),
    };
    preview.inputs = input_changes((setup.repository, &setup.place), setup.renderers, &preview.environments, base)?;
    Ok(preview)
}

/// Previews commits that are pushed or merged as they are: that a branch ends otherwise when each of them is hydrated,
/// or that this is unknown, is a problem ([`one_by_one`]).
pub(crate) fn preview_commits(setup: &Setup<'_>, against: &Against) -> Result<Preview, HydrateError> {
    let mut preview = preview(setup, against)?;
    one_by_one::complete(&mut preview, setup, against)?;
    Ok(preview)
}

fn previewed(setup: &Setup<'_>, against: &Against) -> Result<Preview, HydrateError> {
    match against {
        Against::Branches => {
            compare(rehearse_on_branches(&thawed(setup))?, setup.now, &|branch| Some(branch.base()), None)
        }
        Against::Nothing => {
            compare(rehearse(&thawed(setup), ObjectBuffer::new(setup.repository))?, setup.now, &|_| Some(None), None)
        }
        Against::Commit(id) => previewed_against(setup, *id),
        Against::MergeBase(base) => {
            on_base(setup, base.commit, |after, buffer, known| since(base, after, buffer, known, setup.now))
        }
    }
}

/// Compared with a hydrated commit, or with what a dry commit gives.
fn previewed_against(setup: &Setup<'_>, id: ObjectId) -> Result<Preview, HydrateError> {
    let repository = setup.repository;
    let buffer = ObjectBuffer::new(repository);
    if let Some(trailers) = nearest(&repository.commit(id)?, &buffer, |_| true)? {
        let is_it = |branch: &Branch| (branch.name == trailers.branch).then_some(Some(id));
        return compare(rehearse(&thawed(setup), buffer)?, setup.now, &is_it, None);
    }
    let setup_before = without_branches(setup, id);
    let before = rehearse(&setup_before, buffer)?;
    let known = before.report.warnings.clone();
    let not_hydrated = Before::of(&before, id, setup)?;
    let tip = |branch: &Branch| branch.tip.as_ref().map(|tip| tip.id);
    let tips: BTreeMap<_, _> = before.branches.iter().map(|(name, branch)| (name.clone(), tip(branch))).collect();
    let setup_after = Setup { wake: setup.wake.clone(), place: setup_before.place.clone(), ..setup_before };
    let mut compared = BTreeMap::new();
    for (name, tip) in &tips {
        if let Some(tip) = tip {
            compared.insert(name.clone(), before.found.buffer.commit(*tip)?.tree);
        }
    }
    let mut after = rehearse_beside(&setup_after, before.found.buffer, compared)?;
    for (name, mut branch) in before.branches.into_iter().filter(|(_, branch)| branch.failure().is_none()) {
        (branch.tip, branch.left) = (None, LeftBehind::default());
        after.branches.entry(name).or_insert(branch);
    }
    after.trees.extend(before.trees);
    // What two dry commits differ in does not depend on when it is deployed.
    let tip_before = |branch: &Branch| Some(tips.get(&branch.name).copied().flatten());
    let mut preview = compare(after, None, &tip_before, Some(&not_hydrated))?;
    unpublished(&mut preview, &known);
    Ok(preview)
}

/// What the tip gives on top of what the last common commit does, `known` being odd there already.
fn since(
    base: &MergeBase,
    after: &Setup<'_>,
    buffer: ObjectBuffer<'_>,
    (known, not_hydrated): (&[Diagnostic], &Before),
    now: Option<i64>,
) -> Result<Preview, HydrateError> {
    // That of a dry branch and its next tip depends on when it is deployed.
    let mut preview = compare(rehearse(after, buffer)?, now, &|branch| Some(branch.base()), Some(not_hydrated))?;
    unpublished(&mut preview, known);
    for environment in &mut preview.environments {
        environment.dry_sha_before = Some(base.commit.to_string());
    }
    preview.merge_base = Some(base.clone());
    Ok(preview)
}

/// Takes out of a preview what is only of the commits that it is compared with, which are never published.
fn unpublished(preview: &mut Preview, known: &[Diagnostic]) {
    for environment in &mut preview.environments {
        environment.against = None;
    }
    // No branch was looked at, so what is said of both is not of what is between them.
    preview.warnings.retain(|warning| warning.unknown_field.is_some() || !known.contains(warning));
}

/// Compares what was made with the commit that `base` answers for each branch; a branch for which it answers none at
/// all is left out. `now` is the time by which it reports branches as frozen; `not_hydrated` is what a dry commit that is compared
/// with does not hydrate.
fn compare(
    mut made: Run<'_>,
    now: Option<i64>,
    base: &dyn Fn(&Branch) -> Option<Option<ObjectId>>,
    not_hydrated: Option<&Before>,
) -> Result<Preview, HydrateError> {
    if !made.starts_at_base() {
        read_trees_before(&mut made)?;
    }
    let projects = Projects::read(&mut made, base)?;
    let Run { found, branches, report, departures, trees, preview, since, .. } = made;
    let buffer = &found.buffer;
    let looked_at = match &preview {
        Some(Previewed::SinceBase { looked_at }) => Some(LookedAt::new(looked_at, &since)),
        Some(Previewed::Everything) | None => None,
    };
    let unknown = not_hydrated.map(Before::unknown).unwrap_or_default();
    let is_new = |branch: &Branch| base(branch) == Some(None) && !unknown.contains(&branch.name);
    let all = branches.iter().filter_map(|(name, branch)| FutureBranch::of((name, is_new(branch)), branch, &trees));
    let all: Vec<FutureBranch<'_>> = all.collect();
    let mut likes = BTreeMap::new();
    for new in all.iter().filter(|made| made.is_new) {
        likes.extend(like::like(new, &all, buffer)?.map(|like| (new.name.clone(), like)));
    }
    drop(all);
    let mut environments = Vec::new();
    for (name, branch) in branches {
        let Some(against) = base(&branch) else { continue };
        let sync_branch = branch.sync.clone();
        let dry = branch.dry_tip;
        let before = branch.dry_before();
        let dry_sha_before = before.map(|id| id.to_string());
        let tree_of = |id: ObjectId| buffer.commit(id).map(|commit| commit.tree);
        let old = against.map_or(Ok(buffer.empty_tree_id()), tree_of)?;
        let new = branch.tip.as_ref().map_or(buffer.empty_tree_id(), |tip| tip.tree);
        let frozen = now.and_then(|now| found.frozen_at(&name, &sync_branch, now));
        let frozen = frozen.as_ref().map(Frozen::from);
        let report = branch.into_report();
        let holds = found.hold(&name, &sync_branch);
        let mut behind = report.behind;
        name_holds(&mut behind, holds);
        let mistakes = match report.outcome {
            Outcome::Failed { diagnostics, unnamed: false, .. } => diagnostics,
            Outcome::Moved | Outcome::Unchanged | Outcome::Failed { .. } | Outcome::Frozen(_) => Vec::new(),
        };
        let owners = match &looked_at {
            Some(looked_at) => Owners::of_same(&name, looked_at),
            None => Owners::new(&name, (before, dry), &trees),
        };
        let mut paths = if mistakes.is_empty() { paths(buffer, (old, new), &owners)? } else { Vec::new() };
        let mut not_compared = Vec::new();
        let mut kept = Vec::new();
        if let Some(before) = not_hydrated.filter(|_| mistakes.is_empty()) {
            let tree = trees.known(dry).map(|tree| &**tree);
            not_compared = before.not_compared((&name, dry, tree), (&mut behind, &report.mistakes), &paths, &owners);
            children::keep(&mut behind, &paths, &owners);
            let is_left = |path: &RepoPath| {
                let is_of = |of: &Option<RepoPath>| of.as_ref().is_none_or(|of| of == path);
                not_compared.iter().any(|one| is_of(&one.path)) || behind.iter().any(|one| one.path == *path)
            };
            let is_whole = not_compared.iter().any(|one| one.path.is_none());
            for path in paths.iter_mut().filter(|path| path.remade.is_some() && is_left(&path.path)) {
                (path.old, path.new) = (None, None);
            }
            let left = paths.extract_if(.., |one| is_whole || one.remade.is_none() && is_left(&one.path));
            let left: Vec<PreviewedPath> = left.collect();
            kept.extend(
                left.into_iter().filter(|one| one.new.is_none()).filter_map(|one| Some((one.old?, one.namespace))),
            );
        }
        let beside = beside::beside(buffer, (new, kept), &paths, &owners)?;
        let of_projects = projects.applications(&name, trees.known(dry).map(|tree| &**tree), buffer)?;
        let beside = beside.with_applications(of_projects);
        environments.push(PreviewedBranch {
            like: likes.remove(&name).filter(|_| mistakes.is_empty()),
            branch: name,
            sync_branch,
            dry_branch: report.dry_branch,
            dry_sha: report.dry_sha,
            dry_sha_before,
            against,
            applications: report.applications,
            paths,
            beside,
            frozen,
            mistakes,
            behind,
            held: HeldAlone::all(holds),
            failures: report.mistakes,
            not_compared,
        });
    }
    Ok(Preview {
        environments,
        problems: report.problems,
        warnings: report.warnings,
        refusals: report.refusals,
        departures,
        inputs: Vec::new(),
        merge_base: None,
    })
}

/// Reads the dry commits that branches were hydrated from, where they may have other Applications, so that it is known whose
/// their paths were.
fn read_trees_before(made: &mut Run<'_>) -> Result<(), HydrateError> {
    let heads = made.found.heads();
    let is_here = |dry: &ObjectId| made.found.setup.repository.has(*dry);
    let of_branch = |branch: &Branch| {
        let dry = branch.dry_before().filter(is_here)?;
        Some((dry, branch.dry_tip, branch.dry_branch.clone()))
    };
    let wanted: BTreeSet<_> = made.branches.values().filter_map(of_branch).collect();
    for (before, after, branch) in wanted {
        if made.trees.known(before).is_none()
            && let Some(head) = heads.iter().find(|head| head.branch == branch)
            && may_have_other_applications(made, before, after)?
        {
            made.tree(before, head, &heads)?;
        }
    }
    Ok(())
}

/// How an Application's file has its kind.
const KIND: &[u8] = b"Application";

/// Whether a dry commit may have Applications that another one has not: files that contain one went or changed, or something
/// makes them.
fn may_have_other_applications(made: &Run<'_>, before: ObjectId, after: ObjectId) -> Result<bool, HydrateError> {
    if made.trees.known(after).is_none_or(|tree| tree.has_makers()) {
        return Ok(true);
    }
    let buffer = &made.found.buffer;
    let [old, new] = [buffer.commit(before)?.tree, buffer.commit(after)?.tree];
    for change in buffer.diff_trees(old, new)? {
        if let Some((Mode::File | Mode::Executable, blob)) = change.old
            && buffer.blob(blob)?.windows(KIND.len()).any(|window| window == KIND)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The destination paths whose manifests differ between two trees of a branch.
fn paths(
    buffer: &ObjectBuffer<'_>,
    (old, new): (ObjectId, ObjectId),
    owners: &Owners<'_>,
) -> Result<Vec<PreviewedPath>, HydrateError> {
    let mut changed = BTreeMap::new();
    for change in buffer.diff_trees(old, new)? {
        let Some(path) = change.path.strip_suffix(MANIFEST).and_then(|path| path.strip_suffix('/')) else { continue };
        if let Ok(path) = RepoPath::new(path) {
            changed.insert(path, [change.old, change.new]);
        }
    }
    let others = owners.taken_over().chain(owners.redeployed()).chain(owners.all_remade());
    for path in others.filter(|path| !changed.contains_key(*path)).collect::<BTreeSet<_>>() {
        let file = format!("{path}/{MANIFEST}");
        changed.insert(path.clone(), [buffer.entry(old, &file)?, buffer.entry(new, &file)?]);
    }
    let mut paths = Vec::new();
    for (path, [old, new]) in changed {
        let found = owners.of(&path);
        let former = owners.former(&path);
        paths.push(PreviewedPath {
            application: found.map(|application| application.name.clone()),
            made_by: found.and_then(|application| application.maker.as_ref()).map(ToString::to_string),
            rule: found.and_then(|application| application.rule),
            pruning: owners.pruning(&path),
            remade: owners.remade(&path),
            former: former.map(|former| FormerApplication { name: former.name.clone(), end: owners.end(former) }),
            namespace: found.and_then(|application| application.destination_namespace.clone()),
            syncs: found.map(|application| Syncs::of(&application.deployed.object())).unwrap_or_default(),
            deployed: owners.deployed(&path),
            old: content(old, buffer)?,
            new: content(new, buffer)?,
            path,
        });
    }
    Ok(paths)
}

fn content(entry: Option<(Mode, ObjectId)>, buffer: &ObjectBuffer<'_>) -> Result<Option<Vec<u8>>, Error> {
    match entry {
        Some((Mode::File | Mode::Executable, blob)) => buffer.blob(blob).map(Some),
        _ => Ok(None),
    }
}
