//! What a run takes over from the one before, and what it leaves for the next.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use super::heads::DryHead;
use super::run::{DryTree, Run};
use crate::application::{BranchName, Context};
use crate::cache::{self, Cache, Encoded, Head, State};
use crate::diag::Diagnostic;
use crate::git::ObjectId;
use crate::metadata::ENGINE_REVISION;
use crate::render::Limits;

/// The cache of a repository, and what this run will leave there.
#[derive(Debug)]
pub(super) struct Memory {
    cache: Cache,
    /// Whether what stands there may be used.
    pub trusted: bool,
    /// What was rendered of the tip of a dry branch.
    pub rendered: Vec<Encoded>,
    kept: Vec<(String, Kept)>,
}

#[derive(Debug)]
enum Kept {
    /// A state that was loaded and goes on.
    Advanced(Box<State>),
    /// One that was found out without the cache, with the files that are patches.
    New(Head, Vec<Encoded>, BTreeSet<crate::path::RepoPath>),
}

impl Memory {
    /// The cache of the repository, unless git config `hydrate.cache` is false.
    pub fn new(repository: &crate::git::Repository, trusted: bool) -> Option<Self> {
        let wanted = repository.config_bool("hydrate.cache").unwrap_or(true);
        let dir = repository.common_dir().join("hydrate").join("cache");
        let cache = || Cache::new(dir, repository.shared());
        wanted.then(|| Self { cache: cache(), trusted, rendered: Vec::new(), kept: Vec::new() })
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
    /// What is known of a dry branch, if it still holds.
    pub(super) fn recall(&self, head: &DryHead, heads: &[DryHead]) -> Option<State> {
        let memory = self.memory.as_ref().filter(|memory| memory.trusted)?;
        let state = memory.cache.load(&self.state_name(head))?;
        let Head { context, revisions, destinations, .. } = &state.head;
        (*context == self.state_context(head, heads, revisions, destinations)).then_some(state)
    }

    /// Keeps a state that was brought up to `dry`, and the tips that its branches have now.
    pub(super) fn keep(&mut self, mut state: State, head: &DryHead, dry: ObjectId) {
        state.head.dry_commit = dry.to_string();
        for branch in &mut state.head.branches {
            let now = BranchName::new(&branch.name).ok().and_then(|name| self.branches.get(&name)?.tip.as_ref());
            branch.tip = now.map(|tip| tip.id.to_string()).unwrap_or_default();
        }
        let name = self.state_name(head);
        if let Some(memory) = &mut self.memory {
            memory.kept.push((name, Kept::Advanced(Box::new(state))));
        }
    }

    /// Keeps what is known of the tip of a dry branch now, if all of it was rendered and nothing is wrong with it.
    /// `names` are its environment branches.
    pub(super) fn keep_all(
        &mut self,
        head: &DryHead,
        heads: &[DryHead],
        tree: &DryTree,
        names: &BTreeMap<BranchName, Vec<ObjectId>>,
        warnings: Vec<Diagnostic>,
    ) {
        let Some(memory) = &mut self.memory else { return };
        let records = std::mem::take(&mut memory.rendered);
        if !tree.is_sound() || records.len() != tree.hydrated().count() {
            return;
        }
        let mut branches = Vec::new();
        for name in names.keys() {
            let Some(branch) = self.branches.get(name).filter(|branch| branch.has_reached(head.tip)) else { return };
            branches.push(cache::Branch {
                name: name.to_string(),
                sync: branch.sync.to_string(),
                tip: branch.tip.as_ref().map(|tip| tip.id.to_string()).unwrap_or_default(),
                applications: branch.applications,
                repo_url: self.repo_url(tree.applications(name).next()).to_owned(),
            });
        }
        let (revisions, destinations) = tree.branch_names();
        let context = self.state_context(head, heads, &revisions, &destinations);
        let dry_commit = head.tip.to_string();
        let state = Head { dry_commit, context, branches, revisions, destinations, warnings };
        let (name, patches) = (self.state_name(head), tree.patches().clone());
        if let Some(memory) = &mut self.memory {
            memory.kept.push((name, Kept::New(state, records, patches)));
        }
    }

    /// The name of the state of a dry branch: a clone has one for each place that it writes to.
    fn state_name(&self, head: &DryHead) -> String {
        let refs = &self.setup.refs;
        let text = [&refs.read, &refs.write, head.branch.as_str()].join("\n");
        hex(&Sha256::digest(text)[..16])
    }

    /// An id of everything but the dry tree that Applications and their results depend on.
    fn state_context(
        &self,
        head: &DryHead,
        heads: &[DryHead],
        revisions: &BTreeSet<String>,
        destinations: &BTreeSet<String>,
    ) -> String {
        let limits = Limits { jobs: 0, ..self.setup.renderers.limits() };
        let settings = self.rules.id.map(|id| id.to_string());
        let facts = self.with_context(head, heads, &|_| false, |context: &Context<'_>| {
            context.fingerprint(revisions, destinations).to_string()
        });
        let version = env!("CARGO_PKG_VERSION");
        let text = format!("{version} {ENGINE_REVISION} {settings:?} {limits:?} {facts}");
        hex(&Sha256::digest(text)[..16])
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
