//! What git's hooks call: a push is never lost, failed or held up by us.

mod options;
mod post_receive;

pub use options::Options;
pub use post_receive::post_receive;
