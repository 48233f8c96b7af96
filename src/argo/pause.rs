//! The annotation by which an Application stays as it is.

use super::PAUSED;
use super::field::{Content, Entry};
use super::mistake::Mistake;
use super::object::{Object, UNKNOWN_MAX};

/// What our annotations begin with.
const PREFIX: &str = "git-hydrate/";

/// Whether the metadata of an Application have the annotation. Others of our prefix are misspelt; the rest is for others to
/// read.
pub(super) fn is_paused(metadata: &Object<'_>) -> bool {
    let Some(annotations) = metadata.entry("annotations") else { return false };
    let Content::Mapping(entries) = &annotations.field.content else { return false };
    let is_unknown = |entry: &&Entry| entry.key.starts_with(PREFIX) && entry.key != PAUSED;
    for entry in entries.iter().filter(is_unknown).take(UNKNOWN_MAX) {
        let parent = "metadata.annotations".to_owned();
        // It is the only one that there is.
        metadata.add(Mistake::Unknown { key: entry.key.clone(), parent, near: Some(PAUSED) }, &entry.key_place);
    }
    let Some(entry) = entries.iter().rev().find(|entry| entry.key == PAUSED) else { return false };
    let name = format!("metadata.annotations.{PAUSED}");
    match metadata.as_text(&entry.field, name).as_deref() {
        Some("true") => true,
        None | Some("false") => false,
        Some(text) => {
            metadata.add(Mistake::Paused { text: text.to_owned() }, &entry.field.place);
            false
        }
    }
}
