//! Where inputs are that no tool looks for at a place of its own.

use dry_files::path::{PathError, RepoPath};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Key, Kind, TOP, archive};

/// Where they are without a setting.
const DEFAULT: &str = ".hydrate/inputs";

/// The directory of those inputs: the setting `vendorDirectory`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct InputsDir(RepoPath);

/// Why a path cannot be that directory.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputsDirError {
    /// It is no path in the repository.
    #[error("`{0}` cannot hold inputs: {1}")]
    Path(String, PathError),
    /// Everything would be below it.
    #[error("the root of the repository cannot hold inputs: name a directory")]
    Root,
    /// It has a name that the lock file or a file system does not take.
    #[error("{0:?} has a name that a directory of inputs cannot have")]
    Name(String),
    /// The lock file and its attributes are there.
    #[error("`{0}` cannot hold inputs: below `{TOP}`, only `{DEFAULT}` can")]
    Top(String),
}

impl InputsDir {
    /// Takes a path from the root of the repository.
    pub fn new(text: &str) -> Result<Self, InputsDirError> {
        let path = RepoPath::clean(text).map_err(|reason| InputsDirError::Path(text.to_owned(), reason))?;
        if path.is_root() {
            return Err(InputsDirError::Root);
        }
        let is_name = |word: &str| archive::is_name(word) && !word.contains('"') && !is_of_git(word);
        if !path.components().all(is_name) {
            return Err(InputsDirError::Name(text.to_owned()));
        }
        let is_top = path.components().next().is_some_and(|word| word.eq_ignore_ascii_case(TOP));
        if is_top && path.as_str() != DEFAULT {
            return Err(InputsDirError::Top(text.to_owned()));
        }
        Ok(Self(path))
    }

    /// The directory.
    pub fn path(&self) -> &RepoPath {
        &self.0
    }

    /// Where the files of an input are that no tool looks for itself.
    pub fn place(&self, key: &Key) -> RepoPath {
        self.0.join(&key.place())
    }

    /// Whether `name` in the directory `parent` contains inputs: Applications, generators and directory sources are not looked
    /// for there. What else is beside the inputs counts as anywhere.
    pub fn keeps(&self, parent: &RepoPath, name: &str) -> bool {
        let is_top = parent.is_root() && name == TOP;
        is_top || (*parent == self.0 && Kind::ALL.iter().any(|kind| kind.word() == name))
    }

    /// Whether a path is below the directory, where inputs are.
    pub(super) fn has_input(&self, path: &RepoPath) -> bool {
        let below = path.strip_prefix(&self.0);
        let kind = below.as_ref().and_then(|below| below.components().next());
        kind.is_some_and(|kind| Kind::ALL.iter().any(|known| known.word() == kind))
    }

    /// Whether a path is such a directory, or below one.
    pub fn has(&self, path: &RepoPath) -> bool {
        if path.components().next() == Some(TOP) {
            return true;
        }
        let below = path.strip_prefix(&self.0);
        below.is_some_and(|below| below.components().next().is_some_and(|name| self.keeps(&self.0, name)))
    }
}

/// Whether git reads a file of this name, in any spelling of it.
pub(super) fn is_of_git(word: &str) -> bool {
    [".gitattributes", ".gitignore", ".gitmodules", ".mailmap"].iter().any(|name| word.eq_ignore_ascii_case(name))
}

impl Default for InputsDir {
    fn default() -> Self {
        Self(RepoPath::clean(DEFAULT).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for InputsDir {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_cannot_hold_inputs_is_refused() {
        let rows = [
            ("third_party/inputs/", ""),
            (".hydrate/inputs", ""),
            (".", "the root of the repository cannot hold inputs: name a directory"),
            ("a/../..", "`a/../..` cannot hold inputs: the path leads out of the repository"),
            ("/a", "`/a` cannot hold inputs: the path is absolute"),
            (".git/x", "\".git/x\" has a name that a directory of inputs cannot have"),
            ("a\"b", "\"a\\\"b\" has a name that a directory of inputs cannot have"),
            ("a\nb", "\"a\\nb\" has a name that a directory of inputs cannot have"),
            ("a/.gitattributes", "\"a/.gitattributes\" has a name that a directory of inputs cannot have"),
            (".GITMODULES", "\".GITMODULES\" has a name that a directory of inputs cannot have"),
            ("a\u{202e}b", "\"a\\u{202e}b\" has a name that a directory of inputs cannot have"),
            ("a\u{2028}b", "\"a\\u{2028}b\" has a name that a directory of inputs cannot have"),
            (".Hydrate/inputs", "`.Hydrate/inputs` cannot hold inputs: below `.hydrate`, only `.hydrate/inputs` can"),
            (".hydrate", "`.hydrate` cannot hold inputs: below `.hydrate`, only `.hydrate/inputs` can"),
        ];
        for (text, expected) in rows {
            let found = InputsDir::new(text).err().map(|error| error.to_string()).unwrap_or_default();
            assert_eq!(found, expected, "{text}");
        }
        assert!(InputsDir::new(&"x".repeat(256)).is_err());
    }

    #[test]
    fn only_inputs_are_left_out() {
        let dir = InputsDir::new("third_party").expect("a directory");
        let rows = [
            (".hydrate/x", true),
            ("third_party/git/h/r@v1", true),
            ("third_party/helm", true),
            ("third_party", false),
            ("third_party/ours", false),
            ("git", false),
            ("a/third_party/git", false),
        ];
        for (path, expected) in rows {
            let path = RepoPath::new(path).expect("plain");
            assert_eq!(dir.has(&path), expected, "{path}");
            let (parent, name) = (path.parent().unwrap_or_default(), path.file_name().unwrap_or_default());
            assert!(!dir.keeps(&parent, name) || expected, "{path}");
        }
    }
}
