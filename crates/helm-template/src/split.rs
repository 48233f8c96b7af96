//! Rendered text cut into documents.

use crate::version::differences::Documents;

/// Cuts rendered text into documents where `---` starts a line.
///
/// In source order; those of white space alone are dropped, comments alone stay. Each starts with something visible.
/// What follows `---` on its line belongs to the next document, because charts rely on `---apiVersion: v1`.
///
/// Before 4.2.4 a separator takes the white space on both sides along, so the second of two such lines in a row becomes text, and
/// block scalars of `|+` at the end lose their empty lines. From then on it takes the blanks behind it along, nothing else.
///
/// Reference: helm 4.1.4, 4.2.3 and 4.2.4 pkg/release/v1/util/manifest.go `SplitManifests`. Case `out-split`.
pub(super) fn split(text: &str, how: Documents) -> Vec<&str> {
    let mut documents = Vec::new();
    let mut rest = match how {
        Documents::Trimmed => text.trim(),
        Documents::KeepsTheEnd | Documents::KeepsLines => text.trim_start(),
    };
    let mut at_start = true;
    loop {
        let (document, next) = match separator(rest, at_start, how) {
            Some((from, to)) => (rest.get(..from).unwrap_or_default(), rest.get(to..)),
            None => (rest, None),
        };
        let document = document.trim_start();
        if !document.is_empty() {
            documents.push(if how == Documents::Trimmed { document.trim_end() } else { document });
        }
        let Some(next) = next else { return documents };
        rest = next;
        at_start = false;
    }
}

/// Where the first separator starts and ends. `at_start`: whether the text begins here, not behind a separator.
fn separator(text: &str, at_start: bool, how: Documents) -> Option<(usize, usize)> {
    let dashes =
        if at_start && text.starts_with("---") { 0 } else { memchr::memmem::find(text.as_bytes(), b"\n---")? + 1 };
    let (before, after) = (text.get(..dashes)?, text.get(dashes + 3..)?);
    let (before, after) = match how {
        Documents::Trimmed | Documents::KeepsTheEnd => {
            (before.trim_end_matches(is_space), after.trim_start_matches(is_space))
        }
        Documents::KeepsLines => (before, after.trim_start_matches([' ', '\t'])),
    };
    Some((before.len(), text.len() - after.len()))
}

/// `\s` of Go's regular expressions.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("", &[], &[]),
            ("\n \n", &[], &[]),
            ("a: 1\n", &["a: 1\n"], &["a: 1\n"]),
            ("---\na: 1\n\n", &["a: 1\n\n"], &["a: 1\n\n"]),
            ("\n\n---\na: 1\n\n---\nb: 2\n", &["a: 1", "b: 2\n"], &["a: 1\n\n", "b: 2\n"]),
            ("a: 1\n---b: 2", &["a: 1", "b: 2"], &["a: 1\n", "b: 2"]),
            ("a: 1\n--- # x\nb: 2", &["a: 1", "# x\nb: 2"], &["a: 1\n", "# x\nb: 2"]),
            ("a: 1\n ---\nb: 2", &["a: 1\n ---\nb: 2"], &["a: 1\n ---\nb: 2"]),
            ("a: 1\n----\nb: 2", &["a: 1", "-\nb: 2"], &["a: 1\n", "-\nb: 2"]),
            ("a: 1\n---\n---\nb: 2", &["a: 1", "---\nb: 2"], &["a: 1\n", "b: 2"]),
            ("a: 1\n---\n\n\n---\n---\nb: 2", &["a: 1", "---", "b: 2"], &["a: 1\n", "b: 2"]),
            ("---\n# only\n---\nnull", &["# only", "null"], &["# only\n", "null"]),
            ("a: 1\r\n---\r\nb: 2\r\n", &["a: 1", "b: 2\r\n"], &["a: 1\r\n", "b: 2\r\n"]),
            ("a: --- x", &["a: --- x"], &["a: --- x"]),
        ];
        for (text, old, new) in rows {
            let trimmed: Vec<&str> = old.iter().map(|document| document.trim()).collect();
            assert_eq!(split(text, Documents::Trimmed), trimmed, "4.1.4 {text:?}");
            assert_eq!(split(text, Documents::KeepsTheEnd), *old, "4.2.3 {text:?}");
            assert_eq!(split(text, Documents::KeepsLines), *new, "4.2.4 {text:?}");
        }
    }
}
