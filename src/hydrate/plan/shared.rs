//! A branch that several dry branches share: each writes to directories of its own, and none where another does.
//!
//! Which of them has a directory is read from the branch itself, by what hydration made there last. Where nothing is there yet,
//! or a directory is given up and asked for at once, the records and the tips of the dry branches show.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use crate::argo::{Application, BranchName};
use crate::hydrate::dry_tree::{DryTree, Former};
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::owners::heads::DryHead;
use crate::owners::standing::metadata_dir;

/// The dry branches in the order in which they are hydrated. When two share an environment branch, the dry branch that
/// has a directory there goes before the one that asks for the directory, since it may release it. Beside that, one for which an
/// earlier run had no time goes before the others.
pub(crate) fn in_order(heads: &[DryHead], run: &mut Run<'_>) -> Result<Vec<DryHead>, Stopped> {
    let mut left = Vec::new();
    let mut sorted: Vec<&DryHead> = heads.iter().collect();
    if heads.len() > 1 {
        sorted.sort_by_cached_key(|head| run.memory.turn_of(head, &run.found));
    }
    for head in sorted {
        let (had, asked) = if heads.len() > 1 { changes(head, run, heads)? } else { Default::default() };
        left.push((head, had, asked));
    }
    let mut ordered = Vec::new();
    while !left.is_empty() {
        let waits = |(head, _, asked): &(&DryHead, Directories, Directories)| {
            left.iter().any(|(other, had, _)| other != head && !had.is_disjoint(asked))
        };
        // Those that wait for each other go as they come: each gets a report of what it cannot have.
        let next = left.iter().position(|one| !waits(one)).unwrap_or(0);
        ordered.push(left.remove(next).0.clone());
    }
    Ok(ordered)
}

/// Directories of shared branches.
type Directories = BTreeSet<(BranchName, RepoPath)>;

/// The directories of shared branches that a dry branch has, and those that its tip asks for beside them.
fn changes(head: &DryHead, run: &mut Run<'_>, heads: &[DryHead]) -> Result<(Directories, Directories), Stopped> {
    let (mut had, mut asked) = (Directories::new(), Directories::new());
    let settings = &run.found.policy.settings;
    let shared = run.found.records.iter().filter(|(name, _)| settings.is_shared(name));
    let shared = shared.map(|(name, record)| (name.clone(), record.dry_commit_of(&head.branch)));
    for (name, dry) in shared.collect::<Vec<_>>() {
        let of = |dirs: BTreeSet<RepoPath>| dirs.into_iter().map(|dir| (name.clone(), dir)).collect::<Directories>();
        if let Some(dry) = dry.filter(|dry| run.found.setup.repository.has(*dry)) {
            let tree = run.tree(dry, head, heads)?;
            had.extend(of(directories(&name, &tree, run)));
        }
        let tree = run.tree(head.tip, head, heads)?;
        asked.extend(of(directories(&name, &tree, run)));
    }
    asked.retain(|dir| !had.contains(dir));
    Ok((had, asked))
}

/// An Application in a directory of a shared branch that another dry branch writes: the one that was there first has it.
pub(crate) fn taken_path(
    name: &BranchName,
    tree: &DryTree,
    run: &mut Run<'_>,
    head: &DryHead,
    heads: &[DryHead],
) -> Result<Option<Diagnostic>, Stopped> {
    if !run.found.policy.settings.is_shared(name) {
        return Ok(None);
    }
    for other in heads.iter().filter(|other| other.branch != head.branch) {
        let theirs = run.tree(other.tip, other, heads)?;
        let theirs = directories(name, &theirs, run);
        let mut here = tree.applications(name);
        let is_theirs = |app: &&Arc<Application>| theirs.contains(&directory(name, app, run));
        let Some(application) = here.find(is_theirs) else { continue };
        let dir = directory(name, application, run);
        let ours = directories_before(name, head, heads, run)?.contains(&dir);
        let theirs = directories_before(name, other, heads, run)?.contains(&dir);
        if (theirs && !ours) || (theirs == ours && other.branch < head.branch) {
            return Ok(Some(hydrated_from(&dir, name, &other.branch, &head.branch, application)));
        }
    }
    Ok(None)
}

/// An Application that comes to a directory of a shared branch that hydration made from another dry branch, which the settings
/// still name, or may only seem not to. What is on the branch shows it: so each dry commit of a backlog is judged, and judged the same when `verify`
/// hydrates it again.
pub(crate) fn path_of_another(
    name: &BranchName,
    tree: &DryTree,
    former: &Former,
    run: &Run<'_>,
    head: &DryHead,
) -> Result<Option<Diagnostic>, Stopped> {
    let (settings, buffer) = (&run.found.policy.settings, &run.found.buffer);
    let Some(branch) = run.branches.get(name).filter(|_| settings.is_shared(name)) else {
        return Ok(None);
    };
    let had: BTreeSet<RepoPath> = former.applications.iter().map(|app| directory(name, app, run)).collect();
    let is_doubted = run.found.setup.place.doubts_settings();
    let is_named = |dry_branch: &BranchName| is_doubted || settings.dry_branches.contains(dry_branch);
    let is_other = |dry_branch: &BranchName| *dry_branch != head.branch && is_named(dry_branch);
    for application in tree.applications(name) {
        let dir = directory(name, application, run);
        if had.contains(&dir) {
            continue;
        }
        if let Some(other) = branch.made_from(&dir, &is_other, buffer)? {
            return Ok(Some(hydrated_from(&dir, name, &other, &head.branch, application)));
        }
    }
    Ok(None)
}

fn hydrated_from(
    dir: &RepoPath,
    name: &BranchName,
    other: &BranchName,
    here: &BranchName,
    application: &Application,
) -> Diagnostic {
    let text = format!("`{dir}` on `{name}` is hydrated from `{other}`, not from `{here}`");
    let hint = "give each dry branch paths of its own in the setting `activePaths`";
    Diagnostic::error(text).at(application.places.sync_path.clone()).hint(hint)
}

fn directories(name: &BranchName, tree: &DryTree, run: &Run<'_>) -> BTreeSet<RepoPath> {
    tree.applications(name).map(|application| directory(name, application, run)).collect()
}

/// The directories at the dry commit that the branch shows of a dry branch.
fn directories_before(
    name: &BranchName,
    head: &DryHead,
    heads: &[DryHead],
    run: &mut Run<'_>,
) -> Result<BTreeSet<RepoPath>, Stopped> {
    let record = run.found.records.get(name).and_then(|record| record.dry_commit_of(&head.branch));
    let Some(dry) = record.filter(|dry| run.found.setup.repository.has(*dry)) else { return Ok(BTreeSet::new()) };
    let before = run.tree(dry, head, heads)?;
    Ok(directories(name, &before, run))
}

/// The directory of a shared branch that the path of an Application is promoted with.
fn directory(name: &BranchName, application: &Application, run: &Run<'_>) -> RepoPath {
    metadata_dir(&run.found.policy.settings, name, &application.sync_path)
}
