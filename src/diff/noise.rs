//! Changes that only follow from others and tell nothing of their own.

use std::collections::BTreeMap;

use go_yaml::Value;

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
}

impl std::fmt::Display for Noise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Noise::ChartLabel => "chart labels",
            Noise::Checksum => "checksums",
            Noise::GeneratedName => "generated names",
            Noise::DryCommit => "the dry commit's id",
        })
    }
}

/// Labels that change with each version of a chart.
const CHART_LABELS: [&str; 3] = ["helm.sh/chart", "chart", "app.kubernetes.io/version"];

/// How short ids of commits are.
const SHORT: usize = 7;

/// What echoes through the manifests of one path.
pub(super) struct Echoes {
    names: BTreeMap<String, String>,
    dry_commits: Option<(String, String)>,
}

impl Echoes {
    pub(super) fn new(pairs: &[Pair<'_>], dry_commits: Option<&(String, String)>) -> Self {
        let renamed = pairs.iter().filter(|pair| pair.renamed).filter_map(|pair| pair.old.zip(pair.new));
        Self {
            names: renamed.map(|(old, new)| (old.name().to_owned(), new.name().to_owned())).collect(),
            dry_commits: dry_commits.cloned().filter(|(old, new)| old != new),
        }
    }

    /// Why this change is not worth a look, if it is not.
    ///
    /// Only what is replaced can be noise: a label that comes or goes is a decision. Labels of
    /// `volumeClaimTemplates` cannot be changed in a cluster, so there they are not noise.
    pub(super) fn noise(&self, path: &FieldPath, old: Option<&Value>, new: Option<&Value>) -> Option<Noise> {
        let (Some(Value::String(old)), Some(Value::String(new))) = (old, new) else { return None };
        let keys = path.keys();
        if let [outer @ .., "metadata", sort @ ("labels" | "annotations"), key] = &keys[..]
            && !outer.contains(&"volumeClaimTemplates")
        {
            if *sort == "labels" && CHART_LABELS.contains(key) {
                return Some(Noise::ChartLabel);
            }
            let key = key.to_ascii_lowercase();
            if key.contains("checksum") || key.contains("hash") {
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
