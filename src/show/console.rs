//! Writes to a terminal or to git's sideband, whose reader may be slow or gone.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Paint;

/// How long a reader may leave us waiting before it counts as gone.
const PATIENCE: Duration = Duration::from_secs(2);

/// What a pipe takes at once without blocking when it says that it is ready: POSIX's `PIPE_BUF`, as Linux has it.
const CHUNK_BYTES: usize = 4096;

/// How wide text may be behind git's `remote: `, on a terminal of 80 columns.
const WIDTH: usize = 72;

/// How long a command waits for a lock before it says why.
const LOCK_SILENCE: Duration = Duration::from_secs(1);

/// Says once, after a second, why a command waits for a lock.
pub(crate) struct Waiting<'c> {
    console: &'c mut Console,
    text: String,
    is_said: bool,
}

impl<'c> Waiting<'c> {
    /// Nothing is said yet.
    pub(crate) fn new(console: &'c mut Console, text: String) -> Self {
        Self { console, text, is_said: false }
    }

    /// Says it, if it is time to.
    pub(crate) fn report(&mut self, waited: Duration) {
        if waited >= LOCK_SILENCE && !self.is_said {
            self.is_said = true;
            self.console.print(&self.text);
        }
    }
}

/// Standard error: whole lines, never a wait without end.
///
/// A pusher who goes away leaves a pipe that no one reads and no one closes: a hook that writes on would hang for ever
/// with the repository's lock in its hands. So each write first asks whether the pipe has room, and after two seconds
/// without any the rest is dropped.
#[derive(Debug, Default)]
pub(crate) struct Console {
    gone: bool,
}

impl Console {
    /// Standard error of this process.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Whether a person looks at it.
    pub(crate) fn is_terminal(&self) -> bool {
        std::io::stderr().is_terminal()
    }

    /// Writes one or more lines, [`screened`](super::screened); the last one gets its line break.
    pub(crate) fn print(&mut self, text: &str) {
        self.print_painted(text, Paint::PLAIN);
    }

    /// Writes one or more lines that this paint coloured, screened by it; the last one gets its line break.
    pub(crate) fn print_painted(&mut self, text: &str, paint: Paint) {
        let mut bytes = paint.screened(text).into_bytes();
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        self.write(&bytes);
    }

    /// Writes bytes as they are.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stderr = std::io::stderr();
        for chunk in bytes.chunks(CHUNK_BYTES) {
            if self.gone || !ready(&stderr) || stderr.lock().write_all(chunk).is_err() {
                self.gone = true;
                return;
            }
        }
    }
}

fn ready(stream: &impl AsFd) -> bool {
    let mut wanted = [PollFd::new(stream, PollFlags::OUT)];
    let patience = Timespec { tv_sec: PATIENCE.as_secs() as i64, tv_nsec: 0 };
    loop {
        match poll(&mut wanted, Some(&patience)) {
            Ok(0) => return false,
            Ok(_) => return wanted[0].revents().contains(PollFlags::OUT),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Breaks text at blanks so that no line is wider than git's `remote: ` leaves room for; `indent` starts every line but
/// the first. A command stays on one line, however wide that is: it is to be copied.
pub(crate) fn wrap(text: &str, indent: &str) -> String {
    use unicode_width::UnicodeWidthStr;
    let mut lines = vec![String::new()];
    for part in parts(text) {
        let line = lines.last_mut().expect("starts with one line");
        if !line.is_empty() && line.width() + 1 + part.width() > WIDTH {
            lines.push(format!("{indent}{part}"));
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&part);
        }
    }
    lines.join("\n")
}

/// What begins a command in our texts.
const PROGRAMS: &[&str] = &["git", "rm", "chmod", "chown", "cp", "mv"];

/// Words, and commands: from a program, behind a colon, a semicolon or in backquotes, to where that ends.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut end = None;
    let mut is_begin = false;
    for word in text.split(' ') {
        match end {
            Some(_) => {
                let command = parts.last_mut().expect("it was begun");
                command.push(' ');
                command.push_str(word);
            }
            None => parts.push(word.to_owned()),
        }
        let quoted = word.strip_prefix('`').filter(|name| PROGRAMS.contains(name));
        if end.is_none() && (quoted.is_some() || is_begin && PROGRAMS.contains(&word)) {
            end = Some(if quoted.is_some() { '`' } else { ';' });
        }
        let is_whole = |command: &String| command.matches('\'').count().is_multiple_of(2);
        let ends = |end: char| word.trim_end_matches([',', '.']).ends_with(end) && parts.last().is_some_and(is_whole);
        end = end.filter(|end| quoted.is_some() || !ends(*end));
        is_begin = word.ends_with([':', ';']);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_at_blanks() {
        let text = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
        assert_eq!(
            wrap(text, "    "),
            "one two three four five six seven eight nine ten eleven twelve thirteen\n    fourteen fifteen"
        );
        assert_eq!(wrap("short", "  "), "short");
    }

    #[test]
    fn a_command_is_not_broken() {
        let chain = "git config --add hydrate.promoter NAME && git config --add hydrate.promoted 'environments/a; b' && git hydrate install";
        let text =
            format!("hint: no account may promote yet; an admin names one on the server: {chain}; then push once more");
        let expected = format!(
            "hint: no account may promote yet; an admin names one on the server:\n  {chain};\n  then push once more"
        );
        assert_eq!(wrap(&text, "  "), expected);
        let text = "the push was accepted; it is hydrated by the next push or by `git hydrate catch-up --background` on the server";
        let expected = "the push was accepted; it is hydrated by the next push or by\n`git hydrate catch-up --background` on the server";
        assert_eq!(wrap(text, ""), expected);
        assert_eq!(wrap("remotes: git, svn", ""), "remotes: git, svn");
    }
}
