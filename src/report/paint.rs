use std::fmt;
use std::process::Command;

use crate::git::Repository;

/// What a piece of text is, from which follows how a terminal shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
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
pub struct Paint(bool);

/// A text and how it is shown. Width and alignment of a format count for the text alone.
#[derive(Debug, Clone, Copy)]
pub struct Painted<'a> {
    style: Option<Style>,
    text: &'a str,
}

impl Paint {
    /// No colours.
    pub const PLAIN: Self = Self(false);
    /// Colours.
    pub const COLOURED: Self = Self(true);

    /// Colours as git would decide for what goes to a terminal or not: by `color.ui`, and by a dumb terminal. Unless that
    /// asks for them always, `NO_COLOR` turns them off.
    pub fn new(repository: Option<&Repository>, is_terminal: bool) -> Self {
        let mut command = repository.map_or_else(|| Command::new("git"), |repository| repository.git().command());
        command.args(["config", "--get-colorbool", "color.ui"]);
        if std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
            command.arg("false").env_remove("GIT_PAGER_IN_USE");
        } else {
            command.arg(is_terminal.to_string());
        }
        Self(command.output().is_ok_and(|output| output.stdout.starts_with(b"true")))
    }

    /// The text in a style.
    pub fn by(self, style: Style, text: &str) -> Painted<'_> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_take_no_room() {
        let line = |paint: Paint| format!("[{:6}] {:>3}", paint.by(Style::Added, "new"), paint.by(Style::Dim, "1"));
        assert_eq!(line(Paint::PLAIN), "[new   ]   1");
        assert_eq!(line(Paint::COLOURED), "[\u{1b}[32mnew   \u{1b}[m] \u{1b}[2m  1\u{1b}[m");
    }
}
