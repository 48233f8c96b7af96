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

/// Which of the [`CHART_LABELS`] a selector names, before or after, among the objects of destination paths that change: a label
/// that something selects by decides whom a Service or a NetworkPolicy reaches, or which rights a role has.
pub(super) struct Selected<'a> {
    sides: &'a [Sides],
    labels: OnceLock<BTreeSet<&'static str>>,
}

impl<'a> Selected<'a> {
    pub(super) fn new(sides: &'a [Sides]) -> Self {
        Self { sides, labels: OnceLock::new() }
    }

    /// Looks through all objects the first time.
    fn has(&self, label: &str) -> bool {
        let labels = self.labels.get_or_init(|| {
            let mut found = BTreeSet::new();
            for manifest in self.sides.iter().flat_map(|side| side.old.iter().chain(&side.new)) {
                add_selected(manifest.object(), &mut found);
            }
            found
        });
        labels.contains(label)
    }
}

/// Adds the labels that selectors in a value name: keys of `matchLabels` and of what is called a selector, keys of expressions,
/// and words of a selector that is a text.
fn add_selected(value: &Value, found: &mut BTreeSet<&'static str>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Sequence(items) => open.extend(items),
            Value::Mapping(mapping) => {
                for (key, value) in mapping {
                    let is_selector = key == "matchLabels" || key.to_ascii_lowercase().ends_with("selector");
                    let names = |label: &&str| match value {
                        Value::Mapping(labels) => is_selector && labels.contains_key(*label),
                        Value::String(text) if key == "key" => text == *label,
                        Value::String(text) => is_selector && text.contains(*label),
                        _ => false,
                    };
                    found.extend(CHART_LABELS.iter().copied().filter(names));
                    open.push(value);
                }
            }
            _ => {}
        }
    }
}

/// Whether a text may be a digest, or a part of one: what has other characters, or no digit at all, is written by hand.
fn may_be_digest(text: &str) -> bool {
    let is_of_digest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'=' | b':' | b'-' | b'_' | b'+');
    text.bytes().all(is_of_digest) && text.bytes().any(|byte| byte.is_ascii_digit())
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
            if *sort == "labels" && CHART_LABELS.contains(key) {
                return (!self.selected.has(key)).then_some(Noise::ChartLabel);
            }
            let key = key.to_ascii_lowercase();
            let is_digest = may_be_digest(old) && may_be_digest(new);
            if is_digest && (key.contains("checksum") || key.contains("hash")) {
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
