//! Charts that were loaded, kept for the next render: parsed once, whatever number of Applications and commits use them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dry_files::path::RepoPath;
use dry_files::view::Reads;

use super::chart::Chart;
use super::error::Error;
use super::load::{Source, load};
use crate::version::Helm;

/// How many bytes charts that are kept may take beside the newest one. Renders of one chart follow each other.
const BYTES_MAX: u64 = 8 << 20;

/// What a chart takes beside its files: its parsed templates, its values.
const CHART_BYTES: u64 = 64 << 10;

/// Charts by their paths and the Helm that they are read as, each used again as long as everything that loading it looked at is the same.
///
/// Bounded: when they get too large, all but the newest are forgotten.
#[derive(Debug)]
pub struct Charts {
    kept: Mutex<LoadedCharts>,
    bytes_max: u64,
}

#[derive(Debug, Default)]
struct LoadedCharts {
    charts: BTreeMap<(RepoPath, Helm), (Arc<Chart>, Arc<Reads>)>,
    bytes: u64,
}

impl Default for Charts {
    fn default() -> Self {
        Self { kept: Mutex::default(), bytes_max: BYTES_MAX }
    }
}

impl Charts {
    /// The chart at a path, as [`load`] gives it. Reads are noted as if it had been loaded.
    pub fn load(&self, source: Source<'_>, path: &RepoPath) -> Result<Arc<Chart>, Error> {
        let view = source.view;
        let key = (path.clone(), source.helm);
        let known = self.kept(|kept| kept.charts.get(&key).cloned());
        if let Some((chart, reads)) = known
            && view.confirms(&reads)?
        {
            view.note_all(&reads);
            return Ok(chart);
        }
        let (chart, reads) = view.with_reads(|| load(source, path));
        let chart = chart?;
        self.kept(|kept| kept.insert(key, &chart, reads, self.bytes_max));
        Ok(chart)
    }

    fn kept<T>(&self, work: impl FnOnce(&mut LoadedCharts) -> T) -> T {
        work(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl LoadedCharts {
    /// Forgets all others when they take more than `bytes_max` with this one.
    fn insert(&mut self, key: (RepoPath, Helm), chart: &Arc<Chart>, reads: Reads, bytes_max: u64) {
        let bytes = CHART_BYTES + chart.bytes();
        if let Some((old, _)) = self.charts.remove(&key) {
            self.bytes -= CHART_BYTES + old.bytes();
        }
        if self.bytes + bytes > bytes_max {
            *self = Self::default();
        }
        self.charts.insert(key, (Arc::clone(chart), Arc::new(reads)));
        self.bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::inputs::NoInputs;
    use dry_files::view::{MemoryFiles, View};

    fn source<'a>(view: &'a View<'a>) -> Source<'a> {
        Source { view, inputs: &NoInputs, helm: Helm::default() }
    }

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .file("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n")
            .file("c/templates/a.yaml", "a: b\n")
            .file("other", "text")
    }

    #[test]
    fn a_chart_is_loaded_again_when_it_changed() {
        let rows = [
            ("nothing", files(), true),
            ("something else", files().file("other", "more"), true),
            ("a template", files().file("c/templates/a.yaml", "a: c\n"), false),
            ("a new file", files().file("c/templates/b.yaml", "a: c\n"), false),
        ];
        let path = RepoPath::new("c").expect("plain");
        for (name, changed, same) in rows {
            let (charts, before) = (Charts::default(), files());
            let first = View::new(&before);
            let chart = charts.load(source(&first), &path).expect("a chart");
            let (second, alone) = (View::new(&changed), View::new(&changed));
            let again = charts.load(source(&second), &path).expect("a chart");
            load(source(&alone), &path).expect("a chart");
            assert_eq!(Arc::ptr_eq(&chart, &again), same, "{name}");
            assert_eq!(second.reads(), alone.reads(), "{name}");
        }
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let chart = |files: MemoryFiles, dir: &str, bytes: usize| {
            let head = "apiVersion: v2\nname: c\nversion: 1.0.0\n";
            files.file(&format!("{dir}/Chart.yaml"), head).file(&format!("{dir}/text"), vec![b'#'; bytes])
        };
        let files = [("a", 30), ("b", 40), ("c", 50), ("d", 101)];
        let files = files.into_iter().fold(MemoryFiles::new(), |files, (dir, bytes)| chart(files, dir, bytes));
        let (charts, view) = (Charts { bytes_max: 2 * CHART_BYTES + 100, ..Charts::default() }, View::new(&files));
        for (dir, kept) in [("a", &["a"][..]), ("b", &["a", "b"]), ("a", &["a", "b"]), ("c", &["c"]), ("d", &["d"])] {
            charts.load(source(&view), &RepoPath::new(dir).expect("plain")).expect("a chart");
            let paths =
                charts.kept(|kept| kept.charts.keys().map(|(path, _)| path.as_str().to_owned()).collect::<Vec<_>>());
            assert_eq!(paths, kept, "after {dir}");
        }
    }
}
