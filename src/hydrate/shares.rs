use std::thread;

/// From how many items on threads are worth their start.
const PARALLEL_MIN: usize = 32;

/// Does `work` on every item, the results in their order; on all cores when there are many items.
pub(super) fn in_shares<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if items.len() < PARALLEL_MIN {
        return items.iter().map(work).collect();
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = &work;
    thread::scope(|scope| {
        let shares = items.chunks(items.len().div_ceil(threads));
        let workers: Vec<_> =
            shares.map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<_>>())).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the work does not panic")).collect()
    })
}
