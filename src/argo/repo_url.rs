//! The `repoURL` of an Application.

use dry_files::diag::is_unprintable;

use super::field::Place;
use super::mistake::Mistake;
use super::object::Object;

/// A URL goes into `git clone` of a README and into metadata that others read. None only after a mistake was noted.
pub(super) fn checked_url<'a>(object: &Object<'_>, text: String, place: &'a Place) -> Option<(String, &'a Place)> {
    let odd = text.chars().find(|&c| is_unprintable(c) || c.is_whitespace());
    match odd.or_else(|| text.starts_with('-').then_some('-')) {
        None => Some((text, place)),
        Some(character) => {
            object.add(Mistake::RepoUrl { text, character }, place);
            None
        }
    }
}
