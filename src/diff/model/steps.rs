//! How much is looked at for one change: counted in steps, since time is another on each machine.

use std::cell::Cell;

/// How many steps are taken for all changes of a branch, about; a step takes some nanoseconds.
const STEPS: u64 = 500_000_000;

/// How many are taken for one change at least, for each object of the branch: a rule may look at all of them.
const PER_OBJECT: u64 = 32;

/// How many are taken for one change at least.
const LEAST: u64 = 100_000;

thread_local! {
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// How many steps may be taken for each of so many changes, beside so many objects. It depends on nothing else, so each run says
/// the same.
pub(in crate::diff) fn limit(changes: usize, objects: usize) -> u64 {
    let share = STEPS / (changes as u64).max(1);
    share.max(LEAST).max(PER_OBJECT.saturating_mul(objects as u64))
}

/// Takes the steps of one change in this thread: what it gives, and how many were taken; no value where there were more than
/// `limit`.
pub(in crate::diff) fn within<T>(limit: u64, judge: impl FnOnce() -> T) -> (Option<T>, u64) {
    LEFT.set(limit);
    let value = judge();
    let left = LEFT.replace(u64::MAX);
    ((left > 0).then_some(value), limit - left)
}

/// Whether so many more steps may be taken. After the last one, no object is found any more.
pub(super) fn take(steps: usize) -> bool {
    let left = LEFT.get();
    if left == u64::MAX {
        return true;
    }
    let left = left.saturating_sub(steps as u64);
    LEFT.set(left);
    left > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_too_many_steps_has_no_value() {
        let count = |steps: usize| within(10, || (0..steps).take_while(|_| take(1)).count());
        assert_eq!(count(9), (Some(9), 9));
        assert_eq!(count(100), (None, 10));
        // What is outside of it is not counted.
        assert!((0..100).all(|_| take(1)));
    }

    #[test]
    fn a_change_has_steps_to_look_at_each_object() {
        assert_eq!(limit(1, 10), STEPS);
        assert_eq!(limit(usize::MAX, 10), LEAST);
        assert_eq!(limit(100_000, 100_000), 3_200_000);
    }
}
