//! How many bytes new blobs add to a repository on disk.

use std::collections::HashMap;

use super::ObjectId;

/// The blobs that count, each once: as they are while they are in memory, compressed once they are in a spool.
#[derive(Debug, Default)]
pub(super) struct Growth {
    in_memory: HashMap<ObjectId, u64>,
    in_memory_bytes: u64,
    spooled_bytes: u64,
}

impl Growth {
    /// Counts a blob that is in memory.
    pub(super) fn add(&mut self, id: ObjectId, bytes: u64) {
        if self.in_memory.insert(id, bytes).is_none() {
            self.in_memory_bytes += bytes;
        }
    }

    /// Counts a blob by its compressed bytes from now on, if it counts.
    pub(super) fn spool(&mut self, id: ObjectId, compressed_bytes: u64) {
        if let Some(bytes) = self.in_memory.remove(&id) {
            self.in_memory_bytes -= bytes;
            self.spooled_bytes += compressed_bytes;
        }
    }

    /// Whether so many bytes more are no more than `limit` together.
    pub(super) fn has_room(&self, bytes: u64, limit: u64) -> bool {
        self.spooled_bytes.saturating_add(self.in_memory_bytes).saturating_add(bytes) <= limit
    }

    /// Whether compressing what is in memory would make room.
    pub(super) fn can_shrink(&self) -> bool {
        self.in_memory_bytes > 0
    }
}
