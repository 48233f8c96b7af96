//! Which object is which before and after.

use std::collections::{BTreeMap, VecDeque};

use crate::manifest::{Key, Manifest};
use crate::yaml::{Value, json};

/// An object before and after; at least one of them is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair<'a> {
    pub old: Option<&'a Manifest>,
    pub new: Option<&'a Manifest>,
    /// Whether it has another name, because the name holds a hash of the content.
    pub renamed: bool,
}

/// Brings the objects of two lists together: by what the API server knows them by; those without a name by their
/// content; and ConfigMaps and Secrets whose names differ in Kustomize's hash alone.
///
/// The version in `apiVersion` is no part of what they are known by, so a new one is a change.
pub(super) fn pairs<'a>(old: &'a [Manifest], new: &'a [Manifest]) -> Vec<Pair<'a>> {
    let mut waiting: BTreeMap<Key, VecDeque<&Manifest>> = BTreeMap::new();
    for manifest in old {
        if let Some(key) = manifest.key() {
            waiting.entry(key).or_default().push_back(manifest);
        }
    }
    let (mut pairs, mut unmatched) = (Vec::new(), Vec::new());
    for manifest in new {
        let Some(key) = manifest.key() else { continue };
        match waiting.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(old) => pairs.push(Pair { old: Some(old), new: Some(manifest), renamed: false }),
            None => unmatched.push(manifest),
        }
    }
    let gone: Vec<&Manifest> = waiting.into_values().flatten().collect();
    let (gone, unmatched) = renamed(gone, unmatched, &mut pairs);
    let (gone_nameless, new_nameless) = nameless(old, new);
    let old_alone = gone.into_iter().chain(gone_nameless);
    pairs.extend(old_alone.map(|old| Pair { old: Some(old), new: None, renamed: false }));
    let new_alone = unmatched.into_iter().chain(new_nameless);
    pairs.extend(new_alone.map(|new| Pair { old: None, new: Some(new), renamed: false }));
    pairs
}

/// What identifies an object whose name ends in a hash: kind, namespace, and its name without the hash.
type Stem<'a> = (&'a str, &'a str, &'a str);

/// Pairs objects whose stem is the same and that no one else has on either side. What is left of both comes back.
fn renamed<'a>(
    gone: Vec<&'a Manifest>,
    new: Vec<&'a Manifest>,
    pairs: &mut Vec<Pair<'a>>,
) -> (Vec<&'a Manifest>, Vec<&'a Manifest>) {
    let mut stems: BTreeMap<Stem<'_>, [Vec<&Manifest>; 2]> = BTreeMap::new();
    for (side, manifests) in [&gone, &new].into_iter().enumerate() {
        for manifest in manifests {
            if let Some(stem) = stem(manifest) {
                stems.entry(stem).or_default()[side].push(manifest);
            }
        }
    }
    let one_to_one = |manifest: &Manifest| {
        let sides = stems.get(&stem(manifest)?)?;
        match [&sides[0][..], &sides[1][..]] {
            [[old], [new]] => Some((*old, *new)),
            _ => None,
        }
    };
    pairs.extend(gone.iter().filter_map(|manifest| one_to_one(manifest)).map(|(old, new)| Pair {
        old: Some(old),
        new: Some(new),
        renamed: true,
    }));
    let left = |manifests: Vec<&'a Manifest>| {
        manifests.into_iter().filter(|manifest| one_to_one(manifest).is_none()).collect()
    };
    (left(gone), left(new))
}

/// Reference: kustomize 5.8 api/hasher/hasher.go `encode`: ten characters of a hexadecimal digest, some of which are
/// replaced so that no words come out.
fn stem(manifest: &Manifest) -> Option<Stem<'_>> {
    if !manifest.group().is_empty() || !matches!(manifest.kind(), "ConfigMap" | "Secret") {
        return None;
    }
    let (stem, hash) = manifest.name().rsplit_once('-')?;
    let is_hash = hash.len() == 10 && hash.bytes().all(|b| b"2456789bcdfghkmt".contains(&b));
    is_hash.then_some((manifest.kind(), manifest.namespace(), stem))
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
