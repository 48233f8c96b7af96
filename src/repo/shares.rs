//! Work on many items, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// From how many items on threads are worth their start.
const PARALLEL_MIN: usize = 32;

/// How many items a thread takes at a time.
const SHARE: usize = 8;

/// Does `work` on this thread and on others, one for each core or as many as can be started; the results in no order.
pub(crate) fn on_all_cores<R: Send>(work: impl Fn() -> R + Sync) -> Vec<R> {
    let others = thread::available_parallelism().map_or(1, usize::from) - 1;
    thread::scope(|scope| {
        let started = (0..others).map_while(|_| thread::Builder::new().spawn_scoped(scope, &work).ok());
        let started: Vec<_> = started.collect();
        let mut results = vec![work()];
        results.extend(started.into_iter().map(|thread| thread.join().expect("the work does not panic")));
        results
    })
}

/// Does `work` on every item, the results in their order; on all cores when there are many items.
pub(crate) fn in_shares<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < PARALLEL_MIN {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let shares = on_all_cores(|| take_shares(items, &next, &work));
    let mut shares: Vec<Share<R>> = shares.into_iter().flatten().collect();
    shares.sort_unstable_by_key(|(start, _)| *start);
    shares.into_iter().flat_map(|(_, share)| share).collect()
}

/// The index of an item, and the results of it and of those that follow.
type Share<R> = (usize, Vec<R>);

/// Does the work of one thread: of those items that no other takes.
fn take_shares<T, R>(items: &[T], next: &AtomicUsize, work: impl Fn(&T) -> R) -> Vec<Share<R>> {
    let mut done = Vec::new();
    loop {
        let start = next.fetch_add(SHARE, Ordering::Relaxed);
        let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else { return done };
        let share = rest.get(..SHARE).unwrap_or(rest);
        done.push((start, share.iter().map(&work).collect()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_their_items() {
        for count in [0, 1, 31, 32, 33, 1000] {
            let items: Vec<usize> = (0..count).collect();
            assert_eq!(in_shares(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
