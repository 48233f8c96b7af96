//! Renders Applications for what they make, which is a question of `plan`.

use super::rules::render_context;
use crate::application::parent::is_made;
use crate::application::{Application, By, Variable};
use crate::manifest::Manifest;
use crate::plan::{Rendered, Renders, Unrendered};
use crate::render::{self, Failure, Renderers};
use crate::settings::Settings;
use crate::view::{Files, Stop};

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

    fn within_time(&self, set: &By, work: &mut dyn FnMut(Stop)) -> Result<(), String> {
        self.renderers.within_time(&set.to_string(), work).map_err(|error| error.to_string())
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
