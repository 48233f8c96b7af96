//! Which Applications go back, and which files have to for each of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::files::{Changed, needed};
use super::{NoWay, Wanted, is_same, manifest, tree_of};
use crate::argo::{AppName, Application, BranchName};
use crate::discover::{Discovery, Expanded};
use crate::hydrate::dry_tree::DryTree;
use crate::hydrate::state::Run;
use crate::manifest::Manifest;
use crate::owners::error::HydrateError;
use crate::owners::heads::DryHead;
use crate::owners::policy::render_context;
use crate::render::{Failure, Rendered};
use crate::repo::{ObjectBuffer, ObjectId, TreeFiles};
use crate::settings::is_name_of;
use dry_files::path::RepoPath;
use dry_files::view::{Files, View};

/// An Application whose manifests differ from those that it shall have.
pub(super) struct Due {
    /// As it was.
    pub then: Arc<Application>,
    /// As it is; none where it is gone.
    pub now: Option<Arc<Application>>,
}

impl Due {
    /// The paths of the branch that are its own.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        [Some(&self.then), self.now.as_ref()].into_iter().flatten().map(|one| &one.sync_path)
    }

    /// Whether its document says something else now.
    fn is_another(&self) -> bool {
        self.now.as_ref().is_none_or(|now| !says_the_same(&self.then, now))
    }
}

/// Whether two Applications are rendered alike, from equal files, to one path.
fn says_the_same(one: &Application, other: &Application) -> bool {
    let to = |application: &Application| (application.environment_branch().clone(), application.sync_path.clone());
    one.fingerprint() == other.fingerprint() && to(one) == to(other) && one.cluster == other.cluster
}

/// The Applications of the branch, by what becomes of them.
pub(super) struct Chosen {
    pub due: Vec<Due>,
    /// Those that came since.
    pub came: Vec<AppName>,
    /// Those that are gone since and are not named.
    pub gone: Vec<AppName>,
}

/// Finds out which Applications go back. `made` is a hydration of the tip of the dry branch.
pub(super) fn choose(made: &mut Run<'_>, wanted: &Wanted<'_>) -> Result<Result<Chosen, NoWay>, HydrateError> {
    let [then, now] = [wanted.then, wanted.head.tip];
    let [then, now] = [tree_at(made, wanted, then)?, tree_at(made, wanted, now)?];
    let of = |tree: &DryTree| tree.applications(wanted.branch).cloned().collect::<Vec<Arc<Application>>>();
    let (then, now) = (of(&then), of(&now));
    if then.is_empty() {
        return Ok(Err(NoWay::Unread));
    }
    let is_named = |one: &Application| wanted.applications.iter().any(|name| is_name_of(name, one));
    let nowhere = |name: &&String| !then.iter().chain(&now).any(|one| is_name_of(name, one));
    if let Some(unknown) = wanted.applications.iter().find(nowhere) {
        return Ok(Err(NoWay::Unknown(unknown.clone())));
    }
    let came = now.iter().filter(|one| !then.iter().any(|other| is_same(one, other)));
    let came = came.filter(|one| wanted.applications.is_empty() || is_named(one));
    let came: Vec<AppName> = came.map(|one| one.name.clone()).collect();
    let (mut due, mut gone) = (Vec::new(), Vec::new());
    for one in then.into_iter().filter(|one| wanted.applications.is_empty() || is_named(one)) {
        let now = now.iter().find(|other| is_same(&one, other)).cloned();
        if now.is_none() && !is_named(&one) {
            gone.push(one.name.clone());
        } else if is_due(&one, now.as_deref(), made, wanted)? {
            due.push(Due { then: one, now });
        }
    }
    Ok(match (due.is_empty(), gone.is_empty(), came.is_empty() || wanted.applications.is_empty()) {
        (false, ..) => Ok(Chosen { due, came, gone }),
        (true, false, _) => Err(NoWay::Gone(gone)),
        (true, true, false) => Err(NoWay::Came(came)),
        (true, true, true) => Err(NoWay::Same),
    })
}

fn tree_at(made: &mut Run<'_>, wanted: &Wanted<'_>, dry: ObjectId) -> Result<std::rc::Rc<DryTree>, HydrateError> {
    let head = DryHead { branch: wanted.head.branch.clone(), tip: dry };
    let heads = made.found.heads();
    made.tree(dry, &head, &heads)
}

/// Whether an Application has other manifests by the tip of the dry branch than in the wanted commit.
fn is_due(
    then: &Application,
    now: Option<&Application>,
    made: &Run<'_>,
    wanted: &Wanted<'_>,
) -> Result<bool, HydrateError> {
    let buffer = &made.found.buffer;
    let (Some(now), Some(base)) = (now, tree_of(made, wanted.branch)) else { return Ok(true) };
    let at = buffer.commit(wanted.at)?.tree;
    let is_there = now.sync_path == then.sync_path;
    Ok(!is_there || manifest(at, &then.sync_path, buffer)? != manifest(base, &now.sync_path, buffer)?)
}

/// The files that have to be as they were.
pub(super) fn restored(
    made: &mut Run<'_>,
    wanted: &Wanted<'_>,
    due: &[Due],
    changed: &Changed,
) -> Result<Result<BTreeSet<String>, NoWay>, HydrateError> {
    let [then, now] = [wanted.then, wanted.head.tip];
    let [then, now] = [tree_at(made, wanted, then)?, tree_at(made, wanted, now)?];
    let [files_then, files_now] = [made.files(then.tree), made.files(now.tree)];
    let applications: Vec<&Application> = due.iter().map(|due| &*due.then).collect();
    let trial = Trial { made, wanted, changed };
    // What one needs goes back, so it is not tried again for the others.
    let mut restored = BTreeSet::new();
    for (due, rendered) in due.iter().zip(trial.rendered(&applications, &*files_then)) {
        let rendered = match rendered {
            Ok(rendered) => rendered,
            Err(Failure::World(error)) => return Err(error.into()),
            Err(Failure::Mistakes(mistakes)) => return Ok(Err(NoWay::Mistaken(due.then.name.clone(), mistakes))),
        };
        let views = (View::new(&*files_then), View::new(&*files_now));
        if due.is_another() {
            let files = definition(due, then.expanded(), changed, &views)?;
            let files = needed(files, &restored, |files| trial.defines(&due.then, files))?;
            restored.extend(files);
        }
        let files = changed.behind(&rendered.reads, &views.0, &views.1)?;
        let files = needed(files, &restored, |files| trial.renders(&due.then, &rendered.manifests, files))?;
        restored.extend(files);
    }
    Ok(Ok(restored))
}

/// The files that say what an Application is: its own, and what makers of it look at.
fn definition(
    due: &Due,
    expanded: &[Expanded],
    changed: &Changed,
    (then, now): &(View<'_>, View<'_>),
) -> Result<BTreeSet<String>, HydrateError> {
    let own = [Some(&due.then), due.now.as_ref()].into_iter().flatten().filter_map(|one| changed.file(&one.file));
    let mut files: BTreeSet<String> = own.collect();
    for maker in expanded.iter().filter(|maker| due.then.maker.is_some() && maker.file == due.then.file) {
        files.extend(changed.behind(&maker.reads, then, now)?);
    }
    Ok(files)
}

/// Tries what comes out when some files are as they were.
struct Trial<'t, 'a> {
    made: &'t Run<'a>,
    wanted: &'t Wanted<'t>,
    changed: &'t Changed,
}

impl Trial<'_, '_> {
    /// What Applications render to, as of the dry commit that they shall go back to.
    fn rendered(&self, applications: &[&Application], files: &dyn Files) -> Vec<Result<Rendered, Failure>> {
        let (found, id) = (&self.made.found, self.wanted.then.to_string());
        let context = render_context(&found.policy.settings, files, &id);
        found.setup.renderers.render(applications, &context, &|_| ())
    }

    /// The tip of the dry branch with these files as they were.
    fn tree(&self, files: &BTreeSet<String>) -> Result<TreeFiles<'_>, HydrateError> {
        let repository = self.made.found.setup.repository;
        let buffer = ObjectBuffer::new(repository);
        let base = self.made.found.dry_tree(self.wanted.head.tip)?;
        let tree = buffer.edit_tree(base, &self.changed.edits(files))?;
        buffer.lend()?;
        Ok(TreeFiles::new(repository, tree))
    }

    /// Whether an Application renders to what it did.
    fn renders(
        &self,
        application: &Application,
        manifests: &[Manifest],
        files: &BTreeSet<String>,
    ) -> Result<bool, HydrateError> {
        let tree = self.tree(files)?;
        match self.rendered(&[application], &tree).pop() {
            Some(Ok(rendered)) => Ok(rendered.manifests == manifests),
            Some(Err(Failure::World(error))) => Err(error.into()),
            Some(Err(Failure::Mistakes(_))) | None => Ok(false),
        }
    }

    /// Whether there is an Application that is as it was.
    fn defines(&self, application: &Application, files: &BTreeSet<String>) -> Result<bool, HydrateError> {
        let (found, id) = (&self.made.found, self.wanted.then.to_string());
        let (tree, branch) = (self.tree(files)?, &self.wanted.head.branch);
        let making = found.policy.making(found.setup.renderers, &id);
        let default = found.default_branch_for(branch);
        let discovered = found.policy.discover(&mut Discovery::default(), &tree, Some(branch), default, &making);
        let discovered = discovered.map_err(HydrateError::tree(self.wanted.then))?;
        let mut same = discovered.applications.iter().filter(|one| is_same(one, application));
        Ok(same.next().is_some_and(|one| says_the_same(one, application)) && same.next().is_none())
    }
}

/// Of the files that go back, those that change the Application which writes to a path of a branch.
///
/// Errors: the world failed.
pub(super) fn causes(
    made: &mut Run<'_>,
    wanted: &Wanted<'_>,
    (branch, path): (&BranchName, &RepoPath),
    (changed, files): (&Changed, &BTreeSet<String>),
) -> Result<Vec<String>, HydrateError> {
    let now = tree_at(made, wanted, wanted.head.tip)?;
    let Some(application) = now.applications(branch).find(|one| one.sync_path == *path) else { return Ok(Vec::new()) };
    let trial = Trial { made, wanted, changed };
    let rendered = trial.rendered(&[application], &trial.tree(files)?).pop();
    let mut causes = match rendered {
        Some(Ok(rendered)) => {
            let none = BTreeSet::new();
            needed(files.clone(), &none, |files| trial.renders(application, &rendered.manifests, files))?
        }
        Some(Err(Failure::World(error))) => return Err(error.into()),
        Some(Err(Failure::Mistakes(_))) | None => BTreeSet::new(),
    };
    causes.extend(files.get(application.file.as_str()).cloned());
    Ok(causes.into_iter().collect())
}
