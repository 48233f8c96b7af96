//! Copies in place of the Applications that a hydrated Application renders, where the setting `applicationsTo` asks for them.

use dry_files::view::{Files, Reads, View};

use super::policy::Policy;
use super::snapshot::Snapshot;
use crate::argo::parent::{Reach, Written, is_made};
use crate::argo::set::Home;
use crate::argo::{Application, BranchName, Copier};
use crate::manifest::Manifest;

/// What to do about a set that has no copy.
pub(crate) const EXPAND_IT: &str = "name it in `expand` of a rule of the settings: what it makes is copied then";

/// What to do about a set that a hydrated Application renders, and whose template cannot lead to what is hydrated.
pub(crate) const LET_IT_INSERT: &str = "what it makes does not lead to what is hydrated: let its template only insert values, \
    without `templatePatch`, and rules match what the template has as text";

/// What copies are made by on one dry branch.
pub(crate) struct Copies<'r> {
    policy: &'r Policy,
    home: Home,
}

impl<'r> Copies<'r> {
    /// Those of a dry branch, beside the branch that counts as the default one; without a dry branch it may be any.
    pub(crate) fn new(policy: &'r Policy, dry_branch: Option<&BranchName>, default: Option<&BranchName>) -> Self {
        let makers = policy.makers(dry_branch, default);
        let home =
            Home { repo_urls: makers.repo_urls, revisions: makers.revisions, is_beside_head: makers.is_beside_head };
        Self { policy, home }
    }

    /// The copies of a dry branch of `found`.
    pub(crate) fn of(found: &'r Snapshot<'_>, dry_branch: &BranchName) -> Self {
        Self::new(&found.policy, Some(dry_branch), found.default_branch())
    }

    pub(crate) fn copier(&self) -> Copier<'_> {
        let repo_urls = &self.policy.settings.repo_urls;
        Copier { rules: &self.policy.plain, repo_urls, home: &self.home }
    }

    /// What an Application renders, with copies in place of the Applications and ApplicationSets that are hydrated.
    /// `reads` is what was read of `files` for it.
    pub(crate) fn in_place(
        &self,
        parent: &Application,
        manifests: Vec<Manifest>,
        (reads, files): (&Reads, &dyn Files),
    ) -> Vec<Manifest> {
        let is_asked = self.policy.settings.applications_to.is_some() && self.policy.makes == Some(true);
        if !is_asked || !manifests.iter().any(|manifest| is_made(manifest.object())) {
            return manifests;
        }
        let Policy { plain, applications, .. } = self.policy;
        // What nothing was looked for in is hydrated by nothing: a copy of it would lead to a directory that is not there.
        if !Reach::new(!plain.is_empty(), plain.inputs()).may_make(parent, files) {
            return manifests;
        }
        let written = Written::of(reads, &View::new(files), plain, applications);
        let copier = self.copier();
        let mut placed = Vec::with_capacity(manifests.len());
        for manifest in manifests {
            let object = Some(manifest.object()).filter(|object| is_made(object));
            let copy = object.and_then(|object| copier.of_rendered(object, parent, &written));
            placed.push(copy.and_then(|copy| Manifest::new(copy).ok()).unwrap_or(manifest));
        }
        placed
    }
}
