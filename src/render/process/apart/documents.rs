//! Finds what is asked for where it is, and does what is asked.

use std::cell::RefCell;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, View};

use super::Error;
use super::asked::{Asked, AskedApplication, AskedSet};
use super::rendered::Answer;
use crate::argo::set::ApplicationSet;
use crate::argo::{self, Application};
use crate::render::expand::Set;
use crate::render::{Commit, Failure, Unexpanded, Unrendered};

/// The file that was read last: it may have thousands of Applications.
#[derive(Default)]
pub(super) struct Documents(RefCell<Option<(RepoPath, ContentId, Arc<argo::File>)>>);

impl Documents {
    /// Renders or traces an Application, or expands a set.
    pub(super) fn answer(&self, commit: &Commit<'_>, asked: &Asked) -> Answer {
        let answer = match asked {
            Asked::Render(asked) => self.application(commit, asked).map(|found| rendered(commit, found.as_ref())),
            Asked::Trace(asked) => self.application(commit, asked).map(|found| traced(commit, found.as_ref())),
            Asked::Expand(asked) => self.set(commit, asked).map(|found| expanded(commit, found.as_deref(), asked)),
        };
        answer.unwrap_or_else(|error| Answer::Unrendered(Failure::World(error).into()))
    }

    fn application(&self, commit: &Commit<'_>, asked: &AskedApplication) -> Result<Option<Application>, Error> {
        let known = |application: &Application| {
            application.clone().on_cluster(asked.kube_version.clone(), asked.api_versions.clone())
        };
        let is_asked = |application: &Application| application.fingerprint() == asked.fingerprint;
        // What was rendered is in no file.
        let made = asked.made.as_ref().and_then(|made| Application::remade(None, made, &commit.context.rules));
        if let Some(made) = made.map(|made| known(&made)).filter(is_asked) {
            return Ok(Some(made));
        }
        let file = match &asked.text {
            Some(text) => Arc::new(argo::read_by(&asked.file, text.as_bytes(), &commit.context.rules)),
            None => self.file(commit, &asked.file)?,
        };
        Ok(match &asked.made {
            Some(made) => {
                Application::remade(Some(&file), made, &commit.context.rules).map(|made| known(&made)).filter(is_asked)
            }
            None => {
                let mut all = file.applications().filter(|application| application.index == asked.index);
                all.find_map(|application| Some(known(application)).filter(is_asked))
            }
        })
    }

    fn set(&self, commit: &Commit<'_>, asked: &AskedSet) -> Result<Option<Arc<ApplicationSet>>, Error> {
        let found = match &asked.kept {
            Some(kept) => ApplicationSet::remade(kept),
            None => self.file(commit, &asked.file)?.sets.get(asked.ordinal).cloned(),
        };
        Ok(found.filter(|set| set.id() == asked.id))
    }

    fn file(&self, commit: &Commit<'_>, path: &RepoPath) -> Result<Arc<argo::File>, Error> {
        let view = View::with_limit(commit.context.files, u64::MAX);
        let blob = match view.read(path) {
            Ok(blob) => blob,
            Err(error) if error.is_missing() => return Ok(Arc::new(argo::read(path, b""))),
            Err(error) => return Err(Error::View(error)),
        };
        let mut last = self.0.borrow_mut();
        let known = last.as_ref().filter(|(last, id, _)| last == path && *id == blob.id);
        if let Some((_, _, file)) = known {
            return Ok(file.clone());
        }
        let file = Arc::new(argo::read_by(path, &blob.data, &commit.context.rules));
        *last = Some((path.clone(), blob.id, file.clone()));
        Ok(file)
    }
}

fn rendered(commit: &Commit<'_>, application: Option<&Application>) -> Answer {
    match application.map(|application| commit.render(application)) {
        Some(Ok(rendered)) => Answer::Rendered(rendered),
        Some(Err(unrendered)) => Answer::Unrendered(unrendered),
        None => Answer::NotFound,
    }
}

fn traced(commit: &Commit<'_>, application: Option<&Application>) -> Answer {
    match application.map(|application| commit.origins(application)) {
        Some(Ok(origins)) => Answer::Traced(origins),
        Some(Err(failure)) => Answer::Unrendered(failure.into()),
        None => Answer::NotFound,
    }
}

fn expanded(commit: &Commit<'_>, set: Option<&ApplicationSet>, asked: &AskedSet) -> Answer {
    let Some(set) = set else { return Answer::NotFound };
    let AskedSet { file, ordinal, question, .. } = asked;
    let clusters = question.clusters(commit.context.files);
    let set = Set { set, file, ordinal: *ordinal, question, clusters: &clusters };
    match commit.renderers.expand(&set, commit.context) {
        Ok(answer) => Answer::Expanded(answer),
        Err(Unexpanded { error, reads, repeats }) => {
            Answer::Unrendered(Unrendered { failure: Failure::World(error), reads, repeats, follows: false })
        }
    }
}
