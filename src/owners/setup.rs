//! The parameters of an operation: repository, names of refs, wake-up, renderers, clock, observer of progress.

use crate::argo::{BranchName, DestinationName, OUT};
use crate::render::Renderers;
use crate::repo::{ObjectId, Refs, Repository};

/// Which dry commits shall be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wake {
    /// Branches that were pushed. All dry branches are looked at, whichever of them these are.
    Pushed(Vec<String>),
    /// All dry branches, without a push.
    Everything,
    /// One commit, taken for the tip of a branch.
    Commit {
        /// The dry branch.
        branch: BranchName,
        /// Its tip.
        tip: ObjectId,
    },
}

/// Where environment branches are read and written: on a server in place, on a client from what was fetched into refs
/// of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefNames {
    /// What environment branches and dry branches are read below, such as `refs/heads/` or `refs/remotes/origin/`.
    pub read: String,
    /// What environment branches are written below, such as `refs/heads/` or `refs/remotes/hydrate/`.
    pub write: String,
    /// What branches of other repositories are read below, each below the name of its repository.
    pub out: String,
    /// Whether notes, failures, records and what hydration learns by itself are written: the server's business.
    pub records: bool,
    /// Whether a branch without a record is taken for what its commits say: where nothing is deployed from.
    pub believes_commits: bool,
    /// Whether records, notes and failures are believed: where no push gets at them. Elsewhere they count as far as the
    /// branches, which are protected, bear them out.
    pub believes_records: bool,
    /// Whether the settings may be anyone's: another dry branch comes to a branch only by those that this branch was hydrated with.
    pub doubts_settings: bool,
}

impl RefNames {
    /// Those of a server: everything in place.
    pub fn server() -> Self {
        Self {
            read: "refs/heads/".to_owned(),
            write: "refs/heads/".to_owned(),
            out: OUT.to_owned(),
            records: true,
            believes_commits: false,
            believes_records: true,
            doubts_settings: false,
        }
    }

    /// Those of a copy of a repository whose branches are protected, and whose other refs anyone may have written who can
    /// push.
    pub fn worker() -> Self {
        Self { believes_commits: true, believes_records: false, ..Self::server() }
    }

    /// Whether notes and failures, and what records say beside who made a branch, are read where they are guarded. A clone has
    /// them as it fetched them, from a host where anyone may have written them: there they count as far as the branches bear
    /// them out, which are what is deployed.
    pub(crate) fn are_guarded(&self) -> bool {
        self.believes_records && self.is_of_server()
    }

    /// Whether this is the repository that is pushed to, where settings that were found are written down.
    pub fn is_in_place(&self) -> bool {
        self.records && self.read == self.write
    }

    /// Whether the branches are those that others push to, and all objects of them are here.
    pub fn is_of_server(&self) -> bool {
        self.read == Self::server().read
    }

    /// Whether the branches are what a clone fetched of its remote.
    pub fn is_of_clone(&self) -> bool {
        self.read.starts_with("refs/remotes/")
    }

    /// Those of a clone of `remote`, which writes below `prefix`.
    pub fn client(remote: &str, prefix: &str) -> Self {
        Self {
            read: format!("refs/remotes/{remote}/"),
            write: format!("refs/remotes/{prefix}/"),
            out: OUT.to_owned(),
            records: false,
            believes_commits: true,
            believes_records: true,
            doubts_settings: false,
        }
    }

    /// Those of a clone of a remote where only the branches are protected: nothing else that is fetched of it is believed.
    pub fn of_protected_branches(self) -> Self {
        Self { believes_records: false, ..self }
    }

    /// The branch that counts as the default one: what the symbolic ref `HEAD` beside the branches leads to, as a clone has
    /// it of its remote, else what the repository's own `HEAD` names.
    pub fn head(&self, refs: &Refs) -> Option<BranchName> {
        let link = format!("{}HEAD", self.read);
        let linked = refs.resolve(&link).strip_prefix(&self.read).filter(|branch| *branch != "HEAD");
        BranchName::new(linked.or(refs.head_branch())?).ok()
    }

    /// The commit that a branch points at.
    pub fn tip(&self, refs: &Refs, branch: &BranchName) -> Option<ObjectId> {
        refs.get(&self.read_name(branch))
    }

    /// The full name of the ref that a branch is read from. A branch of another repository has one place everywhere.
    pub(crate) fn read_name(&self, branch: &BranchName) -> String {
        match branch.destination() {
            None => format!("{}{branch}", self.read),
            Some(destination) => format!("{}{destination}/{}", self.out, branch.name_there()),
        }
    }

    /// The full name of the ref that a branch is written to: where it is read from on a server; in a clone that of another
    /// repository is beside the others, as the branches of a remote of its own.
    pub(crate) fn write_name(&self, branch: &BranchName) -> String {
        match branch.destination() {
            None => format!("{}{branch}", self.write),
            Some(_) if self.is_in_place() => branch.ref_name(),
            Some(destination) => {
                format!("{}@{destination}/{}", self.write.trim_end_matches('/'), branch.name_there())
            }
        }
    }

    /// The branches there are, those of other repositories too, with their tips.
    pub(crate) fn branches<'a>(&'a self, refs: &'a Refs) -> impl Iterator<Item = (BranchName, ObjectId)> + 'a {
        let own = refs.below(&self.read).filter_map(|(name, tip)| Some((BranchName::new(name).ok()?, tip)));
        own.chain(of_destinations(refs, &self.out))
    }
}

/// The branches of other repositories below `out`, with their tips.
pub(crate) fn of_destinations<'a>(refs: &'a Refs, out: &'a str) -> impl Iterator<Item = (BranchName, ObjectId)> + 'a {
    refs.below(out).filter_map(|(name, tip)| {
        let (destination, branch) = name.split_once('/')?;
        Some((BranchName::new(branch).ok()?.at(&DestinationName::new(destination).ok()?), tip))
    })
}

/// What the edge knows and the operation needs.
pub struct Setup<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// Where environment branches are read and written.
    pub refs: RefNames,
    /// Why we are here.
    pub wake: Wake,
    /// Tools and limits of this machine.
    pub renderers: &'a Renderers,
    /// The time, in seconds since 1970, by which branches are frozen; none where no branch counts as frozen.
    pub now: Option<i64>,
    /// For a preview of what freezes hold back, which hydrates as if there were none: the time by which it reports branches as frozen.
    pub thawed_at: Option<i64>,
    /// Whether the rest of a backlog shall wait for the next run.
    pub out_of_time: &'a dyn Fn() -> bool,
    /// Hears of progress.
    pub observer: &'a dyn Observer,
}

impl<'a> Setup<'a> {
    /// A run without a time limit or an observer. `now` is the time, in seconds since 1970.
    pub fn new(repository: &'a Repository, refs: RefNames, wake: Wake, renderers: &'a Renderers, now: i64) -> Self {
        Self {
            repository,
            refs,
            wake,
            renderers,
            now: Some(now),
            thawed_at: None,
            out_of_time: &|| false,
            observer: &Silent,
        }
    }
}

/// Hears what goes on, as it goes on.
pub trait Observer: Sync {
    /// Rendering `total` Applications of a dry commit begins.
    fn rendering(&self, dry_commit: &str, total: usize);
    /// `done` of them are rendered.
    fn rendered(&self, done: usize);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Silent;

impl Observer for Silent {
    fn rendering(&self, _dry_commit: &str, _total: usize) {}
    fn rendered(&self, _done: usize) {}
}
