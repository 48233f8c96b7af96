//! The charts of a kustomization, rendered by our own Helm.

use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::view::View;
use go_template as template;

use super::generate::helm::{ChartRequest, RenderChart, ValuesFile};
use helm_template::{self as helm, Effects, Helm, ValuesSource};

/// Renders charts in the same process.
#[derive(Debug, Clone, Default)]
pub struct NativeCharts {
    /// The Helm that they render as.
    pub helm: Helm,
    /// What random and clock functions do.
    pub effects: Effects,
    /// What their templates may take.
    pub limits: template::Limits,
    /// Whether only the objects of what is built count, and no comments.
    pub only_objects: bool,
    /// Charts that were loaded before.
    pub charts: Arc<helm::Charts>,
}

impl RenderChart for NativeCharts {
    fn render(&self, view: &View<'_>, request: &ChartRequest) -> Result<String, Diagnostic> {
        if request.by_helm_three && !self.helm.as_str().starts_with("3.") {
            let text = format!("this Kustomize renders charts by Helm 3, not by Helm {}", self.helm);
            return Err(Diagnostic::error(text).hint("take a Helm 3, or Kustomize 5.8.1"));
        }
        if request.name_template.contains("{{") {
            let text = format!("`nameTemplate: {}` with template actions is not supported", request.name_template);
            return Err(Diagnostic::error(text).hint("write the name itself, or use `releaseName`"));
        }
        let (effects, stop) = (self.effects.clone(), view.stop().clone());
        let mut options = helm::Options { effects, stop, limits: self.limits, ..helm::Options::default() };
        let template = Some(&request.name_template).filter(|name| !name.is_empty());
        if let Some(name) = request.release_name.as_ref().or(template) {
            options.release_name.clone_from(name);
        }
        if !request.namespace.is_empty() {
            options.namespace.clone_from(&request.namespace);
        }
        options.helm = self.helm;
        options.inputs = request.inputs;
        options.only_objects = self.only_objects;
        options.values = request.values.iter().map(values).collect();
        options.api_versions.clone_from(&request.api_versions);
        options.kube_version = Some(request.kube_version.clone()).filter(|version| !version.is_empty());
        options.include_crds = request.include_crds;
        options.skip_tests = request.skip_tests;
        options.no_hooks = request.skip_hooks;
        let rendered = helm::render_kept(&self.charts, view, &request.chart, &options);
        let rendered = rendered.map_err(|error| with_cure(error, view, request, &options).diagnostic())?;
        Ok(rendered.text)
    }
}

/// For a refusal, the chart's first refusal, which has its cure; any other error as it is.
fn with_cure(error: helm::Error, view: &View<'_>, request: &ChartRequest, options: &helm::Options) -> helm::Error {
    if !error.is_refusal() {
        return error;
    }
    let refusals = helm::refusals(view, &request.chart, options).unwrap_or_default();
    refusals.into_iter().next().unwrap_or(error)
}

fn values(file: &ValuesFile) -> ValuesSource {
    match file {
        ValuesFile::Path(path) => ValuesSource::File(path.clone()),
        ValuesFile::Text(text) => ValuesSource::Text { name: "valuesInline".to_owned(), text: text.clone() },
    }
}
