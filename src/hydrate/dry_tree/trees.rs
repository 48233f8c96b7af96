//! The dry trees of a repository.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{ContentId, Files, Kind, View};

use super::{DryTree, by_branch, hydrated};
use crate::argo::{self, BranchName};
use crate::discover::{Broken, Discovered, Discovery};
use crate::hydrate::barren::BarrenCache;
use crate::metadata::{DryCommit, allowed_removals};
use crate::owners::branch_limit::too_many;
use crate::owners::error::HydrateError;
use crate::owners::failed_makers::FailedMakers;
use crate::owners::heads::DryHead;
use crate::owners::making::Making;
use crate::owners::policy::Policy;
use crate::owners::snapshot::Snapshot;
use crate::owners::unsearched::{Because, Search, UnsearchedTrees};
use crate::repo::{ObjectId, Repository, TreeFiles};

/// The files of how many trees are kept: a commit and the one before it.
const FILES_MAX: usize = 2;

/// The dry trees of a repository, each read once however often it is asked for.
#[derive(Default)]
pub(crate) struct DryTrees<'a> {
    discovery: Discovery,
    known: HashMap<ObjectId, Rc<DryTree>>,
    /// The files of the trees that were looked at last, the last one at the end.
    files: Vec<Rc<TreeFiles<'a>>>,
    /// Those that are too large.
    pub unsearched: UnsearchedTrees,
    /// Large files of them that have no Applications.
    pub barren: BarrenCache,
    /// The makers of them that failed.
    pub failed: Rc<FailedMakers>,
    /// The one that was read last by settings that a branch was hydrated with before.
    former: Option<(ObjectId, Option<ObjectId>, Rc<DryTree>)>,
}

impl<'a> DryTrees<'a> {
    /// The files of a dry tree: its directories stay read for the next look.
    pub(crate) fn files(&mut self, tree: ObjectId, repository: &'a Repository) -> Rc<TreeFiles<'a>> {
        let root = ContentId::new(tree.as_bytes());
        let known = self.files.iter().position(|files| files.root() == root).map(|place| self.files.remove(place));
        let files = known.unwrap_or_else(|| Rc::new(TreeFiles::new(repository, tree)));
        self.files.push(files.clone());
        if self.files.len() > FILES_MAX {
            self.files.remove(0);
        }
        files
    }

    /// The Applications of a dry commit, taken for one of the dry branch `head`.
    pub(crate) fn read(
        &mut self,
        dry: ObjectId,
        head: &DryHead,
        heads: &[DryHead],
        found: &Snapshot<'a>,
    ) -> Result<Rc<DryTree>, HydrateError> {
        // Two dry branches may share a commit, and the Applications in it are not the same ones for both.
        if let Some(tree) = self.known.get(&dry).filter(|tree| tree.branch == head.branch) {
            return Ok(tree.clone());
        }
        let shared = found.setup.discovery;
        let mut discovery = shared.map_or_else(|| std::mem::take(&mut self.discovery), RefCell::take);
        let tree = self.read_anew(&mut discovery, &found.policy, dry, head, heads, found);
        match shared {
            Some(shared) => drop(shared.replace(discovery)),
            None => self.discovery = discovery,
        }
        let tree = tree?;
        self.known.insert(dry, tree.clone());
        Ok(tree)
    }

    /// The Applications of a dry commit by former settings.
    pub(crate) fn read_by(
        &mut self,
        former: &Policy,
        dry: ObjectId,
        head: &DryHead,
        heads: &[DryHead],
        found: &Snapshot<'a>,
    ) -> Result<Rc<DryTree>, HydrateError> {
        if let Some((id, settings, tree)) = &self.former
            && (*id, *settings, &tree.branch) == (dry, former.id, &head.branch)
        {
            return Ok(tree.clone());
        }
        let tree = self.read_anew(&mut Discovery::default(), former, dry, head, heads, found)?;
        self.former = Some((dry, former.id, tree.clone()));
        Ok(tree)
    }

    fn read_anew(
        &mut self,
        discovery: &mut Discovery,
        policy: &Policy,
        dry: ObjectId,
        head: &DryHead,
        heads: &[DryHead],
        found: &Snapshot<'a>,
    ) -> Result<Rc<DryTree>, HydrateError> {
        let repository = found.setup.repository;
        let commit = repository.commit(dry)?;
        let tree = found.dry_tree(dry)?;
        let files = self.files(tree, repository);
        let id = dry.to_string();
        let (branch, default) = (Some(&head.branch), found.default_branch_for(&head.branch));
        let failed = Some(self.failed.by(policy, found.setup.renderers, repository));
        let making = Making { failed, ..policy.making(found.setup.renderers, &id) };
        let search = Search::of(commit.tree, policy, (head, heads), found);
        let unsearched = |why: &Diagnostic, because| {
            let told = search.shares.told(why, &head.branch, because);
            Discovered::unsearched_by(told, because == Because::Shares)
        };
        let mut discovered = match self.unsearched.why(&search, repository) {
            Some((why, because)) => unsearched(why, because),
            None => {
                discovery.remember(self.barren.by(policy, repository));
                discovery.hold_to(search.shares.of_branch(&head.branch));
                let discovered = policy.discover(discovery, &*files, branch, default, &making);
                let discovered = discovered.map_err(HydrateError::tree(dry))?;
                match discovered.unsearched_tree() {
                    Some(Broken { diagnostic, is_limit, .. }) => {
                        let because = if *is_limit { Because::Shares } else { Because::Tree };
                        self.unsearched.add(&search, because, repository, diagnostic);
                        unsearched(diagnostic, because)
                    }
                    None => discovered,
                }
            }
        };
        let view = View::new(&*files);
        let is_directory = |path: &RepoPath| matches!(view.kind(path), Ok(Some(Kind::Directory)));
        let judge = |discovered: &Discovered| {
            let applications = &discovered.applications;
            found.with_context(policy, head, heads, &is_directory, |context| {
                let is_unset = context.repo_urls.is_empty();
                let proven = is_unset.then(|| argo::proven_repository(applications, context)).flatten();
                (argo::validate(applications, context), proven.map(str::to_owned))
            })
        };
        let (mut verdict, mut proven_url) = judge(&discovered);
        let feeding = hydrated(&verdict, &discovered).map(|application| &**application);
        let is_there = |branch: &BranchName| found.is_hydrated(branch);
        let fed = found.hydrated_from(&head.branch);
        if let Some(why) = too_many(&head.branch, feeding, fed, is_there, policy.settings.limits.branches) {
            self.unsearched.add(&search, Because::Branches, repository, &why);
            discovered = unsearched(&why, Because::Branches);
            (verdict, proven_url) = judge(&discovered);
        }
        Ok(Rc::new(DryTree {
            branch: head.branch.clone(),
            settings: policy.id,
            commit: DryCommit::new(&commit),
            tree,
            allowed_removals: allowed_removals(&commit.message),
            by_branch: by_branch(hydrated(&verdict, &discovered)),
            discovered,
            makes: policy.makes == Some(true),
            roots: policy.settings.roots.iter().map(|root| root.name.clone()).collect(),
            verdict,
            proven_url,
        }))
    }

    /// A dry commit that was read already, for whichever dry branch.
    pub(crate) fn known(&self, dry: ObjectId) -> Option<&Rc<DryTree>> {
        self.known.get(&dry)
    }

    /// All that were read.
    pub(crate) fn all(&self) -> impl Iterator<Item = (ObjectId, &Rc<DryTree>)> {
        self.known.iter().map(|(id, tree)| (*id, tree))
    }

    /// How many were read.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Forgets what was read, since the policy is another one now, or it is too much.
    pub(crate) fn clear(&mut self) {
        self.known.clear();
        self.files.clear();
    }

    /// Takes over what was read for another run.
    pub(crate) fn extend(&mut self, others: Self) {
        self.known.extend(others.known);
    }
}
