//! Which files a rollback copies.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use dry_files::diag::more::listed;
use dry_files::diag::{Diagnostic, shell_word};
use dry_files::path::RepoPath;

use super::{NAMED_MAX, of_branch};
use crate::argo::{AppName, Application, BranchName, near};
use crate::hydrate::make::branch::{Branch, TipMetadata};
use crate::hydrate::make::losses;
use crate::hydrate::make::manifest_of::manifest_of;
use crate::hydrate::make::output::PathOutput;
use crate::hydrate::plan::moved_applications::{Name, name_of};
use crate::metadata::Behind;
use crate::owners::files::{METADATA, PATH_FILES};
use crate::owners::snapshot::Snapshot;
use crate::owners::standing::provenance;
use crate::repo::{Commit, Error, Mode, ObjectId};
use crate::settings::{Hold, is_name_of};

/// What is copied onto a branch.
#[derive(Debug, Default)]
pub(crate) struct Planned {
    /// By path, the files that it gets.
    pub paths: BTreeMap<RepoPath, CopiedPath>,
    /// The paths of Applications of now that the commit to go back to does not have, in order.
    pub lacking: Vec<RepoPath>,
    /// Those Applications that were named, and whose files it does not have.
    pub missing: Vec<AppName>,
    /// The Applications that it has and that are gone since, where the whole branch goes back: they stay so.
    pub gone: Vec<AppName>,
    /// The paths that Applications left which moved while they were held.
    pub vacated: Vec<RepoPath>,
    /// The paths that show another dry commit than the branch will.
    pub behind: Vec<Behind>,
}

impl Planned {
    /// The plan, by which these paths lose their files.
    pub(super) fn vacating(mut self, vacated: Vec<RepoPath>) -> Self {
        self.behind.retain(|behind| !vacated.contains(&behind.path));
        Self { vacated, ..self }
    }
}

/// A path that gets the files of an earlier commit.
#[derive(Debug)]
pub(crate) struct CopiedPath {
    /// Whose they are.
    pub application: Arc<Application>,
    /// The files, by name; none where that one goes.
    pub files: Vec<(&'static str, Option<ObjectId>)>,
    /// The manifest that it gets.
    pub manifest: ObjectId,
    /// Whether that is another one.
    pub is_changed: bool,
}

/// Plans what goes back of a branch, whose tip is `tip`, to what `at` has. `now` and `then` are the Applications that the branch
/// showed at each. Or why that is not clear.
pub(super) fn plan(
    name: &BranchName,
    hold: &Hold,
    (now, then): (&[Arc<Application>], &[Arc<Application>]),
    (tip, at): (&Commit, &Commit),
    found: &Snapshot<'_>,
) -> Result<Result<Planned, Diagnostic>, Error> {
    let (here, there) = (found.tree_of(tip.tree), found.tree_of(at.tree));
    let shown_by = |commit: &Commit| -> Result<TipMetadata, Error> {
        let shown = provenance(&found.buffer, commit.tree, METADATA)?;
        Ok(shown.map(TipMetadata::from).unwrap_or_default())
    };
    let (shown_here, shown_there) = (shown_by(tip)?, shown_by(at)?);
    let mut planned = Planned::default();
    let mut behind: BTreeMap<RepoPath, Option<ObjectId>> = BTreeMap::new();
    if !hold.is_whole() {
        behind.extend(shown_here.behind.iter().map(|behind| (behind.path.clone(), behind.dry_commit)));
    }
    let [by_name_now, by_name_then] = [now, then].map(by_name);
    let [paths_now, paths_then] =
        [now, then].map(|all| all.iter().map(|one| &one.sync_path).collect::<HashSet<&RepoPath>>());
    let mut wanted: Vec<(&Arc<Application>, Option<&Arc<Application>>)> = Vec::new();
    for application in now.iter().filter(|application| hold.has(application)) {
        // Of several of one name, each is the one at its path.
        let is_it =
            |one: &&Arc<Application>| one.sync_path == application.sync_path && name_of(one) == name_of(application);
        let before = then.iter().find(is_it).or_else(|| by_name_then.get(&name_of(application)).copied());
        wanted.push((application, before));
    }
    for named in hold.applications.iter().chain(&hold.with) {
        if now.iter().any(|application| is_name_of(named, application)) {
            continue;
        }
        let mut gone = then.iter().filter(|application| is_name_of(named, application));
        let Some(gone) = gone.next() else {
            return Ok(Err(unknown((name, named), at, then)));
        };
        if manifest_of(&here, &gone.sync_path)?.is_some() && paths_now.contains(&gone.sync_path) {
            return Ok(Err(taken(name, gone, &gone.sync_path)));
        }
        wanted.push((gone, Some(gone)));
    }
    for (application, before) in wanted {
        let path = &application.sync_path;
        let from = before.map_or(path, |before| &before.sync_path);
        match (before, manifest_of(&there, from)?) {
            (Some(_), Some(manifest)) => {
                let mut files = Vec::new();
                for file in PATH_FILES {
                    let of = |dir: &RepoPath| dir.child(file).expect("the names of our files are single components");
                    let is_file = |(mode, id): (Mode, ObjectId)| (mode == Mode::File).then_some(id);
                    let (old, new) = (here.entry(&of(path))?, there.entry(&of(from))?.and_then(is_file));
                    if old.and_then(is_file) != new {
                        files.push((file, new));
                    }
                }
                let shown = shown_there.shown_at(from);
                if !hold.is_whole() || shown != shown_there.dry_commit {
                    behind.insert(path.clone(), shown);
                }
                let is_changed = manifest_of(&here, path)? != Some(manifest);
                planned
                    .paths
                    .insert(path.clone(), CopiedPath { application: application.clone(), files, manifest, is_changed });
            }
            // Another Application wrote there then: its files are not those of this one.
            (None, Some(_)) if paths_then.contains(path) => {
                return Ok(Err(taken(name, application, path)));
            }
            (Some(_) | None, _) => {
                planned.lacking.push(path.clone());
                if !hold.is_whole() && manifest_of(&here, path)?.is_some() {
                    planned.missing.push(application.name.clone());
                }
                if hold.is_whole() {
                    behind.insert(path.clone(), shown_here.shown_at(path));
                }
            }
        }
    }
    planned.lacking.sort_unstable();
    for one in then.iter().filter(|_| hold.is_whole()) {
        let is_here = by_name_now.contains_key(&name_of(one)) || paths_now.contains(&one.sync_path);
        let is_here = is_here || planned.paths.contains_key(&one.sync_path);
        if !is_here && manifest_of(&there, &one.sync_path)?.is_some() {
            planned.gone.push(one.name.clone());
        }
    }
    planned.gone.sort_unstable();
    planned.behind = behind.into_iter().map(|(path, dry_commit)| Behind { path, dry_commit }).collect();
    Ok(Ok(planned))
}

/// The first Application of each name.
fn by_name(all: &[Arc<Application>]) -> BTreeMap<Name, &Arc<Application>> {
    all.iter().rev().map(|one| (name_of(one), one)).collect()
}

/// Why what goes back would take too many objects from clusters; none when it does not, or shall.
pub(super) fn too_many_losses(
    branch: &Branch,
    hold: &Hold,
    planned: &Planned,
    found: &Snapshot<'_>,
) -> Result<Option<Diagnostic>, Error> {
    let Some(dry) = branch.dry.filter(|_| !hold.allow_removal) else { return Ok(None) };
    let outputs: Vec<PathOutput<'_>> = planned
        .paths
        .iter()
        .map(|(dir, CopiedPath { application, manifest, .. })| PathOutput {
            dir,
            applications: vec![(&application.name, application.namespace.as_ref())],
            manifest: *manifest,
            count: None,
            commands: &[],
            readme: None,
            application: None,
            record: None,
            drawn: None,
        })
        .collect();
    let lost = losses::too_many(branch, &outputs, &[], &|_| false, dry, found)?;
    let hint = format!(
        "to remove them all the same: git hydrate rollback {} … --allow-removal",
        shell_word(branch.name.as_str())
    );
    Ok(lost.map(|lost| Diagnostic { hint: Some(hint), ..lost }))
}

/// That a branch has no Application of a name, and which one of `then` may be meant: what it has now may be another one tomorrow,
/// and the mistake is still this one.
fn unknown((name, named): (&BranchName, &str), at: &Commit, then: &[Arc<Application>]) -> Diagnostic {
    let known: BTreeSet<&str> = then.iter().map(|one| one.name.as_str()).collect();
    let known: Vec<&str> = known.into_iter().collect();
    let longer = known.iter().copied().find(|one| one.contains(named) || named.contains(one));
    let hint = match near(named, &known).or(longer) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("it had {} then", listed(&known, NAMED_MAX)),
    };
    let id = at.id.to_hex_with_len(7);
    of_branch(name, &format!("it has no Application `{named}`, nor had it at {id}")).hint(hint)
}

fn taken(name: &BranchName, application: &Application, path: &RepoPath) -> Diagnostic {
    let other = format!("`{path}` had the files of another Application than `{}` then", application.name);
    of_branch(name, &other).hint("roll back the Applications one by one: git hydrate rollback … --application NAME")
}
