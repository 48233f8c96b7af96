//! The files of a chart directory.

use std::sync::Arc;

use dry_files::diag::Span;
use dry_files::path::RepoPath;
use dry_files::view::{Kind, View, ViewError};

use super::{DEPTH_MAX, FILES_MAX, Raw, Source};
use crate::archive;
use crate::error::{Error, ErrorKind};
use crate::ignore::{self, Ignore};

/// All files below a directory that `.helmignore` leaves in, in the order of their names, directory by directory.
/// Symbolic links are followed.
pub(super) fn walk(source: Source<'_>, dir: &RepoPath) -> Result<Vec<Raw>, Error> {
    walked(source, dir, rules(source.view, dir)?)
}

/// All files below a directory, in that order: what an archive of them has.
pub(super) fn whole(source: Source<'_>, dir: &RepoPath) -> Result<Vec<Raw>, Error> {
    walked(source, dir, Ignore::nothing())
}

fn walked(source: Source<'_>, dir: &RepoPath, ignore: Ignore) -> Result<Vec<Raw>, Error> {
    let Source { view, helm, .. } = source;
    let limits = archive::Limits::of(helm.switches().sizes);
    let mut walk = Walk { view, ignore, files: Vec::new(), bytes: 0, limits };
    walk.directory(dir, "", 0)?;
    Ok(walk.files)
}

/// The first of some files below a chart's directory that its `.helmignore` hides: in a packaged dependency it would not.
pub fn hidden(view: &View<'_>, chart: &RepoPath, files: &[RepoPath]) -> Result<Option<RepoPath>, Error> {
    let ignore = rules(view, chart)?;
    let is_hidden = |path: &&RepoPath| hides(&ignore, &path.strip_prefix(chart).unwrap_or_default());
    Ok(files.iter().find(is_hidden).cloned())
}

/// Whether a file is ignored, or a directory that it is in.
fn hides(ignore: &Ignore, path: &RepoPath) -> bool {
    let count = path.components().count();
    let mut name = String::new();
    for (word, number) in path.components().zip(1..) {
        name += if name.is_empty() { "" } else { "/" };
        name += word;
        if ignore.ignores(&name, number < count) {
            return true;
        }
    }
    false
}

fn rules(view: &View<'_>, dir: &RepoPath) -> Result<Ignore, Error> {
    let path = dir.child(ignore::FILE_NAME).map_err(|_| ViewError::Missing(dir.clone()))?;
    if view.kind(&path)?.is_none() {
        return Ok(Ignore::default());
    }
    let text = String::from_utf8_lossy(&view.read(&path)?.data).into_owned();
    Ignore::parse(&text).map_err(|(line, mistake)| ErrorKind::from(mistake).at(Span::at(path, line, 1).quoting(&text)))
}

struct Walk<'a> {
    view: &'a View<'a>,
    ignore: Ignore,
    files: Vec<Raw>,
    bytes: u64,
    limits: archive::Limits,
}

impl Walk<'_> {
    /// `name` is the path of `dir` in the chart; empty for the chart itself.
    fn directory(&mut self, dir: &RepoPath, name: &str, depth: usize) -> Result<(), Error> {
        if depth > DEPTH_MAX {
            return Err(ErrorKind::TooDeep(DEPTH_MAX).at(Span::file(dir.clone())));
        }
        for entry in self.view.list(dir)?.iter() {
            let path = dir.child(&entry.name).map_err(|_| ViewError::Missing(dir.clone()))?;
            let name = if name.is_empty() { entry.name.clone() } else { format!("{name}/{}", entry.name) };
            let kind = match entry.kind {
                Kind::Link => self.view.kind(&path)?.ok_or_else(|| ViewError::Missing(path.clone()))?,
                kind => kind,
            };
            let is_directory = matches!(kind, Kind::Directory | Kind::Submodule);
            if self.ignore.ignores(&name, is_directory) {
                continue;
            }
            match kind {
                Kind::Directory => self.directory(&path, &name, depth + 1)?,
                Kind::Submodule => return Err(ViewError::Submodule(path.clone()).into()),
                Kind::File | Kind::Link => self.file(path, name)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, path: RepoPath, name: String) -> Result<(), Error> {
        let limit = self.limits.file_bytes_max;
        let too_large = |name: &str, path: &RepoPath| {
            let name = name.rsplit('/').next().unwrap_or(name).to_owned();
            ErrorKind::FileTooLarge { name, limit }.at(Span::file(path.clone()))
        };
        let (data, unreadable) = match self.view.read_within(&path, limit) {
            Ok(blob) if blob.data.len() as u64 > limit => return Err(too_large(&name, &path)),
            Ok(blob) => (without_mark(blob.data), None),
            // Reported only when a template asks for the file.
            Err(error @ ViewError::LfsPointer(_)) => (Arc::from([]), Some(error)),
            Err(ViewError::TooLarge { .. }) => return Err(too_large(&name, &path)),
            Err(error) => return Err(error.into()),
        };
        self.bytes += data.len() as u64;
        if self.files.len() >= FILES_MAX {
            return Err(ErrorKind::TooManyFiles(FILES_MAX).at(Span::file(path)));
        }
        if self.bytes > self.limits.directory_bytes_max {
            return Err(ErrorKind::TooLarge(self.limits.directory_bytes_max).at(Span::file(path)));
        }
        self.files.push(Raw { name, data, origin: path, unreadable });
        Ok(())
    }
}

fn without_mark(data: Arc<[u8]>) -> Arc<[u8]> {
    match data.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) => rest.into(),
        None => data,
    }
}
