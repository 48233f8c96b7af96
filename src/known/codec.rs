//! Numbers, texts and ids as bytes, and back.

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Kind, Seen};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// How long the hash of a piece is: no accident gets past it.
pub(super) const CHECK_BYTES: usize = 16;

/// The hash that a piece carries.
pub(super) fn check(piece: &[u8]) -> [u8; CHECK_BYTES] {
    let digest = Sha256::digest(piece);
    let mut check = [0; CHECK_BYTES];
    check.copy_from_slice(&digest[..CHECK_BYTES]);
    check
}

/// A piece without the hash at its end; none when the two do not belong together.
pub(super) fn checked(bytes: &[u8]) -> Option<&[u8]> {
    let (piece, found) = bytes.split_at_checked(bytes.len().checked_sub(CHECK_BYTES)?)?;
    (check(piece) == found).then_some(piece)
}

/// A file that is one value: what it begins with, the value as JSON, and the hash of both.
pub(super) fn sealed(magic: &[u8], value: &impl Serialize) -> Vec<u8> {
    let mut bytes = Encoder(magic.to_vec());
    bytes.bytes(&serde_json::to_vec(value).expect("texts and numbers are JSON"));
    let mut bytes = bytes.0;
    bytes.extend(check(&bytes));
    bytes
}

/// The value of such a file; none of another one, or of a damaged one.
pub(super) fn unsealed<T: DeserializeOwned>(magic: &[u8], bytes: &[u8]) -> Option<T> {
    let mut bytes = Decoder(checked(bytes)?.strip_prefix(magic)?);
    serde_json::from_slice(bytes.bytes()?).ok()
}

/// Writes values one after the other.
#[derive(Debug, Default)]
pub(crate) struct Encoder(pub Vec<u8>);

impl Encoder {
    /// A number: seven bits at a time, the lowest first.
    pub(crate) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    /// Bytes, behind their number.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// A text, as its bytes.
    pub(crate) fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Whether there is a text, and the text.
    pub(crate) fn optional(&mut self, text: Option<&str>) {
        self.number(u64::from(text.is_some()));
        self.text(text.unwrap_or_default());
    }

    /// Items, behind their number.
    pub(crate) fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.number(items.len() as u64);
        items.for_each(|one| item(self, one));
    }

    /// What a read found.
    pub(crate) fn seen(&mut self, seen: Seen) {
        match seen {
            Seen::Absent => self.number(0),
            Seen::Present(kind) => self.number(1 + kind as u64),
            Seen::Content(id) => {
                self.number(8);
                self.bytes(id.as_bytes());
            }
            Seen::Link(id) => {
                self.number(10);
                self.bytes(id.as_bytes());
            }
            Seen::Listed(id) => {
                self.number(9);
                self.bytes(id.as_bytes());
            }
            Seen::Directories(id) => {
                self.number(11);
                self.bytes(id.as_bytes());
            }
        }
    }
}

/// Reads what an [`Encoder`] wrote; none for anything else.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decoder<'a>(pub &'a [u8]);

impl<'a> Decoder<'a> {
    /// A number.
    pub(crate) fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Bytes, borrowed.
    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = usize::try_from(self.number()?).ok()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Option<String> {
        String::from_utf8(self.bytes()?.to_vec()).ok()
    }

    /// A text that may be missing.
    pub(crate) fn optional(&mut self) -> Option<Option<String>> {
        let is_some = self.number()? == 1;
        let text = self.text()?;
        Some(is_some.then_some(text))
    }

    /// A path; the empty text is the root.
    pub(crate) fn path(&mut self) -> Option<RepoPath> {
        let text = self.text()?;
        if text.is_empty() { Some(RepoPath::root()) } else { RepoPath::new(&text).ok() }
    }

    /// The id of a content.
    pub(crate) fn id(&mut self) -> Option<ContentId> {
        self.bytes().map(ContentId::new)
    }

    /// Items in their order.
    pub(crate) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| item(self)).collect()
    }

    /// What a read found.
    pub(crate) fn seen(&mut self) -> Option<Seen> {
        Some(match self.number()? {
            0 => Seen::Absent,
            1 => Seen::Present(Kind::File),
            2 => Seen::Present(Kind::Directory),
            3 => Seen::Present(Kind::Link),
            4 => Seen::Present(Kind::Submodule),
            8 => Seen::Content(self.id()?),
            9 => Seen::Listed(self.id()?),
            10 => Seen::Link(self.id()?),
            11 => Seen::Directories(self.id()?),
            _ => return None,
        })
    }
}
