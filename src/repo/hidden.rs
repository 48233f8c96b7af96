//! Refs that git refuses pushes to, and does not show who pushes.

use super::Repository;

/// The keys in git's configuration with the refs that are hidden from pushes.
const KEYS: [&str; 2] = ["transfer.hideRefs", "receive.hideRefs"];

/// The values by which a repository hides refs from pushes, in their order.
pub(crate) fn hidden_from_pushes(repository: &Repository) -> Vec<String> {
    KEYS.iter().flat_map(|key| repository.config_list(key)).collect()
}

/// Whether git hides a ref: the last value that names it or a directory above it decides.
///
/// Reference: git 2.47 refs.c `ref_is_hidden`.
pub(crate) fn is_hidden(name: &str, values: &[String]) -> bool {
    let decides = |value: &&String| {
        let pattern = value.trim_start_matches(['!', '^']).trim_end_matches('/');
        name.strip_prefix(pattern).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    values.iter().rev().find(decides).is_some_and(|value| !value.starts_with('!'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_decides() {
        let rows: [(&[&str], &str, bool); 7] = [
            (&[], "refs/heads/a", false),
            (&["refs/heads/a"], "refs/heads/a", true),
            (&["refs/heads/a"], "refs/heads/a/b", true),
            (&["refs/heads/a/"], "refs/heads/a/b", true),
            (&["refs/heads/a"], "refs/heads/ab", false),
            (&["refs/hydrate", "!refs/hydrate/config"], "refs/hydrate/config", false),
            (&["!refs/hydrate/config", "refs/hydrate"], "refs/hydrate/config", true),
        ];
        for (values, name, expected) in rows {
            let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
            assert_eq!(is_hidden(name, &values), expected, "{values:?} {name}");
        }
    }
}
