//! Fetches the inputs that are missing, and puts them into the tree.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use dry_files::path::RepoPath;
use dry_files::view::{self, View, ViewError};
use go_yaml as yaml;

use super::{Fetch, Session};
use crate::inspect::Inputs;
use crate::render::needs::Need;
use crate::repo::{Mode, TreeEdit};
use crate::tell::fetch::fetcher::{Failed, Fetched};
use helm_template as helm;
use inputs::wire::What;
use inputs::{self, Entry, InputFile, Key, Kind, LOCK};
use kustomize_build as kustomize;

/// How often a fetched base may name more.
const ROUNDS_MAX: usize = 30;

/// What works where nothing can be fetched.
const WITHOUT: &str = "until they can be fetched: on the server `git hydrate config set onFailure application` hydrates the other \
                       Applications, and a rule with `hydrate: false` leaves these alone; charts of dependencies and \
                       kustomizations may be unpacked by hand, with `git add --force` where a .gitignore leaves `charts` out";

/// What of an input is missing.
#[derive(Debug, Clone, Default)]
struct Missing {
    at: BTreeSet<RepoPath>,
    directories: BTreeSet<RepoPath>,
    /// What to take when there is no such file.
    fallback: Option<(Key, RepoPath)>,
}

impl<'r> Session<'r> {
    /// Fetches until nothing is missing.
    pub(in crate::cli::vendor) fn complete(&mut self, fetch: Fetch<'_>) -> anyhow::Result<Inputs> {
        for _ in 0..ROUNDS_MAX {
            let inputs = self.inputs()?;
            if !inputs.found.mistakes.is_empty() && !self.keeps_going {
                return Ok(inputs);
            }
            let mut missing = self.missing(&inputs)?;
            missing.retain(|key, wanted| {
                let base = wanted.fallback.as_ref().map(|(base, _)| base);
                !self.failed.contains_key(key) && !base.is_some_and(|base| self.failed.contains_key(base))
            });
            if missing.is_empty() {
                return Ok(inputs);
            }
            self.round(&missing, fetch)?;
            self.write_lock()?;
        }
        bail!("fetched files keep naming further inputs: gave up after {ROUNDS_MAX} rounds")
    }

    /// What is needed and not kept as it should be.
    fn missing(&self, inputs: &Inputs) -> anyhow::Result<BTreeMap<Key, Missing>> {
        let mut missing: BTreeMap<Key, Missing> = BTreeMap::new();
        for need in inputs.found.needs.keys() {
            let (key, at, directory, fallback) = match need {
                Need::Chart(key, at) => (key, Some(at.clone()), None, None),
                Need::Directory(key, directory) => (key, None, Some(directory.clone()), None),
                Need::File(key) => (key, None, None, None),
                Need::Either(file, base, directory) => (file, None, None, Some((base.clone(), directory.clone()))),
            };
            if self.is_kept(key, at.as_ref(), directory.as_ref())? {
                continue;
            }
            let wanted = missing.entry(key.clone()).or_default();
            wanted.at.extend(at);
            wanted.directories.extend(directory);
            wanted.fallback = wanted.fallback.take().or(fallback);
        }
        Ok(missing)
    }

    pub(super) fn is_kept(
        &self,
        key: &Key,
        at: Option<&RepoPath>,
        directory: Option<&RepoPath>,
    ) -> anyhow::Result<bool> {
        let Some(entry) = self.lock.get(key) else { return Ok(false) };
        let is_listed = at.is_none_or(|at| entry.at.contains(at))
            && directory.is_none_or(|directory| entry.directories.iter().any(|kept| directory.starts_with(kept)));
        if !is_listed {
            return Ok(false);
        }
        let place = at.cloned().unwrap_or_else(|| self.dir.place(key));
        match self.judged(entry, &place)? {
            Ok(()) => Ok(true),
            Err(error @ inputs::Unusable::Changed { .. }) => {
                if self.with_view(|view| matches!(view.kind(&place), Ok(Some(_))))? {
                    bail!("{error}\nhint: {}", error.hint());
                }
                Ok(false)
            }
            Err(error) => bail!("{error}"),
        }
    }

    fn round(&mut self, missing: &BTreeMap<Key, Missing>, fetch: Fetch<'_>) -> anyhow::Result<()> {
        let mut failures: Vec<(Key, String)> = Vec::new();
        let mut todo: Vec<(Key, Missing)> = Vec::new();
        for (key, wanted) in missing {
            match self.copied(key, wanted)? {
                Some(fetched) => self.take(key, wanted, fetched)?,
                None => todo.push((key.clone(), self.with_kept(key, wanted))),
            }
        }
        let results = self.fetched(&todo, fetch)?;
        let mut fallbacks: Vec<(Key, Missing)> = Vec::new();
        for ((key, wanted), result) in todo.iter().zip(results) {
            let is_none = match &result {
                Ok(fetched) => !fetched.files.first().is_some_and(|file| kustomize::holds_resources(&file.data)),
                Err(failed) => failed.refused,
            };
            match (result, &wanted.fallback) {
                (_, Some((base, directory))) if is_none => {
                    let entry = Missing { directories: [directory.clone()].into(), ..Missing::default() };
                    match fallbacks.iter_mut().find(|(key, _)| key == base) {
                        Some((_, wanted)) => wanted.directories.extend(entry.directories),
                        None => fallbacks.push((base.clone(), self.with_kept(base, &entry))),
                    }
                }
                (Ok(fetched), _) => self.take(key, wanted, fetched)?,
                (Err(failed), _) => failures.push((key.clone(), failed.reason)),
            }
        }
        let results = self.fetched(&fallbacks, fetch)?;
        for ((key, wanted), result) in fallbacks.iter().zip(results) {
            match result {
                Ok(fetched) => self.take(key, wanted, fetched)?,
                Err(failed) => failures.push((key.clone(), failed.reason)),
            }
        }
        if failures.is_empty() || self.keeps_going {
            self.failed.extend(failures);
            return Ok(());
        }
        let others = missing.len() > failures.len();
        let hint = if others { "to bring the others: git hydrate vendor --keep-going" } else { WITHOUT };
        let failures: Vec<String> = failures.iter().map(|(key, reason)| format!("{key}: {reason}")).collect();
        bail!("nothing was changed\n  {}\nhint: {hint}", failures.join("\n  "))
    }

    fn fetched(&self, todo: &[(Key, Missing)], fetch: Fetch<'_>) -> anyhow::Result<Vec<Result<Fetched, Failed>>> {
        let wanted: Vec<What> =
            todo.iter().map(|(key, wanted)| what(key, self.lock.get(key), &wanted.directories)).collect();
        if wanted.is_empty() { Ok(Vec::new()) } else { fetch(&wanted) }
    }

    /// With the directories that are kept already: all of a repository is of one commit.
    fn with_kept(&self, key: &Key, wanted: &Missing) -> Missing {
        let mut wanted = wanted.clone();
        wanted.directories.extend(self.lock.get(key).into_iter().flat_map(|entry| entry.directories.iter().cloned()));
        wanted
    }

    /// An input that is kept at one place and needed at another.
    fn copied(&self, key: &Key, wanted: &Missing) -> anyhow::Result<Option<Fetched>> {
        let Some(entry) = self.lock.get(key).filter(|_| wanted.directories.is_empty()) else { return Ok(None) };
        for place in self.lock.places(entry) {
            if self.judged(entry, &place)?.is_ok() {
                let files = self.with_view(|view| inputs::files(view, &place))??;
                let (version, origin) = (entry.version.clone(), entry.origin.clone());
                return Ok(Some(Fetched { version, origin, warnings: Vec::new(), files }));
            }
        }
        Ok(None)
    }

    /// Puts an input into the tree.
    fn take(&mut self, key: &Key, wanted: &Missing, fetched: Fetched) -> anyhow::Result<()> {
        let Fetched { version, origin, warnings, files } = fetched;
        self.warnings.extend(warnings);
        if let Some(moves) = key.moves() {
            self.warnings.insert(format!("{key}: {moves}: the lock file pins {}", pinned(key, &version)));
        }
        let known = self.lock.get(key).cloned();
        let (files, left_out) = kept_of(key, files, known.as_ref());
        for path in left_out {
            self.warnings.insert(format!(
                "{key}: {} is left out: git would read it in this repository",
                yaml::quote(path.as_str())
            ));
        }
        let content = inputs::digest(&files);
        if let Some(known) =
            known.as_ref().filter(|known| known.content != content && known.directories == dirs(wanted))
        {
            bail!(changed(known, &content));
        }
        let mut at: BTreeSet<RepoPath> = known.iter().flat_map(|known| known.at.iter().cloned()).collect();
        at.extend(wanted.at.iter().cloned());
        let places: Vec<RepoPath> =
            if wanted.at.is_empty() { vec![self.dir.place(key)] } else { wanted.at.iter().cloned().collect() };
        let mut edits = BTreeMap::new();
        for place in &places {
            self.make_room(key, place, &mut edits)?;
            self.put(key, place, &files, &mut edits)?;
            self.hidden(place, &files)?;
        }
        let directories = dirs(wanted);
        let at = at.into_iter().collect();
        self.lock.insert(Entry { key: key.clone(), version, origin, content, at, directories });
        self.edit(&edits)
    }

    /// Takes away what another input left at a place.
    fn make_room(&mut self, key: &Key, place: &RepoPath, edits: &mut BTreeMap<String, TreeEdit>) -> anyhow::Result<()> {
        let other = self.lock.at(place).filter(|other| other.key != *key).cloned();
        if let Some(mut other) = other {
            self.check(&other.key)?;
            other.at.retain(|at| at != place);
            match other.at.is_empty() {
                true => drop(self.lock.remove(&other.key)),
                false => self.lock.insert(other),
            }
        }
        self.clear(place, edits)
    }

    /// Takes away all files at a place.
    pub(super) fn clear(&self, place: &RepoPath, edits: &mut BTreeMap<String, TreeEdit>) -> anyhow::Result<()> {
        let (files, kind) = self.with_view(|view| files_at(view, place))??;
        for file in files {
            let path = if kind == Some(view::Kind::File) { place.clone() } else { place.join(&file.path) };
            edits.insert(path.to_string(), TreeEdit::Remove);
        }
        Ok(())
    }

    pub(super) fn put(
        &self,
        key: &Key,
        place: &RepoPath,
        files: &[InputFile],
        edits: &mut BTreeMap<String, TreeEdit>,
    ) -> anyhow::Result<()> {
        for file in files {
            let blob = self.buffer.write_blob(&file.data)?;
            let path = if key.kind == Kind::File { place.clone() } else { place.join(&file.path) };
            edits.insert(path.to_string(), TreeEdit::Put(Mode::File, blob));
        }
        Ok(())
    }

    /// A chart's own `.helmignore` counts for the directories below it, not for packaged charts.
    fn hidden(&self, place: &RepoPath, files: &[InputFile]) -> anyhow::Result<()> {
        let chart =
            place.parent().filter(|charts| charts.file_name() == Some("charts")).and_then(|charts| charts.parent());
        let Some(chart) = chart else { return Ok(()) };
        let paths: Vec<RepoPath> = files.iter().map(|file| place.join(&file.path)).collect();
        let hidden = self.with_view(|view| helm::hidden(view, &chart, &paths))?;
        if let Ok(Some(path)) = hidden {
            bail!(
                "the .helmignore of `{chart}` hides {path}, which Helm renders of a packaged dependency\nhint: change the rule \
                 so that it leaves out charts/, or package this dependency: helm dependency update {chart}"
            );
        }
        Ok(())
    }
}

/// The files at a place, and whether that is a file or a directory of them.
fn files_at(view: &View<'_>, place: &RepoPath) -> Result<(Vec<InputFile>, Option<view::Kind>), ViewError> {
    match inputs::files(view, place) {
        Ok(files) => Ok((files, view.kind(place)?)),
        Err(ViewError::Missing(_) | ViewError::NotDirectory(_)) => Ok((Vec::new(), None)),
        Err(error) => Err(error),
    }
}

/// The files of an input that are kept, and the paths of those that are left out.
pub(super) fn kept_of(key: &Key, files: Vec<InputFile>, known: Option<&Entry>) -> (Vec<InputFile>, Vec<RepoPath>) {
    match key.kind {
        // It has another name here.
        Kind::File => (files, Vec::new()),
        _ => inputs::without_those_of_git(files, known.map(|known| known.content.as_str())),
    }
}

/// The directories that are fetched; one in another is no directory of its own.
fn dirs(wanted: &Missing) -> Vec<RepoPath> {
    let is_outer = |dir: &&RepoPath| !wanted.directories.iter().any(|other| other != *dir && dir.starts_with(other));
    wanted.directories.iter().filter(is_outer).cloned().collect()
}

pub(super) fn what(key: &Key, pinned: Option<&Entry>, directories: &BTreeSet<RepoPath>) -> What {
    let url = key.url.clone();
    let want = pinned.map(|entry| entry.version.clone()).filter(|version| !version.is_empty());
    let want = want.unwrap_or_else(|| key.want.clone());
    match key.kind {
        Kind::Helm => What::Helm { url, name: key.name.clone(), want },
        Kind::Oci => What::Oci { url, name: key.name.clone(), want },
        Kind::File => What::File { url },
        Kind::Git => {
            let wanted = Missing { directories: directories.clone(), ..Missing::default() };
            What::Git { url, want, directories: dirs(&wanted).iter().map(ToString::to_string).collect() }
        }
    }
}

fn pinned(key: &Key, version: &str) -> String {
    if version.is_empty() { key.to_string() } else { version.to_owned() }
}

pub(super) fn changed(known: &Entry, content: &str) -> String {
    format!(
        "{}: {LOCK} says {}, received {content}: it was replaced by its publisher, or on the way\nhint: compare both \
        before you accept the new one: git hydrate vendor --update {}",
        known.key,
        known.content,
        dry_files::diag::shell_word(if known.key.name.is_empty() { &known.key.url } else { &known.key.name })
    )
}
