//! The objects of a push that git has not accepted yet.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Doing as _, Error};
use dry_files::scratch;

/// Where git keeps the objects of a push that is not accepted yet, as its variables say to a pre-receive hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quarantine {
    /// The directory of the new objects.
    pub objects: PathBuf,
    /// The directories that they depend on: the repository's own, and its alternates.
    pub alternates: Vec<PathBuf>,
}

impl Quarantine {
    /// Reads the variables that `variable` answers; `None` when there is no quarantine.
    ///
    /// Reference: git 2.47 tmp-objdir.c, and `link_alt_odb_entries` of object-file.c for the separators and quotes.
    pub fn of(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let objects = variable("GIT_QUARANTINE_PATH").filter(|path| !path.is_empty())?.into();
        let alternates = variable("GIT_ALTERNATE_OBJECT_DIRECTORIES").unwrap_or_default();
        Some(Self { objects, alternates: entries(alternates.as_bytes()) })
    }

    /// A directory of objects that leads to all of these, and the store that reads through it. The directory goes when
    /// the guard is dropped; it is made in the first of `scratch_dirs` that can be written.
    ///
    /// The library takes object directories from a file of git's, never from variables; that file must not be in the
    /// quarantine, whose content git moves into the repository.
    pub(super) fn store(
        &self,
        hash: gix::hash::Kind,
        scratch_dirs: &[&Path],
    ) -> Result<(scratch::Scratch, Arc<gix::odb::Store>), Error> {
        let doing = || format!("reading the objects of the push at {}", self.objects.display());
        let scratch = scratch::scratch_dir("push", scratch_dirs).doing(doing)?;
        let info = scratch.path().join("info");
        std::fs::create_dir(&info).doing(doing)?;
        let mut lines = Vec::new();
        for path in std::iter::once(&self.objects).chain(&self.alternates) {
            lines.extend(quoted(std::path::absolute(path).doing(doing)?.as_os_str()));
        }
        std::fs::write(info.join("alternates"), lines).doing(doing)?;
        let options = gix::odb::store::init::Options::default();
        let store = gix::odb::Store::at_opts(scratch.path().to_owned(), hash, &mut std::iter::empty(), options);
        Ok((scratch, Arc::new(store.doing(doing)?)))
    }
}

/// The paths between `:`; one that starts with `"` is quoted as in C.
fn entries(list: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut rest = list;
    while !rest.is_empty() {
        let (entry, after) = match rest.strip_prefix(b"\"") {
            Some(text) => unquoted(text),
            None => {
                let end = rest.iter().position(|byte| *byte == b':').unwrap_or(rest.len());
                {
                    let (entry, after) = rest.split_at(end);
                    (entry.to_vec(), after)
                }
            }
        };
        if !entry.is_empty() {
            found.push(OsString::from_vec(entry).into());
        }
        rest = after.strip_prefix(b":").unwrap_or(after);
    }
    found
}

/// The text up to the closing quote, and what follows it.
fn unquoted(text: &[u8]) -> (Vec<u8>, &[u8]) {
    let mut found = Vec::new();
    let mut rest = text;
    while let [byte, after @ ..] = rest {
        rest = after;
        match (byte, after) {
            (b'"', _) => break,
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                found.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = after;
            }
            (b'\\', [escaped, after @ ..]) => {
                let plain = b"abfnrtv".iter().zip(b"\x07\x08\x0c\n\r\t\x0b").find(|(letter, _)| *letter == escaped);
                found.push(plain.map_or(*escaped, |(_, plain)| *plain));
                rest = after;
            }
            _ => found.push(*byte),
        }
    }
    (found, rest)
}

/// A path as a line of an `alternates` file.
fn quoted(path: &OsStr) -> Vec<u8> {
    let mut line = vec![b'"'];
    for byte in path.as_bytes() {
        match byte {
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            b' '..=b'~' => line.push(*byte),
            _ => line.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    line.extend(b"\"\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_directories_are_read_as_git_writes_them() {
        let rows: [(&str, &[&str]); 6] = [
            ("", &[]),
            ("/srv/a.git/objects", &["/srv/a.git/objects"]),
            ("/a:/b", &["/a", "/b"]),
            ("\"/with:colon\":/b", &["/with:colon", "/b"]),
            (r#""/a\"b\\c\303\244\n":x"#, &["/a\"b\\cä\n", "x"]),
            (":/a::\"/open", &["/a", "/open"]),
        ];
        for (text, expected) in rows {
            let expected: Vec<_> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(entries(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn what_is_quoted_is_read_back() {
        for path in ["/plain", "/a b:c\"d\\e", "/ä/\n\u{1}"] {
            let line = quoted(OsStr::new(path));
            assert_eq!(entries(line.strip_suffix(b"\n").expect("a line")), [PathBuf::from(path)]);
        }
    }

    #[test]
    fn without_its_variable_there_is_no_quarantine() {
        assert_eq!(Quarantine::of(|_| None), None);
        let set = |name: &str| (name == "GIT_QUARANTINE_PATH").then(|| OsString::from("/q"));
        assert_eq!(Quarantine::of(set), Some(Quarantine { objects: "/q".into(), alternates: Vec::new() }));
    }
}
