//! Who may push what hydration owns: nobody, but for those whom an admin names.
//!
//! Ours are the branches that hydration writes, the sync branches of its staging branches, the notes, and everything
//! below `refs/hydrate/`. A promoter may add to the branches, and nobody rewinds or deletes one by a push: an admin
//! does that on the server.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use super::run::Survey;
use super::standing::lineage;
use super::{FAILURES_REF, HydrateError, NOTES_REF, Setup, survey};
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
/// [`Setup::repository`] has the refs from before the push and the objects of both. Errors: it cannot be read.
pub fn guard(setup: &Setup<'_>, updates: &[RefUpdate], access: &Access) -> Result<Vec<Diagnostic>, HydrateError> {
    let refs = setup.repository.refs()?;
    let buffer = ObjectBuffer::new(setup.repository);
    let guard = Guard { setup, refs: &refs, buffer, access, survey: OnceCell::new() };
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
    refs: &'a Refs,
    buffer: ObjectBuffer<'a>,
    access: &'a Access,
    survey: OnceCell<Option<Survey>>,
}

impl Guard<'_> {
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
        let old = self.refs.branch(branch.as_str());
        let line = old.map(|old| lineage(branch, old, None, &self.buffer)).transpose()?.unwrap_or_default();
        let dry_branch = match line.dry_branch {
            Some(dry_branch) => Some(dry_branch),
            // A branch of somebody else stays his, also when an Application names it.
            None if old.is_none() || line.has_hydrated => self.named_by_applications(branch)?,
            None => None,
        };
        let Some(dry_branch) = dry_branch else { return self.claim(branch, old, new) };
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

    /// The dry branch whose Applications name the branch.
    fn named_by_applications(&self, branch: &BranchName) -> Result<Option<BranchName>, HydrateError> {
        let Some(survey) = self.survey()? else { return Ok(None) };
        let names = |application: &Application| {
            application.environment_branch() == branch || application.sync_branch == *branch
        };
        let found = survey.applications.iter().find(|(_, application)| names(application));
        Ok(found.map(|(dry_branch, _)| dry_branch.clone()))
    }

    /// What the Applications ask for now; none when the settings cannot be used, so that nothing is hydrated.
    fn survey(&self) -> Result<Option<&Survey>, HydrateError> {
        if self.survey.get().is_none() {
            let found = match survey(self.setup) {
                Ok(survey) => Some(survey),
                Err(HydrateError::Settings(_) | HydrateError::Template(_)) => None,
                Err(error) => return Err(error),
            };
            drop(self.survey.set(found));
        }
        Ok(self.survey.get().and_then(Option::as_ref))
    }

    /// A branch of the team must not be made to look like one of hydration: nobody could push to it any more.
    fn claim(
        &self,
        branch: &BranchName,
        old: Option<ObjectId>,
        new: Option<ObjectId>,
    ) -> Result<Option<Diagnostic>, HydrateError> {
        let Some(new) = new.filter(|new| self.setup.repository.peel_to_commit(*new).is_ok_and(|at| at == Some(*new)))
        else {
            return Ok(None);
        };
        if lineage(branch, new, old, &self.buffer)?.dry_branch.is_none() {
            return Ok(None);
        }
        let text = format!("`{branch}` would hold a commit that claims to be made for it by hydration");
        let hint = "take the trailers `Hydrate-…` out of its message";
        Ok(Some(Diagnostic::error(text).hint(hint)))
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
