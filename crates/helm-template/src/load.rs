//! Charts from the files of a view: directories, packaged charts, and what they depend on.
//!
//! Reference: helm 4.2.3 pkg/chart/v2/loader. Cases `chart-*`, `charts-*`, `dep-*`.

mod dependencies;
mod walk;

pub use walk::hidden;

use std::collections::BTreeMap;
use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::inputs::Inputs;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, Stop, View, ViewError};
use go_std::semver::Version;
use go_yaml::{Limits, Value, sigs};

use super::archive;
use super::chart::{Chart, File};
use super::error::{Error, ErrorKind};
use super::metadata::{self, Metadata, MetadataError};
use super::values;
use crate::version::Helm;
use crate::version::differences::ChartVersions;

/// How deep directories of a chart, and charts in charts, may nest.
const DEPTH_MAX: usize = 40;
/// How many files a chart may have, those of its subcharts included.
const FILES_MAX: usize = 50_000;

/// Where charts come from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The files.
    pub view: &'a View<'a>,
    /// Which of them were fetched, and for what.
    pub inputs: &'static dyn Inputs,
    /// The Helm to read them as.
    pub helm: Helm,
}

/// Loads the chart at a path: a directory or a packaged chart.
///
/// A dependency that is not in `charts/` but has a `file://` repository is loaded from there, as after `helm dependency
/// build` in each chart; so is one that the inputs keep elsewhere. Any other that is missing is an error, as in Helm, which names
/// only those of the chart itself.
pub(crate) fn load(source: Source<'_>, path: &RepoPath) -> Result<Arc<Chart>, Error> {
    let view = source.view;
    let mut chart = match view.kind(path)? {
        None => return Err(ErrorKind::PathNotFound(path.clone()).at(Span::file(path.clone()))),
        Some(Kind::File) => packaged(source, path)?,
        Some(Kind::Directory | Kind::Link) => directory(source, path)?,
        Some(Kind::Submodule) => return Err(ViewError::Submodule(path.clone()).into()),
    };
    dependencies::resolve(source, &mut chart, &mut Vec::new())?;
    if source.helm.switches().chart_versions == ChartVersions::Known && chart.metadata.api_version == "v3" {
        return Err(ErrorKind::InvalidApiVersion.at(Span::file(chart.origin)));
    }
    if chart.metadata.is_library() {
        return Err(ErrorKind::NotInstallable(chart.metadata.kind).at(Span::file(chart.origin)));
    }
    Ok(Arc::new(chart))
}

/// A file on its way into a chart.
#[derive(Debug, Clone)]
struct Raw {
    /// Below the chart that it belongs to.
    name: String,
    data: Arc<[u8]>,
    origin: RepoPath,
    /// Why there is no content.
    unreadable: Option<ViewError>,
}

impl Raw {
    /// The content of a file that the chart can't do without.
    fn content(&self) -> Result<&[u8], Error> {
        match &self.unreadable {
            Some(error) => Err(Error::from(error.clone()).at(Span::file(self.origin.clone()))),
            None => Ok(&self.data),
        }
    }

    fn into_file(self) -> File {
        File { name: self.name, data: self.data, origin: self.origin, unreadable: self.unreadable }
    }
}

fn directory(source: Source<'_>, dir: &RepoPath) -> Result<Chart, Error> {
    let path = dir.resolve("Chart.yaml").map_err(|_| ErrorKind::NoChart(dir.clone()).error())?;
    let head = match source.view.read(&path) {
        Ok(blob) => blob.data,
        Err(error) if error.is_missing() || matches!(error, ViewError::NotDirectory(_)) => {
            return Err(ErrorKind::NoChart(dir.clone()).at(Span::file(dir.clone())));
        }
        Err(error) => return Err(error.into()),
    };
    check_version(source.helm, &path, &head)?;
    chart_of(source, walk::walk(source, dir)?, dir, 0)
}

/// A chart that was fetched for a dependency and unpacked: it counts as its archive in `charts/`.
fn unpacked(source: Source<'_>, dir: &RepoPath, total: &mut walk::Total) -> Result<Chart, Error> {
    let files = walk::whole(source, dir, total)?;
    if let Some(head) = files.iter().find(|file| file.name == "Chart.yaml") {
        check_version(source.helm, &head.origin, head.content()?)?;
    }
    chart_of(source, files, dir, 1)
}

fn packaged(source: Source<'_>, path: &RepoPath) -> Result<Chart, Error> {
    let data = source.view.read(path)?.data;
    let files = unpack(&data, path, source.helm).map_err(|error| error.at(Span::file(path.clone())))?;
    if let Some(head) = files.iter().find(|file| file.name == "Chart.yaml") {
        check_version(source.helm, &head.origin, &head.data)?;
    }
    chart_of(source, files, path, 0)
}

/// The files of a packaged chart; they get paths that lead through the archive.
fn unpack(data: &[u8], archive: &RepoPath, helm: Helm) -> Result<Vec<Raw>, Error> {
    let files = archive::read(data, archive::Limits::of(helm.switches().sizes))?;
    let raw = |file: archive::ArchiveFile| {
        let origin = archive.resolve(&file.name).unwrap_or_else(|_| archive.clone());
        Raw { name: file.name, data: file.data, origin, unreadable: None }
    };
    Ok(files.into_iter().map(raw).collect())
}

/// Looks at the `apiVersion` before anything else, as Helm does to choose its loader.
fn check_version(helm: Helm, path: &RepoPath, text: &[u8]) -> Result<(), Error> {
    if helm.switches().chart_versions == ChartVersions::Any {
        return Ok(());
    }
    use super::fields::{Place, object, text as field_text};
    use go_std::json::is_field;
    let value = read_yaml("Chart.yaml", path, text)?;
    let wrong = |error: super::fields::WrongType| {
        ErrorKind::File { name: "Chart.yaml".to_owned(), reason: error.to_string() }.at(Span::file(path.clone()))
    };
    let Some(entries) = object(&value, Place { of: "", path: "" }, "loader.chartBase").map_err(wrong)? else {
        return Ok(());
    };
    for (key, value) in entries.iter().filter(|(key, _)| is_field("apiVersion", key)) {
        let place = Place { of: "chartBase", path: "apiVersion" };
        let version = field_text(value, place).map_err(wrong)?.unwrap_or_default();
        if !["", "v1", "v2", "v3"].contains(&version.as_str()) {
            let span = super::place_of(path, text, &[key.as_str()]);
            return Err(ErrorKind::UnsupportedVersion.at(span).hint("write `apiVersion: v2`"));
        }
    }
    Ok(())
}

fn read_yaml(name: &str, path: &RepoPath, text: &[u8]) -> Result<Value, Error> {
    sigs::unmarshal(text, &Limits::default()).map_err(|error| {
        let span = Span::at(path.clone(), error.line(), error.column()).quoting(&String::from_utf8_lossy(text));
        ErrorKind::File { name: name.to_owned(), reason: error.to_string() }.at(span)
    })
}

/// Makes a chart of its files, while there is time: those in an archive pass the view only as one file. `origin` is where
/// it was found, `depth` in how many charts it is.
fn chart_of(source: Source<'_>, files: Vec<Raw>, origin: &RepoPath, depth: usize) -> Result<Chart, Error> {
    source.view.go_on(origin)?;
    if depth > DEPTH_MAX {
        return Err(ErrorKind::TooDeep(DEPTH_MAX).at(Span::file(origin.clone())));
    }
    let mut chart = Chart {
        metadata: Metadata::default(),
        values: go_yaml::Mapping::new(),
        schema: None,
        templates: Vec::new(),
        files: Vec::new(),
        charts: Vec::new(),
        locked: None,
        origin: origin.clone(),
        cache: super::chart::Cache::default(),
    };
    let mut has_metadata = false;
    for file in files.iter().filter(|file| file.name == "Chart.yaml") {
        has_metadata = true;
        chart.origin = file.origin.clone();
        merge_metadata(&mut chart.metadata, file)?;
        if chart.metadata.api_version.is_empty() {
            chart.metadata.api_version = "v1".to_owned();
        }
    }
    let mut entries: BTreeMap<String, Vec<Raw>> = BTreeMap::new();
    for file in files {
        match file.name.as_str() {
            "Chart.yaml" => {}
            "Chart.lock" => chart.locked = Some(lock(&file)?),
            "values.yaml" => chart.values = default_values(&file, source.helm)?,
            "values.schema.json" => {
                file.content()?;
                chart.schema = Some(file.into_file());
            }
            "requirements.yaml" => {
                has_metadata = true;
                merge_metadata(&mut chart.metadata, &file)?;
                if chart.metadata.api_version == "v1" {
                    chart.files.push(file.into_file());
                }
            }
            "requirements.lock" => {
                has_metadata = true;
                chart.locked = Some(lock(&file)?);
                if chart.metadata.api_version == "v1" {
                    chart.files.push(file.into_file());
                }
            }
            name if name.starts_with("templates/") => {
                file.content()?;
                chart.templates.push(file.into_file());
            }
            name => match name.strip_prefix("charts/") {
                Some(below) if !below.ends_with(".prov") => {
                    let (entry, below) = (first_component(below).to_owned(), below.to_owned());
                    entries.entry(entry).or_default().push(Raw { name: below, ..file });
                }
                _ => chart.files.push(file.into_file()),
            },
        }
    }
    let in_chart_file = |error: ErrorKind| error.at(Span::file(chart.origin.clone()));
    if !has_metadata {
        return Err(in_chart_file(ErrorKind::NoChartFile));
    }
    chart
        .metadata
        .validate(source.helm.switches().dot_names, |text| Version::new(text).is_ok())
        .map_err(|invalid| in_chart_file(invalid.into()))?;
    for (entry, files) in entries {
        let wrap = |error: Error| error.in_subchart(&entry, &chart.metadata.name);
        let subchart = match files.as_slice() {
            _ if entry.starts_with(['_', '.']) => continue,
            [file, ..] if entry.ends_with(".tgz") => {
                if file.name != entry {
                    let (chart, found) = (chart.metadata.name.clone(), file.name.clone());
                    let kind = ErrorKind::ArchiveDirectory { chart, entry, found };
                    return Err(kind.at(Span::file(file.origin.clone())));
                }
                let span = Span::file(file.origin.clone());
                let unpacked = file.content().and_then(|data| unpack(data, &file.origin, source.helm));
                unpacked
                    .and_then(|files| chart_of(source, files, &file.origin, depth + 1))
                    .map_err(|error| wrap(error.at(span)))?
            }
            _ => {
                let origin = entry_origin(&files, &entry).unwrap_or_else(|| origin.clone());
                let below = |file: Raw| Some(Raw { name: file.name.split_once('/')?.1.to_owned(), ..file });
                let files = files.into_iter().filter_map(below).collect();
                chart_of(source, files, &origin, depth + 1).map_err(wrap)?
            }
        };
        chart.charts.push(Arc::new(subchart));
    }
    Ok(chart)
}

/// Where the entry of `charts/` is that these files are below.
fn entry_origin(files: &[Raw], entry: &str) -> Option<RepoPath> {
    let file = files.first()?;
    let depth = file.name.split('/').count() - entry.split('/').count();
    (0..depth).try_fold(file.origin.clone(), |path, _| path.parent())
}

fn first_component(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn merge_metadata(metadata: &mut Metadata, file: &Raw) -> Result<(), Error> {
    let text = file.content()?;
    let value = read_yaml(&file.name, &file.origin, text)?;
    match metadata.merge(&value) {
        Ok(()) => Ok(()),
        Err(MetadataError::Invalid(invalid)) => Err(ErrorKind::from(invalid).at(Span::file(file.origin.clone()))),
        Err(MetadataError::WrongType(error)) => {
            let span = super::place_of(&file.origin, text, &error.keys().collect::<Vec<_>>());
            Err(ErrorKind::File { name: file.name.clone(), reason: error.to_string() }.at(span))
        }
    }
}

fn lock(file: &Raw) -> Result<Vec<metadata::Dependency>, Error> {
    let value = read_yaml(&file.name, &file.origin, file.content()?)?;
    metadata::lock(&value).map_err(|error| {
        ErrorKind::File { name: file.name.clone(), reason: error.to_string() }.at(Span::file(file.origin.clone()))
    })
}

fn default_values(file: &Raw, helm: Helm) -> Result<go_yaml::Mapping, Error> {
    let text = file.content()?;
    // No more than 5 MB.
    values::parse(text, helm.switches().values_files, &Stop::default()).map_err(|error| {
        let span = Span::at(file.origin.clone(), error.line, error.column).quoting(&String::from_utf8_lossy(text));
        ErrorKind::File { name: file.name.clone(), reason: error.to_string() }.at(span)
    })
}
