//! The files of an input, and the one number that pins them.

use std::fmt::Write as _;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Kind, View, ViewError};
use sha2::{Digest, Sha256};

use super::dir::is_of_git;
use super::name::{self, DEPTH_MAX};

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
/// depend on how an archive was packed, nor on git's own hash. No two sets of names and contents have one text.
pub fn digest(files: &[InputFile]) -> String {
    digest_of(files.iter().map(|file| (&file.path, sum(&file.data))).collect())
}

fn sum(data: &[u8]) -> String {
    HEXLOWER.encode(&Sha256::digest(data))
}

/// The digest of paths, each with the sum of its content or, of what is not a file, the word for it.
fn digest_of(mut lines: Vec<(&RepoPath, String)>) -> String {
    lines.sort_by(|a, b| a.0.cmp(b.0));
    let mut text = String::new();
    for (path, content) in lines {
        let name = path.as_str();
        // Writing into a string cannot fail.
        let _ = match name.contains(ESCAPED) {
            true => writeln!(text, "\\{content}  {}", escaped(name)),
            false => writeln!(text, "{content}  {name}"),
        };
    }
    format!("sha256:{}", sum(text.as_bytes()))
}

/// The characters of a name that would make it part of another line.
const ESCAPED: [char; 3] = ['\\', '\n', '\r'];

/// A name as one line has it.
///
/// Reference: coreutils 9.7 src/digest.c `print_filename`, which marks such a line by a backslash.
fn escaped(name: &str) -> String {
    name.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
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
    // The digest of a file has its name, which its content id does not tell.
    let memo = view.files().memo().filter(|_| !matches!(view.kind(path), Ok(Some(Kind::File))));
    if let Some(known) = memo.and_then(|memo| memo.get::<String>(MEMO, id)) {
        return Ok(Some(String::clone(&known)));
    }
    let items = items(view, path)?;
    let digest = digest_of(items.iter().map(|(path, content)| (path, content.sum())).collect());
    if let Some(memo) = memo {
        memo.keep(MEMO, id, Arc::new(digest.clone()));
    }
    Ok(Some(digest))
}

/// The files of an input that are kept, and the paths of those that are not: git itself would read these, and stage others as
/// other bytes or not at all.
///
/// `known` is the digest that the lock file has, if it lists the input. One that was kept whole before stays as it is.
pub fn without_those_of_git(files: Vec<InputFile>, known: Option<&str>) -> (Vec<InputFile>, Vec<RepoPath>) {
    let is_kept = |file: &InputFile| !file.path.file_name().is_some_and(is_of_git);
    if files.iter().all(is_kept) || known.is_some_and(|known| known == digest(&files)) {
        return (files, Vec::new());
    }
    let (kept, left_out): (Vec<_>, Vec<_>) = files.into_iter().partition(is_kept);
    (kept, left_out.into_iter().map(|file| file.path).collect())
}

/// What at a path no input has, such as `the symbolic link x`.
pub(super) fn odd(view: &View<'_>, path: &RepoPath) -> Option<String> {
    let items = items(view, path).ok()?;
    for (below, content) in items {
        let shown = || go_yaml::quote(path.join(&below).as_str());
        match content {
            Content::Other(what) => return Some(format!("the {what} {}", shown())),
            Content::File(_) if below.components().all(name::is_name) => {}
            Content::File(_) => return Some(format!("the file {}, whose name no input has", shown())),
        }
    }
    None
}

/// The files of an input that is kept at a path. What is not a file there is one without content.
pub fn files(view: &View<'_>, path: &RepoPath) -> Result<Vec<InputFile>, ViewError> {
    Ok(items(view, path)?.into_iter().map(|(path, content)| InputFile { path, data: content.into_data() }).collect())
}

/// What is at a path below the directory of an input.
enum Content {
    File(Arc<[u8]>),
    /// No file, by the word for it: no input has any.
    Other(&'static str),
}

impl Content {
    fn into_data(self) -> Arc<[u8]> {
        match self {
            Self::File(data) => data,
            Self::Other(_) => Arc::from([]),
        }
    }

    /// What the digest has of it. No word is a sum.
    fn sum(&self) -> String {
        match self {
            Self::File(data) => sum(data),
            Self::Other(what) => (*what).to_owned(),
        }
    }
}

fn items(view: &View<'_>, path: &RepoPath) -> Result<Vec<(RepoPath, Content)>, ViewError> {
    let id = view.content_id(path)?;
    let mut items = Vec::new();
    if view.kind(path)? == Some(Kind::File) {
        let own = RepoPath::clean(path.file_name().unwrap_or_default()).unwrap_or_default();
        items.push((own, Content::File(read(view, path, id)?)));
    } else {
        gather(view, path, &RepoPath::root(), id, 0, &mut items)?;
    }
    Ok(items)
}

/// What is remembered of a directory.
const MEMO: &str = "digest of an input";

fn gather(
    view: &View<'_>,
    top: &RepoPath,
    below: &RepoPath,
    id: ContentId,
    depth: usize,
    found: &mut Vec<(RepoPath, Content)>,
) -> Result<(), ViewError> {
    let dir = top.join(below);
    view.go_on(&dir)?;
    let backend = |reason| ViewError::Backend { path: dir.clone(), reason };
    for entry in view.files().list(&dir, id).map_err(backend)?.iter() {
        let Ok(path) = below.child(&entry.name) else { continue };
        let content = match entry.kind {
            Kind::Directory if depth < DEPTH_MAX => {
                gather(view, top, &path, entry.id, depth + 1, found)?;
                continue;
            }
            Kind::File => Content::File(read(view, &top.join(&path), entry.id)?),
            Kind::Link => Content::Other("symbolic link"),
            Kind::Submodule => Content::Other("submodule"),
            Kind::Directory => Content::Other("too deep directory"),
        };
        found.push((path, content));
    }
    Ok(())
}

/// The bytes of a file, whatever they are: not noted, for the whole directory is.
fn read(view: &View<'_>, path: &RepoPath, id: ContentId) -> Result<Arc<[u8]>, ViewError> {
    let backend = |reason| ViewError::of(path, reason);
    let size = view.files().size(path, id).map_err(backend)?;
    if size > View::FILE_BYTES_MAX {
        return Err(ViewError::TooLarge { path: path.clone(), size, limit: View::FILE_BYTES_MAX });
    }
    view.files().read(path, id).map_err(backend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::view::MemoryFiles;

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

    fn of(files: &MemoryFiles) -> Option<String> {
        at(&View::new(files), &RepoPath::new("in").expect("plain")).expect("readable")
    }

    /// printf x >b; printf y >'n
    /// a\b'; sha256sum b 'n
    /// a\b' | sha256sum
    #[test]
    fn the_digest_of_odd_names_is_that_of_sha256sum() {
        let expected = "sha256:136c2e5f4e2992d8dcd0185a8ab98332a67a901e842fd2b7b91474cd07588846";
        assert_eq!(digest(&[file("n\na\\b", "y"), file("b", "x")]), expected);
    }

    #[test]
    fn what_git_would_read_is_not_kept_unless_it_was() {
        let all =
            [file("a/.GitAttributes", "* text"), file("b", "x"), file(".gitignore", "b"), file(".helmignore", "c")];
        let whole = digest(&all);
        let (kept, left_out) = without_those_of_git(all.to_vec(), Some("sha256:other"));
        assert_eq!(kept, [file("b", "x"), file(".helmignore", "c")]);
        assert_eq!(left_out.iter().map(RepoPath::as_str).collect::<Vec<_>>(), ["a/.GitAttributes", ".gitignore"]);
        assert_eq!(without_those_of_git(all.to_vec(), Some(&whole)), (all.to_vec(), Vec::new()));
    }

    #[test]
    fn no_name_and_no_kind_stands_for_another_file() {
        let plain = MemoryFiles::new().file("in/a", "x").file("in/b", "no file");
        let forged = MemoryFiles::new().file(&format!("in/a\n{}  b", sum(b"no file")), "x");
        let linked = MemoryFiles::new().file("in/a", "x").link("in/b", "a");
        assert_ne!(of(&plain), of(&forged));
        assert_ne!(of(&plain), of(&linked));
        let named = MemoryFiles::new().file("in/a", "x").file("in/b", "symbolic link");
        assert_ne!(of(&named), of(&linked));
        let odd = |files: &MemoryFiles| odd(&View::new(files), &RepoPath::new("in").expect("plain"));
        assert_eq!(odd(&plain), None);
        assert_eq!(odd(&linked).as_deref(), Some("the symbolic link \"in/b\""));
        assert!(odd(&forged).is_some_and(|odd| odd.ends_with("  b\", whose name no input has")));
    }
}
