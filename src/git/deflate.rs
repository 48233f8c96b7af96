//! Compressing objects one after the other with one compressor: making one costs more than a small object.

use flate2::{Compress, Compression, FlushCompress, Status};

use super::{Doing as _, Error};

pub(super) struct Deflate {
    compressor: Compress,
}

impl Deflate {
    pub fn new() -> Self {
        Self { compressor: Compress::new(Compression::fast(), true) }
    }

    /// Appends the compressed content to `bytes`.
    pub fn append(&mut self, content: &[u8], bytes: &mut Vec<u8>) -> Result<(), Error> {
        self.compressor.reset();
        loop {
            let read = usize::try_from(self.compressor.total_in()).unwrap_or(usize::MAX);
            let rest = content.get(read..).unwrap_or_default();
            bytes.reserve(rest.len() / 2 + 64);
            let status = self.compressor.compress_vec(rest, bytes, FlushCompress::Finish);
            if status.doing(|| "compressing an object".to_owned())? == Status::StreamEnd {
                return Ok(());
            }
        }
    }
}
