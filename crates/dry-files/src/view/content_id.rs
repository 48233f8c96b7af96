//! Ids of what a tree has.
#![expect(clippy::indexing_slicing, reason = "an id has at most 32 bytes")]

use std::fmt;

/// The id of a file's content or of a whole directory, as git hashed it (20 or 32 bytes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContentId {
    bytes: [u8; 32],
    len: u8,
}

impl ContentId {
    /// Takes the bytes of a git object id. Longer ones are cut at 32 bytes, which no id has.
    pub fn new(id: &[u8]) -> Self {
        let len = id.len().min(32);
        let mut bytes = [0; 32];
        bytes[..len].copy_from_slice(&id[..len]);
        Self { bytes, len: len as u8 }
    }

    /// The bytes of the id.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl std::hash::Hash for ContentId {
    /// Some of the bytes of a hash are enough to tell ids apart.
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.bytes;
        state.write_u64(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
    }
}

impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
