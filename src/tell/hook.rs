//! What git's hooks call: a push is never lost or held up by us, and is refused only where an admin wants that,
//! or stopped where the pusher does.

use std::io::Read;

mod options;
pub(super) mod outside;
mod post_receive;
mod pre_push;
mod pre_receive;
mod successor;

pub(crate) use options::{Options, Strict, UnknownWord, access};
pub use post_receive::post_receive;
pub(crate) use pre_push::pre_push;
pub(crate) use pre_receive::pre_receive;
pub(crate) use successor::ARGUMENT as WAITS;
pub use successor::Patience;

use crate::hydrate::RefUpdate;
use crate::repo::object_id;

/// How much of standard input is read: a line of 200 bytes for each of 300,000 refs.
const STDIN_BYTES_MAX: u64 = 64 << 20;

/// What git says to a hook on standard input, for a process that is started again to read it again. Of more than a hook takes
/// there is enough to tell.
pub(crate) fn input(stdin: impl Read) -> Vec<u8> {
    let mut lines = Vec::new();
    drop(stdin.take(STDIN_BYTES_MAX + 1).read_to_end(&mut lines));
    lines
}

/// What comes before the names of refs that a hook reads from its input: nothing, unless the server gives the push a
/// namespace.
///
/// Reference: git 2.47 environment.c `expand_namespace`.
fn namespace() -> String {
    let namespace = std::env::var("GIT_NAMESPACE").unwrap_or_default();
    let components = namespace.split('/').filter(|component| !component.is_empty());
    components.map(|component| format!("refs/namespaces/{component}/")).collect()
}

/// Reads a line of a hook's input: `<old> <new> <ref>`, the ref below `namespace`.
fn ref_update(line: &str, namespace: &str) -> Option<RefUpdate> {
    let mut words = line.splitn(3, ' ');
    let (old, new, name) = (words.next()?, words.next()?, format!("{namespace}{}", words.next()?));
    let id = |text| object_id(text).filter(|id| !id.is_null());
    Some(RefUpdate { name, old: id(old), new: id(new) })
}
