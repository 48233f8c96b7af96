//! What a run takes over from the one before, and what it leaves for the next.

use std::cell::RefCell;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::failed_render::{FailedRender, FailedRenders};
use super::make::branch::Branch;
use super::make::excerpts::Excerpts;
use super::plan::skipped::LeftBehind;
use super::stopped::Stopped;
use crate::argo::{AppName, Application, BranchName, Context, Identity};
use crate::discover::Expanded;
use crate::hydrate::dry_tree::DryTree;
use crate::known::{self, Basis, Cache, Encoded, Head, Record, State, Stuck, Used, UsedInputs};
use crate::owners::error::HydrateError;
use crate::owners::failed_makers::FailedMakers;
use crate::owners::heads::DryHead;
use crate::owners::snapshot::Snapshot;
use crate::owners::unsearched;
use crate::render::Turn;
use crate::repo::{ObjectId, Repository, object_id};
use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

/// What a try goes by beside the repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attempt {
    /// What did not render in an earlier try.
    pub failed: Rc<FailedRenders>,
    /// Which makers failed, in earlier tries too.
    pub failed_makers: Rc<FailedMakers>,
    /// Whether the branches are taken to be where the cache says.
    pub trusts_cache: bool,
    /// The dry branches that are looked at as a whole nevertheless.
    pub whole: BTreeSet<BranchName>,
    /// Whether what reached a limit of this machine in an earlier run is tried again.
    pub retry: bool,
    /// Whether a branch that was frozen gets a commit for each dry commit.
    pub every: bool,
    /// Dry trees: what differs from them is rendered first.
    pub urgent_since: Vec<ObjectId>,
}

impl Attempt {
    /// Goes by more where that is why a try ended. Errors: it ended for another reason.
    pub(crate) fn widen(&mut self, stopped: Stopped) -> Result<(), HydrateError> {
        let is_news = match stopped {
            Stopped::Wider(dry_branch) => self.whole.insert(dry_branch),
            Stopped::Unknown | Stopped::NotPlain => std::mem::take(&mut self.trusts_cache),
            stopped @ (Stopped::Raced(_) | Stopped::Lacks(_) | Stopped::Failed(_)) => return Err(stopped.into_error()),
        };
        is_news.then_some(()).ok_or(HydrateError::Cache(known::Unusable))
    }
}

/// The cache of a repository, and what this run will leave there.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// None when nothing is taken over and nothing is left.
    cache: Option<Cache>,
    /// Whether what it says of branches may be started from.
    trusted: bool,
    /// The dry branches of which it may not.
    whole: BTreeSet<BranchName>,
    /// Whether what reached a limit of this machine in an earlier run is tried again.
    pub retry: bool,
    /// Dry trees: what differs from them is rendered first.
    pub urgent_since: Vec<ObjectId>,
    /// What did not render in this run.
    pub failed: Rc<FailedRenders>,
    /// The Applications for which an earlier run had no time.
    turns: RefCell<BTreeMap<Identity, Turn>>,
    /// Whether an Application was not rendered because somebody had no time to wait for it.
    pub is_cut_off: bool,
    kept: Vec<(String, BranchName, StateAfter)>,
    /// What is left of the branch of copies, under its name.
    copies: Option<(String, Option<known::CopyBranch>)>,
    /// What is left of the CRDs by which objects were judged.
    excerpts: Vec<Excerpts>,
}

#[derive(Debug)]
enum StateAfter {
    /// A state that was loaded and goes on.
    Advanced(Box<State>),
    /// One that was found out without the cache, with the files that are patches.
    New(Box<Head>, Vec<Encoded>, BTreeSet<RepoPath>),
}

impl Memory {
    /// The cache of the repository, unless git config `hydrate.cache` is false.
    pub(crate) fn new(repository: &Repository, attempt: &Attempt) -> Self {
        Self {
            cache: unsearched::cache(repository),
            trusted: attempt.trusts_cache,
            whole: attempt.whole.clone(),
            retry: attempt.retry,
            urgent_since: attempt.urgent_since.clone(),
            failed: attempt.failed.clone(),
            turns: RefCell::default(),
            is_cut_off: false,
            kept: Vec::new(),
            copies: None,
            excerpts: Vec::new(),
        }
    }

    /// The cache, for what is found by the ids of contents.
    pub(crate) fn cache(&self) -> Option<&Cache> {
        self.cache.as_ref()
    }

    /// Leaves excerpts of CRDs for other runs.
    pub(crate) fn keep_excerpts(&mut self, excerpts: Excerpts) {
        self.excerpts.push(excerpts);
    }

    /// Whether anything can be left for another run.
    pub(crate) fn is_kept(&self) -> bool {
        self.cache.is_some()
    }

    /// When an Application is begun, as far as is known.
    pub(crate) fn turn(&self, application: &Application) -> Turn {
        let turns = self.turns.borrow();
        if turns.is_empty() { Turn::Usual } else { turns.get(&application.identity()).copied().unwrap_or(Turn::Usual) }
    }

    /// Notes what an earlier run had of an Application.
    pub(crate) fn note_turn(&self, application: &Application, record: &Record) {
        let turn = FailedRender::turn(record, application);
        if turn != Turn::Usual {
            self.turns.borrow_mut().insert(application.identity(), turn);
        }
    }

    /// When a dry branch is hydrated among several, as far as is known.
    pub(crate) fn turn_of(&self, head: &DryHead, found: &Snapshot<'_>) -> Turn {
        let stuck = self.recall(head, found).map(|state| state.head.stuck).unwrap_or_default();
        let of_commit = || stuck.iter().filter(|stuck| stuck.of_commit);
        match (of_commit().next(), of_commit().any(|stuck| stuck.was_late)) {
            (None, _) => Turn::Usual,
            (Some(_), true) => Turn::Late,
            (Some(_), false) => Turn::Waiting,
        }
    }

    /// Leaves for the next run what this one found out. It applies only when all refs have moved.
    ///
    /// Answers with a warning for each dry branch of which too much would have to be left, the first time.
    pub(crate) fn write(self) -> Vec<Diagnostic> {
        let Some(cache) = self.cache else { return Vec::new() };
        let mut warnings = Vec::new();
        for (name, branch, kept) in self.kept {
            // Without an entry it is found out again.
            let saved = match kept {
                StateAfter::Advanced(state) => cache.save(&name, &state),
                StateAfter::New(head, records, patches) => cache.save_all(&name, &head, records, &patches),
            };
            let is_news = saved.and_then(|is_kept| cache.note_too_large(&name, branch.as_str(), !is_kept));
            if is_news.unwrap_or(false) {
                let hint = "fewer Applications in one dry branch make its pushes cheap again";
                warnings.push(Diagnostic::warning(unsearched::forgotten(branch.as_str())).hint(hint));
            }
        }
        if let Some((name, copies)) = self.copies {
            drop(cache.save_copies(&name, copies.as_ref()));
        }
        self.excerpts.into_iter().for_each(|excerpts| excerpts.write(&cache));
        warnings
    }

    /// Leaves the render results of a preview for the next one. What the preview found out about branches applies
    /// nowhere else, and is left out.
    pub(crate) fn write_results(self) {
        let Some(cache) = self.cache else { return };
        for (name, _, kept) in self.kept {
            let StateAfter::New(head, records, patches) = kept else { continue };
            let head = Head { branches: None, stuck: Vec::new(), frozen: Vec::new(), ..*head };
            // Without an entry it is found out again.
            drop(cache.save_all(&of_previews(&name), &head, records, &patches));
        }
    }

    /// Leaves for all further previews what is known of the branches as they are; for the next one also as results.
    pub(crate) fn write_base(self) {
        let Some(cache) = self.cache else { return };
        for (name, _, kept) in self.kept {
            let StateAfter::New(head, records, patches) = kept else { continue };
            // Without an entry it is found out again.
            drop(cache.save_all(&base_of_previews(&name), &head, records.clone(), &patches));
            drop(cache.save_all(&of_previews(&name), &head, records, &patches));
        }
    }

    /// Whether previews were found to have nothing to start from, when all that decides it was `facts`.
    pub(crate) fn has_no_base(&self, head: &DryHead, found: &Snapshot<'_>, facts: &str) -> bool {
        let noted = self.cache.as_ref().and_then(|cache| cache.load_note(&without_base(&state_name(head, found))));
        noted.is_some_and(|noted| noted == facts.as_bytes())
    }

    /// Leaves for further previews that they have nothing to start from as long as all that decides it is `facts`.
    pub(crate) fn note_no_base(&self, head: &DryHead, found: &Snapshot<'_>, facts: &str) {
        let Some(cache) = &self.cache else { return };
        // Without an entry it is found out again.
        drop(cache.save_note(&without_base(&state_name(head, found)), facts.as_bytes()));
    }

    /// What is known of a dry branch, as far as results go.
    pub(crate) fn recall(&self, head: &DryHead, found: &Snapshot<'_>) -> Option<State> {
        self.recalled(&state_name(head, found), found)
    }

    /// What the last run that wrote the branches where `found` reads them left of a dry branch: on a server, for who only asks.
    pub(crate) fn recall_in_place(&self, head: &DryHead, found: &Snapshot<'_>) -> Option<State> {
        let read = &found.setup.place.read;
        self.recalled(&named_state((read, read), head), found)
    }

    /// What the last preview left of a dry branch.
    pub(crate) fn recall_results(&self, head: &DryHead, found: &Snapshot<'_>) -> Option<State> {
        self.recalled(&of_previews(&state_name(head, found)), found)
    }

    /// What is known of a dry branch as its environment branches show it: where previews start.
    pub(crate) fn recall_base(&self, head: &DryHead, found: &Snapshot<'_>) -> Option<State> {
        self.recalled(&base_of_previews(&state_name(head, found)), found)
    }

    /// What the last run left on the branch of copies, if all that it was made by is as it was.
    pub(crate) fn recall_copies(&self, found: &Snapshot<'_>) -> Option<known::CopyBranch> {
        let cache = self.cache.as_ref().filter(|_| self.trusted)?;
        let copies = cache.load_copies(&copies_name(found))?;
        (copies.context == found.policy.context(found.setup.renderers)).then_some(copies)
    }

    /// Leaves for the next run what the branch of copies shows; none where that is not all that it should.
    pub(crate) fn keep_copies(&mut self, copies: Option<known::CopyBranch>, found: &Snapshot<'_>) {
        self.copies = Some((copies_name(found), copies));
    }

    fn recalled(&self, name: &str, found: &Snapshot<'_>) -> Option<State> {
        let state = self.cache.as_ref()?.load(name)?;
        (state.head.context == found.policy.context(found.setup.renderers)).then_some(state)
    }

    /// Whether a state says all of the branches as well: a run that starts there looks only at what changed since.
    pub(crate) fn is_start(&self, state: &State, head: &DryHead, heads: &[DryHead], found: &Snapshot<'_>) -> bool {
        let Head { facts, revisions, destinations, branches, .. } = &state.head;
        let is_by = state.head.is_by(found.inputs.id().as_deref());
        self.trusted
            && !self.whole.contains(&head.branch)
            && is_by
            && branches.is_some()
            && !found.follows_one_of(revisions.iter().map(String::as_str), &head.branch)
            && *facts == state_facts(head, heads, found, revisions, destinations)
    }

    /// Keeps a state that was brought up to `dry`, and the tips that its branches have now.
    pub(crate) fn keep(
        &mut self,
        mut state: State,
        head: &DryHead,
        dry: ObjectId,
        found: &Snapshot<'_>,
        branches: &BTreeMap<BranchName, Branch>,
    ) {
        if self.is_cut_off || self.cache.is_none() {
            return;
        }
        state.head.dry_commit = dry.to_string();
        state.head.inputs = found.inputs.id();
        for branch in state.head.branches.iter_mut().flatten() {
            let now = BranchName::read(&branch.name).ok().and_then(|name| branches.get(&name)?.tip.as_ref());
            branch.tip = now.map(|tip| tip.id.to_string()).unwrap_or_default();
            let now = BranchName::read(&branch.name).ok().and_then(|name| branches.get(&name));
            branch.inputs = now.map(|now| now.inputs.clone()).unwrap_or_default();
        }
        self.kept.push((state_name(head, found), head.branch.clone(), StateAfter::Advanced(Box::new(state))));
    }

    /// Keeps what is known of the tip of a dry branch after a look at everything.
    pub(crate) fn keep_all(
        &mut self,
        overview: Overview<'_>,
        found: &Snapshot<'_>,
        branches: &BTreeMap<BranchName, Branch>,
    ) {
        let Overview { head, heads, tree, names, mut rendered, earlier, warnings, problems, unshown } = overview;
        let is_frozen = |name: &BranchName| branches.get(name).is_some_and(Branch::is_frozen);
        let asked = || tree.hydrated().filter(|application| !is_frozen(application.environment_branch()));
        if self.cache.is_none() || self.is_cut_off || (rendered.is_empty() && asked().next().is_some()) {
            return;
        }
        let mut wrong_files = tree.wrong_files();
        let is_rendered = |one: &Application| rendered.contains_key(&one.identity());
        // To name a dry branch is a mistake of an Application alone.
        let names_dry = |one: &Application| heads.iter().any(|head| head.branch == *one.environment_branch());
        let leaves =
            |one: &Application| branches.get(one.environment_branch()).is_some_and(|branch| leaves(branch, one, head));
        let is_decided = |one: &Arc<Application>| is_rendered(one) || names_dry(one) || leaves(one);
        let is_whole = wrong_files.is_some() && asked().all(is_decided);
        let Unshown { gone: mut unrecorded, moved, lacking } = unshown;
        let lacking = |name: &BranchName| lacking.get(name).cloned();
        let stuck: Vec<Stuck> =
            names.iter().filter_map(|name| stuck(branches.get(*name)?, head.tip, lacking(name))).collect();
        wrong_files.iter_mut().for_each(|files| files.extend(stuck.iter().flat_map(Stuck::files_of_documents)));
        let staying: BTreeSet<&str> = stuck.iter().map(|stuck| stuck.name.as_str()).collect();
        let (frozen, others): (Vec<&BranchName>, Vec<_>) = names.into_iter().partition(|name| is_frozen(name));
        let moving = others.into_iter().filter(|name| !staying.contains(name.as_str()));
        let known: Option<Vec<_>> =
            moving.map(|name| known_branch(branches.get(name)?, head, (tree, &rendered), found)).collect();
        // What was not tried now, because something else is wrong, may serve again.
        for application in tree.hydrated() {
            if let Entry::Vacant(vacant) = rendered.entry(application.identity()) {
                let known = earlier.as_ref().and_then(|state| known_record(state, application));
                known.map(|record| vacant.insert(record.encode()));
            }
        }
        let unknown = tree.hydrated().filter(|one| !rendered.contains_key(&one.identity()));
        unrecorded.extend(unknown.filter(|_| is_whole).map(|application| application.name.clone()));
        // The directory of its sources leads to a record.
        let is_recorded = |one: &Arc<Application>| {
            rendered.contains_key(&one.identity()) && one.all_sources().all(|source| source.path == one.dry.path)
        };
        let frozen = frozen.into_iter().filter_map(|name| {
            let is_recorded = tree.applications(name).all(is_recorded);
            Some(known::Frozen { is_recorded, ..frozen_branch(branches.get(name)?, lacking(name)) })
        });
        let frozen = frozen.collect();
        let (revisions, destinations) = tree.branch_names();
        let state = Head {
            dry_commit: head.tip.to_string(),
            context: found.policy.context(found.setup.renderers),
            facts: state_facts(head, heads, found, &revisions, &destinations),
            branches: known.filter(|_| is_whole),
            stuck,
            frozen,
            revisions,
            destinations,
            warnings,
            problems,
            wrong_files: wrong_files.unwrap_or_default(),
            unanswered: tree.unanswered_files(),
            unrecorded,
            moved,
            applications: tree.count(),
            documents: tree.documents(),
            is_open: tree.is_open(),
            has_shared: tree.has_shared(),
            used: all_used(tree.expanded()),
            inputs: found.inputs.id(),
        };
        let makers = tree.expanded().iter().cloned();
        let makers = makers.map(|expanded| record_of_maker(&expanded).encode());
        let records = rendered.into_values().chain(makers).collect();
        let patches = tree.patches().keys().cloned().collect();
        self.kept.push((
            state_name(head, found),
            head.branch.clone(),
            StateAfter::New(Box::new(state), records, patches),
        ));
    }
}

/// What a look at everything found out.
pub(crate) struct Overview<'k> {
    pub head: &'k DryHead,
    pub heads: &'k [DryHead],
    /// The tip of the dry branch.
    pub tree: &'k DryTree,
    /// Its environment branches.
    pub names: Vec<&'k BranchName>,
    /// What was rendered of the tip.
    pub rendered: BTreeMap<Identity, Encoded>,
    /// What earlier runs knew.
    pub earlier: Option<State>,
    /// What is odd.
    pub warnings: Vec<Diagnostic>,
    /// What is wrong and belongs to no environment branch.
    pub problems: Vec<Diagnostic>,
    /// How branches that stay where they are differ from it.
    pub unshown: Unshown,
}

/// What branches that are frozen or stay behind show in place of a dry tree.
#[derive(Debug, Default)]
pub(crate) struct Unshown {
    /// The names of Applications that they show and that the dry tree does not have there, and of what made those.
    pub gone: BTreeSet<AppName>,
    /// The names of those that are hydrated to another branch now: why their former one stays may follow from what they render.
    pub moved: BTreeSet<AppName>,
    /// The paths that the dry tree writes to a branch and that it does not show, where one more changes nothing of why it stays.
    pub lacking: BTreeMap<BranchName, BTreeSet<RepoPath>>,
}

/// Whether it was decided without a render that an Application of a branch is not on it as the tip has it: the branch stays
/// behind, or the Application does.
fn leaves(branch: &Branch, application: &Application, head: &DryHead) -> bool {
    let left = || branch.left_at(head.tip).is_some_and(|left| left.has(&application.sync_path));
    branch.lasting_at(head.tip).is_some() || left()
}

/// A branch as a state has it; none when it is not just what hydration makes of the tip, or something of it stays behind.
fn known_branch(
    branch: &Branch,
    head: &DryHead,
    (tree, rendered): (&DryTree, &BTreeMap<Identity, Encoded>),
    found: &Snapshot<'_>,
) -> Option<known::Branch> {
    let branch = Some(branch).filter(|branch| branch.has_reached(head.tip))?;
    // What is held is listed with the next commit.
    let is_unlisted = |one: &Arc<Application>| found.is_held(&branch.name, one) && !branch.left.has(&one.sync_path);
    if tree.applications(&branch.name).any(is_unlisted) {
        return None;
    }
    let left = Some(&branch.left).filter(|left| !left.is_nothing()).map(LeftBehind::known);
    let first = tree.applications(&branch.name).find(|application| application.has_own_source());
    let repo_url = found.repo_url(first.map(|first| &**first));
    Some(known::Branch {
        name: branch.name.to_string(),
        sync: branch.sync.to_string(),
        tip: branch.tip.as_ref()?.id.to_string(),
        applications: branch.applications,
        repo_url: repo_url.to_owned(),
        has_one_url: tree.applications(&branch.name).all(|application| application.dry.repo_url == repo_url),
        left: match left {
            Some(left) => Some(left?),
            None => None,
        },
        inputs: if found.inputs.is_nothing() { UsedInputs::new() } else { inputs_of(&branch.name, tree, rendered)? },
    })
}

/// The recorded inputs that the Applications of a branch use; none when a record of theirs cannot be read.
fn inputs_of(name: &BranchName, tree: &DryTree, rendered: &BTreeMap<Identity, Encoded>) -> Option<UsedInputs> {
    let mut used = UsedInputs::new();
    for application in tree.applications(name) {
        let Some(record) = rendered.get(&application.identity()) else { continue };
        used.extend(known::used_inputs(&record.decode()?.reads));
    }
    Some(used)
}

/// The record of a maker.
pub(crate) fn record_of_maker(expanded: &Expanded) -> Record {
    let Expanded { file, ordinal, reads, repeats, used } = expanded;
    let record = Record::of_maker(file.clone(), *ordinal, (**reads).clone(), *used);
    Record { names_the_commit: !repeats, ..record }
}

fn all_used(expanded: &[Expanded]) -> Used {
    let mut all = Used::default();
    for Expanded { used, .. } in expanded {
        all.params = all.params.saturating_add(used.params);
        all.bytes = all.bytes.saturating_add(used.bytes);
        all.steps = all.steps.saturating_add(used.steps);
    }
    all
}

/// A branch that is frozen, as a state has it.
fn frozen_branch(branch: &Branch, lacking: Option<BTreeSet<RepoPath>>) -> known::Frozen {
    let (name, sync) = (branch.name.to_string(), branch.sync.to_string());
    known::Frozen { name, sync, applications: branch.applications, lacking, is_recorded: false }
}

/// What an earlier run left behind, as `head` of the state says, is what it was.
pub(crate) fn is_as_left(stuck: &Stuck, branch: &Branch) -> bool {
    let text = |id: Option<ObjectId>| id.map(|id| id.to_string());
    stuck.name == branch.name.as_str()
        && stuck.tip == text(branch.tip.as_ref().map(|tip| tip.id))
        && stuck.dry == text(branch.dry)
}

/// The dry commit at which a branch reached a limit of this machine in an earlier run, and how; all dry commits before
/// it were tried as well.
pub(crate) fn recalled_limit<'s>(
    state: &'s State,
    branch: &Branch,
    inputs: Option<&str>,
) -> Option<(ObjectId, &'s Stuck)> {
    let stuck = state.head.stuck.iter().find(|stuck| is_as_left(stuck, branch))?;
    // What it waited for may be here; and what found no room has room now.
    let waits = !stuck.waits.is_empty() && state.head.inputs.as_deref() != inputs;
    let stuck = Some(stuck).filter(|stuck| !waits && !stuck.no_room)?;
    let last = object_id(&state.head.dry_commit)?;
    (!stuck.limits.is_empty()).then_some((last, stuck))
}

/// The name of the state of a dry branch: a clone has one for each place that it writes to.
fn state_name(head: &DryHead, found: &Snapshot<'_>) -> String {
    let refs = &found.setup.place;
    named_state((&refs.read, &refs.write), head)
}

fn named_state((read, write): (&str, &str), head: &DryHead) -> String {
    let text = [read, write, head.branch.as_str()].join("\n");
    hex(&Sha256::digest(text)[..16])
}

/// The name of what is known of the branch of copies.
fn copies_name(found: &Snapshot<'_>) -> String {
    let refs = &found.setup.place;
    hex(&Sha256::digest([&*refs.read, &*refs.write].join("\n"))[..16])
}

/// The name of the state that previews leave beside it.
fn of_previews(name: &str) -> String {
    format!("{name}-preview")
}

/// The name of the state that previews start from.
fn base_of_previews(name: &str) -> String {
    format!("{name}-base")
}

/// The name of the note that previews have nothing to start from.
fn without_base(name: &str) -> String {
    format!("{name}-no-start")
}

/// A digest of all that decides whether the environment branches are what the dry commit of `head` gives: the refs but for
/// local branches and tags, the settings, the engine, and what is frozen.
pub(crate) fn base_facts(head: &DryHead, found: &Snapshot<'_>) -> String {
    let frozen = found.setup.now.map(|now| found.policy.settings.frozen.in_force(now).collect::<Vec<_>>());
    let context = found.policy.context(found.setup.renderers);
    let mut hash = Sha256::new();
    let held = found.holds_id.map(|id| format!(" {id}")).unwrap_or_default();
    hash.update(format!("{context} {:?} {} {} {frozen:?}{held}\n", found.policy.id, head.branch, head.tip));
    let is_local = |name: &str| name.starts_with("refs/heads/") || name.starts_with("refs/tags/");
    for (name, id) in found.refs.iter().filter(|(name, _)| !is_local(name)) {
        hash.update(format!("{name} {id}\n"));
    }
    hex(&hash.finalize())
}

fn state_facts(
    head: &DryHead,
    heads: &[DryHead],
    found: &Snapshot<'_>,
    revisions: &BTreeSet<String>,
    destinations: &BTreeSet<String>,
) -> String {
    let facts = found.with_context(&found.policy, head, heads, &|_| false, |context: &Context<'_>| {
        context.fingerprint(revisions, destinations).to_string()
    });
    // Results outlive a change of the tools, but not what follows from all settings.
    let facts = format!("{facts} {:?}", found.policy.id);
    let facts = found.holds_id.map_or(facts.clone(), |id| format!("{facts} {id} {}", found.setup.now.is_some()));
    let facts = found.setup.only.map_or(facts.clone(), |only| format!("{facts} {only:?}"));
    // A freeze ends by itself, and none counts where a push is judged.
    let frozen = found.setup.now.map(|now| found.policy.settings.frozen.in_force(now).collect::<Vec<_>>());
    match frozen {
        Some(frozen) if !frozen.is_empty() => format!("{facts} {frozen:?}"),
        Some(_) | None => facts,
    }
}

/// A branch that is kept from being hydrated from `dry`, as long as nothing changes that it rests on, as a state has it. `lacking` are
/// the paths that it does not show yet, if it may lack more.
pub(crate) fn stuck(branch: &Branch, dry: ObjectId, lacking: Option<BTreeSet<RepoPath>>) -> Option<Stuck> {
    let (failed, lasting) = (branch.failed_at(dry), branch.lasting_at(dry));
    let mistakes = failed.map(|failed| &*failed.mistakes).or(lasting)?;
    let takes_more = failed.is_none_or(|failed| failed.basis == Basis::Nothing && !failed.of_commit && !failed.no_room);
    Some(Stuck {
        name: branch.name.to_string(),
        sync: branch.sync.to_string(),
        tip: branch.tip.as_ref().map(|tip| tip.id.to_string()),
        dry: branch.dry.map(|dry| dry.to_string()),
        applications: branch.applications,
        mistakes: mistakes.to_vec(),
        limits: failed.map(|failed| failed.limits.clone()).unwrap_or_default(),
        of_commit: failed.is_some_and(|failed| failed.of_commit),
        was_late: failed.is_some_and(|failed| failed.was_late),
        no_room: failed.is_some_and(|failed| failed.no_room),
        of_documents: failed.is_none(),
        basis: failed.map(|failed| failed.basis).unwrap_or_default(),
        waits: failed.map(|failed| failed.waits.clone()).unwrap_or_default(),
        lacking: lacking.filter(|_| takes_more),
    })
}

/// What is known of an Application, when its document still says the same.
pub(crate) fn known_record(state: &State, application: &Application) -> Option<Record> {
    let record = state.one(&application.file, application.index).ok()??;
    let is_same = record.is_of(application)
        && record.fingerprint == application.fingerprint()
        && record.branch == *application.environment_branch();
    is_same.then_some(record)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
