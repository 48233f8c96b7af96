//! What sources need from elsewhere: found by reading them ([`Scan`]), and looked up for the engines ([`Vendored`]).

mod dependencies;
mod lookup;
mod scan;
mod walk;

use inputs::{Key, KeyError};
use kustomize_build::Remote;

pub use lookup::Vendored;
pub(crate) use scan::{Content, Found, Need, Scan, Source};
pub(crate) use walk::{Mention, Place, Step, What, walk};

/// The repository of a remote base: the key does not say which of its directories is meant.
pub(crate) fn git_key(remote: &Remote) -> Result<Key, KeyError> {
    Key::repository(&remote.clone_url(), &remote.reference)
}
