//! What is known beside the object that changed.

use go_yaml::Value;

use super::Pruning;
use crate::diff::Syncs;
use crate::diff::model::{Model, Placed, selects, word};
use crate::manifest::Manifest;

/// What is known beside one object. Only objects of destination paths that change are.
#[derive(Debug)]
pub(in crate::diff) struct Around<'a> {
    /// What becomes of objects that are no longer in git.
    pub pruning: Pruning,
    /// Whether its Application had no objects before.
    pub is_new: bool,
    /// Whether another Application had it before.
    pub is_handed_over: bool,
    /// The namespaces before and after of objects that name none.
    pub defaults: [Option<&'a str>; 2],
    /// How syncs apply its objects.
    pub syncs: &'a Syncs,
    /// The objects of its Application after the change.
    pub siblings: &'a [Manifest],
    /// What it rendered before, where it is an Application of which that is known.
    pub rendered: Option<&'a [Manifest]>,
    /// What it is called before or after, where it goes, or comes, under another name.
    pub counterpart: Option<&'a Manifest>,
    /// The environment.
    pub model: &'a Model<'a>,
}

impl<'a> Around<'a> {
    /// An object of the side before.
    pub(super) fn before(&self, manifest: &'a Manifest) -> Placed<'a> {
        Placed::new(manifest, self.defaults[0])
    }

    /// An object of the side after.
    pub(super) fn after(&self, manifest: &'a Manifest) -> Placed<'a> {
        Placed::new(manifest, self.defaults[1])
    }

    /// Whether its Application still renders an object of its kind and name.
    pub(super) fn has_another(&self, old: &'a Manifest) -> bool {
        let name = self.before(old).name();
        let is_it = |one: &'a Manifest| self.after(one).name() == name;
        self.model.after.find(self.before(old)).is_some() && self.siblings.iter().any(is_it)
    }

    /// Whether syncs leave a field of an object as the cluster has it.
    pub(super) fn ignores(&self, manifest: &'a Manifest, field: &[&str]) -> bool {
        self.syncs.ignore(manifest, self.after(manifest).namespace, field)
    }

    /// Whether the Pods that a selector chooses are gone too.
    pub(super) fn are_pods_gone(&self, namespace: &str, selector: Option<&Value>) -> bool {
        let mut before = self.model.before.selected(namespace, selector);
        before.next().is_some() && self.model.after.selected(namespace, selector).next().is_none()
    }

    /// The workloads of a namespace that a selector chose and that are still there, but not chosen by what it is now.
    pub(super) fn left_out(&self, namespace: &str, was: &Value, now: &Value) -> Vec<Placed<'a>> {
        let chosen = self.model.before.selected(namespace, Some(was));
        let stays = chosen.filter_map(|workload| self.model.after.find(workload));
        stays.filter(|workload| !selects(now, workload.manifest)).collect()
    }

    /// The objects of a listed kind in the namespace of one after the change, but that one.
    pub(super) fn others(&self, kind: &'static str, of: Placed<'a>) -> impl Iterator<Item = &'a Manifest> {
        let others = self.model.after.of_kind(kind, of.namespace);
        others.map(|placed| placed.manifest).filter(move |other| other.name() != of.manifest.name())
    }
}

/// The type of a Service; ClusterIP when it has none.
pub(super) fn service_type(service: &Manifest) -> &str {
    match word(service.object(), &["spec", "type"]) {
        "" => "ClusterIP",
        sort => sort,
    }
}

/// Whether both are Services, and which.
pub(super) fn services<'a>(
    old: Option<&'a Manifest>,
    new: Option<&'a Manifest>,
) -> Option<(&'a Manifest, &'a Manifest)> {
    let is_service = |manifest: &&Manifest| manifest.kind() == "Service" && manifest.home_group().is_empty();
    Some((old.filter(is_service)?, new.filter(is_service)?))
}

/// `Deployment web`
pub(super) fn name(of: Placed<'_>) -> String {
    format!("{} {}", of.manifest.kind(), of.manifest.name())
}
