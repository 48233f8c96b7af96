//! The annotation by which an Application stays as it is.

use super::PAUSED;
use super::field::{Content, Entry, Place};
use super::mistake::Mistake;
use super::object::{Object, UNKNOWN_MAX};

/// What our annotations begin with.
const PREFIX: &str = "git-hydrate/";

/// Where the metadata of an Application have the annotation; none where it is not paused. Others of our prefix are misspelt; the
/// rest is for others to read.
pub(super) fn paused_at<'m>(metadata: &'m Object<'_>) -> Option<&'m Place> {
    let annotations = metadata.entry("annotations")?;
    let Content::Mapping(entries) = &annotations.field.content else { return None };
    let is_unknown = |entry: &&Entry| entry.key.starts_with(PREFIX) && entry.key != PAUSED;
    for entry in entries.iter().filter(is_unknown).take(UNKNOWN_MAX) {
        let parent = "metadata.annotations".to_owned();
        // It is the only one that there is.
        metadata.add(
            Mistake::Unknown { key: entry.key.clone(), parent, near: Some(PAUSED), is_required: false },
            &entry.key_place,
        );
    }
    let entry = entries.iter().rev().find(|entry| entry.key == PAUSED)?;
    let name = format!("metadata.annotations.{PAUSED}");
    match metadata.as_text(&entry.field, name).as_deref() {
        Some("true") => Some(&entry.key_place),
        None | Some("false") => None,
        Some(text) => {
            metadata.add(Mistake::Paused { text: text.to_owned() }, &entry.field.place);
            None
        }
    }
}
