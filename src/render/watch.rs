//! Time limits for work that cannot be interrupted from outside: it asks now and then whether to stop.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use dry_files::view::SharedReads;

use super::machine::Isolation;
use super::process::late::{self, Subject};

/// How much later than its limit work may be asked to stop.
const TICK: Duration = Duration::from_millis(50);

/// How much longer than its time limit a render may take to notice that it is over.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// How many ticks later the process is given up, when another process goes on after it.
const GRACE_TICKS: u128 = GRACE.as_nanos() / TICK.as_nanos();

/// Keeps any number of time limits. No one looks at a clock for it: a thread wakes up every [`TICK`] and counts.
///
/// Where no thread can be started, there are no limits.
#[derive(Debug)]
pub(crate) struct Watch {
    limits: Limits,
    /// The thread ends when this is gone.
    _end: mpsc::Sender<()>,
}

type Limits = Arc<Mutex<Vec<Limit>>>;

#[derive(Debug)]
struct Limit {
    ticks_left: u128,
    /// Ticks after the limit, until the process is given up.
    grace_left: u128,
    over: Arc<AtomicBool>,
    /// The work that is limited, and what it reads.
    subject: Option<(Subject, SharedReads)>,
}

impl Watch {
    /// Begins to count. Work that goes on for half a second after its limit cannot be stopped: where `isolation` says that
    /// another process goes on after this one, this one ends, and leaves word in `git_dir` of what was late. So nothing that
    /// lasts may be done by such work.
    pub(crate) fn start(isolation: Isolation, git_dir: Option<PathBuf>) -> Self {
        let limits = Limits::default();
        let (end, is_end) = mpsc::channel::<()>();
        let counted = limits.clone();
        let count = move || count(&counted, &is_end, isolation, git_dir.as_deref());
        drop(thread::Builder::new().name("time-limit".to_owned()).spawn(count));
        Self { limits, _end: end }
    }

    /// Does `work`, and sets `over` when it takes longer than `limit`.
    pub(crate) fn within<T>(&self, limit: Duration, over: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
        self.within_of(None, limit, over, work)
    }

    /// Does `work` as [`Self::within`] does, and says what the work is, and what it reads.
    pub(super) fn within_of<T>(
        &self,
        subject: Option<(Subject, SharedReads)>,
        limit: Duration,
        over: &Arc<AtomicBool>,
        work: impl FnOnce() -> T,
    ) -> T {
        let ticks_left = limit.as_nanos().div_ceil(TICK.as_nanos());
        locked(&self.limits).push(Limit { ticks_left, grace_left: GRACE_TICKS, over: over.clone(), subject });
        let _watched = Watched { limits: &self.limits, over };
        work()
    }
}

/// Counts until there is no one any more who could have a limit. Ends the process when work cannot be stopped.
fn count(limits: &Limits, is_end: &mpsc::Receiver<()>, isolation: Isolation, git_dir: Option<&Path>) {
    while is_end.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        let mut limits = locked(limits);
        limits.iter_mut().for_each(Limit::tick);
        if isolation == Isolation::Together && limits.iter().any(Limit::is_given_up) {
            let late = limits.iter().filter(|limit| limit.is_given_up());
            let late: Vec<_> = late.filter_map(|limit| limit.subject.clone()).collect();
            if let Some(git_dir) = git_dir {
                late::write(git_dir, &late);
            }
            std::process::abort();
        }
    }
}

impl Limit {
    fn tick(&mut self) {
        match self.ticks_left.checked_sub(1) {
            Some(left) => self.ticks_left = left,
            None => {
                self.over.store(true, Ordering::Relaxed);
                self.grace_left = self.grace_left.saturating_sub(1);
            }
        }
    }

    /// Whether the work did not notice that its time is over.
    fn is_given_up(&self) -> bool {
        self.grace_left == 0
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
        let watch = Watch::start(Isolation::Alone, None);
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
