//! What a run takes over from the one before, and what it leaves for the next.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::branch::{Branch, MANIFEST};
use super::failed_render::FailedRender;
use super::heads::DryHead;
use super::output::Output;
use super::run::{DryTree, Run};
use crate::application::{Application, BranchName, Context};
use crate::cache::{self, Cache, Encoded, Head, Record, State, Stuck};
use crate::diag::Diagnostic;
use crate::git::{ObjectId, Repository, object_id};
use crate::metadata::ENGINE_REVISION;
use crate::path::RepoPath;
use crate::plan::Expanded;
use crate::publish::HydratedTree;
use crate::shares::in_shares;
use crate::view::{TreeFiles, View};

/// The cache of a repository, and what this run will leave there.
#[derive(Debug)]
pub(super) struct Memory {
    cache: Cache,
    /// Whether what stands there may be started from.
    pub trusted: bool,
    /// What earlier runs knew of the dry branch at hand.
    pub recalled: Option<State>,
    /// What was rendered of the tip of the dry branch at hand.
    pub rendered: BTreeMap<(RepoPath, usize), Encoded>,
    kept: Vec<(String, Kept)>,
}

#[derive(Debug)]
enum Kept {
    /// A state that was loaded and goes on.
    Advanced(Box<State>),
    /// One that was found out without the cache, with the files that are patches.
    New(Box<Head>, Vec<Encoded>, BTreeSet<RepoPath>),
}

impl Memory {
    /// The cache of the repository, unless git config `hydrate.cache` is false.
    pub fn new(repository: &Repository, trusted: bool) -> Option<Self> {
        let wanted = repository.config_bool("hydrate.cache").unwrap_or(true);
        let dir = repository.common_dir().join("hydrate").join("cache");
        let cache = || Cache::new(dir, repository.shared());
        wanted.then(|| Self { cache: cache(), trusted, recalled: None, rendered: BTreeMap::new(), kept: Vec::new() })
    }

    /// Leaves for the next run what this one found out. Only when all refs have moved, it is true.
    pub fn write(self) {
        for (name, kept) in self.kept {
            // Whoever finds nothing finds it out again.
            drop(match kept {
                Kept::Advanced(state) => self.cache.save(&name, &state),
                Kept::New(head, records, patches) => self.cache.save_all(&name, &head, records, &patches),
            });
        }
    }
}

impl Run<'_> {
    /// What is known of a dry branch, as far as results go.
    pub(super) fn recall(&self, head: &DryHead) -> Option<State> {
        let state = self.memory.as_ref()?.cache.load(&self.state_name(head))?;
        (state.head.context == self.state_context()).then_some(state)
    }

    /// Whether a state tells of the branches as well: whoever starts there needs to look only at what changed since.
    pub(super) fn is_start(&self, state: &State, head: &DryHead, heads: &[DryHead]) -> bool {
        let Head { facts, revisions, destinations, branches, .. } = &state.head;
        self.memory.as_ref().is_some_and(|memory| memory.trusted)
            && branches.is_some()
            && *facts == self.state_facts(head, heads, revisions, destinations)
    }

    /// Keeps a state that was brought up to `dry`, and the tips that its branches have now.
    pub(super) fn keep(&mut self, mut state: State, head: &DryHead, dry: ObjectId) {
        state.head.dry_commit = dry.to_string();
        for branch in state.head.branches.iter_mut().flatten() {
            let now = BranchName::new(&branch.name).ok().and_then(|name| self.branches.get(&name)?.tip.as_ref());
            branch.tip = now.map(|tip| tip.id.to_string()).unwrap_or_default();
        }
        let name = self.state_name(head);
        if let Some(memory) = self.memory.as_mut().filter(|_| !self.is_cut_off) {
            memory.kept.push((name, Kept::Advanced(Box::new(state))));
        }
    }

    /// Keeps what is known of the tip of a dry branch now. `names` are its environment branches.
    pub(super) fn keep_all(
        &mut self,
        head: &DryHead,
        heads: &[DryHead],
        tree: &DryTree,
        names: &BTreeMap<BranchName, Vec<ObjectId>>,
        warnings: Vec<Diagnostic>,
    ) {
        let Some(memory) = &mut self.memory else { return };
        let mut rendered = std::mem::take(&mut memory.rendered);
        let earlier = memory.recalled.take();
        let count = tree.hydrated().count();
        if self.is_cut_off || (rendered.is_empty() && count > 0) {
            return;
        }
        let is_whole = tree.is_sound() && rendered.len() == count;
        let stuck: Vec<Stuck> = names.keys().filter_map(|name| self.stuck_branch(name, head)).collect();
        let moving = names.keys().filter(|name| stuck.iter().all(|stuck| stuck.name != name.as_str()));
        let branches: Option<Vec<_>> = moving.map(|name| self.known_branch(name, head, tree)).collect();
        // What was not tried now, because something else is wrong, may serve again.
        for application in tree.hydrated().filter(|_| !is_whole) {
            if let Entry::Vacant(vacant) = rendered.entry((application.file.clone(), application.index)) {
                let known = earlier.as_ref().and_then(|state| known_record(state, application));
                known.map(|record| vacant.insert(record.encode()));
            }
        }
        let (revisions, destinations) = tree.branch_names();
        let state = Head {
            dry_commit: head.tip.to_string(),
            context: self.state_context(),
            facts: self.state_facts(head, heads, &revisions, &destinations),
            branches: branches.filter(|_| is_whole),
            stuck,
            revisions,
            destinations,
            warnings,
        };
        let (name, patches) = (self.state_name(head), tree.patches().clone());
        let makers = tree.expanded().iter().cloned();
        let makers = makers.map(|Expanded { file, ordinal, reads, repeats }| {
            let record = Record::of_maker(file, ordinal, (*reads).clone());
            Record { names_the_commit: !repeats, ..record }.encode()
        });
        let records = rendered.into_values().chain(makers).collect();
        if let Some(memory) = &mut self.memory {
            memory.kept.push((name, Kept::New(Box::new(state), records, patches)));
        }
    }

    /// A branch as a state has it; none when it is not just what hydration makes of the tip.
    fn known_branch(&self, name: &BranchName, head: &DryHead, tree: &DryTree) -> Option<cache::Branch> {
        let branch = self.branches.get(name).filter(|branch| branch.has_reached(head.tip))?;
        Some(cache::Branch {
            name: name.to_string(),
            sync: branch.sync.to_string(),
            tip: branch.tip.as_ref()?.id.to_string(),
            applications: branch.applications,
            repo_url: self.repo_url(tree.applications(name).next()).to_owned(),
        })
    }

    /// A branch that stays behind as a state has it; none when it is not a render that failed at the tip.
    fn stuck_branch(&self, name: &BranchName, head: &DryHead) -> Option<Stuck> {
        self.branches.get(name).and_then(|branch| stuck(branch, head.tip))
    }

    /// What an earlier run left behind, as `head` of the state says, is what it was.
    pub(super) fn is_as_left(stuck: &Stuck, branch: &Branch) -> bool {
        let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
        stuck.name == branch.name.as_str()
            && stuck.tip == text(branch.tip.as_ref().map(|tip| tip.id))
            && stuck.dry == text(branch.dry)
    }

    /// The dry commit at which a branch reached a limit of this machine in an earlier run, and how; all dry commits before
    /// it were tried as well.
    pub(super) fn recalled_limit(&self, branch: &Branch) -> Option<(ObjectId, &Stuck)> {
        let state = self.memory.as_ref().filter(|_| !self.retry)?.recalled.as_ref()?;
        let stuck = state.head.stuck.iter().find(|stuck| Self::is_as_left(stuck, branch))?;
        let last = object_id(&state.head.dry_commit)?;
        (!stuck.limits.is_empty()).then_some((last, stuck))
    }

    /// What an earlier run knows of an Application that did not render, when it would not render here either.
    pub(super) fn recalled_failed_render(&self, application: &Application, view: &View<'_>) -> Option<FailedRender> {
        let state = self.memory.as_ref().filter(|_| !self.retry)?.recalled.as_ref()?;
        FailedRender::recall(known_record(state, application)?, view)
    }

    /// For each Application what it renders to, when that is known: its record is confirmed by `files`, and the manifest
    /// stands in its branch already.
    pub(super) fn known_outputs(&self, applications: &[&Application], files: &TreeFiles<'_>) -> Vec<Option<Output>> {
        let Some(state) = self.memory.as_ref().and_then(|memory| memory.recalled.as_ref()) else {
            return applications.iter().map(|_| None).collect();
        };
        let tips = self.branches.iter().filter_map(|(name, branch)| Some((name, branch.tip.as_ref()?.tree)));
        let trees: BTreeMap<&BranchName, HydratedTree<'_>> =
            tips.map(|(name, tree)| (name, HydratedTree::new(self.buffer(), tree))).collect();
        in_shares(applications, |application| {
            let record = known_record(state, application)
                .filter(|record| !record.names_the_commit && record.failure.is_none())?;
            let path = application.sync_path.child(MANIFEST).ok()?;
            let (_, manifest) = trees.get(&record.branch)?.entry(&path).ok().flatten()?;
            let stands = record.manifest.as_bytes() == manifest.as_bytes();
            let holds = stands && View::new(files).confirms(&record.reads).unwrap_or(false);
            holds.then(|| Output::known(record, manifest))
        })
    }

    /// The name of the state of a dry branch: a clone has one for each place that it writes to.
    fn state_name(&self, head: &DryHead) -> String {
        let refs = &self.setup.refs;
        let text = [&refs.read, &refs.write, head.branch.as_str()].join("\n");
        hex(&Sha256::digest(text)[..16])
    }

    /// An id of all that results depend on beside Applications and dry trees.
    fn state_context(&self) -> String {
        let settings = self.rules.id.map(|id| id.to_string());
        let (version, bounds) = (env!("CARGO_PKG_VERSION"), self.setup.renderers.bounds());
        hex(&Sha256::digest(format!("{version} {ENGINE_REVISION} {settings:?} {bounds}"))[..16])
    }

    fn state_facts(
        &self,
        head: &DryHead,
        heads: &[DryHead],
        revisions: &BTreeSet<String>,
        destinations: &BTreeSet<String>,
    ) -> String {
        self.with_context(head, heads, &|_| false, |context: &Context<'_>| {
            context.fingerprint(revisions, destinations).to_string()
        })
    }
}

/// A branch that a render keeps from being hydrated from `dry`, as a state has it.
pub(super) fn stuck(branch: &Branch, dry: ObjectId) -> Option<Stuck> {
    let failed = branch.failed_at(dry)?;
    Some(Stuck {
        name: branch.name.to_string(),
        sync: branch.sync.to_string(),
        tip: branch.tip.as_ref().map(|tip| tip.id.to_string()),
        dry: branch.dry.map(|dry| dry.to_string()),
        applications: branch.applications,
        mistakes: failed.mistakes.clone(),
        limits: failed.limits.clone(),
        of_commit: failed.of_commit,
    })
}

/// What is known of an Application, when its document still says the same.
fn known_record(state: &State, application: &Application) -> Option<Record> {
    let record = state.one(&application.file, application.index).ok()?;
    record.filter(|record| {
        record.is_of(application)
            && record.fingerprint == application.fingerprint()
            && record.branch == *application.environment_branch()
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
