//! Makers of Applications that failed, as a file of the cache.

use dry_files::diag::Diagnostic;
use dry_files::view::Reads;

use super::codec::{Decoder, Encoder, check, checked};
use super::record::{read_reads, write_reads};

/// The first bytes of the file; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate limits\0\x02";

/// How many are remembered: those that were found last.
const MAKERS_MAX: usize = 1000;

/// How large the file may be, in bytes: what is older is forgotten.
pub(super) const BYTES_MAX: usize = 8 << 20;

/// Sets and parents that failed, so that not every push tries them anew.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct FailedMakers {
    /// The oldest first.
    makers: Vec<FailedMaker>,
}

/// A maker that failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FailedMaker {
    /// An id of the maker, and of all that it depends on beside the dry tree.
    pub id: String,
    /// Which limit of the machine it reached, with its key; empty of one that is wrong.
    pub why: String,
    /// What is wrong with it; empty of one that reached a limit.
    pub mistakes: Vec<Diagnostic>,
    /// Everything of the dry tree that was looked at until then.
    pub reads: Reads,
}

impl FailedMakers {
    /// What is known under an id: in each of these a maker looked at something else.
    pub(crate) fn of<'l>(&'l self, id: &'l str) -> impl Iterator<Item = &'l FailedMaker> {
        self.makers.iter().rev().filter(move |maker| maker.id == id)
    }

    /// Remembers one more.
    pub(crate) fn add(&mut self, maker: FailedMaker) {
        self.makers.retain(|other| *other != maker);
        self.makers.push(maker);
        self.makers.drain(..self.makers.len().saturating_sub(MAKERS_MAX));
    }

    /// Forgets what is known under an id.
    pub(crate) fn forget(&mut self, id: &str) {
        self.makers.retain(|maker| maker.id != id);
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut bytes = Decoder(checked(bytes)?.strip_prefix(MAGIC)?);
        let maker = |bytes: &mut Decoder<'_>| {
            let mut bytes = Decoder(bytes.bytes()?);
            let (id, why) = (bytes.text()?, bytes.text()?);
            let mistakes = serde_json::from_slice(bytes.bytes()?).ok()?;
            Some(FailedMaker { id, why, mistakes, reads: read_reads(&mut bytes)? })
        };
        Some(Self { makers: bytes.list(maker)? })
    }

    pub(super) fn written(&self) -> Vec<u8> {
        let mut newest: Vec<Vec<u8>> = Vec::new();
        let mut left = BYTES_MAX - 1024;
        for maker in self.makers.iter().rev() {
            let bytes = maker.encoded();
            let Some(rest) = left.checked_sub(bytes.len() + 16) else { break };
            left = rest;
            newest.push(bytes);
        }
        let mut bytes = Encoder(MAGIC.to_vec());
        bytes.list(newest.iter().rev(), |bytes, maker| bytes.bytes(maker));
        let mut bytes = bytes.0;
        bytes.extend(check(&bytes));
        bytes
    }
}

impl FailedMaker {
    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Encoder::default();
        bytes.text(&self.id);
        bytes.text(&self.why);
        bytes.bytes(&serde_json::to_vec(&self.mistakes).expect("mistakes are texts and numbers"));
        write_reads(&mut bytes, &self.reads);
        bytes.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dry_files::path::RepoPath;
    use dry_files::view::Seen;

    fn maker(n: usize) -> FailedMaker {
        let path = RepoPath::new(&format!("a/{n}")).expect("a path");
        let reads = Reads::from([((path, 0), Seen::Absent)]);
        FailedMaker {
            id: format!("{}", n % 3),
            why: format!("limit {n}"),
            mistakes: vec![Diagnostic::error("wrong").hint("right")],
            reads,
        }
    }

    #[test]
    fn what_is_written_is_read_and_the_last_are_kept() {
        let mut makers = FailedMakers::default();
        (0..MAKERS_MAX + 2).for_each(|n| makers.add(maker(n)));
        let bytes = makers.written();
        assert_eq!(FailedMakers::read(&bytes).as_ref(), Some(&makers));
        let newest = makers.of("0").next().map(|maker| maker.why.clone());
        assert_eq!(newest.as_deref(), Some("limit 999"));
        assert!(!makers.makers.contains(&maker(1)) && makers.makers.contains(&maker(2)));
        makers.forget("0");
        assert_eq!(makers.of("0").count(), 0);
        for at in (0..bytes.len()).step_by(bytes.len() / 50) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(FailedMakers::read(&flipped), None, "bit flipped at {at}");
            assert_eq!(FailedMakers::read(&bytes[..at]), None, "cut at {at}");
        }
    }

    #[test]
    fn the_oldest_are_forgotten_when_there_is_too_much() {
        let mut makers = FailedMakers::default();
        for n in 0..5 {
            makers.add(FailedMaker { why: "x".repeat(BYTES_MAX / 3), ..maker(n) });
        }
        let bytes = makers.written();
        assert!(bytes.len() <= BYTES_MAX);
        let kept = FailedMakers::read(&bytes).expect("is one");
        assert_eq!(kept.makers, makers.makers[3..]);
    }
}
