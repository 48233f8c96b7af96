//! What is beside the Applications of a branch that change: the objects of those that do not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use go_yaml::{Mapping, Value};

use super::applications::Applications;
use super::hosts::Hosts;
use super::pods::{labels, spec};
use super::{LISTED, Placed, Thing, Through, chooses, encrypts, hosts, items, provided_by};
use crate::manifest::{Manifest, Source, defined_scope, read};

/// An Application of the dry tree, and what it renders.
#[derive(Debug, Clone, Default)]
pub(crate) struct OfProject {
    /// The Application as an object of the cluster; its sources may be missing.
    pub application: Arc<Value>,
    /// The URLs of its sources.
    pub sources: Vec<String>,
    /// Its `manifest.yaml`, if that is known.
    pub manifest: Option<Vec<u8>>,
}

/// `manifest.yaml` of the Applications that do not change. It is read when a rule asks for what no other object provides.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beside {
    manifests: Vec<(Vec<u8>, Option<String>)>,
    is_cut: bool,
    applications: Vec<OfProject>,
    known: OnceLock<Known>,
}

#[derive(Debug, Clone, Default)]
struct Known {
    things: BTreeSet<Thing>,
    hosts: Hosts,
    /// Those that are served over HTTPS, or may be.
    encrypted: Hosts,
    /// Listed kinds with their namespaces.
    kinds: BTreeSet<(&'static str, String)>,
    /// Kinds that CRDs define, and whether objects of them are in no namespace.
    scopes: BTreeMap<(String, String), bool>,
    applications: Vec<Manifest>,
    /// The namespaces and labels of Pods.
    pods: Vec<(String, Mapping)>,
    /// Groups and kinds of all objects.
    group_kinds: BTreeSet<(String, String)>,
    /// Objects of groups whose objects choose each other by labels, and workloads that choose nodes, with their namespaces.
    choosing: Vec<(Manifest, String)>,
    /// Claims, and workloads that mount some, with their namespaces.
    claims: Vec<(Manifest, String)>,
}

/// Groups whose objects choose each other by labels.
const CHOOSING: [&str; 2] = ["monitoring.coreos.com", "karpenter.sh"];

impl Beside {
    /// Of manifests, each with the namespace of objects that name none, if that is known. `is_cut` where there are others, which are not known.
    pub(crate) fn new(manifests: Vec<(Vec<u8>, Option<String>)>, is_cut: bool) -> Self {
        Self { manifests, is_cut, applications: Vec::new(), known: OnceLock::new() }
    }

    /// With the Applications that a changed AppProject may be for.
    pub(crate) fn with_applications(mut self, applications: Vec<OfProject>) -> Self {
        self.applications = applications;
        self
    }

    /// The Applications of the dry tree that are known, and those among the objects here.
    pub(super) fn applications(&self) -> Applications {
        let mut all = Applications::default();
        for one in &self.applications {
            all.add(&one.application, &one.sources, one.manifest.as_deref());
        }
        self.known().applications.iter().for_each(|object| all.add_object(object));
        all
    }

    /// Whether there are objects that are not known.
    pub(in crate::diff) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether some object is, or makes, the thing, or may: its namespace may not be known.
    pub(in crate::diff) fn provides(&self, thing: &Thing) -> bool {
        let anywhere = || Thing { namespace: String::new(), ..thing.clone() };
        self.known().things.contains(thing) || self.known().things.contains(&anywhere())
    }

    /// Whether some object serves a host that was served `through` somewhere.
    pub(in crate::diff) fn serves(&self, host: &str, through: Option<&Through>) -> bool {
        self.known().hosts.serve(host, through, None)
    }

    /// Whether some object serves a host over HTTPS, or may.
    pub(in crate::diff) fn serves_encrypted(&self, host: &str, through: Option<&Through>) -> bool {
        self.known().encrypted.serve(host, through, None)
    }

    /// Whether some object is of a listed kind and in a namespace, or may be: its namespace, or it, may not be known.
    pub(in crate::diff) fn has(&self, kind: &str, namespace: &str) -> bool {
        let mut kinds = self.known().kinds.iter();
        self.is_cut || kinds.any(|(of, place)| *of == kind && (place == namespace || place.is_empty()))
    }

    /// Whether objects of a kind are in no namespace, where some CRD says so.
    pub(in crate::diff) fn is_cluster_scoped(&self, group: &str, kind: &str) -> Option<bool> {
        self.known().scopes.get(&(group.to_owned(), kind.to_owned())).copied()
    }

    /// Whether some Pods of a namespace are chosen, or may be: theirs may not be known.
    pub(super) fn has_pods(&self, namespace: &str, selector: &Value) -> bool {
        let is_place = |place: &str| place == namespace || place.is_empty();
        self.known().pods.iter().any(|(place, labels)| is_place(place) && chooses(selector, Some(labels)))
    }

    /// Groups and kinds of all objects.
    pub(super) fn group_kinds(&self) -> &BTreeSet<(String, String)> {
        &self.known().group_kinds
    }

    /// The objects of a group that choose others by labels.
    pub(super) fn of_group(&self, group: &'static str) -> impl Iterator<Item = Placed<'_>> {
        let all = self.known().choosing.iter().filter(move |(one, _)| one.home_group() == group);
        all.map(|(manifest, namespace)| Placed { manifest, namespace })
    }

    /// Claims of volumes, and workloads that mount some.
    pub(super) fn of_claims(&self) -> impl Iterator<Item = Placed<'_>> {
        self.known().claims.iter().map(|(manifest, namespace)| Placed { manifest, namespace })
    }

    fn known(&self) -> &Known {
        self.known.get_or_init(|| {
            let mut known = Known::default();
            for (text, namespace) in &self.manifests {
                // What cannot be read is reported where it changes.
                for manifest in read(text, Source::Output("the environment branch")).unwrap_or_default() {
                    let placed = Placed::new(&manifest, namespace.as_deref());
                    known.things.extend(provided_by(placed));
                    known.hosts.add(placed);
                    let hosts = hosts(&manifest);
                    if hosts.is_empty() || hosts.iter().any(|host| encrypts(placed, host, None) != Some(false)) {
                        known.encrypted.add(placed);
                    }
                    let labels = labels(&manifest).cloned();
                    known.pods.extend(labels.map(|labels| (placed.namespace.to_owned(), labels)));
                    known.group_kinds.insert((manifest.group().to_owned(), manifest.kind().to_owned()));
                    let kind = LISTED.iter().find(|kind| **kind == manifest.kind());
                    let defined = defined_scope(&manifest);
                    known.scopes.extend(defined.map(|((group, kind), is)| ((group.to_owned(), kind.to_owned()), is)));
                    known.kinds.extend(kind.map(|kind| (*kind, placed.namespace.to_owned())));
                    let asks = |key: &str| spec(&manifest).is_some_and(|pods| pods.get(key).is_some());
                    if CHOOSING.contains(&manifest.home_group()) || asks("nodeSelector") || asks("affinity") {
                        known.choosing.push((manifest.clone(), placed.namespace.to_owned()));
                    }
                    let mut volumes = spec(&manifest).into_iter().flat_map(|pods| items(pods, &["volumes"]));
                    let is_claim = (manifest.home_group(), manifest.kind()) == ("", "PersistentVolumeClaim");
                    if is_claim || volumes.any(|volume| volume.get("persistentVolumeClaim").is_some()) {
                        known.claims.push((manifest.clone(), placed.namespace.to_owned()));
                    }
                    if (manifest.home_group(), manifest.kind()) == ("argoproj.io", "Application") {
                        known.applications.push(manifest);
                    }
                }
            }
            known
        })
    }
}
