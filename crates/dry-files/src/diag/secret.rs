//! Lines of Secrets are quoted without their values.
//!
//! What is wrong is shown to the pusher, in reports and records. A file with a mistake may not even parse, so only its text
//! says which of its documents are Secrets.

use std::ops::Range;

use super::LEFT_OUT;

/// The kinds of a Secret, and of a list of them.
const KINDS: [&str; 2] = ["Secret", "SecretList"];

/// Where in a text of YAML or JSON the documents are that contain a `kind: Secret`, in bytes: in order, without the lines that
/// divide them.
pub fn documents(file: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if memchr::memmem::find(file.as_bytes(), KINDS[0].as_bytes()).is_none() {
        return found;
    }
    let (mut start, mut offset, mut is_secret) = (0, 0, false);
    for line in file.split_inclusive('\n') {
        if is_divider(line) {
            found.extend(is_secret.then_some(start..offset));
            (start, is_secret) = (offset + line.len(), false);
        }
        is_secret |= names_secret(line);
        offset += line.len();
    }
    found.extend(is_secret.then_some(start..offset));
    found
}

/// Whether a line begins a document: a key in PEM begins alike.
fn is_divider(line: &str) -> bool {
    line.strip_prefix("---").is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace))
}

/// Whether `kind: Secret` is somewhere in a line, in any style of YAML or JSON.
fn names_secret(line: &str) -> bool {
    line.match_indices("kind").any(|(at, word)| has_secret_kind(&line[at + word.len()..]))
}

/// Whether the value that follows the key `kind` is that of a Secret.
fn has_secret_kind(rest: &str) -> bool {
    const QUOTES: [char; 2] = ['"', '\''];
    let rest = rest.trim_start_matches(QUOTES).trim_start();
    let value = rest.strip_prefix(':').map(|value| value.trim_start().trim_start_matches(QUOTES));
    let is_end = |c: char| !c.is_alphanumeric();
    value.and_then(|value| value.split(is_end).next()).is_some_and(|value| KINDS.contains(&value))
}

/// A line without what may be a value: the first key stays, and what is before it. What has no plain key is left out as a
/// whole, but for its indentation.
pub fn without_value(line: &str) -> String {
    let start = line.len() - line.trim_start_matches([' ', '-', '{', '\t']).len();
    let is_key = |c: char| c.is_ascii_alphanumeric() || "\"'._-/".contains(c);
    let rest = &line[start..];
    let key = rest.find(|c| !is_key(c)).map_or(rest.len(), |end| end);
    let (key, value) = rest.split_at(key);
    let blanks = value.strip_prefix(':').map(|value| value.len() - value.trim_start().len());
    match blanks {
        // A colon without a blank is part of a value, unless it ends the line or follows a quote.
        Some(blanks) if blanks > 0 || value == ":" || key.ends_with(['"', '\'']) => {
            let end = start + key.len() + 1 + blanks;
            if end == line.len() { line.to_owned() } else { format!("{}{LEFT_OUT}", &line[..end]) }
        }
        _ if rest.is_empty() => line.to_owned(),
        _ => format!("{}{LEFT_OUT}", &line[..start]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Span;
    use super::*;
    use crate::path::RepoPath;

    #[test]
    fn values_are_left_out() {
        let rows = [
            ("  password: hunter2", "  password: …"),
            ("  tls.crt:   aGVsbG8=", "  tls.crt:   …"),
            ("  \"password\":\"hunter2\"", "  \"password\":…"),
            ("{\"kind\": \"Secret\", \"data\": {\"a\": \"b\"}}", "{\"kind\": …"),
            ("data:", "data:"),
            ("- name: x", "- name: …"),
            ("    -----BEGIN PRIVATE KEY-----", "    -----…"),
            ("aGVsbG8=", "…"),
            ("    https://me:word@example.com", "    …"),
            ("    two words: more", "    …"),
            ("", ""),
        ];
        for (line, expected) in rows {
            assert_eq!(without_value(line), expected, "{line}");
        }
    }

    fn quoted(file: &str, line: u32, column: u32) -> String {
        let path = RepoPath::new("a.yaml").expect("plain");
        let span = Span::at(path, line, column).quoting(file);
        let marker = span.marker();
        format!("{} {}-{}", span.text.unwrap_or_default(), marker.start, marker.end)
    }

    #[test]
    fn only_lines_of_secrets_are_quoted_without_their_values() {
        let file = "kind: ConfigMap\ndata:\n  a: b\n--- # next\napiVersion: v1\ndata:\n  a: b\nkind: \"Secret\"\n---\nkind: \
                    SecretStore\na: b\n---\n{\"kind\":\"Secret\",\"a\":\"b\"}\n";
        let rows =
            [(3, "  a: b 5-6"), (7, "  a: … 5-6"), (8, "kind: … 5-6"), (11, "a: b 5-6"), (13, "{\"kind\":… 5-6")];
        for (line, expected) in rows {
            assert_eq!(quoted(file, line, 6), expected, "{line}");
        }
        // A mistake inside of the value is shown where the value begins.
        assert_eq!(quoted("kind: Secret\nstringData:\n  a: 'b c d\n", 3, 11), "  a: … 5-6");
        // What begins as a divider does is a key that lost its indentation.
        assert_eq!(quoted("kind: Secret\ndata:\n-----BEGIN KEY-----\naGVsbG8=\n", 4, 1), "… 0-1");
    }
}
