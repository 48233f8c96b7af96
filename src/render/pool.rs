//! Many renders at once.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use dry_files::stack;

/// Does `work` on every item, on `threads` threads; results in the order of the items.
///
/// `done` is called on this thread, with the number of items that are ready. A panic in one item is reported as its text and
/// touches no other. No thread ends before all are done: the room of its stack would be taken for memory that the others may
/// have. Errors: not one thread could be started.
pub(super) fn in_order<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
    done: &dyn Fn(usize),
) -> io::Result<Vec<Result<R, String>>> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<Result<R, String>>>> = items.iter().map(|_| Mutex::new(None)).collect();
    let (ready, is_ready) = mpsc::channel();
    let threads = threads.max(1).min(items.len());
    let gate = Mutex::new(());
    thread::scope(|scope| {
        let closed = gate.lock();
        let mut started = Vec::new();
        for number in 0..threads {
            let ready = ready.clone();
            let (next, results, work, gate) = (&next, &results, &work, &gate);
            let run = move || {
                take_items(items, next, work, results, ready);
                drop(gate.lock());
            };
            // Engines recurse as deep as their limits allow.
            match stack::spawn(scope, format!("render-{number}"), run) {
                Ok(thread) => started.push(thread),
                Err(error) if number == 0 => return Err(error),
                Err(_) => break,
            }
        }
        drop(ready);
        (1..).zip(is_ready).for_each(|(count, ())| done(count));
        drop(closed);
        // Once it is joined, a thread has given its stack back.
        started.into_iter().for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        Ok(())
    })?;
    let taken = results.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    Ok(taken.map(|result| result.expect("the threads ended when no item was left")).collect())
}

/// Does `work` on one item after the other, each of which no other thread has taken, and says each time that one is ready.
fn take_items<T, R>(
    items: &[T],
    next: &AtomicUsize,
    work: impl Fn(&T) -> R,
    results: &[Mutex<Option<Result<R, String>>>],
    ready: mpsc::Sender<()>,
) {
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let (Some(item), Some(slot)) = (items.get(index), results.get(index)) else { break };
        let result = catch_unwind(AssertUnwindSafe(|| work(item))).map_err(|panic| text_of(&*panic));
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
        // No one listens any more only when the caller is gone.
        let _ = ready.send(());
    }
}

pub(super) fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<usize> = (0..500).collect();
        for threads in [0, 1, 3, 1000] {
            let count = Cell::new(0);
            let results = in_order(&items, threads, |item| item * 2, &|done| count.set(done)).expect("threads");
            let expected: Vec<_> = items.iter().map(|item| Ok(item * 2)).collect();
            assert_eq!((results, count.get()), (expected, 500), "{threads} threads");
        }
        assert!(in_order(&[] as &[usize], 2, |item| *item, &|_| ()).expect("no thread").is_empty());
    }

    #[test]
    fn a_panic_is_the_result_of_its_item_only() {
        let results = in_order(&[1, 2, 3], 2, |item| if *item == 2 { panic!("item {item}") } else { *item }, &|_| ());
        assert_eq!(results.expect("threads"), [Ok(1), Err("item 2".to_owned()), Ok(3)]);
    }
}
