//! Objects that go while others that are much the same come under other names: what a release, a prefix or a suffix is called is
//! another.

use super::pair::{Leaves, are_alike, leaves_of};
use super::{Change, Difference, ObjectDiff};
use go_yaml::Value;

/// How many pairs are compared at most.
const PAIRS_MAX: usize = 40_000;

/// How many of the objects of one Application have another name, and are removed and made anew by that.
pub(super) fn count(objects: &[ObjectDiff]) -> usize {
    let gone: Vec<(&ObjectDiff, &Value)> = whole(objects, Change::Removed).collect();
    let new: Vec<(&ObjectDiff, &Value)> = whole(objects, Change::Added).collect();
    if gone.is_empty() || gone.len().saturating_mul(new.len()) > PAIRS_MAX {
        return 0;
    }
    let mut left: Vec<Option<(&ObjectDiff, Leaves)>> =
        new.into_iter().map(|(object, value)| Some((object, leaves_of(value)))).collect();
    let mut count = 0;
    for (object, value) in gone {
        let leaves = leaves_of(value);
        if let Some(taken) = left.iter_mut().find(|other| is_renamed((object, &leaves), other.as_ref())) {
            *taken = None;
            count += 1;
        }
    }
    count
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
