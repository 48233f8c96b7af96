//! A chart as it was loaded: immutable, and shared between renders.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use dry_files::path::RepoPath;
use dry_files::view::{Stop, ViewError};
use go_template::{Functions, ParseError, Parsed};
use go_yaml::Mapping;

use super::metadata::{Dependency, Metadata};
use super::schema::{CompileError, Schema};
use crate::version::Helm;

/// A chart with all charts in its `charts/`. It has nothing of a render in it, so that one may be kept and used by many.
#[derive(Debug, Clone)]
pub struct Chart {
    pub(super) metadata: Metadata,
    /// `values.yaml`, numbers as floats; empty when there is none.
    pub(super) values: Mapping,
    /// `values.schema.json`.
    pub(super) schema: Option<File>,
    /// What is below `templates/`.
    pub(super) templates: Vec<File>,
    /// What `.Files` gives, in the order of the directory walk or of the archive.
    pub(super) files: Vec<File>,
    /// The charts in `charts/`, by the names of their entries; dependencies found elsewhere in the repository last.
    pub(super) charts: Vec<Arc<Chart>>,
    /// What `Chart.lock` or `requirements.lock` says.
    pub(super) locked: Option<Vec<Dependency>>,
    /// Where `Chart.yaml` is.
    pub(super) origin: RepoPath,
    pub(super) cache: Cache,
}

/// What was made of a chart once and serves all renders.
#[derive(Debug, Clone, Default)]
pub(super) struct Cache {
    schema: Arc<OnceLock<Result<Schema, CompileError>>>,
    parsed: Arc<Mutex<BTreeMap<String, Parsed>>>,
}

/// One file of a chart.
#[derive(Debug, Clone)]
pub struct File {
    /// The path in the chart: `templates/web.yaml`.
    pub name: String,
    /// The content without a byte order mark.
    pub data: Arc<[u8]>,
    /// Where it is in the repository; for a packaged chart a path that leads through the archive.
    pub origin: RepoPath,
    /// Why there is no content: only for files that nothing but `.Files` can ask for.
    pub unreadable: Option<ViewError>,
}

impl Chart {
    /// The name in `Chart.yaml`.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The version in `Chart.yaml`.
    pub fn version(&self) -> &str {
        &self.metadata.version
    }

    /// How many bytes its files have, those of its subcharts included.
    pub(super) fn bytes(&self) -> u64 {
        let files = self.templates.iter().chain(&self.files).chain(&self.schema);
        let own: u64 = files.map(|file| file.data.len() as u64).sum();
        own + self.charts.iter().map(|chart| chart.bytes()).sum::<u64>()
    }

    /// `values.schema.json`, compiled as for the Helm that the chart was loaded as; `None` when there is no such file.
    ///
    /// # Errors
    ///
    /// Why it cannot be used; or that `stop` is set, which is not kept.
    pub(super) fn schema(&self, helm: Helm, stop: &Stop) -> Option<Result<&Schema, &CompileError>> {
        let file = self.schema.as_ref()?;
        if let Some(known) = self.cache.schema.get() {
            return Some(known.as_ref());
        }
        let schema = Schema::new(&String::from_utf8_lossy(&file.data), helm, stop);
        if schema.is_err() && stop.is_set() {
            return Some(Err(&CompileError::Stopped));
        }
        Some(self.cache.schema.get_or_init(|| schema).as_ref())
    }

    /// A template, parsed under the name that it has in this use of the chart.
    pub(super) fn parse(&self, file: &File, name: &str, functions: &Functions) -> Result<Parsed, ParseError> {
        let cached = |cache: &BTreeMap<String, Parsed>| cache.get(name).cloned();
        if let Some(parsed) = cached(&self.cache.parsed.lock().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(parsed);
        }
        let parsed = Parsed::new(name, Arc::clone(&file.data), functions)?;
        let mut cache = self.cache.parsed.lock().unwrap_or_else(PoisonError::into_inner);
        cache.insert(name.to_owned(), parsed.clone());
        Ok(parsed)
    }
}
