//! The trailer block of a commit message, found as git finds it.

use std::ops::Range;

/// One trailer: `key: value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trailer {
    /// As written, without white space at its ends.
    pub key: String,
    /// On one line: a continuation line is joined with one blank.
    pub value: String,
}

/// Whether a line `---` ends the message, so that what follows is a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Divider {
    /// As for `git interpret-trailers`.
    Ends,
    /// As for `%(trailers)` and `git interpret-trailers --no-divider`.
    IsText,
}

/// What git takes for a line of its own making, and so for a trailer, whatever is beside it.
const RECOGNIZED: [&str; 2] = ["Signed-off-by: ", "(cherry picked from commit "];

/// The line under which `git commit --verbose` shows a diff that is no part of the message.
pub(super) const SCISSORS: &str = "# ------------------------ >8 ------------------------";

/// The trailers of a message in their order, repeated ones included.
///
/// Reference: git 2.47 `git interpret-trailers --parse` without any configuration: `#` starts a comment and `:` ends a
/// key.
pub(super) fn parse(message: &str, divider: Divider) -> Vec<Trailer> {
    let mut trailers: Vec<Trailer> = Vec::new();
    let mut open = false;
    for line in lines(&message[block(message, divider)]) {
        match trailers.last_mut() {
            Some(last) if open && line.starts_with(WHITE_SPACE) => last.value.push_str(line),
            _ => {
                let found = key_and_value(line);
                open = found.is_some();
                trailers.extend(found.map(|(key, value)| Trailer { key: key.to_owned(), value: value.to_owned() }));
            }
        }
    }
    for trailer in &mut trailers {
        trailer.value = unfold(trim(&trailer.value));
    }
    trailers
}

/// Makes one blank of each line break and the white space after it.
fn unfold(value: &str) -> String {
    let (first, rest) = value.split_once('\n').unwrap_or((value, ""));
    let rest = rest.split('\n').map(|line| line.trim_start_matches(WHITE_SPACE)).filter(|line| !line.is_empty());
    std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" ")
}

/// Where the trailer block is: whole lines; empty, at the end of the message, when there is no trailer block.
///
/// The block is the last paragraph, never the first, if all of its lines are trailers, or if one is recognized and at
/// least a quarter are trailers.
///
/// Reference: git 2.47 trailer.c `find_trailer_block_start`.
pub(super) fn block(message: &str, divider: Divider) -> Range<usize> {
    let end = end_of_message(message, divider);
    let text = &message[..end];
    let title = end_of_title(text);
    let mut only_blank = true;
    let mut recognized = false;
    let (mut trailers, mut others, mut continuations) = (0_usize, 0_usize, 0_usize);
    let mut start = end;
    for line in text[title..].split_inclusive('\n').rev() {
        let line_start = start - line.len();
        if line.starts_with('#') {
            others += continuations;
            continuations = 0;
        } else if is_blank(line) {
            if !only_blank {
                others += continuations;
                let found = if recognized { trailers * 3 >= others } else { trailers > 0 && others == 0 };
                return if found { start..end } else { end..end };
            }
        } else {
            only_blank = false;
            if RECOGNIZED.iter().any(|prefix| line.starts_with(prefix)) {
                trailers += 1;
                continuations = 0;
                recognized = true;
            } else if line.starts_with(WHITE_SPACE) {
                continuations += 1;
            } else if key_and_value(line).is_some() {
                trailers += 1;
                continuations = 0;
            } else {
                others += 1 + continuations;
                continuations = 0;
            }
        }
        start = line_start;
    }
    end..end
}

/// The key that git would read on this line if it stood in a trailer block, and the rest of the line.
///
/// Reference: git 2.47 trailer.c `find_separator`: letters, digits and `-`, then blanks, then `:`.
pub(super) fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let (before, value) = line.split_once(':')?;
    let key = before.trim_end_matches([' ', '\t']);
    let is_key = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    is_key.then_some((key, value))
}

/// What git's `isspace` takes; no vertical tab, no form feed.
pub(super) const WHITE_SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

fn trim(text: &str) -> &str {
    text.trim_matches(WHITE_SPACE)
}

fn is_blank(line: &str) -> bool {
    trim(line).is_empty()
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n')
}

/// The end of the first paragraph; comments don't count.
fn end_of_title(text: &str) -> usize {
    let mut at = 0;
    for line in lines(text) {
        if !line.starts_with('#') && is_blank(line) {
            return at;
        }
        at += line.len();
    }
    at
}

/// Where the message ends for git: before a patch, a diff, and trailing comments, blank lines and conflict lists.
///
/// Reference: git 2.47 trailer.c `find_end_of_log_message`, commit.c `ignored_log_message_bytes`.
fn end_of_message(message: &str, divider: Divider) -> usize {
    let mut end = message.len();
    if divider == Divider::Ends {
        let mut at = 0;
        for line in lines(message) {
            if line.strip_prefix("---").is_some_and(|rest| rest.starts_with(WHITE_SPACE)) {
                end = at;
                break;
            }
            at += line.len();
        }
    }
    let mut at = 0;
    // As in git, a run that starts with the message is no such run.
    let mut ignored_from = None;
    let mut in_conflicts = false;
    for line in lines(&message[..end]) {
        let here = Some(at).filter(|&at| at > 0);
        if line.strip_suffix('\n') == Some(SCISSORS) {
            return ignored_from.unwrap_or(at);
        }
        if line.starts_with('#') || line.starts_with('\n') {
            ignored_from = ignored_from.or(here);
        } else if line == "Conflicts:\n" {
            in_conflicts = true;
            ignored_from = ignored_from.or(here);
        } else if !(in_conflicts && line.starts_with('\t')) && ignored_from.is_some() {
            ignored_from = None;
            in_conflicts = false;
        }
        at += line.len();
    }
    ignored_from.unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What git prints with `--no-divider` is what it prints without.
    const SAME: &str = "same";

    /// (rule, message, output of `git interpret-trailers --parse`, and with `--no-divider`), git 2.47.3.
    const ROWS: &[(&str, &str, &str, &str)] = &[
        ("the last paragraph", "t\n\nbody\n\na: b\nc:d\n", "a: b\nc: d\n", SAME),
        ("no trailer in the title", "a: b\n", "", SAME),
        ("no blank line before", "t\na: b\n", "", SAME),
        ("one other line is too many", "t\n\na: b\nother\n", "", SAME),
        (
            "unless one is recognized",
            "t\n\na: b\nother\nSigned-off-by: A <a@b>\n",
            "a: b\nSigned-off-by: A <a@b>\n",
            SAME,
        ),
        ("then a quarter is enough", "t\n\no\no\no\nSigned-off-by: A <a@b>\n", "Signed-off-by: A <a@b>\n", SAME),
        ("and less is not", "t\n\no\no\no\no\nSigned-off-by: A <a@b>\n", "", SAME),
        ("cherry picks are recognized", "t\n\no\na: b\n(cherry picked from commit 12)\n", "a: b\n", SAME),
        ("blanks before the colon", "t\n\nKey : value  \n", "Key: value\n", SAME),
        ("no blanks in the key", "t\n\nKey one: value\n", "", SAME),
        ("letters, digits and hyphens only", "t\n\nKey_one: value\n", "", SAME),
        ("no key at all", "t\n\n: value\n", "", SAME),
        ("an empty value", "t\n\na:\n", "a: \n", SAME),
        ("continuation lines", "t\n\na: b\n  c\n\td\ne: f\n", "a: b c d\ne: f\n", SAME),
        ("a blank first line of a value", "t\n\na:\n b\n", "a: b\n", SAME),
        ("carriage returns", "t\r\n\r\na: b\r\n", "a: b\n", SAME),
        ("a carriage return before a continuation", "t\n\na: b\r\n c\n", "a: b\r c\n", SAME),
        ("comments are skipped", "t\n\n# x\na: b\n# y: z\n", "a: b\n", SAME),
        ("trailing comments and blank lines are no part", "t\n\na: b\n\n# x\n\n", "a: b\n", SAME),
        ("trailing conflicts are no part", "t\n\na: b\n\nConflicts:\n\tpath\n", "a: b\n", SAME),
        ("the divider", "t\n\na: b\n---\n\nc: d\n", "a: b\n", "c: d\n"),
        ("a longer divider", "t\n\na: b\n--- x\n\nc: d\n", "a: b\n", "c: d\n"),
        ("no divider", "t\n\na: b\n---x\n\nc: d\n", "c: d\n", SAME),
        ("scissors", "t\n\na: b\n# ------------------------ >8 ------------------------\n\nc: d\n", "a: b\n", SAME),
        ("a blank line that isn't empty", "t\n \na: b\n \n", "a: b\n", SAME),
        ("no final newline", "t\n\na: b", "a: b\n", SAME),
        ("a form feed is no blank", "t\n\na\u{c}: b\n", "", SAME),
        ("letters outside of ASCII", "t\n\né: b\n", "", SAME),
        ("nothing", "", "", SAME),
    ];

    #[test]
    fn trailers_as_git_finds_them() {
        for &(rule, message, expected, without_divider) in ROWS {
            let print = |divider| -> String {
                parse(message, divider).iter().map(|trailer| format!("{}: {}\n", trailer.key, trailer.value)).collect()
            };
            assert_eq!(print(Divider::Ends), expected, "{rule}");
            assert_eq!(
                print(Divider::IsText),
                if without_divider == SAME { expected } else { without_divider },
                "{rule}"
            );
        }
    }
}
