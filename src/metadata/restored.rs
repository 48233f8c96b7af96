//! What GitOps Promoter says of a commit that restores an earlier one of an active branch, in its message and in its note.
//!
//! Reference: GitOps Promoter 0.38 docs "Rolling back an environment", "Restoring by hand".

use std::collections::BTreeMap;

use super::trailers::{self, Divider};
use crate::argo::BranchName;
use crate::repo::ObjectId;

/// The ref of its notes on promotions.
pub(crate) const PROMOTIONS_REF: &str = "refs/notes/promoter.history";

/// The key, of the message and the note, that names what was restored.
const RESTORED_FROM: &str = "Promoter-restored-from";

/// The commit that a commit restores, by its note, or by its message where no note says anything.
pub(crate) fn restored_from(message: &str, note: Option<&[u8]>) -> Option<String> {
    let mut said = note.and_then(said_by).unwrap_or_else(|| values(message));
    said.remove(RESTORED_FROM)?.into_iter().next()
}

/// The commit that `git revert` says in a message that it takes back.
pub(crate) fn reverted(message: &str) -> Option<String> {
    const REVERTS: &str = "This reverts commit ";
    let rest = message.lines().find_map(|line| line.strip_prefix(REVERTS))?;
    Some(rest.chars().take_while(char::is_ascii_hexdigit).collect())
}

/// The message of a commit that restores `target`, whose own message is `message`, on an active branch.
pub(crate) fn restoring_message(branch: &BranchName, target: ObjectId, message: &str, reason: &str) -> String {
    let mut text = format!("Revert {branch} to {}\n\n{reason}\n\n", target.to_hex_with_len(7));
    let copied = values(message).into_iter().filter(|(key, _)| key != RESTORED_FROM);
    for (key, value) in copied.flat_map(|(key, values)| values.into_iter().map(move |value| (key.clone(), value))) {
        text.push_str(&format!("{key}: {value}\n"));
    }
    text + &format!("{RESTORED_FROM}: {target}\n")
}

/// The note of such a commit: that of `target`, where it is one, else what its message says.
pub(crate) fn restoring_note(target: ObjectId, message: &str, note: Option<&[u8]>) -> Vec<u8> {
    let mut note = note.and_then(said_by).unwrap_or_else(|| values(message));
    note.insert(RESTORED_FROM.to_owned(), vec![target.to_string()]);
    let mut text = serde_json::to_vec(&note).expect("a map of texts is JSON");
    text.push(b'\n');
    text
}

/// The trailers of a message, by key; those of one key in their order.
fn values(message: &str) -> BTreeMap<String, Vec<String>> {
    let mut values: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for trailer in trailers::parse(message, Divider::Ends) {
        values.entry(trailer.key).or_default().push(trailer.value);
    }
    values
}

/// What a note says, as Promoter reads one: lists of texts by key, and something.
fn said_by(note: &[u8]) -> Option<BTreeMap<String, Vec<String>>> {
    let said: Option<BTreeMap<String, Option<Vec<String>>>> = serde_json::from_slice(note).ok();
    let said = said?.into_iter().map(|(key, texts)| (key, texts.unwrap_or_default()));
    Some(said.collect()).filter(|said: &BTreeMap<_, _>| !said.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> ObjectId {
        crate::repo::object_id(&digit.to_string().repeat(40)).expect("an id")
    }

    const MESSAGE: &str =
        "Promote 1a2b3\n\nSha-dry-active: 1\nPull-request-id: 7\nSha-dry-active: 2\nPromoter-restored-from: 9\n";

    #[test]
    fn the_message_has_the_trailers_of_what_is_restored_and_names_it_last() {
        let branch = BranchName::new("env/prod").expect("a branch");
        let message = restoring_message(&branch, id('a'), MESSAGE, "payments fail");
        let expected = format!(
            "Revert env/prod to aaaaaaa\n\npayments fail\n\nPull-request-id: 7\nSha-dry-active: 1\nSha-dry-active: 2\n\
             Promoter-restored-from: {}\n",
            id('a')
        );
        assert_eq!(message, expected);
        assert_eq!(restored_from(&message, None), Some(id('a').to_string()));
    }

    #[test]
    fn a_revert_names_what_it_takes_back() {
        let rows = [
            ("Revert \"x\"\n\nThis reverts commit abc123.\n", Some("abc123")),
            ("Revert\n\nThis reverts commit abc123, reversing\nchanges made to def456.\n", Some("abc123")),
            ("Promote\n\nIt says: This reverts commit abc123.\n", None),
            ("", None),
        ];
        for (message, expected) in rows {
            assert_eq!(reverted(message).as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn the_note_is_that_of_what_is_restored_else_its_trailers() {
        let text = |note: Option<&str>, message| {
            String::from_utf8(restoring_note(id('a'), message, note.map(str::as_bytes))).expect("UTF-8")
        };
        let from = format!("\"Promoter-restored-from\":[\"{}\"]", id('a'));
        let of_note = format!("{{\"A\":[\"1\"],{from},\"Z\":[\"2\"]}}\n");
        assert_eq!(text(Some("{\"Z\":[\"2\"],\"A\":[\"1\"]}"), MESSAGE), of_note);
        let of_message = format!("{{{from},\"Pull-request-id\":[\"7\"],\"Sha-dry-active\":[\"1\",\"2\"]}}\n");
        // Promoter reads none of these.
        for none in [None, Some("{}"), Some("[]"), Some("text"), Some("{\"A\":\"1\"}"), Some("{\"A\":[1]}")] {
            assert_eq!(text(none, MESSAGE), of_message, "{none:?}");
        }
        assert_eq!(restored_from("text\n", Some(of_note.as_bytes())), Some(id('a').to_string()));
        assert_eq!(restored_from("text\n", Some(b"{}")), None);
        // A note that says something else counts alone, as it does to Promoter.
        let message = format!("text\n\nPromoter-restored-from: {}\n", id('b'));
        assert_eq!(restored_from(&message, Some(b"{\"A\":[\"1\"]}")), None);
        assert_eq!(restored_from(&message, Some(b"{}")), Some(id('b').to_string()));
    }
}
