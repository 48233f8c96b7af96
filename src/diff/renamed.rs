//! Objects that go while others that are much the same come under other names: what a release, a prefix or a suffix is called is
//! another.

use std::collections::HashMap;

use super::pair::{Leaves, Pair, are_alike, leaves_of};
use super::{Change, Difference, ObjectDiff};
use crate::manifest::Manifest;
use go_yaml::Value;

/// How many pairs are compared at most.
const PAIRS_MAX: usize = 40_000;

/// How many of the objects of one Application have another name, and are removed and made anew by that; and of how many of them no
/// danger says so.
pub(super) fn count(objects: &[ObjectDiff]) -> [usize; 2] {
    let gone: Vec<(&ObjectDiff, &Value)> = whole(objects, Change::Removed).collect();
    let new: Vec<(&ObjectDiff, &Value)> = whole(objects, Change::Added).collect();
    if gone.is_empty() || gone.len().saturating_mul(new.len()) > PAIRS_MAX {
        return [0, 0];
    }
    let mut left: Vec<Option<(&ObjectDiff, Leaves)>> =
        new.into_iter().map(|(object, value)| Some((object, leaves_of(value)))).collect();
    let [mut all, mut untold] = [0, 0];
    for (object, value) in gone {
        let leaves = leaves_of(value);
        if let Some(taken) = left.iter_mut().find(|other| is_renamed((object, &leaves), other.as_ref())) {
            *taken = None;
            all += 1;
            untold += usize::from(object.dangers.iter().all(|danger| danger.kind() != "removed"));
        }
    }
    [all, untold]
}

/// What each object of an Application is called before or after that goes, or comes, under another name.
pub(super) fn counterparts<'a>(pairs: &[Pair<'a>]) -> HashMap<*const Manifest, &'a Manifest> {
    let gone: Vec<&Manifest> = pairs.iter().filter(|pair| pair.new.is_none()).filter_map(|pair| pair.old).collect();
    let new: Vec<&Manifest> = pairs.iter().filter(|pair| pair.old.is_none()).filter_map(|pair| pair.new).collect();
    let mut counterparts = HashMap::new();
    if gone.is_empty() || gone.len().saturating_mul(new.len()) > PAIRS_MAX {
        return counterparts;
    }
    let place = |one: &'a Manifest| [one.home_group(), one.kind(), one.namespace()];
    let mut left: Vec<(&Manifest, Leaves)> = new.into_iter().map(|one| (one, leaves_of(one.object()))).collect();
    for old in gone {
        let leaves = leaves_of(old.object());
        let is_it = |(new, others): &(&'a Manifest, Leaves)| place(old) == place(new) && are_alike(&leaves, others);
        if let Some(at) = left.iter().position(is_it) {
            let (new, _) = left.remove(at);
            counterparts.insert(std::ptr::from_ref(old), new);
            counterparts.insert(std::ptr::from_ref(new), old);
        }
    }
    counterparts
}

/// The objects that come, or go, with what they are.
fn whole(objects: &[ObjectDiff], change: Change) -> impl Iterator<Item = (&ObjectDiff, &Value)> {
    let of_change = objects.iter().filter(move |object| object.change == change);
    of_change.filter_map(|object| Some((object, value(&object.difference)?)))
}

fn value(difference: &Difference) -> Option<&Value> {
    match difference {
        Difference::Leaf(leaf) => leaf.old.as_ref().or(leaf.new.as_ref()),
        _ => None,
    }
}

fn is_renamed((gone, leaves): (&ObjectDiff, &Leaves), new: Option<&(&ObjectDiff, Leaves)>) -> bool {
    let Some((new, others)) = new else { return false };
    let place = |object: &ObjectDiff| (object.object.kind.clone(), object.object.namespace.clone());
    place(gone) == place(new) && are_alike(leaves, others)
}
