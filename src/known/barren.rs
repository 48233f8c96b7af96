//! Large files of dry trees without any Application that can be read, as a file of the cache.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::codec::{sealed, unsealed};
use dry_files::diag::Diagnostic;

/// The first bytes of the file; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate barren\0\x02";

/// How many files are remembered, those that were found last: as many as a dry tree may have whose cost counts.
const FILES_MAX: usize = 2048;

/// Large files that were read for Applications in vain.
///
/// What may contain one is parsed, which takes as long as the limits of a file allow; where it does not parse, every push would
/// find that out anew.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Barren {
    /// By their ids, each with its number: the oldest has the lowest.
    files: BTreeMap<String, (u64, BarrenFile)>,
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
    /// What it counts for among all that is read of a dry tree.
    pub cost: u64,
}

impl Barren {
    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// What was found in the file of an id, which names the file and all that it depends on what is found in it; none when that
    /// is not known.
    pub(crate) fn get(&self, id: &str) -> Option<&BarrenFile> {
        self.files.get(id).map(|(_, file)| file)
    }

    /// Remembers what was found in the file of an id.
    pub(crate) fn add(&mut self, id: String, file: BarrenFile) {
        if self.get(&id).is_some() {
            return;
        }
        let numbers = self.files.values().map(|(number, _)| *number);
        let number = numbers.clone().max().map_or(0, |last| last + 1);
        if self.files.len() >= FILES_MAX {
            let oldest = numbers.min();
            self.files.retain(|_, (number, _)| Some(*number) != oldest);
        }
        self.files.insert(id, (number, file));
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
            cost: n as u64,
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
