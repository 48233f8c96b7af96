//! The index of messages, `docs/messages.md`, names texts that the product has: each is a text of `tests/cases/texts.txt`, or a
//! part of one, with `…` for what differs.

use crate::readme::text_of;

/// What git itself says; no text of ours.
const OF_GIT: [&str; 1] = ["deny updating a hidden ref"];

/// A text with `…` in place of each value.
fn plain(text: &str) -> String {
    let (mut plain, mut depth) = (String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '{' => {
                depth += 1;
                if !plain.ends_with('…') {
                    plain.push('…');
                }
            }
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    plain
}

/// The parts of a message between its values.
fn parts(message: &str) -> Vec<&str> {
    message.split('…').map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// Whether a text has the parts of a message, in their order.
fn has(text: &str, parts: &[&str]) -> bool {
    let mut rest = text;
    parts.iter().all(|part| {
        let found = rest.find(part);
        rest = found.map_or("", |at| &rest[at + part.len()..]);
        found.is_some()
    })
}

/// The messages of the index: the code in the first cells of its tables.
fn messages(page: &str) -> Vec<String> {
    let cells = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    let cells = cells.filter(|cell| cell.starts_with('`'));
    cells.map(|cell| cell.trim_matches(['`', ' ']).to_owned()).collect()
}

#[test]
fn every_message_of_the_index_is_a_text_of_the_product() {
    let texts = text_of("tests/cases/texts.txt");
    let texts: Vec<String> = texts.lines().map(plain).collect();
    let messages = messages(&text_of("docs/messages.md"));
    assert!(messages.len() > 80, "{}", messages.len());
    let unknown: Vec<&String> = messages
        .iter()
        .filter(|message| !OF_GIT.contains(&message.as_str()))
        .filter(|message| !texts.iter().any(|text| has(text, &parts(message))))
        .collect();
    assert!(unknown.is_empty(), "no text has these:\n{unknown:#?}");
}
