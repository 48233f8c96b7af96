//! Renders one Application of a dry commit by its name.

use dry_files::diag::Diagnostic;

use crate::argo::Application;
use crate::discover::Discovery;
use crate::owners::copier::Copies;
use crate::owners::error::HydrateError;
use crate::owners::place::Place;
use crate::owners::policy::{Policy, render_context};
use crate::owners::recorded::dry_tree;
use crate::owners::seed_identities::recorded;
use crate::render::{self, Renderers};
use crate::repo::TreeFiles;
use crate::repo::{ObjectBuffer, ObjectId, Repository};

/// An Application of a dry commit, rendered on its own.
#[derive(Debug)]
pub(crate) struct Single {
    /// The Application.
    pub application: Application,
    /// The bytes of its `manifest.yaml`, or everything that is wrong.
    pub manifest: Result<Vec<u8>, Vec<Diagnostic>>,
    /// What is odd but no error.
    pub warnings: Vec<Diagnostic>,
}

/// Renders every Application of a dry commit whose name is `name`, whatever its branch; none when there is none.
///
/// Errors: the world failed.
pub(crate) fn render_named(
    repository: &Repository,
    renderers: &Renderers,
    dry_commit: ObjectId,
    name: &str,
) -> Result<Vec<Single>, HydrateError> {
    let buffer = ObjectBuffer::new(repository);
    let refs = repository.refs()?;
    let policy = Policy::read(&refs, &buffer)?;
    let tree = dry_tree(repository, &Place::server(), policy.plain.inputs(), dry_commit)?;
    let files = TreeFiles::new(repository, tree);
    let id = dry_commit.to_string();
    let discovered = policy.discover(&mut Discovery::default(), &files, None, None, &policy.making(renderers, &id));
    let discovered = discovered.map_err(HydrateError::tree(dry_commit))?;
    if let Some(why) = discovered.unsearched() {
        return Err(HydrateError::Unsearched(why.clone()));
    }
    let named: Vec<&Application> = discovered
        .applications
        .iter()
        .map(|app| &**app)
        .filter(|application| application.name.as_str() == name)
        .collect();
    let identities = recorded(&named, &policy.settings, &refs, &buffer);
    let context = render::Context { identities: &identities, ..render_context(&policy.settings, &files, &id) };
    let results = renderers.render(&named, &context, &|_| ());
    let copies = Copies::new(&policy, None, None);
    let mut found = Vec::new();
    for (application, result) in named.into_iter().zip(results) {
        let (manifest, warnings) = match result {
            Ok(rendered) => {
                let manifests = copies.in_place(application, rendered.manifests, (&rendered.reads, &files));
                (Ok(policy.writer.manifest(manifests)), [rendered.warnings, rendered.lost_keys].concat())
            }
            Err(render::Failure::Mistakes(mistakes)) => (Err(mistakes), Vec::new()),
            Err(render::Failure::World(error)) => return Err(error.into()),
        };
        found.push(Single { application: application.clone(), manifest, warnings });
    }
    Ok(found)
}
