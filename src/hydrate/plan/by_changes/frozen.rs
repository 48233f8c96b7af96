//! What dry commits touch of Applications whose branches are frozen. Nothing of them is planned, so their records stay what they were.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::View;

use super::ByChanges;
use crate::argo::{self, Application, BranchName};
use crate::discover::Changes;
use crate::hydrate::make::documents::Documents;
use crate::hydrate::plan::Why;
use crate::hydrate::plan::touched::Touched;
use crate::hydrate::state::Run;
use crate::hydrate::stopped::Stopped;
use crate::repo::ObjectId;

impl ByChanges {
    /// Takes down of which frozen branches the records lead no more to all Applications: one came, went, or says something else.
    pub(super) fn note_frozen(&mut self, touched: &Touched) {
        for frozen in &mut self.state.head.frozen {
            let is_of = |branch: &BranchName| branch.as_str() == frozen.name;
            let says_otherwise = |(one, why): &(Arc<Application>, Why)| {
                is_of(one.environment_branch()) && !matches!(why, Why::Read(_) | Why::NamesTheCommit)
            };
            let has_left = touched.gone.values().any(|record| is_of(&record.branch));
            frozen.is_recorded &= !has_left && !touched.work.values().any(says_otherwise);
        }
    }

    /// The Applications of frozen branches whose document or sources may differ between two dry trees, of which the second was planned
    /// last; none where only a look at everything finds them.
    pub(crate) fn touched_of_frozen(
        &self,
        names: &BTreeSet<BranchName>,
        (before, now): (ObjectId, ObjectId),
        run: &mut Run<'_>,
    ) -> Result<Option<Vec<Arc<Application>>>, Stopped> {
        let frozen = &self.state.head.frozen;
        let is_recorded = |name: &BranchName| frozen.iter().any(|one| one.is_recorded && one.name == name.as_str());
        if now != self.tree || !names.iter().all(is_recorded) {
            return Ok(None);
        }
        let (old, new) = (run.files(before), run.files(now));
        let rules = &run.found.policy.plain;
        let Ok(Some(changes)) = Changes::between(&*old, &*new, rules) else { return Ok(None) };
        let makes = |file: &argo::File| !file.sets.is_empty();
        if changes.may_change_clusters || changes.files.iter().any(|(old, new)| old.iter().chain(new).any(makes)) {
            return Ok(None);
        }
        let view = View::new(&*new);
        let clusters = run.found.policy.clusters(&view);
        let is_looked_at = |file: &&argo::File| run.found.policy.applications.matches(file.path.as_str());
        let written = changes.files.iter().filter_map(|(_, after)| after.as_ref()).filter(is_looked_at);
        let written = written.flat_map(argo::File::applications);
        let mut touched: Vec<Application> = written.map(|application| clusters.known(application)).collect();
        let directories: BTreeSet<RepoPath> = changes.paths.iter().flat_map(with_those_above).collect();
        let mut documents = Documents::of(&view, rules);
        for record in self.state.readers(&directories, [])? {
            if !names.contains(&record.branch) || !directories.contains(&record.dry_path) {
                continue;
            }
            let Ok(application) = documents.application(&record) else { return Ok(None) };
            touched.push(clusters.known(&application));
        }
        touched.retain(|application| names.contains(application.environment_branch()));
        touched.sort_by_key(Application::identity);
        touched.dedup_by_key(|application| application.identity());
        Ok(Some(touched.into_iter().map(Arc::new).collect()))
    }
}

/// A path, and all directories that it is in.
fn with_those_above(path: &RepoPath) -> impl Iterator<Item = RepoPath> {
    std::iter::successors(Some(path.clone()), RepoPath::parent)
}
