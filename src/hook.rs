//! What git's hooks call: a push is never lost or held up by us, and refused only as an admin wants it,
//! or stopped as the pusher does.

mod options;
mod post_receive;
mod pre_push;
mod pre_receive;

pub use options::{Options, Strict, UnknownWord, access};
pub use post_receive::post_receive;
pub use pre_push::pre_push;
pub use pre_receive::pre_receive;

/// How much of standard input is read: a line of 200 bytes for each of 300,000 refs.
const STDIN_BYTES_MAX: u64 = 64 << 20;
