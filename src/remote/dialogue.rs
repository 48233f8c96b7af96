//! What git and a remote helper say to each other.

use std::io::{Error, ErrorKind, Read, Write};

/// What git wants of us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// The service that is to answer on our standard input and output.
    pub service: Service,
    /// Whether git shows progress to its user.
    pub progress: bool,
    /// How much git says: 0 with `--quiet`, 1 as a rule, more with `--verbose`.
    pub verbosity: i32,
}

impl Request {
    /// The request for a fetch as one word, for another process.
    pub(super) fn to_word(&self) -> String {
        format!("{},{}", self.progress, self.verbosity)
    }

    /// Reads what [`Request::to_word`] wrote.
    pub(super) fn of_word(word: &str) -> Self {
        let (progress, verbosity) = word.split_once(',').unwrap_or_default();
        let verbosity = verbosity.parse().unwrap_or(1);
        Self { service: Service::UploadPack, progress: progress == "true", verbosity }
    }
}

/// A service of git.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Service {
    /// Serves a fetch.
    UploadPack,
    /// Takes a push.
    ReceivePack,
}

/// git's lines are short; this is far more than it ever sends.
const LINE_BYTES_MAX: usize = 4096;

/// Answers git's lines until it asks for a service; none when git ends the dialogue before.
///
/// The service still has to be granted, by an empty line.
///
/// Reference: git 2.47 Documentation/gitremote-helpers.txt.
pub(super) fn listen(input: &mut impl Read, output: &mut impl Write) -> Result<Option<Request>, Error> {
    let (mut progress, mut verbosity) = (false, 1);
    while let Some(line) = read_line(input)? {
        let request = |service| Ok(Some(Request { service, progress, verbosity }));
        let answer: &[u8] = match line.split_once(' ').unwrap_or((&line, "")) {
            ("", "") => return Ok(None),
            ("capabilities", "") => b"connect\noption\n\n",
            ("connect", "git-upload-pack") => return request(Service::UploadPack),
            ("connect", "git-receive-pack") => return request(Service::ReceivePack),
            ("connect", _) => b"fallback\n",
            ("option", option) => match option.split_once(' ') {
                Some(("progress", value)) => {
                    progress = value == "true";
                    b"ok\n"
                }
                Some(("verbosity", value)) => {
                    verbosity = value.parse().unwrap_or(verbosity);
                    b"ok\n"
                }
                _ => b"unsupported\n",
            },
            _ => return Err(Error::new(ErrorKind::InvalidData, format!("unknown command {line:?}"))),
        };
        output.write_all(answer)?;
        output.flush()?;
    }
    Ok(None)
}

/// One line without its end, read byte by byte: what comes after it is for another reader. `None` at the end of input.
fn read_line(input: &mut impl Read) -> Result<Option<String>, Error> {
    let mut line = Vec::new();
    let mut byte = [0];
    loop {
        match input.read(&mut byte) {
            Ok(0) if line.is_empty() => return Ok(None),
            Ok(0) => break,
            Ok(_) if byte == *b"\n" => break,
            Ok(_) if line.len() == LINE_BYTES_MAX => {
                return Err(Error::new(ErrorKind::InvalidData, "a line is too long"));
            }
            Ok(_) => line.extend(byte),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    String::from_utf8(line).map(Some).map_err(|error| Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialogues() {
        let fetch = |progress, verbosity| Some(Request { service: Service::UploadPack, progress, verbosity });
        let push = Some(Request { service: Service::ReceivePack, progress: false, verbosity: 1 });
        let rows: [(&str, &str, &str, Option<Request>, &str); 7] = [
            (
                "a fetch, as git 2.47 has it",
                "capabilities\noption progress true\noption verbosity 2\nconnect git-upload-pack\n0014command=ls-refs\n",
                "connect\noption\n\nok\nok\n",
                fetch(true, 2),
                "0014command=ls-refs\n",
            ),
            ("a push", "capabilities\nconnect git-receive-pack\n", "connect\noption\n\n", push, ""),
            ("a quiet one", "option verbosity 0\nconnect git-upload-pack\n", "ok\n", fetch(false, 0), ""),
            ("an option of another day", "option atomic true\n\n", "unsupported\n", None, ""),
            ("an archive", "connect git-upload-archive\n\n", "fallback\n", None, ""),
            ("git goes away", "capabilities\n", "connect\noption\n\n", None, ""),
            ("an empty line ends it", "\nconnect git-upload-pack\n", "", None, "connect git-upload-pack\n"),
        ];
        for (name, said, expected_answer, expected, expected_rest) in rows {
            let (mut input, mut output) = (said.as_bytes(), Vec::new());
            assert_eq!(listen(&mut input, &mut output).expect(name), expected, "{name}");
            assert_eq!(String::from_utf8(output).expect("text"), expected_answer, "{name}");
            assert_eq!(std::str::from_utf8(input).expect("text"), expected_rest, "{name}: nothing is read ahead");
        }
        for said in ["list\n", "fetch 0123 main\n", &"a".repeat(LINE_BYTES_MAX + 1)] {
            listen(&mut said.as_bytes(), &mut Vec::new()).expect_err(said);
        }
    }
    #[test]
    fn any_bytes_are_answered_or_refused() {
        let said = b"capabilities\noption progress true\noption verbosity 2\nconnect git-upload-pack\nrest\n";
        for at in 0..said.len() {
            for byte in [b'\n', b' ', 0, 0x1b, 0x80, 0xff, b'9'] {
                let mut bytes = said.to_vec();
                bytes[at] = byte;
                drop(listen(&mut bytes.as_slice(), &mut Vec::new()));
                drop(listen(&mut &bytes[..at], &mut Vec::new()));
                bytes.splice(at..at, said.repeat(2));
                drop(listen(&mut bytes.as_slice(), &mut Vec::new()));
            }
        }
    }
}
