//! The trailer of a dry commit that takes an environment back, as `git hydrate rollback --dry` makes it.

use super::trailers::{self, Divider};
use crate::repo::{ObjectId, object_id};

/// Its key. The value is the full id of the hydrated commit whose manifests come back, then the Applications that go back alone.
const KEY: &str = "Hydrate-Back-To";

/// The trailer, as a line.
pub(crate) fn back_to(at: ObjectId, applications: &[String]) -> String {
    let names: String = applications.iter().map(|name| format!(" {name}")).collect();
    format!("{KEY}: {at}{names}\n")
}

/// Where a dry commit with this message takes an environment back to, and which Applications; all of it when none are named.
pub(crate) fn went_back(message: &str) -> Option<(ObjectId, Vec<String>)> {
    let trailer = trailers::parse(message, Divider::IsText).into_iter().find(|trailer| trailer.key == KEY)?;
    let mut words = trailer.value.split_whitespace();
    let at = object_id(words.next()?)?;
    Some((at, words.map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let at = object_id("0123456789abcdef0123456789abcdef01234567").expect("an id");
        for names in [&[][..], &["web".to_owned(), "argocd/db".to_owned()]] {
            let message = format!("Roll back\n\nwhy\n\n{}Hydrate-Allow-Removal: prod\n", back_to(at, names));
            assert_eq!(went_back(&message), Some((at, names.to_vec())));
        }
        assert_eq!(went_back("Roll back\n\nHydrate-Back-To: main\n"), None);
        assert_eq!(went_back("Roll back\n"), None);
    }
}
