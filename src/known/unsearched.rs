//! Dry trees that are too large to be searched, as a file of the cache.

use dry_files::diag::Diagnostic;
use serde::{Deserialize, Serialize};

use super::codec::{sealed, unsealed};

/// The first bytes of the file; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate trees\0\0\x01";

/// How many trees are remembered: those that were found last.
const TREES_MAX: usize = 64;

/// Dry trees that are not searched for Applications, because there is more in them than we take.
///
/// To find that out takes as long as the largest tree that is searched, and every push would find it out anew.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Unsearched {
    /// The oldest first.
    trees: Vec<Tree>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Tree {
    /// An id of the tree, and of all that it depends on whether it is searched.
    id: String,
    why: Diagnostic,
}

impl Unsearched {
    /// Why the tree of an id is not searched; none when that is not known.
    pub(crate) fn why(&self, id: &str) -> Option<&Diagnostic> {
        self.trees.iter().find(|tree| tree.id == id).map(|tree| &tree.why)
    }

    /// Remembers why the tree of an id is not searched.
    pub(crate) fn add(&mut self, id: String, why: Diagnostic) {
        self.trees.push(Tree { id, why });
        self.trees.drain(..self.trees.len().saturating_sub(TREES_MAX));
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self { trees: unsealed(MAGIC, bytes)? })
    }

    pub(super) fn written(&self) -> Vec<u8> {
        sealed(MAGIC, &self.trees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_the_last_are_kept() {
        let mut unsearched = Unsearched::default();
        for n in 0..TREES_MAX + 2 {
            unsearched.add(n.to_string(), Diagnostic::error(format!("tree {n} is too large")));
        }
        let bytes = unsearched.written();
        assert_eq!(Unsearched::read(&bytes).as_ref(), Some(&unsearched));
        assert_eq!(unsearched.why("1"), None);
        assert_eq!(unsearched.why("2"), Some(&Diagnostic::error("tree 2 is too large")));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(Unsearched::read(&flipped), None, "bit flipped at {at}");
            assert_eq!(Unsearched::read(&bytes[..at]), None, "cut at {at}");
        }
    }
}
