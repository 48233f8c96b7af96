//! What a server publishes of the renders of a dry branch, so that a clone need not repeat them.
//!
//! A [`Published`] is a proposal. It names the paths that the render of each Application looked at, and has one digest of
//! what was found there, of the Application's document and of the manifests. A clone finds out what its own dry tree and the
//! environment branch have there, and takes nothing over whose digest is another one. A path that was left out of the list
//! does not show.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use sha2::{Digest, Sha256};

use super::codec::{Decoder, Encoder};
use super::record::{Record, write_reads};
use crate::path::RepoPath;
use crate::view::{Reads, Seen};

/// The first bytes; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate reads\0\0\x01";

/// More than this is neither published nor read, in bytes: some 80,000 Applications.
pub(crate) const PUBLISHED_BYTES_MAX: u64 = 32 << 20;

/// How many paths may be named, and as many ways in which one was looked at.
const READS_MAX: usize = 1 << 20;

/// How many ways there are to look at a path, and some to spare.
const WAYS: u64 = 8;

/// What the paths of one Application may have, in bytes: much more than any render looks at.
const ENTRY_BYTES_MAX: usize = 16 << 20;

const DIGEST_BYTES: usize = 32;

/// What was published of a dry branch.
#[derive(Debug)]
pub(crate) struct Published {
    context: String,
    bytes: Vec<u8>,
    /// In their order, each once, unless somebody else made it.
    paths: Vec<RepoPath>,
    /// Each path, by its place in the list, with the way in which it was looked at.
    reads: Vec<(usize, u8)>,
    /// What is found there in the one dry tree that somebody asks about.
    seen: Vec<OnceLock<Option<Seen>>>,
    /// By the place of the file and the number in it.
    entries: HashMap<(usize, usize), Entry>,
}

/// Where the pieces of one Application are.
#[derive(Debug)]
struct Entry {
    digest: Range<usize>,
    commands: Range<usize>,
    reads: Range<usize>,
}

impl Published {
    /// The bytes that say all that can be taken over of some records; none when they are too many. `context` is an id of all
    /// that results depend on beside Applications and dry trees.
    pub(crate) fn written<R: Iterator<Item = Record>>(context: &str, records: impl Fn() -> R) -> Option<Vec<u8>> {
        let mut reads: BTreeSet<(RepoPath, u8)> = BTreeSet::new();
        let mut paths: BTreeSet<RepoPath> = BTreeSet::new();
        for record in records().filter(can_be_taken_over) {
            reads.extend(record.reads.into_keys());
            paths.insert(record.file);
            if reads.len() > READS_MAX {
                return None;
            }
        }
        paths.extend(reads.iter().map(|(path, _)| path.clone()));
        let place: HashMap<&RepoPath, u64> = paths.iter().zip(0..).collect();
        let mut bytes = Encoder(MAGIC.to_vec());
        bytes.text(context);
        bytes.list(paths.iter(), |bytes, path| bytes.text(path.as_str()));
        let mut last = 0;
        bytes.list(reads.iter(), |bytes, (path, way)| {
            bytes.number((place[path] - last) * WAYS + u64::from(*way));
            last = place[path];
        });
        let number: HashMap<&(RepoPath, u8), u64> = reads.iter().zip(0..).collect();
        for record in records().filter(can_be_taken_over) {
            bytes.number(place[&record.file]);
            bytes.number(record.index as u64);
            bytes.bytes(&digest(context, &record));
            let mut commands = Encoder::default();
            commands.list(record.commands.iter(), |bytes, command| bytes.text(command));
            bytes.bytes(&commands.0);
            let (mut own, mut last) = (Encoder::default(), 0);
            for read in record.reads.keys() {
                own.number(number[read] - last);
                last = number[read];
            }
            bytes.bytes(&own.0);
            if bytes.0.len() as u64 > PUBLISHED_BYTES_MAX {
                return None;
            }
        }
        Some(bytes.0)
    }

    /// Reads such bytes; none when they were made in another context, or are invalid.
    pub(crate) fn read(bytes: Vec<u8>, context: &str) -> Option<Self> {
        if bytes.len() as u64 > PUBLISHED_BYTES_MAX {
            return None;
        }
        let mut rest = Decoder(bytes.strip_prefix(MAGIC)?);
        if rest.text()? != context {
            return None;
        }
        let paths = limited(&mut rest, Decoder::path)?;
        let mut last = 0;
        let reads = limited(&mut rest, |rest| next_read(rest, &mut last, paths.len()))?;
        let mut entries = HashMap::new();
        while !rest.0.is_empty() {
            let file = usize::try_from(rest.number()?).ok()?;
            let index = usize::try_from(rest.number()?).ok()?;
            let mut piece = || piece(&mut rest, bytes.len());
            let entry = Entry { digest: piece()?, commands: piece()?, reads: piece()? };
            entries.insert((file, index), entry);
        }
        let seen = reads.iter().map(|_| OnceLock::new()).collect();
        Some(Self { context: context.to_owned(), bytes, paths, reads, seen, entries })
    }

    /// The same record with the commands and the reads that were published for it, where all of it is what was published:
    /// `record` has what it rendered to, and `look` finds out in which way a path is there.
    pub(crate) fn confirmed(&self, record: Record, look: impl Fn(&RepoPath, u8) -> Option<Seen>) -> Option<Record> {
        let file = self.paths.binary_search(&record.file).ok()?;
        let entry = self.entries.get(&(file, record.index))?;
        let commands = Decoder(&self.bytes[entry.commands.clone()]).list(Decoder::text)?;
        let mut numbers = Decoder(&self.bytes[entry.reads.clone()]);
        let mut reads = Reads::new();
        let (mut at, mut size) = (0, 0_usize);
        while !numbers.0.is_empty() {
            at = usize::try_from(numbers.number()?).ok()?.checked_add(at)?;
            let (place, way) = *self.reads.get(at)?;
            let path = self.paths.get(place)?;
            size = size.saturating_add(path.as_str().len() + 1);
            if size > ENTRY_BYTES_MAX {
                return None;
            }
            let seen = *self.seen[at].get_or_init(|| look(path, way));
            reads.insert((path.clone(), way), seen?);
        }
        let record = Record { commands, reads, ..record };
        let is_it = digest(&self.context, &record) == self.bytes[entry.digest.clone()];
        (is_it && is_plausible(&record)).then_some(record)
    }
}

/// The index of a path and the way in which it was looked at; `last` is the index of the one before.
fn next_read(bytes: &mut Decoder<'_>, last: &mut usize, paths: usize) -> Option<(usize, u8)> {
    let number = bytes.number()?;
    *last = usize::try_from(number / WAYS).ok()?.checked_add(*last)?;
    (*last < paths).then_some((*last, (number % WAYS) as u8))
}

/// Where the next bytes are in all `len` bytes, of which `rest` are those that were not read yet.
fn piece(rest: &mut Decoder<'_>, len: usize) -> Option<Range<usize>> {
    let piece = rest.bytes()?.len();
    let end = len - rest.0.len();
    Some(end - piece..end)
}

/// A list that is no longer than anything that is published.
fn limited<'a, T>(bytes: &mut Decoder<'a>, item: impl FnMut(&mut Decoder<'a>) -> Option<T>) -> Option<Vec<T>> {
    let len = Decoder(bytes.0).number()?;
    (len <= 2 * READS_MAX as u64).then(|| bytes.list(item))?
}

fn can_be_taken_over(record: &Record) -> bool {
    record.is_of_application()
        && record.failure.is_none()
        && record.drawn.is_none()
        && !record.names_the_commit
        && is_plausible(record)
}

/// Whether something of the directory of its sources was looked at: no render does without.
fn is_plausible(record: &Record) -> bool {
    let mut paths = record.reads.keys().map(|(path, _)| path);
    paths.any(|path| path.starts_with(&record.dry_path))
}

/// All that decides whether a record may be taken over.
fn digest(context: &str, record: &Record) -> [u8; DIGEST_BYTES] {
    let mut bytes = Encoder::default();
    bytes.text(context);
    bytes.text(record.file.as_str());
    bytes.number(record.index as u64);
    bytes.bytes(record.fingerprint.as_bytes());
    bytes.bytes(record.placement.as_bytes());
    bytes.text(record.branch.as_str());
    bytes.bytes(record.manifest.as_bytes());
    write_reads(&mut bytes, &record.reads);
    Sha256::digest(&bytes.0).into()
}

#[cfg(test)]
#[path = "published/tests.rs"]
mod tests;
