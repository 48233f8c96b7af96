//! `$name/…`: a file of another source of the same Application.

use std::collections::BTreeMap;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::{PathError, RepoPath};

use super::Application;
use super::mistake::Mistake;
use inputs::Key;

/// A file of another source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referenced {
    /// The root of that source's repository in the dry tree.
    pub root: RepoPath,
    /// The file, or a pattern of files, in the dry tree.
    pub path: RepoPath,
    /// What that repository is asked for by, when it is another one.
    pub input: Option<Key>,
}

impl Application {
    /// What `text` names that begins with `$`, in an Application with `sources`; none for any other text. Paths count from the
    /// root of the repository of that name.
    ///
    /// Errors: no source has that `ref`, or the path leads out of its repository.
    ///
    /// Reference: argo-cd `37ee0097` reposerver/repository/repository.go `getResolvedRefValueFile`.
    pub fn referenced(&self, text: &str, at: &Span) -> Option<Result<Referenced, Diagnostic>> {
        let rest = text.strip_prefix('$').filter(|_| !self.sources.is_empty())?;
        let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
        Some(self.file_of(name, path, text, at))
    }

    fn file_of(&self, name: &str, path: &str, text: &str, at: &Span) -> Result<Referenced, Diagnostic> {
        let named = self.all_sources().filter_map(|source| Some((source.reference.as_deref()?, source)));
        let named: BTreeMap<&str, &super::DrySource> = named.collect();
        let Some(source) = named.get(name) else {
            let known = named.keys().map(|name| format!("${name}")).collect();
            return Err(Mistake::RefUnknown { text: text.to_owned(), known }.at(at.clone()));
        };
        let root = source.root.clone();
        let below =
            RepoPath::clean(path).and_then(|path| if path.is_root() { Err(PathError::Escapes) } else { Ok(path) });
        let below = below.map_err(|reason| {
            Diagnostic::error(format!("`{text}` cannot be a values file: {reason}")).at(at.clone())
        })?;
        Ok(Referenced { path: root.join(&below), root, input: source.input.clone() })
    }
}
