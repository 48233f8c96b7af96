//! What a kustomization asks of the Helm engine.

use dry_files::diag::Diagnostic;
use dry_files::inputs::Inputs;
use dry_files::path::RepoPath;
use dry_files::view::View;

/// One values file of a chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValuesFile {
    /// A file of the view.
    Path(RepoPath),
    /// Text that the kustomization has or makes.
    Text(String),
}

/// What `helm template` is asked for.
#[derive(Debug, Clone)]
pub struct ChartRequest {
    /// Whether Kustomize renders it by Helm 3 alone.
    pub by_helm_three: bool,
    /// The directory of the chart.
    pub chart: RepoPath,
    /// Which charts were fetched, and for what.
    pub inputs: &'static dyn Inputs,
    /// The name of the release; none when [`ChartRequest::name_template`] makes it.
    pub release_name: Option<String>,
    /// `--name-template`, empty for none.
    pub name_template: String,
    /// `--namespace`, empty for none.
    pub namespace: String,
    /// The values files, weakest first.
    pub values: Vec<ValuesFile>,
    /// `--api-versions`
    pub api_versions: Vec<String>,
    /// `--kube-version`, empty for none.
    pub kube_version: String,
    /// `--include-crds`
    pub include_crds: bool,
    /// `--skip-tests`
    pub skip_tests: bool,
    /// `--no-hooks`
    pub skip_hooks: bool,
}

/// The Helm engine, as far as a kustomization needs it.
pub trait RenderChart {
    /// What `helm template` writes to standard output.
    ///
    /// # Errors
    ///
    /// The chart is wrong, or it would render differently each time.
    fn render(&self, view: &View<'_>, request: &ChartRequest) -> std::result::Result<String, Diagnostic>;
}
