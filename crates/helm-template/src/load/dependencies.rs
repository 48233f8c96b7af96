//! Dependencies that are elsewhere in the repository.

use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::inputs::{ChartInput, InputError};
use dry_files::path::RepoPath;
use go_yaml::Limits;

use super::Source;
use super::walk::Total;
use crate::chart::Chart;
use crate::error::{Error, ErrorKind};
use crate::metadata::Dependency;

/// Adds the charts that dependencies name by `file://` and `charts/` lacks, with all that those depend on in turn, and those that
/// are kept elsewhere.
///
/// `outer` are the directories of the charts that led here. A dependency that is missing still is an error.
pub(super) fn resolve(source: Source<'_>, chart: &mut Chart, outer: &mut Vec<RepoPath>) -> Result<(), Error> {
    let dir = chart.origin.parent().unwrap_or_default();
    outer.push(dir.clone());
    let mut missing = Vec::new();
    for (index, dependency) in chart.metadata.dependencies.clone().into_iter().flatten().enumerate() {
        let is_locked = |locked: &&Dependency| locked.name == dependency.name;
        let all = chart.locked.as_deref().unwrap_or_default();
        let locked = all.get(index).filter(is_locked).or_else(|| all.iter().find(is_locked));
        let range = locked.map_or(&dependency.version, |locked| &locked.version).clone();
        if chart.charts.iter().any(|subchart| subchart.name() == dependency.name) {
            judge(source, chart, &dependency, &range)?;
            continue;
        }
        let Some(relative) = dependency.repository.strip_prefix("file://") else {
            missing.push(dependency.name.clone());
            continue;
        };
        let span = || place(source, chart, &dependency.name);
        let path = dir.resolve(relative).map_err(|error| {
            let kind = ErrorKind::MissingDependencies(vec![dependency.name.clone()]);
            kind.at(span()).hint(format!("the repository {} cannot be used: {error}", dependency.repository))
        })?;
        if outer.contains(&path) {
            let kind =
                ErrorKind::DependencyCycle { name: dependency.name.clone(), path, outer: chart.metadata.name.clone() };
            return Err(kind.at(span()));
        }
        let mut found = super::directory(source, &path).map_err(|error| error.at_dependency(&path, span()))?;
        if !crate::version_fits(&range, &found.metadata.version) {
            let hint = format!("run `helm dependency update {dir}`, or change the version in Chart.yaml");
            let kind = ErrorKind::DependencyVersion {
                name: dependency.name.clone(),
                path,
                found: found.metadata.version,
                range,
            };
            return Err(kind.at(span()).hint(hint));
        }
        resolve(source, &mut found, outer)?;
        chart.charts.push(Arc::new(found));
    }
    outer.pop();
    add_kept(source, chart, &dir, &mut missing)?;
    if missing.is_empty() {
        return Ok(());
    }
    let hint = format!(
        "run `git hydrate vendor`, or `helm dependency update {dir}`, and commit {dir}/charts, with `git add --force` where a .gitignore leaves \
         it out"
    );
    let span = missing.first().map_or_else(|| Span::file(chart.origin.clone()), |first| place(source, chart, first));
    Err(ErrorKind::MissingDependencies(missing).at(span).hint(hint))
}

/// Where the file of a chart names a dependency; the file alone where it has it elsewhere, or cannot be read again.
fn place(source: Source<'_>, chart: &Chart, name: &str) -> Span {
    let found = || {
        let blob = source.view.read(&chart.origin).ok()?;
        let documents = go_yaml::parse(&blob.data, &Limits::default()).ok()?;
        let all = documents.first()?.get("dependencies")?.as_sequence()?;
        let named = all.iter().filter_map(|item| item.get("name")).find(|node| node.as_str() == Some(name))?;
        let span = Span::at(chart.origin.clone(), named.mark.line, named.mark.column);
        Some(span.quoting(&String::from_utf8_lossy(&blob.data)))
    };
    found().unwrap_or_else(|| Span::file(chart.origin.clone()))
}

/// Adds the charts of missing dependencies that are kept elsewhere: as `helm dependency build` would put them into `charts/`. All of
/// them together have the limits of a directory.
fn add_kept(source: Source<'_>, chart: &mut Chart, dir: &RepoPath, missing: &mut Vec<String>) -> Result<(), Error> {
    let names: Vec<&str> = missing.iter().map(String::as_str).collect();
    if names.is_empty() {
        return Ok(());
    }
    let kept = source.inputs.dependencies(source.view, dir, &names).map_err(|error| of_input(error, chart))?;
    let mut total = Total::default();
    for path in kept {
        let wrap = |error: Error| error.in_subchart(path.file_name().unwrap_or_default(), &chart.metadata.name);
        let found = super::unpacked(source, &path, &mut total).map_err(wrap)?;
        chart.charts.push(Arc::new(found));
    }
    // Helm looks for their own names, whatever they were fetched by.
    missing.retain(|name| chart.charts.iter().all(|subchart| subchart.name() != name));
    Ok(())
}

fn of_input(error: InputError, chart: &Chart) -> Error {
    match error {
        InputError::World(error) => error.into(),
        InputError::Mistake(mistake) => {
            let Diagnostic { message, span, hint, .. } = *mistake;
            let error = ErrorKind::Input(message).at(span.unwrap_or_else(|| Span::file(chart.origin.clone())));
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        }
    }
}

/// An error unless the charts that are kept of a dependency are those that were fetched for it.
fn judge(source: Source<'_>, chart: &Chart, dependency: &Dependency, version: &str) -> Result<(), Error> {
    let of_name = chart.charts.iter().filter(|subchart| subchart.name() == dependency.name);
    let places: Vec<RepoPath> = of_name.filter_map(|subchart| subchart.origin.parent()).collect();
    let is_taken = |subchart: &&Arc<Chart>| {
        subchart.name() == dependency.name && crate::version_fits(version, &subchart.metadata.version)
    };
    let fitting: Vec<RepoPath> =
        chart.charts.iter().filter(is_taken).filter_map(|subchart| subchart.origin.parent()).collect();
    let wanted = ChartInput { repository: &dependency.repository, name: &dependency.name, version };
    source.inputs.judge_chart(source.view, &wanted, &places, &fitting).map_err(|error| of_input(error, chart))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Helm;
    use dry_files::inputs::{GitInput, KeptDirectory};
    use dry_files::view::{MemoryFiles, View};

    /// Keeps the charts `a` and `b`.
    #[derive(Debug)]
    struct Two;

    impl dry_files::inputs::Inputs for Two {
        fn judge_chart(
            &self,
            _view: &View<'_>,
            _chart: &ChartInput<'_>,
            _places: &[RepoPath],
            _fitting: &[RepoPath],
        ) -> Result<(), InputError> {
            Ok(())
        }

        fn dependencies(
            &self,
            _view: &View<'_>,
            _chart: &RepoPath,
            names: &[&str],
        ) -> Result<Vec<RepoPath>, InputError> {
            Ok(names.iter().filter_map(|name| RepoPath::new(&format!("kept/{name}")).ok()).collect())
        }

        fn chart(&self, _view: &View<'_>, _chart: &ChartInput<'_>) -> Result<Option<RepoPath>, InputError> {
            Ok(None)
        }

        fn file(&self, _view: &View<'_>, _url: &str) -> Result<RepoPath, InputError> {
            unreachable!("charts name no files")
        }

        fn directory(&self, _view: &View<'_>, _directory: &GitInput<'_>) -> Result<KeptDirectory, InputError> {
            unreachable!("charts name no directories")
        }
    }

    fn charts(files: usize, name_of_b: &str) -> MemoryFiles {
        let dependency = |name: &str| format!("- {{name: {name}, version: 1.0.0, repository: 'https://h'}}\n");
        let own =
            format!("apiVersion: v2\nname: own\nversion: 0.1.0\ndependencies:\n{}{}", dependency("a"), dependency("b"));
        let mut all = MemoryFiles::new().file("own/Chart.yaml", own);
        for (dir, name) in [("a", "a"), ("b", name_of_b)] {
            let head = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n");
            all = all.file(&format!("kept/{dir}/Chart.yaml"), head);
            all = all.file(&format!("kept/{dir}/.helmignore"), "*.txt\n");
            for number in 0..files {
                all = all.file(&format!("kept/{dir}/{number}.txt"), "x");
            }
        }
        all
    }

    fn loaded(files: &MemoryFiles) -> Result<Arc<Chart>, Error> {
        let source = Source { view: &View::new(files), inputs: &Two, helm: Helm::default() };
        super::super::load(source, &RepoPath::new("own").expect("plain"))
    }

    #[test]
    fn charts_that_are_kept_elsewhere_count_as_archives() {
        let chart = loaded(&charts(2, "b")).expect("both are kept");
        let names: Vec<&str> = chart.charts.iter().map(|subchart| subchart.name()).collect();
        assert_eq!(names, ["a", "b"]);
        assert!(chart.charts.iter().all(|subchart| subchart.files.len() == 3), "no rule hides one");
    }

    #[test]
    fn a_chart_of_another_name_is_missing_still() {
        let error = loaded(&charts(0, "c")).expect_err("Helm looks for `b`");
        assert!(error.to_string().ends_with("missing in charts/ directory: b"), "{error}");
    }
}
