//! Time limits for work that cannot be interrupted from outside: it asks now and then whether to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::machine::Isolation;

/// How much later than its limit work may be told to stop.
const TICK: Duration = Duration::from_millis(50);

/// How much longer than its time limit a render may take to notice that it is over.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// How many ticks later the process is given up, when somebody goes on after it.
const GRACE_TICKS: u128 = GRACE.as_nanos() / TICK.as_nanos();

/// Keeps any number of time limits. No one looks at a clock for it: a thread wakes up every [`TICK`] and counts.
///
/// Where no thread can be started, there are no limits.
#[derive(Debug)]
pub struct Watch {
    limits: Limits,
    /// The thread ends when this is gone.
    _end: mpsc::Sender<()>,
}

type Limits = Arc<Mutex<Vec<Limit>>>;

#[derive(Debug)]
struct Limit {
    ticks_left: u128,
    /// The same after the limit, until the process is given up.
    grace_left: u128,
    over: Arc<AtomicBool>,
}

impl Watch {
    /// Begins to count. Work that goes on for a second after it was told to stop cannot be stopped: where `isolation` says
    /// that somebody goes on after this process, the process is ended. So nothing that lasts may be done by such work.
    pub fn start(isolation: Isolation) -> Self {
        let limits = Limits::default();
        let (end, is_end) = mpsc::channel::<()>();
        let counted = limits.clone();
        let count = move || {
            while is_end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                for limit in locked(&counted).iter_mut() {
                    match limit.ticks_left.checked_sub(1) {
                        Some(left) => limit.ticks_left = left,
                        None => limit.pass(isolation),
                    }
                }
            }
        };
        drop(thread::Builder::new().name("time-limit".to_owned()).spawn(count));
        Self { limits, _end: end }
    }

    /// Does `work`, and sets `over` when it takes longer than `limit`.
    pub fn within<T>(&self, limit: Duration, over: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
        let ticks_left = limit.as_nanos().div_ceil(TICK.as_nanos());
        locked(&self.limits).push(Limit { ticks_left, grace_left: GRACE_TICKS, over: over.clone() });
        let _watched = Watched { limits: &self.limits, over };
        work()
    }
}

impl Limit {
    /// One more tick after the limit.
    fn pass(&mut self, isolation: Isolation) {
        self.over.store(true, Ordering::Relaxed);
        match (self.grace_left.checked_sub(1), isolation) {
            (Some(left), _) => self.grace_left = left,
            (None, Isolation::Together) => std::process::abort(),
            (None, Isolation::Alone | Isolation::Apart) => {}
        }
    }
}

/// Takes a limit away, also when the work ends by a panic.
struct Watched<'a> {
    limits: &'a Limits,
    over: &'a Arc<AtomicBool>,
}

impl Drop for Watched<'_> {
    fn drop(&mut self) {
        locked(self.limits).retain(|limit| !Arc::ptr_eq(&limit.over, self.over));
    }
}

fn locked(limits: &Limits) -> MutexGuard<'_, Vec<Limit>> {
    limits.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_set_only_when_time_is_over() {
        let watch = Watch::start(Isolation::Alone);
        let (over, other) = (Arc::default(), Arc::default());
        assert_eq!(watch.within(Duration::from_secs(3600), &over, || 7), 7);
        watch.within(Duration::from_secs(3600), &over, || {
            watch.within(Duration::ZERO, &other, || {
                while !other.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            });
        });
        assert!(!over.load(Ordering::Relaxed));
        assert!(locked(&watch.limits).is_empty());
    }
}
