//! Finds the nearest known name, for "did you mean" and for branches that are nearly others.

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

/// Whether a branch was probably meant to be `other`: one word of it has one letter more or less, or two neighbours
/// swapped; words of five letters and more may have another letter too; or all words are the same but for case. Digits never make
/// the difference, and words of one or two letters, such as `eu`, are different ones.
pub(crate) fn is_near_branch(branch: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> { name.split(BETWEEN_WORDS).map(str::to_lowercase).collect() };
    let between = |name: &str| name.chars().filter(|c| BETWEEN_WORDS.contains(c)).collect::<String>();
    let (a, b) = (words(branch), words(other));
    if a.len() != b.len() || between(branch) != between(other) {
        return false;
    }
    let differing: Vec<(&String, &String)> = a.iter().zip(&b).filter(|(a, b)| a != b).collect();
    match &differing[..] {
        [] => branch != other,
        [(a, b)] => is_near_word(a, b),
        _ => false,
    }
}

/// Whether a file was probably meant to be `other`, in the same directory: its words in another order or with other characters
/// between them, one of them shortened (`prod` and `production`) or written as [`is_near_branch`] lets it be, or another ending for
/// YAML. `eu` is not nearly `us`.
pub(crate) fn is_near_file(name: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<String> {
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_lowercase();
        stem.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect()
    };
    let (a, b) = (words(name), words(other));
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort();
        words
    };
    if sorted(&a) == sorted(&b) {
        return name != other;
    }
    let mut differing = a.iter().zip(&b).filter(|(a, b)| a != b);
    match (a.len() == b.len(), differing.next(), differing.next()) {
        (true, Some((a, b)), None) => is_near_word(a, b) || is_short_for(a, b) || is_short_for(b, a),
        _ => false,
    }
}

/// Whether a word begins another one: `prod` and `production`, not `a` and `api`, nor `v1` and `v12`.
fn is_short_for(short: &str, long: &str) -> bool {
    short.len() >= 3 && long.strip_prefix(short).is_some_and(|rest| rest.chars().all(char::is_alphabetic))
}

/// What is between the words of a branch.
const BETWEEN_WORDS: [char; 4] = ['/', '-', '_', '.'];

fn is_near_word(a: &str, b: &str) -> bool {
    let digits = |word: &str| word.chars().filter(char::is_ascii_digit).collect::<String>();
    let (short, long) = (a.chars().count().min(b.chars().count()), a.chars().count().max(b.chars().count()));
    let is_edit = strsim::damerau_levenshtein(a, b) == 1;
    let is_other_letter = short == long && strsim::levenshtein(a, b) == 1;
    short >= 3 && long - short <= 1 && digits(a) == digits(b) && is_edit && (!is_other_letter || long >= 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_branch_was_meant() {
        let rows = [
            ("enviroments/dev", "environments/dev", true),
            ("environments/dve", "environments/dev", true),
            ("environments/prd", "environments/prod", true),
            ("environmints/dev", "environments/dev", true),
            ("environments/dev", "environments/dev", false),
            ("environments/Dev", "environments/dev", true),
            ("Environments/DEV", "environments/dev", true),
            ("environments/dev2", "environments/dev", false),
            ("environments/cluster-1", "environments/cluster-2", false),
            ("environments/cluster-a", "environments/cluster-b", false),
            ("environments/dev-eu", "environments/dev-us", false),
            ("environments/qa", "environments/dev", false),
            ("environments/dev", "environments/de", false),
            ("environments/north", "environments/south", false),
            ("environments/bos", "environments/bom", false),
            ("environments/dev-next", "environments/dev", false),
            ("environments-dev", "environments/dev", false),
            ("enviroments/dve", "environments/dev", false),
        ];
        for (branch, other, expected) in rows {
            assert_eq!(is_near_branch(branch, other), expected, "{branch} {other}");
        }
    }

    #[test]
    fn which_file_was_meant() {
        let rows = [
            ("values-production.yaml", "values-prod.yaml", true),
            ("values-dev.yaml", "values-development.yaml", true),
            ("values-prod.yml", "values-prod.yaml", true),
            ("values.prod.yaml", "values-prod.yaml", true),
            ("prod-values.yaml", "values-prod.yaml", true),
            ("value-prod.yaml", "values-prod.yaml", true),
            ("Values.yaml", "values.yaml", true),
            ("values-prod.yaml", "values-dev.yaml", false),
            ("values-eu.yaml", "values-us.yaml", false),
            ("values-prod.yaml", "values.yaml", false),
            ("values-prod-eu.yaml", "values-prod.yaml", false),
            ("values-cluster1.yaml", "values-cluster2.yaml", false),
            ("values-cluster.yaml", "values-cluster2.yaml", false),
        ];
        for (name, other, expected) in rows {
            assert_eq!(is_near_file(name, other), expected, "{name} {other}");
        }
    }

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
