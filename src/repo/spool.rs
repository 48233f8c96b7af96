//! Packed entries that wait for their pack in a file of their own, so that a run of many objects needs little memory.
#![expect(clippy::indexing_slicing, reason = "a chunk is not longer than its buffer")]

use std::borrow::Cow;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use flate2::write::ZlibDecoder;

use super::{Doing as _, Error};

/// The content of an object that is new.
pub(super) enum Content {
    /// As it is.
    Whole(Vec<u8>),
    /// In a spool.
    Spooled(Entry),
}

impl Content {
    /// The object itself.
    pub(super) fn read(&self) -> Result<Cow<'_, [u8]>, Error> {
        match self {
            Self::Whole(content) => Ok(Cow::Borrowed(content)),
            Self::Spooled(entry) => entry.read().map(Cow::Owned),
        }
    }

    /// The size of the object, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Whole(content) => content.len(),
            Self::Spooled(entry) => entry.size,
        }
    }
}

/// Where an object's entry is in a spool.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The size of the object.
    pub size: usize,
    /// The check of the entry, for the index.
    pub crc: u32,
    /// The bytes of the entry.
    pub range: Range,
    /// How many of them come before the compressed content.
    pub header: usize,
}

/// Bytes of a spool.
#[derive(Debug, Clone)]
pub(super) struct Range {
    file: Arc<File>,
    start: u64,
    pub len: usize,
}

/// How much of a spool is in memory when it is read.
const CHUNK_BYTES: usize = 64 << 10;

/// A file without a name: it is gone with the process, however that ends.
#[derive(Debug)]
pub(super) struct Spool {
    file: Arc<File>,
    len: u64,
}

impl Spool {
    /// An empty one on the disk of `dir`.
    pub(super) fn new(dir: &Path) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(dir).doing(|| format!("making a temporary file in {}", dir.display()))?;
        Ok(Self { file: Arc::new(file), len: 0 })
    }

    /// Appends bytes and answers where they are.
    pub(super) fn append(&mut self, bytes: &[u8]) -> Result<Range, Error> {
        self.file.as_ref().write_all(bytes).doing(|| "writing a temporary file".to_owned())?;
        let range = Range { file: self.file.clone(), start: self.len, len: bytes.len() };
        self.len += bytes.len() as u64;
        Ok(range)
    }
}

impl Range {
    /// So many of the bytes, behind the first `start`.
    pub(super) fn part(&self, start: usize, len: usize) -> Self {
        Self { file: self.file.clone(), start: self.start + start as u64, len }
    }

    /// Grows by the bytes that follow it directly; answers whether they do.
    pub(super) fn extend(&mut self, next: &Self) -> bool {
        let is_next = Arc::ptr_eq(&self.file, &next.file) && self.start + self.len as u64 == next.start;
        self.len += if is_next { next.len } else { 0 };
        is_next
    }

    /// Hands on the bytes, some at a time.
    pub(super) fn read(&self, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<(), Error> {
        let mut chunk = vec![0; CHUNK_BYTES.min(self.len)];
        let mut done = 0;
        while done < self.len {
            let chunk_len = chunk.len().min(self.len - done);
            let chunk = &mut chunk[..chunk_len];
            let read = self.file.read_exact_at(chunk, self.start + done as u64);
            read.and_then(|()| take(chunk)).doing(|| "reading a temporary file".to_owned())?;
            done += chunk_len;
        }
        Ok(())
    }
}

impl Entry {
    /// The object.
    fn read(&self) -> Result<Vec<u8>, Error> {
        let mut content = ZlibDecoder::new(Vec::with_capacity(self.size));
        let compressed = self.range.part(self.header, self.range.len - self.header);
        compressed.read(|bytes| content.write_all(bytes))?;
        content.finish().doing(|| "reading a temporary file".to_owned())
    }
}
