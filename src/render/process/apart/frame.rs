//! What the two processes say to each other: frames of a length and so many bytes.

use std::io::{self, BufRead as _, BufReader, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{ChildStdin, ChildStdout};
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Entry, Kind, Seen, Unreadable};

use super::asked::Asked;
use super::rendered::Answer;
use crate::known::{Decoder, Encoder};

/// Longer than any question or note: a path and an id. Answers have a limit of their own.
const QUESTION_BYTES_MAX: u64 = 1 << 20;

/// What the rendering process says.
pub(super) enum Said {
    /// It asks for the entries of a directory.
    List(RepoPath, ContentId),
    /// It asks for a file.
    Read(RepoPath, ContentId),
    /// It asks for the size of a file.
    Size(RepoPath, ContentId),
    /// It looked at something, which needs no answer.
    Noted((RepoPath, u8), Seen),
    /// It is done.
    Done(Box<Answer>),
}

/// The end of the process that wants something rendered.
#[derive(Debug)]
pub(super) struct Connection {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    bytes_max: u64,
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.from.get_ref().as_fd()
    }
}

fn nonsense() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the rendering process says something that cannot be read")
}

/// Writes a frame.
pub(super) fn write(to: &mut impl Write, content: &[u8]) -> io::Result<()> {
    let len = (content.len() as u64).to_le_bytes();
    if content.len() < 4096 {
        return to.write_all(&[&len, content].concat());
    }
    to.write_all(&len)?;
    to.write_all(content)
}

/// Reads a frame of at most `bytes_max` bytes; a longer one is [`ErrorKind::FileTooLarge`].
pub(super) fn read(from: &mut impl Read, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut len = [0; 8];
    from.read_exact(&mut len)?;
    let len = u64::from_le_bytes(len);
    if len > bytes_max {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let mut content = Vec::new();
    from.take(len).read_to_end(&mut content)?;
    if content.len() as u64 == len { Ok(content) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

impl Connection {
    pub(super) fn new(to: ChildStdin, from: ChildStdout, answer_bytes_max: u64) -> Self {
        Self { to, from: BufReader::new(from), bytes_max: answer_bytes_max.max(QUESTION_BYTES_MAX) }
    }

    pub(super) fn instruct(&mut self, instructions: &[u8], root: ContentId) -> io::Result<()> {
        write(&mut self.to, instructions)?;
        write(&mut self.to, root.as_bytes())
    }

    pub(super) fn ask(&mut self, asked: &Asked) -> io::Result<()> {
        write(&mut self.to, &asked.encode())
    }

    /// Whether something was read already that is not heard yet.
    pub(super) fn has_more(&mut self) -> io::Result<bool> {
        Ok(!self.from.buffer().is_empty())
    }

    pub(super) fn hear(&mut self) -> io::Result<Said> {
        if self.from.fill_buf()?.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let frame = read(&mut self.from, self.bytes_max)?;
        Said::decode(&frame).ok_or_else(nonsense)
    }

    pub(super) fn listed(&mut self, found: &Result<Arc<[Entry]>, String>) -> io::Result<()> {
        let found = found.clone().map_err(Unreadable::Backend);
        self.answer(&found, |frame, entries| frame.list(entries.iter(), write_entry))
    }

    pub(super) fn read(&mut self, found: &Result<Arc<[u8]>, Unreadable>) -> io::Result<()> {
        self.answer(found, |frame, content| frame.0.extend_from_slice(content))
    }

    pub(super) fn sized(&mut self, found: &Result<u64, Unreadable>) -> io::Result<()> {
        self.answer(found, |frame, size| frame.number(*size))
    }

    fn answer<T>(&mut self, found: &Result<T, Unreadable>, encode: impl FnOnce(&mut Encoder, &T)) -> io::Result<()> {
        let mut frame = Encoder::default();
        let (number, text) = match found {
            Ok(_) => (1, ""),
            Err(Unreadable::Backend(why)) => (0, &**why),
            Err(Unreadable::NoFile(what)) => (2, &**what),
        };
        frame.number(number);
        match found {
            Ok(found) => encode(&mut frame, found),
            Err(_) => frame.text(text),
        }
        write(&mut self.to, &frame.0)
    }
}

impl Said {
    /// A question about a path.
    pub(super) fn question(what: u8, path: &RepoPath, id: ContentId) -> Vec<u8> {
        let mut frame = Encoder::default();
        frame.number(u64::from(what));
        frame.text(path.as_str());
        frame.bytes(id.as_bytes());
        frame.0
    }

    pub(super) fn note(path: &RepoPath, seen: Seen) -> Vec<u8> {
        let mut frame = Encoder::default();
        frame.number(3);
        frame.text(path.as_str());
        frame.seen(seen);
        frame.0
    }

    pub(super) fn done(answer: &Answer) -> Vec<u8> {
        let mut frame = Encoder::default();
        frame.number(4);
        answer.encode(&mut frame);
        frame.0
    }

    fn decode(frame: &[u8]) -> Option<Self> {
        let mut frame = Decoder(frame);
        Some(match frame.number()? {
            0 => Self::List(frame.path()?, frame.id()?),
            1 => Self::Read(frame.path()?, frame.id()?),
            2 => Self::Size(frame.path()?, frame.id()?),
            3 => {
                let (path, seen) = (frame.path()?, frame.seen()?);
                Self::Noted((path, seen.way()), seen)
            }
            4 => Self::Done(Box::new(Answer::decode(&mut frame)?)),
            _ => return None,
        })
    }
}

/// The entries of a directory, as [`Connection::listed`] wrote them.
pub(super) fn entries(frame: &mut Decoder<'_>) -> Option<Vec<Entry>> {
    frame.list(read_entry)
}

fn write_entry(frame: &mut Encoder, entry: &Entry) {
    frame.text(&entry.name);
    frame.number(entry.kind as u64);
    frame.bytes(entry.id.as_bytes());
}

fn read_entry(frame: &mut Decoder<'_>) -> Option<Entry> {
    let name = frame.text()?;
    let kinds = [Kind::File, Kind::Directory, Kind::Link, Kind::Submodule];
    let kind = *kinds.get(usize::try_from(frame.number()?).ok()?)?;
    Some(Entry { name, kind, id: frame.id()? })
}
