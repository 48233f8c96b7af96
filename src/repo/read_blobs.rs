//! Blobs that were read, for who reads them again.

use std::collections::HashMap;

use super::ObjectId;

/// How many bytes are kept: what comes after that is read each time.
const BYTES_MAX: usize = 16 << 20;

/// Blobs with their contents, which were compared with their ids when they were read.
#[derive(Default)]
pub(super) struct ReadBlobs {
    blobs: HashMap<ObjectId, Box<[u8]>>,
    bytes: usize,
}

impl ReadBlobs {
    /// The content of one that was read.
    pub(super) fn get(&self, id: ObjectId) -> Option<Vec<u8>> {
        self.blobs.get(&id).map(|content| content.to_vec())
    }

    /// Keeps one where there is room.
    pub(super) fn keep(&mut self, id: ObjectId, content: &[u8]) {
        if self.bytes + content.len() <= BYTES_MAX && self.blobs.insert(id, content.into()).is_none() {
            self.bytes += content.len();
        }
    }
}
