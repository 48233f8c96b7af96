//! Templates of the settings, in either of two languages.

mod go;
mod jinja;

use dry_files::diag::Diagnostic;
use go_template::Value;

use super::json::Json;
use go::Go;
use jinja::Jinja;

/// How many steps one template may take.
const STEPS_MAX: u64 = 1_000_000;
/// How long the result of one template may be.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// What Argo CD's own templates end with; all others are minijinja.
const GO_SUFFIX: &str = ".tmpl";

/// A template that compiles.
#[derive(Debug)]
pub(super) enum Template {
    /// In minijinja.
    Jinja(Box<Jinja>),
    /// In Go's template language with the functions of Sprig, as in the ConfigMap `argocd-cm`.
    Go(Go),
}

impl Template {
    /// Compiles the text of the settings file `name`, in the language that its ending tells.
    pub(super) fn new(name: &'static str, text: &str) -> Result<Self, Diagnostic> {
        Ok(match name.ends_with(GO_SUFFIX) {
            true => Self::Go(Go::new(name, text)?),
            false => Self::Jinja(Box::new(Jinja::new(name, text)?)),
        })
    }

    /// The text of one of our own, in minijinja, which is compiled when it is needed first.
    pub(super) fn of_ours(name: &'static str, text: &'static str) -> Self {
        Self::Jinja(Box::new(Jinja::of_ours(name, text)))
    }

    /// The text that the template makes of the values of its language.
    pub(super) fn render(
        &self,
        jinja: impl FnOnce() -> Json,
        go: impl FnOnce() -> Value,
    ) -> Result<String, Diagnostic> {
        match self {
            Self::Jinja(template) => template.render(&jinja()),
            Self::Go(template) => template.render(go()),
        }
    }
}
