//! Names that are nearly others: what was meant by a field that nobody knows.

/// How far a name may be from the one that was meant, by the length of the latter: in very short names, two edits make any
/// name of any other.
const fn edits_max(len: usize) -> usize {
    match len {
        0..=2 => 0,
        3 | 4 => 1,
        _ => 2,
    }
}

/// The name of `known` that `key` is a near miss of: the same but for case, or two edits away (one for names of three or
/// four letters, none for shorter ones).
///
/// An edit adds, takes away or replaces a character, or swaps two neighbours (Damerau-Levenshtein); case never counts. Of
/// several names the nearest; none when `key` is one of them.
pub(crate) fn near<'k>(key: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&key) {
        return None;
    }
    let len = key.chars().count();
    let mut close = known.iter().filter(|name| len.abs_diff(name.len()) <= edits_max(name.len())).peekable();
    close.peek()?;
    let lower = key.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let nearest = close.map(|name| (distance(name), *name)).min()?;
    (nearest.0 <= edits_max(nearest.1.len())).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let helm = ["valueFiles", "values", "valuesObject", "parameters", "releaseName", "skipCrds", "namespace"];
        let rows: &[(&str, &[&str], Option<&str>)] = &[
            ("valuesFiles", &helm, Some("valueFiles")),
            ("valuesFile", &helm, Some("valueFiles")),
            ("valueFiles", &helm, None),
            ("valesuFiels", &helm, None),
            ("ValueFiles", &helm, Some("valueFiles")),
            ("skipCRDs", &helm, Some("skipCrds")),
            ("SKIPCRD", &helm, Some("skipCrds")),
            ("value", &helm, Some("values")),
            ("name", &helm, None),
            ("relaeseNmae", &helm, Some("releaseName")),
            ("release", &helm, None),
            // Short names: one edit, or case.
            ("ref", &["env"], None),
            ("en", &["env"], Some("env")),
            ("evn", &["env"], Some("env")),
            ("ENV", &["env"], Some("env")),
            ("envs", &["env"], Some("env")),
            ("map", &["name"], None),
            ("same", &["name", "path"], Some("name")),
            ("pth", &["path"], Some("path")),
            ("pt", &["path"], None),
            ("Id", &["id"], Some("id")),
            ("is", &["id"], None),
            ("", &["id", "env"], None),
            ("s\u{43e}urceHydrator", &["sourceHydrator"], Some("sourceHydrator")),
        ];
        for (key, known, expected) in rows {
            assert_eq!(near(key, known), *expected, "{key:?} {known:?}");
        }
        assert_eq!(near(&"x".repeat(1 << 20), &helm), None);
    }
}
