//! Objects that leave a branch although no commit removed them.
//!
//! An Application goes on without an object only where it is proved that somebody wants it so: see [`proof`]. What is not
//! proved is a mistake of the Application, as a render that fails: a function of the dry commit, of the one that the branch
//! shows, and of the settings. So it is found out anew whenever the Application is looked at, and a trailer of the dry commit
//! overrides it.

mod fixed_names;
mod missing;
mod newcomers;
mod places;
mod proof;
mod renames;
mod text;
mod values;

use std::sync::Arc;

use super::moved_applications::name_of;
use super::{Done, Rendered, Step};
use crate::argo::{Application, BranchName};
use crate::hydrate::failed_render::FailedRender;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::metadata::allowed_removals;
use crate::owners::error::HydrateError;
use crate::owners::heads::DryHead;
use crate::owners::policy::render_context;
use crate::render::Failure;
use crate::repo::ObjectId;
use dry_files::view::View;

use missing::Missing;

pub(crate) use missing::have_same_objects;
pub use missing::missing_in;
pub(crate) use newcomers::lacks;
pub use proof::{Comparison, Side};
pub(crate) use renames::{Renamed, Renames};

/// Makes a failed Application of each that goes on without objects, unless it is proved that they left.
///
/// Errors: the world failed.
pub(crate) fn hold(rendered: &mut Rendered, run: &mut Run<'_>, heads: &[DryHead]) -> Result<(), Stopped> {
    let mut missing = missing::missing(rendered, &run.branches, &run.found)?;
    missing.extend(newcomers::missing(rendered, run, heads)?);
    if missing.is_empty() {
        return Ok(());
    }
    let mut allowed = allowed_removals(&run.found.setup.repository.commit(rendered.dry.id)?.message);
    if rendered.dry.defined.is_some() {
        allowed.extend(allowed_removals(&run.found.setup.repository.commit(rendered.dry.definition())?.message));
    }
    for missing in missing {
        if [&missing.branch, &missing.from].into_iter().any(|branch| allowed.contains(branch.as_str())) {
            continue;
        }
        if let Some(failed) = judged(&missing, rendered, run, heads)?
            && let Some(done) = done_mut(rendered, &missing)
        {
            done.result = Err(failed);
        }
    }
    Ok(())
}

fn done_mut<'r>(rendered: &'r mut Rendered, missing: &Missing) -> Option<&'r mut Done> {
    let identity = missing.application.identity();
    let there = match rendered.branches.get_mut(&missing.branch) {
        Some(Step::Hydrate(hydration)) => hydration.work.as_mut_slice(),
        Some(Step::Fail(_)) | None => &mut [],
    };
    there.iter_mut().chain(&mut rendered.beside).find(|done| done.application.identity() == identity)
}

/// Why an Application may not go on without objects; none when it may.
fn judged(
    missing: &Missing,
    rendered: &Rendered,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Option<FailedRender>, Stopped> {
    let Missing { from: branch, application, objects, reads, former: known, .. } = missing;
    let former = match known {
        Some(former) => run.branches.get(branch).and_then(|branch| branch.dry).map(|dry| (dry, former.clone())),
        None => former(branch, application, rendered, run, heads)?,
    };
    let Some((dry, former)) = former else { return Ok(None) };
    let (old, new) = (run.files(run.found.dry_tree(dry)?), run.files(rendered.tree));
    let (policy, renderers) = (&run.found.policy, run.found.setup.renderers);
    let (before, now) = (dry.to_string(), rendered.dry.id.to_string());
    let before = render_context(&policy.settings, &*old, &before);
    let now = render_context(&policy.settings, &*new, &now);
    let comparison = Comparison {
        renderers,
        before: Side { application: &former, context: &before },
        now: Side { application, context: &now },
        branch,
    };
    let view = View::new(&*new);
    let (mistakes, mut all_reads) = match comparison.mistakes(objects, reads) {
        Ok((mistakes, _)) if mistakes.is_empty() => return Ok(None),
        Ok(found) => found,
        // What it was made of does not render any more, which says nothing of what it is made of now.
        Err(Failure::Mistakes(_)) => return Ok(None),
        Err(Failure::World(error)) if error.is_limit() || error.is_cancelled() => {
            return Ok(Some(FailedRender::undecided(application, objects, branch)));
        }
        Err(Failure::World(error)) => return Err(HydrateError::from(error).into()),
    };
    all_reads.extend(reads.clone());
    Ok(Some(FailedRender::of_lost_objects(application, mistakes, all_reads, &view)))
}

/// The Application as it was when it made what the branch has, and the dry commit whose tree had its sources. None when that is
/// unknown, or nothing differs, so that the settings made the difference.
fn former(
    name: &BranchName,
    application: &Arc<Application>,
    rendered: &Rendered,
    run: &mut Run<'_>,
    heads: &[DryHead],
) -> Result<Option<(ObjectId, Arc<Application>)>, Stopped> {
    let Some(branch) = run.branches.get(name) else { return Ok(None) };
    let behind = &branch.tip_metadata(&run.found.buffer)?.behind;
    let own = behind.iter().find(|behind| behind.path == application.sync_path);
    let (shown, repository) = (branch.dry, run.found.setup.repository);
    let definition = own.map_or(shown, |behind| behind.dry_commit);
    let Some(definition) = definition.filter(|definition| repository.has(*definition)) else { return Ok(None) };
    let source = branch.source.as_ref().filter(|_| own.is_none()).map(|source| source.commit);
    let sources = source.unwrap_or(definition);
    let is_this = sources == rendered.dry.id && definition == rendered.dry.definition();
    if is_this || !repository.has(sources) {
        return Ok(None);
    }
    let (old, new) = (run.found.dry_tree(definition)?, run.found.dry_tree(rendered.dry.definition())?);
    let (old, new) = (run.files(old), run.files(new));
    let content = |view: &View<'_>| view.content_id(&application.file).ok();
    if application.maker.is_none() && content(&View::new(&*old)) == content(&View::new(&*new)) {
        return Ok(Some((sources, application.clone())));
    }
    let former = run.former(name, shown, &rendered.head, heads)?.applications;
    let is_there = |former: &&Arc<Application>| former.sync_path == application.sync_path;
    let mut same = former.iter().filter(|former| name_of(former) == name_of(application));
    // Of several of one name, each is the one at its path.
    let same = same.clone().find(is_there).or_else(|| same.next());
    Ok(same.or_else(|| former.iter().find(is_there)).map(|former| (sources, former.clone())))
}
