//! `helmCharts`: which chart, with which values. Rendering it is the Helm engine's work.

pub(crate) mod request;

use dry_files::diag::{Diagnostic, shell_word};
use dry_files::inputs::ChartInput;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Value};

use super::super::error::{Error, Result};
use super::super::kustomization::{HelmChart, HelmGlobals};
use super::super::loader::{self, Loader};
use super::super::merge::{self, NewItems};
use super::super::session::Session;
use super::super::text;
use super::super::version::Difference;

pub(crate) use request::{ChartRequest, RenderChart, ValuesFile};

/// A chart that is ready to be rendered.
#[derive(Debug)]
pub(crate) struct Chart {
    request: ChartRequest,
}

impl Chart {
    /// Checks the fields of one entry and finds its files.
    pub(crate) fn configure(
        session: &mut Session<'_>,
        loader: &Loader,
        globals: &HelmGlobals,
        mut chart: HelmChart,
    ) -> Result<Self> {
        if !session.options.enable_helm {
            return Err(Error::new("must specify --enable-helm").hint("render with `--enable-helm`"));
        }
        if chart.name.is_empty() {
            return Err(Error::new("chart name cannot be empty"));
        }
        if chart.kube_version.is_empty() {
            chart.kube_version.clone_from(&session.options.helm_kube_version);
        }
        if chart.api_versions.as_ref().is_none_or(Vec::is_empty) {
            chart.api_versions = Some(session.options.helm_api_versions.clone());
        }
        let home = if globals.chart_home.is_empty() { "charts" } else { &globals.chart_home };
        let home = if chart.version.is_empty() || chart.repo.is_empty() {
            home.to_owned()
        } else {
            format!("{home}/{}-{}", chart.name, chart.version)
        };
        let dir = format!("{home}/{}", chart.name);
        if chart.values_file.is_empty() {
            chart.values_file = format!("{dir}/values.yaml");
        }
        let kept = Kept::find(session.view, loader, &dir, &chart)?;
        let mut values = Vec::new();
        for file in chart.additional_values_files.iter().flatten() {
            let path = kept.file(session.view, loader, file);
            values.push(ValuesFile::Path(path.map_err(|error| error.prefix("could not load additionalValuesFile"))?));
        }
        match chart.values_merge.as_str() {
            "" | "merge" | "override" | "replace" => {}
            _ => return Err(Error::new("valuesMerge must be one of [merge override replace]")),
        }
        let chart_dir = kept.directory(session.view, loader, &chart)?;
        values.insert(0, first_values(session, (loader, &kept), &chart)?);
        if chart.release_name.is_empty() && chart.name_template.is_empty() {
            return Err(Error::unsupported(
                format!("helm chart '{}' has no releaseName: Helm would make up a new one for each render", chart.name),
                "set `releaseName`",
            ));
        }
        if !chart.release_name.is_empty() && !chart.name_template.is_empty() {
            return Err(Error::new("cannot set --name-template and also specify a name")
                .hint("keep one of `releaseName` and `nameTemplate`"));
        }
        Ok(Self {
            request: ChartRequest {
                by_helm_three: !session.has(Difference::HelmFour),
                chart: chart_dir,
                inputs: loader.inputs(),
                release_name: Some(chart.release_name).filter(|name| !name.is_empty()),
                name_template: chart.name_template,
                namespace: chart.namespace,
                values,
                api_versions: chart.api_versions.unwrap_or_default(),
                kube_version: chart.kube_version,
                include_crds: chart.include_crds,
                skip_tests: chart.skip_tests,
                skip_hooks: chart.skip_hooks,
            },
        })
    }

    /// The manifests of the chart.
    pub(crate) fn render(&self, session: &Session<'_>) -> Result<String> {
        let Some(charts) = session.charts else {
            return Err(Error::unsupported(
                format!("helmCharts: the chart '{}' cannot be rendered here", self.request.chart),
                "use a Helm Application for the chart",
            ));
        };
        charts.render(session.view, &self.request).map_err(not_rendered)
    }
}

fn not_rendered(diagnostic: Diagnostic) -> Error {
    let mut error = Error::new(diagnostic.message);
    if let Some(span) = diagnostic.span {
        error = error.at(span);
    }
    if let Some(hint) = diagnostic.hint {
        error = error.hint(hint);
    }
    error
}

/// Where a chart is.
struct Kept {
    /// Where Kustomize looks for it.
    place: RepoPath,
    /// Where it is kept instead; none where it is in its place, or not here at all.
    elsewhere: Option<RepoPath>,
}

impl Kept {
    fn find(view: &View<'_>, loader: &Loader, dir: &str, chart: &HelmChart) -> Result<Self> {
        let place = loader.root().resolve(dir).map_err(|error| Error::new(format!("'{dir}': {error}")))?;
        let elsewhere = match view.kind(&place)? {
            Some(Kind::Directory) => None,
            _ if chart.repo.is_empty() => None,
            _ => loader.inputs().chart(view, &wanted(chart))?,
        };
        Ok(Self { place, elsewhere })
    }

    /// The directory of the chart.
    fn directory(&self, view: &View<'_>, loader: &Loader, chart: &HelmChart) -> Result<RepoPath> {
        let Self { place, elsewhere } = self;
        if let Some(elsewhere) = elsewhere {
            return Ok(elsewhere.clone());
        }
        if view.kind(place)? == Some(Kind::Directory) {
            loader.inputs().judge_chart(view, &wanted(chart), std::slice::from_ref(place), &[])?;
            return Ok(view.real_path(place)?);
        }
        if chart.repo.is_empty() {
            return Err(Error::new(format!("no repo specified for pull, no chart found at '{place}'")));
        }
        Err(Error::unsupported(
            format!("helm chart '{}' of '{}' is not in this repository", chart.name, chart.repo),
            format!(
                "run `git hydrate vendor`, or at the top of the repository `{}`; commit what it writes, with `git add --force` where a .gitignore leaves it out",
                pull(place, chart)
            ),
        ))
    }

    /// A file that a kustomization names. One of the chart is where the chart is.
    fn file(&self, view: &View<'_>, loader: &Loader, text: &str) -> Result<RepoPath> {
        let named = loader.root().resolve(text).ok();
        let below = named.as_ref().and_then(|path| path.strip_prefix(&self.place));
        match self.elsewhere.as_ref().zip(below) {
            Some((elsewhere, below)) if view.kind(&elsewhere.join(&below))? == Some(Kind::File) => {
                Ok(elsewhere.join(&below))
            }
            _ => loader.file(view, text),
        }
    }
}

fn wanted(chart: &HelmChart) -> ChartInput<'_> {
    ChartInput { repository: &chart.repo, name: &chart.name, version: &chart.version }
}

/// The command that brings a chart to `path`.
///
/// Reference: kustomize 5.8 plugin/builtin/helmchartinflationgenerator `pullCommand`.
fn pull(path: &RepoPath, chart: &HelmChart) -> String {
    let dir = path.parent().filter(|dir| !dir.is_root());
    let dir = dir.as_ref().map_or(".", RepoPath::as_str);
    let source = match chart.repo.starts_with("oci://") {
        true => shell_word(&format!("{}/{}", chart.repo.trim_end_matches('/'), chart.name)),
        false => format!("{} --repo {}", shell_word(&chart.name), shell_word(&chart.repo)),
    };
    let version = match chart.version.is_empty() {
        true => String::new(),
        false => format!(" --version {}", shell_word(&chart.version)),
    };
    format!("helm pull --untar --untardir {} {source}{version}", shell_word(dir))
}

/// The values that the kustomization gives: its file, merged with its inline values if there are any.
fn first_values(session: &mut Session<'_>, (loader, kept): (&Loader, &Kept), chart: &HelmChart) -> Result<ValuesFile> {
    let inline = chart.values_inline.clone().unwrap_or_default();
    if inline.is_empty() {
        return Ok(ValuesFile::Path(kept.file(session.view, loader, &chart.values_file)?));
    }
    let inline = Value::Mapping(inline);
    if chart.values_merge == "replace" {
        return Ok(ValuesFile::Text(marshal(&inline)?));
    }
    let blob = loader::read(session.view, &kept.file(session.view, loader, &chart.values_file)?)?;
    let tree = &mut session.tree;
    let own = match yaml::parse_first(&blob.data, &text::limits()) {
        Ok(Some(node)) => {
            let node = yaml::resolve_aliases(node, &text::limits()).map_err(|fault| text::error(&fault))?;
            text::add_document(tree, node)?
        }
        Ok(None) => return Err(Error::new("could not parse values file into rnode: EOF")),
        Err(fault) => return Err(text::error(&fault).prefix("could not parse values file into rnode")),
    };
    let inline = text::from_json(tree, &inline);
    let (patch, target) = if chart.values_merge == "merge" { (own, inline) } else { (inline, own) };
    merge::merge(tree, &session.schema, patch, target, NewItems::Last)
        .map_err(|error| error.prefix("could not merge values"))?;
    Ok(ValuesFile::Text(marshal(&text::to_value(tree, target)?)?))
}

fn marshal(value: &Value) -> Result<String> {
    yaml::sigs::marshal(value).map_err(|fault| text::error(&fault))
}
