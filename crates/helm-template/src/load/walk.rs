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
    walked(source, dir, rules(source.view, dir)?, &mut Total::default())
}

/// All files below a directory, in that order: what an archive of them has. They count with those of `total`.
pub(super) fn whole(source: Source<'_>, dir: &RepoPath, total: &mut Total) -> Result<Vec<Raw>, Error> {
    walked(source, dir, Ignore::nothing(), total)
}

/// How many files have been read, and their bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Total {
    files: usize,
    bytes: u64,
}

fn walked(source: Source<'_>, dir: &RepoPath, ignore: Ignore, total: &mut Total) -> Result<Vec<Raw>, Error> {
    let Source { view, helm, .. } = source;
    let limits = archive::Limits::of(helm.switches().sizes);
    let mut walk = Walk { view, ignore, files: Vec::new(), total: *total, limits };
    walk.directory(dir, "", 0)?;
    *total = walk.total;
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
    total: Total,
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
        self.total.bytes += data.len() as u64;
        if self.total.files >= FILES_MAX {
            return Err(ErrorKind::TooManyFiles(FILES_MAX).at(Span::file(path)));
        }
        if self.total.bytes > self.limits.directory_bytes_max {
            return Err(ErrorKind::TooLarge(self.limits.directory_bytes_max).at(Span::file(path)));
        }
        self.total.files += 1;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::version::Helm;
    use dry_files::inputs::NoInputs;
    use dry_files::view::MemoryFiles;

    #[test]
    fn charts_that_are_read_one_after_the_other_have_the_limits_of_a_directory_together() {
        let files = MemoryFiles::new().file("a/Chart.yaml", "name: a\n").file("a/x.txt", "x").file("b/x.txt", "x");
        let source = Source { view: &View::new(&files), inputs: &NoInputs, helm: Helm::default() };
        let path = |text: &str| RepoPath::new(text).expect("plain");
        let mut total = Total { files: FILES_MAX - 2, bytes: 0 };
        assert_eq!(whole(source, &path("a"), &mut total).map(|files| files.len()).ok(), Some(2));
        let error = whole(source, &path("b"), &mut total).map(drop).expect_err("there are too many");
        assert!(error.to_string().contains(&FILES_MAX.to_string()), "{error}");
    }
}
