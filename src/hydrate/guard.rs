//! Who may push what hydration owns: nobody, but for those whom an admin names.
//!
//! Ours are the branches that hydration recorded, that Applications name or the settings give to it, the notes, and
//! everything below `refs/hydrate/`. A promoter may add to the branches, and nobody rewinds or deletes one by a push: an admin
//! does that on the server.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::branch_records::BranchRecords;
use super::dry_branches::DryBranches;
use super::rules::Rules;
use super::run::Survey;
use super::{FAILURES_REF, HydrateError, NOTES_REF, Setup, destinations, heads, survey};
use crate::application::{Application, BranchName, Patterns};
use crate::diag::Diagnostic;
use crate::git::{ObjectBuffer, ObjectId, Refs};
use crate::settings::SETTINGS_REF;

/// What a push would do to one ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefUpdate {
    /// Its full name, as pushed.
    pub name: String,
    /// What it would point at; none deletes it.
    pub new: Option<ObjectId>,
}

/// Who pushes, and who may.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Who pushes, as far as the server knows.
    pub pusher: Option<String>,
    /// Who may add commits to hydrated branches.
    pub promoters: Vec<String>,
    /// To which of them.
    pub promoted: Patterns,
    /// Who may push the settings.
    pub settings_pushers: Vec<String>,
}

impl Access {
    fn is_one_of(&self, names: &[String]) -> bool {
        self.pusher.as_ref().is_some_and(|pusher| !pusher.is_empty() && names.contains(pusher))
    }

    /// Whether nobody at all may push to a hydrated branch.
    pub fn is_closed(&self, branch: &BranchName) -> bool {
        self.promoters.is_empty() || !self.promoted.matches(branch.as_str())
    }
}

/// Why a push must not go in; empty when it may.
///
/// [`Setup::repository`] of `before` has the refs from before the push, that of `after` those that the push would leave;
/// both have the objects of both. `after` is needed where a push moves several branches. Errors: a repository cannot be
/// read.
pub fn guard(
    before: &Setup<'_>,
    after: Option<&Setup<'_>>,
    updates: &[RefUpdate],
    access: &Access,
) -> Result<Vec<Diagnostic>, HydrateError> {
    let refs = before.repository.refs()?;
    let guard = Guard::new(before, after, &refs, access)?;
    let mut refusals = Vec::new();
    for update in updates {
        let name = refs.resolve(&update.name);
        if update.new.is_some() && update.new == refs.get(name) {
            continue;
        }
        let refusal = match name.strip_prefix("refs/heads/").map(BranchName::new) {
            Some(Ok(branch)) => guard.branch(&branch, update.new)?,
            // Hydration writes no branch of such a name.
            Some(Err(_)) => None,
            None => guard.record(name),
        };
        refusals.extend(refusal);
    }
    Ok(refusals)
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
    survey: OnceCell<Option<Survey>>,
}

impl<'a> Guard<'a> {
    fn new(
        setup: &'a Setup<'a>,
        after: Option<&'a Setup<'a>>,
        refs: &'a Refs,
        access: &'a Access,
    ) -> Result<Self, HydrateError> {
        let buffer = ObjectBuffer::new(setup.repository);
        let rules = usable(Rules::read(refs, &buffer))?;
        let mut notes = heads::recorded_notes(refs, &buffer)?;
        let (records, _) = heads::records(&setup.refs, refs, &mut notes, &buffer)?;
        let settings = rules.as_ref().map(|rules| rules.settings.clone()).unwrap_or_default();
        let (dry_branches, _) = DryBranches::find(&setup.wake, &setup.refs, refs, &settings, &records);
        let reserved = rules.map(|rules| rules.allowed).filter(|_| !settings.branches.is_empty());
        let (named, survey) = (OnceCell::new(), OnceCell::new());
        Ok(Self { setup, after, refs, buffer, access, records, dry_branches, reserved, named, survey })
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
            named.extend(usable(destinations(setup))?.unwrap_or_default());
        }
        Ok(self.named.get_or_init(|| named))
    }

    /// Notes, settings and failures.
    fn record(&self, name: &str) -> Option<Diagnostic> {
        let is_at = |top: &str| name.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        if name == SETTINGS_REF {
            if self.access.is_one_of(&self.access.settings_pushers) {
                return None;
            }
            let hint = "change them on the server with `git hydrate config`, or have its admin name you: \
                        `git config --add hydrate.settingsPusher NAME`";
            return Some(Diagnostic::error(format!("the settings in {name} are the admin's")).hint(hint));
        }
        let what = if is_at(NOTES_REF) {
            "the notes of hydrated commits"
        } else if is_at(FAILURES_REF) || is_at("refs/hydrate") {
            "its own records"
        } else {
            return None;
        };
        let hint = "leave it out of the push";
        Some(Diagnostic::error(format!("{name}: hydration alone writes {what}")).hint(hint))
    }

    fn branch(&self, branch: &BranchName, new: Option<ObjectId>) -> Result<Option<Diagnostic>, HydrateError> {
        let Some(dry_branch) = self.dry_branch_of(branch)? else { return Ok(None) };
        let old = self.refs.branch(branch.as_str());
        if self.access.is_one_of(&self.access.promoters) && self.access.promoted.matches(branch.as_str()) {
            let adds = match (old, new) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(old), Some(new)) => self.setup.repository.is_ancestor(old, new),
            };
            if adds {
                return Ok(None);
            }
            let pusher = self.access.pusher.as_deref().unwrap_or_default();
            let text = format!("`{pusher}` may add commits to `{branch}`, not take any away");
            let hint = "merge into it, or have an admin move it on the server with `git update-ref`";
            return Ok(Some(Diagnostic::error(text).hint(hint)));
        }
        self.refusal(branch, &dry_branch, old, new).map(Some)
    }

    /// What the Applications ask for now; none when the settings cannot be used, so that nothing is hydrated.
    fn survey(&self) -> Result<Option<&Survey>, HydrateError> {
        if self.survey.get().is_none() {
            drop(self.survey.set(usable(survey(self.setup))?));
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
        let verb = if new.is_some() { "pushes to" } else { "deletes" };
        let refusal = Diagnostic::error(format!("`{branch}` is hydrated from `{dry_branch}`: nobody else {verb} it"));
        let all: Vec<&Application> = self.survey()?.map_or(Vec::new(), |survey| {
            let here = |application: &Application| {
                application.environment_branch() == branch || application.sync_branch == *branch
            };
            survey.applications.iter().map(|(_, application)| application).filter(|app| here(app)).collect()
        });
        let Some(new) = new else {
            let files: BTreeSet<&str> = all.iter().map(|application| application.file.as_str()).collect();
            let files = files.into_iter().take(SHOWN_MAX).collect::<Vec<_>>().join(", ");
            let hint = match files.as_str() {
                "" => "have an admin delete it on the server: git update-ref -d".to_owned(),
                files => format!("take its Applications out of `{dry_branch}`: {files}"),
            };
            return Ok(refusal.hint(hint));
        };
        let touched = self.touched(&all, old, new);
        let shown = if touched.is_empty() { &all } else { &touched };
        let paths: BTreeSet<&str> = shown.iter().map(|application| application.dry.path_text.as_str()).collect();
        let more = if paths.len() > SHOWN_MAX { ", …" } else { "" };
        let paths = paths.into_iter().take(SHOWN_MAX).collect::<Vec<_>>().join(", ");
        let paths = if paths.is_empty() { "its sources".to_owned() } else { paths + more };
        let refusal = refusal.hint(format!("change {paths} on `{dry_branch}` instead, and push that"));
        Ok(match shown[..] {
            [application] => refusal.of(application.name.as_str()).at(application.places.sync_path.clone()),
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
