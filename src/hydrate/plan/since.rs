//! What a dry branch changed since the dry commit that the last run left, as far as copies of its Applications rest on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::touched::Touched;
use crate::argo::Application;
use crate::hydrate::memory::Identity;
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
    /// Whether Applications came, went or moved, or something that makes some was asked again: more may differ then.
    pub is_more: bool,
}

impl Since {
    /// Nothing since a dry commit.
    pub(crate) fn nothing(base: ObjectId) -> Self {
        Self { base, documents: BTreeMap::new(), former: Vec::new(), rendered: BTreeMap::new(), is_more: false }
    }

    /// Notes the Applications of a file that changed.
    pub(crate) fn note_documents<'a>(&mut self, applications: impl IntoIterator<Item = &'a Application>) {
        let applications = applications.into_iter().map(|application| Arc::new(application.clone()));
        self.documents.extend(applications.map(|application| (identity(&application), application)));
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
        let is_here = touched.coming().next().is_none() && touched.gone.is_empty();
        self.is_more |= !is_here || touched.has_moved() || touched.asks_makers;
        let rendered = touched.work.iter().map(|(identity, (application, _))| (identity.clone(), application.clone()));
        self.rendered.extend(rendered);
    }

    /// The Applications, by their files, and whether their document may say something else.
    pub(crate) fn applications(&self) -> impl Iterator<Item = (&Arc<Application>, bool)> {
        let rendered = self.rendered.iter().filter(|(identity, _)| !self.documents.contains_key(identity));
        let rendered = rendered.map(|(_, application)| (application, false));
        self.documents.values().map(|application| (application, true)).chain(rendered)
    }
}

fn identity(application: &Application) -> Identity {
    (application.file.clone(), application.index)
}
