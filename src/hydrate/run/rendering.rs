//! What the Applications of a dry commit render to.

use super::Run;
use crate::application::Application;
use crate::git::ObjectId;
use crate::hydrate::failed_render::{FailedBranch, FailedRender};
use crate::hydrate::output::Output;
use crate::hydrate::rules::render_context;
use crate::hydrate::{HydrateError, Setup};
use crate::render;
use crate::view::{TreeFiles, View};

impl Run<'_> {
    /// Renders Applications of a dry commit on all cores, each result in the place of its Application. What is known
    /// to render to the same as before, or to fail as before, is not rendered. Errors: the world failed.
    pub fn render(
        &self,
        applications: &[&Application],
        files: &TreeFiles<'_>,
        dry: ObjectId,
    ) -> Result<Vec<Result<Output, FailedRender>>, HydrateError> {
        let view = View::new(files);
        let known = self.known_outputs(applications, files).into_iter().zip(applications);
        let known: Vec<Option<Result<Output, FailedRender>>> = known
            .map(|(known, application)| known.map(Ok).or_else(|| self.known_failed_render(application, &view).map(Err)))
            .collect();
        let unknown = applications.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<&Application> = unknown.map(|(application, _)| *application).collect();
        self.setup.observer.rendering(&dry.to_hex_with_len(7).to_string(), unknown.len());
        let done = |count| self.setup.observer.rendered(count);
        let id = dry.to_string();
        let context = render_context(&self.rules.settings, files, &id);
        let (writer, buffer) = (&self.rules.writer, &self.buffer);
        let take = |application: &Application, rendered| Output::new(application, rendered, writer, buffer);
        let urgent = |application: &Application| self.is_urgent(application, &view);
        let renderers = self.setup.renderers;
        let mut rendered = renderers.render_into(&unknown, &context, &urgent, &take, &done).into_iter();
        let mut results = Vec::with_capacity(known.len());
        for (known, application) in known.into_iter().zip(applications) {
            if let Some(known) = known {
                results.push(known);
                continue;
            }
            results.push(match rendered.next().expect("each Application is known or rendered") {
                Ok(output) => Ok(output),
                Err(failed) => {
                    let failed = FailedRender::new(application, failed, &view)?;
                    self.failed.add(application, &failed);
                    Err(failed)
                }
            });
        }
        Ok(results)
    }

    /// The failure that an Application had before, in this run or an earlier one, and would have again.
    fn known_failed_render(&self, application: &Application, view: &View<'_>) -> Option<FailedRender> {
        self.failed.find(application, view).or_else(|| self.recalled_failed_render(application, view))
    }

    /// Whether an Application is rendered before others: its document or its sources differ from what they were.
    fn is_urgent(&self, application: &Application, view: &View<'_>) -> bool {
        let Setup { repository, .. } = self.setup;
        self.urgent_since.iter().any(|tree| {
            let files = TreeFiles::new(repository, *tree);
            let before = View::new(&files);
            let same = |path| before.content_id(path).ok() == view.content_id(path).ok();
            !same(&application.file) || !same(&application.dry.path)
        })
    }
}

/// The results of one branch: all of them, or everything that is wrong with any.
pub fn gather(
    results: Vec<Result<Output, FailedRender>>,
    applications: &[&Application],
) -> Result<Vec<Output>, FailedBranch> {
    let (mut outputs, mut failed) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(output) => outputs.push(output),
            Err(render) => failed.push(render),
        }
    }
    if let Some(failed) = FailedBranch::of(failed) {
        return Err(failed);
    }
    let objects = applications.iter().zip(&outputs).map(|(application, output)| (*application, &*output.objects));
    let conflicts = render::conflicts(&objects.collect::<Vec<_>>());
    if conflicts.is_empty() {
        Ok(outputs)
    } else {
        Err(FailedBranch { mistakes: conflicts, ..FailedBranch::default() })
    }
}
