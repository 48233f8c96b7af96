//! Paths inside a repository.
//!
//! [`RepoPath`] is the only way to name a file of a dry or hydrated tree. It is made by functions that check, so
//! the rest of the code can trust it: no path that was pushed to us leads out of its tree.

use std::borrow::Borrow;
use std::fmt;

/// A path relative to the root of a tree: `/` between components, no empty, `.` or `..` component, no NUL.
///
/// The root itself is the empty path. Ordered by bytes, as git sorts the paths of a flat listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RepoPath(String);

/// Why a text is no [`RepoPath`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It starts with `/`.
    #[error("the path is absolute")]
    Absolute,
    /// A `..` leads above the root.
    #[error("the path leads out of the repository")]
    Escapes,
    /// It has an empty, `.` or `..` component, or ends with `/`.
    #[error("the path has an empty, `.` or `..` part")]
    NotPlain,
    /// It has a NUL byte, which no file name can contain.
    #[error("the path contains a NUL byte")]
    Nul,
}

impl RepoPath {
    /// The root of the tree.
    pub fn root() -> Self {
        Self::default()
    }

    /// Takes a path that is already in its plain form.
    pub fn new(text: &str) -> Result<Self, PathError> {
        let path = Self::clean(text)?;
        if path.0 == text { Ok(path) } else { Err(PathError::NotPlain) }
    }

    /// Takes a path as people write it: `./a//b/../c/` becomes `a/c`. What leads above the root is an error.
    pub fn clean(text: &str) -> Result<Self, PathError> {
        Self::root().resolve(text)
    }

    /// The path that `text` names when it is read in the directory `self`, resolved by its text alone.
    pub fn resolve(&self, text: &str) -> Result<Self, PathError> {
        if text.starts_with('/') {
            return Err(PathError::Absolute);
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        let mut path = self.clone();
        for component in text.split('/') {
            match component {
                "" | "." => {}
                ".." if path.is_root() => return Err(PathError::Escapes),
                ".." => path.0.truncate(path.0.rfind('/').unwrap_or_default()),
                name => path.push(name),
            }
        }
        Ok(path)
    }

    /// `self`, then the components of `below`.
    pub fn join(&self, below: &RepoPath) -> Self {
        let mut path = self.clone();
        if !below.is_root() {
            path.push(&below.0);
        }
        path
    }

    /// The entry `name` of this directory. `name` is one component, as a tree lists it.
    pub fn child(&self, name: &str) -> Result<Self, PathError> {
        if matches!(name, "" | "." | "..") || name.bytes().any(|byte| matches!(byte, b'/' | 0)) {
            return Err(self.resolve(name).err().unwrap_or(PathError::NotPlain));
        }
        let mut path = Self(String::with_capacity(self.0.len() + 1 + name.len()));
        path.0.push_str(&self.0);
        path.push(name);
        Ok(path)
    }

    /// The directory that this path is in; `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        if self.is_root() {
            return None;
        }
        Some(Self(self.0.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned()))
    }

    /// The last component; none for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// The components from the root down.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|component| !component.is_empty())
    }

    /// Whether this is `dir` itself or lies below it.
    pub fn starts_with(&self, dir: &RepoPath) -> bool {
        self.strip_prefix(dir).is_some()
    }

    /// The rest of this path below `dir`: the root for `dir` itself, none outside of it.
    pub fn strip_prefix(&self, dir: &RepoPath) -> Option<Self> {
        if dir.is_root() {
            return Some(self.clone());
        }
        let rest = self.0.strip_prefix(&dir.0)?;
        if rest.is_empty() {
            return Some(Self::root());
        }
        rest.strip_prefix('/').map(|rest| Self(rest.to_owned()))
    }

    /// The path to write in the directory `dir` to name this one, with `..` where it is needed.
    pub fn relative_to(&self, dir: &RepoPath) -> String {
        let here: Vec<&str> = dir.components().collect();
        let there: Vec<&str> = self.components().collect();
        let shared = here.iter().zip(&there).take_while(|(a, b)| a == b).count();
        let up = std::iter::repeat_n("..", here.len() - shared);
        let path = up.chain(there.into_iter().skip(shared)).collect::<Vec<_>>().join("/");
        if path.is_empty() { ".".to_owned() } else { path }
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The text of the path, empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Goes on to an entry of this directory, which is one component.
    pub(crate) fn push(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push('/');
        }
        self.0.push_str(name);
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.0 })
    }
}

impl Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl<'de> serde::Deserialize<'de> for RepoPath {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

impl serde::Serialize for RepoPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_paths() {
        let rows: &[(&str, Result<&str, PathError>)] = &[
            ("", Ok("")),
            (".", Ok("")),
            ("a", Ok("a")),
            ("./a//b/", Ok("a/b")),
            ("a/../b", Ok("b")),
            ("a/..", Ok("")),
            ("..", Err(PathError::Escapes)),
            ("a/../../b", Err(PathError::Escapes)),
            ("a/b/../../c/d/..", Ok("c")),
            ("/a", Err(PathError::Absolute)),
            ("a\0b", Err(PathError::Nul)),
            ("...", Ok("...")),
        ];
        for (text, expected) in rows {
            assert_eq!(RepoPath::clean(text).as_ref().map(RepoPath::as_str), expected.as_ref().copied(), "{text:?}");
        }
    }

    #[test]
    fn a_path_with_a_million_parts_takes_no_longer_than_it_is() {
        let text = format!("{}{}apps", "a/".repeat(1_000_000), "../".repeat(1_000_000));
        assert_eq!(RepoPath::clean(&text).as_ref().map(RepoPath::as_str), Ok("apps"));
    }

    #[test]
    fn only_plain_paths_are_new() {
        for text in ["a", "a/b", ""] {
            assert!(RepoPath::new(text).is_ok(), "{text:?}");
        }
        for text in [".", "a/", "a//b", "./a", "a/../a"] {
            assert_eq!(RepoPath::new(text), Err(PathError::NotPlain), "{text:?}");
        }
    }

    #[test]
    fn prefixes_end_at_components() {
        let path = RepoPath::new("apps/web/chart").expect("plain");
        let rows = [
            ("", Some("apps/web/chart")),
            ("apps", Some("web/chart")),
            ("apps/web/chart", Some("")),
            ("apps/we", None),
        ];
        for (dir, expected) in rows {
            let dir = RepoPath::new(dir).expect("plain");
            assert_eq!(path.strip_prefix(&dir).as_ref().map(RepoPath::as_str), expected, "{dir}");
        }
    }

    #[test]
    fn relative_paths() {
        let rows =
            [("a/b", "a/c", "../b"), ("a", "", "a"), ("a/b", "a/b", "."), ("", "a", ".."), ("a/b/c", "a", "b/c")];
        for (path, dir, expected) in rows {
            let (path, dir) = (RepoPath::new(path).expect("plain"), RepoPath::new(dir).expect("plain"));
            assert_eq!(path.relative_to(&dir), expected);
        }
    }

    #[test]
    fn children_are_single_components() {
        let dir = RepoPath::new("a").expect("plain");
        assert_eq!(dir.child("b").expect("one component").as_str(), "a/b");
        for name in ["..", ".", "", "b/c", "b/.."] {
            assert!(dir.child(name).is_err(), "{name:?}");
        }
    }
}
