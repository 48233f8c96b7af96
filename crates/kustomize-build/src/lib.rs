//! `kustomize build`, over the files of a view.
//!
//! A kustomization names resources, bases and generators, and what is changed in them. [`build`] gives the resulting
//! objects in output order: the same bytes as Kustomize of the version that the options name, and an error where it refuses.
//!
//! The story: [`accumulate`] reads a kustomization and everything it names, from the leaves up; [`transform`] is what
//! changes resources, one file a transformer; [`merge`] is strategic merge, by the types in [`schema`]; at the end,
//! `finish` does what must see the whole: hashes, name references, variables. All nodes of a build live in one
//! [`tree`], because Kustomize's nodes are shared by pointer and its output shows it.
//!
//! Guarantees: reads only through the view, never outside of it; no clock, no environment, no connection, no process;
//! bounded depth, nodes and number of kustomizations. Remote files, bases and charts are those that the tree keeps; without
//! one, and for plugins that are programs or containers, a kustomization is refused by name.

mod accumulate;
mod charts;
mod config;
mod decode;
mod error;
mod field_spec;
mod generate;
mod id;
mod json_patch;
mod kustomization;
mod label_selector;
mod loader;
mod merge;
mod options;
mod origin;
mod path;
mod pattern;
mod place;
mod read;
mod remote;
mod resource;
mod resources;
mod schema;
mod selector;
mod session;
#[cfg(test)]
mod tests;
mod transform;
mod tree;
mod version;

use dry_files::path::RepoPath;
use dry_files::view::View;
use go_yaml::{self as yaml, Value};

pub use accumulate::INSTEAD_OF_DECRYPTING;
use accumulate::{Accumulator, Target};
use kustomization::Kustomization;
use loader::Loader;
use session::Session;
use transform::{Labels, Transformer};

pub use charts::NativeCharts;
pub use error::Error;
pub use generate::helm::request::{ChartRequest, RenderChart, ValuesFile};
pub use kustomization::FILE_NAMES;
pub use options::{LoadRestrictor, Options, Reorder};
pub use remote::{Remote, is_url};
pub use tree::Limits;
use tree::text;
use version::Switches;
pub use version::{Kustomize, UnknownKustomize};

/// What a build gives.
#[derive(Debug, Clone, PartialEq)]
pub struct Build {
    /// The objects, in the order of the output.
    pub resources: Vec<Value>,
    /// What Kustomize says on standard error, a line each: deprecated fields, variables that nothing uses.
    pub warnings: Vec<String>,
    /// What the kustomization in the directory itself asks for although nothing is there to change, in silence: patches and
    /// replacements whose target selects no object, images with a name that no object uses.
    pub unmatched: Vec<Error>,
    /// The file that each object is taken from, or that configures what makes it, from the directory that is built; none where
    /// that is in another repository. Empty unless the options ask for it.
    pub origins: Vec<Option<String>>,
}

impl Build {
    /// What `kustomize build` writes to standard output.
    ///
    /// # Errors
    ///
    /// A string has a character that YAML does not allow.
    pub fn to_yaml(&self) -> Result<String, Error> {
        let mut text = String::new();
        for (index, resource) in self.resources.iter().enumerate() {
            if index > 0 {
                text.push_str("---\n");
            }
            let document = yaml::sigs::marshal(resource).map_err(|fault| text::error(&fault))?;
            text.push_str(&document);
        }
        Ok(text)
    }
}

/// Builds the kustomization in the directory `dir`.
///
/// `charts` renders what `helmCharts` names; without it such a kustomization is refused.
///
/// # Errors
///
/// The kustomization or something that it names is wrong, or asks for what is not supported; or the view cannot be read
/// ([`Error::world`]).
pub fn build(
    view: &View<'_>,
    dir: &RepoPath,
    options: &Options,
    charts: Option<&dyn RenderChart>,
) -> Result<Build, Error> {
    build_with(view, dir, options, Switches::of(options.version), charts)
}

/// Builds as [`build`] does, by these switches.
fn build_with(
    view: &View<'_>,
    dir: &RepoPath,
    options: &Options,
    switches: Switches,
    charts: Option<&dyn RenderChart>,
) -> Result<Build, Error> {
    let mut session = Session::new(view, options, switches, charts);
    let loader = Loader::new(view, dir, options.load_restrictor, options.inputs)?;
    let mut target = Target::load(&mut session, loader, options.kustomization.as_deref())?;
    target.set_schema(&mut session, true)?;
    target.track_origins(options.note_origins);
    let gathered = target.accumulate(&mut session, Accumulator::default())?;
    let finished = finish(&mut session, &target.kustomization, gathered).map_err(|error| target.locate(error))?;
    let (resources, origins) = finished;
    Ok(Build { resources, warnings: session.warnings, unmatched: session.unmatched, origins })
}

/// Whether Kustomize takes a text for resources; when a remote file is not such a text, it looks for a repository of that
/// URL.
pub fn holds_resources(text: &[u8]) -> bool {
    let mut tree = tree::Tree::new(Limits::default(), dry_files::view::Stop::default(), Switches::default());
    read::resources(&mut tree, text, read::Source::INLINE).is_ok()
}

/// What is done once, to everything that was gathered; with the origins, where they are asked for.
fn finish(
    session: &mut Session<'_>,
    kustomization: &Kustomization,
    mut gathered: Accumulator,
) -> error::Result<(Vec<Value>, Vec<Option<String>>)> {
    accumulate::finish(session, &mut gathered)?;
    if kustomization.sort_options.is_some() || session.options.reorder == Reorder::Legacy {
        transform::sort(session, &mut gathered.resources, kustomization.sort_options.as_deref())
            .map_err(|error| error.inside("sortOptions"))?;
    }
    let wants = |option: &str| kustomization.build_metadata.iter().flatten().any(|wanted| wanted == option);
    if session.options.managed_by_label || wants("managedByLabel") {
        let labels = Labels {
            labels: [("app.kubernetes.io/managed-by".to_owned(), format!("kustomize-v{}", session.options.version))]
                .into(),
            specs: vec![accumulate::metadata_labels()],
        };
        Transformer::Labels(labels).run(session, &mut gathered.resources)?;
    }
    let (origins, transformations) = (wants("originAnnotations"), wants("transformerAnnotations"));
    let mut resources = Vec::with_capacity(gathered.resources.len());
    let mut noted = Vec::new();
    for root in gathered.resources.roots() {
        if session.options.note_origins {
            noted.push(origin::file(&session.tree, root));
        }
        origin::clean(&mut session.tree, root, origins, transformations)?;
        let value = text::to_value(&session.tree, root).map_err(|error| {
            let id = resource::current_id(&session.tree, &session.schema, root).to_string();
            error.prefix(format!("writing {id}"))
        })?;
        resources.push(value);
    }
    Ok((resources, noted))
}
