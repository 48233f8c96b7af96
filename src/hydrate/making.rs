//! Renders Applications and expands sets for what they make, which is a question of `plan`.

use std::sync::Arc;

use super::rules::render_context;
use crate::application::parent::is_made;
use crate::application::set::{Clusters, Question};
use crate::application::{Application, Variable};
use crate::manifest::Manifest;
use crate::plan::{Answered, FoundSet, Rendered, Renders, Unrendered};
use crate::render::{self, Failure, Renderers, Set, Unexpanded};
use crate::settings::Settings;
use crate::view::Files;

/// The tools of this machine, for one dry commit.
pub(super) struct Making<'a> {
    pub settings: &'a Settings,
    pub renderers: &'a Renderers,
    pub dry_commit: &'a str,
}

impl Renders for Making<'_> {
    fn render(&self, parents: &[&Application], files: &dyn Files) -> Vec<Rendered> {
        let context = render_context(self.settings, files, self.dry_commit);
        let take = |_: &Application, rendered| Ok(taken(rendered));
        let results = self.renderers.render_into(parents, &context, &|_| false, &take, &|_| ());
        results.into_iter().map(|result| result.unwrap_or_else(unrendered)).collect()
    }

    fn expand(&self, found: &FoundSet, question: &Question, clusters: &Arc<Clusters>, files: &dyn Files) -> Answered {
        let context = render_context(self.settings, files, self.dry_commit);
        let asked = Set { set: &found.set, file: &found.file.0, ordinal: found.ordinal, question, clusters };
        match self.renderers.expand(&asked, &context) {
            Ok(mut answer) => {
                let reads = std::mem::take(&mut answer.reads);
                Answered { answer: Ok(answer), reads, repeats: true }
            }
            Err(Unexpanded { error, reads, repeats }) => Answered { answer: Err(error.to_string()), reads, repeats },
        }
    }
}

/// What is kept of a render, on the thread that made it.
fn taken(rendered: render::Rendered) -> Rendered {
    let objects = rendered.manifests.into_iter().map(Manifest::into_object).filter(is_made).collect();
    let repeats = !rendered.variables.into_iter().any(Variable::names_the_commit);
    Rendered { objects: Ok(objects), reads: rendered.reads, repeats }
}

fn unrendered(unrendered: render::Unrendered) -> Rendered {
    let render::Unrendered { failure, reads, repeats, .. } = unrendered;
    let why = match failure {
        Failure::Mistakes(mistakes) => Unrendered::Mistakes(mistakes),
        Failure::World(error) if error.is_limit() || matches!(error, render::Error::Cancelled) => {
            Unrendered::Limit(error.to_string())
        }
        Failure::World(error) => Unrendered::World(error.to_string()),
    };
    Rendered { objects: Err(why), reads, repeats }
}
