//! Files of the git directory as they should be: a user who may write there cannot make us wait or fill our memory.
//!
//! Opening a FIFO waits for a process at its other end, and reading a terminal waits for a user to type: with the
//! repository's lock in hand, for ever. So nothing is opened that waits, and nothing is read but regular files up to a size.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

/// Opens a regular file for reading.
///
/// # Errors
///
/// It is something else, a link included.
pub fn open(path: &Path) -> io::Result<File> {
    opened(path, OpenOptions::new().read(true), OFlags::NOFOLLOW)
}

/// The content of a regular file of at most `bytes_max` bytes.
///
/// # Errors
///
/// It is larger, or something else, a link included.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    content(open(path)?, bytes_max)
}

/// The content of a regular file of at most `bytes_max` bytes, links followed: an admin or the user may have put the
/// file elsewhere.
pub fn read_linked(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    content(opened(path, OpenOptions::new().read(true), OFlags::empty())?, bytes_max)
}

/// Opens a regular file for writing, and makes it when it is not there.
pub fn make(path: &Path) -> io::Result<File> {
    opened(path, OpenOptions::new().create(true).truncate(false).write(true), OFlags::NOFOLLOW)
}

fn opened(path: &Path, options: &mut OpenOptions, flags: OFlags) -> io::Result<File> {
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    // The bits of a flag set are those of the C constants.
    let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

fn content(file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut content)?;
    let is_whole = content.len() as u64 <= bytes_max;
    is_whole.then_some(content).ok_or_else(|| io::Error::other(format!("it has more than {bytes_max} bytes")))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn only_files_are_read_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = |name: &str| dir.path().join(name);
        fs::write(path("file"), "text").expect("written");
        std::os::unix::fs::symlink("file", path("link")).expect("made");
        let fifo = std::process::Command::new("mkfifo").arg(path("fifo")).status().expect("starts");
        assert!(fifo.success());
        assert_eq!(read(&path("file"), 4).expect("a file"), b"text");
        assert_eq!(read_linked(&path("link"), 4).expect("a file"), b"text");
        assert_eq!(read(&path("file"), 3).expect_err("too large").to_string(), "it has more than 3 bytes");
        for other in ["link", "fifo", "."] {
            read(&path(other), 4).expect_err(other);
            make(&path(other)).expect_err(other);
        }
        read_linked(&path("fifo"), 4).expect_err("no file");
    }
}
