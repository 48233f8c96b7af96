//! One environment branch during a run: where it stands, and the commits that are made on it.

use std::collections::{BTreeMap, BTreeSet};

use super::failed_render::FailedBranch;
use super::output::PathOutput;
use crate::application::{Application, BranchName, destination_is_dry};
use crate::diag::{Diagnostic, chain, shell_word};
use crate::git::{self, Commit, Expected, Mode, NewCommit, Notes, ObjectBuffer, ObjectId, RefEdit, Refs, object_id};
use crate::hydrate::active::Active;
use crate::hydrate::branch_records::BranchRecord;
use crate::hydrate::error::HydrateError;
use crate::hydrate::files::{MANIFEST, METADATA, PATH_FILES, README};
use crate::hydrate::heads::{BACKLOG_MAX, DryHead};
use crate::hydrate::report::{BranchReport, HydratedCommit, Outcome, Skipped};
use crate::hydrate::rules::Rules;
use crate::hydrate::setup::RefNames;
use crate::hydrate::snapshot::Snapshot;
use crate::hydrate::standing::{self, Standing, metadata_dir};
use crate::metadata::{DryCommit, ENGINE_REVISION, Files, Origin, PathContent, Provenance, Trailers};
use crate::path::RepoPath;
use crate::plan::Removal;
use crate::publish::{Edits, HydratedTree};
use crate::settings::{History, Settings};
use crate::shares::in_shares;

/// An environment branch and what the run made of it so far.
#[derive(Debug)]
pub struct Branch {
    pub name: BranchName,
    pub sync: BranchName,
    /// The dry branch that it is hydrated from.
    pub dry_branch: BranchName,
    /// The tip of the dry branch.
    pub dry_tip: ObjectId,
    old: Option<ObjectId>,
    standing: Option<Standing>,
    /// Whether the dry branch that it was hydrated from last is gone for good.
    dry_branch_is_gone: bool,
    /// Why nobody can tell how it stands.
    unreadable: Option<String>,
    /// The tip of the sync branch, when the branch is a staging branch of it.
    sync_tip: Option<ObjectId>,
    /// Who made the sync branch, when the branch is a staging branch of it.
    active: Active,
    new_sync: Option<ObjectId>,
    /// The newest commit: the tip, or one that this run made.
    pub tip: Option<Commit>,
    /// The dry commit that it is hydrated from.
    pub dry: Option<ObjectId>,
    /// The settings that it was hydrated with.
    pub settings: Option<ObjectId>,
    /// How many Applications of the tip of the dry branch write to it.
    pub applications: usize,
    commits: Vec<HydratedCommit>,
    skipped: Vec<Skipped>,
    failure: Option<Outcome>,
    /// Whether it was taken up at a commit that hydration made, to be hydrated again from there.
    resumed: bool,
    /// Whether a dry commit was hydrated onto it in this run.
    reached: bool,
    /// The Applications that it failed by, when it is renders that failed.
    pub failed: Option<FailedBranch>,
    /// Whether it must not be written in this run at all.
    pub closed: bool,
}

impl Branch {
    /// What a repository knows of an environment branch that is hydrated from `head`.
    ///
    /// Errors: the repository, or settings that the branch names and that are not here.
    pub fn open(
        name: &BranchName,
        sync: &BranchName,
        head: &DryHead,
        found: &Snapshot<'_>,
        notes: &mut Notes,
    ) -> Result<Self, HydrateError> {
        let branch = Self::read(name, sync, head, found, notes);
        match branch.settings.filter(|id| found.buffer.commit(*id).is_err()) {
            Some(id) => Err(HydrateError::SettingsMissing { id, branch: name.clone() }),
            None => Ok(branch),
        }
    }

    fn read(name: &BranchName, sync: &BranchName, head: &DryHead, found: &Snapshot<'_>, notes: &mut Notes) -> Self {
        let (refs, names) = (&found.refs, &found.setup.refs);
        let old = names.tip(refs, name);
        let read = |tip| found.standing(name, tip, &head.branch, notes);
        let broken =
            [name, sync].map(|branch| format!("{}{branch}", names.read)).into_iter().find(|it| refs.is_broken(it));
        let cannot = |branch: &BranchName, error: &git::Error| {
            format!("`{}{branch}` cannot be read: {}", names.read, chain(error))
        };
        let (standing, mut unreadable) = match (broken, old.map(read).transpose()) {
            (Some(broken), _) => (None, Some(format!("`{broken}` is broken"))),
            (None, Ok(standing)) => (standing, None),
            (None, Err(error)) => (None, Some(cannot(name, &error))),
        };
        let active = if sync == name { Ok(Active::Missing) } else { Active::of(sync, name, found) };
        let active = active.unwrap_or_else(|error| {
            unreadable.get_or_insert_with(|| cannot(sync, &error));
            Active::Foreign
        });
        Self {
            name: name.clone(),
            sync: sync.clone(),
            dry_branch: head.branch.clone(),
            dry_tip: head.tip,
            old,
            sync_tip: names.tip(refs, sync),
            active,
            new_sync: None,
            tip: standing.as_ref().map(|standing| standing.tip.clone()),
            dry: standing.as_ref().and_then(|standing| standing.dry),
            settings: standing.as_ref().and_then(|standing| standing.settings),
            dry_branch_is_gone: standing
                .as_ref()
                .and_then(Standing::dry_branch)
                .is_some_and(|dry_branch| found.has_left(dry_branch)),
            standing,
            unreadable,
            applications: 0,
            commits: Vec::new(),
            skipped: Vec::new(),
            failure: None,
            resumed: false,
            reached: false,
            failed: None,
            closed: false,
        }
    }

    /// The commit that the first new one stands on: the tip before the run, else that of the sync branch.
    pub fn base(&self) -> Option<ObjectId> {
        self.old.or(self.sync_tip)
    }

    /// The dry commit that the branch was hydrated from before the run, if that can be told.
    pub fn dry_before(&self) -> Option<ObjectId> {
        self.standing.as_ref().and_then(|standing| standing.dry)
    }

    /// Whether others put a commit on top of ours: nobody knows yet for which dry commit it holds.
    pub fn was_moved(&self) -> bool {
        let ours = |standing: &Standing| matches!(standing.origin, standing::Origin::Ours(_));
        self.standing.as_ref().is_some_and(|standing| ours(standing) && !standing.noted)
    }

    /// The records to write for what the run did: of the sync branch that it started or found, and of the branch itself.
    /// None when the recorded ones still say so.
    pub fn records(&self, settings: &Settings) -> Vec<(BranchName, BranchRecord)> {
        let before = self.standing.as_ref().and_then(Standing::record);
        let made: Vec<ObjectId> = self.commits.iter().filter_map(|commit| object_id(&commit.id)).collect();
        let last = self.commits.last().and_then(|commit| object_id(&commit.dry_sha));
        let (Some(tip), false) = (&self.tip, self.closed) else { return Vec::new() };
        let new = |tip: ObjectId, dry_commit: ObjectId, made: Vec<ObjectId>| BranchRecord {
            tip,
            dry_branch: self.dry_branch.clone(),
            dry_commit,
            others: BTreeMap::new(),
            settings: self.settings,
            engine: ENGINE_REVISION,
            initial: false,
            made,
            older: before.and_then(|before| before.older),
        };
        let own = match (before, last, self.dry) {
            (before, Some(dry_commit), _) => {
                let mut record = new(tip.id, dry_commit, made);
                if let Some(before) = before.filter(|_| !settings.active_paths(&self.name).is_empty()) {
                    record.others.clone_from(&before.others);
                    record.others.insert(before.dry_branch.clone(), before.dry_commit);
                    record.others.remove(&self.dry_branch);
                }
                record
            }
            // What is there is what would be made.
            (None, None, Some(dry_commit)) if self.reached => new(tip.id, dry_commit, made),
            (Some(before), None, Some(dry_commit)) if self.reached && self.dry_branch_is_gone => BranchRecord {
                dry_branch: self.dry_branch.clone(),
                dry_commit,
                settings: self.settings,
                made,
                ..before.clone()
            },
            // It was the active branch of a staging branch for a time.
            (Some(before), None, Some(dry_commit)) if self.reached && before.initial => BranchRecord {
                initial: false,
                tip: tip.id,
                dry_branch: self.dry_branch.clone(),
                dry_commit,
                settings: self.settings,
                made,
                ..before.clone()
            },
            (Some(before), None, _) if self.settings != before.settings => {
                BranchRecord { settings: self.settings, made, ..before.clone() }
            }
            (Some(_) | None, None, _) => return Vec::new(),
        };
        let dry_commit = own.dry_commit;
        let started = self.new_sync.filter(|_| self.sync != self.name).map(|id| (id, vec![id]));
        let is_new = matches!(self.active, Active::Unrecorded { .. });
        let sync = started.or_else(|| self.sync_tip.filter(|_| is_new).map(|id| (id, Vec::new())));
        let sync = sync.map(|(id, made)| {
            let record = BranchRecord { initial: true, older: None, ..new(id, dry_commit, made) };
            (self.sync.clone(), record)
        });
        sync.into_iter().chain([(self.name.clone(), own)]).collect()
    }

    /// The revision of the engine that made the branch, when it is another one than ours and ours makes commits now.
    pub fn engine_before(&self) -> Option<u32> {
        let record = self.standing.as_ref().and_then(Standing::record)?;
        (!self.commits.is_empty() && record.engine != ENGINE_REVISION).then_some(record.engine)
    }

    /// The revision of the engine that the record of the branch names.
    pub fn recorded_engine(&self) -> Option<u32> {
        self.standing.as_ref().and_then(Standing::record).map(|record| record.engine)
    }

    /// The dry commits that the branch lacks, oldest first: a suffix of the first-parent line up to the tip.
    pub fn backlog(&self, head: &DryHead, found: &Snapshot<'_>) -> Result<Vec<ObjectId>, git::Error> {
        if self.closed {
            return Ok(Vec::new());
        }
        let repository = found.setup.repository;
        let line = match self.dry.filter(|dry| repository.has(*dry)) {
            Some(dry) => repository.first_parents(dry, head.tip, BACKLOG_MAX)?,
            None => None,
        };
        let settings_changed = self.settings != found.rules.id;
        let moved = found.setup.refs.records && self.was_moved();
        Ok(match line {
            // A new branch, or a dry branch that was rewound.
            None => vec![head.tip],
            Some(line) if line.is_empty() && (settings_changed || moved) => vec![head.tip],
            Some(line) => match found.rules.settings.history {
                History::Every => line,
                History::Tip => line.last().copied().into_iter().collect(),
            },
        })
    }

    /// Whether an admin handed over the branch, and it has no record yet.
    pub fn is_taken_over(&self) -> bool {
        match &self.standing {
            Some(standing) => standing.origin == standing::Origin::Adopted,
            None => self.active == Active::Unrecorded { is_adopted: true },
        }
    }

    /// The branch as it was when `tip` was its newest commit, to be hydrated again from there.
    pub fn resume(
        name: &BranchName,
        head: &DryHead,
        tip: Commit,
        dry: Option<ObjectId>,
        settings: Option<ObjectId>,
    ) -> Self {
        Self {
            name: name.clone(),
            sync: name.clone(),
            dry_branch: head.branch.clone(),
            dry_tip: head.tip,
            old: Some(tip.id),
            standing: None,
            dry_branch_is_gone: false,
            unreadable: None,
            sync_tip: None,
            active: Active::Missing,
            new_sync: None,
            dry,
            settings,
            applications: 0,
            commits: Vec::new(),
            skipped: Vec::new(),
            failure: None,
            resumed: Trailers::read(&tip.message).is_some(),
            tip: Some(tip),
            reached: false,
            failed: None,
            closed: false,
        }
    }

    /// The branch before it had a commit of its own, to be cut from `parent`.
    pub fn before_first(name: &BranchName, head: &DryHead, parent: Commit, settings: Option<ObjectId>) -> Self {
        let sync_tip = Some(parent.id);
        Self { old: None, tip: None, sync_tip, resumed: false, ..Self::resume(name, head, parent, None, settings) }
    }

    /// Whether its sync branch is still to be started.
    pub fn lacks_sync(&self) -> bool {
        self.sync_tip.or(self.new_sync).is_none()
    }

    /// The empty commit that this branch started `sync` with in this run, if it did.
    pub fn started(&self, sync: &BranchName) -> Option<ObjectId> {
        self.new_sync.filter(|_| self.sync == *sync)
    }

    /// Decides whether hydration may write the branch at all.
    ///
    /// `applications` are those that write to it.
    pub fn judge<'t>(
        &mut self,
        head: &DryHead,
        mut applications: impl Iterator<Item = &'t Application>,
        found: &Snapshot<'_>,
    ) {
        let name = &self.name;
        let (settings, buffer, setup) = (&found.rules.settings, &found.buffer, found.setup);
        let checked_out = setup.refs.records && setup.repository.checked_out(name.as_str());
        let shared = settings.active_paths(name);
        let other = self.standing.as_ref().and_then(Standing::dry_branch).filter(|dry| *dry != &head.branch);
        // A dry branch that an admin took out of the settings, as one that was renamed, leaves its branches to the next.
        let other = other.filter(|_| !self.dry_branch_is_gone);
        let foreign = self.standing.as_ref().is_some_and(|standing| standing.origin == standing::Origin::Foreign);
        let place = |diagnostic: Diagnostic, application: Option<&Application>| match application {
            Some(application) => diagnostic.at(application.places.environment_branch().clone()),
            None => diagnostic,
        };
        let mistake = if let Some(why) = &self.unreadable {
            let hint = "`git hydrate doctor` on the server explains how to fix it";
            place(Diagnostic::error(why).hint(hint), applications.next())
        } else if (settings.dry_branches.contains(name) || *name == head.branch)
            && let Some(application) = applications.next()
        {
            destination_is_dry(name, application.places.environment_branch())
        } else if foreign {
            let mistake = Diagnostic::error(format!("`{name}` was not made by hydration, so it is not overwritten"));
            place(mistake.hint(to_hand_over(name)), applications.next())
        } else if self.active == Active::Foreign {
            let text = format!("`{}`, which `{name}` is promoted to, was not made by hydration", self.sync);
            let mistake = Diagnostic::error(text).hint(to_hand_over(&self.sync));
            match applications.next() {
                Some(application) => mistake.at(application.places.sync_branch.clone()),
                None => mistake,
            }
        } else if let Some(fault) = self.fault_of_others(buffer) {
            place(self.malformed(&fault), applications.next())
        } else if let Some(other) = other.filter(|_| shared.is_empty()) {
            place(written_from(name, other, &head.branch, found), applications.next())
        } else if checked_out {
            Diagnostic::error(format!("`{name}` is checked out in a worktree of this repository"))
                .hint("hydrate into a bare repository, or check out something else there")
        } else if self.sync != *name
            && let (Some(staging), Some(sync)) = (self.old, self.sync_tip)
            && !buffer.repository().are_related(staging, sync)
        {
            let mistake = Diagnostic::error(format!("`{name}` and `{}` have no common history", self.sync));
            let hint = format!("delete `{name}`: it is created again from the tip of `{}`", self.sync);
            place(mistake.hint(hint), applications.next())
        } else if !shared.is_empty()
            && let Some(outside) = applications.find(|app| !shared.iter().any(|dir| app.sync_path.starts_with(dir)))
        {
            let path = &outside.sync_path;
            let mistake = Diagnostic::error(format!("`{path}` is not in any of the `activePaths` of `{name}`"));
            mistake.at(outside.places.sync_path.clone()).hint("move it below one of them, or add one in the settings")
        } else if shared.is_empty()
            && let Some(active) = settings.active_paths.get(&self.sync)
            && let Some(application) = applications.next()
        {
            let mistake = Diagnostic::error(format!(
                "`{name}` is not a proposed branch of `{}`, which is promoted by directory",
                self.sync
            ));
            let dir = active.iter().find(|dir| application.sync_path.starts_with(dir));
            let hint = match dir {
                Some(dir) => format!("use `{}-next/{dir}` for `hydrateTo.targetBranch`", self.sync),
                None => format!(
                    "have an admin add its directory first: git hydrate config add {} {}",
                    shell_word(&format!("activePaths.{}", self.sync)),
                    shell_word(application.sync_path.as_str())
                ),
            };
            place(mistake.hint(hint), Some(application))
        } else {
            return;
        };
        self.close(mistake);
    }

    /// What is wrong in any directory of a branch that an admin handed over: all of it goes on into our commits.
    fn fault_of_others(&self, buffer: &ObjectBuffer<'_>) -> Option<String> {
        let base = self.base().filter(|_| self.is_taken_over())?;
        let found = buffer.commit(base).and_then(|commit| buffer.first_tree_fault(commit.tree));
        match found {
            Ok(fault) => fault.map(|(dir, fault)| match dir.as_str() {
                "" => format!("its root directory {fault}"),
                dir => format!("`{dir}` {fault}"),
            }),
            Err(error) => Some(chain(&error)),
        }
    }

    fn close(&mut self, mistake: Diagnostic) {
        self.closed = true;
        self.fail(self.dry_tip, vec![mistake], false);
    }

    /// Whether it holds what hydration made of [`Branch::dry`], and nothing that others put there since.
    pub fn holds_what_was_made(&self) -> bool {
        let before = match &self.standing {
            Some(standing) => standing.record().is_some() && standing.noted,
            None => self.resumed,
        };
        before || self.reached
    }

    /// Makes the hydrated commit of a dry commit, or finds that nothing changed. A path that `keeps` names stays as it
    /// is. `sync` is the empty commit that another staging branch started the sync branch with in this run.
    ///
    /// Errors: the repository, or a template of the settings; within, why it cannot be made on what is there.
    #[expect(clippy::too_many_arguments, reason = "what a branch gets comes together here")]
    pub fn make(
        &self,
        found: &Snapshot<'_>,
        dry: &DryCommit,
        repo_url: &str,
        paths: &[PathOutput<'_>],
        removals: &[Removal],
        keeps: &(dyn Fn(&PathOutput<'_>) -> bool + Sync),
        sync: Option<ObjectId>,
    ) -> Result<Result<Made, Diagnostic>, HydrateError> {
        let (buffer, rules) = (&found.buffer, &found.rules);
        let origin = Origin { repo_url, branch: &self.dry_branch, commit: dry };
        let mut new_sync = self.new_sync.or(sync.filter(|_| self.sync_tip.is_none()));
        let parent = self.parent(buffer, rules, &origin, &mut new_sync)?;
        let base = parent.as_ref().map_or(buffer.empty_tree_id(), |parent| parent.tree);
        let tree = found.tree_of(base);
        let mut edits = Edits::default();
        let mut changed = Vec::new();
        let mut touched = BTreeSet::new();
        let make = |path: &PathOutput<'_>| self.write_path(&tree, buffer, rules, &origin, path, keeps);
        for (path, written) in paths.iter().zip(in_shares(paths, make)) {
            let Some(Written { same, files }) = written? else { continue };
            if !same {
                changed.push(path.dir.clone());
            }
            touched.insert(metadata_dir(&rules.settings, &self.name, path.dir));
            for (name, blob) in files {
                edits.put(buffer, path.dir, &name, blob);
            }
        }
        for removal in removals {
            edits.remove(&removal.path, PATH_FILES);
            touched.insert(metadata_dir(&rules.settings, &self.name, &removal.path));
        }
        if touched.is_empty() && self.tip.is_some() {
            return Ok(Ok(Made { new_sync, ..Made::default() }));
        }
        if rules.settings.active_paths(&self.name).is_empty() {
            edits.write(buffer, &RepoPath::root(), &rules.writer.files_for_root(&origin))?;
        } else {
            let destination = |dir: &RepoPath| paths.iter().any(|path| path.dir == dir);
            for dir in touched.iter().filter(|dir| !destination(dir)) {
                edits.write(buffer, dir, &rules.writer.files_for_active_path(&origin))?;
            }
        }
        if let Some(fault) = edits.fault(&tree)? {
            return Ok(Err(self.malformed(&fault)));
        }
        let tree = edits.apply(buffer, base)?;
        let message = rules.writer.commit_message(&origin, &self.name, rules.id).map_err(HydrateError::Template)?;
        let commit = write(buffer, rules, dry, tree, parent.as_ref(), message)?;
        let removed = removals.iter().map(|removal| removal.path.clone()).collect();
        Ok(Ok(Made { new_sync, commit: Some(commit), changed, removed }))
    }

    /// The commit to build on has a directory that git would not write.
    fn malformed(&self, fault: &str) -> Diagnostic {
        let base = if self.tip.is_some() { &self.name } else { &self.sync };
        let hint = "`git fsck` names the tree: replace it with a commit on that branch, made on the server, or delete the \
                    branch there";
        Diagnostic::error(format!("`{base}` cannot be continued: {fault}")).hint(hint)
    }

    /// Takes over what was made of a dry commit, with these settings.
    pub fn take(&mut self, made: Made, dry: ObjectId, settings: Option<ObjectId>) {
        let Made { new_sync, commit, changed, removed } = made;
        self.new_sync = new_sync;
        if let Some(commit) = commit {
            let (id, dry_sha) = (commit.id.to_string(), dry.to_string());
            self.commits.push(HydratedCommit { id, dry_sha, changed, removed });
            self.tip = Some(commit);
        }
        self.reach(dry, settings);
    }

    /// The files to write into a path; none when all of them stand there already.
    fn write_path(
        &self,
        tree: &HydratedTree<'_>,
        buffer: &ObjectBuffer<'_>,
        rules: &Rules,
        origin: &Origin<'_>,
        path: &PathOutput<'_>,
        keeps: &(dyn Fn(&PathOutput<'_>) -> bool + Sync),
    ) -> Result<Option<Written>, HydrateError> {
        let there = tree.entry(&below(path.dir, MANIFEST))?;
        let same = there == Some((Mode::File, path.manifest));
        if same && self.is_as_written(tree, buffer, rules, origin, path)? {
            return Ok(None);
        }
        if there.is_some() && keeps(path) {
            return Ok(None);
        }
        let mut files = vec![(MANIFEST.to_owned(), path.manifest)];
        for (name, content) in self.files(rules, origin, path)? {
            files.push((name, buffer.write_blob(&content)?));
        }
        Ok(Some(Written { same, files }))
    }

    /// The commit to build on: the tip, else that of the sync branch, which starts with an empty commit of its own.
    fn parent(
        &self,
        buffer: &ObjectBuffer<'_>,
        rules: &Rules,
        origin: &Origin<'_>,
        new_sync: &mut Option<ObjectId>,
    ) -> Result<Option<Commit>, HydrateError> {
        if self.tip.is_some() {
            return Ok(self.tip.clone());
        }
        if let Some(sync_tip) = self.sync_tip.or(*new_sync) {
            return Ok(Some(buffer.commit(sync_tip)?));
        }
        let commit = initial(buffer, rules, &self.sync, origin)?;
        *new_sync = Some(commit.id);
        Ok(Some(commit))
    }

    fn files(&self, rules: &Rules, origin: &Origin<'_>, path: &PathOutput<'_>) -> Result<Files, HydrateError> {
        let content = PathContent {
            applications: &path.applications,
            commands: path.commands,
            is_ours: path.application.is_some(),
            is_active_path: rules.settings.active_paths(&self.name).contains(path.dir),
        };
        let mut files = rules.writer.files_for_path(&content, origin).map_err(HydrateError::Template)?;
        if let Some(readme) = path.readme {
            files.insert(README.to_owned(), readme.as_bytes().to_vec());
        }
        Ok(files)
    }

    /// Whether the files of a path whose manifest is unchanged would be the same if they were written again for the dry
    /// commit that they name: neither the settings nor the Application changed what they say.
    fn is_as_written(
        &self,
        tree: &HydratedTree<'_>,
        buffer: &ObjectBuffer<'_>,
        rules: &Rules,
        origin: &Origin<'_>,
        path: &PathOutput<'_>,
    ) -> Result<bool, HydrateError> {
        let dir = path.dir;
        let metadata_path = below(dir, METADATA);
        let Some(text) = tree.file(&metadata_path)? else { return Ok(false) };
        let Ok(Provenance { dry_commit: Some(written_for), .. }) = Provenance::read(&metadata_path, &text) else {
            return Ok(false);
        };
        let Ok(written_for) = buffer.commit(written_for) else { return Ok(false) };
        let origin = Origin { commit: &DryCommit::new(&written_for), ..*origin };
        for (name, content) in self.files(rules, &origin, path)? {
            if !tree.holds(&below(dir, &name), Mode::File, &content)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The refs that move, the sync branch first.
    pub fn ref_edits(&self, names: &RefNames, refs: &Refs) -> Vec<RefEdit> {
        let edit = |branch: &BranchName, new: ObjectId| {
            let name = format!("{}{branch}", names.write);
            let expected = Expected::from(refs.get(&name));
            (expected != Expected::Is(new)).then_some(RefEdit { name, new: Some(new), expected })
        };
        let sync = self.new_sync.filter(|_| self.sync != self.name).and_then(|new| edit(&self.sync, new));
        let own = self.tip.as_ref().and_then(|tip| edit(&self.name, tip.id));
        sync.into_iter().chain(own).collect()
    }

    /// Notes that a dry commit did not hydrate.
    pub fn fail(&mut self, dry_commit: ObjectId, diagnostics: Vec<Diagnostic>, recorded: bool) {
        let dry_sha = dry_commit.to_string();
        let message = diagnostics.first().map(|diagnostic| diagnostic.message.clone()).unwrap_or_default();
        self.skipped.push(Skipped { dry_sha: dry_sha.clone(), message });
        self.failure = Some(Outcome::Failed { dry_sha, diagnostics, recorded });
        self.failed = None;
    }

    /// Notes that a dry commit is hydrated, whether or not it took a commit.
    pub fn reach(&mut self, dry_commit: ObjectId, settings: Option<ObjectId>) {
        self.failure = None;
        self.reached = true;
        self.failed = None;
        self.dry = Some(dry_commit);
        self.settings = settings;
    }

    /// Whether the branch is just what hydration makes of this dry commit.
    pub fn has_reached(&self, dry: ObjectId) -> bool {
        !self.closed && self.failure.is_none() && self.dry == Some(dry) && self.tip.is_some()
    }

    /// Whether it shows a dry commit, and nothing kept it from that.
    pub fn is_hydrated(&self) -> bool {
        !self.closed && self.failure.is_none() && self.tip.is_some()
    }

    /// How it failed, if it did.
    pub fn failure(&self) -> Option<&Outcome> {
        self.failure.as_ref()
    }

    /// Why it could not be hydrated from this dry commit, when it is renders that failed.
    pub fn failed_at(&self, dry: ObjectId) -> Option<&FailedBranch> {
        let is_there = |dry_sha: &str| object_id(dry_sha) == Some(dry);
        match &self.failure {
            Some(Outcome::Failed { dry_sha, .. }) if is_there(dry_sha) && !self.closed => self.failed.as_ref(),
            _ => None,
        }
    }

    /// What the run did to the branch.
    pub fn into_report(self) -> BranchReport {
        let moved = if self.commits.is_empty() { Outcome::Unchanged } else { Outcome::Moved };
        BranchReport {
            branch: self.name.to_string(),
            dry_branch: self.dry_branch.to_string(),
            dry_sha: self.dry_tip.to_string(),
            old: self.old.map(|id| id.to_string()),
            new: self.tip.map(|tip| tip.id.to_string()),
            applications: self.applications,
            commits: self.commits,
            skipped: self.skipped,
            outcome: self.failure.unwrap_or(moved),
        }
    }
}

fn to_hand_over(branch: &BranchName) -> String {
    format!("to hand it over, an admin runs on the server: git hydrate adopt {}", shell_word(branch.as_str()))
}

/// An Application of the dry branch `here` names a branch that is hydrated from another one.
pub fn written_from(name: &BranchName, owner: &BranchName, here: &BranchName, found: &Snapshot<'_>) -> Diagnostic {
    let hint = match found.tip(owner) {
        Some(_) => "give each dry branch environment branches of its own, or let them share one by the setting \
                    `activePaths`"
            .to_owned(),
        None => {
            let left = found.dry_branches.iter().filter(|branch| *branch != owner).chain([here]);
            let left: BTreeSet<String> = left.map(|branch| shell_word(branch.as_str()).to_string()).collect();
            let left = left.into_iter().collect::<Vec<_>>().join(" ");
            format!(
                "`{owner}` does not exist; if `{here}` takes its place, an admin runs on the server: git hydrate config \
                 set dryBranches {left}"
            )
        }
    };
    Diagnostic::error(format!("`{name}` is hydrated from `{owner}`, not from `{here}`")).hint(hint)
}

/// Makes the empty commit that a missing sync branch starts with.
pub fn initial(
    buffer: &ObjectBuffer<'_>,
    rules: &Rules,
    sync: &BranchName,
    origin: &Origin<'_>,
) -> Result<Commit, HydrateError> {
    let message = rules.writer.initial_message(origin, sync, rules.id);
    write(buffer, rules, origin.commit, buffer.empty_tree_id(), None, message)
}

fn write(
    buffer: &ObjectBuffer<'_>,
    rules: &Rules,
    dry: &DryCommit,
    tree: ObjectId,
    parent: Option<&Commit>,
    message: String,
) -> Result<Commit, HydrateError> {
    let signature = rules.writer.signature(dry.date, parent.map(|parent| &parent.committer));
    let commit = NewCommit {
        tree,
        parents: parent.iter().map(|parent| parent.id).collect(),
        author: signature.clone(),
        committer: signature,
        message,
    };
    Ok(buffer.commit(buffer.write_commit(&commit)?)?)
}

/// What a branch becomes by a dry commit.
#[derive(Debug, Default)]
pub struct Made {
    /// The empty commit that the sync branch starts with, when there was none.
    pub new_sync: Option<ObjectId>,
    /// The hydrated commit; none when what is on the branch is what would be made.
    pub commit: Option<Commit>,
    /// Destination paths whose manifests changed, new ones included.
    pub changed: Vec<RepoPath>,
    /// Destination paths that were removed.
    pub removed: Vec<RepoPath>,
}

impl Made {
    /// What is the newest commit of the branch then.
    pub fn tip<'t>(&'t self, branch: &'t Branch) -> Option<&'t Commit> {
        self.commit.as_ref().or(branch.tip.as_ref())
    }
}

/// The files of one destination path, ready to be written.
struct Written {
    /// Whether the manifest stands there already.
    same: bool,
    /// Their blobs by name.
    files: Vec<(String, ObjectId)>,
}

fn below(dir: &RepoPath, name: &str) -> RepoPath {
    dir.child(name).expect("the names of our files are single components")
}
