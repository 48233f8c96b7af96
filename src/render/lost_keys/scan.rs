//! Whether a text may have a key twice in one mapping, by a look at its lines: most have none, and need not be parsed for it.

use std::collections::HashSet;

/// The keys of the mappings around a line, each mapping with the column in which they begin, the outermost first.
#[derive(Default)]
struct Open<'t>(Vec<(usize, HashSet<&'t str>)>);

impl<'t> Open<'t> {
    /// Ends the mappings that begin behind a column.
    fn end_behind(&mut self, column: usize) {
        self.0.retain(|(begins, _)| *begins <= column);
    }

    /// Adds a key to the mapping of its column. Answers whether it is new there.
    fn add(&mut self, column: usize, key: &'t str) -> bool {
        self.end_behind(column);
        if self.0.last().is_none_or(|(begins, _)| *begins < column) {
            self.0.push((column, HashSet::new()));
        }
        self.0.last_mut().is_none_or(|(_, keys)| keys.insert(key))
    }
}

/// False only where a parser would find no key twice. What is not a plain key in block style is left to the parser.
pub(super) fn may_repeat(text: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return true };
    let mut open = Open::default();
    text.contains(['\r', '\t', '\u{85}', '\u{2028}', '\u{2029}'])
        || text.split('\n').any(|line| repeats(&mut open, line))
}

/// Whether a line repeats a key, or has more in it than one plain key.
fn repeats<'t>(open: &mut Open<'t>, line: &'t str) -> bool {
    let mut content = line.trim_start_matches(' ');
    let mut column = line.len() - content.len();
    if content.is_empty() || content.starts_with('#') {
        return false;
    }
    if line.starts_with("---") || line.starts_with("...") {
        open.0.clear();
        return line.trim_end().len() > 3;
    }
    while let Some(item) = content.strip_prefix('-').filter(|item| item.is_empty() || item.starts_with(' ')) {
        open.end_behind(column);
        let item = item.trim_start_matches(' ');
        column += content.len() - item.len();
        content = item;
    }
    if content.starts_with(['{', '[']) {
        return repeats_in_flow(content);
    }
    let (key, value) = match content.split_once(": ") {
        Some((key, value)) => (key, value.trim()),
        None => match content.trim_end().strip_suffix(':') {
            Some(key) => (key, ""),
            None => return content.starts_with(['?', '&', '!']),
        },
    };
    let is_in_flow = value.starts_with(['{', '[']);
    !is_plain(key)
        || value.starts_with(['&', '!'])
        || (is_in_flow && repeats_in_flow(value))
        || !open.add(column, key.trim_end())
}

fn is_plain(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && !is_boolean(key)
}

/// How deep collections in flow style are followed.
const DEPTH_MAX: usize = 16;

/// Whether a collection in flow style repeats a key, or is more than plain keys and values that end in its line.
fn repeats_in_flow(text: &str) -> bool {
    behind_flow(text, DEPTH_MAX).is_none_or(|behind| !behind.trim_end().is_empty())
}

/// What is behind a collection in flow style; none where it repeats a key, or where that is left to the parser.
fn behind_flow(text: &str, depth: usize) -> Option<&str> {
    let end = if text.starts_with('[') { ']' } else { '}' };
    let mut keys = HashSet::new();
    let mut rest = text.get(1..)?.trim_start_matches(' ');
    loop {
        if let Some(behind) = rest.strip_prefix(end) {
            return Some(behind);
        }
        if end == '}' {
            let (key, value) = rest.split_once(": ")?;
            if !is_plain(key) || !is_word(key) || !keys.insert(key.trim_end()) {
                return None;
            }
            rest = value.trim_start_matches(' ');
        }
        rest = behind_value(rest, depth)?.trim_start_matches(' ');
        match rest.strip_prefix(',') {
            Some(behind) => rest = behind.trim_start_matches(' '),
            None => return rest.strip_prefix(end),
        }
    }
}

/// What is behind a value of a collection in flow style; none where that is left to the parser.
fn behind_value(text: &str, depth: usize) -> Option<&str> {
    match text.chars().next()? {
        '{' | '[' => behind_flow(text, depth.checked_sub(1)?),
        quote @ ('"' | '\'') => {
            let (quoted, behind) = text.get(1..)?.split_once(quote)?;
            (!quoted.contains('\\') && !behind.starts_with(quote)).then_some(behind)
        }
        _ => {
            let (word, behind) = text.split_at_checked(text.find([',', ']', '}'])?)?;
            (is_word(word) && !word.contains(": ") && !word.trim_end().ends_with(':')).then_some(behind)
        }
    }
}

/// Whether a text has nothing that means more than itself.
fn is_word(text: &str) -> bool {
    !text.contains(['{', '}', '[', ']', ',', '"', '\'', '&', '*', '!', '?', '|', '>', '%', '@', '`', '#', '\\'])
}

/// The words that YAML 1.1 reads as booleans, whatever their case.
fn is_boolean(key: &str) -> bool {
    const WORDS: [&str; 9] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"];
    WORDS.iter().any(|word| key.trim_end().eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_each_key_once_is_not_parsed() {
        let text = "# values\nimage:\n  tag: a\n  pull: {}\nenv:\n- name: a\n  value: x\n- name: b\n  value: y\nlist:\n  - - a: 1\n    - a: 2\n\
                    other:\n  tag: \"q: r\"\n  text: |\n    tag: z\n---\nimage: x\n";
        assert!(!may_repeat(text.as_bytes()));
        let flow = "a: {b: 1, c: {b: \"x, y\", d: 'z'}, e: [b, \"\", {b: 1}, {b: 2}], }\n\
                    b: []\n- {a: 1, b: [a:b, c]}\n- {a: 2}\n- [a, {}]\n";
        assert!(!may_repeat(flow.as_bytes()));
    }

    #[test]
    fn what_may_have_a_key_twice_is_parsed() {
        let texts = [
            "a: 1\na: 2\n",
            "a:\n  b: 1\n  c: 2\n  b: 3\n",
            "- a: 1\n  a: 2\n",
            "a:\n- b: 1\n  b: 2\n",
            "a:\nb:\na:\n",
            "a: {b: 1, b: 2}\n",
            "- {b: 1, b: 2}\n",
            "a: [{b: 1,\n  b: 2}]\n",
            "a: {b: {c: 1, c: 2}}\n",
            "a: {b: {c: 1}, b: 2}\n",
            "a: [{b: 1}, {c: 1, c: 2}]\n",
            "a: {b: 'x''y', b: 1}\n",
            "a: {b: \"\\\"\", b: 1}\n",
            "a: {b: x, 'b': y}\n",
            "a: {b: x, on: y, true: z}\n",
            "a: {b: 1, ? b : 2}\n",
            "a: {b: 1} # {\n",
            "a: {b: *x}\n",
            "a: [b: 1, c]\n",
            "{a: 1, a: 2}\n",
            "[a]: b\n",
            "on: 1\ntrue: 2\n",
            "'a': 1\na: 2\n",
            "1: a\n1: b\n",
            "? a\n: 1\n? a\n: 2\n",
            "a : 1\na: 2\n",
            "a: &x\n  b: 1\n",
            "--- {a: 1, a: 2}\n",
            "a: 1\r\na: 2\r\n",
        ];
        for text in texts {
            assert!(may_repeat(text.as_bytes()), "{text}");
        }
    }
}
