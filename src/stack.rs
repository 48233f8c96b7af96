//! Threads with a stack for whatever templates, documents and bases may nest.

use std::cell::Cell;
use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

/// The stack of such a thread, of which only what is used takes memory.
pub(crate) const BYTES: usize = 512 << 20;

thread_local! {
    static IS_DEEP: Cell<bool> = const { Cell::new(false) };
}

/// Starts a thread with a deep stack.
pub(crate) fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: String,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    let work = move || {
        IS_DEEP.set(true);
        work()
    };
    Builder::new().name(name).stack_size(BYTES).spawn_scoped(scope, work)
}

/// Does `work` on a deep stack: that of this thread, if it has one, else that of a new one.
pub(crate) fn on_deep_stack<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> io::Result<T> {
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
