//! Jsonnet: what a file imports, and what it evaluates to.
//!
//! The evaluator has a limit on the depth of calls, but none on steps or memory: `local f(x) = f(x + 1) tailstrict; f(0)` never
//! ends. So it runs in a process of its own, this binary started as `git-hydrate __jsonnet` ([`evaluate::main`]), under the
//! limits of every program. That process sees the files that [`closure`] found, and nothing else: they are alone in its
//! current directory, so every path in it, `std.thisFile` and the places of errors too, is the path in the repository.
//!
//! Leaves to others: starting that process, and writing the files for it.
//!
//! Never: an import of an absolute path or of one out of the tree, in a file or in the code of a variable. Imports are
//! literals, so that is known before anything is evaluated.

pub(crate) mod evaluate;
mod stream;

pub use stream::parse_yaml;

use std::collections::BTreeSet;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};
use go_yaml::{self as yaml, Limits, Value};
use rsjsonnet_lang::arena::Arena;
use rsjsonnet_lang::interner::StrInterner;
use rsjsonnet_lang::lexer::Lexer;
use rsjsonnet_lang::span::SpanManager;
use rsjsonnet_lang::token::{STokenKind, TokenKind};

use crate::argo;
use crate::manifest::{self, Manifest, Source};

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

impl Error {
    /// Puts a mistake without a place at `place`.
    pub fn or_at(self, place: impl FnOnce() -> Span) -> Self {
        match self {
            Self::Mistake(mistake) if mistake.span.is_none() => Self::Mistake(mistake.at(place())),
            error => error,
        }
    }
}

/// How many files one file may import, with all that they import.
const FILES_MAX: usize = 2_000;

/// In how many places imports are looked for.
const LOOKUPS_MAX: usize = 200_000;

/// How long the path of an import may be, with the directory in which it is looked for. No disk takes more.
const PATH_BYTES_MAX: usize = 3_000;

/// The directories in which imports are looked for after that of the importing file, in this order.
///
/// Each `libs` entry is a path from the root of the repository; the last is asked first, the directory of the sources last.
///
/// Reference: Argo CD 3.6 reposerver/repository `makeJsonnetVm`, go-jsonnet 0.22 `FileImporter`.
pub fn libraries(dir: &RepoPath, options: &argo::Jsonnet) -> Result<Vec<RepoPath>, Error> {
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

/// What the evaluation of one file may read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Closure {
    /// The file itself, and all that it and the code of the variables may import.
    pub files: BTreeSet<RepoPath>,
    /// The directories that an import goes through on its way up: `a/b` in `a/b/../c`. They need not be in the tree.
    pub passed: BTreeSet<RepoPath>,
    /// The files of code that are imported by other text than their path below a directory, such as `../c`.
    pub indirect: BTreeSet<RepoPath>,
}

/// A file and all that it and the code of variables may import. What is not there is left out: only who evaluates the import
/// needs it.
///
/// Code of a variable is in no directory: its imports are looked for in the libraries alone.
///
/// Errors: [`Error::Mistake`] has no place when it is of a variable.
pub fn closure(
    view: &View<'_>,
    file: &RepoPath,
    libraries: &[RepoPath],
    options: &argo::Jsonnet,
) -> Result<Closure, Error> {
    let mut walk =
        Walk { view, libraries, known: BTreeSet::new(), todo: Vec::new(), lookups: 0, closure: Closure::default() };
    for variable in options.ext_vars.iter().chain(&options.tlas).filter(|variable| variable.code) {
        match walk.follow(None, variable.value.as_bytes()) {
            Err(Error::Mistake(mistake)) => {
                let message = format!("the code of the variable `{}`: {}", variable.name, mistake.message);
                return Err(Error::Mistake(Diagnostic { message, ..mistake }));
            }
            followed => followed?,
        }
    }
    walk.add(file.clone(), true);
    while let Some((file, is_code)) = walk.todo.pop() {
        walk.closure.files.insert(file.clone());
        if walk.closure.files.len() > FILES_MAX {
            let text = format!("more than {FILES_MAX} files are imported");
            return Err(Error::Mistake(Diagnostic::error(text).at(Span::file(file))));
        }
        // Text imports nothing.
        if is_code {
            let blob = view.read(&file).map_err(|error| unreadable(error, &file))?;
            walk.follow(Some(&file), &blob.data)?;
        }
    }
    Ok(walk.closure)
}

struct Walk<'a> {
    view: &'a View<'a>,
    libraries: &'a [RepoPath],
    /// Each file as code and as text: one that is imported as text first may be imported as code too.
    known: BTreeSet<(RepoPath, bool)>,
    todo: Vec<(RepoPath, bool)>,
    lookups: usize,
    closure: Closure,
}

impl Walk<'_> {
    fn add(&mut self, path: RepoPath, is_code: bool) {
        if self.known.insert((path.clone(), is_code)) {
            self.todo.push((path, is_code));
        }
    }

    /// Notes what `text` imports. `importing` is its file, `None` for the code of a variable.
    fn follow(&mut self, importing: Option<&RepoPath>, text: &[u8]) -> Result<(), Error> {
        let imports = imports(text);
        self.charge(importing, &imports)?;
        for import in imports {
            let Some(found) = find(self.view, importing, &import.path, self.libraries)? else { continue };
            self.closure.passed.extend(found.passed);
            if import.is_code && !is_plain(&import.path) {
                self.closure.indirect.insert(found.path.clone());
            }
            self.add(found.path, import.is_code);
        }
        Ok(())
    }

    /// Counts the directories in which imports will be looked for, and those that they go through on their way up.
    fn charge(&mut self, importing: Option<&RepoPath>, imports: &[Import]) -> Result<(), Error> {
        let ups = |text: &str| text.split('/').filter(|part| *part == "..").count();
        let places: usize = imports.iter().map(|import| ups(&import.path) + 1).sum();
        self.lookups = self.lookups.saturating_add(places.saturating_mul(self.libraries.len() + 1));
        if self.lookups <= LOOKUPS_MAX {
            return Ok(());
        }
        let mistake = Diagnostic::error(format!("the imports name more than {LOOKUPS_MAX} places to look in"));
        Err(Error::Mistake(Diagnostic { span: importing.cloned().map(Span::file), ..mistake }))
    }
}

struct Import {
    path: String,
    is_code: bool,
}

/// The imports of a text, up to the first place where it is not Jsonnet.
fn imports(text: &[u8]) -> Vec<Import> {
    let (arena, ast_arena, interner) = (Arena::new(), Arena::new(), StrInterner::new());
    let mut spans = SpanManager::new();
    let (context, _) = spans.insert_source_context(text.len());
    let Ok(tokens) = Lexer::new(&arena, &ast_arena, &interner, &mut spans, context, text).lex_to_eof(false) else {
        return Vec::new();
    };
    let mut imports = Vec::new();
    for (keyword, path) in tokens.iter().zip(tokens.iter().skip(1)) {
        let is_code = match &keyword.kind {
            TokenKind::Simple(STokenKind::Import) => true,
            TokenKind::Simple(STokenKind::Importstr | STokenKind::Importbin) => false,
            _ => continue,
        };
        if let TokenKind::String(path) = &path.kind {
            imports.push(Import { path: (*path).to_owned(), is_code });
        }
    }
    imports
}

/// Whether a path has none of the parts that [`RepoPath::resolve`] takes out.
fn is_plain(text: &str) -> bool {
    text.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

struct Found {
    path: RepoPath,
    passed: Vec<RepoPath>,
}

/// The file that an import names, looked for in the directory of the importing one and then in the libraries.
///
/// The evaluator looks again, on a disk that has only what is found here. Where the two could end in different places it is
/// a mistake: that one must never get to a directory in which this one did not look.
fn find(
    view: &View<'_>,
    importing: Option<&RepoPath>,
    text: &str,
    libraries: &[RepoPath],
) -> Result<Option<Found>, Error> {
    let mistake = |reason: &dyn std::fmt::Display| {
        let mistake = Diagnostic::error(format!("`{text}` cannot be imported: {reason}"));
        Error::Mistake(Diagnostic { span: importing.cloned().map(Span::file), ..mistake })
    };
    let here = importing.map(|file| file.parent().unwrap_or_default());
    for dir in here.iter().chain(libraries) {
        let path = dir.resolve(text).map_err(|reason| mistake(&reason))?;
        if dir.as_str().len() + text.len() > PATH_BYTES_MAX {
            return Err(mistake(&format!("the path has more than {PATH_BYTES_MAX} bytes")));
        }
        let kind = |path: &RepoPath| view.kind(path).map_err(|error| unreadable(error, importing.unwrap_or(path)));
        let passed = passed(dir, text);
        let mut is_in_file = false;
        for dir in &passed {
            is_in_file |= kind(dir)? == Some(Kind::File);
        }
        let names_directory = matches!(text.rsplit('/').next(), None | Some("" | "." | ".."));
        match kind(&path)? {
            _ if is_in_file => {}
            Some(Kind::Directory) => return Err(mistake(&"it is a directory")),
            Some(Kind::File) if names_directory => return Err(mistake(&"it is not a directory")),
            Some(Kind::File) => return Ok(Some(Found { path, passed })),
            Some(Kind::Link | Kind::Submodule) | None => {}
        }
    }
    Ok(None)
}

/// The directories from which a path goes up.
fn passed(dir: &RepoPath, text: &str) -> Vec<RepoPath> {
    let mut here = dir.clone();
    let mut passed = Vec::new();
    for part in text.split('/') {
        let Ok(next) = here.resolve(part) else { break };
        if part == ".." {
            passed.push(here);
        }
        here = next;
    }
    passed
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
    use dry_files::view::MemoryFiles;

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
        let libs = |libs: &[&str]| argo::Jsonnet {
            libs: libs.iter().map(|lib| (*lib).to_owned()).collect(),
            ..Default::default()
        };
        let libraries = |all: &[&str]| super::libraries(&path("app"), &libs(all));
        assert_eq!(
            libraries(&["vendor/one", "/vendor/two/"]),
            Ok(vec![path("vendor/two"), path("vendor/one"), path("app")])
        );
        let all = libraries(&["vendor/one", "vendor/two"]).expect("good");
        let found = closure(&view, &path("app/main.jsonnet"), &all, &libs(&[])).expect("readable").files;
        let expected = ["app/main.jsonnet", "app/a.libsonnet", "app/lib.libsonnet", "vendor/two/d.txt"];
        assert_eq!(found, expected.into_iter().map(path).collect());
        for (file, expected) in [
            ("bad/abs.jsonnet", "`/etc/passwd` cannot be imported: the path is absolute"),
            ("bad/out.jsonnet", "`../../x` cannot be imported: the path leads out of the repository"),
            ("bad/link.jsonnet", "bad/link.jsonnet: the symbolic link to `/etc/passwd` leads out of the repository"),
        ] {
            assert_eq!(closure(&view, &path(file), &[], &libs(&[])).expect_err(file).to_string(), expected);
        }
        let error = libraries(&["../x"]).expect_err("leads out");
        assert_eq!(error.to_string(), "`../x` cannot be a Jsonnet library: the path leads out of the repository");
    }

    #[test]
    fn what_the_evaluator_could_look_up_elsewhere_is_refused_or_found() {
        let files = MemoryFiles::new()
            .file("app/dir/x", "")
            .file("app/a.libsonnet", "import '../lib/b.libsonnet'")
            .file("lib/b.libsonnet", "importstr '/etc/passwd'")
            .file("lib/c.libsonnet", "{}");
        let view = View::new(&files);
        let closure = |code: &str| {
            let variable = argo::JsonnetVariable { name: "v".to_owned(), value: code.to_owned(), code: true };
            let options = argo::Jsonnet { ext_vars: vec![variable], ..Default::default() };
            closure(&view, &path("app/dir/x"), &[path("app")], &options)
        };
        let found = closure("import 'none/../../lib/c.libsonnet'").expect("readable");
        assert_eq!(found.files, BTreeSet::from([path("app/dir/x"), path("lib/c.libsonnet")]));
        assert_eq!(found.passed, BTreeSet::from([path("app/none"), path("app")]));
        assert_eq!(found.indirect, BTreeSet::from([path("lib/c.libsonnet")]));
        let long = format!("{}x", "a/../".repeat(700));
        let rows = [
            ("importstr '/dev/fd/1'", "`/dev/fd/1` cannot be imported: the path is absolute"),
            ("importbin '../../x'", "`../../x` cannot be imported: the path leads out of the repository"),
            ("importstr 'dir'", "`dir` cannot be imported: it is a directory"),
            ("importstr 'dir/x/'", "`dir/x/` cannot be imported: it is not a directory"),
            // Its imports count although it is imported as text first.
            (
                "[import 'a.libsonnet', importstr 'a.libsonnet']",
                "`/etc/passwd` cannot be imported: the path is absolute",
            ),
            (
                "[importstr 'a.libsonnet', import 'a.libsonnet']",
                "`/etc/passwd` cannot be imported: the path is absolute",
            ),
            (&format!("import '{long}'"), "the path has more than 3000 bytes"),
            (&format!("[{}]", "import '../y',".repeat(60_000)), "more than 200000 places to look in"),
        ];
        for (code, expected) in rows {
            let error = closure(code).expect_err(expected).to_string();
            assert!(error.ends_with(expected), "{error}");
        }
        assert!(closure("import 'a.libsonnet/../none'").expect("readable").passed.is_empty());
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
