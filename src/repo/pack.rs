//! A pack of whole objects and its index, as git reads them.
//!
//! Reference: git 2.47 Documentation/gitformat-pack.txt, pack version 2 and index version 2.
#![expect(clippy::indexing_slicing, reason = "an id has bytes, and a part only grows")]

use std::sync::{Mutex, PoisonError};

use super::deflate::Deflate;
use super::spool::{Content, Entry, Range, Spool};
use super::{Doing as _, Error, ObjectId, ObjectKind};
use crate::repo::shares::on_all_cores;

/// How many objects a thread packs at a time.
const SHARE: usize = 64;

/// The bytes of a pack and of its index.
pub(super) struct Pack {
    /// The content of `pack-<id>.pack`.
    pub pack: Vec<Piece>,
    /// The content of `pack-<id>.idx`.
    pub index: Vec<u8>,
    /// The id that names the two.
    pub id: ObjectId,
}

/// Some of the bytes of a pack.
pub(super) enum Piece {
    /// In memory.
    Bytes(Vec<u8>),
    /// In a spool.
    Spooled(Range),
}

/// An object that is not on disk yet.
pub(super) type Object = (ObjectId, ObjectKind, Content);

/// Packs objects whole, none as a difference to another: a repack does that better, later and for all at once.
pub(super) fn encode(objects: Vec<Object>, hash: gix::hash::Kind) -> Result<Pack, Error> {
    let count = u32::try_from(objects.len()).doing(|| "packing objects".to_owned())?;
    let header = [b"PACK\0\0\0\x02".as_slice(), &count.to_be_bytes()].concat();
    let mut len = header.len();
    let mut pack = vec![Piece::Bytes(header)];
    let mut places = Vec::with_capacity(count as usize);
    for part in compress_all(objects)? {
        places.extend(part.places.into_iter().map(|place| Place { start: place.start + len, ..place }));
        len += part.len;
        pack.extend(part.pieces);
    }
    let mut hasher = gix::hash::hasher(hash);
    each_piece(&pack, |bytes| {
        hasher.update(bytes);
        Ok(())
    })?;
    let id = hasher.try_finalize().doing(|| "hashing a pack".to_owned())?;
    pack.push(Piece::Bytes(id.as_bytes().to_vec()));
    let mut index = encode_index(places, id)?;
    let mut hasher = gix::hash::hasher(hash);
    hasher.update(&index);
    index.extend(hasher.try_finalize().doing(|| "hashing a pack".to_owned())?.as_bytes());
    Ok(Pack { pack, index, id })
}

/// Hands on the bytes of a pack, some at a time.
pub(super) fn each_piece(pieces: &[Piece], mut take: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<(), Error> {
    for piece in pieces {
        match piece {
            Piece::Bytes(bytes) => take(bytes).doing(|| "writing a pack".to_owned())?,
            Piece::Spooled(range) => range.read(&mut take)?,
        }
    }
    Ok(())
}

/// Puts the entries of objects into a spool, to be packed from there.
pub(super) fn spool(
    objects: Vec<(ObjectId, ObjectKind, Vec<u8>)>,
    spool: &mut Spool,
) -> Result<Vec<(ObjectId, Entry)>, Error> {
    let objects = objects.into_iter().map(|(id, kind, content)| (id, kind, Content::Whole(content)));
    let mut spooled = Vec::new();
    for mut part in compress_all(objects.collect())? {
        let range = spool.append(part.bytes())?;
        for Place { id, crc, start, size, header, len } in part.places {
            spooled.push((id, Entry { size, crc, range: range.part(start, len), header }));
        }
    }
    Ok(spooled)
}

/// Where an object's entry is.
struct Place {
    id: ObjectId,
    crc: u32,
    start: usize,
    len: usize,
    /// Of the object itself, and of the entry before its content.
    size: usize,
    header: usize,
}

/// The entries of some objects, one after the other.
#[derive(Default)]
struct Part {
    pieces: Vec<Piece>,
    len: usize,
    /// Each starts so far behind the part's own start.
    places: Vec<Place>,
}

/// Packs objects, in their order; on all cores when there are many.
fn compress_all(mut objects: Vec<Object>) -> Result<Vec<Part>, Error> {
    let mut shares = Vec::new();
    while objects.len() > SHARE {
        shares.push(objects.split_off(objects.len() - SHARE));
    }
    shares.push(objects);
    let count = shares.len();
    let left = Mutex::new(shares.into_iter().rev().enumerate());
    let mut parts = match count > 1 {
        true => on_all_cores(|| compress_shares(&left)).into_iter().flatten().collect(),
        false => compress_shares(&left),
    };
    parts.sort_unstable_by_key(|(number, _)| *number);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// Packs shares until none is left, each with its number; other threads may take of them too.
fn compress_shares(left: &Mutex<impl Iterator<Item = (usize, Vec<Object>)>>) -> Vec<(usize, Result<Part, Error>)> {
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut deflate = Deflate::new();
    let mut parts = Vec::new();
    while let Some((number, share)) = next() {
        parts.push((number, compress(share, &mut deflate)));
    }
    parts
}

/// The memory of each object is free as soon as it is packed.
fn compress(objects: Vec<Object>, deflate: &mut Deflate) -> Result<Part, Error> {
    let mut part = Part::default();
    for (id, kind, content) in objects {
        let start = part.len;
        let (crc, len, size, header) = match content {
            Content::Whole(content) => {
                let bytes = part.bytes();
                let before = bytes.len();
                let header = entry_header(kind, content.len());
                bytes.extend(&header);
                deflate.append(&content, bytes)?;
                (crc32(&bytes[before..]), bytes.len() - before, content.len(), header.len())
            }
            Content::Spooled(Entry { size, crc, range, header }) => {
                let len = range.len;
                part.spooled(range);
                (crc, len, size, header)
            }
        };
        part.len += len;
        part.places.push(Place { id, crc, start, len, size, header });
    }
    Ok(part)
}

impl Part {
    /// The piece in memory that grows.
    fn bytes(&mut self) -> &mut Vec<u8> {
        if !matches!(self.pieces.last(), Some(Piece::Bytes(_))) {
            self.pieces.push(Piece::Bytes(Vec::new()));
        }
        match self.pieces.last_mut() {
            Some(Piece::Bytes(bytes)) => bytes,
            _ => unreachable!("pushed just now"),
        }
    }

    fn spooled(&mut self, range: Range) {
        let is_joined = match self.pieces.last_mut() {
            Some(Piece::Spooled(last)) => last.extend(&range),
            _ => false,
        };
        if !is_joined {
            self.pieces.push(Piece::Spooled(range));
        }
    }
}

fn encode_index(mut entries: Vec<Place>, pack_id: ObjectId) -> Result<Vec<u8>, Error> {
    entries.sort_unstable_by_key(|entry| entry.id);
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=u8::MAX {
        let up_to = entries.partition_point(|entry| entry.id.as_bytes()[0] <= first);
        index.extend((up_to as u32).to_be_bytes());
    }
    for entry in &entries {
        index.extend(entry.id.as_bytes());
    }
    for entry in &entries {
        index.extend(entry.crc.to_be_bytes());
    }
    let mut large = Vec::new();
    for Place { start: offset, .. } in &entries {
        match u32::try_from(*offset).ok().filter(|offset| offset >> 31 == 0) {
            Some(offset) => index.extend(offset.to_be_bytes()),
            None => {
                index.extend((1u32 << 31 | (large.len() / 8) as u32).to_be_bytes());
                large.extend((*offset as u64).to_be_bytes());
            }
        }
    }
    index.extend(large);
    index.extend(pack_id.as_bytes());
    Ok(index)
}

/// Three bits of kind and the size, four bits first, then seven at a time.
fn entry_header(kind: ObjectKind, size: usize) -> Vec<u8> {
    let kind = match kind {
        ObjectKind::Commit => 1,
        ObjectKind::Tree => 2,
        ObjectKind::Blob => 3,
        ObjectKind::Tag => 4,
    };
    let mut header = vec![kind << 4 | (size & 15) as u8];
    let mut rest = size >> 4;
    while rest > 0 {
        if let Some(last) = header.last_mut() {
            *last |= 0x80;
        }
        header.push((rest & 0x7f) as u8);
        rest >>= 7;
    }
    header
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
