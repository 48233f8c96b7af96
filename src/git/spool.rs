//! Packed entries that wait for their pack in a file of their own, so that a run of many objects needs little memory.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use flate2::write::ZlibDecoder;

use super::{Doing as _, Error};

/// The content of an object that is new.
pub enum Content {
    /// As it is.
    Whole(Vec<u8>),
    /// In the spool.
    Spooled(Entry),
}

/// Where an object's entry is in a spool.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
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
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub start: u64,
    pub len: usize,
}

/// How much of a spool is in memory when it is read.
const CHUNK_BYTES: usize = 64 << 10;

/// A file without a name: it is gone with the process, however that ends.
#[derive(Debug)]
pub struct Spool {
    file: File,
    len: u64,
}

impl Spool {
    /// An empty one on the disk of `dir`.
    pub fn new(dir: &Path) -> Result<Self, Error> {
        let file = tempfile::tempfile_in(dir).doing(|| format!("making a temporary file in {}", dir.display()))?;
        Ok(Self { file, len: 0 })
    }

    /// Appends entries and answers where they start.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64, Error> {
        self.file.write_all(bytes).doing(|| "writing a temporary file".to_owned())?;
        let start = self.len;
        self.len += bytes.len() as u64;
        Ok(start)
    }

    /// Hands on bytes, some at a time.
    pub fn read(&self, range: Range, mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<(), Error> {
        let mut chunk = vec![0; CHUNK_BYTES.min(range.len)];
        let mut done = 0;
        while done < range.len {
            let chunk_len = chunk.len().min(range.len - done);
            let chunk = &mut chunk[..chunk_len];
            let read = self.file.read_exact_at(chunk, range.start + done as u64);
            read.and_then(|()| take(chunk)).doing(|| "reading a temporary file".to_owned())?;
            done += chunk_len;
        }
        Ok(())
    }

    /// The object of an entry.
    pub fn content(&self, entry: Entry) -> Result<Vec<u8>, Error> {
        let mut content = ZlibDecoder::new(Vec::with_capacity(entry.size));
        let Range { start, len } = entry.range;
        let compressed = Range { start: start + entry.header as u64, len: len - entry.header };
        self.read(compressed, |bytes| content.write_all(bytes))?;
        content.finish().doing(|| "reading a temporary file".to_owned())
    }
}
