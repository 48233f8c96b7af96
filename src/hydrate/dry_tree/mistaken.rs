//! Which Applications of a branch it is that something is wrong with, where only they shall stay behind.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;

use super::DryTree;
use crate::argo::{self, AppName, Application, BranchName};
use crate::hydrate::dry_tree::Former;

/// The Applications that something is wrong with before anything is rendered.
#[derive(Debug, Default)]
pub(crate) struct Mistaken {
    /// The Applications that fed the branch before, and whose fate the dry commit does not tell.
    pub unread: Vec<Arc<Application>>,
    /// The files that those stood in.
    pub files: BTreeSet<RepoPath>,
    /// The paths of those of the dry commit that are in each other's way.
    pub colliding: BTreeSet<RepoPath>,
    /// What is wrong.
    pub diagnostics: Vec<Diagnostic>,
}

impl Mistaken {
    /// Leaves these; answers whether there are any.
    fn leave<'a>(&mut self, unread: impl Iterator<Item = &'a Arc<Application>>, diagnostic: &Diagnostic) -> bool {
        let before = self.diagnostics.len();
        for application in unread {
            self.files.insert(application.file.clone());
            if !self.unread.iter().any(|known| known.sync_path == application.sync_path) {
                self.unread.push(application.clone());
            }
            if self.diagnostics.len() == before {
                self.diagnostics.push(diagnostic.clone());
            }
        }
        self.diagnostics.len() > before
    }
}

impl DryTree {
    /// Which Applications of a branch its mistakes are about; none when one is about the branch as a whole, or of an
    /// Application that is not known. One that never fed the branch has nothing there: while all that did are accounted
    /// for, what is wrong with it holds back no other.
    pub(crate) fn mistaken(&self, branch: &BranchName, former: &Former) -> Option<Mistaken> {
        let mut mistaken = Mistaken::default();
        if self.discovered.unlisted.is_some() || self.discovered.unsearched().is_some() {
            return None;
        }
        self.add_collisions(branch, &mut mistaken)?;
        let here: BTreeSet<(Option<&AppName>, &AppName)> = self.applications(branch).map(|app| identity(app)).collect();
        let missing = |application: &&Arc<Application>| !here.contains(&identity(application));
        let of_file = |file: &RepoPath| {
            let file = file.clone();
            former.applications.iter().filter(missing).filter(move |application| application.file == file)
        };
        let mut unplaced = Vec::new();
        for (of, mistake) in self.discovered.mistakes.iter().filter(|(_, mistake)| mistake.is_error()) {
            let is_ours = of.as_ref() == Some(branch);
            let file = mistake.span.as_ref().map(|span| &span.path);
            let is_left = (is_ours || of.is_none()) && file.is_some_and(|file| mistaken.leave(of_file(file), mistake));
            if is_ours && !is_left {
                unplaced.push(mistake.clone());
            }
        }
        for document in self.discovered.unusable.iter().filter(|document| document.is_of_another(branch)) {
            let moved = former.applications.iter().filter(missing).filter(|application| document.may_be(application));
            if let Some(mistake) = document.mistakes.first() {
                mistaken.leave(moved, mistake);
            }
        }
        for broken in &self.discovered.broken {
            let is_left = mistaken.leave(of_file(&broken.file), &broken.diagnostic);
            if former.feeds(&broken.file) && !is_left {
                return None;
            }
        }
        for unanswered in self.discovered.unanswered.iter().filter(|unanswered| !unanswered.is_limit) {
            let is_left = mistaken.leave(former.made_by(unanswered, self).filter(missing), &unanswered.diagnostic);
            if former.is_fed_by(unanswered, self) && !is_left {
                return None;
            }
        }
        let is_unread =
            |former: &Arc<Application>| mistaken.unread.iter().any(|left| identity(left) == identity(former));
        let is_lost = former.applications.iter().any(|former| missing(&former) && !is_unread(former));
        if !unplaced.is_empty() && (is_lost || self.applications(branch).next().is_none()) {
            return None;
        }
        mistaken.diagnostics.extend(unplaced);
        Some(mistaken)
    }

    /// Those that are in each other's way; none when all Applications of the branch are.
    fn add_collisions(&self, branch: &BranchName, mistaken: &mut Mistaken) -> Option<()> {
        for finding in self.verdict.findings.iter().filter(|finding| finding.diagnostic.is_error()) {
            let about = || finding.applications.iter().filter_map(|index| self.judged(*index));
            let mut ours = about().filter(|(application, _)| application.environment_branch() == branch).peekable();
            if ours.peek().is_none() || about().all(|(application, _)| application.paused) {
                continue;
            }
            for (application, standing) in ours {
                if finding.is_of_branch || standing != argo::Standing::Hydrated {
                    return None;
                }
                mistaken.colliding.insert(application.sync_path.clone());
            }
            mistaken.diagnostics.push(finding.diagnostic.clone());
        }
        Some(())
    }

    pub(super) fn judged(&self, index: usize) -> Option<(&Application, argo::Standing)> {
        let application = self.discovered.applications.get(index)?;
        Some((application, *self.verdict.standings.get(index)?))
    }
}

pub(super) fn identity(application: &Application) -> (Option<&AppName>, &AppName) {
    (application.namespace.as_ref(), &application.name)
}
