//! A file of records that are found by hashes, written once.
//!
//! Records first, each with its length and its check; then pages of the index, entries of hash and record in the order
//! of hashes; then the directory, where each page starts; then the tail, where the directory starts. The name of the
//! file is the check of its tail, so that no one takes one for another.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use dry_files::regular;
use sha2::{Digest, Sha256};

use super::codec::{CHECK_BYTES, check, checked};
use super::record::Encoded;

/// The first bytes of a table; the last of them is the version of the format.
const MAGIC: &[u8; 16] = b"hydrate table\0\0\x01";

/// About how many entries are on one page.
const PAGE_ENTRIES: usize = 256;

const ENTRY_BYTES: usize = 16;
const TAIL_BYTES: usize = 8 + 8 + 32 + CHECK_BYTES;

/// More pages than this no table has.
const PAGES_MAX: u64 = 1 << 24;

/// A record's place in its file; 0 for an entry that only says that there is one.
pub(super) type Place = u64;

/// What cannot be read, or is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Damaged;

/// A table that is open. Nothing but its tail and directory is in memory.
#[derive(Debug)]
pub(super) struct Table {
    file: File,
    records_end: u64,
    pages: Vec<u64>,
}

impl Table {
    /// Opens the table of this name; none when it is not there, or damaged.
    pub(super) fn open(dir: &Path, name: &str) -> Option<Self> {
        let file = regular::open(&dir.join(name)).ok()?;
        let end = file.metadata().ok()?.len();
        let tail_start = end.checked_sub(TAIL_BYTES as u64)?;
        let tail = read(&file, tail_start, TAIL_BYTES)?;
        if hex(tail.get(TAIL_BYTES - CHECK_BYTES..)?) != name.strip_prefix(PREFIX)? {
            return None;
        }
        let tail = checked(&tail)?;
        let [records_end, directory_start] = [number(tail.get(..8)?)?, number(tail.get(8..16)?)?];
        let directory = read(&file, directory_start, usize::try_from(tail_start.checked_sub(directory_start)?).ok()?)?;
        let pages: Vec<u64> = checked(&directory)?.chunks_exact(8).filter_map(number).collect();
        Some(Self { file, records_end, pages })
    }

    /// Writes a table into a directory and answers its name.
    pub(super) fn write(
        dir: &Path,
        records: impl IntoIterator<Item = Encoded>,
        marks: impl IntoIterator<Item = u64>,
    ) -> io::Result<String> {
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(dir)?;
        let mut out = Output { out: BufWriter::new(file.as_file_mut()), hash: Sha256::new(), at: 0 };
        out.write(MAGIC)?;
        let mut entries: Vec<(u64, Place)> = marks.into_iter().map(|hash| (hash, 0)).collect();
        for Encoded { bytes, hashes } in records {
            entries.extend(hashes.into_iter().map(|hash| (hash, out.at)));
            out.write(&(bytes.len() as u64).to_be_bytes())?;
            out.piece(&bytes)?;
        }
        let records_end = out.at;
        entries.sort_unstable();
        entries.dedup();
        let count = (entries.len() / PAGE_ENTRIES + 1).next_power_of_two();
        let mut pages = Vec::with_capacity((count + 1) * 8);
        let mut rest = &entries[..];
        for page in 0..count {
            let (here, after) = rest.split_at(rest.partition_point(|(hash, _)| page_of(*hash, count) <= page));
            rest = after;
            pages.extend(out.at.to_be_bytes());
            let bytes: Vec<u8> =
                here.iter().flat_map(|(hash, place)| [hash.to_be_bytes(), place.to_be_bytes()]).flatten().collect();
            out.piece(&bytes)?;
        }
        pages.extend(out.at.to_be_bytes());
        let mut tail = [records_end.to_be_bytes(), out.at.to_be_bytes()].concat();
        out.piece(&pages)?;
        tail.extend(out.hash.clone().finalize());
        let name = format!("{PREFIX}{}", hex(&check(&tail)));
        out.piece(&tail)?;
        out.out.flush()?;
        drop(out);
        file.persist(dir.join(&name))?;
        Ok(name)
    }

    /// Where the records of a hash are.
    pub(super) fn find(&self, hash: u64) -> Result<Vec<Place>, Damaged> {
        let count = self.pages.len().checked_sub(1).filter(|count| *count > 0).ok_or(Damaged)?;
        let entries = self.page(page_of(hash, count))?;
        Ok(entries.into_iter().filter(|entry| entry.0 == hash).map(|(_, place)| place).collect())
    }

    /// All hashes that only say that there is something.
    pub(super) fn marks(&self) -> Result<Vec<u64>, Damaged> {
        let mut marks = Vec::new();
        for page in 1..self.pages.len() {
            marks.extend(self.page(page - 1)?.into_iter().filter(|(_, place)| *place == 0).map(|(hash, _)| hash));
        }
        Ok(marks)
    }

    fn page(&self, page: usize) -> Result<Vec<(u64, Place)>, Damaged> {
        let (Some(start), Some(end)) = (self.pages.get(page), self.pages.get(page + 1)) else { return Err(Damaged) };
        let len = end.checked_sub(*start).and_then(|len| usize::try_from(len).ok()).ok_or(Damaged)?;
        let page = read(&self.file, *start, len).ok_or(Damaged)?;
        let entry = |entry: &[u8]| Some((number(entry.get(..8)?)?, number(entry.get(8..)?)?));
        Ok(checked(&page).ok_or(Damaged)?.chunks_exact(ENTRY_BYTES).filter_map(entry).collect())
    }

    /// The record at a place.
    pub(super) fn record(&self, place: Place) -> Result<Vec<u8>, Damaged> {
        self.record_and_end(place).map(|(record, _)| record)
    }

    /// All records in the order in which they were written, each with its place.
    pub(super) fn records(&self) -> impl Iterator<Item = Result<(Place, Vec<u8>), Damaged>> {
        let mut next = Some(MAGIC.len() as u64);
        std::iter::from_fn(move || self.take_next(&mut next))
    }

    fn take_next(&self, next: &mut Option<Place>) -> Option<Result<(Place, Vec<u8>), Damaged>> {
        let place = next.filter(|place| *place < self.records_end)?;
        let found = self.record_and_end(place);
        *next = found.as_ref().ok().map(|(_, end)| *end);
        Some(found.map(|(record, _)| (place, record)))
    }

    fn record_and_end(&self, place: Place) -> Result<(Vec<u8>, u64), Damaged> {
        let len = read(&self.file, place, 8).as_deref().and_then(number).ok_or(Damaged)?;
        let whole = len.checked_add(CHECK_BYTES as u64).ok_or(Damaged)?;
        let end = place.checked_add(8).and_then(|start| start.checked_add(whole)).ok_or(Damaged)?;
        if end > self.records_end {
            return Err(Damaged);
        }
        let mut bytes = read(&self.file, place + 8, whole as usize).ok_or(Damaged)?;
        let len = checked(&bytes).ok_or(Damaged)?.len();
        bytes.truncate(len);
        Ok((bytes, end))
    }
}

/// What the names of tables start with, and those of files that are being written.
pub(super) const PREFIX: &str = "table-";
pub(super) const TEMPORARY: &str = "tmp-";

struct Output<W> {
    out: W,
    hash: Sha256,
    at: u64,
}

impl<W: Write> Output<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Bytes and their check, which represents them in the hash of the whole.
    fn piece(&mut self, bytes: &[u8]) -> io::Result<()> {
        let check = check(bytes);
        self.hash.update(check);
        self.write(bytes)?;
        self.write(&check)
    }
}

/// The page of a hash among `count`, a power of two: by its highest bits.
fn page_of(hash: u64, count: usize) -> usize {
    ((u128::from(hash) * count as u128) >> 64) as usize
}

fn read(file: &File, start: u64, len: usize) -> Option<Vec<u8>> {
    if len as u64 > PAGES_MAX * 8 {
        return None;
    }
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, start).ok()?;
    Some(bytes)
}

fn number(bytes: &[u8]) -> Option<u64> {
    bytes.try_into().ok().map(u64::from_be_bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(dir: &Path) -> String {
        let record = |n: u64| Encoded { bytes: format!("record {n}").into_bytes(), hashes: vec![n << 54, 7] };
        Table::write(dir, (0..300).map(record), [9, 9]).expect("writable")
    }

    #[test]
    fn records_are_found_by_their_hashes() {
        let dir = tempfile::tempdir().expect("a directory");
        let name = written(dir.path());
        let table = Table::open(dir.path(), &name).expect("whole");
        for n in [0, 1, 150, 299] {
            let places = table.find(n << 54).expect("whole");
            let records: Vec<_> = places.iter().map(|place| table.record(*place).expect("whole")).collect();
            assert_eq!(records, [format!("record {n}").into_bytes()]);
        }
        assert_eq!(table.find(7).expect("whole").len(), 300);
        assert_eq!(table.find(9), Ok(vec![0]));
        assert_eq!(table.find(8), Ok(vec![]));
        assert_eq!(table.records().filter(Result::is_ok).count(), 300);
    }

    #[test]
    fn nothing_that_was_changed_is_believed() {
        let dir = tempfile::tempdir().expect("a directory");
        let name = written(dir.path());
        let path = dir.path().join(&name);
        let whole = std::fs::read(&path).expect("readable");
        let read_all =
            || -> Option<Vec<Vec<u8>>> {
                let table = Table::open(dir.path(), &name)?;
                let mut found: Vec<_> = table.records().map(|record| record.ok().map(|(_, bytes)| bytes)).collect();
                found.extend((0..300).flat_map(|n| {
                    table.find(n << 54).map_or(vec![None], |places| vec![Some(vec![places.len() as u8])])
                }));
                found.into_iter().collect()
            };
        let expected = read_all().expect("whole");
        for at in (MAGIC.len()..whole.len()).step_by(whole.len() / 150) {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x10;
            std::fs::write(&path, &flipped).expect("writable");
            assert!(read_all().is_none_or(|found| found == expected), "bit flipped at {at}");
            std::fs::write(&path, &whole[..at]).expect("writable");
            assert!(read_all().is_none(), "cut at {at}");
        }
    }
}
