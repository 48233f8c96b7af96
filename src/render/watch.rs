//! A time limit for work that cannot be interrupted from outside: it asks now and then whether to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Does `work`, and sets `over` when it takes longer than `limit`.
///
/// Nobody looks at a clock for it: a second thread waits for the work to end. Where none can be started, there is no
/// limit.
pub fn within<T>(limit: Duration, over: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    let flag = over.clone();
    let watch = thread::Builder::new().name("time-limit".to_owned()).spawn(move || {
        if is_done.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            flag.store(true, Ordering::Relaxed);
        }
    });
    let result = work();
    drop(done);
    drop(watch.map(thread::JoinHandle::join));
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_set_only_when_time_is_over() {
        let over = Arc::default();
        assert_eq!(within(Duration::from_secs(3600), &over, || 7), 7);
        assert!(!over.load(Ordering::Relaxed));
        within(Duration::ZERO, &over, || {
            while !over.load(Ordering::Relaxed) {
                thread::yield_now();
            }
        });
    }
}
