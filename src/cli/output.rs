//! Standard output and standard error, without a panic when their reader goes away.

use std::io::{ErrorKind, Write};

/// Prints a result.
pub(super) fn print(text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()) {
        // Whoever closes the pipe has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}

/// Prints a result as JSON: one document, on lines of its own.
pub(super) fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&(serde_json::to_string_pretty(value)? + "\n"))
}

/// Says on standard error what is odd or wrong, as a person reads it.
pub(super) fn warn(what: &impl std::fmt::Display) {
    // Nobody is left to be told when this fails.
    drop(std::io::stderr().lock().write_all(format!("{what}\n").as_bytes()));
}

/// Says on standard error that the command failed, and why.
pub(super) fn complain(message: &str) {
    // Nobody is left to be told when this fails.
    drop(std::io::stderr().lock().write_all(format!("error: {message}\n").as_bytes()));
}
