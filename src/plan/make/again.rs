//! One set alone, for what it makes after something changed that it looked at.

use std::sync::Arc;

use super::sets::expanded;
use super::{Lists, Makers, Renders, Site};
use crate::application::Application;
use crate::application::set::Clusters;
use crate::plan::{Discovered, FoundSet};
use crate::view::{Files, Reads, View};

/// What a set that stands in a file makes of a tree, and what it read; none where that cannot be told from the set alone: it
/// asks for clusters, something is wrong or odd, or no setting names the repository.
pub fn expand_again(
    found: &FoundSet,
    files: &dyn Files,
    makers: &Makers,
    renders: &dyn Renders,
) -> Option<(Vec<Arc<Application>>, Arc<Reads>)> {
    let view = View::new(files);
    // Nothing is known of clusters, so that a set which asks for them fails.
    let clusters = Arc::new(Clusters::of_files(&view, "", std::iter::empty(), &[]));
    let site = Site { files, makers, clusters: &clusters, lists: &Lists(None), renders };
    let expansion = expanded(found, &Discovered::default(), &site, &super::sets::LIMITS);
    let makes = expansion.made.ok().filter(|makes| makes.warnings.is_empty())?;
    let is_known = expansion.repeats && expansion.clusters.is_none() && !makers.repo_urls.is_empty();
    let right = |document: &crate::application::Document| {
        document.application.clone().filter(|_| document.diagnostics.is_empty())
    };
    let applications = makes.documents.iter().map(right).collect::<Option<Vec<_>>>()?;
    is_known.then_some((applications, expansion.reads))
}
