//! Renders Applications: chooses the engine for each source, runs all on all cores, gathers manifests and diagnostics.
//!
//! [`Renderers`] is this machine: its tools, cores and limits. [`Context`] is one dry commit. Every Application gets a
//! [`View`](dry_files::view::View) of its own, so that what it read is known, and its result does not depend on the others.
//!
//! Leaves to others: which Applications are rendered, and what becomes of the manifests.
//!
//! Limits: those of the engines, and of one Application's output. A panic in one render is an error of that Application.

mod charts;
mod checkout;
pub(crate) mod checks;
mod command;
mod commit;
mod conflict;
pub(crate) mod directory;
mod drawn;
mod engines;
mod exec;
mod expand;
mod failure;
mod ineffective;
pub(crate) mod jsonnet;
mod kustomization;
mod lost_keys;
mod machine;
pub(crate) mod needs;
mod nothing;
mod on_disk;
mod outside;
mod pattern;
pub(crate) mod places;
mod pool;
pub(crate) mod process;
#[cfg(debug_assertions)]
mod rehearsal;
mod release;
pub(crate) mod trial;
mod united;
mod value_files;
mod watch;

use std::cell::Cell;
#[cfg(debug_assertions)]
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::argo::{Application, BranchName, Drawn, Profile, RuleSet, SeedIdentities, Variable};
use crate::manifest::{Key, Manifest};
use crate::settings::{self, BuildOptions, RendererName, Seeds};
use crate::versions::Tools as Versions;
use confine::Runner;
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{Files, Reads, Stop};
use helm_template as helm;

use checkout::Checkout;
use checks::Check;
use exec::Exec;
use process::apart::Processes;
use process::late::Late;

pub use exec::Tools;
pub(crate) use expand::{Set, Unexpanded};
pub use failure::{Error, Failure};
pub(crate) use failure::{Unrendered, in_seconds};
pub(crate) use ineffective::{Ineffective, Misread};
pub(crate) use machine::refusing_check;
pub use machine::{Isolation, Limits, Machine};
pub(crate) use nothing::{Nothing, why_nothing};
pub(crate) use on_disk::render_directory;
pub(crate) use value_files::{directory_of, note_named};
pub(crate) use watch::Watch;

/// The tools and limits of this machine.
#[derive(Debug)]
pub struct Renderers {
    exec: Exec,
    limits: Limits,
    cancel: Arc<AtomicBool>,
    /// Those of all commits: most Applications of a chart see the same one.
    charts: Arc<helm::Charts>,
    isolation: Isolation,
    /// Started for the first work that is no render.
    watch: OnceLock<Watch>,
    /// When the run began; none when it may take any time.
    started: Option<Instant>,
    /// How much of its time another process took before it died.
    used: Duration,
    /// What that process died of, where it was late.
    late: Late,
    /// The checks of an admin.
    checks: Vec<Check>,
    /// How Applications are to fail, by their names: for tests of what happens then.
    #[cfg(debug_assertions)]
    rehearsed: Rehearsed,
}

/// `hydrate-test.NAME.does` of git config: what rendering an Application of that name does.
#[cfg(debug_assertions)]
type Rehearsed = BTreeMap<String, String>;

/// When an Application is begun: where the time for all of them ends, the next run begins with those that had none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Somebody waits for it.
    Urgent,
    /// The time of an earlier run was over before it was begun.
    Waiting,
    /// As all others.
    Usual,
    /// The time of an earlier run was over while it was rendered.
    Late,
}

/// What all Applications of a dry commit share.
pub struct Context<'a> {
    /// The dry tree.
    pub files: &'a dyn Files,
    /// Whose rules apply.
    pub profile: Profile,
    /// The full id of the dry commit.
    pub dry_commit: &'a str,
    /// What renders charts and kustomizations.
    pub renderer: RendererName,
    /// Options of all builds of kustomizations.
    pub build_options: &'a BuildOptions,
    /// Template functions that may run although their results differ.
    pub nondeterministic: &'a [String],
    /// What those draw from.
    pub seeds: &'a Seeds,
    /// The Applications that draw as if they were on the branch where they drew first.
    pub identities: &'a SeedIdentities,
    /// What one render may take.
    pub limits: settings::Limits,
    /// Which plain Applications are hydrated.
    pub rules: RuleSet,
}

/// What one Application renders to.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// The objects, in the order of the engine.
    pub manifests: Vec<Manifest>,
    /// The commands that render the same with the official tools; none for directories and plugins.
    pub commands: Vec<String>,
    /// What is odd but no error.
    pub warnings: Vec<Diagnostic>,
    /// The keys of its files that are there twice, so that a value is lost.
    pub lost_keys: Vec<Diagnostic>,
    /// Everything of the dry tree that was looked at.
    pub reads: Reads,
    /// The variables of the build environment that were used.
    pub variables: BTreeSet<Variable>,
    /// Whether it is a chart whose release nothing names: see [`Application::unnamed_release`].
    pub is_unnamed_release: bool,
    /// That it has random values; none when no function drew any.
    pub drawn: Option<Drawn>,
}

impl Renderers {
    /// Those that `limits` and `tools` describe, run by `runner`.
    pub fn new(runner: Runner, tools: Tools, limits: Limits) -> Self {
        Self {
            exec: Exec::new(runner, tools),
            limits,
            cancel: Arc::default(),
            charts: Arc::default(),
            isolation: Isolation::Alone,
            watch: OnceLock::new(),
            started: Some(Instant::now()),
            used: Duration::ZERO,
            late: Late::default(),
            checks: Vec::new(),
            #[cfg(debug_assertions)]
            rehearsed: Rehearsed::new(),
        }
    }

    /// Sets where Applications are rendered. Where another process goes on after this one, this one must keep within its limits
    /// from now on.
    fn isolated(self, isolation: Isolation) -> Self {
        if isolation != Isolation::Alone {
            process::fence::limit(self.limits.run_memory, 0);
        }
        Self { isolation, ..self }
    }

    /// Does `work`, which starts so many threads with deep stacks.
    fn with_stacks<T>(&self, stacks: usize, work: impl FnOnce() -> T) -> T {
        match self.isolation {
            Isolation::Alone => work(),
            Isolation::Together | Isolation::Apart => process::fence::with_stacks(self.limits.run_memory, stacks, work),
        }
    }

    /// Sets that Applications are rendered in processes of their own, for a process that seldom renders anything.
    pub fn apart(self) -> Self {
        Self { isolation: Isolation::Apart, ..self }
    }

    /// Whether each Application is rendered in a process of its own, because a run died that did not do so.
    pub fn are_apart(&self) -> bool {
        self.isolation == Isolation::Apart
    }

    /// How much one Application may need, and how many are rendered at once.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    fn start_watch(&self) -> Watch {
        Watch::start(self.isolation, self.exec.runner().settings().spare_dir.clone())
    }

    /// Once it is true, renders end as soon as they can.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.cancel.clone()
    }

    /// What the kernel cannot keep a program from, when an admin allows programs to run all the same: for the report.
    pub fn unconfined(&self) -> Result<Vec<String>, Error> {
        Ok(self.exec.runner().missing()?.iter().map(ToString::to_string).collect())
    }

    /// Whether the official tools are there, in the versions that renders are defined by; a sentence for each.
    pub(crate) fn check_tools(&self, tools: Versions) -> Vec<Result<String, Error>> {
        let cancel = self.cancel.clone();
        self.exec.check(tools, &Stop::when(move || cancel.load(Ordering::Relaxed)))
    }

    /// Renders Applications, the results in their order. `done` hears how many are ready.
    pub fn render(
        &self,
        applications: &[&Application],
        context: &Context<'_>,
        done: &dyn Fn(usize),
    ) -> Vec<Result<Rendered, Failure>> {
        let results = self.render_into(applications, context, &|_| Turn::Usual, &|_, rendered| Ok(rendered), done);
        results.into_iter().map(|result| result.map_err(|unrendered| unrendered.failure)).collect()
    }

    /// Renders, and turns each result into something else on the thread that rendered it, so that no more manifests are
    /// in memory at a time than there are threads. The Applications are begun in the order of their `turn`. What `take` fails by
    /// names what the render looked at, too.
    pub fn render_into<T: Send>(
        &self,
        applications: &[&Application],
        context: &Context<'_>,
        turn: &dyn Fn(&Application) -> Turn,
        take: &(dyn Fn(&Application, Rendered) -> Result<T, Unrendered> + Sync),
        done: &dyn Fn(usize),
    ) -> Vec<Result<T, Unrendered>> {
        let commit = Commit::new(self, context);
        let work = |application: &&Application| take(application, commit.render(application)?);
        // Those of one chart after each other, however many branches they are for: charts are not kept for long.
        let mut order: Vec<(usize, &Application)> = applications.iter().copied().enumerate().collect();
        order.sort_by_cached_key(|(_, application)| (turn(application), application.dry.path.clone()));
        let sorted: Vec<&Application> = order.iter().map(|(_, application)| *application).collect();
        if sorted.is_empty() {
            return Vec::new();
        }
        let threads = self.threads().min(sorted.len());
        let render = || self.with_stacks(threads.max(1), || pool::in_order(&sorted, threads, work, done));
        let time = self.limits.commit_time.min(self.time_left());
        let results = match commit.watch().within(time, &commit.is_late, render) {
            Ok(results) => results,
            Err(error) => {
                let failed = |_| Err(Failure::from(Error::of_thread(&error)).into());
                return applications.iter().map(failed).collect();
            }
        };
        let mut results: Vec<_> = order.into_iter().zip(results).collect();
        results.sort_by_key(|((index, _), _)| *index);
        let result = |((_, application), result): ((usize, &Application), Result<_, String>)| {
            result.unwrap_or_else(|panic| Err(bug(application, &panic).into()))
        };
        results.into_iter().map(result).collect()
    }

    /// Drops the time limit of the run, for a run that goes through any number of dry commits, each of which has a
    /// limit of its own.
    pub fn without_run_limit(self) -> Self {
        Self { started: None, ..self }
    }

    /// How many Applications are rendered at once. Processes of their own shall not need more than a run may.
    fn threads(&self) -> usize {
        let Limits { jobs, run_memory, application_memory, .. } = self.limits;
        match (self.isolation, run_memory.checked_div(application_memory)) {
            (Isolation::Apart, Some(room)) if run_memory > 0 => {
                jobs.min(usize::try_from(room).unwrap_or(usize::MAX).max(1))
            }
            _ => jobs,
        }
    }

    /// How much of the time of this run is left.
    fn time_left(&self) -> Duration {
        let left = |started: Instant| self.limits.run_time.saturating_sub(self.used.saturating_add(started.elapsed()));
        self.started.map_or(Duration::MAX, left)
    }

    /// Everything of the dry tree that rendering an Application looks at, also when it fails.
    pub fn reads(&self, application: &Application, context: &Context<'_>) -> Reads {
        let commit = Commit::new(self, context);
        // As every render: on a stack of its own, where a panic touches no one else.
        let reads = pool::in_order(&[()], 1, |()| commit.reads(application), &|_| ());
        reads.into_iter().flatten().flatten().next().unwrap_or_default()
    }

    /// Renders as [`Self::render`] does, of files that are no commit; none where Applications are rendered in processes
    /// of their own, which read the commit.
    pub(crate) fn render_here(
        &self,
        applications: &[&Application],
        context: &Context<'_>,
    ) -> Option<Vec<Result<Rendered, Failure>>> {
        (self.isolation != Isolation::Apart).then(|| self.render(applications, context, &|_| ()))
    }

    /// The objects of an Application, each with the file of the dry tree that it is made of, as far as that is known: a file of
    /// a directory, a template of a chart, a resource or the configuration of a generator of a kustomization. Always by our own
    /// engines.
    pub fn origins(
        &self,
        application: &Application,
        context: &Context<'_>,
    ) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        let commit = Commit::new(self, context);
        if self.isolation == Isolation::Apart {
            // It is not worth failing of.
            return commit.processes.trace(&commit, application).map_err(|failure| match failure {
                Failure::World(_) => Error::Cancelled.into(),
                Failure::Mistakes(_) => failure,
            });
        }
        // As every render: on a stack of its own, where a panic touches no one else.
        let origins = pool::in_order(&[()], 1, |()| commit.origins(application), &|_| ());
        match origins.map(|mut origins| origins.pop()) {
            Ok(Some(Ok(origins))) => origins,
            Ok(Some(Err(panic))) => Err(bug(application, &panic)),
            Ok(None) => Ok(Vec::new()),
            Err(error) => Err(Error::of_thread(&error).into()),
        }
    }
}

/// What the API server will know the objects of an Application by, those without a name left out.
pub fn objects(application: &Application, manifests: &[Manifest]) -> Vec<Key> {
    manifests.iter().filter_map(|manifest| conflict::key(manifest, application)).collect()
}

/// Objects that two Applications of one branch both render; each comes with its [`objects`].
pub fn conflicts(rendered: &[(&Application, &[Key])]) -> Vec<Diagnostic> {
    conflicts_by_number(rendered).into_iter().map(|(_, conflict)| conflict).collect()
}

/// What [`conflicts`] finds, each with the number of the later of its two Applications: those that one ApplicationSet makes have one
/// place in common.
pub(crate) fn conflicts_by_number(rendered: &[(&Application, &[Key])]) -> Vec<(usize, Diagnostic)> {
    conflict::find(rendered)
}

/// Objects that an Application renders, and another one of another dry branch too; none where `keys` are none.
pub(crate) fn conflict_of(
    application: &Application,
    other: (&Application, &BranchName),
    keys: &[&Key],
) -> Option<Diagnostic> {
    conflict::of_another(application, other, keys)
}

/// A warning of objects that one Application renders more than once, by its [`objects`]; none when there are none.
pub(crate) fn repeated(application: &Application, objects: &[Key]) -> Option<Diagnostic> {
    conflict::repeated(application, objects)
}

/// A mistake of ours, reported as one of the Application, so that only its branch waits for the next version.
fn bug(application: &Application, panic: &str) -> Failure {
    let text = format!("internal error while rendering `{}`: {panic}", application.name);
    let hint = "this is a bug in git-hydrate: please report it with the sources of this Application";
    Failure::mistake(Diagnostic::error(text).at(application.places.name.clone()).hint(hint))
}

/// What one render did beside reading files.
#[derive(Debug, Default)]
struct Deeds {
    /// Whether it started a program: what that says need not follow from the dry tree alone.
    ran_a_program: Cell<bool>,
    /// Whether what it renders names the dry commit.
    names_the_commit: Cell<bool>,
}

/// One dry commit while it is rendered.
struct Commit<'a> {
    renderers: &'a Renderers,
    context: &'a Context<'a>,
    /// Made when the first program needs it.
    checkout: OnceLock<Checkout<'a>>,
    /// Started for the first render.
    watch: OnceLock<Watch>,
    /// Whether all its renders together take too long.
    is_late: Arc<AtomicBool>,
    /// The processes that render the Applications, when threads do not.
    processes: Processes,
}
