//! Makers of Applications that reached a limit of the machine, as a file of the cache.

use dry_files::view::Reads;

use super::codec::{Decoder, Encoder, check, checked};
use super::record::{read_reads, write_reads};

/// The first bytes of the file; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate limits\0\x01";

/// How many are remembered: those that were found last.
const LIMITS_MAX: usize = 64;

/// How large the file may be, in bytes: what is older is forgotten.
pub(super) const BYTES_MAX: usize = 8 << 20;

/// Sets and parents that reached a limit of this machine, so that not every push tries them anew.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct MakerLimits {
    /// The oldest first.
    limits: Vec<MakerLimit>,
}

/// A maker that reached a limit.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MakerLimit {
    /// An id of the maker, and of all that it depends on beside the dry tree.
    pub id: String,
    /// Which limit, with its key.
    pub why: String,
    /// Everything of the dry tree that was looked at until then.
    pub reads: Reads,
}

impl MakerLimits {
    /// What is known under an id: in each of these a maker looked at something else.
    pub(crate) fn of<'l>(&'l self, id: &'l str) -> impl Iterator<Item = &'l MakerLimit> {
        self.limits.iter().rev().filter(move |limit| limit.id == id)
    }

    /// Remembers one more.
    pub(crate) fn add(&mut self, limit: MakerLimit) {
        self.limits.retain(|other| *other != limit);
        self.limits.push(limit);
        self.limits.drain(..self.limits.len().saturating_sub(LIMITS_MAX));
    }

    /// Forgets what is known under an id.
    pub(crate) fn forget(&mut self, id: &str) {
        self.limits.retain(|limit| limit.id != id);
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Decoder(checked(bytes)?.strip_prefix(MAGIC)?);
        let limit = |bytes: &mut Decoder<'_>| {
            let mut bytes = Decoder(bytes.bytes()?);
            Some(MakerLimit { id: bytes.text()?, why: bytes.text()?, reads: read_reads(&mut bytes)? })
        };
        Some(Self { limits: bytes.list(limit)? })
    }

    pub(super) fn written(&self) -> Vec<u8> {
        let mut newest: Vec<Vec<u8>> = Vec::new();
        let mut left = BYTES_MAX - 1024;
        for limit in self.limits.iter().rev() {
            let bytes = limit.encoded();
            let Some(rest) = left.checked_sub(bytes.len() + 16) else { break };
            left = rest;
            newest.push(bytes);
        }
        let mut bytes = Encoder(MAGIC.to_vec());
        bytes.list(newest.iter().rev(), |bytes, limit| bytes.bytes(limit));
        let mut bytes = bytes.0;
        bytes.extend(check(&bytes));
        bytes
    }
}

impl MakerLimit {
    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Encoder::default();
        bytes.text(&self.id);
        bytes.text(&self.why);
        write_reads(&mut bytes, &self.reads);
        bytes.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::path::RepoPath;
    use dry_files::view::Seen;

    fn limit(n: usize) -> MakerLimit {
        let path = RepoPath::new(&format!("a/{n}")).expect("a path");
        let reads = Reads::from([((path, 0), Seen::Absent)]);
        MakerLimit { id: format!("{}", n % 3), why: format!("limit {n}"), reads }
    }

    #[test]
    fn what_is_written_is_read_and_the_last_are_kept() {
        let mut limits = MakerLimits::default();
        (0..LIMITS_MAX + 2).for_each(|n| limits.add(limit(n)));
        let bytes = limits.written();
        assert_eq!(MakerLimits::read(&bytes).as_ref(), Some(&limits));
        let newest = limits.of("0").next().map(|limit| limit.why.clone());
        assert_eq!(newest.as_deref(), Some("limit 63"));
        assert!(!limits.limits.contains(&limit(1)) && limits.limits.contains(&limit(2)));
        limits.forget("0");
        assert_eq!(limits.of("0").count(), 0);
        for at in (0..bytes.len()).step_by(7) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(MakerLimits::read(&flipped), None, "bit flipped at {at}");
            assert_eq!(MakerLimits::read(&bytes[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_is_too_much() {
        let mut limits = MakerLimits::default();
        for n in 0..5 {
            limits.add(MakerLimit { why: "x".repeat(BYTES_MAX / 3), ..limit(n) });
        }
        let bytes = limits.written();
        assert!(bytes.len() <= BYTES_MAX);
        let kept = MakerLimits::read(&bytes).expect("is one");
        assert_eq!(kept.limits, limits.limits[3..]);
    }
}
