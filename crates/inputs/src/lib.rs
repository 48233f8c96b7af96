//! What renders need from elsewhere: charts, bases of Kustomize, files. Kept in the dry tree, pinned by a lock file.
//!
//! `git hydrate vendor` brings an input here, `git-hydrate-fetch` is the only program that opens a connection for it, and a
//! render looks it up by its [`Key`] among the files of a [`View`](dry_files::view::View) ([`KeptInputs`]). An input that is not
//! there is a mistake of the dry commit, and so is one whose files are not those that [`LOCK`] says. Beside what a dry tree keeps
//! there is what its server [recorded](Recorded); the lock file wins over it.
//!
//! Where inputs are: the charts that a `Chart.yaml` or a kustomization names are where Helm and Kustomize look for them;
//! everything else is below the directory that a setting names ([`InputsDir`], [`Key::place`]). Applications, generators and
//! directory sources never look there.
//!
//! [`archive`] takes packaged charts apart, [`index`] chooses the version of a chart.

pub mod archive;
mod chart_lock;
mod content;
mod dir;
pub mod index;
mod kept;
mod key;
mod lock;
mod name;
mod recorded;
mod stray;
mod unusable;
mod wanted;
pub mod wire;

pub use chart_lock::{ChartLock, StaleLock};
pub use content::InputFile;
pub use content::{digest, files, without_those_of_git};
pub use dir::InputsDir;
pub use kept::{KeptInputs, check, used};
pub use key::{Key, is_digest, is_exact_version};
pub use key::{KeyError, Kind};
pub use lock::{Entry, Lock, LockError};
pub use recorded::{FILES as RECORDED_FILES, RECORDED, Recorded};
pub use stray::Strays;
pub use unusable::{BRING, Unusable, VENDOR};
pub use wanted::{Wanted, is_below, is_only_spelling};

/// The directory of the lock file, at the root of a dry tree.
pub const TOP: &str = ".hydrate";

/// The lock file.
pub const LOCK: &str = ".hydrate/inputs.lock";

/// Its path.
pub fn lock_path() -> dry_files::path::RepoPath {
    dry_files::path::RepoPath::clean(LOCK).unwrap_or_default()
}
