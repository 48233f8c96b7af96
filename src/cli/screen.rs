//! Where a result goes that a person reads: a terminal with colours and git's pager, or any other standard output.

use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::repo::Repository;
use crate::show::Paint;

/// What an unset variable becomes for a pager, as git does it: `less` ends by itself when all fits on one screen, shows
/// colours, and leaves the text on the screen.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// What clears a terminal.
const CLEAR: &str = "\x1b[2J\x1b[H";

/// Standard output, as far as a person reads it.
pub(super) struct Screen {
    paint: Paint,
    is_terminal: bool,
    pager: Option<String>,
}

impl Screen {
    /// What standard output is now; git decides on colours and names the pager, by the configuration of the repository.
    pub(super) fn new(repository: Option<&Repository>) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let pager = is_terminal.then(|| pager(repository)).flatten();
        Self { paint: Paint::new(repository, is_terminal), is_terminal, pager }
    }

    /// Shows one of several results, without a pager and in place of the one before; answers whether it is still read.
    pub(super) fn show_next(&self, text: &str) -> anyhow::Result<bool> {
        let clear = if self.is_terminal { CLEAR } else { "" };
        let mut stdout = std::io::stdout().lock();
        let shown = self.paint.screened(text);
        match write!(stdout, "{clear}{shown}").and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
            result => Ok(result.map(|()| true)?),
        }
    }

    /// Whether what it shows gets colours.
    pub(super) fn paint(&self) -> Paint {
        self.paint
    }

    /// Whether it is a terminal, whose lines are short.
    pub(super) fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Shows the whole of a result and returns when the reader has left it.
    pub(super) fn show(&self, text: &str) -> anyhow::Result<()> {
        self.show_all([Ok(text.to_owned())])
    }

    /// Shows a result part by part as they come, no more of them than the reader wants.
    pub(super) fn show_all(&self, parts: impl IntoIterator<Item = anyhow::Result<String>>) -> anyhow::Result<()> {
        let Some(mut pager) = self.pager.as_deref().and_then(start) else {
            let mut stdout = std::io::stdout().lock();
            return write_all(&mut stdout, parts, self.paint);
        };
        // Ctrl-C is for the pager; we wait until it has given the terminal back.
        drop(signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false))));
        let shown = pager.stdin.take().map_or(Ok(()), |mut stdin| write_all(&mut stdin, parts, self.paint));
        pager.wait()?;
        shown
    }
}

fn write_all(
    writer: &mut dyn std::io::Write,
    parts: impl IntoIterator<Item = anyhow::Result<String>>,
    paint: Paint,
) -> anyhow::Result<()> {
    for part in parts {
        match writer.write_all(paint.screened(&part?).as_bytes()).and_then(|()| writer.flush()) {
            // A reader who leaves the pager, or closes the pipe, has read enough.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(()),
            result => result?,
        }
    }
    Ok(())
}

/// The pager that git would start: by `GIT_PAGER`, `core.pager`, `PAGER`. None when that is no pager.
fn pager(repository: Option<&Repository>) -> Option<String> {
    let mut command = repository.map_or_else(|| Command::new("git"), |repository| repository.git().command());
    let answer = command.args(["var", "GIT_PAGER"]).stderr(Stdio::null()).output().ok()?;
    let pager = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (!pager.is_empty() && pager != "cat").then_some(pager)
}

/// Starts a pager: by a shell only where its command needs one, so that a missing program is noticed. None then.
fn start(pager: &str) -> Option<Child> {
    let plain = pager.chars().all(|c| c.is_ascii_alphanumeric() || "-_./+,:@".contains(c));
    let mut command = Command::new(if plain { pager } else { "sh" });
    if !plain {
        command.args(["-c", pager]);
    }
    for (name, value) in DEFAULTS {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::piped()).spawn().ok()
}
