//! Two versions of an object that git has, compared as the API server would read them.

use go_yaml::{Mapping, Value};

use super::{Cluster, is_built_in, settled};
use crate::manifest::Manifest;

/// Two versions of an object as the API server reads them: what only one of them has goes from it where that is a
/// default or nothing, and a quantity is written as in the other.
///
/// What a cluster fills in with a value that nothing says is a difference here.
pub(in crate::diff) fn as_read(old: &Manifest, new: &Manifest) -> [Manifest; 2] {
    let [old, new] = with_selectors([old, new].map(without_nulls));
    let once = settled((&old, &new), &Cluster::default(), false);
    let twice = settled((&once.rendered, &once.running), &Cluster::default(), false);
    [twice.rendered, twice.running]
}

/// Whether a version of a workload may leave out its selector, and may change it.
///
/// Reference: kubernetes 1.15 pkg/apis/apps/v1beta1/defaults.go, pkg/apis/extensions/v1beta1/defaults.go (the labels of the Pods),
/// pkg/registry/apps/deployment/strategy.go `ValidateUpdate`; docs/reference/using-api/deprecation-guide, v1.16.
pub(in crate::diff) fn selects_by_default(workload: &Manifest) -> bool {
    let is_workload = matches!(workload.kind(), "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet");
    is_workload && matches!(workload.api_version(), "apps/v1beta1" | "extensions/v1beta1")
}

/// Gives the workloads of versions that may leave out their selector the one that the API server gives them.
fn with_selectors([old, new]: [Manifest; 2]) -> [Manifest; 2] {
    let lacks = |one: &Manifest| selects_by_default(one) && one.object().at(&["spec", "selector"]).is_none();
    let old = match lacks(&old) {
        true => with_selector(&old, labels_of_pods(&old)),
        false => old,
    };
    // What does not name a selector keeps the one that there is.
    let kept = old.object().at(&["spec", "selector"]).cloned();
    let new = match lacks(&new) {
        true => with_selector(&new, kept.or_else(|| labels_of_pods(&new))),
        false => new,
    };
    [old, new]
}

fn labels_of_pods(workload: &Manifest) -> Option<Value> {
    let labels = workload.object().at(&["spec", "template", "metadata", "labels"])?;
    Some(Value::Mapping(Mapping::from([("matchLabels".to_owned(), labels.clone())])))
}

fn with_selector(workload: &Manifest, selector: Option<Value>) -> Manifest {
    let mut object = workload.object().clone();
    if let (Some(selector), Value::Mapping(fields)) = (selector, &mut object)
        && let Some(Value::Mapping(spec)) = fields.get_mut("spec")
    {
        spec.insert("selector".to_owned(), selector);
    }
    Manifest::new(object).unwrap_or_else(|_| workload.clone())
}

/// An object of a built-in kind without fields that are null: the API server reads them as fields that are not there.
fn without_nulls(manifest: &Manifest) -> Manifest {
    fn strip(value: &mut Value) {
        match value {
            Value::Mapping(fields) => {
                fields.retain(|_, value| !value.is_null());
                fields.values_mut().for_each(strip);
            }
            Value::Sequence(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut object = manifest.object().clone();
    if is_built_in(manifest) {
        strip(&mut object);
    }
    Manifest::new(object).unwrap_or_else(|_| manifest.clone())
}
