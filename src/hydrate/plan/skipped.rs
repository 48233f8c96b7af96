//! Applications that stay as they are while the others of their branch go on: those that failed, where the setting
//! `onFailure` says so, and those that are paused.
//!
//! Such an Application keeps the files of the branch's own tip. What is kept, and of which dry commit it is, follows from
//! the commit that is built on and from the dry commit, so that the hydrated commit can be made again.
//! Whatever would not follow from them holds back the branch as a whole, and so does what would be lost by going on: the path of
//! an Application that stays is written by another one, or another one renders an object that it has.

mod after_render;
mod before_render;
mod children;

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;

use crate::argo::{AppName, Application};
use crate::hydrate::failed_render::{FailedBranch, FailedRender, basis_of};
use crate::known;
use crate::manifest::Key;
use crate::metadata::Behind;
use crate::repo::{ObjectId, object_id};

pub(crate) use after_render::left_behind;
pub(crate) use before_render::leaving;
pub(crate) use children::{Children, going, kept_with};

/// What a dry commit leaves as it is on a branch, as far as that is known before anything is rendered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Leaving {
    /// Whether an Application that does not render is left too, in place of the whole branch.
    pub leaves_failed: bool,
    /// The Applications that are not rendered.
    pub unrendered: Vec<Unrendered>,
    /// What is wrong with those that are not paused.
    pub mistakes: Vec<Diagnostic>,
    /// The Applications that wrote to the branch before.
    pub former: Vec<Arc<Application>>,
    /// Paths of them whose writer the commit that is built on does not say.
    pub uncertain: BTreeSet<RepoPath>,
}

/// An Application that is not rendered.
#[derive(Debug, Clone)]
pub(crate) struct Unrendered {
    /// The Application; as it was before, when the dry commit does not say.
    pub application: Arc<Application>,
    /// Why.
    pub why: WhyUnrendered,
}

/// Why an Application is not rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhyUnrendered {
    /// It has the annotation, or is held.
    Paused,
    /// It is held, and the dry commit has it no more.
    Gone,
    /// It is in the way of others.
    Collides,
    /// The dry commit does not say what it is now.
    Unread,
}

impl Leaving {
    /// Nothing at all.
    pub(crate) const NOTHING: Self = Self {
        leaves_failed: false,
        unrendered: Vec::new(),
        mistakes: Vec::new(),
        former: Vec::new(),
        uncertain: BTreeSet::new(),
    };

    /// Whether an Application of the dry commit is not rendered.
    pub(crate) fn has(&self, application: &Application) -> bool {
        let mut here = self
            .unrendered
            .iter()
            .filter(|unrendered| !matches!(unrendered.why, WhyUnrendered::Unread | WhyUnrendered::Gone));
        here.any(|Unrendered { application: one, .. }| (&one.file, one.index) == (&application.file, application.index))
    }
}

/// What stayed as it was.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftBehind {
    /// Where, in the order of paths.
    pub paths: Vec<Left>,
    /// What was wrong before anything was rendered, or in an earlier run.
    pub mistakes: Vec<Diagnostic>,
    /// The Applications that did not render.
    pub renders: Vec<FailedRender>,
}

/// A path that stayed as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Left {
    /// The path.
    pub path: RepoPath,
    /// The dry commit that it shows; none when nothing was hydrated into it yet.
    pub dry_commit: Option<ObjectId>,
    /// The Application.
    pub application: Option<AppName>,
    /// Whether somebody wants it so.
    pub is_paused: bool,
    /// Where the Application says so.
    pub paused_at: Option<Span>,
    /// The Application that stays and has this one among its objects, where the dry commit has this one no more.
    pub parent: Option<AppName>,
    /// What is there, where that was looked at.
    pub objects: Option<LeftObjects>,
}

/// The objects of a path that stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftObjects {
    /// The cluster that they go to.
    pub cluster: Option<String>,
    /// What the API server knows them by.
    pub keys: Vec<Key>,
    /// Whether the dry commit has the Application.
    pub is_read: bool,
}

impl LeftBehind {
    /// Everything that is wrong.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let renders = self.renders.iter().flat_map(|render| &render.diagnostics);
        self.mistakes.iter().chain(renders).cloned().collect()
    }

    /// What stayed behind as the branch lists it: each path once.
    pub(crate) fn listed(&self) -> Vec<Behind> {
        let listed = |left: &Left| Behind { path: left.path.clone(), dry_commit: left.dry_commit };
        let mut behind: Vec<Behind> = self.paths.iter().map(listed).collect();
        behind.dedup();
        behind
    }

    /// Whether nothing stayed, and nothing is wrong.
    pub(crate) fn is_nothing(&self) -> bool {
        self.paths.is_empty() && self.mistakes.is_empty() && self.renders.is_empty()
    }

    /// Whether a path is one of them.
    pub(crate) fn has(&self, path: &RepoPath) -> bool {
        self.paths.iter().any(|left| left.path == *path)
    }

    /// The paths of Applications that failed.
    pub(crate) fn failed(&self) -> Vec<RepoPath> {
        let failed = self.paths.iter().filter(|left| !left.is_paused);
        failed.map(|left| left.path.clone()).collect()
    }

    /// What the next run has to know, so that all of it stays without a look at what is wrong; none where it may not.
    pub(crate) fn known(&self) -> Option<known::Left> {
        let paths = self.paths.iter().map(|left| {
            let LeftObjects { cluster, keys, is_read } = left.objects.clone()?;
            Some(known::LeftPath {
                path: left.path.clone(),
                dry_commit: left.dry_commit.map(|id| id.to_string()),
                application: left.application.clone()?,
                is_paused: left.is_paused,
                paused_at: left.paused_at.clone(),
                parent: left.parent.clone(),
                is_read,
                cluster,
                objects: keys,
            })
        });
        let paths = paths.collect::<Option<_>>()?;
        let renders = self.renders.iter().map(|render| render.diagnostics.clone()).collect();
        Some(known::Left { paths, mistakes: self.mistakes.clone(), renders, basis: basis_of(&self.renders) })
    }

    /// What stays as an earlier run left it.
    pub(crate) fn recalled(known: &known::Left) -> Self {
        let left = |path: &known::LeftPath| Left {
            path: path.path.clone(),
            dry_commit: path.dry_commit.as_deref().and_then(object_id),
            application: Some(path.application.clone()),
            is_paused: path.is_paused,
            paused_at: path.paused_at.clone(),
            parent: path.parent.clone(),
            objects: Some(LeftObjects {
                cluster: path.cluster.clone(),
                keys: path.objects.clone(),
                is_read: path.is_read,
            }),
        };
        let renders = known.renders.iter().map(|diagnostics| FailedRender::unchanged(diagnostics.clone())).collect();
        Self { paths: known.paths.iter().map(left).collect(), mistakes: known.mistakes.clone(), renders }
    }

    /// What an earlier run left, with the mistakes that it recorded.
    pub(crate) fn before(known: &known::Left, mistakes: Vec<Diagnostic>) -> Self {
        let mut left = Self { mistakes, renders: Vec::new(), ..Self::recalled(known) };
        for (path, known) in left.paths.iter_mut().zip(&known.paths) {
            path.application = path.application.take().filter(|_| known.is_read);
            path.parent = None;
        }
        left
    }

    /// The branch as a whole, which stays for these mistakes too.
    pub(crate) fn holding(self, mistakes: Vec<Diagnostic>) -> FailedBranch {
        let mistakes = mistakes.into_iter().chain(self.diagnostics()).collect();
        FailedBranch { mistakes, renders: self.renders, ..FailedBranch::default() }
    }
}
