//! The generator `git`: directories and files of the dry tree.
//!
//! Reference: argo-cd `37ee0097` applicationset/generators/git.go.

mod directories;
mod files;
mod pathspec;
mod wildmatch;

use dry_files::path::RepoPath;
use dry_files::view::ViewError;
use go_template::{Map, Value as TemplateValue};
use go_yaml::Value;

use super::super::Sources;
use super::super::fault::{EMPTY, Fault, Result};
use super::super::functions::normalize;
use super::super::language::Language;
use super::super::origin::Element;
use super::super::params::{self, Params};

/// The params of all directories, or else of all files, that the generator names.
pub(super) fn params(language: &mut Language, sources: &Sources<'_>, generator: &Value) -> Result<Vec<Element>> {
    let git = Generator::new(generator);
    let (items, key) = match (git.directories, git.files) {
        ([], []) => {
            return Err(Fault::new(EMPTY).hint("a `git` generator must have `directories` or `files`"));
        }
        ([], files) => (files, "files"),
        (directories, _) => (directories, "directories"),
    };
    sources.home.check(git.repo_url, git.revision)?;
    let made = match key {
        "directories" => directories::params(language, sources, &git, items)
            .map_err(|fault| fault.within("error generating params from apps")),
        _ => files::params(language, sources, &git, items),
    };
    made.map_err(|fault| fault.within("error generating params from git"))
}

/// The generator as it is written.
struct Generator<'a> {
    repo_url: &'a str,
    revision: &'a str,
    directories: &'a [Value],
    files: &'a [Value],
    prefix: &'a str,
    values: Option<&'a Value>,
}

/// A pattern of directories or files.
struct Item<'a> {
    index: usize,
    path: &'a str,
    is_exclude: bool,
}

impl<'a> Item<'a> {
    fn new(index: usize, item: &'a Value) -> Self {
        Self {
            index,
            path: item.get("path").and_then(Value::as_str).unwrap_or_default(),
            is_exclude: item.get("exclude").and_then(Value::as_bool) == Some(true),
        }
    }

    /// The pattern, with the root of the repository as git calls it.
    fn pattern(&self) -> &'a str {
        if self.path.is_empty() { "." } else { self.path }
    }
}

impl<'a> Generator<'a> {
    fn new(generator: &'a Value) -> Self {
        let text = |key: &str| generator.get(key).and_then(Value::as_str).unwrap_or_default();
        let list = |key: &str| generator.get(key).and_then(Value::as_sequence).unwrap_or_default();
        Self {
            repo_url: text("repoURL"),
            revision: text("revision"),
            directories: list("directories"),
            files: list("files"),
            prefix: text("pathParamPrefix"),
            values: generator.get("values"),
        }
    }

    /// Adds what a path says: `path.basename` and the like, over entries of the same names.
    fn append_path(&self, language: &mut Language, params: &Params, path: &Path<'_>) -> Result<()> {
        language.charge(path.dir.len() * 4 + 512)?;
        match language.is_go {
            true => {
                let fields = path.fields();
                fields.set("segments", params::texts(path.dir.split('/')));
                fields.set("path", path.dir);
                match self.prefix {
                    "" => params.set("path", TemplateValue::Map(fields)),
                    prefix => {
                        let prefixed = Map::new();
                        prefixed.set("path", TemplateValue::Map(fields));
                        params.set(prefix, TemplateValue::Map(prefixed))
                    }
                };
            }
            false => {
                let name = match self.prefix {
                    "" => "path".to_owned(),
                    prefix => format!("{prefix}.path"),
                };
                for (key, value) in path.fields().entries().iter() {
                    params.set(format!("{name}.{}", key.to_str()), value.clone());
                }
                for (index, part) in path.dir.split('/').enumerate().filter(|(_, part)| !part.is_empty()) {
                    params.set(format!("{name}[{index}]"), part);
                }
                params.set(name, path.dir);
            }
        }
        Ok(())
    }

    /// Adds `values`.
    fn append_values(&self, language: &mut Language, params: &Params) -> Result<()> {
        params::append_values(language, params, self.values)
            .map_err(|fault| fault.within("failed to append templated values"))
    }
}

/// How many bytes the paths of one listing may have, and how deep directories may nest: as where Applications are
/// searched for.
const PATH_BYTES_MAX: usize = 64 << 20;
const DEPTH_MAX: usize = 128;

/// What is left of the limits of one walk through the tree.
struct Walking<'a> {
    language: &'a mut Language,
    path_bytes: usize,
}

impl<'a> Walking<'a> {
    fn new(language: &'a mut Language) -> Self {
        Self { language, path_bytes: 0 }
    }

    /// Counts a path, and the work of comparing it with `patterns` patterns.
    fn count(&mut self, path: &RepoPath, patterns: usize) -> Result<()> {
        let bytes = path.as_str().len() + 16;
        self.path_bytes += bytes;
        self.language.charge_steps(bytes * (patterns + 1))?;
        match self.path_bytes > PATH_BYTES_MAX || path.components().count() > DEPTH_MAX {
            true => Err(Fault::new("the tree has more files, or deeper directories, than generators read")),
            false => Ok(()),
        }
    }
}

/// A directory, and perhaps a file in it.
struct Path<'a> {
    /// `.` for the root.
    dir: &'a str,
    file: Option<&'a str>,
}

impl Path<'_> {
    fn fields(&self) -> Map {
        let fields = Map::new();
        let base = self.dir.rsplit('/').next().unwrap_or_default();
        fields.set("basename", base);
        fields.set("basenameNormalized", normalize(base));
        if let Some(file) = self.file {
            fields.set("filename", file);
            fields.set("filenameNormalized", normalize(file));
        }
        fields
    }
}

/// The patterns of a list, in their order.
fn patterns(items: &[Value]) -> impl Iterator<Item = Item<'_>> {
    items.iter().enumerate().map(|(index, item)| Item::new(index, item))
}

/// What a tree that cannot be read says of itself.
fn unreadable(error: &ViewError) -> Fault {
    refused_by(Fault::new(error.to_string()), error)
}

/// The fault as a refusal if the error is one.
fn refused_by(fault: Fault, error: &ViewError) -> Fault {
    match error.refusal() {
        Some(refusal) => fault.refused_as(refusal),
        None => fault,
    }
}
