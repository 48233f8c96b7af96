//! Unknown fields in a set: upstream drops them, so that what the set makes changes or is gone without a word.

use dry_files::diag::Diagnostic;

use super::super::document::document;
use super::super::misspelt::{Misspelt, templates};
use super::super::rules::RuleSet;
use super::ApplicationSet;
use super::near_fields::misspelt_keys;
use super::types::APPLICATION_SET;

impl ApplicationSet {
    /// What is said of unknown and misplaced fields in `sourceHydrator` of its templates, at their places.
    pub(in crate::argo) fn misspelt_fields(&self) -> impl Iterator<Item = Diagnostic> {
        let templates = self.root().get("spec").into_iter().flat_map(templates);
        let none = RuleSet::default();
        templates
            .flat_map(move |template| document(template, 0, true, None, &none).diagnostics)
            .filter(Diagnostic::is_of_a_field)
    }

    /// The keys of the set, of its generators and of its templates that are near misses of known ones; those in
    /// `sourceHydrator` are none of them.
    pub(in crate::argo) fn misspelt_keys(&self) -> Vec<Misspelt> {
        let found = misspelt_keys(self.root(), &APPLICATION_SET).into_iter();
        found.map(|diagnostic| Misspelt::of_set(self.root(), diagnostic)).collect()
    }
}
