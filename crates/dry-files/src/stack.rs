//! Threads with a stack for whatever templates, documents and bases may nest.

use std::cell::Cell;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};
use std::time::Duration;

/// The stack of such a thread, of which only what is used takes memory.
pub const BYTES: usize = 512 << 20;

thread_local! {
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// How often a thread is started anew where there is no room for its stack, and after how long.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

/// Starts a thread with a deep stack.
///
/// A thread that has ended gives its stack back a moment later. Where memory is limited, there may be no room for the next
/// one until then.
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let work = Arc::new(Mutex::new(Some(work)));
    for _ in 1..TRIES {
        match start(scope, name.clone(), work.clone()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            started => return started,
        }
    }
    start(scope, name, work)
}

fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    work: Arc<Mutex<Option<impl FnOnce() -> T + Send + 'scope>>>,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().name(name).stack_size(BYTES).spawn_scoped(scope, move || do_once(&work))
}

/// Does the work of this thread, which has a deep stack.
fn do_once<T>(work: &Mutex<Option<impl FnOnce() -> T>>) -> T {
    IS_DEEP.set(true);
    let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
    work.expect("only the attempt that started takes it")()
}

/// Does `work` on a deep stack: that of this thread, if it has one, else that of a new one.
pub fn on_deep_stack<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if IS_DEEP.get() {
        return Ok(work());
    }
    scope(|scope| {
        let thread = spawn(scope, name.to_owned(), work)?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Needs more stack than a thread has by default.
    fn depth(left: u32) -> u32 {
        let room = std::hint::black_box([0_u8; 1024]);
        if left == 0 { 0 } else { 1 + depth(left - 1) + u32::from(room[0]) }
    }

    #[test]
    fn a_deep_stack_is_taken_once() {
        let deep = on_deep_stack("deep", || {
            let outer = std::thread::current().id();
            let inner = on_deep_stack("deep", || std::thread::current().id()).expect("needs no thread");
            (outer == inner, depth(100_000))
        });
        assert_eq!(deep.expect("a thread"), (true, 100_000));
    }
}
