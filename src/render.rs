//! Renders Applications: chooses the engine for each source, and gathers manifests and diagnostics.

use crate::application::{Application, BranchName, Profile};
use crate::diag::Diagnostic;
use crate::git::Repository;
use crate::manifest::{self, Manifest};
use crate::settings::RendererName;
use crate::view::{Files, Kind, View, ViewError};

/// The tools and limits of this machine.
#[derive(Debug, Clone)]
pub struct Renderers;

/// What one Application renders to.
#[derive(Debug, Clone)]
pub struct Rendered {
    /// The objects, in the order of the engine.
    pub manifests: Vec<Manifest>,
    /// The commands that render the same with the official tools.
    pub commands: Vec<String>,
}

/// Why an Application was not rendered.
#[derive(Debug)]
pub enum Failure {
    /// Mistakes of the dry commit.
    Mistakes(Vec<Diagnostic>),
    /// The world failed.
    Machine(String),
}

/// What all Applications of a dry commit share.
pub struct Context<'a> {
    /// The dry tree.
    pub files: &'a dyn Files,
    /// Whose rules hold.
    pub profile: Profile,
    /// The full id of the dry commit.
    pub dry_commit: &'a str,
    /// What renders charts and kustomizations.
    pub renderer: RendererName,
    /// Template functions that may run although their results differ.
    pub nondeterministic: &'a [String],
}

impl Renderers {
    /// What git config `hydrate.*` says; `program` is this very program.
    pub fn from_config(_repository: &Repository, _program: &std::path::Path) -> Result<Self, crate::git::Error> {
        Ok(Self)
    }

    /// Renders Applications, the results in their order. `done` hears how many are ready.
    pub fn render(
        &self,
        applications: &[&Application],
        context: &Context<'_>,
        done: &dyn Fn(usize),
    ) -> Vec<Result<Rendered, Failure>> {
        let render = |(index, application): (usize, &&Application)| {
            let rendered = render(application, context);
            done(index + 1);
            rendered
        };
        applications.iter().enumerate().map(render).collect()
    }
}

fn render(application: &Application, context: &Context<'_>) -> Result<Rendered, Failure> {
    let view = View::new(context.files);
    let dir = &application.dry.path;
    let unreadable = |error: ViewError| match error {
        ViewError::Backend { .. } => Failure::Machine(error.to_string()),
        _ => {
            let diagnostic = Diagnostic::error(error.to_string());
            Failure::Mistakes(vec![diagnostic.at(application.places.dry_path.clone())])
        }
    };
    let mut manifests = Vec::new();
    for entry in view.list(dir).map_err(unreadable)?.iter().filter(|entry| entry.kind == Kind::File) {
        let Ok(path) = dir.child(&entry.name) else { continue };
        let content = view.read(&path).map_err(unreadable)?.data;
        let read = manifest::read(&content, manifest::Source::File(&path));
        manifests.extend(read.map_err(|unreadable| Failure::Mistakes(vec![unreadable.diagnostic]))?);
    }
    Ok(Rendered { manifests, commands: Vec::new() })
}

/// Objects that two Applications of one branch both render.
pub fn conflicts(_branch: &BranchName, _applications: &[&Application], _rendered: &[Rendered]) -> Vec<Diagnostic> {
    Vec::new()
}
