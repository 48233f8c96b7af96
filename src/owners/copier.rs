//! Copies in place of the Applications that a hydrated Application renders, where the setting `applicationsTo` asks for them.

use super::policy::Policy;
use super::snapshot::Snapshot;
use crate::argo::parent::is_made;
use crate::argo::set::Home;
use crate::argo::{Application, BranchName, Copier};
use crate::manifest::Manifest;

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
    pub(crate) fn in_place(&self, parent: &Application, manifests: Vec<Manifest>) -> Vec<Manifest> {
        if self.policy.settings.applications_to.is_none() || self.policy.makes != Some(true) {
            return manifests;
        }
        let copier = self.copier();
        let mut placed = Vec::with_capacity(manifests.len());
        for manifest in manifests {
            let object = Some(manifest.object()).filter(|object| is_made(object));
            let copy = object.and_then(|object| copier.of_rendered(object, parent));
            placed.push(copy.and_then(|copy| Manifest::new(copy).ok()).unwrap_or(manifest));
        }
        placed
    }
}
