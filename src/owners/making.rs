//! Implements [`Renders`]: lets discovery render parents and expand sets within the limits of this machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::failed_makers::Remembered;
use crate::argo::parent::may_be_made;
use crate::argo::set::{Clusters, Question};
use crate::argo::{Application, Variable, cost_of};
use crate::discover::{Answered, FoundSet, ParentFailure, RenderedParent, Renders};
use crate::known::FailedMaker;
use crate::manifest::Manifest;
use crate::owners::policy::{Policy, render_context};
use crate::render::{self, Failure, Renderers, Set, Turn, Unexpanded};
use crate::settings::Settings;
use dry_files::diag::Diagnostic;
use dry_files::view::{Files, Reads, View};
use go_yaml::Value;

/// The tools of this machine, for one dry commit.
pub(crate) struct Making<'a> {
    pub settings: &'a Settings,
    pub renderers: &'a Renderers,
    pub dry_commit: &'a str,
    /// What is known of makers that failed; none where nothing is remembered.
    pub failed: Option<Remembered<'a>>,
}

impl Policy {
    /// Renders and expands what makes Applications of a dry commit, and remembers nothing.
    pub(crate) fn making<'a>(&'a self, renderers: &'a Renderers, dry_commit: &'a str) -> Making<'a> {
        Making { settings: &self.settings, renderers, dry_commit, failed: None }
    }
}

impl Making<'_> {
    /// How a maker failed before, and would fail again.
    fn known(&self, id: Option<&str>, view: &View<'_>) -> Option<FailedMaker> {
        self.failed.as_ref()?.find(id?, view)
    }

    /// Whether a maker failed in this run.
    pub(crate) fn has_new_failures(&self) -> bool {
        self.failed.as_ref().is_some_and(Remembered::has_new)
    }

    /// Notes what became of a maker: which limit it reached or what is wrong with it, if it failed.
    fn remember(&self, id: Option<String>, failure: Option<(&str, &[Diagnostic], Reads)>) {
        let (Some(failed), Some(id)) = (&self.failed, id) else { return };
        match failure {
            Some((why, mistakes, reads)) => {
                failed.add(FailedMaker { id, why: why.to_owned(), mistakes: mistakes.to_vec(), reads });
            }
            None => failed.clear(&id),
        }
    }
}

impl Renders for Making<'_> {
    fn render(&self, parents: &[&Application], files: &dyn Files) -> Vec<RenderedParent> {
        let view = View::new(files);
        let id = |parent: &&Application| self.failed.as_ref().map(|failed| failed.of_parent(parent));
        let ids: Vec<Option<String>> = parents.iter().map(id).collect();
        let mut results: Vec<Option<RenderedParent>> =
            ids.iter().map(|id| self.known(id.as_deref(), &view).map(failed_before)).collect();
        let unknown = results.iter().zip(parents).filter(|(result, _)| result.is_none()).map(|(_, parent)| *parent);
        let (rendered, is_whole) = self.rendered(&unknown.collect::<Vec<_>>(), files);
        let mut rendered = rendered.into_iter();
        for (result, id) in results.iter_mut().zip(ids).filter(|(result, _)| result.is_none()) {
            *result = rendered.next();
            if let Some(RenderedParent { objects, reads, repeats: true }) = result {
                let failure = match objects {
                    Err(ParentFailure::Limit(why)) => Some((why.as_str(), &[][..], reads.clone())),
                    Err(ParentFailure::Mistakes(mistakes)) if is_whole => Some(("", &mistakes[..], reads.clone())),
                    Ok(_) | Err(ParentFailure::Mistakes(_) | ParentFailure::World(_)) => None,
                };
                self.remember(id, failure);
            }
        }
        results.into_iter().flatten().collect()
    }

    fn expand(&self, found: &FoundSet, question: &Question, clusters: &Arc<Clusters>, files: &dyn Files) -> Answered {
        let context = render_context(self.settings, files, self.dry_commit);
        let id = self.failed.as_ref().map(|failed| failed.of_set(found, question));
        if let Some(FailedMaker { why, reads, .. }) = self.known(id.as_deref(), &View::new(files)) {
            return Answered { answer: Err(why), reads, repeats: true };
        }
        let asked = Set { set: &found.set, file: &found.file.0, ordinal: found.ordinal, question, clusters };
        match self.renderers.expand(&asked, &context) {
            Ok(mut answer) => {
                self.remember(id, None);
                let reads = std::mem::take(&mut answer.reads);
                Answered { answer: Ok(answer), reads, repeats: true }
            }
            Err(Unexpanded { error, reads, repeats }) => {
                let why = error.to_string();
                if repeats {
                    // It may have asked for clusters, which are read beside it.
                    let clusters = clusters.reads().iter().map(|(place, seen)| (place.clone(), *seen));
                    self.remember(id, Some((&why, &[], reads.clone().into_iter().chain(clusters).collect())));
                }
                Answered { answer: Err(why), reads, repeats }
            }
        }
    }
}

impl Making<'_> {
    /// Renders parents; answers also whether all of them together did not render too much.
    fn rendered(&self, parents: &[&Application], files: &dyn Files) -> (Vec<RenderedParent>, bool) {
        if parents.is_empty() {
            return (Vec::new(), true);
        }
        let context = render_context(self.settings, files, self.dry_commit);
        let cost = AtomicU64::new(0);
        let take = |_: &Application, rendered| Ok(taken(rendered, &cost));
        let results = self.renderers.render_into(parents, &context, &|_| Turn::Usual, &take, &|_| ());
        let rendered = results.into_iter().map(|result| result.unwrap_or_else(unrendered));
        match cost.into_inner() > RENDERED_MAX {
            true => (rendered.map(too_much).collect(), false),
            false => (rendered.collect(), true),
        }
    }
}

/// How much Applications may render together that may be Applications: several times what a tree may have of them.
const RENDERED_MAX: u64 = 512 << 20;

/// What comes of a parent when all together rendered too much: which of them are too many depends on who is first.
fn too_much(rendered: RenderedParent) -> RenderedParent {
    let text = format!("what all Applications render that may be Applications has more than {RENDERED_MAX} bytes");
    let objects = rendered.objects.and_then(|_| Err(ParentFailure::Mistakes(vec![Diagnostic::error(text)])));
    RenderedParent { objects, ..rendered }
}

/// What comes of a parent that failed before.
fn failed_before(maker: FailedMaker) -> RenderedParent {
    let failure = match maker.mistakes.is_empty() {
        true => ParentFailure::Limit(maker.why),
        false => ParentFailure::Mistakes(maker.mistakes),
    };
    RenderedParent { objects: Err(failure), reads: maker.reads, repeats: true }
}

/// What is kept of a render, on the thread that made it: nothing more once `cost`, that of all together, is too much.
fn taken(rendered: render::Rendered, cost: &AtomicU64) -> RenderedParent {
    let mut objects: Vec<Value> =
        rendered.manifests.into_iter().map(Manifest::into_object).filter(may_be_made).collect();
    let more = objects.iter().map(|object| cost_of(object.size())).fold(0, u64::saturating_add);
    if cost.fetch_add(more, Ordering::Relaxed).saturating_add(more) > RENDERED_MAX {
        objects.clear();
    }
    let repeats = !rendered.variables.into_iter().any(Variable::names_the_commit);
    RenderedParent { objects: Ok(objects), reads: rendered.reads, repeats }
}

fn unrendered(unrendered: render::Unrendered) -> RenderedParent {
    let render::Unrendered { failure, reads, repeats, .. } = unrendered;
    let why = match failure {
        Failure::Mistakes(mistakes) => ParentFailure::Mistakes(mistakes),
        Failure::World(error) if error.is_limit() || matches!(error, render::Error::Cancelled) => {
            ParentFailure::Limit(error.to_string())
        }
        Failure::World(error) => ParentFailure::World(error.to_string()),
    };
    RenderedParent { objects: Err(why), reads, repeats }
}
