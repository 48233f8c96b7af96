//! One try: everything is decided and made in memory, then written, then the refs move.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use super::branch::{Branch, PathOutput};
use super::failures::{FAILURES_REF, Failure, Failures};
use super::heads::{self, DryHead};
use super::memory::Memory;
use super::output::Output;
use super::report::Report;
use super::{HydrateError, Setup, Wake};
use crate::application::{self, Application, BranchName, Context, Patterns, Verdict};
use crate::diag::Diagnostic;
use crate::git::{self, Expected, NewCommit, Notes, ObjectBuffer, ObjectId, RefEdit, Refs, update_refs};
use crate::metadata::{DryCommit, ENGINE_REVISION, NOTES_REF, Time, Writer, allowed_removals, note};
use crate::path::RepoPath;
use crate::plan::{self, Destination, Discovered, Discovery};
use crate::render;
use crate::settings::{History, SETTINGS_REF, Settings, SettingsError, SettingsFiles};
use crate::view::TreeFiles;

/// Why a try ended without its result.
pub(super) enum Stopped {
    /// Somebody else moved one of the refs: try again.
    Raced(String),
    /// The cache does not know what this run needs: try again without it.
    Unknown,
    /// The world failed.
    Failed(HydrateError),
}

impl Stopped {
    /// What to tell of it when there is no other try.
    pub fn into_error(self) -> HydrateError {
        match self {
            Stopped::Raced(why) => HydrateError::Raced(why),
            Stopped::Unknown => HydrateError::Machine("the cache is damaged: delete hydrate/cache".to_owned()),
            Stopped::Failed(error) => error,
        }
    }
}

impl<E: Into<HydrateError>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Stopped::Failed(error.into())
    }
}

/// How many commits a dry branch may be ahead of an environment branch; beyond them only its tip is hydrated.
pub(super) const BACKLOG_MAX: usize = 100_000;

/// How many dry trees a run without an end keeps: each is asked for again right after it was read.
const TREES_MAX: usize = 8;

/// The settings and what was made of them once.
pub(super) struct Rules {
    pub settings: Settings,
    /// The commit of [`SETTINGS_REF`] that holds them; none when there are none.
    pub id: Option<ObjectId>,
    pub writer: Writer,
    pub applications: Patterns,
    pub allowed: Patterns,
}

/// A dry commit and the Applications of its tree.
pub(super) struct DryTree {
    /// The dry branch whose rules were applied.
    branch: BranchName,
    pub commit: DryCommit,
    pub tree: ObjectId,
    allowed_removals: Vec<String>,
    discovered: Discovered,
    verdict: Verdict,
}

impl DryTree {
    /// The Applications that are hydrated from this dry branch onto `branch`.
    pub fn applications<'t>(&'t self, branch: &'t BranchName) -> impl Iterator<Item = &'t Application> {
        self.hydrated().filter(move |application| application.environment_branch() == branch)
    }

    /// Whether nothing is wrong with any Application.
    pub fn is_sound(&self) -> bool {
        let mut mistakes = self.discovered.mistakes.iter().map(|(_, mistake)| mistake);
        let mut findings = self.verdict.findings.iter().map(|finding| &finding.diagnostic);
        self.discovered.broken.is_empty() && !mistakes.any(Diagnostic::is_error) && !findings.any(Diagnostic::is_error)
    }

    /// What Applications have for revisions, and the branches that they name to be written.
    pub fn branch_names(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let applications = &self.discovered.applications;
        let destinations = applications.iter().flat_map(|app| [&app.sync_branch, app.environment_branch()]);
        let destinations: BTreeSet<&str> = destinations.map(BranchName::as_str).collect();
        let revisions: BTreeSet<&str> = applications.iter().map(Application::revision_name).collect();
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        (owned(revisions), owned(destinations))
    }

    /// The files that kustomizations name as patches.
    pub fn patches(&self) -> &BTreeSet<RepoPath> {
        &self.discovered.patches
    }

    /// The Applications that are hydrated from this dry branch.
    pub fn hydrated(&self) -> impl Iterator<Item = &Application> {
        let standings = self.verdict.standings.iter().zip(&self.discovered.applications);
        let hydrated = |standing: application::Standing| standing == application::Standing::Hydrated;
        standings.filter(move |(standing, _)| hydrated(**standing)).map(|(_, application)| application)
    }

    fn destinations(&self, branch: &BranchName) -> BTreeSet<Destination> {
        let destination = |application: &Application| Destination {
            path: application.sync_path.clone(),
            application: (application.namespace.clone(), application.name.clone()),
            file: application.file.clone(),
        };
        self.applications(branch).map(destination).collect()
    }
}

/// What a run made in memory.
pub(super) struct Rehearsal<'a> {
    pub buffer: ObjectBuffer<'a>,
    pub branches: BTreeMap<BranchName, Branch>,
    pub report: Report,
    /// The dry commits that were looked at.
    pub trees: HashMap<ObjectId, Rc<DryTree>>,
}

/// A hydration that only has to be written: objects in memory, and the refs that shall move.
pub(super) struct Prepared<'a> {
    pub buffer: ObjectBuffer<'a>,
    pub edits: Vec<RefEdit>,
    pub branches: BTreeMap<BranchName, Branch>,
    pub report: Report,
    /// The dry commits that were looked at.
    pub trees: HashMap<ObjectId, Rc<DryTree>>,
    /// The dry branches that are looked at whatever is pushed.
    pub dry_branches: BTreeSet<BranchName>,
    pub settings: Settings,
    /// What it leaves for the next run, once the refs have moved.
    pub memory: Option<Memory>,
}

/// What a repository asks for.
#[derive(Debug)]
pub struct Survey {
    /// The branches that its Applications name, those that are deployed and those for staging.
    pub branches: BTreeSet<BranchName>,
    /// Its Applications that are hydrated, each with its dry branch.
    pub applications: Vec<(BranchName, Application)>,
    /// Its settings.
    pub settings: Settings,
}

/// One try of [`super::hydrate`].
pub(super) struct Run<'a> {
    pub setup: &'a Setup<'a>,
    buffer: ObjectBuffer<'a>,
    refs: Refs,
    pub rules: Rules,
    pub environments: BTreeMap<BranchName, BranchName>,
    notes: Notes,
    pub failures: Failures,
    discovery: Discovery,
    trees: HashMap<ObjectId, Rc<DryTree>>,
    pub branches: BTreeMap<BranchName, Branch>,
    pub report: Report,
    /// What earlier runs found out; none where all of it shall be found out again.
    pub memory: Option<Memory>,
    newest_dry: Option<Time>,
}

impl<'a> Run<'a> {
    /// Reads what the repository says now.
    pub fn new(setup: &'a Setup<'a>) -> Result<Self, Stopped> {
        Self::over(setup, ObjectBuffer::new(setup.repository))
    }

    /// The same with a buffer that may hold objects of another run already.
    pub fn over(setup: &'a Setup<'a>, buffer: ObjectBuffer<'a>) -> Result<Self, Stopped> {
        let refs = setup.repository.refs()?;
        let rules = Rules::read(&refs, &buffer)?;
        let environments = heads::environments(&setup.refs, &refs, &buffer)?;
        let notes = refs.get(NOTES_REF).map(|tip| buffer.commit(tip)).transpose()?;
        let notes = Notes::open(notes.map(|commit| commit.tree), &buffer)?;
        let failures = Failures::read(&buffer, refs.get(FAILURES_REF))?;
        Ok(Self {
            setup,
            buffer,
            refs,
            rules,
            environments,
            notes,
            failures,
            discovery: Discovery::default(),
            trees: HashMap::new(),
            branches: BTreeMap::new(),
            report: Report::default(),
            memory: None,
            newest_dry: None,
        })
    }

    /// Hydrates all dry branches that the wake-up is about and moves the refs.
    pub fn finish(mut self, trust_cache: bool) -> Result<Report, Stopped> {
        self.memory = Memory::new(self.setup.repository, trust_cache);
        self.hydrate_heads()?;
        self.finish_with_refs()
    }

    /// The same without writing anything.
    pub fn prepare(mut self, trust_cache: bool) -> Result<Prepared<'a>, Stopped> {
        self.memory = Memory::new(self.setup.repository, trust_cache);
        self.hydrate_heads()?;
        let edits = self.ref_edits()?;
        let dry_branches = self.heads_of(&Wake::Pushed(Vec::new())).into_iter().map(|head| head.branch).collect();
        let Self { buffer, branches, report, trees, rules, memory, .. } = self;
        Ok(Prepared { buffer, edits, branches, report, trees, dry_branches, settings: rules.settings, memory })
    }

    /// Hydrates the tips alone and moves nothing: what it made stands in the buffer.
    pub fn rehearse(mut self) -> Result<Rehearsal<'a>, Stopped> {
        self.rules.settings.history = History::Tip;
        self.memory = Memory::new(self.setup.repository, false);
        self.hydrate_heads()?;
        let Self { buffer, branches, report, trees, .. } = self;
        Ok(Rehearsal { buffer, branches, report, trees })
    }

    /// What the dry branches ask for, without rendering anything.
    pub fn survey(mut self) -> Result<Survey, Stopped> {
        let heads = self.heads();
        let (mut branches, mut applications) = (BTreeSet::new(), Vec::new());
        for head in &heads {
            let tree = self.dry_tree(head.tip, head, &heads)?;
            for application in tree.hydrated() {
                branches.extend([application.environment_branch().clone(), application.sync_branch.clone()]);
                applications.push((head.branch.clone(), application.clone()));
            }
        }
        Ok(Survey { branches, applications, settings: self.rules.settings })
    }

    fn heads(&self) -> Vec<DryHead> {
        self.heads_of(&self.setup.wake)
    }

    fn heads_of(&self, wake: &Wake) -> Vec<DryHead> {
        heads::heads(wake, &self.setup.refs, &self.refs, &self.rules.settings, &self.environments, &self.buffer)
    }

    fn hydrate_heads(&mut self) -> Result<(), Stopped> {
        let heads = self.heads();
        for head in &heads {
            if !self.advance(head, &heads)? {
                self.hydrate_head(head, &heads)?;
            }
        }
        Ok(())
    }

    /// Moves the refs of all branches that were opened and tells what became of them.
    pub fn finish_with_refs(mut self) -> Result<Report, Stopped> {
        self.move_refs()?;
        if let Some(memory) = self.memory.take() {
            memory.write();
        }
        self.report.branches = self.branches.into_values().map(Branch::into_report).collect();
        Ok(self.report)
    }

    /// Takes a branch up whose commits are made.
    pub fn add(&mut self, name: BranchName, branch: Branch) {
        self.branches.insert(name, branch);
    }

    /// What was made so far, and the repository below.
    pub fn buffer(&self) -> &ObjectBuffer<'a> {
        &self.buffer
    }

    /// The tip of a branch.
    pub fn tip(&self, branch: &BranchName) -> Option<ObjectId> {
        self.setup.refs.tip(&self.refs, branch)
    }

    /// The notes as they are in the repository; none when there are none at all.
    pub fn recorded_notes(&self) -> Result<Option<Notes>, git::Error> {
        let Some(tip) = self.refs.get(NOTES_REF) else { return Ok(None) };
        Notes::open(Some(self.buffer.commit(tip)?.tree), &self.buffer).map(Some)
    }

    /// Goes on with the rules of other settings.
    pub fn use_settings(&mut self, id: Option<ObjectId>) -> Result<(), HydrateError> {
        self.rules = Rules::at(id, &self.buffer)?;
        self.trees.clear();
        Ok(())
    }

    /// Hydrates one dry commit onto a branch as it once was; only the buffer knows.
    pub fn replay(&mut self, branch: Branch, dry: ObjectId) -> Result<Branch, Stopped> {
        let head = DryHead { branch: branch.dry_branch.clone(), tip: dry };
        let heads = std::slice::from_ref(&head);
        let tree = self.dry_tree(dry, &head, heads)?;
        let name = branch.name.clone();
        self.branches.insert(name.clone(), branch);
        self.hydrate_commit(&head, dry, &tree, std::slice::from_ref(&name), heads)?;
        Ok(self.branches.remove(&name).expect("a dry commit takes no branch away"))
    }

    /// Forgets what was made and found, so that a long history takes no more memory than a short one.
    pub fn forget(&mut self) {
        self.buffer.clear();
        self.failures = Failures::default();
        if self.trees.len() > TREES_MAX {
            self.trees.clear();
        }
    }

    /// Brings all environment branches of one dry branch up to its tip.
    fn hydrate_head(&mut self, head: &DryHead, heads: &[DryHead]) -> Result<(), Stopped> {
        let tree = self.dry_tree(head.tip, head, heads)?;
        let mut names: BTreeSet<BranchName> =
            tree.hydrated().map(|application| application.environment_branch().clone()).collect();
        let recorded = self.environments.iter().filter(|(_, dry_branch)| **dry_branch == head.branch);
        names.extend(recorded.map(|(branch, _)| branch.clone()));
        let mut backlog: BTreeMap<BranchName, Vec<ObjectId>> = BTreeMap::new();
        for name in names {
            let branch = self.open_branch(&name, head, &tree)?;
            let commits = self.backlog(&branch, head)?;
            backlog.insert(name.clone(), commits);
            self.branches.insert(name, branch);
        }
        let warnings = self.report_problems(&tree, &backlog);
        let longest = backlog.values().max_by_key(|commits| commits.len()).cloned().unwrap_or_default();
        for (index, dry) in longest.iter().enumerate() {
            if index > 0 && (self.setup.out_of_time)() {
                self.report.unfinished = true;
                break;
            }
            let left = longest.len() - index;
            let wanting = backlog.iter().filter(|(name, commits)| commits.len() >= left && self.is_open(name));
            let wanting: Vec<BranchName> = wanting.map(|(name, _)| name.clone()).collect();
            if !wanting.is_empty() {
                let tree = self.dry_tree(*dry, head, heads)?;
                self.hydrate_commit(head, *dry, &tree, &wanting, heads)?;
            }
        }
        self.keep_all(head, heads, &tree, &backlog, warnings);
        Ok(())
    }

    fn is_open(&self, name: &BranchName) -> bool {
        self.branches.get(name).is_some_and(|branch| !branch.closed)
    }

    /// What the repository knows of an environment branch, and whether we may write it.
    fn open_branch(&mut self, name: &BranchName, head: &DryHead, tree: &DryTree) -> Result<Branch, Stopped> {
        let sync = tree.applications(name).next().map_or(name, |application| &application.sync_branch);
        let mut branch = self.open(name, sync, head)?;
        branch.applications = tree.applications(name).count();
        self.judge(&mut branch, head, tree.applications(name));
        Ok(branch)
    }

    /// What the repository knows of an environment branch that is hydrated from `head`.
    pub fn open(&mut self, name: &BranchName, sync: &BranchName, head: &DryHead) -> Result<Branch, Stopped> {
        let branch = Branch::open(
            name,
            sync,
            head,
            &self.setup.refs,
            &self.refs,
            &self.rules.settings,
            &mut self.notes,
            &self.buffer,
        )?;
        if let Some(id) = branch.settings.filter(|id| !self.setup.repository.has(*id)) {
            return Err(HydrateError::SettingsMissing { id, branch: name.clone() }.into());
        }
        Ok(branch)
    }

    /// Whether hydration may write the branch; `applications` are those that write to it.
    pub fn judge<'t>(&self, branch: &mut Branch, head: &DryHead, applications: impl Iterator<Item = &'t Application>) {
        let checked_out = self.setup.refs.records && self.setup.repository.checked_out(branch.name.as_str());
        branch.judge(head, applications, checked_out, &self.rules.settings, &self.buffer);
    }

    /// The dry commits that the branch lacks, oldest first: a suffix of the first-parent line up to the tip.
    fn backlog(&self, branch: &Branch, head: &DryHead) -> Result<Vec<ObjectId>, Stopped> {
        if branch.closed {
            return Ok(Vec::new());
        }
        let repository = self.setup.repository;
        let line = match branch.dry.filter(|dry| repository.has(*dry)) {
            Some(dry) => repository.first_parents(dry, head.tip, BACKLOG_MAX)?,
            None => None,
        };
        let settings_changed = branch.settings != self.rules.id;
        let moved = self.setup.refs.records && branch.was_moved();
        Ok(match line {
            // A new branch, or a dry branch that was rewound.
            None => vec![head.tip],
            Some(line) if line.is_empty() && (settings_changed || moved) => vec![head.tip],
            Some(line) => match self.rules.settings.history {
                History::Every => line,
                History::Tip => line.last().copied().into_iter().collect(),
            },
        })
    }

    /// One dry commit, for the environment branches that lack it.
    fn hydrate_commit(
        &mut self,
        head: &DryHead,
        dry: ObjectId,
        tree: &Rc<DryTree>,
        wanting: &[BranchName],
        heads: &[DryHead],
    ) -> Result<(), Stopped> {
        let mut work: BTreeMap<BranchName, Vec<&Application>> = BTreeMap::new();
        let mut wrong: BTreeMap<BranchName, Vec<Diagnostic>> = BTreeMap::new();
        let mut removals: BTreeMap<BranchName, Vec<plan::Removal>> = BTreeMap::new();
        for name in wanting {
            if let Some(diagnostics) = self.known_failure(name, dry).map(|failure| failure.diagnostics.clone()) {
                self.fail(name, head, dry, diagnostics, true);
                continue;
            }
            let before = self.before(name, head, heads)?;
            let mut diagnostics = mistakes(name, tree, before.as_deref());
            if diagnostics.is_empty() {
                let found = self.removals(name, tree, before.as_deref());
                let is_nothing = found.as_ref().is_ok_and(Vec::is_empty);
                let unread = if is_nothing { Vec::new() } else { unread(name, tree, before.as_deref()) };
                match found {
                    // What is wrong there may be the very Application that seems to have left.
                    _ if !unread.is_empty() => diagnostics.extend(unread),
                    Ok(found) => drop(removals.insert(name.clone(), found)),
                    Err(diagnostic) => diagnostics.push(diagnostic),
                }
            }
            if diagnostics.is_empty() {
                work.insert(name.clone(), tree.applications(name).collect());
            } else {
                wrong.insert(name.clone(), diagnostics);
            }
        }
        let files = TreeFiles::new(self.setup.repository, tree.tree);
        let all: Vec<&Application> = work.values().flatten().copied().collect();
        let mut results = self.render(&all, &files, dry).into_iter();
        for (name, applications) in work {
            let results: Vec<_> = results.by_ref().take(applications.len()).collect();
            if let Some(memory) = self.memory.as_mut().filter(|_| dry == head.tip) {
                let rendered = applications.iter().zip(&results);
                let record = |(application, result): (&&Application, &Result<Output, render::Failure>)| {
                    Some(((application.file.clone(), application.index), result.as_ref().ok()?.record.clone()))
                };
                memory.rendered.extend(rendered.filter_map(record));
            }
            match gather(results, &applications) {
                Ok(outputs) => {
                    let removals = removals.remove(&name).unwrap_or_default();
                    self.publish(&name, tree, &applications, &outputs, &removals)?;
                }
                Err(Gathered::Wrong(diagnostics)) => drop(wrong.insert(name, diagnostics)),
                Err(Gathered::TooMuch(diagnostic)) => {
                    // Not recorded: on another machine, or on another day, it may go well.
                    if let Some(branch) = self.branches.get_mut(&name) {
                        branch.fail(dry, vec![diagnostic], false);
                    }
                }
                Err(Gathered::Machine(why)) => return Err(HydrateError::Machine(why).into()),
            }
        }
        self.buffer.release();
        for (name, diagnostics) in wrong {
            self.fail(&name, head, dry, diagnostics, false);
        }
        Ok(())
    }

    /// Renders Applications of a dry commit on all cores, each result in the place of its Application. What is known
    /// to render to the same as before is not rendered.
    pub fn render(
        &self,
        applications: &[&Application],
        files: &TreeFiles<'_>,
        dry: ObjectId,
    ) -> Vec<Result<Output, render::Failure>> {
        let known = self.known_outputs(applications, files);
        let unknown = applications.iter().zip(&known).filter(|(_, known)| known.is_none());
        let unknown: Vec<&Application> = unknown.map(|(application, _)| *application).collect();
        self.setup.observer.rendering(&dry.to_hex_with_len(7).to_string(), unknown.len());
        let done = |count| self.setup.observer.rendered(count);
        let context = render::Context {
            files,
            profile: self.rules.settings.profile.into(),
            dry_commit: &dry.to_string(),
            renderer: self.rules.settings.renderer,
            nondeterministic: &self.rules.settings.nondeterministic,
        };
        let (writer, buffer) = (&self.rules.writer, &self.buffer);
        let take = |application: &Application, rendered| Output::new(application, rendered, writer, buffer);
        let mut rendered = self.setup.renderers.render_into(&unknown, &context, &take, &done).into_iter();
        let result = |known: Option<Output>| known.map(Ok).or_else(|| rendered.next());
        known.into_iter().map(result).map(|result| result.expect("each Application is known or rendered")).collect()
    }

    /// The URL of this repository, as the first Application of a branch names it.
    pub fn repo_url<'u>(&'u self, first: Option<&'u Application>) -> &'u str {
        let first = first.map(|application| application.dry.repo_url.as_str());
        first.or(self.rules.settings.repo_urls.first().map(String::as_str)).unwrap_or_default()
    }

    fn publish(
        &mut self,
        name: &BranchName,
        tree: &DryTree,
        applications: &[&Application],
        outputs: &[Output],
        removals: &[plan::Removal],
    ) -> Result<(), Stopped> {
        let outputs = applications.iter().zip(outputs).map(|(application, output)| output.at(application));
        let outputs: Vec<PathOutput<'_>> = outputs.collect();
        let repo_url = self.repo_url(applications.first().copied()).to_owned();
        let mut branch = self.branches.remove(name).expect("every wanting branch was opened");
        self.write(&mut branch, &tree.commit, &repo_url, &outputs, removals)?;
        self.branches.insert(name.clone(), branch);
        Ok(())
    }

    /// Makes the hydrated commit of a dry commit and puts its note on what is then the tip.
    pub fn write(
        &mut self,
        branch: &mut Branch,
        dry: &DryCommit,
        repo_url: &str,
        paths: &[PathOutput<'_>],
        removals: &[plan::Removal],
    ) -> Result<(), Stopped> {
        branch.publish(&self.buffer, &self.rules, dry, repo_url, paths, removals)?;
        branch.reach(dry.id, self.rules.id);
        if let Some(tip) = &branch.tip {
            self.notes.set(tip.id, &note(dry.id), &self.buffer)?;
        }
        self.failures.clear(&branch.name);
        self.newest_dry = Some(dry.date);
        Ok(())
    }

    fn fail(&mut self, name: &BranchName, head: &DryHead, dry: ObjectId, diagnostics: Vec<Diagnostic>, recorded: bool) {
        if !recorded {
            let failure = Failure {
                dry_sha: dry.to_string(),
                dry_branch: head.branch.to_string(),
                engine: ENGINE_REVISION,
                settings: self.rules.id.map(|id| id.to_string()),
                diagnostics: diagnostics.clone(),
            };
            self.failures.add(name, failure);
        }
        if let Some(branch) = self.branches.get_mut(name) {
            branch.fail(dry, diagnostics, recorded);
        }
    }

    /// The tree of the dry commit that the branch was hydrated from last.
    fn before(&mut self, name: &BranchName, head: &DryHead, heads: &[DryHead]) -> Result<Option<Rc<DryTree>>, Stopped> {
        let dry = self.branches.get(name).and_then(|branch| branch.dry);
        match dry.filter(|dry| self.setup.repository.has(*dry)) {
            Some(dry) => self.dry_tree(dry, head, heads).map(Some),
            None => Ok(None),
        }
    }

    fn removals(
        &self,
        name: &BranchName,
        tree: &DryTree,
        before: Option<&DryTree>,
    ) -> Result<Vec<plan::Removal>, Diagnostic> {
        let Some(before) = before else { return Ok(Vec::new()) };
        let limit = self.rules.settings.removal_limit;
        let allowed = tree.allowed_removals.iter().any(|branch| branch == name.as_str());
        let (before, now) = (before.destinations(name), tree.destinations(name));
        plan::removals(name, &before, &now, (limit.share, limit.at_least), allowed)
            .map_err(|(mistake, removals)| mistake.diagnostic(&removals))
    }

    /// What is wrong or odd at the tip and belongs to no environment branch that can be told.
    /// Answers what is odd.
    fn report_problems(&mut self, tree: &DryTree, backlog: &BTreeMap<BranchName, Vec<ObjectId>>) -> Vec<Diagnostic> {
        let known = |branch: &Option<BranchName>| branch.as_ref().is_some_and(|branch| backlog.contains_key(branch));
        let fed = |file: &RepoPath| {
            backlog.keys().any(|name| {
                let before = self.branches.get(name).and_then(|branch| branch.dry).and_then(|dry| self.trees.get(&dry));
                before.is_some_and(|before| before.applications(name).any(|application| application.file == *file))
            })
        };
        let broken = tree.discovered.broken.iter().filter(|broken| !fed(&broken.file));
        let loose = tree.discovered.mistakes.iter().filter(|(branch, _)| !known(branch));
        let findings = tree.verdict.findings.iter().map(|finding| &finding.diagnostic);
        let all = broken.map(|broken| &broken.diagnostic).chain(loose.map(|(_, mistake)| mistake));
        let (mut problems, mut warnings): (Vec<_>, Vec<_>) = all.cloned().partition(Diagnostic::is_error);
        warnings.extend(findings.filter(|diagnostic| !diagnostic.is_error()).cloned());
        self.report.problems.append(&mut problems);
        self.report.warnings.extend(warnings.iter().cloned());
        warnings
    }

    /// The Applications of a dry commit, read once however often they are asked for.
    fn dry_tree(&mut self, dry: ObjectId, head: &DryHead, heads: &[DryHead]) -> Result<Rc<DryTree>, Stopped> {
        // Two dry branches may share a commit, and the Applications in it are not the same ones for both.
        if let Some(tree) = self.trees.get(&dry).filter(|tree| tree.branch == head.branch) {
            return Ok(tree.clone());
        }
        let repository = self.setup.repository;
        let commit = repository.commit(dry)?;
        let files = TreeFiles::new(repository, commit.tree);
        let discovered = self.discovery.discover(&files, &self.rules.applications);
        let discovered =
            discovered.map_err(|why| HydrateError::Machine(format!("reading the tree of {dry}: {why}")))?;
        let view = crate::view::View::new(&files);
        let is_directory = |path: &RepoPath| matches!(view.kind(path), Ok(Some(crate::view::Kind::Directory)));
        let verdict = self.with_context(head, heads, &is_directory, |context| {
            application::validate(&discovered.applications, context)
        });
        let tree = DryTree {
            branch: head.branch.clone(),
            commit: DryCommit::new(&commit),
            tree: commit.tree,
            allowed_removals: allowed_removals(&commit.message),
            discovered,
            verdict,
        };
        let tree = Rc::new(tree);
        self.trees.insert(dry, tree.clone());
        Ok(tree)
    }

    /// What the rules over all Applications need to know beside them.
    pub fn with_context<T>(
        &self,
        head: &DryHead,
        heads: &[DryHead],
        is_directory: &dyn Fn(&RepoPath) -> bool,
        judge: impl FnOnce(&Context<'_>) -> T,
    ) -> T {
        let branches = self.refs.below(&self.setup.refs.read).filter_map(|(name, _)| BranchName::new(name).ok());
        judge(&Context {
            dry_branch: &head.branch,
            head_branch: self.setup.refs.head(&self.refs).as_ref(),
            dry_branches: &heads.iter().map(|head| head.branch.clone()).collect(),
            branches: &branches.collect(),
            repo_urls: &self.rules.settings.repo_urls,
            allowed: &self.rules.allowed,
            is_directory,
        })
    }

    /// Objects first, then all refs at once: failures, notes, sync branches, environment branches.
    ///
    /// After every prefix of that order the next run makes the same commits again and moves the rest. Branches come last
    /// because they tell what is hydrated: one that moved without its note or its record would never get them.
    fn move_refs(&mut self) -> Result<(), Stopped> {
        let edits = self.ref_edits()?;
        let kept = self.buffer.flush()?;
        update_refs(self.setup.repository, &edits, "hydrate")?;
        drop(kept);
        Ok(())
    }

    /// The refs that move, in their order.
    fn ref_edits(&mut self) -> Result<Vec<RefEdit>, Stopped> {
        let mut edits: Vec<RefEdit> = Vec::new();
        if self.setup.refs.records {
            let date = self.newest_dry.unwrap_or_default();
            if self.failures != Failures::default() || self.refs.get(FAILURES_REF).is_some() {
                let failures = self.failures.write(&self.buffer)?;
                edits.extend(self.record(FAILURES_REF, failures, "Failures recorded by git-hydrate\n", date)?);
            }
            let notes = self.notes.write(&self.buffer)?;
            edits.extend(self.record(NOTES_REF, notes, "Notes added by git-hydrate\n", date)?);
        }
        for branch in self.branches.values() {
            edits.extend(branch.ref_edits(&self.setup.refs, &self.refs));
        }
        Ok(edits)
    }

    /// A new commit on a ref that keeps records, when its tree changed.
    fn record(&self, name: &str, tree: ObjectId, message: &str, date: Time) -> Result<Option<RefEdit>, Stopped> {
        let old = self.refs.get(name);
        let parent = old.map(|id| self.buffer.commit(id)).transpose()?;
        let unchanged = parent.as_ref().map_or(tree == self.buffer.empty_tree_id(), |parent| parent.tree == tree);
        if unchanged {
            return Ok(None);
        }
        let signature = self.rules.writer.signature(date, parent.as_ref().map(|parent| &parent.committer));
        let commit = NewCommit {
            tree,
            parents: old.into_iter().collect(),
            author: signature.clone(),
            committer: signature,
            message: message.to_owned(),
        };
        let new = self.buffer.write_commit(&commit)?;
        Ok(Some(RefEdit { name: name.to_owned(), new: Some(new), expected: Expected::from(old) }))
    }
}

impl Rules {
    /// Reads the settings of a repository.
    pub fn read(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<Self, HydrateError> {
        Self::at(refs.get(SETTINGS_REF), buffer)
    }

    /// Reads the settings that a commit holds.
    pub fn at(commit: Option<ObjectId>, buffer: &ObjectBuffer<'_>) -> Result<Self, HydrateError> {
        let (id, files) = files_of(commit, buffer)?;
        Ok(Self { id, ..Self::of(&files)? })
    }

    /// Makes rules of a folder of settings.
    pub fn of(files: &SettingsFiles) -> Result<Self, HydrateError> {
        let settings = Settings::read(files)?;
        let wrong = |error: application::PatternError| SettingsError::Wrong(error.to_string());
        let applications = Patterns::new(&settings.applications).map_err(wrong)?;
        let allowed = Patterns::new(&settings.branches).map_err(wrong)?;
        let writer = Writer::new(settings.metadata()?).map_err(HydrateError::Template)?;
        Ok(Self { settings, id: None, writer, applications, allowed })
    }
}

/// The settings of a repository as files, and the commit that holds them; none when there are none.
pub fn settings_files(refs: &Refs, buffer: &ObjectBuffer<'_>) -> Result<(Option<ObjectId>, SettingsFiles), git::Error> {
    files_of(refs.get(SETTINGS_REF), buffer)
}

fn files_of(
    commit: Option<ObjectId>,
    buffer: &ObjectBuffer<'_>,
) -> Result<(Option<ObjectId>, SettingsFiles), git::Error> {
    let commit = commit.map(|commit| buffer.commit(commit)).transpose()?;
    let commit = commit.filter(|commit| commit.tree != buffer.empty_tree_id());
    let mut files = SettingsFiles::new();
    for entry in commit.as_ref().map_or(Ok(Vec::new()), |commit| buffer.tree(commit.tree))? {
        files.insert(String::from_utf8_lossy(&entry.name).into_owned(), buffer.blob(entry.id)?);
    }
    Ok((commit.map(|commit| commit.id), files))
}

/// Whether hydration can work with a folder of settings, down to its templates.
pub fn check_settings(files: &SettingsFiles) -> Result<(), HydrateError> {
    Rules::of(files).map(drop)
}

/// What is wrong with the Applications of one branch before anything is rendered.
fn mistakes(name: &BranchName, tree: &DryTree, before: Option<&DryTree>) -> Vec<Diagnostic> {
    let applications = &tree.discovered.applications;
    let ours = |index: &usize| applications.get(*index).is_some_and(|app| app.environment_branch() == name);
    let findings = tree.verdict.findings.iter().filter(|finding| finding.applications.iter().any(ours));
    let documents = tree.discovered.mistakes.iter().filter(|(branch, _)| branch.as_ref() == Some(name));
    let fed = |file: &RepoPath| {
        before.is_some_and(|before| before.applications(name).any(|application| application.file == *file))
    };
    let broken = tree.discovered.broken.iter().filter(|broken| fed(&broken.file));
    let all = documents.map(|(_, mistake)| mistake).chain(broken.map(|broken| &broken.diagnostic));
    let all = all.chain(findings.map(|finding| &finding.diagnostic));
    all.filter(|diagnostic| diagnostic.is_error()).cloned().collect()
}

/// Mistakes in documents of which nobody can tell the branch, in files that held Applications of this one.
fn unread(name: &BranchName, tree: &DryTree, before: Option<&DryTree>) -> Vec<Diagnostic> {
    let Some(before) = before else { return Vec::new() };
    let fed = |file: &RepoPath| before.applications(name).any(|application| application.file == *file);
    let loose = tree.discovered.mistakes.iter().filter(|(branch, _)| branch.is_none()).map(|(_, mistake)| mistake);
    let here = loose.filter(|mistake| mistake.is_error() && mistake.span.as_ref().is_some_and(|span| fed(&span.path)));
    here.cloned().collect()
}

enum Gathered {
    Wrong(Vec<Diagnostic>),
    /// One of them wants more than this machine gives.
    TooMuch(Diagnostic),
    Machine(String),
}

/// The results of one branch: all of them, or everything that is wrong with any.
fn gather(
    results: Vec<Result<Output, render::Failure>>,
    applications: &[&Application],
) -> Result<Vec<Output>, Gathered> {
    let (mut outputs, mut wrong) = (Vec::new(), Vec::new());
    for (result, application) in results.into_iter().zip(applications) {
        match result {
            Ok(output) => outputs.push(output),
            Err(render::Failure::Mistakes(mistakes)) => {
                wrong.extend(mistakes.into_iter().map(|mistake| mistake.of(application.name.as_str())));
            }
            Err(render::Failure::World(error)) if error.is_limit() => {
                let place = application.places.name.clone();
                return Err(Gathered::TooMuch(Diagnostic::error(error.to_string()).at(place)));
            }
            Err(render::Failure::World(error)) => return Err(Gathered::Machine(error.to_string())),
        }
    }
    if wrong.is_empty() {
        let objects = applications.iter().zip(&outputs).map(|(application, output)| (*application, &*output.objects));
        wrong = render::conflicts(&objects.collect::<Vec<_>>());
    }
    if wrong.is_empty() { Ok(outputs) } else { Err(Gathered::Wrong(wrong)) }
}
