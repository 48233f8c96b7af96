//! Paths of a kustomization into files and directories of the view.

use std::rc::Rc;

use dry_files::inputs::{GitInput, Inputs, KeptDirectory};
use dry_files::path::{PathError, RepoPath};
use dry_files::view::{Blob, Kind, View, ViewError};

use super::error::{Error, LINK_NOWHERE_HINT, Result};
use super::options::LoadRestrictor;
use super::remote::{self, Remote};

/// Reads what the kustomization in one directory names.
#[derive(Debug)]
pub(crate) struct Loader {
    /// The directory, without symbolic links.
    root: RepoPath,
    /// The loader of the kustomization that named this directory.
    referrer: Option<Rc<Loader>>,
    /// The repository that it is kept of, when that is another one.
    repository: Option<RepoPath>,
    restrictor: LoadRestrictor,
    inputs: &'static dyn Inputs,
}

/// The error of Go's `filepath.EvalSymlinks`, or the view's own.
fn unresolved(view: &View<'_>, path: &RepoPath, error: ViewError) -> Error {
    let failure = |reason: String| Error::new(format!("evalsymlink failure on '{path}' : {reason}"));
    let no_such = |missing: &RepoPath| failure(format!("lstat {missing}: no such file or directory"));
    match error {
        ViewError::Missing(_) => {
            let missing = first_missing(view, path);
            no_such(&missing).label(if missing == *path {
                "no such file or directory".to_owned()
            } else {
                format!("there is no `{missing}`")
            })
        }
        ViewError::LinkNowhere { path: link, target, missing } => no_such(&missing)
            .label(format!("`{link}` is a symbolic link to `{target}`, which is not there"))
            .hint(LINK_NOWHERE_HINT),
        ViewError::NotDirectory(_) => failure(format!("lstat {path}: not a directory")),
        ViewError::LinkLoop(_) => {
            failure("EvalSymlinks: too many links".to_owned()).label("a symbolic link that leads back to itself")
        }
        other => other.into(),
    }
}

/// The first directory on the way to `path`, or `path` itself, that is not there.
fn first_missing(view: &View<'_>, path: &RepoPath) -> RepoPath {
    let mut here = RepoPath::root();
    for name in path.components() {
        here = match here.child(name) {
            Ok(child) => child,
            Err(_) => return path.clone(),
        };
        if !matches!(view.kind(&here), Ok(Some(_))) {
            return here;
        }
    }
    path.clone()
}

impl Loader {
    /// A loader for the directory that is built.
    pub(crate) fn new(
        view: &View<'_>,
        dir: &RepoPath,
        restrictor: LoadRestrictor,
        inputs: &'static dyn Inputs,
    ) -> Result<Rc<Self>> {
        let root = directory(view, dir).map_err(|error| error.prefix("must build at directory"))?;
        Ok(Rc::new(Self { root, referrer: None, repository: None, restrictor, inputs }))
    }

    /// What is kept of other repositories and hosts.
    pub(crate) fn inputs(&self) -> &'static dyn Inputs {
        self.inputs
    }

    pub(crate) fn root(&self) -> &RepoPath {
        &self.root
    }

    /// The path that a text names from here. Never one outside of the view.
    fn resolve(&self, path: &str) -> Result<RepoPath> {
        self.root.resolve(path).map_err(|error| self.not_a_path(path, error))
    }

    fn not_a_path(&self, path: &str, error: PathError) -> Error {
        match error {
            PathError::Escapes | PathError::Absolute => Error::new(format!(
                "security; file '{path}' is not in or below '{}': it is outside of the repository",
                self.root
            ))
            .hint("only what is in the repository can be rendered: copy the file into it"),
            PathError::NotPlain | PathError::Nul => Error::new(format!("'{path}': {error}")),
        }
    }

    /// The path of a file without links, after the checks of the load restrictor.
    pub(crate) fn file(&self, view: &View<'_>, path: &str) -> Result<RepoPath> {
        if remote::is_url(path) {
            return self.inputs.file(view, path).map_err(Error::from);
        }
        let full = self.resolve(path)?;
        let real = view.real_path(&full).map_err(|error| unresolved(view, &full, error))?;
        if self.restrictor == LoadRestrictor::None {
            return Ok(real);
        }
        if view.kind(&real)? != Some(Kind::File) {
            if view.kind(&real)? == Some(Kind::Submodule) {
                return Err(ViewError::Submodule(real).into());
            }
            return Err(Error::new(format!("'{full}' must resolve to a file")));
        }
        if !real.parent().is_some_and(|dir| dir.starts_with(&self.root)) {
            return Err(Error::new(format!("security; file '{full}' is not in or below '{}'", self.root)).hint(format!(
                "move it below `{}`, or into a directory of its own with a kustomization.yaml that names it, and name \
                 that directory; where Argo CD allows it by `--load-restrictor LoadRestrictionsNone`, the setting \
                 `kustomize.buildOptions` does here",
                self.root
            )));
        }
        Ok(real)
    }

    /// The content of a file.
    pub(crate) fn load(&self, view: &View<'_>, path: &str) -> Result<Blob> {
        Ok(self.open(view, path)?.1)
    }

    /// A file: its path without links, and its content.
    pub(crate) fn open(&self, view: &View<'_>, path: &str) -> Result<(RepoPath, Blob)> {
        let real = self.file(view, path)?;
        read(view, &real).map(|blob| (real, blob))
    }

    /// A loader for another directory that a kustomization here names.
    pub(crate) fn enter(self: &Rc<Self>, view: &View<'_>, path: &str) -> Result<Rc<Self>> {
        if path.is_empty() {
            return Err(Error::new("new root cannot be empty"));
        }
        if let Some(remote) = Remote::parse(path) {
            return self.enter_repository(view, path, &remote);
        }
        if path.starts_with('/') {
            return Err(Error::new(format!("new root '{path}' cannot be absolute")));
        }
        let full =
            self.resolve(path).map_err(|error| error.prefix("must build at directory: not a valid directory"))?;
        let root = directory(view, &full).map_err(|error| error.prefix("must build at directory"))?;
        if let Some(repository) = self.repository.as_ref().filter(|repository| !root.starts_with(repository)) {
            return Err(Error::new(format!(
                "security; the base '{path}' of '{}' is outside of its repository '{repository}'",
                self.root
            )));
        }
        self.below(root, self.repository.clone(), self.restrictor)
    }

    /// A loader for a directory that is kept of another repository. Nothing there names a file outside of that
    /// repository.
    fn enter_repository(self: &Rc<Self>, view: &View<'_>, text: &str, remote: &Remote) -> Result<Rc<Self>> {
        let (url, Remote { directory: below, reference, .. }) = (remote.clone_url(), remote);
        let wanted = GitInput { text, url: &url, reference, directory: below };
        let KeptDirectory { path, repository } = self.inputs.directory(view, &wanted)?;
        let root = directory(view, &path).map_err(|error| error.prefix("must build at directory"))?;
        if !root.starts_with(&repository) {
            return Err(Error::new(format!("security; '{text}' leads out of its repository '{repository}'")));
        }
        self.below(root, Some(repository), LoadRestrictor::RootOnly)
    }

    fn below(
        self: &Rc<Self>,
        root: RepoPath,
        repository: Option<RepoPath>,
        restrictor: LoadRestrictor,
    ) -> Result<Rc<Self>> {
        let mut visited = Some(self);
        while let Some(loader) = visited {
            if loader.root.starts_with(&root) {
                return Err(Error::new(format!(
                    "cycle detected: candidate root '{root}' contains visited root '{}'",
                    loader.root
                )));
            }
            visited = loader.referrer.as_ref();
        }
        Ok(Rc::new(Self { root, referrer: Some(self.clone()), repository, restrictor, inputs: self.inputs }))
    }

    /// How many directories led to this one.
    pub(crate) fn depth(&self) -> usize {
        let mut depth = 0;
        let mut referrer = &self.referrer;
        while let Some(loader) = referrer {
            depth += 1;
            referrer = &loader.referrer;
        }
        depth
    }
}

/// The content of a file whose path is known.
pub(crate) fn read(view: &View<'_>, path: &RepoPath) -> Result<Blob> {
    match view.read(path) {
        Ok(blob) => Ok(blob),
        Err(ViewError::IsDirectory(path)) => Err(Error::new(format!("read {path}: is a directory"))),
        Err(other) => Err(other.into()),
    }
}

/// The directory without links, if it is one.
fn directory(view: &View<'_>, path: &RepoPath) -> Result<RepoPath> {
    let real = view.real_path(path).map_err(|error| unresolved(view, path, error).prefix("not a valid directory"))?;
    match view.kind(&real)? {
        Some(Kind::Directory) => Ok(real),
        Some(Kind::Submodule) => Err(ViewError::Submodule(real).into()),
        _ => Err(Error::new(format!("'{path}': file is not directory"))),
    }
}
