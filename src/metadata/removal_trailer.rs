//! The trailer of a dry commit that allows a removal, and lines that were meant to be it.

use std::collections::BTreeSet;

use super::trailers::{self, Divider, Trailer};
use dry_files::diag::{Diagnostic, clipped};

/// Its key.
pub(crate) const KEY: &str = "Hydrate-Allow-Removal";

/// How long a key may be to be compared with it, in bytes.
const KEY_BYTES_MAX: usize = 64;

/// The branches that a dry commit allows to be emptied: those of its trailers `Hydrate-Allow-Removal`.
pub fn allowed_removals(message: &str) -> BTreeSet<String> {
    let named = |trailer: &Trailer| trailer.key.eq_ignore_ascii_case(KEY);
    trailers::parse(message, Divider::IsText).into_iter().filter(named).map(|trailer| trailer.value).collect()
}

/// A warning of the first line that was meant to allow a removal and allows none: its key is misspelt, or it is no trailer.
pub(crate) fn misspelt_removal(message: &str) -> Option<Diagnostic> {
    let allowed = allowed_removals(message);
    let lines = message.lines().filter_map(|line| line.split_once(':'));
    let lines = lines.map(|(key, value)| (key.trim_end(), value.trim())).filter(|(_, value)| !value.is_empty());
    for (key, value) in lines {
        let (what, hint) = if key.eq_ignore_ascii_case(KEY) {
            if allowed.contains(value) {
                continue;
            }
            let hint = "write it at the end of the message, in a paragraph that has nothing but trailers";
            (" there", hint.to_owned())
        } else if key.len() <= KEY_BYTES_MAX && is_near(key) {
            ("", format!("did you mean `{KEY}: {value}`?"))
        } else {
            continue;
        };
        let text = format!("`{key}: {value}` in the message of this commit allows nothing{what}");
        return Some(Diagnostic::warning(clipped(text)).hint(clipped(hint)));
    }
    None
}

/// A warning of the first trailer that allows a removal from none of the branches that are known.
pub(crate) fn unknown_removal(message: &str, known: &BTreeSet<&str>) -> Option<Diagnostic> {
    let value = allowed_removals(message).into_iter().find(|value| !known.contains(value.as_str()))?;
    let is_meant = |name: &&&str| {
        name.rsplit('/').next() == Some(value.as_str()) || strsim::damerau_levenshtein(name, &value) <= 2
    };
    let mut meant = known.iter().filter(is_meant);
    let hint = match (meant.next(), meant.next()) {
        (Some(name), None) => format!("did you mean `{KEY}: {name}`?"),
        _ => format!("the environment branches are {}", known.iter().copied().collect::<Vec<_>>().join(", ")),
    };
    let text = format!("`{KEY}: {value}` in the message of this commit allows nothing: it names no environment branch");
    Some(Diagnostic::warning(clipped(text)).hint(clipped(hint)))
}

/// Whether a key has two of the words of [`KEY`], or what is nearly one, and no other word.
fn is_near(key: &str) -> bool {
    let words: Vec<String> = words(key);
    let meant: Vec<Option<&str>> = words.iter().map(|word| meant(word)).collect();
    let has = |known: &str| meant.contains(&Some(known));
    let count = ["hydrate", "allow", "remov"].into_iter().filter(|known| has(known)).count();
    count >= 2 && meant.iter().all(Option::is_some)
}

/// The words of a key, which begin with a capital or after what is no letter.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        was_small = c.is_lowercase();
        if let Some(last) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            last.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Which word of [`KEY`] is meant.
fn meant(word: &str) -> Option<&'static str> {
    let distance = |known| strsim::damerau_levenshtein(word, known);
    match () {
        () if word.starts_with("remov") || distance("removal") <= 2 => Some("remov"),
        () if distance("hydrate") <= 2 => Some("hydrate"),
        () if distance("allow") <= 1 || word == "allowed" => Some("allow"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_with_a_name_of_no_branch_is_told_which_was_meant() {
        let known = BTreeSet::from(["environments/dev", "environments/prod"]);
        let rows = [
            ("environments/prod", None),
            ("prod", Some("did you mean `Hydrate-Allow-Removal: environments/prod`?")),
            ("environments/prd", Some("did you mean `Hydrate-Allow-Removal: environments/prod`?")),
            ("web", Some("the environment branches are environments/dev, environments/prod")),
        ];
        for (value, expected) in rows {
            let message = format!("x\n\nHydrate-Allow-Removal: {value}");
            let hint = unknown_removal(&message, &known).and_then(|warning| warning.hint);
            assert_eq!(hint.as_deref(), expected, "{value}");
        }
        assert_eq!(unknown_removal("x", &known), None);
    }

    #[test]
    fn lines_that_were_meant_to_allow_a_removal_are_named() {
        let misspelt = Some("did you mean `Hydrate-Allow-Removal: environments/prod`?");
        let elsewhere = Some("write it at the end of the message, in a paragraph that has nothing but trailers");
        let rows = [
            ("x\n\nHydrate-Allow-Removal: environments/prod", None),
            ("x\n\nhydrate-allow-removal: environments/prod", None),
            ("x\n\nHydrate-Removal: environments/prod", misspelt),
            ("x\n\nHydrate-Alow-Removal: environments/prod", misspelt),
            ("x\n\nHydrate-Allow-Removals: environments/prod", misspelt),
            ("x\n\nHydrate-Allow-Remove: environments/prod", misspelt),
            ("x\n\nHydrate-Removal-Allow: environments/prod", misspelt),
            ("x\n\nHydrate_Allow_Removal: environments/prod", misspelt),
            ("x\n\nHydrateAllowRemoval: environments/prod", misspelt),
            ("x\n\nAllow-Removal: environments/prod", misspelt),
            ("x\n\nHydarte-Allow-Removal: environments/prod", misspelt),
            ("x\n\nHydrate Allow Removal: environments/prod", misspelt),
            ("Hydrate-Allow-Removal: environments/prod\n\nand a reason for it that is text", elsewhere),
            ("Removal: of the cache", None),
            ("feat(hydrate): allow it", None),
            ("Hydrate: allow the removal of web", None),
            ("Removal allowed by policy: yes", None),
            ("x\n\nHydrate-Allow-Removal:", None),
            ("x\n\nCo-authored-by: Hydrate <a@example.com>", None),
        ];
        for (message, expected) in rows {
            let hint = misspelt_removal(message).and_then(|warning| warning.hint);
            assert_eq!(hint.as_deref(), expected, "{message}");
        }
    }
}
