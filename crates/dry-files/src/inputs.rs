//! What renders need from other repositories and hosts. Engines ask for it; who keeps such inputs in the dry tree answers.

use std::fmt;

use crate::diag::{Diagnostic, Refusal};
use crate::path::RepoPath;
use crate::view::{View, ViewError};

/// A chart of a registry, as a dependency or a kustomization names it.
#[derive(Debug, Clone, Copy)]
pub struct ChartInput<'a> {
    /// The URL of its repository; empty when none is named.
    pub repository: &'a str,
    /// Its name there.
    pub name: &'a str,
    /// An exact version or a range; empty when any will do.
    pub version: &'a str,
}

/// A directory of a git repository.
#[derive(Debug, Clone, Copy)]
pub struct GitInput<'a> {
    /// As it is written, for messages.
    pub text: &'a str,
    /// What git would clone.
    pub url: &'a str,
    /// A branch, a tag or a commit; empty for the default branch.
    pub reference: &'a str,
    /// The directory below the root of the repository.
    pub directory: &'a str,
}

/// Where a directory of another repository is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDirectory {
    /// The directory.
    pub path: RepoPath,
    /// The root of its repository, out of which nothing below may lead.
    pub repository: RepoPath,
}

/// Why an input cannot be used.
#[derive(Debug, Clone)]
pub enum InputError {
    /// The repository that is rendered cannot be read: not a mistake of the dry commit.
    World(ViewError),
    /// A mistake of the dry commit; without a place where that is the place of who asks.
    Mistake(Box<Diagnostic>),
}

/// Finds inputs among the files of a dry tree.
///
/// Reads of an answer go through the view, so that they count as reads of the render.
pub trait Inputs: fmt::Debug + Send + Sync {
    /// Judges charts that a tool found where it looks itself: an error unless they are what was fetched for `chart`.
    ///
    /// `places` are the directories or archives of charts of that name; of these, the tool may take any in `fitting`.
    fn judge_chart(
        &self,
        view: &View<'_>,
        chart: &ChartInput<'_>,
        places: &[RepoPath],
        fitting: &[RepoPath],
    ) -> Result<(), InputError>;

    /// The charts that are kept where no tool looks for them, of the dependencies of a chart that are called one of `names`: the
    /// directory of each, once. None for one that is not kept.
    ///
    /// Errors: the lock file of the chart is of other dependencies.
    fn dependencies(&self, view: &View<'_>, chart: &RepoPath, names: &[&str]) -> Result<Vec<RepoPath>, InputError>;

    /// The directory of a chart that is kept where no tool looks for it; none where it is not kept.
    fn chart(&self, view: &View<'_>, chart: &ChartInput<'_>) -> Result<Option<RepoPath>, InputError>;

    /// The file that is kept of a URL.
    fn file(&self, view: &View<'_>, url: &str) -> Result<RepoPath, InputError>;

    /// The directory that is kept of a repository.
    fn directory(&self, view: &View<'_>, directory: &GitInput<'_>) -> Result<KeptDirectory, InputError>;
}

/// Keeps nothing: charts are taken as they are found, and what is elsewhere is refused.
#[derive(Debug, Clone, Copy)]
pub struct NoInputs;

impl Inputs for NoInputs {
    fn judge_chart(
        &self,
        _view: &View<'_>,
        _chart: &ChartInput<'_>,
        _places: &[RepoPath],
        _fitting: &[RepoPath],
    ) -> Result<(), InputError> {
        Ok(())
    }

    fn dependencies(&self, _view: &View<'_>, _chart: &RepoPath, _names: &[&str]) -> Result<Vec<RepoPath>, InputError> {
        Ok(Vec::new())
    }

    fn chart(&self, _view: &View<'_>, _chart: &ChartInput<'_>) -> Result<Option<RepoPath>, InputError> {
        Ok(None)
    }

    fn file(&self, _view: &View<'_>, url: &str) -> Result<RepoPath, InputError> {
        Err(elsewhere(url))
    }

    fn directory(&self, _view: &View<'_>, directory: &GitInput<'_>) -> Result<KeptDirectory, InputError> {
        Err(elsewhere(directory.text))
    }
}

impl Default for &'static dyn Inputs {
    fn default() -> Self {
        &NoInputs
    }
}

fn elsewhere(text: &str) -> InputError {
    let diagnostic = Diagnostic::error(format!("{text} is not in this repository"));
    InputError::Mistake(Box::new(diagnostic.hint("copy it into the repository").refused(Some(Refusal::Elsewhere))))
}
