//! Work on many items, on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// From how many items on threads are worth their start.
const PARALLEL_MIN: usize = 32;

/// How many items a thread takes at a time.
const SHARE: usize = 8;

/// Does `work` on every item, the results in their order; on all cores when there are many items.
pub(crate) fn in_shares<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < PARALLEL_MIN {
        return items.iter().map(work).collect();
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(SHARE, Ordering::Relaxed);
            let Some(rest) = items.get(start..).filter(|rest| !rest.is_empty()) else { return done };
            let share = &rest[..rest.len().min(SHARE)];
            done.push((start, share.iter().map(&work).collect::<Vec<_>>()));
        }
    };
    let mut shares: Vec<(usize, Vec<R>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(take)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the work does not panic")).collect()
    });
    shares.sort_unstable_by_key(|(start, _)| *start);
    shares.into_iter().flat_map(|(_, share)| share).collect()
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
