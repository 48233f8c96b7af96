//! The files of an input, and the one number that pins them.

use std::fmt::Write as _;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};

use crate::path::RepoPath;
use crate::view::{ContentId, Kind, View, ViewError};

/// One file of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputFile {
    /// Below the input.
    pub path: RepoPath,
    /// What is in it.
    pub data: Arc<[u8]>,
}

/// The digest of files: sha256 of the sorted lines that `sha256sum` prints of them.
///
/// `find . -type f -printf '%P\0' | sort -z | xargs -0 sha256sum | sha256sum` in the directory gives the same. It does not
/// depend on how an archive was packed, nor on git's own hash.
pub(crate) fn digest(files: &[InputFile]) -> String {
    let mut sorted: Vec<&InputFile> = files.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let mut text = String::new();
    for file in sorted {
        // Writing into a string cannot fail.
        let _ = writeln!(text, "{}  {}", HEXLOWER.encode(&Sha256::digest(&file.data)), file.path);
    }
    format!("sha256:{}", HEXLOWER.encode(&Sha256::digest(text)))
}

/// The digest of what is at a path without links; none where nothing is. A file has that of a directory with only it.
///
/// Noted as a read of everything below it.
pub(super) fn at(view: &View<'_>, path: &RepoPath) -> Result<Option<String>, ViewError> {
    let id = match view.content_id(path) {
        Ok(id) => id,
        Err(error) if error.is_missing() || matches!(error, ViewError::NotDirectory(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    if let Some(known) = view.files().memo().and_then(|memo| memo.get::<String>(MEMO, id)) {
        return Ok(Some(String::clone(&known)));
    }
    let digest = digest(&files(view, path)?);
    if let Some(memo) = view.files().memo() {
        memo.keep(MEMO, id, Arc::new(digest.clone()));
    }
    Ok(Some(digest))
}

/// The files of an input that is kept at a path.
pub(crate) fn files(view: &View<'_>, path: &RepoPath) -> Result<Vec<InputFile>, ViewError> {
    let id = view.content_id(path)?;
    let mut files = Vec::new();
    if view.kind(path)? == Some(Kind::File) {
        let own = RepoPath::clean(path.file_name().unwrap_or_default()).unwrap_or_default();
        files.push(InputFile { path: own, data: read(view, path, id)? });
    } else {
        gather(view, path, &RepoPath::root(), id, 0, &mut files)?;
    }
    Ok(files)
}

/// What is remembered of a directory.
const MEMO: &str = "digest of an input";

/// How deep directories of an input may nest.
const DEPTH_MAX: usize = 64;

fn gather(
    view: &View<'_>,
    top: &RepoPath,
    below: &RepoPath,
    id: ContentId,
    depth: usize,
    found: &mut Vec<InputFile>,
) -> Result<(), ViewError> {
    let dir = top.join(below);
    view.go_on(&dir)?;
    let backend = |reason| ViewError::Backend { path: dir.clone(), reason };
    for entry in view.files().list(&dir, id).map_err(backend)?.iter() {
        let Ok(path) = below.child(&entry.name) else { continue };
        match entry.kind {
            Kind::Directory if depth < DEPTH_MAX => gather(view, top, &path, entry.id, depth + 1, found)?,
            Kind::File => found.push(InputFile { data: read(view, &top.join(&path), entry.id)?, path }),
            // No input has any, so the digest differs.
            Kind::Link | Kind::Submodule | Kind::Directory => {
                found.push(InputFile { data: Arc::from(&b"no file"[..]), path });
            }
        }
    }
    Ok(())
}

/// The bytes of a file, whatever they are: not noted, for the whole directory is.
fn read(view: &View<'_>, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, ViewError> {
    let backend = |reason| ViewError::Backend { path: path.clone(), reason };
    let size = view.files().size(path, id).map_err(backend)?;
    if size > View::FILE_BYTES_MAX {
        return Err(ViewError::TooLarge { path: path.clone(), size, limit: View::FILE_BYTES_MAX });
    }
    view.files().read(path, id).map_err(backend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::MemoryFiles;

    fn file(path: &str, data: &str) -> InputFile {
        InputFile { path: RepoPath::new(path).expect("plain"), data: data.as_bytes().into() }
    }

    /// printf x >b; mkdir a; printf y >a/c; find . -type f -printf '%P\0' | sort -z | xargs -0 sha256sum | sha256sum
    #[test]
    fn the_digest_is_that_of_sha256sum() {
        let expected = "sha256:866c510d3fd2a74ed306d264feca030a5c5ae7c9a2e694600655fbe0d30cda59";
        assert_eq!(digest(&[file("b", "x"), file("a/c", "y")]), expected);
        let files = MemoryFiles::new().file("in/a/c", "y").file("in/b", "x").file("out", "z");
        let view = View::new(&files);
        assert_eq!(at(&view, &RepoPath::new("in").expect("plain")), Ok(Some(expected.to_owned())));
        assert_eq!(at(&view, &RepoPath::new("none").expect("plain")), Ok(None));
    }

    #[test]
    fn a_link_is_no_part_of_an_input() {
        let plain = MemoryFiles::new().file("in/b", "x");
        let linked = plain.clone().link("in/c", "b");
        let dir = RepoPath::new("in").expect("plain");
        assert_ne!(at(&View::new(&plain), &dir), at(&View::new(&linked), &dir));
    }
}
