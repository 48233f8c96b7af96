//! A plan, rendered.

use std::collections::BTreeSet;

use super::output::Output;
use crate::apiserver::Server;
use crate::argo::{Application, SeedIdentity};
use crate::hydrate::failed_render::FailedRender;
use crate::hydrate::memory::Memory;
use crate::hydrate::plan::{Done, Plan, Rendered, Stage, Task, Work};
use crate::owners::copier::Copies;
use crate::owners::error::HydrateError;
use crate::owners::policy::render_context;
use crate::owners::snapshot::Snapshot;
use crate::render::{self, Turn};
use crate::repo::{ObjectId, TreeFiles};
use crate::settings::Validate;
use dry_files::view::View;

/// Renders what a plan asks for on all cores; `files` are those of its tree. What does not render is kept in `memory` for the dry commits that follow.
///
/// Applications that differ from what one of the trees `memory.urgent_since` has are rendered first, then those for which an earlier
/// run had no time. Errors: the world failed.
pub(crate) fn render(
    plan: Plan,
    files: &TreeFiles<'_>,
    found: &Snapshot<'_>,
    memory: &Memory,
) -> Result<Rendered, HydrateError> {
    let wanted = plan.work().filter(|work| matches!(work.task, Task::Render(_))).map(|work| &*work.application);
    let wanted: Vec<&Application> = wanted.collect();
    found.setup.observer.rendering(&plan.dry.id.to_hex_with_len(7).to_string(), wanted.len());
    let progress = |count| found.setup.observer.rendered(count);
    let mut results = results(&wanted, &plan, files, found, memory, &progress)?.into_iter();
    Ok(plan.map(|work| done(work, &mut results)))
}

/// Renders those again that would draw for one of these if they were alone.
///
/// Errors: the world failed.
pub(crate) fn render_again(
    rendered: Rendered,
    which: &BTreeSet<SeedIdentity>,
    files: &TreeFiles<'_>,
    found: &Snapshot<'_>,
    memory: &Memory,
) -> Result<Rendered, HydrateError> {
    let is_wanted = |application: &Application| which.contains(&SeedIdentity::of(application));
    let wanted = rendered.work().map(|done| &*done.application).filter(|application| is_wanted(application));
    let wanted: Vec<&Application> = wanted.collect();
    let mut results = results(&wanted, &rendered, files, found, memory, &|_| ())?.into_iter();
    Ok(rendered.map(|done| if is_wanted(&done.application) { again(done, &mut results) } else { done }))
}

/// Takes the next result of what was rendered again in place of the first one.
fn again(done: Done, rendered: &mut impl Iterator<Item = Result<Output, FailedRender>>) -> Done {
    Done { result: next(rendered), ..done }
}

/// What Applications render to, in their order.
fn results<W>(
    wanted: &[&Application],
    stage: &Stage<W>,
    files: &TreeFiles<'_>,
    found: &Snapshot<'_>,
    memory: &Memory,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Result<Output, FailedRender>>, HydrateError> {
    let view = View::new(files);
    let id = stage.dry.id.to_string();
    let context =
        render::Context { identities: &stage.identities, ..render_context(&found.policy.settings, files, &id) };
    let (settings, writer, buffer) = (&found.policy.settings, &found.policy.writer, &found.buffer);
    let limits = found.setup.renderers.limits();
    let copies = Copies::of(found, &stage.head.branch);
    // A run that died may have died of judging: what only warns is left out then.
    let judges = |server: &Server<'_>| !found.setup.renderers.are_apart() || server.validate == Validate::Refuse;
    let take = |application: &Application, rendered: render::Rendered| {
        let manifests = copies.in_place(application, rendered.manifests, (&rendered.reads, files));
        let server = Server::of(application, settings).filter(judges);
        Output::new(application, render::Rendered { manifests, ..rendered }, server, writer, (buffer, &limits))
    };
    let before: Vec<TreeFiles<'_>> =
        memory.urgent_since.iter().map(|tree| TreeFiles::new(found.setup.repository, *tree)).collect();
    let is_urgent = |application: &Application| before.iter().any(|before| differs(application, before, &view));
    let turn = |application: &Application| match is_urgent(application) {
        true => Turn::Urgent,
        false => memory.turn(application),
    };
    let rendered = found.setup.renderers.render_into(wanted, &context, &turn, &take, progress);
    let mut results = Vec::with_capacity(rendered.len());
    for (application, result) in wanted.iter().zip(rendered) {
        results.push(match result {
            Ok(output) => Ok(output),
            Err(failed) => {
                let failed = FailedRender::new(application, failed, &view)?;
                let failed = FailedRender { follows: failed.follows || found.trusts_programs, ..failed };
                memory.failed.add(application, &failed);
                Err(failed)
            }
        });
    }
    Ok(results)
}

/// Why Applications of a dry commit do not render, where nothing comes of those that do.
///
/// Errors: the world failed.
pub(crate) fn failures<'w>(
    wanted: &[&'w Application],
    dry: ObjectId,
    files: &TreeFiles<'_>,
    found: &Snapshot<'_>,
    memory: &Memory,
) -> Result<Vec<(&'w Application, FailedRender)>, HydrateError> {
    let (view, id) = (View::new(files), dry.to_string());
    let context = render_context(&found.policy.settings, files, &id);
    let rendered = found.setup.renderers.render_into(wanted, &context, &|_| Turn::Usual, &|_, _| Ok(()), &|_| ());
    let mut failures = Vec::new();
    for (application, result) in wanted.iter().zip(rendered) {
        if let Err(failed) = result {
            let failed = FailedRender::new(application, failed, &view)?;
            memory.failed.add(application, &failed);
            failures.push((*application, failed));
        }
    }
    Ok(failures)
}

/// Work that is done; `rendered` are the results of what was rendered, in the order of the plan.
fn done(work: Work, rendered: &mut impl Iterator<Item = Result<Output, FailedRender>>) -> Done {
    let result = match work.task {
        Task::Render(_) => next(rendered),
        Task::Known(output) => Ok(*output),
        Task::Fails(failed) => Err(failed),
    };
    Done { application: work.application, result }
}

fn next(rendered: &mut impl Iterator<Item = Result<Output, FailedRender>>) -> Result<Output, FailedRender> {
    rendered.next().expect("there is a result for each that is rendered")
}

/// Whether the document of an Application or its sources differ from what they were.
pub(crate) fn differs(application: &Application, before: &TreeFiles<'_>, now: &View<'_>) -> bool {
    let before = View::new(before);
    let same = |path| before.content_id(path).ok() == now.content_id(path).ok();
    !same(&application.file) || application.all_sources().any(|source| !same(&source.path))
}
