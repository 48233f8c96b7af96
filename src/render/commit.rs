//! One dry commit while its Applications are rendered.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use dry_files::diag::printable;
use dry_files::path::RepoPath;
use dry_files::view::{Reads, Stop, View, ViewError};
use go_template::Drew;
use inputs::{self, KeptInputs};

use super::checkout::Checkout;
use super::engines::ApplicationRender;
use super::failure::{COMMIT_TIME_LIMIT, RENDER_TIME_LIMIT, RUN_TIME_LIMIT};
use super::process::apart::Processes;
use super::process::late::Subject;
use super::{
    Commit, Context, Deeds, Error, Failure, Isolation, Limits, Rendered, Renderers, Unrendered, Watch, drawn,
    in_seconds, united,
};
use crate::argo::{self, Application, Environment, Substituted, Variable};
use crate::manifest::Manifest;

impl Deeds {
    pub(super) fn unrendered(&self, failure: Failure, reads: Reads) -> Unrendered {
        let repeats = match &failure {
            Failure::Mistakes(_) => !self.ran_a_program.get() && !self.names_the_commit.get(),
            Failure::World(error) => error.is_limit() && !error.is_limit_of_commit(),
        };
        let follows = matches!(failure, Failure::Mistakes(_)) && !self.ran_a_program.get();
        Unrendered { failure, reads, repeats, follows }
    }
}

impl<'a> Commit<'a> {
    pub(super) fn new(renderers: &'a Renderers, context: &'a Context<'a>) -> Self {
        Self {
            renderers,
            context,
            checkout: OnceLock::new(),
            watch: OnceLock::new(),
            is_late: Arc::default(),
            processes: Processes::default(),
        }
    }

    pub(super) fn watch(&self) -> &Watch {
        self.watch.get_or_init(|| self.renderers.start_watch())
    }

    pub(super) fn render(&self, application: &Application) -> Result<Rendered, Unrendered> {
        if self.renderers.isolation != Isolation::Apart {
            return self.render_here(application);
        }
        if self.is_dropped() {
            return Err(Failure::from(self.dropped()).into());
        }
        match self.renderers.late.reads(&self.subject(application)) {
            Some(reads) => {
                let failure = Failure::World(self.too_slow(application));
                Err(Unrendered { failure, reads: reads.clone(), repeats: true, follows: false })
            }
            None => self.processes.render(self, application),
        }
    }

    pub(super) fn subject(&self, application: &Application) -> Subject {
        let Application { file, index, name, .. } = application;
        Subject { root: self.context.files.root(), name: format!("{file} {index} {name}"), time: self.limits().time }
    }

    /// Renders an Application in this process.
    pub(super) fn render_here(&self, application: &Application) -> Result<Rendered, Unrendered> {
        let view = View::with_limit(self.context.files, self.limits().file_bytes_max);
        let deeds = Deeds::default();
        let (result, view) = self.render_seen(application, view, &deeds);
        result.map_err(|failure| deeds.unrendered(failure, view.reads()))
    }

    /// What a render looks at, also when it fails.
    pub(super) fn reads(&self, application: &Application) -> Reads {
        if self.renderers.isolation == Isolation::Apart {
            return self.render(application).map_or_else(|unrendered| unrendered.reads, |rendered| rendered.reads);
        }
        let view = View::with_limit(self.context.files, self.limits().file_bytes_max);
        self.render_seen(application, view, &Deeds::default()).1.reads()
    }

    /// Renders an Application, and gives back the view that it was read by. Whatever comes of a render that went beyond
    /// a limit of this machine says nothing about the dry commit.
    pub(super) fn render_seen<'v>(
        &self,
        application: &Application,
        view: View<'v>,
        deeds: &Deeds,
    ) -> (Result<Rendered, Failure>, View<'v>) {
        let over = Arc::new(AtomicBool::new(false));
        let flags = [over.clone(), self.is_late.clone(), self.renderers.cancel.clone()];
        let view = view.until(Stop::when(move || flags.iter().any(|flag| flag.load(Ordering::Relaxed))));
        let time = self.limits().time;
        let is_late = || self.is_late.load(Ordering::Relaxed);
        let result = if is_late() {
            Err(Error::Cancelled.into())
        } else {
            let render = || self.render_within(application, &view, deeds);
            let subject = (self.renderers.isolation == Isolation::Together)
                .then(|| (self.subject(application), view.shared_reads()));
            let work = || render().and_then(|rendered| self.check_inputs(application, &view, rendered));
            self.watch().within_of(subject, time, &over, work)
        };
        let result = match (result, view.too_large()) {
            _ if self.cancel().load(Ordering::Relaxed) => Err(Error::Cancelled.into()),
            _ if over.load(Ordering::Relaxed) => Err(self.too_slow(application).into()),
            (Err(_), _) if is_late() => Err(self.too_slow_together().into()),
            (Err(Failure::Mistakes(_)), Some(ViewError::TooLarge { path, size, limit })) => {
                Err(Error::FileTooLarge { file: path.clone(), bytes: *size, limit: *limit }.into())
            }
            (result, _) => result,
        };
        (result, view)
    }

    /// The objects of an Application, each with its file.
    pub(super) fn origins(&self, application: &Application) -> Result<Vec<(Manifest, Option<RepoPath>)>, Failure> {
        let view = View::with_limit(self.context.files, self.limits().file_bytes_max);
        let mut origins = Vec::new();
        for part in application.parts() {
            origins.extend(self.with_engine(&part, &view, &Deeds::default(), |one, _, _| one.origins())?);
        }
        Ok(origins)
    }

    /// Whether no one waits for a result any more.
    pub(super) fn is_dropped(&self) -> bool {
        self.is_late.load(Ordering::Relaxed) || self.cancel().load(Ordering::Relaxed)
    }

    /// Why not.
    pub(super) fn dropped(&self) -> Error {
        if self.cancel().load(Ordering::Relaxed) { Error::Cancelled } else { self.too_slow_together() }
    }

    pub(super) fn too_slow(&self, application: &Application) -> Error {
        let what =
            format!("`{}` takes more than {} seconds to render", application.name, in_seconds(self.limits().time));
        Error::TooMuch { what, setting: RENDER_TIME_LIMIT }
    }

    pub(super) fn too_slow_together(&self) -> Error {
        let Limits { commit_time, run_time, .. } = *self.limits();
        if self.renderers.time_left().is_zero() {
            let what = format!("the Applications of one run take more than {} seconds to render", in_seconds(run_time));
            return Error::TooMuch { what, setting: RUN_TIME_LIMIT };
        }
        let seconds = in_seconds(commit_time);
        let what = format!("the Applications of one dry commit take more than {seconds} seconds to render");
        Error::TooMuch { what, setting: COMMIT_TIME_LIMIT }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.renderers.limits
    }

    pub(super) fn render_within(
        &self,
        application: &Application,
        view: &View<'_>,
        deeds: &Deeds,
    ) -> Result<Rendered, Failure> {
        if application.sources.is_empty() {
            return self.render_source(application, view, deeds);
        }
        let (mut parts, mut all) = (Vec::new(), Rendered::default());
        let mut count = 0;
        for part in application.parts() {
            let rendered = self.render_source(&part, view, deeds)?;
            count += rendered.manifests.len();
            self.check_count(application, count)?;
            parts.push((part.places.dry_path.clone(), rendered.manifests));
            if rendered.commands.is_empty() {
                let dir = printable(part.dry.path.as_str());
                all.commands.push(format!("# and the source {dir}, for which there is no command"));
            }
            all.commands.extend(rendered.commands);
            all.warnings.extend(rendered.warnings);
            all.lost_keys.extend(rendered.lost_keys);
            all.variables.extend(rendered.variables);
            all.drawn = drawn::together(all.drawn, rendered.drawn);
        }
        let (manifests, warnings) = united::united(application, parts);
        all.warnings.extend(warnings);
        Ok(Rendered { manifests, reads: view.reads(), ..all })
    }

    /// An error where inputs were used that are not in the directory that the settings name, since a lock file comes with a
    /// push; or where anything was read of an input that is not as it came, such as by a path that is written in place of its
    /// URL, or through a link.
    pub(super) fn check_inputs(
        &self,
        application: &Application,
        view: &View<'_>,
        rendered: Rendered,
    ) -> Result<Rendered, Failure> {
        let dir = self.context.rules.inputs();
        if !view.has_read(&inputs::lock_path()) && !rendered.reads.keys().any(|(path, _)| dir.has(path)) {
            return Ok(rendered);
        }
        let judge = |kept: KeptInputs<'_>| kept.misplaced(dir).and_then(|()| kept.judge_reads(&rendered.reads));
        let judged = KeptInputs::read(view).and_then(judge);
        judged
            .map(|()| Rendered { reads: view.reads(), ..rendered })
            .map_err(|unusable| Failure::unusable(&unusable, &application.places.dry_path))
    }

    pub(super) fn check_count(&self, application: &Application, count: usize) -> Result<(), Failure> {
        let objects_max = self.limits().objects_max;
        if count <= objects_max {
            return Ok(());
        }
        let what = format!("`{}` renders more than {objects_max} objects", application.name);
        Err(Error::TooMuch { what, setting: "hydrate.objectLimit" }.into())
    }

    /// Renders an Application of one source.
    pub(super) fn render_source(
        &self,
        application: &Application,
        view: &View<'_>,
        deeds: &Deeds,
    ) -> Result<Rendered, Failure> {
        self.with_engine(application, view, deeds, |one, environment, used| one.render(environment, used))
    }

    /// Finds out what an Application is made of and hands that to `work`, with the variables and which of them are used.
    pub(super) fn with_engine<T>(
        &self,
        application: &Application,
        view: &View<'_>,
        deeds: &Deeds,
        work: impl FnOnce(&mut ApplicationRender<'_, '_>, &Environment, BTreeSet<Variable>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        if self.cancel().load(Ordering::Relaxed) {
            return Err(Error::Cancelled.into());
        }
        let Context { profile, dry_commit, .. } = *self.context;
        let source = argo::source(view, application, profile)?;
        let environment = Environment::new(profile, application, dry_commit);
        let Substituted { source, used, diagnostics } = environment.substitute(&source).map_err(Failure::Mistakes)?;
        let warnings = [source.warnings.clone(), diagnostics].concat();
        if used.iter().any(|variable| variable.names_the_commit()) {
            deeds.names_the_commit.set(true);
        }
        let mut one = ApplicationRender {
            commit: self,
            application,
            source: &source,
            view,
            deeds,
            warnings,
            lost_keys: Vec::new(),
            is_unnamed_release: false,
            drew: Drew::default(),
            sketches: false,
        };
        work(&mut one, &environment, used)
    }

    pub(super) fn cancel(&self) -> &AtomicBool {
        &self.renderers.cancel
    }

    pub(super) fn checkout(&self) -> Result<&Checkout<'a>, Failure> {
        if let Some(checkout) = self.checkout.get() {
            return Ok(checkout);
        }
        let dir = self.renderers.exec.runner().scratch("checkout").map_err(Error::Program)?;
        Ok(self.checkout.get_or_init(|| Checkout::new(self.context.files, dir)))
    }
}
