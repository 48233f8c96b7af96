//! Commits: read into parts, and made.

use std::borrow::Cow;
use std::fmt;

use gix::bstr::ByteSlice as _;

use super::{Error, ObjectId};

/// How much of a message is read from its start, and how much from its end, in bytes.
const START_BYTES_MAX: usize = 64 << 10;
const END_BYTES_MAX: usize = (4 << 20) - START_BYTES_MAX;
/// How long the line of a signature or an encoding may be, in bytes; a longer one is malformed.
const HEADER_BYTES_MAX: usize = 64 << 10;
/// What is read in place of the middle of a message. It is not a trailer, so that lines on both sides of it are no trailer block.
const LEFT_OUT: &[u8] = b"[...]\n";

/// Who did something, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// The name, as it is in the commit.
    pub name: String,
    /// The address, as it is in the commit.
    pub email: String,
    /// Seconds since 1970-01-01 UTC.
    pub seconds: i64,
    /// The offset of the zone, in seconds east of UTC.
    pub offset: i32,
}

impl Signature {
    fn parse(raw: &[u8], encoding: Option<&str>) -> Self {
        let signature = gix::actor::SignatureRef::from_bytes(raw).ok();
        let time = signature.as_ref().and_then(|signature| signature.time().ok()).unwrap_or_default();
        Self {
            name: signature.map(|signature| decode(signature.name, encoding)).unwrap_or_default(),
            email: signature.map(|signature| decode(signature.email, encoding)).unwrap_or_default(),
            seconds: time.seconds,
            offset: time.offset,
        }
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.offset < 0 { '-' } else { '+' };
        let minutes = self.offset.unsigned_abs() / 60;
        let (hours, minutes) = (minutes / 60, minutes % 60);
        write!(f, "{} <{}> {} {sign}{hours:02}{minutes:02}", self.name, self.email, self.seconds)
    }
}

/// A commit as it is stored, its text decoded as git shows it: by the encoding that it names, else as UTF-8; each byte
/// that can't be decoded is U+FFFD.
#[derive(Debug, Clone)]
pub struct Commit {
    /// Its id.
    pub id: ObjectId,
    /// The root directory.
    pub tree: ObjectId,
    /// The parents, the first one first.
    pub parents: Vec<ObjectId>,
    /// Who wrote the change.
    pub author: Signature,
    /// Who made the commit.
    pub committer: Signature,
    /// The message up to its first NUL, where git's own strings end. Of one of more than 4 MiB, its first 64 KiB and its end, whole
    /// lines where it has any, with a line `[...]` between them.
    pub message: String,
}

impl Commit {
    /// The first parent that the bytes of a commit name.
    pub(super) fn first_parent(content: &[u8]) -> Option<ObjectId> {
        Headers::of(content).parents.into_iter().next()
    }

    pub(super) fn parse(id: ObjectId, content: &[u8]) -> Result<Self, Error> {
        let headers = Headers::of(content);
        let commit = headers.tree.ok_or_else(|| Error::message(format!("reading commit {id}: it has no tree")))?;
        let encoding = headers.encoding.map(|encoding| encoding.to_str_lossy().to_ascii_lowercase());
        let text = |bytes: &[u8]| decode(bytes, encoding.as_deref());
        let signature = |raw: &[u8]| Signature::parse(raw, encoding.as_deref());
        Ok(Self {
            id,
            tree: commit,
            parents: headers.parents,
            author: signature(headers.author),
            committer: signature(headers.committer),
            message: text(&bounded(headers.message.split_str("\0").next().unwrap_or_default())),
        })
    }
}

/// The parts of a commit, as far as they can be determined: git takes pushes of commits that no library reads, and one of them
/// must not hold back what comes after it.
///
/// Reference: git 2.47 commit.c `parse_commit_buffer`, pretty.c: a header that is missing or malformed is an empty one.
#[derive(Debug, Default)]
struct Headers<'c> {
    tree: Option<ObjectId>,
    parents: Vec<ObjectId>,
    author: &'c [u8],
    committer: &'c [u8],
    encoding: Option<&'c [u8]>,
    message: &'c [u8],
}

impl<'c> Headers<'c> {
    fn of(content: &'c [u8]) -> Self {
        let mut headers = Self::default();
        let mut rest = content;
        while !rest.is_empty() {
            let line;
            (line, rest) = rest.split_once_str("\n").unwrap_or((rest, b""));
            let id = |text: &[u8]| ObjectId::from_hex(text).ok();
            let (key, value) = line.split_once_str(" ").unwrap_or((line, b""));
            match key {
                b"" if line.is_empty() => {
                    headers.message = rest;
                    break;
                }
                b"tree" if headers.tree.is_none() => headers.tree = id(value),
                b"parent" => headers.parents.extend(id(value)),
                b"author" | b"committer" | b"encoding" if value.len() > HEADER_BYTES_MAX => {}
                b"author" if headers.author.is_empty() => headers.author = value,
                b"committer" if headers.committer.is_empty() => headers.committer = value,
                b"encoding" if headers.encoding.is_none() => headers.encoding = Some(value),
                _ => {}
            }
        }
        headers
    }
}

/// A message without what is beyond the limits of its start and its end.
fn bounded(message: &[u8]) -> Cow<'_, [u8]> {
    if message.len() <= START_BYTES_MAX + END_BYTES_MAX {
        return Cow::Borrowed(message);
    }
    let (start, rest) = message.split_at(START_BYTES_MAX);
    let (_, end) = rest.split_at(rest.len() - END_BYTES_MAX);
    let start = start.rsplit_once_str("\n").map_or(start, |(lines, _)| lines);
    let end = end.split_once_str("\n").map_or(end, |(_, lines)| lines);
    Cow::Owned([start, b"\n", LEFT_OUT, end].concat())
}

fn decode(bytes: &[u8], encoding: Option<&str>) -> String {
    let decoded = match encoding {
        None | Some("utf-8" | "utf8") => None,
        // The library takes it for windows-1252, as browsers do; iconv, which git uses, doesn't.
        Some("iso-8859-1" | "iso8859-1" | "latin-1" | "latin1") => Some(bytes.iter().map(|&b| char::from(b)).collect()),
        Some(label) => encoding_rs::Encoding::for_label_no_replacement(label.as_bytes())
            .and_then(|encoding| encoding.decode_without_bom_handling_and_without_replacement(bytes))
            .map(std::borrow::Cow::into_owned),
    };
    decoded.unwrap_or_else(|| decode_utf8(bytes))
}

/// Puts a replacement character in the place of each byte that is not UTF-8.
fn decode_utf8(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}

/// A commit that is to be written.
#[derive(Debug, Clone)]
pub struct NewCommit {
    /// The root directory.
    pub tree: ObjectId,
    /// The parents, the first one first.
    pub parents: Vec<ObjectId>,
    /// Who wrote the change.
    pub author: Signature,
    /// Who makes the commit.
    pub committer: Signature,
    /// The message; UTF-8, with its final line break.
    pub message: String,
}

impl NewCommit {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut text = format!("tree {}\n", self.tree);
        for parent in &self.parents {
            text.push_str(&format!("parent {parent}\n"));
        }
        text.push_str(&format!("author {}\ncommitter {}\n\n{}", self.author, self.committer, self.message));
        text.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_message_beyond_the_limit_the_start_and_the_end_are_read() {
        let limit = START_BYTES_MAX + END_BYTES_MAX;
        let message = |middle: &str, count: usize| format!("subject\n\n{}\nlast\n", middle.repeat(count));
        let at_limit = message("x", limit - "subject\n\n\nlast\n".len());
        assert_eq!(bounded(at_limit.as_bytes()), at_limit.as_bytes());
        for (rule, longer, expected) in [
            ("lines", message("0123456\n", limit / 4), ["0123456\n[...]\n0123456\n", "0123456\n\nlast\n"]),
            ("one line", message("x", limit * 2), ["subject\n\n[...]\n", "[...]\nlast\n"]),
            ("no line", "y".repeat(limit * 2), ["yyy\n[...]\nyyy", "yyy"]),
        ] {
            let read = String::from_utf8(bounded(longer.as_bytes()).into_owned()).expect("text");
            assert!(read.len() <= limit + 8, "{rule}: {}", read.len());
            assert!(read.contains(expected[0]) && read.ends_with(expected[1]), "{rule}");
            assert!(read.starts_with(&longer[..3]), "{rule}");
        }
    }

    #[test]
    fn text_is_decoded_as_git_shows_it() {
        // `git log --format='%an|%B'` of git 2.47 for commits with this header and these bytes.
        let rows: &[(&str, &[u8], &str)] = &[
            ("", "Jörg".as_bytes(), "Jörg"),
            ("encoding ISO-8859-1\n", b"J\xf6rg", "Jörg"),
            ("encoding windows-1252\n", b"J\xf6rg \x80", "Jörg €"),
            ("encoding Shift_JIS\n", b"\x93\xfa\x96{", "日本"),
            ("encoding unheard-of\n", "Jörg".as_bytes(), "Jörg"),
            ("", b"J\xf6rg \xe2\x82", "J\u{fffd}rg \u{fffd}\u{fffd}"),
            ("", b"J\0rg", "J"),
        ];
        for (header, bytes, expected) in rows {
            let mut object = format!("tree {}\n", "1".repeat(40)).into_bytes();
            for role in ["author", "committer"] {
                let name: Vec<u8> = bytes.iter().copied().filter(|&b| b != 0).collect();
                object.extend([role.as_bytes(), b" ", &name, b" <j@x> 1711535524 +0100\n"].concat());
            }
            object.extend([header.as_bytes(), b"\n", bytes, b"\n"].concat());
            let commit = Commit::parse(ObjectId::null(gix::hash::Kind::Sha1), &object).expect("a commit");
            assert_eq!(commit.message.trim_end(), *expected, "{header:?}");
            if !bytes.contains(&0) {
                assert_eq!(commit.author.name, *expected, "{header:?}");
            }
        }
    }
}
