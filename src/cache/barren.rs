//! Large files of dry trees without any Application that can be read, as a file of the cache.

use dry_files::diag::Diagnostic;
use serde::{Deserialize, Serialize};

use super::codec::{sealed, unsealed};

/// The first bytes of the file; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate barren\0\x01";

/// How many files are remembered: those that were found last.
const FILES_MAX: usize = 256;

/// Large files that were read for Applications in vain.
///
/// What may contain one is parsed, which takes as long as the limits of a file allow; where it does not parse, every push would
/// find that out anew.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Barren {
    /// The oldest first.
    files: Vec<Known>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Known {
    /// An id of the file, and of all that it depends on what is found in it.
    id: String,
    file: BarrenFile,
}

/// What was found in one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BarrenFile {
    /// What is wrong with it as a whole; none where nothing is.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the word `sourceHydrator` is in it, or one that was meant to be.
    pub holds_source_hydrator: bool,
    /// Whether it may contain Secrets of clusters.
    pub may_hold_clusters: bool,
}

impl Barren {
    /// What was found in the file of an id; none when that is not known.
    pub(crate) fn get(&self, id: &str) -> Option<&BarrenFile> {
        self.files.iter().find(|known| known.id == id).map(|known| &known.file)
    }

    /// Remembers what was found in the file of an id.
    pub(crate) fn add(&mut self, id: String, file: BarrenFile) {
        if self.get(&id).is_none() {
            self.files.push(Known { id, file });
            self.files.drain(..self.files.len().saturating_sub(FILES_MAX));
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        Some(Self { files: unsealed(MAGIC, bytes)? })
    }

    pub(super) fn written(&self) -> Vec<u8> {
        sealed(MAGIC, &self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::diag::Span;
    use dry_files::path::RepoPath;

    #[test]
    fn what_is_written_is_read_and_the_last_are_kept() {
        let mut barren = Barren::default();
        let file = |n: usize| BarrenFile {
            diagnostics: vec![Diagnostic::error(format!("file {n} does not parse")).at(Span::at(
                RepoPath::root(),
                2,
                3,
            ))],
            holds_source_hydrator: n.is_multiple_of(2),
            may_hold_clusters: n.is_multiple_of(3),
        };
        for n in 0..FILES_MAX + 2 {
            barren.add(n.to_string(), file(n));
        }
        let bytes = barren.written();
        assert_eq!(Barren::read(&bytes).as_ref(), Some(&barren));
        assert_eq!((barren.get("1"), barren.get("2")), (None, Some(&file(2))));
        let mut flipped = bytes.clone();
        flipped[bytes.len() / 2] ^= 1;
        assert_eq!(Barren::read(&flipped), None);
        assert_eq!(Barren::read(&bytes[..bytes.len() - 1]), None);
    }
}
