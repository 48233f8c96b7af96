//! What renders need from elsewhere: charts, bases of Kustomize, files. Kept in the dry tree, pinned by a lock file.
//!
//! `git hydrate vendor` brings an input here, `git-hydrate-fetch` is the only program that opens a connection for it, and a
//! render looks it up by its [`Key`] among the files of a [`View`](dry_files::view::View) ([`KeptInputs`]). An input that is not
//! there is a mistake of the dry commit, and so is one whose files are not those that [`LOCK`] says.
//!
//! Where inputs are: the charts that a `Chart.yaml` or a kustomization names are where Helm and Kustomize look for them;
//! everything else is below the directory that a setting names ([`InputsDir`], [`Key::place`]). Applications, generators and
//! directory sources never look there.
//!
//! [`Scan`] finds what sources need, [`archive`] takes packaged charts apart, [`index`] chooses the version of a chart.

pub(crate) mod archive;
mod chart_lock;
mod content;
mod dir;
pub(crate) mod index;
mod kept;
mod key;
mod lock;
mod name;
mod remote;
mod scan;
mod stray;
mod walk;
pub(crate) mod wire;

pub(crate) use chart_lock::ChartLock;
pub use content::InputFile;
pub(crate) use content::{digest, files, without_those_of_git};
pub(crate) use dir::InputsDir;
pub(crate) use kept::VENDOR;
pub(crate) use kept::{KeptInputs, Unusable, check};
pub use key::{Key, is_exact_version};
pub(crate) use key::{KeyError, Kind};
pub(crate) use lock::{Entry, Lock, LockError};
pub(crate) use remote::{Remote, is_url};
pub(crate) use scan::{Found, Need, Scan, Source};
pub(crate) use stray::Strays;
pub(crate) use walk::{Mention, Place, Step, What, walk};

/// The directory of the lock file, at the root of a dry tree.
pub(crate) const TOP: &str = ".hydrate";

/// The lock file.
pub(crate) const LOCK: &str = ".hydrate/inputs.lock";

/// Its path.
pub(crate) fn lock_path() -> dry_files::path::RepoPath {
    dry_files::path::RepoPath::clean(LOCK).unwrap_or_default()
}
