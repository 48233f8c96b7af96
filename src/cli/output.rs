//! Standard output and standard error, without a panic when their reader goes away.

use std::io::{ErrorKind, IsTerminal as _, Write};

use crate::show::{screened, screened_json};
use crate::tell::outbox::Delivery;

/// Prints a result as a person reads it: see [`screened`].
pub(super) fn print(text: impl AsRef<str>) -> anyhow::Result<()> {
    write(screened(text.as_ref()).as_bytes())
}

/// Prints bytes that a program may read: as they are, unless a terminal shows them.
pub(super) fn print_content(content: impl AsRef<[u8]>) -> anyhow::Result<()> {
    if std::io::stdout().is_terminal() {
        return print(String::from_utf8_lossy(content.as_ref()));
    }
    write(content.as_ref())
}

/// Of what shape the JSON of each command is; raised when a field changes its meaning or goes, not when one comes.
const FORMAT: u32 = 1;

/// Prints a result, which is a map of its fields, as JSON: one object, with `format`, on lines of its own. What a terminal
/// must not show is escaped.
pub(super) fn print_json(fields: &impl serde::Serialize) -> anyhow::Result<()> {
    #[derive(serde::Serialize)]
    struct Document<'a, T> {
        format: u32,
        #[serde(flatten)]
        fields: &'a T,
    }
    print_document(&Document { format: FORMAT, fields })
}

/// Prints a list as the one field of such an object.
pub(super) fn print_json_list(name: &str, list: &[impl serde::Serialize]) -> anyhow::Result<()> {
    print_json(&std::collections::BTreeMap::from([(name, list)]))
}

/// Prints JSON of a shape that is defined elsewhere.
pub(super) fn print_document(document: &impl serde::Serialize) -> anyhow::Result<()> {
    write((screened_json(&serde_json::to_string_pretty(document)?) + "\n").as_bytes())
}

/// Says on standard error what is odd or wrong, as a person reads it.
pub(super) fn warn(what: &impl std::fmt::Display) {
    // No one reads it when this fails.
    drop(std::io::stderr().lock().write_all(screened(&format!("{what}\n")).as_bytes()));
}

/// Says on standard error that the command failed, and why.
pub(super) fn complain(message: &str) {
    warn(&format!("error: {message}"));
}

/// Says what was pushed to other repositories, and what was not.
pub(super) fn delivered(deliveries: &[Delivery], is_rehearsal: bool) -> anyhow::Result<()> {
    for pushed in deliveries.iter().filter_map(|delivery| delivery.pushed(is_rehearsal)) {
        print(format!("{pushed}\n"))?;
    }
    undelivered(deliveries);
    Ok(())
}

/// Warns of what was not pushed to other repositories.
pub(super) fn undelivered(deliveries: &[Delivery]) {
    for (warning, hint) in deliveries.iter().flat_map(Delivery::warnings) {
        warn(&format!("warning: {warning}\nhint: {hint}"));
    }
}

fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // A reader who closes the pipe has read enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => Ok(result?),
    }
}
