//! What a dry branch changed since the dry commit that the last run left, as far as copies of its Applications rest on it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::touched::Touched;
use crate::argo::{Application, Identity};
use crate::repo::ObjectId;

/// The Applications that were looked at from one dry commit to the tip. All others are what they were.
#[derive(Debug)]
pub(crate) struct Since {
    /// The dry commit that the last run left.
    pub base: ObjectId,
    /// The Applications of files that changed, as they are now.
    documents: BTreeMap<Identity, Arc<Application>>,
    /// The Applications of files that changed, as they were.
    former: Vec<Arc<Application>>,
    /// Those that were rendered.
    rendered: BTreeMap<Identity, Arc<Application>>,
    /// Those that were not there.
    coming: BTreeSet<Identity>,
    /// Whether Applications went or moved, or something that makes some was asked again: more may differ then.
    pub is_more: bool,
}

impl Since {
    /// Nothing since a dry commit.
    pub(crate) fn nothing(base: ObjectId) -> Self {
        Self {
            base,
            documents: BTreeMap::new(),
            former: Vec::new(),
            rendered: BTreeMap::new(),
            coming: BTreeSet::new(),
            is_more: false,
        }
    }

    /// Notes the Applications of a file that changed.
    pub(crate) fn note_documents<'a>(&mut self, applications: impl IntoIterator<Item = &'a Application>) {
        let applications = applications.into_iter().map(|application| Arc::new(application.clone()));
        self.documents.extend(applications.map(|application| (application.identity(), application)));
    }

    /// Notes the Applications of a file that changed, as they were before.
    pub(crate) fn note_former<'a>(&mut self, applications: impl IntoIterator<Item = &'a Application>) {
        self.former.extend(applications.into_iter().map(|application| Arc::new(application.clone())));
    }

    /// The Applications of files that changed: as they were, and as they are.
    pub(crate) fn documents(&self) -> (&[Arc<Application>], impl Iterator<Item = &Arc<Application>>) {
        (&self.former, self.documents.values())
    }

    /// Notes what one dry commit touches.
    pub(crate) fn note_touched(&mut self, touched: &Touched) {
        self.is_more |= !touched.gone.is_empty() || touched.asks_makers;
        self.coming.extend(touched.coming().map(|application| application.identity()));
        let rendered = touched.work.iter().map(|(identity, (application, _))| (identity.clone(), application.clone()));
        self.rendered.extend(rendered);
    }

    /// Whether an Application was not there at the dry commit that the last run left.
    pub(crate) fn is_new(&self, application: &Application) -> bool {
        self.coming.contains(&application.identity())
    }

    /// Whether the Applications are those that there were, each on its branch.
    pub(crate) fn has_same_applications(&self) -> bool {
        self.coming.is_empty() && !self.is_more
    }

    /// The Applications, by their files, and whether their document may say something else.
    pub(crate) fn applications(&self) -> impl Iterator<Item = (&Arc<Application>, bool)> {
        let rendered = self.rendered.iter().filter(|(identity, _)| !self.documents.contains_key(identity));
        let rendered = rendered.map(|(_, application)| (application, false));
        self.documents.values().map(|application| (application, true)).chain(rendered)
    }
}
