//! Dry trees that are too large to be searched for Applications, or name too many branches: found out once, not by every push.

use crate::argo::BranchName;
use crate::known::{Cache, Unsearched};
use crate::metadata::ENGINE_REVISION;
use crate::render::Renderers;
use crate::repo::{ObjectId, Repository};
use dry_files::diag::Diagnostic;

use crate::owners::heads::DryHead;
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;

/// The cache of a repository, unless git config `hydrate.cache` is false.
pub(crate) fn cache(repository: &Repository) -> Option<Cache> {
    let wanted = repository.config_bool("hydrate.cache").unwrap_or(true);
    wanted.then(|| Cache::new(repository.common_dir().join("hydrate").join("cache"), repository.shared()))
}

/// What is said of a dry branch of which too much would have to be remembered.
pub(crate) fn forgotten(branch: &str) -> String {
    format!("what is known of `{branch}` is too large to be kept, so each push looks at all of its Applications")
}

/// The dry branches of a repository of which too much would have to be remembered.
pub(crate) fn forgotten_branches(repository: &Repository) -> Vec<String> {
    cache(repository).map(|cache| cache.too_large()).unwrap_or_default()
}

/// What the cache knows of such trees, and what was found out since.
#[derive(Debug, Default)]
pub(crate) struct UnsearchedTrees {
    /// None until somebody asks.
    known: Option<Unsearched>,
    has_new: bool,
}

impl UnsearchedTrees {
    /// Tries again what is known to be too large.
    pub(crate) fn retry(&mut self) {
        self.known = Some(Unsearched::default());
    }

    /// Why a dry tree is not searched; none when that is not known.
    pub(crate) fn why(&mut self, search: &Search<'_>, repository: &Repository) -> Option<(&Diagnostic, Because)> {
        let known = self.known(repository);
        let all = [Because::Tree, Because::Shares, Because::Branches];
        all.into_iter().find_map(|because| Some((known.why(&search.id(because))?, because)))
    }

    /// Notes why a dry tree is not searched.
    pub(crate) fn add(&mut self, search: &Search<'_>, because: Because, repository: &Repository, why: &Diagnostic) {
        self.known(repository).add(search.id(because), why.clone());
        self.has_new = true;
    }

    /// Leaves for the next run what this one found out.
    pub(crate) fn write(&self, repository: &Repository) {
        if let (true, Some(known), Some(cache)) = (self.has_new, &self.known, cache(repository)) {
            // Without an entry it is found out again.
            drop(cache.save_unsearched(known));
        }
    }

    fn known(&mut self, repository: &Repository) -> &mut Unsearched {
        self.known.get_or_insert_with(|| cache(repository).map(|cache| cache.load_unsearched()).unwrap_or_default())
    }
}

/// What keeps a dry tree from being searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Because {
    /// It is too large, wherever it is looked at.
    Tree,
    /// It is too large for this machine.
    Shares,
    /// It would feed too many branches.
    Branches,
}

/// A search of a dry tree, with all that it depends on whether it is made.
pub(crate) struct Search<'s> {
    pub tree: ObjectId,
    /// The settings have the limits.
    pub policy: &'s Policy,
    pub dry_branch: &'s BranchName,
    pub shares: Shares,
    /// How many branches are hydrated from the dry branch, as recorded and as they are.
    fed: (usize, usize),
}

impl<'s> Search<'s> {
    /// That of a tree of `head`.
    pub(crate) fn of(
        tree: ObjectId,
        policy: &'s Policy,
        (head, heads): (&'s DryHead, &[DryHead]),
        found: &Snapshot<'_>,
    ) -> Self {
        let dry_branch = &head.branch;
        let recorded = found.records.iter().filter(|(_, record)| record.dry_branch == *dry_branch).count();
        let fed = (recorded, found.hydrated_from(dry_branch).count());
        Self { tree, policy, dry_branch, shares: Shares::of(heads, found.setup.renderers), fed }
    }

    fn id(&self, because: Because) -> String {
        let settings = self.policy.id.map(|id| id.to_string()).unwrap_or_default();
        let by = match because {
            Because::Tree => String::new(),
            Because::Shares => format!(" {} of {}", self.shares.branches, self.shares.run_memory),
            Because::Branches => format!(" {} beside {:?}", self.dry_branch, self.fed),
        };
        format!("{} {settings} {ENGINE_REVISION} {}{by}", self.tree, env!("CARGO_PKG_VERSION"))
    }
}

/// How many bytes of memory a byte of files with Applications takes, at most, once all is found that follows from it.
const MEMORY: u64 = 32;

/// What each dry branch gets of the memory of a run, after one run died of it. The limits of a tree are no help where several
/// trees are near them, or where there is little memory.
///
/// Half is for the default branch and the rest is shared evenly, so that what one dry branch is given depends on no other.
#[derive(Debug)]
pub(crate) struct Shares {
    default: Option<BranchName>,
    branches: usize,
    run_memory: u64,
    /// Whether they are kept to: nothing has died yet where they are not.
    is_kept: bool,
}

impl Shares {
    /// Those of the dry branches that a run looks at, the default one first.
    pub(crate) fn of(heads: &[DryHead], renderers: &Renderers) -> Self {
        Self {
            default: heads.first().map(|head| head.branch.clone()),
            branches: heads.len(),
            run_memory: renderers.limits().run_memory,
            is_kept: renderers.are_apart(),
        }
    }

    /// How large the files with Applications of a dry branch may be; none where only the limits of a tree count.
    pub(crate) fn of_branch(&self, branch: &BranchName) -> Option<u64> {
        let all = self.run_memory / MEMORY;
        let others = (self.branches as u64).saturating_sub(1);
        let share = match self.default.as_ref() == Some(branch) {
            _ if others == 0 => all,
            true => all / 2,
            false => all / 2 / others,
        };
        (self.is_kept && self.run_memory > 0).then_some(share)
    }

    /// What is said of a dry branch that is not searched: which one, where there are several.
    pub(crate) fn told(&self, why: &Diagnostic, branch: &BranchName, because: Because) -> Diagnostic {
        if because == Because::Branches {
            return why.clone();
        }
        let message = match self.branches {
            0 | 1 => why.message.clone(),
            _ => format!("`{branch}` is not searched: {}", why.message),
        };
        let told = Diagnostic { message, ..why.clone() };
        match because == Because::Shares {
            true => told.hint("git config hydrate.runMemory sets the limit, of which each dry branch has a share"),
            false => told,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_memory_is_for_the_default_branch() {
        let branch = |name: &str| BranchName::new(name).expect("a name");
        let shares =
            |branches, run_memory, is_kept| Shares { default: Some(branch("main")), branches, run_memory, is_kept };
        let rows = [
            (shares(1, 3200, true), Some(100), Some(100)),
            (shares(2, 3200, true), Some(50), Some(50)),
            (shares(6, 3200, true), Some(50), Some(10)),
            (shares(6, 3200, false), None, None),
            (shares(6, 0, true), None, None),
        ];
        for (shares, main, other) in rows {
            assert_eq!(
                (shares.of_branch(&branch("main")), shares.of_branch(&branch("other"))),
                (main, other),
                "{shares:?}"
            );
        }
    }
}
