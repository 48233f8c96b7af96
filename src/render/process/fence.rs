//! What the kernel lets this process have.
//!
//! The kernel counts what can be written in memory (`RLIMIT_DATA`): neither packs that are mapped nor what a stack only
//! reserves can be left out there, so every deep stack is added. A soft limit is enough, and the processes that we start may raise it.

use dry_files::stack;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Holds this process to so many bytes of memory beside so many deep stacks: beyond them an allocation fails, which ends
/// the process. What it leaves is no core file. 0 bytes are no limit.
///
/// A kernel that refuses is no reason to render nothing.
pub(crate) fn limit(bytes: u64, stacks: usize) {
    if bytes > 0 {
        let stacks = (stacks as u64).saturating_mul(stack::BYTES as u64);
        set(Resource::Data, bytes.saturating_add(stacks));
    }
    set(Resource::Core, 0);
}

/// Does `work` with so many deep stacks beside the memory: once they are given back, their room is free.
pub(crate) fn with_stacks<T>(bytes: u64, stacks: usize, work: impl FnOnce() -> T) -> T {
    limit(bytes, stacks);
    let done = work();
    limit(bytes, 0);
    done
}

fn set(resource: Resource, bytes: u64) {
    let Rlimit { maximum, .. } = getrlimit(resource);
    let current = Some(maximum.map_or(bytes, |maximum| maximum.min(bytes)));
    let _ = setrlimit(resource, Rlimit { current, maximum });
}
