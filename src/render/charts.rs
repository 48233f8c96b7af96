//! Whether a kustomization inflates Helm charts, which the official tool does only with a flag.

use std::collections::BTreeSet;

use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{self as yaml, Value};

use super::kustomization;

/// How many kustomizations are looked at.
const KUSTOMIZATIONS_MAX: usize = 10_000;

/// Whether the kustomization of a directory, or one that it names, has charts.
///
/// What cannot be read has none: the build says what is wrong with it.
pub(super) fn inflates_charts(view: &View<'_>, dir: &RepoPath, components: &[String]) -> bool {
    let mut known = BTreeSet::from([dir.clone()]);
    let mut todo = vec![dir.clone()];
    let named = components.iter().filter_map(|component| directory(view, dir, component));
    todo.extend(named.filter(|path| known.insert(path.clone())));
    while let Some(dir) = todo.pop() {
        let Ok(file) = kustomization::file(view, &dir) else { continue };
        let Some(content) = read(view, &file) else { continue };
        if has_charts(view, &dir, &content) {
            return true;
        }
        for field in ["resources", "bases", "components"] {
            let entries = kustomization::field(&content, field).and_then(Value::as_sequence).unwrap_or_default();
            let paths = entries.iter().filter_map(|entry| directory(view, &dir, entry.as_str()?));
            todo.extend(paths.filter(|path| known.len() < KUSTOMIZATIONS_MAX && known.insert(path.clone())));
        }
    }
    false
}

fn has_charts(view: &View<'_>, dir: &RepoPath, kustomization: &Value) -> bool {
    let list = |field| kustomization::field(kustomization, field).and_then(Value::as_sequence).unwrap_or_default();

    !list("helmCharts").is_empty()
        || !list("helmChartInflationGenerator").is_empty()
        || list("generators").iter().filter_map(Value::as_str).any(|text| is_chart(view, dir, text))
}

/// Whether an entry of `generators`, a file or an object as text, is a chart.
fn is_chart(view: &View<'_>, dir: &RepoPath, text: &str) -> bool {
    let file = dir.resolve(text).ok().filter(|path| matches!(view.kind(path), Ok(Some(Kind::File))));
    let content = file.map_or_else(|| parse(text.as_bytes()), |file| read(view, &file));
    content.is_some_and(|content| content.get("kind").and_then(Value::as_str) == Some("HelmChartInflationGenerator"))
}

pub(super) fn directory(view: &View<'_>, dir: &RepoPath, text: &str) -> Option<RepoPath> {
    let path = dir.resolve(text).ok()?;
    (view.kind(&path).ok()? == Some(Kind::Directory)).then_some(path)
}

fn read(view: &View<'_>, file: &RepoPath) -> Option<Value> {
    parse(&view.read(file).ok()?.data)
}

fn parse(text: &[u8]) -> Option<Value> {
    yaml::sigs::unmarshal(text, &yaml::Limits::default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    #[test]
    fn where_charts_are_found() {
        let files = MemoryFiles::new()
            .file("plain/kustomization.yaml", "resources: [../none, a.yaml, 'https://example.com/x?ref=y']\n")
            .file("plain/a.yaml", "kind: A\n")
            .file("own/kustomization.yaml", "helmCharts: [{name: c}]\n")
            .file("old/kustomization.yml", "HelmChartInflationGenerator: [{chartName: c}]\n")
            .file("base/Kustomization", "resources: [../own]\n")
            .file("component/kustomization.yaml", "components: [../base]\n")
            .file("generator/kustomization.yaml", "generators: [g.yaml]\n")
            .file("generator/g.yaml", "kind: HelmChartInflationGenerator\n")
            .file("inline/kustomization.yaml", "generators:\n- |\n  kind: HelmChartInflationGenerator\n")
            .file("empty/kustomization.yaml", "helmCharts: []\n")
            .file("loop/kustomization.yaml", "resources: [../loop]\n")
            .file("broken/kustomization.yaml", "resources: [\n");
        let view = View::new(&files);
        let rows = [
            ("plain", &[][..], false),
            ("own", &[], true),
            ("old", &[], true),
            ("base", &[], true),
            ("component", &[], true),
            ("generator", &[], true),
            ("inline", &[], true),
            ("empty", &[], false),
            ("loop", &[], false),
            ("broken", &[], false),
            ("plain", &["../own"], true),
        ];
        for (dir, components, expected) in rows {
            let components: Vec<String> = components.iter().map(|component| (*component).to_owned()).collect();
            let dir = RepoPath::new(dir).expect("plain");
            assert_eq!(inflates_charts(&view, &dir, &components), expected, "{dir} {components:?}");
        }
    }
}
