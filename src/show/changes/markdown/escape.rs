//! Text in GitHub's Markdown that can be nothing but text.

use dry_files::diag::printable;

use crate::show::screened;

/// How long one thing that is shown may be.
const TEXT_MAX: usize = 1000;

/// A block that nothing in its text can end.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let text = screened(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A code span that nothing in its text can end, fit for a table.
pub(super) fn code(text: &str) -> String {
    let text = clipped(&printable(text)).replace('|', "\\|");
    let fence = "`".repeat(longest_run(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{text}{blank}{fence}")
}

fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or_default()
}

/// Text that is nothing but text.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in clipped(&printable(text)).chars() {
        match c {
            '<' | '>' | '&' => escaped += &html(&c.to_string()),
            '\\' | '*' | '_' | '[' | ']' | '|' | '#' | '@' | '~' | '!' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

pub(super) fn clipped(text: &str) -> String {
    match text.char_indices().nth(TEXT_MAX) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
