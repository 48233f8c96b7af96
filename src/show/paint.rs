//! Colours.

use std::fmt::{self, Write as _};
use std::process::Command;

use dry_files::diag::is_unprintable;

use crate::repo::Repository;

/// What a piece of text is, from which follows how a terminal shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// What the lines below belong to.
    Heading,
    /// What need not be read.
    Dim,
    /// The id of a commit.
    Id,
    /// The name of a branch.
    Branch,
    /// It is new, or as it should be.
    Added,
    /// It is gone.
    Removed,
    /// It is another than before.
    Changed,
    /// Worth a look.
    Warning,
    /// It failed.
    Error,
}

impl Style {
    /// The parameters of the terminal's `SGR` sequence: colours from its own palette, so that they fit its background.
    fn parameters(self) -> &'static str {
        match self {
            Style::Heading => "1",
            Style::Dim => "2",
            Style::Id | Style::Changed => "33",
            Style::Branch => "36",
            Style::Added => "32",
            Style::Removed => "31",
            Style::Warning => "1;33",
            Style::Error => "1;31",
        }
    }
}

/// Whether text gets colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Paint(bool);

/// A text and how it is shown. Width and alignment of a format count for the text alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Painted<'a> {
    style: Option<Style>,
    text: &'a str,
}

impl Paint {
    /// No colours.
    pub(crate) const PLAIN: Self = Self(false);
    /// Colours.
    #[cfg(test)]
    pub(crate) const COLOURED: Self = Self(true);

    /// Colours as git would decide for what goes to a terminal or not: by `color.ui`, and by a dumb terminal. Unless that
    /// asks for them always, `NO_COLOR` turns them off.
    pub(crate) fn new(repository: Option<&Repository>, is_terminal: bool) -> Self {
        let mut command = repository.map_or_else(|| Command::new("git"), |repository| repository.git().command());
        command.args(["config", "--get-colorbool", "color.ui"]);
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            command.arg("false").env_remove("GIT_PAGER_IN_USE");
        } else {
            command.arg(is_terminal.to_string());
        }
        Self(command.output().is_ok_and(|output| output.stdout.starts_with(b"true")))
    }

    /// What of a whole result can be sent to a terminal: as [`screened`], but with colours their sequences stay.
    pub(crate) fn screened(self, text: &str) -> String {
        let mut screened = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let style = if self.0 { style_len(rest) } else { 0 };
            let (first, after) = rest.split_at(style.max(c.len_utf8()));
            if style > 0 || matches!(c, '\n' | '\t') || !is_unprintable(c) {
                screened.push_str(first);
            } else {
                screened.push(char::REPLACEMENT_CHARACTER);
            }
            rest = after;
        }
        screened
    }

    /// The text in a style.
    pub(crate) fn by(self, style: Style, text: &str) -> Painted<'_> {
        Painted { style: self.0.then_some(style), text }
    }
}

impl fmt::Display for Painted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(style) = self.style else { return f.pad(self.text) };
        write!(f, "\x1b[{}m", style.parameters())?;
        f.pad(self.text)?;
        f.write_str("\x1b[m")
    }
}

/// What of a whole result can be sent to a terminal: lines and tabs stay, every other character that is
/// [unprintable](is_unprintable) is replaced.
///
/// The last door: what is shown of a repository is made printable where it is put into a line, and what was forgotten there
/// can still not move the cursor or turn the direction of text.
pub(crate) fn screened(text: &str) -> String {
    Paint::PLAIN.screened(text)
}

/// The text of a JSON document with what [`screened`] would replace as escapes: the document says the same, and a terminal
/// can show it.
pub(crate) fn screened_json(text: &str) -> String {
    let mut screened = String::with_capacity(text.len());
    for c in text.chars() {
        if c != '\n' && is_unprintable(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String never fails.
                let _ = write!(screened, "\\u{unit:04x}");
            }
        } else {
            screened.push(c);
        }
    }
    screened
}

/// How long the `SGR` sequence is that a text starts with, in bytes; 0 when it starts with something else.
fn style_len(text: &str) -> usize {
    let Some(parameters) = text.strip_prefix("\x1b[") else { return 0 };
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(parameters.len());
    if parameters[end..].starts_with('m') { "\x1b[".len() + end + 1 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_take_no_room() {
        let line = |paint: Paint| format!("[{:6}] {:>3}", paint.by(Style::Added, "new"), paint.by(Style::Dim, "1"));
        assert_eq!(line(Paint::PLAIN), "[new   ]   1");
        assert_eq!(line(Paint::COLOURED), "[\u{1b}[32mnew   \u{1b}[m] \u{1b}[2m  1\u{1b}[m");
    }

    #[test]
    fn what_was_forgotten_cannot_move_the_cursor() {
        let text = "a\tb\n\u{1b}[1;31mred\u{1b}[m \u{1b}[2J\u{9b}1A \u{202e}c\r";
        let left = "\u{fffd}[2J\u{fffd}1A \u{fffd}c\u{fffd}";
        assert_eq!(Paint::COLOURED.screened(text), format!("a\tb\n\u{1b}[1;31mred\u{1b}[m {left}"));
        assert_eq!(screened(text), format!("a\tb\n\u{fffd}[1;31mred\u{fffd}[m {left}"));
        let json = serde_json::to_string_pretty(&[text]).expect("a list");
        let shown = screened_json(&json);
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("the same list"), [text]);
        assert!(!shown.contains('\u{202e}') && shown.contains("\\u202ec\\r"), "{shown}");
        // A tag is beyond the first 65,536 characters.
        let shown = screened_json("[\"a\u{e0041}\"]");
        assert_eq!(shown, "[\"a\\udb40\\udc41\"]");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).expect("the same list"), ["a\u{e0041}"]);
    }
}
