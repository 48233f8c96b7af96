//! The setting `dryBranches`: the branches that Applications name, but for those whose Applications would go where those of
//! another one go. An environment branch is hydrated from one dry branch, unless `activePaths` shares it.

use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, shell_word};

use super::super::check::{Judged, Tree};
use super::branches::in_its_tree;
use super::{Draft, hydrated};
use crate::argo::{Application, BranchName, Standing};
use crate::owners::error::HydrateError;
use crate::render::Renderers;
use crate::settings::Settings;

/// How many branches are looked into.
const BRANCHES_MAX: usize = 16;

/// Proposes the branches that Applications name, with the one that is looked at first.
pub(super) fn propose(draft: &mut Draft, judged: &Judged) -> Result<(), HydrateError> {
    let named = named(judged);
    set(draft, std::iter::once(&judged.dry_branch).chain(named.keys()))
}

/// Takes those dry branches out again whose Applications go to branches that another one writes, and says so; of dry
/// branches that the settings name, it says so only. Nothing while the destinations of Applications are unknown.
pub(super) fn part(
    draft: &mut Draft,
    judged: &Judged,
    (tree, renderers): (&Tree<'_>, &Renderers),
    is_proposed: bool,
) -> Result<Option<Diagnostic>, HydrateError> {
    let settings = draft.settings()?;
    let known = &settings.dry_branches;
    let mut others: Vec<(BranchName, usize)> =
        named(judged).into_iter().filter(|(branch, _)| known.contains(branch)).collect();
    others.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    others.truncate(BRANCHES_MAX);
    let mut taken: BTreeMap<BranchName, BranchName> = BTreeMap::new();
    take(&mut taken, &judged.dry_branch, written(draft, judged, &judged.dry_branch));
    let mut left: Vec<Shared> = Vec::new();
    for (branch, _) in others {
        let here = written(draft, judged, &branch);
        let there =
            in_its_tree(&branch, draft, tree, renderers, |judged, _| Ok(written_there(draft, judged, &settings)))?;
        let all: BTreeSet<BranchName> = here.into_iter().chain(there.unwrap_or_default()).collect();
        match all.iter().find_map(|one| taken.get(one).map(|from| (one.clone(), from.clone()))) {
            Some((to, from)) => left.push(Shared { branch, to, from }),
            None => take(&mut taken, &branch, all),
        }
    }
    let Some(first) = left.first() else { return Ok(None) };
    if is_proposed {
        let kept = known.iter().filter(|known| left.iter().all(|left| left.branch != **known));
        set(draft, kept.collect::<Vec<_>>().into_iter())?;
    }
    Ok(Some(first.warning(&left, is_proposed)))
}

/// A dry branch whose Applications go to an environment branch that another one is hydrated to.
struct Shared {
    branch: BranchName,
    to: BranchName,
    from: BranchName,
}

impl Shared {
    fn warning(&self, all: &[Self], is_left_out: bool) -> Diagnostic {
        let Self { to, from, .. } = self;
        let names: Vec<String> = all.iter().map(|one| format!("`{}`", one.branch)).collect();
        let names = names.join(", ");
        let (are, their) = if all.len() == 1 { ("is", "its") } else { ("are", "their") };
        let text = match is_left_out {
            true => format!("{names} {are} left out of `dryBranches`"),
            false => format!("{names} {are} in `dryBranches`, but nothing is hydrated from there"),
        };
        let text = format!("{text}: {their} Applications would go to `{to}` too, which `{from}` is hydrated to");
        let branches: Vec<String> = all.iter().map(|one| shell_word(one.branch.as_str())).collect();
        let add = format!("; then: git hydrate config add dryBranches {}", branches.join(" "));
        let hint = format!(
            "have the pattern lead each to environment branches of its own, as `{{{{ source.targetRevision }}}}` in it does, \
             or let them share some by the setting `activePaths`{}",
            if is_left_out { &add } else { "" }
        );
        Diagnostic::warning(text).hint(hint)
    }
}

fn take(taken: &mut BTreeMap<BranchName, BranchName>, from: &BranchName, all: BTreeSet<BranchName>) {
    for branch in all {
        taken.entry(branch).or_insert_with(|| from.clone());
    }
}

/// The environment branches of the Applications here that are hydrated from a dry branch, shared ones left out.
fn written(draft: &Draft, judged: &Judged, dry: &BranchName) -> BTreeSet<BranchName> {
    let settings = draft.settings().unwrap_or_default();
    let standings = judged.verdict.standings.iter().zip(&judged.discovered.applications);
    let mut branches = BTreeSet::new();
    for (standing, application) in standings {
        let is_ours = match standing {
            Standing::Hydrated => *dry == judged.dry_branch,
            Standing::OtherBranch => judged.branch_of(application).as_ref() == Some(dry),
            Standing::Pinned | Standing::OtherRepository => false,
        };
        let branch = application.environment_branch();
        if is_ours && !is_nowhere(draft, application) && !settings.is_shared(branch) {
            branches.insert(branch.clone());
        }
    }
    branches
}

/// The environment branches of all Applications of a tree that is a repository of its own, shared ones left out.
fn written_there(draft: &Draft, judged: &Judged, settings: &Settings) -> BTreeSet<BranchName> {
    let all = hydrated(judged).into_iter().filter(|(_, application)| !is_nowhere(draft, application));
    let all = all.map(|(_, application)| application.environment_branch().clone());
    all.filter(|branch| !settings.is_shared(branch)).collect()
}

fn is_nowhere(draft: &Draft, application: &Application) -> bool {
    application.rule == Some(draft.rules_count() + 1)
}

/// The other branches that Applications name, and how many name each.
fn named(judged: &Judged) -> BTreeMap<BranchName, usize> {
    let standings = judged.verdict.standings.iter().zip(&judged.discovered.applications);
    let others = standings.filter(|(standing, _)| **standing == Standing::OtherBranch);
    let mut named = BTreeMap::new();
    for branch in others.filter_map(|(_, application)| judged.branch_of(application)) {
        *named.entry(branch).or_default() += 1;
    }
    named.remove(&judged.dry_branch);
    named
}

fn set<'n>(draft: &mut Draft, names: impl Iterator<Item = &'n BranchName>) -> Result<(), HydrateError> {
    let names: Vec<String> = names.map(ToString::to_string).collect();
    let why = match names.len() {
        1 => "the branch that Applications name",
        _ => "the branches that Applications name",
    };
    draft.set("dryBranches", names.into(), why.to_owned())
}
