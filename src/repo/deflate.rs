//! Compressing objects one after the other with one compressor: making one costs more than a small object.
#![expect(clippy::indexing_slicing, reason = "no more is written than there is room")]

use flate2::{Compress, Compression, FlushCompress, Status};

use super::{Doing as _, Error};

pub(super) struct Deflate {
    compressor: Compress,
    /// What comes out goes through here: into a vector, the library clears all room that the vector has left, each time.
    piece: Vec<u8>,
}

impl Deflate {
    pub(super) fn new() -> Self {
        Self { compressor: Compress::new(Compression::fast(), true), piece: vec![0; 32 << 10] }
    }

    /// Appends the compressed content to `bytes`.
    pub(super) fn append(&mut self, content: &[u8], bytes: &mut Vec<u8>) -> Result<(), Error> {
        self.compressor.reset();
        loop {
            let [read, written] = self.totals();
            let rest = content.get(read..).unwrap_or_default();
            let status = self.compressor.compress(rest, &mut self.piece, FlushCompress::Finish);
            let status = status.doing(|| "compressing an object".to_owned())?;
            bytes.extend_from_slice(&self.piece[..self.totals()[1] - written]);
            if status == Status::StreamEnd {
                return Ok(());
            }
        }
    }

    /// How many bytes went in and came out.
    fn totals(&self) -> [usize; 2] {
        [self.compressor.total_in(), self.compressor.total_out()]
            .map(|total| usize::try_from(total).unwrap_or(usize::MAX))
    }
}
