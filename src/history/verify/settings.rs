//! Whose settings made a commit: a commit names some, and what they make of it says nothing of who accepted them.

use super::fault::Fault;
use super::{Hydrated, Verifier};
use crate::metadata::Trailers;
use crate::owners::settings_named::are_alike;
use crate::repo::ObjectId;

impl Verifier<'_> {
    /// That a commit names settings which this repository never had. None where hydration recorded a commit that it made with
    /// them, where the settings of now hydrate alike, and where those come from a directory, which has no history.
    pub(super) fn strange_settings(&mut self, this: &Hydrated) -> Option<Fault> {
        let (named, now) = (this.trailers.settings_commit?, self.settings_now?);
        let repository = self.repository();
        let has_history = self.run.found.setup.place.believes_records()
            || repository.commit(now).is_ok_and(|commit| !commit.parents.is_empty());
        if !has_history || self.engines.is_recorded(this.commit.id) || !repository.has(named) {
            return None;
        }
        let (buffer, engines) = (&self.run.found.buffer, &self.engines);
        let made_with_them = |id: ObjectId| {
            let trailers = buffer.commit(id).ok().and_then(|commit| Trailers::read(&commit.message));
            trailers.is_some_and(|trailers| trailers.settings_commit == Some(named))
        };
        let is_had = *self.had_settings.entry(named).or_insert_with(|| {
            repository.is_ancestor(named, now)
                || are_alike(Some(named), Some(now), buffer)
                || engines.made().any(made_with_them)
        });
        (!is_had).then(|| Fault::Settings { id: named.to_string() })
    }
}
