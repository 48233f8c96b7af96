//! Who may push what hydration owns: only those whom an admin names.
//!
//! Ours are the branches that hydration recorded, that Applications name or the settings give to it, the notes, and
//! everything below `refs/hydrate/`. A promoter may add to the branches, and no push rewinds or deletes one: an
//! admin does that on the server. No push replaces an object (`refs/replace/`).
//!
//! Between this look at the refs and the moment when git moves them, others move them too. So what counts is the old value
//! that git will check then: it is part of the push, and the pusher can write anything there. A branch of which the
//! push says something else than we see here is not taken.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use dry_files::diag::{Diagnostic, shell_word};

use super::access::{Access, SHOWING, nameless, naming_variable, who_promotes};
use crate::argo::{Application, BranchName, Patterns};
use crate::hydrate::dry_tree::DryTrees;
use crate::hydrate::memory::{Attempt, Memory};
use crate::hydrate::survey::{Survey, survey};
use crate::metadata::NOTES_REF;
use crate::owners::branch_records::{BranchRecords, hydrated_below};
use crate::owners::dry_branches::DryBranches;
use crate::owners::error::HydrateError;
use crate::owners::failures::FAILURES_REF;
use crate::owners::heads;
use crate::owners::policy::Policy;
use crate::owners::setup::Setup;
use crate::owners::snapshot::Snapshot;
use crate::repo::{ObjectBuffer, ObjectId, Refs, hidden_by, hidden_from_pushes, is_hidden, object_id, taken_for};
use crate::settings::{SETTINGS_REF, UNPUSHED_REF};

/// What a push would do to one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefUpdate {
    /// Its full name, as pushed.
    pub name: String,
    /// What it must point at when git moves it, as the push says; none when it must not be there. A deletion with an id
    /// that is no object, or none, is not checked by git.
    pub old: Option<ObjectId>,
    /// The new commit of the ref; none deletes the ref.
    pub new: Option<ObjectId>,
}

/// Who finds the Applications of a dry branch that are not known yet: that may take more memory than there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// This process.
    Here,
    /// Another one: where a search is needed, this one stops with [`HydrateError::NotSearched`].
    Elsewhere,
    /// No one, for they died of it. What such a dry branch alone would name is not guarded.
    NoOne,
}

/// Why a push must not go in; empty when it may.
///
/// `refs` are those from before the push. [`Setup::repository`] of `before` has them too, that of `after` those that the push
/// would leave; both have the objects of both. `after` is needed where a push moves several branches. Errors: a repository
/// cannot be read.
pub(crate) fn guard(
    before: &Setup<'_>,
    after: Option<&Setup<'_>>,
    refs: &Refs,
    updates: &[RefUpdate],
    (access, search): (&Access, Search),
) -> Result<Vec<Diagnostic>, HydrateError> {
    let guard = Guard { search, ..Guard::new(before, after, refs, access)? };
    let mut refusals = Vec::new();
    for update in updates {
        // git moves it from there to there, or not at all.
        if update.new.is_none() || update.new != update.old {
            refusals.extend(guard.update(update)?);
        }
    }
    Ok(refusals)
}

/// Why a branch must not be moved by an update that is judged by `refs`: it says that the branch is elsewhere. Should it be
/// there when git looks, it is not what was judged.
pub(crate) fn stale(refs: &Refs, update: &RefUpdate) -> Option<Diagnostic> {
    let branch = refs.resolve(&update.name).strip_prefix("refs/heads/")?;
    let is_known = update.old == refs.branch(branch) && (update.old.is_some() || update.new.is_some());
    let refusal = || {
        Diagnostic::error(format!("`{branch}` has changed since this push began")).hint("git fetch, then push again")
    };
    (!is_known).then(refusal)
}

struct Guard<'a> {
    setup: &'a Setup<'a>,
    after: Option<&'a Setup<'a>>,
    refs: &'a Refs,
    buffer: ObjectBuffer<'a>,
    access: &'a Access,
    records: BranchRecords,
    dry_branches: Vec<BranchName>,
    /// The branches that the settings give to hydration; none when they name none, or cannot be used.
    reserved: Option<Patterns>,
    /// The branches that Applications name, each with its dry branch.
    named: OnceCell<BTreeMap<BranchName, BranchName>>,
    /// Whether names that differ in case only are one.
    ignores_case: bool,
    survey: OnceCell<Option<Survey>>,
    taken: OnceCell<BTreeMap<String, BTreeSet<String>>>,
    /// Those of the setting `dryBranches` that do not exist.
    missing_dry: Vec<BranchName>,
    search: Search,
}

impl<'a> Guard<'a> {
    fn new(
        setup: &'a Setup<'a>,
        after: Option<&'a Setup<'a>>,
        refs: &'a Refs,
        access: &'a Access,
    ) -> Result<Self, HydrateError> {
        let buffer = ObjectBuffer::new(setup.repository);
        let policy = usable(Policy::read(refs, &buffer))?;
        let mut notes = heads::recorded_notes(refs, &buffer)?;
        let settings = policy.as_ref().map(|policy| policy.settings.clone()).unwrap_or_default();
        let settings_commit = policy.as_ref().and_then(|policy| policy.id);
        let (records, _) = heads::records(&setup.place, refs, (&settings, settings_commit), &mut notes, &buffer)?;
        let (dry_branches, _) = DryBranches::find(&setup.wake, &setup.place, refs, &settings, &records);
        let reserved = policy.map(|policy| policy.allowed).filter(|_| !settings.branches.is_empty());
        Ok(Self {
            setup,
            after,
            refs,
            buffer,
            access,
            records,
            dry_branches,
            reserved,
            named: OnceCell::new(),
            ignores_case: setup.repository.ignores_case(),
            survey: OnceCell::new(),
            taken: OnceCell::new(),
            missing_dry: settings.dry_branches.into_iter().filter(|dry| refs.branch(dry.as_str()).is_none()).collect(),
            search: Search::Here,
        })
    }

    /// The dry branch that a branch is hydrated from, or would be; none for a branch that is not hydration's.
    ///
    /// Its own are those that it recorded, that the setting `branches` gives to it, and that Applications name at the
    /// tips of the dry branches, as they are and as the push would leave them.
    fn dry_branch_of(&self, branch: &BranchName) -> Result<Option<BranchName>, HydrateError> {
        if self.dry_branches.contains(branch) {
            return Ok(None);
        }
        if let Some(record) = self.records.get(branch) {
            return Ok(Some(record.dry_branch.clone()));
        }
        let named = self.named()?.get(branch).cloned();
        let reserved = || self.reserved.as_ref().is_some_and(|patterns| patterns.matches(branch.as_str()));
        Ok(named.or_else(|| self.dry_branches.first().filter(|_| reserved()).cloned()))
    }

    fn named(&self) -> Result<&BTreeMap<BranchName, BranchName>, HydrateError> {
        if let Some(named) = self.named.get() {
            return Ok(named);
        }
        let mut named = BTreeMap::new();
        for setup in [Some(self.setup), self.after].into_iter().flatten() {
            named.extend(usable(destinations(setup, self.search))?.unwrap_or_default());
        }
        Ok(self.named.get_or_init(|| named))
    }

    fn update(&self, update: &RefUpdate) -> Result<Option<Diagnostic>, HydrateError> {
        let name = self.refs.resolve(&update.name);
        for name in self.same_file(name)? {
            let refusal = match name.strip_prefix("refs/heads/").map(BranchName::new) {
                Some(Ok(branch)) => self.branch(&branch, update.old, update.new)?,
                // Hydration writes no branch of such a name.
                Some(Err(_)) => None,
                None => self.record(&name),
            };
            if refusal.is_some() {
                return Ok(refusal);
            }
        }
        if let Some(refusal) = stale(self.refs, update) {
            return Ok(Some(refusal));
        }
        if let Some(refusal) = self.is_taken_for_another(name, update.new) {
            return Ok(Some(refusal));
        }
        if let Some(refusal) = self.takes_a_revision(name, update.new)? {
            return Ok(Some(refusal));
        }
        match self.hides(name, update.new)? {
            None => self.in_the_way(name, update.new),
            refusal => Ok(refusal),
        }
    }

    /// A new ref whose name ends with the full name of another: a push of that one by name would be refused.
    fn is_taken_for_another(&self, name: &str, new: Option<ObjectId>) -> Option<Diagnostic> {
        let other = taken_for(name).into_iter().next().filter(|_| new.is_some() && self.refs.get(name).is_none())?;
        let text = format!("git would take `{name}` for `{other}` when somebody pushes that by name");
        Some(Diagnostic::error(text).hint("choose another name: one that does not begin with `refs/`"))
    }

    /// A new branch of the name of a tag, or of a range of versions, that environments follow: `targetRevision` would mean the branch
    /// from then on, and what follows the tag would stay as it is.
    fn takes_a_revision(&self, name: &str, new: Option<ObjectId>) -> Result<Option<Diagnostic>, HydrateError> {
        let Some(branch) = name.strip_prefix("refs/heads/").filter(|_| new.is_some() && self.refs.get(name).is_none())
        else {
            return Ok(None);
        };
        for (environment, record) in self.records.iter() {
            let Ok(tip) = self.buffer.commit(record.tip) else { continue };
            let Some((_, trailers)) = hydrated_below(tip.id, &self.buffer) else { continue };
            let Some(resolved) = trailers.defined.map(|defined| defined.resolved) else { continue };
            // No other branch is named so.
            let may_be_range = branch.contains(['<', '>', '=']);
            if may_be_range || resolved == branch {
                let what = if may_be_range { "range of versions".to_owned() } else { format!("tag `{resolved}`") };
                let text =
                    format!("`{name}` would take the place of the {what} that Applications of `{environment}` follow");
                return Ok(Some(Diagnostic::error(text).hint("choose another name")));
            }
        }
        Ok(None)
    }

    /// A tag of a branch's name, or another ref that git takes for the branch.
    fn hides(&self, name: &str, new: Option<ObjectId>) -> Result<Option<Diagnostic>, HydrateError> {
        for branch in hidden_by(name).into_iter().filter(|_| new.is_some()) {
            let Ok(branch) = BranchName::new(branch) else { continue };
            if self.dry_branches.contains(&branch) || self.dry_branch_of(&branch)?.is_some() {
                let text = format!("`{name}` would hide the branch `{branch}`: git takes it for the branch");
                return Ok(Some(Diagnostic::error(text).hint("choose another name")));
            }
        }
        Ok(None)
    }

    /// The name, and those that are one file with it.
    fn same_file<'n>(&self, name: &'n str) -> Result<BTreeSet<Cow<'n, str>>, HydrateError> {
        let mut names = BTreeSet::from([Cow::Borrowed(name)]);
        if self.ignores_case {
            let folded = self.folded(name);
            let twins = match folded.strip_prefix("refs/heads/") {
                Some(branch) => self.taken()?.get(branch).into_iter().flatten(),
                None => None.into_iter().flatten(),
            };
            names.extend(twins.map(|branch| Cow::Owned(format!("refs/heads/{branch}"))));
            names.insert(Cow::Owned(folded.into_owned()));
        }
        Ok(names)
    }

    fn folded<'n>(&self, name: &'n str) -> Cow<'n, str> {
        if self.ignores_case { name.to_lowercase().into() } else { name.into() }
    }

    /// The dry branches that are not there, the branches that Applications name, and where git cannot distinguish it from theirs any
    /// other, by [`Guard::folded`] name.
    fn taken(&self) -> Result<&BTreeMap<String, BTreeSet<String>>, HydrateError> {
        if self.taken.get().is_none() {
            let recorded = self.records.iter().map(|(branch, _)| branch);
            let named = self.named()?.keys().chain(recorded).chain(&self.missing_dry).map(BranchName::as_str);
            let existing = self.refs.below("refs/heads/").map(|(branch, _)| branch).filter(|_| self.ignores_case);
            let mut taken: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for branch in named.chain(existing) {
                taken.entry(self.folded(branch).into_owned()).or_default().insert(branch.to_owned());
            }
            drop(self.taken.set(taken));
        }
        Ok(self.taken.get().expect("it was set"))
    }

    /// A new branch whose name is a directory of one that hydration is to write, or the other way round, would keep it
    /// from being made.
    fn in_the_way(&self, name: &str, new: Option<ObjectId>) -> Result<Option<Diagnostic>, HydrateError> {
        let Some(branch) = name.strip_prefix("refs/heads/").filter(|_| new.is_some() && self.refs.get(name).is_none())
        else {
            return Ok(None);
        };
        let (taken, folded) = (self.taken()?, self.folded(branch));
        let above = folded.match_indices('/').find_map(|(at, _)| taken.get(&folded[..at]));
        let dir = format!("{folded}/");
        let below = taken.range(dir.clone()..).next().filter(|(name, _)| name.starts_with(&dir)).map(|(_, name)| name);
        let Some(other) = above.or(below).and_then(BTreeSet::first) else { return Ok(None) };
        let hint = "choose another name: git cannot keep both";
        Ok(Some(Diagnostic::error(format!("the branch `{branch}` would be in the way of `{other}`")).hint(hint)))
    }

    /// Notes, settings and failures.
    fn record(&self, name: &str) -> Option<Diagnostic> {
        let is_at = |top: &str| name.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if name == SETTINGS_REF {
            if self.access.may_set() {
                return None;
            }
            let variable =
                naming_variable(self.access, "git").map(|command| format!("{command} && ")).unwrap_or_default();
            let nameless = nameless(self.access).filter(|_| !self.access.settings_pushers.is_empty());
            let nameless = nameless.map(|nameless| format!("{nameless}; ")).unwrap_or_default();
            let hint = format!(
                "{nameless}change them on the server with `git hydrate config`; to let an account push them, an admin runs there: {variable}git config \
                 --add hydrate.settingsPusher NAME && git hydrate install --server; to drop those of the clone: git update-ref -d \
                 {UNPUSHED_REF} && git fetch origin +{SETTINGS_REF}:{SETTINGS_REF}"
            );
            return Some(Diagnostic::error(format!("only an admin may change the settings in {name}")).hint(hint));
        }
        if is_at("refs/replace") {
            let hint = "leave it out of the push: hydration reads each object as it is";
            return Some(Diagnostic::error(format!("{name} would replace an object")).hint(hint));
        }
        let what = if is_at(NOTES_REF) {
            "the notes of hydrated commits"
        } else if is_at(FAILURES_REF) || is_at("refs/hydrate") {
            "its own records"
        } else {
            return None;
        };
        let hint = "leave it out of the push";
        Some(Diagnostic::error(format!("{name}: only hydration writes {what}")).hint(hint))
    }

    /// `pushed_old` is what git will check; whose branch it is shows what it points at now.
    fn branch(
        &self,
        branch: &BranchName,
        pushed_old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Option<Diagnostic>, HydrateError> {
        let Some(dry_branch) = self.dry_branch_of(branch)? else { return Ok(None) };
        let old = self.refs.branch(branch.as_str());
        if self.access.is_one_of(&self.access.promoters) && self.access.promoted.matches(branch.as_str()) {
            // git refuses it whatever is said here, and the pusher does not even see where the branch is.
            if is_hidden(&branch.ref_name(), &hidden_from_pushes(self.setup.repository)) {
                let text = format!("`{branch}` is hidden from pushes (receive.hideRefs), so none goes in");
                let hint = format!("an admin has git show it to who may promote, on the server: {SHOWING}");
                return Ok(Some(Diagnostic::error(text).hint(hint)));
            }
            let adds = match (pushed_old, new) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(old), Some(new)) => self.setup.repository.is_ancestor(old, new),
            };
            if let (true, Some(new)) = (adds, new) {
                return self.malformed(branch, old, new);
            }
            let pusher = self.access.pusher.as_deref().unwrap_or_default();
            let text = format!("`{pusher}` may add commits to `{branch}`, but not remove any");
            let hint = "merge into it, or have an admin move it on the server with `git update-ref`";
            return Ok(Some(Diagnostic::error(text).hint(hint)));
        }
        self.refusal(branch, &dry_branch, old, new).map(Some)
    }

    /// Why the files of a commit must not get on `branch`: a directory that git would not write, which git and others read
    /// differently. Those that the branch has already are not looked at.
    fn malformed(
        &self,
        branch: &BranchName,
        old: Option<ObjectId>,
        new: ObjectId,
    ) -> Result<Option<Diagnostic>, HydrateError> {
        let old = old.and_then(|old| self.buffer.commit(old).ok()).map(|commit| commit.tree);
        let fault = self.buffer.new_tree_fault(self.buffer.commit(new)?.tree, old)?;
        let Some((dir, fault)) = fault else { return Ok(None) };
        let dir = if dir.is_empty() { "its root directory".to_owned() } else { format!("the directory `{dir}`") };
        let text = format!("`{branch}` would get a malformed tree at {new}: {dir} {fault}");
        let hint = "`git fsck` in your clone names it: make the commit again with git, and push that";
        Ok(Some(Diagnostic::error(text).hint(hint)))
    }

    /// What the Applications ask for now; none when the settings cannot be used, so that nothing is hydrated.
    fn survey(&self) -> Result<Option<&Survey>, HydrateError> {
        if self.survey.get().is_none() {
            let survey = match (self.search, self.dry_branches.first()) {
                (Search::Elsewhere, Some(first)) => return Err(HydrateError::NotSearched(first.clone())),
                (Search::NoOne, _) => None,
                (Search::Here | Search::Elsewhere, _) => usable(survey(self.setup))?,
            };
            drop(self.survey.set(survey));
        }
        Ok(self.survey.get().and_then(Option::as_ref))
    }

    /// What to do instead: change what the branch is made of.
    fn refusal(
        &self,
        branch: &BranchName,
        dry_branch: &BranchName,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Diagnostic, HydrateError> {
        const SHOWN_MAX: usize = 3;
        let refused = if new.is_some() { "pushes to it are refused" } else { "it cannot be deleted" };
        let is_hydrated = self.records.get(branch).is_some() || self.named()?.contains_key(branch);
        let refusal = Diagnostic::error(match is_hydrated {
            true => format!("`{branch}` is hydrated from `{dry_branch}`: {refused}"),
            false => format!("`{branch}` matches the setting `branches`, which gives it to hydration: {refused}"),
        });
        if !is_hydrated && new.is_some() {
            let hint = format!("choose another name; an Application on `{dry_branch}` that names it makes it");
            return Ok(refusal.hint(hint));
        }
        let all = self.survey()?.map_or(&[][..], |survey| &survey.applications);
        let all = all.iter().map(|(_, application)| application);
        let is_here = |one: &&Application| one.environment_branch() == branch || one.sync_branch == *branch;
        let all: Vec<&Application> = all.filter(is_here).collect();
        let Some(new) = new else {
            let files: BTreeSet<&str> = all.iter().map(|application| application.file.as_str()).collect();
            let files = files.into_iter().take(SHOWN_MAX).collect::<Vec<_>>().join(", ");
            let hint = match files.as_str() {
                "" => {
                    let name = shell_word(&branch.ref_name());
                    format!(
                        "have an admin delete it on the server: git update-ref -d {name}; then in clones: git fetch --prune"
                    )
                }
                files => format!("remove its Applications from `{dry_branch}`: {files}"),
            };
            return Ok(refusal.hint(hint));
        };
        let staging: BTreeSet<&BranchName> = all.iter().map(|app| app.environment_branch()).collect();
        if let (Some(from), false) = (staging.first().filter(|_| staging.len() == 1), staging.contains(branch)) {
            let hint =
                format!("it changes when a promoter merges `{from}` into it: {}", who_promotes(self.access, branch));
            return Ok(refusal.hint(hint));
        }
        let touched = self.touched(&all, old, new);
        let shown = if touched.is_empty() { &all } else { &touched };
        // A chart has no path here.
        let paths = shown.iter().map(|application| application.dry.path_text.as_str());
        let paths: BTreeSet<&str> = paths.filter(|path| !path.is_empty()).collect();
        let more = if paths.len() > SHOWN_MAX { ", …" } else { "" };
        let paths = paths.into_iter().take(SHOWN_MAX).collect::<Vec<_>>().join(", ");
        let paths = if paths.is_empty() { "its sources".to_owned() } else { paths + more };
        let is_staged = staging.contains(branch) && all.iter().any(|app| app.sync_branch != *branch);
        let promoter = match is_staged {
            true => format!("; a promoter may push there too: {}", who_promotes(self.access, branch)),
            false => String::new(),
        };
        let refusal = refusal.hint(format!("change {paths} on `{dry_branch}` instead, and push that{promoter}"));
        Ok(match shown[..] {
            // Who pushes need not be one who may read the dry branch.
            [application] => refusal.of(application.name.as_str()).at(application.places.sync_path.clone().unquoted()),
            _ => refusal,
        })
    }

    /// The Applications whose directories differ between two commits of a branch. What cannot be read differs nowhere:
    /// this only makes a hint better.
    fn touched<'s>(&self, all: &[&'s Application], old: Option<ObjectId>, new: ObjectId) -> Vec<&'s Application> {
        let tree = |id| self.buffer.commit(id).ok().map(|commit| commit.tree);
        let old = old.map_or_else(|| Some(self.buffer.empty_tree_id()), tree);
        let (Some(old), Some(new)) = (old, tree(new)) else { return Vec::new() };
        let changes = self.buffer.diff_trees(old, new).unwrap_or_default();
        let changed = |application: &&&Application| {
            let dir = format!("{}/", application.sync_path);
            changes.iter().any(|change| change.path.starts_with(&dir))
        };
        all.iter().filter(changed).copied().collect()
    }
}

/// A result that needs the settings; none when they cannot be used.
fn usable<T>(result: Result<T, HydrateError>) -> Result<Option<T>, HydrateError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(HydrateError::Settings(_) | HydrateError::Template(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The branches that the Applications of the dry branches name and may name, each with its dry branch.
fn destinations(setup: &Setup<'_>, search: Search) -> Result<BTreeMap<BranchName, BranchName>, HydrateError> {
    let (found, _) = Snapshot::read(setup, ObjectBuffer::new(setup.repository))?;
    let memory = Memory::new(setup.repository, &Attempt::default());
    let mut trees = DryTrees::default();
    let heads = found.heads();
    let mut destinations = BTreeMap::new();
    for head in &heads {
        let known = memory.recall(head, &found).filter(|state| object_id(&state.head.dry_commit) == Some(head.tip));
        let names = match (known, search) {
            (Some(state), _) => state.head.destinations,
            (None, Search::Here) => trees.read(head.tip, head, &heads, &found)?.branch_names().1,
            (None, Search::Elsewhere) => return Err(HydrateError::NotSearched(head.branch.clone())),
            (None, Search::NoOne) => continue,
        };
        let names = names.iter().filter_map(|name| BranchName::read(name).ok());
        let names = names.filter(|name| found.policy.allowed.matches(name.as_str()));
        destinations.extend(names.map(|name| (name, head.branch.clone())));
    }
    let copies = found.policy.settings.applications_to.clone().zip(heads.first());
    destinations.extend(copies.map(|(copies, head)| (copies, head.branch.clone())));
    Ok(destinations)
}
