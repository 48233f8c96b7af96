//! Asks one maker alone again, after something changed that it looked at.

use std::collections::BTreeSet;
use std::sync::Arc;

use dry_files::path::RepoPath;
use dry_files::view::{Files, View};

use super::parents::{Asked, contents, expansion};
use super::pass::is_built;
use super::sets::{LIMITS, expanded};
use super::{Expanded, Lists, Makers, Renders, Site};
use crate::argo::parent::{Makes, Parent};
use crate::argo::set::{ApplicationSet, Clusters, Only};
use crate::argo::{Application, Document};
use crate::discover::{Discovered, FoundSet};
use crate::known::Used;

/// What a maker makes of a tree, when nothing is wrong or odd with it.
#[derive(Debug)]
pub(crate) struct Again {
    /// The Applications, in their order.
    pub applications: Vec<Arc<Application>>,
    /// The sets, in their order.
    pub sets: Vec<Arc<ApplicationSet>>,
    /// What it was expanded from.
    pub expanded: Expanded,
    /// Whether the maker is a kustomization: the content of its files counts only as the kustomization renders it.
    pub is_built: bool,
}

impl Again {
    fn of(makes: &Makes, expanded: Expanded) -> Option<Self> {
        let right = |document: &Document| document.application.clone().filter(|_| document.diagnostics.is_empty());
        let applications = makes.documents.iter().map(right).collect::<Option<Vec<_>>>()?;
        let is_plain = makes.warnings.is_empty() && makes.misspelt.is_empty();
        is_plain.then(|| Self { applications, sets: makes.sets.clone(), expanded, is_built: false })
    }

    /// The files whose contents were read.
    pub(crate) fn contents(&self) -> BTreeSet<&RepoPath> {
        contents(&self.expanded.reads).collect()
    }
}

/// What a set that is in a file makes of a tree, or of a part of it; none where that cannot be determined from the set alone: it
/// asks for clusters, something is wrong or odd, or no setting names the repository.
pub(crate) fn expand_again(
    found: &FoundSet,
    files: &dyn Files,
    only: Option<&Only>,
    makers: &Makers,
    renders: &dyn Renders,
) -> Option<Again> {
    let clusters = no_clusters(files);
    let site = Site { files, makers, clusters: &clusters, lists: &Lists(None), renders, only };
    let expansion = expanded(found, &Discovered::default(), &site, &LIMITS);
    let is_known = expansion.repeats && expansion.clusters.is_none() && !makers.repo_urls.is_empty();
    let makes = expansion.made.as_ref().ok().filter(|_| is_known)?;
    Again::of(makes, expansion.noted(found.file.0.clone(), found.ordinal))
}

/// What a parent makes of a tree, `application` with what is known of its cluster; none where something is wrong or odd.
pub(crate) fn render_again(
    parent: Parent,
    application: &Application,
    files: &dyn Files,
    makers: &Makers,
    renders: &dyn Renders,
) -> Option<Again> {
    let view = View::new(files);
    let asked = Asked { parent, application: application.clone() };
    let rendered = renders.render(&[application], files).into_iter().next()?;
    let clusters = no_clusters(files);
    let site = Site { files, makers, clusters: &clusters, lists: &Lists(None), renders, only: None };
    let expansion = expansion(&asked, rendered, &view, &site).ok()?;
    let makes = expansion.made.as_ref().ok()?;
    let again = Again::of(makes, expansion.noted(asked.parent.file.clone(), asked.parent.ordinal()))?;
    let is_built = is_built(application, &again.contents()) && !makes.is_empty();
    Some(Again { is_built, ..again })
}

/// Nothing is known of clusters, so that a set which asks for them fails.
fn no_clusters(files: &dyn Files) -> Arc<Clusters> {
    Arc::new(Clusters::of_files(&View::new(files), "", std::iter::empty(), &[]))
}

impl Expanded {
    /// What `self` becomes when of a part of its tree it was `before`, and is `now`.
    pub fn with_part(&self, before: &Self, now: &Self) -> Self {
        let mut reads = (*self.reads).clone();
        reads.retain(|read, _| !before.reads.contains_key(read));
        reads.extend(now.reads.iter().map(|(read, seen)| (read.clone(), *seen)));
        Self { reads: Arc::new(reads), used: replaced(self.used, before.used, now.used), ..self.clone() }
    }

    /// What all sets together used up, when this one used `before` of `all`; none when that is more than they may.
    pub fn take_the_place_of(&self, before: Used, all: Used) -> Option<Used> {
        let used = replaced(all, before, self.used);
        let fits = used.params <= LIMITS.params as u64
            && used.bytes <= LIMITS.bytes as u64
            && used.steps <= LIMITS.template.steps;
        fits.then_some(used)
    }
}

fn replaced(all: Used, before: Used, now: Used) -> Used {
    let replaced = |all: u64, before: u64, now: u64| all.saturating_sub(before).saturating_add(now);
    Used {
        params: replaced(all.params, before.params, now.params),
        bytes: replaced(all.bytes, before.bytes, now.bytes),
        steps: replaced(all.steps, before.steps, now.steps),
    }
}
