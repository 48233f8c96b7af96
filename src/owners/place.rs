//! Where an operation works: which refs are the branches, and what is believed of the refs beside them.

use crate::argo::{BranchName, DestinationName, OUT};
use crate::repo::{ObjectId, Refs};

/// What branches on a server are below.
const HEADS: &str = "refs/heads/";

/// Where no refs are.
const NOTHING: &str = "refs/hydrate/nothing/";

/// Where environment branches are read and written, and what guards the other refs there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    kind: Kind,
    /// What environment branches and dry branches are read below, such as `refs/heads/` or `refs/remotes/origin/`.
    pub read: String,
    /// What environment branches are written below, such as `refs/heads/` or `refs/remotes/hydrate/`.
    pub write: String,
    /// What branches of other repositories are read below, each below the name of its repository.
    pub out: String,
}

/// Who may have written the refs that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The repository that is pushed to: its hooks guard what is hydration's.
    Server,
    /// The repository that is pushed to, for a question: nothing is written there that counts.
    ServerAsked,
    /// A copy of a repository whose branches are protected, and whose other refs anyone may have written who can push.
    Worker,
    /// A clone, which has the other refs as it fetched them.
    Clone,
    /// A clone of a remote where only the branches are protected.
    CloneOfProtected,
    /// The repository of the remote helper, whose dry branches are hydrated where upstream's environment branches end. Settings
    /// that are not named may be anyone's.
    Helper { has_named_settings: bool },
}

impl Place {
    fn in_place(kind: Kind) -> Self {
        Self { kind, read: HEADS.to_owned(), write: HEADS.to_owned(), out: OUT.to_owned() }
    }

    /// The repository that is pushed to.
    pub fn server() -> Self {
        Self::in_place(Kind::Server)
    }

    /// The repository that is pushed to, where what is hydrated is written below `prefix` of its remotes and counts nowhere.
    pub(crate) fn asked_server(prefix: &str) -> Self {
        Self { write: format!("refs/remotes/{prefix}/"), ..Self::in_place(Kind::ServerAsked) }
    }

    /// A copy of a repository whose branches are protected, and whose other refs anyone may have written who can push.
    pub fn worker() -> Self {
        Self::in_place(Kind::Worker)
    }

    /// A clone of `remote`, which writes below `prefix`.
    pub fn client(remote: &str, prefix: &str) -> Self {
        let (read, write) = (format!("refs/remotes/{remote}/"), format!("refs/remotes/{prefix}/"));
        Self { read, write, ..Self::in_place(Kind::Clone) }
    }

    /// The repository of the remote helper, where upstream's environment branches are below `bases`. Where settings are named,
    /// nothing but branches is believed, as a job does.
    pub(crate) fn helper(bases: &str, has_named_settings: bool) -> Self {
        Self { read: bases.to_owned(), ..Self::in_place(Kind::Helper { has_named_settings }) }
    }

    /// This clone, where nothing but the branches is protected: nothing else that was fetched is believed.
    #[must_use]
    pub fn of_protected_branches(self) -> Self {
        let kind = match self.kind {
            Kind::Clone => Kind::CloneOfProtected,
            Kind::Server | Kind::ServerAsked => Kind::Worker,
            kind @ (Kind::Worker | Kind::CloneOfProtected | Kind::Helper { .. }) => kind,
        };
        Self { kind, ..self }
    }

    /// This place as if there were no branches.
    #[must_use]
    pub(crate) fn without_branches(self) -> Self {
        Self { read: NOTHING.to_owned(), out: NOTHING.to_owned(), ..self }
    }

    /// This place, where what an earlier preview left beside the branches counts for nothing.
    #[must_use]
    pub(crate) fn writing_nowhere(self) -> Self {
        Self { write: NOTHING.to_owned(), ..self }
    }

    /// Whether notes, failures, records and what hydration learns by itself are written.
    pub(crate) fn keeps_records(&self) -> bool {
        matches!(self.kind, Kind::Server | Kind::Worker | Kind::Helper { .. })
    }

    /// Whether a branch without a record is taken for what its commits say: where nothing is deployed from.
    pub(crate) fn believes_commits(&self) -> bool {
        !matches!(self.kind, Kind::Server | Kind::ServerAsked)
    }

    /// Whether records, notes and failures are believed: where no push gets at them. Elsewhere they count as far as the
    /// branches, which are protected, bear them out.
    pub(crate) fn believes_records(&self) -> bool {
        match self.kind {
            Kind::Server | Kind::ServerAsked | Kind::Clone => true,
            Kind::Worker | Kind::CloneOfProtected => false,
            Kind::Helper { has_named_settings } => !has_named_settings,
        }
    }

    /// Whether the settings may be anyone's: another dry branch comes to a branch only by those that this branch was hydrated
    /// with.
    pub(crate) fn doubts_settings(&self) -> bool {
        self.kind == Kind::Helper { has_named_settings: false }
    }

    /// Whether notes and failures, and what records say beside who made a branch, are read where they are guarded. A clone has
    /// them as it fetched them, from a host where anyone may have written them: there they count as far as the branches bear
    /// them out, which are what is deployed.
    pub(crate) fn are_guarded(&self) -> bool {
        self.believes_records() && self.is_of_server()
    }

    /// Whether this is the repository that is pushed to, where settings that were found are written down.
    pub fn is_in_place(&self) -> bool {
        self.keeps_records() && self.read == self.write
    }

    /// Whether the branches are those that others push to, and all objects of them are here.
    pub fn is_of_server(&self) -> bool {
        self.read == HEADS
    }

    /// Whether the branches are what a clone fetched of its remote.
    pub fn is_of_clone(&self) -> bool {
        self.read.starts_with("refs/remotes/")
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
