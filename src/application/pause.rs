//! The annotation by which an Application stays as it is.

use super::field::Content;
use super::mistake::Mistake;
use super::object::Object;

/// The annotation: `"true"` keeps the files of an Application as they are.
pub const PAUSED: &str = "git-hydrate/paused";

/// Whether the metadata of an Application have the annotation. What else its annotations are is nobody's business here.
pub(super) fn is_paused(metadata: &Object<'_>) -> bool {
    let Some(annotations) = metadata.entry("annotations") else { return false };
    let Content::Mapping(entries) = &annotations.field.content else { return false };
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
