//! Doubts of settings that may be anyone's: each settings are doubted once in a clone, and by `status` each time.

use dry_files::diag::Diagnostic;

use super::unpushed;
use crate::hydrate;
use crate::owners::place::Place;
use crate::owners::settings_named;
use crate::owners::setup::{Setup, Wake};
use crate::render::Renderers;
use crate::render::process::wall;
use crate::repo::{Repository, kept};
use crate::settings::SETTINGS_REF;

/// The file with the id of the settings that were doubted last.
const FILE: &str = "doubted";

/// Whether what is the state of the repository is asked for, or something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// What may be wrong there is part of the answer.
    State,
    /// What was said before need not be said again.
    Else,
}

/// What is said of settings that no branch was hydrated with and that others may have written; none of those that were changed
/// in this clone.
///
/// Errors: the repository cannot be read.
pub(super) fn doubt((repository, place): (&Repository, &Place), asked: Asked) -> anyhow::Result<Option<Diagnostic>> {
    let Some(settings) = repository.refs()?.get(SETTINGS_REF) else { return said(repository, place) };
    let id = settings.to_string();
    let is_known = asked == Asked::Else && kept::read(repository, FILE).is_ok_and(|known| known == id.as_bytes());
    if is_known || unpushed::settings(repository)?.is_some() {
        return Ok(None);
    }
    let doubt = said(repository, place)?;
    if doubt.is_some() {
        // Where nothing can be kept it is said again.
        let _ = kept::write(repository, FILE, id.as_bytes());
    }
    Ok(doubt)
}

fn said(repository: &Repository, place: &Place) -> anyhow::Result<Option<Diagnostic>> {
    let renderers = Renderers::from_config(repository, &super::machine()?)?;
    let setup = Setup::new(repository, place.clone(), Wake::Everything, &renderers, wall::now());
    Ok(settings_named::doubt(repository, place, |settings| hydrate::hydrates_alike(settings, &setup))?)
}
