//! DER, as far as keys and certificates need it, and PEM around it.

use data_encoding::BASE64;
use num_bigint::BigUint;

pub(super) const INTEGER: u8 = 0x02;
pub(super) const BIT_STRING: u8 = 0x03;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_ID: u8 = 0x06;
pub(super) const UTF8_STRING: u8 = 0x0c;
pub(super) const PRINTABLE_STRING: u8 = 0x13;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// An element: tag, length, content.
pub(super) fn element(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    match content.len() {
        length @ 0..0x80 => out.push(length as u8),
        length => {
            let bytes = length.to_be_bytes();
            let skip = bytes.iter().take_while(|byte| **byte == 0).count();
            out.push(0x80 | (bytes.len() - skip) as u8);
            out.extend(bytes.iter().skip(skip));
        }
    }
    out.extend_from_slice(content);
    out
}

/// A constructed element of the given parts.
pub(super) fn group(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    element(tag, &parts.concat())
}

/// A number that is not negative.
pub(super) fn integer(number: &BigUint) -> Vec<u8> {
    let mut bytes = number.to_bytes_be();
    if bytes.first().is_some_and(|first| *first >= 0x80) {
        bytes.insert(0, 0);
    }
    element(INTEGER, &bytes)
}

/// Whole bytes as bits.
pub(super) fn bits(bytes: &[u8]) -> Vec<u8> {
    element(BIT_STRING, &[&[0], bytes].concat())
}

/// Reads elements one after the other.
pub(super) struct Reader<'d>(pub &'d [u8]);

/// One element that was read.
#[derive(Clone, Copy)]
pub(super) struct Element<'d> {
    pub tag: u8,
    pub content: &'d [u8],
    /// With its tag and length.
    pub whole: &'d [u8],
}

impl<'d> Reader<'d> {
    /// The next element; `None` at the end and for bytes that are not DER.
    pub(super) fn next(&mut self) -> Option<Element<'d>> {
        let [tag, first, rest @ ..] = self.0 else { return None };
        let (length, rest) = if *first < 0x80 {
            (usize::from(*first), rest)
        } else {
            let count = usize::from(first & 0x7f);
            let (bytes, rest) = rest.split_at_checked(count).filter(|_| (1..=4).contains(&count))?;
            (bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)), rest)
        };
        let (content, after) = rest.split_at_checked(length)?;
        let whole = self.0.get(..self.0.len() - after.len())?;
        self.0 = after;
        Some(Element { tag: *tag, content, whole })
    }

    /// The next element, which must have a tag.
    pub(super) fn expect(&mut self, tag: u8) -> Option<Element<'d>> {
        self.next().filter(|element| element.tag == tag)
    }

    /// The next element as a number.
    pub(super) fn integer(&mut self) -> Option<BigUint> {
        self.expect(INTEGER).map(|element| BigUint::from_bytes_be(element.content))
    }
}

/// A block of PEM.
pub(super) fn pem(kind: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let mut out = format!("-----BEGIN {kind}-----\n");
    for line in text.as_bytes().chunks(64) {
        out.extend(line.iter().map(|byte| char::from(*byte)));
        out.push('\n');
    }
    out + &format!("-----END {kind}-----\n")
}

/// The first block of PEM: what kind it is and what is in it.
pub(super) fn from_pem(text: &str) -> Option<(&str, Vec<u8>)> {
    let start = text.find("-----BEGIN ")?;
    let (kind, rest) = text.get(start + 11..)?.split_once("-----")?;
    let (body, _) = rest.split_once(&format!("-----END {kind}-----"))?;
    let body: Vec<u8> = body.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    Some((kind, BASE64.decode(&body).ok()?))
}
