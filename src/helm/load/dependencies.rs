//! Dependencies that stand elsewhere in the repository.

use std::sync::Arc;

use crate::diag::Span;
use crate::helm::chart::Chart;
use crate::helm::error::{Error, ErrorKind};
use crate::path::RepoPath;
use crate::view::View;

/// Adds the charts that dependencies name by `file://` and `charts/` lacks, with all that those depend on in turn.
///
/// `outer` are the directories of the charts that led here. A dependency that is missing still is an error.
pub(super) fn resolve(view: &View<'_>, chart: &mut Chart, outer: &mut Vec<RepoPath>) -> Result<(), Error> {
    let dir = chart.origin.parent().unwrap_or_default();
    outer.push(dir.clone());
    let mut missing = Vec::new();
    for dependency in chart.metadata.dependencies.clone().into_iter().flatten() {
        if chart.charts.iter().any(|subchart| subchart.name() == dependency.name) {
            continue;
        }
        let Some(relative) = dependency.repository.strip_prefix("file://") else {
            missing.push(dependency.name);
            continue;
        };
        let span = || Span::file(chart.origin.clone());
        let path = dir.resolve(relative).map_err(|error| {
            let kind = ErrorKind::MissingDependencies(vec![dependency.name.clone()]);
            kind.at(span()).hint(format!("the repository {} can't be used: {error}", dependency.repository))
        })?;
        if outer.contains(&path) {
            let kind = ErrorKind::DependencyCycle { name: dependency.name, path, outer: chart.metadata.name.clone() };
            return Err(kind.at(span()));
        }
        let mut found = super::directory(view, &path).map_err(|error| error.at(span()))?;
        let locked = chart.locked.iter().flatten().find(|locked| locked.name == dependency.name);
        let range = locked.map_or(&dependency.version, |locked| &locked.version);
        if !crate::helm::version_fits(range, &found.metadata.version) {
            let hint = format!("run `helm dependency update {dir}`, or change the version in Chart.yaml");
            let kind = ErrorKind::DependencyVersion {
                name: dependency.name,
                path,
                found: found.metadata.version,
                range: range.clone(),
            };
            return Err(kind.at(span()).hint(hint));
        }
        resolve(view, &mut found, outer)?;
        chart.charts.push(Arc::new(found));
    }
    outer.pop();
    if missing.is_empty() {
        return Ok(());
    }
    let hint = format!("run `helm dependency update {dir}` and commit {dir}/charts");
    Err(ErrorKind::MissingDependencies(missing).at(Span::file(chart.origin.clone())).hint(hint))
}
