//! Fields in the templates of a set that nobody knows: what it makes has only the fields of an Application, so that they
//! would be gone without a word.

use super::super::document::document;
use super::super::read::templates;
use super::ApplicationSet;
use crate::diag::Diagnostic;

impl ApplicationSet {
    /// What is said of unknown and misplaced fields in `sourceHydrator` of its templates, at their places.
    pub(in crate::application) fn misspelt_fields(&self) -> impl Iterator<Item = Diagnostic> {
        let templates = self.root().get("spec").into_iter().flat_map(templates);
        templates.flat_map(|template| document(template, 0, true, None).diagnostics).filter(Diagnostic::is_of_a_field)
    }
}
