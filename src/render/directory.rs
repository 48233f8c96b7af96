//! Directories of plain manifests: `*.yaml`, `*.yml`, `*.json`, and `*.jsonnet`, which are handed on.
//!
//! Leaves to others: what Jsonnet means, and which objects belong together. Reads nothing but what it is asked to: files are
//! looked into only when their name and the options let them through.
//!
//! Limits: the size of all files together, and those of the view and of YAML. Links to directories are not entered.
//!
//! Reference: Argo CD 3.6 reposerver/repository `findManifests`, `getObjsFromYAMLOrJson`.

mod misspelt;
mod nothing;

use crate::argo;
use crate::manifest::{self, Manifest, Source};
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};
use go_std::glob::Glob;
use go_yaml::{self as yaml, Limits};
use inputs::{InputsDir, Strays};

pub(crate) use nothing::why_nothing;

/// Why a directory cannot be rendered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// Mistakes of the dry commit; at least one.
    #[error("{} mistakes in a directory of manifests", .0.len())]
    Mistakes(Vec<Diagnostic>),
    /// The repository could not be read.
    #[error(transparent)]
    View(ViewError),
}

impl Error {
    fn mistake(diagnostic: Diagnostic) -> Self {
        Self::Mistakes(vec![diagnostic])
    }

    fn unreadable(error: ViewError, path: &RepoPath) -> Self {
        match error {
            ViewError::Backend { .. } => Self::View(error),
            error => {
                let place = Span::file(path.clone());
                let mistake = Diagnostic::error(error.to_string()).at(place).refused(error.refusal());
                Self::mistake(match error.hint() {
                    Some(hint) => mistake.hint(hint),
                    None => mistake,
                })
            }
        }
    }
}

/// A file with this text anywhere in it is left out.
pub(crate) const SKIP_MARKER: &str = "+argocd:skip-file-rendering";

/// How large the files of one directory may be together, Jsonnet left out, when nothing else is set: as in Argo CD.
pub(crate) const BYTES_MAX: u64 = 10_000_000;

/// Directories inside each other.
const DEPTH_MAX: usize = 256;

/// How many files and directories a source may have: trees may contain one another, so a few objects can amount to billions.
const ENTRIES_MAX: usize = 200_000;

/// The objects of a directory by file, in the order of the walk: names by their bytes, files and directories as they come.
/// A file without any may be among them.
///
/// `jsonnet` gives the objects of a Jsonnet file. What is odd but no error becomes a warning. `bytes_max` of 0 is no limit.
///
/// Every mistake is reported, also when a file before had one.
pub(crate) fn render<E: From<Error>>(
    view: &View<'_>,
    dir: &RepoPath,
    options: &argo::Directory,
    inputs: &InputsDir,
    bytes_max: u64,
    warnings: &mut Vec<Diagnostic>,
    mut jsonnet: impl FnMut(&RepoPath) -> Result<Vec<Manifest>, E>,
) -> Result<Vec<(RepoPath, Vec<Manifest>)>, E> {
    let files = find(view, dir, options, inputs, bytes_max, warnings)?;
    let mut manifests = Vec::new();
    let mut mistakes = Vec::new();
    for (path, data) in files {
        let objects = match read(&path, data.as_deref()) {
            Ok(Found::Objects(objects)) => objects,
            Ok(Found::Jsonnet) => jsonnet(&path)?,
            Err(mistake) => {
                mistakes.push(mistake);
                continue;
            }
        };
        manifests.push((path, objects));
    }
    if mistakes.is_empty() { Ok(manifests) } else { Err(Error::Mistakes(mistakes).into()) }
}

type File = (RepoPath, Option<std::sync::Arc<[u8]>>);

/// The files that take part, each with its content; Jsonnet without.
fn find(
    view: &View<'_>,
    dir: &RepoPath,
    options: &argo::Directory,
    inputs: &InputsDir,
    bytes_max: u64,
    warnings: &mut Vec<Diagnostic>,
) -> Result<Vec<File>, Error> {
    // What does not compile describes nothing.
    let glob = |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Glob::without_separator);
    let (include, exclude) = (glob(&options.include), glob(&options.exclude));
    for (field, text, glob) in [("include", &options.include, &include), ("exclude", &options.exclude, &exclude)] {
        if let (Some(text), Some(Err(error))) = (text, glob) {
            let text = format!("`directory.{field}`: `{text}` is not a valid pattern: {error}");
            warnings.push(Diagnostic::warning(text).at(Span::file(dir.clone())));
        }
    }
    let matches = |glob: &Result<Glob, _>, name: &str| glob.as_ref().is_ok_and(|glob| glob.matches(name));
    let is_excluded = |below: &str| exclude.as_ref().is_some_and(|glob| matches(glob, below));
    let is_included = |below: &str| include.as_ref().is_none_or(|glob| matches(glob, below));
    let takes_part = |path: &RepoPath| {
        let below = path.strip_prefix(dir).unwrap_or_default();
        !is_excluded(below.as_str()) && is_included(below.as_str())
    };
    let mut candidates = Vec::new();
    walk(view, dir, (options.recurse, inputs), 0, &mut 0, &mut candidates)?;
    let total_max = if bytes_max > 0 { bytes_max } else { u64::MAX };
    let mut files = Vec::new();
    let mut bytes = 0_u64;
    for (path, kind) in candidates {
        if kind == Kind::Submodule {
            let mut names = EXTENSIONS.iter().filter_map(|extension| path.child(&format!("a.{extension}")).ok());
            if names.any(|path| takes_part(&path)) {
                return Err(Error::mistake(submodule(&path, dir)));
            }
            continue;
        }
        if !options.disable_extension_filter && !has_extension(&path) {
            continue;
        }
        if kind == Kind::Link {
            match view.kind(&path).map_err(|error| Error::unreadable(error, &path))? {
                Some(Kind::File) => {}
                Some(Kind::Directory | Kind::Link | Kind::Submodule) => continue,
                None => {
                    let text = "broken symbolic link: the file is left out";
                    warnings.push(Diagnostic::warning(text).at(Span::file(path)));
                    continue;
                }
            }
        }
        if !takes_part(&path) {
            continue;
        }
        let blob = match view.read_within(&path, total_max) {
            Ok(blob) => blob,
            Err(ViewError::TooLarge { size, .. }) if size > total_max => return Err(too_large(dir, path, bytes_max)),
            Err(error) => return Err(Error::unreadable(error, &path)),
        };
        if contains(&blob.data, SKIP_MARKER) {
            continue;
        }
        if path.as_str().ends_with(".jsonnet") {
            files.push((path, None));
            continue;
        }
        bytes = bytes.saturating_add(blob.data.len() as u64);
        if bytes > total_max {
            return Err(too_large(dir, path, bytes_max));
        }
        files.push((path, Some(blob.data)));
    }
    Ok(files)
}

/// `path` is the file with which the directory has too much.
fn too_large(dir: &RepoPath, path: RepoPath, bytes_max: u64) -> Error {
    let text = format!("the manifests of `{dir}` have more than {bytes_max} bytes in total");
    let hint =
        "narrow it with `directory.include` and `directory.exclude`, or have an admin raise `hydrate.directoryLimit`";
    Error::mistake(Diagnostic::error(text).at(Span::file(path)).hint(hint))
}

/// Argo CD checks submodules out, and applies what is below them.
fn submodule(path: &RepoPath, dir: &RepoPath) -> Diagnostic {
    let below = path.strip_prefix(dir).unwrap_or_default();
    let error = ViewError::Submodule(path.clone());
    let mistake = Diagnostic::error(error.to_string()).at(Span::file(path.clone())).refused(error.refusal());
    let exclude = format!("or leave them out: directory.exclude: '{below}/*'");
    mistake.hint(error.hint().map_or(exclude.clone(), |hint| format!("{hint}, {exclude}")))
}

/// All files and links, whatever their names, and the submodules.
fn walk(
    view: &View<'_>,
    dir: &RepoPath,
    (recurse, inputs): (bool, &InputsDir),
    depth: usize,
    seen: &mut usize,
    found: &mut Vec<(RepoPath, Kind)>,
) -> Result<(), Error> {
    if depth > DEPTH_MAX {
        let text = format!("directories are nested more than {DEPTH_MAX} deep");
        return Err(Error::mistake(Diagnostic::error(text).at(Span::file(dir.clone()))));
    }
    let entries = view.list(dir).map_err(|error| Error::unreadable(error, dir))?;
    *seen = seen.saturating_add(entries.len());
    if *seen > ENTRIES_MAX {
        let text = format!("a directory source has more than {ENTRIES_MAX} files and directories");
        return Err(Error::mistake(Diagnostic::error(text).at(Span::file(dir.clone()))));
    }
    for entry in entries.iter() {
        let Ok(path) = dir.child(&entry.name) else { continue };
        match entry.kind {
            Kind::File | Kind::Link => found.push((path, entry.kind)),
            Kind::Submodule if recurse => found.push((path, entry.kind)),
            Kind::Directory if inputs.keeps(dir, &entry.name) => {
                if recurse {
                    holds_inputs_only(view, inputs)?;
                }
            }
            Kind::Directory if recurse => walk(view, &path, (recurse, inputs), depth + 1, seen, found)?,
            Kind::Directory | Kind::Submodule => {}
        }
    }
    Ok(())
}

/// An error where a file that may contain manifests is among the inputs, and is not an input.
fn holds_inputs_only(view: &View<'_>, inputs: &InputsDir) -> Result<(), Error> {
    let Some(path) = Strays::new(view, inputs).first(&has_extension) else { return Ok(()) };
    let dir = inputs.path();
    let text = format!("`{path}` would be left out: the setting `vendorDirectory` has `{dir}`, and it is not an input");
    let hint = "move it; or, on the server, name a directory without other files: git hydrate config set vendorDirectory third_party";
    Err(Error::mistake(Diagnostic::error(text).at(Span::file(path)).hint(hint)))
}

/// Those of the files that may contain manifests.
pub(crate) const EXTENSIONS: [&str; 4] = ["yaml", "yml", "json", "jsonnet"];

fn has_extension(path: &RepoPath) -> bool {
    let extension = path.file_name().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

enum Found {
    Objects(Vec<Manifest>),
    Jsonnet,
}

fn read(path: &RepoPath, data: Option<&[u8]>) -> Result<Found, Diagnostic> {
    match data {
        None => Ok(Found::Jsonnet),
        Some(data) if path.as_str().ends_with(".json") => read_json(path, data).map(Found::Objects),
        Some(data) => read_yaml(path, data).map(Found::Objects),
    }
}

/// Exactly one object.
fn read_json(path: &RepoPath, data: &[u8]) -> Result<Vec<Manifest>, Diagnostic> {
    if let Err(error) = yaml::json::decode(data, &Limits::default()) {
        let span = Span::at(path.clone(), error.line(), error.column()).quoting(&String::from_utf8_lossy(data));
        let mistake = Diagnostic::error(format!("not a JSON object: {error}")).at(span);
        return Err(mistake.hint("a `.json` file holds one object; write several as the `items` of a `List`"));
    }
    match manifest::read(data, Source::File(path)) {
        Ok(manifests) => checked(path, data, manifests),
        Err(unreadable) => Err(misspelt::find(path, data).unwrap_or(unreadable.diagnostic)),
    }
}

/// The objects of a file, none of which is nearly another one.
fn checked(path: &RepoPath, data: &[u8], manifests: Vec<Manifest>) -> Result<Vec<Manifest>, Diagnostic> {
    let is_odd = |manifest: &Manifest| {
        manifest.api_version().is_empty() || manifest.name().is_empty() || misspelt::has_odd_metadata(manifest.object())
    };
    match manifests.iter().any(is_odd).then(|| misspelt::find(path, data)).flatten() {
        Some(mistake) => Err(mistake),
        None => Ok(manifests),
    }
}

/// Any number of documents.
///
/// When the first of them cannot be read, or is no object, and the file does not look like manifests, then it is something
/// else (a values file, a configuration) and left out.
///
/// Where we differ from Argo CD: a document that is nearly an object makes the file one of manifests, whatever else is in it,
/// and so do lines of two of the three fields that every object has.
fn read_yaml(path: &RepoPath, data: &[u8]) -> Result<Vec<Manifest>, Diagnostic> {
    match manifest::read(data, Source::File(path)) {
        Ok(manifests) => checked(path, data, manifests),
        Err(unreadable) => match misspelt::find(path, data) {
            Some(mistake) => Err(mistake),
            None if unreadable.read_before > 0 || looks_like_manifests(data) => {
                let hint =
                    format!("correct the YAML; a file without manifests is left out by a comment `{SKIP_MARKER}`");
                let has_hint = unreadable.diagnostic.hint.is_some();
                Err(if has_hint { unreadable.diagnostic } else { unreadable.diagnostic.hint(hint) })
            }
            None => Ok(Vec::new()),
        },
    }
}

/// The fields of every object.
const FIELDS: [&str; 3] = ["apiVersion:", "kind:", "metadata:"];

fn looks_like_manifests(data: &[u8]) -> bool {
    let starts = |word: &&&str| data.split(|&byte| byte == b'\n').any(|line| line.starts_with(word.as_bytes()));
    FIELDS.iter().all(|word| contains(data, word)) || FIELDS.iter().filter(starts).count() > 1
}

fn contains(data: &[u8], word: &str) -> bool {
    match std::str::from_utf8(data) {
        Ok(text) => text.contains(word),
        Err(_) => data.windows(word.len()).any(|window| window == word.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

    const A: &str = "kind: A\n";

    fn files() -> MemoryFiles {
        MemoryFiles::new()
            .file("app/b.yaml", "kind: B\n---\nkind: B2\n")
            .file("app/a.yml", A)
            .file("app/.hidden.yaml", "kind: Hidden\n")
            .file("app/b/deep.json", "{\"kind\": \"Deep\"}")
            .file("app/b/main.jsonnet", "{}")
            .file("app/b.d/x.yaml", "kind: X\n")
            .file("app/lib.libsonnet", "{}")
            .file("app/README.md", "# no manifest")
            .file("app/values.yaml", "replicas: 1\n")
            .file("app/template.yaml", "{{ if .Values.x }}\n")
            .file("app/skipped.yaml", "# +argocd:skip-file-rendering\nkind: Skipped\n")
            .file("app/list.yaml", "kind: List\nitems: [{kind: L1}, {kind: L2}]\n")
            .file("shared/linked.yaml", "kind: Linked\n")
            .link("app/link.yaml", "../shared/linked.yaml")
            .link("app/linked-dir", "../shared")
            .link("app/nowhere.yaml", "none.yaml")
    }

    fn render_in(files: &MemoryFiles, options: &argo::Directory, bytes_max: u64) -> Result<Vec<String>, Error> {
        let view = View::new(files);
        let dir = RepoPath::new("app").expect("plain");
        let inputs = InputsDir::default();
        let manifests = render(&view, &dir, options, &inputs, bytes_max, &mut Vec::new(), |path| {
            let object = yaml::Value::Mapping([("kind".to_owned(), path.as_str().into())].into());
            Ok::<_, Error>(vec![Manifest::new(object).expect("has a kind")])
        })?;
        let manifests = manifests.iter().flat_map(|(_, manifests)| manifests);
        Ok(manifests.map(|manifest| manifest.kind().to_owned()).collect())
    }

    fn options(recurse: bool, include: &str, exclude: &str) -> argo::Directory {
        let glob = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        argo::Directory { recurse, include: glob(include), exclude: glob(exclude), ..Default::default() }
    }

    #[test]
    fn which_files_and_in_which_order() {
        let rows: &[(&str, argo::Directory, &[&str])] = &[
            ("the top only", options(false, "", ""), &["Hidden", "A", "B", "B2", "Linked", "L1", "L2"]),
            (
                "directories between files by name",
                options(true, "", ""),
                &["Hidden", "A", "Deep", "app/b/main.jsonnet", "X", "B", "B2", "Linked", "L1", "L2"],
            ),
            ("include crosses directories", options(true, "*x.yaml", ""), &["X"]),
            ("include one of several", options(true, "{a.yml,b/*.json}", ""), &["A", "Deep"]),
            ("exclude wins", options(true, "b*", "b/*"), &["X", "B", "B2"]),
            ("a pattern that does not compile includes nothing", options(true, "[", ""), &[]),
            ("a pattern that does not compile excludes nothing", options(false, "a.yml", "["), &["A"]),
        ];
        for (name, options, expected) in rows {
            let mut kinds = render_in(&files(), options, 0).expect(name);
            // `b` sorts before `b.d` and `b.yaml`.
            kinds.dedup();
            assert_eq!(kinds, *expected, "{name}");
        }
    }

    #[test]
    fn what_is_no_manifest_and_what_is_a_broken_one() {
        type Row = (&'static str, &'static str, Result<&'static [&'static str], &'static str>);
        let rows: Vec<Row> = vec![
            ("x.yaml", "", Ok(&[])),
            ("x.yaml", "- a\n- b\n", Ok(&[])),
            ("x.yaml", "a: [\n", Ok(&[])),
            ("x.yaml", "metadata: {}\n", Ok(&[])),
            ("x.yaml", "apiVersion: v1\nmetadata: {}\n", Err("app/x.yaml:1:1 `kind` is missing")),
            ("x.yaml", "apiVersion: v1\nknd: A\n", Err("app/x.yaml:2:1 `knd` is not a field of this object")),
            (
                "x.yaml",
                "apiVersion: v1\nkind A\nmetadata: {}\n",
                Err("app/x.yaml:3:1 not valid YAML: could not find expected ':'"),
            ),
            (
                "x.yaml",
                "kind: List\nitems: [null]\n",
                Err("app/x.yaml:2:9 an item of a list is `null`, which is not an object"),
            ),
            ("x.yaml", "kind: A\n---\na: 1\n", Err("app/x.yaml:3 `kind` is missing")),
            (
                "x.yaml",
                "apiVersion: v1\nkind: A\nmetadata:\n  a: [\n",
                Err("app/x.yaml:5:1 not valid YAML: did not find expected node content"),
            ),
            (
                "x.yaml",
                "apiVersion: v1\n--- kind: b, metadata: x\n",
                Err("app/x.yaml:2:4 text after the document separator `---`"),
            ),
            ("x.json", "{\"kind\": \"A\"}", Ok(&["A"])),
            (
                "x.json",
                "{\"kind\": \"A\"}\n{\"kind\": \"B\"}",
                Err("app/x.json:2:1 not a JSON object: invalid character '{' after top-level value"),
            ),
            ("x.json", "{\"a\": 1}", Err("app/x.json:1 `kind` is missing")),
            (
                "x.json",
                "kind: A\n",
                Err("app/x.json:1:1 not a JSON object: invalid character 'k' looking for beginning of value"),
            ),
        ];
        for (name, text, expected) in rows {
            let files = MemoryFiles::new().file(&format!("app/{name}"), text);
            let found = render_in(&files, &options(false, "", ""), 0);
            let found = found.map_err(|error| match error {
                Error::Mistakes(all) => format!("{} {}", all[0].span.clone().expect("placed"), all[0].message),
                Error::View(error) => panic!("{error}"),
            });
            match expected {
                Ok(kinds) => assert_eq!(found.expect(text), kinds, "{text:?}"),
                Err(error) => assert_eq!(found.expect_err(text), error, "{text:?}"),
            }
        }
    }

    #[test]
    fn files_have_a_limit_together() {
        let files = MemoryFiles::new().file("app/a.yaml", A).file("app/b.yaml", A).file("app/c.jsonnet", "{} // long");
        assert_eq!(render_in(&files, &options(false, "", ""), 16).expect("just fits").len(), 3);
        let error = render_in(&files, &options(false, "", ""), 15).expect_err("too much");
        assert!(matches!(error, Error::Mistakes(all) if all[0].message == "the manifests of `app` have more than 15 \
            bytes in total"));
    }

    #[test]
    fn a_link_out_of_the_tree_is_an_error_even_when_excluded() {
        let files = MemoryFiles::new().file("app/a.yaml", A).link("app/out.yaml", "/etc/passwd");
        let error = render_in(&files, &options(false, "", "out*"), 0).expect_err("leads out");
        assert!(matches!(error, Error::Mistakes(all) if all[0].message.contains("leads out of the repository")));
    }

    #[test]
    fn every_extension_when_asked() {
        let files = MemoryFiles::new().file("app/a.tpl", A).file("app/b.txt", "no manifest");
        let options = argo::Directory { disable_extension_filter: true, ..Default::default() };
        assert_eq!(render_in(&files, &options, 0).expect("fine"), ["A"]);
    }
}
