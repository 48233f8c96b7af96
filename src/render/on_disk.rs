//! A directory of plain manifests on disk, rendered as the source of an Application is.

use super::checkout::Checkout;
use super::exec::{Exec, Site, Tools};
use super::machine::runner;
use super::{Error, Failure, Machine};
use crate::argo::{Directory, Jsonnet};
use crate::manifest::Manifest;
use crate::render::directory;
use crate::render::jsonnet;
use crate::versions;
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Files, View};
use inputs::InputsDir;

/// The objects of `dir`; what is odd but no error becomes a warning.
pub(crate) fn render_directory(
    files: &dyn Files,
    dir: &RepoPath,
    options: &Directory,
    machine: &Machine,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<Manifest>, Failure> {
    let exec = Exec::new(runner(machine), Tools::default());
    let checkout = Checkout::new(files, exec.runner().scratch("checkout").map_err(Error::Program)?);
    let view = View::new(files);
    let inputs = InputsDir::default();
    let by_file = directory::render(&view, dir, options, &inputs, directory::BYTES_MAX, warnings, |file| {
        evaluate(&exec, &checkout, &view, (dir, file), &options.jsonnet)
    })?;
    Ok(by_file.into_iter().flat_map(|(_, manifests)| manifests).collect())
}

fn evaluate(
    exec: &Exec,
    checkout: &Checkout<'_>,
    view: &View<'_>,
    (dir, file): (&RepoPath, &RepoPath),
    options: &Jsonnet,
) -> Result<Vec<Manifest>, Failure> {
    let place = Span::file(file.clone());
    let libraries = jsonnet::libraries(dir, options)?;
    let closure = jsonnet::closure(view, file, &libraries, options);
    let closure = closure.map_err(|error| error.or_at(|| place.clone()))?;
    let site = Site { checkout, view, place: &place, stop: view.stop() };
    let json = exec.jsonnet(&site, file, &libraries, &closure, (options, versions::Jsonnet::default()))?;
    jsonnet::objects(file, &json).map_err(Failure::mistake)
}
