//! What the Applications of a dry commit render to.

use super::Run;
use crate::application::Application;
use crate::diag::Diagnostic;
use crate::git::ObjectId;
use crate::hydrate::output::Output;
use crate::hydrate::rules::render_context;
use crate::render;
use crate::view::TreeFiles;

impl Run<'_> {
    /// Renders Applications of a dry commit on all cores, each result in the place of its Application. What is known
    /// to render to the same as before is not rendered.
    pub fn render(
        &self,
        applications: &[&Application],
        files: &TreeFiles<'_>,
        dry: ObjectId,
    ) -> Vec<Result<Output, render::Failure>> {
        let known = self.known_outputs(applications, files);
        let unknown = applications.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<&Application> = unknown.map(|(application, _)| *application).collect();
        self.setup.observer.rendering(&dry.to_hex_with_len(7).to_string(), unknown.len());
        let done = |count| self.setup.observer.rendered(count);
        let id = dry.to_string();
        let context = render_context(&self.rules.settings, files, &id);
        let (writer, buffer) = (&self.rules.writer, &self.buffer);
        let take = |application: &Application, rendered| Output::new(application, rendered, writer, buffer);
        let mut rendered = self.setup.renderers.render_into(&unknown, &context, &take, &done).into_iter();
        let result = |known: Option<Output>| known.map(Ok).or_else(|| rendered.next());
        known.into_iter().map(result).map(|result| result.expect("each Application is known or rendered")).collect()
    }
}

/// Why a branch gets nothing.
pub enum Gathered {
    /// Something is wrong with its Applications.
    Wrong(Vec<Diagnostic>),
    /// One of them wants more than this machine gives.
    TooMuch(Diagnostic),
    /// The world failed.
    Machine(String),
}

/// The results of one branch: all of them, or everything that is wrong with any.
pub fn gather(
    results: Vec<Result<Output, render::Failure>>,
    applications: &[&Application],
) -> Result<Vec<Output>, Gathered> {
    let (mut outputs, mut wrong) = (Vec::new(), Vec::new());
    for (result, application) in results.into_iter().zip(applications) {
        match result {
            Ok(output) => outputs.push(output),
            Err(render::Failure::Mistakes(mistakes)) => {
                wrong.extend(mistakes.into_iter().map(|mistake| mistake.of(application.name.as_str())));
            }
            Err(render::Failure::World(error)) if error.is_limit() => {
                let place = application.places.name.clone();
                return Err(Gathered::TooMuch(Diagnostic::error(error.to_string()).at(place)));
            }
            Err(render::Failure::World(error)) => return Err(Gathered::Machine(error.to_string())),
        }
    }
    if wrong.is_empty() {
        let objects = applications.iter().zip(&outputs).map(|(application, output)| (*application, &*output.objects));
        wrong = render::conflicts(&objects.collect::<Vec<_>>());
    }
    if wrong.is_empty() { Ok(outputs) } else { Err(Gathered::Wrong(wrong)) }
}
