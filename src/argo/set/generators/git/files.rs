//! Files by patterns, and what they say.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View};
use go_yaml::{Mapping, Value};

use super::super::super::fault::{Fault, Result};
use super::super::super::language::Language;
use super::super::super::origin::{Element, Origin, Source};
use super::super::super::params::{self, Params};
use super::super::list;
use super::pathspec::Pathspec;
use super::{Generator, Item, Path, Sources, Walking, patterns, refused_by, unreadable};

/// The params of every file that a pattern includes and none excludes, in the order of their paths' bytes.
///
/// A pattern is a pathspec of git. A file contains one object or a list of objects; only its first document counts.
pub(super) fn params(
    language: &mut Language,
    sources: &Sources<'_>,
    generator: &Generator<'_>,
    items: &[Value],
) -> Result<Vec<Element>> {
    let mut listed: Option<Vec<RepoPath>> = None;
    let (mut included, mut excluded) = (Vec::new(), Vec::new());
    for item in patterns(items) {
        if item.is_exclude { excluded.push(item) } else { included.push(item) }
    }
    let mut found: BTreeMap<RepoPath, Arc<[u8]>> = BTreeMap::new();
    for item in &included {
        for path in matching(language, sources, generator, item, &mut listed)? {
            if let Entry::Vacant(entry) = found.entry(path) {
                let data = read(sources.view, generator, item, entry.key())?;
                language.charge(data.len())?;
                entry.insert(data);
            }
        }
    }
    for item in &excluded {
        for path in matching(language, sources, generator, item, &mut listed)? {
            // Upstream reads these too, and fails with them.
            if !found.contains_key(&path) {
                read(sources.view, generator, item, &path)?;
            }
            found.remove(&path);
        }
    }
    let mut all = Vec::new();
    for (path, data) in &found {
        let made = of_file(language, generator, path, data).map_err(|fault| {
            fault.within(format!("unable to process file '{path}' from repository '{}'", generator.repo_url))
        })?;
        all.extend(made);
    }
    Ok(all)
}

fn not_listed(generator: &Generator<'_>, item: &Item<'_>, text: &str) -> Fault {
    let fault = Fault::new(format!(
        "error retrieving Git files: rpc error: code = Internal desc = unable to list files. repo {} with revision {} pattern {}: {text}",
        generator.repo_url,
        generator.revision,
        item.pattern()
    ));
    fault.below("path").below(item.index).below("files")
}

/// The files that a pattern matches, links among them.
fn matching(
    language: &mut Language,
    sources: &Sources<'_>,
    generator: &Generator<'_>,
    item: &Item<'_>,
    listed: &mut Option<Vec<RepoPath>>,
) -> Result<BTreeSet<RepoPath>> {
    let wrong = |text: String| not_listed(generator, item, &text);
    let pathspec = Pathspec::new(item.pattern()).map_err(|error| wrong(format!("fatal: {error}")))?;
    let only = pathspec.literal_directory();
    if !only.is_root() {
        let files = walk(language, sources, only).map_err(|fault| wrong(fault.text))?;
        return select(language, &pathspec, &files);
    }
    if listed.is_none() {
        *listed = Some(walk(language, sources, only).map_err(|fault| wrong(fault.text))?);
    }
    select(language, &pathspec, listed.as_deref().unwrap_or_default())
}

fn select(language: &mut Language, pathspec: &Pathspec, files: &[RepoPath]) -> Result<BTreeSet<RepoPath>> {
    let mut selected = BTreeSet::new();
    for path in files {
        language.charge_steps(pathspec.steps(path.as_str()))?;
        if pathspec.matches(path.as_str()) {
            selected.insert(path.clone());
        }
    }
    Ok(selected)
}

/// All that git would list: files, links, and submodules as one entry. Only what lies on the way to `only` or below it.
fn walk(language: &mut Language, sources: &Sources<'_>, only: &RepoPath) -> Result<Vec<RepoPath>> {
    let mut files = Vec::new();
    walk_into(&mut Walking::new(language), sources, &RepoPath::root(), only, &mut files)?;
    Ok(files)
}

fn walk_into(
    walking: &mut Walking<'_>,
    sources: &Sources<'_>,
    dir: &RepoPath,
    only: &RepoPath,
    files: &mut Vec<RepoPath>,
) -> Result<()> {
    for entry in sources.view.list(dir).map_err(|error| unreadable(&error))?.iter() {
        let Ok(path) = dir.child(&entry.name) else { continue };
        if !(path.starts_with(only) || only.starts_with(&path)) || !sources.has(&path) {
            continue;
        }
        walking.count(&path, 1)?;
        match entry.kind {
            Kind::Directory => walk_into(walking, sources, &path, only, files)?,
            Kind::File | Kind::Link | Kind::Submodule => files.push(path),
        }
    }
    Ok(())
}

fn read(view: &View<'_>, generator: &Generator<'_>, item: &Item<'_>, path: &RepoPath) -> Result<Arc<[u8]>> {
    match view.read(path) {
        Ok(blob) => Ok(blob.data),
        Err(error) => {
            let text = format!(
                "error retrieving Git files: rpc error: code = Internal desc = unable to read files. repo {} with revision {} pattern {}: read {error}",
                generator.repo_url,
                generator.revision,
                item.pattern()
            );
            let fault = refused_by(Fault::new(text), &error);
            let hint = format!("exclude `{path}` with an item that has `exclude: true`");
            Err(fault.hint(hint).below(item.index).below("files"))
        }
    }
}

/// A params set for each object of a file; an empty file is an empty object.
fn of_file(language: &mut Language, generator: &Generator<'_>, path: &RepoPath, data: &[u8]) -> Result<Vec<Element>> {
    let objects = match objects(language, data)? {
        Ok(objects) => objects,
        Err(text) => {
            let span = Span::file(path.clone());
            return Err(Fault::new(format!("unable to parse file: {text}")).at(span));
        }
    };
    let dir = path.parent().unwrap_or_default().to_string();
    let file = path;
    let path = Path { dir: &dir, file: path.file_name() };
    let mut all = Vec::with_capacity(objects.len());
    for (index, object) in objects.iter().enumerate() {
        let read = params::of_object(object);
        let params = match language.is_go {
            true => read,
            false => printed(language, &read)?,
        };
        generator.append_path(language, &params, &path)?;
        generator.append_values(language, &params)?;
        let item = (objects.len() > 1).then_some(index);
        all.push(Element { params, origin: Origin::of(Source::File(file.clone(), item)) });
    }
    Ok(all)
}

/// Flat keys, and of each value what Go prints.
fn printed(language: &mut Language, object: &Params) -> Result<Params> {
    let flat = params::flatten(language, object)?;
    let params = Params::new();
    for (key, value) in flat {
        let text = language.print(&value)?;
        params.set(key, text);
    }
    Ok(params)
}

/// One object, or else a list of them. The inner error is Go's text.
fn objects(language: &mut Language, data: &[u8]) -> Result<std::result::Result<Vec<Mapping>, String>> {
    Ok(match list::read(language, data)? {
        Ok(Value::Mapping(object)) => Ok(vec![object]),
        Ok(Value::Null) => Ok(vec![Mapping::new()]),
        Ok(other) => list::objects_of(other),
        Err(text) => Err(text),
    })
}
