//! Which object is which before and after.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::scope::{Scope, Scopes};
use crate::manifest::{Key, Manifest, without_hash};
use go_yaml::{Value, json};

/// An object before and after; at least one of them is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub old: Option<&'a Manifest>,
    pub new: Option<&'a Manifest>,
    /// Whether it has another name, because the name contains a hash of the content.
    pub renamed: bool,
    /// Whether it is in another namespace, so that the API server knows two objects.
    pub is_recreated: bool,
    /// The namespaces before and after, where it names none and its Application says them.
    pub destinations: Option<[&'a str; 2]>,
    /// The destination path that it comes from, by its number, when that is another one.
    pub moved_from: Option<usize>,
}

impl<'a> Pair<'a> {
    fn new(old: Option<&'a Manifest>, new: Option<&'a Manifest>) -> Self {
        Self { old, new, renamed: false, is_recreated: false, destinations: None, moved_from: None }
    }
}

/// Brings the objects of two lists together: by what the API server knows them by; those without a name by their
/// content; ConfigMaps and Secrets whose names differ in Kustomize's hash alone; and what has another namespace.
///
/// The version in `apiVersion` is not part of what they are known by, so a new one is a change; so is a group that its kind left. `defaults` are the namespaces
/// before and after of objects without one, if they are known.
pub(super) fn pairs<'a>(
    old: &'a [Manifest],
    new: &'a [Manifest],
    defaults: [Option<&'a str>; 2],
    scopes: &Scopes<'a>,
) -> Vec<Pair<'a>> {
    let destinations = match defaults {
        [Some(before), Some(after)] if before != after => Some([before, after]),
        _ => None,
    };
    let mut waiting: BTreeMap<Key, VecDeque<&Manifest>> = BTreeMap::new();
    for manifest in old {
        if let Some(key) = key(manifest) {
            waiting.entry(key).or_default().push_back(manifest);
        }
    }
    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    for manifest in new {
        let Some(key) = key(manifest) else { continue };
        match waiting.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(old) => {
                let destinations = destinations
                    .filter(|_| manifest.namespace().is_empty() && scopes.of(manifest) == Scope::Namespaced);
                let is_recreated = destinations.is_some();
                pairs.push(Pair { is_recreated, destinations, ..Pair::new(Some(old), Some(manifest)) });
            }
            None => unmatched.push(manifest),
        }
    }
    let gone: Vec<&Manifest> = waiting.into_values().flatten().collect();
    let renamed = |old, new| Pair { renamed: true, ..Pair::new(Some(old), Some(new)) };
    let (gone, unmatched) = one_to_one(gone, unmatched, &mut pairs, stem, renamed);
    let moved = |old, new| {
        let is_other = are_two_namespaces(namespace_or(old, defaults[0]), namespace_or(new, defaults[1]));
        let is_recreated = is_other && !may_be_of_cluster(new, scopes);
        Pair { is_recreated, ..Pair::new(Some(old), Some(new)) }
    };
    let (gone, unmatched) = one_to_one(gone, unmatched, &mut pairs, name, moved);
    let (gone_nameless, new_nameless) = nameless(old, new);
    let old_alone = gone.into_iter().chain(gone_nameless);
    pairs.extend(old_alone.map(|old| Pair::new(Some(old), None)));
    let new_alone = unmatched.into_iter().chain(new_nameless);
    pairs.extend(new_alone.map(|new| Pair::new(None, Some(new))));
    pairs
}

/// Makes one pair of an object that goes from one destination path and comes in another, where no other is known by the
/// same: first by what the API server knows it by; then ConfigMaps and Secrets but for Kustomize's hash; then what has
/// another namespace and much the same fields. `default` is the namespace of objects without one, by path.
pub(super) fn across<'a>(paths: &mut [Vec<Pair<'a>>], default: impl Fn(usize) -> Option<&'a str>, scopes: &Scopes<'a>) {
    let namespace = |path, manifest: &'a Manifest| namespace_or(manifest, default(path));
    for (from, to) in moves(paths, |path, manifest| key_in(manifest, namespace(path, manifest), scopes)) {
        join(paths, from, to, |_| {});
    }
    let hashed = |path, manifest: &'a Manifest| Some((stem(manifest)?, namespace(path, manifest)));
    for (from, to) in moves(paths, hashed) {
        join(paths, from, to, |pair| pair.renamed = true);
    }
    for (from, to) in moves(paths, |_, manifest| name(manifest)) {
        let is_other = are_two_namespaces(namespace(from.0, from.1), namespace(to.0, to.1));
        let are_alike = || are_alike(&leaves_of(from.1.object()), &leaves_of(to.1.object()));
        if is_other && !may_be_of_cluster(from.1, scopes) && are_alike() {
            join(paths, from, to, |pair| pair.is_recreated = true);
        }
    }
}

/// The namespace of an object, else the one of objects without one, else nothing.
fn namespace_or<'a>(manifest: &'a Manifest, default: Option<&'a str>) -> &'a str {
    match manifest.namespace() {
        "" => default.unwrap_or_default(),
        namespace => namespace,
    }
}

/// Whether both are known, and differ.
fn are_two_namespaces(old: &str, new: &str) -> bool {
    old != new && !old.is_empty() && !new.is_empty()
}

/// What the API server knows an object by, in the group that has its kind now.
fn key(manifest: &Manifest) -> Option<Key> {
    Some(Key { group: manifest.home_group().to_owned(), ..manifest.key()? })
}

/// What the API server knows an object by that is in this namespace, unless it is one of the whole cluster.
fn key_in(manifest: &Manifest, namespace: &str, scopes: &Scopes<'_>) -> Option<Key> {
    let mut key = key(manifest)?;
    match scopes.of(manifest) {
        Scope::Cluster => key.namespace.clear(),
        Scope::Namespaced | Scope::Likely => key.namespace = namespace.to_owned(),
        Scope::Unknown => {}
    }
    Some(key)
}

/// Whether an object is of the whole cluster, so that another namespace means nothing, or may be.
fn may_be_of_cluster(manifest: &Manifest, scopes: &Scopes<'_>) -> bool {
    matches!(scopes.of(manifest), Scope::Cluster | Scope::Unknown)
}

/// An object, and the number of its path.
type Placed<'a> = (usize, &'a Manifest);

/// What goes from one path and comes in another, where a key has one of each.
fn moves<'a, K: Ord>(
    paths: &[Vec<Pair<'a>>],
    key: impl Fn(usize, &'a Manifest) -> Option<K>,
) -> Vec<(Placed<'a>, Placed<'a>)> {
    let mut sides: BTreeMap<K, [Vec<Placed<'a>>; 2]> = BTreeMap::new();
    for (path, pairs) in paths.iter().enumerate() {
        for pair in pairs {
            let (is_new, manifest) = match (pair.old, pair.new) {
                (Some(old), None) => (false, old),
                (None, Some(new)) => (true, new),
                _ => continue,
            };
            if let Some(key) = key(path, manifest) {
                let [gone, new] = sides.entry(key).or_default();
                let side = if is_new { new } else { gone };
                side.push((path, manifest));
            }
        }
    }
    let one_each = sides.values().filter_map(one_each);
    one_each.filter(|(from, to)| from.0 != to.0).collect()
}

/// The two, where each side has one.
fn one_each<T: Copy>([old, new]: &[Vec<T>; 2]) -> Option<(T, T)> {
    match (&old[..], &new[..]) {
        (&[old], &[new]) => Some((old, new)),
        _ => None,
    }
}

/// Makes one pair of two.
fn join<'a>(paths: &mut [Vec<Pair<'a>>], (from, old): Placed<'a>, (to, new): Placed<'a>, mark: impl Fn(&mut Pair<'a>)) {
    let Some(leaving) = paths.get_mut(from) else { return };
    leaving.retain(|pair| !(pair.new.is_none() && pair.old.is_some_and(|one| std::ptr::eq(one, old))));
    let coming = paths.get_mut(to).into_iter().flatten();
    for pair in coming.filter(|pair| pair.new.is_some_and(|one| std::ptr::eq(one, new))) {
        (pair.old, pair.moved_from) = (Some(old), Some(from));
        mark(pair);
    }
}

/// Which part of their fields two objects of one name must share to be one that moved.
const ALIKE_MIN: f64 = 0.5;

/// The scalars of an object with their paths, but for its metadata.
pub(super) type Leaves = BTreeSet<(String, String)>;

/// Whether two objects, but for their metadata, are much the same.
pub(super) fn are_alike(old: &Leaves, new: &Leaves) -> bool {
    let shared = old.intersection(new).count() as f64;
    shared >= ALIKE_MIN * old.len().max(new.len()) as f64
}

/// Those of an object.
pub(super) fn leaves_of(object: &Value) -> Leaves {
    let mut leaves = BTreeSet::new();
    let fields = object.as_mapping().into_iter().flatten();
    for (key, value) in fields.filter(|(key, _)| *key != "metadata") {
        collect(key.clone(), value, &mut leaves);
    }
    leaves
}

/// The scalars of a value with their paths.
fn collect(path: String, value: &Value, leaves: &mut Leaves) {
    match value {
        Value::Mapping(fields) => {
            fields.iter().for_each(|(key, value)| collect(format!("{path}.{key}"), value, leaves));
        }
        Value::Sequence(items) => items.iter().for_each(|item| collect(format!("{path}[]"), item, leaves)),
        scalar => drop(leaves.insert((path, json::encode(scalar, json::Options::default())))),
    }
}

/// Three texts that identify an object in a looser way than its key.
type Stem<'a> = (&'a str, &'a str, &'a str);

/// Pairs objects whose stem is the same and that nothing else has on either side. What is left of both comes back.
fn one_to_one<'a>(
    gone: Vec<&'a Manifest>,
    new: Vec<&'a Manifest>,
    pairs: &mut Vec<Pair<'a>>,
    stem: fn(&'a Manifest) -> Option<Stem<'a>>,
    pair: impl Fn(&'a Manifest, &'a Manifest) -> Pair<'a>,
) -> (Vec<&'a Manifest>, Vec<&'a Manifest>) {
    let mut stems: BTreeMap<Stem<'_>, [Vec<&Manifest>; 2]> = BTreeMap::new();
    for (side, manifests) in [&gone, &new].into_iter().enumerate() {
        for manifest in manifests {
            if let Some(stem) = stem(manifest) {
                stems.entry(stem).or_default()[side].push(manifest);
            }
        }
    }
    let partner = |manifest: &'a Manifest| one_each(stems.get(&stem(manifest)?)?);
    pairs.extend(gone.iter().filter_map(|manifest| partner(manifest)).map(|(old, new)| pair(old, new)));
    let left =
        |manifests: Vec<&'a Manifest>| manifests.into_iter().filter(|manifest| partner(manifest).is_none()).collect();
    (left(gone), left(new))
}

/// What an object keeps when its namespace changes.
fn name(manifest: &Manifest) -> Option<Stem<'_>> {
    Some((manifest.home_group(), manifest.kind(), manifest.name()))
}

/// Kind, namespace, and the name without the hash that Kustomize puts at its end.
fn stem(manifest: &Manifest) -> Option<Stem<'_>> {
    let stem = without_hash(manifest.home_group(), manifest.kind(), manifest.name())?;
    Some((manifest.kind(), manifest.namespace(), stem))
}

/// The objects without a name that only one of the lists has.
fn nameless<'a>(old: &'a [Manifest], new: &'a [Manifest]) -> (Vec<&'a Manifest>, Vec<&'a Manifest>) {
    let nameless = |manifests: &'a [Manifest]| manifests.iter().filter(|manifest| manifest.name().is_empty());
    let encode = |manifest: &Manifest| json::encode(manifest.object(), json::Options::default());
    let mut gone: BTreeMap<String, VecDeque<&Manifest>> = BTreeMap::new();
    for manifest in nameless(old) {
        gone.entry(encode(manifest)).or_default().push_back(manifest);
    }
    let is_new = |manifest: &&Manifest| gone.get_mut(&encode(manifest)).and_then(VecDeque::pop_front).is_none();
    let added = nameless(new).filter(is_new).collect();
    (gone.into_values().flatten().collect(), added)
}

/// The value of a field that is a text, empty when there is none.
pub(super) fn text<'a>(manifest: &'a Manifest, path: &[&str]) -> &'a str {
    manifest.object().at(path).and_then(Value::as_str).unwrap_or_default()
}
