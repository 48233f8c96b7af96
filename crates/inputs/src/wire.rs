//! What `git hydrate vendor` and `git-hydrate-fetch` say to each other, over standard input and output: a line of JSON a
//! message, the bytes of files behind the line that announces them.

use std::io::{self, BufRead, Read, Write};

use dry_files::path::RepoPath;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{InputFile, archive};

/// How long a line may be, in bytes.
const LINE_MAX: u64 = 8 << 20;

/// How many bytes the files of one input may have.
pub const INPUT_BYTES_MAX: u64 = 100 << 20;

/// How many files one input may have.
pub const INPUT_FILES_MAX: usize = 20_000;

/// What is sent to the fetcher.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "say")]
pub enum ToFetcher {
    /// First of all, once.
    Start(Rules),
    /// What to fetch.
    Fetch {
        /// Told again with the answer.
        id: u32,
        /// What.
        what: What,
    },
    /// The answer to [`FromFetcher::Ask`].
    Credential {
        /// Which question.
        ask: u32,
        /// The name and password, if there are any.
        found: Option<(String, String)>,
    },
}

/// What the fetcher may do.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Rules {
    /// Hosts that may have a private address, as `HOST` or `HOST:PORT`; with `http://` before it, that may be asked without
    /// TLS too.
    pub allow: Vec<String>,
    /// Where a rule of an administrator leads: nothing is asked that is not at or below one of these URLs. Without any, all
    /// public hosts are.
    pub only: Vec<String>,
    /// Digests of archives that are taken although an index claims another one.
    pub accept: Vec<String>,
    /// How long one request may take, in seconds.
    pub timeout_seconds: u64,
}

/// What to fetch. A version or commit that is known already is fetched as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum What {
    /// A chart of a repository.
    Helm {
        /// The repository.
        url: String,
        /// The chart.
        name: String,
        /// The version or range.
        want: String,
    },
    /// A chart of a registry.
    Oci {
        /// The registry, as `oci://HOST/PATH`.
        url: String,
        /// The chart.
        name: String,
        /// The version or range.
        want: String,
    },
    /// Directories of a git repository.
    Git {
        /// The repository.
        url: String,
        /// The ref or commit; empty for `HEAD`.
        want: String,
        /// The directories, empty for the root.
        directories: Vec<String>,
    },
    /// A file.
    File {
        /// Where it is.
        url: String,
    },
}

/// What the fetcher answers.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "say")]
pub enum FromFetcher {
    /// It is ready.
    Ready {
        /// What this system cannot keep it from.
        unconfined: Vec<String>,
    },
    /// An input; its files follow, one after the other.
    Fetched {
        /// What was asked for.
        id: u32,
        /// The version or commit that it is.
        version: String,
        /// The digest of what was received.
        origin: String,
        /// What is odd.
        warnings: Vec<String>,
        /// Path and size of each file.
        files: Vec<(String, u64)>,
    },
    /// No input.
    Failed {
        /// What was asked for.
        id: u32,
        /// Why.
        reason: String,
        /// Whether the server answered, but not with what was asked for.
        refused: bool,
    },
    /// A server wants a name and a password.
    Ask {
        /// Told again with the answer.
        ask: u32,
        /// `HOST` or `HOST:PORT`, always asked over TLS.
        host: String,
    },
    /// What a server said of them.
    Judged {
        /// Whose.
        host: String,
        /// Whether they were right.
        good: bool,
        /// The name and password.
        credential: (String, String),
    },
}

/// Writes a message.
pub fn write(to: &mut dyn Write, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    to.write_all(&line)?;
    to.flush()
}

/// Reads a message; none at the end.
pub fn read<T: DeserializeOwned>(from: &mut dyn BufRead) -> io::Result<Option<T>> {
    let mut line = Vec::new();
    from.take(LINE_MAX).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(&line).map(Some).map_err(io::Error::from)
}

/// Reads the files that [`FromFetcher::Fetched`] announces. Whatever the fetcher says, no path leads out and no limit breaks.
pub fn read_files(from: &mut dyn Read, files: &[(String, u64)]) -> io::Result<Vec<InputFile>> {
    let total = files.iter().fold(0_u64, |sum, (_, size)| sum.saturating_add(*size));
    if total > INPUT_BYTES_MAX || files.len() > INPUT_FILES_MAX {
        return Err(invalid("the fetcher announces more than an input may have".to_owned()));
    }
    files.iter().map(|(path, size)| read_file(from, path, *size)).collect()
}

fn read_file(from: &mut dyn Read, path: &str, size: u64) -> io::Result<InputFile> {
    let path = RepoPath::new(path).map_err(|error| invalid(format!("{path}: {error}")))?;
    if path.is_root() || archive::is_deep(&path) || !path.components().all(archive::is_name) {
        return Err(invalid(format!("{path}: not the name of a file")));
    }
    let mut data = vec![0; usize::try_from(size).unwrap_or_default()];
    from.read_exact(&mut data)?;
    Ok(InputFile { path, data: data.into() })
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_checked_again() {
        let rows = [
            ("a/b", 3, ""),
            ("../b", 3, "../b: the path leads out of the repository"),
            ("/b", 3, "/b: the path is absolute"),
            (".git/config", 3, ".git/config: not the name of a file"),
            ("", 3, ".: not the name of a file"),
            ("a", 4, "failed to fill whole buffer"),
            ("a", u64::MAX, "the fetcher announces more than an input may have"),
        ];
        for (path, size, expected) in rows {
            let read = read_files(&mut &b"abc"[..], &[(path.to_owned(), size)]);
            assert_eq!(read.err().map(|error| error.to_string()).unwrap_or_default(), expected, "{path}");
        }
    }

    #[test]
    fn messages_end_with_their_line() {
        let mut text = Vec::new();
        write(&mut text, &FromFetcher::Ready { unconfined: Vec::new() }).expect("memory");
        let mut from = &text[..];
        assert!(matches!(read::<FromFetcher>(&mut from), Ok(Some(FromFetcher::Ready { .. }))));
        assert!(matches!(read::<FromFetcher>(&mut from), Ok(None)));
        assert!(read::<FromFetcher>(&mut &b"{\"say\":\"x\"}\n"[..]).is_err());
    }
}
