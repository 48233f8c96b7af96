//! Inputs that the dry tree keeps, for the engines that ask for them.

use dry_files::diag::{Diagnostic, Refusal, Span};
use dry_files::inputs::{ChartInput, GitInput, InputError, Inputs, KeptDirectory};
use dry_files::path::RepoPath;
use dry_files::view::View;
use inputs::{KeptInputs, Key, Kind, Unusable};
use kustomize_build::Remote;

use super::dependencies::{self, Dependency, stale_hint};
use super::git_key;

/// What `git hydrate vendor` brought, as the lock file lists it.
#[derive(Debug, Clone, Copy)]
pub struct Vendored;

impl Inputs for Vendored {
    fn judge_chart(
        &self,
        view: &View<'_>,
        chart: &ChartInput<'_>,
        places: &[RepoPath],
        fitting: &[RepoPath],
    ) -> Result<(), InputError> {
        let Ok(wanted) = Key::chart(chart.repository, chart.name, chart.version) else { return Ok(()) };
        let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
        let Some(lock) = kept.lock() else { return Ok(()) };
        // One chart may be here in several versions, under aliases.
        let place = places.iter().find(|place| lock.at(place).is_some_and(|entry| entry.key == wanted));
        let Some(place) = place.or_else(|| places.iter().find(|place| lock.at(place).is_some())) else { return Ok(()) };
        if let Some(other) = fitting.iter().find(|other| lock.at(other).is_none()) {
            let error = Unusable::Beside { key: wanted, path: place.clone(), other: other.clone() };
            return Err(unusable(&error));
        }
        kept.judge(place, &wanted).map_err(|error| unusable(&error))
    }

    fn dependencies(&self, view: &View<'_>, chart: &RepoPath, names: &[&str]) -> Result<Vec<RepoPath>, InputError> {
        let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
        // What was published is whole: Helm fetches nothing for it.
        if matches!(kept.kind_of(chart), Some(Kind::Helm | Kind::Oci)) {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for key in keys(view, chart, names)? {
            let path = kept.chart(&key).map_err(|error| unusable(&error))?;
            found.extend(path.filter(|path| !found.contains(path)));
        }
        Ok(found)
    }

    fn chart(&self, view: &View<'_>, chart: &ChartInput<'_>) -> Result<Option<RepoPath>, InputError> {
        let Ok(key) = Key::chart(chart.repository, chart.name, chart.version) else { return Ok(None) };
        let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
        kept.chart(&key).map_err(|error| unusable(&error))
    }

    /// Where no file is kept, but a repository that the same text names, Kustomize goes on to that.
    fn file(&self, view: &View<'_>, url: &str) -> Result<RepoPath, InputError> {
        let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
        let key = Key::file(url).map_err(|error| wrong(url, &error))?;
        if !kept.lists(&key) && Remote::parse(url).is_some_and(|remote| is_kept(&kept, &remote)) {
            let text = format!("'{url}' is kept as a directory of a repository, not as a file");
            return Err(InputError::Mistake(Box::new(Diagnostic::error(text))));
        }
        kept.find(&key).map_err(|error| unusable(&error))
    }

    fn directory(&self, view: &View<'_>, directory: &GitInput<'_>) -> Result<KeptDirectory, InputError> {
        let kept = KeptInputs::read(view).map_err(|error| unusable(&error))?;
        let key = Key::repository(directory.url, directory.reference).map_err(|error| wrong(directory.text, &error))?;
        let below = RepoPath::clean(directory.directory).map_err(|error| {
            let text = format!("'{}': {error}", directory.text);
            InputError::Mistake(Box::new(Diagnostic::error(text)))
        })?;
        let (path, repository) = kept.directory(&key, &below).map_err(|error| unusable(&error))?;
        Ok(KeptDirectory { path, repository })
    }
}

/// The keys of the dependencies of a chart that have one of these names and come from a repository or registry.
fn keys(view: &View<'_>, chart: &RepoPath, names: &[&str]) -> Result<Vec<Key>, InputError> {
    let read = |name: &str| {
        let path = chart.child(name).ok()?;
        Some((String::from_utf8_lossy(&view.read(&path).ok()?.data).into_owned(), path))
    };
    let mut keys = Vec::new();
    for (file, lock) in dependencies::FILES {
        let Some((text, path)) = read(file) else { continue };
        let lock = read(lock).map(|(lock, _)| lock);
        let all = dependencies::read(&text, lock.as_deref(), file == dependencies::OLD).map_err(|stale| {
            let mistake = Diagnostic::error(stale.to_string()).at(Span::file(path));
            InputError::Mistake(Box::new(mistake.hint(stale_hint(chart, &stale))))
        })?;
        let asked = all.iter().filter(|dependency| names.contains(&dependency.name.as_str()));
        keys.extend(
            asked.filter_map(|Dependency { name, repository, version, .. }| Key::chart(repository, name, version).ok()),
        );
    }
    Ok(keys)
}

/// Whether the directory of a remote base is kept, or another one that the lock file lists of its repository.
fn is_kept(kept: &KeptInputs<'_>, remote: &Remote) -> bool {
    let directory = RepoPath::clean(&remote.directory).ok();
    git_key(remote).ok().zip(directory).is_some_and(|(key, directory)| kept.lists_directory(&key, &directory))
}

fn unusable(error: &Unusable) -> InputError {
    match error.world() {
        Some(world) => InputError::World(world.clone()),
        None => InputError::Mistake(Box::new(error.diagnostic())),
    }
}

fn wrong(text: &str, error: &inputs::KeyError) -> InputError {
    let diagnostic =
        Diagnostic::error(format!("'{text}': {error}")).hint("copy it into the repository and name the copy");
    InputError::Mistake(Box::new(diagnostic.refused(Some(Refusal::Unsupported))))
}
