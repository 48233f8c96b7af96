//! What sets the replicas of a workload in the cluster.

use super::{Placed, number, word};
use crate::manifest::Manifest;

/// A HorizontalPodAutoscaler, or a ScaledObject of KEDA.
///
/// Reference: kubernetes docs/reference/kubernetes-api/workload-resources/horizontal-pod-autoscaler-v2;
/// keda.sh docs/latest/reference/scaledobject-spec.
#[derive(Debug, Clone, Copy)]
pub(in crate::diff) struct Autoscaler<'a> {
    /// The object.
    pub placed: Placed<'a>,
    /// Kind and name of what it scales.
    pub target: (&'a str, &'a str),
    /// The fewest Pods that it keeps.
    pub minimum: i64,
}

impl<'a> Autoscaler<'a> {
    pub(in crate::diff) fn of(placed: Placed<'a>) -> Option<Self> {
        let object = placed.manifest.object();
        let target = |key| word(object, &["spec", "scaleTargetRef", key]);
        let (kind, minimum) = match (placed.manifest.home_group(), placed.manifest.kind()) {
            ("autoscaling", "HorizontalPodAutoscaler") => (target("kind"), ("minReplicas", 1)),
            ("keda.sh", "ScaledObject") if target("kind").is_empty() => ("Deployment", ("minReplicaCount", 0)),
            ("keda.sh", "ScaledObject") => (target("kind"), ("minReplicaCount", 0)),
            _ => return None,
        };
        let minimum = number(object, &["spec", minimum.0]).unwrap_or(minimum.1);
        Some(Self { placed, target: (kind, target("name")), minimum })
    }

    pub(in crate::diff) fn scales(&self, workload: &Manifest) -> bool {
        self.target == (workload.kind(), workload.name())
    }
}
