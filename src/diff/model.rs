//! What refers to what in an environment, before and after a change.
//!
//! A [`Side`] has the objects of the destination paths that change, each with its namespace ([`Placed`]). What an object is
//! to others is a [`Thing`] that it provides; what it needs of others is a [`Use`] of a thing. A danger is then a change
//! between two sides: a thing that goes while its users stay, a selector that no longer meets labels, weights that shift.
//!
//! Lists by kind and the index of names are made at once. The index of things and uses is made when the first rule asks for it.

mod applications;
mod autoscaler;
mod beside;
mod domain;
mod encrypted;
pub(super) mod gateways;
mod hosts;
mod index;
pub(super) mod pods;
mod routes;
mod selector;
pub(super) mod steps;
mod thing;
mod uses;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::OnceLock;

use go_yaml::Value;

use crate::manifest::{Manifest, is_cluster_scoped};

use index::{Choosers, Workloads};
use steps::take;

use applications::Applications;
pub(super) use applications::{Application, Rendered};
pub(super) use autoscaler::Autoscaler;
pub(crate) use beside::{Beside, OfProject};
pub(super) use domain::is_for;
pub(super) use encrypted::{encrypts, served_by};
pub(super) use hosts::{Through, public_hosts};
pub(super) use routes::{Route, hosts, ingress_class, ingress_service, routes};
pub(super) use selector::{chooses, covers, of_workload, selects};
pub(super) use thing::{Thing, keys_of, lost_with, provided_by};
pub(super) use uses::{How, Use, istio_gateways, uses};

/// An object and the namespace that it is in; empty where that is not known, and for objects of the whole cluster.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed<'a> {
    pub manifest: &'a Manifest,
    pub namespace: &'a str,
}

impl<'a> Placed<'a> {
    /// An object of a path whose objects without a namespace are in `default`.
    pub(super) fn new(manifest: &'a Manifest, default: Option<&'a str>) -> Self {
        let namespace = match manifest.namespace() {
            _ if is_cluster_scoped(manifest.home_group(), manifest.kind()) == Some(true) => "",
            "" => default.unwrap_or_default(),
            namespace => namespace,
        };
        Self { manifest, namespace }
    }

    /// What the API server knows it by, whichever its version.
    pub(super) fn name(&self) -> [&'a str; 4] {
        let Self { manifest, namespace } = *self;
        [manifest.home_group(), manifest.kind(), namespace, manifest.name()]
    }
}

/// The environment before and after.
#[derive(Debug)]
pub(super) struct Model<'a> {
    pub before: Side<'a>,
    pub after: Side<'a>,
    /// Whether all objects are known, those included of Applications that do not change.
    pub is_whole: bool,
}

/// The objects of one side that rules ask for.
#[derive(Debug)]
pub(super) struct Side<'a> {
    beside: &'a Beside,
    all: Vec<Placed<'a>>,
    /// By namespace.
    workloads: HashMap<&'a str, Workloads<'a>>,
    /// Those of kinds that rules list, by kind; and by kind and namespace.
    kinds: HashMap<&'static str, Vec<Placed<'a>>>,
    kinds_within: HashMap<&'static str, HashMap<&'a str, Vec<Placed<'a>>>>,
    hosts: hosts::Hosts,
    /// Where the first object of each name is in `all`.
    names: HashMap<[&'a str; 4], usize>,
    links: OnceLock<Links<'a>>,
    applications: OnceLock<Applications>,
    /// What scales each workload, by its namespace and kind and name.
    autoscalers: OnceLock<HashMap<[&'a str; 3], Vec<Autoscaler<'a>>>>,
    /// The Services and the NetworkPolicies that choose each workload.
    choosers: [OnceLock<Option<Choosers<'a>>>; 2],
    isolations: OnceLock<HashMap<[&'a str; 4], [Isolation; 2]>>,
    routes: OnceLock<Vec<Route>>,
}

/// What NetworkPolicies are for Pods in one direction.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Isolation {
    /// Whether one of them isolates.
    pub is_isolated: bool,
    /// Whether one that does has rules, and lets requests to DNS through.
    pub has_rules: bool,
    pub resolves: bool,
}

impl Isolation {
    /// Both together: policies add up.
    fn with(self, other: Self) -> Self {
        Self {
            is_isolated: self.is_isolated || other.is_isolated,
            has_rules: self.has_rules || other.has_rules,
            resolves: self.resolves || other.resolves,
        }
    }
}

/// What there is, and who needs it.
#[derive(Debug)]
struct Links<'a> {
    provided: BTreeMap<Thing, Vec<Placed<'a>>>,
    users: BTreeMap<Thing, Vec<(Placed<'a>, Use)>>,
}

/// Kinds that rules list: of any group where the group is empty here and the kind is of no other.
const LISTED: [&str; 19] = [
    "NetworkPolicy",
    "PodDisruptionBudget",
    "HorizontalPodAutoscaler",
    "ScaledObject",
    "Service",
    "ResourceQuota",
    "LimitRange",
    "Issuer",
    "ClusterIssuer",
    "DestinationRule",
    "Namespace",
    "Gateway",
    "ReferenceGrant",
    "AuthorizationPolicy",
    "VirtualService",
    "RoleBinding",
    "ClusterRoleBinding",
    "StorageClass",
    "PersistentVolume",
];

impl<'a> Side<'a> {
    /// Of the objects of paths that change, beside those of the others.
    pub(super) fn new(objects: impl Iterator<Item = Placed<'a>>, beside: &'a Beside) -> Self {
        let mut side = Self {
            beside,
            all: Vec::new(),
            workloads: HashMap::new(),
            kinds: HashMap::new(),
            kinds_within: HashMap::new(),
            hosts: hosts::Hosts::default(),
            names: HashMap::new(),
            links: OnceLock::new(),
            applications: OnceLock::new(),
            autoscalers: OnceLock::new(),
            choosers: Default::default(),
            isolations: OnceLock::new(),
            routes: OnceLock::new(),
        };
        for placed in objects {
            let manifest = placed.manifest;
            if pods::is_workload(manifest) {
                side.workloads.entry(placed.namespace).or_default().add(placed);
            }
            if let Some(kind) = LISTED.iter().find(|kind| **kind == manifest.kind()) {
                side.kinds.entry(kind).or_default().push(placed);
                let within = side.kinds_within.entry(kind).or_default();
                within.entry(placed.namespace).or_default().push(placed);
            }
            side.hosts.add(placed);
            side.names.entry(placed.name()).or_insert(side.all.len());
            side.all.push(placed);
        }
        side
    }

    /// All objects.
    pub(super) fn all(&self) -> &[Placed<'a>] {
        if take(self.all.len()) { &self.all } else { &[] }
    }

    /// How many objects there are.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The objects of a listed kind.
    pub(super) fn listed(&self, kind: &str) -> impl Iterator<Item = Placed<'a>> {
        self.kinds.get(kind).map_or(&[][..], Vec::as_slice).iter().copied().take_while(|_| take(4))
    }

    /// The objects of a listed kind in a namespace.
    pub(super) fn of_kind(&self, kind: &str, namespace: &str) -> impl Iterator<Item = Placed<'a>> + use<'_, 'a> {
        let within = self.kinds_within.get(kind).and_then(|within| within.get(namespace));
        within.map_or(&[][..], Vec::as_slice).iter().copied().take_while(|_| take(4))
    }

    /// Deployments, StatefulSets and their like of a namespace.
    pub(super) fn workloads(&self, namespace: &str) -> impl Iterator<Item = Placed<'a>> + use<'_, 'a> {
        self.workloads.get(namespace).map_or(&[][..], |of| of.all.as_slice()).iter().copied().take_while(|_| take(4))
    }

    /// The workloads whose Pods a label selector chooses.
    pub(super) fn selected<'s>(
        &'s self,
        namespace: &str,
        selector: Option<&'s Value>,
    ) -> impl Iterator<Item = Placed<'a>> + use<'s, 'a> {
        let within = self.workloads.get(namespace).zip(selector);
        within.into_iter().flat_map(|(workloads, selector)| workloads.chosen(selector))
    }

    /// Whether a NetworkPolicy chooses the Pods of a workload.
    pub(super) fn is_restricted(&self, workload: Placed<'_>) -> bool {
        !self.choosers_of("NetworkPolicy", workload).is_empty()
    }

    /// The Services, or the NetworkPolicies, that choose the Pods of a workload. They are found for all of them at once.
    pub(super) fn choosers_of(&self, kind: &'static str, workload: Placed<'_>) -> Cow<'_, [Placed<'a>]> {
        let is_own = self.find(workload).is_some_and(|one| std::ptr::eq(one.manifest, workload.manifest));
        match self.choosers(kind).filter(|_| is_own) {
            Some(known) => {
                let of = known.of(workload);
                if take(1 + of.len() / 4) { Cow::Borrowed(of) } else { Cow::default() }
            }
            None => {
                let chooses = |one: &Placed<'a>| {
                    take(8) && selector::of(one.manifest).is_some_and(|selector| selects(&selector, workload.manifest))
                };
                Cow::Owned(self.of_kind(kind, workload.namespace).filter(chooses).collect())
            }
        }
    }

    /// None where they are too many to keep.
    fn choosers(&self, kind: &'static str) -> Option<&Choosers<'a>> {
        let [services, policies] = &self.choosers;
        let known = if kind == "Service" { services } else { policies };
        let all = || Choosers::new(self.kinds.get(kind).map_or(&[], Vec::as_slice), &self.workloads);
        known.get_or_init(all).as_ref()
    }

    /// What the NetworkPolicies that choose a workload are for it together, in each direction, by what each of them is.
    pub(super) fn isolation(
        &self,
        workload: Placed<'_>,
        of_policy: impl Fn(&'a Manifest) -> [Isolation; 2],
    ) -> [Isolation; 2] {
        let together = |all: &[Placed<'a>]| {
            let mut found = [Isolation::default(); 2];
            for policy in all {
                found.iter_mut().zip(of_policy(policy.manifest)).for_each(|(all, one)| *all = all.with(one));
            }
            found
        };
        let known = self.isolations.get_or_init(|| {
            let Some(policies) = self.choosers("NetworkPolicy") else { return HashMap::new() };
            let of_one = |one: &Placed<'a>| (one.name(), together(policies.of(*one)));
            self.workloads.values().flat_map(|of| &of.all).map(of_one).collect()
        });
        let is_own = self.find(workload).is_some_and(|one| std::ptr::eq(one.manifest, workload.manifest));
        match known.get(&workload.name()).filter(|_| is_own && take(1)) {
            Some(known) => *known,
            None => together(&self.choosers_of("NetworkPolicy", workload)),
        }
    }

    /// Whether a label selector chooses Pods of a namespace that are known.
    pub(super) fn has_pods(&self, namespace: &str, selector: &Value) -> bool {
        let is_chosen = |one: &Placed<'_>| {
            take(2)
                && one.namespace == namespace
                && pods::labels(one.manifest).is_some_and(|labels| chooses(selector, Some(labels)))
        };
        self.all.iter().any(is_chosen) || self.beside.has_pods(namespace, selector)
    }

    /// The workloads whose Pods get what is sent to a Service.
    pub(super) fn served_by(&self, service: Placed<'_>) -> Vec<Placed<'a>> {
        match selector::of_service(service.manifest) {
            Some(selector) => self.selected(service.namespace, Some(&selector)).collect(),
            None => Vec::new(),
        }
    }

    /// The Services that send requests to the Pods of a workload.
    pub(super) fn services_of(&self, workload: Placed<'_>) -> Vec<Placed<'a>> {
        self.choosers_of("Service", workload).into_owned()
    }

    /// Whether some Service sends requests to the Pods of a workload.
    pub(super) fn is_served(&self, workload: Placed<'_>) -> bool {
        !self.choosers_of("Service", workload).is_empty()
    }

    /// The rules of all objects that route.
    pub(super) fn routes(&self) -> impl Iterator<Item = &Route> {
        let all = self.routes.get_or_init(|| self.all.iter().flat_map(|placed| routes(*placed)).collect());
        all.iter().take_while(|_| take(8))
    }

    /// Whether some object serves a host that was served `through` somewhere.
    pub(super) fn serves(&self, host: &str, through: Option<&Through>) -> bool {
        self.hosts.serve(host, through, Some(self)) || self.beside.serves(host, through)
    }

    /// Whether some object serves a host over HTTPS, or may.
    pub(super) fn serves_encrypted(&self, host: &str, through: Option<&Through>) -> bool {
        let may_encrypt = |placed: &&Placed<'a>| encrypts(**placed, host, Some(self)) != Some(false);
        let serves = |placed: &Placed<'a>| {
            if !take(100) {
                return false;
            }
            let mut hosts = hosts::Hosts::default();
            hosts.add(*placed);
            hosts.serve(host, through, Some(self))
        };
        let mut routing = self.all.iter().filter(|placed| may_route(placed.manifest.kind())).filter(may_encrypt);
        routing.any(serves) || self.beside.serves_encrypted(host, through)
    }

    /// Whether an Application that does not change has an object of a listed kind in a namespace, or may have one.
    pub(super) fn has_beside(&self, kind: &str, namespace: &str) -> bool {
        self.beside.has(kind, namespace)
    }

    /// What scales a workload.
    pub(super) fn autoscalers(&self, workload: Placed<'_>) -> Vec<Autoscaler<'a>> {
        let known = self.autoscalers.get_or_init(|| {
            let mut found: HashMap<[&'a str; 3], Vec<Autoscaler<'a>>> = HashMap::new();
            for kind in ["HorizontalPodAutoscaler", "ScaledObject"] {
                for one in self.kinds.get(kind).into_iter().flatten().filter_map(|one| Autoscaler::of(*one)) {
                    let (kind, name) = one.target;
                    found.entry([one.placed.namespace, kind, name]).or_default().push(one);
                }
            }
            found
        });
        let key = [workload.namespace, workload.manifest.kind(), workload.manifest.name()];
        let of = known.get(&key).map_or(&[][..], Vec::as_slice);
        of.iter().copied().take_while(|_| take(4)).collect()
    }

    /// The object of the other side.
    pub(super) fn find(&self, of: Placed<'_>) -> Option<Placed<'a>> {
        self.names.get(&of.name()).and_then(|place| self.all.get(*place)).copied()
    }

    /// Whether some object is, or makes, the thing.
    pub(super) fn provides(&self, thing: &Thing) -> bool {
        self.links().provided.contains_key(thing) || self.beside.provides(thing)
    }

    /// The objects that are, or make, a thing.
    pub(super) fn makers(&self, thing: &Thing) -> &[Placed<'a>] {
        self.links().provided.get(thing).map_or(&[], Vec::as_slice)
    }

    /// The things of a kind in a namespace, by name.
    pub(super) fn provided(&self, kind: &'static str, namespace: &str) -> impl Iterator<Item = &Thing> {
        let first = Thing { kind, namespace: namespace.to_owned(), name: String::new() };
        let is_it = move |thing: &&Thing| take(20) && thing.kind == kind && thing.namespace == namespace;
        self.links().provided.range(first..).map(|(thing, _)| thing).take_while(is_it)
    }

    /// Who needs a thing, and how.
    pub(super) fn users(&self, thing: &Thing) -> &[(Placed<'a>, Use)] {
        let users = self.links().users.get(thing).map_or(&[][..], Vec::as_slice);
        if take(4 * users.len()) { users } else { &[] }
    }

    /// The Applications of a project: those of the dry tree, and those among the objects. Each once, by name.
    pub(super) fn of_project(&self, project: &str) -> &[Application] {
        self.known_applications().of(project)
    }

    /// The Applications of all projects, as far as they are known.
    pub(super) fn applications(&self) -> Vec<&Application> {
        self.known_applications().all()
    }

    fn known_applications(&self) -> &Applications {
        let all = || {
            let mut all = self.beside.applications();
            self.all.iter().for_each(|placed| all.add_object(placed.manifest));
            all.sorted()
        };
        self.applications.get_or_init(all)
    }

    /// The objects of Applications that do not change, of a group, that choose others by labels.
    pub(super) fn beside_of(&self, group: &'static str) -> impl Iterator<Item = Placed<'a>> {
        self.beside.of_group(group)
    }

    /// Claims of volumes of Applications that do not change, and their workloads that mount some.
    pub(super) fn beside_of_claims(&self) -> impl Iterator<Item = Placed<'a>> {
        self.beside.of_claims()
    }

    /// Groups and kinds of all objects.
    pub(super) fn group_kinds(&self) -> BTreeSet<(String, String)> {
        let own = self.all.iter().map(|one| (one.manifest.group().to_owned(), one.manifest.kind().to_owned()));
        own.chain(self.beside.group_kinds().iter().cloned()).collect()
    }

    fn links(&self) -> &Links<'a> {
        self.links.get_or_init(|| {
            let mut users: BTreeMap<Thing, Vec<(Placed<'a>, Use)>> = BTreeMap::new();
            let mut provided: BTreeMap<Thing, Vec<Placed<'a>>> = BTreeMap::new();
            for placed in &self.all {
                for thing in provided_by(*placed) {
                    provided.entry(thing).or_default().push(*placed);
                }
                for one in uses(*placed) {
                    users.entry(one.thing.clone()).or_default().push((*placed, one));
                }
            }
            Links { provided, users }
        })
    }
}

/// Whether objects of a kind may serve hosts.
fn may_route(kind: &str) -> bool {
    kind == "Ingress" || kind == "VirtualService" || kind.ends_with("Route")
}

/// The items of a list; none when it is not a list.
pub(super) fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    value.at(path).and_then(Value::as_sequence).unwrap_or_default()
}

/// A text field of a value; empty when there is none.
pub(super) fn word<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value.at(path).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number in a field.
pub(super) fn number(value: &Value, path: &[&str]) -> Option<i64> {
    match value.at(path)? {
        Value::Int(number) => Some(*number),
        _ => None,
    }
}
