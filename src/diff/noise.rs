//! Changes that only follow from others and tell nothing of their own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use go_yaml::Value;

use super::Sides;
use super::pair::Pair;
use super::path::FieldPath;

/// Why a change is not worth a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Noise {
    /// A label that names the version of the chart or of what it installs.
    ChartLabel,
    /// A digest of something else in the manifests, put there so that Pods restart with it.
    Checksum,
    /// The name of a ConfigMap or Secret with a digest of its content in it.
    GeneratedName,
    /// The id of the dry commit.
    DryCommit,
    /// A namespace that an object names which is of the whole cluster.
    Namespace,
}

impl std::fmt::Display for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Noise::ChartLabel => "chart labels",
            Noise::Checksum => "checksums",
            Noise::GeneratedName => "generated names",
            Noise::DryCommit => "the dry commit's id",
            Noise::Namespace => "namespaces of cluster-scoped objects",
        })
    }
}

/// Labels that change with each version of a chart.
const CHART_LABELS: [&str; 3] = ["helm.sh/chart", "chart", "app.kubernetes.io/version"];

/// How short ids of commits are.
const SHORT: usize = 7;

/// What is in the name of a label or an annotation that has a digest.
const DIGESTS: [&str; 2] = ["checksum", "hash"];

/// Whether a label or annotation of this name may be noise.
fn may_be_noise(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    CHART_LABELS.contains(&key.as_str()) || DIGESTS.iter().any(|word| key.contains(word))
}

/// Which labels that may be noise a selector names, before or after, among the objects of destination paths that change: a label
/// that something selects by decides whom a Service or a NetworkPolicy reaches, or which rights a role has.
pub(super) struct Selected<'a> {
    sides: &'a [Sides],
    named: OnceLock<Named>,
}

#[derive(Default)]
struct Named {
    labels: BTreeSet<String>,
    /// Selectors that are texts, as Calico has them.
    texts: BTreeSet<String>,
}

impl<'a> Selected<'a> {
    pub(super) fn new(sides: &'a [Sides]) -> Self {
        Self { sides, named: OnceLock::new() }
    }

    /// Looks through all objects the first time.
    fn has(&self, label: &str) -> bool {
        let named = self.named.get_or_init(|| {
            let mut found = Named::default();
            for manifest in self.sides.iter().flat_map(|side| side.old.iter().chain(&side.new)) {
                add_selected(manifest.object(), &mut found);
            }
            found
        });
        named.labels.contains(label) || named.texts.iter().any(|text| text.contains(label))
    }
}

/// Adds the labels that selectors in a value name: keys of `matchLabels`, of what is called a selector, and of the `labels` of one
/// or of a subset; keys of expressions; and words of a selector that is a text.
fn add_selected(value: &Value, found: &mut Named) {
    let mut open = vec![("", value)];
    while let Some((of, value)) = open.pop() {
        match value {
            Value::Sequence(items) => open.extend(items.iter().map(|item| (of, item))),
            Value::Mapping(mapping) => {
                for (key, value) in mapping {
                    let is_selector = key == "matchLabels"
                        || key == "labels" && of != "metadata"
                        || key.to_ascii_lowercase().ends_with("selector");
                    match value {
                        Value::Mapping(labels) if is_selector => {
                            found.labels.extend(labels.keys().filter(|label| may_be_noise(label)).cloned());
                        }
                        Value::String(text) if key == "key" && may_be_noise(text) => {
                            found.labels.insert(text.clone());
                        }
                        Value::String(text) if is_selector => {
                            found.texts.insert(text.clone());
                        }
                        _ => {}
                    }
                    open.push((key, value));
                }
            }
            _ => {}
        }
    }
}

/// How long a digest is at least, or a part of one.
const DIGEST_MIN: usize = 8;

/// How many characters a text has at least that is a digest in capital and small letters.
const MIXED_MIN: usize = 16;

/// Whether a text is a digest, or a part of one: digits and letters in turn, not a word or a number that a person wrote.
fn is_digest(text: &str) -> bool {
    // `sha256:` or `sha256-` comes before some.
    let bare = match text.split_once([':', '-']) {
        Some((sort, bare)) if sort.starts_with("sha") || sort == "md5" => bare,
        _ => text,
    };
    let bare = bare.trim_end_matches('=');
    let is_hex = bare.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_mixed = bare.len() >= MIXED_MIN && bare.bytes().any(|byte| byte.is_ascii_uppercase());
    let is_of_digest = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' => true,
        b'A'..=b'Z' => is_hex || is_mixed,
        b'+' | b'/' | b'_' => is_mixed,
        _ => false,
    };
    let turns = bare.as_bytes().windows(2);
    let turns = turns.filter(|pair| matches!(pair, [a, b] if a.is_ascii_digit() != b.is_ascii_digit())).count();
    bare.len() >= DIGEST_MIN && bare.bytes().all(is_of_digest) && turns >= if is_hex { 1 } else { 2 }
}

/// What echoes through the manifests of one path.
pub(super) struct Echoes<'a> {
    names: BTreeMap<String, String>,
    dry_commits: Option<(String, String)>,
    selected: &'a Selected<'a>,
}

impl<'a> Echoes<'a> {
    pub(super) fn new(pairs: &[Pair<'_>], dry_commits: Option<&(String, String)>, selected: &'a Selected<'a>) -> Self {
        let renamed = pairs.iter().filter(|pair| pair.renamed).filter_map(|pair| pair.old.zip(pair.new));
        Self {
            names: renamed.map(|(old, new)| (old.name().to_owned(), new.name().to_owned())).collect(),
            dry_commits: dry_commits.cloned().filter(|(old, new)| old != new),
            selected,
        }
    }

    /// Why this change is not worth a look, if it is not.
    ///
    /// Only what is replaced can be noise: a label that comes or goes is a decision, and so is one that something selects by.
    /// Labels of `volumeClaimTemplates` cannot be changed in a cluster, so there they are not noise.
    pub(super) fn noise(&self, path: &FieldPath, old: Option<&Value>, new: Option<&Value>) -> Option<Noise> {
        let (Some(Value::String(old)), Some(Value::String(new))) = (old, new) else { return None };
        let keys = path.keys();
        if let [outer @ .., "metadata", sort @ ("labels" | "annotations"), key] = &keys[..]
            && !outer.contains(&"volumeClaimTemplates")
        {
            if *sort == "labels" && may_be_noise(key) && self.selected.has(key) {
                return None;
            }
            if *sort == "labels" && CHART_LABELS.contains(key) {
                return Some(Noise::ChartLabel);
            }
            if is_digest(old) && is_digest(new) && may_be_noise(key) && !CHART_LABELS.contains(key) {
                return Some(Noise::Checksum);
            }
        }
        if self.names.get(old).is_some_and(|name| name == new) {
            return Some(Noise::GeneratedName);
        }
        let (before, after) = self.dry_commits.as_ref()?;
        let mut echoed = old.replace(before, after);
        if let (Some(before), Some(after)) = (before.get(..SHORT), after.get(..SHORT)) {
            echoed = echoed.replace(before, after);
        }
        (echoed == *new).then_some(Noise::DryCommit)
    }
}

#[cfg(test)]
mod tests {
    use super::is_digest;

    #[test]
    fn digests_are_no_words_and_no_numbers() {
        for text in [
            "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
            "sha256:b5bb9d8014a0f9b1d61e21e796d78dcc",
            "0123456789abcdef",
            "d41d8cd9",
            "6d4cf56db6",
            "m9h6c7bk2f",
            "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        ] {
            assert!(is_digest(text), "{text}");
        }
        for text in [
            "1",
            "r1",
            "arg1",
            "3",
            "sha512",
            "20240101",
            "release2024",
            "upstream",
            "$request_uri",
            "10.0.0.1/24",
            "blue-2",
        ] {
            assert!(!is_digest(text), "{text}");
        }
    }
}
