//! Applications that no dry commit touched keep the files that are on their branch.
//!
//! That is so by itself as long as one engine renders: the same reads make the same bytes. Another revision of the engine
//! may make others, and a new binary alone must not rewrite what is deployed.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use dry_files::path::RepoPath;
use dry_files::view::View;

use super::output::PathOutput;
use crate::argo::{Application, BranchName};
use crate::hydrate::dry_tree::DryTree;
use crate::repo::TreeFiles;
use crate::repo::{ObjectId, Repository};

/// What shows whether an Application was touched since its branch was hydrated last.
pub(crate) struct Untouched<'u> {
    repository: &'u Repository,
    /// The Applications of the branch at that dry commit, and its tree; none when all of them count as touched.
    before: Option<(Vec<&'u Application>, ObjectId)>,
    by_path: OnceLock<BTreeMap<&'u RepoPath, &'u Application>>,
}

impl<'u> Untouched<'u> {
    /// `before` is the dry commit that the branch was hydrated from, where what is on the branch is just what was made of
    /// it with the same settings; without it all Applications count as touched. Where a tag, a range or an id led to their sources, these
    /// are in the tree `tagged`, and count as touched where that is not here.
    pub(crate) fn since(
        before: Option<&'u DryTree>,
        tagged: Option<Option<ObjectId>>,
        branch: &'u BranchName,
        repository: &'u Repository,
    ) -> Self {
        let applications =
            |before: &'u DryTree| before.applications(branch).map(|application| &**application).collect();
        let sources = |before: &DryTree| tagged.unwrap_or(Some(before.tree));
        let before = before.and_then(|before| Some((applications(before), sources(before)?)));
        Self { repository, before, by_path: OnceLock::new() }
    }

    /// Whether the Application of a path is the same as before, and so is everything that its render looked at.
    pub(crate) fn is(&self, path: &PathOutput<'_>) -> bool {
        let (Some((applications, tree)), Some(application)) = (&self.before, path.application) else { return false };
        let by_path = self.by_path.get_or_init(|| applications.iter().map(|one| (&one.sync_path, *one)).collect());
        let Some(before) = by_path.get(path.dir) else { return false };
        let is_same = (&before.namespace, &before.name) == (&application.namespace, &application.name)
            && before.placement() == application.placement()
            && before.fingerprint() == application.fingerprint();
        let Some(record) = path.record.filter(|_| is_same).and_then(|record| record.decode()) else { return false };
        let files = TreeFiles::new(self.repository, *tree);
        !record.names_the_commit && View::new(&files).confirms(&record.reads).unwrap_or(false)
    }
}
