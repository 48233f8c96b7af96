//! What the last run left on the branch of copies, as a file of the cache.

use dry_files::diag::Diagnostic;
use serde::{Deserialize, Serialize};

use super::codec::{sealed, unsealed};

/// The first bytes of the file; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate copies\0\x01";

/// A branch of copies that is just what its settings and the commits that it follows make of it. Ids are in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CopyBranch {
    /// An id of the settings and the engine.
    pub context: String,
    /// The branch.
    pub branch: String,
    /// The commit that it was left at.
    pub tip: String,
    /// The dry branches.
    pub dry_branches: Vec<String>,
    /// The commits that copies follow.
    pub followed: Vec<CopiedFrom>,
    /// The directories of copies of which an earlier dry commit is deployed than their branch shows.
    pub earlier: Vec<String>,
    /// How many copies there are.
    pub count: usize,
    /// Whether hydrated Applications render some that have no copies therefore.
    #[serde(default = "unknown")]
    pub are_rendered: bool,
    /// What is odd, and repeated each time.
    pub warnings: Vec<Diagnostic>,
}

/// A commit that copies follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CopiedFrom {
    /// Its branch.
    pub branch: String,
    /// The commit.
    pub commit: String,
    /// The dry branch and the dry commit that it shows; none for a branch that a promoter writes.
    pub dry: Option<(String, String)>,
}

/// What earlier versions did not say may be.
fn unknown() -> bool {
    true
}

impl CopyBranch {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        unsealed(MAGIC, bytes)
    }

    pub(super) fn written(&self) -> Vec<u8> {
        sealed(MAGIC, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let text = |text: &str| text.to_owned();
        let copies = CopyBranch {
            context: text("1"),
            branch: text("copies"),
            tip: text("2"),
            dry_branches: vec![text("main")],
            followed: vec![CopiedFrom { branch: text("a"), commit: text("3"), dry: Some((text("main"), text("4"))) }],
            earlier: vec![text("applications/argocd/web")],
            count: 5,
            are_rendered: false,
            warnings: vec![Diagnostic::warning("odd")],
        };
        let bytes = copies.written();
        assert_eq!(CopyBranch::read(&bytes), Some(copies));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(CopyBranch::read(&flipped), None, "bit flipped at {at}");
            assert_eq!(CopyBranch::read(&bytes[..at]), None, "cut at {at}");
        }
    }
}
