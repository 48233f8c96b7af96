//! Decides for each Application by the record that the cache has of it: render it again and why, reuse the result, or repeat
//! the failure.

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::view::View;

use super::{Task, Why, Work};
use crate::argo::{Application, BranchName};
use crate::hydrate::failed_render::FailedRender;
use crate::hydrate::make::branch::Branch;
use crate::hydrate::make::output::Output;
use crate::hydrate::memory::Memory;
use crate::known::{About, Record, State};
use crate::metadata::ENGINE_REVISION;
use crate::owners::files::MANIFEST;
use crate::owners::snapshot::Snapshot;
use crate::repo::ObjectId;
use crate::repo::TreeFiles;
use crate::repo::publish::HydratedTree;
use crate::repo::shares::in_shares;

/// What there is to do for each of these Applications, whose dry tree is `files`: nothing where a record of `earlier` is
/// confirmed by the tree, and its manifest is on its branch.
pub(crate) fn work(
    applications: Vec<Arc<Application>>,
    files: &TreeFiles<'_>,
    earlier: Option<&State>,
    memory: &Memory,
    found: &Snapshot<'_>,
    branches: &BTreeMap<BranchName, Branch>,
) -> Vec<Work> {
    let trees = || -> Trees<'_, '_> {
        let tips = branches.iter().filter_map(|(name, branch)| Some((name, branch.tip.as_ref()?.tree)));
        tips.map(|(name, tree)| (name, found.tree_of(tree))).collect()
    };
    let recalled: Vec<Recalled> = match earlier {
        Some(state) => {
            let trees = trees();
            in_shares(&applications, |application| recall(application, state, &trees, files))
        }
        None => applications
            .iter()
            .map(|application| forgotten(branches.get(application.environment_branch()), found))
            .collect(),
    };
    let view = View::new(files);
    let mut work = Vec::with_capacity(applications.len());
    for (application, recalled) in applications.into_iter().zip(recalled) {
        if let Recalled::Nothing(_, Some(record)) = &recalled {
            memory.note_turn(&application, record);
        }
        let task = match recalled {
            Recalled::Output(output) => Task::Known(output),
            Recalled::Nothing(why, record) => match failure(&application, record, memory, &view) {
                Some(failed) => Task::Fails(failed),
                None => Task::Render(why),
            },
        };
        work.push(Work { application, task });
    }
    work
}

type Trees<'t, 'b> = BTreeMap<&'t BranchName, HydratedTree<'b>>;

/// What the cache knows of an Application.
enum Recalled {
    /// What it renders to.
    Output(Box<Output>),
    /// Nothing that counts, and why; with the record of a render that failed.
    Nothing(Why, Option<Box<Record>>),
}

fn recall(application: &Application, state: &State, trees: &Trees<'_, '_>, files: &TreeFiles<'_>) -> Recalled {
    let nothing = |why| Recalled::Nothing(why, None);
    let Ok(Some(record)) = state.one(&application.file, application.index) else { return nothing(Why::New) };
    let is_same = record.is_of(application)
        && record.fingerprint == application.fingerprint()
        && record.branch == *application.environment_branch();
    if !is_same {
        return nothing(Why::Document);
    }
    if record.failure.is_some() {
        return Recalled::Nothing(Why::Again, Some(Box::new(record)));
    }
    let there = manifest_on_branch(application, trees);
    let Some(manifest) = there.filter(|manifest| record.manifest.as_bytes() == manifest.as_bytes()) else {
        return nothing(Why::NotThere);
    };
    match View::new(files).first_difference(&record.reads) {
        Ok(Some(path)) => nothing(Why::Read(path.clone())),
        Ok(None) if record.names_the_commit => nothing(Why::NamesTheCommit),
        // What it was made from may be elsewhere by now.
        Ok(None) => {
            let record = Record { about: About::of(application), ..record };
            Recalled::Output(Box::new(Output::known(record, manifest)))
        }
        // A record that cannot be compared is as good as none.
        Err(_) => nothing(Why::Forgotten),
    }
}

/// The manifest of an Application on its branch.
fn manifest_on_branch(application: &Application, trees: &Trees<'_, '_>) -> Option<ObjectId> {
    let path = application.sync_path.child(MANIFEST).ok()?;
    let (_, manifest) = trees.get(application.environment_branch())?.entry(&path).ok()??;
    Some(manifest)
}

/// Why nothing at all is known of the Applications of a branch.
fn forgotten(branch: Option<&Branch>, found: &Snapshot<'_>) -> Recalled {
    let why = match branch {
        None => Why::New,
        Some(branch) if branch.dry.is_none() => Why::New,
        Some(branch) if branch.settings != found.policy.id => Why::Settings,
        Some(branch) => match branch.recorded_engine() {
            Some(engine) if engine != ENGINE_REVISION => Why::Engine(engine),
            Some(_) | None => Why::Forgotten,
        },
    };
    Recalled::Nothing(why, None)
}

/// The failure that an Application had before, in this run or an earlier one, and would have again.
pub(crate) fn failure(
    application: &Application,
    record: Option<Box<Record>>,
    memory: &Memory,
    view: &View<'_>,
) -> Option<FailedRender> {
    let recorded = || FailedRender::recall(*record.filter(|_| !memory.retry)?, view);
    memory.failed.find(application, view).or_else(recorded)
}
