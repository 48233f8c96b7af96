//! What a dry commit asks for, decided before anything is rendered or written; and the same with what was rendered.
//!
//! A [`Plan`] becomes a [`Rendered`], that becomes [`Commits`](super::make::commits::Commits), and those of all dry commits
//! together [`Moves`](super::moves::Moves). Each is a value that can be printed, and its user needs none of those
//! before it.

pub(crate) mod base;
mod beside;
pub(crate) mod by_changes;
pub(crate) mod by_everything;
mod covered;
mod handed_over;
pub(crate) mod identities;
mod known;
pub(crate) mod lost_objects;
pub(crate) mod moved_applications;
pub(crate) mod moved_files;
pub(crate) mod namesakes;
mod remade;
pub(crate) mod shared;
pub(crate) mod since;
pub(crate) mod skipped;
mod sources;
mod touched;
mod unproven;
pub(crate) mod unrecognized;
pub(crate) mod unshown;
mod untouched_inputs;

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use super::failed_render::{FailedBranch, FailedRender};
use super::make::output::Output;
use crate::argo::{Application, BranchName, SeedIdentities};
use crate::discover::Removal;
use crate::hydrate::dry_tree::DryTree;
use crate::known::UsedInputs;
use crate::metadata::DryCommit;
use crate::owners::heads::DryHead;
use crate::repo::ObjectId;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use inputs::Wanted;
use skipped::{Leaving, LeftBehind};

/// One dry commit, and for each environment branch that lacks it what is done there.
#[derive(Debug, Clone)]
pub(crate) struct Stage<W> {
    /// The dry branch, and its tip.
    pub head: DryHead,
    /// The dry commit: of the dry branch, or what a tag, a range or an id leads to that the Applications of these branches name.
    pub dry: DryCommit,
    /// Its tree.
    pub tree: ObjectId,
    /// What becomes of the branches. Others stay at an earlier dry commit, or do not lack this one.
    pub branches: BTreeMap<BranchName, Step<W>>,
    /// Applications of other branches that branches wait for: see [`Hydration::moved`]; and those that are there beside them.
    pub beside: Vec<W>,
    /// What Applications draw for, where that is not their name on their branch.
    pub identities: SeedIdentities,
}

/// What is to be done.
pub(crate) type Plan = Stage<Work>;

/// A [`Plan`] whose Applications are rendered.
pub(crate) type Rendered = Stage<Done>;

/// What is done on one branch.
#[derive(Debug, Clone)]
pub(crate) enum Step<W> {
    /// It is hydrated, unless an Application does not render.
    Hydrate(Hydration<W>),
    /// It stays where it is, and no render can change that.
    Fail(Failing),
}

/// What a branch is hydrated with.
#[derive(Debug, Clone)]
pub(crate) struct Hydration<W> {
    /// The repository, as the metadata names it.
    pub repo_url: String,
    /// The Applications that may be other than what is on the branch; all of them after a look at everything.
    pub work: Vec<W>,
    /// How many others there are, whose files stay as they are.
    pub untouched: usize,
    /// What an Application wrote and no one writes any more.
    pub removals: Vec<Removal>,
    /// Whether it is an error when too many objects would be lost.
    pub limits_losses: bool,
    /// The dry commit that the branch shows, if the branch has just what these settings make of it: an Application that
    /// did not change since then keeps its files.
    pub before: Option<Rc<DryTree>>,
    /// The tree of the sources of `before`, where a tag, a range or an id led there and it is here.
    pub before_tree: Option<ObjectId>,
    /// What stays as it is; none where nothing does, and nothing did at the dry commit that the branch shows.
    pub leaving: Option<Rc<Leaving>>,
    /// What stays as it is because it did at the dry commit before, and nothing changed since that it rests on.
    pub stays: Option<Rc<LeftBehind>>,
    /// Why the branch stays as it is, whatever this work renders to: it did at the dry commit before, and nothing changed
    /// since that this rests on.
    pub stuck: Option<Rc<FailedBranch>>,
    /// The Applications that moved from this branch to others: their manifests leave it once they render on the new
    /// branch.
    pub moved: Vec<Arc<Application>>,
    /// That an object would come to a second Application, of another dry branch, once that is known.
    pub taken: Option<Diagnostic>,
    /// The recorded inputs that the others use, whose files stay as they are.
    pub inputs: UsedInputs,
}

/// Why a branch is not hydrated from a dry commit.
#[derive(Debug, Clone)]
pub(crate) enum Failing {
    /// Something is wrong with its Applications, found before they are rendered or after.
    Mistakes(Vec<Diagnostic>),
    /// Something is wrong with the documents of its Applications, or with what they come to together: it lasts until one of them
    /// changes.
    Lasting(Vec<Diagnostic>),
    /// The branch would write paths or objects that another dry branch writes, as long as that one does. This does not
    /// follow from the dry commit alone, so it is not recorded.
    Taken(Diagnostic),
    /// An earlier run recorded what is wrong.
    Recorded(Vec<Diagnostic>),
    /// An earlier run reached a limit of this machine at this very commit.
    Limited(FailedBranch),
    /// Applications do not render: they were rendered now, or nothing changed since that they rest on.
    Renders(FailedBranch),
}

/// One Application, and what there is to do for it.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    /// The Application.
    pub application: Arc<Application>,
    /// What to do.
    pub task: Task,
}

/// What there is to do for an Application.
#[derive(Debug, Clone)]
pub(crate) enum Task {
    /// It is rendered.
    Render(Why),
    /// An earlier render would give the same again, and its manifest is on the branch.
    Known(Box<Output>),
    /// An earlier render failed, and would fail again in the same way.
    Fails(FailedRender),
}

impl Task {
    /// The render that failed and would fail again.
    pub(crate) fn failed(&self) -> Option<&FailedRender> {
        match self {
            Self::Fails(failed) => Some(failed),
            Self::Render(_) | Self::Known(_) => None,
        }
    }
}

/// Why an Application is rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It was not rendered before.
    New,
    /// Its document says something else.
    Document,
    /// The first path that its render looked at and that changed since.
    Read(RepoPath),
    /// Its manifests name the dry commit.
    NamesTheCommit,
    /// The settings are others than those that the branch was hydrated with.
    Settings,
    /// Another revision of the engine hydrated the branch.
    Engine(u32),
    /// Its manifest is not on the branch as it was rendered.
    NotThere,
    /// It did not render before, and shall be tried again.
    Again,
    /// Nothing is remembered of earlier renders.
    Forgotten,
}

/// One Application, and what it renders to.
#[derive(Debug, Clone)]
pub(crate) struct Done {
    /// The Application.
    pub application: Arc<Application>,
    /// Its manifests, or why it has none.
    pub result: Result<Output, FailedRender>,
}

impl<W> Stage<W> {
    /// The branches that are hydrated, unless an Application does not render.
    pub(crate) fn hydrations(&self) -> impl Iterator<Item = (&BranchName, &Hydration<W>)> {
        self.branches.iter().filter_map(|(name, step)| Some((name, step.hydration()?)))
    }

    /// All that is to be done, or is done: in the order of [`Stage::map`].
    pub(crate) fn work(&self) -> impl Iterator<Item = &W> {
        self.hydrations().flat_map(|(_, hydration)| &hydration.work).chain(&self.beside)
    }

    /// Turns each piece of work into another; the dry commit and the branches stay.
    pub(crate) fn map<V>(self, mut become_other: impl FnMut(W) -> V) -> Stage<V> {
        let Self { head, dry, tree, branches, beside, identities } = self;
        let branches = branches.into_iter().map(|(name, step)| (name, step.map(&mut become_other))).collect();
        let beside = beside.into_iter().map(become_other).collect();
        Stage { head, dry, tree, branches, beside, identities }
    }
}

impl<W> Step<W> {
    fn hydration(&self) -> Option<&Hydration<W>> {
        match self {
            Self::Hydrate(hydration) => Some(hydration),
            Self::Fail(_) => None,
        }
    }

    fn map<V>(self, become_other: impl FnMut(W) -> V) -> Step<V> {
        match self {
            Self::Hydrate(hydration) => Step::Hydrate(hydration.map(become_other)),
            Self::Fail(failing) => Step::Fail(failing),
        }
    }
}

impl<W> Hydration<W> {
    fn map<V>(self, become_other: impl FnMut(W) -> V) -> Hydration<V> {
        Hydration {
            work: self.work.into_iter().map(become_other).collect(),
            repo_url: self.repo_url,
            untouched: self.untouched,
            removals: self.removals,
            limits_losses: self.limits_losses,
            before: self.before,
            before_tree: self.before_tree,
            leaving: self.leaving,
            stays: self.stays,
            stuck: self.stuck,
            moved: self.moved,
            taken: self.taken,
            inputs: self.inputs,
        }
    }

    /// One with nothing but work.
    pub(crate) fn of(repo_url: String, work: Vec<W>, untouched: usize) -> Self {
        Self {
            repo_url,
            work,
            untouched,
            removals: Vec::new(),
            limits_losses: false,
            before: None,
            before_tree: None,
            leaving: None,
            stays: None,
            stuck: None,
            moved: Vec::new(),
            taken: None,
            inputs: UsedInputs::new(),
        }
    }

    /// What stays as it is.
    pub(crate) fn leaving(&self) -> &Leaving {
        static NOTHING: Leaving = Leaving::NOTHING;
        self.leaving.as_deref().unwrap_or(&NOTHING)
    }
}

impl Hydration<Done> {
    /// The Applications that did not render.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &FailedRender> {
        self.work.iter().filter_map(|done| done.result.as_ref().err())
    }

    /// The recorded inputs that all Applications use.
    pub(crate) fn used_inputs(&self) -> UsedInputs {
        let mut used = self.inputs.clone();
        used.extend(self.outputs().flat_map(|(_, output)| output.inputs.clone()));
        used
    }

    /// The others, with what they render to.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = (&Application, &Output)> {
        self.work.iter().filter_map(|done| Some((&*done.application, done.result.as_ref().ok()?)))
    }
}

impl Failing {
    /// Nothing can be put on the branch as it is: no fault of the dry commit, so it is not recorded as one.
    pub(crate) fn unfit(why: Diagnostic) -> Self {
        Self::Renders(FailedBranch { limits: vec![why], ..FailedBranch::default() })
    }

    /// The inputs that its Applications wait for.
    pub(crate) fn waits(&self) -> &[Wanted] {
        match self {
            Self::Limited(failed) | Self::Renders(failed) => &failed.waits,
            Self::Mistakes(_) | Self::Lasting(_) | Self::Taken(_) | Self::Recorded(_) => &[],
        }
    }

    /// What is said of it.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Mistakes(diagnostics) | Self::Lasting(diagnostics) | Self::Recorded(diagnostics) => {
                diagnostics.clone()
            }
            Self::Taken(mistake) => vec![mistake.clone()],
            Self::Limited(failed) | Self::Renders(failed) => failed.diagnostics(),
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::New => f.write_str("new"),
            Self::Document => f.write_str("its Application changed"),
            Self::Read(path) if path.is_root() => f.write_str("the root directory changed"),
            Self::Read(path) => write!(f, "{path} changed"),
            Self::NamesTheCommit => f.write_str("its manifests name the dry commit"),
            Self::Settings => f.write_str("the settings changed"),
            Self::Engine(before) => write!(f, "engine revision {before} hydrated the branch"),
            Self::NotThere => f.write_str("its manifest is not on the branch"),
            Self::Again => f.write_str("it failed before and is tried again"),
            Self::Forgotten => f.write_str("no earlier render is known here"),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Render(why) => write!(f, "render: {why}"),
            Self::Known(_) => f.write_str("known"),
            Self::Fails(_) => f.write_str("known to fail"),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.application.name, self.task)
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.result {
            Ok(output) => write!(f, "{}: {}", self.application.name, output.manifest),
            Err(failed) => write!(f, "{}: failed: {}", self.application.name, first(&failed.diagnostics)),
        }
    }
}

impl<W: fmt::Display> fmt::Display for Stage<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.head.branch, self.dry.id)?;
        for (name, step) in &self.branches {
            match step {
                Step::Fail(failing) => writeln!(f, "  {name}: fails: {}", first(&failing.diagnostics()))?,
                Step::Hydrate(hydration) => {
                    writeln!(f, "  {name}: {} untouched", hydration.untouched)?;
                    hydration.work.iter().try_for_each(|work| writeln!(f, "    {work}"))?;
                    hydration.removals.iter().try_for_each(|removal| writeln!(f, "    remove {}", removal.path))?;
                }
            }
        }
        Ok(())
    }
}

fn first(diagnostics: &[Diagnostic]) -> &str {
    diagnostics.first().map_or("", |diagnostic| &diagnostic.message)
}
