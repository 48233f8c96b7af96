//! What renders need from elsewhere: charts, bases of Kustomize, files. Kept in the dry tree, pinned by a lock file.
//!
//! `git hydrate vendor` brings an input here, `git-hydrate-fetch` is the only program that opens a connection for it, and a
//! render looks it up by its [`Key`] among the files of a [`View`](crate::view::View) ([`Kept`]). An input that is not
//! there is a mistake of the dry commit, and so is one whose files are not those that [`LOCK`] says.
//!
//! Where inputs are: the charts that a `Chart.yaml` or a kustomization names are where Helm and Kustomize look for them;
//! everything else is below the directory that a setting names ([`InputsDir`], [`Key::place`]). Applications, generators and
//! directory sources never look there.
//!
//! [`Scan`] finds what sources need, [`archive`] takes packaged charts apart, [`index`] chooses the version of a chart.

pub mod archive;
mod chart_lock;
mod content;
mod dir;
pub mod index;
mod kept;
mod key;
mod lock;
mod remote;
mod scan;
mod walk;
pub mod wire;

pub use chart_lock::ChartLock;
pub use content::{InputFile, digest, files};
pub use dir::InputsDir;
pub(crate) use kept::VENDOR;
pub use kept::{Kept, Unusable, check};
pub use key::{Key, KeyError, Kind, is_exact_version};
pub use lock::{Entry, Lock, LockError};
pub use remote::{Remote, is_url};
pub use scan::{Found, Need, Scan, Source};
pub use walk::{Mention, Place, Step, What, walk};

/// The directory of the lock file, at the root of a dry tree.
pub const TOP: &str = ".hydrate";

/// The lock file.
pub const LOCK: &str = ".hydrate/inputs.lock";

/// Its path.
pub fn lock_path() -> crate::path::RepoPath {
    crate::path::RepoPath::clean(LOCK).unwrap_or_default()
}
