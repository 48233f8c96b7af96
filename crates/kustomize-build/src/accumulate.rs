//! The build of one kustomization: its resources, with everything done to them.
//!
//! The order is Kustomize's: resources and bases, generators, components, transformers, validators, variables. What must
//! see the whole (hashes, name references, variables) is done once at the end, by [`finish`].
//!
//! Reference: kustomize api/internal/target/kusttarget.go, api/internal/accumulator/resaccumulator.go.

mod external;
mod generators;
mod transformers;
mod variables;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::config::{self, Config};
use super::error::{Error, Result};
use super::field_spec::{self, FieldSpec};
use super::id::OwnedGvk;
use super::kustomization::{COMPONENT, FILE_NAMES, Kustomization, Var};
use super::loader::Loader;
use super::origin::{self, Origin};
use super::place::Written;
use super::read::{self, Source};
use super::resource::{self, annotation};
use super::resources::{Resource, Resources};
use super::session::Session;
use super::transform;
use super::tree::{Kind, NodeId, Tree};
use super::version::Difference;

pub use external::INSTEAD_OF_DECRYPTING;
pub(crate) use transformers::metadata_labels;

/// How many kustomizations may name each other in a row.
const DEPTH_MAX: usize = 64;

/// How many kustomizations a build may read, each time it is named counted.
const KUSTOMIZATIONS_MAX: usize = 20_000;

/// What was gathered so far.
#[derive(Debug, Default)]
pub(crate) struct Accumulator {
    pub resources: Resources,
    config: Option<Arc<Config>>,
    /// By name, each with its kustomization and its number there.
    vars: BTreeMap<String, (Var, Rc<Written>, usize)>,
}

impl Accumulator {
    /// The field specs of all kustomizations so far.
    fn config(&self, session: &Session<'_>) -> Arc<Config> {
        self.config.clone().unwrap_or_else(|| Config::builtin(session.tree.switches))
    }

    fn merge_config(&mut self, session: &Session<'_>, added: &Arc<Config>) -> Result<()> {
        config::merge(&mut self.config, added, session.tree.switches)
    }

    /// Adds what a base has gathered.
    fn merge(&mut self, session: &Session<'_>, other: Accumulator) -> Result<()> {
        self.resources.append_all(&session.tree, &session.schema, other.resources)?;
        if let Some(config) = &other.config {
            self.merge_config(session, config)?;
        }
        for (var, written, index) in other.vars.into_values() {
            self.add_var(var, &written, index)?;
        }
        Ok(())
    }

    fn add_var(&mut self, var: Var, written: &Rc<Written>, index: usize) -> Result<()> {
        if self.vars.contains_key(&var.name) {
            let error = Error::new(format!("var '{}' already encountered", var.name));
            return Err(written.locate(error.inside("name").inside(index).inside("vars")));
        }
        self.vars.insert(var.name.clone(), (var, written.clone(), index));
        Ok(())
    }
}

/// A kustomization and the place where it is.
#[derive(Debug)]
pub(crate) struct Target {
    pub kustomization: Kustomization,
    loader: Rc<Loader>,
    file_name: &'static str,
    written: Rc<Written>,
    /// Set when origins are noted.
    origin: Option<Origin>,
    /// The namespace of the kustomizations above, for charts.
    helm_namespace: String,
}

impl Target {
    /// Reads the kustomization file of a directory; `content` replaces what is in it.
    pub(crate) fn load(session: &mut Session<'_>, loader: Rc<Loader>, content: Option<&[u8]>) -> Result<Self> {
        session.kustomizations += 1;
        if session.kustomizations > KUSTOMIZATIONS_MAX || loader.depth() > DEPTH_MAX {
            return Err(Error::unsupported(
                format!("more than {KUSTOMIZATIONS_MAX} kustomizations, or nested more than {DEPTH_MAX} deep"),
                "name each base once",
            ));
        }
        let mut found = None;
        for name in FILE_NAMES {
            match loader.load(session.view, name) {
                Ok(blob) if found.is_none() => found = Some((name, blob)),
                Ok(_) => {
                    return Err(Error::new(format!("Found multiple kustomization files under: {}\n", loader.root())));
                }
                Err(error) if error.is_final() => return Err(error),
                Err(_) => {}
            }
        }
        let Some((file_name, blob)) = found else {
            return Err(Error::new(format!(
                "unable to find one of 'kustomization.yaml', 'kustomization.yml' or 'Kustomization' in directory '{}'",
                loader.root()
            )));
        };
        let file = loader.root().child(file_name).unwrap_or_default();
        let written = Rc::new(Written { file, content: blob.data, edited: content.map(<[u8]>::to_vec) });
        let content = content.unwrap_or(&written.content);
        let kustomization = Kustomization::parse(content, loader.root(), session.tree.switches, &mut session.warnings)
            .map_err(|error| written.locate(error))?;
        Ok(Self { kustomization, loader, file_name, written, origin: None, helm_namespace: String::new() })
    }

    /// The error with its place in this kustomization, unless it has one.
    pub(crate) fn locate(&self, error: Error) -> Error {
        self.written.locate(error)
    }

    /// Sets the schema that `openapi` asks for.
    pub(crate) fn set_schema(&self, session: &mut Session<'_>, top: bool) -> Result<()> {
        let openapi = self.kustomization.openapi.clone().unwrap_or_default();
        self.load_schema(session, &openapi, top).map_err(|error| self.locate(error.inside("openapi")))
    }

    fn load_schema(&self, session: &mut Session<'_>, openapi: &BTreeMap<String, String>, top: bool) -> Result<()> {
        let file = match openapi.get("path") {
            Some(path) => Some(self.loader.load(session.view, path).map_err(|error| error.inside("path"))?.data),
            None => None,
        };
        session.schema.set(openapi, file.as_deref(), top)
    }

    /// Starts to note origins when the kustomization asks for them, or a caller `wants` them.
    pub(crate) fn track_origins(&mut self, wants: bool) {
        if wants || self.kustomization.build_metadata.as_ref().is_some_and(|options| !options.is_empty()) {
            self.origin = Some(Origin::default());
        }
    }

    /// Builds this kustomization on top of what is gathered: nothing for a kustomization of its own, everything that
    /// comes before it for a component.
    pub(crate) fn accumulate(&mut self, session: &mut Session<'_>, gathered: Accumulator) -> Result<Accumulator> {
        self.accumulate_all(session, gathered).map_err(|error| self.locate(error))
    }

    fn accumulate_all(&mut self, session: &mut Session<'_>, gathered: Accumulator) -> Result<Accumulator> {
        let mut gathered = gathered;
        for (index, path) in self.kustomization.resources.clone().iter().flatten().enumerate() {
            self.accumulate_resource(session, &mut gathered, path)
                .map_err(|error| error.prefix("accumulating resources").inside(index).inside("resources"))?;
        }
        let load = |path: &String| self.loader.open(session.view, path);
        let configurations = self.kustomization.configurations.iter().flatten().map(load);
        let config = config::of_files(configurations, session.tree.switches);
        let config = config.map_err(|error| error.inside("configurations"))?;
        gathered.merge_config(session, &config)?;
        if let Some(crds) = self.kustomization.crds.as_ref().filter(|crds| !crds.is_empty()) {
            let files = crds.iter().map(|path| (path.clone(), load(path)));
            let config = config::of_crds(files)
                .map_err(|error| error.prefix(format!("loading CRDs [{}]", crds.join(" "))).inside("crds"))?;
            gathered.merge_config(session, &Arc::new(config))?;
        }
        self.run_generators(session, &mut gathered)?;
        let components = self.kustomization.components.clone().unwrap_or_default();
        gathered = self
            .accumulate_components(session, gathered, &components)
            .map_err(|error| error.prefix("accumulating components"))?;
        self.run_transformers(session, &mut gathered)?;
        self.run_validators(session, &mut gathered)?;
        self.merge_vars(session, &mut gathered)?;
        Ok(gathered)
    }

    /// Adds what a path names: as a file of resources, else as the directory of a base.
    fn accumulate_resource(&mut self, session: &mut Session<'_>, gathered: &mut Accumulator, path: &str) -> Result<()> {
        let Err(as_file) = self.accumulate_file(session, gathered, path) else { return Ok(()) };
        if as_file.is_final() {
            return Err(as_file);
        }
        let loader = match self.loader.enter(session.view, path) {
            Ok(loader) => loader,
            Err(_) if as_file.is_malformed_yaml() => return Err(as_file),
            Err(error) if error.is_final() => return Err(error),
            Err(error) => {
                return Err(error.prefix(format!("accumulation err='{as_file}'")).caused_by(&as_file));
            }
        };
        let outer = std::mem::take(gathered);
        *gathered = self
            .accumulate_directory(session, outer, loader, path, false)
            .map_err(|error| error.prefix(format!("accumulation err='{as_file}'")))?;
        Ok(())
    }

    fn accumulate_file(&self, session: &mut Session<'_>, gathered: &mut Accumulator, path: &str) -> Result<()> {
        let read = self
            .read_file(session, path)
            .map_err(|error| error.prefix(format!("accumulating resources from '{path}'")))?;
        if let Some(origin) = &self.origin {
            let text = origin.append(path).text();
            for root in read.roots() {
                refuse_scalar_annotations(&mut session.tree, root)
                    .and_then(|()| resource::set_annotation(&mut session.tree, root, annotation::ORIGIN, &text))
                    .map_err(|error| error.prefix(format!("cannot add path annotation for '{path}'")))?;
            }
        }
        gathered
            .resources
            .append_all(&session.tree, &session.schema, read)
            .map_err(|error| error.prefix(format!("merging resources from '{path}'")))
    }

    fn read_file(&self, session: &mut Session<'_>, path: &str) -> Result<Resources> {
        let (file, blob) = self.loader.open(session.view, path)?;
        let roots = read::resources(&mut session.tree, &blob.data, Source { file: Some(&file) })
            .map_err(|error| in_file(error, path))?;
        let mut read = Resources::default();
        for root in roots {
            read.append(&session.tree, &session.schema, Resource::new(root))?;
        }
        Ok(read)
    }

    fn accumulate_components(
        &mut self,
        session: &mut Session<'_>,
        gathered: Accumulator,
        paths: &[String],
    ) -> Result<Accumulator> {
        let mut gathered = gathered;
        for (index, path) in paths.iter().enumerate() {
            let inside = |error: Error| error.inside(index).inside("components");
            let loader = self.loader.enter(session.view, path);
            let loader = loader.map_err(|error| inside(component_not_entered(error)))?;
            gathered = self
                .accumulate_directory(session, gathered, loader, path, true)
                .map_err(|error| inside(component_not_accumulated(error)))?;
        }
        Ok(gathered)
    }

    /// Builds the kustomization of another directory and adds the result.
    fn accumulate_directory(
        &mut self,
        session: &mut Session<'_>,
        gathered: Accumulator,
        loader: Rc<Loader>,
        path: &str,
        component: bool,
    ) -> Result<Accumulator> {
        let root = loader.root().clone();
        let mut sub = Target::load(session, loader, None)
            .map_err(|error| error.prefix(format!("couldn't make target for path '{root}'")))?;
        sub.kustomization.build_metadata.clone_from(&self.kustomization.build_metadata);
        sub.origin = self.origin.as_ref().map(|origin| origin.append(path));
        sub.helm_namespace = if self.kustomization.namespace.is_empty() {
            self.helm_namespace.clone()
        } else {
            self.kustomization.namespace.clone()
        };
        if session.has(Difference::NamespaceInherited) && sub.kustomization.namespace.is_empty() {
            sub.kustomization.namespace.clone_from(&self.kustomization.namespace);
        }
        sub.set_schema(session, false)?;
        let kind = &sub.kustomization.kind;
        if component && kind != COMPONENT {
            return Err(Error::new(format!("expected kind 'Component' for path '{root}' but got '{kind}'")));
        }
        if !component && kind == COMPONENT {
            return Err(Error::new(format!("expected kind != 'Component' for path '{root}'"))
                .hint("name it under `components` instead of `resources`"));
        }
        let in_path = |error: Error| error.prefix(format!("recursed accumulation of path '{root}'"));
        let (mut gathered, built) = if component {
            (Accumulator::default(), sub.accumulate(session, gathered).map_err(in_path)?)
        } else {
            (gathered, sub.accumulate(session, Accumulator::default()).map_err(in_path)?)
        };
        gathered.merge(session, built).map_err(|error| error.prefix(format!("recursed merging from path '{root}'")))?;
        Ok(gathered)
    }
}

/// Says in which file YAML is malformed.
fn in_file(error: Error, path: &str) -> Error {
    if error.is_malformed_yaml() { error.map_message(|message| format!("{message} in File: {path}")) } else { error }
}

/// Does what must see all resources: hashes, name references, variables; leaves out local configuration.
pub(crate) fn finish(session: &mut Session<'_>, gathered: &mut Accumulator) -> Result<()> {
    transform::add_hashes(session, &gathered.resources)?;
    gathered.resources.changed();
    let config = gathered.config(session);
    transform::fix_name_references(session, &gathered.resources, &config)?;
    gathered.resources.changed();
    variables::resolve(session, gathered, &config)?;
    gathered.resources.changed();
    let mut kept = Vec::with_capacity(gathered.resources.len());
    for found in gathered.resources.take() {
        if session.tree.node(found.root).is_nil_or_empty() {
            continue;
        }
        resource::check_metadata(&session.tree, found.root)?;
        let local = resource::annotation_of(&session.tree, found.root, annotation::LOCAL_CONFIG);
        if local.is_none_or(|local| local == "false") {
            kept.push(found);
        }
    }
    gathered.resources.rebuild(&session.tree, &session.schema, kept)
}

fn component_not_entered(error: Error) -> Error {
    match error.is_final() {
        true => error,
        false => error.map_message(|message| format!("loader.New {}", go_yaml::quote(message))),
    }
}

fn component_not_accumulated(error: Error) -> Error {
    error.map_message(|message| format!("accumulateDirectory: {}", go_yaml::quote(message)))
}

/// Refuses annotations that are a text or a number, which nothing can be added to.
fn refuse_scalar_annotations(tree: &mut Tree, root: NodeId) -> Result<()> {
    let spec = FieldSpec::new(OwnedGvk::default(), "metadata/annotations", false);
    field_spec::apply_to_any(tree, root, &spec, &mut |tree, annotations| match tree.kind(annotations) {
        Kind::Scalar => tree.expect(annotations, Kind::Mapping),
        Kind::None | Kind::Sequence | Kind::Mapping | Kind::Alias => Ok(()),
    })
}

/// Notes the origin of what has none yet.
fn add_origins(session: &mut Session<'_>, resources: &Resources, origin: Option<&Origin>) -> Result<()> {
    let Some(origin) = origin else { return Ok(()) };
    for root in resources.roots() {
        if resource::annotation_of(&session.tree, root, annotation::ORIGIN).is_none() {
            origin::set(&mut session.tree, root, origin)?;
        }
    }
    Ok(())
}
