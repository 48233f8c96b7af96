//! A pack of whole objects and its index, as git reads them.
//!
//! Reference: git 2.47 Documentation/gitformat-pack.txt, pack version 2 and index version 2.

use std::sync::{Mutex, PoisonError};

use super::deflate::Deflate;
use super::{Doing as _, Error, ObjectId, ObjectKind};
use crate::shares::on_all_cores;

/// How many objects a thread packs at a time.
const SHARE: usize = 64;

/// The bytes of a pack and of its index.
pub struct Pack {
    /// What `pack-<id>.pack` holds, in pieces.
    pub pack: Vec<Vec<u8>>,
    /// What `pack-<id>.idx` holds.
    pub index: Vec<u8>,
    /// The id that names the two.
    pub id: ObjectId,
}

/// An object that is not on disk yet.
pub type Object = (ObjectId, ObjectKind, Vec<u8>);

/// Packs objects whole, none as a difference to another: a repack does that better, later and for all at once.
pub fn encode(mut objects: Vec<Object>, hash: gix::hash::Kind) -> Result<Pack, Error> {
    let count = u32::try_from(objects.len()).doing(|| "packing objects".to_owned())?;
    let mut shares = Vec::new();
    while objects.len() > SHARE {
        shares.push(objects.split_off(objects.len() - SHARE));
    }
    shares.push(objects);
    let parts = compress_all(shares)?;
    let mut pack = vec![b"PACK\0\0\0\x02".to_vec(), count.to_be_bytes().to_vec()];
    let mut len = pack.concat().len();
    let mut entries = Vec::with_capacity(count as usize);
    for (bytes, of_part) in parts {
        entries.extend(of_part.into_iter().map(|(id, crc, start)| (id, crc, start + len)));
        len += bytes.len();
        pack.push(bytes);
    }
    let id = digest(hash, &pack).doing(|| "hashing a pack".to_owned())?;
    pack.push(id.as_bytes().to_vec());
    let mut index = encode_index(entries, id)?;
    let index_id = digest(hash, &[&index]).doing(|| "hashing a pack".to_owned())?;
    index.extend(index_id.as_bytes());
    Ok(Pack { pack, index, id })
}

/// An object's id, the check of its entry, and where that starts.
type Place = (ObjectId, u32, usize);

/// The entries of some objects, one after the other, and where each is among them.
type Part = (Vec<u8>, Vec<Place>);

/// Packs shares of objects, the last one first; on all cores when there are many.
fn compress_all(shares: Vec<Vec<Object>>) -> Result<Vec<Part>, Error> {
    let count = shares.len();
    let left = Mutex::new(shares.into_iter().rev().enumerate());
    let take = || {
        let mut deflate = Deflate::new();
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let mut done = Vec::new();
        while let Some((number, share)) = next() {
            done.push((number, compress(share, &mut deflate)));
        }
        done
    };
    let mut parts = if count > 1 { on_all_cores(take).into_iter().flatten().collect() } else { take() };
    parts.sort_unstable_by_key(|(number, _)| *number);
    parts.into_iter().map(|(_, part)| part).collect()
}

/// The memory of each object is free as soon as it is packed.
fn compress(objects: Vec<Object>, deflate: &mut Deflate) -> Result<Part, Error> {
    let (mut bytes, mut places) = (Vec::new(), Vec::with_capacity(objects.len()));
    for (id, kind, content) in objects {
        let start = bytes.len();
        bytes.extend(entry_header(kind, content.len()));
        deflate.append(&content, &mut bytes)?;
        places.push((id, crc32(&bytes[start..]), start));
    }
    Ok((bytes, places))
}

fn encode_index(mut entries: Vec<Place>, pack_id: ObjectId) -> Result<Vec<u8>, Error> {
    entries.sort_unstable_by_key(|(id, ..)| *id);
    let mut index = b"\xfftOc\0\0\0\x02".to_vec();
    for first in 0..=u8::MAX {
        let up_to = entries.partition_point(|(id, ..)| id.as_bytes()[0] <= first);
        index.extend((up_to as u32).to_be_bytes());
    }
    for (id, ..) in &entries {
        index.extend(id.as_bytes());
    }
    for (_, crc, _) in &entries {
        index.extend(crc.to_be_bytes());
    }
    let mut large = Vec::new();
    for (.., offset) in &entries {
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

fn digest(hash: gix::hash::Kind, pieces: &[impl AsRef<[u8]>]) -> gix::Result<ObjectId> {
    let mut hasher = gix::hash::hasher(hash);
    pieces.iter().for_each(|piece| hasher.update(piece.as_ref()));
    hasher.try_finalize()
}
