//! The sources of an Application that a rule hydrates: `spec.source`, or each of `spec.sources`.
//!
//! A source of this repository is a directory, as a `drySource` is. A chart, or a directory of another repository, is an input:
//! its files are in the dry tree where [`Key::place`] says, once `git hydrate vendor` brought them.
//!
//! Reference: argo-cd `37ee0097` util/argo/argo.go `validateSourcePermissions`, `GetRefSources`;
//! reposerver/repository/repository.go `runManifestGenAsync`.

use std::collections::BTreeMap;

use dry_files::path::RepoPath;

use super::decode;
use super::field::{Content, Field, Place};
use super::mistake::Mistake;
use super::object::Object;
use super::repo_url::checked_url;
use super::rules::{Placement, is_registry};
use super::url::RepoUrl;
use super::{DrySource, PlacedSource};
use inputs::{InputsDir, Key};

/// The sources of one Application.
pub(super) struct PlainSources {
    /// Of several `sources` the first in this repository, else the first: it tells the dry branch of the Application.
    pub anchor: PlacedSource,
    /// All of `spec.sources`; none when there is one `spec.source`.
    pub several: Vec<PlacedSource>,
}

/// Reads the sources. None only after a mistake was noted.
pub(super) fn sources(spec: &Object<'_>, placement: &Placement) -> Option<PlainSources> {
    let outside = |index: usize| placement.outside.get(index).is_some_and(|is| *is).then_some(&placement.inputs);
    if let Some(items) = several(spec) {
        let read = |(index, field): (usize, &Field)| {
            let object = spec.item("sources", index, field)?;
            source(&object, field, outside(index), true)
        };
        let found: Vec<Option<PlacedSource>> = items.iter().enumerate().map(read).collect();
        let several: Vec<PlacedSource> = found.into_iter().collect::<Option<_>>()?;
        check_refs(spec, &several)?;
        let here = several.iter().find(|source| source.dry.input.is_none());
        return Some(PlainSources { anchor: here.or(several.first())?.clone(), several });
    }
    let entry = spec.required("source")?;
    let object = spec.object_called(entry, "spec.source")?;
    let anchor = source(&object, &entry.field, outside(0), false)?;
    Some(PlainSources { anchor, several: Vec::new() })
}

/// The items of `spec.sources`, unless there are none.
fn several<'a>(spec: &Object<'a>) -> Option<&'a [Field]> {
    match &spec.entry("sources")?.field.content {
        Content::List(items) => Some(items.as_slice()).filter(|items| !items.is_empty()),
        Content::Scalar(_) | Content::Mapping(_) => None,
    }
}

/// One source; `outside` is where inputs are, for one that is not of this repository.
fn source<'a>(
    object: &Object<'a>,
    field: &'a Field,
    outside: Option<&InputsDir>,
    is_one_of_several: bool,
) -> Option<PlacedSource> {
    let url = object.required_name("repoURL").and_then(|(text, place)| checked_url(object, text, place));
    let place_of = |key| object.entry(key).map_or(object.place(), |entry| &entry.field.place);
    let revision_place = place_of("targetRevision");
    let target_revision = object.text("targetRevision").unwrap_or_default();
    let chart = object.text("chart");
    let path_text = object.text("path");
    let path_place = if chart.is_some() { place_of("chart") } else { place_of("path") };
    let reference = object.text("ref");
    for key in ["name", "tagPrefix"] {
        object.entry(key);
    }
    let options = decode::options(object);
    object.finish();
    let (repo_url, url_place) = url?;
    let is_named = chart.is_some() || path_text.is_some() || is_registry(&repo_url);
    if !is_named && (reference.is_none() || !is_one_of_several) {
        object.missing("path");
        return None;
    }
    let place = At { object, url_place, path_place, revision_place };
    check_ref(&place, reference.as_deref(), chart.is_some() || is_registry(&repo_url))?;
    let asked = Asked { repo_url: &repo_url, revision: &target_revision, chart: chart.as_deref(), path: &path_text };
    let (root, path, input) = match outside {
        Some(dir) => asked.outside(&place, dir)?,
        None => (RepoPath::root(), asked.directory(&place)?, None),
    };
    let dry = DrySource {
        repo_url,
        target_revision,
        path,
        path_text: path_text.unwrap_or_default(),
        options,
        input,
        root,
        reference,
        renders: is_named,
        fields: std::sync::Arc::new(field.clone()),
    };
    let [repo_url, target_revision, dry_path] = [url_place, revision_place, path_place].map(Place::span);
    Some(PlacedSource { dry, repo_url, target_revision, dry_path })
}

/// Where the parts of a source are.
struct At<'o, 'a> {
    object: &'o Object<'a>,
    url_place: &'a Place,
    path_place: &'a Place,
    revision_place: &'a Place,
}

/// What a source names.
struct Asked<'s> {
    repo_url: &'s str,
    revision: &'s str,
    chart: Option<&'s str>,
    path: &'s Option<String>,
}

impl Asked<'_> {
    /// The directory in its repository. None only after a mistake was noted.
    fn directory(&self, at: &At<'_, '_>) -> Option<RepoPath> {
        let text = self.path.as_deref().unwrap_or(".");
        match RepoPath::clean(text) {
            Ok(path) => Some(path),
            Err(reason) => {
                at.object.add(Mistake::DryPath { text: text.to_owned(), reason }, at.path_place);
                None
            }
        }
    }

    /// Where the input is kept that the source is, the directory in it, and what it is asked for by.
    fn outside(&self, at: &At<'_, '_>, dir: &InputsDir) -> Option<(RepoPath, RepoPath, Option<Key>)> {
        let is_chart = self.chart.is_some() || is_registry(self.repo_url);
        if is_chart && self.revision.is_empty() {
            at.object.missing("targetRevision");
            return None;
        }
        let key = match (self.chart, is_registry(self.repo_url)) {
            (Some(chart), _) => {
                let url = registry_url(self.repo_url);
                // In a registry, a chart may have directories.
                let inner = chart.rsplit_once('/').filter(|_| is_registry(&url));
                let (url, name) = match inner {
                    Some((directories, name)) => (format!("{}/{directories}", url.trim_end_matches('/')), name),
                    None => (url, chart),
                };
                Key::chart(&url, name, self.revision)
            }
            (None, true) => {
                let (url, name) = self.repo_url.trim_end_matches('/').rsplit_once('/').unwrap_or((self.repo_url, ""));
                Key::chart(url, name, self.revision)
            }
            (None, false) => {
                let newest = self.revision == "HEAD";
                Key::repository(self.repo_url, if newest { "" } else { self.revision })
            }
        };
        match key {
            Ok(key) => {
                let root = dir.place(&key);
                let path = if is_chart { root.clone() } else { root.join(&self.directory(at)?) };
                Some((root, path, Some(key)))
            }
            Err(reason) => {
                at.object.add(Mistake::Input { reason }, at.url_place);
                None
            }
        }
    }
}

/// The URL of a repository of charts. One without a scheme is a registry.
///
/// Reference: argo-cd `37ee0097` util/helm/client.go `IsHelmOciRepo`.
fn registry_url(url: &str) -> String {
    if url.contains("://") { url.to_owned() } else { format!("oci://{url}") }
}

/// A name for `$name/…` is a word, and not one of a chart. None only after a mistake was noted.
fn check_ref(at: &At<'_, '_>, reference: Option<&str>, is_chart: bool) -> Option<()> {
    let Some(reference) = reference else { return Some(()) };
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mistake = if !reference.chars().all(is_word) {
        Mistake::RefName { name: reference.to_owned() }
    } else if is_chart {
        Mistake::RefChart { name: reference.to_owned() }
    } else {
        return Some(());
    };
    let place = at.object.entry("ref").map_or(at.revision_place, |entry| &entry.field.place);
    at.object.add(mistake, place);
    None
}

/// Each name is given once, and names a repository that all sources name at one revision. None only after a mistake was
/// noted.
fn check_refs(spec: &Object<'_>, sources: &[PlacedSource]) -> Option<()> {
    let mut names: BTreeMap<&str, &PlacedSource> = BTreeMap::new();
    for (index, source) in sources.iter().enumerate() {
        let Some(name) = source.dry.reference.as_deref() else { continue };
        let url = RepoUrl::new(&source.dry.repo_url);
        let is_other = |other: &&PlacedSource| {
            RepoUrl::new(&other.dry.repo_url).is_same(&url) && other.dry.target_revision != source.dry.target_revision
        };
        let mistake = if names.insert(name, source).is_some() {
            Mistake::RefTwice { name: name.to_owned() }
        } else if sources.iter().any(|other| is_other(&other)) {
            Mistake::RefRevisions { name: name.to_owned() }
        } else {
            continue;
        };
        let place = spec.entry("sources").map(|entry| entry.field.find(&[&index.to_string(), "ref"]));
        spec.add(mistake, place.unwrap_or(spec.place()));
        return None;
    }
    Some(())
}
