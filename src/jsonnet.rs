//! Jsonnet: what a file imports, and what it evaluates to.
//!
//! The evaluator has a limit on the depth of calls, but none on steps or memory: `local f(x) = f(x + 1) tailstrict; f(0)` never
//! ends. So it runs in a process of its own, this binary started as `git-hydrate __jsonnet` ([`evaluate::main`]), under the
//! limits of every program. That process sees the files that [`closure`] found, and nothing else.
//!
//! Leaves to others: starting that process, and writing the files for it.
//!
//! Never: an import of an absolute path or of one out of the tree. Imports are literals, so that is known before anything
//! is evaluated.

pub mod evaluate;

use std::collections::BTreeSet;

use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::interner::StrInterner;
use rsjsonnet_lang::lexer::Lexer;
use rsjsonnet_lang::span::SpanManager;
use rsjsonnet_lang::token::{STokenKind, TokenKind};

use crate::application;
use crate::diag::{Diagnostic, Span};
use crate::manifest::{self, Manifest, Source};
use crate::path::RepoPath;
use crate::view::{Kind, View, ViewError};
use crate::yaml::{self, Limits, Value};

/// Why a file cannot be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    /// A mistake of the dry commit.
    #[error("{}", .0.message)]
    Mistake(Diagnostic),
    /// The repository could not be read.
    #[error(transparent)]
    View(ViewError),
}

/// How many files one file may import, with all that they import.
const FILES_MAX: usize = 2_000;

/// The directories in which imports are looked for after that of the importing file, in this order.
///
/// Each `libs` entry is a path from the root of the repository; the last is asked first, the directory of the sources last.
///
/// Reference: Argo CD 3.6 reposerver/repository `makeJsonnetVm`, go-jsonnet 0.22 `FileImporter`.
pub fn libraries(dir: &RepoPath, options: &application::Jsonnet) -> Result<Vec<RepoPath>, Error> {
    let mut libraries = vec![dir.clone()];
    for lib in &options.libs {
        let path = RepoPath::clean(lib.trim_start_matches('/')).map_err(|reason| {
            Error::Mistake(Diagnostic::error(format!("`{lib}` cannot be a Jsonnet library: {reason}")))
        })?;
        libraries.push(path);
    }
    libraries.reverse();
    Ok(libraries)
}

/// A file and all that it may import, itself first. What is not there is left out: only who evaluates the import needs it.
pub fn closure(view: &View<'_>, file: &RepoPath, libraries: &[RepoPath]) -> Result<Vec<RepoPath>, Error> {
    let mut known = BTreeSet::from([file.clone()]);
    let mut all = Vec::new();
    // Files that are only included as text import nothing.
    let mut todo = vec![(file.clone(), true)];
    while let Some((file, is_code)) = todo.pop() {
        all.push(file.clone());
        if all.len() > FILES_MAX {
            let text = format!("more than {FILES_MAX} files are imported");
            return Err(Error::Mistake(Diagnostic::error(text).at(Span::file(file))));
        }
        if !is_code {
            continue;
        }
        let blob = view.read(&file).map_err(|error| unreadable(error, &file))?;
        for import in imports(&blob.data) {
            let found = find(view, &file, &import.path, libraries)?;
            if let Some(path) = found.filter(|path| known.insert(path.clone())) {
                todo.push((path, import.is_code));
            }
        }
    }
    Ok(all)
}

struct Import {
    path: String,
    is_code: bool,
}

/// The imports of a text, up to the first place where it is no Jsonnet.
fn imports(text: &[u8]) -> Vec<Import> {
    let (arena, ast_arena, interner) = (Arena::new(), Arena::new(), StrInterner::new());
    let mut spans = SpanManager::new();
    let (context, _) = spans.insert_source_context(text.len());
    let Ok(tokens) = Lexer::new(&arena, &ast_arena, &interner, &mut spans, context, text).lex_to_eof(false) else {
        return Vec::new();
    };
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    let imports = pairs.filter_map(|(keyword, path)| match (&keyword.kind, &path.kind) {
        (TokenKind::Simple(STokenKind::Import), TokenKind::String(path)) => Some((path, true)),
        (TokenKind::Simple(STokenKind::Importstr | STokenKind::Importbin), TokenKind::String(path)) => {
            Some((path, false))
        }
        _ => None,
    });
    imports.map(|(path, is_code)| Import { path: (*path).to_owned(), is_code }).collect()
}

/// The file that an import names.
fn find(view: &View<'_>, importing: &RepoPath, text: &str, libraries: &[RepoPath]) -> Result<Option<RepoPath>, Error> {
    let here = importing.parent().unwrap_or_default();
    for dir in std::iter::once(&here).chain(libraries) {
        let path = dir.resolve(text).map_err(|reason| {
            let mistake = Diagnostic::error(format!("`{text}` cannot be imported: {reason}"));
            Error::Mistake(mistake.at(Span::file(importing.clone())))
        })?;
        if view.kind(&path).map_err(|error| unreadable(error, importing))? == Some(Kind::File) {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

fn unreadable(error: ViewError, file: &RepoPath) -> Error {
    match error {
        ViewError::Backend { .. } => Error::View(error),
        error => Error::Mistake(Diagnostic::error(error.to_string()).at(Span::file(file.clone()))),
    }
}

/// The objects of what a file evaluated to: one, or an array of them in which null counts for nothing.
pub fn objects(file: &RepoPath, json: &[u8]) -> Result<Vec<Manifest>, Diagnostic> {
    let wrong = |text: String| Diagnostic::error(text).at(Span::file(file.clone()));
    let value = yaml::json::decode(json, &Limits::default()).map_err(|error| wrong(error.to_string()))?;
    let values = match value {
        Value::Sequence(items) => items,
        value => vec![value],
    };
    let mut objects = Vec::new();
    for value in values.iter().filter(|value| !value.is_null()) {
        if value.as_mapping().is_none() {
            let mistake = wrong("a Jsonnet file must evaluate to an object or to an array of objects".to_owned());
            return Err(mistake.hint("rename files that are only imported to `.libsonnet`"));
        }
        let text = yaml::json::encode(value, yaml::json::Options::default());
        let read = manifest::read(text.as_bytes(), Source::Output("Jsonnet"));
        objects.extend(
            read.map_err(|unreadable| Diagnostic { span: None, ..unreadable.diagnostic }.at(Span::file(file.clone())))?,
        );
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::MemoryFiles;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("plain")
    }

    #[test]
    fn what_a_file_imports() {
        let text = "// import 'no1'\n/* import 'no2' */ # import 'no3'\nlocal a = import 'a.libsonnet'; local s = \"import 'no4'\";\n\
                    [importstr \"b\\u002etxt\", importbin @'c\\d', import 'a' + 'b', |||\n  import 'no5'\n|||, x.import_]";
        let found = imports(text.as_bytes());
        let found: Vec<_> = found.iter().map(|import| (import.path.as_str(), import.is_code)).collect();
        assert_eq!(found, [("a.libsonnet", true), ("b.txt", false), ("c\\d", false), ("a", true)]);
        assert!(imports(b"import 'a' 'unfinished").is_empty());
    }

    #[test]
    fn imports_are_looked_for_here_and_then_in_libraries_from_the_last() {
        let files = MemoryFiles::new()
            .file(
                "app/main.jsonnet",
                "[import 'a.libsonnet', import 'lib.libsonnet', importstr 'd.txt', import 'none']",
            )
            .file("app/a.libsonnet", "import 'main.jsonnet'")
            .file("app/lib.libsonnet", "{}")
            .file("vendor/one/lib.libsonnet", "{}")
            .file("vendor/two/d.txt", "import '/etc/passwd'")
            .file("vendor/one/d.txt", "")
            .file("bad/abs.jsonnet", "import '/etc/passwd'")
            .file("bad/out.jsonnet", "import '../../x'")
            .link("bad/link.jsonnet", "/etc/passwd");
        let view = View::new(&files);
        let libs = |libs: &[&str]| application::Jsonnet {
            libs: libs.iter().map(|lib| (*lib).to_owned()).collect(),
            ..Default::default()
        };
        let libraries = |all: &[&str]| super::libraries(&path("app"), &libs(all));
        assert_eq!(
            libraries(&["vendor/one", "/vendor/two/"]),
            Ok(vec![path("vendor/two"), path("vendor/one"), path("app")])
        );
        let found = closure(&view, &path("app/main.jsonnet"), &libraries(&["vendor/one", "vendor/two"]).expect("good"));
        let found: BTreeSet<RepoPath> = found.expect("readable").into_iter().collect();
        let expected = ["app/main.jsonnet", "app/a.libsonnet", "app/lib.libsonnet", "vendor/two/d.txt"];
        assert_eq!(found, expected.into_iter().map(path).collect());
        for (file, expected) in [
            ("bad/abs.jsonnet", "`/etc/passwd` cannot be imported: the path is absolute"),
            ("bad/out.jsonnet", "`../../x` cannot be imported: the path leads out of the repository"),
            ("bad/link.jsonnet", "bad/link.jsonnet: the symbolic link to `/etc/passwd` leads out of the repository"),
        ] {
            assert_eq!(closure(&view, &path(file), &[]).expect_err(file).to_string(), expected);
        }
        let error = libraries(&["../x"]).expect_err("leads out");
        assert_eq!(error.to_string(), "`../x` cannot be a Jsonnet library: the path leads out of the repository");
    }

    #[test]
    fn results() {
        let rows = [
            ("{\"kind\":\"A\"}", Ok("A")),
            ("[{\"kind\":\"A\"},null,{\"kind\":\"B\"}]", Ok("A B")),
            ("[]", Ok("")),
            ("null", Ok("")),
            ("{\"kind\":\"List\",\"items\":[{\"kind\":\"C\"}]}", Ok("C")),
            ("\"text\"", Err("a Jsonnet file must evaluate to an object or to an array of objects")),
            ("[[{\"kind\":\"A\"}]]", Err("a Jsonnet file must evaluate to an object or to an array of objects")),
        ];
        for (json, expected) in rows {
            let found = objects(&path("a.jsonnet"), json.as_bytes());
            let kinds = found.map(|all| all.iter().map(Manifest::kind).collect::<Vec<_>>().join(" "));
            assert_eq!(kinds.as_deref().map_err(|error| error.message.as_str()), expected, "{json}");
        }
    }
}
